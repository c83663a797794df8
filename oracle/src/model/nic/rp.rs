//! The reaction point: the rate that one limiter keeps, and what CNPs, time and bytes make of it (DCQCN).
//!
//! Its timers are no events. They are made up for when somebody asks: the timer of increases whenever a frame leaves, that of
//! alpha when a CNP comes, since until then nothing follows from alpha.

use rig_lab::{Rp, RpFaults};
use rig_units::{Dur, Time};

/// Alpha of 1.
pub const ONE: u32 = 1 << 30;
/// Half of alpha, as NVIDIA says it.
const PAPER_GD: u8 = 11;
/// So much later than that of alpha a period ends at whose end it may cut: alpha has moved by then.
const BEHIND_ALPHA: Dur = Dur::ns(1);
/// A million parts: alpha as it is declared.
const PPM: u64 = 1_000_000;

/// One limiter. Rates are bits a second of frames; alpha is whole multiples of 2^-30.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limiter {
    /// The speed of the port.
    line: u64,
    rate: u64,
    target: u64,
    alpha: u32,
    /// Increases by time and by bytes since the last cut.
    by_time: u32,
    by_bytes: u32,
    /// Bytes sent since the byte counter started or last ran out.
    bytes: u64,
    last_cut: Option<Time>,
    increased: bool,
    /// When the timers run out next; never before the first cut.
    alpha_due: Time,
    timer_due: Time,
    /// When the rate may change next by itself.
    due: Time,
    /// Whether it is set to the nearest of its rates; if not, to the one below.
    nearest: bool,
    /// How long before the first instant an alpha timer that runs by itself last ran out.
    phase: Dur,
    /// When a limiter that goes by periods may cut next; never before its first CNP. Whether there was a CNP in this period, and in this one of alpha.
    cut_due: Time,
    is_asked: bool,
    is_told: bool,
    /// Faults: a cut that no CNP asks for is to come; a cut out of turn has been made in this window.
    cuts_again: bool,
    cut_twice: bool,
    /// How often it has cut, and when first.
    #[cfg(feature = "ns3")]
    cuts: (u64, Option<Time>),
}

impl Limiter {
    /// No cut so far, on a port of `line` bits a second.
    pub fn new(rp: &Rp, line: u64) -> Limiter {
        let initial = u64::from(rp.initial_alpha.0) * u64::from(ONE) / PPM;
        Limiter {
            line,
            rate: line,
            target: line,
            alpha: u32::try_from(initial).unwrap_or(ONE).min(ONE),
            by_time: 0,
            by_bytes: 0,
            bytes: 0,
            last_cut: None,
            increased: false,
            alpha_due: Time::MAX,
            timer_due: Time::MAX,
            due: Time::MAX,
            nearest: false,
            phase: Dur::ZERO,
            cut_due: Time::MAX,
            is_asked: false,
            is_told: false,
            cuts_again: false,
            cut_twice: false,
            #[cfg(feature = "ns3")]
            cuts: (0, None),
        }
    }

    /// The same in a device whose ways `drawn` decides: how it rounds its rates, and when its alpha timer runs out.
    #[must_use]
    pub(super) fn of_device(self, rp: &Rp, drawn: u64) -> Limiter {
        let phase = Dur((drawn >> 1) % rp.alpha_timer.0.max(1));
        Limiter { nearest: drawn & 1 == 1, phase, ..self }
    }

    /// Whether it is slower than its port.
    #[inline]
    pub(super) const fn is_slowed(&self) -> bool {
        self.rate < self.line
    }

    /// One of the rates that it can be set to: any, unless they are declared to lie a step apart.
    #[inline]
    fn settable(&self, rp: &Rp, rate: u64, least: u64) -> u64 {
        match rp.rate_step {
            Some(step) if step.bps > 1 => self.in_steps(step.bps, rate, least),
            _ => rate,
        }
    }

    #[cold]
    #[inline(never)]
    fn in_steps(&self, step: u64, rate: u64, least: u64) -> u64 {
        let below = rate / step * step;
        let up = self.nearest && rate - below >= step.div_ceil(2);
        let set = if up { below.saturating_add(step) } else { below };
        set.min(self.line).max(least)
    }

    /// The rate now.
    #[inline]
    pub const fn rate(&self) -> u64 {
        self.rate
    }

    /// What the rate recovers to.
    pub const fn target(&self) -> u64 {
        self.target
    }

    /// Alpha, in multiples of 2^-30.
    pub const fn alpha(&self) -> u32 {
        self.alpha
    }

    /// Increases since the last cut: by time, and by bytes.
    pub const fn increases(&self) -> (u32, u32) {
        (self.by_time, self.by_bytes)
    }

    /// Makes up for what the timers have done to the rate until `now`.
    #[inline]
    pub fn catch_up(&mut self, rp: &Rp, faults: &RpFaults, now: Time) {
        if self.due <= now {
            self.run_out(rp, faults, now);
        }
    }

