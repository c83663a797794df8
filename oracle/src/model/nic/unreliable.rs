//! Unreliable connections: no word about what comes, and of a message of which a packet is missing nothing is delivered. Datagrams: each for itself.
//!
//! Left out on purpose: receives that run out on connections, immediate data, and what a NIC counts of holes.

use super::flow::{Flow, Verb};
use super::receives::Posted;
use rig_lab::RcFaults;
use std::collections::BTreeMap;

/// What comes to a NIC that it does not acknowledge, by queue pair.
#[derive(Debug, Clone, Default)]
pub(super) struct Unreliable {
    /// By unreliable connections.
    pub(super) connections: BTreeMap<u16, Coming>,
    /// As datagrams, with what is posted for them.
    pub(super) datagrams: BTreeMap<u16, Taking>,
}

/// What becomes of datagrams.
#[derive(Debug, Clone, Default)]
pub(super) struct Taking {
    /// What is posted for them; of a NIC whose receives may run out alone.
    pub(super) posted: Posted,
    /// The number that a connection would have next; a fault goes by it.
    pub(super) next: Option<u32>,
}

/// What comes by one of them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Coming {
    /// Whether its messages are SENDs, each of which completes a receive.
    pub(super) sends: bool,
    /// The number that follows; none before the first packet.
    pub(super) next: Option<u32>,
    /// Whether all of the message that comes is there so far.
    pub(super) holds: bool,
    /// Whether the next message is thrown away, too; a fault.
    pub(super) skips: bool,
}

/// What a sender makes of what it is asked for: one with the fault does what a reliable connection would, or sends each datagram in two.
pub(super) fn heeded(flow: &Flow, faults: &RcFaults) -> Flow {
    let verb = match flow.verb {
        Verb::SendUnreliable if faults.uc_waits_for_acks => Verb::Send,
        Verb::WriteUnreliable if faults.uc_waits_for_acks => Verb::Write,
        Verb::Datagram if faults.ud_waits_for_acks => Verb::Send,
        other => other,
    };
    let twice = |count: u32| count.saturating_mul(2);
    match flow.verb == Verb::Datagram && faults.ud_splits {
        true => {
            let message = flow.message.div_ceil(2);
            Flow { verb, message, count: flow.count.map(twice), ..*flow }
        }
        false => Flow { verb, ..*flow },
    }
}
