//! Whether marks speak for the declared curve with one corner elsewhere.
//!
//! The other curves are fixed before anything is marked: the corner moved by each of some parts of itself, either way. So each of them
//! explains the marks of a healthy device far better than the declared one no more often than its part of alpha ([`likelihood`]):
//! nothing is asymptotic, whatever few or many frames there are. Chances are those of a frame given what happened before it, so that
//! this holds, too, where frames that are dropped leave the queue emptier for those behind.

use super::likelihood::{self, Bin};
use super::stats;
use crate::spec::wred::{Burst, Curves, chance};
use rig_lab::Curve;
use rig_units::{Bytes, Ppm};

/// A corner of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Corner {
    /// Where the chance begins.
    Kmin,
    /// Where it jumps.
    Kmax,
    /// What it grew to just below.
    Pmax,
}

impl Corner {
    /// All of them.
    pub const ALL: [Corner; 3] = [Corner::Kmin, Corner::Kmax, Corner::Pmax];

    /// Where it is on a curve: in bytes, `pmax` in millionths.
    pub const fn of(self, curve: &Curve) -> u64 {
        match self {
            Corner::Kmin => curve.kmin.0,
            Corner::Kmax => curve.kmax.0,
            Corner::Pmax => curve.pmax.0 as u64,
        }
    }

    /// The curve with this corner elsewhere; `None`: it is none, or the same.
    fn set(self, curve: &Curve, value: u64) -> Option<Curve> {
        let mut moved = *curve;
        match self {
            Corner::Kmin => moved.kmin = Bytes(value),
            Corner::Kmax => moved.kmax = Bytes(value),
            Corner::Pmax => moved.pmax = Ppm(u32::try_from(value).unwrap_or(u32::MAX)),
        }
        (moved.kmin <= moved.kmax && moved.pmax <= Ppm::ONE && moved != *curve).then_some(moved)
    }

    /// The curve with this corner at `times` millionths of itself; `None`: it is none, or the same.
    fn at(self, curve: &Curve, times: u64) -> Option<Curve> {
        self.set(curve, self.of(curve) * times / 1_000_000)
    }

    /// The curve with this corner less and more by each of these parts of itself.
    pub fn moved(self, curve: &Curve, by: &[Ppm]) -> Vec<Curve> {
        let one = u64::from(Ppm::ONE.0);
        let either = |by: &Ppm| {
            let by = u64::from(by.0);
            [one.checked_sub(by), Some(one + by)].into_iter().flatten()
        };
        by.iter().flat_map(either).filter_map(|times| self.at(curve, times)).collect()
    }
}

/// The one of `others` that contradicts the declared curve the most; `None` when none does. A healthy device shows one with a
/// chance of `alpha` at most.
pub fn judge(bins: &[Bin], declared: &Curve, others: &[Curve], alpha: f64) -> Option<Curve> {
    let counts: Vec<(u32, u32)> = bins.iter().map(|bin| (bin.frames, bin.marked)).collect();
    let shares = |curve: &Curve| -> Vec<f64> {
        bins.iter().map(|bin| chance(curve, bin.depth).share()).collect()
    };
    let declared = shares(declared);
    let each = alpha / many(others);
    let better = others.iter().filter(|other| {
        likelihood::judge(&counts, &declared, &shares(other), each) == likelihood::Verdict::Other
    });
    let likely = |curve: &Curve| likelihood::ln_likelihood_of(&counts, &shares(curve));
    better.copied().max_by(|a, b| likely(a).total_cmp(&likely(b)))
}

/// Whether something was seen that is out of the question by a curve: no device that shows it holds that.
pub fn is_ruled_out(bins: &[Bin], curve: &Curve) -> bool {
    bins.iter().any(|bin| match chance(curve, bin.depth).certain() {
        Some(true) => bin.marked < bin.frames,
        Some(false) => bin.marked > 0,
        None => false,
    })
}

/// Either way from the declared value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shift {
    /// Smaller.
    Less,
    /// Greater.
    More,
}

