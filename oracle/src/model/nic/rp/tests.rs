use super::*;
use proptest::prelude::*;
use rig_lab::Nic;
use rig_units::{Bytes, Dur, L2Rate, Ppm};

const LINE: u64 = 100_000_000_000;
const SOUND: RpFaults = RpFaults::NONE;

fn us(n: u64) -> Time {
    Time::ZERO + Dur::us(n)
}

fn rp() -> Rp {
    Nic::quiet().rp
}

fn limiter() -> Limiter {
    Limiter::new(&rp(), LINE)
}

#[test]
fn the_first_cnp_halves_the_rate_and_remembers_it() {
    let mut limiter = limiter();
    assert!(limiter.notified(&rp(), &SOUND, us(7)));
    assert_eq!((limiter.rate(), limiter.target()), (LINE / 2, LINE));
    // An alpha of 1 stays: what it loses it gains.
    assert_eq!(limiter.alpha(), ONE);
}

#[test]
fn a_second_cut_is_as_deep_as_what_is_left_of_alpha() {
    let mut limiter = limiter();
    limiter.notified(&rp(), &SOUND, us(0));
    limiter.catch_up_all(&rp(), &SOUND, us(55));
    // 2^30 - 2^22; half of the way back to 100 Gb/s.
    assert_eq!((limiter.alpha(), limiter.rate()), (1_069_547_520, 75_000_000_000));
    limiter.notified(&rp(), &SOUND, us(60));
    // 75 Gb/s x (1 - 255/512), and alpha less a 256th of it and more by 2^22.
    assert_eq!((limiter.rate(), limiter.target()), (37_646_484_375, 75_000_000_000));
    assert_eq!(limiter.alpha(), 1_069_547_520 - 4_177_920 + 4_194_304);
}

#[test]
fn a_cnp_within_the_window_does_nothing_and_one_at_its_end_cuts() {
    let mut limiter = limiter();
    limiter.notified(&rp(), &SOUND, us(100));
    assert!(!limiter.notified(&rp(), &SOUND, Time(us(150).0 - 1)));
    assert!(limiter.notified(&rp(), &SOUND, us(150)));
    assert_eq!(limiter.rate(), LINE / 4);
}

#[test]
fn without_a_clamp_cuts_that_follow_one_another_keep_the_target() {
    let rp = Rp { clamp: false, cut_window: Dur::ZERO, ..rp() };
    let mut limiter = limiter();
    limiter.notified(&rp, &SOUND, us(0));
    limiter.notified(&rp, &SOUND, us(10));
    assert_eq!((limiter.rate(), limiter.target()), (LINE / 4, LINE));
    limiter.catch_up_all(&rp, &SOUND, us(65));
    limiter.notified(&rp, &SOUND, us(66));
    assert_eq!(limiter.target(), 62_500_000_000);
}

#[test]
fn as_nvidia_has_it_a_cut_is_as_deep_as_gd_says_no_deeper_than_min_dec_fac_and_starts_where_it_is_set()
 {
    let rate = |rp: Rp| {
        let mut limiter = Limiter::new(&rp, LINE);
        limiter.notified(&rp, &SOUND, us(0));
        (limiter.rate() / 1_000_000_000, limiter.target() / 1_000_000_000)
    };
    let half = Rp { initial_alpha: Ppm(500_000), ..rp() };
    assert_eq!(
        [None, Some(11), Some(10)].map(|gd| rate(Rp { gd, ..half })),
        [(75, 100), (75, 100), (50, 100)]
    );
    let at_most = |ppm| rate(Rp { min_dec_fac: Some(Ppm(ppm)), ..rp() });
    assert_eq!(
        [250_000, 500_000, 800_000, 1_000_000].map(at_most),
        [(50, 100), (50, 100), (80, 100), (100, 100)]
    );
    let set = |bps| rate(Rp { first_cnp_rate: Some(L2Rate { bps }), ..rp() });
    assert_eq!([40_000_000_000, 400_000_000_000].map(set), [(20, 40), (50, 100)]);
    // It is set once.
    let rp =
        Rp { first_cnp_rate: Some(L2Rate { bps: 40_000_000_000 }), cut_window: Dur::ZERO, ..rp() };
    let mut limiter = Limiter::new(&rp, LINE);
    limiter.notified(&rp, &SOUND, us(0));
    limiter.notified(&rp, &SOUND, us(10));
    assert_eq!((limiter.rate(), limiter.target()), (10_000_000_000, 20_000_000_000));
}

#[test]
fn no_cut_goes_below_the_least_rate() {
    let rp = Rp { min_rate: L2Rate { bps: 60_000_000_000 }, ..rp() };
    let mut limiter = limiter();
    limiter.notified(&rp, &SOUND, us(0));
    assert_eq!(limiter.rate(), 60_000_000_000);
}

