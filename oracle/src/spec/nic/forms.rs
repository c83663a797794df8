//! What the reaction point's recurrences come to in closed form, for one limiter and while nothing else happens.
//!
//! With a = alpha at first, g = 1 / G, n cuts in a row, then m alpha timers and k increases towards a target T that stays:
//!
//! | | |
//! | --- | --- |
//! | alpha | (1 - (1 - a) (1 - g)^n) (1 - g)^m |
//! | rate after n cuts | C times the product over i < n of 1 - (1 - (1 - a) (1 - g)^i) / 2; with a = 1: C / 2^n |
//! | rate after k increases | T - ceil((T - C) / 2^k), in whole bits a second and exact |
//! | k-th increase by time | k timers after the cut |
//!
//! Alpha and the cuts are in floating point and differ from the rule's whole numbers by less than a bit a second for each cut
//! and G 2^-30 in alpha; the increases are exact, because halving and rounding up may be done in one go.

use super::rp::{Alpha, Stage, stage};
use rig_lab::Rp;
use rig_units::{Bytes, Dur, L2Rate, PortSpeed};

/// Alpha after so many cuts in a row, and then alpha timers.
pub fn alpha(rp: &Rp, cuts: i32, timers: i32) -> f64 {
    let first = share(Alpha::of(rp.initial_alpha));
    let keeps = 1.0 - 1.0 / f64::from(rp.inverse_g);
    (1.0 - (1.0 - first) * keeps.powi(cuts)) * keeps.powi(timers)
}

/// The part of the rate that so many cuts in a row leave, without a least rate.
pub fn left(rp: &Rp, cuts: i32) -> f64 {
    (0..cuts).map(|before| 1.0 - alpha(rp, before, 0) / 2.0).product()
}

/// The first cut of a limiter at the speed of the port: C (1 - a / 2), and no less than the least rate.
pub fn first_cut(rp: &Rp, line: PortSpeed) -> L2Rate {
    let (line, a) = (u128::from(line.bps()), u128::from(Alpha::of(rp.initial_alpha).0));
    let cut = line - line * a / (2 * u128::from(Alpha::ONE.0));
    L2Rate { bps: u64::try_from(cut).unwrap_or(u64::MAX).max(rp.min_rate.bps) }
}

/// The rate after `steps` increases towards a target that stays.
pub const fn recovered(rate: L2Rate, target: L2Rate, steps: u32) -> L2Rate {
    let below = target.bps.saturating_sub(rate.bps);
    let left = match 1_u64.checked_shl(steps) {
        Some(parts) => below.div_ceil(parts),
        None if below == 0 => 0,
        None => 1,
    };
    L2Rate { bps: target.bps - left }
}

/// A rate, and how long after the cut it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// After the cut took effect.
    pub after: Dur,
    /// From then on.
    pub rate: L2Rate,
}

/// The rates after a cut to `rate`, by time alone: the first `steps` increases. For a limiter that sends less than its byte
/// counter in that time, or has none.
pub fn recovery(
    rp: &Rp,
    line: PortSpeed,
    (rate, target): (L2Rate, L2Rate),
    steps: u64,
) -> Vec<Step> {
    let (mut rate, mut target) = (rate.bps, target.bps);
    (1..=steps)
        .map(|k| {
            let by_bytes = if rp.byte_counter == Bytes(0) { k } else { 0 };
            target += match stage(rp.threshold, k, by_bytes) {
                Stage::Recovery => 0,
                Stage::Additive => rp.ai_rate.bps,
                Stage::Hyper => rp.hai_rate.bps,
            };
            target = target.min(line.bps());
            rate = target - target.saturating_sub(rate).div_ceil(2);
            Step { after: rp.timer * k, rate: L2Rate { bps: rate } }
        })
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "at most 2^30")]
fn share(alpha: Alpha) -> f64 {
    alpha.0 as f64 / Alpha::ONE.0 as f64
}

#[cfg(test)]
mod tests {
    use super::super::rp::Limiter;
    use super::*;
    use proptest::prelude::*;
    use rig_lab::Nic;
    use rig_units::{Ppm, Time};

    const LINE: PortSpeed = PortSpeed::G100;

