//! What a CNP, time and bytes make of a rate: equations 1 to 4 of DCQCN (Zhu et al., SIGCOMM'15, section 3.1), in real numbers.
//!
//! With g = 1 / G, and while nothing else happens:
//!
//! | | |
//! | --- | --- |
//! | a cut | C (1 - alpha / 2), no less than the least rate; then alpha (1 - g) + g |
//! | as NVIDIA has it | C (1 - alpha / D), D = 2^(gd - 10), no less than C `min_dec_fac`; the first one from `first_cnp_rate` |
//! | alpha after m timers | alpha (1 - g)^m |
//! | C after k increases towards a target that stays | T - (T - C) / 2^k |
//!
//! No device has real numbers. It keeps a rate and alpha to some [`Grain`], and each result is off by one of them at most, whichever way
//! it rounds. What that comes to, by the step at which it is made:
//!
//! | | |
//! | --- | --- |
//! | a cut | a grain of the rate for the product, C / D of a grain of alpha for alpha / D; a grain for C `min_dec_fac` |
//! | alpha after a cut | two grains: alpha g and g are rounded, each by itself |
//! | alpha after m timers | twice the sum over i < m of (1 - g)^i, so the lesser of m and G, twice: alpha g is rounded, and g itself |
//! | C after k increases | the sum over i < k of 2^-i, so less than two grains |
//! | the target | a bit a second with each step |
//!
//! What was off before goes through the same equations as the value does.

use super::real::Real;
use rig_lab::Rp;
use rig_units::{Bytes, Dur, L2Rate, PortSpeed, Ppm};

/// How finely a device keeps what the equations are about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grain {
    /// Bits a second between two rates that it can be set to.
    pub rate: f64,
    /// The same of a target, which nobody sends at.
    pub target: f64,
    /// The least step between two values of alpha, 1 being all of it.
    pub alpha: f64,
}

impl Grain {
    /// What `docs/nic.md` asks of every reaction point: a bit a second, where it declares no step, and 2^-30.
    #[expect(clippy::cast_precision_loss, reason = "rates are far below 2^53")]
    pub const fn of(rp: &Rp) -> Grain {
        let rate = match rp.rate_step {
            Some(step) if step.bps > 1 => step.bps as f64,
            _ => 1.0,
        };
        Grain { rate, target: 1.0, alpha: 1.0 / (1 << 30) as f64 }
    }
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

/// The stage of an increase, by both counts as they have just become (figure 7 of the paper).
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

/// How far the target grows with an increase.
pub const fn step(rp: &Rp, stage: Stage) -> L2Rate {
    match stage {
        Stage::Recovery => L2Rate { bps: 0 },
        Stage::Additive => rp.ai_rate,
        Stage::Hyper => rp.hai_rate,
    }
}

/// Alpha before the first cut.
pub fn initial_alpha(rp: &Rp) -> Real {
    let declared = Real::of(rp.initial_alpha.0.into()) * Real::of(Ppm::ONE.0.into()).inverse();
    declared.give(Grain::of(rp).alpha).at_most(Real::ONE)
}

/// Alpha after so many timers, from the first to the second number of them where it is not known how many.
pub fn decayed(rp: &Rp, alpha: Real, (least, most): (u64, u64)) -> Real {
    let inverse_g = u64::from(rp.inverse_g);
    let keeps = Real::ONE - Real::of(inverse_g).inverse();
    let rounded = 2.0 * Real::of(most.min(inverse_g)).hi * Grain::of(rp).alpha;
    let after = |timers| alpha * keeps.power(timers);
    after(least).hull(after(most)).give(rounded)
}

/// Alpha after a cut: nearer to one by g.
pub fn raised(rp: &Rp, alpha: Real) -> Real {
    let g = Real::of(rp.inverse_g.into()).inverse();
    (alpha * (Real::ONE - g) + g).give(2.0 * Grain::of(rp).alpha).at_most(Real::ONE)
}

/// What alpha is divided by in a cut: two, unless NVIDIA's knob says that all of it counts.
fn divisor(rp: &Rp) -> f64 {
    rp.gd.map_or(2.0, |gd| 2_f64.powi(i32::from(gd) - 10))
}

/// What a cut leaves of a rate.
pub fn cut(rp: &Rp, rate: Real, alpha: Real) -> Real {
    let (Grain { rate: grain, alpha: of_alpha, .. }, divisor) = (Grain::of(rp), divisor(rp));
    let part = Real { lo: alpha.lo / divisor, hi: alpha.hi / divisor };
    let left = (rate * (Real::ONE - part)).give(grain + rate.hi * of_alpha / divisor);
    let left = match rp.min_dec_fac {
        None => left,
        Some(share) => {
            let share = Real::of(share.0.into()) * Real::of(Ppm::ONE.0.into()).inverse();
            left.at_least((rate * share).give(grain))
        }
    };
    left.at_least(Real::of(rp.min_rate.bps))
}

/// What the first cut of a limiter is taken from, on a port of this speed.
pub fn start(rp: &Rp, line: PortSpeed) -> Real {
    let set = rp.first_cnp_rate.map_or(line.bps(), |set| set.bps.min(line.bps()));
    Real::of(set)
}

/// The first cut of a limiter at the speed of the port.
pub fn first_cut(rp: &Rp, line: PortSpeed) -> Real {
    let mut alpha = initial_alpha(rp);
    // It comes at the end of a period, over which alpha has moved.
    if rp.by_period == Some(true) {
        let timers = rp.cut_window / rp.alpha_timer;
        alpha = alpha.hull(decayed(rp, alpha, (0, timers))).hull(Real::ONE);
    }
    cut(rp, start(rp, line), alpha)
}

/// The form of a cut, for reports.
pub const fn formula(rp: &Rp) -> &'static str {
    match (rp.gd, rp.min_dec_fac, rp.first_cnp_rate) {
        (None, None, None) => "C (1 - alpha / 2)",
        (_, _, None) => "C max(1 - alpha / 2^(gd - 10), min_dec_fac)",
        _ => "C max(1 - alpha / 2^(gd - 10), min_dec_fac), C = first_cnp_rate",
    }
}

