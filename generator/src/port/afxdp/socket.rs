//! An AF_XDP socket: its memory, its four rings, the queue that it is bound to.
#![expect(unsafe_code, reason = "nothing safe speaks to AF_XDP sockets")]

use super::mapping::{Regions, RingMemory};
use crate::port::{Fault, Stats, sockopt};
use libc::SOL_XDP;
use nix::errno::Errno;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Size of a chunk: the largest that the kernel takes. A received frame loses the first 256 bytes of its first one to
/// the kernel.
pub(crate) const CHUNK: usize = 4096;

/// How many entries each pair of rings has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// Receive and fill.
    pub(crate) rx: u32,
    /// Transmit and completion.
    pub(crate) tx: u32,
}

/// The rings of a socket.
#[derive(Debug)]
pub(crate) struct Rings {
    pub(crate) rx: RingMemory,
    pub(crate) fill: RingMemory,
    pub(crate) tx: RingMemory,
    pub(crate) completion: RingMemory,
}

/// How a socket is bound to its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Binding {
    /// Whether frames go between driver and socket without a copy.
    pub(crate) zero_copy: bool,
    /// Whether a frame may span several chunks.
    pub(crate) multi_buffer: bool,
}

/// An AF_XDP socket that is bound to a queue.
#[derive(Debug)]
pub(crate) struct Socket(OwnedFd);

