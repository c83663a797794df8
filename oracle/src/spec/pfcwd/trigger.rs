//! Which storms are detected at all (F14): never below one length, always from another, between them by the phase.

use super::detection::fifths;
use super::latency::NEVER;
use super::{Polls, Rule, Stimulus};
use crate::Prediction;
use rig_capture::{Span, Unit};
use rig_lab::RuleFamily;
use rig_units::Dur;

/// A probability as a fraction of whole numbers, so that no rounding decides anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chance {
    /// In favour.
    pub of: u128,
    /// Of so many.
    pub out_of: u128,
}

impl Chance {
    /// A fraction of two lengths of time, at most 1.
    fn of(part: Dur, whole: Dur) -> Chance {
        Chance { of: u128::from(part.0.min(whole.0)), out_of: u128::from(whole.0.max(1)) }
    }

    /// In millionths, rounded down.
    pub fn ppm(self) -> u64 {
        let reduced = reduce(self);
        u64::try_from(reduced.of * 1_000_000 / reduced.out_of).unwrap_or(1_000_000)
    }
}

/// The same fraction with numbers that can be multiplied by a million.
fn reduce(chance: Chance) -> Chance {
    let mut shift = 0;
    while chance.of.leading_zeros() + shift < 24 {
        shift += 1;
    }
    Chance { of: chance.of >> shift, out_of: (chance.out_of >> shift).max(1) }
}

impl Rule {
    /// The longest pause that is never detected; `None` when no length ever is. The queue is taken to resume at once
    /// when the pause ends.
    pub fn never_fires_up_to(&self, stimulus: &Stimulus) -> Option<Dur> {
        Some(self.never_decides_up_to(stimulus)? + self.hidden().least())
    }

    /// The shortest pause from which on every storm is detected; `None` when none is. For an idle barefoot queue,
    /// for the interval counter and for hardware the pause must be longer than this.
    pub fn always_fires_from(&self, stimulus: &Stimulus) -> Option<Dur> {
        let hidden = self.hidden().most();
        let always = self.always_decides_from(stimulus)?;
        (hidden < NEVER).then(|| always + hidden)
    }

    /// The longest pause of which no poll takes anything for a storm.
    fn never_decides_up_to(&self, stimulus: &Stimulus) -> Option<Dur> {
        let (n, p) = (self.polls().fewest, self.poll_interval);
        let (whole, counted) = (p * n, self.least_counted());
        let never = match (self.family, stimulus.data_gap) {
            (RuleFamily::Broadcom, _) => counted,
            (RuleFamily::Hardware, _) => self.runs_out(self.detection_time).from.value(),
            (RuleFamily::Cisco8000, _) => whole - p,
            (RuleFamily::IntervalCounter, _) => whole.saturating_sub(p * 2),
            (RuleFamily::Mellanox, None) => return None,
            (RuleFamily::Mellanox | RuleFamily::Barefoot, Some(gap)) => {
                counted.saturating_sub(self.head_start(gap))
            }
            // Both the first and the last interval need only four fifths.
            (RuleFamily::Barefoot, None) if n == 1 => fifths(p, 4),
            (RuleFamily::Barefoot, None) => whole - fifths(p, 2),
        };
        Some(self.apart.least(never))
    }

    /// The shortest pause from which on a poll always takes it for a storm.
    fn always_decides_from(&self, stimulus: &Stimulus) -> Option<Dur> {
        let (Polls { most: n, .. }, p) = (self.polls(), self.poll_interval);
        let (long, counted) = (self.longest_interval(), self.most_counted());
        let always = match (self.family, stimulus.data_gap) {
            (RuleFamily::Hardware, _) => self.runs_out(self.detection_time).until.value(),
            (RuleFamily::Cisco8000, _) => long * n,
            (RuleFamily::IntervalCounter, _) => long * (n - 1),
            (RuleFamily::Mellanox, None) => return None,
            (RuleFamily::Mellanox, Some(gap)) => counted + gap.max(long),
            (RuleFamily::Barefoot, None) => fifths(p, 8) + long * (n - 1),
            (RuleFamily::Broadcom | RuleFamily::Barefoot, _) => counted + long,
        };
        Some(self.apart.most(always))
    }

    /// The lengths between never and always, for a sweep `across: trigger-ramp`; `None` when nothing ever fires.
    pub fn trigger_ramp(&self, stimulus: &Stimulus) -> Option<Span> {
        let lo = self.never_fires_up_to(stimulus)?;
        let hi = self.always_fires_from(stimulus)?;
        Some(Span { lo: lo.0, hi: hi.0 })
    }

