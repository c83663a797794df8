//! When a NIC's own watchdog stopped it from asking: by the XOFFs that it sent before, for it says nothing when it does.
//!
//! Its timer runs from the first XOFF until the class has been down to XON. Of a class that surely stayed over its threshold the last XOFF was before
//! it ran out, and the next, which did not come, would have been after.

use super::{Lag, Promise, Spoken, Stretches, apart};
use rig_units::{Dur, Time};

impl Promise {
    /// For how long it asked in the stretch from `from` to `end`, in which the class surely was over its threshold: where it stopped, or asked for longer than
    /// it may. Nothing where it may have asked before, or where the stretch is over too soon to tell.
    pub(super) fn stops(
        &self,
        (from, end): (Time, Time),
        of: &Stretches,
        words: &[Spoken],
    ) -> Option<Lag> {
        let watchdog = self.watchdog?;
        let inside = self.inside((from, end), words);
        let last = inside.last()?;
        let first = self.began(inside, of, words)?;
        if !inside.iter().all(Spoken::is_xoff) {
            return None;
        }
        let next = self.refresh.most() + self.margin();
        // One that never asks again while it is full shows no watchdog.
        if first.at == last.at && watchdog.least() > next {
            return None;
        }
        let asked = apart(first.at, last.at);
        let (least, record) = (asked.saturating_sub(self.margin()), Some(last.record));
        if last.at + next < end {
            return Some(Lag { least, most: asked + next, record });
        }
        // How much longer it asks nobody sees.
        let most = Dur(u64::MAX);
        (least > watchdog.most()).then_some(Lag { least, most, record })
    }

    /// The XOFF from which on its timer has run at the first of `inside`, where that is certain: that one, or one before without XON since then and too little time
    /// for a watchdog to have stopped it.
    fn began<'w>(
        &self,
        inside: &'w [Spoken],
        of: &Stretches,
        words: &'w [Spoken],
    ) -> Option<&'w Spoken> {
        let first = inside.first()?;
        if self.was_relieved(first, words, of) {
            return Some(first);
        }
        let before = &words[..words.partition_point(|word| word.at < first.at)];
        let xon = before.iter().rposition(|word| !word.is_xoff());
        let Some(since) = before[xon.map_or(0, |xon| xon + 1)..].first() else {
            return Some(first);
        };
        let asked = apart(since.at, first.at) + self.slack() + self.margin();
        (asked < self.watchdog?.least()).then_some(since)
    }

    /// How far off what lies between two XOFFs may be.
    pub fn margin(&self) -> Dur {
        self.turn + self.blur * 2
    }

    /// Whether no watchdog can have stopped it by `at`.
    pub(super) fn asks(&self, at: Time, words: &[Spoken]) -> bool {
        let Some(watchdog) = self.watchdog else { return true };
        let before = &words[..words.partition_point(|word| word.at < at)];
        let last = before.iter().rposition(|word| !word.is_xoff());
        let since = before[last.map_or(0, |last| last + 1)..].first();
        since.is_some_and(|since| at + self.slack() + self.margin() < since.at + watchdog.least())
    }

    /// Whether the first of `inside` is the first XOFF ever, or behind an XON.
    pub(super) fn is_first(&self, words: &[Spoken], inside: &[Spoken]) -> bool {
        let Some(first) = inside.first() else { return false };
        let before = words.partition_point(|word| word.at < first.at);
        before.checked_sub(1).is_none_or(|before| !words[before].is_xoff())
    }

    /// Whether the class surely was down to XON between the word before `first` and that.
    fn was_relieved(&self, first: &Spoken, words: &[Spoken], of: &Stretches) -> bool {
        let before = words.partition_point(|word| word.at < first.at);
        let Some(before) = before.checked_sub(1).map(|before| words[before].at) else {
            return true;
        };
        let enough = |from: Time, until: Time| from + self.slack() < until;
        let mut relieved = of.relieved.iter().take_while(|one| one.from < first.at);
        relieved.any(|one| enough(one.from.max(before), one.until.min(first.at)))
    }
}
