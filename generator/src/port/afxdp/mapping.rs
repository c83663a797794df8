//! Memory shared with the kernel: the four rings of a socket, and the chunks that frames lie in.
#![expect(unsafe_code, reason = "mapped memory has no owner that the compiler knows")]

use super::ring::Shared;
use core::ptr::NonNull;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};
use nix::errno::Errno;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::Arc;

/// A mapping, unmapped when dropped.
#[derive(Debug)]
struct Mapping {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread; what may be read and written through it is up to its
// two users below, which hold it to themselves.
unsafe impl Send for Mapping {}
// SAFETY: the same; a shared reference alone gives access to nothing.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `len` bytes: of the ring at `place` of a socket, or fresh ones.
    fn new(len: usize, ring: Option<(BorrowedFd<'_>, libc::off_t)>) -> Result<Mapping, Errno> {
        let (flags, fd, place) = match ring {
            Some((fd, place)) => (libc::MAP_SHARED, fd.as_raw_fd(), place),
            None => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0),
        };
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at a place of the kernel's choice touches no memory that exists.
        let base = unsafe {
            libc::mmap(core::ptr::null_mut(), len, access, flags | libc::MAP_POPULATE, fd, place)
        };
        if base == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        let base = NonNull::new(base.cast()).ok_or(Errno::ENOMEM)?;
        Ok(Mapping { base, len })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length, and nobody is left who could reach it.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.len) };
    }
}

/// One ring of a socket.
#[derive(Debug)]
pub(crate) struct RingMemory {
    mapping: Mapping,
    producer: usize,
    consumer: usize,
    flags: usize,
    words: usize,
    count: usize,
}

impl RingMemory {
    /// Maps the ring at `place` of socket `fd`, laid out as the kernel says, with `entries` of `words_each` words.
    pub(crate) fn map(
        fd: BorrowedFd<'_>,
        place: libc::off_t,
        at: &libc::xdp_ring_offset,
        entries: u32,
        words_each: usize,
    ) -> Result<RingMemory, Errno> {
        let offset = |at: u64, align: usize| {
            let at = usize::try_from(at).map_err(|_| Errno::EOVERFLOW)?;
            if at.is_multiple_of(align) { Ok(at) } else { Err(Errno::EFAULT) }
        };
        let (producer, consumer) = (offset(at.producer, 4)?, offset(at.consumer, 4)?);
        let (flags, words) = (offset(at.flags, 4)?, offset(at.desc, 8)?);
        let count = entries as usize * words_each;
        let len = words + count * size_of::<u64>();
        if [producer, consumer, flags].iter().any(|index| index + 4 > words) {
            return Err(Errno::EFAULT);
        }
        let mapping = Mapping::new(len, Some((fd, place)))?;
        Ok(RingMemory { mapping, producer, consumer, flags, words, count })
    }

    /// Whether the kernel waits to be woken for this ring.
    pub(crate) fn wants_a_call(&self) -> bool {
        self.index(self.flags).load(Relaxed) & libc::XDP_RING_NEED_WAKEUP != 0
    }

    fn index(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: `map` has checked that the four bytes lie in the mapping and are aligned; a mapping starts on a
        // page. Here and in the kernel they are used atomically only.
        unsafe { self.mapping.base.add(offset).cast().as_ref() }
    }
}

impl Shared for RingMemory {
    fn producer(&self) -> &AtomicU32 {
        self.index(self.producer)
    }
    fn consumer(&self) -> &AtomicU32 {
        self.index(self.consumer)
    }
    fn words(&self) -> &[AtomicU64] {
        let first = self.mapping.base.as_ptr().wrapping_add(self.words).cast();
        // SAFETY: `map` has made the mapping long enough and has checked the alignment; the words are used atomically
        // only.
        unsafe { core::slice::from_raw_parts(first, self.count) }
    }
}

/// The memory that frames lie in, in regions: one for each queue that is received by, and one to send from.
#[derive(Debug)]
pub(crate) struct Regions {
    /// What the receiver has, queue by queue.
    pub(crate) rx: Vec<Region>,
    /// What the sender has.
    pub(crate) tx: Region,
}

impl Regions {
    /// Maps fresh memory for all: `rx` bytes for each of so many queues, and `tx`.
    pub(crate) fn map((rx, queues): (usize, usize), tx: usize) -> Result<Regions, Errno> {
        let mapping = Arc::new(Mapping::new(rx * queues + tx, None)?);
        let region = |start, len| Region { mapping: Arc::clone(&mapping), start, len };
        Ok(Regions {
            rx: (0..queues).map(|queue| region(queue * rx, rx)).collect(),
            tx: region(queues * rx, tx),
        })
    }

    /// Where it all starts in this process.
    pub(crate) fn base(&self) -> u64 {
        self.tx.mapping.base.as_ptr().expose_provenance() as u64
    }

    /// How much it is.
    pub(crate) fn len(&self) -> u64 {
        self.tx.mapping.len as u64
    }
}

/// A stretch of the memory that frames lie in. No other stretch overlaps it, and there is no second one of it.
#[derive(Debug)]
pub(crate) struct Region {
    mapping: Arc<Mapping>,
    start: usize,
    len: usize,
}

impl Region {
    /// The kernel's address of the byte at `offset`.
    pub(crate) fn address(&self, offset: usize) -> u64 {
        (self.start + offset) as u64
    }

    /// The offset of what the kernel calls `address`, when it lies in this region.
    pub(crate) fn offset(&self, address: u64) -> Option<usize> {
        let offset = usize::try_from(address).ok()?.checked_sub(self.start)?;
        (offset < self.len).then_some(offset)
    }

    /// `len` bytes from `offset` on, which the kernel must not hold.
    ///
    /// # Panics
    /// When they are not in the region.
    pub(crate) fn bytes(&mut self, offset: usize, len: usize) -> &mut [u8] {
        assert!(offset <= self.len && len <= self.len - offset, "{len} B at {offset}: not of here");
        let first = self.mapping.base.as_ptr().wrapping_add(self.start + offset);
        // SAFETY: the bytes lie in the mapping, which `self` keeps alive. No other region overlaps this one and
        // `self` is borrowed mutably, so that this is the only reference to them in the process. Of what the kernel
        // writes meanwhile, a caller that asks for a slot it holds (`Pool`) has nothing in hand.
        unsafe { core::slice::from_raw_parts_mut(first, len) }
    }
}
