//! Observation and Measurement: what was seen on the rig's ports during one trial, and what follows from it.
//!
//! An [`Observation`] is the same whether a virtual run, a wire run or a capture file gave it; an analyser is a pure
//! function of it.
//!
//! Invariant: nothing here reads a clock or a source of randomness; only `pcapng` touches files; only `deep` has a thread.

pub mod analyse;
mod approach;
pub mod at_rest;
pub mod blue_rdma;
pub mod codec;
pub mod connection;
pub mod counter;
pub mod decode;
pub mod deep;
pub mod fate;
#[cfg(feature = "fixture")]
mod fixture;
pub mod host_report;
pub mod load;
pub mod measurement;
pub mod observation;
pub mod packed;
pub mod passage;
pub mod pause;
pub mod pcapng;
mod pick;
pub mod record;
#[cfg(test)]
mod sample;

pub use approach::{Approach, Relay};
pub use at_rest::AtRest;
pub use counter::DutCounter;
pub use host_report::{
    CompletionStatus, HostCheck, HostCompletion, HostGave, HostHistogram, HostRead, HostReport,
    LATENCY_BUCKETS, Operation,
};
pub use load::{Load, Loads};
pub use measurement::{Reading, Span, Unit};
pub use observation::{
    ConfigOutcome, Counters, DutEvent, DutEventKind, DutWait, DutWaits, Integrity, Lateness, Names,
    Observation, PortTrace, Provenance, Samples, SilentPort, StreamCount, Touched,
};
pub use packed::{Packed, PackedCounters, PackedLoads};
pub use pick::Side;
pub use record::{Dir, FrameRef, PfcFault, Record, SAMPLE, What};
