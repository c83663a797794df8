//! What detections tell of the time between the poll that decides and its action.
//!
//! All actions that come equally late after their polls look like polls that lie later by as much. What gives such a device away is a
//! storm near a poll: it starts before the grid on which the actions lie, yet after the poll itself, and so is detected a whole
//! interval later than it should, or the other way round.

use super::{Phase, StormTrial};
use crate::Alike;
use crate::spec::pfcwd::Rule;
use core::ops::Bound;
use rig_capture::{Span, Unit};
use rig_units::Dur;

/// So many detections show where polls are; the storms behind them are put there.
const SHOW_A_GRID: usize = 2;

/// Within which latencies a device that always has one of them cannot be told from what is declared, as far as these trials go:
/// `pfcwd.action_latency in [0us, 5.02us]`. `interval`: what is wanted of every detection. `slack`: how far off the start of a storm may
/// be. `blur`: how wide the sharpest reading is. `placed`: storms are put just before and just behind the polls that the ones before showed.
pub(super) fn resolution(
    rule: &Rule,
    (interval, slack, blur): (Span, Dur, Dur),
    (phase, placed): (Option<&Phase>, bool),
    trials: &[StormTrial],
) -> Alike {
    let latency = rule.latency();
    let whole = Dur(interval.hi - interval.lo);
    // Without a grid it takes a latency that leads out of the interval from wherever the storm started.
    let least = whole.saturating_sub(latency.width()) + blur;
    let (mut later, mut earlier) = (least, least);
    if let Some(phase) = phase {
        let blur = phase.width + slack * 2;
        let detected = trials.iter().filter(|seen| seen.detection().is_some());
        for (index, seen) in detected.enumerate() {
            let after = phase.after(seen.storm_start);
            let ahead = Dur(u64::midpoint(after.lo, after.hi) % rule.poll_interval.0);
            let behind = rule.poll_interval - ahead;
            // A storm that was put there follows the actions, however late they are, and so meets polls where it is to meet none. One that
            // was not has polls that are where they are, and shows a latency that leads past the next of them.
            let follows = placed && index >= SHOW_A_GRID;
            let (until, since) = if follows { (ahead, behind) } else { (behind, ahead) };
            later = later.min(until + blur);
            earlier = earlier.min(since + blur);
        }
    }
    let (lo, hi) = (latency.least().saturating_sub(earlier), latency.most() + later);
    Alike {
        parameter: "pfcwd.action_latency".to_owned(),
        unit: Unit::Ps,
        least: Bound::Included(lo.0),
        most: Bound::Included(hi.0),
        certain: true,
    }
}
