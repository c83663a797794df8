//! How the port of a NIC obeys PFC: what its MAC is made of.

use super::Config;
use crate::model::chance;
use crate::model::mac;
use rig_capture::PfcFault;
use rig_lab::{NicPfc, NicPfcFaults};
use rig_units::{Dur, PortSpeed, Quanta};

impl Config {
    /// The MAC of a port that obeys as `declared`.
    pub(crate) fn mac(&self, declared: &NicPfc) -> mac::Config {
        let nic = self.faults.pfc;
        mac::Config {
            response: declared.response,
            resumption: declared.resumption,
            seed: chance::stream(self.seed, *b"nic-port"),
            nic,
            hears: hears(&nic),
            ..mac::Config::prompt(obeyed(declared, &nic))
        }
    }
}

/// By which odd addresses a PFC frame is one all the same: whatever its source is, and by no other destination than 01:80:c2:00:00:01.
const fn hears(faults: &NicPfcFaults) -> &'static [PfcFault] {
    const SOURCE: PfcFault = PfcFault::Source;
    if faults.nic_wants_usual_source {
        &[]
    } else if faults.nic_stops_for_broadcast {
        &[SOURCE, PfcFault::Destination]
    } else {
        &[SOURCE]
    }
}

/// The classes that it obeys in.
fn obeyed(declared: &NicPfc, faults: &NicPfcFaults) -> u8 {
    match (faults.nic_never_stops, faults.nic_stops_without_pfc) {
        (true, _) => 0,
        (false, true) => u8::MAX,
        (false, false) => declared.enabled(),
    }
}

/// What a MAC asks of its faults.
pub(crate) trait Departs {
    /// How long it takes one quantum to last at a port of `speed`.
    fn quantum(&self, speed: PortSpeed) -> Dur;
    /// How much later than it says it stops.
    fn later(&self) -> Dur;
    /// Whether no quanta for the priorities `enable` are taken for the longest pause.
    fn takes_for_longest(&self, enable: u8) -> bool;
}

impl Departs for NicPfcFaults {
    fn quantum(&self, speed: PortSpeed) -> Dur {
        // 512 bits; at 1 Gb/s one is a nanosecond.
        let other = self.nic_quanta_of_speed.map(|gbps| Dur::ns(512).scaled(1, gbps.into()));
        other.unwrap_or_else(|| speed.pause(Quanta(1)))
    }

    fn later(&self) -> Dur {
        self.nic_stops_late.map_or(Dur::ZERO, |ns| Dur::ns(ns.into()))
    }

    fn takes_for_longest(&self, enable: u8) -> bool {
        match enable {
            0 => self.nic_stops_for_any_frame,
            _ => self.nic_stops_for_no_time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::mac::Mac;
    use crate::model::packet::Packet;
    use rig_lab::{Deviation, DeviceFaults, Nic};
    use rig_units::Time;

    /// A port of 100 Gb/s that departs so, and responds within 1 us.
    fn port(deviation: Option<&str>) -> Mac {
        let named = deviation.and_then(Deviation::named);
        let switched = named.map(|deviation| deviation.switched(None).expect("no value"));
        let faults = DeviceFaults::of(switched.as_slice()).nic;
        let nic = Nic::usual();
        let config = Config { faults, ..Config::declared(&nic) };
        Mac::new(&config.mac(&nic.pfc), PortSpeed::G100)
    }

    /// The classes that are closed at each of these microseconds, where each of these words came: when, for whom, how long.
    fn closed(mut mac: Mac, words: &[(u64, u8, u16)], at: &[u64]) -> Vec<u8> {
        let us = |at: u64| Time::ZERO + Dur::us(at);
        let mut all = Vec::new();
        for now in 0..400 {
            while let Some(due) = mac.wake_at().filter(|due| *due <= us(now)) {
                mac.on_wake(due);
            }
            for &(_, enable, quanta) in words.iter().filter(|(at, ..)| *at == now) {
                mac.on_pfc(us(now), &Packet::pfc(enable, 0, Quanta(quanta), 64));
            }
            all.extend(at.contains(&now).then(|| mac.closed()));
        }
        all
    }

    #[test]
    fn a_nic_obeys_in_its_priorities_within_its_response_for_so_many_quanta() {
        // 2000 quanta are 10.24 us.
        let obeyed = closed(port(None), &[(10, 0b111_1000, 2_000)], &[10, 12, 20, 21]);
        assert_eq!(obeyed, [0, 0b1_1000, 0b1_1000, 0]);
    }

    #[test]
    fn each_deviation_closes_or_opens_other_classes_than_it_should() {
        let (three, both) = (0b1000, 0b1_1000);
        type Row<'r> = (&'r str, &'r [(u64, u8, u16)], u64, [u8; 2]);
        let cases: &[Row<'_>] = &[
            ("nic_stops_late", &[(10, three, 2_000)], 12, [three, 0]),
            ("nic_never_stops", &[(10, three, 2_000)], 15, [three, 0]),
            ("nic_stops_all_priorities", &[(10, three, 2_000)], 15, [three, both]),
            ("nic_stops_without_pfc", &[(10, 1, 2_000)], 15, [0, 1]),
            ("nic_stops_for_no_priority", &[(10, 0, 2_000)], 15, [0, both]),
            ("nic_stops_for_any_frame", &[(10, 0, 0)], 15, [0, both]),
            ("nic_stops_for_no_time", &[(10, three, 0)], 15, [0, three]),
            ("nic_stops_in_one_of_two", &[(10, both, 2_000)], 15, [both, three]),
            ("nic_quanta_of_speed", &[(10, three, 2_000)], 30, [0, three]),
            ("nic_ignores_xon", &[(10, three, 2_000), (15, three, 0)], 18, [0, three]),
            ("nic_ignores_xon_of_two", &[(10, both, 2_000), (15, both, 0)], 18, [0, both]),
            ("nic_pause_not_prolonged", &[(10, 8, 2_000), (18, 8, 2_000)], 25, [three, 0]),
            ("nic_pauses_add_up", &[(10, 8, 2_000), (12, 8, 2_000)], 25, [0, three]),
            ("nic_pause_not_shortened", &[(10, 8, 4_000), (12, 8, 1_000)], 20, [0, three]),
        ];
        for (name, words, at, want) in cases {
            let seen = [None, Some(*name)].map(|one| closed(port(one), words, &[*at])[0]);
            assert_eq!(seen, *want, "{name}");
        }
        // Each with a frame that has one fault of its format.
        let odd = [
            ("nic_wants_usual_source", PfcFault::Source, [three, 0]),
            ("nic_stops_for_broadcast", PfcFault::Destination, [0, three]),
        ];
        for (name, fault, want) in odd {
            let seen = [None, Some(name)].map(|one| {
                let mut mac = port(one);
                let at = Time::ZERO + Dur::us(1);
                mac.on_pfc(at, &Packet::pfc(three, 0, Quanta(2_000), 64).with_fault(fault));
                mac.on_wake(at + Dur::us(2));
                mac.closed()
            });
            assert_eq!(seen, want, "{name}");
        }
        // Those of what it sends are tried with the receive buffer, three of those with the memory behind it.
        assert_eq!(cases.len() + odd.len() + 19, NicPfcFaults::ROWS.len());
    }
}
