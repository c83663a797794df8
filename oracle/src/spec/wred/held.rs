//! What a device may hold of a curve that is declared: where it keeps chances in steps of 1/n, pmax is one of two, and where it keeps thresholds in steps of
//! bytes, so are kmin and kmax. Whichever they are, no chance is greater than with both thresholds rounded down and pmax up, and none less than the other
//! way round. Two thresholds that are one are rounded alike.
//!
//! No sheet says which way it rounds. Of pmax n steps it keeps the whole ones, or one more where something is over: 5 % in steps of 1/256 are 12.8, so
//! 12 or 13, 4.69 % or 5.08 %. Where nothing is over, nothing is open. Each is told to the millionth that is nearest.

use super::Class;
use crate::spec::steps::Kept;
use rig_lab::{Curve, Wred};
use rig_units::{Bytes, Ppm};

/// The curves that a device may go by: the one that takes the fewest frames, and the one that takes the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Curves {
    /// With the greatest kmin and kmax, and the least pmax.
    pub least: Curve,
    /// With the least kmin and kmax, and the greatest pmax.
    pub most: Curve,
    /// Whether kmin and kmax are declared as one, so that no depth is left to chance.
    pub is_step: bool,
}

impl Curves {
    /// What becomes of `curve` in a device that keeps chances in so many steps to one; `None`: as it is declared.
    pub fn of(curve: Curve, steps: Option<u32>) -> Curves {
        let Some(steps) = steps.filter(|steps| *steps > 0) else { return Curves::from(curve) };
        let (one, steps) = (u64::from(Ppm::ONE.0), u64::from(steps));
        let wanted = u64::from(curve.pmax.0) * steps;
        let kept = |held: u64| {
            let ppm = (held * one * 2 + steps) / (steps * 2);
            Curve { pmax: Ppm(u32::try_from(ppm).unwrap_or(Ppm::ONE.0)), ..curve }
        };
        let (least, most) = (kept(wanted / one), kept(wanted.div_ceil(one)));
        Curves { least, most, is_step: curve.kmin == curve.kmax }
    }

    /// These where thresholds are kept in steps; `None`: as they are declared.
    #[must_use]
    pub fn in_steps(self, step: Option<Bytes>) -> Curves {
        let kept = |curve: Curve| [curve.kmin, curve.kmax].map(|of| Kept::of(of, step));
        let [[up_min, up_max], [down_min, down_max]] = [kept(self.least), kept(self.most)];
        Curves {
            least: Curve { kmin: up_min.most, kmax: up_max.most, ..self.least },
            most: Curve { kmin: down_min.least, kmax: down_max.least, ..self.most },
            is_step: self.is_step,
        }
    }

    /// Each that the device may hold, once.
    pub fn each(self) -> impl Iterator<Item = Curve> {
        let ends = [self.least, self.most];
        let mut all: Vec<Curve> = Vec::new();
        for Curve { kmin, .. } in ends {
            for Curve { kmax, .. } in ends {
                for Curve { pmax, .. } in ends {
                    let curve = Curve { kmin, kmax, pmax };
                    let fits = if self.is_step { kmin == kmax } else { kmin <= kmax };
                    if fits && !all.contains(&curve) {
                        all.push(curve);
                    }
                }
            }
        }
        all.into_iter()
    }
}

impl From<Curve> for Curves {
    fn from(curve: Curve) -> Curves {
        Curves { least: curve, most: curve, is_step: curve.kmin == curve.kmax }
    }
}

