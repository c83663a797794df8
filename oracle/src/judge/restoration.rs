//! Restoration latency: every reading must meet the interval that the rule allows for its storm, and, once the grid of
//! the polls is known, the very poll that is predicted.

use super::detection::{hull, show};
use super::{Grid, Phase, Seen, Sighting, Subject};
use crate::spec::pfcwd::{Rule, Stimulus, Storm, Window};
use crate::{Finding, Judgement, Prediction};
use rig_capture::{Reading, Span, Unit};
use rig_lab::RuleFamily;
use rig_units::{Dur, Time};

/// Judges the restorations of storms that were detected; the reading counts from each storm's last frame. Storms that
/// were not detected have nothing to restore and are passed over.
pub fn judge(subject: &Subject, rule: &Rule, stimulus: &Stimulus, trials: &[Seen]) -> Judgement {
    let stormed: Vec<&Seen> = trials.iter().filter(|seen| seen.detection().is_some()).collect();
    let grid = Grid::of_trials(rule, trials);
    let departure = |seen: &Seen| {
        departure(seen, rule, stimulus).or_else(|| off_the_grid(seen, rule, grid.phase()?))
    };
    let finding = |seen: &Seen| {
        let (want, got) = departure(seen)?;
        let shown = seen.restored.as_ref().or(seen.detection());
        let frames = shown.map(|at| at.frames.clone()).unwrap_or_default();
        Some(Finding { rule: subject.measure, want, got, trial: seen.trial, frames })
    };
    let findings: Vec<Finding> = stormed.iter().filter_map(|seen| finding(seen)).collect();
    let restored = || stormed.iter().filter_map(|seen| Some((seen, seen.restored.as_ref()?)));
    let prediction = prediction(rule, stimulus, &stormed);
    let span = if prediction.unit == Unit::Ppm {
        Span::exactly(if restored().next().is_some() { 1_000_000 } else { 0 })
    } else {
        hull(restored().map(|(seen, at)| from_last_frame(seen, at.after)))
    };
    let frames = restored().next().map(|(_, at)| at.frames.clone()).unwrap_or_default();
    let reading = Reading { unit: prediction.unit, span, frames };
    let resolution = rule.restoration_resolution().unwrap_or_default();
    subject.judgement(reading, prediction, stormed.len(), resolution, findings)
}

/// The interval for all storms together, or a probability of nothing when the rule never restores.
fn prediction(rule: &Rule, stimulus: &Stimulus, stormed: &[&Seen]) -> Prediction {
    let tail = |seen: &&Seen| seen.pause_length.saturating_sub(seen.last_frame);
    let longest = stormed.iter().map(tail).max().unwrap_or(Dur::ZERO);
    if let Some(mut prediction) = rule.predicted_restoration(longest, stimulus) {
        let shortest = stormed.iter().map(tail).min().unwrap_or(Dur::ZERO);
        if let Some(window) = rule.restoration(shortest, stimulus) {
            prediction.span.lo = prediction.span.lo.min(window.span().lo);
        }
        return prediction;
    }
    Prediction {
        unit: Unit::Ppm,
        span: Span::exactly(0),
        formula: "F13",
        text: "no restoration_time: never restored".to_owned(),
        source: crate::spec::pfcwd::SOURCE,
    }
}

/// The reading, moved to count from the storm's last frame.
fn from_last_frame(seen: &Seen, after: Span) -> Span {
    let from = seen.last_frame.0;
    Span { lo: after.lo.saturating_sub(from), hi: after.hi.saturating_sub(from) }
}

/// What was wanted of a trial that departs from its interval, and what it showed; `None` when it does not depart.
fn departure(seen: &Seen, rule: &Rule, stimulus: &Stimulus) -> Option<(String, String)> {
    let got = seen.restored.as_ref();
    let Some(window) = window(seen, rule, stimulus) else {
        let Sighting { after, .. } = got?;
        return Some(("no restoration".to_owned(), format!("one after {}", show(*after))));
    };
    let want = || {
        let from = seen.last_frame;
        let back = |end: Dur| Dur(end.0).saturating_sub(from);
        let (lo, hi) = (Dur(window.span().lo), Dur(window.span().hi));
        format!("{} to {} after the last frame", back(lo), Unit::Ps.show(back(hi).0))
    };
    match got {
        Some(at) if at.after.meets(window.span()) => None,
        Some(at) => Some((want(), show(from_last_frame(seen, at.after)))),
        // The interval counter may have let go before the storm was over; then there is nothing to see.
        None if rule.family == RuleFamily::IntervalCounter => None,
        None if window.span().hi > seen.watched.0 => None,
        None => Some((want(), format!("no restoration within {}", seen.watched))),
    }
}

/// The interval that this storm leaves, counted from its start. The detection is known to within its reading only.
fn window(seen: &Seen, rule: &Rule, stimulus: &Stimulus) -> Option<Window> {
    let (pause_end, last_frame) = (seen.pause_length, seen.last_frame);
    if rule.family == RuleFamily::IntervalCounter {
        let tail = pause_end.saturating_sub(last_frame);
        return Some(rule.restoration(tail, stimulus)?.later(last_frame));
    }
    let detected = seen.detection()?.after;
    let storm = |at: u64| Storm { last_frame, pause_end, detected: Dur(at) };
    let early = rule.restores(&storm(detected.lo), stimulus)?;
    Some(early.hull(rule.restores(&storm(detected.hi), stimulus)?))
}

/// The same against the polls that the phase leaves, for a storm that outlasts its detection.
fn off_the_grid(seen: &Seen, rule: &Rule, phase: &Phase) -> Option<(String, String)> {
    let from = match rule.family {
        RuleFamily::Cisco8000 => seen.pause_length,
        RuleFamily::Broadcom
        | RuleFamily::Mellanox
        | RuleFamily::Barefoot
        | RuleFamily::IntervalCounter => seen.last_frame,
    };
    let (at, detected) = (seen.restored.as_ref()?, seen.detection()?);
    if from.0 <= detected.after.hi {
        return None;
    }
    let polls = rule.restores_within(phase.after(Time(seen.storm_start.0 + from.0)));
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
