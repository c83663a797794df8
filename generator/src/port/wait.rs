//! Sleeping: until a socket has something, or for a while.

use super::error::Fault;
use super::{Mono, PortError, Receive};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use rig_units::Dur;
use std::os::fd::BorrowedFd;

/// What a sleep ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Woken {
    /// There is something to read.
    Readable,
    /// The socket has an error to tell.
    Failed,
    /// Time is over, or a signal came.
    Nothing,
}

/// Sleeps until one of `fds` has something to read or to tell, but no longer than `timeout`.
pub(crate) fn readable<'a>(
    fds: impl IntoIterator<Item = BorrowedFd<'a>>,
    timeout: Dur,
) -> Result<Woken, Errno> {
    let mut fds: Vec<_> = fds.into_iter().map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
    match ppoll(&mut fds, Some(timespec(timeout)), None) {
        Ok(0) | Err(Errno::EINTR) => Ok(Woken::Nothing),
        Ok(_) => {
            let has =
                |fd: &PollFd<'_>| fd.revents().is_some_and(|got| got.contains(PollFlags::POLLIN));
            Ok(if fds.iter().any(has) { Woken::Readable } else { Woken::Failed })
        }
        Err(errno) => Err(errno),
    }
}

/// How long a port that wakes nobody is left alone at most. It is what a stamp of such a port's reader may be late by,
/// beside what the sleep takes longer than it should.
pub(crate) const BLIND: Dur = Dur::us(50);

/// How long it may be slept for `ports` at a stretch: no longer than [`BLIND`] when one of them wakes nobody.
pub(crate) fn at_most(ports: &[&dyn Receive], timeout: Dur) -> Dur {
    if ports.iter().any(|port| port.fds().is_empty()) { timeout.min(BLIND) } else { timeout }
}

/// Sleeps until a frame waits at one of `ports`, but no longer than `timeout`; whether one may be there. A port whose
/// interface is down or gone may wake nobody: a poll tells, within a tenth of a second. Nor does a port without a
/// descriptor: with one among them the sleep is a short one, and a frame may always be there.
///
/// # Errors
/// The kernel refuses to wait at all.
pub fn wait_any(ports: &[&dyn Receive], timeout: Dur) -> Result<bool, PortError> {
    let fds = ports.iter().flat_map(|port| port.fds());
    let mut fds: Vec<PollFd<'_>> = fds.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
    let blind = ports.iter().any(|port| port.fds().is_empty());
    match ppoll(&mut fds, Some(timespec(at_most(ports, timeout))), None) {
        Ok(ready) => Ok(ready > 0 || blind),
        Err(Errno::EINTR) => Ok(blind),
        Err(errno) => Err(Fault::of("wait for frames", errno).at("all ports")),
    }
}

/// How long a port may be silent before it is asked how its interface is: one that is down or gone says nothing.
pub(crate) const SILENCE: Dur = Dur::ms(100);

/// Says when a silent port is to be asked again.
#[derive(Debug)]
pub(crate) struct Checkup(Mono);

impl Checkup {
    /// Not before some silence from now on.
    pub(crate) fn new() -> Checkup {
        Checkup(Mono::now())
    }

    /// Whether it is time; then the silence begins anew.
    pub(crate) fn is_due(&mut self) -> bool {
        let now = Mono::now();
        let due = now.since(self.0) >= Some(SILENCE);
        if due {
            self.0 = now;
        }
        due
    }
}

/// Sleeps for `time`, or until a signal comes.
pub(crate) fn pause(time: Dur) {
    // Without a socket there is nothing to fail: the answer says only that time is over.
    let _ = ppoll(&mut [], Some(timespec(time)), None);
}

fn timespec(time: Dur) -> TimeSpec {
    let ns = time.0.div_ceil(1_000);
    core::time::Duration::from_nanos(ns).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Manual;
    use crate::port::memory;

    #[test]
    fn a_sleep_for_a_port_that_wakes_nobody_is_a_short_one() {
        let ((_, blind), _) = memory::pair(&Manual::default(), 1, 64);
        assert_eq!(at_most(&[&*blind], Dur::s(30)), BLIND);
        assert_eq!(at_most(&[&*blind], Dur::us(1)), Dur::us(1));
        assert_eq!(at_most(&[], Dur::s(30)), Dur::s(30));
        let start = Mono::now();
        assert_eq!(wait_any(&[&*blind], Dur::s(30)), Ok(true), "a frame may be there");
        assert!(Mono::now().since(start) < Some(Dur::s(10)), "slept over it");
        assert_eq!(wait_any(&[], Dur::us(1)), Ok(false));
    }
}