/// The value nearest to the declared one, on one side of it, of which frames at the depths of `bins` make [`judge`] speak for one of
/// `others` with the power that trials are planned for; `None`: none does. By mean and spread of the logarithm, taken to be normal, and
/// by what is out of the question as declared and yet happens.
pub fn told(
    bins: &[Bin],
    (corner, declared): (Corner, &Curve),
    others: &[Curve],
    alpha: f64,
    side: Shift,
) -> Option<u64> {
    let held = Curves::from(*declared);
    told_of(bins, (corner, declared, &held), (declared, others), alpha, side)
}

/// The same of a device whose curve is `base` but for that corner, where a device may hold any of `held`: [`judge`] has to speak against `declared`, which is
/// one of them, or what happens has to be out of the question by all of them.
pub fn told_of(
    bins: &[Bin],
    (corner, base, held): (Corner, &Curve, &Curves),
    (declared, others): (&Curve, &[Curve]),
    alpha: f64,
    side: Shift,
) -> Option<u64> {
    let bar = Bar {
        odds: -(alpha / many(others)).ln(),
        z: stats::normal_beyond(2.0 * (1.0 - stats::POWER)),
    };
    let shares = |curve: &Curve| -> Vec<f64> {
        bins.iter().map(|bin| chance(curve, bin.depth).share()).collect()
    };
    let own = shares(declared);
    // What is certain whichever it holds.
    let sure: Vec<f64> = shares(&held.least)
        .into_iter()
        .zip(shares(&held.most))
        .map(|(least, most)| {
            if least >= 1.0 {
                1.0
            } else if most <= 0.0 {
                0.0
            } else {
                0.5
            }
        })
        .collect();
    let odds: Vec<Vec<Odds>> = others
        .iter()
        .map(|other| own.iter().zip(shares(other)).map(|(&p, other)| Odds::of(p, other)).collect())
        .collect();
    let shows = |curve: &Curve| {
        let device = shares(curve);
        betrayed(bins, &sure, &device) || odds.iter().any(|odds| speaks(bins, odds, &device, &bar))
    };
    let is_told = |value: u64| corner.set(base, value).is_some_and(|curve| shows(&curve));
    let from = corner.of(base);
    let at = |off: u64| match side {
        Shift::Less => from.checked_sub(off),
        Shift::More => Some(from + off),
    };
    // Ever further away until one is told, then in between.
    let steps = core::iter::successors(Some((from / 1_000).max(1)), |off| {
        Some(off + (off / 2).max(1)).filter(|off| *off <= from.max(1) * 2)
    });
    let mut near = 0;
    for off in steps {
        let Some(value) = at(off) else { break };
        if !is_told(value) {
            near = off;
            continue;
        }
        let mut far = off;
        while far - near > (far / 100).max(1) {
            let middle = u64::midpoint(near, far);
            if at(middle).is_some_and(is_told) { far = middle } else { near = middle }
        }
        return at(far);
    }
    None
}

/// What a frame adds to the logarithm of the likelihood under another chance over that under the declared one.
#[derive(Debug, Clone, Copy)]
struct Odds {
    marked: f64,
    unmarked: f64,
}

impl Odds {
    fn of(declared: f64, other: f64) -> Odds {
        // What is out of the question as declared is judged apart.
        if declared <= 0.0 || declared >= 1.0 {
            return Odds { marked: 0.0, unmarked: 0.0 };
        }
        let (marked, unmarked) = (other / declared, (1.0 - other) / (1.0 - declared));
        Odds { marked: marked.ln(), unmarked: unmarked.ln() }
    }
}

/// What a logarithm of likelihoods has to reach.
struct Bar {
    odds: f64,
    /// With the power that trials are planned for: by so many times its spread.
    z: f64,
}

