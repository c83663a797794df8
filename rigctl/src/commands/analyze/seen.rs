//! What a capture shows, as plain data: the JSON of `rigctl analyze`. Lengths of time are picoseconds.

use rig_capture::Span;
use rig_capture::blue_rdma::Dialogue;
use rig_capture::connection::Connection;
use serde::Serialize;

/// The format of the JSON.
pub(super) const FORMAT: &str = "rig-analysis/1";

/// Everything that was read off a capture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Analysis {
    pub(super) format: &'static str,
    pub(super) frames: usize,
    /// From the file's zero to its last frame.
    pub(super) length_ps: u64,
    pub(super) ports: Vec<Port>,
    pub(super) storms: Vec<Storm>,
    pub(super) streams: Vec<Stream>,
    /// What the file's comments say of loads: the port, and the comment.
    pub(super) loads: Vec<String>,
    /// What the device sent.
    pub(super) pfc: Vec<Pfc>,
    /// Reliable connections, whose they are; `port` is an index into `ports`.
    pub(super) connections: Vec<Connection>,
    /// What queue pairs of blue-rdma send each other; `port` is an index into `ports`.
    pub(super) blue_rdma: Vec<Dialogue>,
    /// What storm and stream together show of a watchdog.
    pub(super) watchdog: Vec<Watchdog>,
    /// Why the capture cannot be trusted whole.
    pub(super) doubts: Vec<String>,
    /// What had to be guessed.
    pub(super) notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Port {
    pub(super) name: String,
    pub(super) dut_port: String,
    pub(super) speed: String,
    pub(super) sent: usize,
    pub(super) received: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Storm {
    pub(super) port: String,
    pub(super) class: u8,
    pub(super) quanta: u16,
    pub(super) every_ps: u64,
    /// At the device.
    pub(super) first_xoff: Ps,
    pub(super) last_xoff: Ps,
    pub(super) pause_end: Ps,
    /// Share of the storm during which the class surely was paused.
    pub(super) covered_ppm: u64,
    pub(super) lapses: usize,
    pub(super) longest_lapse_ps: Option<u64>,
    pub(super) longest_lapse_at_ps: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Stream {
    pub(super) name: String,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) class: u8,
    pub(super) bytes: u64,
    pub(super) sent: u64,
    pub(super) received: u64,
    /// `null` where only one side of the device was captured, or frames may be missing from the file uncounted.
    pub(super) lost: Option<u64>,
    /// Whether every frame of it is in the file; else the counts are those of the file's comments, where it has any.
    pub(super) whole: bool,
    pub(super) open: u64,
    pub(super) reordered: u64,
    pub(super) duplicated: u64,
    pub(super) stray: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Pfc {
    pub(super) port: String,
    pub(super) frames: u64,
    /// Class, XOFFs, XONs and the longest time between two XOFFs; classes that none addresses are left out.
    pub(super) classes: Vec<PfcClass>,
    /// What is wrong with which frame, by instant.
    pub(super) malformed: Vec<Malformed>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct PfcClass {
    pub(super) class: u8,
    pub(super) xoff: usize,
    pub(super) xon: usize,
    pub(super) longest_refresh_ps: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Malformed {
    pub(super) at_ps: u64,
    pub(super) what: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Watchdog {
    /// Index into `storms`.
    pub(super) storm: usize,
    /// Index into `streams`.
    pub(super) stream: usize,
    /// From the storm's first XOFF to the action.
    pub(super) detection: Option<Ps>,
    /// To the end of the action.
    pub(super) restoration: Option<Ps>,
    /// What that is counted from.
    pub(super) restoration_from: Anchor,
    /// Why a value is missing.
    pub(super) why_not: Option<String>,
}

/// What a restoration is counted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Anchor {
    /// The storm's last frame.
    LastFrame,
    /// The detection: the rule lets go whatever the storm does.
    Detection,
}

/// Surely within, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Ps {
    pub(super) lo: u64,
    pub(super) hi: u64,
}

impl From<Span> for Ps {
    fn from(Span { lo, hi }: Span) -> Ps {
        Ps { lo, hi }
    }
}
