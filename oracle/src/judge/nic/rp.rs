//! The frames of one limiter against the gaps that the CNPs before them ask for.
//!
//! A frame may always leave later than it may at the earliest, when there is nothing to send or another queue pair is before it: how
//! much later is the caller's to say.

use crate::spec::nic::gaps::{Off, gaps};
use rig_capture::Span;
use rig_lab::Rp;
use rig_units::{Bytes, Dur, PortSpeed, Time};

/// What one limiter was seen to do.
#[derive(Debug, Clone, Copy)]
pub struct LimiterTrace<'a> {
    /// When each CNP arrived, with its last bit.
    pub cnps: &'a [Time],
    /// When each frame left, with its first bit, and its size.
    pub frames: &'a [(Time, Bytes)],
    /// How far off stamps and clocks may be.
    pub off: Off,
    /// How much later than at the earliest a frame may leave; `None`: any time.
    pub allowance: Option<Dur>,
}

/// A frame that left at the wrong time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: PaceFault,
    /// The frame, by index. The one before it, and that which the gap is counted from, show it too.
    pub frame: usize,
    /// The frame that the gap is counted from.
    pub from: usize,
    /// The gap that was asked for, before what stamps, clocks and allowance add.
    pub want: Span,
    /// The gap by the stamps.
    pub got: Dur,
}

/// In which way a frame left at the wrong time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PaceFault {
    /// Before the rate allowed it.
    TooEarly,
    /// Long after the rate allowed it.
    TooLate,
    /// At a rate between those of two orders of CNPs, timers and frames, and at that of none.
    Between,
}

/// A rate between two frames, or from one burst to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// When it began.
    pub at: Time,
    /// What was sent: a frame, or a burst.
    pub bytes: Bytes,
    /// Bits a second that were sent.
    pub measured: Span,
    /// Bits a second that the rule and the port allow, by the device's clock.
    pub predicted: Span,
    /// Whether the port was free before the next frame left, for longer than stamps and allowance explain.
    pub held: bool,
}

/// What the frames of a limiter come to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Followed {
    /// All departures.
    pub faults: Vec<Fault>,
    /// Gaps that were judged.
    pub judged: usize,
    /// How far off a gap may be without a fault, of the one of which the least is known: what stamps, clocks, allowance and rounding
    /// leave open, and of what.
    pub coarsest: Option<(Dur, Dur)>,
    /// Gaps of which nothing is known any more.
    pub lost: usize,
    /// How many CNPs at least did something else than their stamps say, and may have: those at the end of a window.
    pub otherwise: u32,
    /// The rates.
    pub curve: Vec<Point>,
}

/// Judges every gap between two frames of a limiter.
pub fn follow(rp: &Rp, line: PortSpeed, seen: &LimiterTrace<'_>) -> Followed {
    let mut followed = Followed::default();
    let asked = gaps(rp, line, seen.cnps, seen.frames, (seen.off, seen.allowance));
    let allowance = seen.allowance.unwrap_or_default();
    for (index, (gap, pair)) in asked.iter().zip(seen.frames.windows(2)).enumerate() {
        if gap.is_lost() {
            followed.lost += 1;
            continue;
        }
        let [(before, bytes), (at, _)] = [pair[0], pair[1]];
        followed.judged += 1;
        followed.otherwise = gap.otherwise;
        // The port itself is occupied by the frame before.
        let start = seen.frames[gap.from].0;
        let (since, slot) = (before.since(start).unwrap_or(Dur::ZERO), line.slot(bytes));
        let free = since + slot;
        let got = at.since(start).unwrap_or(Dur::ZERO);
        let want = Span { lo: gap.lo.max(free).0, hi: gap.hi.max(free).0 };
        let may = seen.off.may((gap.lo, gap.hi), since, slot);
        let open = Dur(may.most.0 - may.least.0) + may.blur * 2 + allowance;
        followed.coarsest = coarser(followed.coarsest, Some((open, Dur(want.hi))));
        let kind = if may.is_early(got) {
            Some(PaceFault::TooEarly)
        } else if seen.allowance.is_some() && may.is_late(got, allowance) {
            Some(PaceFault::TooLate)
        } else {
            (!gap.fits).then_some(PaceFault::Between)
        };
        let fault = |kind| Fault { kind, frame: index + 1, from: gap.from, want, got };
        followed.faults.extend(kind.map(fault));
        let held = got > since + seen.off.apart.most(slot) + may.blur + allowance;
        followed.curve.extend(point(start, gap.bytes, want, (got, may.blur), held));
    }
    followed
}

/// Of two gaps that of which less is known: what is open of it, and how long it is.
pub fn coarser(a: Option<(Dur, Dur)>, b: Option<(Dur, Dur)>) -> Option<(Dur, Dur)> {
    let open = |one: (Dur, Dur), other: (Dur, Dur)| u128::from(one.0.0) * u128::from(other.1.0);
    a.into_iter().chain(b).reduce(|a, b| if open(b, a) > open(a, b) { b } else { a })
}

/// Bits a second of so many bytes in so many picoseconds.
pub fn rate(bytes: Bytes, ps: u64) -> u64 {
    let bits_ps = u128::from(bytes.0) * 8 * 1_000_000_000_000;
    u64::try_from(bits_ps / u128::from(ps.max(1))).unwrap_or(u64::MAX)
}

/// The rates of one gap, of what the port can carry at the most; `None` within a burst, which ends with no bytes.
fn point(at: Time, bytes: Bytes, want: Span, (got, blur): (Dur, Dur), held: bool) -> Option<Point> {
    let rate = |ps: u64| rate(bytes, ps);
    (bytes > Bytes(0)).then(|| Point {
        at,
        bytes,
        measured: Span { lo: rate((got + blur).0), hi: rate(got.saturating_sub(blur).0) },
        predicted: Span { lo: rate(want.hi), hi: rate(want.lo) },
        held,
    })
}

#[cfg(test)]
mod tests;
