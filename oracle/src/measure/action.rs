//! What becomes of frames that meet a stormed queue.

use super::judge_context::{JudgeContext, TrialReading, wanted};
use super::judged::{Judged, looked};
use super::measurement::{Known, Needs, Red, Tells, seen_in, subject};
use super::watchdog::subject::Subject;
use super::watchdog::{seen_whole, watch};
use crate::judge::answers::NOT_MEASURED;
use crate::judge::{StormTrial, detection};
use crate::spec::pfcwd::{Rule, recovers};
use crate::trials::context::Context;
use crate::verdict::Doubt;
use rig_capture::analyse::{self, ActionView};
use rig_capture::{Observation, Span};
use rig_lab::{Action, Part};
use rig_testcases::vocabulary::{ByPfc, Entry, Looks, STORM, STREAM, Senders, named};
use rig_units::Time;

/// `pfcwd.action`.
pub(super) static ACTION: Known = Known {
    entry: Entry {
        name: "pfcwd.action",
        parts: Some(&[Part::Pfcwd]),
        pfc: ByPfc::Rests,
        guarded: true,
        about: "what becomes of frames sent while the queue is stormed: none arrives, all arrive, or all arrive after the storm",
        source: "the declared action",
        fields: &[STORM, STREAM],
        looks: &[Looks::FOLLOWS],
        senders: Senders::Obey(named),
        ..Entry::USUAL
    },
    needs: |_| Needs::Events,
    tells: Tells::Each("frame that meets the stormed queue"),
    red: Red::Mutated("isolation-of-queue-and-port-broadcom", "deviation=drop_leaks"),
    on: seen_in,
    expected: |_, context, _| {
        let meets = meets(context.switch().pfcwd.action);
        vec![("predicted", format!("each frame that meets the stormed queue {meets}"))]
    },
    judge: |measure, done, judged| judge(done, &subject(measure), judged),
    subject: |measure| Some(subject(measure)),
    over_memories: |_| true,
    ..Known::USUAL
};

/// What an action does to a frame that meets the stormed queue.
const fn meets(action: Action) -> &'static str {
    match action {
        Action::Drop => "is dropped",
        Action::Forward => "is sent in spite of the pause",
        Action::Alert => "stays until the pause is over",
    }
}

/// From the action's beginning to the end of the storm every frame must meet the declared action.
fn judge(done: &JudgeContext<'_>, subject: &Subject, judged: &mut Judged) {
    let context = done.context;
    let view = ActionView::from(context.switch());
    done.each("pfcwd.action", &subject.stream, judged, |trial| {
        let (watch, seen) = (watch(context, trial)?, seen_whole(done, trial, subject)?);
        let places = watch
            .places(&trial.script, subject)
            .ok_or_else(|| trial.doubt("the stream is not in the script"))?;
        let Some(window) = window(&seen, (context, &watch.rule), &trial.observation, &view) else {
            // A storm that is not detected at all is the detection's finding; here there is nothing to look at. One that need not be
            // detected is nobody's.
            let slack = context.slack_within(done.bound());
            let stimulus = watch.stimulus_within(done.bound());
            if let Some(why) = detection::unshown(&seen, &watch.rule, &stimulus, (None, slack)) {
                return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
            }
            let want = wanted(
                Span::exactly(0),
                "a detection, and every frame after it treated as declared",
            );
            let got = Some("no detection".to_owned());
            let looked = looked(1, "storms");
            return Ok(TrialReading {
                span: Span::exactly(1),
                want,
                got,
                records: Vec::new(),
                looked,
            });
        };
        let taken =
            analyse::action(&trial.observation, &trial.script, places.stream, &view, window);
        if taken.frames() == 0 {
            return Err(trial.doubt("no frame of the stream met the stormed queue").into());
        }
        let breaking = taken.breaking(view.action);
        let all = taken.frames();
        let want = wanted(
            Span::exactly(0),
            format!("each of {all} frames that meet the stormed queue {}", meets(view.action)),
        );
        let count = u64::try_from(breaking.len()).unwrap_or(u64::MAX);
        let got = Some(format!("{count} of {all} frames fared otherwise"));
        let records = breaking.iter().map(|fate| fate.received.unwrap_or(fate.sent)).collect();
        let looked = looked(all, "frames that meet the stormed queue");
        Ok(TrialReading { span: Span::exactly(count), want, got, records, looked })
    });
}

/// From when the action surely had begun until the storm may have been over, on the trial's clock.
fn window(
    seen: &StormTrial,
    (context, rule): (&Context<'_>, &Rule),
    observation: &Observation,
    view: &ActionView,
) -> Option<(Time, Time)> {
    let start = seen.storm_start - observation.origin;
    let at = |after: u64| Time(start.0 + after);
    let detected = seen.detection()?;
    let from = match view.action {
        // The first XOFF came as late as two bounds after the earliest that its stamp allows.
        Action::Alert => at((view.response + observation.bound() * 2).0),
        Action::Drop | Action::Forward => at(detected.after.hi),
    };
    // A frame that starts as the pause ends was held until then.
    let slack = context.slack_within(observation.bound());
    let end = seen.pause_length.saturating_sub(slack).0;
    if !recovers(rule.family) {
        return Some((from, at(end)));
    }
    // It may be over before the storm is. The end of a forward shows in nothing that this stream does.
    let over = rule.predicted_recovery().map(|recovery| detected.after.lo + recovery.span.lo);
    let restored = seen.restored.as_ref().map(|restored| restored.after.lo);
    Some((from, at([over, restored].into_iter().flatten().fold(end, u64::min))))
}
