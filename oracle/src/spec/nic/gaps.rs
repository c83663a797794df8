//! How far apart the frames of one limiter have to leave, given the CNPs that reached it and the frames as they left.
//!
//! Stamps blur the order of a frame, a CNP and a timer that lie within two bounds of each other, and whether a CNP fell into the
//! window of a cut; so does a range of what a CNP takes, by its width; and what a limiter times, by what its clock may be off over that
//! time. It times everything from a cut or a CNP on, which a stamp says: nothing that is off adds up from one cut to the next. Every order
//! that is left open is followed, and histories that come to the same are one. With exact stamps, one latency and clocks that agree there is
//! one history, and what it asks for is open by what devices round alone.
//!
//! A device has one past: a history that a frame does not fit is over with that frame, and what is left tells which CNPs cut. Were a gap held
//! against the hull of all that may have happened, one that cuts at no CNP at the end of a window would pass at each rate in between. Where
//! no history is left, the frame fits none of them, and all go on.

use super::periods::{self, End};
use super::real::Real;
use super::rp::Limiter;
use rig_lab::Rp;
use rig_units::{Apart, Bytes, Dur, PortSpeed, Time};

/// How far off what is known of a limiter may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Off {
    /// A stamp, either way.
    pub stamps: Dur,
    /// When a CNP reaches the limiter, either way, beyond its stamp.
    pub cnps: Dur,
    /// The limiter's clock and that of the stamps.
    pub apart: Apart,
}

/// When a frame may leave that a gap asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct May {
    /// At the least, after the frame that the gap is counted from.
    pub least: Dur,
    /// At the most, where something is there to send.
    pub most: Dur,
    /// How far off the time between two stamps may be.
    pub blur: Dur,
}

impl May {
    /// Whether a frame that leaves so long after is too early.
    pub fn is_early(&self, got: Dur) -> bool {
        got + self.blur < self.least
    }

    /// Whether it is too late, where `allowance` is what else may keep it.
    pub fn is_late(&self, got: Dur, allowance: Dur) -> bool {
        got > self.most + self.blur + allowance
    }
}

impl Off {
    /// When the frame after one that takes `slot` at its port may leave, `since` after the frame that a gap from `lo` to `hi` is counted from.
    /// Only what the device times by its clock is off by that clock: not what was seen to have passed already.
    pub fn may(&self, (lo, hi): (Dur, Dur), since: Dur, slot: Dur) -> May {
        let apart = self.apart;
        May {
            least: apart.least(lo).max(since + apart.least(slot)),
            most: apart.most(hi).max(since + apart.most(slot)),
            blur: self.stamps * 2,
        }
    }
}

/// More histories than these are not told apart any more.
const MOST: usize = 64;

/// How long after a frame the next one of its limiter may leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The frame that it is counted from: the first of its burst, itself where packets are held back.
    pub from: usize,
    /// The bytes of the burst that ends with this frame; none: the burst goes on, and the next may follow at once.
    pub bytes: Bytes,
    /// The least that any history asks for.
    pub lo: Dur,
    /// The most. [`Dur`] at its greatest: the histories are too many.
    pub hi: Dur,
    /// Whether the next frame fits one of them; also where nobody asks.
    pub fits: bool,
    /// How many CNPs at least did something else up to here than their stamps say, in every history: those at the end of a window, which may cut
    /// and need not.
    pub otherwise: u32,
}

impl Gap {
    /// Whether the histories are too many to say anything.
    pub const fn is_lost(&self) -> bool {
        self.hi.0 == u64::MAX
    }

    /// That behind a frame of which nothing can be said.
    const fn lost(from: usize) -> Gap {
        let (lo, hi) = (Dur::ZERO, Dur(u64::MAX));
        Gap { from, bytes: Bytes(0), lo, hi, fits: true, otherwise: 0 }
    }
}

