//! Exact binomial statistics: bounds on a probability, and how many trials a conclusion needs.
//!
//! In floating point, by sums of exact terms; no random numbers, so the same counts give the same bounds. These numbers
//! decide verdicts, never the order of events.

/// The chance that a deviation of the printed resolution is found.
pub const POWER: f64 = 0.99;

/// Logarithms of the factorials up to `n`.
fn ln_factorials(n: u32) -> Vec<f64> {
    let mut sums = vec![0.0];
    for k in 1..=n {
        sums.push(sums[sums.len() - 1] + f64::from(k).ln());
    }
    sums
}

/// The sum of the probabilities of exactly `k` of `n` at `p`, for each `k` given.
fn sum(n: u32, ks: core::ops::RangeInclusive<u32>, p: f64, ln_factorials: &[f64]) -> f64 {
    // Both logarithms once: they are what most of the time would go to.
    let (ln_p, ln_rest) = (p.ln(), (1.0 - p).ln());
    let part = |count: u32, ln: f64| if count == 0 { 0.0 } else { f64::from(count) * ln };
    let ln = |k: u32| ln_factorials[usize::try_from(k).unwrap_or(usize::MAX)];
    let term = |k: u32| ln(n) - ln(k) - ln(n - k) + part(k, ln_p) + part(n - k, ln_rest);
    ks.map(|k| term(k).exp()).sum::<f64>().min(1.0)
}

/// The probability of at least `k` of `n` at `p`.
pub fn at_least(n: u32, k: u32, p: f64) -> f64 {
    sum(n, k..=n, p, &ln_factorials(n))
}

/// The probability of at most `k` of `n` at `p`.
pub fn at_most(n: u32, k: u32, p: f64) -> f64 {
    sum(n, 0..=k.min(n), p, &ln_factorials(n))
}

/// Bounds that hold the probability behind `k` of `n` with confidence `1 - alpha`, half of alpha on each side (Clopper
/// and Pearson, Biometrika 26, 1934).
pub fn clopper_pearson(n: u32, k: u32, alpha: f64) -> (f64, f64) {
    let factorials = ln_factorials(n);
    let lo = if k == 0 { 0.0 } else { root(|p| sum(n, k..=n, p, &factorials) > alpha / 2.0) };
    let hi = if k >= n { 1.0 } else { root(|p| sum(n, 0..=k, p, &factorials) < alpha / 2.0) };
    (lo, hi)
}

/// Where `beyond` becomes true between 0 and 1, to the last bit that halving finds.
fn root(beyond: impl Fn(f64) -> bool) -> f64 {
    let (mut lo, mut hi) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(lo, hi);
        if beyond(middle) { hi = middle } else { lo = middle }
    }
    f64::midpoint(lo, hi)
}

/// Whether `k` of `n` contradicts every probability from `lo` to `hi`, at a false-alarm chance of `alpha`.
pub fn contradicts(n: u32, k: u32, (lo, hi): (f64, f64), alpha: f64) -> bool {
    at_most(n, k, lo) < alpha / 2.0 || at_least(n, k, hi) < alpha / 2.0
}

/// The fewest trials that tell `p1` from `p0` with the given power, at a false-alarm chance of `alpha`; `None` when
/// even 2 000 do not.
pub fn sample_size(alpha: f64, power: f64, p0: f64, p1: f64) -> Option<u32> {
    const MOST: u32 = 2_000;
    let factorials = ln_factorials(MOST);
    let at_least = |n, k, p| sum(n, k..=n, p, &factorials);
    let (p0, p1) = if p1 < p0 { (1.0 - p0, 1.0 - p1) } else { (p0, p1) };
    // The fewest successes that contradict p0 only grow with n.
    let mut critical = 0;
    (1..=MOST).find(|&n| {
        while critical <= n && at_least(n, critical, p0) >= alpha / 2.0 {
            critical += 1;
        }
        critical <= n && at_least(n, critical, p1) >= power
    })
}

