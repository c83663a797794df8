//! This machine's kernel, asked.

use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use std::io;

/// `NLMSG_ERROR`, with which all that is answered ends: the requests ask for it.
const STATUS: u16 = 2;

/// Sends a request, in the network namespace of this thread: all that is answered, one message behind the other.
///
/// # Errors
/// There is no such socket.
pub(crate) fn exchange(request: &[u8]) -> io::Result<Vec<u8>> {
    let socket = Socket::new(NETLINK_ROUTE)?;
    socket.connect(&SocketAddr::new(0, 0))?;
    socket.send(request, 0)?;
    let mut all = Vec::new();
    // The kernel answers before the send returns: this does not wait.
    loop {
        let (answer, _) = socket.recv_from_full()?;
        let kind = answer.get(4..6).and_then(|kind| kind.try_into().ok()).map(u16::from_ne_bytes);
        all.extend(answer);
        if kind.is_none_or(|kind| kind == STATUS) {
            return Ok(all);
        }
    }
}
