//! How long a trial lasts whose streams take longer at slow ports: until all of them are through, as it does at fast ones.

use super::scripts;
use rig_lab::{Lab, Profile};
use rig_testcases::case::Count;
use rig_testcases::{Action, Amount, Case};
use rig_units::Dur;

/// The same case, with trials in which the streams of slow ports are through where those of fast ones are, and as long before the end.
pub(super) fn outlived(lab: &Lab, (profile, fast): (&Profile, &Profile), mut case: Case) -> Case {
    // Of streams of which as many frames each are searched, a trial has those that take longest.
    if let Some(Amount::Of { of, .. }) = &case.length
        && let Some(slowest) = slower_than(lab, profile, &case, of)
        && let Some(Amount::Of { of, .. }) = &mut case.length
    {
        *of = slowest;
    }
    match (rest(lab, fast, &case), rest(lab, profile, &case)) {
        (Some(meant), Some(is)) if meant >= 0 && is < 0 => {
            let more = u64::try_from(meant.saturating_sub(is)).unwrap_or(u64::MAX);
            case.lengthened(Dur(more))
        }
        _ => case,
    }
}

/// Of streams of which it is searched how many frames they are to have that which takes longest for one, where `of` is another of them.
fn slower_than(lab: &Lab, profile: &Profile, case: &Case, of: &str) -> Option<String> {
    let searched =
        |name: &str| case.streams.get(name).is_some_and(|one| one.count == Some(Count::Searched));
    let each = scripts(lab, profile, case, |context, script| {
        let own = script.streams.iter().filter(|one| searched(&one.name));
        let gaps = own.filter_map(|one| {
            let port = script.dut_ports.get(usize::from(one.from))?;
            Some((one.pace(context.group.declared.port_speed(*port)?).gap(), &one.name))
        });
        let (gaps, is): (Vec<_>, Vec<_>) = gaps.partition(|(_, name)| *name != of);
        let (slowest, name) = gaps.into_iter().max()?;
        is.first().filter(|(gap, _)| *gap < slowest).map(|_| name.clone())
    });
    searched(of).then(|| each.into_iter().next()).flatten()
}

/// How long before the end of a trial a stream of so many frames has sent the last of them, where that leaves least: less than nothing where
/// it has not by then.
fn rest(lab: &Lab, profile: &Profile, case: &Case) -> Option<i128> {
    let each = scripts(lab, profile, case, |context, script| {
        let declared = &context.group.declared;
        let stops = |id: u16, since: Dur| {
            let after = script.steps.iter().filter(move |step| step.at >= since);
            let mut stops = after.filter_map(move |step| match step.action {
                Action::StopStream(other) if other == id => Some(step.at),
                _ => None,
            });
            stops.next()
        };
        let ends = script.steps.iter().filter_map(|step| {
            let Action::StartStream(id) = step.action else { return None };
            let spec = script.streams.get(usize::from(id))?;
            let port = script.dut_ports.get(usize::from(spec.from))?;
            let gap = spec.pace(declared.port_speed(*port)?).gap();
            let end = step.at + gap.saturating_mul(spec.count?);
            Some(stops(id, step.at).map_or(end, |stop| stop.min(end)))
        });
        let last = ends.max()?;
        Some(i128::from(script.length.0) - i128::from(last.0))
    });
    each.into_iter().min()
}
