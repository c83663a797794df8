//! As many frames of one template as a port takes: no timeline, nothing obeyed. For measuring ports.

use crate::clock::Clock;
use crate::port::{PortError, Transmit};
use crate::template::Template;
use rig_units::{Dur, Time};

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Blast {
    /// Frames that the port took.
    pub frames: u64,
    /// Of these, frames that it threw away.
    pub lost: u64,
    /// How long it took.
    pub took: Dur,
}

/// Sends for `length`, `batch` frames a call, numbered from `first` on. Each carries the time of its call where its
/// template has a place for that. Slots that hold one of its frames are marked with `tag`, which is not zero.
///
/// # Errors
/// The interface is down or gone.
pub fn blast<C: Clock>(
    tx: &mut dyn Transmit,
    template: &Template,
    tag: u64,
    clock: &C,
    batch: u32,
    first: u64,
    length: Dur,
) -> Result<Blast, PortError> {
    let start = clock.now();
    let end = start + length;
    let mut done = Blast::default();
    let mut waiting = 0;
    let mut now = start;
    while now < end {
        let stamp = clock.mono(now).0;
        for _ in 0..batch {
            let Some(mut frame) = tx.alloc() else { break };
            let primed = frame.tag == tag;
            frame.tag = tag;
            template.write(tx.bytes(&mut frame), primed, first + done.frames, stamp);
            tx.stage(frame, template.len());
            done.frames += 1;
        }
        tx.publish();
        let kick = tx.kick()?;
        done.lost += kick.lost;
        waiting = kick.waiting;
        now = clock.now();
    }
    // What waits in the ring when time is over was not sent in time, but leaves.
    let mut patience = 1_000;
    while waiting > 0 && patience > 0 {
        let kick = tx.kick()?;
        (done.lost, waiting) = (done.lost + kick.lost, kick.waiting);
        patience -= 1;
    }
    done.took = since(start, clock.now());
    Ok(done)
}

fn since(start: Time, end: Time) -> Dur {
    end.since(start).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Manual;
    use crate::flow::{Flow, FlowKind};
    use crate::port::{Frame, Kick, Stats, memory};
    use rig_frames::icrc;
    use rig_units::Bytes;

    /// A port whose every call takes a microsecond.
    #[derive(Debug)]
    struct Slow(Box<dyn Transmit>, Manual);

    impl Transmit for Slow {
        fn alloc(&mut self) -> Option<Frame> {
            self.0.alloc()
        }
        fn bytes<'a>(&'a mut self, frame: &'a mut Frame) -> &'a mut [u8] {
            self.0.bytes(frame)
        }
        fn release(&mut self, frame: Frame) {
            self.0.release(frame);
        }
        fn stage(&mut self, frame: Frame, len: usize) {
            self.0.stage(frame, len);
        }
        fn publish(&mut self) {
            self.0.publish();
        }
        fn kick(&mut self) -> Result<Kick, PortError> {
            self.1.advance_to(self.1.now() + Dur::us(1));
            self.0.kick()
        }
        fn reclaim(&mut self) -> usize {
            self.0.reclaim()
        }
        fn stats(&self) -> Result<Stats, PortError> {
            self.0.stats()
        }
    }

    #[test]
    fn every_frame_has_its_number_the_time_of_its_call_and_a_right_icrc() {
        let clock = Manual::default();
        let ((tx, _), (_, mut far)) = memory::pair(&clock, 6, 200);
        let mut tx = Slow(tx, clock.clone());
        let flow = Flow { stamped: true, ..Flow::between(0, 1, FlowKind::RoceSend, Bytes(80)) };
        let template = flow.template().expect("a size");
        let done = blast(&mut tx, &template, 1, &clock, 4, 5, Dur::us(3)).expect("in memory");
        assert_eq!(done, Blast { frames: 12, lost: 0, took: Dur::us(3) });
        let mut number = 0;
        far.poll(&mut |frame, _| {
            assert_eq!(frame, template.frame(5 + number, number / 4 * 1_000));
            assert_eq!(icrc::holds(frame), Ok(true));
            number += 1;
        })
        .expect("in memory");
        assert_eq!(number, 12);
    }
}
