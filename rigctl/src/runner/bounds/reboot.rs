//! For how long a reboot lets nothing pass, to the frame.

use super::given::{Ran, Word};
use rig_capture::{Dir, What};
use rig_units::{Dur, Time};

/// A frame each half millisecond, and a reboot at 50 ms. Of broadcom a cold one takes 800 ms, of which nothing passes for 400 ms.
fn reboots(kind: &str) -> Ran {
    let text = format!(
        "    streams: {{probe: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 254B, every: 500us}}}}
    steps: [{{at: 0ms, start: probe}}, {{at: 50ms, reboot: {kind}}}]
    length: 950ms
    trials: 1
    measure: [{{reboot.outage: {{stream: probe}}}}]
"
    );
    Ran::of("broadcom", &text)
}

/// What is said where the frames in the middle of the hole are lost, so many in all, and those of the given times, too.
fn lost(ran: &Ran, count: u32, at: &[Dur]) -> Word {
    let said = ran.changed(|seen| {
        let number = |record: usize, seen: &super::given::Seen<'_>| match seen.observation.records
            [record]
            .what
        {
            What::Data { seq, .. } => seq,
            _ => unreachable!("a frame of the stream"),
        };
        let passed: Vec<u32> =
            seen.frames(0, Dir::Rx).into_iter().map(|record| number(record, seen)).collect();
        let first = (0..).find(|seq| !passed.contains(seq)).expect("a hole");
        let also = |seq: u32| at.contains(&(Dur::us(500) * u64::from(seq)));
        while let Some(record) = seen.frames(0, Dir::Rx).into_iter().find(|&record| {
            let seq = number(record, seen);
            (first..first + count).contains(&seq) || also(seq)
        }) {
            seen.lose(record);
        }
    });
    said.word("reboot.outage")
}

#[test]
fn the_longest_hole_may_be_as_long_as_is_said_and_no_frame_longer() {
    let ran = reboots("cold");
    let sent = ran.as_seen_of(|seen| {
        seen.frames(0, Dir::Tx).iter().map(|one| seen.observation.records[*one].at).min()
    });
    assert!(sent < Some(Time::ZERO + Dur::us(10)), "{sent:?}");
    assert_eq!(lost(&ran, 0, &[]), Word::Pass);
    // From the first of 801 frames to the last of them are 400 ms.
    assert_eq!(lost(&ran, 801, &[]), Word::Pass);
    let Word::Fail(said) = lost(&ran, 802, &[]) else { panic!("a frame more is too long") };
    assert!(said.contains("802 frames lost in 1 gap, from "), "{said}");
}

#[test]
fn a_frame_that_is_lost_before_the_reboot_or_once_the_software_is_back_is_one_too_many() {
    let ran = reboots("cold");
    for (at, why) in [
        (Dur::ms(40), "some before the reboot"),
        (Dur::ms(851), "some when the software is to be back"),
    ] {
        let Word::Fail(said) = lost(&ran, 0, &[at]) else { panic!("{why}") };
        assert!(said.contains(" in 2 gaps, from ") && said.ends_with(why), "{said}");
    }
    // A hole of its own before that is no longer one.
    assert_eq!(lost(&ran, 0, &[Dur::ms(849)]), Word::Pass);
}

#[test]
fn where_no_frame_is_lost_nothing_shows_that_it_rebooted() {
    assert_eq!(reboots("warm").as_seen().word("reboot.outage"), Word::Doubt("not-observable"));
}
