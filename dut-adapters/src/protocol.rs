//! What a served device and whoever steers it say to each other: one JSON value a line, in turns, such as `"status"` or
//! `{"boot":{"seed":7}}`.
//!
//! The device speaks first ([`Hello`]); then it gives one [`Answer`] to each [`Ask`]. What it does not understand it
//! answers with what it would have understood, and goes on. Instants are nanoseconds of CLOCK_MONOTONIC, which is one
//! clock for every process of a machine; lengths of time carry their unit.

use crate::control::{Health, Order};
use core::fmt;
use rig_capture::DutEventKind;
use rig_lab::{Declared, Setting};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The language. Another number is another language.
pub const VERSION: u32 = 8;
/// Its name.
pub const PROTOCOL: &str = "rig-dut";
/// The longest line that is read.
pub const LONGEST: u64 = 1 << 20;
/// What a line of whoever steers is.
pub const QUESTION: &str = r#"a question such as "status" or {"boot":{"seed":7}}"#;

/// The first line of every conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`].
    pub protocol: String,
    /// [`VERSION`].
    pub version: u32,
    /// Name of the device's profile.
    pub device: String,
    /// The interfaces it is served on: device port 0 first.
    pub interfaces: Vec<String>,
    /// What it declares; its ports are those that are served, at the speed they are served at.
    pub declared: Declared,
}

/// One thing asked of the device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ask {
    /// Starts the device afresh, now. With `until_hangup` at the command line it stops when this conversation ends.
    Boot {
        /// Everything random in it follows from this number.
        seed: u64,
        /// What it is configured to.
        #[serde(default)]
        settings: Vec<Setting>,
    },
    /// Changes settings, all or none.
    Configure {
        /// Which, and to what.
        settings: Vec<Setting>,
    },
    /// Reads counters.
    Counters {
        /// These; all without any.
        #[serde(default)]
        names: Vec<String>,
    },
    /// Does something at once.
    Do(Order),
    /// Reads what watchdogs did since the last time this was asked.
    Events,
    /// Reads what a poll of a PFC watchdog reads, for who polls in the device's place.
    Polled {
        /// When the poll was due, on CLOCK_MONOTONIC: how much later it comes is the machine's doing, and told with how the device has
        /// kept up.
        due_ns: u64,
        /// When the next one is, which is late as soon as that is over.
        next_ns: u64,
    },
    /// How the device has kept up since it was booted.
    Status,
    /// How the device has kept up since the last time this was asked.
    Lateness,
    /// When frames have passed each port since the last time this was asked.
    Passed,
    /// Ends the process.
    Quit,
}

/// What the device says to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Answer {
    /// It was booted.
    Booted {
        /// Its start, on CLOCK_MONOTONIC.
        epoch_ns: u64,
        /// What it states to be configured to.
        declared: Box<Declared>,
    },
    /// It took the settings.
    Configured {
        /// What it states to be configured to now.
        declared: Box<Declared>,
    },
    /// It did not take them; nothing has changed. A boot that is refused leaves the device as it was.
    Refused {
        /// In its words.
        why: String,
    },
    /// Counters by name; a name that it does not know is missing.
    Counters {
        /// Values.
        values: BTreeMap<String, u64>,
    },
    /// What watchdogs did, in order.
    Events {
        /// From the earliest on.
        events: Vec<Happened>,
    },
    /// What a poll of a PFC watchdog reads.
    Polled {
        /// When it was read, on CLOCK_MONOTONIC.
        at_ns: u64,
        /// Of each queue that is guarded.
        queues: Vec<Polled>,
    },
    /// How it kept up.
    Health(Health),
    /// When frames passed its ports.
    Passed {
        /// Port 0 first.
        ports: Vec<PortPassed>,
    },
    /// It is done.
    Done,
    /// It did not understand.
    Bad {
        /// What was wrong, and what would have been right.
        why: String,
    },
}

/// What passed a port: by when, on CLOCK_MONOTONIC, how many frames had, and no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortPassed {
    /// Into the device.
    pub came_ns: Vec<(u64, u64)>,
    /// Out of it.
    pub left_ns: Vec<(u64, u64)>,
}

/// Something that a watchdog did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Happened {
    /// When, on CLOCK_MONOTONIC.
    pub at_ns: u64,
    /// The device's port, by its own name.
    pub port: String,
    /// Traffic class, 0 to 7.
    pub class: u8,
    /// Whether it fired or let go.
    pub what: DutEventKind,
}

/// What a poll of a PFC watchdog reads of one queue, and of its class on the port. Counts are since the boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Polled {
    /// The device's port, by its own name.
    pub port: String,
    /// Traffic class, 0 to 7.
    pub class: u8,
    /// PFC frames received (`SAI_PORT_STAT_PFC_<c>_RX_PKTS`).
    pub pfc_rx_pkts: u64,
    /// Pauses that ended (`SAI_PORT_STAT_PFC_<c>_ON2OFF_RX_PKTS`).
    pub on2off_rx_pkts: u64,
    /// Time spent paused, in microseconds (`SAI_PORT_STAT_PFC_<c>_RX_PAUSE_DURATION_US`).
    pub rx_pause_duration_us: u64,
    /// Frames that left by the queue (`SAI_QUEUE_STAT_PACKETS`).
    pub packets: u64,
    /// Bytes in the queue (`SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES`).
    pub occupancy: u64,
    /// Whether the class is paused (`SAI_QUEUE_ATTR_PAUSE_STATUS`).
    pub paused: bool,
}

/// Reads one line of the other side.
///
/// # Errors
/// What was wrong with it, and what would have been accepted.
pub fn read<'a, T: Deserialize<'a>>(what: &'static str, line: &'a str) -> Result<T, BadLine> {
    serde_json::from_str(line).map_err(|error| BadLine { what, why: error.to_string() })
}

/// One line of this side, with its end.
pub fn line(message: &impl Serialize) -> String {
    // Room for every key at once: a buffer that grows leaves copies of what it held.
    let mut text = Vec::with_capacity(1 << 10);
    serde_json::to_writer(&mut text, message).expect("messages have string keys");
    text.push(b'\n');
    String::from_utf8(text).expect("JSON is text")
}

/// A line that is none of the language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    what: &'static str,
    why: String,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not {}: {}", self.what, self.why)
    }
}

impl core::error::Error for BadLine {}

#[cfg(test)]
mod tests;
