//! The moving average of a queue's depth that a timer takes, whatever comes and goes: each time it runs out `a` becomes `a + w (d - a)`, w = 2^-n and
//! d the depth then. Unrolled, what the average is at t is
//!
//! `a(t) = sum over k >= 0 of w (1 - w)^k d(t_k)`
//!
//! with t_0 the last time before t that the timer ran out, t_1 the one before that, and so on. Nobody sees the timer: t_0 is less than an interval
//! before t, and each other one an interval before the one that follows, by the device's clock. So each d is one that the queue held where t_k may
//! lie, and the sum of the least, and of the most, bounds the average. What was before the record has what is left of the weight.
//!
//! To bound t_0 by a whole interval would add what drains meanwhile to every term alike. Its age is cut into [`PARTS`], each bounded by itself.

use super::Average;
use core::ops::RangeInclusive;
use rig_units::Dur;

/// Parts of an interval that the age of the last reading is taken to lie in.
const PARTS: i64 = 8;

/// What is left of the weight below this is not looked at any further: no depth makes a byte of it.
const NOTHING: f64 = 1e-9;

/// How long a frame was in a queue, in picoseconds of a record, and what it took of it.
#[derive(Debug, Clone)]
pub struct Stay {
    /// What it adds to the depth.
    pub bytes: u64,
    /// When it may have come.
    pub came: RangeInclusive<u64>,
    /// When it may have ceased to count: from its first bit out to its last.
    pub left: RangeInclusive<u64>,
}

/// What a queue held at the least and at the most, at any time of a record that begins with it empty.
#[derive(Debug, Clone)]
pub struct Sampled {
    least: Steps,
    most: Steps,
}

/// A depth from each of these times on.
type Steps = Vec<(i64, u64)>;

impl Sampled {
    /// What these frames made of it.
    pub fn of(stays: &[Stay]) -> Sampled {
        // A reading at the instant at which a frame comes or goes may be before that or after it.
        let least = stays.iter().flat_map(|stay| {
            let bytes = i128::from(stay.bytes);
            [(whole(*stay.came.end()) + 1, bytes), (whole(*stay.left.start()), -bytes)]
        });
        let most = stays.iter().flat_map(|stay| {
            let bytes = i128::from(stay.bytes);
            [(whole(*stay.came.start()), bytes), (whole(*stay.left.end()) + 1, -bytes)]
        });
        Sampled { least: summed(least.collect()), most: summed(most.collect()) }
    }

    /// The average of weight 2^-`weight` at a time of `at`, taken in every so often; up to `before` when the record began.
    pub fn average(
        &self,
        weight: u8,
        every: &RangeInclusive<Dur>,
        at: &RangeInclusive<u64>,
        before: u64,
    ) -> Average {
        let every = (whole(every.start().0).max(1), whole(every.end().0).max(1));
        let part = |part: i64| {
            let age = |parts: i64| i128::from(every.1) * i128::from(parts) / i128::from(PARTS);
            let age = |parts| i64::try_from(age(parts)).unwrap_or(i64::MAX);
            let last = (whole(*at.start()) - age(part + 1) - 1, whole(*at.end()) - age(part));
            let walk = |steps, pick, rest| unrolled(steps, pick, weight, (last, every), rest);
            Average::between(walk(&self.least, u64::min, 0), walk(&self.most, u64::max, before))
        };
        (1..PARTS).map(part).fold(part(0), Average::or)
    }
}

/// Changes of a depth, added up.
fn summed(mut changes: Vec<(i64, i128)>) -> Steps {
    changes.sort_unstable();
    let mut depth = 0;
    let mut steps: Steps = vec![(0, 0)];
    for (at, change) in changes {
        depth += change;
        let now = u64::try_from(depth).unwrap_or(0);
        match steps.last_mut() {
            Some(last) if last.0 == at => last.1 = now,
            _ => steps.push((at, now)),
        }
    }
    steps
}

/// One end of the average: the last reading lies in `last`, each before it `every` before the one after it.
fn unrolled(
    steps: &[(i64, u64)],
    pick: fn(u64, u64) -> u64,
    weight: u8,
    ((mut early, mut late), (least, most)): ((i64, i64), (i64, i64)),
    rest: u64,
) -> f64 {
    let old = 1.0 - (-f64::from(weight)).exp2();
    let (mut left, mut sum) = (1.0, 0.0);
    let holds = |at: i64| steps.partition_point(|(from, _)| *from <= at).saturating_sub(1);
    let (mut first, mut last) = (holds(early), holds(late));
    while early >= 0 && left > NOTHING {
        // Back to what was held then.
        while steps[last].0 > late {
            last -= 1;
        }
        while steps[first].0 > early {
            first -= 1;
        }
        // As many in a row as surely met the one depth.
        let alike = if first == last { (early - steps[first].0) / most + 1 } else { 1 };
        let depths = steps[first..=last].iter().map(|(_, depth)| *depth);
        let kept = if alike == 1 { old } else { old.powf(real(alike)) };
        sum += left * (1.0 - kept) * f64_of(depths.reduce(pick).unwrap_or(0));
        left *= kept;
        early = early.saturating_sub(most.saturating_mul(alike));
        late = late.saturating_sub(least.saturating_mul(alike));
    }
    sum + left * f64_of(rest)
}

