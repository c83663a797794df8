//! What the rig sent in the trials of a case, for its report: one entry a sender, over all trials that count.

use rig_capture::analyse;
use rig_generator::{Figures, Kept, Spread};
use rig_oracle::trials::trial::Trial;
use rig_reports::{Errors, Sending};

/// Every sender of a case, in the order in which they were first seen.
#[derive(Debug, Default)]
pub struct Sent {
    senders: Vec<(Sending, Option<Kept>)>,
}

impl Sent {
    /// Takes in a trial, and how each of its senders kept to the plan.
    pub fn add(&mut self, trial: &Trial, kept: Vec<(String, Kept)>) {
        if trial.void.is_some() {
            return;
        }
        for (index, stream) in (0..).zip(&trial.script.streams) {
            let of = analyse::sending(&trial.observation, &trial.script, index);
            let first = !self.has(&stream.name);
            let (sender, _) = self.sender(&stream.name);
            let sum = |sum: Option<u64>, more: Option<u64>| match (sum, more) {
                (None, more) if first => more,
                (sum, more) => Some(sum? + more?),
            };
            sender.planned_lo = sum(sender.planned_lo, of.planned.map(|planned| planned.lo));
            sender.planned_hi = sum(sender.planned_hi, of.planned.map(|planned| planned.hi));
            sender.sent += of.sent;
            sender.received = Some(sender.received.unwrap_or(0) + of.received);
            sender.recorded += of.recorded;
        }
        for (name, kept) in kept {
            let storm = trial.script.storms.iter().any(|storm| storm.name == name);
            let (sender, all) = self.sender(&name);
            if storm {
                // Every frame of a storm is recorded as it leaves.
                sender.sent += kept.lateness.count();
                sender.recorded += kept.lateness.count();
            }
            all.get_or_insert_default().merge(&kept);
        }
    }

    fn has(&self, name: &str) -> bool {
        self.senders.iter().any(|(sender, _)| sender.name == name)
    }

    fn sender(&mut self, name: &str) -> &mut (Sending, Option<Kept>) {
        let at = self.senders.iter().position(|(sender, _)| sender.name == name);
        let at = at.unwrap_or_else(|| {
            let sender = Sending {
                name: name.to_owned(),
                planned_lo: None,
                planned_hi: None,
                sent: 0,
                received: None,
                recorded: 0,
                gap_error: None,
                late_by: None,
            };
            self.senders.push((sender, None));
            self.senders.len() - 1
        });
        &mut self.senders[at]
    }

    /// For the report.
    pub fn report(self) -> Vec<Sending> {
        let with = |(sender, kept): (Sending, Option<Kept>)| Sending {
            gap_error: kept.as_ref().map(|kept| errors(&kept.gaps)),
            late_by: kept.as_ref().map(|kept| errors(&kept.lateness)),
            ..sender
        };
        self.senders.into_iter().map(with).collect()
    }
}

/// The figures of a histogram for a report.
pub fn errors(of: &Spread) -> Errors {
    let Figures { p50, p90, p99, p99_9, max, .. } = of.figures();
    Errors { p50: p50.0, p90: p90.0, p99: p99.0, p99_9: p99_9.0, max: max.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_capture::{Observation, StreamCount};
    use rig_oracle::trials::ask::Role;
    use rig_oracle::verdict::Doubt;
    use rig_testcases::{Action, Script, Step, StormSpec, StreamKind, StreamRate, StreamSpec, Tap};
    use rig_units::{Bytes, Dur, Time};

    /// A stream that runs for 10 ms, one frame every 100 us, of which so many were sent and received.
    fn trial(number: u32, sent: u64, received: u64) -> Trial {
        let stream = StreamSpec {
            name: "victim".into(),
            kind: StreamKind::Udp,
            size: Bytes(256),
            rate: StreamRate::Every(Dur::us(100)),
            ..StreamSpec::probe(0, 1)
        };
        let storm = StormSpec { name: "storm".into(), ..StormSpec::steady(1) };
        let script = Script {
            streams: vec![stream],
            storms: vec![storm],
            steps: vec![Step { at: Dur::ZERO, action: Action::StartStream(0) }],
            length: Dur::ms(10),
            ..Script::idle(2)
        };
        let streams = vec![StreamCount { sent, received, reordered: 0 }];
        let observation = Observation { streams, ..Observation::quiet(&script) };
        let script = script.into();
        Trial { number, point: 0, script, observation, role: Role::Planned, void: None }
    }

    fn kept(frames: u64) -> Kept {
        let mut kept = Kept::new();
        for n in 0..frames {
            let due = Time::ZERO + Dur::us(100) * n;
            kept.sent(due, due + Dur::us(2));
        }
        kept
    }

    #[test]
    fn the_trials_that_count_are_added_up_and_void_ones_left_out() {
        let mut sent = Sent::default();
        sent.add(&trial(1, 100, 98), vec![("victim".into(), kept(100))]);
        sent.add(&trial(2, 99, 99), vec![("victim".into(), kept(99)), ("storm".into(), kept(7))]);
        let void = Some(Doubt { reason: "late-send", detail: String::new() });
        sent.add(&Trial { void, ..trial(3, 5, 5) }, vec![("victim".into(), kept(5))]);
        let [victim, storm] = &sent.report()[..] else { panic!("two senders") };
        assert_eq!((victim.planned_lo, victim.planned_hi), (Some(198), Some(202)));
        assert_eq!((victim.sent, victim.received), (199, Some(197)));
        let late = victim.late_by.expect("it was timed").p50;
        assert!(late.abs_diff(Dur::us(2).0) < Dur::ns(5).0, "{late}");
        assert_eq!((storm.sent, storm.received, storm.planned_lo), (7, None, None));
    }

    #[test]
    fn one_trial_without_a_plan_leaves_the_sum_without_one() {
        let mut deaf = trial(2, 100, 100);
        std::sync::Arc::make_mut(&mut deaf.script).taps = vec![Tap::None];
        let mut sent = Sent::default();
        sent.add(&trial(1, 100, 100), Vec::new());
        sent.add(&deaf, Vec::new());
        sent.add(&trial(3, 100, 100), Vec::new());
        let victim = &sent.report()[0];
        assert_eq!((victim.sent, victim.planned_lo, victim.gap_error), (300, None, None));
    }
}
