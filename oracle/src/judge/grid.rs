//! The rhythm of a device's polls, read off its detections.
//!
//! Without jitter all polls of a device are whole poll intervals apart, so its detections, wherever the storms began,
//! are congruent modulo P on the session's clock. Two of them give the phase under the declared P; if more do not fit,
//! their distances tell the P that the device really has.

use super::{Sighting, StormTrial};
use crate::spec::pfcwd::Rule;
use crate::{Alike, Finding};
use rig_capture::{FrameRef, Span};
use rig_units::{Dur, Time, Within};

/// A poll seen through what it did: where it surely lies on the session's clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Poll {
    /// Picoseconds on the session's clock.
    pub at: Span,
    /// The trial that showed it.
    pub trial: u32,
    /// The frames that showed it.
    pub frames: Vec<FrameRef>,
}

/// What the polls seen so far say of all others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grid {
    /// Fewer than two were seen, or there is none: the rule has no polls, or jitter, leaves some out, goes by a clock that may be off, what it
    /// does comes too late to tell, or it never restores, and the device was started anew between two trials, or its watchdog was in each.
    Unknown,
    /// All fit the declared interval.
    Known(Phase),
    /// They do not fit the declared interval: the device has another one.
    NotCongruent(Finding),
}

/// Where the polls lie: within `width` from `residue`, modulo the interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phase {
    /// Below the interval.
    pub residue: Dur,
    /// The uncertainty.
    pub width: Dur,
    /// P.
    pub interval: Dur,
}

impl Phase {
    /// Time from `start` to the first poll at or after it; the greatest may exceed P, see
    /// [`Rule::detects_within`].
    pub fn after(&self, start: Time) -> Span {
        let p = self.interval.0;
        let lo = (self.residue.0 + p - start.0 % p) % p;
        Span { lo, hi: lo + self.width.0 }
    }

    /// The same for a start that may be off by up to `slack`. What reaches past P is the poll after.
    pub fn around(&self, start: Time, slack: Dur) -> Span {
        let at = self.after(start);
        let p = self.interval.0;
        // The poll may have come just before the start: then count from the one after.
        let by = if at.lo < slack.0 { p } else { 0 };
        Span { lo: (at.lo + by).saturating_sub(slack.0), hi: at.hi + by + slack.0 }
    }

    /// Where a storm has to start, modulo P, so that the first poll comes `phase` after it, counted from the middle of
    /// the uncertainty.
    pub fn start_for(&self, phase: Dur) -> Dur {
        let p = self.interval.0;
        Dur((self.residue.0 + self.width.0 / 2 + p - phase.0 % p) % p)
    }
}

impl Grid {
    /// The grid of a device that declares `rule`, from polls in the order in which they were seen.
    pub fn of(rule: &Rule, polls: &[Poll]) -> Grid {
        if !rule.is_polled() {
            return Grid::Unknown;
        }
        let p = rule.poll_interval;
        // A reading wider than half an interval fits anything.
        let sharp: Vec<&Poll> =
            polls.iter().filter(|poll| poll.at.hi - poll.at.lo < p.0 / 2).collect();
        let [first, rest @ ..] = &sharp[..] else { return Grid::Unknown };
        if rest.is_empty() || rule.restoration_time.is_none() {
            return Grid::Unknown;
        }
        if !rule.on_a_grid() {
            return out_of_step(rule, &sharp).map_or(Grid::Unknown, Grid::NotCongruent);
        }
        let mut common = first.at;
        for poll in rest {
            match congruent(common, poll.at, p) {
                Some(narrower) => common = narrower,
                None => return Grid::NotCongruent(finding(&sharp, poll, p)),
            }
        }
        let width = Dur(common.hi - common.lo);
        Grid::Known(Phase { residue: Dur(common.lo % p.0), width, interval: p })
    }

    /// The same, from what the trials showed.
    pub fn of_trials(rule: &Rule, trials: &[StormTrial]) -> Grid {
        if trials.iter().any(|seen| seen.restarted) {
            return Grid::Unknown;
        }
        let poll = |seen: &StormTrial| {
            let Sighting { after, frames } = seen.detection()?;
            let start = seen.storm_start.0;
            let at = rule.decided(Span { lo: start + after.lo, hi: start + after.hi });
            Some(Poll { at, trial: seen.trial, frames: frames.clone() })
        };
        Grid::of(rule, &trials.iter().filter_map(poll).collect::<Vec<_>>())
    }

