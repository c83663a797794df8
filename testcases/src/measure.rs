//! What a case measures, and what it wants of it. Without a wish the oracle's prediction is what is wanted.

use crate::Case;
use crate::Threshold;
use crate::case::Stream;
use rig_units::Dur;

/// One thing to measure. Names point at streams, storms and ports of the same case.
#[derive(Debug, Clone, PartialEq)]
pub enum Measure {
    /// `pfcwd.detection`: from the first XOFF of the storm to the watchdog's action, seen in the stream (F13).
    Detection {
        /// The storm.
        storm: String,
        /// The stream that shows it.
        stream: String,
        /// A case may tighten the prediction: the latest that it accepts.
        at_most: Option<Dur>,
    },
    /// `pfcwd.restoration`: from the storm's last frame to the end of the action (F13).
    Restoration {
        /// The storm.
        storm: String,
        /// The stream that shows it.
        stream: String,
    },
    /// `pfcwd.fired`: whether the storm is detected at all; over a sweep of its length a probability curve (F14).
    Fired {
        /// The storm.
        storm: String,
        /// The stream that shows it.
        stream: String,
        /// What the case wants; absent: what the oracle predicts.
        expect: Option<bool>,
    },
    /// `pfcwd.action`: what becomes of frames sent while the queue is stormed: none arrives (drop), all arrive
    /// (forward), all arrive after the storm (alert).
    ActionTaken {
        /// The storm.
        storm: String,
        /// The stream that shows it.
        stream: String,
    },
    /// `loss`: frames of a stream that were sent and never arrived.
    Loss {
        /// The stream.
        stream: String,
        /// What the case wants; absent: what the oracle predicts.
        expect: Wanted,
    },
    /// `throughput`: the rate at which a load stream arrives between two instants of the trial (F10 to F12).
    Throughput {
        /// The streams that share the port, all predicted together.
        streams: Vec<String>,
        /// From, counted from the start of the trial.
        from: crate::Amount,
        /// Until.
        until: crate::Amount,
    },
    /// `share.withheld`: what streams that offer a port more than it carries do not get of it, in a time in which they all send
    /// and their queue is full: each lossless source by PFC (F11), each lossy queue by loss (F12).
    Withheld {
        /// The streams that share the port.
        streams: Vec<String>,
        /// From, counted from the start of the trial.
        from: crate::Amount,
        /// Until.
        until: crate::Amount,
    },
    /// `counters`: the watchdog's and the queue's counters against what the wire shows.
    Counters {
        /// The storm.
        storm: String,
        /// The stream.
        stream: String,
    },
    /// `storm.coverage`: how much of the storm the class was paused, and the longest lapse, in the rig's own sending.
    Coverage {
        /// The storm.
        storm: String,
    },
    /// `pfc.sent`: XOFF frames that the device sends out of a port for a class, after the action began if a storm is
    /// named, else in the whole trial. An XON asks nobody to pause and does not count.
    PfcSent {
        /// The rig port that receives them.
        port: String,
        /// The class; `None` for every PFC frame, XON and those of no class among them.
        class: Option<u8>,
        /// Only after the detection of this storm.
        after: Option<String>,
        /// What the case wants.
        expect: Wanted,
    },
    /// `pfc.format`: every PFC frame that the device sends is well formed (IEEE 802.1Q clause 36, 802.3 Annex 31D).
    PfcFormat {
        /// The rig port that receives them.
        port: String,
    },
    /// `buffer.xoff`, `buffer.drop`, `buffer.xon`: a number of frames that is searched.
    Threshold(Threshold),
    /// `buffer.watermarks`: the device's watermarks of the group and the queue after every number of frames that was tried (F7).
    Watermarks {
        /// The stream.
        stream: String,
    },
    /// `watermarks.copies`: at the trial's end, the copies that the device's software keeps of the watermarks of the group and the
    /// queue that a stream fills.
    Copies {
        /// The stream, of a fixed number of frames.
        stream: String,
    },
    /// `pfc.latency`: from the frame of a counted stream that makes a group cross its limit to the XOFF that says so, and from
    /// the frame that leaves it at its XON to the XON.
    XoffLatency {
        /// The stream.
        stream: String,
    },
    /// `pfc.response`: from an XOFF, sent by hand to the port that a full load leaves the device by, to the last frame that
    /// still starts.
    Response {
        /// The load.
        stream: String,
    },
    /// `pfc.pause`: for how long such an XOFF keeps the port from sending the load (F1, F2).
    PauseLength {
        /// The load.
        stream: String,
    },
    /// `pfc.duty`: the share of time for which a storm with gaps keeps the port from sending a full load (F2).
    Duty {
        /// The storm.
        storm: String,
        /// The load.
        stream: String,
        /// From, counted from the start of the trial.
        from: crate::Amount,
        /// Until.
        until: crate::Amount,
    },
    /// `pfc.counters`: the device's counters of PFC frames of a port and class against those on the wire, and none of them
    /// counted as data.
    PfcCounters {
        /// The rig port at the other end.
        port: String,
        /// The class.
        class: u8,
    },
    /// `headroom.loss`: frames of a full load into a held queue that are lost although the sender obeys PFC, because it stops
    /// too late for the headroom (F3).
    HeadroomLoss {
        /// The load.
        stream: String,
        /// What the case wants of all trials together: none lost in any, or some in one of them. Absent: in each what F3 predicts.
        expect: Wanted,
    },
    /// `ecn.curve`: what early detection does to the frames of a queue at every depth that they see, against the declared curve
    /// (F8, F9): marks it those that are ECN-capable, drops it those that are not.
    EcnCurve {
        /// The streams whose frames are judged, all to one queue. Whatever else goes there counts in the depth.
        streams: Vec<String>,
    },
    /// `ecn.marks`: how many frames of a stream arrive marked.
    EcnMarks {
        /// The stream.
        stream: String,
        /// What the case wants: none, some or all.
        expect: Wanted,
    },
    /// `ecn.counters`: the WRED and ECN counters of the queue that a stream is sent to, against the wire.
    EcnCounters {
        /// The stream.
        stream: String,
    },
    /// `ecn.order`: under rising load, whether the first mark or the first XOFF comes first.
    EcnOrder {
        /// The load.
        stream: String,
        /// Which the case wants.
        first: First,
    },
    /// `macsec.counters`: the device's MACsec counters of a port against the frames on the wire.
    MacsecCounters {
        /// The rig port at the other end.
        port: String,
    },
    /// `macsec.frames`: every frame that the device sends out of a port is protected as it declares.
    MacsecFrames {
        /// The rig port that receives them.
        port: String,
    },
    /// `macsec.pfc`: whether the PFC of a storm is obeyed, in the form that it is sent in.
    MacsecPfc {
        /// The storm.
        storm: String,
        /// A probe that leaves by the stormed port.
        stream: String,
    },
    /// What is measured of a NIC.
    Nic(crate::NicMeasure),
    /// `config`: whether the device takes the case's settings (`configure`), and refuses what it must.
    Config {
        /// Wanted: refused rather than accepted.
        rejected: bool,
    },
}

