//! What a case does to frames between two NICs, told frame by frame.

use rig_capture::Touched;
use rig_testcases::{Injected, Injection, RoceKind, Target, Which};
use rig_units::Time;
use std::collections::BTreeMap;

/// What is done to the frames of one connection. Numbers count from its first packet.
#[derive(Debug)]
pub(super) struct Injector {
    armed: Vec<Armed>,
    /// How often each packet with payload has passed.
    passed: BTreeMap<u32, u32>,
    touched: Vec<Touched>,
}

/// An injection, and how many of its frames have passed.
#[derive(Debug)]
struct Armed {
    injection: Injection<u16>,
    seen: u32,
}

impl Injector {
    /// All that is done on the way, in the order of the script.
    pub(super) fn new(all: &[Injection<u16>]) -> Injector {
        let armed = all.iter().map(|one| Armed { injection: one.clone(), seen: 0 });
        Injector { armed: armed.collect(), passed: BTreeMap::new(), touched: Vec::new() }
    }

    /// What is done to a frame of `connection` that arrived at `port`; the first thing, where there are several.
    pub(super) fn does(
        &mut self,
        (at, port): (Time, u16),
        connection: u16,
        kind: RoceKind,
        number: u32,
    ) -> Option<Injected> {
        let target = target(kind);
        let mut round = 1;
        if target == Target::Data {
            let passed = self.passed.entry(number).or_default();
            *passed += 1;
            round = *passed;
        }
        let mut done = None;
        for (index, Armed { injection, seen }) in (0_u16..).zip(&mut self.armed) {
            if (injection.on, injection.frames) != (connection, target) {
                continue;
            }
            *seen += 1;
            let hit = match injection.which {
                Which::Psn(wanted) => wanted == number,
                Which::Nth(nth) => nth == *seen,
                Which::Every { every, run } => (*seen - 1) % every >= every - run,
                Which::During { lasting, every } => at.elapsed() % every < lasting,
            };
            if hit && injection.iteration.is_none_or(|wanted| wanted == round) {
                done = done.or(Some((index, injection.tamper)));
            }
        }
        let (index, what) = done?;
        self.touched.push(Touched { at, port, injection: Some(index), what });
        Some(what)
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
        RoceKind::Nak | RoceKind::NotReady(_) => Target::Nak,
        RoceKind::Cnp { .. } => Target::Cnp,
        RoceKind::ReadRequest => Target::ReadRequest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_units::Dur;

    const DATA: RoceKind = RoceKind::Data { first: false, last: false, response: false };

    fn one(which: Which, iteration: Option<u32>) -> Injection<u16> {
        Injection { on: 7, frames: Target::Data, which, iteration, tamper: Injected::Drop }
    }

    /// The places at which something is done to packets of these numbers.
    fn hits(which: Which, iteration: Option<u32>, numbers: &[u32]) -> Vec<usize> {
        let mut injector = Injector::new(&[one(which, iteration)]);
        let mut at = Time::ZERO;
        let mut hit = |number: &u32| {
            at += Dur::us(1);
            injector.does((at, 0), 7, DATA, *number).is_some()
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
    fn frames_of_another_kind_or_connection_pass_and_are_not_counted() {
        let mut injector = Injector::new(&[one(Which::Nth(1), None)]);
        let at = (Time::ZERO, 0);
        assert_eq!(injector.does(at, 7, RoceKind::Ack, 0), None);
        assert_eq!(injector.does(at, 6, DATA, 0), None);
        assert_eq!(injector.does(at, 7, DATA, 9), Some(Injected::Drop));
        let touched = injector.touched();
        assert_eq!(touched.len(), 1);
        assert_eq!((touched[0].injection, touched[0].what), (Some(0), Injected::Drop));
    }
}
