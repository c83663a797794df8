//! bpf(2), as much of it as a port needs: a socket map, the program, its attachment.
#![expect(unsafe_code, reason = "bpf(2) has no safe wrapper that loads a program from memory")]

use super::insn::Insn;
use crate::port::{Attached, Fault};
use nix::errno::Errno;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

// Commands, types and flags of `enum bpf_cmd` and its like, in linux/bpf.h.
const MAP_CREATE: i32 = 0;
const MAP_UPDATE_ELEM: i32 = 2;
const PROG_LOAD: i32 = 5;
const OBJ_GET_INFO_BY_FD: i32 = 15;
const LINK_CREATE: i32 = 28;
const MAP_TYPE_XSKMAP: u32 = 17;
const PROG_TYPE_XDP: u32 = 6;
const ATTACH_XDP: u32 = 37;
const F_XDP_HAS_FRAGS: u32 = 1 << 5;
const XDP_FLAGS_SKB_MODE: u32 = 1 << 1;
const XDP_FLAGS_DRV_MODE: u32 = 1 << 2;

/// An argument of bpf(2): `repr(C)`, integers only, without gaps.
///
/// # Safety
/// Every address in it is that of memory of the length that the command wants, or that the struct itself names.
unsafe trait Argument {}

/// A map from queue to socket. Dropping it takes the sockets out of it.
#[derive(Debug)]
pub(crate) struct SocketMap(OwnedFd);

/// The loaded program.
#[derive(Debug)]
pub(crate) struct Program(OwnedFd);

