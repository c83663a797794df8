//! What a host says of its requests against what the wire shows of them, and its histograms against what it says.

use crate::spec::nic::completions::{Teller, bucket, window};
use core::fmt;
use rig_capture::{CompletionStatus, HostCompletion, HostHistogram, LATENCY_BUCKETS, Operation};
use rig_units::{Dur, Time};
use std::collections::BTreeMap;

/// A message as the wire shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireMessage {
    /// When its first packet began to leave for the first time.
    pub began: Option<Time>,
    /// When what ends it was at the NIC.
    pub through: Option<Time>,
}

/// How well that was seen, and what was wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watch {
    /// How far two instants may be off against each other.
    pub blur: Dur,
    /// When the flow was begun.
    pub start: Time,
    /// What is polled later than this nobody hears of.
    pub until: Time,
    /// How the message ends with which the connection does.
    pub given_up: CompletionStatus,
}

/// Something that a host tells wrongly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Untrue {
    /// A message that is not told in its turn.
    OutOfTurn,
    /// One that is over and of which nothing is told.
    Untold,
    /// It was posted at another time than the host had room for it.
    Posted(Time, Time),
    /// It was posted after it left.
    PostedLate(Time, Time),
    /// It is complete before what ends it came, if that ever did.
    TooSoon(Time, Option<Time>),
    /// It is complete later than it may be.
    TooLate(Time, Time),
    /// It is not said when it was polled.
    Unpolled,
    /// It was polled before it was complete.
    PolledSoon(Time, Time),
    /// It was polled later than the host looks.
    PolledLate(Time, Time),
    /// It ended otherwise.
    Ended(CompletionStatus, CompletionStatus),
}

impl fmt::Display for Untrue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Untrue::OutOfTurn => write!(f, "told out of its turn"),
            Untrue::Untold => write!(f, "over, and no completion of it is polled"),
            Untrue::Posted(told, room) => {
                write!(f, "posted (T1) at {told}, where there was room for it from {room} on")
            }
            Untrue::PostedLate(told, left) => {
                write!(f, "posted (T1) at {told}, after it began to leave at {left}")
            }
            Untrue::TooSoon(told, Some(came)) => {
                write!(f, "complete (T5) at {told}, before what acknowledges it came at {came}")
            }
            Untrue::TooSoon(told, None) => {
                write!(f, "complete (T5) at {told}, and nothing ever acknowledged it")
            }
            Untrue::TooLate(told, by) => {
                write!(f, "complete (T5) at {told}, where it had to be by {by}")
            }
            Untrue::Unpolled => write!(f, "complete, and not told when that was polled (T6)"),
            Untrue::PolledSoon(told, complete) => {
                write!(f, "polled (T6) at {told}, before it was complete (T5) at {complete}")
            }
            Untrue::PolledLate(told, by) => {
                write!(f, "polled (T6) at {told}, where the host looks by {by}")
            }
            Untrue::Ended(told, want) => {
                write!(
                    f,
                    "told as ended by \"{}\" where it ended by \"{}\"",
                    told.words(),
                    want.words()
                )
            }
        }
    }
}

/// The messages of which something untrue is told, each with the first that is, in their order.
pub fn untrue(
    shown: &[WireMessage],
    told: &[HostCompletion],
    teller: &Teller,
    watch: &Watch,
) -> Vec<(u64, Untrue)> {
    let mut all = Vec::new();
    for (nth, one) in (0..).zip(told) {
        if one.message != nth {
            all.push((one.message, Untrue::OutOfTurn));
            return all;
        }
        let before = nth.checked_sub(teller.depth).and_then(|before| usize::try_from(before).ok());
        let room = match before {
            None => Some(watch.start),
            Some(before) => told.get(before).and_then(|before| before.polled),
        };
        let seen = usize::try_from(nth).ok().and_then(|at| shown.get(at)).copied();
        let seen = seen.unwrap_or(WireMessage { began: None, through: None });
        let first_lost = told.iter().position(|one| one.status != CompletionStatus::Success);
        let is_first_lost = first_lost.is_some_and(|at| u64::try_from(at).ok() == Some(nth));
        all.extend(
            of_one(one, seen, (room, is_first_lost), (teller, watch)).map(|fault| (nth, fault)),
        );
    }
    let due = teller.off + teller.latency.most() + teller.poll + watch.blur;
    let untold = (0..)
        .zip(shown)
        .skip(told.len())
        .find(|(_, one)| one.through.is_some_and(|through| through + due < watch.until));
    all.extend(untold.map(|(nth, _)| (nth, Untrue::Untold)));
    all
}

