//! A host: what stands at the end of a cable and is no switch. It has a plug, and behind the plug is a node of some kind.
//!
//! A host is brought up to date when somebody looks: what it does depends only on what is on its way to it.

use super::mac;
use super::nic;
use super::oscillator::Oscillator;
use rig_units::{PortSpeed, Time};

mod device;
pub(in crate::model) mod node;
mod plan;
mod plug;
mod rig_port;
mod security;

pub(crate) use device::Device;
pub use node::HostKind;
pub(crate) use node::Node;
pub use plan::{PFC_SIZE, Storm, Stream, at, number, over_v6};
pub(crate) use plan::{usual, way_to};
pub(crate) use plug::{NO_HOST, Plug};
pub(crate) use rig_port::RigPort;
pub use security::{Obeys, Security};

/// What a host is, and how it obeys PFC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// How it obeys PFC; [`mac::Config::obeys`] zero ignores it.
    pub mac: mac::Config,
    /// What it is.
    pub kind: HostKind,
}

impl Config {
    /// A port of the rig that obeys PFC at once in every class and answers nothing.
    pub const fn quiet() -> Config {
        Config { mac: mac::Config::prompt(u8::MAX), kind: HostKind::RigPort { answer: None } }
    }

    /// A NIC that obeys PFC at once in every class.
    pub const fn nic(config: nic::Config) -> Config {
        Config { mac: mac::Config::prompt(u8::MAX), kind: HostKind::Nic(config) }
    }

    /// The same going by a clock.
    #[must_use]
    pub const fn on(mut self, clock: Oscillator) -> Config {
        self.mac.clock = clock;
        self
    }

    /// The same plug on a port of the rig that answers each frame of data with so many bytes.
    pub const fn answering(self, size: u16) -> Config {
        Config { kind: HostKind::RigPort { answer: Some(size) }, ..self }
    }
}

/// A host's state.
#[derive(Debug, Clone)]
pub struct Host {
    pub(crate) plug: Plug,
    pub(crate) node: Node,
}

impl Host {
    /// A host that sends nothing, called `index`, on a port of `speed`.
    pub(crate) fn new(index: u16, config: &Config, speed: PortSpeed) -> Host {
        let line = config.mac.clock.rate(speed.bps());
        let node = Node::new(index, &config.kind, line);
        Host { plug: Plug::new(index, &config.mac, speed), node }
    }

    /// What PFC did to `class` of this host until `now`.
    pub fn pauses(&self, class: u8, now: Time) -> mac::Pauses {
        self.plug.pauses(class, now)
    }
}
