//! Whether storms of one length are detected: by certainties where the rule or the grid of the polls gives one, by
//! counting where it does not.

use super::stats;
use super::{Fired, Grid, StormTrial, Subject};
use crate::spec::pfcwd::{Chance, Rule, Stimulus};
use crate::verdict::Taken;
use crate::{Alike, Finding, Judgement, Resolution};
use rig_capture::{Reading, Span, Unit};
use rig_units::Dur;

/// How sure a judgement of counts has to be, and how exactly lengths are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The chance of calling a healthy device faulty that this judgement may spend.
    pub alpha: f64,
    /// How far the length of a pause and its start may be off.
    pub slack: Dur,
}

/// A storm of one length, as planned, and what each trial of it showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Storms {
    /// The length of the pause.
    pub length: Dur,
    /// What each trial showed.
    pub trials: Vec<StormTrial>,
}

/// Whether any of the storms had to be detected, and whether any must not be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Decided {
    fires: bool,
    stays: bool,
}

/// Judges storms of one length. `want`: what the case wants instead of the prediction.
pub fn judge(
    subject: &Subject,
    rule: &Rule,
    stimulus: &Stimulus,
    (storms, grid): (&Storms, &Grid),
    want: Option<bool>,
    limits: &Limits,
) -> Judgement {
    let mut prediction = rule.predicted_chance(storms.length, stimulus);
    if let Some(want) = want {
        prediction.span = Span::exactly(if want { 1_000_000 } else { 0 });
        let word = if want { "must fire" } else { "must not fire" };
        prediction.text = format!("{word}, as the case wants; {}", prediction.text);
    }
    let must = |seen: &StormTrial| want.or_else(|| must(seen, rule, stimulus, grid, limits.slack));
    let finding = |seen: &StormTrial| departure(subject, seen, must(seen)?);
    let mut findings: Vec<Finding> = storms.trials.iter().filter_map(finding).collect();
    if want.is_none() && grid.phase().is_none() && findings.is_empty() {
        findings.extend(miscounted(subject, rule, stimulus, storms, limits.alpha));
    }
    let frames = storms.trials.iter().find_map(StormTrial::detection).map(|at| at.frames.clone());
    let reading = Reading {
        unit: Unit::Ppm,
        span: measured(rule, stimulus, storms, grid, limits),
        frames: frames.unwrap_or_default(),
    };
    let decided = |is: bool| storms.trials.iter().any(|seen| must(seen) == Some(is));
    let decided = Decided { fires: decided(true), stays: decided(false) };
    let resolution = told(reading.span, prediction.span, (storms, grid, decided), limits.alpha)
        // Of a timer the lengths of the storms say it.
        .with(if rule.is_polled() {
            alike(rule, stimulus, prediction.span, (storms, grid, decided), limits.slack)
        } else {
            None
        });
    let taken = storms.trials.iter().map(|seen| {
        let fired = if seen.detection().is_some() { 1_000_000 } else { 0 };
        Taken { trial: seen.trial, span: Span::exactly(fired) }
    });
    let taken = taken.collect();
    let trials = storms.trials.len();
    Judgement { taken, ..subject.judgement(reading, prediction, trials, resolution, findings) }
}

/// The detection times that these storms do not tell from the declared one. Where each must fire, only one does of which none is ever detected;
/// storms on either side of the phase at which they cease to be detected tell one poll from the next. That none is detected tells nothing where pauses
/// have gaps.
fn alike(
    rule: &Rule,
    stimulus: &Stimulus,
    predicted: Span,
    (storms, grid, decided): (&Storms, &Grid, Decided),
    slack: Dur,
) -> Option<Alike> {
    if predicted == Span::exactly(1_000_000) {
        let shortest = storms.trials.iter().map(|seen| seen.pause_length).min()?;
        return rule.all_fire_alike(shortest + slack * 2, stimulus);
    }
    if predicted == Span::exactly(0) {
        return None;
    }
    (grid.phase().is_some() && decided.fires && decided.stays)
        .then(|| rule.detection_resolution(Dur::ZERO))
}

/// Every chance.
const ANY: Span = Span { lo: 0, hi: 1_000_000 };

/// Which chances show. On a known grid storms lie just before and just after the phase at which they cease to be detected, and enclose
/// it: what is outside of that is seen. Else they are counted.
fn told(
    measured: Span,
    predicted: Span,
    (storms, grid, decided): (&Storms, &Grid, Decided),
    alpha: f64,
) -> Resolution {
    let certain = predicted == Span::exactly(0) || predicted == Span::exactly(1_000_000);
    if certain && !storms.trials.is_empty() {
        return Resolution::yes_or_no();
    }
    if grid.phase().is_some() {
        let Span { lo, hi } = predicted.hull(measured);
        let shows = Span {
            lo: if decided.fires { lo } else { 0 },
            hi: if decided.stays { hi } else { 1_000_000 },
        };
        if shows == ANY {
            return Resolution::none(
                "no storm was where it had to be detected, nor where it must not be",
            );
        }
        return Resolution::certain(Unit::Ppm, shows, 0);
    }
    let (n, _) = counts(&storms.trials);
    let share = |ppm: u64| share(Chance { of: ppm.into(), out_of: 1_000_000 });
    let (lo, hi) = stats::told(n, (share(predicted.lo), share(predicted.hi)), alpha, stats::POWER);
    let shows = Span { lo: ppm(lo, f64::floor), hi: ppm(hi, f64::ceil) };
    if shows == ANY {
        return Resolution::none("so few storms tell no chance from another");
    }
    Resolution::likely(Unit::Ppm, shows)
}

