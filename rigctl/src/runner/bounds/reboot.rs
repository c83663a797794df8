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
fn from_the_first_loss_to_the_last_may_be_as_long_as_is_said_and_no_frame_longer() {
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
    // A hole of its own counts with what passes before it.
    assert_eq!(lost(&ran, 0, &[Dur::ms(450)]), Word::Pass);
    let Word::Fail(said) = lost(&ran, 0, &[Dur::us(450_500)]) else { panic!("it is too late") };
    assert!(said.contains(" in 2 gaps, from "), "{said}");
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
}

#[test]
fn where_no_frame_is_lost_nothing_shows_that_it_rebooted() {
    assert_eq!(reboots("warm").as_seen().word("reboot.outage"), Word::Doubt("not-observable"));
}

/// The same, and what the device says of its reboots; the trial ends so long after the reboot.
fn says(ends: &str) -> Ran {
    let text = format!(
        "    streams: {{probe: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 254B, every: 500us}}}}
    steps: [{{at: 0ms, start: probe, for: 10ms}}, {{at: 50ms, reboot: warm}}]
    length: {ends}
    trials: 1
    measure: [{{reboot.cause: {{}}}}]
"
    );
    Ran::of("broadcom", &text)
}

#[test]
fn it_says_that_it_has_come_back_once_for_each_order_and_from_no_other_reboot() {
    let [warm, cold] = ["REBOOT_CAUSE warm-reboot", "REBOOT_CAUSE reboot"];
    says("460ms").holds_counters("reboot.cause", &[(warm, 1), (cold, 0)]);
    let late = |obeyed: u64| {
        let said = says("460ms").changed(|seen| {
            seen.count(warm, -1);
            seen.observation.counters.obeyed = Dur::ms(obeyed);
        });
        said.word("reboot.cause")
    };
    // It is to be back 400 ms after it was told to at 50 ms.
    assert!(matches!(late(10), Word::Fail(_)), "{:?}", late(10));
    assert_eq!(late(11), Word::Doubt("not-observable"));
}
