//! What is declared of a switch: its ports, and the parts that frames meet between them.

use crate::field::Holds::Range;
use crate::field::{Field, needed};
use crate::ports::speed_of;
use crate::{
    Buffer, DynamicBuffer, FlexCounter, Form, Macsec, Pfc, Pfcwd, Ports, Qos, Reboot, Scheduler,
    Watermark, Wred,
};
use rig_units::{Bytes, PortSpeed, Ppm, Within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A switch; of a system, what each of its switches has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// The front-panel ports, in order; named `Ethernet0`, `Ethernet4`, ... as SONiC does.
    pub ports: Ports,
    /// Largest frame the ports take, FCS counted.
    pub mtu: Bytes,
    /// How far its clock may be off, either way (IEEE 802.3 allows the clock of a port 100 ppm). Absent: it is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Ppm>,
    /// Time from the last bit in to the first bit out of an idle switch, of each frame anew. No frame overtakes another.
    pub forwarding_delay: Within,
    /// Classification and which classes are lossless.
    pub qos: Qos,
    /// How the queues of a port share it.
    pub scheduler: Scheduler,
    /// The packet buffer and its thresholds.
    pub buffer: Buffer,
    /// What its buffer manager works headroom and pools out from.
    #[serde(default)]
    pub dynamic_buffer: DynamicBuffer,
    /// Early marking and dropping.
    pub wred: Wred,
    /// Sending and obeying of PFC.
    pub pfc: Pfc,
    /// The PFC watchdog.
    pub pfcwd: Pfcwd,
    /// The polling of watermarks.
    #[serde(default)]
    pub watermark: Watermark,
    /// The copying of counters.
    #[serde(default)]
    pub flex_counter: FlexCounter,
    /// What it says of its reboots.
    #[serde(default)]
    pub reboot: Reboot,
    /// MACsec on the ports.
    #[serde(default)]
    pub macsec: Macsec,
}

impl Switch {
    /// The fields of whatever forwards frames, a row each.
    pub const OF_FORWARDING: &[Field] = &[needed("forwarding_delay", Range, "600ns").varies()];

    /// Time from the last bit in to the first bit out of an idle switch, MACsec counted.
    pub fn transit(&self) -> Within {
        self.forwarding_delay + self.macsec.transit()
    }

    /// Time from the last bit of a PFC frame of this form to its effect, MACsec counted.
    pub fn response(&self, form: Form) -> Within {
        self.pfc.response + self.macsec.pfc_latency(form)
    }

    /// Time from the last bit of the frame that crosses a limit to the XOFF standing at the MAC, MACsec counted.
    pub fn emission(&self) -> Within {
        let protected = self.macsec.pfc_latency(self.macsec.sent());
        self.pfc.emission.unwrap_or(Within::ZERO) + protected
    }

    /// Time from a group falling back to where it may go on to the XON standing at the MAC, MACsec counted.
    pub fn resumption(&self) -> Within {
        let protected = self.macsec.pfc_latency(self.macsec.sent());
        self.pfc.resumption.or(self.pfc.emission).unwrap_or(Within::ZERO) + protected
    }

    /// Speed of port `index`, counted from 0; `None` past the last.
    pub fn port_speed(&self, index: u16) -> Option<PortSpeed> {
        speed_of(&self.ports, index)
    }

    /// SONiC's name of port `index`: `Ethernet0`, `Ethernet4`, ...
    pub fn port_name(index: u16) -> String {
        format!("Ethernet{}", u32::from(index) * 4)
    }
}
