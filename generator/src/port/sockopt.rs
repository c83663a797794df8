//! Socket options as plain structs.
#![expect(unsafe_code, reason = "nothing safe has the options of AF_XDP and AF_PACKET sockets")]

use nix::errno::Errno;
use std::os::fd::{AsRawFd, BorrowedFd};

/// A struct of integers without gaps that the kernel may fill with any bits.
///
/// # Safety
/// The type is `repr(C)`, every bit pattern is a value, and it holds no reference.
pub(crate) unsafe trait Plain: Copy {}

// SAFETY: an integer.
unsafe impl Plain for u32 {}
// SAFETY: an integer.
unsafe impl Plain for i32 {}
// SAFETY: `repr(C)`, integers only.
unsafe impl Plain for libc::xdp_mmap_offsets {}
// SAFETY: `repr(C)`, integers only.
unsafe impl Plain for libc::xdp_statistics {}
// SAFETY: `repr(C)`, integers only.
unsafe impl Plain for libc::xdp_options {}
// SAFETY: `repr(C)`, integers only.
unsafe impl Plain for libc::packet_mreq {}

/// What a packet socket lost (`struct tpacket_stats`); reading it sets it back to zero.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PacketCounts {
    /// Frames received and dropped.
    pub(crate) packets: u32,
    /// Frames for which the socket had no room.
    pub(crate) drops: u32,
}
// SAFETY: `repr(C)`, integers only.
unsafe impl Plain for PacketCounts {}

/// Sets option `name` at `level`.
pub(crate) fn set<T: Plain>(
    fd: BorrowedFd<'_>,
    level: i32,
    name: i32,
    value: &T,
) -> Result<(), Errno> {
    let len = size_of::<T>().try_into().map_err(|_| Errno::EINVAL)?;
    // SAFETY: `value` is readable for `len` bytes, and the kernel keeps no pointer to it.
    let answer = unsafe {
        libc::setsockopt(fd.as_raw_fd(), level, name, core::ptr::from_ref(value).cast(), len)
    };
    Errno::result(answer).map(drop)
}

/// Reads option `name` at `level`.
pub(crate) fn get<T: Plain>(fd: BorrowedFd<'_>, level: i32, name: i32) -> Result<T, Errno> {
    // SAFETY: all bits zero is a value of every `Plain` type.
    let mut value: T = unsafe { core::mem::zeroed() };
    let mut len = size_of::<T>().try_into().map_err(|_| Errno::EINVAL)?;
    // SAFETY: `value` is writable for `len` bytes, and whatever the kernel writes there is a value.
    let answer = unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            level,
            name,
            core::ptr::from_mut(&mut value).cast(),
            &raw mut len,
        )
    };
    Errno::result(answer)?;
    // An older kernel knows fewer fields: nothing that it left out may pass for a zero.
    if usize::try_from(len) == Ok(size_of::<T>()) { Ok(value) } else { Err(Errno::ENOPROTOOPT) }
}
