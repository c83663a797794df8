//! Pairs of interfaces: what enters one comes out of the other.

use super::namespace::{LabError, Namespace};
use crate::netlink::{Route, named, set_up};
use core::net::IpAddr;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage};
use netlink_packet_route::link::{InfoData, InfoKind, InfoVeth, LinkAttribute, LinkInfo};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

/// One end of a pair.
#[derive(Debug, Clone, Copy)]
pub struct End<'a> {
    /// The namespace that it is in.
    pub within: &'a Namespace,
    /// Its name there: at most 15 bytes.
    pub name: &'a str,
}

/// Makes a pair of interfaces with this MTU and sets both up.
///
/// # Errors
/// The kernel refuses: a name is taken, the MTU is out of bounds, the process may not.
pub fn pair(one: End<'_>, other: End<'_>, mtu: u32) -> Result<(), LabError> {
    pair_with_queues(one, other, mtu, 1)
}

/// As [`pair`], with this many queues at both ends.
///
/// # Errors
/// As [`pair`], or that many queues are too many.
pub fn pair_with_queues(
    one: End<'_>,
    other: End<'_>,
    mtu: u32,
    queues: u32,
) -> Result<(), LabError> {
    let end = |name| {
        let mut link = named(name);
        link.attributes.extend([
            LinkAttribute::Mtu(mtu),
            LinkAttribute::NumTxQueues(queues),
            LinkAttribute::NumRxQueues(queues),
        ]);
        link
    };
    let (mut link, mut peer) = (end(one.name), end(other.name));
    peer.attributes.push(LinkAttribute::NetNsFd(other.within.raw()));
    let kind = LinkInfo::Kind(InfoKind::Veth);
    let data = LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer)));
    link.attributes.push(LinkAttribute::LinkInfo(vec![kind, data]));
    let tried = format!("make the pair {} and {}", one.name, other.name);
    let flags = NLM_F_CREATE | NLM_F_EXCL;
    one.within.change(RouteNetlinkMessage::NewLink(link), flags, tried)?;
    one.within.set_up(one.name, true)?;
    other.within.set_up(other.name, true)
}

impl Namespace {
    /// Sets an interface up or down.
    ///
    /// # Errors
    /// There is none of that name, or the process may not.
    pub fn set_up(&self, name: &str, up: bool) -> Result<(), LabError> {
        let state = if up { "up" } else { "down" };
        self.change(set_up(name, up), 0, format!("set {name} {state}"))
    }

    /// Gives an interface another MTU.
    ///
    /// # Errors
    /// There is none of that name, the MTU is out of bounds, or the process may not.
    pub fn set_mtu(&self, name: &str, mtu: u32) -> Result<(), LabError> {
        let mut link = named(name);
        link.attributes.push(LinkAttribute::Mtu(mtu));
        let tried = format!("set the MTU of {name} to {mtu}");
        self.change(RouteNetlinkMessage::SetLink(link), 0, tried)
    }

    /// Gives an interface an address, with so many bits of it naming the network. One of IPv6 is used at once: nobody is asked whether it is another's.
    ///
    /// # Errors
    /// There is none of that name, it has the address, or the process may not.
    pub fn set_address(&self, name: &str, address: IpAddr, prefix: u8) -> Result<(), LabError> {
        let tried = format!("give {name} the address {address}/{prefix}");
        let answer = self.run(|| {
            let route = Route::open()?;
            let mut message = AddressMessage::default();
            if address.is_ipv6() {
                // A namespace of these is silent: no interface has IPv6 until it is asked for. What cannot be written the kernel says below.
                let file = format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6");
                let _no_address_then = std::fs::write(file, "0");
                message.header.family = AddressFamily::Inet6;
                message.header.flags = AddressHeaderFlags::Nodad;
            } else {
                message.header.family = AddressFamily::Inet;
            }
            message.header.prefix_len = prefix;
            message.header.index = route.link_named(name)?.header.index;
            message
                .attributes
                .extend([AddressAttribute::Local(address), AddressAttribute::Address(address)]);
            let flags = NLM_F_CREATE | NLM_F_EXCL;
            route.tell(RouteNetlinkMessage::NewAddress(message), flags)
        })?;
        answer.map_err(|errno| LabError { tried, errno })
    }

    /// Removes an interface, and with it the other end of its pair.
    ///
    /// # Errors
    /// There is none of that name, or the process may not.
    pub fn remove(&self, name: &str) -> Result<(), LabError> {
        self.change(RouteNetlinkMessage::DelLink(named(name)), 0, format!("remove {name}"))
    }

    fn change(
        &self,
        request: RouteNetlinkMessage,
        flags: u16,
        tried: String,
    ) -> Result<(), LabError> {
        let answer = self.run(|| Route::open()?.tell(request, flags))?;
        answer.map_err(|errno| LabError { tried, errno })
    }
}
