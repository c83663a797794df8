//! Detection, restoration and the trigger ramp of the watchdog.

use self::see::{Counting, see};
use self::subject::Subject;
use self::watch::Watch;
use super::judge_context::JudgeContext;
use super::judged::{At, Judged};
use super::measurement::{Known, Needs, Placement, Red, Tells, seen_in, subject};
use super::{stamps, unfilled};
use crate::judge::answers::NOT_MEASURED;
use crate::judge::fired::{self, Limits, Storms};
use crate::judge::{self, Fired, Grid, StormTrial, detection, ramp, restoration};
use crate::trials::ask::Role;
use crate::trials::context::Context;
use crate::trials::kept::Kept;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::analyse::ActionView;
use rig_lab::{DropBy, Part};
use rig_testcases::vocabulary::{
    ByPfc, Entry, Looks, STORM, STREAM, Senders, ValueKind, named, optional,
};
use rig_testcases::{Action, DeviceVerb, Lookup, Measure, Script, StormSpec, Sweep};
use rig_units::Dur;
use std::borrow::Cow;

mod expected;
mod fills;
mod focus;
mod placer;
pub(crate) mod see;
pub(crate) mod subject;
mod turns;
pub(crate) mod watch;

pub use focus::{in_focus, marks};
pub use placer::placer;
pub use turns::{before, longest_turn, rests, start, too_rare, turn};

/// What of the watchdog is measured.
#[derive(Debug, Clone, Copy)]
enum Act {
    /// `pfcwd.detection`, and the latest that the case accepts.
    Detection(Option<Dur>),
    /// `pfcwd.restoration`.
    Restoration,
    /// `pfcwd.fired`, and what the case wants.
    Fired(Option<bool>),
}

/// What is the same of all three.
const WATCHDOG: Known = Known {
    needs: |_| Needs::Events,
    on: seen_in,
    placement: Placement::Grid,
    subject: |measure| Some(subject(measure)),
    over_memories: |_| true,
    ..Known::USUAL
};

/// `pfcwd.detection`.
pub(super) static DETECTION: Known = Known {
    entry: Entry {
        name: "pfcwd.detection",
        parts: Some(&[Part::Pfcwd]),
        pfc: ByPfc::Rests,
        guarded: true,
        about: "from the first XOFF of the storm to the watchdog's action, seen in the stream",
        source: "F13",
        fields: &[
            STORM,
            STREAM,
            optional("at_most", ValueKind::Interval, "the latest that the case accepts"),
        ],
        looks: &[Looks::FOLLOWS],
        senders: Senders::Obey(named),
        ..Entry::USUAL
    },
    tells: Tells::Width(
        "how exactly the stream shows the action; of a declared time only the number of polls shows",
    ),
    red: Red::Mutated("detection-time-is-the-poll-interval-broadcom", "pfcwd.detection_time=x2"),
    expected: |measure, context, _| expected::detection(context, measure.arguments.dur("at_most")),
    judge: |measure, done, judged| {
        judge(
            done,
            &Watchdog::of(measure, Act::Detection(measure.arguments.dur("at_most"))),
            judged,
        );
    },
    subject: |measure| Some(Subject { detects: true, ..subject(measure) }),
    unpromised: Some(|measure, context, script| {
        let of = (measure.named("storm"), measure.named("stream"));
        expected::thrown_away(of, context, script)
    }),
    ..WATCHDOG
};

/// `pfcwd.restoration`.
pub(super) static RESTORATION: Known = Known {
    entry: Entry {
        name: "pfcwd.restoration",
        parts: Some(&[Part::Pfcwd]),
        pfc: ByPfc::Rests,
        guarded: true,
        about: "from the storm's last frame to the end of the action",
        source: "F13",
        fields: &[STORM, STREAM],
        looks: &[Looks::FOLLOWS],
        senders: Senders::Obey(named),
        ..Entry::USUAL
    },
    tells: Tells::Width(
        "how exactly the stream shows the end of the action; of a declared time only the number of polls shows",
    ),
    red: Red::Mutated(
        "late-frame-restarts-the-restoration-time-broadcom",
        "deviation=late_frame_does_not_restart",
    ),
    expected: |_, context, _| expected::restoration(context),
    judge: |measure, done, judged| judge(done, &Watchdog::of(measure, Act::Restoration), judged),
    // What a full port makes wait shows that somebody is asked to pause again.
    unpromised: Some(|measure, context, script| {
        unfilled::of_stream(measure, context, script)
            .or_else(|| given_back_by_two(measure, context, script))
            .or_else(|| fills::late(measure, context, script))
    }),
    ..WATCHDOG
};

