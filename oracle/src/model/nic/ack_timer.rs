//! The timer of a requester: when it runs out without progress.

use crate::model::chance::Draws;
use rig_lab::{AckTimeout, Adaptive, Rc, RcFaults};
use rig_units::{Dur, Ppm, Time, Within};

/// The unit of what codes say.
const UNIT: Dur = Dur::ns(4_096);

/// From when on it runs, and how long; [`Time::MAX`]: it has not been started.
#[derive(Debug, Clone, Copy)]
pub(super) struct AckTimer(Time, Dur);

impl Default for AckTimer {
    fn default() -> AckTimer {
        AckTimer(Time::MAX, Dur::ZERO)
    }
}

impl AckTimer {
    /// When it runs out, started at `since` after so many timeouts in a row: later by another length of time each time that it starts. [`None`] where it does not run.
    pub(super) fn due(
        &mut self,
        rc: &Rc,
        faults: &RcFaults,
        (since, tries): (Time, u8),
        draws: &mut Draws,
    ) -> Option<Time> {
        let interval = adapted(interval(rc, faults)?, rc, faults, tries);
        if self.0 != since {
            let late = rc.timeout_late.unwrap_or(Within::at_most(interval * 3));
            let early = Dur::ns(faults.timeout_runs_early.unwrap_or(0).into());
            let share = rc.timeout_late_share.unwrap_or(Ppm(0)).0;
            let late = late + Within::at_most(interval.scaled(share.into(), 1_000_000));
            *self = AckTimer(since, interval.saturating_sub(early) + draws.next(late));
        }
        Some(since + self.1)
    }

    /// Whether it was started at `since` and has not run out by `now`.
    pub(super) fn runs(&self, since: Time, now: Time) -> bool {
        self.0 == since && now < since + self.1
    }

    /// What it was set to is no more.
    pub(super) const fn forget(&mut self) {
        self.0 = Time::MAX;
    }
}

/// What a timer of `interval` comes to after so many timeouts in a row.
fn adapted(interval: Dur, rc: &Rc, faults: &RcFaults, tries: u8) -> Dur {
    let declared = rc.adaptive.filter(|_| !faults.adaptive_ignored);
    match declared {
        Some(Adaptive(waits)) => {
            let last = waits.len() - 1;
            interval.scaled(waits[usize::from(tries).min(last)].into(), 16)
        }
        None if faults.adaptive_hidden => interval.scaled(1 << tries.min(4), 16),
        None => interval,
    }
}

/// Whether a requester has a timer at all.
#[inline]
pub(super) fn runs(rc: &Rc, faults: &RcFaults) -> bool {
    rc.timeout != AckTimeout::NEVER || faults.timeout_zero_runs
}

fn interval(rc: &Rc, faults: &RcFaults) -> Option<Dur> {
    match rc.timeout {
        AckTimeout::Code(0) if !faults.timeout_zero_runs => None,
        AckTimeout::Code(code) => {
            let code = faults.timeout_cut.map_or(code.into(), |most| most.min(code.into()));
            Some(UNIT * 2_u64.pow(code))
        }
        AckTimeout::Time(time) => Some(time),
    }
}
