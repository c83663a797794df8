//! What the host behind a NIC says of the requests that it posted (RDMA Estats): three instants of each, and histograms of what lies between them.

use rig_units::Time;

/// What hosts say of one trial.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostReport {
    /// Each request that was polled, in the order in which its host read so.
    pub completions: Vec<HostCompletion>,
    /// Latencies, counted.
    pub histograms: Vec<HostHistogram>,
    /// What applications found as they looked at the checksum of data, in that order.
    pub checks: Vec<HostCheck>,
    /// Which bytes of a stream an application gave to which message.
    pub gave: Vec<HostGave>,
    /// Messages of a stream, in the order in which an application read them.
    pub read: Vec<HostRead>,
}

impl HostReport {
    /// How many bytes of memory it takes at least.
    pub(crate) const fn takes(&self) -> usize {
        size_of_val(self.completions.as_slice())
            + size_of_val(self.histograms.as_slice())
            + size_of_val(self.checks.as_slice())
            + size_of_val(self.gave.as_slice())
            + size_of_val(self.read.as_slice())
    }
}

/// What an application found as it looked at the checksum of the data of one message in its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostCheck {
    /// By which they came, as a script numbers them: streams first, then flows.
    pub connection: u16,
    /// Which message of its connection they are, from 0.
    pub message: u64,
    /// Whether it is the checksum that their sender gave them.
    pub fits: bool,
}

/// Bytes of a stream that an application gave to one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostGave {
    /// By which they go, as a script numbers them: streams first, then flows.
    pub connection: u16,
    /// Which message of its connection they are, from 0.
    pub message: u64,
    /// The first of them, from 0.
    pub from: u64,
    /// The one behind the last.
    pub to: u64,
}

/// A message of a stream that an application read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostRead {
    /// By which it came, as a script numbers them: streams first, then flows.
    pub connection: u16,
    /// Which message of its connection it is, from 0.
    pub message: u64,
}

/// A request that is over, its instants as its host tells them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostCompletion {
    /// On which it was posted, as a script numbers them: streams first, then flows.
    pub connection: u16,
    /// Which message of its connection it is, from 0.
    pub message: u64,
    /// How it ended.
    pub status: CompletionStatus,
    /// When the host posted it (T1).
    pub posted: Time,
    /// When the NIC made its completion (T5): by the NIC's clock, set right by the host.
    pub completed: Time,
    /// When the host read that (T6), if it says so.
    pub polled: Option<Time>,
}

/// How a request ended, as `ibv_wc_status` has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompletionStatus {
    /// `IBV_WC_SUCCESS`
    Success,
    /// `IBV_WC_RETRY_EXC_ERR`: no acknowledgement came, however often it was sent.
    RetryExceeded,
    /// `IBV_WC_RNR_RETRY_EXC_ERR`: the receiver was never ready.
    RnrRetryExceeded,
    /// `IBV_WC_WR_FLUSH_ERR`: one before it ended its connection.
    Flushed,
}

impl CompletionStatus {
    /// What libibverbs calls it, for people: `success`.
    pub const fn words(self) -> &'static str {
        match self {
            CompletionStatus::Success => "success",
            CompletionStatus::RetryExceeded => "transport retry counter exceeded",
            CompletionStatus::RnrRetryExceeded => "RNR retry counter exceeded",
            CompletionStatus::Flushed => "Work Request Flushed Error",
        }
    }
}

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// A SEND, whatever comes with it.
    Send,
    /// A WRITE, whatever comes with it.
    Write,
    /// A READ.
    Read,
    /// An atomic operation.
    Atomic,
}

/// So many buckets has a histogram: in the first is what took less than 1 us, in the next what took less than 2 us, then 4 us and so on, and in the
/// last what took longer than all of these.
pub const LATENCY_BUCKETS: usize = 16;

/// Latencies of one connection, operation and status, of what was polled in one window of the host's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostHistogram {
    /// Of whose requests it is, numbered in the same way.
    pub connection: u16,
    /// What all of them asked for.
    pub operation: Operation,
    /// How the requests ended.
    pub status: CompletionStatus,
    /// Which window, counted on the clock of the session.
    pub window: u64,
    /// From posted to completed (T5 - T1).
    pub to_completed: [u64; LATENCY_BUCKETS],
    /// From posted to polled (T6 - T1).
    pub to_polled: [u64; LATENCY_BUCKETS],
}