fn whole(at: u64) -> i64 {
    i64::try_from(at).unwrap_or(i64::MAX / 2)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "readings are far fewer than 2^53, or beyond all that matters"
)]
const fn real(count: i64) -> f64 {
    count as f64
}

#[expect(clippy::cast_precision_loss, reason = "depths are far below 2^53")]
const fn f64_of(depth: u64) -> f64 {
    depth as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: RangeInclusive<Dur> = Dur::us(1)..=Dur::us(1);

    fn us(at: u64) -> u64 {
        at * 1_000_000
    }

    fn stay(bytes: u64, came: u64, left: u64) -> Stay {
        Stay { bytes, came: came..=came, left: left..=left }
    }

    fn at(held: &Sampled, weight: u8, at: u64) -> (f64, f64) {
        held.average(weight, &EVERY, &(at..=at), 0).ends()
    }

    #[test]
    fn what_stays_is_approached_by_the_weight_with_each_time_that_the_timer_runs_out() {
        let held = Sampled::of(&[stay(16_000, us(10), us(1_000))]);
        // Half an interval after it came the timer ran out once since, or not at all; then once more with each interval.
        for (after, times) in [(0, 0), (1, 1), (2, 2), (8, 8)] {
            let (lo, hi) = at(&held, 2, us(10 + after) + 500_000);
            let after = |times: i32| 16_000.0 * (1.0 - 0.75_f64.powi(times));
            assert!((lo - after(times)).abs() < 1e-6, "{lo} after {times}");
            assert!((hi - after(times + 1)).abs() < 1e-6, "{hi} after {times}");
        }
        // Long after nothing but the depth is left, and long after it has gone nothing.
        assert!((at(&held, 2, us(200)).0 - 16_000.0).abs() < 1e-6);
        assert!(at(&held, 2, us(1_200)).1 < 1e-6);
    }

    #[test]
    fn a_queue_that_drains_steadily_is_ahead_of_its_average_by_the_time_that_it_remembers() {
        // 1000 B each 100 ns, 3000 of them: 10 000 B in an interval.
        let frames: Vec<Stay> =
            (0..3_000).map(|n| stay(1_000, 0, us(1_000) + n * 100_000)).collect();
        let (lo, hi) = at(&Sampled::of(&frames), 3, us(1_200));
        // Of readings 1 us apart a weight of 1/8 makes the average what the depth was 7 us before the last, which is up to 1 us old.
        let depth = 1_000_000.0;
        assert!(lo <= depth + 70_000.0 && lo > depth + 66_000.0, "{lo}");
        assert!(hi >= depth + 79_999.0 && hi < depth + 84_000.0, "{hi}");
    }

    #[test]
    fn what_was_before_the_record_has_what_is_left_of_the_weight_and_no_more() {
        let held = Sampled::of(&[]);
        let (lo, hi) = held.average(1, &EVERY, &(us(4)..=us(4)), 1_600).ends();
        assert!(lo.abs() < 1e-9 && (99.0..=201.0).contains(&hi), "{lo} {hi}");
    }

    #[test]
    fn the_timer_of_a_clock_that_is_off_is_followed_as_far_as_it_may_be() {
        let held = Sampled::of(&[stay(16_000, us(10), us(1_000))]);
        let off = Dur::ns(900)..=Dur::ns(1_100);
        let now = us(20) + 500_000;
        let (lo, hi) = held.average(2, &off, &(now..=now), 0).ends();
        // 10.5 us hold ten intervals or touch eleven; of 1.1 us each nine are sure, and of 0.9 us each twelve may be.
        let after = |times: i32| 16_000.0 * (1.0 - 0.75_f64.powi(times));
        assert!((lo - after(9)).abs() < 1e-3 && (hi - after(12)).abs() < 1e-3, "{lo} {hi}");
        let (lo, hi) = at(&held, 2, now);
        assert!((lo - after(10)).abs() < 1e-3 && (hi - after(11)).abs() < 1e-3, "{lo} {hi}");
    }
}
