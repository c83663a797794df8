//! What the watchdog is expected to do, before anything runs.

use super::super::measurement::{Expected, prediction};
use super::watch::Fires;
use crate::Prediction;
use crate::measure::buffer_ledger::BufferLedger;
use crate::spec::pfcwd::recovers;
use crate::trials::context::Context;
use crate::trials::points::Point;
use rig_capture::{Reading, Unit};
use rig_lab::Backlog;
use rig_testcases::{Action, Script, StreamRate, WatchdogAction};
use rig_units::Dur;

pub(super) fn detection(context: &Context<'_>, at_most: Option<Dur>) -> Vec<Expected> {
    let Some(watch) = &context.watch else { return Vec::new() };
    let mut all = match watch.rule.predicted_detection(&watch.stimulus) {
        Some(predicted) => prediction(&predicted),
        None => {
            vec![("predicted", "never: to this rule an empty queue is not stormed".to_owned())]
        }
    };
    all.extend(at_most.map(|limit| {
        ("wanted", format!("at most {limit}: the case asks for more than the oracle"))
    }));
    all.push(("resolution", watch.rule.detection_resolution(context.slack()).to_string()));
    all
}

/// Why nothing shows when the watchdog acts: what the queue held is thrown away, so that nothing leaves, and its senders are not paused by then, so
/// that the device has nothing to take back.
pub(super) fn thrown_away(
    (storm, stream): (&str, &str),
    context: &Context<'_>,
    script: &Script,
) -> Option<String> {
    let (watch, switch) = (context.watch.as_ref()?, context.switch());
    let pfcwd = &switch.pfcwd;
    if pfcwd.action != WatchdogAction::Drop || pfcwd.backlog != Backlog::Discarded {
        return None;
    }
    let storm = script.storms.iter().find(|of| of.name == storm)?;
    let spec = script.streams.iter().find(|of| of.name == stream)?;
    let earliest = watch.rule.predicted_detection(&watch.stimulus)?.span.lo;
    let held = match spec.rate {
        StreamRate::Every(gap) => earliest.checked_div(gap.0)?,
        StreamRate::Load(_) => return None,
    };
    let paused = BufferLedger::span(switch, |empty| empty.first_xoff(spec)).hi;
    (storm.every <= watch.tail && held < paused).then(|| {
        format!("what a stormed queue holds is discarded (pfcwd.backlog): {held} frames are too few to pause who sent them, and nothing else shows when")
    })
}

/// Why a storm need not fire, or not fire, as the case wants: by what is declared either may be. Where the other is certain, the case wants something
/// else of the device than it declares, and says so.
pub(super) fn may_otherwise(
    storm: &str,
    always: bool,
    context: &Context<'_>,
    script: &Script,
) -> Option<String> {
    let watch = context.watch.as_ref()?;
    let storm = script.storms.iter().position(|of| of.name == storm)?;
    let is = |at: u16| usize::from(at) == storm;
    let stops = |from: Dur| {
        let ends = script
            .steps
            .iter()
            .filter(|step| matches!(step.action, Action::StopStorm(at) if is(at)));
        ends.map(|step| step.at).find(|at| *at > from).unwrap_or(script.length)
    };
    let starts =
        script.steps.iter().filter(|step| matches!(step.action, Action::StartStorm(at) if is(at)));
    // Of pauses that do not meet it is the rule's own affair what they add up to.
    if script.storms[storm].every > watch.tail {
        return None;
    }
    let mut sends = starts.map(|step| stops(step.at).saturating_sub(step.at));
    let otherwise = sends.find(|sends| watch.fires(*sends, watch.tail) == Fires::Perhaps)?;
    let what = if always { "need not" } else { "may" };
    let length = otherwise + watch.tail;
    Some(format!("by what is declared of its watchdog a pause of {length} {what} be detected"))
}

pub(super) fn restoration(context: &Context<'_>) -> Vec<Expected> {
    let Some(watch) = &context.watch else { return Vec::new() };
    let rule = watch.rule;
    let mut all = match rule.predicted_restoration(watch.tail, &watch.stimulus) {
        Some(predicted) => prediction(&predicted),
        None => vec![("predicted", "never: no restoration time is configured".to_owned())],
    };
    if recovers(rule.family)
        && let Some(predicted) = rule.predicted_recovery()
    {
        all.push(("recovery", predicted.text));
    }
    all.extend(
        rule.restoration_resolution(context.slack()).map(|alike| ("resolution", alike.to_string())),
    );
    all
}

/// One storm length, or the ends and the middle of a ramp of them.
pub(super) fn fired(
    context: &Context<'_>,
    expect: Option<bool>,
    points: &[Point],
) -> Vec<Expected> {
    let Some(watch) = &context.watch else { return Vec::new() };
    let wanted = |expect| if expect { "every storm detected" } else { "no storm detected" };
    let mut all: Vec<Expected> =
        expect.map(|expect| ("wanted", wanted(expect).to_owned())).into_iter().collect();
    let shown = match points {
        [] => Vec::new(),
        [only] => vec![only],
        [first, .., last] => vec![first, &points[points.len() / 2], last],
    };
    for (index, point) in shown.iter().enumerate() {
        let Some(length) = point.pause.or_else(|| pause_of(context, point)) else { continue };
        let Prediction { span, formula, text, source, .. } =
            watch.rule.predicted_chance(length, &watch.stimulus);
        let chance = Reading { unit: Unit::Ppm, span, frames: Vec::new() };
        all.push(("predicted", format!("detected with probability {chance}")));
        all.push(("formula", format!("{formula}: {text}")));
        if index + 1 == shown.len() {
            all.push(("source", source.to_owned()));
        }
    }
    if shown.len() > 1 && watch.rule.is_polled() {
        let alike = watch.rule.detection_resolution(context.slack());
        all.push(("resolution", alike.to_string()));
    }
    all
}

/// The pause that the first storm of the script makes.
fn pause_of(context: &Context<'_>, point: &Point) -> Option<Dur> {
    let script = context.script(point).ok()?;
    let mut steps = script.steps.iter();
    let start = steps.find(|step| matches!(step.action, Action::StartStorm(_)))?;
    let stop = steps.find(|step| matches!(step.action, Action::StopStorm(_)));
    let run = stop.map_or(script.length, |stop| stop.at).0.checked_sub(start.at.0 + 1)?;
    let cadence = context.watch.as_ref()?.cadence?;
    Some(cadence.every * (run / cadence.every.0) + cadence.pause)
}
