//! Numbers of frames that are searched.

use super::given::{Ran, Word};
use rig_capture::{Dir, Record, Span, What};
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
    let late = ran.changed_where(109, |seen| {
        while let Some(&xoff) = seen.words(0, Dir::Rx, true).first() {
            seen.lose(xoff);
        }
    });
    assert_eq!(late.about("buffer.xoff", "fill").0.lo, 110);
    assert!(late.fails("buffer.xoff"));
    let early = ran.changed_where(108, |seen| {
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
    let soon = ran.changed_where(267, |seen| {
        let last = *seen.frames(0, Dir::Rx).last().expect("frames");
        seen.lose(last);
    });
    assert_eq!(soon.about("buffer.drop", "fill").0.hi, 267);
    assert!(soon.fails("buffer.drop"));
    let late = ran.changed_where(268, |seen| {
        let sent = seen.observation.records[*seen.frames(0, Dir::Tx).last().expect("frames")];
        let came = seen.observation.records[*seen.frames(0, Dir::Rx).last().expect("frames")];
        seen.add(Record { what: sent.what, ..came });
    });
    assert_eq!(late.about("buffer.drop", "fill").0.lo, 269);
    assert!(late.fails("buffer.drop"));
}
