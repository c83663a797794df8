//! The stamps of polls (`PFCWD_POLL_TIMESTAMP_last`, or `timestamp` of NVIDIA's messages) and what they are on the rig's clock: by the clock that redis tells, which is
//! asked beside each event on a line of its own, so that nobody who listens waits for an answer.

use super::super::wire::Wire;
use super::heard::{PATIENCE, answer, say, words};
use rig_generator::port::Mono;
use std::io;

/// How often the clock is asked beside an event.
const TIMES: u8 = 3;
/// How much the switch's clock and the rig's may come apart meanwhile, in parts of a million: the most by which a clock is slewed.
const SLEW: u64 = 500;

/// What redis told of its clock, and between which instants of the rig's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Time {
    pub(super) before: Mono,
    pub(super) after: Mono,
    /// Microseconds since 1970, by the switch.
    pub(super) micros: u64,
}

impl Time {
    /// Between which two instants of the rig's clock the switch's showed `stamp`; `None` where that is no number of microseconds.
    pub(super) fn on_the_rigs_clock(&self, stamp: &str) -> Option<(Mono, Mono)> {
        let (at, blur) = match stamp.parse::<u64>() {
            Ok(at) => (at, 1),
            // Older scripts let Lua print it, which keeps 14 digits of 16: `1.7872668687188e+15`; NVIDIA's prints seconds: `1787266868.7188`.
            Err(_) => {
                let at = stamp.parse::<f64>().ok()?;
                let at = if (1e9..1e10).contains(&at) { at * 1e6 } else { at };
                let at = Some(at).filter(|at| (1e15..1e16).contains(at))?;
                (format!("{at:.0}").parse().ok()?, 100)
            }
        };
        // Microseconds before the clock was told, with what both of them leave out.
        let ago = i128::from(self.micros) - i128::from(at);
        let (least, most) = ((ago - blur) * 1_000, (ago + blur) * 1_000);
        let rig = |from: Mono, ago: i128| u64::try_from(i128::from(from.0) - ago).ok().map(Mono);
        Some((rig(self.before, most)?, rig(self.after, least)?))
    }

    /// Whether the switch's clock was set between this and a later telling: the two cannot be of one clock.
    pub(super) fn was_set_before(&self, later: &Time) -> bool {
        let zero = |told: &Time, at: Mono| i128::from(told.micros) * 1_000 - i128::from(at.0);
        let apart = later.after.0.saturating_sub(self.before.0) / 1_000_000 * SLEW + 1_000;
        let apart = i128::from(apart);
        // The switch's clock less the rig's, at least and at most.
        zero(later, later.after) > zero(self, self.before) + apart
            || zero(later, later.before) < zero(self, self.after) - apart
    }

    fn took(&self) -> u64 {
        self.after.0.saturating_sub(self.before.0)
    }
}

/// What is known of the stamp that belongs to one message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    /// As the message says it, or as it was read first after that had come.
    text: Option<String>,
    /// The message says it: it is of no other poll.
    own: bool,
    best: Option<Time>,
    asked: u8,
    /// The clock was set about then: what it says is of no use.
    astray: bool,
}

impl Stamp {
    /// That of a message that may say its own.
    pub(super) fn of_its_own(text: Option<String>) -> Stamp {
        Stamp { own: text.is_some(), text, ..Stamp::default() }
    }

    /// Whether it is of the very poll of which the message tells.
    pub(super) const fn is_own(&self) -> bool {
        self.own
    }

    /// Whether enough has been asked.
    pub(super) const fn is_known(&self) -> bool {
        self.asked >= TIMES
    }

    /// One more answer, with the clock that was told and whether that was set shortly before.
    pub(super) fn add(&mut self, text: Option<&String>, told: Option<Told>) {
        if self.asked == 0 && !self.own {
            self.text = text.cloned();
        }
        self.asked += 1;
        let Some((time, astray)) = told else { return };
        self.astray |= astray;
        if self.best.is_none_or(|best| time.took() < best.took()) {
            self.best = Some(time);
        }
    }

    /// Whether both were read as one and the same stamp.
    pub(super) fn is_the_same_as(&self, other: &Stamp) -> bool {
        self.text.is_some() && self.text == other.text
    }

    /// Between which two instants of the rig's clock the last poll was stamped; `None` where the image stamps none.
    pub(super) fn polled(&self) -> Option<(Mono, Mono)> {
        let text = self.text.as_ref().filter(|_| !self.astray)?;
        self.best?.on_the_rigs_clock(text)
    }
}

/// The switch's clock as it was told, and whether it was set since it was last asked.
type Told = (Time, bool);

/// Somebody who asks for stamps.
pub(super) struct Asker {
    line: Wire,
    last: Option<Time>,
}

impl Asker {
    /// One that asks over `line`.
    pub(super) fn over(line: Wire) -> Asker {
        Asker { line, last: None }
    }

    /// The last stamp, the clock of the switch right after it, and whether that was set since it was last asked.
    ///
    /// # Errors
    /// The line has broken.
    pub(super) fn ask(&mut self) -> io::Result<(Option<String>, Option<Told>)> {
        let before = Mono::now();
        say(&mut self.line, &["HGET", "TIMESTAMP", "PFCWD_POLL_TIMESTAMP_last"])?;
        say(&mut self.line, &["TIME"])?;
        let stamp = words(&answer(&mut self.line, PATIENCE)?)?.into_iter().next();
        let told = words(&answer(&mut self.line, PATIENCE)?)?;
        let after = Mono::now();
        let [seconds, micros] = told.as_slice() else { return Ok((stamp, None)) };
        let (Ok(seconds), Ok(micros)) = (seconds.parse::<u64>(), micros.parse::<u64>()) else {
            return Ok((stamp, None));
        };
        let micros = seconds.saturating_mul(1_000_000).saturating_add(micros);
        let time = Time { before, after, micros };
        let astray = self.last.is_some_and(|last| last.was_set_before(&time));
        self.last = Some(time);
        Ok((stamp, Some((time, astray))))
    }
}
