//! PFC that a NIC sends, against what waits in its receive buffer: which words were called for, how soon each came, and what was missing.
//!
//! What waits is known between two bounds: instants are as far off as stamps are, and the host may be a little faster or slower than it
//! says. So there are stretches in which a NIC has surely more than XOFF allows, or has not yet fallen to XON; and others in which it
//! surely has not. Between them nobody is accused.

mod stopped;

use crate::spec::steps::Kept;
use rig_units::{Bytes, Dur, Time, Within};

/// How much of a priority has to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// More than this calls for XOFF.
    pub xoff: Kept,
    /// No more than this calls for XON.
    pub xon: Kept,
}

#[cfg(test)]
impl Thresholds {
    /// Those that are held to the byte.
    pub(super) const fn exactly(xoff: Bytes, xon: Bytes) -> Thresholds {
        Thresholds { xoff: Kept::exactly(xoff), xon: Kept::exactly(xon) }
    }
}

/// A frame in the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// When it was all there.
    pub at: Time,
    /// When the host has taken it: at the earliest, and at the latest.
    pub out: (Time, Time),
    /// How much of the buffer it takes.
    pub size: Bytes,
}

/// A word of PFC for the class, as it began to leave the NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spoken {
    /// Its place among the records.
    pub record: usize,
    /// When it did.
    pub at: Time,
    /// For how long it asks; for no time where it is XON.
    pub lasts: Dur,
}

impl Spoken {
    fn is_xoff(&self) -> bool {
        self.lasts > Dur::ZERO
    }

    /// Whether it holds the class at `at`.
    fn holds(&self, at: Time) -> bool {
        at < self.at + self.lasts
    }
}

/// From when until when something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// From when on.
    pub from: Time,
    /// Until when; it does not hold any more then.
    pub until: Time,
}

/// When a class is over its threshold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stretches {
    /// Where it surely is: more than XOFF allows waited, and has not fallen to XON.
    pub full: Vec<Stretch>,
    /// Where it surely is not: no more than XON allows waited, and has not risen above XOFF.
    pub relieved: Vec<Stretch>,
}

/// What a NIC is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Promise {
    /// From what calls for a word to the word.
    pub emission: Within,
    /// How long a frame of its own may keep the port meanwhile.
    pub turn: Dur,
    /// How far off an instant may be.
    pub blur: Dur,
    /// From an XOFF to the next, while the class stays over its threshold; as far as clocks are apart.
    pub refresh: Within,
    /// How long it asks before its watchdog stops it, as far as clocks are apart; `None` of one without.
    pub watchdog: Option<Within>,
    /// When nothing is seen any more.
    pub until: Time,
}

/// How long after its cause a word came: at least, and at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lag {
    /// At least.
    pub least: Dur,
    /// At most.
    pub most: Dur,
    /// The word; `None` where none came.
    pub record: Option<usize>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Account {
    /// XOFFs that found the class free.
    pub pauses: Vec<usize>,
    /// How many of them there must be at least.
    pub due: u64,
    /// Those of all XOFFs of which nothing could call for one.
    pub needless: Vec<usize>,
    /// How soon each XOFF came for which there is no doubt when it was due.
    pub xoffs: Vec<Lag>,
    /// The same of each XON.
    pub xons: Vec<Lag>,
    /// XONs while the class was surely over its threshold.
    pub early: Vec<usize>,
    /// From an XOFF to the next, while the class was over its threshold all the time.
    pub refreshes: Vec<Lag>,
    /// For how long it asked while the class was over its threshold all the time, of one with a watchdog: until it stopped, or longer than it may.
    pub stops: Vec<Lag>,
}

impl Account {
    /// The pauses that something may have called for.
    pub fn called_for(&self) -> impl Iterator<Item = usize> {
        self.pauses.iter().copied().filter(|pause| !self.needless.contains(pause))
    }
}

/// What waits after each step: the instant, and how much.
fn levels(held: &[Waiting], least: bool, blur: Dur) -> Vec<(Time, u64)> {
    let mut steps: Vec<(Time, bool, u64)> = Vec::with_capacity(held.len() * 2);
    for one in held {
        let (at, out) = match least {
            true => (one.at + blur, one.out.0.saturating_sub(blur)),
            false => (one.at.saturating_sub(blur), one.out.1 + blur),
        };
        // What is out before it surely came is of no account.
        if at < out {
            steps.push((at, false, one.size.0));
            steps.push((out, true, one.size.0));
        }
    }
    // Of two at one instant that goes first which bounds it.
    steps.sort_by_key(|&(at, leaves, _)| (at, leaves != least));
    let mut level = 0;
    let step = |(at, leaves, size)| {
        level = if leaves { level - size } else { level + size };
        (at, level)
    };
    steps.into_iter().map(step).collect()
}

