//! A clock fine enough to pace by: the machine's counter, held to CLOCK_MONOTONIC.
//!
//! Between two looks at CLOCK_MONOTONIC, some second apart, its time is a line over the counter's ticks. A look bends the
//! line and never breaks it: what the clock is off by is walked off until the next look is due, and from there the line
//! goes on at the pace of CLOCK_MONOTONIC. It never runs backwards, and a gap is measured to a tick.

use crate::clock::Clock;
use crate::port::{Counter, Machine, Mono, PortError, Receive, pause, wait_any};
use core::cell::Cell;
use rig_units::{Dur, Time};

/// Bits behind the point of a rate.
const POINT: u32 = 32;
/// From the first look to the second, and from there to the third; each later one comes after twice as long.
const FIRST: Dur = Dur::ms(10);
/// The longest time between two looks.
const LONGEST: Dur = Dur::s(1);
/// How often both clocks are read in one look: the reading during which least time passed counts.
const TRIES: usize = 5;
/// A look takes less than this.
const LOOK: Dur = Dur::us(2);
/// For the end of a wait nothing but the counter is read: the processor's own pause is longer than a tick.
const LAST: Dur = Dur::us(1);

/// Both clocks at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// The counter, half-way between just before and just after.
    pub ticks: u64,
    /// CLOCK_MONOTONIC.
    pub mono: Mono,
    /// How many ticks lie between just before and just after.
    pub width: u64,
}

impl Reading {
    /// The best of a few.
    pub fn of(counter: &impl Counter) -> Reading {
        let one = |_| {
            let before = counter.ticks();
            let mono = counter.mono();
            let width = counter.ticks().saturating_sub(before);
            Reading { ticks: before + width / 2, mono, width }
        };
        (0..TRIES).map(one).min_by_key(|reading| reading.width).expect("it is read at least once")
    }
}

/// The clock of a session that counts from its start.
#[derive(Debug, Clone)]
pub struct Fine<C = Machine> {
    counter: C,
    epoch: Mono,
    line: Cell<Line>,
}

/// Time as a line over ticks.
#[derive(Debug, Clone, Copy)]
struct Line {
    /// While the clock walks off what it is off by.
    walk: Piece,
    /// From when the next look is due.
    on: Piece,
    /// The look with which it began.
    seen: Reading,
    /// By when the next look must have come, in ticks.
    overdue: u64,
    /// Time until the next look.
    length: Dur,
    /// What the clock was off by at most when it was looked at last.
    error: Dur,
}

/// A straight piece of it.
#[derive(Debug, Clone, Copy)]
struct Piece {
    /// Where it begins.
    ticks: u64,
    /// The time there, in picoseconds of the session.
    ps: u64,
    /// Picoseconds a tick.
    rate: u64,
}

impl Piece {
    #[inline]
    fn time(&self, ticks: u64) -> u64 {
        // A reading of a moment before the line began counts as its beginning.
        let ticks = ticks.saturating_sub(self.ticks);
        self.ps + low((u128::from(ticks) * u128::from(self.rate)) >> POINT)
    }

    fn ticks_at(&self, ps: u64) -> u64 {
        let since = u128::from(ps.saturating_sub(self.ps)) << POINT;
        self.ticks.saturating_add(low(since.div_ceil(u128::from(self.rate.max(1)))))
    }
}

impl Line {
    /// When the next look is due, in ticks.
    #[inline]
    fn due(&self) -> u64 {
        self.on.ticks
    }

    #[inline]
    fn time(&self, ticks: u64) -> u64 {
        if ticks < self.on.ticks { self.walk.time(ticks) } else { self.on.time(ticks) }
    }

    /// The first tick at which the time is `ps` or later.
    #[inline]
    fn ticks_at(&self, ps: u64) -> u64 {
        if ps < self.on.ps { self.walk.ticks_at(ps) } else { self.on.ticks_at(ps) }
    }

