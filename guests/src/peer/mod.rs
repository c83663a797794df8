//! The rig as one end of reliable connections with a real NIC: who answers, who asks, what is lost on the way, and the thread
//! that moves frames. And the rig between two such NICs, as neither end.

mod asker;
mod converse;
mod learned;
mod middle;
mod responder;
mod rules;
mod station;
#[cfg(test)]
mod talks;
#[cfg(test)]
mod tests;
mod timed;
mod way;

pub use asker::{AskedCounts, Asks};
pub use converse::Converses;
pub use learned::Learned;
pub(crate) use learned::Learner;
pub use middle::{GuestCrossing, GuestEnd};
pub(crate) use middle::{Knows, Middle};
pub(crate) use responder::in_six;
pub use responder::{QpPair, Responder, ResponderCounts};
pub use rules::{Conduct, PacketRule, RuleKind};
pub use station::{Exchanged, FrameTap, PeerCounts, Station};
pub(crate) use timed::TimedPort;
pub use timed::{GoesOn, TimedFrame, TimedPassed, TimedTap};
pub use way::{Midway, Onward, OpenWay, Treatment};