/// Whether the logarithm reaches `bar` on a device of these chances.
fn speaks(bins: &[Bin], odds: &[Odds], device: &[f64], bar: &Bar) -> bool {
    let (mut mean, mut variance) = (0.0, 0.0);
    for ((bin, odds), &q) in bins.iter().zip(odds).zip(device) {
        let frames = f64::from(bin.frames);
        let weigh = |chance: f64, ln: f64| if chance > 0.0 { chance * ln } else { 0.0 };
        let at = weigh(q, odds.marked) + weigh(1.0 - q, odds.unmarked);
        if !at.is_finite() {
            return false;
        }
        let spread = |chance: f64, ln: f64| weigh(chance, (ln - at).powi(2));
        mean += frames * at;
        variance += frames * (spread(q, odds.marked) + spread(1.0 - q, odds.unmarked));
    }
    mean - bar.z * f64::sqrt(variance) >= bar.odds
}

/// Whether a device of these chances does with that power what is out of the question as declared: one frame is enough.
fn betrayed(bins: &[Bin], declared: &[f64], device: &[f64]) -> bool {
    let seldom = bins.iter().zip(declared).zip(device).map(|((bin, &p), &q)| {
        let betrays = if p <= 0.0 {
            q
        } else if p >= 1.0 {
            1.0 - q
        } else {
            0.0
        };
        f64::from(bin.frames) * (-betrays).ln_1p()
    });
    seldom.sum::<f64>() <= (1.0 - stats::POWER).ln()
}

/// About how many repetitions of a burst it takes until [`judge`] tells that any corner is off by the part `by` of itself, of
/// `others` curves that it tries, with a chance of `power`; `None` where no frame shows it.
pub fn repetitions(
    burst: &Burst,
    by: Ppm,
    others: usize,
    (alpha, power): (f64, f64),
) -> Option<u32> {
    let each = alpha / f64::from(u32::try_from(others.max(1)).unwrap_or(u32::MAX));
    let declared = burst.shares();
    let moved = Corner::ALL.into_iter().flat_map(|corner| corner.moved(&burst.curve, &[by]));
    let needed = moved.filter_map(|curve| {
        let other = Burst { curve, ..*burst }.shares();
        likelihood::repetitions(&declared, &other, each, power)
    });
    needed.max()
}

