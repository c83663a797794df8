//! The reaction point: the rate of one limiter, by the rule's own steps and its whole numbers (`docs/nic.md`, Reaction point).
//!
//! Every timer is stepped as it runs out. What the recurrences come to in closed form stands in [`forms`](super::forms).

use rig_lab::{Limiting, Rp};
use rig_units::{Bytes, Dur, L2Rate, PortSpeed, Ppm, Time};

/// Where the forms come from, for reports.
pub const SOURCE: &str = "DCQCN: Zhu et al., SIGCOMM'15, 3.1 (RP), equations 1 to 4";

const BITS_PS: u128 = 8 * 1_000_000_000_000;

/// How badly a path is congested, in whole multiples of 2^-30.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Alpha(pub u64);

impl Alpha {
    /// Every packet is marked.
    pub const ONE: Alpha = Alpha(1 << 30);

    /// As near to millionths as it begins.
    pub const fn of(ppm: Ppm) -> Alpha {
        Alpha(ppm.0 as u64 * Alpha::ONE.0 / Ppm::ONE.0 as u64)
    }

    /// In millionths, rounded down.
    pub const fn ppm(self) -> u64 {
        self.0 * Ppm::ONE.0 as u64 / Alpha::ONE.0
    }

    /// After an alpha timer: alpha - alpha / G.
    #[must_use]
    pub const fn decayed(self, inverse_g: u32) -> Alpha {
        Alpha(self.0 - self.0 / inverse_g as u64)
    }

    /// After a cut: alpha - alpha / G + 1 / G.
    #[must_use]
    pub const fn raised(self, inverse_g: u32) -> Alpha {
        Alpha(self.decayed(inverse_g).0 + Alpha::ONE.0 / inverse_g as u64)
    }
}

/// What a CNP did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// When it took effect.
    pub at: Time,
    /// The rate before.
    pub before: L2Rate,
    /// The rate after.
    pub after: L2Rate,
    /// Alpha as it cut.
    pub alpha: Alpha,
}

/// The kinds of increase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Half-way back to the target.
    Recovery,
    /// The target grows by `ai_rate`.
    Additive,
    /// The target grows by `hai_rate`.
    Hyper,
}

/// The stage of an increase, by both counts as they have just become.
pub const fn stage(threshold: u8, by_time: u64, by_bytes: u64) -> Stage {
    let f = threshold as u64;
    if by_time < f && by_bytes < f {
        Stage::Recovery
    } else if by_time > f && by_bytes > f {
        Stage::Hyper
    } else {
        Stage::Additive
    }
}

/// How long `bytes` hold the next back at a rate: bits / rate, rounded up.
pub fn hold(bytes: Bytes, bps: u64) -> Dur {
    let ps = (u128::from(bytes.0) * BITS_PS).div_ceil(u128::from(bps.max(1)));
    Dur(u64::try_from(ps).unwrap_or(u64::MAX))
}

/// What changes about a limiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    rate: u64,
    target: u64,
    alpha: Alpha,
    by_time: u64,
    by_bytes: u64,
    /// Bytes towards the next increase by bytes.
    sent: u64,
    cut: Option<Time>,
    increased: bool,
    /// When each timer runs out next; nothing before the first cut.
    alpha_due: Time,
    timer_due: Time,
    /// The burst under way: its bytes so far, and the rate as its first frame left.
    burst: Option<(u64, u64)>,
}

/// One rate limiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limiter<'a> {
    rp: &'a Rp,
    line: u64,
    state: State,
}

