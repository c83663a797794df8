//! The dynamic buffer model of SONiC (`buffer_model: dynamic`): the switch's buffer manager works out headroom and pools from the
//! speed of a port, its cable, its MTU and what the chip is (sonic.md section 3.5).

use crate::field::Holds::{Count, Name, Size, Word};
use crate::field::{Field, optional};
use rig_units::{Bytes, Length, PortSpeed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a switch works its buffers out from. Nothing set: its operator does, and all stands in `buffer`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DynamicBuffer {
    /// Whose rule it goes by. Absent: nobody's, and what else stands here says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sized_by: Option<SizedBy>,
    /// Cable to the peer of every port (`CABLE_LENGTH`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cable: Option<Length>,
    /// How many times the shared headroom pool is promised (`over_subscribe_ratio`). Absent: there is none, and each group has its
    /// headroom for itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_subscribe_ratio: Option<u32>,
    /// The greatest lossless packet (`mtu` of `LOSSLESS_TRAFFIC_PATTERN`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lossless_mtu: Option<Bytes>,
    /// How many lossless packets of a hundred are small (`small_packet_percentage`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub small_packets: Option<u32>,
    /// The XOFF of a buffer profile of an operator's own that every lossless group is bound to (`BUFFER_PG` `profile`). Absent: none is, and
    /// the switch works it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_xoff: Option<Bytes>,
    /// The port that negotiates its speed (`autoneg` of `PORT`): 3 is the third, that of the rig's `p3`. Absent: none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autoneg_port: Option<u16>,
    /// The fastest speed that this port advertises (`adv_speeds`). Absent: all that it supports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advertised: Option<PortSpeed>,
    /// The fastest speed that its ports support (`supported_speeds` of `PORT_TABLE`, STATE_DB).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supported: Option<PortSpeed>,
    /// What the list of egress profiles sets aside for each port (`size` of those in `BUFFER_PORT_EGRESS_PROFILE_LIST`). Absent: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port_reserve: Option<Bytes>,
    /// The most that a port can have of headroom (`max_headroom_size`). Absent: nobody says, and nothing is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_headroom: Option<Bytes>,
    /// All of the packet memory (`mmu_size`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// `pipeline_latency` of the chip, in thousandths of a KiB: `19` is 19000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipeline_latency: Option<u32>,
    /// `mac_phy_delay` of the chip, in thousandths of a KiB: `0.8` is 800.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mac_phy_delay: Option<u32>,
    /// `peer_response_time` of the chip, in thousandths of a KiB: for speeds of which IEEE 802.3 31B.3.7 says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer_response_time: Option<u32>,
}

/// A vendor whose rule sizes buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SizedBy {
    /// Spectrum, as SONiC 202405 and later do it (`buffer_headroom_mellanox.lua`, `buffer_pool_mellanox.lua`).
    Spectrum,
}

/// All of it, of a switch that does so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizedFrom {
    /// Cable to the peer.
    pub cable: Length,
    /// How many times the shared headroom pool is promised; 0 where there is none.
    pub ratio: u32,
    /// The greatest lossless packet.
    pub lossless_mtu: Bytes,
    /// Small packets of a hundred.
    pub small_packets: u8,
    /// The XOFF that an operator says of every lossless group.
    pub own_xoff: Option<Bytes>,
    /// The port that negotiates its speed, the first counted as 1.
    pub autoneg_port: Option<u16>,
    /// The fastest speed that it advertises; all that it supports where nobody says.
    pub advertised: Option<PortSpeed>,
    /// The fastest speed that ports support.
    pub supported: Option<PortSpeed>,
    /// What is set aside for each port beside its groups.
    pub port_reserve: Bytes,
    /// The most that a port can have of headroom.
    pub max_headroom: Option<Bytes>,
    /// All of the packet memory.
    pub memory: Bytes,
    /// In thousandths of a KiB.
    pub pipeline_latency: u32,
    /// In thousandths of a KiB.
    pub mac_phy_delay: u32,
    /// In thousandths of a KiB.
    pub peer_response_time: u32,
}

/// Centimetres in a metre.
const METRE: u64 = 100;

impl DynamicBuffer {
    /// What no switch can be set to, with its path, what was found and what is wanted: SONiC's CABLE_LENGTH has whole metres, and its
    /// scripts know no other unit.
    pub fn out_of_range(&self) -> Option<(&'static str, String, String)> {
        let cable = self.cable.filter(|cable| !cable.0.is_multiple_of(METRE))?;
        let want = "whole metres, as CABLE_LENGTH has them".to_owned();
        Some(("cable", format!("a cable of {cable}"), want))
    }

    /// Its fields, a row each. What a peer takes at a speed that the standard does not list shows on no port of another.
    pub const FIELDS: &[Field] = &[
        optional("sized_by", Word).tried(&["never"]),
        optional("cable", Name).by_case().tried(&["80m"]),
        optional("over_subscribe_ratio", Count).by_case().tried(&["x2"]),
        optional("lossless_mtu", Size).by_case().tried(&["x2"]),
        optional("small_packets", Count).by_case().tried(&["x0.5"]),
        optional("own_xoff", Size).by_case().tried(&["never", "x1.5"]),
        optional("autoneg_port", Count).by_case().tried(&["never"]),
        optional("advertised", Name).by_case().tried(&["never", "40Gbps"]),
        optional("supported", Name).tried(&["100Gbps"]),
        optional("port_reserve", Size).tried(&["never", "x2"]),
        optional("max_headroom", Size).tried(&["x0.5", "x2"]),
        optional("memory", Size),
        optional("pipeline_latency", Count).tried(&["x1.5", "x2"]),
        optional("mac_phy_delay", Count).tried(&["x5"]),
        optional("peer_response_time", Count).tried(&[]),
    ];

    /// What it works buffers out from; `None` where it does not, or not all of that is declared.
    pub fn sized_from(&self) -> Option<SizedFrom> {
        self.sized_by?;
        Some(SizedFrom {
            cable: self.cable?,
            ratio: self.over_subscribe_ratio.unwrap_or(0),
            lossless_mtu: self.lossless_mtu?,
            small_packets: u8::try_from(self.small_packets?.min(100)).ok()?,
            own_xoff: self.own_xoff,
            autoneg_port: self.autoneg_port,
            advertised: self.advertised,
            supported: self.supported,
            port_reserve: self.port_reserve.unwrap_or_default(),
            max_headroom: self.max_headroom,
            memory: self.memory?,
            pipeline_latency: self.pipeline_latency?,
            mac_phy_delay: self.mac_phy_delay?,
            peer_response_time: self.peer_response_time?,
        })
    }
}
