//! Applications above two NICs: what either does when, by which the messages of several flows wait for one another.

use rig_units::Dur;

/// What an application does, as written: rounds of steps, each a message of a flow, or some that follow one another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct App {
    /// Its steps, in their order.
    pub(crate) steps: Vec<WrittenStep>,
    /// How many times all of them are done.
    pub(crate) rounds: u32,
    /// How many rounds may have begun that are not over.
    pub(crate) credits: u32,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrittenStep {
    /// The flow whose messages it sends.
    pub(crate) flow: String,
    /// How long whoever does it takes before.
    pub(crate) think: Dur,
    /// How many messages it is, of which one is under way at a time.
    pub(crate) chunks: u32,
}

/// Which step of which application the messages of a flow are. A step begins once the one before it is complete for whoever does it: acknowledged, where
/// that was its own, and received, where it was the other end's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppStep {
    /// Which application of the case.
    pub app: u16,
    /// Which of its steps, from 0.
    pub nth: u8,
    /// How many it has.
    pub of: u8,
    /// How many rounds there are.
    pub rounds: u32,
    /// How many rounds may have begun that are not over: the last step of one gives its credit back.
    pub credits: u32,
    /// How many messages it is in a round. Where they are several, each waits until the one before it is complete.
    pub chunks: u32,
    /// How long whoever does it takes before the first of them.
    pub think: Dur,
}

impl AppStep {
    /// The messages of its flow.
    pub const fn messages(&self) -> u32 {
        self.rounds.saturating_mul(self.chunks)
    }
}
