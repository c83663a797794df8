//! The addresses between which what a NIC sends on its connections goes.

use super::given::{Ran, Word};
use rig_capture::{Dir, What};
use rig_testcases::{IpVersion, Roce, RoceKind};

/// A flow over one version of IP, some of it marked, and a packet of it lost.
fn flow(over: &str) -> Ran {
    let text = format!(
        "    dut: {{nic: {{generation: gen2}}, peer: {{generation: gen2, np: {{enable: true, interval: 0us}}}}}}
    between: {{delay: 500ns, inject: [{{on: calls, frames: data, every: 7, do: ce}}, {{on: calls, frames: data, psn: 10, do: drop, iteration: 1}}]}}
    flows:
      calls: {{nic: p1, to: p2, class: 3, verb: write, message: 4KiB, mtu: 1024B, count: 10, over: {over}}}
    steps: [{{at: 0us, start: calls}}]
    length: 200us
    trials: 1
    measure: [{{rc.gid: {{port: p1}}}}, {{rc.gid: {{port: p2}}}}, {{rc.class: {{port: p2}}}}, {{cnp.answers: {{port: p2}}}}]
"
    );
    Ran::of("gen2-to-gen2", &text)
}

/// What frames are looked at, and what is done to one.
type Is = fn(RoceKind) -> bool;
type Change = fn(&mut Roce);

/// Of each kind what it is called, where it leaves, and how it is told.
const KINDS: [(&str, u16, Is); 4] = [
    ("a packet of data", 0, |kind| matches!(kind, RoceKind::Data { .. })),
    ("an acknowledgement", 1, |kind| kind == RoceKind::Ack),
    ("a NAK", 1, |kind| kind == RoceKind::Nak),
    ("a CNP", 1, |kind| matches!(kind, RoceKind::Cnp { .. })),
];

/// What `measure` says when something is another in the first frame of a kind that leaves the NIC behind a port.
fn with(ran: &Ran, kind: usize, measure: &str, change: Change) -> Word {
    let (_, port, is) = KINDS[kind];
    let said = ran.changed(|seen| {
        let one = seen.roce(port, Dir::Rx, is)[0];
        if let What::Roce(roce) = &mut seen.observation.records[one].what {
            change(roce);
        }
    });
    said.word(measure)
}

#[test]
fn one_address_of_one_frame_is_enough() {
    let changes: [(Change, &str); 4] = [
        (|roce| roce.over = IpVersion::V4, "over IPv4 where its connection goes over IPv6"),
        (|roce| roce.gid = 2, "from the NIC's address 3 where its connection has address 1"),
        (|roce| roce.address = 3, "to the rig's address 4 where its connection is with 1"),
        (|roce| roce.corrupt = true, "over IPv6 with an ICRC that does not fit"),
    ];
    let ran = flow("ipv6");
    assert_eq!(ran.as_seen().wrong(), "");
    for (kind, (name, ..)) in KINDS.into_iter().enumerate() {
        for (change, how) in changes {
            let Word::Fail(got) = with(&ran, kind, "rc.gid", change) else {
                panic!("{name} {how}");
            };
            assert_eq!(got, format!("{name} {how}"));
        }
        assert_eq!(with(&ran, kind, "rc.gid", |roce| roce.dscp = 0), Word::Pass);
    }
}

#[test]
fn either_end_of_a_connection_has_an_address_of_its_own() {
    let changes: [(usize, Change, &str); 3] = [
        (0, |roce| roce.gid = 0, "from the NIC's address 1 where its connection has address 2"),
        (0, |roce| roce.address = 1, "to the rig's address 2 where its connection is with 3"),
        (3, |roce| roce.gid = 1, "from the NIC's address 2 where its connection has address 3"),
    ];
    let ran = flow("ipv4, gid: {from: 2, to: 3}");
    assert_eq!(ran.as_seen().wrong(), "");
    for (kind, change, how) in changes {
        let Word::Fail(got) = with(&ran, kind, "rc.gid", change) else { panic!("{how}") };
        assert_eq!(got, format!("{} {how}", KINDS[kind].0));
    }
}

#[test]
fn a_connection_over_ipv4_sends_nothing_over_ipv6() {
    let ran = flow("ipv4");
    assert_eq!(ran.as_seen().wrong(), "");
    let Word::Fail(got) = with(&ran, 1, "rc.gid", |roce| roce.over = IpVersion::V6) else {
        panic!("it passes");
    };
    assert_eq!(got, "an acknowledgement over IPv6 where its connection goes over IPv4");
}

#[test]
fn a_class_that_is_another_over_ipv6_is_told_as_such() {
    let ran = flow("ipv6");
    let Word::Fail(got) = with(&ran, 2, "rc.class", |roce| roce.dscp = 0) else {
        panic!("it passes");
    };
    assert_eq!(got, "a NAK over IPv6 with DSCP 0 where its connection has 3");
}

#[test]
fn a_mark_over_ipv6_that_nobody_answers_is_missed() {
    let ran = flow("ipv6");
    let said = ran.changed(|seen| {
        let cnps = seen.roce(1, Dir::Rx, |kind| matches!(kind, RoceKind::Cnp { .. }));
        for cnp in cnps.into_iter().rev() {
            seen.observation.records.remove(cnp);
        }
    });
    assert!(said.fails("cnp.answers"), "{:?}", said.word("cnp.answers"));
}
