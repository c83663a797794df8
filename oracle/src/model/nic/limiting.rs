//! What keeps a rate: the earliest instant at which the next frame of a limiter may leave.

use rig_lab::{Limiting, Rp};
use rig_units::{Dur, Time};

/// Picoseconds in eight seconds: what a bit a second takes for a byte.
const PS_PER_BYTE_AT_1_BPS: u128 = 8_000_000_000_000;

/// The gaps between frames, or between bursts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Pacer {
    next: Time,
    /// The last gap and what it was worked out for, since most frames are of one size.
    gap: Dur,
    gap_of: (u64, u64),
    /// Whether a gap that is no multiple of a step is the next one; if not, the one below.
    up: bool,
    /// Bytes of the burst that is being sent; 0 between bursts. When its first frame left, and at what rate.
    burst: u64,
    began: Time,
    rate: Rate,
}

/// Bits a second, and whether that is less than the port's: what is not slowed down keeps no steps.
pub(super) type Rate = (u64, bool);

impl Pacer {
    /// That of a device whose ways `drawn` decides.
    pub(super) fn of_device(drawn: u64) -> Pacer {
        Pacer { up: drawn & 2 == 2, ..Pacer::default() }
    }

    /// When the next frame may leave.
    #[inline]
    pub(super) const fn next(&self) -> Time {
        self.next
    }

    /// Forgets what it has worked out: it is set otherwise from now on.
    pub(super) const fn forget(&mut self) {
        self.gap_of = (0, 0);
    }

    /// A frame of `size` bytes leaves at `now`.
    #[inline]
    pub(super) fn left(&mut self, rp: &Rp, now: Time, size: u64, rate: Rate) {
        match rp.limiting {
            Limiting::Packet => self.next = now + self.gap(rp, size, rate),
            Limiting::Burst => self.burst(rp, now, size, rate),
        }
    }

    /// The same, with the gap that `gap` says follows from size and rate.
    #[cfg(feature = "ns3")]
    #[inline]
    pub(super) fn left_after(&mut self, now: Time, of: (u64, u64), gap: fn(u64, u64) -> Dur) {
        if self.gap_of != of {
            self.gap_of = of;
            self.gap = gap(of.0, of.1);
        }
        self.next = now + self.gap;
    }

    fn burst(&mut self, rp: &Rp, now: Time, size: u64, rate: Rate) {
        if self.burst == 0 {
            (self.began, self.rate) = (now, rate);
        }
        self.burst += size;
        self.next = now;
        if self.burst >= rp.burst.0 {
            self.next = self.began + self.gap(rp, self.burst, self.rate);
            self.burst = 0;
        }
    }

    /// What `size` bytes take at `rate`, rounded up to whole picoseconds, and then to a step.
    #[inline]
    fn gap(&mut self, rp: &Rp, size: u64, rate: Rate) -> Dur {
        if self.gap_of != (size, rate.0) {
            self.work_out(rp, size, rate);
        }
        self.gap
    }

    #[cold]
    #[inline(never)]
    fn work_out(&mut self, rp: &Rp, size: u64, (rate, is_slowed): Rate) {
        self.gap_of = (size, rate);
        self.gap = in_steps(gap(size, rate), rp.pacer_step.filter(|_| is_slowed), self.up);
    }
}

fn gap(size: u64, rate: u64) -> Dur {
    let ps = (u128::from(size) * PS_PER_BYTE_AT_1_BPS).div_ceil(u128::from(rate.max(1)));
    Dur(u64::try_from(ps).unwrap_or(u64::MAX))
}

/// A gap as a clock that ticks every `step` keeps it.
fn in_steps(gap: Dur, step: Option<Dur>, up: bool) -> Dur {
    let Some(step) = step.filter(|step| *step > Dur::ZERO) else { return gap };
    step * if up { gap.0.div_ceil(step.0) } else { gap / step }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_lab::Nic;
    use rig_units::Bytes;

    #[test]
    fn the_next_frame_waits_as_long_as_this_one_takes_at_the_rate_rounded_up() {
        let rp = Nic::quiet().rp;
        let mut pacer = Pacer::default();
        pacer.left(&rp, Time(1_000), 1_048, (50_000_000_000, false));
        assert_eq!(pacer.next(), Time(1_000 + 167_680));
        // 8 bits at 3 bit/s: 2.67 s.
        pacer.left(&rp, Time(0), 1, (3, false));
        assert_eq!(pacer.next(), Time(2_666_666_666_667));
    }

    #[test]
    fn a_burst_leaves_back_to_back_and_then_pays_for_all_of_it() {
        let rp = Rp { limiting: Limiting::Burst, burst: Bytes(3_000), ..Nic::quiet().rp };
        let mut pacer = Pacer::default();
        let rate = 8_000_000_000; // a byte a nanosecond
        pacer.left(&rp, Time(5_000), 1_000, (rate, false));
        assert_eq!(pacer.next(), Time(5_000));
        // The rate at its first frame is the rate of the burst.
        pacer.left(&rp, Time(90_000), 1_000, (rate / 2, false));
        pacer.left(&rp, Time(180_000), 1_500, (rate / 2, false));
        assert_eq!(pacer.next(), Time(5_000 + 3_500_000));
        pacer.left(&rp, Time(3_505_000), 1_000, (rate / 2, false));
        assert_eq!(pacer.next(), Time(3_505_000));
    }

    #[test]
    fn a_pacer_that_ticks_keeps_the_tick_before_or_the_one_after_and_each_device_one_of_both() {
        let rp = Rp { pacer_step: Some(Dur::ns(100)), ..Nic::quiet().rp };
        let next = |drawn| {
            let mut pacer = Pacer::of_device(drawn);
            pacer.left(&rp, Time(1_000), 1_048, (50_000_000_000, true));
            pacer.next()
        };
        // 167.68 ns.
        assert_eq!([next(0), next(2)], [Time(101_000), Time(201_000)]);
        let mut pacer = Pacer::of_device(2);
        pacer.left(&rp, Time(0), 1_048, (50_000_000_000, false));
        assert_eq!(pacer.next(), Time(167_680));
        // What goes out in whole ticks is neither sooner nor later.
        pacer.left(&rp, Time(0), 1_250, (50_000_000_000, true));
        assert_eq!(pacer.next(), Time(200_000));
    }
}