    /// The same for all that they have done.
    pub fn catch_up_all(&mut self, rp: &Rp, faults: &RpFaults, now: Time) {
        self.catch_up(rp, faults, now);
        self.alpha_until(rp, faults, now);
    }

    /// Lets alpha fall at each step that was due until `now`, as long as none of them changes the rate.
    #[inline]
    fn decay(&mut self, rp: &Rp, faults: &RpFaults, now: Time) {
        if self.cuts_again || faults.alpha_not_decayed || self.is_told {
            return;
        }
        let (mut alpha, mut due) = (self.alpha, self.alpha_due);
        // What stays as it is needs no steps.
        while due <= now && alpha >= rp.inverse_g {
            alpha -= alpha / rp.inverse_g;
            due += rp.alpha_timer;
        }
        (self.alpha, self.alpha_due) = (alpha, due);
    }

    #[cold]
    #[inline(never)]
    fn run_out(&mut self, rp: &Rp, faults: &RpFaults, now: Time) {
        while self.due <= now {
            if self.is_asked && self.cut_due < self.timer_due {
                self.period_ran_out(rp, faults);
            } else if self.cuts_again && self.alpha_due <= self.timer_due {
                self.alpha_ran_out(rp, faults, now);
            } else {
                self.timer_ran_out(rp, faults, now);
            }
            self.set_due();
        }
    }

    fn set_due(&mut self) {
        let cut = if self.cuts_again { self.alpha_due } else { Time::MAX };
        let period = if self.is_asked { self.cut_due } else { Time::MAX };
        self.due = self.timer_due.min(cut).min(period);
    }

    /// How often it has cut at the end of a period, and when first.
    #[cfg(feature = "ns3")]
    pub const fn cuts(&self) -> (u64, Option<Time>) {
        self.cuts
    }

    /// Whether periods run.
    #[cfg(feature = "ns3")]
    pub(super) const fn goes_by_periods(&self) -> bool {
        self.cut_due.0 != Time::MAX.0
    }

    /// A CNP takes effect at `now` of a limiter that goes by periods.
    fn asked(&mut self, rp: &Rp, now: Time) {
        if self.cut_due == Time::MAX {
            self.alpha_due = now + rp.alpha_timer;
            self.cut_due = now + self.period(rp) + BEHIND_ALPHA;
        } else {
            if self.cut_due <= now {
                let missed = (now - self.cut_due) / self.period(rp) + 1;
                self.cut_due += self.period(rp) * missed;
            }
            self.is_told = true;
        }
        self.is_asked = true;
        self.set_due();
    }

    /// From one instant to cut at to the next.
    const fn period(&self, rp: &Rp) -> Dur {
        Dur(if rp.cut_window.0 == 0 { 1 } else { rp.cut_window.0 })
    }

    /// A period is over in which there was a CNP.
    fn period_ran_out(&mut self, rp: &Rp, faults: &RpFaults) {
        let at = self.cut_due;
        self.alpha_until(rp, faults, at);
        self.cut_due += self.period(rp);
        self.is_asked = false;
        #[cfg(feature = "ns3")]
        {
            self.cuts = (self.cuts.0 + 1, self.cuts.1.or(Some(at)));
        }
        self.reduce(rp, faults, at);
        self.last_cut = Some(at);
    }

    /// Makes up for the steps of alpha until `now`.
    fn alpha_until(&mut self, rp: &Rp, faults: &RpFaults, now: Time) {
        if self.is_told && self.alpha_due <= now {
            self.is_told = false;
            self.alpha_due += rp.alpha_timer;
            self.raise(rp, faults);
        }
        if self.alpha_due <= now {
            self.decay(rp, faults, now);
        }
        while self.alpha_due <= now {
            self.alpha_ran_out(rp, faults, now);
        }
    }

    /// Alpha comes nearer to one.
    const fn raise(&mut self, rp: &Rp, faults: &RpFaults) {
        if !faults.alpha_not_raised {
            self.alpha = self.alpha - self.alpha / rp.inverse_g + ONE / rp.inverse_g;
        }
    }

    fn alpha_ran_out(&mut self, rp: &Rp, faults: &RpFaults, now: Time) {
        let at = self.alpha_due;
        let step = if faults.alpha_not_decayed { 0 } else { self.alpha / rp.inverse_g };
        self.alpha -= step;
        self.alpha_due += rp.alpha_timer;
        if self.cuts_again {
            self.reduce(rp, faults, at);
        } else if step == 0 && self.alpha_due <= now {
            // What stays as it is needs no steps.
            let missed = (now - self.alpha_due) / rp.alpha_timer + 1;
            self.alpha_due += rp.alpha_timer * missed;
        }
    }

