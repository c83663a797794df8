//! Whether messages of a queue pair wait for one another, as the wire shows it.

use rig_units::{Dur, Time};

/// A message as it left for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// When its first packet began to leave.
    pub began: Time,
    /// When its last one had left.
    pub ended: Time,
    /// When the sender had an acknowledgement of all of it; `None` where none came.
    pub acknowledged: Option<Time>,
    /// The record of its first packet.
    pub record: usize,
}

/// What the beginning of a message shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Start {
    /// It did not wait for the acknowledgement of the one before it.
    Free,
    /// It did, at a port that had nothing else to send: from the end of the one before it on, for so long.
    Waited(Dur),
    /// It may have waited, or not.
    Open,
}

/// What each message but the first shows, in their order. `others`: when what else leaves the port begins to, in order; `blur`: how far two instants may be off
/// against each other; `busy`: for how long a port may keep a frame from leaving.
pub fn starts(messages: &[Message], others: &[Time], (blur, busy): (Dur, Dur)) -> Vec<Start> {
    let start = |two: &[Message]| {
        let (before, next) = (&two[0], &two[1]);
        let Some(acknowledged) = before.acknowledged else { return Start::Open };
        if next.began + blur < acknowledged {
            return Start::Free;
        }
        let Some(idle) = next.began.since(before.ended) else { return Start::Open };
        let first = others.partition_point(|at| *at < before.ended);
        let is_alone = others.get(first).is_none_or(|at| *at >= next.began);
        if idle > busy + blur && is_alone { Start::Waited(idle) } else { Start::Open }
    };
    messages.windows(2).map(start).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of 10 that begin at these instants and are acknowledged at those.
    fn messages(all: &[(u64, u64)]) -> Vec<Message> {
        let one = |(record, &(began, acknowledged)): (usize, &(u64, u64))| Message {
            began: Time(began),
            ended: Time(began + 10),
            acknowledged: (acknowledged > 0).then_some(Time(acknowledged)),
            record,
        };
        all.iter().enumerate().map(one).collect()
    }

    #[test]
    fn who_begins_before_the_acknowledgement_is_free_and_who_begins_after_it_waited() {
        let shown = |second: u64, others: &[u64]| {
            let others: Vec<Time> = others.iter().map(|at| Time(*at)).collect();
            starts(&messages(&[(0, 50), (second, 0)]), &others, (Dur(2), Dur(3)))[0]
        };
        assert_eq!(
            (shown(10, &[]), shown(47, &[]), shown(48, &[])),
            (Start::Free, Start::Free, Start::Waited(Dur(38)))
        );
        // What else the port sent may have been what it waited for; what it sent before or after was not.
        assert_eq!(shown(50, &[30]), Start::Open);
        assert_eq!(shown(50, &[5, 50]), Start::Waited(Dur(40)));
    }

    #[test]
    fn an_acknowledgement_that_comes_at_once_or_never_tells_nothing() {
        let all = messages(&[(0, 12), (14, 0), (60, 90)]);
        assert_eq!(starts(&all, &[], (Dur(2), Dur(3))), [Start::Open, Start::Open]);
    }
}
