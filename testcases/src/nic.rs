//! What NICs send by themselves.

use rig_units::Bytes;

/// What a NIC sends by itself, as written: messages of one reliable connection, one right after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// The rig port behind which the NIC is that sends.
    pub nic: String,
    /// The rig port that it is addressed to, or behind which the NIC is that receives.
    pub to: String,
    /// Traffic class.
    pub class: u8,
    /// What its messages are.
    pub verb: Verb,
    /// Payload of a message.
    pub message: Bytes,
    /// Payload of a packet (path MTU).
    pub mtu: Bytes,
    /// After how many messages it ends by itself; absent: when it is stopped.
    pub count: Option<u32>,
    /// Packet sequence number of its first packet.
    pub psn: u32,
    /// Which of the addresses of the rig's port it goes to; 0 is the usual one.
    pub address: u8,
}

/// The same, worked out for one device. Ports are indices of the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowSpec {
    /// Its name in the case.
    pub name: String,
    /// The rig port behind which the NIC is that sends.
    pub nic: u16,
    /// The rig port that it is addressed to, or behind which the NIC is that receives.
    pub to: u16,
    /// Its traffic class, 0 to 7.
    pub class: u8,
    /// The DSCP of its packets.
    pub dscp: u8,
    /// What its messages are.
    pub verb: Verb,
    /// Payload of a message, in bytes.
    pub message: u32,
    /// Payload of a packet, in bytes.
    pub mtu: u32,
    /// After how many messages it ends by itself; `None`: when it is stopped.
    pub count: Option<u32>,
    /// Packet sequence number of its first packet.
    pub psn: u32,
    /// Which of the addresses of the rig's port it goes to; 0 is the usual one.
    pub address: u8,
}

impl FlowSpec {
    /// What a packet has beside its payload at most: Ethernet, IPv4, UDP, BTH, the longest extended header, ICRC, FCS.
    pub const HEADERS: Bytes = Bytes(78);
}

/// What the messages of a reliable connection are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// SEND.
    Send,
    /// RDMA WRITE.
    Write,
    /// RDMA READ: the other end sends the data.
    Read,
}

impl Verb {
    /// Their names in YAML.
    pub const NAMES: [(&str, Verb); 3] =
        [("send", Verb::Send), ("write", Verb::Write), ("read", Verb::Read)];
}
