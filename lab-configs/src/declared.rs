//! What an operator configured and a vendor documented of one device.

mod blue_rdma;
mod rdma_router;
mod router;

pub use blue_rdma::{BlueNics, BlueRdma};
pub use rdma_router::RdmaRouter;
pub use router::Router;

use crate::field::Holds::{Chance, List, Size};
use crate::field::{Field, needed, optional};
use crate::ports::speed_of;
use crate::{Kind, Nics, Ports, Qos, Switch, SwitchingMode};
use rig_units::{Apart, Bytes, PortSpeed, Ppm, Within};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;

/// The declared configuration of a device: its ports, and the parts that its kind has. Its YAML paths (`pfcwd.detection_time`) are what cases require,
/// sweeps vary and `--mutate` changes; a setting never makes another kind of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, try_from = "Value")]
pub enum Declared {
    /// A switch, or a system: what its first switch has.
    Switch(Box<Switch>),
    /// One NIC, or two; or one with the software that shares it.
    Nic(Box<Nics>),
    /// A router.
    Router(Router),
    /// Two NICs of blue-rdma.
    BlueRdma(BlueNics),
}

impl Declared {
    /// The fields that every device has beside its parts, a row each.
    pub const OF_ALL: &[Field] = &[
        needed("ports", List, r#"[{"count":8,"speed":"100Gbps"}]"#),
        needed("mtu", Size, "9122B"),
        // What is wrong with a clock are deviations.
        optional("clock", Chance).tried(&[]),
    ];

    /// The configuration of a device of this kind, from its serialised form.
    pub(crate) fn read(kind: Kind, tree: Value) -> Result<Declared, serde_json::Error> {
        Ok(match kind {
            Kind::Switch | Kind::System => Declared::Switch(serde_json::from_value(tree)?),
            Kind::Nic | Kind::RdmaRouter => Declared::Nic(serde_json::from_value(tree)?),
            Kind::Router => Declared::Router(serde_json::from_value(tree)?),
            Kind::BlueRdma => Declared::BlueRdma(serde_json::from_value(tree)?),
        })
    }

    /// The kind whose parts it has; a system has those of a switch.
    pub const fn kind(&self) -> Kind {
        match self {
            Declared::Switch(_) => Kind::Switch,
            Declared::Nic(nics) if nics.rdma_router.is_some() => Kind::RdmaRouter,
            Declared::Nic(_) => Kind::Nic,
            Declared::Router(_) => Kind::Router,
            Declared::BlueRdma(_) => Kind::BlueRdma,
        }
    }

    /// What a switch has.
    pub fn switch(&self) -> Option<&Switch> {
        match self {
            Declared::Switch(switch) => Some(switch),
            Declared::Nic(_) | Declared::Router(_) | Declared::BlueRdma(_) => None,
        }
    }

    /// The NICs, of a device of NICs.
    pub fn nics(&self) -> Option<&Nics> {
        match self {
            Declared::Nic(nics) => Some(nics),
            Declared::Switch(_) | Declared::Router(_) | Declared::BlueRdma(_) => None,
        }
    }

    /// The NICs of blue-rdma, of a device of such.
    pub fn blue_rdma(&self) -> Option<&BlueRdma> {
        match self {
            Declared::BlueRdma(nics) => Some(&nics.blue_rdma),
            Declared::Switch(_) | Declared::Nic(_) | Declared::Router(_) => None,
        }
    }

    /// Every value of a NIC that lies outside its range: its path, what stands there, what would be accepted.
    pub fn nics_out_of_range(&self) -> Vec<(String, String, String)> {
        match self {
            Declared::Nic(nics) => nics.values_out_of_range(),
            Declared::BlueRdma(nics) => {
                let all = nics.blue_rdma.out_of_range().into_iter();
                all.map(|(path, found, want)| (format!("blue_rdma.{path}"), found, want)).collect()
            }
            Declared::Switch(_) | Declared::Router(_) => Vec::new(),
        }
    }

    /// The ports, in order.
    pub fn ports(&self) -> &Ports {
        match self {
            Declared::Switch(switch) => &switch.ports,
            Declared::Nic(nics) => &nics.ports,
            Declared::Router(router) => &router.ports,
            Declared::BlueRdma(nics) => &nics.ports,
        }
    }

    /// The same, to have others.
    pub fn ports_mut(&mut self) -> &mut Ports {
        match self {
            Declared::Switch(switch) => &mut switch.ports,
            Declared::Nic(nics) => &mut nics.ports,
            Declared::Router(router) => &mut router.ports,
            Declared::BlueRdma(nics) => &mut nics.ports,
        }
    }

    /// Largest frame the ports take, FCS counted.
    pub fn mtu(&self) -> Bytes {
        match self {
            Declared::Switch(switch) => switch.mtu,
            Declared::Nic(nics) => nics.mtu,
            Declared::Router(router) => router.mtu,
            Declared::BlueRdma(nics) => nics.mtu,
        }
    }

    /// How far its clock may be off, either way: each of its seconds is a second but for so many millionths.
    pub fn clock(&self) -> Ppm {
        let declared = match self {
            Declared::Switch(switch) => switch.clock,
            Declared::Nic(nics) => nics.clock,
            Declared::Router(router) => router.clock,
            Declared::BlueRdma(nics) => nics.clock,
        };
        declared.unwrap_or_default()
    }

    const fn clock_mut(&mut self) -> &mut Option<Ppm> {
        match self {
            Declared::Switch(switch) => &mut switch.clock,
            Declared::Nic(nics) => &mut nics.clock,
            Declared::Router(router) => &mut router.clock,
            Declared::BlueRdma(nics) => &mut nics.clock,
        }
    }

    /// Takes its clock to be off by so much, unless it states otherwise.
    pub(crate) fn clock_or(&mut self, usual: Ppm) {
        self.clock_mut().get_or_insert(usual);
    }

    /// Takes its clock to be off by no less than so much.
    pub(crate) fn clock_at_least(&mut self, least: Ppm) {
        let clock = self.clock_mut();
        *clock = (*clock).max(Some(least));
    }

    /// The same as a clock shows it that may be so far apart from its own.
    pub(crate) fn seen_by(&mut self, apart: Apart) {
        *self.clock_mut() = Some(apart.limit());
    }

    /// Time from the last bit in to the first bit out of the idle device, MACsec counted, of a frame of any size; `None` of NICs, which pass
    /// nothing on.
    pub fn transit(&self) -> Option<Within> {
        match self {
            Declared::Switch(switch) => Some(switch.transit()),
            Declared::Router(router) => Some(router.forwarding_delay),
            Declared::Nic(_) | Declared::BlueRdma(_) => None,
        }
    }

    /// The same of a frame of this size.
    pub fn transit_of(&self, size: Bytes) -> Option<Within> {
        match self {
            Declared::Switch(switch) => Some(switch.transit_of(size)),
            Declared::Router(_) | Declared::Nic(_) | Declared::BlueRdma(_) => self.transit(),
        }
    }

    /// The same from a port of the first speed to one of the second.
    pub fn transit_between(&self, speeds: [PortSpeed; 2], size: Bytes) -> Option<Within> {
        match self {
            Declared::Switch(switch) => Some(switch.transit_between(speeds, size)),
            Declared::Router(_) | Declared::Nic(_) | Declared::BlueRdma(_) => self.transit(),
        }
    }

    /// When a frame has come to it: with its last bit, but to a switch that cuts through.
    pub fn switching_mode(&self) -> SwitchingMode {
        self.switch().map(|switch| switch.switching_mode).unwrap_or_default()
    }

    /// From code point to class on the way to it: a switch's own map. NICs and routers have none; frames to them are marked as a switch
    /// maps them of which nothing else is known.
    pub fn qos(&self) -> Cow<'_, Qos> {
        self.switch()
            .map_or_else(|| Cow::Owned(Switch::usual().qos), |switch| Cow::Borrowed(&switch.qos))
    }

