//! What is declared of a switch: its ports, and the parts that frames meet between them.

use crate::field::Holds::{Count, Range, Word};
use crate::field::{Field, needed, optional};
use crate::ports::speed_of;
use crate::{
    Buffer, DynamicBuffer, FlexCounter, Form, Macsec, Pfc, Pfcwd, Ports, Qos, Reboot, Scheduler,
    SwitchingMode, Watermark, Wred,
};
use rig_units::{Bytes, Dur, MIN_FRAME, PortSpeed, Ppm, Within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A switch; of a system, what each of its switches has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// The front-panel ports, in order; named `Ethernet0`, `Ethernet4`, ... as SONiC does.
    pub ports: Ports,
    /// The port that its operator has shut (`admin_status` of `PORT`): 3 is the third, that of the rig's `p3`. Absent: none of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shut_port: Option<u16>,
    /// Largest frame the ports take, FCS counted.
    pub mtu: Bytes,
    /// How far its clock may be off, either way (IEEE 802.3 allows the clock of a port 100 ppm). Absent: it is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Ppm>,
    /// Time from the last bit in to the first bit out of an idle switch, of each frame anew; of one that cuts through from the first bit in. No
    /// frame overtakes another.
    pub forwarding_delay: Within,
    /// When a frame counts as come. Absent: once all of it is in.
    #[serde(default, skip_serializing_if = "SwitchingMode::is_usual")]
    pub switching_mode: SwitchingMode,
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

    /// The fields of how it does so, a row each.
    pub const OF_SWITCHING: &[Field] =
        &[optional("switching_mode", Word).tried(&["store-and-forward", "cut-through"])];

    /// The fields of its ports, a row each. Another port than a case names, or one where it names none, is shut by no mistake that is worth a case.
    pub const OF_PORTS: &[Field] =
        &[optional("shut_port", Count).by_case().live().tried(&["never"])];

    /// Time from a frame having [come](SwitchingMode) to its first bit out of an idle switch, MACsec counted: of a frame of any size.
    pub fn transit(&self) -> Within {
        let [short, long] = [MIN_FRAME, self.mtu].map(|size| self.transit_of(size));
        if short == long {
            short
        } else {
            Within::between(short.least(), long.most().max(short.most()))
        }
    }

    /// The same of a frame of this size, between any two of its ports.
    pub fn transit_of(&self, size: Bytes) -> Within {
        let speeds = || self.ports.iter().map(|group| group.speed);
        let both = speeds().min().zip(speeds().max()).map(|(slow, fast)| [slow, fast]);
        both.map_or(Within::ZERO, |both| self.transit_between(both, size))
    }

    /// The same from a port of the first speed to one of the second.
    pub fn transit_between(&self, speeds: [PortSpeed; 2], size: Bytes) -> Within {
        let own = self.forwarding_delay + self.macsec.transit(size);
        Within::between(own.least(), own.most().max(self.outrun(speeds, size)))
    }

    /// How long a frame that is cut through waits at the most, from its first bit in, so that its last bit out is no sooner than its last bit in.
    fn outrun(&self, [from, to]: [PortSpeed; 2], size: Bytes) -> Dur {
        match self.switching_mode {
            SwitchingMode::StoreAndForward => Dur::ZERO,
            SwitchingMode::CutThrough => from.serialise(size).saturating_sub(to.serialise(size)),
        }
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

    /// Ports that are named and that it has not, and one that cannot be what is said of it: path, what was found, what is wanted.
    pub fn ports_out_of_range(&self) -> Vec<(&'static str, String, String)> {
        let of = &self.dynamic_buffer;
        let count: u32 = self.ports.iter().map(|group| u32::from(group.count)).sum();
        let named =
            [("shut_port", self.shut_port), ("dynamic_buffer.autoneg_port", of.autoneg_port)];
        let mut all: Vec<_> = named
            .into_iter()
            .filter_map(|(path, port)| {
                let port = port.filter(|port| !(1..=count).contains(&u32::from(*port)))?;
                Some((path, format!("port {port}"), format!("one of its ports, 1 to {count}")))
            })
            .collect();
        if self.shut_port.is_some() && self.shut_port == of.autoneg_port {
            let want =
                "another port than the one that is shut, which negotiates nothing".to_owned();
            all.push(("dynamic_buffer.autoneg_port", "the port that is shut".to_owned(), want));
        }
        if of.autoneg_port.is_some() && of.advertised.is_none() && of.supported.is_none() {
            let found = "a port that negotiates what nobody says".to_owned();
            let want = "dynamic_buffer.supported, or dynamic_buffer.advertised".to_owned();
            all.push(("dynamic_buffer.autoneg_port", found, want));
        }
        all
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
