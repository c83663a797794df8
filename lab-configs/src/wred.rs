//! Early marking and dropping: WRED profiles with SONiC's names where it has them (`WRED_PROFILE`; sonic.md sections 2.7 and
//! 3.5, formula F8).
//!
//! The depth of a queue is what its frames take of the buffer: whole cells with their descriptors, as
//! `SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES` shows it, frames that the pipeline still holds counted. In cells because that is what
//! an ASIC counts in: a frame of 1024 B is 1040 B deep in cells of 208 B.
//!
//! With p the chance and q the depth: p = 1 from `kmax` on, else 0 below `kmin`, else pmax (q - kmin) / (kmax - kmin).

use crate::field::Holds::{Chance, Count, List, Size, Switch, Time, Whole, Word};
use crate::field::{Field, needed, optional};
use rig_units::{Bytes, Dur, Ppm};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The WRED profile of a switch, the same on every port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wred {
    /// Queues of every port that the profile is bound to (`QUEUE|<port>|<queue> wred_profile`). None: there is no WRED.
    pub queues: Vec<u8>,
    /// Colours whose ECN-capable frames are marked; all others are dropped instead.
    pub ecn: EcnMode,
    /// `green_min_threshold`: from this depth on green frames may be taken.
    pub kmin: Bytes,
    /// `green_max_threshold`: from this depth on every green frame is taken.
    pub kmax: Bytes,
    /// `green_drop_probability`: what the chance grows to, just below `kmax`.
    pub pmax: Ppm,
    /// The same for yellow frames. Absent: as green.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yellow: Option<Curve>,
    /// The same for red frames. Absent: as green.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub red: Option<Curve>,
    /// For frames of any colour that are dropped instead of marked, because they are not ECN-capable or their colour is not
    /// marked. Absent: as for marking. (SAI keeps `SAI_WRED_ATTR_ECN_GREEN_MIN_THRESHOLD` apart from
    /// `SAI_WRED_ATTR_GREEN_MIN_THRESHOLD`.)
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drop: Option<Curve>,
    /// `SAI_WRED_ATTR_WEIGHT` n. 0: the depth is the one of the moment. Else its moving average: with each frame that arrives it
    /// gains 2^-n of the difference (Floyd and Jacobson 1993).
    pub weight: u8,
    /// How often a timer has the average take in the depth, each queue at instants of its own, whether or not frames come and go. Absent: with each
    /// frame that arrives. SAI says nothing of when. Of no effect with a `weight` of 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_interval: Option<Dur>,
    /// When a frame is marked. A drop is decided when it arrives, whatever stands here.
    pub marking: Marking,
    /// Whether the frame in question counts in the depth.
    pub counts_itself: bool,
    /// What the depth counts.
    pub unit: DepthUnit,
    /// How it is drawn for whether a frame is taken, between `kmin` and `kmax`.
    pub draw: DrawRule,
    /// Whether from `kmax` on what is marked below is dropped, too, when it arrives (`harddrop` of Linux's RED). Only where frames are marked when they are
    /// taken in: one depth decides about both.
    pub harddrop: bool,
    /// In how many steps to one the device keeps `pmax`, of every curve: 5 % of 256 are 12.8, so it keeps 12 or 13, as it rounds. Absent: to
    /// the millionth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance_steps: Option<u32>,
    /// In steps of how many bytes the device keeps `kmin` and `kmax`, of every curve: 104000 B in steps of 208 B are 500 of them, and 50000 B are
    /// 240 or 241, as it rounds. Absent: to the byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold_step: Option<Bytes>,
}

/// Where the chance begins, where it ends in certainty, and what it grows to in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// The depth from which on frames may be taken.
    pub kmin: Bytes,
    /// The depth from which on every frame is taken.
    pub kmax: Bytes,
    /// The chance just below `kmax`.
    pub pmax: Ppm,
}

/// Colours whose ECN-capable frames are marked (`ecn` of `WRED_PROFILE`, `SAI_WRED_ATTR_ECN_MARK_MODE`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EcnMode {
    /// None: WRED only drops.
    EcnNone,
    /// Green.
    EcnGreen,
    /// Yellow.
    EcnYellow,
    /// Red.
    EcnRed,
    /// Green and yellow.
    EcnGreenYellow,
    /// Green and red.
    EcnGreenRed,
    /// Yellow and red.
    EcnYellowRed,
    /// All three.
    EcnAll,
}

/// When a frame is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Marking {
    /// When it starts to leave: by what is in the queue then.
    Dequeue,
    /// When it is taken in.
    Enqueue,
}

/// How it is drawn for whether a frame is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DrawRule {
    /// For each frame by itself, with the chance of its depth.
    PerFrame,
    /// Once after each frame that is taken: R, uniform from 0 to 1. The k-th frame after it is taken where k times its chance comes to R (Floyd and
    /// Jacobson 1993, figure 17; Linux's RED). Gaps are uniform, not geometric, and twice as many frames are taken. A frame below `kmin`, or from `kmax`
    /// on, ends the count.
    CountSinceMark,
}

/// What the depth of a queue counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DepthUnit {
    /// Bytes of whole cells.
    Bytes,
    /// Frames: each counts as so many bytes, whatever its size.
    Packets(Bytes),
}

