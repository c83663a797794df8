//! When a trial may begin on a device whose watchdog acts: on the grid of its polls, and not before what an earlier trial left
//! stormed is restored; and on a NIC that remembers an earlier trial.

use super::watch::Watch;
use crate::spec::pfcwd::Rule;
use crate::trials::ask::{Before, Place, Rests, Start};
use crate::trials::context::Context;
use crate::trials::points::groups;
use rig_lab::{Declared, Nics, RuleFamily, Scope};
use rig_testcases::case::CaseAction;
use rig_testcases::{Action, DeviceVerb, Lookup as _, Script, StormSpec};
use rig_units::{Bytes, Dur};

/// Within how long trials start on a device that polls nothing: any time would do.
const NO_TURN: Dur = Dur::ms(100);

/// From one poll of the device's watchdog to the next, as it is configured; of a device without one, within how long trials start.
pub fn turn(context: &Context<'_>) -> Dur {
    context.watch.as_ref().map_or(NO_TURN, |watch| watch.rule.poll_interval)
}

/// The same where the polls are farthest apart.
pub fn longest_turn(context: &Context<'_>) -> Dur {
    context.watch.as_ref().map_or(NO_TURN, |watch| watch.rule.longest_interval())
}

/// A storm of a case about the watchdog whose frames are so far apart that the device polls twice between two of them, and how far apart its
/// polls are: most rules take such a class for one that nobody pauses.
pub fn too_rare<'s>(context: &Context<'_>, script: &'s Script) -> Option<(&'s StormSpec, Dur)> {
    let watch = context.watch.as_ref()?;
    // This rule asks whether the class was paused, not whether it was told so again.
    let asks_otherwise =
        matches!(watch.rule.family, RuleFamily::IntervalCounter | RuleFamily::Hardware);
    watch.subject().filter(|_| !asks_otherwise)?;
    let poll = watch.rule.poll_interval;
    script.storms.iter().find(|storm| storm.every > poll).map(|storm| (storm, poll))
}

/// When the trial starts whose storm is to meet the device at `place`.
pub fn start(context: &Context<'_>, script: &Script, place: Place) -> Start {
    match place {
        Place::After(wait) => Start::After(wait),
        Place::Phase(phase) => Start::InStep {
            lead: first_storm(script) + reach(context, script),
            phase,
            every: turn(context),
        },
    }
}

/// For how long the watchdog of a device goes on with what it has begun.
pub fn rests(context: &Context<'_>) -> Rests {
    let steps = context.case.steps.iter().filter_map(|step| match step.what {
        CaseAction::Device(verb) => lasts(context, verb),
        _ => None,
    });
    let away = steps.max().unwrap_or_default();
    let Some((watch, switch)) = context.watch.as_ref().zip(context.profile.declared.switch())
    else {
        return Rests { fresh: NO_TURN, used: NO_TURN.max(away) };
    };
    let declared = &switch.pfcwd;
    let restored = watch.gives_back();
    let begun = longest_begun(context, watch);
    let left = watch.longest + restored.unwrap_or(declared.poll_interval);
    Rests { fresh: begun, used: left.max(begun).max(away) }
}

/// The longest wait between two polls that it may have begun before it was configured for the trial, and finishes first: as its profile has it, or
/// as another configuration of the case.
fn longest_begun(context: &Context<'_>, watch: &Watch) -> Dur {
    let Watch { rule, .. } = watch;
    let all = groups(context.case, &context.profile.declared).unwrap_or_default();
    let others = all.iter().map(|group| &group.declared).chain([&context.profile.declared]);
    let of = |declared: &Declared| {
        let other = Rule::of(rule.family, &declared.switch()?.pfcwd).longest_interval();
        Some(rule.apart.most(other))
    };
    others.filter_map(of).fold(rule.longest_interval(), Dur::max)
}

/// What the device needs before trial `number`: a queue that never restores would still be stormed in it, and a limiter that outlives its
/// queue pairs would still be slow in it.
pub fn before(context: &Context<'_>, script: &Script, number: u32) -> Before {
    let never = context.watch.as_ref().is_some_and(|watch| watch.rule.restoration_time.is_none());
    if never || (number > 1 && remembers(context, script)) {
        Before::Reboot
    } else if number > 1 && (ends_stormed(context, script) || ends_away(context, script)) {
        Before::Rest
    } else {
        Before::Nothing
    }
}

/// How long what a step asks of the device takes at most; `None` where it is done at once.
fn lasts(context: &Context<'_>, verb: DeviceVerb) -> Option<Dur> {
    Some(context.apart().most(context.values().duration(verb.row().lasts?)?))
}

/// Whether the software of the device may still be away when the script ends.
fn ends_away(context: &Context<'_>, script: &Script) -> bool {
    let asked = script.steps.iter().filter_map(|step| match step.action {
        Action::Device(verb) => Some(step.at + lasts(context, verb)?),
        _ => None,
    });
    asked.max().is_some_and(|until| until > script.length)
}

/// Whether a NIC that sends keeps rates beyond its queue pairs, which begin anew with each trial.
fn remembers(context: &Context<'_>, script: &Script) -> bool {
    let scopes = context.group.declared.nics().into_iter().flat_map(Nics::all);
    let mut limiters = scopes.map(|(_, nic)| nic.rp).filter(|rp| rp.enable);
    !script.flows.is_empty() && limiters.any(|rp| rp.scope != Scope::Qp)
}

/// Whether a queue may still be stormed when a trial ends.
fn ends_stormed(context: &Context<'_>, script: &Script) -> bool {
    let Some(restored) = context.watch.as_ref().and_then(Watch::gives_back) else { return false };
    (0..).zip(&script.storms).any(|(storm, _)| {
        let last = |action: Action| {
            let steps = script.steps.iter().filter(|step| step.action == action);
            steps.map(|step| step.at).max()
        };
        let stops = last(Action::StopStorm(storm));
        last(Action::StartStorm(storm)).is_some()
            && stops.is_none_or(|at| at + restored > script.length)
    })
}

/// When the first storm of the script starts; the start of the trial without one.
fn first_storm(script: &Script) -> Dur {
    let mut steps = script.steps.iter();
    let first = steps.find(|step| matches!(step.action, Action::StartStorm(_)));
    first.map_or(Dur::ZERO, |step| step.at)
}

/// From the step that starts the storm to the last bit of its first frame at the device.
fn reach(context: &Context<'_>, script: &Script) -> Dur {
    /// Preamble, start delimiter and the shortest frame.
    const PFC: Bytes = Bytes(72);
    let from = script.storms.first().map_or(0, |storm| storm.from);
    let port = script.dut_ports.get(usize::from(from)).copied().unwrap_or_default();
    let speed = context.group.declared.port_speed(port);
    speed.map_or(Dur::ZERO, |speed| speed.serialise(PFC)) + context.cable()
}
