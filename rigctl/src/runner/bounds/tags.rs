//! Frames that arrive with another tag than they were sent with.

use super::given::{Ran, Word};
use rig_capture::Dir;
use rig_frames::vlan::{self, Pcp, Vid};

/// Twenty frames behind a tag, or without one.
fn probes(tag: &str) -> Ran {
    Ran::of(
        "broadcom",
        &format!(
            "    streams: {{probe: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 254B, every: 50us, count: 20{tag}}}}}
    trials: 1
    steps: [{{at: 1ms, start: probe}}]
    length: 3ms
    measure: [{{tags: {{stream: probe}}}}]
"
        ),
    )
}

const TAG: &str = ", vlan: {id: 100, pcp: 5}";

/// What is said when one frame of twenty arrives with this tag.
fn with(tag: &str, arrives: Option<vlan::Repr>) -> Word {
    let said = probes(tag).changed(|seen| {
        let one = seen.frames(0, Dir::Rx)[7];
        seen.observation.records[one].vlan = arrives;
    });
    said.word("tags")
}

#[test]
fn one_bit_of_one_tag_is_enough() {
    let sent = vlan::Repr { pcp: Pcp::new(5).unwrap(), dei: false, vid: Vid::new(100).unwrap() };
    let other = |pcp, dei, vid| {
        let (pcp, vid) = (Pcp::new(pcp).unwrap(), Vid::new(vid).unwrap());
        Some(vlan::Repr { pcp, dei, vid })
    };
    assert_eq!(with(TAG, Some(sent)), Word::Pass);
    for arrives in [other(4, false, 100), other(5, true, 100), other(5, false, 101), None] {
        assert!(matches!(with(TAG, arrives), Word::Fail(_)), "{arrives:?}");
    }
    assert_eq!(with("", None), Word::Pass);
    assert!(matches!(with("", Some(sent)), Word::Fail(_)));
}

#[test]
fn of_frames_that_never_arrived_nothing_is_said() {
    let of = |lost: usize| {
        probes(TAG).changed(|seen| {
            for _ in 0..lost {
                let first = seen.frames(0, Dir::Rx)[0];
                seen.lose(first);
            }
        })
    };
    assert_eq!(of(19).word("tags"), Word::Pass);
    assert_eq!(of(20).word("tags"), Word::Doubt("not-measured"));
}

#[test]
fn a_port_that_is_shown_no_tags_tells_nothing() {
    let said = probes(TAG).changed(|seen| {
        seen.observation.ports[1].sees_tags = false;
        for record in &mut seen.observation.records {
            record.vlan = record.vlan.filter(|_| record.dir == Dir::Tx);
        }
    });
    assert_eq!(said.word("tags"), Word::Doubt("not-observable"));
}
