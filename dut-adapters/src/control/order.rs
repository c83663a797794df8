//! What a device is told to do at once, and answers with nothing but that it is done; and what a control must be able to do for it.

use super::flow::FlowOrder;
use super::keyring::Keyring;
use rig_capture::DutEventKind;
use rig_testcases::DeviceVerb;
use serde::{Deserialize, Serialize};

/// One thing that a device does at once. It travels to a served one as it stands here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Order {
    /// Has the keys that it shares with the rig from now on, for MACsec. It keeps them over boots.
    Key {
        /// One for each association, and a salt.
        keys: Keyring,
    },
    /// Knows which of its ports the rig's are cabled to: rig port `i` to device port `behind[i]`. Without it, and after a
    /// boot, each to the port of its own number.
    Cable {
        /// A port of the device for each of the rig's.
        behind: Vec<u16>,
    },
    /// Cuts or mends the link of a port, as the device sees it; the interface stays as it is.
    Link {
        /// The port, counted from 0.
        port: u16,
        /// Whether it is up from now on.
        up: bool,
    },
    /// Lets every connection of a NIC begin anew, as after it was torn down and made again.
    Disconnect,
    /// Lets the NIC at a port send messages by itself.
    StartFlow {
        /// The port, counted from 0.
        port: u16,
        /// What it sends.
        flow: FlowOrder,
    },
    /// Lets it send nothing new on a connection.
    StopFlow {
        /// The port, counted from 0.
        port: u16,
        /// The number of the connection.
        connection: u16,
    },
    /// Makes every watermark among the counters what is in use now.
    ClearWatermarks,
    /// Lets its PFC watchdogs decide nothing by themselves, until it is booted: somebody else does.
    YieldPfcwd,
    /// Does with a queue that is guarded what its watchdog does who has decided this.
    Decided {
        /// The port, by the device's own name.
        port: String,
        /// Traffic class, 0 to 7.
        class: u8,
        /// What was decided.
        what: DutEventKind,
        /// When the poll was due that decided it, on CLOCK_MONOTONIC.
        due_ns: u64,
    },
    /// Does what a step of a case asks of it.
    Perform {
        /// What.
        verb: DeviceVerb,
    },
}

impl Order {
    /// What it is called where it did not come about.
    pub fn word(&self) -> &'static str {
        match self {
            Order::Key { .. } => "key",
            Order::Cable { .. } => "cable",
            Order::Link { .. } => "link",
            Order::Disconnect => "disconnect",
            Order::StartFlow { .. } => "start-flow",
            Order::StopFlow { .. } => "stop-flow",
            Order::ClearWatermarks => "clear-watermarks",
            Order::YieldPfcwd => "yield-pfcwd",
            Order::Decided { .. } => "decided",
            Order::Perform { verb } => verb.row().key,
        }
    }

    /// What a control must be able to do for it.
    pub const fn needs(&self) -> Ability {
        match self {
            Order::Key { .. } => Ability::Keys,
            Order::Cable { .. } | Order::Link { .. } => Ability::Links,
            Order::Disconnect | Order::StartFlow { .. } | Order::StopFlow { .. } => Ability::Flows,
            Order::ClearWatermarks => Ability::ClearWatermarks,
            Order::YieldPfcwd | Order::Decided { .. } => Ability::YieldPfcwd,
            Order::Perform { verb } => Ability::Perform(*verb),
        }
    }
}

/// What a step of a case asks for, whatever carries frames.
impl From<DeviceVerb> for Order {
    fn from(verb: DeviceVerb) -> Order {
        Order::Perform { verb }
    }
}

/// One thing that a control may be able to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    /// States the configuration of the device.
    Snapshot,
    /// Changes settings and reads them back.
    Configure,
    /// Hears when the device itself refuses a setting.
    Refusals,
    /// Starts the device afresh.
    Boot,
    /// Reads counters.
    Counters,
    /// Hears what the device reports.
    Events,
    /// Clears watermarks.
    ClearWatermarks,
    /// Lets somebody else decide what the device's PFC watchdogs do.
    YieldPfcwd,
    /// Lets the device do what a step of a case asks of it.
    Perform(DeviceVerb),
    /// Cuts and mends links at the device's end, and tells it which of its ports the rig's are cabled to.
    Links,
    /// Lets a NIC send by itself, and its connections begin anew.
    Flows,
    /// Gives the device the keys that it shares with the rig.
    Keys,
    /// Says how the device has kept up.
    Health,
}

impl Ability {
    /// Every one but the verbs of steps, in the order of their declaration.
    pub const ALL: [Ability; 12] = [
        Ability::Snapshot,
        Ability::Configure,
        Ability::Refusals,
        Ability::Boot,
        Ability::Counters,
        Ability::Events,
        Ability::ClearWatermarks,
        Ability::YieldPfcwd,
        Ability::Links,
        Ability::Flows,
        Ability::Keys,
        Ability::Health,
    ];

    /// What a control without it does: the end of a sentence that begins with its name.
    pub fn lacking(self) -> &'static str {
        match self {
            Ability::Snapshot => "states no configuration",
            Ability::Configure => "configures nothing",
            Ability::Refusals => "does not hear when the device refuses a setting",
            Ability::Boot => "boots nothing",
            Ability::Counters => "reads no counters",
            Ability::Events => "hears no events",
            Ability::ClearWatermarks => "clears no watermarks",
            Ability::YieldPfcwd => "lets nobody decide for its watchdogs",
            Ability::Perform(verb) => verb.row().lacking,
            Ability::Links => "cuts no links",
            Ability::Flows => "starts no flows",
            Ability::Keys => "gives no keys",
            Ability::Health => "tells nothing of the device's health",
        }
    }
}
