//! What cannot be told apart from outside: at one poll interval only the number of polls shows.

use super::{Polls, Rule, Stimulus};
use crate::Alike;
use core::ops::Bound;
use rig_capture::Unit;
use rig_lab::Charge;
use rig_units::Dur;

impl Rule {
    /// The detection times that give the same n as the declared one: `pfcwd.detection_time in (100ms, 200ms]`; as many polls more
    /// to either side as the action may come late, or as readings that lie within `blur` leave open. Timers are told to within `blur` and
    /// what they leave open.
    pub fn detection_resolution(&self, blur: Dur) -> Alike {
        if !self.is_polled() {
            return self.timed_alike("pfcwd.detection_time", self.detection_time, (1, blur));
        }
        let Polls { fewest, most } = self.polls();
        let p = self.poll_interval;
        let (fewest, most) = self.blurred((fewest, most), blur);
        let fewest = fewest.max(1);
        let floor = self.polls().most == u64::from(self.min_samples);
        match self.charge {
            Charge::Interval => {
                let from = if floor { Dur::ZERO } else { p * (fewest - 1) };
                alike("pfcwd.detection_time", Bound::Excluded(from), Bound::Included(p * most))
            }
            Charge::Elapsed => {
                // 0.99 D in [(n-1)P, nP); whole microseconds, outwards.
                let over = |dur: Dur, up: u64| Dur::us((dur.scaled(100, 99).0 + up) / 1_000_000);
                let from = if floor { Dur::ZERO } else { over(p * (fewest - 1), 0) };
                let until = over(self.longest_interval() * most, 999_999);
                alike("pfcwd.detection_time", Bound::Included(from), Bound::Excluded(until))
            }
        }
    }

    /// The detection times of which not every pause of `length` is surely undetected: where all are to be, a device with any of them may pass.
    /// `None` where there is no end to them.
    pub fn all_fire_alike(&self, length: Dur, stimulus: &Stimulus) -> Option<Alike> {
        /// More polls than these lead nowhere.
        const MOST: usize = 10_000;
        let mut own = self.detection_resolution(Dur::ZERO);
        for _ in 0..MOST {
            let beyond = match own.most {
                Bound::Included(most) => most.checked_add(1)?,
                Bound::Excluded(most) => most,
                Bound::Unbounded => return None,
            };
            let other = Rule { detection_time: Dur(beyond), ..*self };
            if other.never_fires_up_to(stimulus).is_none_or(|never| length <= never) {
                return Some(Alike { least: Bound::Unbounded, ..own });
            }
            own = other.detection_resolution(Dur::ZERO);
        }
        None
    }

    /// The numbers of polls that show no otherwise than these: fewer that all come as late as they may, and more that all come in time, as
    /// many of each as lead out of no window; and what the action may come late by, or `blur` hides.
    fn blurred(&self, (fewest, most): (u64, u64), blur: Dur) -> (u64, u64) {
        let (p, long) = (self.poll_interval, self.longest_interval());
        let late = self.blurred_polls(blur);
        ((p * fewest).div_ceil(long).saturating_sub(late), long * (most + 1) / p - 1 + late)
    }

    /// The restoration times that give the same m as the declared one; `None` when it never restores.
    pub fn restoration_resolution(&self, blur: Dur) -> Option<Alike> {
        if !self.is_polled() {
            let time = self.restoration_time?;
            return Some(self.timed_alike("pfcwd.restoration_time", time, (2, blur)));
        }
        let (m, p) = (self.quiet_polls()?, self.poll_interval);
        let (fewest, most) = self.blurred((m, m), blur);
        let ends = (Bound::Excluded(p * fewest.saturating_sub(1)), Bound::Included(p * most));
        Some(alike("pfcwd.restoration_time", ends.0, ends.1))
    }
}

/// Lengths of time that only the number of polls would tell apart: for certain, as each poll is seen.
fn alike(parameter: &str, least: Bound<Dur>, most: Bound<Dur>) -> Alike {
    let ps = |end: Bound<Dur>| end.map(|dur| dur.0);
    let parameter = parameter.to_owned();
    Alike { parameter, unit: Unit::Ps, least: ps(least), most: ps(most), certain: true }
}
