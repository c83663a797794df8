//! What queue pairs of blue-rdma send each other, in a capture that anybody took: messages, what was sent again, which packets the
//! receiver says are missing, and whether that agrees with what passed.
//!
//! Told apart from RoCEv2 by lengths. Datagrams of that are multiples of four bytes; here the headers alone take 54 bytes, or the 48 of an
//! acknowledgement by the driver, and a packet that is not the last of its message ends at a multiple of four of the receiver's memory, two
//! bytes behind one of the datagram. Where the length of a last or only packet is a multiple of four, too, its RETH says that of its
//! payload. A frame with an ICRC that is right is RoCEv2's, whatever its length. Where one packet of a flow is told so, all of it are.
//!
//! What a bitmap says is held against what passed the place of the capture before it. There a missing packet may have been lost behind,
//! nearer to the receiver: a capture at the receiver leaves no such doubt.
//!
//! Numbers that go on further than 65536 away are taken for those of a new connection of the same number.
//!
//! Left out: whether the driver's timer ran out, and which of the copies of a packet was placed last.

mod books;
mod finder;
mod frame;
mod read;
mod seen;
#[cfg(test)]
mod tests;

pub use finder::Finder;
pub use frame::{
    ANSWERS, Bitmap, COMPLETIONS, DESCRIPTORS, DRIVER_REPORT_SIZE, Frame, MEMORY, OVERHEAD,
    REPORT_SIZE, Says,
};
pub use seen::Posted;

use core::net::Ipv4Addr;
use serde::Serialize;
use std::collections::BTreeMap;

/// One way between two queue pairs: what one sends, and what the other says of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dialogue {
    /// Index of the port where it was seen.
    pub port: u16,
    /// Address of the NIC that sends.
    pub sender: Ipv4Addr,
    /// Address of the NIC that places what it gets.
    pub receiver: Ipv4Addr,
    /// Queue pair of the receiver; `None` where only what it says was seen, or of whom could not be told.
    pub receiver_qp: Option<u32>,
    /// Queue pair of the sender; `None` where nothing was said to it, or which one it is could not be told.
    pub sender_qp: Option<u32>,
    /// What was sent.
    pub data: Placed,
    /// What the receiver says of it.
    pub reports: Reported,
}

/// What a receiver has to place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Placed {
    /// Packets, all copies counted.
    pub packets: u64,
    /// Bytes of payload, all copies counted.
    pub bytes: u64,
    /// Messages of which each packet passed, each once.
    pub messages: BTreeMap<Posted, u64>,
    /// Changes of the MSN from one packet to the next: RoCEv2 has a P_Key there, which does not change.
    pub msn_changes: u64,
    /// Packets that ask for an acknowledgement.
    pub ack_requests: u64,
    /// Packets marked as sent again (isRetry).
    pub retries: u64,
    /// Of these, the ones whose number had not passed before: what was sent first was lost before this place.
    pub retries_of_lost: u64,
    /// Packets whose number had passed before and that are not marked: the network's copies, or a sender that does not mark them.
    pub unmarked_copies: u64,
    /// Packets that passed behind a higher number for the first time, and are not marked as sent again.
    pub out_of_order: u64,
    /// Numbers between the lowest and the highest that never passed.
    pub never_seen: u64,
    /// How often the numbers went on out of reach of those before.
    pub restarts: u64,
    /// Packets with ECN congestion experienced.
    pub ce: u64,
    /// Packets in which something reserved or unused is not zero.
    pub unlike: u64,
    /// Packets that break the format, such as one without a RETH.
    pub malformed: u64,
    /// What is wrong with the first of them.
    pub first_malformed: Option<String>,
}

/// What a sender is told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Reported {
    /// Acknowledgements by the driver: all before its PSN has come.
    pub driver_acks: u64,
    /// Negative ones by the driver: something is missing before its PSN.
    pub driver_naks: u64,
    /// Acknowledgements by hardware, which tell of a loss.
    pub hardware_acks: u64,
    /// Congestion notifications.
    pub cnps: u64,
    /// Packets that a bitmap says are missing, each once: below what the window holds by then, or below the highest that came.
    pub missing: u64,
    /// Their numbers, from the first to the last of each run; 32 runs at most.
    pub missing_runs: Vec<[u32; 2]>,
    /// Of them, those that had passed here before it was said: lost behind this place, or a bitmap that is wrong.
    pub missing_but_passed: u64,
    /// Packets that a bitmap says have come and that had not passed here: a file that has not all, or a bitmap that is wrong.
    pub come_but_not_passed: u64,
    /// How often a window moved by more than it holds: all packets between are missing, and none is named.
    pub leaps: u64,
    /// Acknowledgements by hardware whose window is not one: it begins within a stride, or it moved back.
    pub odd_windows: u64,
    /// Packets with a checksum of IPv4 that is not right: routers drop them.
    pub wrong_ip_checksum: u64,
    /// Packets in which something reserved or unused is not zero.
    pub unlike: u64,
    /// Packets that break the format.
    pub malformed: u64,
}
