//! A piece of memory full of frames, on its way from the thread that paces to the one that writes.

use crate::Dir;
use rig_units::Time;

/// Bytes of frames in a chunk.
pub(super) const BYTES: usize = 1 << 20;
/// Frames in it, at most: as many of 64 bytes as there is room for.
const FRAMES: usize = BYTES / 64;

/// What a frame's bytes do not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) at: Time,
    pub(super) port: u16,
    pub(super) dir: Dir,
    /// Its length, whatever of it is kept.
    pub(super) len: u32,
    kept: u32,
}

impl Head {
    /// Of a frame of which `kept` bytes are kept.
    pub(super) fn new(port: u16, dir: Dir, at: Time, len: usize, kept: usize) -> Head {
        let short = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
        Head { at, port, dir, len: short(len), kept: short(kept) }
    }

    /// Whether some of it is cut off.
    pub(super) const fn is_cut(&self) -> bool {
        self.kept < self.len
    }
}

/// Frames in the order in which they were put in.
#[derive(Debug)]
pub(super) struct Chunk {
    heads: Vec<Head>,
    bytes: Vec<u8>,
}

impl Chunk {
    /// An empty one. All its memory has been written to once, so that the kernel gives it now and not while frames are due.
    pub(super) fn new() -> Chunk {
        let head = Head::new(0, Dir::Tx, Time::ZERO, 1, 1);
        let mut chunk = Chunk { heads: vec![head; FRAMES], bytes: vec![1; BYTES] };
        chunk.clear();
        chunk
    }

    pub(super) fn clear(&mut self) {
        self.heads.clear();
        self.bytes.clear();
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// Whether there is room for so many frames of so many bytes each.
    pub(super) const fn takes(&self, frames: usize, each: usize) -> bool {
        self.heads.len() + frames <= FRAMES && self.bytes.len() + frames * each <= BYTES
    }

    /// Puts a frame in; its place, or `None` when there is no room.
    pub(super) fn push(&mut self, head: Head, kept: &[u8]) -> Option<usize> {
        if !self.takes(1, kept.len()) {
            return None;
        }
        self.bytes.extend_from_slice(kept);
        self.heads.push(head);
        Some(self.heads.len() - 1)
    }

    /// Says when the frame at a place passed.
    pub(super) fn time(&mut self, place: usize, at: Time) {
        if let Some(head) = self.heads.get_mut(place) {
            head.at = at;
        }
    }

    /// Takes the frame at a place out again, with all behind it.
    pub(super) fn cut_off(&mut self, place: usize) {
        self.heads.truncate(place);
        self.bytes.truncate(self.heads.iter().map(|head| head.kept as usize).sum());
    }

    /// Every frame in the order of arrival: its head, and its bytes as far as they are kept.
    pub(super) fn frames(&self) -> impl Iterator<Item = (&Head, &[u8])> {
        let mut rest = self.bytes.as_slice();
        self.heads.iter().map(move |head| {
            let (frame, behind) = rest.split_at(head.kept as usize);
            rest = behind;
            (head, frame)
        })
    }
}
