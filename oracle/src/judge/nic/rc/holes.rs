//! Holes of a READ beside its timer: a timeout asks for what is missing, too, and where it does so before the hole does there is no other question; with the next packet
//! ahead the hole is seen anew.

use super::Fault;
use crate::spec::nic::Ready;
use rig_units::Time;

/// What is otherwise of holes for that.
#[derive(Debug, Clone, Default)]
pub(super) struct Holes {
    /// When all that was asked for had come, or the timer asked for what was missing: a hole that was seen before need not ask any more.
    pub(super) over: Vec<Time>,
    /// Which of the questions that holes explain are for one that was seen anew.
    pub(super) again: Vec<usize>,
    /// How often one was seen anew.
    pub(super) reopened: usize,
    /// Questions for a hole that may be the timer's as well.
    pub(super) either: usize,
}

impl Holes {
    /// Whether what is held against a requester, as if it had no timer, is none of its faults. `asks`: when what a packet shows to be missing is asked for.
    pub(super) fn excuse(&self, fault: &Fault, asks: impl Fn(usize) -> Ready) -> bool {
        match fault {
            Fault::MissingNak { packet } => {
                let Ready { from, by } = asks(*packet);
                self.over.iter().any(|over| (from..=by).contains(over))
            }
            Fault::Early { reply, .. }
            | Fault::Late { reply, .. }
            | Fault::WrongPsn { reply, .. }
            | Fault::SecondNak { reply }
            | Fault::Unasked { reply } => self.again.contains(reply),
            _ => false,
        }
    }
}
