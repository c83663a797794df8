//! A stream of bytes that an application cuts into messages, whatever connections carry them one after the other: by its one end, which bytes it gave to which
//! message; by the other, in which order they were read.
//!
//! Left out on purpose: TCP. What stands for it is a connection of its own that keeps the order and sends again what is lost.

use super::apps::Step;
use super::requester::Requester;
use rig_capture::{HostGave, HostRead};
use rig_lab::RcFaults;

/// The half of an end of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Stream {
    /// Bytes that were given to messages.
    given: u64,
    /// Which of them to which.
    pub(super) gave: Vec<HostGave>,
    /// Messages that were read.
    pub(super) read: Vec<HostRead>,
}

impl Stream {
    /// The next message of step `nth` is handed over. `before`: the connection of the step before it.
    pub(super) fn gives(
        &mut self,
        (steps, nth): (&[Step], usize),
        before: Option<&mut Requester>,
        faults: &RcFaults,
    ) {
        let step = &steps[nth];
        let message = step.handed();
        if let Some(ahead) =
            nth.checked_sub(1).filter(|_| message.is_multiple_of(step.shape.chunks))
        {
            let ahead = &steps[ahead];
            let under_way = ahead.handed().saturating_sub(ahead.complete);
            if faults.app_under_way_repeated {
                self.given -= u64::from(under_way) * u64::from(ahead.kind.message);
            }
            if let Some(before) = before.filter(|_| faults.app_under_way_dropped && under_way > 0) {
                before.denied();
            }
        }
        let from = self.given;
        self.given += u64::from(step.kind.message);
        self.gave.push(HostGave {
            connection: step.id,
            message: message.into(),
            from,
            to: self.given,
        });
    }

    /// Messages of a step came in whole that had not before, which had so many.
    pub(super) fn reads(&mut self, step: &Step, before: u32) {
        let connection = step.id;
        let all = (before..step.complete).map(u64::from);
        self.read.extend(all.map(|message| HostRead { connection, message }));
    }
}