fn of_one(
    one: &HostCompletion,
    seen: WireMessage,
    (room, is_first_lost): (Option<Time>, bool),
    (teller, watch): (&Teller, &Watch),
) -> Option<Untrue> {
    let HostCompletion { status, posted, completed, polled, .. } = *one;
    let (off, blur) = (teller.off, watch.blur);
    if let Some(room) = room
        && (posted + blur < room || posted > room + blur)
    {
        return Some(Untrue::Posted(posted, room));
    }
    if let Some(left) = seen.began.filter(|left| posted > *left + blur) {
        return Some(Untrue::PostedLate(posted, left));
    }
    let want = match (seen.through, is_first_lost) {
        (Some(_), _) => CompletionStatus::Success,
        (None, true) => watch.given_up,
        (None, false) => CompletionStatus::Flushed,
    };
    match seen.through {
        None if status == CompletionStatus::Success => {
            return Some(Untrue::TooSoon(completed, None));
        }
        _ if status != want => return Some(Untrue::Ended(status, want)),
        None => {}
        Some(came) => {
            if completed + off + blur < came + teller.latency.least() {
                return Some(Untrue::TooSoon(completed, Some(came)));
            }
            let by = came + teller.latency.most() + off + blur;
            if completed > by {
                return Some(Untrue::TooLate(completed, by));
            }
        }
    }
    let Some(polled) = polled else { return Some(Untrue::Unpolled) };
    if polled + off < completed {
        return Some(Untrue::PolledSoon(polled, completed));
    }
    let by = completed + teller.poll + off;
    (polled > by).then_some(Untrue::PolledLate(polled, by))
}

/// What one histogram should hold.
type Counts = BTreeMap<(Operation, CompletionStatus, u64), [[u64; LATENCY_BUCKETS]; 2]>;

/// The first histogram of a connection that does not count what its host tells, in words. `origin`: when the trial began, on the clock of the session.
pub fn miscounted(
    operation: Operation,
    told: &[HostCompletion],
    histograms: &[HostHistogram],
    (teller, origin): (&Teller, Time),
) -> Option<String> {
    let mut want = Counts::new();
    for one in told {
        let Some(polled) = one.polled else { continue };
        let nth = window(origin + polled.elapsed(), teller.window);
        let counts = want.entry((operation, one.status, nth)).or_default();
        for (counts, until) in counts.iter_mut().zip([one.completed, polled]) {
            counts[bucket(until.since(one.posted).unwrap_or_default())] += 1;
        }
    }
    let mut got = Counts::new();
    for one in histograms {
        let counts = got.entry((one.operation, one.status, one.window)).or_default();
        for (counts, more) in counts.iter_mut().zip([one.to_completed, one.to_polled]) {
            counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
        }
    }
    let keys: std::collections::BTreeSet<_> = want.keys().chain(got.keys()).copied().collect();
    let none = [[0; LATENCY_BUCKETS]; 2];
    keys.into_iter().find_map(|key| {
        let [want, got] = [&want, &got].map(|of| of.get(&key).copied().unwrap_or(none));
        let at = (0..2).find(|at| want[*at] != got[*at])?;
        let name = ["T5 - T1", "T6 - T1"][at];
        let (operation, status, nth) = key;
        let show = |counts: [u64; LATENCY_BUCKETS]| {
            let some = counts.iter().zip(0_u32..).filter(|(count, _)| **count > 0);
            let some: Vec<String> = some
                .map(|(count, bucket)| match usize::try_from(bucket) {
                    Ok(last) if last + 1 == LATENCY_BUCKETS => format!("{count} beyond"),
                    _ => format!("{count} below {}us", 1_u64 << bucket),
                })
                .collect();
            if some.is_empty() { "nothing".to_owned() } else { some.join(", ") }
        };
        Some(format!(
            "the histogram of {name} for {operation:?}, \"{}\", window {nth} counts {}, and what was told of them is {}",
            status.words(),
            show(got[at]),
            show(want[at])
        ))
    })
}
