use super::*;
use rig_lab::Nic;
use rig_units::{L2Rate, Ppm};

/// The values of the paper: g = 1/256, both timers 55 us, 10 MB, F = 5, 40 Mb/s; alpha begins at 1.
fn paper() -> Rp {
    Rp { enable: true, cut_window: Dur::ZERO, ..Nic::quiet().rp }
}

const LINE: PortSpeed = PortSpeed::G100;

fn us(n: u64) -> Time {
    Time::ZERO + Dur::us(n)
}

impl Limiter<'_> {
    fn until(&mut self, at: Time) -> &mut Self {
        while self.timer().is_some_and(|due| due <= at) {
            self.run_timer();
        }
        self
    }

    fn cnp(&mut self, at: Time) {
        self.until(at).cut(at, Dur::ZERO);
    }
}

/// Whether a rate is known to a millionth, and is so many bits a second.
fn is(real: Real, bps: u64) {
    let want = Real::of(bps);
    assert!(real.lo <= want.lo && want.hi <= real.hi, "{real:?}, not {bps}");
    assert!(real.hi - real.lo < want.hi * 1e-6, "{real:?}");
}

#[test]
fn the_first_cut_halves_the_rate_and_makes_it_the_target() {
    let rp = paper();
    let mut limiter = Limiter::new(&rp, LINE);
    assert_eq!((limiter.timer(), limiter.last_cut()), (None, None));
    is(limiter.rate(), 100_000_000_000);
    limiter.cnp(us(10));
    is(limiter.rate(), 50_000_000_000);
    is(limiter.state.target, 100_000_000_000);
    // 1 - 1/256 + 1/256 = 1; after an alpha timer 255/256.
    let alpha = |at: Time| limiter.state.alpha.at(&rp, at, Dur::ZERO);
    assert!(alpha(Time(us(65).0 - 1)).hi >= 1.0 && alpha(us(65)).hi < 0.997);
    assert_eq!(limiter.timer(), Some(us(65)));
}

#[test]
fn an_alpha_that_begins_at_0_cuts_nothing_at_first_and_1_in_512_of_what_there_is_next() {
    let rp = Rp { initial_alpha: Ppm(0), ..paper() };
    let mut limiter = Limiter::new(&rp, LINE);
    limiter.cnp(us(1));
    is(limiter.rate(), 100_000_000_000);
    limiter.cnp(us(2));
    is(limiter.rate(), 99_804_687_500);
}

#[test]
fn four_steps_of_recovery_then_additive_increase_by_time() {
    // No byte counter: both counts are by time. C = 50, T = 100: 75, 87.5, 93.75, 96.875; the fifth is additive, T being at
    // most the line: 98.4375; the sixth is hyper.
    let rp = Rp { byte_counter: Bytes(0), ..paper() };
    let mut limiter = Limiter::new(&rp, LINE);
    limiter.cnp(us(0));
    for (k, want) in (0..).zip([50_000_000_000, 75_000_000_000, 87_500_000_000, 93_750_000_000]) {
        is(limiter.until(us(55 * k)).rate(), want);
    }
    let mut limiter = Limiter::new(&rp, LINE);
    limiter.cnp(us(0));
    // Two cuts: T = 50, C = 25: 4 steps: 50 - 25/16 = 48.4375; then T = 50.04: (48.4375 + 50.04) / 2 = 49.23875; hyper T = 50.24:
    // (49.23875 + 50.24) / 2 = 49.739375.
    limiter.cnp(us(0));
    for (k, want) in [(4, 48_437_500_000), (5, 49_238_750_000), (6, 49_739_375_000)] {
        is(limiter.until(us(55 * k)).rate(), want);
    }
}

#[test]
fn bytes_increase_like_time_does_and_what_is_over_counts_for_the_next() {
    let rp = Rp { byte_counter: Bytes(2_000), ..paper() };
    let mut limiter = Limiter::new(&rp, LINE);
    limiter.depart(Bytes(1_900));
    limiter.cnp(us(0));
    assert_eq!(limiter.by_bytes(), 0, "nothing counts before the first cut");
    // 1500 B at 50 Gb/s: 12000 bits in 240 ns. The increase that its own bytes make comes after it.
    let around = |ps: u64| Some((Dur(ps - 1), Dur(ps + 1)));
    assert_eq!(limiter.depart(Bytes(1_500)), around(240_000));
    assert_eq!(limiter.depart(Bytes(1_500)), around(240_000));
    assert_eq!(limiter.by_bytes(), 1);
    is(limiter.rate(), 75_000_000_000);
    // 1000 are over: 1000 more make it two.
    limiter.depart(Bytes(1_000));
    assert_eq!(limiter.by_bytes(), 2);
    limiter.depart(Bytes(6_000));
    assert_eq!(limiter.by_bytes(), 5);
    // Five by bytes: 50 / 2^5 is missing, the fifth of them is additive, and the target is the line.
    is(limiter.rate(), 98_437_500_000);
}

