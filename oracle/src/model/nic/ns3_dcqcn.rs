//! DCQCN as a packet simulator has it (HPCC's ns-3, `rdma-hw.cc`), to be held against its figures. A build has it only with
//! the feature `ns3`, and no profile can reach it.
//!
//! Its acknowledgements carry the mark of their frame back to the sender, where each that is marked counts as a CNP. The first
//! starts two timers that run freely: one moves alpha, by whether there was a CNP since it ran out last; the other, a nanosecond
//! behind it, cuts if there was one. There is no byte counter, one increase is additive and those behind it are hyper, and gaps
//! between frames are whole nanoseconds.

mod of_nic;

use rig_units::{Dur, Time};

/// The simulator's parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// From one step of alpha to the next.
    pub alpha_timer: Dur,
    /// From one possible cut to the next.
    pub cut_timer: Dur,
    /// From one increase to the next, and from a cut to the first.
    pub timer: Dur,
    /// Increases of fast recovery.
    pub threshold: u32,
    /// Steps of the increases behind it: of the first, and of all others.
    pub ai_rate: u64,
    /// The same, of all others.
    pub hai_rate: u64,
    /// No cut goes below it.
    pub min_rate: u64,
    /// g is 2^-n.
    pub g: u32,
    /// Size of an acknowledgement.
    pub ack_size: u16,
    /// What it takes on its last cable.
    pub ack_flight: Dur,
}

/// Alpha of 1: fine enough that alpha differs from the simulator's double only where that is rounded.
const ONE: u64 = 1 << 62;

/// One limiter. Rates are bits a second of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limiter {
    line: u64,
    rate: u64,
    target: u64,
    alpha: u64,
    /// Increases since the last cut.
    stage: u32,
    /// Whether there was a CNP since the alpha timer ran out, and since a cut was possible.
    alpha_saw: bool,
    cut_saw: bool,
    alpha_due: Time,
    timer_due: Time,
    cut_due: Time,
    /// When the rate may change next by itself.
    due: Time,
    cuts: u64,
    increases: u64,
    first_cut: Option<Time>,
}

impl Limiter {
    /// No CNP so far, on a port of `line` bits a second.
    pub const fn new(line: u64) -> Limiter {
        Limiter {
            line,
            rate: line,
            target: line,
            alpha: ONE,
            stage: 0,
            alpha_saw: false,
            cut_saw: false,
            alpha_due: Time::MAX,
            timer_due: Time::MAX,
            cut_due: Time::MAX,
            due: Time::MAX,
            cuts: 0,
            increases: 0,
            first_cut: None,
        }
    }

    /// The rate now.
    #[inline]
    pub const fn rate(&self) -> u64 {
        self.rate
    }

    /// Cuts and increases so far.
    pub const fn changes(&self) -> (u64, u64) {
        (self.cuts, self.increases)
    }

    /// When it cut first.
    pub const fn first_cut(&self) -> Option<Time> {
        self.first_cut
    }

    /// Makes up for the timers that have run out until `now`.
    #[inline]
    pub fn catch_up(&mut self, config: &Config, now: Time) {
        if self.due <= now {
            self.run_out(config, now);
        }
    }

    #[inline(never)]
    fn run_out(&mut self, config: &Config, now: Time) {
        while self.due <= now {
            // What was scheduled first goes first.
            if self.timer_due == self.due {
                self.timer_due += config.timer;
                self.increase(config);
            } else {
                self.cut(config);
            }
            self.set_due();
        }
    }

    fn set_due(&mut self) {
        let cut = if self.cut_saw { self.cut_due } else { Time::MAX };
        self.due = self.timer_due.min(cut);
    }

    /// Makes up for the steps of alpha until `now`: nothing follows from it before a cut.
    fn catch_alpha_up(&mut self, config: &Config, now: Time) {
        if self.alpha_due > now {
            return;
        }
        if self.alpha_saw {
            self.alpha = self.alpha - (self.alpha >> config.g) + (ONE >> config.g);
            self.alpha_saw = false;
            self.alpha_due += config.alpha_timer;
        }
        while self.alpha_due <= now {
            self.alpha -= self.alpha >> config.g;
            self.alpha_due += config.alpha_timer;
        }
    }

    fn cut(&mut self, config: &Config) {
        let at = self.cut_due;
        self.catch_alpha_up(config, at);
        self.cut_due += config.cut_timer;
        self.cut_saw = false;
        if self.stage > 0 {
            self.target = self.rate;
        }
        let left = u128::from(self.rate) * u128::from(2 * ONE - self.alpha) / u128::from(2 * ONE);
        self.rate = u64::try_from(left).unwrap_or(u64::MAX).max(config.min_rate);
        self.stage = 0;
        self.timer_due = at + config.timer;
        self.cuts += 1;
        self.first_cut = self.first_cut.or(Some(at));
    }

    fn increase(&mut self, config: &Config) {
        let step = match self.stage {
            stage if stage < config.threshold => 0,
            stage if stage == config.threshold => config.ai_rate,
            _ => config.hai_rate,
        };
        self.target = (self.target + step).min(self.line);
        self.rate = self.rate / 2 + self.target / 2;
        self.stage += 1;
        self.increases += 1;
    }

    /// A marked acknowledgement arrives at `now`.
    pub fn notified(&mut self, config: &Config, now: Time) {
        // At one instant the simulator handles first what was scheduled first: the alpha timer, if it takes longer than an
        // acknowledgement on its last cable.
        self.catch_up(config, now);
        let acks_first = config.alpha_timer <= config.ack_flight;
        self.catch_alpha_up(config, now.saturating_sub(Dur(u64::from(acks_first))));
        if self.cut_due <= now {
            let missed = (now - self.cut_due) / config.cut_timer + 1;
            self.cut_due += config.cut_timer * missed;
        }
        self.cut_saw = true;
        self.alpha_saw = self.alpha_due != Time::MAX;
        if self.alpha_due == Time::MAX {
            self.target = self.rate;
            self.alpha_due = now + config.alpha_timer;
            self.cut_due = now + config.cut_timer + Dur::ns(1);
        }
        self.set_due();
    }
}

/// From a frame of so many bytes to the next: cut down to whole nanoseconds.
#[cold]
#[inline(never)]
fn gap(size: u64, rate: u64) -> Dur {
    let ns = u128::from(size) * 8_000_000_000 / u128::from(rate.max(1));
    Dur::ns(u64::try_from(ns).unwrap_or(u64::MAX / 1_000))
}

#[cfg(test)]
mod tests;
