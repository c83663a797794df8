//! A lab: which devices there are, how the rig is cabled to them, and through what they are reached.

use crate::{Keys, Profile};
use rig_units::{Dur, PortSpeed};
use std::path::PathBuf;

/// How a device is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Adapter {
    /// The model, in virtual time, in this process.
    Emulated,
    /// The model in real time, as a process of its own at the far ends of virtual interfaces that the rig makes.
    EmulatedWire(EmulatedWire),
    /// Whatever is cabled to the rig's interfaces. There is no control channel: what the profile declares is trusted,
    /// nothing is configured, and there are no counters and no events.
    Declared(DeclaredWire),
}

/// An emulated device in real time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmulatedWire {
    /// At what rate its fastest ports run; slower ones keep their share of it. Slow ports make long pauses, which
    /// survive a machine that looks away.
    pub speed: PortSpeed,
    /// How many of each device's ports there are.
    pub ports: u16,
    /// How far off a timestamp of the rig, or the device itself, may be. A trial in which either was worse is void.
    pub bound: Dur,
    /// How many devices run side by side.
    pub benches: u16,
    /// How long a run may take. Its effort is planned to fit, and the resolution follows from that.
    pub budget: Dur,
}

/// A device on the rig's own interfaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredWire {
    /// The interface of each rig port: `p1` is the first, cabled to the device's first port, and so on. With DPDK its
    /// name for the port, such as `0000:41:00.0`.
    pub interfaces: Vec<String>,
    /// What carries the frames.
    pub backend: Backend,
    /// With which DPDK: of the back end `dpdk` alone.
    pub dpdk: Option<DpdkWire>,
    /// At what rate the device's fastest ports really run, slower ones keeping their share of it; `None`: as its profile
    /// says. For interfaces without a speed of their own.
    pub speed: Option<PortSpeed>,
    /// How far off a timestamp of the rig may be.
    pub bound: Dur,
    /// How long a run may take.
    pub budget: Dur,
}

/// What the back end `dpdk` needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DpdkWire {
    /// The arguments of DPDK's environment (EAL), one each.
    pub eal: Vec<String>,
    /// The shim to use, instead of the one that is found.
    pub shim: Option<PathBuf>,
}

/// What carries frames into and out of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Backend {
    /// AF_XDP.
    AfXdp,
    /// AF_PACKET, for what has no XDP.
    AfPacket,
    /// A driver of DPDK.
    Dpdk,
}

impl Backend {
    /// Every back end, by the word for it in a lab.
    pub const NAMES: [(&'static str, Backend); 3] =
        [("af-xdp", Backend::AfXdp), ("af-packet", Backend::AfPacket), ("dpdk", Backend::Dpdk)];
}

/// A lab as it is used: profiles read and resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lab {
    /// Its name: the stem of its file.
    pub name: String,
    /// One line for people.
    pub about: String,
    /// How its devices are reached.
    pub adapter: Adapter,
    /// Length of the cables between the rig's ports and the device, in centimetres.
    pub cable_cm: u64,
    /// What its ports and the device share for MACsec; `None`: nothing, and no case with MACsec can be run.
    pub keys: Option<Keys>,
    /// The devices, in the order of the file. Rig port `p1` is cabled to each device's first port, and so on.
    pub duts: Vec<Profile>,
}
