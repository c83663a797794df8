//! Who holds each slot of a port's memory: nobody, the caller, or the kernel. Every slot is held exactly once.
//!
//! The ledger takes nothing on trust. A caller shows a [`Frame`], which cannot be copied; what the kernel gives back
//! must have been lent to it, so that one that gives back a buffer twice cannot make two owners of it.

/// One slot of a port's memory, its holder's alone until it is sent or given back.
///
/// Dropping it takes the slot out of use until the port is closed.
#[must_use = "a dropped frame takes its slot with it: stage it or release it"]
#[derive(Debug, PartialEq, Eq)]
pub struct Frame {
    slot: u32,
    /// What the holder wants to find when the slot comes round again: which template its bytes are, say. Zero in a
    /// slot that was never used.
    pub tag: u64,
}

impl Frame {
    /// Which slot this is, counted from 0.
    pub fn slot(&self) -> usize {
        index(self.slot)
    }
}

/// Who holds a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    Nobody,
    Caller,
    /// The kernel, in this many pieces.
    Kernel(u32),
}

/// The slots of one region.
#[derive(Debug)]
pub(crate) struct Pool {
    holders: Vec<Holder>,
    tags: Vec<u64>,
    /// Slots that nobody holds, the one freed last on top: it is the likeliest to be in the cache.
    free: Vec<u32>,
}

impl Pool {
    /// `slots` slots that nobody holds.
    pub(crate) fn new(slots: u32) -> Pool {
        let all = index(slots);
        Pool {
            holders: vec![Holder::Nobody; all],
            tags: vec![0; all],
            free: (0..slots).rev().collect(),
        }
    }

    /// Hands a free slot to the caller.
    pub(crate) fn take(&mut self) -> Option<Frame> {
        let slot = self.free.pop()?;
        self.holders[index(slot)] = Holder::Caller;
        Some(Frame { slot, tag: self.tags[index(slot)] })
    }

    /// The slot of `frame`, which the caller holds.
    ///
    /// # Panics
    /// When the frame belongs to another port.
    pub(crate) fn held(&self, frame: &Frame) -> usize {
        let held = self.holders.get(frame.slot());
        assert_eq!(held, Some(&Holder::Caller), "frame {} belongs to another port", frame.slot);
        frame.slot()
    }

    /// Takes `frame` back.
    #[expect(clippy::needless_pass_by_value, reason = "the caller's hold ends here")]
    pub(crate) fn put_back(&mut self, frame: Frame) {
        let slot = self.held(&frame);
        self.tags[slot] = frame.tag;
        self.holders[slot] = Holder::Nobody;
        self.free.push(frame.slot);
    }

    /// Lends `frame` to the kernel in `pieces` pieces, each of which it gives back by itself; its slot.
    #[expect(clippy::needless_pass_by_value, reason = "the caller's hold ends here")]
    pub(crate) fn lend(&mut self, frame: Frame, pieces: u32) -> usize {
        let slot = self.held(&frame);
        self.tags[slot] = frame.tag;
        self.holders[slot] = Holder::Kernel(pieces);
        slot
    }

    /// Takes one piece of `slot` back from the kernel; `false` when it was not lent one.
    #[must_use]
    pub(crate) fn returned(&mut self, slot: u64) -> bool {
        let Ok(slot) = u32::try_from(slot) else { return false };
        let Some(holder) = self.holders.get_mut(index(slot)) else { return false };
        match holder {
            Holder::Kernel(1) => {
                *holder = Holder::Nobody;
                self.free.push(slot);
                true
            }
            Holder::Kernel(pieces) if *pieces > 1 => {
                *pieces -= 1;
                true
            }
            Holder::Kernel(_) | Holder::Caller | Holder::Nobody => false,
        }
    }

    /// Whether a slot is free.
    pub(crate) fn has_free(&self) -> bool {
        !self.free.is_empty()
    }
}

/// A slot number as an index.
fn index(slot: u32) -> usize {
    // Lossless: the rig runs on 64-bit machines.
    slot as usize
}

#[cfg(test)]
mod tests;