#[test]
fn without_the_clamp_a_cut_upon_a_cut_keeps_the_target() {
    let rp = Rp { clamp: false, ..paper() };
    let mut limiter = Limiter::new(&rp, LINE);
    limiter.cnp(us(0));
    limiter.cnp(us(1));
    is(limiter.rate(), 25_000_000_000);
    is(limiter.state.target, 100_000_000_000);
    // An increase at 56 us: (25 + 100) / 2 = 62.5; a cut after it makes that the target.
    limiter.cnp(us(60));
    is(limiter.state.target, 62_500_000_000);
}

#[test]
fn no_cut_goes_below_the_least_rate() {
    let rp = Rp { min_rate: L2Rate { bps: 100_000_000 }, ..paper() };
    let mut limiter = Limiter::new(&rp, LINE);
    (0..20).for_each(|at| limiter.cnp(us(at)));
    assert_eq!(limiter.rate(), Real::of(100_000_000));
}

#[test]
fn timers_go_before_a_cnp_at_the_same_instant() {
    let rp = paper();
    let mut limiter = Limiter::new(&rp, LINE);
    limiter.cnp(us(0));
    // alpha 255/256 and C = 75 first: 75 - 75 x 255/512 = 37.646484375.
    limiter.cnp(us(55));
    is(limiter.rate(), 37_646_484_375);
}

#[test]
fn where_stamps_leave_an_alpha_timer_open_the_cut_is_open_too() {
    let rp = Rp { timer: Dur::ms(9), ..paper() };
    let mut limiter = Limiter::new(&rp, LINE);
    limiter.cut(us(0), Dur::ZERO);
    // Half a microsecond before the alpha timer: 50 - 50 / 2 with alpha of 1, and of 255/256 half of 50 / 256 more.
    limiter.cut(Time(us(55).0 - 500_000), Dur::us(1));
    let rate = limiter.rate();
    assert!(
        (rate.lo - 25e9).abs() < 1e3 && (rate.hi - (25e9 + 25e9 / 256.0)).abs() < 1e3,
        "{rate:?}"
    );
}

#[test]
fn bursts_are_held_back_by_the_rate_at_which_they_began() {
    let rp = Rp { limiting: Limiting::Burst, burst: Bytes(4_000), ..paper() };
    let mut limiter = Limiter::new(&rp, LINE);
    let around = |ps: u64| Some((Dur(ps - 1), Dur(ps + 1)));
    assert_eq!(limiter.depart(Bytes(1_500)), None);
    limiter.cnp(us(1));
    assert_eq!(limiter.depart(Bytes(1_500)), None);
    // 4500 B at 100 Gb/s: 360 ns; the next burst at 50 Gb/s: 720 ns.
    assert_eq!(limiter.depart(Bytes(1_500)), around(360_000));
    let next = [1_500, 1_500, 1_500].map(|bytes| limiter.depart(Bytes(bytes)));
    assert_eq!(next, [None, None, around(720_000)]);
}

#[test]
fn what_the_first_cnp_sets_is_what_the_rate_recovers_to() {
    let rp = Rp {
        first_cnp_rate: Some(L2Rate { bps: 40_000_000_000 }),
        byte_counter: Bytes(0),
        ..paper()
    };
    let mut limiter = Limiter::new(&rp, LINE);
    is(limiter.rate(), 100_000_000_000);
    limiter.cnp(us(0));
    is(limiter.rate(), 20_000_000_000);
    is(limiter.until(us(55)).rate(), 30_000_000_000);
    // A later one is a cut as any: by alpha of 255/256.
    limiter.cnp(us(60));
    is(limiter.rate(), 15_058_593_750);
}

#[test]
fn an_alpha_timer_that_runs_on_has_run_out_as_often_or_once_more() {
    let rp = Rp { alpha_free: Some(true), ..paper() };
    let mut limiter = Limiter::new(&rp, LINE);
    limiter.cnp(us(0));
    let alpha = |at: Time| limiter.state.alpha.at(&rp, at, Dur::ZERO);
    let after = |timers: i32| (255.0_f64 / 256.0).powi(timers);
    let is =
        |real: Real, lo: f64, hi: f64| (real.lo - lo).abs() < 1e-6 && (real.hi - hi).abs() < 1e-6;
    // One timer is 55 us: after none of them it has run out once or not, after two whole ones twice.
    assert!(is(alpha(us(0)), 1.0, 1.0), "{:?}", alpha(us(0)));
    assert!(is(alpha(us(1)), after(1), 1.0), "{:?}", alpha(us(1)));
    assert!(is(alpha(us(110)), after(2), after(2)), "{:?}", alpha(us(110)));
    assert!(is(alpha(us(111)), after(3), after(2)), "{:?}", alpha(us(111)));
}