    /// A line from here to where CLOCK_MONOTONIC will be `length` from now, if both clocks go on as they did since the
    /// look before.
    fn bent(&self, seen: Reading, epoch: Mono, length: Dur) -> Line {
        let own = self.time(seen.ticks);
        let (then, now) = (ps_since(epoch, self.seen.mono), ps_since(epoch, seen.mono));
        let passed = seen.ticks.saturating_sub(self.seen.ticks);
        if passed == 0 || now <= then {
            return *self;
        }
        let rate = low((u128::from(now - then) << POINT) / u128::from(passed));
        // What lies ahead, longer or shorter by what the clock is off by now. A clock that is far off takes its time:
        // at half or twice the pace, never backwards.
        let ahead = (length.0 + now).saturating_sub(own).clamp(length.0 / 2, length.0 * 2);
        let walked = low(u128::from(rate) * u128::from(ahead) / u128::from(length.0)).max(1);
        let width = low((u128::from(seen.width) * u128::from(rate)) >> POINT);
        let walk = Piece { ticks: seen.ticks, ps: own, rate: walked };
        let due = walk.ticks_at(own + length.0);
        let on = Piece { ticks: due, ps: walk.time(due), rate };
        Line {
            walk,
            on,
            seen,
            overdue: on.ticks_at(on.ps + length.0),
            length,
            // CLOCK_MONOTONIC itself is cut to the nanosecond.
            error: Dur(own.abs_diff(now) + width / 2 + 1_000),
        }
    }
}

fn low(n: u128) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

fn ps_since(epoch: Mono, mono: Mono) -> u64 {
    mono.since(epoch).unwrap_or_default().0
}

impl Fine {
    /// A session that starts now, by the best counter of this machine; calibrating it takes 10 ms.
    pub fn start() -> Fine {
        let counter = Machine::best();
        let first = Reading::of(&counter);
        pause(FIRST);
        let second = Reading::of(&counter);
        Fine::calibrated(counter, first, second)
    }
}

impl<C: Counter> Fine<C> {
    /// A session that started at the first of two readings of a counter.
    pub fn calibrated(counter: C, first: Reading, second: Reading) -> Fine<C> {
        let epoch = first.mono;
        let passed = second.ticks.saturating_sub(first.ticks).max(1);
        let rate = low((u128::from(ps_since(epoch, second.mono)) << POINT) / u128::from(passed));
        let begun = Piece { ticks: first.ticks, ps: 0, rate: rate.max(1) };
        let begun = Line {
            walk: begun,
            on: begun,
            seen: first,
            overdue: u64::MAX,
            length: FIRST,
            error: Dur::ZERO,
        };
        let line = Cell::new(begun.bent(second, epoch, FIRST));
        Fine { counter, epoch, line }
    }

    /// The counter that it reads.
    pub const fn counter(&self) -> &C {
        &self.counter
    }

    /// What the clock was off from CLOCK_MONOTONIC by at most when it was looked at last.
    pub fn error(&self) -> Dur {
        self.line.get().error
    }

    /// Ticks a second.
    pub fn hertz(&self) -> u64 {
        const PS_PER_S: u128 = 1_000_000_000_000;
        low((PS_PER_S << POINT) / u128::from(self.line.get().on.rate.max(1)))
    }

    /// Looks at CLOCK_MONOTONIC.
    fn look(&self) {
        let line = self.line.get();
        let length = (line.length * 2).min(LONGEST);
        self.line.set(line.bent(Reading::of(&self.counter), self.epoch, length));
    }

    /// The time at a reading of the counter.
    #[inline]
    fn time(&self, ticks: u64) -> Time {
        // Whoever sleeps or waits has looked before: here it is the last resort of one who does neither.
        if ticks >= self.line.get().overdue {
            self.look();
        }
        Time(self.line.get().time(ticks))
    }
}

impl<C: Counter> Clock for Fine<C> {
    #[inline]
    fn now(&self) -> Time {
        self.time(self.counter.ticks())
    }

    fn at(&self, stamp: Mono) -> Time {
        Time(ps_since(self.epoch, stamp))
    }

    fn mono(&self, at: Time) -> Mono {
        Mono(self.epoch.0 + at.0 / 1_000)
    }

    fn sleep(&self, until: Time, ports: &[&dyn Receive]) -> Result<(), PortError> {
        if self.counter.ticks() >= self.line.get().due() {
            self.look();
        }
        wait_any(ports, until.since(self.now()).unwrap_or_default()).map(|_| ())
    }

    #[inline]
    fn spin(&self, until: Time) {
        let ticks = self.counter.ticks();
        let line = self.line.get();
        if ticks >= line.due() && line.time(ticks) + LOOK.0 < until.0 {
            self.look();
        }
        let line = self.line.get();
        let last = line.ticks_at(until.saturating_sub(LAST).0);
        let end = line.ticks_at(until.0);
        while self.counter.ticks() < last {
            core::hint::spin_loop();
        }
        while self.counter.ticks() < end {}
    }
}

#[cfg(test)]
mod tests;
