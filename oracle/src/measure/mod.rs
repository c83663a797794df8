//! What a case may ask for: each measure with what it expects and what judges it.

use crate::trials::context::Context;
use crate::trials::points::Group;
use crate::trials::seed::Seed;
use rig_lab::{Lab, Profile};
use rig_testcases::Case;

mod action;
mod ahead;
mod backpressure;
mod blame;
mod buffer_ledger;
mod checks;
mod config;
mod counters;
mod ecn;
mod headroom;
mod in_time;
mod judge_context;
mod judged;
mod latency;
mod legs;
mod limits;
mod loss;
mod macsec;
mod measurement;
mod nic;
mod pause;
mod pfc;
mod registry;
mod search;
mod storm;
mod tags;
mod throughput;
mod void;
pub(crate) mod watchdog;
mod watermark_tables;
mod watermarks;
mod withheld;

pub use config::shown;
pub use ecn::class;
pub use in_time::reads_counters;
pub use judge_context::JudgeContext;
pub use judged::{Judged, Settled};
pub use limits::Limit;
pub use measurement::{
    Expected, Expects, FromStart, Known, LateLimits, Needs, Placement, Red, Tells,
};
pub use registry::{Registry, of};
pub use search::happened;
pub use void::{as_planned, void};
pub use watchdog::see::{Counting, see};
pub use watchdog::subject::{Places, Subject};
pub use watchdog::watch::Fires;
pub use watchdog::{before, in_focus, longest_turn, marks, placer, rests, start, too_rare, turn};

/// What a case is run and judged by on a device in one configuration.
pub fn context<'a>(
    lab: &Lab,
    profile: &'a Profile,
    case: &'a Case,
    group: Group,
    seed: Seed,
) -> Context<'a> {
    let subjects = case.measure.iter().filter_map(|one| (of(one).subject)(one)).collect();
    Context::of(lab, profile, case, group, (seed, subjects))
}

/// Judges every measure of the case: each of them owes an answer at each point.
pub fn judge(done: &JudgeContext<'_>) -> Settled {
    let mut judged = Judged::default();
    for (index, measure) in done.context.case.measure.iter().enumerate() {
        judged.ask((index, measure.name()), done.points.iter().map(|point| done.place(point)));
        (of(measure).judge)(measure, done, &mut judged);
    }
    judged.settle()
}