impl Socket {
    /// A socket that is bound to nothing yet.
    pub(crate) fn new() -> Result<Socket, Fault> {
        // SAFETY: takes no address.
        let fd = unsafe { libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
        let fd = Errno::result(fd).map_err(|errno| Fault::of("make an AF_XDP socket", errno))?;
        // SAFETY: made by the call above, and nobody else knows it.
        Ok(Socket(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Gives the socket its memory and its rings.
    pub(crate) fn equip(&self, memory: &Regions, sizes: Sizes) -> Result<Rings, Fault> {
        // SAFETY: all bits zero is a value: integers only.
        let mut umem: libc::xdp_umem_reg = unsafe { core::mem::zeroed() };
        umem.addr = memory.base();
        umem.len = memory.len();
        umem.chunk_size = CHUNK.try_into().expect("a small constant");
        let size = size_of::<libc::xdp_umem_reg>().try_into().expect("a small struct");
        // SAFETY: the address and length are those of a mapping that the port keeps for as long as the socket.
        let answer = unsafe {
            let umem = core::ptr::from_ref(&umem).cast();
            libc::setsockopt(self.0.as_raw_fd(), SOL_XDP, libc::XDP_UMEM_REG, umem, size)
        };
        Errno::result(answer)
            .map_err(|errno| Fault::of("register the port's memory with the kernel", errno))?;
        self.rings(sizes)
    }

    /// Gives the socket its rings.
    pub(crate) fn rings(&self, sizes: Sizes) -> Result<Rings, Fault> {
        let os = |tried| move |errno| Fault::of(tried, errno);
        let rings = [
            (libc::XDP_UMEM_FILL_RING, sizes.rx),
            (libc::XDP_RX_RING, sizes.rx),
            (libc::XDP_UMEM_COMPLETION_RING, sizes.tx),
            (libc::XDP_TX_RING, sizes.tx),
        ];
        for (ring, entries) in rings {
            sockopt::set(self.fd(), SOL_XDP, ring, &entries)
                .map_err(os("make the port's rings"))?;
        }
        self.map(sizes).map_err(os("map the port's rings"))
    }

    fn map(&self, sizes: Sizes) -> Result<Rings, Errno> {
        let at: libc::xdp_mmap_offsets = sockopt::get(self.fd(), SOL_XDP, libc::XDP_MMAP_OFFSETS)?;
        let place = |place: u64| libc::off_t::try_from(place).map_err(|_| Errno::EOVERFLOW);
        let (fill, done) =
            (place(libc::XDP_UMEM_PGOFF_FILL_RING)?, place(libc::XDP_UMEM_PGOFF_COMPLETION_RING)?);
        let fd = self.fd();
        Ok(Rings {
            rx: RingMemory::map(fd, libc::XDP_PGOFF_RX_RING, &at.rx, sizes.rx, 2)?,
            fill: RingMemory::map(fd, fill, &at.fr, sizes.rx, 1)?,
            tx: RingMemory::map(fd, libc::XDP_PGOFF_TX_RING, &at.tx, sizes.tx, 2)?,
            completion: RingMemory::map(fd, done, &at.cr, sizes.tx, 1)?,
        })
    }

    /// Binds to a queue of the interface.
    pub(crate) fn bind(&self, interface: u32, queue: u32, how: Binding) -> Result<(), Errno> {
        let mode = if how.zero_copy { libc::XDP_ZEROCOPY } else { libc::XDP_COPY };
        let pieces = if how.multi_buffer { libc::XDP_USE_SG } else { 0 };
        self.bind_as(interface, queue, (libc::XDP_USE_NEED_WAKEUP | mode | pieces, 0))
    }

    /// Binds to a further queue, in the way of the `first` and with its memory.
    pub(crate) fn bind_beside(
        &self,
        interface: u32,
        queue: u32,
        first: BorrowedFd<'_>,
    ) -> Result<(), Errno> {
        let memory = u32::try_from(first.as_raw_fd()).map_err(|_| Errno::EBADF)?;
        self.bind_as(interface, queue, (libc::XDP_SHARED_UMEM, memory))
    }

    fn bind_as(
        &self,
        interface: u32,
        queue: u32,
        (flags, memory): (u16, u32),
    ) -> Result<(), Errno> {
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP.try_into().expect("a small constant"),
            sxdp_flags: flags,
            sxdp_ifindex: interface,
            sxdp_queue_id: queue,
            sxdp_shared_umem_fd: memory,
        };
        let len = size_of_val(&address).try_into().expect("a small struct");
        // SAFETY: the address is readable for `len` bytes.
        let answer =
            unsafe { libc::bind(self.0.as_raw_fd(), core::ptr::from_ref(&address).cast(), len) };
        Errno::result(answer).map(drop)
    }

    /// Whether the kernel says that frames are not copied.
    pub(crate) fn is_zero_copy(&self) -> Result<bool, Errno> {
        let options: libc::xdp_options = sockopt::get(self.fd(), SOL_XDP, libc::XDP_OPTIONS)?;
        Ok(options.flags & libc::XDP_OPTIONS_ZEROCOPY != 0)
    }

    /// Has the kernel send what is in the transmit ring.
    pub(crate) fn kick(&self) -> Result<(), Errno> {
        // SAFETY: an empty message to no address.
        let answer = unsafe {
            let nothing = core::ptr::null();
            libc::sendto(self.0.as_raw_fd(), nothing, 0, libc::MSG_DONTWAIT, core::ptr::null(), 0)
        };
        Errno::result(answer).map(drop)
    }

    /// Has the kernel look at the fill ring, and asks it how the interface is.
    pub(crate) fn nudge(&self) -> Result<(), Errno> {
        // SAFETY: room for nothing, and no address asked for.
        let answer = unsafe {
            let nothing = core::ptr::null_mut();
            let nobody = core::ptr::null_mut();
            libc::recvfrom(
                self.0.as_raw_fd(),
                nothing,
                0,
                libc::MSG_DONTWAIT,
                nobody,
                core::ptr::null_mut(),
            )
        };
        Errno::result(answer).map(drop)
    }

    /// The kernel's counts since the socket was made.
    pub(crate) fn stats(&self) -> Result<Stats, Errno> {
        let all: libc::xdp_statistics = sockopt::get(self.fd(), SOL_XDP, libc::XDP_STATISTICS)?;
        Ok(Stats {
            rx_dropped: all.rx_dropped,
            rx_ring_full: all.rx_ring_full,
            fill_ring_empty: all.rx_fill_ring_empty_descs,
            rx_invalid: all.rx_invalid_descs,
            tx_invalid: all.tx_invalid_descs,
            tx_ring_empty: all.tx_ring_empty_descs,
            ..Stats::default()
        })
    }

    /// The socket's descriptor.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
