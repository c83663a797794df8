//! The reaction point: between what rates one limiter is, after what it was told and has sent (`docs/nic.md`, Reaction point).
//!
//! Between two changes of its target a limiter has one closed form ([`forms`]): what is kept here is where that
//! began, and how many increases there were since.

use super::alpha::Alpha;
use super::forms::{self, Stage, stage};
use super::real::Real;
use rig_lab::{Limiting, Rp};
use rig_units::{Bytes, Dur, PortSpeed, Time};

/// What changes about a limiter.
#[derive(Debug, Clone, Copy, PartialEq)]
struct State {
    alpha: Alpha,
    target: Real,
    /// The rate when the target became what it is, and the increases since.
    from: Real,
    increases: u64,
    /// When the last cut took effect, and what came since: timers, and bytes.
    cut: Option<Time>,
    timers: u64,
    sent: u64,
    /// The burst under way: its bytes so far, and the rate as its first frame left.
    burst: Option<(u64, Real)>,
}

/// One rate limiter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limiter<'a> {
    rp: &'a Rp,
    line: PortSpeed,
    state: State,
}

impl<'a> Limiter<'a> {
    /// One that no CNP has reached yet.
    pub fn new(rp: &'a Rp, line: PortSpeed) -> Limiter<'a> {
        let full = Real::of(line.bps());
        let state = State {
            alpha: Alpha::new(rp),
            target: full,
            from: full,
            increases: 0,
            cut: None,
            timers: 0,
            sent: 0,
            burst: None,
        };
        Limiter { rp, line, state }
    }

    /// The rate after what was told so far.
    pub(super) fn rate(&self) -> Real {
        let State { from, target, increases, .. } = self.state;
        forms::recovered(self.rp, from, target, increases)
    }

    /// When the last cut took effect.
    pub(super) const fn last_cut(&self) -> Option<Time> {
        self.state.cut
    }

    /// Whether CNPs are obeyed at all.
    pub(super) const fn is_enabled(&self) -> bool {
        self.rp.enable
    }

    /// When the timer of increases runs out next; before the first cut it does not run.
    pub(super) fn timer(&self) -> Option<Time> {
        self.state.cut.map(|cut| cut + self.rp.timer * (self.state.timers + 1))
    }

    /// It runs out.
    pub(super) fn run_timer(&mut self) {
        self.state.timers += 1;
        self.increase(self.state.timers, self.by_bytes());
    }

    /// A CNP cuts, whatever the window says. How long ago the last cut was is known to within `blur` either way.
    pub(super) fn cut(&mut self, at: Time, blur: Dur) {
        let before = self.state.alpha.at(self.rp, at, blur);
        self.cut_by(at, before);
        self.state.alpha = Alpha::cut(self.rp, at, before);
    }

    /// It cuts with this alpha, which does not move by that.
    pub(super) fn cut_by(&mut self, at: Time, alpha: Real) {
        let rp = self.rp;
        let State { cut, target, .. } = self.state;
        // A limiter that no CNP has reached sends at the speed of its port.
        let rate = if cut.is_none() { forms::start(rp, self.line) } else { self.rate() };
        let saves = rp.clamp || cut.is_none() || self.state.timers + self.by_bytes() > 0;
        self.state = State {
            target: if saves { rate } else { target },
            from: forms::cut(rp, rate, alpha),
            increases: 0,
            cut: Some(at),
            timers: 0,
            sent: 0,
            ..self.state
        };
    }

    /// A frame leaves. How long after the first frame of its burst the next frame may leave, at the least and at the most: its burst is
    /// itself where packets are held back. `None`: its burst goes on.
    pub(super) fn depart(&mut self, bytes: Bytes) -> Option<(Dur, Dur)> {
        let (before, rate) = self.state.burst.take().unwrap_or_else(|| (0, self.rate()));
        let burst = before + bytes.0;
        let goes_on = self.rp.limiting == Limiting::Burst && burst < self.rp.burst.0;
        if goes_on {
            self.state.burst = Some((burst, rate));
        }
        self.count(bytes);
        (!goes_on).then(|| forms::hold(self.rp, self.line, Bytes(burst), rate))
    }

    /// Increases by bytes since the last cut, the time's own where there is no byte counter.
    fn by_bytes(&self) -> u64 {
        let State { sent, timers, .. } = self.state;
        sent.checked_div(self.rp.byte_counter.0).unwrap_or(timers)
    }

    /// Counts the bytes of a frame. Before the first cut the counter does not run.
    fn count(&mut self, bytes: Bytes) {
        if self.state.cut.is_none() || self.rp.byte_counter == Bytes(0) {
            return;
        }
        let before = self.by_bytes();
        self.state.sent += bytes.0;
        for by_bytes in before + 1..=self.by_bytes() {
            self.increase(self.state.timers, by_bytes);
        }
    }

    /// An increase, by both counts as they have just become.
    fn increase(&mut self, by_time: u64, by_bytes: u64) {
        let stage = stage(self.rp.threshold, by_time, by_bytes);
        if stage != Stage::Recovery {
            self.state.from = self.rate();
            self.state.target = forms::target(self.rp, self.line, self.state.target, stage);
            self.state.increases = 0;
        }
        self.state.increases += 1;
    }
}

#[cfg(test)]
mod tests;
