//! What drivers of RDMA call what the rig has terms for. The terms are NVIDIA's, as those of the emulated NIC are.
//!
//! Sources are named by driver: the file of Linux whose names they are, or who else reads them. What a driver counts otherwise than its term
//! says, `but` says.

/// What a driver has for a term.
#[derive(Debug, Clone, Copy)]
pub(super) enum Where {
    /// A file in `hw_counters`: the first of these that is there. Releases of a driver differ in them.
    Hw(&'static [&'static str]),
    /// A line of `ethtool -S` of its interface: the first of these that is there.
    Ethtool(&'static [&'static str]),
    /// None, and why.
    Never(&'static str),
}

/// A term of the rig's, and what one driver has for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) term: &'static str,
    pub(super) is: Where,
    /// What it counts otherwise; empty where it counts just that.
    pub(super) but: &'static str,
}

/// A driver of RDMA.
#[derive(Debug)]
pub(super) struct Driver {
    /// As `rdma` and this rig call it.
    pub(super) name: &'static str,
    /// The driver that has the device on its bus.
    pub(super) bus: &'static [&'static str],
    /// Bits of a counter: where it wraps.
    pub(super) bits: u32,
    pub(super) source: &'static str,
    pub(super) rows: &'static [Row],
}

/// Every term that is about no priority, with what it counts.
pub(super) const TERMS: [(&str, &str); 18] = [
    ("np_cnp_sent", "CNPs sent"),
    ("np_ecn_marked_roce_packets", "packets received marked CE"),
    ("rp_cnp_handled", "CNPs received that cut a rate"),
    ("rp_cnp_ignored", "CNPs received that did nothing"),
    ("packet_seq_err", "NAKs received for a sequence error"),
    ("out_of_sequence", "packets received ahead of the one that was expected"),
    ("duplicate_request", "requests received that had been taken before"),
    ("implied_nak_seq_err", "holes found in what a READ brought"),
    ("local_ack_timeout_err", "times that no acknowledgement came in time"),
    ("rnr_nak_retry_err", "RNR NAKs received"),
    ("req_transport_retries_exceeded", "connections given up after the last timeout"),
    (
        "req_rnr_retries_exceeded",
        "connections given up as their receiver was not ready once too often",
    ),
    ("rx_icrc_encapsulated", "packets dropped as their ICRC was wrong"),
    ("out_of_buffer", "packets dropped as no receive was posted"),
    ("rdma_recvs", "receives that completed"),
    ("qkey_viol_cntr", "datagrams dropped as their Q_Key was another"),
    ("rdma_tx_packets", "RoCE packets sent"),
    ("rdma_rx_packets", "RoCE packets received"),
];

/// Why nothing that is read here has a counter of a port's attributes.
const PORT_ATTRIBUTE: &str = "`ibv_query_port` alone has it, which is not asked here";

const fn row(term: &'static str, is: Where, but: &'static str) -> Row {
    Row { term, is, but }
}

/// The driver whose devices that one has on its bus.
pub(super) fn on_bus(bus: &str) -> Option<&'static Driver> {
    DRIVERS.iter().find(|driver| driver.bus.contains(&bus))
}

/// The driver most of whose files these are: at least three of them, and more than any other's.
pub(super) fn of_files(files: &[String]) -> Option<&'static Driver> {
    let count = |driver: &Driver| {
        let hw = driver.rows.iter().filter(|row| match row.is {
            Where::Hw(names) => names.iter().any(|name| files.iter().any(|file| file == name)),
            Where::Ethtool(_) | Where::Never(_) => false,
        });
        hw.count()
    };
    let best = DRIVERS.iter().max_by_key(|driver| count(driver))?;
    let alike = DRIVERS.iter().filter(|driver| count(driver) == count(best)).count();
    (count(best) >= 3 && alike == 1).then_some(best)
}