    /// Whether a pause of `length` is detected when the first poll at or after its start comes `phase` after it and all
    /// polls lie on one grid; `None` where that depends on when the last frame left before the storm.
    pub fn fires(&self, phase: Dur, length: Dur, stimulus: &Stimulus) -> Option<bool> {
        if !self.is_polled() {
            return self.outlasts(length);
        }
        let (n, p) = (self.polls().most, self.poll_interval);
        let Some(at) = self.detects_after(phase, stimulus) else { return Some(false) };
        let longer_than = |at: u64| match (self.family, stimulus.data_gap) {
            // The last poll, too, needs only four fifths; with a single one the first has to have them.
            (RuleFamily::Barefoot, None) if n == 1 && phase > fifths(p, 4) => fifths(p, 4).0,
            (RuleFamily::Barefoot, None) => at - p.0 / 5,
            // A pause anywhere since the last check is enough.
            (RuleFamily::IntervalCounter, _) => (phase + p * (n - 1)).0.saturating_sub(p.0),
            _ => at,
        };
        let (first, last) = (longer_than(at.lo), longer_than(at.hi));
        let (never, not_always) = self.longest(phase, (first, last), stimulus);
        match (length.0 > never, length.0 > not_always) {
            (may, must) if may == must => Some(must),
            _ => None,
        }
    }

    /// The longest pause that is detected at no phase of the data, and the longest that is not detected at some: of those that end
    /// `first` to `last` after the storm's start.
    ///
    /// A barefoot queue that no frame reaches until the poll that decides is an idle one, of which four fifths of an interval are
    /// enough. That takes a data gap above all of the polls; the first interval is as long as `phase` only.
    fn longest(&self, phase: Dur, (first, last): (u64, u64), stimulus: &Stimulus) -> (u64, u64) {
        let (n, p) = (self.polls().most, self.poll_interval);
        let Some(gap) = stimulus.data_gap.filter(|_| self.family == RuleFamily::Barefoot) else {
            return (first, last);
        };
        let (is_early, most) = (first < last, fifths(p, 4));
        let begins_idle = is_early && phase > most;
        let never = match (if is_early { begins_idle && gap > p * n } else { gap.0 > last }, n) {
            (false, _) => first,
            (true, 1) if is_early => most.0,
            (true, _) => first - p.0 / 5,
        };
        // Whatever reaches the queue does so after the later poll, too.
        let is_never_reached = begins_idle && gap >= p * (n + 1);
        (never, if is_never_reached { last - p.0 / 5 } else { last })
    }

    /// The probability that a pause of `length` is detected, at a phase drawn uniformly (and a data phase, too);
    /// `None` under jitter, where a range of latencies decides what shows, and inside the ramp for data gaps above P: no
    /// closed form was recorded there.
    pub fn trigger_probability(&self, length: Dur, stimulus: &Stimulus) -> Option<Chance> {
        let [least, most] = self.shows(length).map(|length| self.decides(length, stimulus));
        least.filter(|_| least == most)
    }

    /// The same of the decision.
    fn decides(&self, length: Dur, stimulus: &Stimulus) -> Option<Chance> {
        let sure = |yes: bool| Some(Chance { of: u128::from(yes), out_of: 1 });
        let (Some(never), Some(always)) =
            (self.never_decides_up_to(stimulus), self.always_decides_from(stimulus))
        else {
            return sure(false);
        };
        if length <= never {
            return sure(false);
        }
        if length > always {
            return sure(true);
        }
        if !self.on_a_grid() {
            return None;
        }
        let p = self.poll_interval;
        let part = |from: Dur, width: Dur| length.saturating_sub(from).min(width);
        match (self.family, stimulus.data_gap) {
            // Between its ends nothing is declared of its lags.
            (RuleFamily::Hardware, _) => None,
            (RuleFamily::Broadcom | RuleFamily::Cisco8000 | RuleFamily::IntervalCounter, _) => {
                Some(Chance { of: u128::from(part(never, p).0), out_of: u128::from(p.0) })
            }
            (RuleFamily::Barefoot, None) => {
                let (n, fifth) = (self.polls().most, p / 5);
                // A fifth of the phases has its first true poll early; with n = 1 all of them fire at one length.
                let early = if n == 1 { fifth } else { part(never, fifth) };
                let of = early + part(p * n - fifth, fifths(p, 4));
                Some(Chance { of: u128::from(of.0), out_of: u128::from(p.0) })
            }
            (RuleFamily::Mellanox | RuleFamily::Barefoot, Some(gap)) => {
                (gap <= p).then(|| self.with_data(length, gap))
            }
            (RuleFamily::Mellanox, None) => sure(false),
        }
    }