/// How much of alpha is not told apart where so much of the rate is not, both in parts of a million; `None`: a cut may show nothing of alpha.
pub fn of_alpha(rp: &Rp, ppm: u64) -> Option<u64> {
    let all = matches!(rp.gd, Some(10));
    rp.min_dec_fac.is_none().then_some(if all { ppm } else { 2 * ppm })
}

/// The rate after so many increases towards a target that stays.
pub fn recovered(rp: &Rp, rate: Real, target: Real, increases: u64) -> Real {
    if increases == 0 {
        return rate;
    }
    let left = Real::exactly(0.5).power(increases);
    // Each of both stands once, so that what is open about it is counted once.
    let after = (rate * left + target * (Real::ONE - left)).give(2.0 * Grain::of(rp).rate);
    // No step takes a rate below the least one; a target may be less, on a port that is slower than that.
    after.at_least(Real::of(rp.min_rate.bps).at_most(target))
}

/// The target after an increase.
pub fn target(rp: &Rp, line: PortSpeed, target: Real, stage: Stage) -> Real {
    match step(rp, stage).bps {
        0 => target,
        more => (target + Real::of(more)).give(Grain::of(rp).target).at_most(Real::of(line.bps())),
    }
}

/// How long `bytes` hold the next back at a rate on a port of a speed: bits / rate, in whole picoseconds, rounded up or down, and off by less than a
/// step of the pacer where the rate is less than the speed. At the least, and at the most.
pub fn hold(rp: &Rp, line: PortSpeed, bytes: Bytes, rate: Real) -> (Dur, Dur) {
    let slowed = rate.lo < Real::of(line.bps()).lo;
    let step = rp.pacer_step.filter(|_| slowed).unwrap_or_default();
    const BITS_PS: f64 = 8e12;
    let ps = Real::of(bytes.0) * Real::exactly(BITS_PS) * rate.inverse();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "none is below zero, and what is more than a Dur can say is its most"
    )]
    let whole = |ps: f64| Dur(ps as u64);
    (whole(ps.lo.floor()).saturating_sub(step), whole(ps.hi.ceil()) + step)
}

#[cfg(test)]
mod tests;
