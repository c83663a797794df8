//! From the depth of a queue to the chance that a frame is taken: in whole numbers, so that no rounding decides.

use rig_units::Ppm;

/// Where the chance begins, where it ends in certainty, and what it grows to in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Curve {
    /// Bytes from which on frames may be taken.
    pub kmin: u64,
    /// Bytes from which on every frame is taken; holds where `kmin` is greater.
    pub kmax: u64,
    /// The chance just below `kmax`.
    pub pmax: Ppm,
}

/// A chance as a fraction of whole numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chance {
    num: u128,
    den: u128,
}

const MILLION: u128 = Ppm::ONE.0 as u128;

impl Curve {
    /// The chance at a depth. What a switch may do wrong: it does not jump to certainty, or adds to every chance above zero.
    pub fn chance(&self, depth: u64, no_jump: bool, extra: Ppm) -> Chance {
        let pmax = u128::from(self.pmax.0);
        let (num, span) = if depth >= self.kmax {
            (if no_jump { pmax } else { MILLION }, 1)
        } else if depth < self.kmin {
            (0, 1)
        } else {
            (pmax * u128::from(depth - self.kmin), u128::from(self.kmax - self.kmin))
        };
        let num = if num == 0 { 0 } else { num + u128::from(extra.0) * span };
        Chance { num, den: MILLION * span }
    }

    /// The least depth at which a frame may be taken.
    pub fn floor(&self) -> u64 {
        self.kmin.min(self.kmax)
    }
}

impl Chance {
    /// What happens, if no draw decides.
    pub const fn certain(self) -> Option<bool> {
        match self {
            Chance { num: 0, .. } => Some(false),
            Chance { num, den } if num >= den => Some(true),
            _ => None,
        }
    }

    /// Whether so many times this chance come to `limit` of 2^32 parts of one.
    pub const fn reaches(self, times: u32, limit: u64) -> bool {
        // 58 bits, and twice 32.
        self.num > 0 && (self.num * times as u128) << 32 >= self.den * limit as u128
    }

    /// Whether a draw, uniform over all numbers, is a hit: so for one in `den / num`, to one in 2^64.
    pub const fn hit(self, draw: u64) -> bool {
        // A million times a depth of 2^38 B takes 58 bits.
        (draw as u128 * self.den) >> u64::BITS < self.num
    }
}
