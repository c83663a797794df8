//! Thresholds that may lie off what is declared by so many cells: nobody within is called faulty, and whoever lies a cell beyond is.

use super::given::Ran;
use rig_capture::Span;
use rig_lab::{Mutation, Profile, Setting};
use serde_json::json;

/// The declared margin.
const CELLS: i64 = 4;

/// Limit and headroom of a group, and how far below its limit it may go on, in cells.
const SIZES: [(&str, i64); 3] =
    [("buffer.static_th", 540), ("buffer.xoff", 796), ("buffer.xon_offset", 11)];

/// A held queue, filled by as many frames of one cell as it takes.
pub(super) fn filled(measures: &str) -> String {
    format!(
        "    dut: {{pfcwd: {{detection_time: 5000ms}}, buffer: {{pool: 1000000B, lossy_pool: 1000000B, static_th: 112320B}}}}
    streams: {{fill: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 200B, every: 10us, count: searched}}}}
    storms: {{hold: {{from: p2, classes: [3]}}}}
    endpoints: {{p1: {{obeys: none}}}}
    steps:
      - {{at: 0ms, start: hold}}
      - {{at: 1ms, start: fill}}
      - {{at: {{of: fill, plus: 10ms}}, stop: hold}}
    length: {{of: fill, times: 2, plus: 30ms}}
    measure: [{measures}]
"
    )
}

/// The same where some of the frames leave before the others.
fn relieved() -> String {
    "    dut: {pfcwd: {detection_time: 5000ms}, buffer: {pool: 1000000B, lossy_pool: 1000000B, static_th: 112320B}}
    streams:
      stay:  {from: p1, to: p2, class: 3, kind: rocev2-write, size: 200B, every: 10us, count: searched}
      leave: {from: p1, to: p3, class: 3, kind: rocev2-write, size: 200B, every: 10us, count: searched}
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
"
    .to_owned()
}

/// The case on a switch that declares the margin, or none; with offsets of its [`SIZES`], one that always lies so far off.
fn ran(case: &str, margin: i64, off: Option<[i64; 3]>, seed: u64) -> Ran {
    Ran::seeded("broadcom", case, seed, |device: &mut Profile| {
        let setting = Setting { path: "buffer.margin".to_owned(), value: json!(margin) };
        device.declared = device.declared.with(&setting).expect("a margin");
        let Some(off) = off else { return };
        let mut does = |path: &str, value: String| {
            let always = Mutation::Override { path: path.to_owned(), value };
            device.mutate(&always).expect("a value");
        };
        does("buffer.margin", "never".to_owned());
        for ((path, cells), off) in SIZES.into_iter().zip(off) {
            if off != 0 {
                does(path, format!("{}B", (cells + off) * 208));
            }
        }
    })
}

/// What was found and what was wanted by `measure` of `stream`, and whether it passed.
fn told(ran: &Ran, measure: &str, stream: &str) -> (Span, Span, bool) {
    let said = ran.as_seen();
    let (read, want, _) = said.about(measure, stream);
    (read, want, said.passes(measure))
}

#[test]
fn a_limit_within_the_margin_accuses_nobody_and_a_cell_beyond_it_is_found() {
    let case = filled("{buffer.xoff: {streams: fill}}");
    let xoff = |margin, off| told(&ran(&case, margin, Some([off, 0, 0]), 1), "buffer.xoff", "fill");
    // 540 cells of the pool, and 6 that are reserved.
    for off in [-CELLS, 0, CELLS] {
        let found = u64::try_from(547 + off).expect("a number");
        let want = Span { lo: 543, hi: 551 };
        assert_eq!(xoff(CELLS, off), (Span::exactly(found), want, true), "{off}");
        // Without a margin such a device is wrong.
        assert_eq!(xoff(0, off), (Span::exactly(found), Span::exactly(547), off == 0), "{off}");
    }
    for off in [-CELLS - 1, CELLS + 1] {
        assert!(!xoff(CELLS, off).2, "{off}");
    }
}