/// A limiter with a target of 50 Gb/s and no byte counter.
fn recovering(rp: &Rp) -> Limiter {
    let mut limiter = limiter();
    limiter.notified(rp, &SOUND, us(0));
    limiter.notified(rp, &SOUND, us(50));
    assert_eq!((limiter.rate(), limiter.target()), (LINE / 4, LINE / 2));
    limiter
}

#[test]
fn recovery_is_fast_then_additive_then_hyper() {
    let rp = Rp { threshold: 2, byte_counter: Bytes(0), ..rp() };
    let mut limiter = recovering(&rp);
    let mut targets = Vec::new();
    for round in 1..=4 {
        limiter.catch_up_all(&rp, &SOUND, us(50 + 55 * round));
        targets.push((limiter.target(), limiter.rate()));
    }
    assert_eq!(
        targets,
        [
            (50_000_000_000, 37_500_000_000),
            (50_040_000_000, 43_770_000_000),
            (50_240_000_000, 47_005_000_000),
            (50_440_000_000, 48_722_500_000),
        ]
    );
}

#[test]
fn hyper_increase_takes_both_counts() {
    let rp = Rp { threshold: 1, byte_counter: Bytes(1_000), ..rp() };
    let mut limiter = recovering(&rp);
    for _ in 0..2 {
        limiter.sent(&rp, &SOUND, 1_000);
    }
    assert_eq!((limiter.target(), limiter.increases()), (50_080_000_000, (0, 2)));
    limiter.catch_up_all(&rp, &SOUND, us(105));
    assert_eq!((limiter.target(), limiter.increases()), (50_120_000_000, (1, 2)));
    limiter.catch_up_all(&rp, &SOUND, us(160));
    assert_eq!((limiter.target(), limiter.increases()), (50_320_000_000, (2, 2)));
}

#[test]
fn what_is_over_counts_for_the_next_run_of_the_byte_counter() {
    let rp = Rp { byte_counter: Bytes(1_000), ..rp() };
    let mut limiter = limiter();
    // It does not run before the first cut.
    limiter.sent(&rp, &SOUND, 900);
    limiter.notified(&rp, &SOUND, us(0));
    limiter.sent(&rp, &SOUND, 999);
    assert_eq!(limiter.increases(), (0, 0));
    limiter.sent(&rp, &SOUND, 1_500);
    assert_eq!(limiter.increases(), (0, 2));
    limiter.sent(&rp, &SOUND, 501);
    assert_eq!(limiter.increases(), (0, 3));
}

/// The same rule with a step for each timer that runs out.
#[derive(Debug, Clone)]
struct Eager {
    rate: u64,
    target: u64,
    alpha: u64,
    counts: (u64, u64),
    bytes: u64,
    last_cut: Option<u64>,
    increased: bool,
    alpha_due: Option<u64>,
    timer_due: Option<u64>,
}

impl Eager {
    fn new(rp: &Rp) -> Eager {
        let alpha = u64::from(rp.initial_alpha.0) * (1 << 30) / 1_000_000;
        let none = None;
        Eager {
            rate: LINE,
            target: LINE,
            alpha,
            counts: (0, 0),
            bytes: 0,
            last_cut: none,
            increased: false,
            alpha_due: none,
            timer_due: none,
        }
    }

    fn until(&mut self, rp: &Rp, now: u64) {
        loop {
            let first = self.alpha_due.into_iter().chain(self.timer_due).min();
            let Some(at) = first.filter(|&at| at <= now) else { return };
            if self.alpha_due == Some(at) {
                self.alpha -= self.alpha / u64::from(rp.inverse_g);
                self.alpha_due = Some(at + rp.alpha_timer.0);
            }
            if self.timer_due == Some(at) {
                self.counts.0 += 1;
                self.timer_due = Some(at + rp.timer.0);
                self.increase(rp);
            }
        }
    }

    fn increase(&mut self, rp: &Rp) {
        let f = u64::from(rp.threshold);
        let (time, bytes) = self.counts;
        let bytes = if rp.byte_counter == Bytes(0) { time } else { bytes };
        self.target += match (time < f && bytes < f, time > f && bytes > f) {
            (true, _) => 0,
            (_, true) => rp.hai_rate.bps,
            _ => rp.ai_rate.bps,
        };
        self.target = self.target.min(LINE);
        self.rate = (self.rate + self.target) / 2;
        self.increased = true;
    }