/// The gap after each frame (first bits, in the order in which they left), with CNPs that arrived at `cnps` (last bits). What the limiter
/// itself makes of a gap, by its own clock; the range of `rp.latency` is as the clock of the stamps shows it. `allowance`: how much later than
/// at the earliest a frame may leave. Where that is not known, no frame says what happened.
pub fn gaps(
    rp: &Rp,
    line: PortSpeed,
    cnps: &[Time],
    frames: &[(Time, Bytes)],
    (off, allowance): (Off, Option<Dur>),
) -> Vec<Gap> {
    let middle = rp.latency.least() + rp.latency.width() / 2;
    let effects: Vec<Time> = cnps.iter().map(|&at| at + middle).collect();
    // An effect is half the width off either way, and two of them all of it.
    let blur = off.stamps * 2 + off.cnps + rp.latency.width();
    let sight = match rp.by_period {
        Some(true) => Sight::by_period(rp, &effects, (blur, off.apart)),
        _ => Some(Sight {
            window: rp.cut_window,
            effects: effects.into_iter().map(Effect::of_cnp).collect(),
            blur,
            apart: off.apart,
        }),
    };
    let Some(sight) = sight else { return (0..frames.len()).map(Gap::lost).collect() };
    let mut histories = vec![History { limiter: Limiter::new(rp, line), next: 0, otherwise: 0 }];
    let mut from = 0;
    let mut gaps = Vec::new();
    for (index, &(at, bytes)) in frames.iter().enumerate() {
        histories = sight.until(histories, at);
        if histories.is_empty() {
            gaps.push(Gap::lost(index));
            continue;
        }
        let asked: Vec<(Dur, Dur)> = histories
            .iter_mut()
            .map(|history| history.limiter.depart(bytes).unwrap_or_default())
            .collect();
        let start = frames[from].0;
        let since = at.since(start).unwrap_or(Dur::ZERO);
        let next = frames.get(index + 1).map(|(next, _)| next.since(start).unwrap_or(Dur::ZERO));
        let fits = |asked: (Dur, Dur)| match (next, allowance) {
            (Some(got), Some(allowance)) => {
                let may = off.may(asked, since, line.slot(bytes));
                !may.is_early(got) && !may.is_late(got, allowance)
            }
            _ => true,
        };
        let fit: Vec<bool> = asked.iter().map(|&asked| fits(asked)).collect();
        let some = fit.contains(&true);
        let mut keeps = fit.iter().map(|fits| *fits || !some);
        histories.retain(|_| keeps.next().unwrap_or(true));
        let kept = asked.iter().zip(&fit).filter(|(_, fits)| **fits || !some);
        let (lo, hi) = kept.fold((Dur(u64::MAX), Dur::ZERO), |(lo, hi), ((least, most), _)| {
            (lo.min(*least), hi.max(*most))
        });
        let otherwise = histories.iter().map(|history| history.otherwise).min().unwrap_or(0);
        let ends = hi > Dur::ZERO;
        let burst = || frames[from..=index].iter().map(|(_, bytes)| *bytes).sum();
        let bytes = if ends { burst() } else { Bytes(0) };
        gaps.push(Gap { from, bytes, lo, hi, fits: some, otherwise });
        if ends {
            from = index + 1;
        }
    }
    gaps
}

/// What may have happened so far: a limiter, and the CNP that it meets next.
#[derive(Debug, Clone, Copy)]
struct History<'a> {
    limiter: Limiter<'a>,
    next: usize,
    /// How many CNPs did something else than their stamps say.
    otherwise: u32,
}

impl History<'_> {
    /// Whether the same may happen from here on.
    fn comes_to(&self, other: &Self) -> bool {
        (self.next, &self.limiter) == (other.next, &other.limiter)
    }
}

/// Adds a history, unless there is one that comes to the same: then that in which fewer CNPs did something else than their stamps say.
fn add<'a>(all: &mut Vec<History<'a>>, history: History<'a>) {
    match all.iter_mut().find(|other| other.comes_to(&history)) {
        Some(other) => other.otherwise = other.otherwise.min(history.otherwise),
        None => all.push(history),
    }
}

/// An instant at which a limiter may cut.
#[derive(Debug, Clone, Copy)]
struct Effect {
    at: Time,
    /// Of the end of a period: alpha then, and whether there was a CNP for certain. Of a CNP: none.
    of_period: Option<(Real, bool)>,
}

impl Effect {
    const fn of_cnp(at: Time) -> Effect {
        Effect { at, of_period: None }
    }
}

struct Sight {
    window: Dur,
    effects: Vec<Effect>,
    /// How far an effect may be off from a frame or from another effect.
    blur: Dur,
    apart: Apart,
}

