//! What the kernel says of a network interface.

use super::error::ETHERNET_HEADER;
use super::{Attached, Fault, Mono, PortError, wait};
use crate::netlink::Route;
use netlink_packet_route::link::{
    InfoKind, LinkAttribute, LinkFlags, LinkInfo, LinkMessage, LinkXdp,
};
use nix::errno::Errno;
use rig_units::Dur;
use std::sync::{Mutex, PoisonError};

/// What is tried when an interface is asked for.
const ASK: &str = "ask the kernel about the interface";

/// How often a link is asked for.
const STEP: Dur = Dur::ms(10);

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
    /// Whether it is one end of a pair of virtual interfaces.
    pub(crate) pair: bool,
    /// The XDP program on it, by the kernel's number, and where it sits.
    pub(crate) program: Option<(u32, Attached)>,
}

impl Interface {
    /// The interface of that name in the thread's network namespace.
    pub(crate) fn named(name: &str) -> Result<Interface, PortError> {
        match Route::open().and_then(|route| route.link_named(name)) {
            Ok(message) => Ok(Interface::of(&message)),
            // A name that is empty or too long is refused as such.
            Err(Errno::ENODEV | Errno::ERANGE | Errno::EINVAL) => Err(Fault::NoInterface.at(name)),
            Err(errno) => Err(Fault::of(ASK, errno).at(name)),
        }
    }

    /// The interface with that number, and its name.
    pub(crate) fn numbered(index: u32) -> Result<(String, Interface), Fault> {
        let message = Route::open().and_then(|route| route.link_numbered(index));
        let message = message.map_err(|errno| Fault::of(ASK, errno))?;
        let name = message.attributes.iter().find_map(|attribute| match attribute {
            LinkAttribute::IfName(name) => Some(name.clone()),
            _ => None,
        });
        Ok((name.unwrap_or_default(), Interface::of(&message)))
    }

    /// The interface of that name as soon as its link is up, which may take as long as `settle`.
    pub(crate) fn linked(name: &str, settle: Dur) -> Result<Interface, Fault> {
        let start = Mono::now();
        loop {
            let interface = Interface::named(name).map_err(|error| error.fault)?;
            if interface.link {
                return Ok(interface);
            }
            if Mono::now().since(start) >= Some(settle) {
                return Err(Fault::NoLink { waited: settle });
            }
            wait::pause(STEP);
        }
    }

    fn of(message: &LinkMessage) -> Interface {
        let flags = message.header.flags;
        let mut seen = Interface {
            index: message.header.index,
            mtu: 0,
            up: flags.contains(LinkFlags::Up),
            link: flags.contains(LinkFlags::LowerUp),
            pair: false,
            program: None,
        };
        for attribute in &message.attributes {
            match attribute {
                LinkAttribute::Mtu(mtu) => seen.mtu = *mtu as usize,
                LinkAttribute::Xdp(all) => seen.program = program(all),
                LinkAttribute::LinkInfo(all) => {
                    seen.pair = all.contains(&LinkInfo::Kind(InfoKind::Veth));
                }
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

/// The interface that a port was opened on, whatever becomes of it and of its name.
#[derive(Debug)]
pub(crate) struct Card {
    name: String,
    index: u32,
    /// Both halves ask, if rarely.
    route: Mutex<Route>,
}

impl Card {
    /// The interface of that name, which has this number.
    pub(crate) fn new(name: &str, index: u32) -> Result<Card, Fault> {
        let route = Route::open().map_err(|errno| Fault::of(ASK, errno))?;
        Ok(Card { name: name.to_owned(), index, route: Mutex::new(route) })
    }

    /// Whether it is there and up. Waits for a change of it that is under way, so that an interface that is being
    /// taken away is not mistaken for one that is down.
    pub(crate) fn is_well(&self) -> Result<(), PortError> {
        let route = self.route.lock().unwrap_or_else(PoisonError::into_inner);
        match route.link_numbered(self.index) {
            Ok(message) if message.header.flags.contains(LinkFlags::Up) => Ok(()),
            Ok(_) => Err(Fault::Down.at(&self.name)),
            Err(errno) => Err(Fault::of(ASK, errno).at(&self.name)),
        }
    }

    /// What the kernel's answer to `tried` means for this port.
    pub(crate) fn error(&self, tried: &'static str, errno: Errno) -> PortError {
        let fault = Fault::of(tried, errno).at(&self.name);
        match fault.fault {
            Fault::Down => self.is_well().err().unwrap_or(fault),
            _ => fault,
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use netlink_packet_route::link::XdpAttached;

    fn with(flags: LinkFlags, xdp: Vec<LinkXdp>) -> Interface {
        let mut message = LinkMessage::default();
        (message.header.index, message.header.flags) = (7, flags);
        message.attributes.extend([LinkAttribute::Mtu(1_500), LinkAttribute::Xdp(xdp)]);
        Interface::of(&message)
    }

    #[test]
    fn a_program_is_found_wherever_it_sits() {
        let found = |xdp| with(LinkFlags::Up, xdp).program;
        assert_eq!(found(vec![LinkXdp::Attached(XdpAttached::None)]), None);
        let one = |id: LinkXdp| vec![LinkXdp::Attached(XdpAttached::Multiple), id];
        assert_eq!(found(one(LinkXdp::DrvProgId(1))), Some((1, Attached::Native)));
        assert_eq!(found(one(LinkXdp::HwProgId(2))), Some((2, Attached::Native)));
        assert_eq!(found(one(LinkXdp::SkbProgId(3))), Some((3, Attached::Generic)));
    }

    #[test]
    fn an_interface_carries_what_its_mtu_allows_while_it_is_up() {
        let down = with(LinkFlags::empty(), Vec::new());
        assert_eq!(down.carries(60), Err(Fault::Down));
        let up = with(LinkFlags::Up | LinkFlags::LowerUp, Vec::new());
        assert_eq!((up.index, up.link), (7, true));
        assert_eq!(up.carries(1_514), Ok(()));
        assert_eq!(up.carries(1_515), Err(Fault::MtuTooSmall { mtu: 1_500, longest: 1_515 }));
    }
}
