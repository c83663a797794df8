//! What the watchdog does with a storm: whether it acts, when it does, and when it lets go.

use super::given::{Ran, Seen, Word};
use super::storm::missing;
use rig_capture::{Dir, Span};
use rig_lab::Declared;
use rig_units::{Dur, PortSpeed, Quanta};

/// A storm that starts at 200 ms and lasts so long, on the queue that a frame goes to every 500 us.
pub(super) fn stormed(length: &str, measure: &str) -> Ran {
    stormed_on("broadcom", length, measure)
}

pub(super) fn stormed_on(device: &'static str, length: &str, measure: &str) -> Ran {
    Ran::of(
        device,
        &format!(
            "    dut: {{pfcwd: {{detection_time: 200ms, restoration_time: 200ms, poll_interval: 100ms, action: drop}}}}
    streams: {{victim: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 254B, every: 500us}}}}
    storms: {{storm: {{from: p2, classes: [3]}}}}
    trials: 1
    steps:
      - {{at: 0ms, start: victim}}
      - {{at: 200ms, start: storm, for: {length}}}
    measure: [{{{measure}}}]
"
        ),
    )
}

/// 3 m of it.
pub(super) const CABLE: Dur = Dur(15_151);
pub(super) const DETECTION: &str = "pfcwd.detection: {storm: storm, stream: victim";
pub(super) const RESTORATION: &str = "pfcwd.restoration: {storm: storm, stream: victim}";

/// The records of the stream that passed that way a millisecond after the storm's first XOFF, or after its last, and later.
fn after(seen: &Seen<'_>, dir: Dir, last: bool) -> Vec<usize> {
    let xoffs = seen.words(1, Dir::Tx, true);
    let xoff = if last { xoffs[xoffs.len() - 1] } else { xoffs[0] };
    let at = |record: usize| seen.observation.records[record].at;
    let later = seen.frames(0, dir).into_iter();
    later.filter(|frame| at(*frame) > at(xoff) + Dur::ms(1)).collect()
}

/// The queue is let go so much later: whatever it held arrives so much later.
pub(super) fn detected_later(seen: &mut Seen<'_>, by: i64) {
    let held = after(seen, Dir::Rx, false);
    seen.shift_all(&held, by);
}

/// What is sent once the storm is over is sent, lost or not, so much later.
pub(super) fn restored_later(seen: &mut Seen<'_>, by: i64) {
    let frames = [after(seen, Dir::Rx, true), after(seen, Dir::Tx, true)].concat();
    seen.shift_all(&frames, by);
}

/// What is wanted of either.
const WANT: Span = Span { lo: Dur::ms(200).0, hi: Dur::ms(300).0 - 1 };

/// A frame that releases comes 150 ms after the storm: a restoration of 200 ms begins anew with it where it counts, and only there.
#[test]
fn a_frame_that_releases_is_none_of_the_storm_where_the_device_does_not_count_it() {
    let text = format!(
        "    dut: {{pfcwd: {{detection_time: 200ms, restoration_time: 200ms, poll_interval: 100ms, action: drop}}}}
    streams: {{victim: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 254B, every: 500us}}}}
    storms: {{storm: {{from: p2, classes: [3]}}}}
    trials: 1
    steps:
      - {{at: 0ms, start: victim}}
      - {{at: 200ms, start: storm, for: 400ms}}
      - {{at: 750ms, pfc: {{from: p2, classes: [3], quanta: 0q}}}}
    measure: [{{{RESTORATION}}}]
"
    );
    for counts in [true, false] {
        let ran = Ran::with("broadcom", &text, |profile| {
            if let Declared::Switch(switch) = &mut profile.declared {
                switch.pfc.xon_counts = counts;
            }
        });
        assert_eq!(ran.as_seen().word("pfcwd.restoration"), Word::Pass, "{counts}");
    }
}

#[test]
fn a_detection_holds_the_bounds_of_the_rule_to_the_picosecond() {
    let ran = stormed("500ms", &format!("{DETECTION}}}"));
    let (read, want) = ran.as_seen().spans("pfcwd.detection");
    assert_eq!(want, WANT);
    // From the first XOFF at the device to the first bit of the frame, of 254 B at 100 Gb/s, that it lets go.
    let (xoff, freed) = ran.as_seen_of(|seen| {
        let at = |record: usize| seen.observation.records[record].at;
        (at(seen.words(1, Dir::Tx, true)[0]), at(after(seen, Dir::Rx, false)[0]))
    });
    assert_eq!(Dur(read.hi), freed - xoff - CABLE * 2 - Dur(254 * 80));
    ran.holds_its_bounds("pfcwd.detection", detected_later);
}

