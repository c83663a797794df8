//! The frames of one limiter against the gaps that the CNPs before them ask for.
//!
//! A frame may always leave later than it may at the earliest, when there is nothing to send or another queue pair is before it: how
//! much later is the caller's to say.

use crate::spec::nic::gaps::gaps;
use rig_capture::Span;
use rig_lab::Rp;
use rig_units::{Bytes, Dur, PortSpeed, Time};

/// What one limiter was seen to do.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// When each CNP arrived, with its last bit.
    pub cnps: &'a [Time],
    /// When each frame left, with its first bit, and its size.
    pub frames: &'a [(Time, Bytes)],
    /// How far each stamp may be off, either way.
    pub bound: Dur,
    /// How much later than at the earliest a frame may leave; `None`: any time.
    pub allowance: Option<Dur>,
}

/// A frame that left at the wrong time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: Kind,
    /// The frame, by index. The one before it, and that which the gap is counted from, show it too.
    pub frame: usize,
    /// The frame that the gap is counted from.
    pub from: usize,
    /// The gap that was asked for, before what stamps and allowance add.
    pub want: Span,
    /// The gap by the stamps.
    pub got: Dur,
}

/// In which way a frame left at the wrong time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Before the rate allowed it.
    TooEarly,
    /// Long after the rate allowed it.
    TooLate,
}

/// A rate between two frames, or from one burst to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// When it began.
    pub at: Time,
    /// Bits a second that were sent.
    pub measured: Span,
    /// Bits a second that the rule and the port allow.
    pub predicted: Span,
}

/// What the frames of a limiter come to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Followed {
    /// All departures.
    pub faults: Vec<Fault>,
    /// Gaps that were judged.
    pub judged: usize,
    /// Those of them that stamps leave more than one value for.
    pub undecided: usize,
    /// Gaps of which nothing is known any more.
    pub lost: usize,
    /// The rates.
    pub curve: Vec<Point>,
}

/// Judges every gap between two frames of a limiter.
pub fn follow(rp: &Rp, line: PortSpeed, seen: &Seen<'_>) -> Followed {
    let mut followed = Followed::default();
    let asked = gaps(rp, line, seen.cnps, seen.frames, seen.bound);
    for (index, (gap, pair)) in asked.iter().zip(seen.frames.windows(2)).enumerate() {
        if gap.is_lost() {
            followed.lost += 1;
            continue;
        }
        let [(before, bytes), (at, _)] = [pair[0], pair[1]];
        followed.judged += 1;
        // The port itself is occupied by the frame before.
        let start = seen.frames[gap.from].0;
        let free = before.since(start).unwrap_or(Dur::ZERO) + line.slot(bytes);
        let got = at.since(start).unwrap_or(Dur::ZERO);
        let want = Span { lo: gap.lo.max(free).0, hi: gap.hi.max(free).0 };
        followed.undecided += usize::from(want.lo != want.hi);
        let blur = seen.bound * 2;
        let late = |allowance| got.0 > want.hi + (blur + allowance).0;
        let kind = if (got + blur).0 < want.lo {
            Some(Kind::TooEarly)
        } else {
            seen.allowance.is_some_and(late).then_some(Kind::TooLate)
        };
        let fault = |kind| Fault { kind, frame: index + 1, from: gap.from, want, got };
        followed.faults.extend(kind.map(fault));
        followed.curve.extend(point(start, gap.bytes, want, (got, blur)));
    }
    followed
}

/// The rates of one gap, of what the port can carry at the most; `None` within a burst, which ends with no bytes.
fn point(at: Time, bytes: Bytes, want: Span, (got, blur): (Dur, Dur)) -> Option<Point> {
    let rate = |ps: u64| {
        let bits_ps = u128::from(bytes.0) * 8 * 1_000_000_000_000;
        u64::try_from(bits_ps / u128::from(ps.max(1))).unwrap_or(u64::MAX)
    };
    (bytes > Bytes(0)).then(|| Point {
        at,
        measured: Span { lo: rate((got + blur).0), hi: rate(got.saturating_sub(blur).0) },
        predicted: Span { lo: rate(want.hi), hi: rate(want.lo) },
    })
}