/// All that are known.
pub(super) static DRIVERS: [Driver; 7] = [
    Driver {
        name: "mlx5_ib",
        bus: &["mlx5_core"],
        // Of the queue counters that most of these are; those of congestion have 64.
        bits: 32,
        source: "Linux drivers/infiniband/hw/mlx5/counters.c; en_stats.c for ethtool",
        rows: &[
            row("np_cnp_sent", Where::Hw(&["np_cnp_sent"]), ""),
            row("np_ecn_marked_roce_packets", Where::Hw(&["np_ecn_marked_roce_packets"]), ""),
            row("rp_cnp_handled", Where::Hw(&["rp_cnp_handled"]), ""),
            row("rp_cnp_ignored", Where::Hw(&["rp_cnp_ignored"]), ""),
            row("packet_seq_err", Where::Hw(&["packet_seq_err"]), ""),
            row("out_of_sequence", Where::Hw(&["out_of_sequence"]), ""),
            row("duplicate_request", Where::Hw(&["duplicate_request"]), ""),
            row("implied_nak_seq_err", Where::Hw(&["implied_nak_seq_err"]), ""),
            row("local_ack_timeout_err", Where::Hw(&["local_ack_timeout_err"]), ""),
            row("rnr_nak_retry_err", Where::Hw(&["rnr_nak_retry_err"]), ""),
            row(
                "req_transport_retries_exceeded",
                Where::Hw(&["req_transport_retries_exceeded"]),
                "",
            ),
            row("req_rnr_retries_exceeded", Where::Hw(&["req_rnr_retries_exceeded"]), ""),
            row("rx_icrc_encapsulated", Where::Hw(&["rx_icrc_encapsulated"]), ""),
            row("out_of_buffer", Where::Hw(&["out_of_buffer"]), ""),
            row("rdma_recvs", Where::Never("no name of it is known"), ""),
            row("qkey_viol_cntr", Where::Never(PORT_ATTRIBUTE), ""),
            row(
                "rdma_tx_packets",
                Where::Ethtool(&["tx_vport_rdma_unicast_packets"]),
                "unicast of this function alone",
            ),
            row(
                "rdma_rx_packets",
                Where::Ethtool(&["rx_vport_rdma_unicast_packets"]),
                "unicast of this function alone",
            ),
        ],
    },
    Driver {
        name: "irdma",
        bus: &["ice", "i40e", "idpf"],
        bits: 32,
        source: "Linux drivers/infiniband/hw/irdma/verbs.c (gen 1: X722; gen 2: E810; gen 3: E830, IPU)",
        rows: &[
            row("np_cnp_sent", Where::Hw(&["cnpSent"]), ""),
            row("np_ecn_marked_roce_packets", Where::Hw(&["RxECNMrkd"]), ""),
            row("rp_cnp_handled", Where::Hw(&["cnpHandled"]), ""),
            row("rp_cnp_ignored", Where::Hw(&["cnpIgnored"]), ""),
            row(
                "packet_seq_err",
                Where::Hw(&["Nak Sequence Error"]),
                "gen 3 alone; whether sent or received the driver does not say",
            ),
            row("out_of_sequence", Where::Hw(&["Rcvd Out of order packets"]), "gen 3 alone"),
            row("duplicate_request", Where::Never("irdma has no such counter"), ""),
            row("implied_nak_seq_err", Where::Hw(&["Nak Sequence Error Implied"]), "gen 3 alone"),
            row("local_ack_timeout_err", Where::Hw(&["RTO"]), "gen 3 alone"),
            row("rnr_nak_retry_err", Where::Hw(&["RNR received"]), "gen 3 alone"),
            row("req_transport_retries_exceeded", Where::Never("no name of it is known"), ""),
            row("req_rnr_retries_exceeded", Where::Never("no name of it is known"), ""),
            row("rx_icrc_encapsulated", Where::Hw(&["CRC errors"]), "gen 3 alone"),
            row("out_of_buffer", Where::Never("irdma has no such counter"), ""),
            row("rdma_recvs", Where::Never("no name of it is known"), ""),
            row("qkey_viol_cntr", Where::Never(PORT_ATTRIBUTE), ""),
            row("rdma_tx_packets", Where::Hw(&["TxUDP"]), "all UDP of the RDMA function"),
            row("rdma_rx_packets", Where::Hw(&["RxUDP"]), "all UDP of the RDMA function"),
        ],
    },
    Driver {
        name: "bnxt_re",
        bus: &["bnxt_en"],
        bits: 64,
        source: "Linux drivers/infiniband/hw/bnxt_re/hw_counters.c; later releases use NVIDIA's names",
        rows: &[
            row("np_cnp_sent", Where::Hw(&["np_cnp_sent", "np_cnp_pkts", "tx_cnp_pkts"]), ""),
            row(
                "np_ecn_marked_roce_packets",
                Where::Hw(&["np_ecn_marked_roce_packets", "rx_ecn_marked_pkts"]),
                "",
            ),
            row(
                "rp_cnp_handled",
                Where::Hw(&["rp_cnp_handled", "rx_cnp_pkts"]),
                "all that were received",
            ),
            row("rp_cnp_ignored", Where::Never("bnxt_re counts those received alone"), ""),
            row("packet_seq_err", Where::Hw(&["packet_seq_err", "seq_err_naks_rcvd"]), ""),
            row("out_of_sequence", Where::Hw(&["out_of_sequence", "oos_drop_count"]), ""),
            row("duplicate_request", Where::Hw(&["duplicate_request", "dup_req"]), ""),
            row("implied_nak_seq_err", Where::Hw(&["implied_nak_seq_err"]), ""),
            row(
                "local_ack_timeout_err",
                Where::Hw(&["local_ack_timeout_err", "to_retransmits"]),
                "",
            ),
            row("rnr_nak_retry_err", Where::Hw(&["rnr_nak_retry_err", "rnr_naks_rcvd"]), ""),
            row("req_transport_retries_exceeded", Where::Hw(&["max_retry_exceeded"]), ""),
            row("req_rnr_retries_exceeded", Where::Never("no name of it is known"), ""),
            row("rx_icrc_encapsulated", Where::Never("bnxt_re has no such counter"), ""),
            row("out_of_buffer", Where::Hw(&["out_of_buffer", "rx_out_of_buffer"]), ""),
            row("rdma_recvs", Where::Never("no name of it is known"), ""),
            row("qkey_viol_cntr", Where::Never(PORT_ATTRIBUTE), ""),
            row("rdma_tx_packets", Where::Hw(&["tx_pkts"]), ""),
            row("rdma_rx_packets", Where::Hw(&["rx_pkts"]), ""),
        ],
    },
    Driver {
        name: "ionic_rdma",
        bus: &["ionic"],
        bits: 64,
        source: "Pensando's firmware (rdma_stats_hdrs) and RCCL's table of counters (rcclHwcAinic); Linux ionic_stats.c for ethtool",
        rows: &[
            row("np_cnp_sent", Where::Hw(&["tx_rdma_cnp_pkts"]), ""),
            row("np_ecn_marked_roce_packets", Where::Hw(&["rx_rdma_ecn_pkts"]), ""),
            row("rp_cnp_handled", Where::Hw(&["rx_rdma_cnp_pkts"]), "all that were received"),
            row("rp_cnp_ignored", Where::Never("ionic counts those received alone"), ""),
            row("packet_seq_err", Where::Hw(&["req_rx_pkt_seq_err"]), ""),
            // Spelled so by the driver.
            row("out_of_sequence", Where::Hw(&["resp_rx_outouf_seq"]), ""),
            row("duplicate_request", Where::Hw(&["resp_rx_dup_request"]), ""),
            row("implied_nak_seq_err", Where::Hw(&["req_rx_impl_nak_seq_err"]), ""),
            row("local_ack_timeout_err", Where::Hw(&["tx_rdma_ack_timeout"]), ""),
            row("rnr_nak_retry_err", Where::Hw(&["req_rx_rnr_retry_err"]), ""),
            row("req_transport_retries_exceeded", Where::Hw(&["req_tx_retry_excd_err"]), ""),
            row("req_rnr_retries_exceeded", Where::Never("no name of it is known"), ""),
            row("rx_icrc_encapsulated", Where::Never("no name of it is known"), ""),
            row("out_of_buffer", Where::Hw(&["resp_rx_outof_buf"]), ""),
            row("rdma_recvs", Where::Never("no name of it is known"), ""),
            row("qkey_viol_cntr", Where::Never(PORT_ATTRIBUTE), ""),
            row("rdma_tx_packets", Where::Hw(&["tx_rdma_ucast_pkts"]), "unicast"),
            row("rdma_rx_packets", Where::Hw(&["rx_rdma_ucast_pkts"]), "unicast"),
        ],
    },
    Driver {
        name: "hns_roce",
        bus: &["hns3"],
        bits: 64,
        source: "hw_counters as a script for hns reads them (tx_cnp_pkt, rx_cnp_pkt, tx_pkt, rx_pkt)",
        rows: &[
            row("np_cnp_sent", Where::Hw(&["tx_cnp_pkt"]), ""),
            row("np_ecn_marked_roce_packets", Where::Never("no name of it is known"), ""),
            row("rp_cnp_handled", Where::Hw(&["rx_cnp_pkt"]), "all that were received"),
            row("rp_cnp_ignored", Where::Never("hns counts those received alone"), ""),
            row("packet_seq_err", Where::Never("no name of it is known"), ""),
            row("out_of_sequence", Where::Never("no name of it is known"), ""),
            row("duplicate_request", Where::Never("no name of it is known"), ""),
            row("implied_nak_seq_err", Where::Never("no name of it is known"), ""),
            row("local_ack_timeout_err", Where::Never("no name of it is known"), ""),
            row("rnr_nak_retry_err", Where::Never("no name of it is known"), ""),
            row("req_transport_retries_exceeded", Where::Never("no name of it is known"), ""),
            row("req_rnr_retries_exceeded", Where::Never("no name of it is known"), ""),
            row("rx_icrc_encapsulated", Where::Never("no name of it is known"), ""),
            row("out_of_buffer", Where::Never("no name of it is known"), ""),
            row("rdma_recvs", Where::Never("no name of it is known"), ""),
            row("qkey_viol_cntr", Where::Never(PORT_ATTRIBUTE), ""),
            row("rdma_tx_packets", Where::Hw(&["tx_pkt"]), ""),
            row("rdma_rx_packets", Where::Hw(&["rx_pkt"]), ""),
        ],
    },
    Driver {
        name: "erdma",
        bus: &["erdma"],
        bits: 64,
        source: "Linux drivers/infiniband/hw/erdma/erdma_verbs.c; it is iWARP, over TCP",
        rows: &[
            row("np_cnp_sent", IWARP, ""),
            row("np_ecn_marked_roce_packets", IWARP, ""),
            row("rp_cnp_handled", IWARP, ""),
            row("rp_cnp_ignored", IWARP, ""),
            row("packet_seq_err", IWARP, ""),
            row("out_of_sequence", IWARP, ""),
            row("duplicate_request", IWARP, ""),
            row("implied_nak_seq_err", IWARP, ""),
            row("local_ack_timeout_err", IWARP, ""),
            row("rnr_nak_retry_err", IWARP, ""),
            row("req_transport_retries_exceeded", IWARP, ""),
            row("req_rnr_retries_exceeded", IWARP, ""),
            row("rx_icrc_encapsulated", IWARP, ""),
            row("out_of_buffer", IWARP, ""),
            row("rdma_recvs", IWARP, ""),
            row("qkey_viol_cntr", Where::Never(PORT_ATTRIBUTE), ""),
            row("rdma_tx_packets", Where::Hw(&["hw_tx_packets_cnt"]), "of iWARP"),
            row("rdma_rx_packets", Where::Hw(&["hw_rx_packets_cnt"]), "of iWARP"),
        ],
    },
    Driver {
        name: "rxe",
        bus: &[],
        bits: 64,
        source: "Linux drivers/infiniband/sw/rxe/rxe_hw_counters.c",
        rows: &[
            row("np_cnp_sent", MARKS, ""),
            row("np_ecn_marked_roce_packets", MARKS, ""),
            row("rp_cnp_handled", MARKS, ""),
            row("rp_cnp_ignored", MARKS, ""),
            row(
                "packet_seq_err",
                Where::Hw(&["rcvd_seq_err"]),
                "those alone that acknowledge something new",
            ),
            row(
                "out_of_sequence",
                Where::Hw(&["out_of_seq_request"]),
                "one for each NAK sent, not for each packet",
            ),
            row("duplicate_request", Where::Hw(&["duplicate_request"]), ""),
            row("implied_nak_seq_err", Where::Never("rxe has no such counter"), ""),
            row("local_ack_timeout_err", Where::Never("rxe has no such counter"), ""),
            row("rnr_nak_retry_err", Where::Hw(&["rcvd_rnr_err"]), ""),
            row("req_transport_retries_exceeded", Where::Hw(&["retry_exceeded_err"]), ""),
            row("req_rnr_retries_exceeded", Where::Hw(&["retry_rnr_exceeded_err"]), ""),
            row("rx_icrc_encapsulated", Where::Never("rxe drops them uncounted"), ""),
            row("out_of_buffer", Where::Never("rxe has no such counter"), ""),
            row("rdma_recvs", Where::Hw(&["rdma_recvs"]), ""),
            row("qkey_viol_cntr", Where::Never(PORT_ATTRIBUTE), ""),
            row("rdma_tx_packets", Where::Hw(&["sent_pkts"]), ""),
            row("rdma_rx_packets", Where::Hw(&["rcvd_pkts"]), ""),
        ],
    },
];

const IWARP: Where = Where::Never("it is iWARP: TCP recovers, and its window answers marks");
const MARKS: Where = Where::Never("rxe neither answers marks nor obeys CNPs");
