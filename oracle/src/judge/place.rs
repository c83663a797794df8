//! Where in the poll interval the next storm is to start. Two storms anywhere show the grid of the polls; the others are
//! placed just before and just after an edge of the rule, where a deviation shows at once and a healthy device never
//! strays: some ten trials instead of a thousand. Without a grid, because of jitter, of polls that are left out or of drifting clocks, storms are
//! spread at random and counted.

use super::{Grid, Phase, StormTrial, stats};
use crate::spec::pfcwd::{Chance, Rule, Stimulus};
use rig_capture::Span;
use rig_units::Dur;

/// The next trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask {
    /// Index into the lengths of the sweep; 0 without one.
    pub point: usize,
    /// When its storm starts.
    pub place: Place,
    /// How long its pause is to be; `None`: as long as the case says.
    pub length: Option<Dur>,
    /// Whether the storm serves only to find the polls, and so must be one that always fires.
    pub calibrate: bool,
    /// Why there, for the report.
    pub why: &'static str,
}

/// When a storm starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// So long after the earliest time: drawn uniformly from the whole intervals within which a poll is due.
    Anywhere(Dur),
    /// When the session's clock, modulo the poll interval, shows this.
    Phase(Dur),
}

/// Plans the trials of one configuration of one device.
#[derive(Debug, Clone)]
pub struct Planner {
    rule: Rule,
    stimulus: Stimulus,
    goal: Goal,
    setup: Setup,
    calibrations: u32,
    done: Vec<u32>,
    voids: u32,
    seen: Vec<StormTrial>,
}

/// What a planner is told of the rig.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setup {
    /// Of all draws.
    pub seed: u64,
    /// How far off its plan a storm may start.
    pub slack: Dur,
    /// The chance of calling a healthy device faulty that each judgement of counts may spend.
    pub alpha: f64,
    /// The smallest change of a detection probability that counting is planned for.
    pub resolution: f64,
}

#[derive(Debug, Clone)]
enum Goal {
    /// So many storms that always fire.
    Detection(u32),
    /// Storms of these lengths.
    Ramp(Vec<Dur>),
    /// So many points, so many trials each, wherever they fall.
    Plain(usize, u32),
}

impl Planner {
    /// For the latency of storms that always fire.
    pub fn detection(rule: Rule, stimulus: Stimulus, trials: u32, setup: Setup) -> Planner {
        Planner::new(rule, stimulus, Goal::Detection(trials), setup)
    }

    /// For the detection of storms of several lengths.
    pub fn ramp(rule: Rule, stimulus: Stimulus, lengths: Vec<Dur>, setup: Setup) -> Planner {
        Planner::new(rule, stimulus, Goal::Ramp(lengths), setup)
    }

    /// For anything else: `trials` at each of `points`, their storms anywhere.
    pub fn plain(
        rule: Rule,
        stimulus: Stimulus,
        (points, trials): (usize, u32),
        setup: Setup,
    ) -> Planner {
        Planner::new(rule, stimulus, Goal::Plain(points, trials), setup)
    }

    fn new(rule: Rule, stimulus: Stimulus, goal: Goal, setup: Setup) -> Planner {
        let points = match &goal {
            Goal::Detection(_) => 1,
            Goal::Ramp(lengths) => lengths.len(),
            Goal::Plain(points, _) => *points,
        };
        let done = vec![0; points];
        Planner { rule, stimulus, goal, setup, calibrations: 0, done, voids: 0, seen: Vec::new() }
    }

    /// The next trial; `None` when all are done. Asks the same again until told what came of it.
    pub fn ask(&self) -> Option<Ask> {
        let grid = Grid::of_trials(&self.rule, &self.seen);
        match &self.goal {
            Goal::Detection(trials) => (self.done[0] < *trials).then(|| self.at_an_edge(&grid)),
            Goal::Ramp(lengths) => self.along_the_ramp(lengths, &grid),
            Goal::Plain(_, trials) => {
                let point = self.done.iter().position(|done| done < trials)?;
                Some(self.anywhere(point, "wherever it falls"))
            }
        }
    }

    /// Tells what a trial showed.
    pub fn seen(&mut self, ask: &Ask, seen: &StormTrial) {
        self.spent(ask);
        self.seen.push(seen.clone());
    }

    /// Tells that a trial is done with and showed nothing: what was to be seen could not be, or the case wants it void.
    pub fn spent(&mut self, ask: &Ask) {
        if ask.calibrate {
            self.calibrations += 1;
        } else {
            self.done[ask.point] += 1;
        }
    }

    /// Tells that a trial was void, for a reason of the rig's own; it is repeated.
    pub fn void(&mut self, _: &Ask) {
        self.voids += 1;
    }

    /// How many valid trials are planned.
    pub fn planned(&self) -> u32 {
        match &self.goal {
            Goal::Detection(trials) => *trials,
            Goal::Plain(points, trials) => u32::try_from(*points).unwrap_or(u32::MAX) * trials,
            Goal::Ramp(lengths) => {
                let each = lengths.iter().map(|&length| self.trials_of(length));
                each.sum::<u32>() + self.wanted_calibrations()
            }
        }
    }

    fn wanted_calibrations(&self) -> u32 {
        if self.rule.shows_a_grid() && self.rule.detection(&self.stimulus).is_some() {
            2
        } else {
            0
        }
    }