/// What comes first when a queue fills up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum First {
    /// A mark: the senders slow down before anybody has to stop (B6).
    Ecn,
    /// An XOFF.
    Pfc,
}

/// A wish for a number of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wanted {
    /// What the oracle predicts.
    #[default]
    Predicted,
    /// None.
    None,
    /// At least one.
    Some,
    /// Every frame that was sent.
    All,
}

impl Measure {
    /// Its name in YAML, in reports and in `results.json`.
    pub const fn name(&self) -> &'static str {
        match self {
            Measure::Detection { .. } => "pfcwd.detection",
            Measure::Restoration { .. } => "pfcwd.restoration",
            Measure::Fired { .. } => "pfcwd.fired",
            Measure::ActionTaken { .. } => "pfcwd.action",
            Measure::Loss { .. } => "loss",
            Measure::Throughput { .. } => "throughput",
            Measure::Withheld { .. } => "share.withheld",
            Measure::Counters { .. } => "counters",
            Measure::Coverage { .. } => "storm.coverage",
            Measure::PfcSent { .. } => "pfc.sent",
            Measure::PfcFormat { .. } => "pfc.format",
            Measure::Threshold(threshold) => threshold.name(),
            Measure::Watermarks { .. } => "buffer.watermarks",
            Measure::Copies { .. } => "watermarks.copies",
            Measure::XoffLatency { .. } => "pfc.latency",
            Measure::Response { .. } => "pfc.response",
            Measure::PauseLength { .. } => "pfc.pause",
            Measure::Duty { .. } => "pfc.duty",
            Measure::PfcCounters { .. } => "pfc.counters",
            Measure::HeadroomLoss { .. } => "headroom.loss",
            Measure::EcnCurve { .. } => "ecn.curve",
            Measure::EcnMarks { .. } => "ecn.marks",
            Measure::EcnCounters { .. } => "ecn.counters",
            Measure::EcnOrder { .. } => "ecn.order",
            Measure::MacsecCounters { .. } => "macsec.counters",
            Measure::MacsecFrames { .. } => "macsec.frames",
            Measure::MacsecPfc { .. } => "macsec.pfc",
            Measure::Nic(measure) => measure.name(),
            Measure::Config { .. } => "config",
        }
    }

    /// What it searches, if it is a search.
    pub const fn threshold(&self) -> Option<&Threshold> {
        match self {
            Measure::Threshold(threshold) => Some(threshold),
            _ => None,
        }
    }

    /// The counted streams whose numbers of frames it searches.
    pub fn searches(&self) -> Vec<&str> {
        self.threshold().map(Threshold::streams).unwrap_or_default()
    }

    /// The streams of `case` whose frames it follows from port to port.
    pub(crate) fn follows<'a>(&'a self, case: &'a Case) -> Vec<&'a str> {
        match self {
            Measure::Detection { stream, .. }
            | Measure::Restoration { stream, .. }
            | Measure::Fired { stream, .. }
            | Measure::ActionTaken { stream, .. }
            | Measure::Loss { stream, .. }
            | Measure::XoffLatency { stream }
            | Measure::HeadroomLoss { stream, .. }
            | Measure::MacsecPfc { stream, .. } => vec![stream],
            Measure::EcnMarks { stream, .. }
            | Measure::EcnCounters { stream }
            | Measure::EcnOrder { stream, .. } => to_queue(case, core::slice::from_ref(stream)),
            Measure::EcnCurve { streams } => to_queue(case, streams),
            Measure::Counters { storm, stream } => {
                let (Some(storm), Some(of)) = (case.storms.get(storm), case.streams.get(stream))
                else {
                    return vec![stream];
                };
                // Everything of the class that passes the stormed port is counted there.
                let passes = |other: &Stream| {
                    other.class == of.class && (other.from == storm.from || other.to == storm.from)
                };
                let all = case.streams.iter().filter(|(_, other)| passes(other));
                all.map(|(name, _)| name.as_str()).collect()
            }
            Measure::Threshold(threshold) => threshold.streams(),
            Measure::Throughput { .. }
            | Measure::Withheld { .. }
            | Measure::Coverage { .. }
            | Measure::PfcSent { .. }
            | Measure::PfcFormat { .. }
            | Measure::Watermarks { .. }
            | Measure::Copies { .. }
            | Measure::Response { .. }
            | Measure::PauseLength { .. }
            | Measure::Duty { .. }
            | Measure::PfcCounters { .. }
            | Measure::MacsecCounters { .. }
            | Measure::MacsecFrames { .. }
            | Measure::Nic(_)
            | Measure::Config { .. } => Vec::new(),
        }
    }
}

/// Every stream to the queues of some streams.
fn to_queue<'a>(case: &'a Case, streams: &[String]) -> Vec<&'a str> {
    let queues: Vec<_> = streams
        .iter()
        .filter_map(|name| case.streams.get(name))
        .map(|of| (&of.to, of.class))
        .collect();
    let to = case.streams.iter().filter(|(_, of)| queues.contains(&(&of.to, of.class)));
    to.map(|(name, _)| name.as_str()).collect()
}
