//! Detection latency: every reading must meet the predicted interval, and, once the grid of the polls is known, the
//! very poll that is predicted for its storm.

use super::{Fired, Grid, Phase, StormTrial, Subject, latency};
use crate::spec::pfcwd::{Rule, Stimulus};
use crate::verdict::Taken;
use crate::{Finding, Judgement, Prediction, Resolution};
use rig_capture::{Reading, Span, Unit};
use rig_lab::Action;
use rig_units::Dur;

/// Judges the detections of storms that must all be detected, or none of them when the rule never fires.
///
/// `at_most`: the latest detection that the case accepts, if it is stricter than the rule. `slack`: how far off the start
/// of a storm may be. `placed`: storms are put where the ones before showed the polls.
pub fn judge(
    subject: &Subject,
    rule: &Rule,
    stimulus: &Stimulus,
    (at_most, slack, placed): (Option<Dur>, Dur, bool),
    trials: &[StormTrial],
) -> Judgement {
    let prediction = prediction(rule, stimulus, at_most);
    let grid = Grid::of_trials(rule, trials);
    let departure = |seen: &StormTrial| {
        departure(seen, &prediction)
            .or_else(|| off_the_grid(seen, rule, stimulus, (grid.phase()?, slack)))
    };
    let mut findings: Vec<Finding> = trials
        .iter()
        .filter_map(|seen| departure(seen).map(|(want, got)| subject.finding(seen, want, got)))
        .collect();
    if let Grid::NotCongruent(finding) = &grid {
        findings.push(finding.clone());
    }
    let detections = || trials.iter().filter_map(StormTrial::detection);
    let span = if never(&prediction) {
        Span::exactly(if detections().next().is_some() { 1_000_000 } else { 0 })
    } else {
        hull(trials.iter().map(|seen| taken(seen, false).span))
    };
    let frames = detections().next().map(|at| at.frames.clone()).unwrap_or_default();
    let reading = Reading { unit: prediction.unit, span, frames };
    let taken: Vec<Taken> = trials.iter().map(|seen| taken(seen, never(&prediction))).collect();
    let blur = sharpest(&taken);
    // An alert is the decision itself.
    let told = (!never(&prediction) && rule.action != Action::Alert).then(|| {
        let at = (grid.phase(), placed);
        latency::resolution(rule, (prediction.span, slack, blur), at, trials)
    });
    let resolution = Resolution::of_each(prediction.unit, prediction.span, &taken)
        .with([rule.detection_resolution(blur)])
        .with(rule.lags_alike(blur))
        .with(Grid::alike(rule, trials))
        .with(told);
    Judgement {
        taken,
        ..subject.judgement(reading, prediction, trials.len(), resolution, findings)
    }
}

/// Why a storm that nothing detected shows nothing: it did not hold for as long as one that is detected for sure, or the trial
/// was over before the latest detection. `None` where it shows something.
pub fn unshown(
    seen: &StormTrial,
    rule: &Rule,
    stimulus: &Stimulus,
    (at_most, slack): (Option<Dur>, Dur),
) -> Option<String> {
    let prediction = prediction(rule, stimulus, at_most);
    if never(&prediction) {
        return None;
    }
    if let Some(why) = fleeting(rule, stimulus) {
        return Some(why);
    }
    let always = rule.always_fires_from(stimulus)?;
    if seen.detection().is_some() {
        return None;
    }
    if seen.pause_length.saturating_sub(slack) <= always {
        let held = seen.pause_length;
        return Some(format!(
            "a pause of {held} need not be detected, one longer than {always} must"
        ));
    }
    too_soon(seen.watched, "a detection", prediction.span.hi)
}

/// Why nothing need show of an action, however long a storm is: it may begin later than it is over. What shows may be that of a later detection.
pub(super) fn fleeting(rule: &Rule, stimulus: &Stimulus) -> Option<String> {
    let never = rule.detection(stimulus).is_none() || rule.always_fires_from(stimulus).is_some();
    (!never).then(|| {
        let (late, kept) = (rule.latency(), rule.kept());
        format!("an action comes {late} after its decision, and its end may be decided {kept} after that: it need not show at all, and what shows need not be the first")
    })
}

/// Why a storm that was detected shows nothing of when: its reading is too wide.
pub fn untimed(
    seen: &StormTrial,
    rule: &Rule,
    stimulus: &Stimulus,
    at_most: Option<Dur>,
) -> Option<String> {
    let prediction = prediction(rule, stimulus, at_most);
    let at = seen.detection().filter(|_| !never(&prediction))?;
    too_wide(at.after, prediction.span, "a detection")
}