    /// The poll intervals and the lateness of polls that these detections do not tell from the declared ones: as much as two readings leave
    /// open, over the intervals between them, and as much as the declared lateness hides. Nothing where no two of them tell.
    pub fn alike(rule: &Rule, trials: &[StormTrial]) -> Vec<Alike> {
        let restarted = trials.iter().any(|seen| seen.restarted);
        if !rule.is_polled() || rule.restoration_time.is_none() || restarted {
            return Vec::new();
        }
        if rule.on_a_grid() && !matches!(Grid::of_trials(rule, trials), Grid::Known(_)) {
            return Vec::new();
        }
        let p = rule.poll_interval;
        let at = |seen: &StormTrial| {
            let after = seen.detection()?.after;
            let start = seen.storm_start.0;
            Some(rule.decided(Span { lo: start + after.lo, hi: start + after.hi }))
        };
        let polls: Vec<Span> =
            trials.iter().filter_map(at).filter(|at| at.hi - at.lo < p.0 / 2).collect();
        let open = polls.windows(2).filter_map(|pair| left_open(rule, pair[0], pair[1]));
        let Some(open) = open.min() else { return Vec::new() };
        let hidden = open + rule.jitter.width() + Dur(rule.apart.part(p.0));
        let mut all = vec![Alike::of_time("pfcwd.poll_interval", Within::exactly(p), hidden)];
        if !rule.on_a_grid() {
            // Polls that are left out are not late, so each of the others may be later.
            let least = rule.jitter.least() / (u64::from(rule.skipped_polls) + 1);
            let late = Within::between(least, rule.jitter.most());
            let open = open + Dur(rule.apart.part(p.0));
            all.push(Alike::of_time("pfcwd.jitter", late, open));
        }
        all
    }

    /// The phase, if it is known.
    pub fn phase(&self) -> Option<&Phase> {
        match self {
            Grid::Known(phase) => Some(phase),
            Grid::Unknown | Grid::NotCongruent(_) => None,
        }
    }
}

/// By how much `span`, moved by whole intervals, lies after `common` at its nearest: negative when before.
fn residual(common: Span, span: Span, p: Dur) -> i128 {
    let (p, apart) = (i128::from(p.0), i128::from(span.lo) - i128::from(common.lo));
    let ahead = apart.rem_euclid(p);
    if ahead > p / 2 { ahead - p } else { ahead }
}

/// The part of `common` that `span` allows when moved by whole intervals.
fn congruent(common: Span, span: Span, p: Dur) -> Option<Span> {
    let from = residual(common, span, p);
    let until = from + i128::from(span.hi - span.lo);
    let from = from.max(0);
    let until = until.min(i128::from(common.hi - common.lo));
    let offset = |by: i128| u64::try_from(by).ok().map(|by| common.lo + by);
    (from <= until).then_some(Span { lo: offset(from)?, hi: offset(until)? })
}

/// By how much each of the intervals between two polls may be longer without a sign of it; `None` where there may be another number of
/// intervals between them, so that they tell nothing.
fn left_open(rule: &Rule, before: Span, after: Span) -> Option<Dur> {
    let blur = before.hi - before.lo + after.hi - after.lo;
    let apart = after.lo.checked_sub(before.lo)?;
    let intervals = (apart / rule.poll_interval.0).max(1);
    let Span { lo, hi } = rule.distance(intervals);
    // Blurred once as they are, and once more as they would be if they just did not show.
    let tells = hi + 2 * blur < lo + rule.poll_interval.0;
    (tells || rule.on_a_grid()).then(|| Dur(blur.div_ceil(intervals)))
}

/// Where polls lie on no grid, every distance is still that of a whole number of intervals, some of them left out: what is reported of the
/// first distance that is none. A device without the jitter that it declares shows here.
fn out_of_step(rule: &Rule, polls: &[&Poll]) -> Option<Finding> {
    polls.windows(2).find_map(|pair| {
        let (before, after) = (pair[0].at, pair[1].at);
        let apart =
            Span { lo: after.lo.checked_sub(before.hi)?, hi: after.hi.checked_sub(before.lo)? };
        let [short, long] = [rule.distance(1).lo, rule.distance(1).hi].map(Dur);
        rule.intervals(apart).is_empty().then(|| Finding {
            rule: "pfcwd.poll_interval",
            want: format!("detections a whole number of intervals of {short} to {long} apart"),
            got: format!("{} apart", super::detection::show(apart)),
            trial: pair[1].trial,
            frames: pair[1].frames.clone(),
        })
    })
}

