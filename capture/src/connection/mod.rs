//! Reliable connections in a capture that anybody took: who asked whom for what, what was sent again, what was answered.
//!
//! A connection here is one requester's side of a pair of queue pairs, seen at one port: its requests one way, the answers to
//! them the other way. Nothing but the frames is asked: which queue pair gets the answers follows from their sequence numbers.
//! What a responder would count of the requests is counted as one does that takes packets in order alone (go-back-N), which is
//! what the IBTA asks of a reliable connection's responder (Vol 1, 9.7.4); between the place of the capture and the NIC nothing
//! must be lost.
//!
//! A number whose packets go on out of reach of those before, or with far fewer complete messages, is another queue pair's from there
//! on: each is a connection of its own. One that begins anew where the old one began, within a few messages, is taken for the same.
//! Of connections with the same sequence numbers at the same time the answers are told apart where they come before the requests of
//! the others, by their UDP port or by their number; else they are given to neither.
//!
//! Left out: how often a requester's timer ran out. A packet that comes again may have been reordered, or sent anew.

mod finder;
mod lives;
mod packet;
mod pairs;
mod replay;
#[cfg(test)]
mod tests;

pub use finder::Finder;
pub use packet::Operation;

use core::net::IpAddr;
use rig_units::Dur;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// What one requester asked of one queue pair, and what it was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Connection {
    /// Index of the port where it was seen.
    pub port: u16,
    /// Address of the requester.
    pub requester: IpAddr,
    /// Address of the responder.
    pub responder: IpAddr,
    /// Queue pair of the responder; `None` where answers alone were seen, or whose they are could not be told.
    pub responder_qp: Option<u32>,
    /// Queue pair of the requester; `None` where requests alone were seen, or which answers are theirs could not be told.
    pub requester_qp: Option<u32>,
    /// What was asked.
    pub requests: Requests,
    /// What was answered.
    pub answers: Answers,
    /// Congestion notifications to the requester's queue pair.
    pub cnps_to_requester: u64,
    /// Congestion notifications to the responder's queue pair.
    pub cnps_to_responder: u64,
}

/// What a responder gets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Requests {
    /// Packets, all copies counted.
    pub packets: u64,
    /// Bytes of payload, all copies counted.
    pub bytes: u64,
    /// Messages that were complete in order, each once.
    pub messages: BTreeMap<Operation, u64>,
    /// Holes: packets ahead of the expected one that a responder answers with a NAK, one for each hole.
    pub out_of_sequence: u64,
    /// Packets behind such a one, until the expected one comes: a responder drops them.
    pub behind_hole: u64,
    /// Packets that had been taken before.
    pub duplicates: u64,
    /// Sequence numbers that were acknowledged and never seen here: the capture has not all.
    pub unseen: u64,
    /// Packets whose sequence number was seen before.
    pub repeated: u64,
    /// How often the sequence went back after a NAK.
    pub back_after_nak: u64,
    /// How often it went back without one: a timer that ran out, or packets that changed places.
    pub back_unasked: u64,
    /// Longest time without a request before the sequence went back without a NAK.
    #[serde(rename = "longest_quiet_ps", serialize_with = "ps")]
    pub longest_quiet: Dur,
    /// Packets with ECN congestion experienced.
    pub ce: u64,
    /// Packets with a wrong ICRC.
    pub wrong_icrc: u64,
}

/// What a requester gets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Answers {
    /// Positive acknowledgements without data.
    pub acks: u64,
    /// Packets that acknowledge positively, those with data counted: the first and last response to a READ do, too.
    pub acknowledging: u64,
    /// Negative ones for a sequence error.
    pub sequence_naks: u64,
    /// Of those, the ones that acknowledge something new.
    pub naks_that_advance: u64,
    /// Negative ones that say that no receive buffer was there (RNR).
    pub rnr_naks: u64,
    /// Other negative ones: an error that ends the connection.
    pub fatal_naks: u64,
    /// Responses to READs, in packets, all copies counted.
    pub read_responses: u64,
    /// Responses to atomics.
    pub atomic_responses: u64,
    /// Bytes of payload.
    pub bytes: u64,
    /// Least and most packets that one acknowledgement newly acknowledges, of those that acknowledge any.
    pub packets_per_ack: Option<(u32, u32)>,
    /// From the last packet that an acknowledgement speaks of to the acknowledgement, at this port: the shortest, the middle and
    /// the longest.
    #[serde(rename = "latency_ps", serialize_with = "each_ps")]
    pub latency: Option<(Dur, Dur, Dur)>,
    /// Packets with ECN congestion experienced.
    pub ce: u64,
    /// Packets with a wrong ICRC.
    pub wrong_icrc: u64,
}

/// A length of time as a number of picoseconds, as all of them are in what scripts read.
fn ps<S: Serializer>(of: &Dur, to: S) -> Result<S::Ok, S::Error> {
    of.0.serialize(to)
}

fn each_ps<S: Serializer>(of: &Option<(Dur, Dur, Dur)>, to: S) -> Result<S::Ok, S::Error> {
    of.map(|(shortest, middle, longest)| [shortest.0, middle.0, longest.0]).serialize(to)
}
