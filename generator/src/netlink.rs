//! Route netlink, one request at a time: interfaces asked for, made, changed and removed.

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use nix::errno::Errno;
use std::io;

/// Sends `request` with `flags` from the thread's network namespace; the answer, when one other than «done» comes.
pub(crate) fn ask(
    request: RouteNetlinkMessage,
    flags: u16,
) -> Result<Option<RouteNetlinkMessage>, Errno> {
    let socket = Socket::new(NETLINK_ROUTE).map_err(errno)?;
    socket.connect(&SocketAddr::new(0, 0)).map_err(errno)?;
    let mut message = NetlinkMessage::new(NetlinkHeader::default(), NetlinkPayload::from(request));
    message.header.flags = NLM_F_REQUEST | flags;
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    socket.send(&bytes, 0).map_err(errno)?;
    // The kernel answers before the send returns: this does not wait.
    let (answer, _) = socket.recv_from_full().map_err(errno)?;
    let answer =
        NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer).map_err(|_| Errno::EBADMSG)?;
    match answer.payload {
        NetlinkPayload::InnerMessage(inner) => Ok(Some(inner)),
        NetlinkPayload::Error(error) => match error.raw_code() {
            0 => Ok(None),
            code => Err(Errno::from_raw(-code)),
        },
        _ => Err(Errno::EBADMSG),
    }
}

/// Sends a change that is only acknowledged.
pub(crate) fn tell(request: RouteNetlinkMessage, flags: u16) -> Result<(), Errno> {
    ask(request, NLM_F_ACK | flags).map(drop)
}

/// What the kernel says of the interface of that name.
pub(crate) fn link(name: &str) -> Result<LinkMessage, Errno> {
    let mut message = LinkMessage::default();
    message.attributes.push(LinkAttribute::IfName(name.to_owned()));
    match ask(RouteNetlinkMessage::GetLink(message), 0)? {
        Some(RouteNetlinkMessage::NewLink(link)) => Ok(link),
        _ => Err(Errno::EBADMSG),
    }
}

fn errno(error: io::Error) -> Errno {
    Errno::try_from(error).unwrap_or(Errno::EIO)
}
