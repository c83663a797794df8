//! Storms refreshed twice per pause time, as the ports of one speed need it: how much of the time they would hold a
//! device, by the rig's own departures and by what arrived.

use super::burst::Rig;
use rig_generator::{Clock, Job, Template, Who};
use rig_testcases::wire;
use rig_units::{Dur, PortSpeed, Quanta, Time};
use serde::Serialize;

/// How long each is held.
const LENGTH: Dur = Dur::ms(600);
const STORM: Who = Who::Storm(0);

/// What became of one storm.
#[derive(Debug, Serialize)]
pub(super) struct Held {
    /// Bits a second of the ports.
    pub(super) bps: u64,
    /// In nanoseconds.
    pub(super) pause_ns: u64,
    pub(super) every_ns: u64,
    pub(super) sent: Covered,
    /// `None`: the receiving end is not known.
    pub(super) arrived: Option<Covered>,
}

/// How a storm covered its time.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Covered {
    pub(super) frames: u64,
    /// Of the time from the first frame to the last, in millionths, rounded down.
    pub(super) covered_ppm: u64,
    /// How often the pause ran out before the next frame.
    pub(super) lapses: u64,
    /// The longest time from one frame to the next, in nanoseconds.
    pub(super) longest_gap_ns: u64,
}

/// Holds a storm of class 3 on a port of `speed`.
pub(super) fn held(rig: &mut Rig, speed: PortSpeed) -> Result<Held, String> {
    let pause = speed.pause(Quanta::MAX);
    let every = pause / 2;
    let quanta = core::array::from_fn(|class| if class == 3 { Quanta::MAX } else { Quanta(0) });
    rig.assign(STORM, Template::new(wire::pfc(wire::rig_mac(0), 1 << 3, quanta)));
    rig.rest()?;
    let start = rig.clock().now() + Dur::us(500);
    let job = Job::pfc(STORM, every, Some(LENGTH / every));
    let log = rig.send(speed, start, job, LENGTH + Dur::ms(1))?;
    let mut stamps = Vec::with_capacity(log.at.len());
    let known = rig.arrived(&mut |_, at| stamps.push(at))?;
    let arrived: Vec<Time> = stamps.into_iter().map(|at| rig.clock().at(at)).collect();
    Ok(Held {
        bps: speed.bps(),
        pause_ns: pause.0 / 1_000,
        every_ns: every.0 / 1_000,
        sent: Covered::by(&log.at, pause),
        arrived: known.then(|| Covered::by(&arrived, pause)),
    })
}

impl Covered {
    /// By frames at these instants, each of which pauses for `pause`.
    fn by(at: &[Time], pause: Dur) -> Covered {
        let gaps = at.windows(2).map(|pair| pair[1].since(pair[0]).unwrap_or_default());
        let (mut all, mut open, mut lapses, mut longest) = (Dur::ZERO, Dur::ZERO, 0, Dur::ZERO);
        for gap in gaps {
            all += gap;
            open += gap.saturating_sub(pause);
            lapses += u64::from(gap > pause);
            longest = longest.max(gap);
        }
        let closed = all.saturating_sub(open).scaled(1_000_000, all.0.max(1));
        Covered {
            frames: at.len() as u64,
            covered_ppm: closed.0,
            lapses,
            longest_gap_ns: longest.0 / 1_000,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covered(us: &[u64]) -> Covered {
        let at: Vec<Time> = us.iter().map(|&us| Time::ZERO + Dur::us(us)).collect();
        Covered::by(&at, Dur::us(10))
    }

    #[test]
    fn a_gap_as_long_as_the_pause_holds_and_a_longer_one_lapses_by_the_rest() {
        let held = covered(&[0, 5, 15, 20]);
        assert_eq!((held.frames, held.covered_ppm, held.lapses), (4, 1_000_000, 0));
        let lapsed = covered(&[0, 10, 25, 30, 40]);
        assert_eq!(
            (lapsed.covered_ppm, lapsed.lapses, lapsed.longest_gap_ns),
            (875_000, 1, 15_000)
        );
        assert_eq!(covered(&[3]).covered_ppm, 0, "one frame holds nothing that can be told");
    }
}
