//! Restoration latency: every reading must meet the interval that the rule allows for its storm, and, once the grid of
//! the polls is known, the very poll that is predicted.

use super::detection::{fleeting, hull, sharpest, show, too_soon, too_wide};
use super::{Grid, Phase, Sighting, StormTrial, Subject};
use crate::spec::pfcwd::{Rule, Stimulus, Storm, recovers};
use crate::verdict::Taken;
use crate::{Finding, Judgement, Prediction, Resolution};
use rig_capture::{Reading, Span, Unit};
use rig_lab::RuleFamily;
use rig_units::{Dur, Time};

/// A pause that a late frame may ask for: 65535 quanta at 10 Gb/s.
const LONGEST_PAUSE: Dur = Dur::us(3_356);

/// Judges the restorations of storms that were detected; the reading counts from each storm's last frame, for the
/// interval counter from the detection. Storms that were not detected have nothing to restore and are passed over.
/// `slack`: how far off the start and the end of a storm may be.
pub fn judge(
    subject: &Subject,
    rule: &Rule,
    stimulus: &Stimulus,
    slack: Dur,
    trials: &[StormTrial],
) -> Judgement {
    let stormed: Vec<&StormTrial> =
        trials.iter().filter(|seen| seen.detection().is_some()).collect();
    let grid = Grid::of_trials(rule, trials);
    let departure = |seen: &StormTrial| {
        departure(seen, rule, stimulus).or_else(|| off_the_grid(seen, rule, grid.phase()?, slack))
    };
    let finding = |seen: &StormTrial| {
        let (want, got) = departure(seen)?;
        let shown = seen.restored.as_ref().or(seen.detection());
        let frames = shown.map(|at| at.frames.clone()).unwrap_or_default();
        Some(Finding { rule: subject.measure, want, got, trial: seen.trial, frames })
    };
    let findings: Vec<Finding> = stormed.iter().filter_map(|seen| finding(seen)).collect();
    let restored = || stormed.iter().filter_map(|seen| seen.restored.as_ref());
    let prediction = prediction(rule, stimulus, &stormed);
    let span = if prediction.unit == Unit::Ppm {
        Span::exactly(if restored().next().is_some() { 1_000_000 } else { 0 })
    } else {
        hull(stormed.iter().map(|seen| when(seen, rule)))
    };
    let frames = restored().next().map(|at| at.frames.clone()).unwrap_or_default();
    let reading = Reading { unit: prediction.unit, span, frames };
    let whether = prediction.unit == Unit::Ppm;
    let taken = stormed.iter().map(|seen| {
        let span = match &seen.restored {
            at if whether => Span::exactly(if at.is_some() { 1_000_000 } else { 0 }),
            _ => when(seen, rule),
        };
        Taken { trial: seen.trial, span }
    });
    let taken: Vec<Taken> = taken.collect();
    let resolution = Resolution::of_each(prediction.unit, prediction.span, &taken)
        .with(rule.restoration_resolution(sharpest(&taken)));
    Judgement {
        taken,
        ..subject.judgement(reading, prediction, stormed.len(), resolution, findings)
    }
}

/// Why a storm that was detected and not restored shows nothing: the trial was over before the latest restoration.
pub fn unshown(seen: &StormTrial, rule: &Rule, stimulus: &Stimulus) -> Option<String> {
    if let Some(why) = fleeting(rule, stimulus) {
        return Some(why);
    }
    if seen.restored.is_some() {
        return None;
    }
    too_soon(seen.followed, "a restoration", window(seen, rule, stimulus)?.hi)
}

/// Why a storm that was restored shows nothing of when. What counts from the detection is known no better than that.
pub fn untimed(seen: &StormTrial, rule: &Rule, stimulus: &Stimulus) -> Option<String> {
    seen.restored.as_ref()?;
    let predicted = if recovers(rule.family) {
        rule.predicted_recovery()?.span
    } else {
        latency(seen, rule, window(seen, rule, stimulus)?)
    };
    let read = when(seen, rule);
    // Frames that begin a while after the storm show in most trials no more than by when it was over: that is read on its own side, and
    // in other trials, which other polls meet, on the other.
    too_wide(read, predicted, "a restoration").filter(|_| predicted.hi <= read.hi)
}

/// When a storm's queue was restored. One that never was has no time.
fn when(seen: &StormTrial, rule: &Rule) -> Span {
    let at = seen.restored.as_ref();
    at.map_or(Span::exactly(u64::MAX), |at| latency(seen, rule, at.after))
}