/// Why a storm that nothing detected does not show that nothing does: the trial was over before its pause and before the latest
/// detection.
pub fn unshown(seen: &StormTrial, rule: &Rule, stimulus: &Stimulus) -> Option<String> {
    if seen.detection().is_some() {
        return None;
    }
    let latest = rule.predicted_detection(stimulus)?.span.hi;
    let decided = Span::exactly(seen.pause_length.0);
    super::detection::too_soon(seen.watched, "a detection", latest.min(rule.acts(decided).hi))
}

/// What this storm must do, if anything is certain of it, whatever `slack` hides.
fn must(
    seen: &StormTrial,
    rule: &Rule,
    stimulus: &Stimulus,
    grid: &Grid,
    slack: Dur,
) -> Option<bool> {
    // Both ends of the pause may be off.
    let shorter = seen.pause_length.saturating_sub(slack);
    let longer = seen.pause_length + slack * 2;
    let (never, always) = (rule.never_fires_up_to(stimulus), rule.always_fires_from(stimulus));
    if never.is_none_or(|never| longer <= never) {
        return Some(false);
    }
    if always.is_some_and(|always| shorter > always) {
        return Some(true);
    }
    let phases = grid.phase()?.around(seen.storm_start, slack);
    let least = rule.fires_within(phases, shorter, stimulus)?;
    (rule.fires_within(phases, longer, stimulus)? == least).then_some(least)
}

/// The finding of a storm that did not do what it must.
fn departure(subject: &Subject, seen: &StormTrial, must: bool) -> Option<Finding> {
    let length = seen.pause_length;
    let (want, got) = match (&seen.fired, must) {
        (Fired::At(_), true) | (Fired::Never, false) => return None,
        (Fired::Never, true) => ("a detection", "none".to_owned()),
        (Fired::At(at), false) => {
            ("no detection", format!("one after {}", super::detection::show(at.after)))
        }
    };
    Some(subject.finding(seen, format!("{want} of a pause of {length}"), got))
}

/// The finding of a count that no allowed probability explains.
fn miscounted(
    subject: &Subject,
    rule: &Rule,
    stimulus: &Stimulus,
    storms: &Storms,
    alpha: f64,
) -> Option<Finding> {
    let (least, greatest) = rule.chances(storms.length, stimulus);
    let (n, k) = counts(&storms.trials);
    if n == 0 || !stats::contradicts(n, k, (share(least), share(greatest)), alpha) {
        return None;
    }
    let ppm = |chance: Chance| Unit::Ppm.show(chance.ppm());
    let want = format!("detected with a probability of {} to {}", ppm(least), ppm(greatest));
    Some(subject.finding(storms.trials.last()?, want, format!("{k} of {n} detected")))
}

/// Trials, and how many of them were detected.
fn counts(trials: &[StormTrial]) -> (u32, u32) {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let fired = trials.iter().filter(|seen| seen.detection().is_some()).count();
    (count(trials.len()), count(fired))
}

/// A fraction as a float: both are far below 2^52 after halving alike.
fn share(chance: Chance) -> f64 {
    let ppm = u32::try_from(chance.ppm()).unwrap_or(1_000_000);
    f64::from(ppm) / 1e6
}

/// The probabilities that the trials leave possible, in millionths. On a known grid: the part of all phases that lies
/// between those shown to fire and those shown not to, a later poll never making a storm fire, and as much to either side
/// as start and length may be off. Else by counting.
pub fn measured(
    rule: &Rule,
    stimulus: &Stimulus,
    storms: &Storms,
    grid: &Grid,
    limits: &Limits,
) -> Span {
    let Some(phase) = grid.phase() else {
        let (n, k) = counts(&storms.trials);
        let (lo, hi) = stats::clopper_pearson(n, k, limits.alpha);
        return Span { lo: ppm(lo, f64::floor), hi: ppm(hi, f64::ceil) };
    };
    let p = rule.poll_interval.0;
    let shown: Vec<(Span, bool)> = storms
        .trials
        .iter()
        .map(|seen| (phase.after(seen.storm_start), seen.detection().is_some()))
        .collect();
    let (mut lo, mut hi) = (0, 0);
    for piece in rule.pieces(Span { lo: 0, hi: p - 1 }, stimulus) {
        let here = || shown.iter().filter(|(at, _)| piece.lo <= at.lo && at.lo <= piece.hi);
        let fired = here().filter(|(_, fired)| *fired).map(|(at, _)| at.lo - piece.lo).max();
        let not = here().filter(|(_, fired)| !fired).map(|(at, _)| at.hi - piece.lo).min();
        lo += fired.unwrap_or(0);
        hi += not.unwrap_or(piece.hi - piece.lo + 1);
    }
    // What fired may have begun earlier and lasted longer at both its ends, what did not may have been shorter.
    let slack = limits.slack.0;
    let (lo, hi) = (lo.saturating_sub(slack * 3), (hi + slack * 2).min(p));
    let part =
        |x: u64| u64::try_from(u128::from(x) * 1_000_000 / u128::from(p)).unwrap_or(1_000_000);
    Span { lo: part(lo.min(hi)), hi: part(hi.max(lo)) }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a probability in millionths, between 0 and 1 000 000"
)]
fn ppm(share: f64, round: fn(f64) -> f64) -> u64 {
    round(share.clamp(0.0, 1.0) * 1e6) as u64
}

#[cfg(test)]
mod tests;
