//! What is sent, said and delivered by unreliable connections, to the packet.

use super::given::{Ran, Seen, Word};
use rig_capture::{Dir, What};
use rig_testcases::RoceKind;

/// Six messages of four packets.
fn sent() -> Ran {
    Ran::of(
        "gen2-to-gen2",
        "    dut: {nic: {generation: gen2, rc: {timeout: 0}}, peer: {generation: gen2}}
    between: {delay: 500ns}
    flows: {flow: {nic: p1, to: p2, class: 3, verb: uc-send, message: 4KiB, mtu: 1024B, count: 6}}
    steps: [{at: 0us, start: flow}]
    length: 100us
    trials: 1
    measure: [{uc.sender: {flow: flow}}, {uc.receiver: {flow: flow}}, {uc.delivered: {flow: flow}}]
",
    )
}

/// The packets at a port, as they leave or come.
fn data(seen: &Seen<'_>, port: u16, dir: Dir) -> Vec<usize> {
    seen.roce(port, dir, |kind| matches!(kind, RoceKind::Data { .. }))
}

#[test]
fn what_is_sent_once_and_taken_whole_passes() {
    let ran = sent();
    assert_eq!(ran.as_seen().wrong(), "");
    assert_eq!(ran.as_seen_count(|seen| data(seen, 0, Dir::Rx).len()), 24);
}

#[test]
fn a_packet_with_another_number_and_one_that_is_missing_fail_its_sender() {
    let ran = sent();
    let again = ran.changed(|seen| {
        let fifth = data(seen, 0, Dir::Rx)[4];
        if let What::Roce(roce) = &mut seen.observation.records[fifth].what {
            roce.psn = 3;
        }
    });
    let Word::Fail(got) = again.word("uc.sender") else { panic!("{}", again.wrong()) };
    assert!(got.starts_with("PSN 3 sent again"), "{got}");
    let skipped = ran.changed(|seen| {
        let fifth = data(seen, 0, Dir::Rx)[4];
        seen.lose(fifth);
    });
    let Word::Fail(got) = skipped.word("uc.sender") else { panic!("{}", skipped.wrong()) };
    assert!(got.starts_with("PSN 5 out of turn"), "{got}");
    // The last that does not leave may leave later.
    let short = ran.changed(|seen| {
        let last = data(seen, 0, Dir::Rx)[23];
        seen.lose(last);
    });
    assert_eq!(short.word("uc.sender"), Word::Doubt("not-measured"));
}

#[test]
fn a_message_that_came_with_a_hole_and_was_taken_all_the_same_fails() {
    let ran = sent();
    let holed = ran.changed(|seen| {
        let sixth = data(seen, 1, Dir::Tx)[5];
        seen.lose(sixth);
    });
    let Word::Fail(got) = holed.word("uc.delivered") else { panic!("{}", holed.wrong()) };
    assert_eq!(got, "6 completed");
}