/// Why a reading tells nothing of when something happened: it holds the earliest that is predicted and is no narrower than that is late, so that
/// what comes at once would be read alike. A device that shows nothing until the pause is over is read so, however soon that is over.
pub(super) fn too_wide(read: Span, predicted: Span, what: &str) -> Option<String> {
    let holds = read.lo <= predicted.lo && predicted.lo <= read.hi;
    let width = read.hi - read.lo;
    let tells = !holds || width < predicted.lo || width <= predicted.hi - predicted.lo;
    (!tells).then(|| {
        let [read, predicted] = [read, predicted].map(show);
        format!(
            "{what} is read as {read}, which holds the earliest that is predicted, {predicted}, and so much before it that one too early would be read alike"
        )
    })
}

/// Why what was not seen within the trial may have come after it.
pub(super) fn too_soon(watched: Dur, what: &str, latest: u64) -> Option<String> {
    (watched.0 < latest).then(|| {
        let [watched, latest] = [watched.0, latest].map(|at| Unit::Ps.show(at));
        format!(
            "{what} is due by {latest} after the storm's start, and the trial ended after {watched}"
        )
    })
}

/// The rule's interval, cut at the case's own limit; a probability of nothing when it never fires.
fn prediction(rule: &Rule, stimulus: &Stimulus, at_most: Option<Dur>) -> Prediction {
    let Some(mut prediction) = rule.predicted_detection(stimulus) else {
        return rule.predicted_chance(Dur(u64::MAX), stimulus);
    };
    if let Some(limit) = at_most.filter(|limit| limit.0 < prediction.span.hi) {
        prediction.span.hi = limit.0;
        prediction.span.lo = prediction.span.lo.min(limit.0);
        prediction.text = format!("{}, and at most {limit} as the case wants", prediction.text);
    }
    prediction
}

/// What one storm gave: when it was detected, or only whether. A storm that was not detected in time has no time.
fn taken(seen: &StormTrial, whether: bool) -> Taken {
    let span = match (seen.detection(), whether) {
        (at, true) => Span::exactly(if at.is_some() { 1_000_000 } else { 0 }),
        (Some(at), false) => at.after,
        (None, false) => Span::exactly(u64::MAX),
    };
    Taken { trial: seen.trial, span }
}

/// How wide the sharpest reading is.
pub(super) fn sharpest(taken: &[Taken]) -> Dur {
    let read = taken.iter().filter(|one| one.span.hi != u64::MAX);
    Dur(read.map(|one| one.span.hi - one.span.lo).min().unwrap_or(0))
}

/// Whether no storm is to be detected.
fn never(prediction: &Prediction) -> bool {
    prediction.unit == Unit::Ppm
}

/// What was wanted of a trial that departs from the interval, and what it showed; `None` when it does not depart.
fn departure(seen: &StormTrial, prediction: &Prediction) -> Option<(String, String)> {
    let got = match &seen.fired {
        Fired::Never if never(prediction) => return None,
        Fired::Never => format!("no detection within {}", Unit::Ps.show(seen.watched.0)),
        Fired::At(at) if never(prediction) => format!("a detection after {}", show(at.after)),
        Fired::At(at) if at.after.meets(prediction.span) => return None,
        Fired::At(at) => show(at.after),
    };
    Some((prediction.text.clone(), got))
}

/// The same against the polls that the phase of this storm leaves.
fn off_the_grid(
    seen: &StormTrial,
    rule: &Rule,
    stimulus: &Stimulus,
    (phase, slack): (&Phase, Dur),
) -> Option<(String, String)> {
    let at = seen.detection()?;
    let polls = rule.detects_within(phase.around(seen.storm_start, slack), stimulus);
    if polls.iter().any(|poll| poll.meets(at.after)) {
        return None;
    }
    let want = format!("{}: the poll {}", rule.polls_text(), show_all(&polls));
    Some((want, show(at.after)))
}

/// A span of time for people.
pub(super) fn show(span: Span) -> String {
    Reading { unit: Unit::Ps, span, frames: Vec::new() }.to_string()
}

/// Alternatives, for people: `201.3ms to 201.4ms or 301.3ms to 301.4ms after the storm's start`.
pub(super) fn show_all(spans: &[Span]) -> String {
    let spans: Vec<String> = spans.iter().map(|&span| show(span)).collect();
    format!("{} after the storm's start", spans.join(" or "))
}

/// The smallest span that holds all; zero of none.
pub(super) fn hull(spans: impl Iterator<Item = Span>) -> Span {
    spans.reduce(|a, b| Span { lo: a.lo.min(b.lo), hi: a.hi.max(b.hi) }).unwrap_or(Span::exactly(0))
}

#[cfg(test)]
mod tests;
