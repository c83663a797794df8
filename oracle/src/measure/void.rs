//! Which trials do not count, for a reason of the rig's own, and which of those are what their case is about.

use super::in_time;
use crate::trials::context::Context;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::Observation;
use rig_capture::analyse;
use rig_testcases::{Case, Expect, Script, StormSpec};
use rig_units::Dur;

/// Why a trial does not count; `None` when it does. Storms that the case wants to have gaps, or whose coverage it
/// measures, may have those that their script gives them.
pub fn void(
    context: &Context<'_>,
    number: u32,
    script: &Script,
    observation: &Observation,
) -> Option<Doubt> {
    let about_gaps = |storm: u16| context.case.wants_gaps(&script.storms[usize::from(storm)].name);
    let mut voids = analyse::voids(observation, script, &about_gaps);
    voids.extend(in_time::voids(context, script, observation));
    let mut voids = voids.into_iter();
    let first = voids.next()?;
    // The first one is the word for it; what else was amiss may be what it came from.
    let more = voids.map(|void| format!("; {}: {}", void.reason, void.detail));
    let detail = format!("trial {number}: {}{}", first.detail, more.collect::<String>());
    Some(Doubt { reason: first.reason, detail })
}

/// Whether a trial is void as its case wants it. A storm that a stall has torn is none of those whose script tears it.
pub fn as_planned(case: &Case, trial: &Trial, void: &Doubt) -> bool {
    let Expect::Inconclusive { reason } = &case.expect else { return false };
    let Trial { script, observation, .. } = trial;
    let torn = || script.storms.iter().any(|storm| storm.every > pause(storm, observation));
    void.reason == reason && (reason != "storm-lapse" || torn())
}

fn pause(storm: &StormSpec, observation: &Observation) -> Dur {
    observation.ports[usize::from(storm.from)].speed.pause(storm.quanta)
}
