//! Where a switch as a whole departs from the watchdog's rule: which queues it watches, what an action comes to and takes.

use super::guard::Guard;
use super::handler::Effect;
use super::switched::Switched;
use crate::model::pfcwd::Watchdog;
use crate::model::topology::PortId;
use rig_lab::{Action, PfcwdFaults};

impl Switched {
    /// A watchdog that starts afresh under the running configuration; `None` where there is none.
    pub(super) fn watchdog(&self) -> Option<Watchdog> {
        let mut faults = self.faults.pfcwd;
        // Where XON frames do not count, there are none to leave out.
        faults.xon_does_not_restart &= self.running.pfc.xon_counts;
        Some(Watchdog::new(self.family?, &self.running.pfcwd, faults))
    }

    /// What the configured action comes to.
    pub(super) const fn effect(&self) -> Effect {
        let PfcwdFaults { forward_drops, alert_acts, .. } = self.faults.pfcwd;
        match self.running.pfcwd.action {
            Action::Drop => Effect::Drop,
            Action::Forward if forward_drops => Effect::Drop,
            Action::Forward => Effect::Forward,
            Action::Alert if alert_acts => Effect::Drop,
            Action::Alert => Effect::Nothing,
        }
    }

    /// Whether nothing is polled any more.
    pub(super) fn polls_are_over(&self) -> bool {
        let PfcwdFaults { poll_stops_after_storm, poll_stops_after_restart, .. } =
            self.faults.pfcwd;
        (poll_stops_after_storm && self.has_restored)
            || (poll_stops_after_restart && self.was_restarted)
            || (self.faults.reboot.reboot_forgets_watchdog && self.absence.has_been)
    }

    /// Whether the watchdog of one guarded queue is left out of this poll.
    pub(super) fn overlooks(&self, index: usize) -> bool {
        let PfcwdFaults { detection_ignores_class, one_port_at_a_time, .. } = self.faults.pfcwd;
        let Guard { at, class, .. } = self.guards[index];
        let highest = || self.guards.iter().map(|guard| u32::from(guard.class)).max();
        let ignored = detection_ignores_class.and_then(|class| class.or_else(highest));
        let elsewhere = |other: &Guard| other.at != at && other.watchdog.is_stormed();
        ignored == Some(class.into()) || (one_port_at_a_time && self.guards.iter().any(elsewhere))
    }

    /// The queues beside its own that a drop takes.
    pub(super) fn spread(&self, index: usize) -> Vec<(PortId, u8)> {
        let PfcwdFaults { drop_spreads_to_queue, drop_spreads_to_port, .. } = self.faults.pfcwd;
        let Guard { at, class, .. } = self.guards[index];
        let (before, after) = (&self.guards[..index], &self.guards[index + 1..]);
        let after = after.iter().chain(before).map(|guard| (guard.at, guard.class));
        let next_queue = after.clone().find(|&(other, _)| other == at);
        let mut same_class = after.filter(|&(_, other)| other == class);
        let next_queue = next_queue.filter(|_| drop_spreads_to_queue);
        let next_port = same_class.next().filter(|_| drop_spreads_to_port);
        next_queue.into_iter().chain(next_port).collect()
    }
}
