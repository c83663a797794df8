//! What cannot be told apart from outside: at one poll interval only the number of polls shows.

use super::{Polls, Rule};
use rig_lab::Charge;
use rig_units::Dur;

impl Rule {
    /// The detection times that give the same n as the declared one: `pfcwd.detection_time in (100ms, 200ms]`; as many polls more
    /// to either side as the action may come late.
    pub fn detection_resolution(&self) -> String {
        let Polls { fewest, most } = self.polls();
        let p = self.poll_interval;
        let blurred = self.blurred_polls();
        let (fewest, most) = (fewest.saturating_sub(blurred).max(1), most + blurred);
        let floor = self.polls().most == u64::from(self.min_samples);
        match self.charge {
            Charge::Interval => {
                let from = if floor { Dur::ZERO } else { p * (fewest - 1) };
                format!("pfcwd.detection_time in ({from}, {}]", p * most)
            }
            Charge::Elapsed => {
                // 0.99 D in [(n-1)P, nP); whole microseconds, outwards.
                let over = |dur: Dur, up: u64| Dur::us((dur.scaled(100, 99).0 + up) / 1_000_000);
                let from = if floor { Dur::ZERO } else { over(p * (fewest - 1), 0) };
                let until = over(self.longest_interval() * most, 999_999);
                format!("pfcwd.detection_time in [{from}, {until})")
            }
        }
    }

    /// The restoration times that give the same m as the declared one; `None` when it never restores.
    pub fn restoration_resolution(&self) -> Option<String> {
        let (m, p) = (self.quiet_polls()?, self.poll_interval);
        let blurred = self.blurred_polls();
        let from = p * (m - 1).saturating_sub(blurred);
        Some(format!("pfcwd.restoration_time in ({from}, {}]", p * (m + blurred)))
    }
}
