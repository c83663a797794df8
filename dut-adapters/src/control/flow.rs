//! What a served NIC is asked to send by itself, as it travels.

use rig_frames::vlan::{self, Pcp, Vid};
use rig_testcases::{Container, FlowSpec, IpVersion, Memory, Verb};
use rig_units::L2Rate;
use serde::{Deserialize, Serialize};

/// Messages of one connection to the port of the rig at the other end, or to another NIC of the device.
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
    /// Which of the addresses of the other end it goes to; 0 is the usual one.
    #[serde(default)]
    pub address: u8,
    /// The 802.1Q tag of its connection's frames: VLAN and priority; `null`: they have none.
    #[serde(default)]
    pub vlan: Option<[u16; 2]>,
    /// What its connection's frames go over; by default IPv4.
    #[serde(default)]
    pub over: Over,
    /// From which of the NIC's addresses, of its GIDs; 0 is the usual one.
    #[serde(default)]
    pub gid: u8,
    /// The device's port whose NIC they go to; `null`: to the rig's port.
    #[serde(default)]
    pub to: Option<u16>,
    /// Whose messages they are, where containers share the NIC; `null`: nothing is said of it.
    #[serde(default)]
    pub container: Option<Whose>,
}

/// What the frames of a connection go over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Over {
    /// IPv4.
    #[default]
    Ipv4,
    /// IPv6.
    Ipv6,
}

impl From<IpVersion> for Over {
    fn from(over: IpVersion) -> Over {
        match over {
            IpVersion::V4 => Over::Ipv4,
            IpVersion::V6 => Over::Ipv6,
        }
    }
}

impl From<Over> for IpVersion {
    fn from(over: Over) -> IpVersion {
        match over {
            Over::Ipv4 => IpVersion::V4,
            Over::Ipv6 => IpVersion::V6,
        }
    }
}

/// Whose messages a connection sends, of the containers behind a software RDMA router.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Whose {
    /// The number of the container.
    pub number: u8,
    /// What memory the messages name.
    pub memory: NamedMemory,
    /// Bits of payload a second that it may send; `null`: what the router lets everybody send.
    #[serde(default)]
    pub cap: Option<u64>,
    /// The connection whose messages it goes on with, once its container has moved.
    #[serde(default)]
    pub takes_over: Option<u16>,
}

/// What memory the messages of a connection name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NamedMemory {
    /// Some that is registered, and known to all hosts.
    Registered,
    /// Some that is registered first.
    New,
    /// Some by an R_Key that no host has announced.
    Unknown,
}

impl Whose {
    /// What is said of a flow that goes on with what connection `before` left, if it does; nothing of one of which a case says nothing.
    fn of(container: &Container<u16>, before: Option<u16>) -> Option<Whose> {
        let Container { number, memory, cap, .. } = *container;
        let memory = match memory {
            Memory::Registered => NamedMemory::Registered,
            Memory::New => NamedMemory::New,
            Memory::Unknown => NamedMemory::Unknown,
        };
        let whose = Whose { number, memory, cap: cap.map(|cap| cap.bps), takes_over: before };
        (Container::from(whose) != Container::USUAL).then_some(whose)
    }
}

impl From<Whose> for Container<u16> {
    fn from(whose: Whose) -> Container<u16> {
        let Whose { number, memory, cap, takes_over } = whose;
        let memory = match memory {
            NamedMemory::Registered => Memory::Registered,
            NamedMemory::New => Memory::New,
            NamedMemory::Unknown => Memory::Unknown,
        };
        let cap = cap.map(|bps| L2Rate { bps });
        Container { number, memory, cap, takes_over, ..Container::USUAL }
    }
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
    /// Sends them on an unreliable connection.
    #[serde(rename = "uc-send")]
    SendUnreliable,
    /// Writes them on an unreliable connection.
    #[serde(rename = "uc-write")]
    WriteUnreliable,
    /// Sends them as datagrams.
    #[serde(rename = "ud-send")]
    Datagram,
}

impl FlowOrder {
    /// What a case asks of connection `connection` to the NIC at the device's port `to`, or to the rig; it may go on with what connection
    /// `before` left.
    pub fn of(
        connection: u16,
        spec: &FlowSpec,
        (to, before): (Option<u16>, Option<u16>),
    ) -> FlowOrder {
        let FlowSpec { verb, message, mtu, count, psn, class, dscp, address, vlan, .. } = *spec;
        let (over, gid) = (spec.over.into(), spec.gid);
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
            Verb::SendUnreliable => Does::SendUnreliable,
            Verb::WriteUnreliable => Does::WriteUnreliable,
            Verb::Datagram => Does::Datagram,
        };
        let container = Whose::of(&spec.container, before);
        let vlan = vlan.map(|tag| [tag.vid.get(), tag.pcp.get().into()]);
        FlowOrder {
            connection,
            verb,
            message,
            mtu,
            count,
            psn,
            class,
            dscp,
            address,
            vlan,
            over,
            gid,
            to,
            container,
        }
    }
}

impl FlowOrder {
    /// The tag of its connection's frames; none where what it says is none.
    pub fn tag(&self) -> Option<vlan::Repr> {
        let [vid, pcp] = self.vlan?;
        let pcp = Pcp::new(u8::try_from(pcp).ok()?)?;
        Some(vlan::Repr { vid: Vid::new(vid)?, pcp, dei: false })
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
            Does::SendUnreliable => Verb::SendUnreliable,
            Does::WriteUnreliable => Verb::WriteUnreliable,
            Does::Datagram => Verb::Datagram,
        }
    }
}
