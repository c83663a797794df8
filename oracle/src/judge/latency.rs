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

/// Within which latencies a device that always has one of them cannot be told from what is declared, as far as these trials go:
/// `pfcwd.action_latency in [0us, 5.02us]`. `interval`: what is wanted of every detection. `slack`: how far off the start of a storm may
/// be. `blur`: how wide the sharpest reading is.
pub(super) fn resolution(
    rule: &Rule,
    (interval, slack, blur): (Span, Dur, Dur),
    phase: Option<&Phase>,
    trials: &[StormTrial],
) -> Alike {
    let latency = rule.latency();
    let whole = Dur(interval.hi - interval.lo);
    // Without a grid it takes a latency that leads out of the interval from wherever the storm started.
    let least = whole.saturating_sub(latency.width()) + blur;
    let (mut later, mut earlier) = (least, least);
    if let Some(phase) = phase {
        let blur = phase.width + slack * 2;
        for seen in trials.iter().filter(|seen| seen.detection().is_some()) {
            let after = phase.after(seen.storm_start);
            let ahead = Dur(u64::midpoint(after.lo, after.hi) % rule.poll_interval.0);
            later = later.min(ahead + blur);
            earlier = earlier.min(rule.poll_interval - ahead + blur);
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
