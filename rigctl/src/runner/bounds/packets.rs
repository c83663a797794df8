//! A NIC that counts packets, and little else: to the packet, and no more than that is held against it.

use super::given::{Ran, Seen, Word};
use rig_capture::{Counters, Dir};
use rig_testcases::RoceKind;
use std::sync::Arc;

/// Six messages of 16 packets, of which packet 40 is lost once.
const LOST: &str =
    "    dut: {nic: {rc: {ack_every: 1, timeout: 0}}, peer: {rc: {ack_every: 1, timeout: 0}}}
    between: {delay: 500ns, inject: [{on: sender, frames: data, psn: 40, do: drop, iteration: 1}]}
    flows: {sender: {nic: p1, to: p2, class: 3, verb: write, message: 16KiB, mtu: 1024B, count: 6}}
    steps: [{at: 0us, start: sender}]
    length: 100us
    trials: 1
    measure: [{nic.counters: {port: p1}}]
";

/// What its driver is known not to count.
const ABSENT: [&str; 11] = [
    "np_cnp_sent",
    "np_ecn_marked_roce_packets",
    "rp_cnp_handled",
    "rp_cnp_ignored",
    "packet_seq_err",
    "out_of_sequence",
    "duplicate_request",
    "implied_nak_seq_err",
    "local_ack_timeout_err",
    "rnr_nak_retry_err",
    "rx_icrc_encapsulated",
];

/// What is made of it where it has counted so many more packets sent and received than passed, once `change` has been made.
fn word(by: [i64; 2], change: impl Fn(&mut Seen<'_>)) -> Word {
    let ran = Ran::of("gen2-to-gen2", LOST);
    let port = ran.as_seen_port(0).to_owned();
    let said = ran.changed(|seen| {
        let passed = [Dir::Rx, Dir::Tx].map(|dir| seen.roce(0, dir, |_| true).len());
        change(seen);
        let sum = |at: usize| i64::try_from(passed[at]).expect("a count") + by[at];
        let read = |of: [i64; 2]| {
            let of = of.map(|value| u64::try_from(value).expect("a count"));
            let names = ["rdma_tx_packets", "rdma_rx_packets"];
            names.map(|name| format!("{port} {name}")).into_iter().zip(of).collect()
        };
        let mut counters = Counters::read(read([7, 9]), read([7 + sum(0), 9 + sum(1)]));
        let absent = ABSENT.map(|name| (format!("{port} {name}"), "it does not".to_owned()));
        counters.absent = Arc::new(absent.into());
        seen.observation.counters = counters;
    });
    said.word("nic.counters")
}

/// How many packets the NIC is sent.
fn passed() -> usize {
    Ran::of("gen2-to-gen2", LOST).as_seen_of(|seen| seen.roce(0, Dir::Tx, |_| true).len())
}

/// Loses the acknowledgement of the last packet, on its way to the NIC.
fn unfinished(seen: &mut Seen<'_>) {
    let acks = seen.roce(0, Dir::Tx, |kind| kind == RoceKind::Ack);
    seen.lose(*acks.last().expect("it is acknowledged"));
}

#[test]
fn each_packet_is_counted_once_and_what_it_does_not_count_is_not_missed() {
    let finished = |by| word(by, |_| ());
    assert_eq!(finished([0, 0]), Word::Pass);
    for by in [[1, 0], [-1, 0], [0, 1]] {
        assert!(matches!(finished(by), Word::Fail(_)), "{by:?}: {:?}", finished(by));
    }
    // What was lost behind the rig's port it never had, but for one: the flow is finished.
    let received = i64::try_from(passed()).expect("a count");
    for by in [-1, 1 - received] {
        assert!(matches!(finished([0, by]), Word::Doubt(_)), "{by}: {:?}", finished([0, by]));
    }
    assert!(matches!(finished([0, -received]), Word::Fail(_)));
}

#[test]
fn of_a_flow_that_is_not_finished_some_may_not_have_been_seen_and_some_not_been_taken() {
    let open = |by| word(by, unfinished);
    // The acknowledgement that was lost is one less.
    assert_eq!(
        [open([0, -1]), open([5, -1]), open([0, -50])],
        [Word::Pass, Word::Pass, Word::Pass]
    );
    for by in [[-1, -1], [0, 0]] {
        assert!(matches!(open(by), Word::Fail(_)), "{by:?}: {:?}", open(by));
    }
}

#[test]
fn a_counter_that_is_missing_without_a_reason_leaves_it_open() {
    let ran = Ran::of("gen2-to-gen2", LOST);
    let name = format!("{} packet_seq_err", ran.as_seen_port(0));
    let lost = ran.changed(|seen| seen.uncount(&name, false)).word("nic.counters");
    assert!(matches!(lost, Word::Doubt(_)), "{lost:?}");
}

#[test]
fn a_driver_that_counts_nothing_of_it_is_not_passed() {
    let ran = Ran::of("gen2-to-gen2", LOST);
    let port = ran.as_seen_port(0).to_owned();
    let said = ran.changed(|seen| {
        let absent = ABSENT.map(|name| (format!("{port} {name}"), "it does not".to_owned()));
        let mut counters = Counters::default();
        counters.absent = Arc::new(absent.into());
        seen.observation.counters = counters;
    });
    assert!(matches!(said.word("nic.counters"), Word::Doubt(_)));
}
