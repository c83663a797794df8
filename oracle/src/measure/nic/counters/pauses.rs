//! The frames of PFC that a NIC counts for each priority, against those on its cable.

use super::super::Passage;
use super::UnderWay;
use crate::measure::checks;
use crate::trials::trial::Trial;
use rig_capture::analyse::CounterCheck;
use rig_capture::{Dir, Record, Span, What};
use rig_units::{MIN_FRAME, Quanta, Time};

/// Size of a PFC frame.
const WORD: u16 = 64;

/// Frames of PFC for one priority that passed a port one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Passed {
    /// Those that ask for a pause.
    xoffs: u64,
    /// All that name the priority: whether one that ends a pause is counted with those that begin one is left to a driver, and whether one with
    /// something odd about it is PFC at all, to a NIC.
    all: u64,
    /// Those that may not have come to its end when the trial is over.
    late: u64,
}

impl Passed {
    fn of<'r>(class: u8, until: Time, frames: impl Iterator<Item = &'r Record>) -> Passed {
        let mut passed = Passed::default();
        for one in frames {
            let (enable, quanta, odd) = match &one.what {
                What::Pfc { enable, quanta } => (*enable, quanta, false),
                What::BadPfc { enable, quanta, .. } => (*enable, quanta, true),
                _ => continue,
            };
            if enable >> class & 1 == 0 {
                continue;
            }
            passed.all += 1;
            passed.xoffs += u64::from(!odd && quanta[usize::from(class)] > Quanta(0));
            passed.late += u64::from(one.at > until);
        }
        passed
    }
}

/// `rx_prio*_pause` and `tx_prio*_pause` of the priorities in which the NIC obeys PFC, as far as its driver has them. Where others pass on what reaches
/// it, its own cable is seen by nobody.
pub(super) fn counted(
    trial: &Trial,
    (index, name): (u16, &str),
    seen: &Passage<'_>,
) -> Vec<(CounterCheck, UnderWay)> {
    if seen.relayed {
        return Vec::new();
    }
    let end = Time::ZERO + trial.script.length;
    let port = &trial.observation.ports[usize::from(index)];
    let way = port.way(WORD) + seen.bound;
    let until = Time(end.0.saturating_sub(way.0));
    // Those that leave after this no longer reach the rig.
    let unseen = end.0.saturating_sub(seen.until.0);
    let slot = port.speed.slot(MIN_FRAME);
    let more = unseen / slot.0 + 1;
    let mut checks = Vec::new();
    for class in (0..8).filter(|class| seen.nic.pfc.priorities.contains(class)) {
        for (way, dir) in [("rx", Dir::Tx), ("tx", Dir::Rx)] {
            let frames = trial.observation.records.iter();
            let frames = frames.filter(|one| (one.port, one.dir) == (index, dir));
            let Passed { xoffs, all, late, .. } = Passed::of(class, until, frames);
            let counter = format!("{name} {way}_prio{class}_pause");
            let want = Span { lo: xoffs, hi: all };
            let open = match dir {
                Dir::Tx => UnderWay { less: late, ..UnderWay::default() },
                Dir::Rx => UnderWay { more, ..UnderWay::default() },
            };
            let counters = &trial.observation.counters;
            checks.extend(
                checks::grown_if_there(counters, &counter, want).map(|check| (check, open)),
            );
        }
    }
    checks
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_capture::PfcFault;

    #[test]
    fn frames_are_told_apart_by_what_they_ask_for() {
        let mut quanta = [Quanta(0); 8];
        quanta[3] = Quanta(100);
        let pfc = |enable, quanta| What::Pfc { enable, quanta };
        let whats = [
            pfc(0b1000, quanta),
            pfc(0b1000, [Quanta(0); 8]),
            pfc(0b1_0000, quanta),
            What::BadPfc { fault: PfcFault::Source, enable: 0b1000, quanta },
            pfc(0b1000, quanta),
        ];
        let records: Vec<Record> = (1..)
            .zip(whats)
            .map(|(at, what)| Record {
                at: Time(at),
                port: 0,
                dir: Dir::Tx,
                what,
                secured: None,
                vlan: None,
            })
            .collect();
        let passed = Passed::of(3, Time(4), records.iter());
        assert_eq!(passed, Passed { xoffs: 2, all: 4, late: 1 });
    }
}
