//! CNPs against the marks that they answer.
//!
//! Marks that are answered follow from one another, and stamps blur both: so what is known after each CNP is the set of marks
//! that it may be the answer to. Where nobody could say which mark it was, all are kept; a fault is what no choice explains.
//! What follows a fault is judged from what the device did, not from what it should have done.

mod scoped;
#[cfg(test)]
mod tests;

use crate::spec::nic::np::Mark;
use rig_capture::Span;
use rig_lab::Np;
use rig_units::{Apart, Dur, Time};
use scoped::Scoped;
use std::collections::BTreeMap;

/// A congestion notification that the device sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cnp {
    /// When its first bit left.
    pub at: Time,
    /// The queue pair that it names, numbered as those of marks.
    pub qp: u16,
}

/// How well the wire was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sight {
    /// How far each stamp may be off, either way.
    pub bound: Dur,
    /// How long the port may keep a CNP that is ready from leaving.
    pub busy: Dur,
    /// The end of what was seen: a CNP that would leave later is not missed.
    pub until: Time,
    /// How far the clock that the interval is counted by may be from that of the stamps.
    pub apart: Apart,
}

/// A departure from the rule, with the marks and CNPs that show it, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// No CNP for a mark that had to be answered.
    Missing {
        /// The mark.
        mark: usize,
    },
    /// A mark was answered within the interval of another.
    TooSoon {
        /// The one answered before.
        before: usize,
        /// The one that should not have been.
        mark: usize,
        /// Its CNP.
        cnp: usize,
    },
    /// A CNP that answers no mark.
    Unasked {
        /// The CNP.
        cnp: usize,
    },
    /// A CNP for a mark of another queue pair.
    WrongQp {
        /// The mark.
        mark: usize,
        /// Its CNP.
        cnp: usize,
    },
    /// A CNP that left later than the port explains.
    Late {
        /// The mark.
        mark: usize,
        /// Its CNP.
        cnp: usize,
    },
    /// A CNP that left before it could have been ready.
    Early {
        /// The mark.
        mark: usize,
        /// Its CNP.
        cnp: usize,
    },
}

impl Fault {
    /// What is wrong, in words.
    pub const fn told(self) -> &'static str {
        match self {
            Fault::Missing { .. } => "no CNP for a mark",
            Fault::TooSoon { .. } => "a CNP within the interval",
            Fault::Unasked { .. } => "a CNP without a mark",
            Fault::WrongQp { .. } => "a CNP for another queue pair",
            Fault::Late { .. } => "a CNP too late",
            Fault::Early { .. } => "a CNP too early",
        }
    }

    /// The marks that show it, and the CNP, by index.
    pub fn shown_by(self) -> (Vec<usize>, Option<usize>) {
        match self {
            Fault::Missing { mark } => (vec![mark], None),
            Fault::TooSoon { before, mark, cnp } => (vec![before, mark], Some(cnp)),
            Fault::Unasked { cnp } => (Vec::new(), Some(cnp)),
            Fault::WrongQp { mark, cnp }
            | Fault::Late { mark, cnp }
            | Fault::Early { mark, cnp } => (vec![mark], Some(cnp)),
        }
    }
}

/// How long a CNP took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Latency {
    /// The CNP, by index.
    pub cnp: usize,
    /// The first and the last of the marks that it may answer, by index.
    pub marks: [usize; 2],
    /// Picoseconds from any of them.
    pub span: Span,
}

/// What CNPs come to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checked {
    /// All departures.
    pub faults: Vec<Fault>,
    /// From the instant at which a mark counts to its CNP, for every CNP that has one, in picoseconds.
    pub latencies: Vec<Latency>,
    /// The least time between two marks of one scope that were both answered, in picoseconds; `None`: no scope had two.
    pub interval: Option<Span>,
}

impl Checked {
    /// The least and the greatest latency; `None`: no mark was answered.
    pub fn latency(&self) -> Option<Span> {
        let all = self.latencies.iter().map(|one| one.span);
        all.reduce(|a, b| Span { lo: a.lo.min(b.lo), hi: a.hi.max(b.hi) })
    }

    fn keep_least(&mut self, span: Span) {
        let least = |one: Span| Span { lo: one.lo.min(span.lo), hi: one.hi.min(span.hi) };
        self.interval = Some(self.interval.map_or(span, least));
    }
}

/// Checks the CNPs that a port sent, in the order in which they left, against all its marks, in the order of their arrival.
pub fn check(np: &Np, marks: &[Mark], cnps: &[Cnp], sight: &Sight) -> Checked {
    let mut checked = Checked::default();
    // Who a queue pair belongs to shows in its marks; one that has none cannot have earned a CNP.
    let scope_of: BTreeMap<u16, u16> =
        marks.iter().map(|mark| (mark.qp, mark.scoped(np.scope))).collect();
    let mut scopes: BTreeMap<u16, Scoped<'_>> = BTreeMap::new();
    for (index, mark) in marks.iter().enumerate().filter(|_| np.enable) {
        let scoped = || Scoped::new(np, sight);
        scopes.entry(mark.scoped(np.scope)).or_insert_with(scoped).marks.push((index, *mark));
    }
    for (index, cnp) in cnps.iter().enumerate() {
        match scope_of.get(&cnp.qp).and_then(|scope| scopes.get_mut(scope)) {
            Some(scoped) => scoped.cnps.push((index, *cnp)),
            None => checked.faults.push(Fault::Unasked { cnp: index }),
        }
    }
    for scoped in scopes.values() {
        scoped.check(&mut checked);
    }
    if np.enable {
        rename(np, marks, cnps, sight, &mut checked.faults);
    }
    checked.faults.sort_unstable();
    checked
}

/// One that is missing and one that nobody asked for, at the right time, are one that names another queue pair.
fn rename(np: &Np, marks: &[Mark], cnps: &[Cnp], sight: &Sight, faults: &mut Vec<Fault>) {
    let missing: Vec<usize> = faults
        .iter()
        .filter_map(|fault| if let Fault::Missing { mark } = fault { Some(*mark) } else { None })
        .collect();
    for mark in missing {
        let fits = |fault: &Fault| matches!(fault, Fault::Unasked { cnp } if scoped::on_time(np, sight, marks[mark].at, cnps[*cnp].at));
        let Some(at) = faults.iter().position(fits) else { continue };
        if let Fault::Unasked { cnp } = faults.remove(at) {
            faults.retain(|fault| *fault != Fault::Missing { mark });
            faults.push(Fault::WrongQp { mark, cnp });
        }
    }
}
