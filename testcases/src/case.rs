//! A suite and its cases, as read and checked.

use crate::{Amount, DeviceVerb, MacsecMode, Measure, PfcOdd, Takes, Tap};
use core::fmt;
use indexmap::IndexMap;
use rig_frames::ip::Ecn;
use rig_frames::vlan;
use rig_lab::yaml::Spot;
use rig_lab::{Color, IpVersion, Kind, Part, RuleFamily, Setting};
use rig_units::{Bytes, Dur, Length, PortSpeed, Quanta};
use std::collections::BTreeMap;
use std::sync::Arc;

/// All cases of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    /// The stem of the file, lower-case with dashes.
    pub name: String,
    /// The file, as it was named.
    pub file: String,
    /// One line for people.
    pub about: String,
    /// The parts of a device that its cases together look at: whatever breaks there, one of them notices. All of them when
    /// the file does not say.
    pub covers: Vec<Part>,
    /// Its cases, in the order of the file.
    pub cases: Vec<Case>,
}

/// `suite::case`: stable, lower-case with dashes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaseId {
    /// Name of the suite.
    pub suite: String,
    /// The case within it.
    pub case: String,
}

impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.suite, self.case)
    }
}

/// One case. A case written for several rule families is read as one case each, its name ending in the family's.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Its name.
    pub id: CaseId,
    /// Line in the file, from 1.
    pub line: usize,
    /// What kind of device it is for.
    pub kind: Kind,
    /// Why a lab cares, in one line.
    pub why: String,
    /// Where it comes from: papers, tests, threads.
    pub source: Vec<String>,
    /// The rule family that the device must have; absent: any.
    pub family: Option<RuleFamily>,
    /// What the device must be configured to, in the order of the file. Those that no adapter may set
    /// ([`rig_lab::settings::configurable`]) select a device instead.
    pub settings: Vec<Setting>,
    /// Which of them, and of those that it sweeps, may be as they are found where nobody can configure the device.
    pub found: IndexMap<String, crate::Accepts>,
    /// Settings that are tried one by one, each on the device as `settings` left it, and undone: whether it takes them
    /// is a measure of its own.
    pub configure: Vec<Setting>,
    /// What kind of device must be among those of the system; absent: any system does.
    pub over: Option<Kind>,
    /// What is asked of the speeds of rig ports.
    pub ports: IndexMap<String, PortNeed>,
    /// Data streams.
    pub streams: IndexMap<String, Stream>,
    /// What the device sends by itself: of a NIC alone.
    pub flows: IndexMap<String, crate::Flow>,
    /// What the rig does between two NICs, where a flow goes from one to the other.
    pub between: crate::Middlebox<String>,
    /// Pause storms.
    pub storms: IndexMap<String, Storm>,
    /// Rig ports that behave otherwise than usual as the device's peers, in the order of their numbers.
    pub endpoints: IndexMap<String, Endpoint>,
    /// Rig ports at which something else is recorded than usual, in the order of their numbers.
    pub taps: IndexMap<String, Tap>,
    /// What varies.
    pub sweep: Vec<Sweep>,
    /// What happens.
    pub steps: Vec<CaseStep>,
    /// How long a trial lasts; absent: until everything has settled.
    pub length: Option<Amount>,
    /// How many trials per point; absent: as many as the judgement needs.
    pub trials: Option<u32>,
    /// What is measured.
    pub measure: Vec<Measure>,
    /// What the case as a whole expects.
    pub expect: Expect,
    /// Why no wrong device turns it red, where none can. Absent: one must.
    pub spared: Option<Spared>,
    /// Where its parts stand in the file, by key; the case itself under the empty one. See [`Case::fault`]. Nobody
    /// changes them, and a case is copied for every device that it may run on.
    pub places: Arc<BTreeMap<String, Spot>>,
}

/// `kills: {none: "why", tried: "pfcwd.action=drop"}`: a case that no wrong device turns red, because it is about a measurement
/// that is void or about a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spared {
    /// Why none can.
    pub why: String,
    /// The mutant that was tried by hand, as behind `--mutate`.
    pub tried: String,
}

