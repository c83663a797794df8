//! Pauses that a NIC has seen and sent, from its own counters: what remains where its MAC keeps the frames to itself.
//! Drivers name them as they please; those of mlx5, ice, i40e and bnxt are known here.

/// Pause frames of one class, since the driver was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pauses {
    /// Traffic class, 0 to 7.
    pub class: u8,
    /// Received.
    pub rx: u64,
    /// Sent.
    pub tx: u64,
}

/// What a driver counts: received, then sent. Of several names the sum.
type Named = [&'static [&'static str]; 2];

/// How drivers name what they count for class `{}`. Where XOFF and XON are counted apart their sum is taken.
/// A driver that was given other names stands there with either.
const NAMES: [(&str, Named); 5] = [
    ("mlx5_core", [&["rx_prio{}_pause"], &["tx_prio{}_pause"]]),
    (
        "ice",
        [
            &["rx_priority_{}_xoff.nic", "rx_priority_{}_xon.nic"],
            &["tx_priority_{}_xoff.nic", "tx_priority_{}_xon.nic"],
        ],
    ),
    (
        "i40e",
        [
            &["port.rx_priority_{}_xoff_rx", "port.rx_priority_{}_xon_rx"],
            &["port.tx_priority_{}_xoff_tx", "port.tx_priority_{}_xon_tx"],
        ],
    ),
    // Before Linux 4.20, and in drivers of its maker's.
    (
        "i40e",
        [
            &["port.rx_priority_{}_xoff", "port.rx_priority_{}_xon"],
            &["port.tx_priority_{}_xoff", "port.tx_priority_{}_xon"],
        ],
    ),
    ("bnxt_en", [&["rx_pfc_ena_frames_pri{}"], &["tx_pfc_ena_frames_pri{}"]]),
];

/// How that driver names the pauses of class `{}`, in one way or another: those received, then those sent; of several names the sum is
/// meant. None of a driver that is not known.
pub fn names(driver: &str) -> impl Iterator<Item = [&'static [&'static str]; 2]> {
    NAMES.iter().filter(move |(name, _)| *name == driver).map(|(_, named)| *named)
}

/// The pauses of each class among a driver's counters; none where no name is known.
pub fn of(counters: &[(String, u64)]) -> Vec<Pauses> {
    let value = |pattern: &str, class: u8| {
        let name = pattern.replace("{}", &class.to_string());
        counters.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    };
    let sum = |patterns: &[&str], class: u8| {
        patterns.iter().map(|pattern| value(pattern, class)).sum::<Option<u64>>()
    };
    let of_class = |class: u8| {
        NAMES.iter().find_map(|(_, [rx, tx])| {
            Some(Pauses { class, rx: sum(rx, class)?, tx: sum(tx, class)? })
        })
    };
    (0..8).filter_map(of_class).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(named: &[(&str, u64)]) -> Vec<(String, u64)> {
        named.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    #[test]
    fn each_driver_is_read_by_its_own_names() {
        let all = [
            counters(&[
                ("rx_prio3_pause", 7),
                ("rx_prio3_pause_duration", 99),
                ("tx_prio3_pause", 2),
            ]),
            counters(&[
                ("tx_priority_3_xon.nic", 1),
                ("tx_priority_3_xoff.nic", 1),
                ("rx_priority_3_xon.nic", 3),
                ("rx_priority_3_xoff.nic", 4),
            ]),
            counters(&[
                ("port.tx_priority_3_xon", 0),
                ("port.tx_priority_3_xoff", 2),
                ("port.rx_priority_3_xon", 0),
                ("port.rx_priority_3_xoff", 7),
            ]),
            counters(&[
                ("port.tx_priority_3_xon_tx", 1),
                ("port.tx_priority_3_xoff_tx", 1),
                ("port.rx_priority_3_xon_rx", 2),
                ("port.rx_priority_3_xoff_rx", 5),
                ("port.rx_priority_3_xon_2_xoff", 1),
            ]),
            counters(&[("rx_pfc_ena_frames_pri3", 7), ("tx_pfc_ena_frames_pri3", 2)]),
        ];
        for driver in all {
            assert_eq!(of(&driver), [Pauses { class: 3, rx: 7, tx: 2 }], "{driver:?}");
        }
    }

    #[test]
    fn a_driver_without_such_counters_has_none() {
        assert_eq!(of(&counters(&[("rx_packets", 7), ("rx_prio3_pause", 7)])), []);
        assert_eq!(of(&[]), []);
    }
}
