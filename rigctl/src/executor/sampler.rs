//! Reads some of the device's counters now and then during a trial, for its page.

use rig_capture::Samples;
use rig_dut::Control;
use rig_units::{Dur, Time};

/// So many readings are spread over a trial, besides one after each step of its script; whole microseconds apart.
const READINGS: u64 = 96;

/// The readings of one trial.
#[derive(Debug)]
pub struct Sampler {
    names: Vec<String>,
    /// Per name: the first value, and each that differed from the one before.
    steps: Vec<Vec<(Time, u64)>>,
    every: Dur,
    due: Dur,
}

impl Sampler {
    /// Is to read `names` during a trial of `length`; without names it reads nothing.
    pub fn new(names: &[String], length: Dur) -> Sampler {
        Sampler {
            names: names.to_vec(),
            steps: vec![Vec::new(); names.len()],
            every: Dur(length.0.div_ceil(READINGS).max(1).next_multiple_of(1_000_000)),
            due: Dur::ZERO,
        }
    }

    /// When to read next, if that is before `until`.
    pub fn due_before(&self, until: Dur) -> Option<Dur> {
        (!self.names.is_empty() && self.due < until).then_some(self.due)
    }

    /// Reads at `at`, which is now.
    pub fn read(&mut self, at: Dur, dut: &mut dyn Control) {
        if self.names.is_empty() {
            return;
        }
        while self.due <= at {
            self.due += self.every;
        }
        // A device that does not answer shows no steps; what was asked of it besides says why.
        let read = dut.counters(&self.names).unwrap_or_default();
        for (steps, name) in self.steps.iter_mut().zip(&self.names) {
            let Some(&value) = read.values.get(name) else { continue };
            if steps.last().is_none_or(|&(_, last)| last != value) {
                steps.push((Time::ZERO + at, value));
            }
        }
    }

    /// What was read.
    pub fn finish(self) -> Samples {
        if self.names.is_empty() {
            return Samples::default();
        }
        let steps = self.names.into_iter().zip(self.steps);
        Samples { every: self.every, steps: steps.filter(|(_, steps)| !steps.is_empty()).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_dut::ControlError;
    use rig_dut::control::{Ability, Capabilities, Readings};
    use rig_lab::Declared;

    /// A device of two counters.
    #[derive(Debug)]
    struct Counting(u64);

    impl Control for Counting {
        fn name(&self) -> &'static str {
            "counting"
        }

        fn capabilities(&self) -> Capabilities {
            Capabilities { offered: &[Ability::Counters], verbs: &[], clock_bound: Dur::ZERO }
        }

        fn snapshot(&mut self) -> Result<Declared, ControlError> {
            unreachable!("a sampler never asks")
        }

        fn counters(&mut self, _: &[String]) -> Result<Readings, ControlError> {
            let values = [("moves".to_owned(), self.0), ("rests".to_owned(), 7)].into();
            Ok(Readings { values, ..Readings::default() })
        }
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn every_change_is_kept_with_the_time_of_its_reading() {
        let mut sampler = Sampler::new(&names(&["moves", "lacks", "rests"]), Dur::ms(96));
        for (ms, value) in [(0, 3), (1, 3), (2, 5), (3, 5), (4, 2)] {
            sampler.read(Dur::ms(ms), &mut Counting(value));
        }
        let at = |ms| Time::ZERO + Dur::ms(ms);
        let steps = vec![
            ("moves".to_owned(), vec![(at(0), 3), (at(2), 5), (at(4), 2)]),
            ("rests".to_owned(), vec![(at(0), 7)]),
        ];
        assert_eq!(sampler.finish(), Samples { every: Dur::ms(1), steps });
    }

    #[test]
    fn readings_are_spread_over_the_trial_and_a_step_replaces_the_next() {
        let mut sampler = Sampler::new(&names(&["moves"]), Dur::ms(96));
        let mut at = Vec::new();
        while let Some(due) = sampler.due_before(Dur::us(3_500)) {
            sampler.read(due, &mut Counting(0));
            at.push(due);
        }
        assert_eq!(at, [Dur::ZERO, Dur::ms(1), Dur::ms(2), Dur::ms(3)]);
        sampler.read(Dur::ms(4), &mut Counting(0));
        assert_eq!(sampler.due_before(Dur::ms(5)), None);
        assert_eq!(sampler.due_before(Dur::ms(6)), Some(Dur::ms(5)));
    }

    #[test]
    fn nothing_is_read_when_nobody_asks() {
        let mut sampler = Sampler::new(&[], Dur::ms(96));
        assert_eq!(sampler.due_before(Dur::s(1)), None);
        sampler.read(Dur::ZERO, &mut Counting(1));
        assert_eq!(sampler.finish(), Samples::default());
    }
}
