//! What the watchdogs have decided and the device has still to do: between the poll that decides and the instant at which its action
//! begins or ends, the software takes its time, of each decision anew.
//!
//! A watchdog's status changes with the decision, before its next poll, however long the action takes. Of one queue nothing
//! overtakes what was decided before it.

use crate::model::chance::{self, Draws};
use crate::model::pfcwd::Event;
use rig_units::{Time, Within};

/// Decisions whose action is to come, the next one first.
#[derive(Debug, Clone)]
pub(super) struct Actions {
    draws: Draws,
    pending: Vec<Pending>,
}

#[derive(Debug, Clone, Copy)]
struct Pending {
    at: Time,
    guard: usize,
    event: Event,
}

impl Actions {
    pub(super) fn new(seed: u64) -> Actions {
        Actions { draws: Draws::new(chance::stream(seed, *b"pw-acts.")), pending: Vec::new() }
    }

    /// When something is to be done next.
    pub(super) fn next(&self) -> Time {
        self.pending.first().map_or(Time::MAX, |first| first.at)
    }

    /// The watchdog of a guarded queue decides something now.
    pub(super) fn decide(&mut self, now: Time, (guard, event): (usize, Event), latency: Within) {
        let own = self.pending.iter().filter(|pending| pending.guard == guard);
        let before = own.map(|pending| pending.at).max().unwrap_or(Time::ZERO);
        let at = (now + self.draws.next(latency)).max(before);
        let ahead = self.pending.partition_point(|pending| pending.at <= at);
        self.pending.insert(ahead, Pending { at, guard, event });
    }

    /// What is to be done next of all that is due at `now`: the guarded queue, and what was decided of it.
    pub(super) fn due(&mut self, now: Time) -> Option<(usize, Event)> {
        let first = self.pending.first().filter(|first| first.at <= now)?;
        let due = (first.guard, first.event);
        self.pending.remove(0);
        Some(due)
    }

    /// Nothing that was decided is done any more.
    pub(super) fn forget(&mut self) {
        self.pending.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_units::Dur;

    #[test]
    fn the_end_of_an_action_never_overtakes_its_beginning() {
        let at = |ms: u64| Time::ZERO + Dur::ms(ms);
        let mut actions = Actions::new(1);
        actions.decide(at(0), (3, Event::Storm), Dur::ms(50).into());
        actions.decide(at(1), (3, Event::Restore), Dur::ms(1).into());
        actions.decide(at(1), (4, Event::Storm), Dur::ms(1).into());
        assert_eq!((actions.next(), actions.due(at(1))), (at(2), None));
        assert_eq!(actions.due(at(2)), Some((4, Event::Storm)));
        assert_eq!((actions.next(), actions.due(at(49))), (at(50), None));
        let all = [actions.due(at(50)), actions.due(at(50)), actions.due(at(99))];
        assert_eq!(all, [Some((3, Event::Storm)), Some((3, Event::Restore)), None]);
    }
}
