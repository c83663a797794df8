//! What is in the way of a port, and what mends it.

use super::{Attached, DpdkFault};
use core::fmt;
use nix::errno::Errno;
use rig_units::Dur;

/// A port that cannot be opened or used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortError {
    /// The interface, as the configuration names it.
    pub interface: String,
    /// What is in the way.
    pub fault: Fault,
}

/// What is in the way of a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// No interface of that name in the namespace of the thread that asked.
    NoInterface,
    /// The interface is down.
    Down,
    /// The interface is up and its link is not.
    NoLink {
        /// How long it was given.
        waited: Dur,
    },
    /// The interface was taken away while the port was open.
    Gone,
    /// The interface has fewer queues.
    NoQueue {
        /// The one asked for.
        queue: u32,
    },
    /// The process may not do what a port needs.
    NotPermitted {
        /// What it tried.
        tried: &'static str,
        /// The kernel's answer.
        errno: Errno,
    },
    /// Someone else's XDP program is attached; it stays.
    Occupied {
        /// The kernel's number for it.
        program: u32,
        /// Where it sits.
        attached: Attached,
    },
    /// Another socket holds the queue.
    Busy {
        /// The queue.
        queue: u32,
        /// How long it was asked for.
        waited: Dur,
    },
    /// Frames of the length asked for do not pass.
    MtuTooSmall {
        /// What the interface passes, from behind the Ethernet header on.
        mtu: usize,
        /// The longest frame asked for.
        longest: usize,
    },
    /// The kernel lacks the back end.
    NoSupport {
        /// What was tried.
        tried: &'static str,
        /// The kernel's answer.
        errno: Errno,
    },
    /// The kernel's verifier refuses the port's program.
    Rejected {
        /// The kernel's answer.
        errno: Errno,
        /// The last words of the verifier.
        log: String,
    },
    /// Something of DPDK.
    Dpdk(Box<DpdkFault>),
    /// Anything else.
    Os {
        /// What was tried.
        tried: &'static str,
        /// The kernel's answer.
        errno: Errno,
    },
}

impl Fault {
    /// The fault behind the kernel's answer to `tried`, where the answer alone tells.
    pub(crate) fn of(tried: &'static str, errno: Errno) -> Fault {
        match errno {
            Errno::EPERM | Errno::EACCES => Fault::NotPermitted { tried, errno },
            Errno::EAFNOSUPPORT | Errno::ENOSYS => Fault::NoSupport { tried, errno },
            Errno::ENETDOWN => Fault::Down,
            Errno::ENXIO | Errno::ENODEV => Fault::Gone,
            _ => Fault::Os { tried, errno },
        }
    }

    /// The fault of `interface`.
    pub(crate) fn at(self, interface: &str) -> PortError {
        PortError { interface: interface.to_owned(), fault: self }
    }
}

impl fmt::Display for PortError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.interface;
        write!(f, "port {name}: ")?;
        match &self.fault {
            Fault::NoInterface => f.write_str(
                "no such interface in this network namespace; `ip link` lists those there are",
            ),
            Fault::Down => write!(f, "the interface is down: `ip link set {name} up`"),
            Fault::NoLink { waited } => {
                write!(f, "no link after {waited}: is the cable in, and the other end up?")
            }
            Fault::Gone => f.write_str("the interface went away while the port was open"),
            Fault::NoQueue { queue } => {
                write!(f, "no queue {queue}; `ethtool -l {name}` says how many there are")
            }
            Fault::NotPermitted { tried, errno } => write!(
                f,
                "not permitted to {tried} ({errno}): needs CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF; run with sudo"
            ),
            Fault::Occupied { program, attached } => {
                let place = match attached {
                    Attached::Native => "in its driver",
                    Attached::Generic => "in its generic path",
                };
                write!(
                    f,
                    "XDP program {program} of someone else is attached {place} and stays there: stop what attached it \
                     (`bpftool prog show id {program}` names it) or choose another interface"
                )
            }
            Fault::Busy { queue, waited } => write!(
                f,
                "queue {queue} is held by another AF_XDP socket, asked for during {waited}: stop the program that \
                 holds it (`ss --xdp -ap` names it where the kernel has XDP_SOCKETS_DIAG) or choose another queue or \
                 interface"
            ),
            Fault::MtuTooSmall { mtu, longest } => write!(
                f,
                "MTU {mtu} is too small for frames of {longest} B (Ethernet header counted): \
                 `ip link set {name} mtu {}`, and the same at the other end",
                longest.saturating_sub(ETHERNET_HEADER)
            ),
            Fault::NoSupport { tried, errno } => {
                write!(
                    f,
                    "this kernel cannot {tried} ({errno}): an AF_XDP port needs Linux 5.18 with CONFIG_XDP_SOCKETS"
                )
            }
            Fault::Rejected { errno, log } => {
                write!(f, "the kernel refuses the port's XDP program ({errno}): {log}")
            }
            Fault::Dpdk(fault) => fault.fmt(f),
            Fault::Os { tried, errno: Errno::ENOBUFS } => write!(
                f,
                "cannot {tried}: {}: needs CAP_IPC_LOCK, or a higher limit of locked memory (`ulimit -l`)",
                Errno::ENOBUFS
            ),
            Fault::Os { tried, errno } => write!(f, "cannot {tried}: {errno}"),
        }
    }
}

impl core::error::Error for PortError {}

/// What an MTU does not count.
pub(crate) const ETHERNET_HEADER: usize = 14;

/// A frame is staged with a length that its port was opened for.
///
/// # Panics
/// When it is not: whoever writes frames knows how long they may be.
pub(crate) fn assert_fits(len: usize, longest: usize) {
    assert!(
        (ETHERNET_HEADER..=longest).contains(&len),
        "a frame of {len} B; the port was opened for {ETHERNET_HEADER} to {longest} B"
    );
}

#[cfg(test)]
mod tests;
