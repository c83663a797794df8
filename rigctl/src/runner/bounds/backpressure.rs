//! The frame at which a pause is back at who sends.

use super::given::{Ran, Seen, Word};
use rig_capture::{Dir, Span};

/// A thousand frames of 1024 B to a paused receiver, so far apart, in pools of 1 MB: over one switch, or over two in a row. The
/// sender goes on, so that a later XOFF would come after more.
fn held(device: &'static str, to: &str, every: &str) -> Ran {
    Ran::of(device, &text(to, every))
}

fn text(to: &str, every: &str) -> String {
    format!(
        "    dut: {{buffer: {{pool: 1000000B, lossy_pool: 1000000B}}}}
    streams: {{held: {{from: p1, to: {to}, class: 3, kind: rocev2-write, size: 1024B, every: {every}, count: 1000}}}}
    storms: {{pause: {{from: {to}, classes: [3]}}}}
    endpoints: {{p1: {{obeys: none}}}}
    taps: {{p1: all}}
    trials: 1
    steps:
      - {{at: 0ms, start: pause}}
      - {{at: 1ms, start: held}}
      - {{at: 21ms, stop: pause}}
    length: 40ms
    measure: [pfc.backpressure: {{stream: held}}]
"
    )
}

/// The first XOFF at the sender.
fn first(seen: &Seen<'_>) -> usize {
    seen.words(0, Dir::Rx, true)[0]
}

#[test]
fn one_switch_pauses_at_its_own_crossing() {
    // A group of its own takes 1/9 of 1 MB and 1248 B more, in frames of five cells of 208 B.
    let ran = held("broadcom", "p2", "10us");
    assert_eq!(ran.as_seen().spans("pfc.backpressure"), (Span::exactly(109), Span::exactly(109)));
}

#[test]
fn the_frames_of_two_switches_add_up_to_the_frame() {
    // The far one takes half of 1 MB and 19456 B more, in frames that fill eight cells of 144 B: 451 frames.
    let ran = held("two-in-a-row", "p3", "10us");
    let want = Span::exactly(109 + 451);
    assert_eq!(ran.as_seen().spans("pfc.backpressure"), (want, want));
    ran.holds_its_bounds("pfc.backpressure", |seen, by| seen.shift(first(seen), by * 10_000_000));
}

#[test]
fn what_passes_before_a_pause_takes_effect_comes_on_top() {
    let ran = held("two-in-a-row", "p3", "1us");
    let (read, want) = ran.as_seen().spans("pfc.backpressure");
    // On the link: two frames of 1044 B and 9122 B, one of PFC, 80 m of cable and the response: 3.3 us.
    assert_eq!((want, read.lo), (Span { lo: 560, hi: 563 }, 562));
    ran.holds_its_bounds("pfc.backpressure", |seen, by| seen.shift(first(seen), by * 1_000_000));
}

#[test]
fn a_pause_that_never_comes_back_fails() {
    let said = held("two-in-a-row", "p3", "10us").changed(|seen| {
        while let Some(&xoff) = seen.words(0, Dir::Rx, true).first() {
            seen.lose(xoff);
        }
    });
    assert_eq!(said.word("pfc.backpressure"), Word::Fail("no XOFF within 1000 frames".to_owned()));
}

#[test]
fn an_xoff_after_the_pause_is_told_apart_from_none_and_frames_sent_after_it_do_not_count() {
    // From 1 ms to 21 ms a frame each 30 us: 667 of the thousand.
    let ran = held("two-in-a-row", "p3", "30us");
    let said = ran.changed(|seen| {
        while let [_, xoff, ..] = seen.words(0, Dir::Rx, true)[..] {
            seen.lose(xoff);
        }
        seen.shift(first(seen), 20_000_000_000);
    });
    let got = "no XOFF within 667 frames, and one after its pause";
    assert_eq!(said.word("pfc.backpressure"), Word::Fail(got.to_owned()));
}

#[test]
fn frames_that_do_not_meet_a_pause_alone_show_nothing_of_it() {
    let one = text("p3", "10us");
    for (was, is) in [
        ("at: 0ms, start: pause", "at: 2ms, start: pause"),
        ("from: p3, classes: [3]", "from: p4, classes: [3]"),
        ("from: p3, classes: [3]", "from: p3, classes: [4]"),
        ("at: 21ms", "at: 5ms"),
        ("every: 10us", "rate: 10%"),
    ] {
        let changed = one.replace(was, is);
        assert_ne!(changed, one);
        let said = Ran::of("two-in-a-row", &changed).as_seen().word("pfc.backpressure");
        assert_eq!(said, Word::Doubt("not-measured"), "{was} -> {is}");
    }
}
