//! What a NIC counts, under NVIDIA's names, one of soft-RoCE's, and one of `ibv_query_port`'s.

use std::collections::BTreeMap;

/// What a NIC has counted so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// CNPs that it sent.
    pub np_cnp_sent: u64,
    /// Frames received with ECN field 11, CNPs not counted.
    pub np_ecn_marked_roce_packets: u64,
    /// CNPs that cut a rate.
    pub rp_cnp_handled: u64,
    /// CNPs that did nothing: within the window of a cut, or where none is obeyed.
    pub rp_cnp_ignored: u64,
    /// NAKs received.
    pub packet_seq_err: u64,
    /// Requests received ahead of the one that was expected.
    pub out_of_sequence: u64,
    /// Requests received that had been taken before.
    pub duplicate_request: u64,
    /// Holes found in what a READ brought.
    pub implied_nak_seq_err: u64,
    /// Times that no acknowledgement came in time.
    pub local_ack_timeout_err: u64,
    /// RNR NAKs received.
    pub rnr_nak_retry_err: u64,
    /// Connections given up because no acknowledgement came.
    pub req_transport_retries_exceeded: u64,
    /// Connections given up because the receiver was not ready.
    pub req_rnr_retries_exceeded: u64,
    /// Frames dropped because their ICRC was wrong.
    pub rx_icrc_encapsulated: u64,
    /// Datagrams dropped because their Q_Key was another.
    pub qkey_viol_cntr: u64,
    /// Receives that completed, of unreliable connections alone: nobody asks for the others.
    pub rdma_recvs: u64,
}

impl Counters {
    /// All of them by name.
    pub const fn all(&self) -> [(&'static str, u64); 15] {
        [
            ("np_cnp_sent", self.np_cnp_sent),
            ("np_ecn_marked_roce_packets", self.np_ecn_marked_roce_packets),
            ("rp_cnp_handled", self.rp_cnp_handled),
            ("rp_cnp_ignored", self.rp_cnp_ignored),
            ("packet_seq_err", self.packet_seq_err),
            ("out_of_sequence", self.out_of_sequence),
            ("duplicate_request", self.duplicate_request),
            ("implied_nak_seq_err", self.implied_nak_seq_err),
            ("local_ack_timeout_err", self.local_ack_timeout_err),
            ("rnr_nak_retry_err", self.rnr_nak_retry_err),
            ("req_transport_retries_exceeded", self.req_transport_retries_exceeded),
            ("req_rnr_retries_exceeded", self.req_rnr_retries_exceeded),
            ("rx_icrc_encapsulated", self.rx_icrc_encapsulated),
            ("qkey_viol_cntr", self.qkey_viol_cntr),
            ("rdma_recvs", self.rdma_recvs),
        ]
    }
}

/// What a NIC's host reads: the counters of its connections, and the PFC frames of its port in each of these priorities.
#[derive(Debug)]
pub(crate) struct Shown<'c> {
    pub(crate) counters: &'c Counters,
    /// Priority, frames received, frames sent; XOFF and XON are counted alike.
    pub(crate) pauses: &'c [(u8, u64, u64)],
    /// The place of the one that stands still, from 1; a fault.
    pub(crate) stands: Option<u32>,
}

impl Shown<'_> {
    /// Adds all of them under their names, for the port called `port`.
    pub(crate) fn name(&self, port: &str, into: &mut BTreeMap<String, u64>) {
        let all = self.counters.all();
        for (place, (name, value)) in (1..).zip(all) {
            into.insert(format!("{port} {name}"), self.grown(place, value));
        }
        for &(class, received, sent) in self.pauses {
            into.insert(format!("{port} rx_prio{class}_pause"), self.grown(RECEIVED, received));
            into.insert(format!("{port} tx_prio{class}_pause"), self.grown(SENT, sent));
        }
    }

    /// One of them by its name; of pauses none is asked for so.
    pub(crate) fn find(&self, counter: &str) -> Option<u64> {
        let mut all = (1..).zip(self.counters.all());
        let (place, (_, value)) = all.find(|(_, (name, _))| *name == counter)?;
        Some(self.grown(place, value))
    }

    fn grown(&self, place: u32, value: u64) -> u64 {
        if self.stands == Some(place) { 0 } else { value }
    }
}

/// The places of the pauses, behind all others.
const RECEIVED: u32 = 16;
const SENT: u32 = 17;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_each_at_its_place() {
        let pauses = [("rx_prio*_pause", 0), ("tx_prio*_pause", 0)];
        let all = Counters::default().all().into_iter().chain(pauses);
        let list: Vec<String> =
            (1..).zip(all).map(|(place, (name, _))| format!("{place} `{name}`")).collect();
        let (document, list) =
            (include_str!("../../../../docs/nic.md"), format!("{}.", list.join(", ")));
        assert!(document.contains(&list), "docs/nic.md wants: {list}");
    }

    #[test]
    fn one_stands_still_and_the_others_go_on() {
        let counters = Counters { packet_seq_err: 7, out_of_sequence: 8, ..Counters::default() };
        let pauses = [(3, 5, 6)];
        let named = |stands| {
            let mut all = BTreeMap::new();
            Shown { counters: &counters, pauses: &pauses, stands }.name("nic", &mut all);
            let of = |name: &str| all[&format!("nic {name}")];
            [
                of("packet_seq_err"),
                of("out_of_sequence"),
                of("rx_prio3_pause"),
                of("tx_prio3_pause"),
            ]
        };
        assert_eq!(named(None), [7, 8, 5, 6]);
        assert_eq!(named(Some(5)), [0, 8, 5, 6]);
        assert_eq!(named(Some(RECEIVED)), [7, 8, 0, 6]);
        assert_eq!(named(Some(SENT)), [7, 8, 5, 0]);
    }
}
