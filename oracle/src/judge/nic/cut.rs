//! The first cut of a sender that always has a frame: when it took effect, and what rate it left.
//!
//! Frames of one limiter leave back to back before it. The first that is followed later than the port allows left at the rate after
//! the cut, and the one before it at the speed of the port: the effect lies between the two.

use crate::spec::nic::gaps::gaps;
use rig_capture::Span;
use rig_lab::Rp;
use rig_units::{Bytes, Dur, PortSpeed, Time};

/// A cut that was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstCut {
    /// From the last bit of the CNP to its effect, in picoseconds.
    pub latency: Span,
    /// The rate after it, in bits a second.
    pub rate: Span,
    /// That, in millionths of the speed of the port.
    pub factor: Span,
    /// The first frame of those that left at it.
    pub frame: usize,
}

/// Finds the first cut after the CNP that arrived at `cnp`, in frames by their first bits. `None`: no frame was held back that the
/// stamps tell from one that was not. A cut to more than what frames leave of the port, such as 98 % of it, holds none back.
pub fn first_cut(
    rp: &Rp,
    line: PortSpeed,
    cnp: Time,
    frames: &[(Time, Bytes)],
    bound: Dur,
) -> Option<FirstCut> {
    let blur = bound * 2;
    // Where bursts begin and end follows from the bytes alone.
    let bursts = gaps(rp, line, &[], frames, Dur::ZERO);
    let whole = bursts.iter().zip(frames.windows(2)).filter(|(burst, _)| burst.bytes > Bytes(0));
    let mut before = None;
    for (burst, pair) in whole {
        let start = frames[burst.from].0;
        let free = pair[0].0 + line.slot(pair[0].1);
        let held = pair[1].0 > free + blur && start + blur > cnp;
        if !held {
            before = Some(start);
            continue;
        }
        let lo = before.and_then(|before: Time| before.since(cnp + blur)).unwrap_or(Dur::ZERO);
        let hi = (start + blur).since(cnp).unwrap_or(Dur::ZERO);
        let latency = Span { lo: lo.0, hi: hi.0 };
        let took = pair[1].0.since(start).unwrap_or(Dur::ZERO);
        let rate = |dur: Dur| {
            let bps = u128::from(burst.bytes.0) * 8_000_000_000_000 / u128::from(dur.0.max(1));
            u64::try_from(bps).unwrap_or(u64::MAX)
        };
        // The hold is rounded up to a picosecond.
        let rate = Span { lo: rate(took + blur), hi: rate(took.saturating_sub(blur + Dur(1))) };
        let part = |bps: u64| u128::from(bps) * 1_000_000 / u128::from(line.bps());
        let ppm = |part: u128| u64::try_from(part).unwrap_or(u64::MAX);
        let factor = Span { lo: ppm(part(rate.lo)), hi: ppm(part(rate.hi) + 1) };
        return Some(FirstCut { latency, rate, factor, frame: burst.from });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::fixture::greedy;
    use super::*;
    use crate::spec::nic::forms;
    use proptest::prelude::*;
    use rig_lab::{Limiting, Nic};
    use rig_units::Ppm;

    const LINE: PortSpeed = PortSpeed::G100;

    #[test]
    fn a_cut_to_half_is_seen_between_two_frames() {
        // Frames every 81.6 ns from 5 ps on; the effect at 1 us: after the 13th at 979.205 ns, before the 14th at 1060.805 ns.
        let rp = Rp { enable: true, ..Nic::none().rp };
        let frames = greedy(&rp, LINE, &[Time(0)], Bytes(1_000), 40);
        let cut = first_cut(&rp, LINE, Time(0), &frames, Dur::ZERO).unwrap();
        assert_eq!((cut.frame, cut.latency), (13, Span { lo: 979_205, hi: 1_060_805 }));
        assert_eq!((cut.rate.lo, cut.factor.lo), (50_000_000_000, 500_000));
        let off = Rp { enable: false, ..rp.clone() };
        let frames = greedy(&off, LINE, &[Time(0)], Bytes(1_000), 40);
        assert_eq!(first_cut(&rp, LINE, Time(0), &frames, Dur::ZERO), None);
    }

    proptest! {
        #[test]
        fn what_is_seen_holds_what_was_declared(
            initial in 200_000_u32..=1_000_000, latency in 0_u64..5_000_000, burst in any::<bool>(), at in 0_u64..2_000_000,
            blur in prop::collection::vec(0_u64..=2_000, 400),
        ) {
            let limiting = if burst { Limiting::Burst } else { Limiting::Packet };
            let rp = Rp { enable: true, limiting, initial_alpha: Ppm(initial), latency: Dur(latency), ..Nic::none().rp };
            let mut frames = greedy(&rp, LINE, &[Time(at + 10_000)], Bytes(1_500), 400);
            for ((at, _), blur) in frames.iter_mut().zip(&blur) {
                *at = Time(at.0 + 10_000 + blur - 1_000);
            }
            let cut = first_cut(&rp, LINE, Time(at + 20_000), &frames, Dur(1_000)).unwrap();
            prop_assert!(cut.latency.lo <= latency && latency <= cut.latency.hi, "{cut:?}");
            let rate = forms::first_cut(&rp, LINE).bps;
            prop_assert!(cut.rate.lo <= rate && rate <= cut.rate.hi, "{cut:?} {rate}");
            prop_assert!(cut.factor.lo <= rate / 100_000 && rate / 100_000 <= cut.factor.hi);
        }
    }
}
