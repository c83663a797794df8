//! What a device may hold of a curve that is declared: where it keeps chances in steps of 1/n, pmax is one of two.
//!
//! No sheet says which way it rounds. Of pmax n steps it keeps the whole ones, or one more where something is over: 5 % in steps of 1/256 are 12.8, so
//! 12 or 13, 4.69 % or 5.08 %. Where nothing is over, nothing is open. Each is told to the millionth that is nearest.

use super::Class;
use rig_lab::{Curve, Wred};
use rig_units::Ppm;

/// The curves that a device may go by: the one that takes the fewest frames, and the one that takes the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Curves {
    /// With the least pmax.
    pub least: Curve,
    /// With the greatest.
    pub most: Curve,
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
        Curves { least: kept(wanted / one), most: kept(wanted.div_ceil(one)) }
    }

    /// Each of them once.
    pub fn each(self) -> impl Iterator<Item = Curve> {
        let other = (self.most != self.least).then_some(self.most);
        core::iter::once(self.least).chain(other)
    }
}

impl From<Curve> for Curves {
    fn from(curve: Curve) -> Curves {
        Curves { least: curve, most: curve }
    }
}

impl Class {
    /// What a device may hold of the curve of such frames.
    pub fn held(self, wred: &Wred) -> Curves {
        Curves::of(self.curve(wred), wred.chance_steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_units::Bytes;

    fn held(ppm: u32, steps: u32) -> (u32, u32) {
        let curve = Curve { kmin: Bytes(10), kmax: Bytes(20), pmax: Ppm(ppm) };
        let Curves { least, most } = Curves::of(curve, Some(steps));
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
    fn without_steps_it_is_the_curve_that_is_declared_and_there_is_one() {
        let curve = Curve { kmin: Bytes(10), kmax: Bytes(20), pmax: Ppm(12_345) };
        assert_eq!(Curves::of(curve, None).each().collect::<Vec<_>>(), [curve]);
        assert_eq!(Curves::of(Curve { pmax: Ppm(50_000), ..curve }, Some(256)).each().count(), 2);
    }
}
