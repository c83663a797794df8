//! Unreliable connections: no word about what comes, and of a message of which a packet is missing nothing is delivered.
//!
//! Left out on purpose: receives that run out, immediate data, and what a NIC counts of holes.

use super::flow::Verb;
use rig_lab::RcFaults;
use std::collections::BTreeMap;

/// What comes by the unreliable connections of a NIC, by queue pair.
#[derive(Debug, Clone, Default)]
pub(super) struct Unreliable(pub(super) BTreeMap<u16, Coming>);

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

/// What a sender does of what it is asked for: one with the fault does what a reliable connection would.
pub(super) const fn heeded(verb: Verb, faults: &RcFaults) -> Verb {
    match verb {
        Verb::SendUnreliable if faults.uc_waits_for_acks => Verb::Send,
        Verb::WriteUnreliable if faults.uc_waits_for_acks => Verb::Write,
        other => other,
    }
}
