//! Frames for other addresses: without it a NIC keeps them to itself.

use crate::port::{Fault, sockopt};
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::os::fd::{AsFd, OwnedFd};

/// Asks the interface for frames to every address, for as long as it lives.
#[derive(Debug)]
pub(super) struct Promiscuous(#[expect(dead_code, reason = "held open, never used")] OwnedFd);

impl Promiscuous {
    /// Asks interface number `interface`.
    pub(super) fn on(interface: u32) -> Result<Promiscuous, Fault> {
        ask(interface)
            .map(Promiscuous)
            .map_err(|errno| Fault::of("ask for frames to all addresses", errno))
    }
}

fn ask(interface: u32) -> Result<OwnedFd, Errno> {
    // Of protocol 0: a packet socket that receives nothing itself.
    let fd = socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, None)?;
    let wish = libc::packet_mreq {
        mr_ifindex: interface.try_into().map_err(|_| Errno::EINVAL)?,
        mr_type: libc::PACKET_MR_PROMISC.try_into().map_err(|_| Errno::EINVAL)?,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    sockopt::set(fd.as_fd(), libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &wish)?;
    Ok(fd)
}
