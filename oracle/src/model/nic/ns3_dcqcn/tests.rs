use super::*;

const LINE: u64 = 100_000_000_000;

fn us(n: u64) -> Time {
    Time::ZERO + Dur::us(n)
}

/// The parameters that HPCC's scripts call `dcqcn`.
const CONFIG: Config = Config {
    alpha_timer: Dur::us(1),
    cut_timer: Dur::us(4),
    timer: Dur::us(300),
    threshold: 1,
    ai_rate: 20_000_000,
    hai_rate: 200_000_000,
    min_rate: 1_000_000_000,
    g: 8,
    ack_size: 60,
    ack_flight: Dur::ns(1_004),
};

#[test]
fn the_first_cnp_cuts_when_the_cut_timer_runs_out_behind_alpha() {
    let mut limiter = Limiter::new(LINE);
    limiter.notified(&CONFIG, us(10));
    limiter.catch_up(&CONFIG, us(14));
    assert_eq!(limiter.rate(), LINE);
    limiter.catch_up(&CONFIG, us(14) + Dur::ns(1));
    // Alpha has decayed four times: the first CNP only starts it.
    let alpha = (255.0_f64 / 256.0).powi(4);
    let want = LINE as f64 * (1.0 - alpha / 2.0);
    assert!((limiter.rate() as f64 - want).abs() < 1.0, "{} {want}", limiter.rate());
    assert_eq!((limiter.changes(), limiter.first_cut()), ((1, 0), Some(us(14) + Dur::ns(1))));
}

#[test]
fn cuts_that_follow_one_another_keep_the_target_and_recovery_is_additive_once() {
    let mut limiter = Limiter::new(LINE);
    for cnp in 0..3 {
        limiter.notified(&CONFIG, us(5 * cnp));
    }
    limiter.catch_up(&CONFIG, us(13));
    assert_eq!((limiter.changes(), limiter.target), ((3, 0), LINE));
    let slow = limiter.rate();
    let cut = us(12) + Dur::ns(1);
    limiter.catch_up(&CONFIG, cut + Dur::us(300));
    assert_eq!(limiter.rate(), slow / 2 + LINE / 2);
    // A cut behind an increase saves the target: now two increases to come are additive, then hyper.
    limiter.notified(&CONFIG, cut + Dur::us(300));
    limiter.catch_up(&CONFIG, cut + Dur::us(304));
    let target = slow / 2 + LINE / 2;
    assert_eq!(limiter.target, target);
    let mut targets = Vec::new();
    for round in 1..=4 {
        limiter.catch_up(&CONFIG, cut + Dur::us(304 + 300 * round));
        targets.push(limiter.target - target);
    }
    assert_eq!(targets, [0, 20_000_000, 220_000_000, 420_000_000]);
}

#[test]
fn gaps_are_whole_nanoseconds() {
    assert_eq!(gap(1_048, LINE), Dur::ns(83));
    assert_eq!(gap(1_048, LINE / 2), Dur::ns(167));
}
