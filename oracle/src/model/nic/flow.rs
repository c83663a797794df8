//! What a NIC is asked to send.

use rig_testcases::{Container, IpVersion};

/// What a queue pair does with its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Sends them.
    Send,
    /// Sends them, each behind a registration of its memory; of a requester: each waits until all before it is acknowledged.
    SendRegistered,
    /// Writes them to remote memory.
    Write,
    /// Reads them from remote memory.
    Read,
    /// Sends them, with four bytes beside in the last packet: immediate data, or a key to revoke.
    SendWithTail,
    /// Writes them, with four bytes of immediate data beside in the last packet.
    WriteWithTail,
    /// Adds one to what is in remote memory, and gets what was there.
    FetchAdd,
    /// Makes one more of what is in remote memory where it is what it should be by now, and gets what was there.
    CompareSwap,
    /// Sends them on an unreliable connection.
    SendUnreliable,
    /// Writes them on an unreliable connection.
    WriteUnreliable,
    /// Sends them as datagrams, each a packet.
    Datagram,
}

impl From<rig_testcases::Verb> for Verb {
    fn from(verb: rig_testcases::Verb) -> Verb {
        use rig_testcases::Verb as Asked;
        match verb {
            Asked::Send => Verb::Send,
            Asked::SendRegistered => Verb::SendRegistered,
            Asked::Write => Verb::Write,
            Asked::Read => Verb::Read,
            Asked::SendImmediate | Asked::SendInvalidate => Verb::SendWithTail,
            Asked::WriteImmediate => Verb::WriteWithTail,
            Asked::FetchAdd => Verb::FetchAdd,
            Asked::CompareSwap => Verb::CompareSwap,
            Asked::SendUnreliable => Verb::SendUnreliable,
            Asked::WriteUnreliable => Verb::WriteUnreliable,
            Asked::Datagram => Verb::Datagram,
        }
    }
}

impl Verb {
    /// Whether four bytes come with the last packet of a message.
    pub(in crate::model) const fn has_tail(self) -> bool {
        matches!(self, Verb::SendWithTail | Verb::WriteWithTail)
    }

    /// The same without these.
    pub(super) const fn without_tail(self) -> Verb {
        match self {
            Verb::SendWithTail => Verb::Send,
            Verb::WriteWithTail => Verb::Write,
            other => other,
        }
    }

    /// Whether a message takes a receive of its receiver.
    pub(crate) const fn takes_receive(self) -> bool {
        matches!(self, Verb::Send | Verb::SendRegistered | Verb::SendWithTail)
    }

    /// Whether its connection has no acknowledgements, or it has none.
    pub(crate) const fn is_unreliable(self) -> bool {
        matches!(self, Verb::SendUnreliable | Verb::WriteUnreliable | Verb::Datagram)
    }

    /// Whether it is an atomic operation.
    pub(super) const fn is_atomic(self) -> bool {
        matches!(self, Verb::FetchAdd | Verb::CompareSwap)
    }
}

/// Messages of one queue pair, as fast as its rate allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    /// The connection: what its frames name, whichever way they go.
    pub id: u16,
    /// What it does.
    pub verb: Verb,
    /// Bytes of a message.
    pub message: u32,
    /// Most bytes of a message in a packet.
    pub mtu: u32,
    /// How many messages; `None` goes on until it is stopped.
    pub count: Option<u32>,
    /// The first packet sequence number.
    pub psn: u32,
    /// The host at the far end.
    pub dst: u16,
    /// The class by which it is paused.
    pub class: u8,
    /// The DSCP in its frames.
    pub dscp: u8,
    /// The priority in the 802.1Q tag of its connection's frames; `None`: they have none.
    pub pcp: Option<u8>,
    /// What its connection's frames go over.
    pub over: IpVersion,
    /// From which of the NIC's addresses, of its GIDs; 0 is the usual one.
    pub gid: u8,
    /// Whether its frames are ECN-capable: ECT(0).
    pub ect: bool,
    /// Of which container it is; its flows are named by their connections.
    pub container: Container<u16>,
}