impl Sight {
    /// That of a limiter that looks at the ends of periods alone, which its clock times from the first CNP on. `None`: they are too short for the stamps.
    fn by_period(rp: &Rp, effects: &[Time], (blur, apart): (Dur, Apart)) -> Option<Sight> {
        let ends = periods::ends(rp, effects, blur, apart)?;
        let first = effects.first().copied().unwrap_or_default();
        let timed = ends.last().and_then(|end| end.at.since(first)).unwrap_or_default();
        let of_end =
            |End { at, is_certain, alpha }| Effect { at, of_period: Some((alpha, is_certain)) };
        Some(Sight {
            window: Dur::ZERO,
            effects: ends.into_iter().map(of_end).collect(),
            blur: blur + Dur(apart.part(timed.0)),
            apart,
        })
    }

    /// How far what the limiter times for so long from an effect on may be off.
    fn blur_after(&self, timed: Dur) -> Dur {
        self.blur + Dur(self.apart.part(timed.0))
    }

    /// Every history up to a frame at `at`, of every history before it. None: they are too many.
    fn until<'a>(&self, before: Vec<History<'a>>, at: Time) -> Vec<History<'a>> {
        let mut open = before;
        let mut done: Vec<History<'a>> = Vec::new();
        while let Some(history) = open.pop() {
            let effect = self.effects.get(history.next).copied();
            let (timer, cnp) = (history.limiter.timer(), effect.map(|effect| effect.at));
            let run = history.limiter.last_cut().zip(timer);
            let run = run.and_then(|(cut, timer)| timer.since(cut)).unwrap_or(Dur::ZERO);
            let of_timer = self.blur_after(run);
            let either = |is: &dyn Fn(Time, Dur) -> bool| {
                timer.is_some_and(|timer| is(timer, of_timer))
                    || cnp.is_some_and(|cnp| is(cnp, self.blur))
            };
            // Before the frame for certain, perhaps, or not.
            if !either(&|first, blur| first + blur <= at) {
                add(&mut done, history);
            }
            if !either(&|first, blur| first <= at + blur) {
                continue;
            }
            // Where stamps do not say whether the timer or the CNP was first, either was; at one instant it is the timer.
            if timer.is_some_and(|timer| cnp.is_none_or(|cnp| timer <= cnp + of_timer)) {
                let mut other = history;
                other.limiter.run_timer();
                add(&mut open, other);
            }
            if let Some(effect) = effect
                && timer.is_none_or(|timer| effect.at < timer + of_timer)
            {
                self.obey(&history, effect).into_iter().for_each(|other| add(&mut open, other));
            }
            if open.len() + done.len() > MOST {
                return Vec::new();
            }
        }
        done
    }

    /// What a CNP may do: cut, nothing, or either.
    fn obey<'a>(&self, history: &History<'a>, effect: Effect) -> Vec<History<'a>> {
        let (after, at) = (History { next: history.next + 1, ..*history }, effect.at);
        if let Some((alpha, is_certain)) = effect.of_period {
            let mut cut = after;
            cut.limiter.cut_by(at, alpha);
            let is_enabled = after.limiter.is_enabled();
            let uncut = (!is_enabled || !is_certain).then_some(after);
            return is_enabled.then_some(cut).into_iter().chain(uncut).collect();
        }
        let since = history.limiter.last_cut().map(|cut| at.since(cut).unwrap_or(Dur::ZERO));
        let enabled = after.limiter.is_enabled();
        let of_window = self.blur_after(self.window);
        let cuts = enabled && since.is_none_or(|since| since + of_window >= self.window);
        let shut = |since: Dur| since.saturating_sub(of_window) < self.window;
        // What it does by what the stamps say and nothing else.
        let due = since.is_none_or(|since| since >= self.window);
        let otherwise = History { otherwise: after.otherwise + 1, ..after };
        let mut all = Vec::new();
        if cuts {
            let mut cut = if due { after } else { otherwise };
            cut.limiter.cut(at, self.blur_after(since.unwrap_or(Dur::ZERO)));
            all.push(cut);
        }
        if !enabled || since.is_some_and(shut) {
            all.push(if due && enabled { otherwise } else { after });
        }
        all
    }
}

#[cfg(test)]
mod tests;