/// The chances outside of which `n` trials contradict every one from `lo` to `hi` with the given power, at a false-alarm chance of
/// `alpha`: the nearest below and above. Where none is so far off that it does, 0 and 1.
pub fn told(n: u32, (lo, hi): (f64, f64), alpha: f64, power: f64) -> (f64, f64) {
    let factorials = ln_factorials(n);
    let at_least = |n, k, p| sum(n, k..=n, p, &factorials);
    let at_most = |n, k, p| sum(n, 0..=k, p, &factorials);
    let ks = || 0..=n;
    let most = ks().rev().find(|&k| at_most(n, k, lo) < alpha / 2.0);
    let least = ks().find(|&k| at_least(n, k, hi) < alpha / 2.0);
    let below = most.map_or(0.0, |k| root(|p| at_most(n, k, p) < power));
    let above = least.map_or(1.0, |k| root(|p| at_least(n, k, p) >= power));
    (below, above)
}

/// A number of draws; `x` is whole, and far below what a float holds exactly.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cast saturates")]
pub(super) fn whole(x: f64) -> u32 {
    x as u32
}

/// What a standard normal variable exceeds, one way or the other, with a chance of `alpha`; `alpha` up to a third. The tail is
/// Laplace's continued fraction.
pub fn normal_beyond(alpha: f64) -> f64 {
    let tail = |z: f64| {
        let fraction = (1..=500).rev().fold(z, |below, k| z + f64::from(k) / below);
        (-z * z / 2.0).exp() / (fraction * core::f64::consts::TAU.sqrt())
    };
    let (mut lo, mut hi) = (0.9, 38.0);
    for _ in 0..60 {
        let middle = f64::midpoint(lo, hi);
        if 2.0 * tail(middle) > alpha { lo = middle } else { hi = middle }
    }
    f64::midpoint(lo, hi)
}

