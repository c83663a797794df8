//! Which SENDs a NIC refuses for want of a receive, with which number and for how long.

use super::given::{Ran, Seen, Word};
use rig_capture::{Dir, What};
use rig_testcases::RoceKind;

/// Six messages of two packets to an application that has posted two receives and takes 30 us for each.
fn refused() -> Ran {
    Ran::of(
        "gen2-to-gen2",
        "    dut: {nic: {generation: gen2, rc: {ack_every: 1, timeout: 0}}, peer: {generation: gen2, rc: {ack_every: 1, receives: 2, receive_again: 30us, rnr_timer: 1}}}
    between: {delay: 500ns}
    flows: {flow: {nic: p1, to: p2, class: 3, verb: send, message: 2KiB, mtu: 1024B, count: 6}}
    steps: [{at: 0us, start: flow}]
    length: 500us
    trials: 1
    measure: [{rc.receives: {flow: flow}}, {rc.receiver: {flow: flow}}, {nic.counters: {port: p2}}]
",
    )
}

/// The RNR NAKs of the receiver.
fn said(seen: &Seen<'_>) -> Vec<usize> {
    seen.roce(1, Dir::Rx, |kind| matches!(kind, RoceKind::NotReady(_)))
}

#[test]
fn an_rnr_nak_may_leave_when_it_is_ready_and_the_port_is_free_and_no_other_time() {
    let ran = refused();
    assert_eq!(ran.as_seen().wrong(), "");
    assert!(ran.as_seen_count(|seen| said(seen).len()) > 6);
    let moved = |by: i64| {
        ran.changed(|seen| {
            let last = *said(seen).last().expect("it refuses some");
            seen.shift(last, by);
        })
    };
    // A frame of its own that is under way, and what each of two connections at the two ends has to say.
    for (by, passes) in [(-1, false), (0, true), (5_000, true), (100_000, false)] {
        assert_eq!(moved(by).passes("rc.receives"), passes, "{by}: {}", moved(by).wrong());
    }
}

#[test]
fn one_too_few_and_one_with_another_number_fail() {
    let ran = refused();
    let silent = ran.changed(|seen| {
        let first = said(seen)[0];
        seen.lose(first);
    });
    let Word::Fail(got) = silent.word("rc.receives") else { panic!("{}", silent.wrong()) };
    assert!(got.starts_with("no RNR NAK, and no word at all, for PSN 4"), "{got}");
    let other = ran.changed(|seen| {
        let first = said(seen)[0];
        if let What::Roce(roce) = &mut seen.observation.records[first].what {
            roce.psn += 1;
        }
    });
    let Word::Fail(got) = other.word("rc.receives") else { panic!("{}", other.wrong()) };
    assert!(got.starts_with("an RNR NAK that names PSN 5 where"), "{got}");
}

#[test]
fn where_no_receive_runs_out_nothing_is_told() {
    let ran = Ran::of(
        "gen2-to-gen2",
        "    dut: {nic: {generation: gen2}, peer: {generation: gen2, rc: {receives: 2, receive_again: 1ns, rnr_timer: 1}}}
    between: {delay: 500ns}
    flows: {flow: {nic: p1, to: p2, class: 3, verb: send, message: 2KiB, mtu: 1024B, count: 6}}
    steps: [{at: 0us, start: flow}]
    length: 500us
    trials: 1
    measure: [{rc.receives: {flow: flow}}]
",
    );
    assert_eq!(ran.as_seen().word("rc.receives"), Word::Doubt("not-measured"));
}

#[test]
fn an_application_that_takes_another_time_for_each_message_accuses_no_nic() {
    let ran = Ran::of(
        "gen2-to-gen2",
        "    dut: {nic: {generation: gen2, rc: {ack_every: 1, timeout: 0}}, peer: {generation: gen2, rc: {ack_every: 1, receives: 3, receive_again: 20us..45us, rnr_timer: 1}}}
    between: {delay: 500ns}
    flows: {flow: {nic: p1, to: p2, class: 3, verb: send, message: 2KiB, mtu: 1024B, count: 60}}
    steps: [{at: 0us, start: flow}]
    length: 4ms
    trials: 1
    measure: [{rc.receives: {flow: flow}}, {rc.receiver: {flow: flow}}, {nic.counters: {port: p2}}]
",
    );
    assert_eq!(ran.as_seen().wrong(), "");
    assert!(ran.as_seen_count(|seen| said(seen).len()) > 60);
}
