//! Applications above two NICs: what either does when, by which the messages of several flows wait for one another.

use rig_units::Dur;

/// The most packets of a step in all rounds, and of an end: far from where their numbers wrap, and over in seconds.
pub(crate) const MOST_PACKETS: u32 = 1 << 17;

/// What an application does, as written: rounds of steps, each a message of a flow, or some that follow one another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct App {
    /// Its steps, in their order.
    pub(crate) steps: Vec<WrittenStep>,
    /// How many times all of them are done.
    pub(crate) rounds: u32,
    /// How many rounds may have begun that are not over.
    pub(crate) credits: u32,
    /// Whether one queue pair serves all steps, in place of one for each.
    pub(crate) one_pair: bool,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrittenStep {
    /// The flow whose messages it sends.
    pub(crate) flow: String,
    /// How long whoever does it takes before.
    pub(crate) think: Dur,
    /// How many messages it is, and how many of them may be under way at a time.
    pub(crate) chunks: u32,
    pub(crate) at_once: u32,
    /// How many buffers whoever does it has registered for it.
    pub(crate) buffers: Option<u32>,
    /// Whether whoever gets its data looks at their checksum.
    pub(crate) checksum: bool,
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
    /// How many messages it is in a round.
    pub chunks: u32,
    /// How many of those may be under way: each waits until the one so many before it is complete.
    pub at_once: u32,
    /// How long whoever does it takes before the first of them.
    pub think: Dur,
    /// Whether all steps go over one queue pair: whoever does several of them does them in their order, round after round.
    pub one_pair: bool,
    /// What its messages have to do with keys of registered memory.
    pub key: Option<AppKey>,
    /// How many buffers whoever does it has registered for it: a round takes one with it, and gives it back when it is over. `None`: always enough.
    pub buffers: Option<u32>,
    /// Whether whoever gets the data of a message looks at their checksum, which came with another, and says whether it fits.
    pub checksum: bool,
    /// Whether all messages of its application are a stream of bytes, which goes on by each step where the one before it ended.
    pub is_stream: bool,
}

/// What a message has to do with the key that is registered for its round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AppKey {
    /// It tells of it, behind its registration.
    Registers,
    /// It names it: a WRITE or a READ.
    Names,
    /// It revokes it.
    Revokes,
}

impl AppStep {
    /// The messages of its flow.
    pub const fn messages(&self) -> u32 {
        self.rounds.saturating_mul(self.chunks)
    }
}
