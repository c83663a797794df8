//! Route netlink, one request at a time: interfaces asked for, made, changed and removed.

use core::fmt;
use netlink_packet_core::{
    NLM_F_ACK, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use nix::errno::Errno;
use std::io;

/// A connection to the kernel, in the network namespace of the thread that opened it.
pub(crate) struct Route(Socket);

impl Route {
    /// A new one.
    pub(crate) fn open() -> Result<Route, Errno> {
        let socket = Socket::new(NETLINK_ROUTE).map_err(errno)?;
        socket.connect(&SocketAddr::new(0, 0)).map_err(errno)?;
        Ok(Route(socket))
    }

    /// Has the kernel do `request`, and only say that it is done.
    pub(crate) fn tell(&self, request: RouteNetlinkMessage, flags: u16) -> Result<(), Errno> {
        self.ask(request, NLM_F_ACK | flags).map(drop)
    }

    /// What the kernel says of the interface of that name.
    pub(crate) fn link_named(&self, name: &str) -> Result<LinkMessage, Errno> {
        self.link(named(name))
    }

    /// What the kernel says of the interface with that number.
    pub(crate) fn link_numbered(&self, index: u32) -> Result<LinkMessage, Errno> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        self.link(message)
    }

    fn link(&self, which: LinkMessage) -> Result<LinkMessage, Errno> {
        match self.ask(RouteNetlinkMessage::GetLink(which), 0)? {
            Some(RouteNetlinkMessage::NewLink(link)) => Ok(link),
            _ => Err(Errno::EBADMSG),
        }
    }

    /// Sends `request`; the answer, when it is one other than «done».
    fn ask(
        &self,
        request: RouteNetlinkMessage,
        flags: u16,
    ) -> Result<Option<RouteNetlinkMessage>, Errno> {
        let payload = NetlinkPayload::from(request);
        let mut message = NetlinkMessage::new(NetlinkHeader::default(), payload);
        message.header.flags = NLM_F_REQUEST | flags;
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.0.send(&bytes, 0).map_err(errno)?;
        // The kernel answers before the send returns: this does not wait.
        let (answer, _) = self.0.recv_from_full().map_err(errno)?;
        let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer)
            .map_err(|_| Errno::EBADMSG)?;
        match answer.payload {
            NetlinkPayload::InnerMessage(inner) => Ok(Some(inner)),
            NetlinkPayload::Error(error) => match error.raw_code() {
                0 => Ok(None),
                code => Err(Errno::from_raw(-code)),
            },
            _ => Err(Errno::EBADMSG),
        }
    }
}

/// A message about the interface of that name.
pub(crate) fn named(name: &str) -> LinkMessage {
    let mut link = LinkMessage::default();
    link.attributes.push(LinkAttribute::IfName(name.to_owned()));
    link
}

/// The request to set an interface up or down.
pub(crate) fn set_up(name: &str, up: bool) -> RouteNetlinkMessage {
    let mut link = named(name);
    link.header.change_mask = LinkFlags::Up;
    link.header.flags = if up { LinkFlags::Up } else { LinkFlags::empty() };
    RouteNetlinkMessage::SetLink(link)
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Route")
    }
}

fn errno(error: io::Error) -> Errno {
    Errno::try_from(error).unwrap_or(Errno::EIO)
}
