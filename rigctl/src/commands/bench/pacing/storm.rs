//! Storms refreshed twice per pause time, as the ports of one speed need it: how much of the time they would hold a
//! device, by the rig's own departures and by what arrived; beside them, where it is asked for, those of a plain loop.

use super::super::ends::Ends;
use super::super::rounds::median;
use super::burst::Rig;
use super::kept_off::{KeptOff, Watch};
use super::python::Python;
use crate::cli::PacingArgs;
use crate::commands::machine::Undisturbed;
use rig_generator::{Clock, Job, Template, Who};
use rig_testcases::wire;
use rig_units::{Dur, PortSpeed, Quanta, Time};
use serde::Serialize;

/// The port speeds whose storms are held.
const SPEEDS: [PortSpeed; 3] = [PortSpeed::G10, PortSpeed::G100, PortSpeed::G400];
/// How long each is held.
const LENGTH: Dur = Dur::ms(600);
const STORM: Who = Who::Storm(0);

/// What became of the storms of one speed: the medians of all rounds.
#[derive(Debug, Serialize)]
pub(super) struct Held {
    /// Bits a second of the ports.
    pub(super) bps: u64,
    /// In nanoseconds.
    pub(super) pause_ns: u64,
    pub(super) every_ns: u64,
    pub(super) sent: Covered,
    /// In the worst of the rig's own rounds.
    pub(super) kept_off: KeptOff,
    /// `None`: the receiving end is not known.
    pub(super) arrived: Option<Covered>,
    /// What arrived of a plain Python loop that sent the same frames; `None`: nobody asked for it.
    pub(super) python: Option<Covered>,
}

/// How a storm covered its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(super) struct Covered {
    pub(super) frames: u64,
    /// Of the time from the first frame to the last, in millionths, rounded down.
    pub(super) covered_ppm: u64,
    /// The same in the worst of several rounds.
    pub(super) least_covered_ppm: u64,
    /// How often the pause ran out before the next frame.
    pub(super) lapses: u64,
    /// The longest time from one frame to the next, in nanoseconds.
    pub(super) longest_gap_ns: u64,
}

/// A storm of class 3 on a port of one speed, and what its rounds gave so far.
struct Storm {
    speed: PortSpeed,
    pause: Dur,
    every: Dur,
    frame: Vec<u8>,
    sent: Vec<Covered>,
    kept_off: Vec<KeptOff>,
    arrived: Vec<Covered>,
    python: Vec<Covered>,
}

/// Holds every storm as often as `args` say, taking turns with `python`.
pub(super) fn held(
    rig: &mut Rig,
    ends: &Ends,
    python: Option<&Python>,
    args: &PacingArgs,
) -> Result<Vec<Held>, String> {
    let mut storms = SPEEDS.map(Storm::of);
    for _ in 0..args.pairs {
        for storm in &mut storms {
            let thread = Undisturbed::wide_awake(args.cpu);
            let cpu = thread.cpu();
            storm.hold(rig, cpu)?;
            // What a usual thread starts is a usual one.
            drop(thread);
            if let Some(python) = python {
                storm.hold_by(python, rig, ends, cpu)?;
            }
        }
    }
    Ok(storms.map(Storm::held).into())
}

impl Storm {
    fn of(speed: PortSpeed) -> Storm {
        let pause = speed.pause(Quanta::MAX);
        let quanta = core::array::from_fn(|class| if class == 3 { Quanta::MAX } else { Quanta(0) });
        Storm {
            speed,
            pause,
            every: pause / 2,
            frame: wire::pfc(wire::rig_mac(0), 1 << 3, quanta),
            sent: Vec::new(),
            kept_off: Vec::new(),
            arrived: Vec::new(),
            python: Vec::new(),
        }
    }

    /// By the rig's own pacer.
    fn hold(&mut self, rig: &mut Rig, cpu: Option<usize>) -> Result<(), String> {
        rig.assign(STORM, Template::new(self.frame.clone()));
        rig.rest()?;
        let start = rig.clock().now() + Dur::us(500);
        let job = Job::pfc(STORM, self.every, Some(LENGTH / self.every));
        let watch = Watch::start(cpu);
        let log = rig.send(self.speed, start, job, LENGTH + Dur::ms(1))?;
        self.kept_off.push(watch.end());
        self.sent.push(Covered::by(&log.at, self.pause));
        let arrived = self.seen(rig)?;
        self.arrived.extend(arrived);
        Ok(())
    }

    /// By a plain loop.
    fn hold_by(
        &mut self,
        python: &Python,
        rig: &mut Rig,
        ends: &Ends,
        cpu: Option<usize>,
    ) -> Result<(), String> {
        rig.rest()?;
        python.hold(ends, &self.frame, (self.every, LENGTH), rig.clock(), cpu)?;
        let arrived = self.seen(rig)?;
        self.python.extend(arrived);
        Ok(())
    }

    /// What arrived of it; `None` when the receiving end is not known.
    fn seen(&self, rig: &mut Rig) -> Result<Option<Covered>, String> {
        let mut timestamps = Vec::new();
        let known = rig.arrived(&mut |frame, at| {
            if frame.starts_with(&self.frame) {
                timestamps.push(at);
            }
        })?;
        let at: Vec<Time> = timestamps.into_iter().map(|at| rig.clock().at(at)).collect();
        Ok(known.then(|| Covered::by(&at, self.pause)))
    }

    fn held(self) -> Held {
        Held {
            bps: self.speed.bps(),
            pause_ns: self.pause.0 / 1_000,
            every_ns: self.every.0 / 1_000,
            sent: Covered::middle(&self.sent).unwrap_or_default(),
            kept_off: KeptOff::worst(self.kept_off),
            arrived: Covered::middle(&self.arrived),
            python: Covered::middle(&self.python),
        }
    }
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
            least_covered_ppm: closed.0,
            lapses,
            longest_gap_ns: longest.0 / 1_000,
        }
    }

    /// The median of each figure, and the least covered; `None` without any round.
    fn middle(rounds: &[Covered]) -> Option<Covered> {
        let of = |one: fn(&Covered) -> u64| median(rounds.iter().map(one).collect());
        Some(Covered {
            frames: of(|round| round.frames),
            covered_ppm: of(|round| round.covered_ppm),
            least_covered_ppm: rounds.iter().map(|round| round.least_covered_ppm).min()?,
            lapses: of(|round| round.lapses),
            longest_gap_ns: of(|round| round.longest_gap_ns),
        })
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

    #[test]
    fn of_several_rounds_the_middle_is_told_and_the_worst_is_not_hidden() {
        let whole = covered(&[0, 5, 15, 20]);
        let torn = covered(&[0, 10, 25, 30, 40]);
        let middle = Covered::middle(&[whole, torn, whole]).expect("three rounds");
        assert_eq!(middle, Covered { least_covered_ppm: 875_000, ..whole });
        assert_eq!(Covered::middle(&[]), None);
    }

    #[test]
    fn a_storm_of_the_fastest_ports_fits_the_ring_at_the_other_end() {
        for storm in SPEEDS.map(Storm::of) {
            assert!(LENGTH / storm.every < super::super::FRAMES, "{}", storm.speed);
        }
    }
}