/// What is reported when `odd` does not fit the polls before it.
fn finding(polls: &[&Poll], odd: &Poll, p: Dur) -> Finding {
    let residues: Vec<String> = polls
        .iter()
        .map(|poll| Dur(poll.at.lo % p.0 / 1_000_000 * 1_000_000).to_string())
        .collect();
    let fits = fit(polls, p)
        .map_or(String::new(), |(lo, hi)| format!("; an interval of {lo} to {hi} would fit"));
    Finding {
        rule: "pfcwd.poll_interval",
        want: format!("detections congruent modulo {p}, by a clock that is declared to be right"),
        got: format!("{} modulo {p}{fits}", residues.join(", ")),
        trial: odd.trial,
        frames: odd.frames.clone(),
    }
}

/// The longest interval, within a factor of four of `p`, of which all distances can be multiples; whole microseconds,
/// outwards.
fn fit(polls: &[&Poll], p: Dur) -> Option<(Dur, Dur)> {
    let [first, rest @ ..] = polls else { return None };
    let apart = |poll: &&Poll| {
        let (early, late) = if poll.at.lo < first.at.lo { (poll, first) } else { (first, poll) };
        Span {
            lo: late.at.lo.saturating_sub(early.at.hi),
            hi: late.at.hi.saturating_sub(early.at.lo),
        }
    };
    let distances: Vec<Span> = rest.iter().map(apart).filter(|span| span.lo > p.0 / 4).collect();
    let shortest = distances.iter().min_by_key(|span| span.hi)?;
    let multiple = |span: &Span, lo: u64, hi: u64| span.lo.div_ceil(hi) <= span.hi / lo;
    (shortest.lo.div_ceil(p.0 * 4).max(1)..=shortest.hi / (p.0 / 4))
        .map(|parts| (shortest.lo / parts, shortest.hi.div_ceil(parts)))
        .find(|&(lo, hi)| distances.iter().all(|span| multiple(span, lo, hi)))
        .map(|(lo, hi)| (Dur::us(lo / 1_000_000), Dur::us(hi.div_ceil(1_000_000))))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{rule, tick};
    use super::*;
    use proptest::prelude::*;
    use rig_lab::RuleFamily;
    use rig_units::{Apart, Ppm};

    fn polls(us: &[u64], width_us: u64) -> Vec<Poll> {
        let poll = |(i, &us): (usize, &u64)| Poll {
            at: Span { lo: Dur::us(us).0, hi: Dur::us(us + width_us).0 },
            trial: u32::try_from(i + 1).unwrap(),
            frames: vec![FrameRef(9)],
        };
        us.iter().enumerate().map(poll).collect()
    }

    fn broadcom() -> Rule {
        rule(RuleFamily::Broadcom, 200, 100)
    }

    #[test]
    fn two_detections_give_the_phase() {
        assert_eq!(Grid::of(&broadcom(), &polls(&[123_400], 50)), Grid::Unknown);
        let grid = Grid::of(&broadcom(), &polls(&[123_400, 1_523_420], 50));
        let phase = *grid.phase().unwrap();
        assert_eq!((phase.residue, phase.width), (Dur::us(23_420), Dur::us(30)));
        // A storm at 1.5 s waits 23.42 to 23.45 ms for the next poll; one at 23.43 ms may just have missed it.
        assert_eq!(phase.after(Time(Dur::ms(1_500).0)).lo, Dur::us(23_420).0);
        assert_eq!(phase.after(Time(Dur::us(23_430).0)).lo, Dur::us(99_990).0);
        assert_eq!(phase.start_for(Dur::ms(30)), Dur::us(93_435));
    }

    #[test]
    fn residues_either_side_of_zero_are_neighbours() {
        let grid = Grid::of(&broadcom(), &polls(&[199_990, 300_010], 50));
        assert_eq!(grid.phase().map(|phase| phase.width), Some(Dur::us(30)));
        assert_eq!(grid.phase().map(|phase| phase.residue), Some(Dur::us(10)));
    }

    #[test]
    fn a_longer_interval_is_found_and_named() {
        // Polls every 110 ms where 100 ms are declared.
        let seen = polls(&[330_000, 1_540_000, 2_970_000, 4_070_000], 20);
        let Grid::NotCongruent(finding) = Grid::of(&broadcom(), &seen) else {
            panic!("the wrong interval was missed")
        };
        assert_eq!(
            finding.to_string(),
            "pfcwd.poll_interval: want detections congruent modulo 100ms, by a clock that is declared to be right, got 30ms, 40ms, 70ms, 70ms \
             modulo 100ms; an interval of 109.998ms to 110.002ms would fit, trial 2, frames #9"
        );
    }

    #[test]
    fn clocks_may_drift_apart_as_far_as_is_declared() {
        // 100 ppm: 0.1 ms a second, more than the readings' 20 us.
        let seen = |ppm: u64| {
            let at = |trial: u64| 300_000 + trial * (1_000_000 + ppm);
            polls(&[at(0), at(1), at(2), at(3)], 20)
        };
        let of = |apart, ppm| Grid::of(&Rule { apart, ..broadcom() }, &seen(ppm));
        assert!(matches!(of(Apart::NOT, 100), Grid::NotCongruent(_)));
        let apart = Apart::of(Ppm(100), Ppm(0));
        assert_eq!(of(apart, 100), Grid::Unknown);
        assert!(matches!(of(apart, 150), Grid::NotCongruent(_)));
    }

    #[test]
    fn a_device_with_jitter_has_no_grid() {
        let tick = Rule { jitter: tick(), ..broadcom() };
        assert_eq!(Grid::of(&tick, &polls(&[300_000, 401_000], 20)), Grid::Unknown);
    }

    #[test]
    fn a_device_without_the_jitter_it_declares_is_out_of_step() {
        let jittery = Rule { jitter: tick(), ..broadcom() };
        // Ten polls later, each 0.05 to 1.1 ms late.
        for late_us in [500, 4_000, 11_000] {
            let seen = polls(&[10_000, 1_010_000 + late_us], 1);
            assert_eq!(Grid::of(&jittery, &seen), Grid::Unknown, "{late_us}");
        }
        let punctual = polls(&[10_000, 1_010_000], 1);
        assert!(matches!(Grid::of(&jittery, &punctual), Grid::NotCongruent(_)));
    }

    #[test]
    fn polls_that_are_left_out_are_whole_intervals_nevertheless() {
        let skips = Rule { skipped_polls: 1, ..broadcom() };
        assert_eq!(Grid::of(&skips, &polls(&[10_000, 1_110_000, 2_310_000], 1)), Grid::Unknown);
        let off = polls(&[10_000, 1_150_000], 1);
        assert!(matches!(Grid::of(&skips, &off), Grid::NotCongruent(_)));
        // Ten intervals, of which five polls at least come 50 us late or more.
        let late = Rule { jitter: tick(), ..skips };
        for (late_us, fits) in [(248, false), (250, true), (11_000, true), (11_002, false)] {
            let grid = Grid::of(&late, &polls(&[10_000, 1_010_000 + late_us], 0));
            assert_eq!(grid == Grid::Unknown, fits, "{late_us}: {grid:?}");
        }
    }

    #[test]
    fn a_device_that_is_started_anew_for_each_trial_has_no_grid() {
        let forever = Rule { restoration_time: None, ..broadcom() };
        assert_eq!(Grid::of(&forever, &polls(&[330_000, 1_540_000], 20)), Grid::Unknown);
    }

    proptest! {
        #[test]
        fn polls_of_one_interval_are_always_congruent_and_the_phase_holds_them(
            phase in 0_u64..100_000, at in prop::collection::vec((1_u64..50, 0_u64..500, 0_u64..500), 2..12),
        ) {
            let exact = |k: u64| phase + 100_000 * k;
            let seen: Vec<Poll> = at.iter().map(|&(k, before, after)| Poll {
                at: Span {
                    lo: Dur::us(exact(k)).0.saturating_sub(Dur::us(before).0),
                    hi: Dur::us(exact(k) + after).0,
                },
                trial: 1,
                frames: Vec::new(),
            }).collect();
            let grid = Grid::of(&broadcom(), &seen);
            let known = grid.phase().expect("congruent");
            let off = (Dur::us(phase).0 + known.interval.0 - known.residue.0) % known.interval.0;
            prop_assert!(off <= known.width.0, "{off} beyond {:?}", known);
        }
    }
}
