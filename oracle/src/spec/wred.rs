//! The marking curve of a queue, and what each frame of a burst that was held and let go sees of it (formulas F8 and F9).
//!
//! Frames of one size go into an empty queue, none leaves before the last is in, then all leave and nothing arrives. The depth
//! counts whole cells with descriptors, or one size for each frame ([`rig_lab::DepthUnit`]). With N frames of c bytes each:
//!
//! | | the i-th frame sees, i from 1 | itself counted |
//! | --- | --- | --- |
//! | when it starts to leave | (N - i) c | (N - i + 1) c |
//! | when it is taken in | (i - 1) c | i c |
//!
//! A drop is decided when a frame arrives. Of frames that are dropped by a step at kmax as many go in as leave the next one at
//! less than that.
//!
//! Chances are fractions of whole numbers and exact; their sums are in floating point, off by less than N parts in 10^15.

mod average;
mod before_pfc;
mod burst;
mod corners;
mod held;
mod sampled;
pub mod spacing;

pub use average::Average;
pub use before_pfc::{BEFORE_PFC_SOURCE, before_any_pfc};
pub use burst::{Burst, Expected, goes_in};
pub use corners::{Corners, alike};
pub use held::Curves;
pub use sampled::{Sampled, Stay};

use rig_lab::{Buffer, Color, Curve, DepthUnit, EcnMode, Marking, Wred};
use rig_units::{Bytes, Dur, PortSpeed, Ppm};

/// Where the forms come from, for reports.
pub const SOURCE: &str =
    "SAI, saiwred.h; SONiC WRED_PROFILE (qosorch.cpp); Floyd and Jacobson, ToN 1(4), 1993";

/// What early detection may do to a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Mark it.
    Mark,
    /// Drop it, decided when it arrives.
    Drop,
    /// Mark it below kmax, and drop it from there on: both decided when it arrives.
    MarkOrDrop,
}

impl Fate {
    /// What is done to a frame, in words.
    pub const fn done_to(self) -> &'static str {
        match self {
            Fate::Mark => "marked",
            Fate::Drop => "dropped",
            Fate::MarkOrDrop => "marked or dropped",
        }
    }
}

/// The kind of a frame, as far as early detection looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Class {
    /// Its colour.
    pub color: Color,
    /// Whether it is ECN-capable: ECT(0), ECT(1), or marked before it arrived.
    pub capable: bool,
}

impl Class {
    /// What may be done to such frames.
    pub const fn fate(self, wred: &Wred) -> Fate {
        match (self.capable && marks(wred.ecn, self.color), wred.harddrop) {
            (true, false) => Fate::Mark,
            (true, true) => Fate::MarkOrDrop,
            (false, _) => Fate::Drop,
        }
    }

    /// By which curve.
    pub fn curve(self, wred: &Wred) -> Curve {
        match self.fate(wred) {
            Fate::Mark | Fate::MarkOrDrop => marking_curve(wred, self.color),
            Fate::Drop => wred.drop.unwrap_or_else(|| marking_curve(wred, self.color)),
        }
    }

    /// At which point of their way.
    pub fn point(self, wred: &Wred) -> Marking {
        match self.fate(wred) {
            Fate::Mark => wred.marking,
            Fate::Drop | Fate::MarkOrDrop => Marking::Enqueue,
        }
    }
}

/// Whether ECN-capable frames of this colour are marked (SAI's modes name the colours that are).
const fn marks(mode: EcnMode, color: Color) -> bool {
    use EcnMode::{EcnAll, EcnGreen, EcnGreenRed, EcnGreenYellow, EcnRed, EcnYellow, EcnYellowRed};
    match color {
        Color::Green => matches!(mode, EcnAll | EcnGreen | EcnGreenYellow | EcnGreenRed),
        Color::Yellow => matches!(mode, EcnAll | EcnYellow | EcnGreenYellow | EcnYellowRed),
        Color::Red => matches!(mode, EcnAll | EcnRed | EcnGreenRed | EcnYellowRed),
    }
}

/// The curve by which frames of a colour are marked: green's where it has none of its own.
fn marking_curve(wred: &Wred, color: Color) -> Curve {
    let own = match color {
        Color::Green => None,
        Color::Yellow => wred.yellow,
        Color::Red => wred.red,
    };
    own.unwrap_or(Curve { kmin: wred.kmin, kmax: wred.kmax, pmax: wred.pmax })
}

