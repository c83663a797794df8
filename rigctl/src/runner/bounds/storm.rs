//! The rig's own storms, and what a device's watchdog makes of one.

use super::given::{Ran, Seen, Word};
use rig_capture::{Dir, Record, Span, What};
use rig_units::{Dur, Time};
use std::collections::BTreeSet;

/// A storm that leaves as much time between its pauses as each lasts.
fn with_gaps(lasts: &str) -> Ran {
    Ran::of(
        "broadcom",
        &format!(
            "    storms: {{storm: {{from: p2, classes: [3], quanta: 15000q, refresh: 2x}}}}
    trials: 1
    steps: [{{at: 1ms, start: storm, for: {lasts}}}]
    length: 60ms
    measure: [{{storm.coverage: {{storm: storm}}}}]
"
        ),
    )
}

#[test]
fn of_a_storm_that_is_over_before_its_second_pause_nobody_sees_how_often_they_come() {
    assert_eq!(with_gaps("100us").as_seen().word("storm.coverage"), Word::Doubt("not-observable"));
    assert_eq!(with_gaps("300us").as_seen().word("storm.coverage"), Word::Pass);
}

#[test]
fn a_storm_with_gaps_covers_its_plan_give_or_take_a_millionth() {
    let ran = with_gaps("50ms");
    let (_, want) = ran.as_seen().spans("storm.coverage");
    assert_eq!(want, Span { lo: 499_999, hi: 500_001 });
    // 15000 quanta are 76.8 us, one every 153.6 us; the last one ends the storm. Later by `d` it covers N P / (N E + d).
    let (pause, every) = (76_800_000_u64, 153_600_000_u64);
    let gaps = ran.as_seen_count(|seen| seen.words(0, Dir::Tx, true).len()) - 1;
    let late = |share: u64| gaps * pause * 1_000_000 / share - gaps * every;
    let moved = |by: u64| {
        let said = ran.changed(|seen| {
            let last = *seen.words(0, Dir::Tx, true).last().expect("XOFFs");
            seen.shift(last, i64::try_from(by).expect("a time"));
        });
        said.word("storm.coverage")
    };
    assert_eq!(moved(late(499_999)), Word::Pass);
    assert!(matches!(moved(late(499_999) + 1), Word::Fail(_)));
}

/// A storm of half a second on the queue that two probes go to, and a watchdog that drops.
fn stormed(measures: &str) -> Ran {
    Ran::of(
        "broadcom",
        &format!(
            "    dut: {{pfcwd: {{detection_time: 200ms, restoration_time: 200ms, poll_interval: 100ms, action: drop}}}}
    streams:
      victim: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 254B, every: 500us}}
      beside: {{from: p3, to: p2, class: 3, kind: rocev2-write, size: 254B, every: 500us}}
    storms: {{storm: {{from: p2, classes: [3]}}}}
    trials: 1
    steps:
      - {{at: 0ms, start: [victim, beside]}}
      - {{at: 20ms, start: storm, for: 500ms}}
    measure: [{{pfcwd.detection: {{storm: storm, stream: victim}}}}, {measures}]
"
        ),
    )
}

/// Frames of a stream that were sent and did not arrive.
pub(super) fn missing(seen: &Seen<'_>, stream: u16) -> Vec<Record> {
    let number = |at: &usize| match seen.observation.records[*at].what {
        What::Data { seq, .. } => seq,
        _ => u32::MAX,
    };
    let came: BTreeSet<u32> = seen.frames(stream, Dir::Rx).iter().map(number).collect();
    let sent = seen.frames(stream, Dir::Tx).into_iter();
    let lost = sent.filter(|at| !came.contains(&number(at)));
    lost.map(|at| seen.observation.records[at]).collect()
}

/// So many of those arrive after all; fewer than none: so many more are lost.
fn arrive(seen: &mut Seen<'_>, stream: u16, count: i64) {
    let way = 1_000_000;
    let lost = missing(seen, stream);
    for one in &lost[..usize::try_from(count.max(0)).expect("a count")] {
        seen.add(Record { at: Time(one.at.0 + way), port: 1, dir: Dir::Rx, ..*one });
    }
    for _ in count..0 {
        let first = seen.frames(stream, Dir::Rx)[0];
        seen.lose(first);
    }
}

#[test]
fn the_drop_action_loses_what_comes_from_detection_to_restoration_to_the_frame() {
    let ran = stormed("{loss: {stream: beside}}");
    let (read, want) = ran.as_seen().spans("loss");
    assert_eq!(read, Span::exactly(1_000));
    // A frame at the device as the action begins, and one as it ends, may fare either way.
    assert_eq!(want, Span { lo: 999, hi: 1_001 });
    ran.holds_its_bounds("loss", |seen, by| arrive(seen, 1, -by));
}