    fn cnp(&mut self, rp: &Rp, now: u64) {
        self.until(rp, now);
        if self.last_cut.is_some_and(|last| now - last < rp.cut_window.0) {
            return;
        }
        if self.last_cut.is_none() {
            self.rate = rp.first_cnp_rate.map_or(self.rate, |rate| rate.bps.min(LINE));
        }
        if rp.clamp || self.increased || self.last_cut.is_none() {
            self.target = self.rate;
        }
        let of = if rp.gd == Some(10) { 1 << 30 } else { 1 << 31 };
        let by = u128::from(self.rate) * u128::from(self.alpha) / of;
        let share = u128::from(rp.min_dec_fac.map_or(0, |share| share.0));
        let floor = u64::try_from(u128::from(self.rate) * share / 1_000_000).unwrap();
        self.rate = (self.rate - u64::try_from(by).unwrap()).max(floor).max(rp.min_rate.bps);
        let g = u64::from(rp.inverse_g);
        self.alpha = self.alpha - self.alpha / g + (1 << 30) / g;
        (self.counts, self.bytes, self.increased) = ((0, 0), 0, false);
        (self.alpha_due, self.timer_due) = (Some(now + rp.alpha_timer.0), Some(now + rp.timer.0));
        self.last_cut = Some(now);
    }

    fn sent(&mut self, rp: &Rp, now: u64, bytes: u64) {
        self.until(rp, now);
        if self.last_cut.is_none() || rp.byte_counter == Bytes(0) {
            return;
        }
        self.bytes += bytes;
        while self.bytes >= rp.byte_counter.0 {
            self.bytes -= rp.byte_counter.0;
            self.counts.1 += 1;
            self.increase(rp);
        }
    }
}

#[derive(Debug, Clone)]
enum Act {
    Cnp,
    Send(u64),
    Look,
}

proptest! {
    #[test]
    fn timers_that_are_made_up_for_late_are_those_that_run_out_in_time(
        acts in prop::collection::vec((prop_oneof![Just(Act::Cnp), (1..200_000_u64).prop_map(Act::Send), Just(Act::Look)], prop_oneof![0..60_u64, 0..3_000_u64, Just(55_u64), Just(900_000_u64)]), 1..60),
        (inverse_g, threshold, clamp, initial) in (2..300_u32, 1..8_u8, any::<bool>(), 0..=1_000_000_u32),
        (gd, share, first) in (prop_oneof![Just(None), Just(Some(10_u8))], prop::option::of(0..=1_000_000_u32), prop::option::of(1..=200_u64)),
        (alpha_timer, timer, window, counter) in (prop_oneof![Just(55_u64), 1..100_u64], prop_oneof![Just(55_u64), 1..100_u64], 0..100_u64, prop_oneof![Just(0_u64), 1_000..1_000_000_u64]),
    ) {
        let rp = Rp {
            inverse_g, threshold, clamp,
            gd,
            min_dec_fac: share.map(Ppm),
            first_cnp_rate: first.map(|gbps| L2Rate { bps: gbps * 1_000_000_000 }),
            initial_alpha: Ppm(initial),
            alpha_timer: Dur::us(alpha_timer),
            timer: Dur::us(timer),
            cut_window: Dur::us(window),
            byte_counter: Bytes(counter),
            ..rp()
        };
        let (mut lazy, mut eager) = (Limiter::new(&rp, LINE), Eager::new(&rp));
        let mut now = us(0);
        for (act, wait) in acts {
            now += Dur::us(wait);
            match act {
                Act::Cnp => {
                    lazy.notified(&rp, &SOUND, now);
                    eager.cnp(&rp, now.0);
                }
                Act::Send(bytes) => {
                    lazy.catch_up(&rp, &SOUND, now);
                    lazy.sent(&rp, &SOUND, bytes);
                    eager.sent(&rp, now.0, bytes);
                }
                Act::Look => {
                    lazy.catch_up_all(&rp, &SOUND, now);
                    eager.until(&rp, now.0);
                    let (time, bytes) = lazy.increases();
                    prop_assert_eq!(
                        (lazy.rate(), lazy.target(), u64::from(lazy.alpha()), (time.into(), bytes.into())),
                        (eager.rate, eager.target, eager.alpha, eager.counts)
                    );
                }
            }
            prop_assert_eq!((lazy.rate(), lazy.target()), (eager.rate, eager.target));
        }
    }
}