#[test]
fn a_headroom_within_the_margin_accuses_nobody_and_a_cell_beyond_both_is_found() {
    let case = filled("{buffer.drop: {streams: fill}}");
    let drop = |off: [i64; 2]| {
        told(&ran(&case, CELLS, Some([off[0], off[1], 0]), 1), "buffer.drop", "fill")
    };
    for off in [[-CELLS, -CELLS], [CELLS, CELLS], [-CELLS, CELLS]] {
        let found = u64::try_from(1_343 + off[0] + off[1]).expect("a number");
        let want = Span { lo: 1_335, hi: 1_351 };
        assert_eq!(drop(off), (Span::exactly(found), want, true), "{off:?}");
    }
    for off in [[-CELLS, -CELLS - 1], [CELLS, CELLS + 1]] {
        assert!(!drop(off).2, "{off:?}");
    }
}

#[test]
fn an_xon_within_the_margin_accuses_nobody_and_a_cell_beyond_it_is_found() {
    let case = relieved();
    let xon = |off| told(&ran(&case, CELLS, Some([0, 0, off]), 1), "buffer.xon", "leave").2;
    assert_eq!([-CELLS, 0, CELLS].map(xon), [true; 3]);
    assert_eq!([-CELLS - 1, CELLS + 1].map(xon), [false; 2]);
}

#[test]
fn whatever_a_device_draws_within_its_margin_passes() {
    let both = filled("{buffer.xoff: {streams: fill}}, {buffer.watermarks: {stream: fill}}");
    let drop = filled("{buffer.drop: {streams: fill}}, {buffer.watermarks: {stream: fill}}");
    let mut found = Vec::new();
    for seed in 1..=12 {
        for case in [&both, &drop, &relieved()] {
            let said = ran(case, CELLS, None, seed).as_seen();
            assert_eq!(said.wrong(), "", "seed {seed}");
            found.extend(said.of("buffer.xoff").next().map(|one| one.reading.span.lo));
        }
    }
    found.sort_unstable();
    found.dedup();
    assert!(found.len() > 4, "{found:?}: not drawn");
}

#[test]
fn an_xon_follows_any_of_those_that_the_margin_allows_of_a_dynamic_limit() {
    // Of some margins within the declared one another frame is the last to leave than of either end.
    let case = "    dut: {pfcwd: {detection_time: 5000ms}, buffer: {pool: 1000000B, lossy_pool: 1000000B}}
    streams: {fill: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 20us, count: 2000}}
    storms: {hold: {from: p2, classes: [3]}}
    endpoints: {p1: {obeys: none}}
    trials: 1
    steps:
      - {at: 0ms, start: hold}
      - {at: 40ms, start: fill}
      - {at: {of: fill, plus: 100ms}, stop: hold}
    length: {of: fill, times: 2, plus: 300ms}
    measure: [{pfc.latency: {stream: fill}}]
";
    for seed in 1..=12 {
        let ran = Ran::seeded("mellanox", case, seed, |device: &mut Profile| {
            let setting = Setting { path: "buffer.margin".to_owned(), value: json!(3) };
            device.declared = device.declared.with(&setting).expect("a margin");
        });
        assert_eq!(ran.as_seen().wrong(), "", "seed {seed}");
    }
}

#[test]
fn an_xon_that_takes_longer_than_a_frame_follows_any_of_those_that_the_margin_allows() {
    let case = filled("{pfc.latency: {stream: fill}}").replace("count: searched", "count: 1500");
    let latency = |margin: i64, takes: &str, seed| {
        let ran = Ran::seeded("broadcom", &case, seed, |device: &mut Profile| {
            let own = [("buffer.margin", json!(margin)), ("pfc.resumption", json!("700ns"))];
            for (path, value) in own {
                let setting = Setting { path: path.to_owned(), value };
                device.declared = device.declared.with(&setting).expect("a setting");
            }
            let does =
                Mutation::Override { path: "pfc.resumption".to_owned(), value: takes.to_owned() };
            device.mutate(&does).expect("a value");
        });
        ran.as_seen().passes("pfc.latency")
    };
    for seed in 1..=6 {
        assert!(latency(CELLS, "700ns", seed), "seed {seed}");
        assert!(!latency(CELLS, "1400ns", seed), "seed {seed}");
        assert!(!latency(CELLS, "0ns", seed), "seed {seed}");
    }
}
