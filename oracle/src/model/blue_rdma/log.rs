//! What frames say that have no room for it: those that were sent last, by number.

use crate::model::packet::Packet;
use rig_capture::blue_rdma::Frame;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// So many frames are never under way at once.
const KEPT: usize = 1 << 16;

/// What was said, by all NICs of a network.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    frames: VecDeque<Frame>,
    /// The number of the first.
    first: u32,
}

/// The same, to look at.
#[derive(Debug, Clone)]
pub struct Said(Log);

impl Said {
    /// What a frame of the engine says, if it is one of blue-rdma. Its connection is called as the engine calls it.
    pub fn of(&self, packet: &Packet) -> Option<Frame> {
        self.0.said(packet)
    }
}

impl Log {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For others to look at.
    pub(crate) fn look(&self) -> Said {
        Said(self.clone())
    }

    /// The same packet, which says this.
    pub(super) fn note(&self, packet: Packet, frame: Frame) -> Packet {
        let mut kept = self.kept();
        if kept.frames.len() == KEPT {
            kept.frames.pop_front();
            kept.first = kept.first.wrapping_add(1);
        }
        let number = kept.first.wrapping_add(u32::try_from(kept.frames.len()).unwrap_or(0));
        kept.frames.push_back(frame);
        packet.with_note(number & 0xff_ffff)
    }

    /// What a packet says.
    pub(super) fn said(&self, packet: &Packet) -> Option<Frame> {
        let kept = self.kept();
        let behind = packet.note()?.wrapping_sub(kept.first) & 0xff_ffff;
        kept.frames.get(usize::try_from(behind).ok()?).copied()
    }
}
