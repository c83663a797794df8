//! Named ways in which an emulated device departs from what it declares. The model matches the enum exhaustively, so
//! that none can be listed and not built.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// A deviation that is switched on, with its value if one was given.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Switched {
    /// Which.
    pub name: Deviation,
    /// Its value; see the deviation for the meaning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<u64>,
}