#[test]
fn a_restoration_holds_the_bounds_of_the_rule_to_the_picosecond() {
    let ran = stormed("500ms", RESTORATION);
    let (read, want) = ran.as_seen().spans("pfcwd.restoration");
    assert_eq!(want, WANT);
    // From the last XOFF, whose pause may begin as late as the declared response, to the last frame that is lost.
    let (xoff, lost) = ran.as_seen_of(|seen| {
        let last = *seen.words(1, Dir::Tx, true).last().expect("XOFFs");
        (seen.observation.records[last].at, missing(seen, 0).last().expect("a lost frame").at)
    });
    assert_eq!(Dur(read.lo), lost - xoff - Dur::ns(2_020));
    ran.holds_its_bounds("pfcwd.restoration", restored_later);
}

#[test]
fn stamps_that_are_off_as_they_may_be_accuse_nobody_at_either_end_of_the_window() {
    const OFF: i64 = 1_000_000;
    let bound = Dur::us(1);
    for device in ["broadcom", "cisco-8000"] {
        let exact = stormed_on(device, "500ms", RESTORATION);
        let (read, want) = exact.as_seen().spans("pfcwd.restoration");
        let signed = |value: u64| i64::try_from(value).expect("a value");
        let loose = stormed_on(device, "500ms", RESTORATION).off_by(bound);
        // The storm's last frame is stamped early and the end of the action late, or the other way round.
        let (latest, earliest) = (signed(want.hi - read.lo), signed(want.lo) - signed(read.hi));
        for (by, off, out) in [(latest, OFF, 1), (earliest, -OFF, -1)] {
            let passes = |by: i64| {
                let said = loose.changed(|seen| {
                    restored_later(seen, by + off);
                    let last = *seen.words(1, Dir::Tx, true).last().expect("XOFFs");
                    seen.shift(last, -off);
                });
                said.passes("pfcwd.restoration")
            };
            assert!(passes(by) && !passes(by + out), "{device} {by} {off}");
        }
    }
}

#[test]
fn a_case_may_want_a_detection_by_the_picosecond_before_the_rule_does() {
    let read = stormed("500ms", &format!("{DETECTION}}}")).as_seen().spans("pfcwd.detection").0;
    let by = |at: u64| {
        let (us, ps) = (at / 1_000_000, at % 1_000_000);
        let ran = stormed("500ms", &format!("{DETECTION}, at_most: {us}.{ps:06}us}}"));
        ran.as_seen().word("pfcwd.detection")
    };
    assert_eq!(by(read.lo), Word::Pass);
    assert!(matches!(by(read.lo - 1), Word::Fail(_)));
}

#[test]
fn a_storm_fires_or_not_as_the_case_wants() {
    let fired = |length: &str, expect: &str| {
        let text = format!("pfcwd.fired: {{storm: storm, stream: victim{expect}}}");
        stormed(length, &text).as_seen().word("pfcwd.fired")
    };
    for (length, expect, passes) in [
        ("190ms", ", expect: never", true),
        ("190ms", ", expect: always", false),
        ("190ms", "", true),
        ("310ms", ", expect: never", false),
        ("310ms", ", expect: always", true),
        ("310ms", "", true),
    ] {
        let word = fired(length, expect);
        assert_eq!(word == Word::Pass, passes, "{length}{expect}: {word:?}");
        assert_eq!(matches!(word, Word::Fail(_)), !passes, "{length}{expect}: {word:?}");
    }
}

#[test]
fn a_storm_that_nobody_detects_may_last_until_the_rule_is_sure_to() {
    let ran = stormed("250ms", "pfcwd.fired: {storm: storm, stream: victim}");
    let lasts = |length: Dur| {
        let said = ran.changed(|seen| {
            let xoffs = seen.words(1, Dir::Tx, true);
            let at = |record: usize| seen.observation.records[record].at;
            let (first, last) = (xoffs[0], xoffs[xoffs.len() - 1]);
            let held = at(last) - at(first) + PortSpeed::G100.pause(Quanta::MAX);
            let by =
                i64::try_from(length.0).expect("a time") - i64::try_from(held.0).expect("a time");
            let held = after(seen, Dir::Rx, true);
            seen.shift_all(&[&held[..], &[last]].concat(), by);
        });
        said.word("pfcwd.fired")
    };
    assert_eq!(lasts(Dur::ms(300) - Dur(1)), Word::Pass);
    assert_eq!(lasts(Dur::ms(300)), Word::Fail("0 of 1 detected".to_owned()));
}
