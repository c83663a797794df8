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

    /// Adds all of them under their names, for the port called `port`.
    pub(crate) fn name(&self, port: &str, into: &mut BTreeMap<String, u64>) {
        into.extend(self.all().map(|(name, value)| (format!("{port} {name}"), value)));
    }

    /// One of them by its name.
    pub(crate) fn find(&self, counter: &str) -> Option<u64> {
        self.all().into_iter().find(|(name, _)| *name == counter).map(|(_, value)| value)
    }
}
