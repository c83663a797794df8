//! The scenarios of the engine's bench, and what a program finds out of one.

use super::super::rounds::Rounds;
use rig_oracle::model::bench::dcqcn::Reaction;
use rig_oracle::model::bench::{Features, Scenario};
use serde::{Deserialize, Serialize};

/// What is measured, and what ns-3 did in the same scenario in thousand frames a CPU second: the HPCC variant, then the Alibaba
/// one, both as published. Where it has no such scenario there is nothing to tell.
pub(super) const ROWS: &[Row] = &[
    Row(Scenario::Incast(2), Load::Streams, Some([920, 953])),
    Row(Scenario::Incast(8), Load::Streams, Some([930, 933])),
    Row(Scenario::Incast(16), Load::Streams, Some([958, 897])),
    #[cfg(feature = "ns3")]
    Row(Scenario::Incast(2), Load::Nics(Reaction::Dcqcn, 1), Some([752, 827])),
    #[cfg(feature = "ns3")]
    Row(Scenario::Incast(8), Load::Nics(Reaction::Dcqcn, 1), Some([670, 716])),
    #[cfg(feature = "ns3")]
    Row(Scenario::Incast(16), Load::Nics(Reaction::Dcqcn, 1), Some([611, 644])),
    #[cfg(feature = "ns3")]
    Row(Scenario::Dumbbell(64), Load::Nics(Reaction::Dcqcn, 1), Some([564, 563])),
    Row(Scenario::Incast(2), Load::Nics(Reaction::Product, 1), None),
    Row(Scenario::Incast(2), Load::Nics(Reaction::Product, 64), None),
    Row(Scenario::Incast(2), Load::Nics(Reaction::Product, 4_096), None),
];

/// A scenario.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row(pub(super) Scenario, pub(super) Load, pub(super) Option<[u64; 2]>);

/// What is sent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Load {
    /// Streams at line rate, PFC only.
    Streams,
    /// What NICs send that react to marks, each with so many queue pairs.
    Nics(Reaction, u16),
}

impl Load {
    pub(super) fn features(self) -> Features {
        match self {
            Load::Streams => Features::all(),
            Load::Nics(reaction, pairs) => Features::of_nics(reaction, pairs),
        }
    }
}

impl Row {
    /// `incast16`, `incast16 dcqcn`, `incast2 nic, 64 queue pairs`.
    pub(super) fn name(&self) -> String {
        let scenario = self.0.name();
        match self.1 {
            Load::Streams => scenario,
            Load::Nics(reaction, 1) => format!("{scenario} {}", reaction.name()),
            Load::Nics(reaction, pairs) => {
                format!("{scenario} {}, {pairs} queue pairs", reaction.name())
            }
        }
    }

    /// The same as one word, for flags and lines.
    pub(super) fn id(&self) -> String {
        id(&self.name())
    }
}

/// A scenario's name as one word: `incast2-nic-64-queue-pairs`.
pub(super) fn id(name: &str) -> String {
    let words = name.split(|one: char| !one.is_ascii_alphanumeric() && one != '_');
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

/// What it does in one scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Figures {
    pub(super) scenario: String,
    /// Frames put on a cable in one round, of any kind.
    pub(super) hops: u64,
    /// Those of them that are data, that acknowledge it (or do not), and that tell of congestion; the rest is PFC.
    pub(super) data_hops: u64,
    pub(super) answer_hops: u64,
    pub(super) cnp_hops: u64,
    pub(super) hops_per_cpu_s: Rounds,
    pub(super) data_hops_per_cpu_s: Rounds,
    /// As recorded.
    pub(super) ns3_hops_per_cpu_s: Option<[u64; 2]>,
    /// The most memory that the process had held after its rounds, in KiB.
    pub(super) peak_kib: u64,
    /// The same of another process after one round that was longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) peak_kib_long: Option<u64>,
}
