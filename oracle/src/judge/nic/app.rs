//! Whether a step of an application began when what it waits for was complete, and at all.

use crate::spec::nic::app::WaitsFor;
use rig_units::{Dur, Time};

/// What a message waits for, as its sender saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Awaits {
    /// Of which step.
    pub step: usize,
    /// Which of its messages, from 0.
    pub message: u32,
    /// By which rule it waits.
    pub why: WaitsFor,
    /// When it was complete; `None` where it never was.
    pub complete: Option<Time>,
}

/// A message of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepMessage {
    /// When its first packet left for the first time; `None` where it never did.
    pub began: Option<Time>,
    /// All that it waits for.
    pub awaits: Vec<Awaits>,
    /// How long its sender takes before it at least, and at most.
    pub thinks: (Dur, Dur),
}

/// What is wrong with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misstep {
    /// It began before something was complete: by so much, or at all.
    TooSoon(Awaits, Option<Dur>),
    /// It began when that was complete, and so soon behind it that its sender cannot have done what it does before.
    NoThought(Awaits, Dur),
    /// It never began, from that instant on.
    Never(Option<Awaits>, Time),
}

/// The messages of a step in their order, each with what is wrong with it if something is, up to the first that never began; and how many of them could be
/// judged. `blur`: how far two instants may be off against each other.
pub fn missteps(all: &[StepMessage], blur: Dur) -> (usize, Vec<(u32, Misstep)>) {
    let (mut looked, mut found) = (0, Vec::new());
    for (nth, one) in (0..).zip(all) {
        let Some(began) = one.began else {
            let complete: Option<Vec<Time>> = one.awaits.iter().map(|one| one.complete).collect();
            if let Some(complete) = complete {
                // What came last lets it go; of what is before it in its queue that says nothing.
                let queued = |one: &Awaits| one.why == WaitsFor::QueueBefore;
                let last =
                    one.awaits.iter().max_by_key(|one| (!queued(one), one.complete)).copied();
                let due = complete.into_iter().max().unwrap_or_default() + one.thinks.1;
                found.push((nth, Misstep::Never(last, due)));
            }
            break;
        };
        looked += 1;
        let judged = one.awaits.iter().find_map(|awaits| {
            let Some(complete) = awaits.complete else {
                return Some(Misstep::TooSoon(*awaits, None));
            };
            if began + blur < complete {
                return Some(Misstep::TooSoon(*awaits, complete.since(began)));
            }
            let thought = began.since(complete).unwrap_or_default();
            // What it waits for in its queue it is handed over with.
            let queued = matches!(awaits.why, WaitsFor::ChunkBefore | WaitsFor::QueueBefore);
            let thinks = !queued && thought + blur < one.thinks.0;
            thinks.then_some(Misstep::NoThought(*awaits, thought))
        });
        found.extend(judged.map(|wrong| (nth, wrong)));
    }
    (looked, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(began: Option<u64>, complete: Option<u64>) -> StepMessage {
        let complete = complete.map(Time);
        let awaits = vec![Awaits { step: 0, message: 0, why: WaitsFor::StepBefore, complete }];
        StepMessage { began: began.map(Time), awaits, thinks: (Dur(10), Dur(12)) }
    }

    #[test]
    fn a_message_begins_no_sooner_than_it_may_to_the_picosecond() {
        let of = |began, complete| missteps(&[sent(began, complete)], Dur(2)).1;
        assert_eq!(of(Some(108), Some(100)), []);
        assert!(matches!(of(Some(107), Some(100))[..], [(0, Misstep::NoThought(_, Dur(7)))]));
        assert!(matches!(of(Some(98), Some(100))[..], [(0, Misstep::NoThought(_, Dur(0)))]));
        assert!(matches!(of(Some(97), Some(100))[..], [(0, Misstep::TooSoon(_, Some(Dur(3))))]));
        assert!(matches!(of(Some(97), None)[..], [(0, Misstep::TooSoon(_, None))]));
    }

    #[test]
    fn of_what_never_began_the_first_is_wrong_where_nothing_is_missing_before_it() {
        let of = |all: &[StepMessage]| missteps(all, Dur(2));
        assert_eq!(of(&[sent(None, None), sent(None, Some(1))]), (0, vec![]));
        let all = [sent(Some(20), Some(1)), sent(None, Some(100)), sent(None, Some(200))];
        let (1, found) = of(&all) else { panic!("one began") };
        assert!(matches!(found[..], [(1, Misstep::Never(Some(_), Time(112)))]));
    }
}
