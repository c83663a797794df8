//! Gathers the facts: reads what the kernel says of the machine, opens ports where that was asked for, and closes them
//! again. An interface that the caller did not name is left alone.

mod dpdk;
mod interface;
mod machine;
mod server;

pub use interface::{cable, interface};
pub use machine::machine;
pub use server::servers;

use super::facts::PortFacts;
use rig_generator::netlab::{End, Namespace, pair};
use rig_generator::port::{Attached, Backend, Caps, Config, Port};

/// Opens a port on a pair of virtual interfaces that is made for it and goes with it.
///
/// # Errors
/// What is in the way, and what mends it.
pub fn on_a_pair() -> Result<PortFacts, String> {
    let own = Namespace::new().map_err(|error| error.to_string())?;
    let [one, other] = ["p1", "d1"].map(|name| End { within: &own, name });
    pair(one, other, 9_216).map_err(|error| error.to_string())?;
    let config = Config { longest: 9_100, ..small(Backend::AfXdp, "p1") };
    let opened = own.run(|| Port::open(&config)).map_err(|error| error.to_string())?;
    opened.map(|port| facts(&port.caps)).map_err(|error| error.to_string())
}

/// A port that is only looked at.
fn small(backend: Backend, interface: &str) -> Config {
    Config { backend, slots: 64, ring: 256, ..Config::new(interface) }
}

/// What a port turned out to be able to do.
fn facts(caps: &Caps) -> PortFacts {
    let native = caps.attached == Some(Attached::Native);
    let mode = match (caps.backend, native) {
        (Backend::AfPacket, _) => "AF_PACKET",
        (Backend::Dpdk, _) => "DPDK",
        (Backend::AfXdp, true) => "AF_XDP in the driver",
        (Backend::AfXdp, false) => "AF_XDP in the generic path",
    };
    PortFacts {
        mode,
        native,
        zero_copy: caps.zero_copy,
        multi_buffer: caps.multi_buffer,
        refused: caps.refused.iter().map(ToString::to_string).collect(),
    }
}