    /// How many front-panel ports there are.
    pub fn port_count(&self) -> u16 {
        self.ports().iter().map(|group| group.count).sum()
    }

    /// Speed of port `index`, counted from 0; `None` past the last.
    pub fn port_speed(&self, index: u16) -> Option<PortSpeed> {
        speed_of(self.ports(), index)
    }

    /// The same device with ports of another speed. What belongs to pause times of a switch stays as many quanta: refresh and
    /// response. A NIC's response stays as long as it is: the limit of IEEE 802.3 31B.3.7 is no one number of quanta.
    #[must_use]
    pub fn at(&self, speed: PortSpeed) -> Declared {
        let mut other = self.clone();
        let before = self.port_speed(0).unwrap_or(speed);
        if let Declared::Switch(switch) = &mut other {
            let pfc = &mut switch.pfc;
            pfc.refresh = pfc.refresh.scaled(before.bps(), speed.bps());
            pfc.response = pfc.response.scaled(before.bps(), speed.bps());
        }
        other.ports_mut().iter_mut().for_each(|ports| ports.speed = speed);
        other
    }

    /// What counters call port `index`: as SONiC does, or the NIC behind it.
    pub fn name_of(&self, index: u16) -> String {
        match self {
            Declared::Nic(_) | Declared::BlueRdma(_) => Nics::port_name(index),
            Declared::Switch(_) | Declared::Router(_) => Switch::port_name(index),
        }
    }
}

impl TryFrom<Value> for Declared {
    type Error = serde_json::Error;

    /// What it has of its own says what kind it is.
    fn try_from(tree: Value) -> Result<Declared, serde_json::Error> {
        let has = |key| tree.get(key).is_some();
        let kind = match (has("nic"), has("qos")) {
            (true, _) => Kind::Nic,
            (false, true) => Kind::Switch,
            (false, false) if has("blue_rdma") => Kind::BlueRdma,
            (false, false) => Kind::Router,
        };
        Declared::read(kind, tree)
    }
}

impl JsonSchema for Declared {
    fn schema_name() -> Cow<'static, str> {
        "Declared".into()
    }

    /// The fields of every kind in one mapping: which of them a kind has, say their rows.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut all = json!({ "type": "object", "additionalProperties": false });
        all["description"] =
            "The declared configuration of a device: its ports, and the parts that its kind has."
                .into();
        // What a router has a switch has, too.
        let forms = [
            Switch::json_schema(generator),
            Nics::json_schema(generator),
            BlueNics::json_schema(generator),
        ];
        for of_kind in forms {
            for (key, form) in
                of_kind.get("properties").and_then(Value::as_object).into_iter().flatten()
            {
                if all["properties"].get(key).is_none() {
                    all["properties"][key] = form.clone();
                }
            }
        }
        Schema::try_from(all).unwrap_or_default()
    }
}
