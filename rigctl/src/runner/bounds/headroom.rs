//! How soon a device says XOFF and XON, and what is lost of a load whose sender stops too late.

use super::given::{Ran, Seen, Word};
use rig_capture::{Dir, Span};
use rig_lab::{Declared, Profile, Setting};
use rig_units::{Dur, Within};

const LATENCY: &str = "{pfc.latency: {stream: fill}}";

/// A queue that is held while 200 frames of 1024 B come, 83.52 ns each to send, and what is measured of it.
pub(super) fn held(reverse: bool, measures: &str) -> Ran {
    let (stream, step) = if reverse {
        (
            "\n      reverse: {from: p2, to: p1, class: 1, kind: udp, size: 4096B, every: 151us}",
            "\n      - {at: 0ms, start: reverse}",
        )
    } else {
        ("", "")
    };
    Ran::of(
        "broadcom",
        &format!(
            "    dut: {{pfcwd: {{detection_time: 5000ms}}, buffer: {{pool: 1000000B, lossy_pool: 1000000B}}}}
    streams:
      fill: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 10us, count: 200}}{stream}
    storms: {{hold: {{from: p2, classes: [3]}}}}
    endpoints: {{p1: {{obeys: none}}}}
    trials: 1
    steps:
      - {{at: 0ms, start: hold}}{step}
      - {{at: 1ms, start: fill}}
      - {{at: 4ms, stop: hold}}
    length: 8ms
    measure: [{measures}]
"
        ),
    )
}

/// Later, where no reading is cut off at zero.
fn the_first_xoff_holds_its_bounds(ran: Ran) {
    let first = |seen: &Seen<'_>| seen.words(0, Dir::Rx, true)[0];
    let ran = ran.then(|seen| seen.shift(first(seen), 10_000));
    ran.holds_its_bounds("pfc.latency", |seen, by| seen.shift(first(seen), by));
}

#[test]
fn an_xoff_leaves_as_the_crossing_frame_has_arrived_to_the_picosecond() {
    let ran = held(false, LATENCY);
    let (_, want, _) = ran.as_seen().about("pfc.latency", "fill");
    assert_eq!(want, Span::exactly(0));
    the_first_xoff_holds_its_bounds(ran);
}

#[test]
fn an_xoff_may_wait_for_the_frame_that_is_being_sent_and_no_longer() {
    let ran = held(true, LATENCY);
    let (_, want, _) = ran.as_seen().about("pfc.latency", "fill");
    // 4116 B at 100 Gb/s.
    assert_eq!(want, Span { lo: 0, hi: 329_280 });
    the_first_xoff_holds_its_bounds(ran);
}

#[test]
fn a_frame_of_another_stream_that_is_in_the_pool_makes_an_earlier_one_cross() {
    // Six cells that are reserved, and a ninth of the pool: frames of the other way, 20 cells each, pass every 151 us.
    let passes = |pool: u64| {
        let case = format!(
            "    dut: {{pfcwd: {{detection_time: 5000ms}}}}
    streams:
      fill: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, rate: 100%, count: 200}}
      reverse: {{from: p2, to: p1, class: 1, kind: udp, size: 4096B, every: 1us}}
    storms: {{hold: {{from: p2, classes: [3]}}}}
    endpoints: {{p1: {{obeys: none}}}}
    trials: 1
    steps:
      - {{at: 0ms, start: [hold, reverse]}}
      - {{at: 1ms, start: fill}}
      - {{at: 2ms, stop: hold}}
    length: 3ms
    measure: [{LATENCY}]
"
        );
        let ran = Ran::with("broadcom", &case, |device: &mut Profile| {
            for path in ["pool", "lossy_pool"] {
                let value = serde_json::json!(format!("{pool}B"));
                let setting = Setting { path: format!("buffer.{path}"), value };
                device.declared = device.declared.with(&setting).expect("a size");
            }
        });
        let said = ran.as_seen();
        assert_eq!(said.wrong(), "", "{pool}");
        said.passes("pfc.latency")
    };
    assert!((0..40).map(|step| 1_000_000 + step * 234).all(passes));
}

#[test]
fn an_xon_leaves_while_the_frame_does_that_frees_the_group() {
    let ran = held(false, LATENCY);
    let (_, want, _) = ran.as_seen().about("pfc.latency", "fill, XON");
    assert_eq!(want, Span { lo: 0, hi: 83_520 });
    let ran = ran.then(|seen| {
        let xon = seen.words(0, Dir::Rx, false)[0];
        seen.shift(xon, 10_000);
    });
    ran.holds_bounds_of(("pfc.latency", "fill, XON"), |seen, by| {
        let xon = seen.words(0, Dir::Rx, false)[0];
        seen.shift(xon, by);
    });
}

