//! Numbers of frames that are searched.

use super::given::{Ran, Word};
use crate::runner::bundled;
use crate::runner::case::{self, Rig};
use crate::stop::Stop;
use rig_capture::{Dir, Record, Span, What};
use rig_lab::Setting;
use rig_oracle::Verdict;
use rig_units::Quanta;

/// A held queue, filled by as many frames of 1024 B as it takes: 5 cells of 208 B each.
fn searched(measure: &str) -> Ran {
    Ran::of(
        "broadcom",
        &format!(
            "    dut: {{pfcwd: {{detection_time: 5000ms}}, buffer: {{pool: 1000000B, lossy_pool: 1000000B}}}}
    streams: {{fill: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 10us, count: searched}}}}
    storms: {{hold: {{from: p2, classes: [3]}}}}
    endpoints: {{p1: {{obeys: none}}}}
    steps:
      - {{at: 0ms, start: hold}}
      - {{at: 1ms, start: fill}}
      - {{at: {{of: fill, plus: 10ms}}, stop: hold}}
    length: {{of: fill, times: 2, plus: 30ms}}
    measure: [{{{measure}: {{streams: fill}}}}]
"
        ),
    )
}

#[test]
fn an_xoff_a_frame_too_late_or_too_early_fails() {
    // A ninth of 1 MB is 534 whole cells, and 6 are reserved: 108 frames of 5 cells fill them.
    let ran = searched("buffer.xoff");
    let (read, want, _) = ran.as_seen().about("buffer.xoff", "fill");
    assert_eq!((read, want), (Span::exactly(109), Span::exactly(109)));
    assert_eq!(ran.as_seen().word("buffer.xoff"), Word::Pass);
    let late = ran.changed_where((0, 109), |seen| {
        while let Some(&xoff) = seen.words(0, Dir::Rx, true).first() {
            seen.lose(xoff);
        }
    });
    assert_eq!(late.about("buffer.xoff", "fill").0.lo, 110);
    assert!(late.fails("buffer.xoff"));
    let early = ran.changed_where((0, 108), |seen| {
        let one = seen.observation.records[*seen.frames(0, Dir::Tx).last().expect("frames")];
        let what = What::Pfc { enable: 1 << 3, quanta: [Quanta::MAX; 8] };
        seen.add(Record { dir: Dir::Rx, what, ..one });
    });
    assert_eq!(early.about("buffer.xoff", "fill").0.hi, 108);
    assert!(early.fails("buffer.xoff"));
}

#[test]
fn a_frame_lost_too_soon_or_too_late_fails() {
    // 165568 B of headroom are 796 cells: 159 frames, the crossing one among them.
    let ran = searched("buffer.drop");
    let (read, want, _) = ran.as_seen().about("buffer.drop", "fill");
    assert_eq!((read, want), (Span::exactly(268), Span::exactly(268)));
    assert_eq!(ran.as_seen().word("buffer.drop"), Word::Pass);
    let soon = ran.changed_where((0, 267), |seen| {
        let last = *seen.frames(0, Dir::Rx).last().expect("frames");
        seen.lose(last);
    });
    assert_eq!(soon.about("buffer.drop", "fill").0.hi, 267);
    assert!(soon.fails("buffer.drop"));
    let late = ran.changed_where((0, 268), |seen| {
        let sent = seen.observation.records[*seen.frames(0, Dir::Tx).last().expect("frames")];
        let came = seen.observation.records[*seen.frames(0, Dir::Rx).last().expect("frames")];
        seen.add(Record { what: sent.what, ..came });
    });
    assert_eq!(late.about("buffer.drop", "fill").0.lo, 269);
    assert!(late.fails("buffer.drop"));
}

