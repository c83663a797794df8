//! Frames that never arrive.

use super::given::{Ran, Word};
use rig_capture::Dir;

/// Twenty frames, of which as many are lost as a test likes.
fn probes(expect: &str) -> Ran {
    Ran::of(
        "broadcom",
        &format!(
            "    streams: {{probe: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 254B, every: 50us, count: 20}}}}
    trials: 1
    steps: [{{at: 1ms, start: probe}}]
    length: 3ms
    measure: [{{loss: {{stream: probe{expect}}}}}]
"
        ),
    )
}

/// A hundred frames over two switches beside a stream whose receiver is paused until then: the class stands still between the two.
fn beside_a_pause(until: &str) -> Word {
    let ran = Ran::of(
        "two-in-a-row",
        &format!(
            "    dut: {{buffer: {{pool: 1000000B, lossy_pool: 1000000B}}}}
    streams:
      held: {{from: p1, to: p4, class: 3, kind: rocev2-write, size: 1024B, every: 2us, count: 500}}
      beside: {{from: p2, to: p3, class: 3, kind: rocev2-write, size: 1024B, every: 20us, count: 100}}
    storms: {{pause: {{from: p4, classes: [3]}}}}
    trials: 1
    steps:
      - {{at: 0ms, start: pause}}
      - {{at: 1ms, start: held}}
      - {{at: 1ms, start: beside}}
      - {{at: {until}, stop: pause}}
    length: 10ms
    measure: [{{loss: {{stream: beside, expect: none}}}}]
"
        ),
    );
    ran.as_seen().word("loss")
}

fn lost(ran: &Ran, count: usize) -> Word {
    let said = ran.changed(|seen| {
        for _ in 0..count {
            let first = seen.frames(0, Dir::Rx)[0];
            seen.lose(first);
        }
    });
    said.word("loss")
}

#[test]
fn one_frame_lost_is_one_too_many_where_none_is_to_be() {
    for expect in [", expect: none", ""] {
        let ran = probes(expect);
        assert_eq!(lost(&ran, 0), Word::Pass);
        assert_eq!(lost(&ran, 1), Word::Fail("1 of 20 frames lost".to_owned()));
    }
}

#[test]
fn frames_that_a_pause_holds_between_two_switches_are_not_lost() {
    assert_eq!(beside_a_pause("9999us"), Word::Doubt("not-measured"));
    assert_eq!(beside_a_pause("5ms"), Word::Pass);
}

#[test]
fn what_nothing_holds_between_two_switches_is_lost() {
    let text = "    streams: {probe: {from: p1, to: p3, class: 3, kind: rocev2-write, size: 254B, every: 50us, count: 20}}
    trials: 1
    steps: [{at: 1ms, start: probe}]
    length: 3ms
    measure: [{loss: {stream: probe, expect: none}}]
";
    let said = Ran::of("two-in-a-row", text).changed(|seen| {
        let last = *seen.frames(0, Dir::Rx).last().expect("frames");
        seen.lose(last);
    });
    assert_eq!(said.word("loss"), Word::Fail("1 of 20 frames lost".to_owned()));
}

#[test]
fn one_frame_lost_is_enough_where_some_are_to_be() {
    let ran = probes(", expect: some");
    assert_eq!(lost(&ran, 0), Word::Fail("0 of 20 frames lost".to_owned()));
    assert_eq!(lost(&ran, 1), Word::Pass);
    assert_eq!(lost(&ran, 20), Word::Pass);
}

#[test]
fn one_frame_that_arrives_is_one_too_many_where_all_are_to_be_lost() {
    let ran = probes(", expect: all");
    assert_eq!(lost(&ran, 20), Word::Pass);
    assert_eq!(lost(&ran, 19), Word::Fail("19 of 20 frames lost".to_owned()));
}

#[test]
fn a_frame_that_comes_twice_fails_whatever_is_wanted() {
    for expect in [", expect: none", ", expect: some", ", expect: all"] {
        let ran = probes(expect);
        let said = ran.changed(|seen| {
            let last = *seen.frames(0, Dir::Rx).last().expect("frames");
            let mut twice = seen.observation.records[last];
            twice.at = rig_units::Time(twice.at.0 + 1);
            seen.add(twice);
        });
        assert!(said.fails("loss"), "{expect}: {:?}", said.word("loss"));
    }
}
