//! A reaction point that looks at the ends of periods whether there was a CNP (`rp.by_period`): when it may cut, and with what alpha.
//!
//! Both periods run from the first CNP's effect on by the limiter's own clock, so that what is open is on which side of an end a later CNP fell. Alpha
//! moves by CNPs and time alone, whatever was cut. Where stamps leave open whether an end saw a CNP both is followed; that one which may have
//! come before an end or behind it can be missing in neither is left out.

use super::forms;
use super::real::Real;
use rig_lab::Rp;
use rig_units::{Apart, Dur, Time};
use std::collections::BTreeMap;

/// The end of a period at which there may be a cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct End {
    /// When, where the limiter's clock is right.
    pub(super) at: Time,
    /// Whether a CNP fell into its period for certain.
    pub(super) is_certain: bool,
    /// Alpha then.
    pub(super) alpha: Real,
}

/// How long after the end of a period of alpha one of a cut ends that is as long.
const BEHIND: Dur = Dur::ns(1);

/// Of more periods than these it is not followed in which of them a CNP fell.
const MOST: u64 = 1_024;

/// Every end with a CNP in its period, of CNPs that take effect at `effects`, two of which may be `blur` off against each other. `None`: periods are so
/// short that one may have fallen into any of too many.
pub(super) fn ends(rp: &Rp, effects: &[Time], blur: Dur, apart: Apart) -> Option<Vec<End>> {
    let Some((&first, later)) = effects.split_first() else { return Some(Vec::new()) };
    let window = rp.cut_window.max(Dur(1));
    let ended = |since: Dur| since.saturating_sub(BEHIND) / window;
    let mut seen = Seen::default();
    let mut moved = Seen::default();
    seen.fell(1, 1)?;
    for &effect in later {
        let since = effect.since(first).unwrap_or_default();
        let blur = blur + Dur(apart.part(since.0));
        let (least, most) = (since.saturating_sub(blur), since + blur);
        seen.fell(ended(least) + 1, ended(most) + 1)?;
        moved.fell(least / rp.alpha_timer, most / rp.alpha_timer)?;
    }
    let mut alpha = (forms::initial_alpha(rp), 0);
    let ends = seen.0.iter().map(|(&number, &is_certain)| {
        let since = window * number + BEHIND;
        alpha = moved.alpha(rp, alpha, since / rp.alpha_timer);
        End { at: first + since, is_certain, alpha: alpha.0 }
    });
    Some(ends.collect())
}

/// Periods into which a CNP fell, by their number; whether it did so for certain.
#[derive(Debug, Default)]
struct Seen(BTreeMap<u64, bool>);

impl Seen {
    /// A CNP fell into one of these. `None`: they are too many.
    fn fell(&mut self, least: u64, most: u64) -> Option<()> {
        for number in (most - least < MOST).then_some(least..=most)? {
            *self.0.entry(number).or_default() |= least == most;
        }
        Some(())
    }

    /// Alpha once `until` periods are over, of what it was once so many were.
    fn alpha(&self, rp: &Rp, (mut alpha, mut over): (Real, u64), until: u64) -> (Real, u64) {
        for (&number, &is_certain) in self.0.range(over..until) {
            alpha = forms::decayed(rp, alpha, (number - over, number - over));
            let raised = forms::raised(rp, alpha);
            alpha =
                if is_certain { raised } else { raised.hull(forms::decayed(rp, alpha, (1, 1))) };
            over = number + 1;
        }
        let left = until.saturating_sub(over);
        (forms::decayed(rp, alpha, (left, left)), until.max(over))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_lab::Nic;
    use rig_units::Ppm;

    fn rp() -> Rp {
        Rp {
            by_period: Some(true),
            initial_alpha: Ppm::ONE,
            inverse_g: 4,
            alpha_timer: Dur::us(10),
            cut_window: Dur::us(20),
            ..Nic::quiet().rp
        }
    }

    fn us(all: &[u64]) -> Vec<Time> {
        all.iter().map(|&us| Time::ZERO + Dur::us(us)).collect()
    }

    fn is(real: Real, value: f64) {
        assert!(
            real.lo <= value && value <= real.hi && real.hi - real.lo < 1e-6,
            "{real:?} {value}"
        );
    }

    #[test]
    fn a_cnp_cuts_at_the_end_of_its_period_and_the_first_moves_no_alpha() {
        let all = ends(&rp(), &us(&[100, 115, 125, 185]), Dur::ZERO, Apart::NOT).unwrap();
        let at = |us: u64| Time::ZERO + Dur::us(us) + BEHIND;
        assert_eq!(all.iter().map(|end| end.at).collect::<Vec<_>>(), [at(120), at(140), at(200)]);
        assert!(all.iter().all(|end| end.is_certain));
        // A period without one, one with one; then one with one and one without; five without and one with.
        let first = 0.75 * 0.75 + 0.25;
        let second = (first * 0.75 + 0.25) * 0.75;
        is(all[0].alpha, first);
        is(all[1].alpha, second);
        is(all[2].alpha, (second * 0.75_f64.powi(4) * 0.75 + 0.25) * 0.75);
    }

    #[test]
    fn at_the_end_of_a_period_itself_a_cnp_is_of_the_next() {
        let end = Dur::us(20) + BEHIND;
        let all = [0, 1].map(|early| {
            let cnps = [Time::ZERO, Time::ZERO + end - Dur(early)];
            ends(&rp(), &cnps, Dur::ZERO, Apart::NOT).unwrap().len()
        });
        assert_eq!(all, [2, 1]);
    }

    #[test]
    fn by_stamps_that_are_off_a_cnp_near_an_end_may_be_of_either_period() {
        let all = ends(&rp(), &us(&[0, 19]), Dur::us(2), Apart::NOT).unwrap();
        let certain: Vec<bool> = all.iter().map(|end| end.is_certain).collect();
        assert_eq!(certain, [true, false]);
        // Alpha moved in the second period, or in the third, or in neither.
        let Real { lo, hi } = all[0].alpha;
        assert!(lo <= 0.75 * 0.75 && 0.75 * 0.75 + 0.25 <= hi + 1e-6, "{lo} {hi}");
        assert_eq!(ends(&rp(), &[], Dur::ZERO, Apart::NOT), Some(Vec::new()));
    }

    #[test]
    fn of_periods_that_are_short_against_the_stamps_nothing_is_said() {
        let each = Rp { cut_window: Dur::ZERO, ..rp() };
        assert_eq!(ends(&each, &us(&[0, 100]), Dur::ZERO, Apart::NOT).unwrap().len(), 2);
        assert_eq!(ends(&each, &us(&[0, 100]), Dur::ms(16), Apart::NOT), None);
        let fast = Rp { alpha_timer: Dur::us(1), ..rp() };
        assert_eq!(ends(&fast, &us(&[0, 50_000]), Dur::ms(16), Apart::NOT), None);
    }
}
