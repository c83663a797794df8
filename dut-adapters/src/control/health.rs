//! How a device kept up.

use rig_units::Dur;
use serde::{Deserialize, Serialize};

/// How a served device kept up with its clock, and what got lost on the way. Inside, it does everything at its due
/// instant, however late the process was: lateness shows outside, in frames that leave late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Health {
    /// Worst time from when something was due inside the device, such as a poll of its watchdog, to when it was done.
    pub event_late: Dur,
    /// Of that, worst time by which somebody who polls in the device's place was late: then it acts late, too, and the wire shows it.
    pub poll_late: Dur,
    /// Worst time by which somebody who tells in the device's place of what its watchdogs do was late with that: of the device it says nothing.
    pub told_late: Dur,
    /// Worst time from when the last bit of a frame was due to leave to when the frame was handed over.
    pub send_late: Dur,
    /// Worst time from a frame's stamp to when the device had dealt with it.
    pub arrival_late: Dur,
    /// How far, at worst, a frame's stamp lay before what the device had already done. Such a frame is taken in late, and
    /// what the device did in between might have been otherwise.
    pub misplaced: Dur,
    /// Frames taken in, PFC and those that were of no use included.
    pub received: u64,
    /// Frames sent, PFC included.
    pub sent: u64,
    /// 802.3x PAUSE frames, which the device ignores.
    pub pauses: u64,
    /// MAC Control frames that break their format.
    pub malformed: u64,
    /// Frames for nobody that the device knows.
    pub foreign: u64,
    /// Frames that arrived over a link that is cut.
    pub cut: u64,
    /// Frames due to leave whose bytes had made room for others.
    pub evicted: u64,
    /// Frames due to leave protected while nobody had given the device its keys.
    pub keyless: u64,
    /// Frames that reached a port and not the device.
    pub rx_lost: u64,
    /// Frames that the device sent and a port did not.
    pub tx_lost: u64,
}

impl Health {
    /// Why what the device did is no measure of what it declares, when anything came later than `bound` or was lost.
    pub fn doubt(&self, bound: Dur) -> Option<String> {
        let late = [
            (self.event_late, "an event inside it was handled"),
            (self.send_late, "a frame left"),
            (self.arrival_late, "a frame was dealt with"),
            (self.misplaced, "a frame was taken in out of order"),
        ];
        let late = late.into_iter().filter(|&(by, _)| by > bound);
        let lost = [
            (self.evicted, "had no bytes left"),
            (self.keyless, "could not be protected without keys"),
            (self.rx_lost, "never reached the device"),
            (self.tx_lost, "never left it"),
        ];
        let lost = lost.into_iter().filter(|&(count, _)| count > 0);
        let late = late.map(|(by, what)| format!("{what} {by} late (bound {bound})"));
        let lost = lost.map(|(count, what)| {
            format!("{count} frame{} {what}", if count == 1 { "" } else { "s" })
        });
        let all: Vec<String> = late.chain(lost).collect();
        (!all.is_empty()).then(|| format!("the served device fell behind: {}", all.join("; ")))
    }

    /// Why what was told of its watchdogs cannot be dated, when it was told later than `bound`.
    pub fn untold(&self, bound: Dur) -> Option<String> {
        let Health { told_late, .. } = self;
        let late = *told_late > bound;
        late.then(|| format!("what its watchdogs did was told {told_late} late (bound {bound})"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubt_names_everything_that_is_beyond_its_bound() {
        let bound = Dur::us(100);
        let fine = Health { send_late: bound, event_late: bound, foreign: 9, ..Health::default() };
        assert_eq!(fine.doubt(bound), None);
        let bad = Health { send_late: bound + Dur(1), evicted: 1, rx_lost: 2, ..fine };
        let doubt = bad.doubt(bound).expect("late");
        for want in
            ["a frame left", "1 frame had no bytes left", "2 frames never reached the device"]
        {
            assert!(doubt.contains(want), "{doubt}");
        }
        assert!(!doubt.contains("inside"), "{doubt}");
    }
}
