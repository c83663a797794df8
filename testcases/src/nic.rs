//! What NICs send by themselves.

use crate::app::AppStep;
use crate::container::Container;
use rig_frames::{ipv4, ipv6, vlan};
use rig_lab::IpVersion;
use rig_units::{Bytes, Dur, PortSpeed};

/// What a NIC sends by itself, as written: messages of one connection, one right after the other.
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
    /// Which of the addresses of the other end it goes to, of the rig's port or of the NIC there; 0 is the usual one.
    pub address: u8,
    /// The 802.1Q tag of its connection's frames, whichever end sends them.
    pub vlan: Option<vlan::Repr>,
    /// What its connection's frames go over, whichever end sends them.
    pub over: IpVersion,
    /// At which of its addresses the NIC that sends has it, of its GIDs; 0 is the usual one.
    pub gid: u8,
    /// Of which container it is.
    pub container: Container<String>,
    /// Which step of an application its messages are, if they are.
    pub app: Option<AppStep>,
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
    /// Which of the addresses of the other end it goes to, of the rig's port or of the NIC there; 0 is the usual one.
    pub address: u8,
    /// The 802.1Q tag of its connection's frames, whichever end sends them; a CNP's has a priority of its own.
    pub vlan: Option<vlan::Repr>,
    /// What its connection's frames go over, whichever end sends them.
    pub over: IpVersion,
    /// At which of its addresses the NIC that sends has it, of its GIDs; 0 is the usual one.
    pub gid: u8,
    /// Of which container it is.
    pub container: Container<u16>,
    /// Which step of an application its messages are, if they are.
    pub app: Option<AppStep>,
}

/// What a packet has beside its payload over IPv4 and without a tag, whatever its dialect: no fewer bytes than any has. Those of blue-rdma have the most.
const HEADERS: u64 = 100;

impl Flow {
    /// What a packet of it has beside its payload at most.
    pub fn headers(&self) -> Bytes {
        self.verb.headers() + more(self.vlan, self.over)
    }
}

/// What a tag and IPv6 add to the headers of a packet.
fn more(tag: Option<vlan::Repr>, over: IpVersion) -> Bytes {
    let tag = if tag.is_some() { vlan::LEN } else { 0 };
    let longer = if over == IpVersion::V6 { ipv6::LEN - ipv4::LEN } else { 0 };
    Bytes((tag + longer) as u64)
}

impl FlowSpec {
    /// What a packet of it has beside its payload at most.
    pub fn headers(&self) -> Bytes {
        self.verb.headers() + more(self.vlan, self.over)
    }

    /// How long its messages take to send from a port of `speed`, nothing in their way and none sent again, at most; `None` for one that does not end by
    /// itself. A READ's are sent by the other end.
    pub fn length(&self, speed: PortSpeed) -> Option<Dur> {
        let packets = u64::from(self.message.div_ceil(self.mtu.max(1)).max(1));
        let plain = Bytes(u64::from(self.mtu.min(self.message)) + HEADERS);
        let frame = plain + more(self.vlan, self.over);
        self.count.map(|messages| speed.slot(frame) * (packets * u64::from(messages)))
    }
}

/// What the messages of a connection are: of a reliable one (RC), where nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// SEND.
    Send,
    /// SEND of memory that is registered right before it, in the same queue (a fast memory registration, FMR).
    SendRegistered,
    /// RDMA WRITE.
    Write,
    /// RDMA READ: the other end sends the data.
    Read,
    /// SEND with immediate data: four bytes that come with its last packet.
    SendImmediate,
    /// RDMA WRITE with immediate data.
    WriteImmediate,
    /// SEND with invalidate: its last packet names a key that the receiver shall revoke.
    SendInvalidate,
    /// Fetch and add: adds one to eight bytes at the other end, and gets what they were.
    FetchAdd,
    /// Compare and swap: what the eight bytes are to be by now becomes one more, and it gets what they were.
    CompareSwap,
    /// SEND of an unreliable connection (UC): nobody acknowledges it, and nobody sends it again.
    SendUnreliable,
    /// RDMA WRITE of an unreliable connection.
    WriteUnreliable,
    /// SEND of a datagram (UD): a message of one packet, with the key of the queue that takes it; nobody acknowledges it, and nobody sends it again.
    Datagram,
}

impl Verb {
    /// Their names in YAML.
    pub const NAMES: [(&str, Verb); 12] = [
        ("send", Verb::Send),
        ("send-registered", Verb::SendRegistered),
        ("write", Verb::Write),
        ("read", Verb::Read),
        ("send-immediate", Verb::SendImmediate),
        ("write-immediate", Verb::WriteImmediate),
        ("send-invalidate", Verb::SendInvalidate),
        ("fetch-add", Verb::FetchAdd),
        ("compare-swap", Verb::CompareSwap),
        ("uc-send", Verb::SendUnreliable),
        ("uc-write", Verb::WriteUnreliable),
        ("ud-send", Verb::Datagram),
    ];

    /// What a packet has beside its payload at most: Ethernet, IPv4, UDP, BTH, the longest extended headers, ICRC, FCS. Of an atomic operation, where
    /// the payload is what it works on, these are AtomicETH less that.
    pub const fn headers(self) -> Bytes {
        match self {
            Verb::WriteImmediate | Verb::FetchAdd | Verb::CompareSwap => Bytes(82),
            Verb::Send
            | Verb::SendRegistered
            | Verb::Write
            | Verb::Read
            | Verb::SendImmediate
            | Verb::SendInvalidate
            | Verb::SendUnreliable
            | Verb::WriteUnreliable
            | Verb::Datagram => Bytes(78),
        }
    }

    /// What it works on, of an atomic operation: eight bytes.
    pub const ATOMIC: Bytes = Bytes(8);

    /// Whether it is an atomic operation: its answer says what was there.
    pub const fn is_atomic(self) -> bool {
        matches!(self, Verb::FetchAdd | Verb::CompareSwap)
    }

    /// Whether something comes with the last packet of a message: immediate data, or a key to revoke.
    pub const fn has_tail(self) -> bool {
        matches!(self, Verb::SendImmediate | Verb::WriteImmediate | Verb::SendInvalidate)
    }

    /// Whether the next message waits for the answer to this one.
    pub const fn waits(self) -> bool {
        matches!(self, Verb::Read) || self.is_atomic()
    }

    /// Whether a message takes a buffer that its receiver has to have ready with the first packet.
    pub const fn takes_buffer(self) -> bool {
        matches!(
            self,
            Verb::Send
                | Verb::SendRegistered
                | Verb::SendImmediate
                | Verb::SendInvalidate
                | Verb::SendUnreliable
                | Verb::Datagram
        )
    }

    /// Whether its connection is unreliable, or it has none: nothing is acknowledged, and nothing sent again.
    pub const fn is_unreliable(self) -> bool {
        matches!(self, Verb::SendUnreliable | Verb::WriteUnreliable | Verb::Datagram)
    }
}
