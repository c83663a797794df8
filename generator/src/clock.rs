//! The clock that paces: instants of a session, counted from its start, beside the clock of the ports' timestamps.
//!
//! An executor takes it as an argument, so that a test can hold it, let it run or make it jump.

use crate::port::{Mono, PortError, Receive, wait_any};
use core::sync::atomic::{AtomicU64, Ordering};
use rig_units::{Dur, Time};
use std::sync::Arc;

/// Tells the time of a session and lets it pass.
pub trait Clock: core::fmt::Debug {
    /// Now.
    fn now(&self) -> Time;

    /// An instant of the ports' clock on this one. What lies before the session's start counts as its start.
    fn at(&self, stamp: Mono) -> Time;

    /// An instant of this clock on that of the ports.
    fn mono(&self, at: Time) -> Mono;

    /// Sleeps until `until`, or until a frame waits at one of `ports`. May wake for nothing.
    ///
    /// # Errors
    /// An interface is down or gone.
    fn sleep(&self, until: Time, ports: &[&dyn Receive]) -> Result<(), PortError>;

    /// Stays awake until `until`, to the nanosecond.
    fn spin(&self, until: Time);
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Time {
        (**self).now()
    }

    fn at(&self, stamp: Mono) -> Time {
        (**self).at(stamp)
    }

    fn mono(&self, at: Time) -> Mono {
        (**self).mono(at)
    }

    fn sleep(&self, until: Time, ports: &[&dyn Receive]) -> Result<(), PortError> {
        (**self).sleep(until, ports)
    }

    fn spin(&self, until: Time) {
        (**self).spin(until);
    }
}

/// The machine's clock that never steps, CLOCK_MONOTONIC, from the start of a session on. Who sleeps by it wakes soon
/// where one of the ports wakes nobody ([`wait_any`]).
#[derive(Debug, Clone, Copy)]
pub struct Wall {
    epoch: Mono,
}

impl Wall {
    /// A session that starts now.
    pub fn start() -> Wall {
        Wall { epoch: Mono::now() }
    }

    /// A session that started at `epoch`.
    pub const fn since(epoch: Mono) -> Wall {
        Wall { epoch }
    }
}

impl Clock for Wall {
    fn now(&self) -> Time {
        self.at(Mono::now())
    }

    fn at(&self, stamp: Mono) -> Time {
        since(self.epoch, stamp)
    }

    fn mono(&self, at: Time) -> Mono {
        Mono(self.epoch.0 + at.0 / 1_000)
    }

    fn sleep(&self, until: Time, ports: &[&dyn Receive]) -> Result<(), PortError> {
        wait_any(ports, until.since(self.now()).unwrap_or_default()).map(|_| ())
    }

    fn spin(&self, until: Time) {
        while self.now() < until {
            core::hint::spin_loop();
        }
    }
}

fn since(epoch: Mono, stamp: Mono) -> Time {
    Time::ZERO + stamp.since(epoch).unwrap_or(Dur::ZERO)
}

/// A clock that a test holds. It moves when it is told to, and when somebody sleeps or spins by it. Clones tell the same
/// time.
#[derive(Debug, Clone, Default)]
pub struct Manual {
    ps: Arc<AtomicU64>,
}

impl Manual {
    /// Goes on to `at`, or stays when that is over.
    pub fn advance_to(&self, at: Time) {
        self.ps.fetch_max(at.0, Ordering::SeqCst);
    }

    /// Jumps to `at`, backwards too.
    pub fn step_to(&self, at: Time) {
        self.ps.store(at.0, Ordering::SeqCst);
    }
}

impl Clock for Manual {
    fn now(&self) -> Time {
        Time(self.ps.load(Ordering::SeqCst))
    }

    fn at(&self, stamp: Mono) -> Time {
        since(Mono(0), stamp)
    }

    fn mono(&self, at: Time) -> Mono {
        Mono(at.0 / 1_000)
    }

    fn sleep(&self, until: Time, _: &[&dyn Receive]) -> Result<(), PortError> {
        self.advance_to(until);
        Ok(())
    }

    fn spin(&self, until: Time) {
        self.advance_to(until);
    }
}
