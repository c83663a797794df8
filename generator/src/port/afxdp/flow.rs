//! Which of a port's queues a frame is sent by: frames of one flow by one, as NICs spread what they receive.

use rig_frames::ethernet::{self, ethertype};
use rig_frames::vlan;

/// Header lengths and places within them.
const IPV4_ADDRESSES: usize = 12;
const IPV6_HEADER: usize = 40;
const IPV6_ADDRESSES: usize = 8;

/// Of `queues` the one for the flow that `frame` is of: by its addresses and, of UDP, its source port, in which RoCEv2 has a connection's
/// entropy. What is no IP goes by the first: so does PFC, and nothing overtakes it there.
pub(super) fn queue(frame: &[u8], queues: usize) -> usize {
    if queues < 2 {
        return 0;
    }
    // A word at a time, and of each product the upper half, which all of its bytes move.
    let further = |sum: u64, word: &[u8]| {
        let mut bytes = [0; 8];
        bytes[..word.len()].copy_from_slice(word);
        let product = (sum ^ u64::from_le_bytes(bytes)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        product ^ (product >> 32)
    };
    let sum = flow(frame).map_or(0, |flow| flow.chunks(8).fold(0, further));
    usize::try_from(sum % queues as u64).unwrap_or(0)
}

/// What makes the flow of a frame of IP, in one piece: the addresses, which lie in front of the UDP header, and its source port.
fn flow(frame: &[u8]) -> Option<&[u8]> {
    let mut at = ethernet::LEN;
    let mut kind = frame.get(at - 2..at)?;
    while kind == ethertype::VLAN.to_be_bytes() {
        at += vlan::LEN;
        kind = frame.get(at - 2..at)?;
    }
    let packet = frame.get(at..)?;
    let port = size_of::<u16>();
    if kind == ethertype::IPV4.to_be_bytes() {
        let header = usize::from(packet.first()? & 0xf) * 4;
        packet.get(IPV4_ADDRESSES..header + port)
    } else if kind == ethertype::IPV6.to_be_bytes() {
        packet.get(IPV6_ADDRESSES..IPV6_HEADER + port)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