/// Where the class is over its threshold until `end`. It was at some instant in each of `said`: the NIC said so, and is over it still where it has surely
/// not fallen to XON since.
pub fn stretches(
    held: &[Waiting],
    Thresholds { xoff, xon }: Thresholds,
    said: &[Stretch],
    blur: Dur,
    end: Time,
) -> Stretches {
    let mut of = Stretches::default();
    let (mut above, mut full): (Option<Time>, Option<Time>) = (None, None);
    let mut over = |above: Time, full: Option<Time>, until: Time| {
        let told = said.get(said.partition_point(|one| one.from < above));
        let told = told.map(|one| one.until).filter(|told| *told < until);
        let from = full.or(told);
        of.full.extend(from.map(|from| Stretch { from, until }));
    };
    for (at, level) in levels(held, true, blur) {
        if level > xon.most.0 {
            above = above.or(Some(at));
            full = full.or((level > xoff.most.0).then_some(at));
        } else if let Some(above) = above.take() {
            over(above, full.take(), at);
        }
    }
    if let Some(above) = above {
        over(above, full, end);
    }
    let mut since = Some(Time::ZERO);
    for (at, level) in levels(held, false, blur) {
        match since {
            Some(from) if level > xoff.least.0 => {
                of.relieved.push(Stretch { from, until: at });
                since = None;
            }
            None if level <= xon.least.0 => since = Some(at),
            _ => {}
        }
    }
    of.relieved.extend(since.map(|from| Stretch { from, until: end }));
    of
}

impl Promise {
    /// When what called for a word was.
    pub fn cause(&self, word: &Spoken) -> Stretch {
        let until = word.at.saturating_sub(self.emission.least()) + self.blur;
        Stretch { from: word.at.saturating_sub(self.slack()), until }
    }

    /// When the class was over its threshold, by the XOFFs that are no refreshes.
    pub fn said(&self, words: &[Spoken]) -> Vec<Stretch> {
        let first = words.first().into_iter();
        let behind = words.windows(2).filter(|two| !two[0].is_xoff()).map(|two| &two[1]);
        first.chain(behind).filter(|word| word.is_xoff()).map(|word| self.cause(word)).collect()
    }

    /// The latest a word may come after its cause.
    fn slack(&self) -> Dur {
        self.emission.most() + self.turn + self.blur
    }

    /// What `words` came to, in the order in which they left.
    pub fn account(&self, of: &Stretches, words: &[Spoken]) -> Account {
        let mut all = Account::default();
        let mut before: Option<&Spoken> = None;
        for word in words {
            let from = word.at.saturating_sub(self.slack());
            if !word.is_xoff() {
                all.early.extend(whole(&of.full, from, word.at).then_some(word.record));
            } else {
                let is_free = before.is_none_or(|before| !before.holds(word.at));
                all.pauses.extend(is_free.then_some(word.record));
                all.needless.extend(whole(&of.relieved, from, word.at).then_some(word.record));
            }
            before = Some(word);
        }
        let mut is_free = true;
        for (number, full) in of.full.iter().enumerate() {
            let end = full.until.min(self.until);
            let is_held = last(words, full.from.saturating_sub(self.blur))
                .is_some_and(|word| word.holds(full.from));
            if full.from + self.slack() < end {
                let relieved = of.relieved.partition_point(|one| one.from <= full.from);
                let relieved = relieved.checked_sub(1).map(|at| of.relieved[at].until);
                // Who was stopped by a watchdog asks for nothing until it surely was relieved.
                if !is_held && (self.watchdog.is_none() || is_free) {
                    let cause = (relieved.unwrap_or_default().min(full.from), full.from);
                    all.xoffs.push(self.reaction(cause, end, words, Spoken::is_xoff));
                }
                if self.watchdog.is_none() || is_free {
                    all.xoffs.extend(self.taken_back((full.from, end), words));
                }
                all.due += u64::from(is_free);
                is_free = false;
            }
            // Whether it surely said XON before it is full again.
            let again = of.full.get(number + 1).map_or(self.until, |next| next.from);
            let next = of.relieved.partition_point(|one| one.from < full.until);
            let next = of.relieved.get(next).filter(|one| one.from < again);
            is_free |= next.is_some_and(|one| one.from + self.slack() < one.until.min(self.until));
            all.refreshes.extend(self.refreshes(full.from, end, words));
            all.stops.extend(self.stops((full.from, end), of, words));
        }
        for relieved in of.relieved.iter().filter(|one| one.from > Time::ZERO) {
            let end = relieved.until.min(self.until);
            let is_held = last(words, relieved.from.saturating_sub(self.blur))
                .is_some_and(|word| word.holds(relieved.from + self.slack()));
            if relieved.from + self.slack() < end && is_held && self.asks(relieved.from, words) {
                let full = of.full.partition_point(|one| one.until <= relieved.from);
                let full = full.checked_sub(1).map(|at| of.full[at].until);
                let cause = (full.unwrap_or_default().min(relieved.from), relieved.from);
                all.xons.push(self.reaction(cause, end, words, |word| !word.is_xoff()));
            }
        }
        all
    }