/// What is asked of a rig port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortNeed {
    /// One of the device's fastest ports, and it has slower ones.
    Fast,
    /// One of the device's slowest ports, and it has faster ones.
    Slow,
}

impl fmt::Display for PortNeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PortNeed::Fast => "fast",
            PortNeed::Slow => "slow",
        })
    }
}

/// A data stream as written.
#[derive(Debug, Clone, PartialEq)]
pub struct Stream {
    /// Rig port it leaves by. A list of ports in the file has become one stream for each.
    pub from: String,
    /// Rig port it is addressed to; the same one stands for the NIC behind it.
    pub to: String,
    /// Traffic class.
    pub class: u8,
    /// Drop precedence that the device is to give them; by default green.
    pub color: Color,
    /// What its frames are.
    pub kind: crate::StreamKind,
    /// What its frames say of congestion when they are sent; by default that they are ECN-capable, as RoCE senders do.
    pub ecn: Ecn,
    /// Frame size, tag and FCS counted.
    pub size: Bytes,
    /// The 802.1Q tag of its frames; `None`: they have none.
    pub vlan: Option<vlan::Repr>,
    /// What its frames go over.
    pub over: IpVersion,
    /// To which of the addresses of a NIC they go, of its GIDs; 0 is the usual one.
    pub gid: u8,
    /// How fast.
    pub rate: crate::StreamRate,
    /// After how many frames it ends by itself; absent: when it is stopped.
    pub count: Option<Count>,
    /// How its frames are protected, where the device speaks MACsec.
    pub macsec: MacsecMode,
    /// Packet sequence number of its first frame.
    pub psn: u32,
    /// Of CNPs the flow that they are to slow down.
    pub of: Option<String>,
    /// Which of the addresses of its port it comes from; 0 is the usual one.
    pub address: u8,
}

impl Stream {
    /// A stream of frames of a kind and size in a class. What may stay unsaid of it is as usual.
    pub(crate) fn usual(
        (from, to): (String, String),
        class: u8,
        kind: crate::StreamKind,
        size: Bytes,
        rate: crate::StreamRate,
    ) -> Stream {
        Stream {
            from,
            to,
            class,
            color: Color::Green,
            kind,
            ecn: Ecn::Ect0,
            size,
            vlan: None,
            over: IpVersion::V4,
            gid: 0,
            rate,
            count: None,
            macsec: MacsecMode::Usual,
            psn: 0,
            of: None,
            address: 0,
        }
    }
}

/// After how many frames a stream ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// `count: 100`
    Frames(u64),
    /// `count: searched`: each trial of a measure that searches sends another number of them.
    Searched,
}

/// A pause storm as written.
#[derive(Debug, Clone, PartialEq)]
pub struct Storm {
    /// Rig port it leaves by.
    pub from: String,
    /// Classes it pauses.
    pub classes: Vec<u8>,
    /// Pause time asked for; by default 65535q.
    pub quanta: Quanta,
    /// Time between two frames, in millionths of the pause time; by default half of it.
    pub refresh: Refresh,
    /// How its frames are protected, where the device speaks MACsec; usually as the device protects its own.
    pub macsec: MacsecMode,
}

/// How often a storm repeats its XOFF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refresh {
    /// `0.5x`: in millionths of the pause time.
    OfPause(u64),
    /// `every: 1ms`
    Every(Dur),
}

/// A rig port as the device's peer, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Bit `c` is set when the port obeys PFC in class `c`; by default it does in all.
    pub obeys: u8,
    /// What its MAC takes to react to a PFC frame; by default nothing.
    pub response: Response,
    /// Which forms of PFC it obeys, where the device speaks MACsec; by default both.
    pub pfc: Takes,
    /// Packet number of the first frame that it protects, where the device speaks MACsec; by default 1.
    pub pn: u32,
}

/// What a MAC takes to react to a PFC frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Response {
    /// `60q`: the longer the slower the port.
    Quanta(Quanta),
    /// `400ns`, or a variable of the case's sweep.
    Time(Amount),
}

