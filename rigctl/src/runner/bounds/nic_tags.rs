//! The 802.1Q tags of what a NIC sends on its connections.

use super::given::{Ran, Word};
use rig_capture::Dir;
use rig_frames::vlan::{self, Pcp, Vid};
use rig_testcases::RoceKind;

/// A flow that is tagged, or not, some of it marked, and a packet of it lost.
fn flow(tag: &str, of_cnp: &str) -> Ran {
    let text = format!(
        "    dut: {{nic: {{generation: gen2}}, peer: {{generation: gen2, np: {{enable: true, interval: 0us{of_cnp}}}}}}}
    between: {{delay: 500ns, inject: [{{on: calls, frames: data, every: 7, do: ce}}, {{on: calls, frames: data, psn: 10, do: drop, iteration: 1}}]}}
    flows:
      calls: {{nic: p1, to: p2, class: 3, verb: write, message: 4KiB, mtu: 1024B, count: 10{tag}}}
    steps: [{{at: 0us, start: calls}}]
    length: 200us
    trials: 1
    measure: [{{rc.tags: {{port: p1}}}}, {{rc.tags: {{port: p2}}}}]
"
    );
    Ran::of("gen2-to-gen2", &text)
}

const TAG: &str = ", vlan: {id: 100, pcp: 3}";

fn tag(pcp: u8, vid: u16) -> Option<vlan::Repr> {
    Some(vlan::Repr { pcp: Pcp::new(pcp).unwrap(), dei: false, vid: Vid::new(vid).unwrap() })
}

/// What is said when the first frame of a kind that leaves the NIC behind a port has this tag.
fn with(ran: &Ran, port: u16, kind: fn(RoceKind) -> bool, leaves: Option<vlan::Repr>) -> Word {
    let said = ran.changed(|seen| {
        let one = seen.roce(port, Dir::Rx, kind)[0];
        seen.observation.records[one].vlan = leaves;
    });
    said.word("rc.tags")
}

/// A kind of packet: its words, the port by which it leaves, and whether one is of it.
type Sent = (&'static str, u16, fn(RoceKind) -> bool);

/// Of each kind what it is called, where it leaves, and how it is told.
const KINDS: [Sent; 3] = [
    ("a packet of data", 0, |kind| matches!(kind, RoceKind::Data { .. })),
    ("an acknowledgement", 1, |kind| kind == RoceKind::Ack),
    ("a NAK", 1, |kind| kind == RoceKind::Nak),
];

#[test]
fn one_bit_of_the_tag_of_one_frame_is_enough() {
    let ran = flow(TAG, ", pcp: 6");
    assert_eq!(ran.as_seen().wrong(), "");
    for (name, port, kind) in KINDS {
        assert_eq!(with(&ran, port, kind, tag(3, 100)), Word::Pass);
        for (leaves, how) in [
            (tag(2, 100), "with PCP 2 where its connection has 3"),
            (tag(3, 101), "in VLAN 101 where its connection is in 100"),
            (None, "without a tag where its connection is in VLAN 100"),
        ] {
            let Word::Fail(got) = with(&ran, port, kind, leaves) else { panic!("{name} {how}") };
            assert_eq!(got, format!("{name} {how}"));
        }
    }
}

#[test]
fn a_cnp_has_a_priority_of_its_own_where_one_is_declared() {
    let is_cnp = |kind| matches!(kind, RoceKind::Cnp { .. });
    let ran = flow(TAG, ", pcp: 6");
    let Word::Fail(got) = with(&ran, 1, is_cnp, tag(3, 100)) else { panic!("it passes") };
    assert_eq!(got, "a CNP with PCP 3 where `peer.np.pcp` declares 6");
    // Nothing is known of it: any will do, and its VLAN is that of its connection all the same.
    let open = flow(TAG, "");
    assert_eq!(with(&open, 1, is_cnp, tag(5, 100)), Word::Pass);
    assert!(matches!(with(&open, 1, is_cnp, tag(5, 101)), Word::Fail(_)));
}

#[test]
fn a_connection_without_a_tag_has_none() {
    let ran = flow("", "");
    assert_eq!(ran.as_seen().wrong(), "");
    let (_, port, kind) = KINDS[1];
    let Word::Fail(got) = with(&ran, port, kind, tag(3, 100)) else { panic!("it passes") };
    assert_eq!(got, "an acknowledgement in VLAN 100 where its connection has no tag");
}

#[test]
fn a_port_that_is_shown_no_tags_tells_nothing_of_a_nic() {
    let said = flow(TAG, "").changed(|seen| {
        seen.observation.ports[0].sees_tags = false;
        seen.observation.ports[1].sees_tags = false;
    });
    assert_eq!(said.word("rc.tags"), Word::Doubt("not-observable"));
}
