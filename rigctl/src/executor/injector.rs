//! What a case does to frames between two NICs in real time, told frame by frame.

use rig_capture::Touched;
use rig_oracle::trials::seed::Seed;
use rig_testcases::{Injected, Injection, Passing, RoceKind, Target};
use rig_units::{Ppm, Time};
use std::collections::BTreeMap;

/// What is done to the frames of connections. Numbers count from the first packet of each.
#[derive(Debug)]
pub(super) struct Injector {
    armed: Vec<Armed>,
    /// How often each packet with payload has passed, by connection and number.
    passed: BTreeMap<(u16, u32), u32>,
    touched: Vec<Touched>,
}

/// An injection, and how many of its frames have passed.
#[derive(Debug)]
struct Armed {
    injection: Injection<u16>,
    seen: u32,
    /// What is drawn of it.
    chance: Seed,
}

impl Injector {
    /// All that is done on the way, in the order of the script; what is drawn is drawn from `seed`, each from its own part of it.
    pub(super) fn new(all: &[Injection<u16>], seed: &Seed) -> Injector {
        let armed = (0..).zip(all).map(|(nth, one): (u32, _)| Armed {
            injection: one.clone(),
            seen: 0,
            chance: seed.split(&format!("injected {nth}")),
        });
        Injector { armed: armed.collect(), passed: BTreeMap::new(), touched: Vec::new() }
    }

    /// What is done to a frame of `connection` that arrived at `port`, of this kind and number; the first thing, where there are several. Whoever
    /// takes it is not ready for it only where it is `expected`: the very number that comes next.
    pub(super) fn does(
        &mut self,
        (at, port): (Time, u16),
        connection: u16,
        (kind, number): (RoceKind, u32),
        expected: bool,
    ) -> Option<Injected> {
        let target = target(kind);
        let mut round = 1;
        if target == Target::Data {
            let passed = self.passed.entry((connection, number)).or_default();
            *passed += 1;
            round = *passed;
        }
        let mut done = None;
        for (index, Armed { injection, seen, chance }) in (0_u16..).zip(&mut self.armed) {
            if (injection.on, injection.frames) != (connection, target) {
                continue;
            }
            *seen += 1;
            let passing = Passing { psn: number, nth: *seen, since: at.elapsed() };
            let hit = injection.which.hits(passing, || chance.draw(u64::from(Ppm::ONE.0)));
            let refuses = matches!(injection.tamper, Injected::NotReady(_));
            let hit = hit && (!refuses || expected);
            if hit && injection.iteration.is_none_or(|wanted| wanted == round) {
                done = done.or(Some((index, injection.tamper)));
            }
        }
        let (index, what) = done?;
        self.touched.push(Touched { at, port, injection: Some(index), what });
        Some(what)
    }

    /// A frame was lost at `at` to a receiver that was not ready, by that injection.
    pub(super) fn refused(&mut self, (at, port): (Time, u16), injection: u16) {
        let what = Injected::Drop;
        self.touched.push(Touched { at, port, injection: Some(injection), what });
    }

    /// Which injection of a frame was told last.
    pub(super) fn last(&self) -> Option<u16> {
        self.touched.last()?.injection
    }

    /// What was done.
    pub(super) fn touched(self) -> Vec<Touched> {
        self.touched
    }
}

/// What of a connection a frame is.
const fn target(kind: RoceKind) -> Target {
    match kind {
        RoceKind::Data { .. } => Target::Data,
        RoceKind::Ack => Target::Ack,
        RoceKind::Nak | RoceKind::Denied | RoceKind::NotReady(_) => Target::Nak,
        RoceKind::Cnp { .. } => Target::Cnp,
        RoceKind::ReadRequest => Target::ReadRequest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_frames::roce::aeth::RnrTimer;
    use rig_testcases::Which;
    use rig_units::Dur;

    const DATA: RoceKind = RoceKind::Data { first: false, last: false, response: false };

    fn one(which: Which, iteration: Option<u32>) -> Injection<u16> {
        Injection { on: 7, frames: Target::Data, which, iteration, tamper: Injected::Drop }
    }

    /// The places at which something is done to packets of these numbers.
    fn hits(which: Which, iteration: Option<u32>, numbers: &[u32]) -> Vec<usize> {
        let mut injector = Injector::new(&[one(which, iteration)], &Seed::of_run(1));
        let mut at = Time::ZERO;
        let mut hit = |number: &u32| {
            at += Dur::us(1);
            injector.does((at, 0), 7, (DATA, *number), false).is_some()
        };
        let all = numbers.iter().enumerate();
        all.filter(|(_, number)| hit(number)).map(|(place, _)| place).collect()
    }

    #[test]
    fn a_number_is_hit_each_time_or_in_its_round() {
        let sent = [4, 5, 4, 4];
        assert_eq!(hits(Which::Psn(4), None, &sent), [0, 2, 3]);
        assert_eq!(hits(Which::Psn(4), Some(2), &sent), [2]);
        assert_eq!(hits(Which::Nth(2), None, &sent), [1]);
        assert_eq!(hits(Which::Every { every: 2, run: 1 }, None, &sent), [1, 3]);
    }

    #[test]
    fn a_receiver_is_not_ready_for_the_number_alone_that_it_expects() {
        let tamper = Injected::NotReady(RnrTimer::new(14).expect("five bits"));
        let rnr = Injection { tamper, ..one(Which::Psn(4), None) };
        let mut injector = Injector::new(&[rnr, one(Which::Psn(4), Some(1))], &Seed::of_run(1));
        let mut does = |expected| injector.does((Time::ZERO, 0), 7, (DATA, 4), expected);
        assert_eq!([false, true, false].map(&mut does), [Some(Injected::Drop), Some(tamper), None]);
    }

    #[test]
    fn frames_of_another_kind_or_connection_pass_and_are_not_counted() {
        let mut injector = Injector::new(&[one(Which::Nth(1), None)], &Seed::of_run(1));
        let at = (Time::ZERO, 0);
        assert_eq!(injector.does(at, 7, (RoceKind::Ack, 0), false), None);
        assert_eq!(injector.does(at, 6, (DATA, 0), true), None);
        assert_eq!(injector.does(at, 7, (DATA, 9), true), Some(Injected::Drop));
        let touched = injector.touched();
        assert_eq!(touched.len(), 1);
        assert_eq!((touched[0].injection, touched[0].what), (Some(0), Injected::Drop));
    }
}