    /// The XOFF that is missing behind an XON, or late, which came while the class was surely over its threshold as what was before that may have
    /// called for it: what brought the class there calls for another XOFF, whatever it had said before. Counted from the XON on.
    fn taken_back(&self, (from, end): (Time, Time), words: &[Spoken]) -> Option<Lag> {
        let due = self.inside((from, end.min(from + self.slack())), words);
        let xon = due.iter().rfind(|word| !word.is_xoff())?;
        let lag = self.reaction((xon.at, xon.at), end, words, Spoken::is_xoff);
        (lag.least > self.emission.most() + self.turn).then_some(lag)
    }

    /// How soon the first of `words` before `end` came that is such, after what happened between these two instants.
    fn reaction(
        &self,
        (from, until): (Time, Time),
        end: Time,
        words: &[Spoken],
        is_such: impl Fn(&Spoken) -> bool,
    ) -> Lag {
        let after = words.partition_point(|word| word.at < from.saturating_sub(self.blur));
        let mut after = words[after..].iter().take_while(|word| word.at < end);
        let word = after.find(|word| is_such(word));
        let at = word.map_or(end, |word| word.at);
        Lag {
            least: apart(until, at).saturating_sub(self.blur),
            most: apart(from, at) + self.blur,
            record: word.map(|word| word.record),
        }
    }

    /// From each XOFF to the next while the class is over its threshold, or to the end of that where none came.
    fn refreshes(&self, from: Time, end: Time, words: &[Spoken]) -> Vec<Lag> {
        let inside = self.inside((from, end), words);
        let read = |apart: Dur, record: Option<usize>| Lag {
            least: apart.saturating_sub(self.blur * 2),
            most: apart + self.blur * 2,
            record,
        };
        let pairs = inside.windows(2).filter(|pair| pair.iter().all(Spoken::is_xoff));
        let pairs = pairs.map(|pair| read(apart(pair[0].at, pair[1].at), Some(pair[1].record)));
        // What stopped one that asked again is its watchdog; one that never did was not stopped before that could be.
        let end = match self.watchdog {
            None => Some(end),
            Some(watchdog) if inside.len() == 1 && self.is_first(words, inside) => {
                Some(end.min(inside[0].at + watchdog.least()))
            }
            Some(_) => None,
        };
        let last = inside.last().filter(|last| last.is_xoff());
        let open = last.zip(end).map(|(last, end)| apart(last.at, end));
        let open = open.filter(|open| *open > self.refresh.most() + self.slack());
        pairs.chain(open.map(|open| read(open, None))).collect()
    }

    /// The words while the class is over its threshold.
    fn inside<'w>(&self, (from, end): (Time, Time), words: &'w [Spoken]) -> &'w [Spoken] {
        let first = words.partition_point(|word| word.at < from.saturating_sub(self.blur));
        let count = words[first..].partition_point(|word| word.at < end);
        &words[first..first + count]
    }
}

/// Whether one of `all` holds from `from` to `until`, without an end between.
fn whole(all: &[Stretch], from: Time, until: Time) -> bool {
    let next = all.partition_point(|one| one.from <= from);
    next.checked_sub(1).is_some_and(|one| until < all[one].until)
}

/// The last word that began to leave before `at`.
fn last(words: &[Spoken], at: Time) -> Option<&Spoken> {
    words.partition_point(|word| word.at < at).checked_sub(1).map(|last| &words[last])
}

fn apart(from: Time, to: Time) -> Dur {
    to.since(from).unwrap_or(Dur::ZERO)
}

#[cfg(test)]
mod tests;
