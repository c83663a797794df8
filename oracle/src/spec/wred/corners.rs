//! Where the corners of a curve lie among the frames of a burst: to the cell, because the depth moves in whole frames.

use super::Burst;
use rig_lab::Curve;
use rig_units::Bytes;

/// Depths of frames on both sides of each corner. A corner cannot be told from any other between its two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corners {
    /// The greatest depth that is never marked, and the least that may be.
    pub kmin: (Option<u64>, Option<u64>),
    /// The greatest depth that may go unmarked, and the least that never does.
    pub kmax: (Option<u64>, Option<u64>),
}

impl Corners {
    /// The corners as a burst shows them.
    pub fn of(burst: &Burst) -> Corners {
        let depths = || (1..=burst.frames).map(|rank| (burst.depth(rank), burst.chance(rank)));
        let greatest = |is: &dyn Fn(Option<bool>) -> bool| {
            depths().filter(|(_, chance)| is(chance.certain())).map(|(depth, _)| depth).max()
        };
        let least = |is: &dyn Fn(Option<bool>) -> bool| {
            depths().filter(|(_, chance)| is(chance.certain())).map(|(depth, _)| depth).min()
        };
        Corners {
            kmin: (
                greatest(&|certain| certain == Some(false)),
                least(&|certain| certain != Some(false)),
            ),
            kmax: (
                greatest(&|certain| certain != Some(true)),
                least(&|certain| certain == Some(true)),
            ),
        }
    }
}

/// The corners that make the same depths certain as those declared, when depths come in whole steps: kmin may be anything in
/// the first pair, kmax anything in the second. A frame at kmin is not marked, one at kmax is.
pub fn alike(curve: &Curve, step: u64) -> ((Bytes, Bytes), (Bytes, Bytes)) {
    let step = step.max(1);
    let (kmin, kmax) = (curve.kmin.0, curve.kmax.0);
    let below = kmin / step * step;
    let up = kmax.div_ceil(step) * step;
    let first = if up == 0 { 0 } else { up - step + 1 };
    ((Bytes(below), Bytes(below + step - 1)), (Bytes(first), Bytes(up)))
}
