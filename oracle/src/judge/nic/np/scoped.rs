//! The marks and CNPs of one scope.

use super::{Checked, Cnp, Fault, Latency, Sight};
use crate::spec::nic::Ready;
use crate::spec::nic::np::Mark;
use rig_capture::Span;
use rig_lab::Np;
use rig_units::{Dur, Time};
use std::collections::BTreeSet;

/// What belongs to one scope, each with its index among all.
#[derive(Debug)]
pub(super) struct Scoped<'a> {
    np: &'a Np,
    sight: &'a Sight,
    pub(super) marks: Vec<(usize, Mark)>,
    pub(super) cnps: Vec<(usize, Cnp)>,
}

/// The marks, by their place within the scope, that the CNP before may have answered. `None` among them: none yet.
type Last = BTreeSet<Option<usize>>;

/// Whether a CNP leaves when that of a mark at `mark` may.
pub(super) fn on_time(np: &Np, sight: &Sight, mark: Time, cnp: Time) -> bool {
    let (ready, blur) = (Ready::after(mark, np.latency), sight.bound * 2);
    cnp + blur >= ready.from && cnp <= ready.by + sight.busy + blur
}

impl<'a> Scoped<'a> {
    pub(super) fn new(np: &'a Np, sight: &'a Sight) -> Scoped<'a> {
        Scoped { np, sight, marks: Vec::new(), cnps: Vec::new() }
    }

    fn at(&self, place: usize) -> Time {
        self.marks[place].1.at
    }

    fn blur(&self) -> Dur {
        self.sight.bound * 2
    }

    /// How long after the last answered one a mark came, by the stamps; 0 where they contradict the order.
    fn apart(&self, last: usize, place: usize) -> Dur {
        self.at(place).since(self.at(last)).unwrap_or(Dur::ZERO)
    }

    /// Whether the mark at `place` lies surely within the interval.
    fn is_shut(&self, last: Option<usize>, place: usize) -> bool {
        let shut = self.sight.apart.least(self.np.interval);
        last.is_some_and(|last| self.apart(last, place) + self.blur() < shut)
    }

    /// Whether it surely does not.
    fn is_open(&self, last: Option<usize>, place: usize) -> bool {
        let surely = |last| self.apart(last, place).saturating_sub(self.blur());
        let open = self.sight.apart.most(self.np.interval);
        last.is_none_or(|last| surely(last) >= open)
    }

    /// The first mark that has to be answered after `last`.
    fn due(&self, last: Option<usize>) -> Option<usize> {
        let first = last.map_or(0, |last| last + 1);
        (first..self.marks.len()).find(|&place| self.is_open(last, place))
    }

    /// The marks that may be the next to be answered.
    fn next(&self, last: &Last) -> BTreeSet<usize> {
        let mut all = BTreeSet::new();
        for &last in last {
            let first = last.map_or(0, |last| last + 1);
            let end = self.due(last).map_or(self.marks.len(), |due| due + 1);
            all.extend((first..end).filter(|&place| !self.is_shut(last, place)));
        }
        all
    }

    fn fits(&self, place: usize, cnp: &Cnp) -> bool {
        let mark = &self.marks[place].1;
        mark.qp == cnp.qp && on_time(self.np, self.sight, mark.at, cnp.at)
    }

    /// Judges all CNPs of the scope, and what should have been.
    pub(super) fn check(&self, checked: &mut Checked) {
        let mut last = Last::from([None]);
        for (order, (index, cnp)) in self.cnps.iter().enumerate() {
            let next = self.next(&last);
            let fit: BTreeSet<usize> =
                next.iter().copied().filter(|&place| self.fits(place, cnp)).collect();
            let found = if fit.is_empty() {
                self.amiss(&last, &next, order, &mut checked.faults)
            } else {
                fit
            };
            let (Some(&first), Some(&latest)) = (found.first(), found.last()) else { continue };
            let blur = self.blur().0;
            let (lo, hi) = (self.at(first).0, self.at(latest).0);
            let latency = Span {
                lo: cnp.at.0.saturating_sub(hi + blur),
                hi: (cnp.at.0 + blur).saturating_sub(lo),
            };
            let marks = [self.marks[first].0, self.marks[latest].0];
            checked.latencies.push(Latency { cnp: *index, marks, span: latency });
            if let (Some(Some(before)), Some(Some(after))) = (last.first(), last.last()) {
                let (before, after) = (self.at(*before).0, self.at(*after).0);
                let lo = lo.saturating_sub(after + blur);
                checked.keep_least(Span { lo, hi: (hi + blur).saturating_sub(before) });
            }
            last = found.into_iter().map(Some).collect();
        }
        self.missing(&last, self.marks.len(), &mut checked.faults);
    }

    /// Says what is wrong with a CNP that no mark explains that may be next. The marks that it answers all the same.
    fn amiss(
        &self,
        last: &Last,
        next: &BTreeSet<usize>,
        order: usize,
        faults: &mut Vec<Fault>,
    ) -> BTreeSet<usize> {
        let (index, cnp) = &self.cnps[order];
        let came = |&place: &usize| self.at(place) <= cnp.at + self.blur() * 2;
        let after = last.first().copied().flatten().map_or(0, |last| last + 1);
        let fit: BTreeSet<usize> = (after..self.marks.len())
            .take_while(came)
            .filter(|&place| self.fits(place, cnp))
            .collect();
        let open = |place: &usize| last.iter().any(|&last| !self.is_shut(last, *place));
        let skipping: BTreeSet<usize> = fit.iter().copied().filter(open).collect();
        if let Some(&first) = skipping.first() {
            self.missing(last, first, faults);
            return skipping;
        }
        if let (Some(&place), Some(&Some(before))) = (fit.last(), last.first()) {
            let (before, mark) = (self.marks[before].0, self.marks[place].0);
            faults.push(Fault::TooSoon { before, mark, cnp: *index });
            return fit;
        }
        let due = next.iter().copied().rfind(|&place| {
            let mark = &self.marks[place].1;
            mark.qp == cnp.qp && mark.at <= cnp.at + self.blur()
        });
        // A mark that has a CNP of its own does not explain this one.
        let own =
            |place: usize| self.cnps[order + 1..].iter().any(|(_, cnp)| self.fits(place, cnp));
        let Some(place) = due.filter(|&place| !own(place)) else {
            faults.push(Fault::Unasked { cnp: *index });
            return BTreeSet::new();
        };
        let (mark, cnp_index) = (self.marks[place].0, *index);
        faults.push(if cnp.at < self.at(place) + self.np.latency.least() {
            Fault::Early { mark, cnp: cnp_index }
        } else {
            Fault::Late { mark, cnp: cnp_index }
        });
        BTreeSet::from([place])
    }

    /// The marks before the one at `end` that should have been answered, had each before been.
    fn missing(&self, last: &Last, end: usize, faults: &mut Vec<Fault>) {
        let seen = |place: usize| {
            self.at(place) + self.np.latency.most() + self.sight.busy + self.blur()
                <= self.sight.until
        };
        let mut from = last.last().copied().flatten();
        while let Some(place) = self.due(from).filter(|&place| place < end && seen(place)) {
            faults.push(Fault::Missing { mark: self.marks[place].0 });
            from = Some(place);
        }
    }
}