#[test]
fn an_xon_a_frame_too_late_or_too_early_fails() {
    let ran = Ran::of(
        "broadcom",
        "    dut: {pfcwd: {detection_time: 5000ms}, buffer: {pool: 1000000B, lossy_pool: 1000000B}}
    streams:
      stay:  {from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 10us, count: searched}
      leave: {from: p1, to: p3, class: 3, kind: rocev2-write, size: 1024B, every: 10us, count: searched}
    storms: {hold: {from: p2, classes: [3]}, aside: {from: p3, classes: [3]}}
    endpoints: {p1: {obeys: none}}
    steps:
      - {at: 0ms, start: [hold, aside]}
      - {at: 1ms, start: stay}
      - {at: {of: stay, plus: 10ms}, start: leave}
      - {at: {of: stay, times: 2, plus: 20ms}, stop: aside}
      - {at: {of: stay, times: 4, plus: 30ms}, stop: hold}
    length: {of: stay, times: 5, plus: 50ms}
    measure: [{buffer.xon: {stay: stay, leave: leave}}]
",
    );
    let (read, want, _) = ran.as_seen().about("buffer.xon", "leave");
    // XON is 2288 B below the limit, 11 cells: 3 frames of 5 cells each.
    assert_eq!((read, want), (Span::exactly(3), Span::exactly(3)));
    assert_eq!(ran.as_seen().word("buffer.xon"), Word::Pass);
    let late = ran.changed_where((1, 3), |seen| {
        while let Some(&xon) = seen.words(0, Dir::Rx, false).first() {
            seen.lose(xon);
        }
    });
    assert_eq!(late.about("buffer.xon", "leave").0.lo, 4);
    assert!(late.fails("buffer.xon"));
    let early = ran.changed_where((1, 2), |seen| {
        let one = seen.observation.records[*seen.frames(1, Dir::Rx).last().expect("frames")];
        let what = What::Pfc { enable: 1 << 3, quanta: [Quanta(0); 8] };
        seen.add(Record { port: 0, what, ..one });
    });
    assert_eq!(early.about("buffer.xon", "leave").0.hi, 2);
    assert!(early.fails("buffer.xon"));
}

#[test]
fn a_number_is_not_judged_where_a_stream_beside_it_is_held_too() {
    let beside = |holds: &str| {
        Ran::of(
            "broadcom",
            &format!(
                "    dut: {{pfcwd: {{detection_time: 5000ms}}, buffer: {{pool: 1000000B, lossy_pool: 1000000B}}}}
    streams:
      fill:  {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 10us, count: searched}}
      other: {{from: p1, to: p3, class: 4, kind: rocev2-write, size: 1024B, every: 10us, count: 60}}
    storms: {{hold: {{from: p2, classes: [3]}}, aside: {{from: p3, classes: [{holds}]}}}}
    endpoints: {{p1: {{obeys: none}}}}
    steps:
      - {{at: 0ms, start: [hold, aside]}}
      - {{at: 1ms, start: other}}
      - {{at: 5ms, start: fill}}
      - {{at: {{of: fill, plus: 10ms}}, stop: [hold, aside]}}
    length: {{of: fill, times: 2, plus: 30ms}}
    measure: [{{buffer.xoff: {{streams: fill}}}}]
"
            ),
        )
    };
    // Its 300 cells are of the pool that the limit of the other follows.
    assert_eq!(beside("4").as_seen().word("buffer.xoff"), Word::Doubt("not-measured"));
    assert_eq!(beside("5").as_seen().word("buffer.xoff"), Word::Pass);
}

/// A limit below the floor of XON: a group that is paused is within it from the start, and a device may look when something leaves or before.
#[test]
fn a_group_that_may_go_on_as_soon_as_it_was_paused_need_not_before_a_frame_has_left() {
    let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
    lab.duts.retain(|dut| dut.name == "mellanox");
    let path = "buffer.dynamic_th".to_owned();
    let small = Setting { path, value: serde_json::json!(-4) };
    lab.duts[0].declared = lab.duts[0].declared.with(&small).expect("a threshold");
    let case = bundled::case("buffers::xon-floor-mellanox");
    let stop = Stop::default();
    let rig = Rig::of(&lab, &[&case], 1, &stop);
    assert_eq!(case::run(&rig, &case).report.verdict, Verdict::Pass);
}