/// A chance as a fraction of whole numbers, not cut down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chance {
    /// Above the line; never more than below.
    pub num: u128,
    /// Below the line; never 0.
    pub den: u128,
}

impl Chance {
    /// It never happens.
    pub const NEVER: Chance = Chance { num: 0, den: 1 };
    /// It always happens.
    pub const ALWAYS: Chance = Chance { num: 1, den: 1 };

    /// Whether it always happens (`Some(true)`), never (`Some(false)`), or by chance.
    pub const fn certain(self) -> Option<bool> {
        match self {
            Chance { num: 0, .. } => Some(false),
            Chance { num, den } if num == den => Some(true),
            _ => None,
        }
    }

    /// In floating point: off by less than one part in 10^15.
    #[expect(clippy::cast_precision_loss, reason = "rounded by a part in 2^53")]
    pub fn share(self) -> f64 {
        self.num as f64 / self.den as f64
    }

    /// In millionths, to the nearest.
    pub fn ppm(self) -> Ppm {
        let million = u128::from(Ppm::ONE.0);
        let nearest = (self.num * million * 2 + self.den) / (self.den * 2);
        Ppm(u32::try_from(nearest).unwrap_or(Ppm::ONE.0))
    }
}

/// F8: the chance at a depth.
pub fn chance(curve: &Curve, depth: u64) -> Chance {
    let Curve { kmin: Bytes(kmin), kmax: Bytes(kmax), pmax } = *curve;
    if depth >= kmax {
        return Chance::ALWAYS;
    }
    let Some(above) = depth.checked_sub(kmin).filter(|&above| above > 0 && pmax.0 > 0) else {
        return Chance::NEVER;
    };
    let num = u128::from(above) * u128::from(pmax.0);
    Chance { num, den: u128::from(kmax - kmin) * u128::from(Ppm::ONE.0) }
}

/// F8 at a depth that is not whole: an average.
#[expect(clippy::cast_precision_loss, reason = "depths are far below 2^53")]
pub fn chance_at(curve: &Curve, depth: f64) -> f64 {
    let (kmin, kmax) = (curve.kmin.0 as f64, curve.kmax.0 as f64);
    if depth >= kmax {
        return 1.0;
    }
    if depth <= kmin { 0.0 } else { f64::from(curve.pmax.0) / 1e6 * (depth - kmin) / (kmax - kmin) }
}

/// What one frame adds to the depth.
pub fn step(buffer: &Buffer, wred: &Wred, frame: Bytes) -> u64 {
    match wred.unit {
        DepthUnit::Bytes => super::buffer::occupied(buffer, frame),
        DepthUnit::Packets(Bytes(size)) => size,
    }
}

/// What is sent through a queue.
pub struct Sent<'a> {
    /// The shortest of the frames of which any number may come one right after the other.
    pub shortest: Bytes,
    /// What others add to the depth at the most that come in a time, beside those.
    pub beside: &'a dyn Fn(Dur) -> u64,
}

/// How deep a queue of a port may be at the most whose frames all came by one port of the same speed, so that none is held back: a frame counts from its
/// last bit in until its last bit is out. Meanwhile come as many as fit into the transit, itself, and what a longer one before it takes more.
pub fn passing(
    buffer: &Buffer,
    wred: &Wred,
    speed: PortSpeed,
    (transit, mtu): (Dur, Bytes),
    sent: &Sent<'_>,
) -> u64 {
    let longest = step(buffer, wred, mtu);
    let before = speed.slot(mtu);
    let deep = |size: u64| {
        let frame = Bytes(size);
        let slot = speed.slot(frame);
        let others = (transit + slot + before).0.div_ceil(slot.0.max(1));
        others * step(buffer, wred, frame) + longest
    };
    let alike = (sent.shortest.max(SHORTEST).0..=mtu.0).map(deep).max().unwrap_or(longest);
    alike + (sent.beside)(transit + before * 2)
}

/// The shortest frame of Ethernet.
pub const SHORTEST: Bytes = Bytes(64);

#[cfg(test)]
mod tests;
