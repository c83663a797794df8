//! How late a thread is woken from a sleep, and so how long before a departure a pacer stops sleeping.
//!
//! Machines differ by more than a power of ten, and one machine does between a quiet hour and a busy one: it is measured
//! where it is used, by the same clock and the same call.

use crate::clock::Clock;
use crate::port::PortError;
use crate::spread::Spread;
use rig_units::Dur;

/// Sleeps that are measured: three of them may be worse than the figure that is taken.
const SLEEPS: u32 = 300;
/// How long each is: about what a pacer sleeps between two frames.
const LENGTH: Dur = Dur::us(60);
/// Bounds of the answer. A thread that hardly sleeps is stopped by the kernel in the end, so that a machine that wakes
/// later than the upper one sends some frames late instead.
const LEAST: Dur = Dur::us(10);
const MOST: Dur = Dur::us(40);

/// How long before a departure a pacer on this clock and thread stops sleeping: what all but one in a hundred sleeps were late by.
///
/// # Errors
/// The kernel refuses to wait.
pub fn awake<C: Clock>(clock: &C) -> Result<Dur, PortError> {
    let mut late = Spread::new();
    for _ in 0..SLEEPS {
        let until = clock.now() + LENGTH;
        while clock.now() < until {
            clock.sleep(until, &[])?;
        }
        late.add(clock.now().since(until).unwrap_or_default());
    }
    Ok(late.figures().p99.clamp(LEAST, MOST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Manual;
    use crate::port::{Mono, Receive};
    use core::cell::Cell;
    use rig_units::Time;

    /// Wakes its sleeper late: by `usual`, and one time in sixty by much more.
    #[derive(Debug)]
    struct Sluggish {
        clock: Manual,
        usual: Dur,
        slept: Cell<u32>,
    }

    impl Clock for Sluggish {
        fn now(&self) -> Time {
            self.clock.now()
        }
        fn at(&self, stamp: Mono) -> Time {
            self.clock.at(stamp)
        }
        fn mono(&self, at: Time) -> Mono {
            self.clock.mono(at)
        }
        fn sleep(&self, until: Time, _: &[&dyn Receive]) -> Result<(), PortError> {
            self.slept.set(self.slept.get() + 1);
            let late = if self.slept.get().is_multiple_of(150) { Dur::ms(8) } else { self.usual };
            self.clock.advance_to(until + late);
            Ok(())
        }
        fn spin(&self, until: Time) {
            self.clock.spin(until);
        }
    }

    fn of(usual: Dur) -> Dur {
        let clock = Sluggish { clock: Manual::default(), usual, slept: Cell::new(0) };
        awake(&clock).expect("nothing to wait for")
    }

    #[test]
    fn a_pacer_is_awake_for_as_long_as_sleeps_are_late_and_a_stall_does_not_count() {
        let got = of(Dur::us(18));
        assert!((Dur::us(18)..Dur::ns(18_100)).contains(&got), "{got}");
    }

    #[test]
    fn what_is_measured_is_kept_within_reason() {
        assert_eq!(of(Dur::us(1)), LEAST);
        assert_eq!(of(Dur::us(700)), MOST);
    }
}
