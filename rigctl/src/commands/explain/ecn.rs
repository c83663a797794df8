//! What the measures of early marking are expected to show.

use super::page::Page;
use crate::runner::session::Session;
use rig_capture::Unit;
use rig_frames::ip::Ecn;
use rig_lab::{Curve, Marking};
use rig_oracle::spec::wred::{Class, Fate};
use rig_testcases::{First, Measure, Wanted};

/// Writes one of them; nothing of another measure.
pub(super) fn measure(page: &mut Page, session: &Session<'_>, measure: &Measure) {
    match measure {
        Measure::EcnCurve { streams } => curve(page, session, streams),
        Measure::EcnMarks { expect, .. } => page.detail(
            "wanted",
            match expect {
                Wanted::None => "no frame marked",
                Wanted::All => "every frame marked",
                Wanted::Some | Wanted::Predicted => "at least one frame marked",
            },
        ),
        Measure::EcnCounters { .. } => {
            page.detail(
                "predicted",
                "each WRED and ECN counter of the queue grown by what the wire shows",
            );
            page.detail("source", "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS; the wire is the count");
        }
        Measure::EcnOrder { first, .. } => page.detail(
            "wanted",
            match first {
                First::Ecn => "a mark before the first XOFF",
                First::Pfc => "an XOFF before the first mark",
            },
        ),
        _ => {}
    }
}

/// The curve that the frames of some streams go by, and what it does to them.
fn curve(page: &mut Page, session: &Session<'_>, streams: &[String]) {
    let wred = &session.group.declared.wred;
    let Some(stream) = streams.first().and_then(|name| session.case.streams.get(name)) else {
        return;
    };
    let class = Class { color: stream.color, capable: stream.ecn != Ecn::NotEct };
    let done_to = match class.fate(wred) {
        Fate::Mark => "marked",
        Fate::Drop => "dropped",
    };
    let point = match class.point(wred) {
        Marking::Dequeue => "leaves",
        Marking::Enqueue => "comes",
    };
    let Curve { kmin, kmax, pmax } = class.curve(wred);
    let pmax = Unit::Ppm.show(u64::from(pmax.0));
    page.detail(
        "predicted",
        &format!("none {done_to} up to {kmin}, then with a chance that grows to {pmax} at {kmax}, all from there on"),
    );
    let formula = format!("F8, F9: each frame drawn for by itself, at the depth when it {point}");
    page.detail("formula", &formula);
}
