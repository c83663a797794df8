//! The one clock of the ports: CLOCK_MONOTONIC, which the XDP program reads too.

use nix::time::{ClockId, clock_gettime};
use rig_units::Dur;

/// An instant of CLOCK_MONOTONIC, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mono(pub u64);

impl Mono {
    /// The reading of `CLOCK_MONOTONIC`.
    pub fn now() -> Mono {
        let now = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("every Linux has this clock");
        // Both parts count up from the machine's start: neither is negative.
        Mono(now.tv_sec().unsigned_abs() * 1_000_000_000 + now.tv_nsec().unsigned_abs())
    }

    /// How long after `earlier` this is; `None` when it is not after it.
    pub fn since(self, earlier: Mono) -> Option<Dur> {
        self.0.checked_sub(earlier.0)?.checked_mul(1_000).map(Dur)
    }
}

/// When a frame was seen, and by whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// By `CLOCK_MONOTONIC`.
    pub at: Mono,
    /// Who read the clock.
    pub by: StampedBy,
}

/// Who read the clock. None of these is the wire: each comes later than the frame by what lies between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StampedBy {
    /// The NIC, by its own clock, which the process reads beside this one.
    Nic,
    /// The XDP program, as the kernel handed it the frame: in the driver, or in the generic path behind it.
    XdpProgram,
    /// The process, as it read the frame: later by however long it slept.
    Process,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_runs_backwards() {
        let earlier = Mono::now();
        let later = Mono::now();
        assert!(later >= earlier);
    }

    #[test]
    fn a_difference_is_exact_and_never_negative() {
        assert_eq!(Mono(1_500).since(Mono(500)), Some(Dur::us(1)));
        assert_eq!(Mono(500).since(Mono(1_500)), None);
    }
}
