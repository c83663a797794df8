//! What the kernel says of a network interface.

use super::error::ETHERNET_HEADER;
use super::{Attached, Fault, PortError};
use crate::netlink;
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage, LinkXdp};
use nix::errno::Errno;

/// A network interface at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Interface {
    /// The kernel's number for it.
    pub(crate) index: u32,
    /// The longest frame, from behind the Ethernet header on.
    pub(crate) mtu: usize,
    /// Whether it was set up.
    pub(crate) up: bool,
    /// Whether its link is up.
    pub(crate) link: bool,
    /// The XDP program on it, by the kernel's number, and where it sits.
    pub(crate) program: Option<(u32, Attached)>,
}

impl Interface {
    /// The interface of that name in the thread's network namespace.
    pub(crate) fn named(name: &str) -> Result<Interface, PortError> {
        match netlink::link(name) {
            Ok(message) => Ok(Interface::of(&message)),
            // A name that is too long is refused as out of range.
            Err(Errno::ENODEV | Errno::ERANGE | Errno::EINVAL) => Err(Fault::NoInterface.at(name)),
            Err(errno) => Err(Fault::of("ask the kernel about the interface", errno).at(name)),
        }
    }

    fn of(message: &LinkMessage) -> Interface {
        let flags = message.header.flags;
        let mut seen = Interface {
            index: message.header.index,
            mtu: 0,
            up: flags.contains(LinkFlags::Up),
            link: flags.contains(LinkFlags::LowerUp),
            program: None,
        };
        for attribute in &message.attributes {
            match attribute {
                LinkAttribute::Mtu(mtu) => seen.mtu = *mtu as usize,
                LinkAttribute::Xdp(all) => seen.program = program(all),
                _ => {}
            }
        }
        seen
    }

    /// Whether frames of `longest` bytes can be sent here now.
    pub(crate) fn carries(&self, longest: usize) -> Result<(), Fault> {
        if !self.up {
            return Err(Fault::Down);
        }
        if longest > self.longest() {
            return Err(Fault::MtuTooSmall { mtu: self.mtu, longest });
        }
        Ok(())
    }

    /// The longest frame, from the destination MAC on.
    pub(crate) fn longest(&self) -> usize {
        self.mtu + ETHERNET_HEADER
    }
}

/// The program among the attributes; one in the driver before one in the generic path.
fn program(all: &[LinkXdp]) -> Option<(u32, Attached)> {
    let native = all.iter().find_map(|one| match one {
        LinkXdp::DrvProgId(id) | LinkXdp::HwProgId(id) => Some((*id, Attached::Native)),
        _ => None,
    });
    native.or_else(|| {
        all.iter().find_map(|one| match one {
            LinkXdp::SkbProgId(id) => Some((*id, Attached::Generic)),
            _ => None,
        })
    })
}