impl<'a> Limiter<'a> {
    /// One that no CNP has reached yet.
    pub const fn new(rp: &'a Rp, line: PortSpeed) -> Limiter<'a> {
        let line = line.bps();
        let state = State {
            rate: line,
            target: line,
            alpha: Alpha::of(rp.initial_alpha),
            by_time: 0,
            by_bytes: 0,
            sent: 0,
            cut: None,
            increased: false,
            alpha_due: Time::MAX,
            timer_due: Time::MAX,
            burst: None,
        };
        Limiter { rp, line, state }
    }

    /// The rate after all that is due at `at`.
    pub fn rate(&self, at: Time) -> L2Rate {
        L2Rate { bps: self.at(at).state.rate }
    }

    /// The target after all that is due at `at`.
    pub fn target(&self, at: Time) -> L2Rate {
        L2Rate { bps: self.at(at).state.target }
    }

    /// Alpha after all that is due at `at`.
    pub fn alpha(&self, at: Time) -> Alpha {
        self.at(at).state.alpha
    }

    /// The increases by time and by bytes since the last cut.
    pub fn counts(&self, at: Time) -> (u64, u64) {
        let state = self.at(at).state;
        (state.by_time, state.by_bytes)
    }

    /// When the last cut took effect.
    pub const fn last_cut(&self) -> Option<Time> {
        self.state.cut
    }

    /// Takes in a CNP that takes effect at `at`. `None`: it does nothing.
    pub fn cnp(&mut self, at: Time) -> Option<Cut> {
        self.advance(at);
        let shut = self.state.cut.is_some_and(|cut| at < cut + self.rp.cut_window);
        (self.rp.enable && !shut).then(|| self.cut(at))
    }

    /// A frame whose first bit leaves at `at`. How long after the first frame of its burst the next frame may leave: its burst is
    /// itself where packets are held back, and zero stands for a burst that goes on.
    pub fn frame(&mut self, at: Time, bytes: Bytes) -> Dur {
        self.advance(at);
        self.depart(bytes)
    }

    /// Whether CNPs are obeyed at all.
    pub(super) const fn is_enabled(&self) -> bool {
        self.rp.enable
    }

    /// When the next timer runs out.
    pub(super) fn timer(&self) -> Option<Time> {
        let next = self.state.alpha_due.min(self.state.timer_due);
        (next < Time::MAX).then_some(next)
    }

    /// Runs the timer that runs out next; alpha's goes first.
    pub(super) fn run_timer(&mut self) {
        let Limiter { rp, state, .. } = self;
        if state.alpha_due <= state.timer_due {
            state.alpha_due += rp.alpha_timer;
            state.alpha = state.alpha.decayed(rp.inverse_g);
        } else {
            state.timer_due += rp.timer;
            state.by_time += 1;
            if rp.byte_counter == Bytes(0) {
                state.by_bytes = state.by_time;
            }
            self.increase();
        }
    }

    /// Cuts, whatever the window says.
    pub(super) fn cut(&mut self, at: Time) -> Cut {
        let Limiter { rp, state, .. } = self;
        let (before, alpha) = (state.rate, state.alpha);
        if rp.clamp || state.increased || state.cut.is_none() {
            state.target = before;
        }
        let by = u128::from(before) * u128::from(alpha.0) / (2 * u128::from(Alpha::ONE.0));
        let by = u64::try_from(by).unwrap_or(before);
        *state = State {
            rate: before.saturating_sub(by).max(rp.min_rate.bps),
            alpha: alpha.raised(rp.inverse_g),
            by_time: 0,
            by_bytes: 0,
            sent: 0,
            cut: Some(at),
            increased: false,
            alpha_due: at + rp.alpha_timer,
            timer_due: at + rp.timer,
            ..*state
        };
        let rate = |bps| L2Rate { bps };
        Cut { at, before: rate(before), after: rate(state.rate), alpha }
    }

    /// Lets a frame leave now: see [`frame`](Self::frame).
    pub(super) fn depart(&mut self, bytes: Bytes) -> Dur {
        let (before, rate) = self.state.burst.take().unwrap_or((0, self.state.rate));
        let burst = before + bytes.0;
        let goes_on = self.rp.limiting == Limiting::Burst && burst < self.rp.burst.0;
        if goes_on {
            self.state.burst = Some((burst, rate));
        }
        self.count(bytes);
        if goes_on { Dur::ZERO } else { hold(Bytes(burst), rate) }
    }

    fn at(mut self, at: Time) -> Limiter<'a> {
        self.advance(at);
        self
    }

    fn advance(&mut self, to: Time) {
        while self.timer().is_some_and(|due| due <= to) {
            self.run_timer();
        }
    }

    fn count(&mut self, bytes: Bytes) {
        let every = self.rp.byte_counter.0;
        if self.state.cut.is_none() || every == 0 {
            return;
        }
        self.state.sent += bytes.0;
        while self.state.sent >= every {
            self.state.sent -= every;
            self.state.by_bytes += 1;
            self.increase();
        }
    }

    fn increase(&mut self) {
        let Limiter { rp, line, state } = self;
        let step = match stage(rp.threshold, state.by_time, state.by_bytes) {
            Stage::Recovery => 0,
            Stage::Additive => rp.ai_rate.bps,
            Stage::Hyper => rp.hai_rate.bps,
        };
        state.target = state.target.saturating_add(step).min(*line);
        state.rate = u64::midpoint(state.rate, state.target);
        state.increased = true;
    }
}

#[cfg(test)]
mod tests;
