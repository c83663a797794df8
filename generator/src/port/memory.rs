//! Two ports in one process with nothing between them: what one sends the other receives at once. No kernel, no root.
//!
//! Stamps come from a [`Manual`] clock, so that whoever tests an executor decides what time it is.

use super::pool::{Frame, Pool};
use super::{Kick, PortError, Receive, Stamp, StampedBy, Stats, Transmit};
use crate::clock::{Clock, Manual};
use rig_units::Dur;
use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, PoisonError};

/// Both halves of one of the two ports.
pub type Halves = (Box<dyn Transmit>, Box<dyn Receive>);

/// Two ports that face each other, with so many slots for frames of up to `longest` bytes each.
pub fn pair(clock: &Manual, slots: u32, longest: usize) -> (Halves, Halves) {
    let (there, back) = (Line::default(), Line::default());
    let port = |out: &Line, from: &Line| -> Halves {
        let tx = Tx {
            pool: Pool::new(slots),
            memory: (0..slots).map(|_| vec![0; longest]).collect(),
            staged: Vec::new(),
            published: Vec::new(),
            line: out.clone(),
            clock: clock.clone(),
        };
        (Box::new(tx), Box::new(Rx { line: from.clone() }))
    };
    (port(&there, &back), port(&back, &there))
}

/// Frames on their way.
type Line = Arc<Mutex<VecDeque<(Vec<u8>, Stamp)>>>;

#[derive(Debug)]
struct Tx {
    pool: Pool,
    memory: Vec<Vec<u8>>,
    staged: Vec<(usize, usize)>,
    published: Vec<(usize, usize)>,
    line: Line,
    clock: Manual,
}

impl Transmit for Tx {
    fn alloc(&mut self) -> Option<Frame> {
        self.pool.take()
    }

    fn bytes<'a>(&'a mut self, frame: &'a mut Frame) -> &'a mut [u8] {
        let slot = self.pool.held(frame);
        &mut self.memory[slot]
    }

    fn release(&mut self, frame: Frame) {
        self.pool.put_back(frame);
    }

    fn stage(&mut self, frame: Frame, len: usize) {
        let slot = self.pool.lend(frame, 1);
        self.staged.push((slot, len));
    }

    fn publish(&mut self) {
        self.published.append(&mut self.staged);
    }

    fn kick(&mut self) -> Result<Kick, PortError> {
        let stamp = Stamp { at: self.clock.mono(self.clock.now()), by: StampedBy::XdpProgram };
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        for (slot, len) in self.published.drain(..) {
            line.push_back((self.memory[slot][..len].to_vec(), stamp));
            let lent = self.pool.returned(slot as u64);
            assert!(lent, "a slot comes back once");
        }
        Ok(Kick::default())
    }

    fn reclaim(&mut self) -> usize {
        0
    }

    fn stats(&self) -> Result<Stats, PortError> {
        Ok(Stats::default())
    }
}

#[derive(Debug)]
struct Rx {
    line: Line,
}

impl Receive for Rx {
    fn poll(&mut self, take: &mut dyn FnMut(&[u8], Stamp)) -> Result<usize, PortError> {
        let arrived: Vec<_> =
            self.line.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect();
        arrived.iter().for_each(|(frame, stamp)| take(frame, *stamp));
        Ok(arrived.len())
    }

    fn wait(&mut self, _: Dur) -> Result<bool, PortError> {
        Ok(!self.line.lock().unwrap_or_else(PoisonError::into_inner).is_empty())
    }

    fn fds(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }

    fn stats(&self) -> Result<Stats, PortError> {
        Ok(Stats::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Mono;
    use rig_units::Time;

    #[test]
    fn what_one_port_sends_the_other_receives_and_not_before_it_is_kicked() {
        let clock = Manual::default();
        clock.advance_to(Time::ZERO + Dur::us(3));
        let ((mut tx, _), (_, mut rx)) = pair(&clock, 1, 64);
        let mut frame = tx.alloc().expect("one slot");
        assert!(tx.alloc().is_none());
        tx.bytes(&mut frame)[..3].copy_from_slice(b"abc");
        tx.stage(frame, 3);
        tx.publish();
        assert_eq!(rx.poll(&mut |_, _| {}).expect("in memory"), 0);
        tx.kick().expect("in memory");
        let mut seen = Vec::new();
        rx.poll(&mut |bytes, stamp| seen.push((bytes.to_vec(), stamp.at))).expect("in memory");
        assert_eq!(seen, [(b"abc".to_vec(), Mono(3_000))]);
        assert!(tx.alloc().is_some(), "its slot came back");
    }
}