    /// A detection: just after a poll, then just before one, in turn.
    fn at_an_edge(&self, grid: &Grid) -> Ask {
        let Some(phase) = grid.phase() else {
            return self.anywhere(0, "the polls are not known yet");
        };
        let near = self.setup.slack + self.blur(phase) + Dur(1);
        let p = self.rule.poll_interval;
        let (until_poll, why) = if self.done[0].is_multiple_of(2) {
            (near, "just before a poll: the earliest detection")
        } else {
            (p.saturating_sub(near), "just after a poll: the latest detection")
        };
        let place = Place::Phase(phase.start_for(until_poll));
        Ask { point: 0, place, length: None, calibrate: false, why }
    }

    /// How far from the middle of where the polls may lie a storm starts, so that it surely starts on one side of them: what the
    /// latency leaves open lies half to either side, and narrows with chance.
    fn blur(&self, phase: &Phase) -> Dur {
        let latency = self.rule.latency().width();
        phase.width.saturating_sub(latency) + latency / 2
    }

    fn along_the_ramp(&self, lengths: &[Dur], grid: &Grid) -> Option<Ask> {
        if self.calibrations < self.wanted_calibrations() {
            let always = self.rule.always_fires_from(&self.stimulus)?;
            let length = Some(always + self.rule.longest_interval() + self.rule.latency().most());
            let ask = self.anywhere(0, "a storm that always fires, to find the polls");
            return Some(Ask { length, calibrate: true, ..ask });
        }
        let todo = |point: &usize| self.done[*point] < self.trials_of(lengths[*point]);
        let point = (0..lengths.len()).find(todo)?;
        let length = lengths[point];
        let ask = match grid.phase() {
            None => self.anywhere(point, "no grid of polls: counted at random phases"),
            Some(phase) => {
                // Its start may be off, and both ends of its pause.
                let margin =
                    self.setup.slack * 3 + phase.width + self.rule.latency().width() + Dur(1);
                let (fires, stays) = self.sides(length, margin);
                let (side, why) = if self.done[point].is_multiple_of(2) {
                    (fires, "the last phase at which this length fires")
                } else {
                    (stays, "the first phase at which this length does not fire")
                };
                let place = Place::Phase(phase.start_for(side));
                Ask { point, place, length: None, calibrate: false, why }
            }
        };
        Some(Ask { length: Some(length), ..ask })
    }

    /// How many storms of `length` are needed.
    fn trials_of(&self, length: Dur) -> u32 {
        let (least, greatest) = self.rule.chances(length, &self.stimulus);
        let certain = greatest.of == 0 || least.of == least.out_of;
        let afresh = self.seen.iter().any(|seen| seen.restarted);
        let counted = !self.rule.shows_a_grid() || afresh;
        if certain || !counted {
            return 2;
        }
        let share = |chance: Chance| f64::from(u32::try_from(chance.ppm()).unwrap_or(0)) / 1e6;
        let (least, greatest) = (share(least), share(greatest));
        // Towards the side on which a change is the greater.
        let (from, to) = if 1.0 - greatest >= least {
            (greatest, (greatest + self.setup.resolution).min(1.0))
        } else {
            (least, (least - self.setup.resolution).max(0.0))
        };
        // Where the rule allows every count there is nothing to be told.
        stats::sample_size(self.setup.alpha, stats::POWER, from, to).unwrap_or(2)
    }

    /// Phases either side of the one at which a storm of `length` ceases to fire, `margin` away from it; the ends of
    /// the widest piece where it does the same at all phases.
    fn sides(&self, length: Dur, margin: Dur) -> (Dur, Dur) {
        let whole = Span { lo: 0, hi: self.rule.poll_interval.0 - 1 };
        let pieces = self.rule.pieces(whole, &self.stimulus);
        let fires = |phase: u64| {
            self.rule.fires_within(Span::exactly(phase), length, &self.stimulus) == Some(true)
        };
        let turns = pieces.iter().find(|piece| fires(piece.lo) && !fires(piece.hi));
        let widest = pieces.iter().max_by_key(|piece| piece.hi - piece.lo).unwrap_or(&whole);
        let piece = turns.unwrap_or(widest);
        let inside = |phase: u64| {
            let margin = margin.0.min((piece.hi - piece.lo) / 2);
            Dur(phase.clamp(piece.lo + margin, piece.hi - margin))
        };
        if turns.is_none() {
            return (inside(piece.lo), inside(piece.hi));
        }
        let (mut last, mut first) = (piece.lo, piece.hi);
        while first - last > 1 {
            let middle = u64::midpoint(last, first);
            if fires(middle) { last = middle } else { first = middle }
        }
        (inside(last.saturating_sub(margin.0)), inside(first + margin.0))
    }

    /// A storm at a random phase, the same one until the trial is done.
    fn anywhere(&self, point: usize, why: &'static str) -> Ask {
        let number = u64::try_from(self.seen.len()).unwrap_or(0) + (u64::from(self.voids) << 32);
        let wait = draw(self.setup.seed, number, self.rule.due_within());
        Ask { point, place: Place::Anywhere(wait), length: None, calibrate: false, why }
    }
}

/// The `number`-th length of time drawn uniformly below `below` (splitmix64, Steele and others, OOPSLA 2014).
fn draw(seed: u64, number: u64, below: Dur) -> Dur {
    let mut z = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    let scaled = (u128::from(z) * u128::from(below.0)) >> 64;
    Dur(u64::try_from(scaled).unwrap_or(0))
}

#[cfg(test)]
mod tests;
