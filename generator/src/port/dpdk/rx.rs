//! The receiving half of a DPDK port: asked again and again, for nothing wakes its reader.

use super::Shared;
use super::incoming::Incoming;
use super::nic_clock::{NicClock, Reading};
use crate::port::wait::{self, BLIND, Checkup};
use crate::port::{Mono, PortError, Receive, Stamp, StampedBy, Stats};
use core::sync::atomic::Ordering::Relaxed;
use rig_units::Dur;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// A stamp of the NIC that lies further back than this, or ahead, is none.
const OLDEST: Dur = Dur::s(1);

/// Receives the frames of one port.
#[derive(Debug)]
pub(super) struct Receiver {
    shared: Arc<Shared>,
    incoming: Incoming,
    /// When the frames that are held were taken from the driver.
    taken_at: Mono,
    /// What the NIC's timestamps mean, if it makes any.
    clock: Option<NicClock>,
    checkup: Checkup,
}

impl Receiver {
    /// The half that receives, with the clock of a NIC that timestamps.
    pub(super) fn new(shared: Arc<Shared>, clock: Option<NicClock>) -> Receiver {
        let incoming = Incoming::new(Arc::clone(&shared));
        Receiver { shared, incoming, taken_at: Mono::now(), clock, checkup: Checkup::new() }
    }

    /// Takes what has arrived from the driver; whether any frames are held now.
    fn fill(&mut self) -> bool {
        if self.incoming.fill() > 0 {
            self.taken_at = Mono::now();
        }
        self.incoming.has_some()
    }

    /// Reads the NIC's clock when it is time to. One that cannot be read any more keeps its rate.
    fn read_clock(&mut self) {
        if let Some(clock) = &mut self.clock
            && clock.is_due(Mono::now())
            && let Ok(reading) = Reading::best(|| self.shared.device.ticks())
        {
            clock.learn(reading);
        }
    }
}

/// When a frame came: by the NIC's clock where that can be, else when it was taken from the driver; and whether the NIC
/// ought to have said it.
fn stamp(clock: Option<&NicClock>, ticks: Option<u64>, taken_at: Mono) -> (Stamp, bool) {
    let by_process = Stamp { at: taken_at, by: StampedBy::Process };
    let Some(clock) = clock else { return (by_process, false) };
    let at = ticks.map(|ticks| clock.at(ticks));
    let sane = at.filter(|&at| taken_at.since(at).is_some_and(|age| age <= OLDEST));
    sane.map_or((by_process, true), |at| (Stamp { at, by: StampedBy::Nic }, false))
}

impl Receive for Receiver {
    fn poll(&mut self, take: &mut dyn FnMut(&[u8], Stamp)) -> Result<usize, PortError> {
        self.read_clock();
        if !self.fill() {
            if self.checkup.is_due() {
                self.shared.is_well()?;
            }
            return Ok(0);
        }
        let (clock, taken_at) = (self.clock.as_ref(), self.taken_at);
        let unstamped = &self.shared.rx_unstamped;
        Ok(self.incoming.hand(&mut |bytes, ticks| {
            let (stamp, missing) = stamp(clock, ticks, taken_at);
            if missing {
                unstamped.fetch_add(1, Relaxed);
            }
            take(bytes, stamp);
        }))
    }

    fn wait(&mut self, timeout: Dur) -> Result<bool, PortError> {
        let start = Mono::now();
        loop {
            if self.fill() {
                return Ok(true);
            }
            if self.checkup.is_due() {
                self.shared.is_well()?;
            }
            let waited = Mono::now().since(start).unwrap_or(Dur::ZERO);
            if waited >= timeout {
                return self.shared.is_well().map(|()| false);
            }
            wait::pause(BLIND.min(Dur(timeout.0 - waited.0)));
        }
    }

    fn fds(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }

    fn stats(&self) -> Result<Stats, PortError> {
        self.shared.stats()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_of_the_nic_is_used_only_where_it_can_be_true() {
        let reading = |ticks, at| Reading { ticks, at: Mono(at), took: 0 };
        let clock = NicClock::new(reading(0, 10_000_000_000), reading(100, 10_000_001_000));
        let clock = clock.as_ref();
        let taken = Mono(10_000_002_000);
        let by_process = Stamp { at: taken, by: StampedBy::Process };
        let by_nic = Stamp { at: Mono(10_000_001_500), by: StampedBy::Nic };
        assert_eq!(stamp(clock, Some(150), taken), (by_nic, false));
        assert_eq!(stamp(clock, Some(201), taken), (by_process, true), "yet to come");
        let late = Mono(11_000_001_500);
        assert_eq!(stamp(clock, Some(150), late).0.by, StampedBy::Nic, "a second ago");
        let later = Stamp { at: Mono(late.0 + 1), by: StampedBy::Process };
        assert_eq!(stamp(clock, Some(150), later.at), (later, true), "longer ago");
        assert_eq!(stamp(clock, None, taken), (by_process, true), "not stamped");
        assert_eq!(stamp(None, Some(150), taken), (by_process, false), "another port's stamps");
    }
}