    fn rp(initial: u32, inverse_g: u32) -> Rp {
        let min_rate = L2Rate { bps: 1 };
        let free = Rp { enable: true, cut_window: Dur::ZERO, min_rate, ..Nic::quiet().rp };
        Rp { initial_alpha: Ppm(initial), inverse_g, ..free }
    }

    fn bps(bps: u64) -> L2Rate {
        L2Rate { bps }
    }

    #[test]
    fn cuts_in_a_row_are_those_worked_by_hand() {
        // a = 1: halves. a = 1/2, g = 1/4: alpha 1/2, 5/8, 23/32; 3/4 x 11/16 = 33/64 of the rate; x 41/64 = 1353/4096.
        assert!((left(&rp(1_000_000, 256), 3) - 0.125).abs() < 1e-12);
        assert!((left(&rp(500_000, 4), 2) - 33.0 / 64.0).abs() < 1e-12);
        assert!((left(&rp(500_000, 4), 3) - 1_353.0 / 4_096.0).abs() < 1e-12);
        assert!((alpha(&rp(500_000, 4), 2, 0) - 23.0 / 32.0).abs() < 1e-12);
        // Two alpha timers: 23/32 x 9/16 = 207/512.
        assert!((alpha(&rp(500_000, 4), 2, 2) - 207.0 / 512.0).abs() < 1e-12);
        assert_eq!(first_cut(&rp(500_000, 4), LINE).bps, 75_000_000_000);
    }

    /// Increases until a rate is reached, towards a target that stays; `None`: it never is.
    fn steps_to(rate: L2Rate, target: L2Rate, want: L2Rate) -> Option<u32> {
        (0..=u64::BITS).find(|&steps| recovered(rate, target, steps) >= want)
    }

    #[test]
    fn nine_tenths_of_the_line_are_reached_after_three_timers() {
        // From half: 75, 87.5, 93.75 %: 3 timers. 99 %: 1/2^(k+1) <= 1/100, k = 6.
        let (half, line) = (bps(50_000_000_000), bps(100_000_000_000));
        assert_eq!(steps_to(half, line, bps(90_000_000_000)), Some(3));
        assert_eq!(steps_to(half, line, bps(99_000_000_000)), Some(6));
        assert_eq!(steps_to(half, line, bps(100_000_000_001)), None);
        // Rounding down never quite reaches the target: 3 -> 4 of 5, and there it stays.
        assert_eq!(recovered(bps(3), bps(5), 1), bps(4));
        assert_eq!(recovered(bps(3), bps(5), 70), bps(4));
    }

    proptest! {
        #[test]
        fn the_forms_agree_with_the_steps_of_the_rule(
            initial in 0_u32..=1_000_000, inverse_g in 2_u32..1_000, cuts in 1_i32..12, timers in 0_i32..40, bytes in any::<bool>(),
        ) {
            let mut rp = rp(initial, inverse_g);
            if !bytes {
                rp.byte_counter = Bytes(0);
            }
            let mut limiter = Limiter::new(&rp, LINE);
            for _ in 0..cuts {
                limiter.cnp(Time(0));
            }
            let now = Time(0);
            let (rate, target) = (limiter.rate(now), limiter.target(now));
            #[expect(clippy::cast_precision_loss, reason = "rates are below 2^53")]
            let off = (rate.bps as f64 - left(&rp, cuts) * LINE.bps() as f64).abs();
            // Each alpha is off by less than G units of 2^-30 from what it should be, and so is each factor.
            prop_assert!(off < 1e11 * f64::from(inverse_g) * f64::from(cuts) / 1e9 + f64::from(cuts), "{off}");
            let later = Time(0) + rp.alpha_timer * u64::try_from(timers).unwrap();
            let off = (share(limiter.alpha(later)) - alpha(&rp, cuts, timers)).abs();
            prop_assert!(off < f64::from(inverse_g) / 1e9 + 1e-9, "{off}");
            for step in recovery(&rp, LINE, (rate, target), 12) {
                prop_assert_eq!(limiter.rate(Time(0) + step.after), step.rate);
                prop_assert!(limiter.rate(Time(step.after.0 - 1)) <= step.rate);
            }
            for steps in 0..u32::from(rp.threshold) {
                let at = Time(0) + rp.timer * u64::from(steps);
                prop_assert_eq!(limiter.rate(at), recovered(rate, target, steps));
            }
        }
    }
}
