//! Streams and storms of a script, worked out for the ports they leave by; and those ports.
//!
//! Invariant: nothing but the ports reads a clock; a program says when frames are due, an executor sends them.

pub mod blast;
pub mod cabled;
pub mod clock;
pub mod fine;
pub mod floor;
pub mod flow;
pub mod gate;
pub mod kept;
pub mod netlab;
mod netlink;
pub mod pacer;
pub mod pause_counters;
pub mod pausing;
pub mod peer;
pub mod port;
pub mod program;
pub mod rhythm;
pub mod sender;
pub mod spread;
pub mod storm;
pub mod tally;
pub mod template;
pub mod wake;

pub use clock::Clock;
pub use fine::Fine;
pub use flow::Flow;
pub use gate::{Gate, Obeys};
pub use kept::Kept;
pub use pacer::{BATCH, Lane, Pacer, Watcher};
pub use peer::Peer;
pub use program::{Impossible, PacedStream, PortProgram, Program};
pub use rhythm::Rhythm;
pub use sender::{Departure, Job, Sender, Stall, Who};
pub use spread::{Figures, Spread};
pub use storm::{PacedStorm, Unholdable};
pub use tally::Tally;
pub use template::Template;