/// The interval for all storms together, or a probability of nothing when the rule never restores.
fn prediction(rule: &Rule, stimulus: &Stimulus, stormed: &[&StormTrial]) -> Prediction {
    let tail = |seen: &&StormTrial| seen.pause_end.saturating_sub(seen.last_frame);
    let tails = || stormed.iter().map(tail);
    let (shortest, longest) =
        (tails().min().unwrap_or_default(), tails().max().unwrap_or_default());
    let predicted = match rule.family {
        RuleFamily::IntervalCounter | RuleFamily::Hardware => rule.predicted_recovery(),
        RuleFamily::Broadcom
        | RuleFamily::Mellanox
        | RuleFamily::Cisco8000
        | RuleFamily::Barefoot => rule.predicted_restoration(longest, stimulus).map(|longest| {
            let window = rule.restoration(shortest, stimulus);
            let lo = window.map_or(longest.span.lo, |window| window.span().lo);
            Prediction { span: Span { lo, ..longest.span }, ..longest }
        }),
    };
    predicted.unwrap_or_else(|| Prediction {
        unit: Unit::Ppm,
        span: Span::exactly(0),
        formula: "F13",
        text: "no restoration_time: never restored".to_owned(),
        source: crate::spec::pfcwd::SOURCE,
    })
}

/// An instant of the trial, moved to count from the storm's last frame, or from the detection.
fn latency(seen: &StormTrial, rule: &Rule, after: Span) -> Span {
    let from = match (rule.family, seen.detection()) {
        (family, Some(detected)) if recovers(family) => detected.after,
        _ => Span::exactly(seen.last_frame.0),
    };
    Span { lo: after.lo.saturating_sub(from.hi), hi: after.hi.saturating_sub(from.lo) }
}

/// What was wanted of a trial that departs from its interval, and what it showed; `None` when it does not depart.
fn departure(seen: &StormTrial, rule: &Rule, stimulus: &Stimulus) -> Option<(String, String)> {
    let got = seen.restored.as_ref();
    let Some(window) = window(seen, rule, stimulus) else {
        let Sighting { after, .. } = got?;
        return Some(("no restoration".to_owned(), format!("one after {}", show(*after))));
    };
    let want = || {
        let from = match rule.family {
            RuleFamily::IntervalCounter | RuleFamily::Hardware => "detection",
            RuleFamily::Broadcom
            | RuleFamily::Mellanox
            | RuleFamily::Cisco8000
            | RuleFamily::Barefoot => "last frame",
        };
        format!("{} after the {from}", show(latency(seen, rule, window)))
    };
    match got {
        Some(at) if at.after.meets(window) => None,
        Some(at) => Some((want(), show(latency(seen, rule, at.after)))),
        None => Some((want(), format!("no restoration within {}", Unit::Ps.show(seen.followed.0)))),
    }
}

/// The interval that this storm leaves, counted from its start. The detection is known to within its reading only.
fn window(seen: &StormTrial, rule: &Rule, stimulus: &Stimulus) -> Option<Span> {
    let (pause_end, last_frame) = (seen.pause_end, seen.last_frame);
    let detected = rule.decided(seen.detection()?.after);
    let storm = |at: u64| Storm { last_frame, pause_end, detected: Dur(at) };
    let early = rule.restores(&storm(detected.lo), stimulus)?;
    let mut span = early.hull(rule.restores(&storm(detected.hi), stimulus)?).span();
    if rule.family == RuleFamily::Cisco8000 && last_frame > pause_end {
        // A late frame holds it back only if a poll finds its pause.
        let late =
            Storm { last_frame, pause_end: last_frame + LONGEST_PAUSE, detected: Dur(detected.hi) };
        span.hi = span.hi.max(rule.restores(&late, stimulus)?.span().hi);
    }
    Some(span)
}

/// The same against the polls that the phase leaves, for a storm that outlasts its detection.
fn off_the_grid(
    seen: &StormTrial,
    rule: &Rule,
    phase: &Phase,
    slack: Dur,
) -> Option<(String, String)> {
    let from = match rule.family {
        RuleFamily::Cisco8000 => seen.pause_end,
        RuleFamily::Broadcom
        | RuleFamily::Mellanox
        | RuleFamily::Barefoot
        | RuleFamily::IntervalCounter
        | RuleFamily::Hardware => seen.last_frame,
    };
    let (at, detected) = (seen.restored.as_ref()?, seen.detection()?);
    let late = seen.last_frame > seen.pause_end && rule.family == RuleFamily::Cisco8000;
    if from.0 <= detected.after.hi || late {
        return None;
    }
    // The end is known against the start, and both may be off.
    let end = Time(seen.storm_start.0 + from.0);
    let polls = rule.restores_within(phase.around(end, slack * 2));
    let got =
        Span { lo: at.after.lo.saturating_sub(from.0), hi: at.after.hi.saturating_sub(from.0) };
    if polls.is_empty() || polls.iter().any(|poll| poll.meets(got)) {
        return None;
    }
    let polls: Vec<String> = polls.into_iter().map(show).collect();
    Some((format!("the poll {} after the storm's end", polls.join(" or ")), show(got)))
}

#[cfg(test)]
mod tests;
