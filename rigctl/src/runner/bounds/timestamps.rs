//! What timestamps that may be off make of a reading: it is wider by what both of its ends may be off, and judged by that.

use super::given::{Ran, Seen};
use super::watchdog::{RESTORATION, restored_later};
use super::{headroom, np, pause, rp, watchdog};
use rig_capture::{Dir, Span};
use rig_units::Dur;

/// How far off each timestamp may be, a run, its measure, and what moves what is measured.
type Row = (Dur, Ran, &'static str, fn(&mut Seen<'_>, i64));

fn first_xoff_of(seen: &mut Seen<'_>, (port, dir): (u16, Dir), by: i64) {
    let xoff = seen.words(port, dir, true)[0];
    seen.shift(xoff, by);
}

#[test]
fn a_reading_is_wider_by_what_its_timestamps_may_be_off_and_by_no_picosecond_more() {
    let detection = format!("{}}}", watchdog::DETECTION);
    // Later, where no reading is cut off at zero.
    let crossed = headroom::held(false, "{pfc.latency: {stream: fill}}");
    let crossed = crossed.then(|seen| first_xoff_of(seen, (0, Dir::Rx), 10_000_000));
    let paused = [("1010us", "600q")];
    let rows: [Row; 8] = [
        (Dur::us(50), watchdog::stormed("500ms", &detection), "pfcwd.detection", |seen, by| {
            watchdog::detected_later(seen, by);
        }),
        (Dur::us(50), watchdog::stormed("500ms", RESTORATION), "pfcwd.restoration", restored_later),
        // It counts from the end of the pause.
        (
            Dur::us(50),
            watchdog::stormed_on("cisco-8000", "500ms", RESTORATION),
            "pfcwd.restoration",
            restored_later,
        ),
        (Dur::ns(10), np::marks("0us", "60us", 1, "cnp.latency"), "cnp.latency", |seen, by| {
            let cnp = np::cnps(seen)[0];
            seen.shift(cnp, by);
        }),
        (Dur::ns(10), rp::cut("rate.reaction"), "rate.reaction", |seen, by| {
            let cnp = rp::cnp(seen);
            seen.shift(cnp, -by);
        }),
        (Dur::ns(10), pause::load("pfc.response", &paused), "pfc.response", |seen, by| {
            first_xoff_of(seen, (1, Dir::Tx), -by);
        }),
        (Dur::ns(10), pause::load("pfc.pause", &paused), "pfc.pause", |seen, by| {
            let late = pause::after_the_gap(seen);
            seen.shift_all(&late, by);
        }),
        (Dur::ns(10), crossed, "pfc.latency", |seen, by| {
            first_xoff_of(seen, (0, Dir::Rx), by);
        }),
    ];
    for (bound, ran, measure, moved) in rows {
        let (exact, want) = ran.as_seen().spans(measure);
        let ran = ran.off_by(bound);
        let wider = Span { lo: exact.lo - bound.0 * 2, hi: exact.hi + bound.0 * 2 };
        assert_eq!(ran.as_seen().spans(measure), (wider, want), "{measure}");
        ran.holds_its_bounds(measure, moved);
    }
}

#[test]
fn two_marks_are_no_better_known_than_their_timestamps() {
    let ran = np::marks("50us", "50us", 3, "cnp.interval").off_by(Dur::ns(10));
    let want = Span { lo: 50_000_000 - 20_000, hi: 50_000_000 + 20_000 };
    assert_eq!(ran.as_seen().spans("cnp.interval").1, want);
}