    /// The least and the greatest probability of a detection at a random phase. On a grid they are one where
    /// [`Rule::trigger_probability`] is known; under jitter they allow for the shortest and the longest intervals.
    pub fn chances(&self, length: Dur, stimulus: &Stimulus) -> (Chance, Chance) {
        let [least, most] = self.shows(length);
        (self.decision_chances(least, stimulus).0, self.decision_chances(most, stimulus).1)
    }

    /// The same of the decision.
    fn decision_chances(&self, length: Dur, stimulus: &Stimulus) -> (Chance, Chance) {
        if !self.is_polled() {
            return self.outlasting(length);
        }
        let none = Chance { of: 0, out_of: 1 };
        if let Some(chance) = self.decides(length, stimulus) {
            return (chance, chance);
        }
        let (Some(never), Some(always)) =
            (self.never_decides_up_to(stimulus), self.always_decides_from(stimulus))
        else {
            return (none, none);
        };
        let p = self.apart.least(self.poll_interval);
        let long = self.apart.most(self.longest_interval());
        // An idle barefoot queue with one poll fires a fifth of all phases at one and the same length.
        let idle = self.family == RuleFamily::Barefoot && stimulus.data_gap.is_none();
        let step = if idle { p / 5 } else { Dur::ZERO };
        let spread = always.saturating_sub(never);
        // All phases of an interval lie between never and always; at the least the last ones come at a steady rate.
        let least = length.saturating_sub(always.saturating_sub(long));
        let greatest = length.saturating_sub(never) + step;
        let sparse = stimulus.data_gap.is_some_and(|gap| gap > p) || spread > long * 2;
        let least = if sparse { none } else { Chance::of(least, long) };
        (least, Chance::of(greatest, p))
    }

    /// The least and the greatest chance that a timer runs out within `length`: nothing is declared of how the lags lie within their range.
    fn outlasting(&self, length: Dur) -> (Chance, Chance) {
        let sure = |yes: bool| Chance { of: u128::from(yes), out_of: 1 };
        match self.outlasts(length) {
            Some(yes) => (sure(yes), sure(yes)),
            None => (sure(false), sure(true)),
        }
    }

    /// With x = P - phase, the poll that ends the broken interval is true when no frame left in the last x before the
    /// storm: probability 1 - x/g for x below the head start. Then a pause above nP - x fires, else one above
    /// (n+1)P - x. The integral over x, times 2gP.
    fn with_data(&self, length: Dur, gap: Dur) -> Chance {
        let (n, p) = (self.polls().most, self.poll_interval);
        let g = u128::from(gap.0.max(1));
        let head = u128::from(self.head_start(gap).0);
        let square = |x: u128| 2 * g * x - x * x; // 2g times the integral of 1 - x/g from 0 to x <= g
        let early_from = u128::from((p * n).saturating_sub(length).0).min(head);
        let late_from = u128::from((p * (n + 1)).saturating_sub(length).0.min(p.0));
        let late_head = late_from.min(head);
        let early = square(head) - square(early_from);
        let late_whole = 2 * g * (u128::from(p.0) - late_from);
        let late = late_whole - (square(head) - square(late_head));
        Chance { of: early + late, out_of: 2 * g * u128::from(p.0) }
    }

    /// What a storm of `length` does at a random phase, as a prediction for reports: a probability in millionths.
    pub fn predicted_chance(&self, length: Dur, stimulus: &Stimulus) -> Prediction {
        let never = self.never_fires_up_to(stimulus);
        let always = self.always_fires_from(stimulus);
        let span = match self.trigger_probability(length, stimulus) {
            Some(chance) => Span::exactly(chance.ppm()),
            None => Span { lo: 0, hi: 1_000_000 },
        };
        let text = match (never, always) {
            (Some(never), Some(always)) => format!(
                "pause of {length}: never detected up to {never}, always from {always}, {}{}",
                self.polls_text(),
                self.rhythm_text()
            ),
            _ => format!("pause of {length}: an empty queue is never stormed"),
        };
        Prediction { unit: Unit::Ppm, span, formula: "F14", text, source: self.source() }
    }
}
