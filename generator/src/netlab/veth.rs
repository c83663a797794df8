//! Pairs of interfaces: what enters one comes out of the other.

use super::namespace::{LabError, Namespace, failed};
use crate::netlink;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};

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
    let mut peer = named(other.name);
    peer.attributes.extend([LinkAttribute::Mtu(mtu), LinkAttribute::NetNsFd(other.within.raw())]);
    let mut link = named(one.name);
    link.attributes.extend([
        LinkAttribute::Mtu(mtu),
        LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Veth),
            LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer))),
        ]),
    ]);
    let request = RouteNetlinkMessage::NewLink(link);
    let flags = NLM_F_CREATE | NLM_F_EXCL;
    let tried = format!("make the pair {} and {}", one.name, other.name);
    one.within.run(|| netlink::tell(request, flags).map_err(|errno| failed(&tried, errno)))??;
    one.within.set_up(one.name, true)?;
    other.within.set_up(other.name, true)
}

impl Namespace {
    /// Sets an interface up or down.
    ///
    /// # Errors
    /// There is none of that name, or the process may not.
    pub fn set_up(&self, name: &str, up: bool) -> Result<(), LabError> {
        let mut link = named(name);
        link.header.change_mask = LinkFlags::Up;
        link.header.flags = if up { LinkFlags::Up } else { LinkFlags::empty() };
        let state = if up { "up" } else { "down" };
        self.change(RouteNetlinkMessage::SetLink(link), format!("set {name} {state}"))
    }

    /// Gives an interface another MTU.
    ///
    /// # Errors
    /// There is none of that name, the MTU is out of bounds, or the process may not.
    pub fn set_mtu(&self, name: &str, mtu: u32) -> Result<(), LabError> {
        let mut link = named(name);
        link.attributes.push(LinkAttribute::Mtu(mtu));
        self.change(RouteNetlinkMessage::SetLink(link), format!("set the MTU of {name} to {mtu}"))
    }

    /// Removes an interface, and with it the other end of its pair.
    ///
    /// # Errors
    /// There is none of that name, or the process may not.
    pub fn remove(&self, name: &str) -> Result<(), LabError> {
        self.change(RouteNetlinkMessage::DelLink(named(name)), format!("remove {name}"))
    }

    fn change(&self, request: RouteNetlinkMessage, tried: String) -> Result<(), LabError> {
        let answer = self.run(|| netlink::tell(request, 0))?;
        answer.map_err(|errno| LabError { tried, errno })
    }
}

fn named(name: &str) -> LinkMessage {
    let mut link = LinkMessage::default();
    link.attributes.push(LinkAttribute::IfName(name.to_owned()));
    link
}
