//! What an operator configured and a vendor documented of one device.

use crate::field::Holds::{List, Quanta as Pause, Range, Size, Switch, Time};
use crate::field::{Field, needed, optional};
use crate::{Buffer, Form, Macsec, Nic, Pfcwd, Qos, Scheduler, Watermark, Wred};
use rig_units::{Bytes, Dur, PortSpeed, Quanta, Within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The declared configuration of a device. Of a NIC all but its ports, its MTU and `nic` says nothing. Its YAML paths (`pfcwd.detection_time`) are what cases require, sweeps
/// vary and `--mutate` changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Declared {
    /// The front-panel ports, in order; named `Ethernet0`, `Ethernet4`, ... as SONiC does.
    pub ports: Ports,
    /// Largest frame the ports take, FCS counted.
    pub mtu: Bytes,
    /// Time from the last bit in to the first bit out of an idle switch.
    pub forwarding_delay: Dur,
    /// Classification and which classes are lossless.
    pub qos: Qos,
    /// How the queues of a port share it.
    pub scheduler: Scheduler,
    /// The packet buffer and its thresholds.
    pub buffer: Buffer,
    /// Early marking and dropping.
    pub wred: Wred,
    /// Sending and obeying of PFC.
    pub pfc: Pfc,
    /// The PFC watchdog.
    pub pfcwd: Pfcwd,
    /// The polling of watermarks.
    #[serde(default, deserialize_with = "crate::watermark::or_unset")]
    pub watermark: Watermark,
    /// MACsec on the ports.
    #[serde(default, deserialize_with = "crate::macsec::or_off")]
    pub macsec: Macsec,
    /// What a NIC does; a switch has none.
    #[serde(default, deserialize_with = "crate::nic::or_none")]
    pub nic: Nic,
    /// What the NIC behind the second port does, where there are two.
    #[serde(default, deserialize_with = "crate::nic::or_none")]
    pub peer: Nic,
}

/// All front-panel ports, as groups of equal ones.
pub type Ports = Vec<PortGroup>;

/// So many ports of one speed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortGroup {
    /// Ports of this speed.
    pub count: u16,
    /// The nominal MAC rate of each.
    pub speed: PortSpeed,
}

/// How the switch sends and obeys priority flow control.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pfc {
    /// Pause time that the switch asks for when it sends XOFF.
    pub quanta: Quanta,
    /// Time between two XOFF frames while a class stays congested.
    pub refresh: Dur,
    /// Time the MAC takes from the last bit of a PFC frame to the last start of a frame of that class
    /// (IEEE 802.3 31B.3.7 gives the most), of each frame anew.
    pub response: Within,
    /// Time from the last bit of the frame that crosses a limit to the XOFF standing at the MAC. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emission: Option<Dur>,
    /// Whether an XON frame counts as a received PFC frame in `SAI_PORT_STAT_PFC_<p>_RX_PKTS`.
    pub xon_counts: bool,
}

impl Pfc {
    /// Its fields, a row each.
    pub const FIELDS: &[Field] = &[
        needed("quanta", Pause, "65535q"),
        needed("refresh", Time, "100us"),
        needed("response", Range, "2.02us").varies(),
        optional("emission", Time),
        needed("xon_counts", Switch, "true").tried(&["true", "false"]),
    ];
}

impl Declared {
    /// The fields that every device has beside its parts, a row each.
    pub const OF_ALL: &[Field] = &[
        needed("ports", List, r#"[{"count":8,"speed":"100Gbps"}]"#),
        needed("mtu", Size, "9122B"),
    ];
    /// Those that whatever forwards frames has, too.
    pub const OF_FORWARDING: &[Field] = &[needed("forwarding_delay", Time, "600ns")];

    /// Time from the last bit in to the first bit out of an idle switch, MACsec counted.
    pub fn transit(&self) -> Dur {
        self.forwarding_delay + self.macsec.transit()
    }

    /// Time from the last bit of a PFC frame of this form to its effect, MACsec counted.
    pub fn response(&self, form: Form) -> Within {
        self.pfc.response + self.macsec.pfc_latency(form).into()
    }

    /// Time from the last bit of the frame that crosses a limit to the XOFF standing at the MAC, MACsec counted.
    pub fn emission(&self) -> Dur {
        self.pfc.emission.unwrap_or(Dur::ZERO) + self.macsec.pfc_latency(self.macsec.sent())
    }

    /// How many front-panel ports there are.
    pub fn port_count(&self) -> u16 {
        self.ports.iter().map(|group| group.count).sum()
    }

    /// Speed of port `index`, counted from 0; `None` past the last.
    pub fn port_speed(&self, index: u16) -> Option<PortSpeed> {
        let mut before = 0;
        self.ports.iter().find_map(|group| {
            before += group.count;
            (index < before).then_some(group.speed)
        })
    }

    /// The same switch with ports of another speed. What belongs to the pause time stays as many quanta: refresh and response.
    #[must_use]
    pub fn at(&self, speed: PortSpeed) -> Declared {
        let mut other = self.clone();
        let before = self.port_speed(0).unwrap_or(speed);
        other.pfc.refresh = other.pfc.refresh.scaled(before.bps(), speed.bps());
        other.pfc.response = other.pfc.response.scaled(before.bps(), speed.bps());
        other.ports.iter_mut().for_each(|ports| ports.speed = speed);
        other
    }

    /// What counters call port `index`: as SONiC does, or the NIC behind it.
    pub fn name_of(&self, index: u16) -> String {
        if self.nic.exists() { Nic::port_name(index) } else { Declared::port_name(index) }
    }

    /// SONiC's name of port `index`: `Ethernet0`, `Ethernet4`, ...
    pub fn port_name(index: u16) -> String {
        format!("Ethernet{}", u32::from(index) * 4)
    }
}
