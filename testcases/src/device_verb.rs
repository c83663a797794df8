//! What a step of a case asks of the device itself, done at once: its key in a step, what may stand there, and how it is told.

use rig_lab::WatermarkCopy;

const CLEARED: [(&str, WatermarkCopy); 2] = WatermarkCopy::CLEARED;

/// One thing that a device does at once, when a step asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceVerb {
    /// Clears a copy of its watermarks.
    ClearWatermarks(WatermarkCopy),
    /// Stops every PFC watchdog and starts it again, as `pfcwd stop` and `pfcwd start` do: handlers come off, and what was seen of a
    /// storm is forgotten.
    RestartPfcwd,
}

/// A key of steps.
#[derive(Debug, Clone, Copy)]
pub struct DeviceKey {
    /// The word before the colon in a step, such as `clear`; no other action of steps has it.
    pub key: &'static str,
    /// What it does, for people.
    pub about: &'static str,
    /// Each word that may stand there, and what it asks for.
    pub words: &'static [(&'static str, DeviceVerb)],
}

impl DeviceVerb {
    /// Every key of steps that asks something of the device.
    pub const KEYS: [DeviceKey; 2] = [
        DeviceKey {
            key: "clear",
            about: "clears this copy of the device's watermarks, by request",
            words: &[
                (CLEARED[0].0, DeviceVerb::ClearWatermarks(CLEARED[0].1)),
                (CLEARED[1].0, DeviceVerb::ClearWatermarks(CLEARED[1].1)),
            ],
        },
        DeviceKey {
            key: "restart",
            about: "stops this part of the device and starts it again, with the settings that it has",
            words: &[("pfcwd", DeviceVerb::RestartPfcwd)],
        },
    ];

    /// What is done, and to what.
    pub const fn describe(self) -> (&'static str, &'static str) {
        match self {
            DeviceVerb::ClearWatermarks(copy) => ("clear", copy.table()),
            DeviceVerb::RestartPfcwd => ("restart", "pfcwd"),
        }
    }

    /// The part of the configuration that starts afresh with it, so that what is predicted of it does not hold for what the restart
    /// meets; `None`: everything goes on.
    pub const fn restarts(self) -> Option<&'static str> {
        match self {
            DeviceVerb::ClearWatermarks(_) => None,
            DeviceVerb::RestartPfcwd => Some("pfcwd"),
        }
    }
}