/// The program on its interface; dropping it takes it off.
#[derive(Debug)]
pub(crate) struct Attachment(#[expect(dead_code, reason = "held open, never used")] OwnedFd);

#[repr(C)]
struct NewMap {
    map_type: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
    flags: u32,
    inner: u32,
    numa_node: u32,
    name: [u8; 16],
}
// SAFETY: holds no address.
unsafe impl Argument for NewMap {}

#[repr(C)]
struct NewEntry {
    map: i32,
    gap: u32,
    key: u64,
    value: u64,
    flags: u64,
}
// SAFETY: its maker points `key` and `value` at living `u32`s, the sizes that the socket map was made with.
unsafe impl Argument for NewEntry {}

#[repr(C)]
struct NewProgram {
    prog_type: u32,
    count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    attach_type: u32,
}
// SAFETY: its maker points it at living instructions, licence and log, and gives the lengths of the first and last.
unsafe impl Argument for NewProgram {}

#[repr(C)]
struct NewLink {
    program: i32,
    interface: u32,
    attach_type: u32,
    flags: u32,
}
// SAFETY: holds no address.
unsafe impl Argument for NewLink {}

#[repr(C)]
struct AskInfo {
    fd: i32,
    len: u32,
    info: u64,
}
// SAFETY: its maker points it at living memory of the length that it gives.
unsafe impl Argument for AskInfo {}

fn bpf<T: Argument>(command: i32, argument: &mut T) -> Result<i32, Errno> {
    let len = size_of::<T>();
    // SAFETY: the argument is readable and writable for its length; what its addresses point at is right by the
    // trait's contract.
    let answer =
        unsafe { libc::syscall(libc::SYS_bpf, command, core::ptr::from_mut(argument), len) };
    Errno::result(answer).and_then(|fd| i32::try_from(fd).map_err(|_| Errno::EOVERFLOW))
}

/// A descriptor that bpf(2) has just made.
fn owned(fd: i32) -> OwnedFd {
    // SAFETY: the call that returned it made it for this process, and nobody else knows it.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

impl SocketMap {
    /// A map with room for the queues up to `queue`.
    pub(crate) fn new(queue: u32) -> Result<SocketMap, Fault> {
        let mut map = NewMap {
            map_type: MAP_TYPE_XSKMAP,
            key_size: 4,
            value_size: 4,
            max_entries: queue + 1,
            flags: 0,
            inner: 0,
            numa_node: 0,
            name: *b"rig_sockets\0\0\0\0\0",
        };
        match bpf(MAP_CREATE, &mut map) {
            Ok(fd) => Ok(SocketMap(owned(fd))),
            Err(Errno::EINVAL) => {
                let tried = "make a map of AF_XDP sockets";
                Err(Fault::NoSupport { tried, errno: Errno::EINVAL })
            }
            Err(errno) => Err(Fault::of("make a map of AF_XDP sockets", errno)),
        }
    }

    /// Puts `socket` at `queue`.
    pub(crate) fn put(&self, queue: u32, socket: BorrowedFd<'_>) -> Result<(), Fault> {
        let (key, value) = (queue, socket.as_raw_fd());
        let mut entry = NewEntry {
            map: self.0.as_raw_fd(),
            gap: 0,
            key: address(&key),
            value: address(&value),
            flags: 0,
        };
        let answer = bpf(MAP_UPDATE_ELEM, &mut entry);
        answer.map(drop).map_err(|errno| Fault::of("put the socket into its map", errno))
    }

    /// The descriptor that a program names it by.
    pub(crate) fn raw(&self) -> i32 {
        self.0.as_raw_fd()
    }
}

impl Program {
    /// Loads `code`, which takes frames in several pieces.
    pub(crate) fn load(code: &[Insn]) -> Result<Program, Fault> {
        let tried = "load an XDP program";
        match load(code, &mut []) {
            Ok(fd) => Ok(Program(owned(fd))),
            Err(Errno::EINVAL | Errno::EACCES) => {
                // The verifier says no: again, with its reasons.
                let mut log = vec![0; 1 << 16];
                match load(code, &mut log) {
                    Ok(fd) => Ok(Program(owned(fd))),
                    Err(errno) => Err(Fault::Rejected { errno, log: last_line(&log) }),
                }
            }
            Err(errno) => Err(Fault::of(tried, errno)),
        }
    }

    /// Attaches it to the interface for as long as the answer lives.
    pub(crate) fn attach(&self, interface: u32, place: Attached) -> Result<Attachment, Errno> {
        let flags = match place {
            Attached::Native => XDP_FLAGS_DRV_MODE,
            Attached::Generic => XDP_FLAGS_SKB_MODE,
        };
        let program = self.0.as_raw_fd();
        let mut link = NewLink { program, interface, attach_type: ATTACH_XDP, flags };
        bpf(LINK_CREATE, &mut link).map(|fd| Attachment(owned(fd)))
    }

    /// The kernel's number for it.
    pub(crate) fn id(&self) -> Result<u32, Errno> {
        // `struct bpf_prog_info` begins with the type and the number; a shorter one is filled as far as it goes.
        let mut info = [0_u32; 2];
        let len = size_of_val(&info).try_into().map_err(|_| Errno::EOVERFLOW)?;
        let mut ask = AskInfo { fd: self.0.as_raw_fd(), len, info: address_mut(&mut info) };
        bpf(OBJ_GET_INFO_BY_FD, &mut ask)?;
        Ok(info[1])
    }
}

/// So many signals in a row are borne while a program is loaded, which takes a millisecond: as libbpf does.
const SIGNALS: u32 = 5;

fn load(code: &[Insn], log: &mut [u8]) -> Result<i32, Errno> {
    let count = code.len().try_into().map_err(|_| Errno::E2BIG)?;
    let log_size = log.len().try_into().map_err(|_| Errno::E2BIG)?;
    let mut program = NewProgram {
        prog_type: PROG_TYPE_XDP,
        count,
        instructions: code.as_ptr().expose_provenance() as u64,
        license: c"Dual MIT/GPL".as_ptr().expose_provenance() as u64,
        log_level: u32::from(!log.is_empty()),
        log_size,
        log: if log.is_empty() { 0 } else { log.as_mut_ptr().expose_provenance() as u64 },
        kernel: 0,
        flags: F_XDP_HAS_FRAGS,
        name: *b"rig_port\0\0\0\0\0\0\0\0",
        interface: 0,
        attach_type: ATTACH_XDP,
    };
    // The verifier gives up when a signal comes, such as one that stops the process for a moment (kernel/bpf/verifier.c).
    for _ in 0..SIGNALS {
        match bpf(PROG_LOAD, &mut program) {
            Err(Errno::EAGAIN) => {}
            answer => return answer,
        }
    }
    Err(Errno::EAGAIN)
}

/// The verifier ends its log with its reason and a line of statistics.
fn last_line(log: &[u8]) -> String {
    let text = String::from_utf8_lossy(log);
    let lines = text.trim_end_matches('\0').lines();
    let reason = lines.rev().find(|line| !line.is_empty() && !line.starts_with("processed "));
    reason.unwrap_or("it gives no reason").to_owned()
}

fn address<T>(of: &T) -> u64 {
    core::ptr::from_ref(of).expose_provenance() as u64
}

fn address_mut<T>(of: &mut T) -> u64 {
    core::ptr::from_mut(of).expose_provenance() as u64
}
