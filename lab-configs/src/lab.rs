//! A lab: which devices there are, how the rig is cabled to them, and through what they are reached.

use crate::Profile;
use rig_units::{Dur, PortSpeed};

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
    /// The interface of each rig port: `p1` is the first, cabled to the device's first port, and so on.
    pub interfaces: Vec<String>,
    /// What carries the frames.
    pub backend: Backend,
    /// How far off a timestamp of the rig may be.
    pub bound: Dur,
    /// How long a run may take.
    pub budget: Dur,
}

/// What carries frames into and out of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Backend {
    /// AF_XDP.
    AfXdp,
    /// AF_PACKET, for what has no XDP.
    AfPacket,
}

impl Backend {
    /// Every back end, by the word for it in a lab.
    pub const NAMES: [(&'static str, Backend); 2] =
        [("af-xdp", Backend::AfXdp), ("af-packet", Backend::AfPacket)];
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
    /// The devices, in the order of the file. Rig port `p1` is cabled to each device's first port, and so on.
    pub duts: Vec<Profile>,
}