    fn timer_ran_out(&mut self, rp: &Rp, faults: &RpFaults, now: Time) {
        let before = (self.rate, self.target);
        self.timer_due += rp.timer;
        self.by_time = self.by_time.saturating_add(1);
        self.increase(rp, faults);
        let is_settled = before == (self.rate, self.target) && self.target == self.line;
        if is_settled && self.timer_due <= now {
            let missed = (now - self.timer_due) / rp.timer + 1;
            self.timer_due += rp.timer * missed;
            self.by_time = self.by_time.saturating_add(u32::try_from(missed).unwrap_or(u32::MAX));
        }
    }

    /// A CNP takes effect at `now`: whether it cut.
    pub fn notified(&mut self, rp: &Rp, faults: &RpFaults, now: Time) -> bool {
        self.catch_up_all(rp, faults, now);
        if rp.by_period == Some(true) {
            self.asked(rp, now);
            return true;
        }
        let in_window = self.last_cut.is_some_and(|last| now - last < rp.cut_window);
        if in_window && (!faults.cut_twice_per_window || self.cut_twice) {
            return false;
        }
        self.reduce(rp, faults, now);
        self.cut_twice = in_window;
        self.cuts_again = faults.cut_without_cnp;
        self.set_due();
        // A cut out of turn opens no window.
        if !in_window {
            self.last_cut = Some(now);
        }
        true
    }

    fn reduce(&mut self, rp: &Rp, faults: &RpFaults, now: Time) {
        if let Some(first) = rp.first_cnp_rate
            && self.last_cut.is_none()
        {
            self.rate = first.bps.min(self.line);
        }
        if faults.target_not_saved {
            self.target = self.line;
        } else if rp.clamp || self.increased || self.last_cut.is_none() {
            self.target = self.rate;
        }
        let product = u128::from(self.rate) * u128::from(self.alpha);
        let shift = rp.gd.unwrap_or(PAPER_GD).saturating_sub(10);
        let cut = u64::try_from((product / u128::from(ONE)) >> shift).unwrap_or(u64::MAX);
        let least = if faults.min_rate_ignored { 1 } else { rp.min_rate.bps };
        let leaves = rp.min_dec_fac.map_or(0, |share| {
            let leaves = u128::from(self.rate) * u128::from(share.0) / u128::from(PPM);
            u64::try_from(leaves).unwrap_or(u64::MAX)
        });
        let left = self.rate.saturating_sub(cut).max(leaves).max(least);
        self.rate = self.settable(rp, left, least);
        let by_period = rp.by_period == Some(true);
        if !by_period {
            self.raise(rp, faults);
        }
        self.increased = false;
        self.cuts_again = false;
        if !faults.stages_not_reset {
            (self.by_time, self.by_bytes) = (0, 0);
        }
        if !faults.bytes_not_reset {
            self.bytes = 0;
        }
        if !by_period {
            self.alpha_due = self.alpha_runs_out(rp, now);
        }
        if !faults.timer_not_restarted || self.timer_due == Time::MAX {
            self.timer_due = now + rp.timer;
        }
        self.set_due();
        self.last_cut = self.last_cut.or(Some(now));
    }

    /// When the alpha timer runs out after a cut.
    fn alpha_runs_out(&self, rp: &Rp, now: Time) -> Time {
        let since = match rp.alpha_free {
            Some(true) => Dur((now.0 + self.phase.0) % rp.alpha_timer.0),
            _ => Dur::ZERO,
        };
        now + (rp.alpha_timer - since)
    }

    /// Frames of `bytes` have left, after everything that was due.
    #[inline]
    pub fn sent(&mut self, rp: &Rp, faults: &RpFaults, bytes: u64) {
        // Before the first cut the counter does not run.
        if self.timer_due == Time::MAX || rp.byte_counter.0 == 0 {
            return;
        }
        self.bytes += bytes;
        if self.bytes >= rp.byte_counter.0 {
            self.bytes_ran_out(rp, faults);
        }
    }

    #[cold]
    #[inline(never)]
    fn bytes_ran_out(&mut self, rp: &Rp, faults: &RpFaults) {
        while self.bytes >= rp.byte_counter.0 {
            self.bytes -= rp.byte_counter.0;
            self.by_bytes = self.by_bytes.saturating_add(1);
            self.increase(rp, faults);
        }
    }

    #[inline]
    fn increase(&mut self, rp: &Rp, faults: &RpFaults) {
        let by_bytes = if rp.byte_counter.0 == 0 { self.by_time } else { self.by_bytes };
        let (less, more) = (self.by_time.min(by_bytes), self.by_time.max(by_bytes));
        let threshold = u32::from(rp.threshold);
        let step = if more < threshold {
            0
        } else if less > threshold || faults.hyper_before_additive {
            rp.hai_rate.bps
        } else {
            rp.ai_rate.bps
        };
        self.target = self.target.saturating_add(step).min(self.line);
        let least = if faults.min_rate_ignored { 1 } else { rp.min_rate.bps.min(self.target) };
        self.rate = self.settable(rp, self.rate.midpoint(self.target), least);
        self.increased = true;
    }
}

#[cfg(test)]
mod tests;