impl Class {
    /// What a device may hold of the curve of such frames.
    pub fn held(self, wred: &Wred) -> Curves {
        Curves::of(self.curve(wred), wred.chance_steps).in_steps(wred.threshold_step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(ppm: u32, steps: u32) -> (u32, u32) {
        let curve = Curve { kmin: Bytes(10), kmax: Bytes(20), pmax: Ppm(ppm) };
        let Curves { least, most, .. } = Curves::of(curve, Some(steps));
        assert!(
            [least, most].iter().all(|held| (held.kmin, held.kmax) == (curve.kmin, curve.kmax))
        );
        (least.pmax.0, most.pmax.0)
    }

    #[test]
    fn five_percent_in_256_steps_are_twelve_or_thirteen_of_them() {
        // 12.8: 12 / 256 = 4.6875 %, 13 / 256 = 5.078125 %.
        assert_eq!(held(50_000, 256), (46_875, 50_781));
        // 3.2, and 16 of 64 with nothing over.
        assert_eq!(held(50_000, 64), (46_875, 62_500));
        assert_eq!(held(250_000, 64), (250_000, 250_000));
    }

    #[test]
    fn none_and_all_are_in_every_number_of_steps_and_what_is_over_is_none_or_one_of_them() {
        for steps in [1, 3, 256, 1_000_000] {
            assert_eq!(held(0, steps), (0, 0));
            assert_eq!(held(1_000_000, steps), (1_000_000, 1_000_000));
        }
        assert_eq!(held(500_000, 1), (0, 1_000_000));
        assert_eq!(held(1, 1), (0, 1_000_000));
        // A third of one and two, to the nearest millionth.
        assert_eq!(held(400_000, 3), (333_333, 666_667));
    }

    #[test]
    fn a_threshold_in_steps_is_the_one_below_or_the_one_above_and_two_that_are_one_go_together() {
        let curve = Curve { kmin: Bytes(1_000), kmax: Bytes(2_000), pmax: Ppm(50_000) };
        let values = |curve: Curve, steps: Option<u32>, step: u64| {
            let held = Curves::of(curve, steps).in_steps(Some(Bytes(step)));
            let of = |one: Curve| (one.kmin.0, one.kmax.0, one.pmax.0);
            held.each().map(of).collect::<Vec<_>>()
        };
        let four = [(1_200, 2_100), (1_200, 1_800), (900, 2_100), (900, 1_800)];
        assert_eq!(values(curve, None, 300), four.map(|(kmin, kmax)| (kmin, kmax, 50_000)));
        assert_eq!(values(curve, Some(256), 300).len(), 8);
        assert_eq!(values(curve, None, 1_000), [(1_000, 2_000, 50_000)]);
        // Rounded towards each other they are one; beyond each other they are no curve.
        assert_eq!(values(Curve { kmax: Bytes(1_100), ..curve }, None, 1_200).len(), 3);
        let step = Curve { kmax: Bytes(1_000), ..curve };
        assert_eq!(values(step, None, 300), [(1_200, 1_200, 50_000), (900, 900, 50_000)]);
        assert!(Curves::from(step).in_steps(Some(Bytes(300))).is_step);
        assert!(!Curves::from(curve).is_step);
    }

    #[test]
    fn no_curve_that_a_device_may_hold_takes_more_than_the_one_that_takes_most() {
        let curve = Curve { kmin: Bytes(1_000), kmax: Bytes(2_000), pmax: Ppm(300_000) };
        let held = Curves::of(curve, Some(16)).in_steps(Some(Bytes(300)));
        let share = |curve: &Curve, depth: u64| crate::spec::wred::chance(curve, depth).share();
        for depth in (0..2_500).step_by(7) {
            let (least, most) = (share(&held.least, depth), share(&held.most, depth));
            for one in held.each() {
                assert!((least..=most).contains(&share(&one, depth)), "{one:?} at {depth}");
            }
        }
    }

    #[test]
    fn without_steps_it_is_the_curve_that_is_declared_and_there_is_one() {
        let curve = Curve { kmin: Bytes(10), kmax: Bytes(20), pmax: Ppm(12_345) };
        assert_eq!(Curves::of(curve, None).each().collect::<Vec<_>>(), [curve]);
        assert_eq!(Curves::of(Curve { pmax: Ppm(50_000), ..curve }, Some(256)).each().count(), 2);
    }
}