/// Why a stream does not show when one port is given back: it comes in by another that is stormed, too, where that drops what comes in, and how
/// long before the end of a storm its last frame is follows from the speed of a port.
fn given_back_by_two(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<String> {
    let pfcwd = &context.switch().pfcwd;
    if (pfcwd.action, pfcwd.drop_by) != (rig_lab::Action::Drop, DropBy::Acl) {
        return None;
    }
    let spec = script.streams.iter().find(|one| one.name == measure.named("stream"))?;
    let storm = script.storms.iter().find(|one| one.name == measure.named("storm"))?;
    let stormed = |one: &&StormSpec| one.from == spec.from && one.classes >> spec.class & 1 == 1;
    let other = script.storms.iter().filter(|one| one.from != storm.from).find(stormed)?;
    let [own, by] = [storm.from, other.from].map(|port| stamps::speed(context, script, port));
    let [own_name, by_name] =
        [storm.from, other.from].map(|port| script.ports.get(usize::from(port)));
    let (own_name, by_name) = (own_name?, by_name?);
    (own != by).then(|| {
        format!(
            "{} comes in by {by_name} of {by}, which is stormed, too, and {own_name} has {own}: which of them is given back first is not known",
            spec.name
        )
    })
}

/// `pfcwd.fired`.
pub(super) static FIRED: Known = Known {
    entry: Entry {
        name: "pfcwd.fired",
        parts: Some(&[Part::Pfcwd]),
        pfc: ByPfc::Rests,
        guarded: true,
        about: "whether the storm is detected at all; over a sweep of its length a probability curve",
        source: "F14",
        fields: &[
            STORM,
            STREAM,
            optional(
                "expect",
                ValueKind::Word(&["always", "never"]),
                "what the case wants; absent: what is predicted",
            ),
        ],
        looks: &[Looks::FOLLOWS],
        senders: Senders::Obey(named),
        ..Entry::USUAL
    },
    tells: Tells::Chance(
        "storms just before and just after the phase of the polls at which they cease to be detected enclose it; without a grid of polls, as far as counts tell",
    ),
    red: Red::Mutated("storm-as-long-as-the-worst-case-broadcom", "pfcwd.detection_time=x2"),
    expected: |measure, context, points| expected::fired(context, always(measure), points),
    judge: |measure, done, judged| {
        judge(done, &Watchdog::of(measure, Act::Fired(always(measure))), judged);
    },
    placement: Placement::Ramp,
    founds: true,
    unpromised: Some(|measure, context, script| {
        expected::may_otherwise(measure.named("storm"), always(measure)?, context, script)
    }),
    stamps: Some(|measure, context, script| {
        let response = context.switch().pfc.response.most();
        stamps::met(context, script, (measure.named("storm"), response))
    }),
    ..WATCHDOG
};

/// Whether every storm is to be detected, or none, where the case says so.
fn always(measure: &Measure) -> Option<bool> {
    measure.arguments.word("expect").map(|word| word == "always")
}

/// One of the three in a case.
struct Watchdog {
    name: &'static str,
    subject: Subject,
    act: Act,
}

impl Watchdog {
    fn of(measure: &Measure, act: Act) -> Watchdog {
        Watchdog { name: measure.name(), subject: subject(measure), act }
    }
}

/// The watchdog that a trial is about.
pub(super) fn watch<'a>(context: &'a Context<'_>, trial: &Trial) -> Result<&'a Watch, Doubt> {
    context.watch.as_ref().ok_or_else(|| trial.doubt("the device has no watchdog"))
}

/// What one trial showed of a subject, where one start of the watchdog is all that bears on it.
///
/// # Errors
/// Why it shows nothing.
pub(super) fn seen_whole(
    done: &JudgeContext<'_>,
    trial: &Trial,
    subject: &Subject,
) -> Result<StormTrial, Doubt> {
    if let Some(doubt) = changed(trial) {
        return Err(doubt);
    }
    let seen = seen(done.context, trial, subject)?;
    restarted(done, trial, &seen).map_or(Ok(seen), Err)
}

/// What one trial showed of a subject.
///
/// # Errors
/// Why it shows nothing.
pub(super) fn seen(
    context: &Context<'_>,
    trial: &Trial,
    subject: &Subject,
) -> Result<StormTrial, Doubt> {
    let (watch, view) = (watch(context, trial)?, ActionView::from(context.switch()));
    let places = watch.places(&trial.script, subject).ok_or_else(|| Doubt {
        reason: "not-observable",
        detail: format!("{} and {} are not in the script", subject.storm, subject.stream),
    })?;
    let rule = Counting { family: watch.rule.family, xon_counts: context.switch().pfc.xon_counts };
    see(trial.number, &trial.script, &trial.observation, places, &view, rule)
}

/// Judges one measure.
fn judge(done: &JudgeContext<'_>, measure: &Watchdog, judged: &mut Judged) {
    let Some(watch) = &done.context.watch else { return };
    if matches!(measure.act, Act::Fired(_)) && swept(done) {
        return along_a_ramp(done, watch, measure, judged);
    }
    for (index, point) in done.points.iter().enumerate() {
        let at = At::Point(index);
        let Some(seen) = all_seen(done, (at, done.valid(index)), measure, judged) else {
            continue;
        };
        let about = about(measure, done.place(point));
        let (rule, stimulus) = (&watch.rule, &watch.stimulus_within(done.bound()));
        let slack = limits(done).slack;
        let seen = telling(done, (watch, measure), (at, &about), seen, judged);
        if seen.is_empty() {
            continue;
        }
        let judgement = match measure.act {
            Act::Detection(at_most) => {
                // What wants to know how late detections are has its storms placed, at a single point and on one grid.
                let one_grid = rule.restoration_time.is_some() && done.points.len() == 1;
                let placed = one_grid && !swept(done);
                detection::judge(&about, rule, stimulus, (at_most, slack, placed), &seen)
            }
            Act::Restoration => restoration::judge(&about, rule, stimulus, slack, &seen),
            Act::Fired(expect) => {
                let length = seen.iter().map(|seen| seen.pause_length).max().unwrap_or_default();
                let grid = Grid::of_trials(rule, &seen);
                let storms = Storms { length, trials: seen };
                fired::judge(&about, rule, stimulus, (&storms, &grid), expect, &limits(done))
            }
        };
        judged.file(at, judgement);
    }
}

/// The lengths of the storm are swept: a curve, with the storms that showed the grid of the polls.
fn along_a_ramp(done: &JudgeContext<'_>, watch: &Watch, measure: &Watchdog, judged: &mut Judged) {
    let calibrating = done.of_role(Role::Calibration).map(Kept::whole);
    let Some(calibrations) = all_seen(done, (At::Whole, calibrating), measure, judged) else {
        return;
    };
    let about = about(measure, done.context.group.label.clone());
    let (mut points, mut lengths) = (Vec::new(), Vec::new());
    for index in 0..done.points.len() {
        let trials = (At::Point(index), done.valid(index));
        let Some(trials) = all_seen(done, trials, measure, judged) else {
            return;
        };
        let here = (At::Point(index), &about);
        let trials = telling(done, (watch, measure), here, trials, judged);
        // The length that was held, not the one that was asked for.
        let Some(length) = trials.iter().map(|seen| seen.pause_length).max() else { continue };
        points.push(At::Point(index));
        lengths.push(Storms { length, trials });
    }
    let (rule, stimulus) = (&watch.rule, &watch.stimulus_within(done.bound()));
    let mut ramp = ramp::judge(&about, rule, stimulus, &calibrations, &lengths, &limits(done));
    if let Some(first) = ramp.judgements.first_mut() {
        first.findings.append(&mut ramp.findings);
    }
    let judgements = points.into_iter().zip(ramp.judgements);
    judgements.for_each(|(at, judgement)| judged.file(at, judgement));
    judged.curve(ramp.curve);
}

/// The trials that tell something; each of the others is a doubt.
fn telling(
    done: &JudgeContext<'_>,
    (watch, measure): (&Watch, &Watchdog),
    (at, about): (At, &judge::Subject),
    seen: Vec<StormTrial>,
    judged: &mut Judged,
) -> Vec<StormTrial> {
    let (rule, stimulus) = (&watch.rule, &watch.stimulus_within(done.bound()));
    let unshown = |seen: &StormTrial| match measure.act {
        Act::Detection(at_most) => {
            detection::unshown(seen, rule, stimulus, (at_most, limits(done).slack))
                .or_else(|| detection::untimed(seen, rule, stimulus, at_most))
        }
        Act::Restoration => {
            let hidden = || hidden(done, measure, seen);
            restoration::unshown(seen, rule, stimulus)
                .or_else(hidden)
                .or_else(|| restoration::untimed(seen, rule, stimulus))
        }
        Act::Fired(_) => fired::unshown(seen, rule, stimulus),
    };
    seen.into_iter()
        .filter(|seen| {
            let why = unshown(seen);
            if let Some(why) = &why {
                let judge::Subject { measure, on, point } = about;
                let detail = format!("trial {}: {measure} of {on}: {why} {point}", seen.trial);
                judged.not_measured(at, &detail);
            }
            why.is_none()
        })
        .collect()
}

/// Why the end of an action that forwards does not show: what the device keeps to itself meanwhile is the PFC that it would send by the
/// stormed port, so that only a stream that comes in there can show that it sends some again.
fn hidden(done: &JudgeContext<'_>, measure: &Watchdog, seen: &StormTrial) -> Option<String> {
    let forwards = done.context.switch().pfcwd.action == rig_lab::Action::Forward;
    let from = done.context.case.streams.get(&measure.subject.stream).map(|stream| &stream.from);
    let stormed = done.context.case.storms.get(&measure.subject.storm).map(|storm| &storm.from);
    let acted = seen.detection().is_some() && seen.restored.is_none();
    (forwards && acted && from != stormed).then(|| {
        format!(
            "the end of the forward action shows only in the PFC that a stream from {} makes the device send",
            stormed.map_or("the stormed port", String::as_str)
        )
    })
}

fn swept(done: &JudgeContext<'_>) -> bool {
    done.context.case.sweep.iter().any(Sweep::is_variable)
}

fn all_seen<'t>(
    done: &JudgeContext<'_>,
    (at, trials): (At, impl Iterator<Item = Cow<'t, Trial>>),
    measure: &Watchdog,
    judged: &mut Judged,
) -> Option<Vec<StormTrial>> {
    let (mut all, mut unshown) = (Vec::new(), None);
    for trial in trials {
        match seen_whole(done, &trial, &measure.subject) {
            Ok(seen) => all.push(seen),
            Err(doubt) => unshown = unshown.or(Some(doubt)),
        }
    }
    match unshown {
        None => Some(all),
        Some(doubt) => {
            judged.doubt(at, doubt);
            None
        }
    }
}

/// What of the watchdog is predicted for.
const SETTINGS: [&str; 4] =
    ["pfcwd.detection_time", "pfcwd.restoration_time", "pfcwd.poll_interval", "pfcwd.action"];

/// What is predicted holds for one setting of these: of a trial that changes it on the way it says nothing.
fn changed(trial: &Trial) -> Option<Doubt> {
    trial.script.steps.iter().find_map(|step| match &step.action {
        Action::Configure(setting) if SETTINGS.contains(&setting.path.as_str()) => {
            let path = &setting.path;
            let why = format!("{path} changes at {}, and one setting is predicted for", step.at);
            Some(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) })
        }
        _ => None,
    })
}