#[cfg(test)]
/// What a sender leaves on the wire that always has a frame and keeps the rule, with CNPs that arrive at `cnps`.
pub(super) fn greedy(
    rp: &Rp,
    line: PortSpeed,
    cnps: &[Time],
    bytes: Bytes,
    count: usize,
) -> Vec<(Time, Bytes)> {
    let mut limiter = crate::spec::nic::rp::Limiter::new(rp, line);
    let mut due = cnps.iter().map(|&at| at + rp.latency).peekable();
    let (mut at, mut first) = (Time(5), Time(5));
    (0..count)
        .map(|_| {
            while let Some(cnp) = due.next_if(|&cnp| cnp <= at) {
                limiter.cnp(cnp);
            }
            let frame = (at, bytes);
            let held = limiter.frame(at, bytes);
            let free = at + line.slot(bytes);
            at = free.max(first + held);
            first = if held > Dur::ZERO { at } else { first };
            frame
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rig_lab::{Limiting, Nic};
    use rig_units::L2Rate;

    const LINE: PortSpeed = PortSpeed::G100;

    fn rp() -> Rp {
        Rp { enable: true, ..Nic::none().rp }
    }

    fn judged(rp: &Rp, cnps: &[Time], frames: &[(Time, Bytes)]) -> Followed {
        let allowance = Some(Dur::ZERO);
        follow(rp, LINE, &Seen { cnps, frames, bound: Dur::ZERO, allowance })
    }

    #[test]
    fn a_sender_that_keeps_the_rule_shows_its_rate_and_no_fault() {
        let cnps = [Time(1_000_000)];
        let frames = greedy(&rp(), LINE, &cnps, Bytes(1_000), 100);
        let followed = judged(&rp(), &cnps, &frames);
        assert_eq!((followed.faults.len(), followed.judged, followed.undecided), (0, 99, 0));
        // At the speed of the port 8000 bits take 1020 x 80 ps = 81.6 ns: 98.04 Gb/s; after the cut 160 ns.
        assert_eq!(followed.curve[0].measured, Span::exactly(98_039_215_686));
        assert_eq!(followed.curve[0].predicted, Span::exactly(98_039_215_686));
        let last = followed.curve[98];
        assert_eq!(
            (last.measured, last.predicted),
            (Span::exactly(50_000_000_000), Span::exactly(50_000_000_000))
        );
    }

    #[test]
    fn a_frame_a_picosecond_off_is_a_fault_and_within_the_stamps_it_is_none() {
        let cnps = [Time(1_000_000)];
        let healthy = greedy(&rp(), LINE, &cnps, Bytes(1_000), 60);
        let faults = |shift: i64, bound: Dur| {
            let mut frames = healthy.clone();
            for (at, _) in &mut frames[40..] {
                *at = Time(at.0.checked_add_signed(shift).unwrap());
            }
            let allowance = Some(Dur::ZERO);
            let seen = Seen { cnps: &cnps, frames: &frames, bound, allowance };
            let faults = follow(&rp(), LINE, &seen).faults;
            faults.iter().map(|fault| (fault.kind, fault.frame)).collect::<Vec<_>>()
        };
        for (kind, way) in [(Kind::TooEarly, -1), (Kind::TooLate, 1)] {
            assert_eq!(faults(way, Dur::ZERO), [(kind, 40)]);
            assert_eq!(faults(2 * way, Dur(1)), []);
            assert_eq!(faults(3 * way, Dur(1)), [(kind, 40)]);
        }
    }

    #[test]
    fn a_sender_with_nothing_to_send_is_late_only_where_that_is_not_allowed() {
        let frames = [(Time(0), Bytes(1_000)), (Time(1_000_000), Bytes(1_000))];
        let seen = |allowance| Seen { cnps: &[], frames: &frames, bound: Dur::ZERO, allowance };
        assert_eq!(follow(&rp(), LINE, &seen(None)).faults, []);
        assert_eq!(follow(&rp(), LINE, &seen(Some(Dur(918_399)))).faults[0].kind, Kind::TooLate);
        assert_eq!(follow(&rp(), LINE, &seen(Some(Dur(918_400)))).faults, []);
    }

    proptest! {
        #[test]
        fn a_device_with_another_parameter_is_told_from_one_that_keeps_the_rule(
            // Far enough apart for alpha to decay: before that, no g makes a difference.
            steps in prop::collection::vec(60_000_000_u64..90_000_000, 3..8), burst in any::<bool>(), which in 0_usize..7,
        ) {
            let limiting = if burst { Limiting::Burst } else { Limiting::Packet };
            let declared = Rp { limiting, byte_counter: Bytes(400_000), ..rp() };
            let mut at = 0;
            let cnps: Vec<Time> = steps.iter().map(|step| { at += step; Time(at) }).collect();
            let frames = |rp: &Rp| greedy(rp, LINE, &cnps, Bytes(4_000), 3_000);
            prop_assert_eq!(judged(&declared, &cnps, &frames(&declared)).faults, []);
            let other = match which {
                0 => Rp { enable: false, ..declared },
                1 => Rp { latency: Dur::us(3), ..declared },
                2 => Rp { inverse_g: 16, ..declared },
                3 => Rp { alpha_timer: Dur::us(20), ..declared },
                4 => Rp { timer: Dur::us(20), ..declared },
                5 => Rp { byte_counter: Bytes(100_000), ..declared },
                _ => Rp { initial_alpha: rig_units::Ppm(500_000), min_rate: L2Rate { bps: 1 }, ..declared },
            };
            // The last CNPs may come after the frames; those that come show it.
            prop_assert!(!judged(&declared, &cnps, &frames(&other)).faults.is_empty(), "{which}");
        }

        #[test]
        fn blurred_stamps_make_no_fault(
            steps in prop::collection::vec(5_000_000_u64..90_000_000, 0..8), burst in any::<bool>(), bytes in any::<bool>(),
            blur in prop::collection::vec(0_u64..=8_000, 200),
        ) {
            let limiting = if burst { Limiting::Burst } else { Limiting::Packet };
            let byte_counter = Bytes(if bytes { 100_000 } else { 0 });
            let rp = Rp { limiting, byte_counter, cut_window: Dur::us(20), ..rp() };
            let mut at = 0;
            let mut cnps: Vec<Time> = steps.iter().map(|step| { at += step; Time(at) }).collect();
            let mut frames = greedy(&rp, LINE, &cnps, Bytes(1_500), 1_500);
            let mut blur = blur.iter().cycle();
            // 4 ns either way of 4 ns later.
            let mut off = |at: &mut Time| *at = Time(at.0 + blur.next().unwrap());
            frames.iter_mut().for_each(|(at, _)| off(at));
            cnps.iter_mut().for_each(off);
            let seen = Seen { cnps: &cnps, frames: &frames, bound: Dur(4_000), allowance: Some(Dur::ZERO) };
            let followed = follow(&rp, LINE, &seen);
            prop_assert_eq!(followed.faults, []);
            prop_assert_eq!(followed.lost, 0);
        }
    }
}
