//! Groups that count their frames late: nobody within the declared delay is called faulty, and whoever misses a frame more is.

use super::given::Ran;
use super::margin;
use rig_capture::Span;
use rig_lab::{Mutation, Profile, Setting};
use serde_json::json;

/// A held queue, filled at line rate by as many frames of one cell as it takes: one each 17.6 ns.
pub(super) fn filled(measures: &str) -> String {
    margin::filled(measures).replace("every: 10us", "rate: 100%")
}

/// The case on a switch that declares up to 1 us and always takes `does`.
fn ran(case: &str, does: &str) -> Ran {
    let path = "buffer.accounting_delay".to_owned();
    Ran::with("broadcom", case, |device: &mut Profile| {
        let setting = Setting { path: path.clone(), value: json!({"max": "1us"}) };
        device.declared = device.declared.with(&setting).expect("a delay");
        let always = Mutation::Override { path, value: does.to_owned() };
        device.mutate(&always).expect("a value");
    })
}

/// What came within a delay: so many frames, each less than it before another.
const WITHIN: [(&str, u64); 5] =
    [("0ns", 0), ("17.6ns", 0), ("17601ps", 1), ("528ns", 29), ("1us", 56)];

#[test]
fn an_xoff_is_later_by_the_frames_that_do_not_count_yet_and_by_no_more() {
    let xoff = |does: &str| {
        let said = ran(&filled("{buffer.xoff: {streams: fill}}"), does).as_seen();
        let (read, want, _) = said.about("buffer.xoff", "fill");
        assert_eq!(want, Span { lo: 547, hi: 547 + 56 });
        (read, said.passes("buffer.xoff"))
    };
    // 540 cells of the pool, and 6 that are reserved.
    for (does, missing) in WITHIN {
        assert_eq!(xoff(does), (Span::exactly(547 + missing), true), "{does}");
    }
    assert_eq!(xoff("1003201ps"), (Span::exactly(547 + 57), false));
}

#[test]
fn a_loss_is_later_by_the_frames_that_do_not_count_yet_and_by_no_more() {
    let drop = |does: &str| {
        let said = ran(&filled("{buffer.drop: {streams: fill}}"), does).as_seen();
        let (read, want, _) = said.about("buffer.drop", "fill");
        assert_eq!(want, Span { lo: 1_343, hi: 1_343 + 56 });
        (read, said.passes("buffer.drop"))
    };
    for (does, missing) in WITHIN {
        assert_eq!(drop(does), (Span::exactly(1_343 + missing), true), "{does}");
    }
    assert_eq!(drop("1003201ps"), (Span::exactly(1_343 + 57), false));
}

#[test]
fn watermarks_follow_from_what_a_group_took_in_before_it_noticed() {
    let case = filled("{buffer.xoff: {streams: fill}}, {buffer.watermarks: {stream: fill}}");
    for (does, _) in WITHIN {
        assert_eq!(ran(&case, does).as_seen().wrong(), "", "{does}");
    }
}

#[test]
fn a_headroom_is_no_smaller_where_frames_count_late() {
    let case = filled("{headroom.loss: {stream: fill}}");
    let case =
        case.replace("count: searched", "count: 1400").replace("obeys: none", "response: 8us");
    for (does, _) in WITHIN {
        assert_eq!(ran(&case, does).as_seen().wrong(), "", "{does}");
    }
}
