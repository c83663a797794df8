//! Detection, restoration and the trigger ramp of the watchdog.

use super::judge_context::JudgeContext;
use super::judged::{At, Judged};
use super::measurement::{Expected, Facts, Known, Measurement, Needs, Placement};
use crate::runner::ask::Role;
use crate::runner::context::Context;
use crate::runner::kept::Kept;
use crate::runner::points::Point;
use crate::runner::see::see;
use crate::runner::subject::{Places, Subject};
use crate::runner::trial::Trial;
use rig_capture::analyse::ActionView;
use rig_oracle::judge::answers::NOT_MEASURED;
use rig_oracle::judge::fired::{self, Limits, Storms};
use rig_oracle::judge::{self, Grid, Seen, detection, ramp, restoration};
use rig_oracle::verdict::Doubt;
use rig_testcases::vocabulary::{Entry, Kind, Looks, STORM, STREAM, Senders, named, optional};
use rig_testcases::{Action, Sweep};
use rig_units::Dur;

mod expected;
mod turns;
pub use turns::{before, rests, start};

/// What of the watchdog is measured.
#[derive(Debug, Clone, Copy)]
pub(super) enum Act {
    /// `pfcwd.detection`, and the latest that the case accepts.
    Detection(Option<Dur>),
    /// `pfcwd.restoration`.
    Restoration,
    /// `pfcwd.fired`, and what the case wants.
    Fired(Option<bool>),
}

impl Act {
    const fn name(self) -> &'static str {
        match self {
            Act::Detection(_) => "pfcwd.detection",
            Act::Restoration => "pfcwd.restoration",
            Act::Fired(_) => "pfcwd.fired",
        }
    }
}

/// `pfcwd.detection`.
pub(super) static DETECTION: Known = Known {
    entry: Entry {
        name: "pfcwd.detection",
        about: "from the first XOFF of the storm to the watchdog's action, seen in the stream",
        source: "F13",
        fields: &[
            STORM,
            STREAM,
            optional("at_most", Kind::Interval, "the latest that the case accepts"),
        ],
        looks: &[Looks::FOLLOWS],
        senders: Senders::Obey(named),
        ..Entry::USUAL
    },
    of: |measure| {
        let (storm, stream) = (measure.named("storm"), measure.named("stream"));
        let act = Act::Detection(measure.arguments.dur("at_most"));
        Box::new(Watchdog { storm, stream, act })
    },
};

/// `pfcwd.restoration`.
pub(super) static RESTORATION: Known = Known {
    entry: Entry {
        name: "pfcwd.restoration",
        about: "from the storm's last frame to the end of the action",
        source: "F13",
        fields: &[STORM, STREAM],
        looks: &[Looks::FOLLOWS],
        senders: Senders::Obey(named),
        ..Entry::USUAL
    },
    of: |measure| {
        let (storm, stream) = (measure.named("storm"), measure.named("stream"));
        Box::new(Watchdog { storm, stream, act: Act::Restoration })
    },
};

/// `pfcwd.fired`.
pub(super) static FIRED: Known = Known {
    entry: Entry {
        name: "pfcwd.fired",
        about: "whether the storm is detected at all; over a sweep of its length a probability curve",
        source: "F14",
        fields: &[
            STORM,
            STREAM,
            optional(
                "expect",
                Kind::Word(&["always", "never"]),
                "what the case wants; absent: what is predicted",
            ),
        ],
        looks: &[Looks::FOLLOWS],
        senders: Senders::Obey(named),
        ..Entry::USUAL
    },
    of: |measure| {
        let (storm, stream) = (measure.named("storm"), measure.named("stream"));
        let act = Act::Fired(measure.arguments.word("expect").map(|word| word == "always"));
        Box::new(Watchdog { storm, stream, act })
    },
};

/// `pfcwd.detection`, `pfcwd.restoration` or `pfcwd.fired`.
#[derive(Debug)]
struct Watchdog<'a> {
    storm: &'a str,
    stream: &'a str,
    act: Act,
}

impl Measurement for Watchdog<'_> {
    fn facts(&self) -> Facts {
        let (case, mutation) = match self.act {
            Act::Detection(_) => {
                ("detection-time-is-the-poll-interval-broadcom", "pfcwd.detection_time=x2")
            }
            Act::Restoration => (
                "late-frame-restarts-the-restoration-time-broadcom",
                "deviation=late_frame_does_not_restart",
            ),
            Act::Fired(_) => {
                ("storm-as-long-as-the-worst-case-broadcom", "pfcwd.detection_time=x2")
            }
        };
        Facts::with(Needs::Events, case, mutation)
    }

    fn on(&self) -> String {
        format!("{}, seen in {}", self.storm, self.stream)
    }

    fn expected(&self, context: &Context<'_>, points: &[Point]) -> Vec<Expected> {
        match self.act {
            Act::Detection(at_most) => expected::detection(context, at_most),
            Act::Restoration => expected::restoration(context),
            Act::Fired(expect) => expected::fired(context, expect, points),
        }
    }

    fn judge(&self, done: &JudgeContext<'_>, judged: &mut Judged) {
        judge(done, self, judged);
    }

    fn placement(&self) -> Placement {
        match self.act {
            Act::Detection(_) | Act::Restoration => Placement::Grid,
            Act::Fired(_) => Placement::Ramp,
        }
    }

    fn subject(&self) -> Option<Subject> {
        let detects = matches!(self.act, Act::Detection(_));
        Some(Subject { detects, ..Subject::of(self.storm, self.stream) })
    }
}

