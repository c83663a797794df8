//! The analysers: each a pure function of what was observed, what the trial asked for and what the device declares.
//!
//! One rule a file. An analyser never asks how a device works inside; where its own sight is blurred (timestamps,
//! a frame in flight, a preamble) it answers with an interval that surely holds the value.

pub mod action;
mod busy;
pub mod counters;
pub mod coverage;
pub mod depths;
pub mod fire;
pub mod integrity;
pub mod loss;
pub mod nic;
pub mod pfc_frames;
pub mod pfc_latency;
mod protection;
pub mod restore;
pub mod sending;
pub mod shared;
pub mod stops;
pub mod throughput;
pub mod timeline;
pub mod timeline_counters;

pub use action::{ActionTaken, Fate, action};
pub use counters::{CounterCheck, counters};
pub use coverage::{Coverage, Lapse, coverage};
pub use depths::{Passed, Visit, depths};
pub use fire::fired;
pub use integrity::{Void, voids};
pub use loss::{Loss, loss};
pub use pfc_frames::{BadFormat, PfcSent, pfc_format, pfc_sent};
pub use pfc_latency::{Delay, PfcLatency, PfcSignal, pfc_latency};
pub use protection::{Protected, protection};
pub use restore::restored;
pub use sending::{Sending, is_sent, may_send, sending, sends};
pub use shared::{Carried, carried};
pub use stops::{Stop, stops};
pub use throughput::{Throughput, throughput, throughput_together};
pub use timeline::{Timeline, timeline};

use crate::Span;
use crate::fate::Delays;
use rig_testcases::{Backlog, Switch, SwitchingMode, WatchdogAction};
use rig_units::{Apart, Dur, L2Rate, Ppm, Within};

/// What an analyser must know of a device to read its data plane; all of it declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActionView {
    /// What the watchdog does to a stormed queue.
    pub action: WatchdogAction,
    /// What becomes of held frames when the drop action begins.
    pub backlog: Backlog,
    /// Longest time from the last bit of an XOFF to the last start of a frame of its class.
    pub response: Dur,
    /// Time between two XOFF frames of the device while a class stays congested.
    pub refresh: Dur,
    /// Longest time from a group falling back to where it may go on to its XON.
    pub resumption: Dur,
    /// Time from a frame having come to its first bit out of the idle device.
    pub forwarding_delay: Within,
    /// When it has come.
    pub mode: SwitchingMode,
    /// The rate to which its ports are shaped; `None` where they send at their speed.
    pub shaper: Option<L2Rate>,
    /// How far its clock, by which it counts pauses, may be from the rig's: both limits.
    pub apart: Apart,
}

impl From<&Switch> for ActionView {
    fn from(declared: &Switch) -> ActionView {
        ActionView {
            action: declared.pfcwd.action,
            backlog: declared.pfcwd.backlog,
            response: declared.response(declared.macsec.sent()).most(),
            refresh: declared.pfc.refresh.most(),
            resumption: declared.resumption().most(),
            forwarding_delay: declared.transit(),
            mode: declared.switching_mode,
            shaper: declared.scheduler.slowest().pir,
            apart: Apart::of(declared.clock.unwrap_or_default(), Ppm(0)),
        }
    }
}

impl ActionView {
    /// What bears on whether a frame could have arrived.
    pub const fn delays(&self) -> Delays {
        let ActionView { forwarding_delay, mode, response, shaper, .. } = *self;
        Delays { forwarding_delay, mode, response, hidden: false, shaper }
    }
}

/// What the data plane shows of one act of the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sighting {
    /// It happened.
    At {
        /// When, at the device, in picoseconds of the trial: surely within.
        span: Span,
        /// The records that show it.
        frames: Vec<usize>,
    },
    /// It surely did not happen while it could have been seen.
    Never,
    /// The data plane cannot show it, and why.
    NotObservable(String),
    /// What it would be measured against did not happen either, and why.
    Void(String),
}

impl Sighting {
    /// The interval, if it was seen.
    pub const fn span(&self) -> Option<Span> {
        match self {
            Sighting::At { span, .. } => Some(*span),
            Sighting::Never | Sighting::NotObservable(_) | Sighting::Void(_) => None,
        }
    }
}