/// Detection and restoration are predicted of a watchdog that sees the whole of a storm: one that is started afresh from the storm's
/// start until its queue is restored saw a part of it. What it did before and does after is as any other start.
fn restarted(done: &JudgeContext<'_>, trial: &Trial, seen: &StormTrial) -> Option<Doubt> {
    let rule = &watch(done.context, trial).ok()?.rule;
    let slack = done.context.slack_within(done.bound());
    let start = Dur(seen.storm_start.0.saturating_sub(trial.observation.origin.0));
    let until = match (&seen.fired, &seen.restored) {
        (_, Some(restored)) => Some(Dur(restored.after.hi)),
        // The poll after the pause begins anew of itself.
        (Fired::Never, None) => {
            Some(seen.pause_end + rule.longest_interval() + rule.latency().most())
        }
        (Fired::At(_), None) => None,
    };
    // It is told to at the step, and has done so when it answers.
    let obeyed = trial.observation.counters.obeyed;
    let values = done.values(trial);
    let meets = |(at, verb): &(Dur, DeviceVerb)| {
        let lasts = verb.row().lasts.and_then(|setting| values.duration(setting));
        let lasts = lasts.map(|lasts| done.context.apart().most(lasts));
        *at + obeyed + lasts.unwrap_or_default() + slack >= start
            && until.is_none_or(|until| *at <= start + until + slack)
    };
    let (at, _) = see::restarts(&trial.script).find(meets)?;
    let why = format!(
        "pfcwd starts afresh at {at}, and a detection and a restoration are predicted of one that sees the whole storm"
    );
    Some(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) })
}

fn about(measure: &Watchdog, point: String) -> judge::Subject {
    judge::Subject {
        measure: measure.name,
        on: format!("{}, {}", measure.subject.storm, measure.subject.stream),
        point,
    }
}

fn limits(done: &JudgeContext<'_>) -> Limits {
    Limits { alpha: done.alpha, slack: done.context.slack_within(done.bound()) }
}