#[test]
fn a_frame_near_the_action_is_predicted_to_be_lost_or_not_by_the_picosecond() {
    let bound = Dur::us(1);
    let ran =
        stormed("{pfcwd.restoration: {storm: storm, stream: victim}}, {loss: {stream: beside}}");
    let ran = ran.off_by(bound);
    let transit = ran
        .of_context(|context| context.group.declared.switch().expect("a switch").transit().most());
    // From the earliest that the first XOFF may have come.
    let (start, last_frame, cable) = ran.as_seen_of(|seen| {
        let xoffs = seen.words(1, Dir::Tx, true);
        let at = |record: usize| seen.observation.records[record].at;
        let cable = seen.observation.ports[1].cable;
        (at(xoffs[0]) + cable, at(xoffs[xoffs.len() - 1]) - at(xoffs[0]), cable)
    });
    let said = ran.as_seen();
    let taken = |measure: &str| said.of(measure).next().expect("it was judged").taken[0].span;
    let (acts, ends) = (taken("pfcwd.detection"), taken("pfcwd.restoration"));
    let after = |at: u64| start.0 - bound.0 + at;
    let base = said.spans("loss").1;
    // One that was lost in the middle is at the device at that time instead.
    let moved = |at: u64| {
        let said = ran.changed(|seen| {
            let lost = missing(seen, 1)[500].at;
            let mut sent = seen.frames(1, Dir::Tx).into_iter();
            let one = sent.find(|one| seen.observation.records[*one].at == lost);
            let one = one.expect("its record");
            seen.observation.records[one].at = Time(at - cable.0);
            seen.shift(one, 0);
        });
        let want = said.spans("loss").1;
        [base.lo - want.lo, base.hi - want.hi]
    };
    let late = last_frame.0;
    // How many fewer are predicted at the least and at the most, at that time and a picosecond later.
    for (at, fewer, later) in [
        (after(acts.lo) - transit.0 - bound.0, [1, 1], [1, 0]),
        (after(acts.hi) + bound.0, [1, 0], [0, 0]),
        (after(ends.lo + late) - transit.0 - bound.0, [0, 0], [1, 0]),
        (after(ends.hi + late) + bound.0, [1, 0], [1, 1]),
    ] {
        assert_eq!([moved(at), moved(at + 1)], [fewer, later], "{at}");
    }
}

/// A storm of a watchdog that only reports.
fn reported() -> Ran {
    Ran::of(
        "broadcom",
        "    dut: {pfcwd: {detection_time: 200ms, restoration_time: 200ms, poll_interval: 100ms, action: alert}}
    streams: {victim: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 254B, every: 500us}}
    storms: {storm: {from: p2, classes: [3]}}
    trials: 1
    steps:
      - {at: 0ms, start: victim}
      - {at: 20200us, start: storm, for: 500ms}
    measure: [{pfcwd.action: {storm: storm, stream: victim}}]
",
    )
}

#[test]
fn a_frame_under_an_alert_may_pass_until_the_pause_surely_is_obeyed() {
    let bound = Dur::us(1);
    let ran = reported().off_by(bound);
    assert!(ran.as_seen().passes("pfcwd.action"));
    // The last one before the storm is sent, and comes through, so long after the first XOFF.
    let sent = |after: Dur| {
        let said = ran.changed(|seen| {
            let at = |record: usize| seen.observation.records[record].at;
            let xoff = at(seen.words(1, Dir::Tx, true)[0]);
            let before = |record: &&usize| at(**record) < xoff;
            let [out, back] = [Dir::Tx, Dir::Rx].map(|dir| {
                *seen.frames(0, dir).iter().rfind(before).expect("a frame before the storm")
            });
            let by = (xoff + after) - at(out);
            seen.shift_all(&[out, back], i64::try_from(by.0).expect("a time"));
        });
        said.word("pfcwd.action")
    };
    let obeyed = Dur::ns(2_020) + bound * 2;
    assert_eq!(sent(obeyed), Word::Pass);
    assert!(matches!(sent(obeyed + Dur(1)), Word::Fail(_)), "{:?}", sent(obeyed + Dur(1)));
}

#[test]
fn one_frame_that_the_drop_action_lets_through_fails() {
    let ran = stormed("{pfcwd.action: {storm: storm, stream: victim}}");
    assert_eq!(ran.as_seen().word("pfcwd.action"), Word::Pass);
    let middle = |seen: &mut Seen<'_>| {
        let lost = missing(seen, 0);
        // Between the detection and the end of the storm.
        let one = lost.iter().find(|one| one.at > Time(450_000_000_000)).expect("a frame");
        seen.add(Record { at: Time(one.at.0 + 1_000_000), port: 1, dir: Dir::Rx, ..*one });
    };
    assert!(ran.changed(middle).fails("pfcwd.action"));
}

#[test]
fn the_counters_of_a_stormed_queue_are_what_the_wire_shows() {
    let ran = stormed("{counters: {storm: storm, stream: victim}}");
    ran.holds_counters(
        "counters",
        &[
            ("Ethernet4:3 PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED", 1),
            ("Ethernet4:3 PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED", 1),
        ],
    );
    // What was under way as the action began or ended may have been counted or not.
    let off = |counter: &str, by: i64| {
        ran.changed(|seen| seen.count(&format!("Ethernet4:3 {counter}"), by)).fails("counters")
    };
    for counter in ["PFC_WD_QUEUE_STATS_TX_DROPPED_PACKETS", "PFC_WD_QUEUE_STATS_TX_PACKETS"] {
        assert!((1..=5).any(|by| off(counter, by)), "{counter}");
    }
    assert!(off("SAI_QUEUE_STAT_PACKETS", 1) && off("SAI_QUEUE_STAT_PACKETS", -1));
}