/// What one trial showed of a subject.
///
/// # Errors
/// Why it shows nothing.
pub fn seen(context: &Context<'_>, trial: &Trial, subject: &Subject) -> Result<Seen, Doubt> {
    let view = ActionView::from(&context.group.declared);
    let places = Places::of(&context.subjects, &trial.script, subject).ok_or_else(|| Doubt {
        reason: "not-observable",
        detail: format!("{} and {} are not in the script", subject.storm, subject.stream),
    })?;
    see(trial.number, &trial.script, &trial.observation, places, &view, context.rule.family)
}

/// Judges one measure.
fn judge(done: &JudgeContext<'_>, measure: &Watchdog<'_>, judged: &mut Judged) {
    let Some(subject) = measure.subject() else { return };
    if matches!(measure.act, Act::Fired(_)) && swept(done) {
        return along_a_ramp(done, measure, &subject, judged);
    }
    for (index, point) in done.points.iter().enumerate() {
        let at = At::Point(index);
        let Some(seen) = all_seen(done, (at, done.valid(index)), &subject, judged) else {
            continue;
        };
        let about = about(measure, &subject, done.place(point));
        let (rule, stimulus) = (&done.context.rule, &done.stimulus());
        let slack = limits(done).slack;
        let seen = telling(done, measure, (at, &about), seen, judged);
        if seen.is_empty() {
            continue;
        }
        let judgement = match measure.act {
            Act::Detection(at_most) => {
                detection::judge(&about, rule, stimulus, (at_most, slack), &seen)
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
fn along_a_ramp(
    done: &JudgeContext<'_>,
    measure: &Watchdog<'_>,
    subject: &Subject,
    judged: &mut Judged,
) {
    let calibrating = done.of_role(Role::Calibration).map(Kept::whole);
    let Some(calibrations) = all_seen(done, (At::Whole, calibrating), subject, judged) else {
        return;
    };
    let about = about(measure, subject, done.context.group.label.clone());
    let (mut points, mut lengths) = (Vec::new(), Vec::new());
    for index in 0..done.points.len() {
        let trials = (At::Point(index), done.valid(index));
        let Some(trials) = all_seen(done, trials, subject, judged) else {
            return;
        };
        let here = (At::Point(index), &about);
        let trials = telling(done, measure, here, trials, judged);
        // The length that was held, not the one that was asked for.
        let Some(length) = trials.iter().map(|seen| seen.pause_length).max() else { continue };
        points.push(At::Point(index));
        lengths.push(Storms { length, trials });
    }
    let (rule, stimulus) = (&done.context.rule, &done.stimulus());
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
    measure: &Watchdog<'_>,
    (at, about): (At, &judge::Subject),
    seen: Vec<Seen>,
    judged: &mut Judged,
) -> Vec<Seen> {
    let (rule, stimulus) = (&done.context.rule, &done.stimulus());
    let unshown = |seen: &Seen| match measure.act {
        Act::Detection(at_most) => {
            detection::unshown(seen, rule, stimulus, (at_most, limits(done).slack))
        }
        Act::Restoration => {
            let hidden = || hidden(done, measure, seen);
            restoration::unshown(seen, rule, stimulus).or_else(hidden)
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
fn hidden(done: &JudgeContext<'_>, measure: &Watchdog<'_>, seen: &Seen) -> Option<String> {
    let forwards = done.context.group.declared.pfcwd.action == rig_lab::Action::Forward;
    let from = done.context.case.streams.get(measure.stream).map(|stream| &stream.from);
    let stormed = done.context.case.storms.get(measure.storm).map(|storm| &storm.from);
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

fn all_seen(
    done: &JudgeContext<'_>,
    (at, trials): (At, impl Iterator<Item = Trial>),
    subject: &Subject,
    judged: &mut Judged,
) -> Option<Vec<Seen>> {
    let (mut all, mut unshown) = (Vec::new(), None);
    for trial in trials {
        if let Some(doubt) = changed(&trial) {
            judged.doubt(at, doubt);
            return None;
        }
        match seen(done.context, &trial, subject) {
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
pub(super) fn changed(trial: &Trial) -> Option<Doubt> {
    trial.script.steps.iter().find_map(|step| match &step.action {
        Action::Configure(setting) if SETTINGS.contains(&setting.path.as_str()) => {
            let path = &setting.path;
            let why = format!("{path} changes at {}, and one setting is predicted for", step.at);
            Some(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) })
        }
        Action::Device(verb) if verb.restarts() == Some("pfcwd") => {
            let why = format!("pfcwd starts afresh at {}, and one start is predicted for", step.at);
            Some(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) })
        }
        _ => None,
    })
}

fn about(measure: &Watchdog<'_>, subject: &Subject, point: String) -> judge::Subject {
    judge::Subject {
        measure: measure.act.name(),
        on: format!("{}, {}", subject.storm, subject.stream),
        point,
    }
}

fn limits(done: &JudgeContext<'_>) -> Limits {
    Limits { alpha: done.alpha, slack: done.context.slack_within(done.bound()) }
}
