//! Go-back-N as the wire shows it: a receiver's acknowledgements and NAKs, and a sender's way back.

mod holes;
pub mod kind;
mod nak;
mod progress;
mod receiver;
mod requester;
mod resent;
mod running;
mod sender;
mod standing;
#[cfg(test)]
mod tests;
mod tries;

pub use progress::{Progress, Step, acknowledged, brought};
pub use receiver::{Answer, Answered, receiver};
pub use requester::{Asked, Reading, requester};
pub use resent::{Event, Resent, Sent, Untried};
pub use sender::sender;

use crate::spec::nic::Ready;
use rig_units::{Dur, Time};

/// How well the wire was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sight {
    /// How far each stamp may be off, either way.
    pub bound: Dur,
    /// How long the port may keep a frame that is ready from leaving.
    pub busy: Dur,
    /// How much later than that a sender may send on: its rate, and other queue pairs. `None`: any time.
    pub allowance: Option<Dur>,
    /// The end of what was seen: what would leave later is not missed.
    pub until: Time,
}

impl Sight {
    fn blur(&self) -> Dur {
        self.bound * 2
    }

    /// Whether a frame that is ready so may leave at `at`, the port having sent what goes ahead of it for so long. Answers wait for each other: those
    /// to packets that a receive pipeline held back together are ready together, and leave one after the other for as long as that takes.
    fn on_time(&self, ready: Ready, at: Time, behind: Dur) -> bool {
        let keeps = self.busy.max(behind);
        at + self.blur() >= ready.from && at <= ready.by + keeps + self.blur()
    }
}

/// A departure from the rule, with the packets and the replies that show it, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A receiver that says nothing to a packet to which an acknowledgement was due.
    MissingAck {
        /// The packet.
        packet: usize,
    },
    /// A receiver that says nothing of a hole.
    MissingNak {
        /// The packet that shows it.
        packet: usize,
    },
    /// A reply at the right time that names another number.
    WrongPsn {
        /// The packet that it is for.
        packet: usize,
        /// The reply.
        reply: usize,
    },
    /// A second NAK before the hole is filled.
    SecondNak {
        /// The reply.
        reply: usize,
    },
    /// An acknowledgement of a number before one that was acknowledged.
    AckBack {
        /// The reply.
        reply: usize,
    },
    /// A reply that no packet asks for.
    Unasked {
        /// The reply.
        reply: usize,
    },
    /// A reply later than the port explains.
    Late {
        /// The packet that it is for.
        packet: usize,
        /// The reply.
        reply: usize,
    },
    /// A reply before it could be ready.
    Early {
        /// The packet that it is for.
        packet: usize,
        /// The reply.
        reply: usize,
    },
    /// A sender that leaves numbers out.
    Skipped {
        /// The packet that it sent.
        packet: usize,
    },
    /// A sender that goes back to another number than the NAK names.
    WrongRestart {
        /// The packet that it sent.
        packet: usize,
        /// The NAK, by index among what came in.
        nak: usize,
    },
    /// A sender that goes back before it could have, or with neither a NAK nor a timeout.
    Unprompted {
        /// The packet that it sent.
        packet: usize,
    },
    /// A sender that does not go back after a NAK.
    NoRestart {
        /// The NAK, by index among what came in.
        nak: usize,
    },
    /// A sender that goes back later than it may.
    LateRestart {
        /// The packet that it sent.
        packet: usize,
        /// The NAK, by index among what came in.
        nak: usize,
    },
    /// A sender that sends before the time is over that an RNR NAK asks for.
    TooSoon {
        /// The packet that it sent.
        packet: usize,
        /// The RNR NAK, by index among what came in.
        nak: usize,
    },
    /// A sender that does not go back as the timeout runs out, or later.
    NoTimeout {
        /// The packet that was sent last, or then.
        packet: usize,
    },
    /// A sender that goes back once more than it may without progress.
    TooMany {
        /// The packet that it sent.
        packet: usize,
    },
}

impl Fault {
    /// What is wrong, in words.
    pub const fn told(self) -> &'static str {
        match self {
            Fault::MissingAck { .. } => "no acknowledgement",
            Fault::MissingNak { .. } => "no NAK for a hole",
            Fault::WrongPsn { .. } => "a reply that names another number",
            Fault::SecondNak { .. } => "a second NAK for one hole",
            Fault::AckBack { .. } => "an acknowledgement that goes back",
            Fault::Unasked { .. } => "a reply that nothing asks for",
            Fault::Late { .. } => "a reply too late",
            Fault::Early { .. } => "a reply too early",
            Fault::Skipped { .. } => "numbers left out",
            Fault::WrongRestart { .. } => "sent on from another number than the NAK names",
            Fault::Unprompted { .. } => "sent again with neither NAK nor timeout",
            Fault::NoRestart { .. } => "nothing sent after a NAK",
            Fault::LateRestart { .. } => "sent again too late",
            Fault::TooSoon { .. } => "sent before the time is over that an RNR NAK asks for",
            Fault::NoTimeout { .. } => "not sent again as the timeout ran out",
            Fault::TooMany { .. } => "sent again once too often",
        }
    }

    /// The same fault of a reply that has another index among more of them.
    const fn with_reply(mut self, place: &[usize]) -> Fault {
        match &mut self {
            Fault::WrongPsn { reply, .. }
            | Fault::SecondNak { reply }
            | Fault::AckBack { reply }
            | Fault::Unasked { reply }
            | Fault::Late { reply, .. }
            | Fault::Early { reply, .. } => *reply = place[*reply],
            Fault::MissingAck { .. }
            | Fault::MissingNak { .. }
            | Fault::Skipped { .. }
            | Fault::WrongRestart { .. }
            | Fault::Unprompted { .. }
            | Fault::NoRestart { .. }
            | Fault::LateRestart { .. }
            | Fault::TooSoon { .. }
            | Fault::NoTimeout { .. }
            | Fault::TooMany { .. } => {}
        }
        self
    }

    /// The packet and the reply that show it, by index: a receiver's answer, or what came in to a sender.
    pub const fn shown_by(self) -> (Option<usize>, Option<usize>) {
        match self {
            Fault::MissingAck { packet }
            | Fault::MissingNak { packet }
            | Fault::Skipped { packet }
            | Fault::Unprompted { packet }
            | Fault::NoTimeout { packet }
            | Fault::TooMany { packet } => (Some(packet), None),
            Fault::SecondNak { reply } | Fault::AckBack { reply } | Fault::Unasked { reply } => {
                (None, Some(reply))
            }
            Fault::WrongPsn { packet, reply }
            | Fault::Late { packet, reply }
            | Fault::Early { packet, reply } => (Some(packet), Some(reply)),
            Fault::WrongRestart { packet, nak }
            | Fault::LateRestart { packet, nak }
            | Fault::TooSoon { packet, nak } => (Some(packet), Some(nak)),
            Fault::NoRestart { nak } => (None, Some(nak)),
        }
    }
}