#[test]
fn a_rate_in_steps_is_the_multiple_below_or_the_nearest_and_the_least_rate_is_kept() {
    let rp =
        Rp { rate_step: Some(L2Rate { bps: 10_000_000_000 }), initial_alpha: Ppm(500_000), ..rp() };
    let cut = |rp: &Rp, drawn| {
        let mut limiter = Limiter::new(rp, LINE).of_device(rp, drawn);
        assert!(!limiter.is_slowed());
        limiter.notified(rp, &SOUND, us(0));
        limiter
    };
    // 75 Gb/s.
    assert_eq!([0, 1].map(|drawn| cut(&rp, drawn).rate()), [70_000_000_000, 80_000_000_000]);
    // Halfway back to the port's: 85 and 90 Gb/s.
    let back = [0, 1].map(|drawn| {
        let mut limiter = cut(&rp, drawn);
        limiter.catch_up(&rp, &SOUND, us(55));
        (limiter.rate(), limiter.target())
    });
    assert_eq!(back, [(80_000_000_000, LINE), (90_000_000_000, LINE)]);
    let rp = Rp { min_rate: L2Rate { bps: 76_000_000_000 }, ..rp };
    assert_eq!([0, 1].map(|drawn| cut(&rp, drawn).rate()), [76_000_000_000, 80_000_000_000]);
}

#[test]
fn an_alpha_timer_that_runs_on_runs_out_at_instants_of_its_own_whatever_cuts() {
    let rp = Rp { alpha_free: Some(true), cut_window: Dur::ZERO, ..rp() };
    // It ran out 20 us before the first instant, and does every 55 us: at 35, 90, 145 and 200 us.
    let mut limiter = Limiter::new(&rp, LINE).of_device(&rp, Dur::us(20).0 * 2);
    limiter.notified(&rp, &SOUND, us(100));
    let at = |limiter: &mut Limiter, now| {
        limiter.catch_up_all(&rp, &SOUND, now);
        limiter.alpha()
    };
    assert_eq!(at(&mut limiter, Time(us(145).0 - 1)), ONE);
    assert_eq!(at(&mut limiter, us(145)), ONE - ONE / 256);
    // A cut raises it and starts no timer.
    limiter.notified(&rp, &SOUND, us(150));
    let raised = limiter.alpha();
    assert_eq!(at(&mut limiter, Time(us(200).0 - 1)), raised);
    assert!(at(&mut limiter, us(200)) < raised);
}

/// The parameters that HPCC's scripts call `dcqcn`.
fn by_period() -> Rp {
    Rp {
        by_period: Some(true),
        initial_alpha: Ppm::ONE,
        inverse_g: 256,
        alpha_timer: Dur::us(1),
        cut_window: Dur::us(4),
        timer: Dur::us(300),
        byte_counter: Bytes(0),
        threshold: 2,
        ai_rate: L2Rate { bps: 20_000_000 },
        hai_rate: L2Rate { bps: 200_000_000 },
        min_rate: L2Rate { bps: 1_000_000_000 },
        clamp: false,
        ..rp()
    }
}

#[test]
fn by_periods_the_first_cnp_cuts_when_that_of_a_cut_is_over_behind_alpha() {
    let rp = by_period();
    let mut limiter = Limiter::new(&rp, LINE);
    limiter.notified(&rp, &SOUND, us(10));
    limiter.catch_up(&rp, &SOUND, us(14));
    assert_eq!(limiter.rate(), LINE);
    limiter.catch_up(&rp, &SOUND, us(14) + Dur::ns(1));
    // Alpha has decayed four times: the first CNP only starts it.
    let want = LINE as f64 * (1.0 - (255.0_f64 / 256.0).powi(4) / 2.0);
    assert!((limiter.rate() as f64 - want).abs() < 500.0, "{} {want}", limiter.rate());
}

#[test]
fn by_periods_cuts_that_follow_one_another_keep_the_target_and_recovery_is_additive_once() {
    let rp = by_period();
    let mut limiter = Limiter::new(&rp, LINE);
    let catch_up = |limiter: &mut Limiter, at| limiter.catch_up(&rp, &SOUND, at);
    for cnp in 0..3 {
        limiter.notified(&rp, &SOUND, us(5 * cnp));
    }
    catch_up(&mut limiter, us(13));
    assert_eq!(limiter.target(), LINE);
    let slow = limiter.rate();
    assert!(slow < LINE / 4, "three cuts: {slow}");
    let cut = us(12) + Dur::ns(1);
    catch_up(&mut limiter, cut + Dur::us(300));
    assert_eq!(limiter.rate(), slow.midpoint(LINE));
    // A cut behind an increase saves the target: now one increase recovers, the next is additive, then they are hyper.
    limiter.notified(&rp, &SOUND, cut + Dur::us(300));
    catch_up(&mut limiter, cut + Dur::us(304));
    let target = slow.midpoint(LINE);
    assert_eq!(limiter.target(), target);
    let mut targets = Vec::new();
    for round in 1..=4 {
        catch_up(&mut limiter, cut + Dur::us(304 + 300 * round));
        targets.push(limiter.target() - target);
    }
    assert_eq!(targets, [0, 20_000_000, 220_000_000, 420_000_000]);
}