/// What a variable of Student's distribution with `free` degrees of freedom exceeds, one way or the other, with a chance of
/// `alpha`; `alpha` down to 10^-12 or so. The chance is a finite sum (Abramowitz and Stegun 26.7.3 and 26.7.4).
pub fn student_beyond(free: u32, alpha: f64) -> f64 {
    let free = free.max(1);
    let tail = |t: f64| {
        let angle = (t / f64::from(free).sqrt()).atan();
        let square = angle.cos().powi(2);
        let odd = free % 2 == 1;
        // Each term is the one before times cos^2 and k / (k + 1).
        let first = if odd { angle.cos() } else { 1.0 };
        let terms = if odd { (free - 1) / 2 } else { free / 2 };
        let (mut term, mut sum) = (first, 0.0);
        for i in 0..terms {
            sum += term;
            let k = f64::from(2 * i + if odd { 2 } else { 1 });
            term *= square * k / (k + 1.0);
        }
        let within = angle.sin() * sum;
        if odd { 1.0 - (angle + within) * core::f64::consts::FRAC_2_PI } else { 1.0 - within }
    };
    let (mut lo, mut hi) = (0.0, 1.0);
    while tail(hi) > alpha && hi < 1e13 {
        hi *= 2.0;
    }
    for _ in 0..100 {
        let middle = f64::midpoint(lo, hi);
        if tail(middle) > alpha { lo = middle } else { hi = middle }
    }
    f64::midpoint(lo, hi)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: (f64, f64), want: (f64, f64)) {
        let near = |a: f64, b: f64| (a - b).abs() < 5e-5;
        assert!(near(got.0, want.0) && near(got.1, want.1), "{got:?}, want {want:?}");
    }

    #[test]
    fn clopper_pearson_gives_the_tabled_bounds() {
        // 0 of 10 at 95 %: 1 - 0.025^(1/10).
        close(clopper_pearson(10, 0, 0.05), (0.0, 0.308_497));
        close(clopper_pearson(10, 10, 0.05), (1.0 - 0.308_497, 1.0));
        close(clopper_pearson(10, 5, 0.05), (0.187_086, 0.812_914));
        close(clopper_pearson(10, 1, 0.05), (0.002_529, 0.445_016));
        close(clopper_pearson(20, 0, 0.05), (0.0, 0.168_433));
        close(clopper_pearson(100, 10, 0.05), (0.049_005, 0.176_223));
        // 0 of n: 1 - (alpha / 2)^(1/n), here at 99.9999 % of 20 000.
        close(clopper_pearson(20_000, 0, 1e-6), (0.0, 0.000_725_2));
    }

    #[test]
    fn the_normal_tail_is_where_tables_have_it() {
        for (alpha, z) in
            [(0.05, 1.959_964), (0.01, 2.575_829), (1e-6, 4.891_638), (0.317_310_5, 1.0)]
        {
            assert!((normal_beyond(alpha) - z).abs() < 2e-6, "{alpha}: {}", normal_beyond(alpha));
        }
    }

    #[test]
    fn students_tail_is_where_tables_have_it() {
        for (free, alpha, t) in [
            (1, 0.05, 12.706_2),
            (2, 0.05, 4.302_65),
            (5, 0.01, 4.032_14),
            (10, 0.05, 2.228_14),
            (11, 0.05, 2.200_99),
            (30, 0.001, 3.646_0),
        ] {
            let got = student_beyond(free, alpha);
            assert!((got - t).abs() < 1e-4, "{free} {alpha}: {got}");
        }
        // 2 t (2 + t^2)^-1/2 in closed form for two: far out it is 1 / sqrt(alpha).
        assert!((student_beyond(2, 1e-10) * 1e-5 - 1.0).abs() < 1e-4);
        assert!((student_beyond(2_000, 1e-6) - normal_beyond(1e-6)).abs() < 0.02);
    }

    #[test]
    fn tails_are_exact_sums() {
        assert!((at_least(10, 8, 0.5) - 56.0 / 1024.0).abs() < 1e-12);
        assert!((at_most(4, 1, 0.25) - (81.0 + 108.0) / 256.0).abs() < 1e-12);
        assert!((at_least(5, 1, 0.0) - 0.0).abs() < 1e-12);
        assert!((at_most(5, 5, 1.0) - 1.0).abs() < 1e-12);
        assert!((at_most(5, 4, 1.0) - 0.0).abs() < 1e-12);
    }

    #[test]
    fn one_exception_contradicts_a_certainty() {
        assert!(contradicts(3, 2, (1.0, 1.0), 1e-9));
        assert!(contradicts(3, 1, (0.0, 0.0), 1e-9));
        assert!(!contradicts(3, 3, (1.0, 1.0), 1e-9));
        assert!(!contradicts(10, 5, (0.4, 0.6), 0.05));
        assert!(contradicts(100, 90, (0.4, 0.6), 1e-6));
    }

    #[test]
    fn the_sample_is_as_large_as_the_difference_is_small() {
        // A certainty against even odds: 1 - 2^-n >= 0.99 from n = 7.
        assert_eq!(sample_size(1e-6, 0.99, 0.0, 0.5), Some(7));
        assert_eq!(sample_size(1e-6, 0.99, 1.0, 0.5), Some(7));
        // Worked by summing the tails: 47 trials reject 0.1 from 14 successes on, which 0.5 reaches in 99.8 %.
        let n = sample_size(1e-3, 0.99, 0.1, 0.5).unwrap();
        let critical = (0..=n).find(|&k| at_least(n, k, 0.1) < 5e-4).unwrap();
        assert!(at_least(n, critical, 0.5) >= 0.99);
        let fewer = (0..n).find(|&k| at_least(n - 1, k, 0.1) < 5e-4).unwrap();
        assert!(at_least(n - 1, fewer, 0.5) < 0.99);
        assert!(sample_size(1e-6, 0.99, 0.5, 0.501).is_none());
    }

    #[test]
    fn what_is_told_is_what_a_sample_of_that_size_is_planned_for() {
        let n = sample_size(1e-6, 0.99, 0.25, 0.75).unwrap();
        let (below, above) = told(n, (0.25, 0.25), 1e-6, 0.99);
        assert!((0.7..=0.75).contains(&above), "{n}: {above}");
        // Of so few, not even none at all contradicts a quarter.
        assert!(below.abs() < 1e-9, "{below}");
        // One exception to a certainty is enough, so it has to come but for one time in a hundred: 1 - p^7 = 0.99.
        let (below, _) = told(7, (1.0, 1.0), 1e-6, 0.99);
        assert!((below - 0.01_f64.powf(1.0 / 7.0)).abs() < 1e-6, "{below}");
    }
}