/// Drop precedence of a frame.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Color {
    /// Last to be dropped.
    Green,
    /// In between.
    Yellow,
    /// First to be dropped.
    Red,
}

impl Color {
    /// Their names in YAML.
    pub const NAMES: [(&'static str, Color); 3] =
        [("green", Color::Green), ("yellow", Color::Yellow), ("red", Color::Red)];

    /// Its name in YAML.
    pub const fn name(self) -> &'static str {
        match self {
            Color::Green => "green",
            Color::Yellow => "yellow",
            Color::Red => "red",
        }
    }
}

impl Curve {
    /// What is wrong with a curve that would end before it begins, and what its `kmin` may be.
    pub fn crossed(kmin: Bytes, kmax: Bytes) -> Option<(String, String)> {
        (kmin > kmax).then(|| {
            (
                format!("a kmin of {kmin} above a kmax of {kmax}"),
                format!("a kmin of at most {kmax}"),
            )
        })
    }
}

impl Wred {
    /// Its fields, a row each. What breaks in queues that have no profile is nothing.
    pub const FIELDS: &[Field] = &[
        needed("queues", List, "[3,4]").by_case().live(),
        needed("ecn", Word, "ecn_all").by_case().live().tried(&["ecn_none"]),
        needed("kmin", Size, "104000B").by_case().live().tried(&["x0.95", "x1.05"]),
        needed("kmax", Size, "312000B").by_case().live().tried(&["x0.95", "x1.05"]),
        needed("pmax", Chance, "5%").by_case().live().tried(&["x0.9", "x1.1"]),
        optional("yellow", Whole).by_case().live(),
        optional("red", Whole).by_case().live(),
        optional("drop", Whole).by_case().live(),
        needed("weight", Count, "0").by_case().live().tried(&["0", "4"]),
        optional("average_interval", Time).by_case().live().tried(&["x0.5", "x2", "never"]),
        needed("marking", Word, "dequeue").live().tried(&["dequeue", "enqueue"]),
        needed("counts_itself", Switch, "false").live().tried(&["true", "false"]),
        needed("unit", Whole, "bytes").live(),
        needed("draw", Word, "per-frame")
            .by_case()
            .live()
            .tried(&["per-frame", "count-since-mark"]),
        needed("harddrop", Switch, "false").by_case().live().tried(&["true", "false"]),
        optional("chance_steps", Count).by_case().live().tried(&["2"]),
        optional("threshold_step", Size).live().tried(&["30000B"]),
    ];

    /// The most steps that a profile may declare: to the millionth.
    pub const MOST_STEPS: u32 = Ppm::ONE.0;

    /// The shortest and the longest interval of an average that a profile may declare.
    const INTERVALS: [Dur; 2] = [Dur::ns(10), Dur::s(1)];

    /// The heaviest smoothing that a profile may declare: SAI's weight is 0 to 15.
    pub const MOST_WEIGHT: u8 = 15;

    /// No WRED on any queue.
    pub const fn off() -> Wred {
        Wred {
            queues: Vec::new(),
            ecn: EcnMode::EcnAll,
            kmin: Bytes(0),
            kmax: Bytes(0),
            pmax: Ppm(0),
            yellow: None,
            red: None,
            drop: None,
            weight: 0,
            average_interval: None,
            marking: Marking::Dequeue,
            counts_itself: false,
            unit: DepthUnit::Bytes,
            draw: DrawRule::PerFrame,
            harddrop: false,
            chance_steps: None,
            threshold_step: None,
        }
    }

    /// What is wrong with so many steps, and what there may be.
    pub fn steps_out_of_range(&self) -> Option<(String, String)> {
        let steps = self.chance_steps.filter(|steps| !(1..=Wred::MOST_STEPS).contains(steps))?;
        Some((format!("chances in {steps} steps"), format!("1 to {} steps", Wred::MOST_STEPS)))
    }

    /// Whether what it keeps may be another value than what it is set to.
    pub const fn rounds(&self) -> bool {
        self.chance_steps.is_some() || self.threshold_step.is_some()
    }

    /// What is wrong with such an interval of the average, and what it may be.
    pub fn interval_out_of_range(&self) -> Option<(String, String)> {
        let [least, most] = Wred::INTERVALS;
        let every = self.average_interval.filter(|every| !(least..=most).contains(every))?;
        Some((format!("an average that is taken each {every}"), format!("{least} to {most}")))
    }

    /// What is wrong with drops from `kmax` on where marks are not made when frames arrive, and what there may be.
    pub fn harddrop_out_of_place(&self) -> Option<(String, String)> {
        let apart = self.harddrop && self.marking == Marking::Dequeue;
        apart.then(|| {
            ("harddrop and marks when frames leave".to_owned(), "marking: enqueue".to_owned())
        })
    }

    /// Every curve that is declared, with the path of its setting.
    pub fn curves(&self) -> Vec<(&'static str, Curve)> {
        let own = [("wred.yellow", self.yellow), ("wred.red", self.red), ("wred.drop", self.drop)];
        let own = own.into_iter().filter_map(|(path, curve)| Some((path, curve?)));
        let green = Curve { kmin: self.kmin, kmax: self.kmax, pmax: self.pmax };
        core::iter::once(("wred.kmin", green)).chain(own).collect()
    }
}