#[test]
fn a_word_that_never_comes_fails() {
    let ran = held(false, LATENCY);
    let said = ran.changed(|seen| {
        while let Some(&xoff) = seen.words(0, Dir::Rx, true).first() {
            seen.lose(xoff);
        }
    });
    assert_eq!(said.word("pfc.latency"), Word::Fail("no XOFF".to_owned()));
}

#[test]
fn a_group_that_did_not_hold_all_the_frames_that_are_counted_accuses_nobody() {
    let said = |sent: &str, held: &str| {
        let case = format!(
            "    dut: {{pfcwd: {{detection_time: 5000ms}}, buffer: {{pool: 1000000B, lossy_pool: 1000000B}}}}
    streams:
      fill: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, {sent}}}
    storms: {{hold: {{from: p2, classes: [3]}}}}
    endpoints: {{p1: {{obeys: none}}}}
    trials: 1
    steps:
      - {{at: 0ms, start: hold}}
      - {{at: 1ms, start: fill}}
      - {{at: {held}, stop: hold}}
    length: 8ms
    measure: [{LATENCY}]
"
        );
        let ran = Ran::of("broadcom", &case);
        let said = ran.as_seen();
        (said.word("pfc.latency"), said.wrong())
    };
    assert_eq!(said("every: 10us, count: 200", "4ms"), (Word::Pass, String::new()));
    // A few dozen of its frames are there when it is let go, and it takes more than a hundred to cross.
    let doubt = Word::Doubt("not-observable");
    let (word, why) = said("every: 10us, count: 200", "1ms");
    assert_eq!(word, doubt, "{why}");
    assert!(why.contains("frames of fill were not in the device together"), "{why}");
}

/// A full load into a held queue, its sender stopping so late.
fn late(response: &str, measure: &str) -> Ran {
    Ran::of("broadcom", &late_text(response, measure))
}

fn late_text(response: &str, measure: &str) -> String {
    format!(
            "    dut: {{pfcwd: {{detection_time: 5000ms}}, buffer: {{pool: 1000000B, lossy_pool: 1000000B, xoff: 60000B}}}}
    streams: {{load: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, rate: 100%, count: 400}}}}
    storms: {{hold: {{from: p2, classes: [3]}}}}
    endpoints: {{p1: {{obeys: [3], response: {response}}}}}
    taps: {{p1: all, p2: all}}
    trials: 1
    steps:
      - {{at: 0ms, start: hold}}
      - {{at: 1ms, start: load}}
      - {{at: 3ms, stop: hold}}
    length: 6ms
    measure: [{{headroom.loss: {{stream: load{measure}}}}}]
"
        )
}

#[test]
fn of_what_comes_too_late_what_does_not_fit_is_lost_and_no_frame_more() {
    let ran = late("6us", "");
    let (read, want) = ran.as_seen().spans("headroom.loss");
    assert!(want.lo > 0 && read.meets(want), "{read:?} {want:?}");
    ran.holds_its_bounds("headroom.loss", |seen, by| {
        for _ in 0..by.max(0) {
            let last = *seen.frames(0, Dir::Rx).last().expect("frames");
            seen.lose(last);
        }
        let lost: Vec<usize> = seen.frames(0, Dir::Tx);
        let came: Vec<_> = seen.frames(0, Dir::Rx);
        let came: Vec<_> = came.iter().map(|at| seen.observation.records[*at].what).collect();
        let lost: Vec<_> = lost.iter().map(|at| seen.observation.records[*at]).collect();
        let lost = lost.into_iter().filter(|one| !came.contains(&one.what));
        for one in lost.take(usize::try_from((-by).max(0)).expect("a count")).collect::<Vec<_>>() {
            let at = seen.observation.records.last().expect("records").at;
            seen.add(rig_capture::Record { at, port: 1, dir: Dir::Rx, ..one });
        }
    });
}

/// 57 frames fit, and some 10 come of a device that says XOFF at once; of one that takes 6 us more than 70 do.
#[test]
fn a_device_that_takes_longer_than_the_case_was_laid_out_for_is_not_failed_by_what_it_wants() {
    let text = late_text("100ns", ", expect: none");
    let slow = Ran::with("broadcom", &text, |profile| {
        if let Declared::Switch(switch) = &mut profile.declared {
            switch.pfc.emission = Some(Within::exactly(Dur::us(6)));
        }
    });
    assert_eq!(slow.as_seen().word("headroom.loss"), Word::Doubt("not-measured"));
    let short = late("6us", ", expect: none");
    assert!(matches!(short.as_seen().word("headroom.loss"), Word::Fail(_)));
}

#[test]
fn whatever_comes_is_to_fit_where_the_case_wants_no_loss() {
    let ran = late("100ns", ", expect: none");
    assert!(ran.as_seen().passes("headroom.loss"));
    let said = ran.changed(|seen| {
        let last = *seen.frames(0, Dir::Rx).last().expect("frames");
        seen.lose(last);
    });
    assert_eq!(said.word("headroom.loss"), Word::Fail("1 of 400 frames lost".to_owned()));
}
