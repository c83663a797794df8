//! Deep capture: every frame that passes the rig's ports, as bytes, onto a disk that may be slower than they come.
//!
//! The front half ([`Capture`]) is called by the thread that paces. It never waits and makes no memory: it copies frames
//! into chunks that were made, and touched, before the first of them. The back half is a thread of its own that writes
//! full chunks into a pcapng file and gives them back. When no chunk is free the disk is too slow, and frames are left
//! out: counted, with the time of the first. When the limit is reached or the disk refuses, the file ends there: what
//! comes after is counted, too. Nothing is left out in silence.
//!
//! Nothing here reads a clock; what is written to is the caller's.

mod back;
mod chunk;
mod file;
mod front;
mod limit;
mod only;
mod pool;
mod summary;

pub use front::Capture;
pub use limit::Limit;
pub use only::{FrameKind, Only};
pub use pool::Pool;
pub use summary::{Counts, Ended, Summary, Why};

use rig_units::{Bytes, PortSpeed};

/// Chunks that a capture has unless it is told otherwise: half a second of the disk standing still at 500 Mb/s, some 45 MB.
pub const CHUNKS: usize = 32;

/// What a capture file says of itself, and what is kept of which frames.
#[derive(Debug, Clone)]
pub struct Settings {
    /// For a reader who has only the file.
    pub about: String,
    /// One for each port; frames name theirs by its index.
    pub interfaces: Vec<Interface>,
    /// Which frames are kept.
    pub only: Only,
    /// So many bytes are kept of each; without it all of them.
    pub snap: Option<Bytes>,
    /// How many bytes may be written.
    pub limit: Limit,
    /// Frames that are written before the first of them is sent, at most: for so many there is always room in a chunk.
    pub burst: usize,
    /// How many chunks there are.
    pub chunks: usize,
    /// Where they come from, and go to afterwards.
    pub pool: Pool,
}

/// A port whose frames are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// As the lab calls the port.
    pub name: String,
    /// What is behind it; empty when nobody knows.
    pub description: String,
    /// At which the link runs.
    pub speed: PortSpeed,
    /// Which clock its timestamps come from, and how far off they may be.
    pub clock: String,
}

#[cfg(test)]
mod tests;