/// One thing that varies. Several vary one after the other, not against each other.
#[derive(Debug, Clone, PartialEq)]
pub enum Sweep {
    /// A setting of the device: each value is a configuration of its own.
    Setting {
        /// Path below `declared:`.
        path: String,
        /// The values.
        values: Vec<serde_json::Value>,
    },
    /// The cables between the rig and the device: each length is a bench of its own.
    Cable {
        /// The lengths.
        lengths: Vec<Length>,
    },
    /// The speed of every port, the rig's and the device's: each is a bench of its own.
    Speed {
        /// The speeds.
        speeds: Vec<PortSpeed>,
    },
    /// The frame size of one stream.
    Size {
        /// The stream.
        stream: String,
        /// The sizes, FCS counted.
        sizes: Vec<Bytes>,
    },
    /// A variable over listed lengths of time.
    Values {
        /// Its name.
        name: String,
        /// The values.
        values: Vec<Amount>,
    },
    /// A variable over the interval of a prediction: `{across: trigger-ramp, points: 20}`.
    Across {
        /// Its name.
        name: String,
        /// The prediction.
        prediction: String,
        /// How many points.
        points: u32,
    },
}

impl Case {
    /// Whether it wants storms that do not hold.
    pub fn is_about_gaps(&self) -> bool {
        let is_void = matches!(self.expect, Expect::Inconclusive { .. });
        is_void || self.storms.keys().any(|storm| self.wants_gaps(storm))
    }

    /// Whether it is right that this storm does not hold: its gaps are measured, or were as the case was written, without which a storm that is refreshed behind its
    /// pause is refused there. What measures them may be left out since, for a device that nobody can ask.
    pub fn wants_gaps(&self, storm: &str) -> bool {
        let measured = self.measure.iter().any(|measure| measure.gaps_of() == Some(storm));
        let behind =
            |of: &Storm| matches!(of.refresh, Refresh::OfPause(share) if share > 1_000_000);
        let is_void = matches!(self.expect, Expect::Inconclusive { .. });
        measured || !is_void && self.storms.get(storm).is_some_and(behind)
    }

    /// The settings that it sweeps or changes on the way, by their paths.
    pub fn changed(&self) -> impl Iterator<Item = &String> {
        let swept = self.sweep.iter().filter_map(|sweep| match sweep {
            Sweep::Setting { path, .. } => Some(path),
            _ => None,
        });
        let on_the_way = self.steps.iter().filter_map(|step| match &step.what {
            CaseAction::Configure(setting) => Some(&setting.path),
            _ => None,
        });
        swept.chain(on_the_way)
    }
}

impl Sweep {
    /// Whether it names a variable that the case's amounts may use.
    pub const fn is_variable(&self) -> bool {
        matches!(self, Sweep::Values { .. } | Sweep::Across { .. })
    }
}

/// A step as written.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseStep {
    /// After the start of the trial.
    pub at: Amount,
    /// What happens then.
    pub what: CaseAction,
}

/// What a step does, as written.
#[derive(Debug, Clone, PartialEq)]
pub enum CaseAction {
    /// Starts streams and storms by name, for a while or until stopped.
    Start {
        /// Names.
        names: Vec<String>,
        /// For how long.
        lasting: Option<Amount>,
    },
    /// Stops streams and storms by name.
    Stop {
        /// Names.
        names: Vec<String>,
    },
    /// Sends PFC frames by hand.
    Pfc {
        /// Rig port they leave by.
        from: String,
        /// Classes enabled.
        classes: Vec<u8>,
        /// Pause time of every class; 0q resumes.
        quanta: Quanta,
        /// How many.
        count: u32,
        /// Time between two.
        every: Dur,
        /// How they are protected, where the device speaks MACsec.
        macsec: MacsecMode,
        /// By which address they are odd.
        odd: PfcOdd,
    },
    /// Takes a link down for a while.
    LinkDown {
        /// Rig port.
        port: String,
        /// For how long.
        lasting: Amount,
    },
    /// Changes a setting of the device.
    Configure(Setting),
    /// Asks the device to do something at once.
    Device(DeviceVerb),
}

/// What the case as a whole expects.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Expect {
    /// Every measurement as predicted.
    #[default]
    Pass,
    /// A void measurement, for exactly this reason (`storm-lapse`).
    Inconclusive {
        /// The reason.
        reason: String,
    },
}