fn many(others: &[Curve]) -> f64 {
    f64::from(u32::try_from(others.len().max(1)).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::fixture::Draws;
    use rig_lab::Marking;

    const BY: [Ppm; 2] = [Ppm(50_000), Ppm(200_000)];

    fn burst(kmin: u64, kmax: u64, percent: u32) -> Burst {
        let curve = Curve { kmin: Bytes(kmin), kmax: Bytes(kmax), pmax: Ppm(percent * 10_000) };
        let (frames, step) = (75, 1_040);
        Burst { frames, step, curve, point: Marking::Dequeue, counts_itself: false, before: 0 }
    }

    /// What a device that goes by `curve` shows of so many bursts.
    fn shown(burst: &Burst, curve: Curve, times: u32, draws: &mut Draws) -> Vec<Bin> {
        let device = Burst { curve, ..*burst };
        let bin = |rank: u64| {
            let p = device.chance(rank).share();
            let marked = (0..times).map(|_| u32::from(draws.share() < p)).sum();
            Bin { depth: device.depth(rank), frames: times, marked }
        };
        (1..=burst.frames).map(bin).collect()
    }

    #[test]
    fn a_corner_is_moved_either_way_and_only_to_where_a_curve_is() {
        let curve = burst(20_000, 60_000, 90).curve;
        let at = |corner: Corner| {
            let moved = corner.moved(&curve, &BY).into_iter();
            let value = move |curve: Curve| match corner {
                Corner::Kmin => curve.kmin.0,
                Corner::Kmax => curve.kmax.0,
                Corner::Pmax => curve.pmax.0.into(),
            };
            moved.map(value).collect::<Vec<u64>>()
        };
        assert_eq!(at(Corner::Kmin), [19_000, 21_000, 16_000, 24_000]);
        assert_eq!(at(Corner::Kmax), [57_000, 63_000, 48_000, 72_000]);
        // 1.2 x 90 % is no chance.
        assert_eq!(at(Corner::Pmax), [855_000, 945_000, 720_000]);
        let flat = Curve { kmin: Bytes(0), kmax: Bytes(10), pmax: Ppm(0) };
        assert_eq!(Corner::Kmin.moved(&flat, &BY), []);
        assert_eq!(Corner::Pmax.moved(&flat, &BY), []);
    }

    #[test]
    fn a_curve_is_ruled_out_by_one_frame_that_it_leaves_nothing_to_chance_of() {
        let curve = burst(20_000, 60_000, 50).curve;
        let bin = |depth, frames, marked| Bin { depth, frames, marked };
        let of = |seen: Bin| is_ruled_out(&[bin(30_000, 8, 3), seen], &curve);
        assert!(of(bin(60_000, 8, 7)) && of(bin(20_000, 8, 1)));
        assert!(!of(bin(60_000, 8, 8)) && !of(bin(20_000, 8, 0)) && !of(bin(59_999, 8, 8)));
    }

    #[test]
    fn what_is_planned_tells_each_corner_that_is_moved_and_a_healthy_device_is_never_told() {
        let burst = burst(20_000, 60_000, 50);
        let (alpha, power) = (1e-6, 0.9);
        let others = |corner: Corner| corner.moved(&burst.curve, &BY);
        let tried = Corner::ALL.map(|corner| others(corner).len()).into_iter().max().unwrap();
        let times = repetitions(&burst, BY[0], tried, (alpha, power)).unwrap();
        let told = |device: Curve, corner: Corner, seed: u64| {
            let bins = shown(&burst, device, times, &mut Draws::new(seed));
            judge(&bins, &burst.curve, &others(corner), alpha)
        };
        for corner in Corner::ALL {
            for moved in corner.moved(&burst.curve, &BY[..1]) {
                let found = (0..40).filter(|&seed| told(moved, corner, seed).is_some()).count();
                // 36 of 40 are planned for; with a chance of 1e-3 it is fewer than 30.
                assert!(found >= 30, "{corner:?} {moved:?}: {found} of 40 after {times}");
            }
            for side in [Shift::Less, Shift::More] {
                let bins = shown(&burst, burst.curve, times, &mut Draws::new(7));
                let near = super::told(&bins, (corner, &burst.curve), &others(corner), alpha, side);
                let Some(at) = near.and_then(|near| corner.set(&burst.curve, near)) else {
                    panic!("{corner:?} {side:?} is not told")
                };
                // What is planned for 5 % at a power of 0.9 tells less at one of 0.99, and not half as much.
                assert!(
                    corner.of(&at).abs_diff(corner.of(&burst.curve)) * 10 < corner.of(&burst.curve)
                );
                let found = (0..100).filter(|&seed| told(at, corner, seed).is_some()).count();
                assert!(found >= 95, "{corner:?} {side:?}: {found} of 100");
            }
            let accused = (0..200).filter_map(|seed| told(burst.curve, corner, seed)).count();
            assert_eq!(accused, 0, "{corner:?}");
        }
    }

    #[test]
    fn of_few_frames_a_healthy_device_is_accused_no_more_often_than_alpha_says() {
        // Eight frames at each of seven depths, where an interval of likelihood for kmin misses 1.6 times too often: all that they
        // can show, each with its chance.
        let burst = Burst { frames: 7, ..burst(2_000, 5_000, 90) };
        let (times, alpha) = (8_u32, 0.01);
        for corner in Corner::ALL {
            let others = corner.moved(&burst.curve, &[Ppm(50_000), Ppm(200_000), Ppm(500_000)]);
            let mut accused = 0.0;
            crate::judge::fixture::all_that_shows(&burst.shares(), times, |marks, happens| {
                let bin = |(rank, &marked): (u64, &u32)| Bin {
                    depth: burst.depth(rank),
                    frames: times,
                    marked,
                };
                let bins: Vec<Bin> = (1..).zip(marks).map(bin).collect();
                if judge(&bins, &burst.curve, &others, alpha).is_some() {
                    accused += happens;
                }
            });
            assert!(accused <= alpha, "{corner:?}: {accused}");
        }
    }
}
