//! Named ways in which an emulated device departs from what it declares. The model matches the enum exhaustively, so
//! that none can be listed and not built.

use crate::BadSetting;
use crate::fault::one_of;
use core::fmt;
use core::str::FromStr;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// One named misbehaviour. Where a value makes sense its meaning and default are given; elsewhere none is accepted.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Deviation {
    /// Never detects a storm on one class (value: the class; default the highest guarded one).
    DetectionIgnoresClass,
    /// A poll without the condition leaves the time left as it is.
    TimerNotResetByGap,
    /// An XON frame is taken for a pause by the detection rule.
    XonCountsAsStorm,
    /// Restores one poll too early.
    RestoresTooEarly,
    /// Restores when the restoration time has passed, storm or not.
    RestoresDuringStorm,
    /// A late frame within the restoration time does not restart it.
    LateFrameDoesNotRestart,
    /// An XON frame within the restoration time does not restart it.
    XonDoesNotRestart,
    /// The drop action lets the first frames through (value: how many; default 1).
    DropLeaks,
    /// The drop action also takes the next guarded queue of the same port.
    DropSpreadsToQueue,
    /// The drop action also takes the same queue of the next port.
    DropSpreadsToPort,
    /// The forward action drops.
    ForwardDrops,
    /// The alert action drops.
    AlertActs,
    /// No poll is evaluated after the first storm has been restored.
    PollStopsAfterStorm,
    /// The watchdog's packet counters are off (value: by how many; default 1).
    CountersOff,
    /// The senders that fed the queue stay paused after the drop action has begun.
    PfcContinuesAfterDrop,
    /// Big red switch misses the highest guarded queue of the last port.
    BigRedSwitchMissesQueue,
    /// Values outside the documented ranges are accepted.
    AcceptsOutOfRange,
    /// A buffer change while a queue is stormed resets the queue to operational.
    BufferChangeEndsStorm,
    /// A link that goes down and up counts as a storm.
    LinkToggleFires,
    /// PFC frames that the switch itself sends count as received ones.
    OwnPfcCountsAsStorm,
    /// Of the ports stormed at one time only the first is detected.
    OnePortAtATime,
}

impl Deviation {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Deviation; 21] = [
        Deviation::DetectionIgnoresClass,
        Deviation::TimerNotResetByGap,
        Deviation::XonCountsAsStorm,
        Deviation::RestoresTooEarly,
        Deviation::RestoresDuringStorm,
        Deviation::LateFrameDoesNotRestart,
        Deviation::XonDoesNotRestart,
        Deviation::DropLeaks,
        Deviation::DropSpreadsToQueue,
        Deviation::DropSpreadsToPort,
        Deviation::ForwardDrops,
        Deviation::AlertActs,
        Deviation::PollStopsAfterStorm,
        Deviation::CountersOff,
        Deviation::PfcContinuesAfterDrop,
        Deviation::BigRedSwitchMissesQueue,
        Deviation::AcceptsOutOfRange,
        Deviation::BufferChangeEndsStorm,
        Deviation::LinkToggleFires,
        Deviation::OwnPfcCountsAsStorm,
        Deviation::OnePortAtATime,
    ];

    /// Whether a value may follow the name.
    pub const fn takes_value(self) -> bool {
        matches!(
            self,
            Deviation::DetectionIgnoresClass | Deviation::DropLeaks | Deviation::CountersOff
        )
    }
}

/// A deviation that is switched on, with its value if one was given. Written `drop_leaks` or `drop_leaks:3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Switched {
    /// Which.
    pub name: Deviation,
    /// Its value; see the deviation for the meaning.
    pub value: Option<u64>,
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl fmt::Display for Switched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Some(value) => write!(f, "{}:{value}", self.name),
            None => write!(f, "{}", self.name),
        }
    }
}

impl FromStr for Switched {
    type Err = BadSetting;
    fn from_str(text: &str) -> Result<Switched, BadSetting> {
        let bad = |why: String| BadSetting::BadValue { path: "deviation".to_owned(), why };
        let (name, value) = match text.split_once(':') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let names: Vec<String> = Deviation::ALL.iter().map(ToString::to_string).collect();
        let Some(at) = names.iter().position(|known| known == name) else {
            let want = one_of(name, names.iter().map(String::as_str));
            return Err(bad(format!("there is no deviation `{name}`: want {want}")));
        };
        let name = Deviation::ALL[at];
        let value = match value {
            Some(_) if !name.takes_value() => {
                return Err(bad(format!("`{name}` takes no value: want `{name}`")));
            }
            Some(text) => Some(text.parse().map_err(|_| {
                bad(format!("`{text}` is no value for `{name}`: want a whole number"))
            })?),
            None => None,
        };
        Ok(Switched { name, value })
    }
}

impl Serialize for Switched {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Switched {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Switched, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Switched {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "deviation".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "a deviation by name, with its value where it takes one: drop_leaks:3",
            "pattern": r"^[a-z_]+(:[0-9]+)?$",
        })
    }
}
