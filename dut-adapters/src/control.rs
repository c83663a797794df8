//! What a served device and whoever steers it say to each other: one JSON value a line, in turns, such as `"status"` or
//! `{"boot":{"seed":7}}`.
//!
//! The device speaks first ([`Hello`]); then it gives one [`Answer`] to each [`Ask`]. What it does not understand it
//! answers with what it would have understood, and goes on. Instants are nanoseconds of CLOCK_MONOTONIC, which is one
//! clock for every process of a machine; lengths of time carry their unit.

mod flow;
mod keyring;

pub use flow::{Does, FlowOrder};
pub use keyring::Keyring;

use core::fmt;
use rig_capture::DutEventKind;
use rig_lab::{Declared, Setting, WatermarkCopy};
use rig_units::Dur;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The language. Another number is another language.
pub const VERSION: u32 = 4;
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
        settings: Vec<Set>,
    },
    /// Changes settings, all or none.
    Configure {
        /// Which, and to what.
        settings: Vec<Set>,
    },
    /// Gives it the keys that it shares with the rig, for MACsec. It keeps them over boots.
    Key {
        /// They.
        keys: Keyring,
    },
    /// Says which of the device's ports the rig's are cabled to: rig port `i` to device port `behind[i]`. Without it, and
    /// after a boot, each to the port of its own number.
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
        /// Which.
        flow: FlowOrder,
    },
    /// Lets it send nothing new on a connection.
    StopFlow {
        /// The port, counted from 0.
        port: u16,
        /// The number of the connection.
        connection: u16,
    },
    /// Reads counters.
    Counters {
        /// These; all without any.
        #[serde(default)]
        names: Vec<String>,
    },
    /// Makes every watermark among the counters what is in use now.
    ClearWatermarks,
    /// Clears one of the copies that the device keeps of every watermark: it shows 0 until the next poll.
    ClearCopy {
        /// Which.
        copy: WatermarkCopy,
    },
    /// Reads what watchdogs did since the last time this was asked.
    Events,
    /// How the device has kept up since it was booted.
    Status,
    /// How the device has kept up since the last time this was asked.
    Lateness,
    /// Ends the process.
    Quit,
}

/// A setting, as it travels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// Dotted path below `declared:`.
    pub path: String,
    /// The value, as it would stand in the profile.
    pub value: Value,
}

impl From<&Setting> for Set {
    fn from(setting: &Setting) -> Set {
        Set { path: setting.path.clone(), value: setting.value.clone() }
    }
}

impl From<Set> for Setting {
    fn from(set: Set) -> Setting {
        Setting { path: set.path, value: set.value }
    }
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
        /// Each.
        events: Vec<Happened>,
    },
    /// How it kept up.
    Health(Health),
    /// It is done.
    Done,
    /// It did not understand.
    Bad {
        /// What was wrong, and what would have been right.
        why: String,
    },
}

/// Something that a watchdog did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Happened {
    /// When, on CLOCK_MONOTONIC.
    pub at_ns: u64,
    /// The device's port, by its own name.
    pub port: String,
    /// The class.
    pub class: u8,
    /// What.
    pub what: Watchdog,
}

/// What a watchdog does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Watchdog {
    /// It detected a storm.
    Storm,
    /// It restored the queue.
    Restore,
}

impl From<DutEventKind> for Watchdog {
    fn from(kind: DutEventKind) -> Watchdog {
        match kind {
            DutEventKind::Storm => Watchdog::Storm,
            DutEventKind::Restore => Watchdog::Restore,
        }
    }
}

impl From<Watchdog> for DutEventKind {
    fn from(what: Watchdog) -> DutEventKind {
        match what {
            Watchdog::Storm => DutEventKind::Storm,
            Watchdog::Restore => DutEventKind::Restore,
        }
    }
}

/// How a served device kept up with its clock, and what got lost on the way. Inside, it does everything at its due
/// instant, however late the process was: lateness shows outside, in frames that leave late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Health {
    /// Worst time from when something was due inside the device, such as a poll of its watchdog, to when it was done.
    pub event_late: Dur,
    /// Worst time from when the last bit of a frame was due to leave to when the frame was handed over.
    pub send_late: Dur,
    /// Worst time from a frame's stamp to when the device had dealt with it.
    pub arrival_late: Dur,
    /// How far, at worst, a frame's stamp lay before what the device had already done. Such a frame is taken in late, and
    /// what the device did in between might have been otherwise.
    pub misplaced: Dur,
    /// Frames taken in, PFC and those that were of no use included.
    pub received: u64,
    /// Frames sent, PFC included.
    pub sent: u64,
    /// 802.3x PAUSE frames, which the device ignores.
    pub pauses: u64,
    /// MAC Control frames that break their format.
    pub malformed: u64,
    /// Frames for nobody that the device knows.
    pub foreign: u64,
    /// Frames that arrived over a link that is cut.
    pub cut: u64,
    /// Frames due to leave whose bytes had made room for others.
    pub evicted: u64,
    /// Frames due to leave protected while nobody had given the device its keys.
    pub keyless: u64,
    /// Frames that reached a port and not the device.
    pub rx_lost: u64,
    /// Frames that the device sent and a port did not.
    pub tx_lost: u64,
}

impl Health {
    /// Why what the device did is no measure of what it declares, when anything came later than `bound` or was lost.
    pub fn doubt(&self, bound: Dur) -> Option<String> {
        let late = [
            (self.event_late, "an event inside it was handled"),
            (self.send_late, "a frame left"),
            (self.arrival_late, "a frame was dealt with"),
            (self.misplaced, "a frame was taken in out of order"),
        ];
        let late = late.into_iter().filter(|&(by, _)| by > bound);
        let lost = [
            (self.evicted, "had no bytes left"),
            (self.keyless, "could not be protected without keys"),
            (self.rx_lost, "never reached the device"),
            (self.tx_lost, "never left it"),
        ];
        let lost = lost.into_iter().filter(|&(count, _)| count > 0);
        let late = late.map(|(by, what)| format!("{what} {by} late (bound {bound})"));
        let lost = lost.map(|(count, what)| {
            format!("{count} frame{} {what}", if count == 1 { "" } else { "s" })
        });
        let all: Vec<String> = late.chain(lost).collect();
        (!all.is_empty()).then(|| format!("the served device fell behind: {}", all.join("; ")))
    }
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
