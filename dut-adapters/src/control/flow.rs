//! What a served NIC is asked to send by itself, as it travels.

use rig_testcases::{FlowSpec, Verb};
use serde::{Deserialize, Serialize};

/// Messages of one connection to the port of the rig at the other end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowOrder {
    /// The number of the connection.
    pub connection: u16,
    /// What it does with its messages.
    pub verb: Does,
    /// Bytes of a message.
    pub message: u32,
    /// Most bytes of it in a packet.
    pub mtu: u32,
    /// How many messages; `null`: until it is stopped.
    #[serde(default)]
    pub count: Option<u32>,
    /// The first packet sequence number.
    #[serde(default)]
    pub psn: u32,
    /// The class in which it is paused.
    pub class: u8,
    /// The DSCP of its packets.
    pub dscp: u8,
    /// Which of the addresses of the rig's port it goes to; 0 is the usual one.
    #[serde(default)]
    pub address: u8,
}

/// What a connection does with its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Does {
    /// Sends them.
    Send,
    /// Sends them, each from memory that is registered right before it.
    SendRegistered,
    /// Writes them.
    Write,
    /// Reads them.
    Read,
    /// Sends them with immediate data.
    SendImmediate,
    /// Writes them with immediate data.
    WriteImmediate,
    /// Sends them with a key to revoke.
    SendInvalidate,
    /// Fetches and adds.
    FetchAdd,
    /// Compares and swaps.
    CompareSwap,
}

impl FlowOrder {
    /// What a case asks of connection `connection`.
    pub fn of(connection: u16, spec: &FlowSpec) -> FlowOrder {
        let FlowSpec { verb, message, mtu, count, psn, class, dscp, address, .. } = *spec;
        let verb = match verb {
            Verb::Send => Does::Send,
            Verb::SendRegistered => Does::SendRegistered,
            Verb::Write => Does::Write,
            Verb::Read => Does::Read,
            Verb::SendImmediate => Does::SendImmediate,
            Verb::WriteImmediate => Does::WriteImmediate,
            Verb::SendInvalidate => Does::SendInvalidate,
            Verb::FetchAdd => Does::FetchAdd,
            Verb::CompareSwap => Does::CompareSwap,
        };
        FlowOrder { connection, verb, message, mtu, count, psn, class, dscp, address }
    }
}

impl From<Does> for Verb {
    fn from(does: Does) -> Verb {
        match does {
            Does::Send => Verb::Send,
            Does::SendRegistered => Verb::SendRegistered,
            Does::Write => Verb::Write,
            Does::Read => Verb::Read,
            Does::SendImmediate => Verb::SendImmediate,
            Does::WriteImmediate => Verb::WriteImmediate,
            Does::SendInvalidate => Verb::SendInvalidate,
            Does::FetchAdd => Verb::FetchAdd,
            Does::CompareSwap => Verb::CompareSwap,
        }
    }
}
