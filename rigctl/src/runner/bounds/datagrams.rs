//! What is sent as datagrams, and which of them are told, to the packet.

use super::given::{Ran, Seen, Word};
use rig_capture::{Dir, What};
use rig_testcases::{Roce, RoceKind};

/// Twelve datagrams, to an application that posts four receives and none again within the trial.
fn sent() -> Ran {
    Ran::of(
        "gen2-to-gen2",
        "    dut: {nic: {generation: gen2}, peer: {generation: gen2, rc: {receives: 4, receive_again: 1ms, rnr_timer: 1}}}
    between: {delay: 500ns}
    flows: {flow: {nic: p1, to: p2, class: 3, verb: ud-send, message: 1024B, mtu: 1024B, count: 12}}
    steps: [{at: 0us, start: flow}]
    length: 100us
    trials: 1
    measure: [{ud.sender: {flow: flow}}, {ud.receiver: {flow: flow}}, {ud.delivered: {flow: flow}}]
",
    )
}

/// The packets at a port, as they leave or come.
fn data(seen: &Seen<'_>, port: u16, dir: Dir) -> Vec<usize> {
    seen.roce(port, dir, |kind| matches!(kind, RoceKind::Data { .. }))
}

fn change(seen: &mut Seen<'_>, at: usize, to: impl Fn(&mut Roce)) {
    if let What::Roce(roce) = &mut seen.observation.records[at].what {
        to(roce);
    }
}

#[test]
fn as_many_as_receives_are_posted_are_told() {
    let ran = sent();
    assert_eq!(ran.as_seen().wrong(), "");
    assert_eq!(ran.as_seen_count(|seen| data(seen, 0, Dir::Rx).len()), 12);
    // Three come with the right key: one receive that completed is one too many.
    let keys = ran.changed(|seen| {
        for at in data(seen, 1, Dir::Tx).into_iter().skip(3) {
            change(seen, at, |roce| roce.other_key = true);
        }
    });
    let Word::Fail(got) = keys.word("ud.delivered") else { panic!("{}", keys.wrong()) };
    assert_eq!(got, "4 completed");
    // Whichever four it was that came: no more than four are told.
    let fewer = ran.changed(|seen| {
        let second = data(seen, 1, Dir::Tx)[1];
        change(seen, second, |roce| roce.other_key = true);
    });
    assert_eq!(fewer.wrong(), "");
}

#[test]
fn a_datagram_more_than_asked_for_and_one_with_another_key_fail_their_sender() {
    let ran = sent();
    let key = ran.changed(|seen| {
        let fifth = data(seen, 0, Dir::Rx)[4];
        change(seen, fifth, |roce| roce.other_key = true);
    });
    let Word::Fail(got) = key.word("ud.sender") else { panic!("{}", key.wrong()) };
    assert_eq!(got, "PSN 4 with another Q_Key");
    let more = ran.changed(|seen| {
        let last = data(seen, 0, Dir::Rx)[11];
        let mut again = seen.observation.records[last];
        if let What::Roce(roce) = &mut again.what {
            roce.psn = 12;
        }
        seen.observation.records.insert(last + 1, again);
    });
    let Word::Fail(got) = more.word("ud.sender") else { panic!("{}", more.wrong()) };
    assert_eq!(got, "PSN 12 behind the last that was asked for");
}
