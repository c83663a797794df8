//! What a NIC is asked to send.

/// What a queue pair does with its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Sends them.
    Send,
    /// Writes them to remote memory.
    Write,
    /// Reads them from remote memory.
    Read,
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
    /// Whether its frames are ECN-capable: ECT(0).
    pub ect: bool,
}
