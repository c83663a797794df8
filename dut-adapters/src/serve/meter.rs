//! Keeps [`Health`]: since the boot, and since somebody last asked.

use crate::control::Health;
use rig_units::{Dur, Time};

/// Both at once.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Meter {
    total: Health,
    window: Health,
    /// Frames that the ports had lost when they were last asked: received ones, and ones to send.
    lost: (u64, u64),
}

impl Meter {
    /// Nothing yet, with ports that have lost so many frames before.
    pub(super) fn new(lost: (u64, u64)) -> Meter {
        Meter { lost, ..Meter::default() }
    }

    /// Notes something.
    pub(super) fn note(&mut self, what: impl Fn(&mut Health)) {
        what(&mut self.total);
        what(&mut self.window);
    }

    /// Notes that something that was due at `due` was done at `now`.
    pub(super) fn late(
        &mut self,
        due: Option<Time>,
        now: Time,
        which: fn(&mut Health) -> &mut Dur,
    ) {
        let Some(by) = due.and_then(|due| now.since(due)) else { return };
        self.note(|health| {
            let worst = which(health);
            *worst = (*worst).max(by);
        });
    }

    /// Notes how many frames the ports have lost since they were opened.
    pub(super) fn lost(&mut self, lost: (u64, u64)) {
        let rx = lost.0.saturating_sub(self.lost.0);
        let tx = lost.1.saturating_sub(self.lost.1);
        self.lost = lost;
        self.note(|health| {
            health.rx_lost += rx;
            health.tx_lost += tx;
        });
    }

    /// Since the boot.
    pub(super) const fn total(&self) -> Health {
        self.total
    }

    /// Since the last call.
    pub(super) fn window(&mut self) -> Health {
        core::mem::take(&mut self.window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(health: &mut Health) -> &mut Dur {
        &mut health.event_late
    }

    #[test]
    fn the_worst_is_kept_and_forgotten_when_it_was_told() {
        let mut meter = Meter::new((5, 0));
        meter.late(Some(Time(100)), Time(107), event);
        meter.late(Some(Time(200)), Time(203), event);
        meter.late(Some(Time(300)), Time(299), event);
        meter.late(None, Time(999), event);
        meter.lost((6, 2));
        let seen = meter.window();
        assert_eq!((seen.event_late, seen.rx_lost, seen.tx_lost), (Dur(7), 1, 2));
        meter.lost((6, 3));
        assert_eq!(meter.window(), Health { tx_lost: 1, ..Health::default() });
        assert_eq!((meter.total().event_late, meter.total().tx_lost), (Dur(7), 3));
    }
}
