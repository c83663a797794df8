//! The arithmetic of a ring that is shared with the kernel, without the kernel.
//!
//! A ring is two free-running indices and a power of two of entries. One side writes entries and then the producer
//! index, the other reads entries and then writes the consumer index; each writes nothing else. Indices wrap at 2^32,
//! entries at the ring's size, and the producer is never more than the ring's size ahead.
//!
//! Entries are words that are loaded and stored as atomics, so that even a kernel that breaks the protocol can give
//! wrong values only, never undefined behaviour.

use core::marker::PhantomData;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicU64};

/// Memory that holds a ring.
pub(crate) trait Shared {
    /// The producer's index.
    fn producer(&self) -> &AtomicU32;
    /// The consumer's index.
    fn consumer(&self) -> &AtomicU32;
    /// The entries, [`Entry::WORDS`] words each.
    fn words(&self) -> &[AtomicU64];
}

impl<M: Shared> Shared for &M {
    fn producer(&self) -> &AtomicU32 {
        (*self).producer()
    }
    fn consumer(&self) -> &AtomicU32 {
        (*self).consumer()
    }
    fn words(&self) -> &[AtomicU64] {
        (*self).words()
    }
}

/// Something that a ring carries.
pub(crate) trait Entry: Copy {
    /// Its size in words.
    const WORDS: usize;
    /// Writes it into its words.
    fn store(self, words: &[AtomicU64]);
    /// Reads it from its words.
    fn load(words: &[AtomicU64]) -> Self;
}

/// An address: what the fill and completion rings carry.
impl Entry for u64 {
    const WORDS: usize = 1;
    fn store(self, words: &[AtomicU64]) {
        words[0].store(self, Relaxed);
    }
    fn load(words: &[AtomicU64]) -> u64 {
        words[0].load(Relaxed)
    }
}

/// A piece of a frame: what the receive and transmit rings carry (`struct xdp_desc`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Desc {
    /// Where it is in the port's memory.
    pub(crate) addr: u64,
    /// How long it is.
    pub(crate) len: u32,
    /// Flags: [`libc::XDP_PKT_CONTD`] where the frame goes on in the next piece.
    pub(crate) options: u32,
}

impl Entry for Desc {
    const WORDS: usize = 2;
    fn store(self, words: &[AtomicU64]) {
        words[0].store(self.addr, Relaxed);
        let [a, b, c, d] = self.len.to_ne_bytes();
        let [e, f, g, h] = self.options.to_ne_bytes();
        words[1].store(u64::from_ne_bytes([a, b, c, d, e, f, g, h]), Relaxed);
    }
    fn load(words: &[AtomicU64]) -> Desc {
        let [a, b, c, d, e, f, g, h] = words[1].load(Relaxed).to_ne_bytes();
        Desc {
            addr: words[0].load(Relaxed),
            len: u32::from_ne_bytes([a, b, c, d]),
            options: u32::from_ne_bytes([e, f, g, h]),
        }
    }
}

/// The writing side of a ring.
#[derive(Debug)]
pub(crate) struct Producer<M, E> {
    pub(crate) shared: M,
    size: u32,
    /// Where the next entry goes.
    staged: u32,
    /// What the other side may read up to.
    published: u32,
    /// The consumer's index as it was seen last.
    consumed: u32,
    entries: PhantomData<E>,
}

impl<M: Shared, E: Entry> Producer<M, E> {
    /// The writing side of the ring in `shared`, which goes on where its indices stand.
    pub(crate) fn new(shared: M) -> Producer<M, E> {
        let published = shared.producer().load(Relaxed);
        let consumed = shared.consumer().load(Acquire);
        let size = size::<E>(&shared);
        Producer { shared, size, staged: published, published, consumed, entries: PhantomData }
    }

    /// Whether the ring has room for an entry.
    #[must_use]
    pub(crate) fn has_room(&mut self) -> bool {
        if self.staged.wrapping_sub(self.consumed) < self.size {
            return true;
        }
        // Acquire: the other side has read the entry that the next one overwrites.
        self.consumed = self.shared.consumer().load(Acquire);
        self.staged.wrapping_sub(self.consumed) < self.size
    }

    /// Writes `entry`; `false` when the ring is full. It is not read before it is published.
    #[must_use]
    pub(crate) fn stage(&mut self, entry: E) -> bool {
        if !self.has_room() {
            return false;
        }
        entry.store(words::<M, E>(&self.shared, self.size, self.staged));
        self.staged = self.staged.wrapping_add(1);
        true
    }

    /// Lets the other side read all that was staged.
    pub(crate) fn publish(&mut self) {
        self.published = self.staged;
        // Release: the entries are written before the index that shows them.
        self.shared.producer().store(self.published, Release);
    }

    /// Published entries that the other side has not taken yet.
    pub(crate) fn waiting(&self) -> u32 {
        self.published.wrapping_sub(self.shared.consumer().load(Acquire))
    }
}

/// The reading side of a ring.
#[derive(Debug)]
pub(crate) struct Consumer<M, E> {
    pub(crate) shared: M,
    size: u32,
    /// Where the next entry is.
    taken: u32,
    /// The producer's index as it was seen last.
    produced: u32,
    entries: PhantomData<E>,
}

impl<M: Shared, E: Entry> Consumer<M, E> {
    /// The reading side of the ring in `shared`, which goes on where its indices stand.
    pub(crate) fn new(shared: M) -> Consumer<M, E> {
        let taken = shared.consumer().load(Relaxed);
        let size = size::<E>(&shared);
        Consumer { shared, size, taken, produced: taken, entries: PhantomData }
    }

    /// The next published entry.
    pub(crate) fn take(&mut self) -> Option<E> {
        if self.taken == self.produced {
            // Acquire: the entries that the index shows are written.
            self.produced = self.shared.producer().load(Acquire);
            if self.taken == self.produced {
                return None;
            }
        }
        let entry = E::load(words::<M, E>(&self.shared, self.size, self.taken));
        self.taken = self.taken.wrapping_add(1);
        Some(entry)
    }

    /// Lets the other side overwrite all that was taken.
    pub(crate) fn release(&mut self) {
        // Release: the entries are read before the index that gives them up.
        self.shared.consumer().store(self.taken, Release);
    }
}

/// How many entries the memory holds.
fn size<E: Entry>(shared: &impl Shared) -> u32 {
    let size = shared.words().len() / E::WORDS;
    assert!(size.is_power_of_two(), "a ring of {size} entries; a power of two is needed");
    u32::try_from(size).expect("the kernel counts entries in 32 bits")
}

/// The words of the entry that `index` stands for.
fn words<M: Shared, E: Entry>(shared: &M, size: u32, index: u32) -> &[AtomicU64] {
    let first = (index & (size - 1)) as usize * E::WORDS;
    &shared.words()[first..first + E::WORDS]
}

#[cfg(test)]
mod tests;
