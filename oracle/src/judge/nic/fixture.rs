//! What the tests of this folder share: a sender with a reaction point of its own, in whole numbers, that rounds as it is told to.

use rig_lab::{Limiting, Rp};
use rig_units::{Bytes, Dur, PortSpeed, Ppm, Time};

/// What becomes of what a division leaves over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rounds {
    Down,
    Up,
    Nearest,
}

/// A device: what it is set to, how it rounds, and how many parts of 2^-30 the g that it has is off.
#[derive(Debug, Clone, Copy)]
pub(super) struct Device {
    pub(super) rp: Rp,
    pub(super) rounds: Rounds,
    pub(super) g_off: i64,
}

const ONE: i128 = 1 << 30;

/// A limiter as a chip may have it.
struct Chip {
    rate: i128,
    target: i128,
    alpha: i128,
    timers: u64,
    counted: u64,
    sent: u64,
    cut: Option<Time>,
    alpha_due: Time,
    timer_due: Time,
}

impl Device {
    pub(super) const fn healthy(rp: &Rp) -> Device {
        Device { rp: *rp, rounds: Rounds::Down, g_off: 0 }
    }

    fn over(&self, a: i128, b: i128) -> i128 {
        match self.rounds {
            Rounds::Down => a.div_euclid(b),
            Rounds::Up => -(-a).div_euclid(b),
            Rounds::Nearest => (2 * a + b).div_euclid(2 * b),
        }
    }

    fn g(&self) -> i128 {
        self.over(ONE, self.rp.inverse_g.into()) + i128::from(self.g_off)
    }

    fn run(&self, chip: &mut Chip, line: i128, until: Time) {
        while chip.alpha_due.min(chip.timer_due) <= until {
            if chip.alpha_due <= chip.timer_due {
                chip.alpha_due += self.rp.alpha_timer;
                chip.alpha -= self.over(chip.alpha * self.g(), ONE);
            } else {
                chip.timer_due += self.rp.timer;
                chip.timers += 1;
                if self.rp.byte_counter == Bytes(0) {
                    chip.counted = chip.timers;
                }
                self.increase(chip, line);
            }
        }
    }

    fn increase(&self, chip: &mut Chip, line: i128) {
        let f = u64::from(self.rp.threshold);
        let (less, more) = (chip.timers.min(chip.counted), chip.timers.max(chip.counted));
        chip.target += i128::from(match (less, more) {
            (_, more) if more < f => 0,
            (less, _) if less > f => self.rp.hai_rate.bps,
            _ => self.rp.ai_rate.bps,
        });
        chip.target = chip.target.min(line);
        chip.rate = self.over(chip.rate + chip.target, 2);
    }

    fn notified(&self, chip: &mut Chip, at: Time) {
        if !self.rp.enable || chip.cut.is_some_and(|cut| at < cut + self.rp.cut_window) {
            return;
        }
        if let (None, Some(first)) = (chip.cut, self.rp.first_cnp_rate) {
            chip.rate = i128::from(first.bps).min(chip.rate);
        }
        if self.rp.clamp || chip.cut.is_none() || chip.timers + chip.counted > 0 {
            chip.target = chip.rate;
        }
        let divisor = if self.rp.gd == Some(10) { 1 } else { 2 };
        let share = i128::from(self.rp.min_dec_fac.unwrap_or_default().0);
        let leaves = self.over(chip.rate * share, Ppm::ONE.0.into());
        chip.rate -= self.over(chip.rate * chip.alpha, divisor * ONE);
        chip.rate = chip.rate.max(leaves).max(self.rp.min_rate.bps.into());
        chip.alpha += self.g() - self.over(chip.alpha * self.g(), ONE);
        (chip.timers, chip.counted, chip.sent, chip.cut) = (0, 0, 0, Some(at));
        (chip.alpha_due, chip.timer_due) = (at + self.rp.alpha_timer, at + self.rp.timer);
    }

    fn count(&self, chip: &mut Chip, line: i128, bytes: u64) {
        let every = self.rp.byte_counter.0;
        if chip.cut.is_none() || every == 0 {
            return;
        }
        chip.sent += bytes;
        while chip.sent >= every {
            chip.sent -= every;
            chip.counted += 1;
            self.increase(chip, line);
        }
    }

    /// What it leaves on the wire if it always has a frame, with CNPs that arrive at `cnps`.
    pub(super) fn greedy(
        &self,
        port: PortSpeed,
        cnps: &[Time],
        bytes: Bytes,
        count: usize,
    ) -> Vec<(Time, Bytes)> {
        let line = i128::from(port.bps());
        let alpha = i128::from(self.rp.initial_alpha.0) * ONE;
        let mut chip = Chip {
            rate: line,
            target: line,
            alpha: self.over(alpha, Ppm::ONE.0.into()),
            timers: 0,
            counted: 0,
            sent: 0,
            cut: None,
            alpha_due: Time::MAX,
            timer_due: Time::MAX,
        };
        let mut due = cnps.iter().map(|&at| at + self.rp.latency.least()).peekable();
        let (mut at, mut first, mut burst, mut paid) = (Time(5), Time(5), 0, 0);
        let mut frames = Vec::new();
        for _ in 0..count {
            while let Some(cnp) = due.next_if(|&cnp| cnp <= at) {
                self.run(&mut chip, line, cnp);
                self.notified(&mut chip, cnp);
            }
            self.run(&mut chip, line, at);
            frames.push((at, bytes));
            if burst == 0 {
                (first, paid) = (at, chip.rate);
            }
            burst += bytes.0;
            self.count(&mut chip, line, bytes.0);
            at += port.slot(bytes);
            if self.rp.limiting == Limiting::Packet || burst >= self.rp.burst.0 {
                let held = self.over(i128::from(burst) * 8_000_000_000_000, paid);
                at = at.max(first + Dur(u64::try_from(held).expect("a rate above zero")));
                burst = 0;
            }
        }
        frames
    }
}
