use super::*;
use rig_lab::Nic;

/// The values of the paper: g = 1/256, both timers 55 us, 10 MB, F = 5, 40 Mb/s; alpha begins at 1.
fn paper() -> Rp {
    Rp { enable: true, cut_window: Dur::ZERO, ..Nic::quiet().rp }
}

const LINE: PortSpeed = PortSpeed::G100;

fn us(n: u64) -> Time {
    Time::ZERO + Dur::us(n)
}

#[test]
fn the_first_cut_halves_the_rate_and_makes_it_the_target() {
    let rp = paper();
    let mut limiter = Limiter::new(&rp, LINE);
    assert_eq!(limiter.rate(us(1_000)).bps, 100_000_000_000);
    let cut = limiter.cnp(us(10)).unwrap();
    assert_eq!((cut.before.bps, cut.after.bps), (100_000_000_000, 50_000_000_000));
    assert_eq!(limiter.target(us(10)).bps, 100_000_000_000);
    // 1 - 1/256 + 1/256 = 1; after an alpha timer 255/256 of 2^30 = 1 069 547 520.
    assert_eq!(limiter.alpha(us(64)), Alpha::ONE);
    assert_eq!(limiter.alpha(us(65)), Alpha(1_069_547_520));
    // Nothing else runs before the first cut.
    assert_eq!(limiter.counts(us(64)), (0, 0));
}

#[test]
fn an_alpha_that_begins_at_0_cuts_nothing_at_first_and_1_in_512_of_what_there_is_next() {
    let rp = Rp { initial_alpha: Ppm(0), ..paper() };
    let mut limiter = Limiter::new(&rp, LINE);
    assert_eq!(limiter.cnp(us(1)).unwrap().after.bps, 100_000_000_000);
    // alpha = 2^30 / 256 = 4 194 304; 10^11 x 4194304 / 2^31 = 195 312 500.
    assert_eq!(limiter.alpha(us(1)), Alpha(4_194_304));
    assert_eq!(limiter.cnp(us(2)).unwrap().after.bps, 99_804_687_500);
}

#[test]
fn a_cnp_within_the_window_does_nothing_and_at_its_end_it_cuts() {
    let rp = Rp { cut_window: Dur::us(50), ..paper() };
    let mut limiter = Limiter::new(&rp, LINE);
    assert!(limiter.cnp(us(100)).is_some());
    assert_eq!(limiter.cnp(Time(us(150).0 - 1)), None);
    assert_eq!(limiter.counts(us(155)), (1, 0), "a CNP that does nothing starts no timer anew");
    assert!(limiter.cnp(us(150)).is_some());
    assert_eq!(limiter.rate(us(150)).bps, 25_000_000_000);
    let off = Rp { enable: false, ..rp };
    assert_eq!(Limiter::new(&off, LINE).cnp(us(1)), None);
}

#[test]
fn four_steps_of_recovery_then_additive_increase_by_time() {
    // No byte counter: both counts are by time. C = 50, T = 100: 75, 87.5, 93.75, 96.875; the fifth is additive, T being at
    // most the line: 98.4375; the sixth is hyper.
    let rp = Rp { byte_counter: Bytes(0), ..paper() };
    let mut limiter = Limiter::new(&rp, LINE);
    limiter.cnp(us(0));
    let rates: Vec<u64> = (0..6).map(|k| limiter.rate(us(55 * k)).bps / 100_000).collect();
    assert_eq!(rates, [500_000, 750_000, 875_000, 937_500, 968_750, 984_375]);
    // Two cuts: T = 50, C = 25 after the first recovery is not reached; 4 steps: 50 - 25/16 = 48.4375; then T = 50.04:
    // (48.4375 + 50.04) / 2 = 49.23875; hyper T = 50.24: (49.23875 + 50.24) / 2 = 49.739375.
    limiter.cnp(us(0));
    let rate = |k: u64| limiter.rate(us(55 * k)).bps;
    assert_eq!(rate(4), 48_437_500_000);
    assert_eq!(rate(5), 49_238_750_000);
    assert_eq!(rate(6), 49_739_375_000);
}

#[test]
fn bytes_increase_like_time_does_and_what_is_over_counts_for_the_next() {
    let rp = Rp { byte_counter: Bytes(2_000), ..paper() };
    let mut limiter = Limiter::new(&rp, LINE);
    limiter.frame(us(0), Bytes(1_900));
    limiter.cnp(us(0));
    assert_eq!(limiter.counts(us(0)), (0, 0), "nothing counts before the first cut");
    // 1500 B at 50 Gb/s: 12000 bits in 240 ns. The increase that its own bytes make comes after it.
    assert_eq!(limiter.frame(us(1), Bytes(1_500)), Dur::ns(240));
    assert_eq!(limiter.frame(us(2), Bytes(1_500)), Dur::ns(240));
    assert_eq!((limiter.counts(us(2)), limiter.rate(us(2)).bps), ((0, 1), 75_000_000_000));
    // 1000 are over: 1000 more make it two. 12000 / 75 = 160 ns; 8000 / 75 = 106.67, rounded up to the picosecond.
    assert_eq!(limiter.frame(us(3), Bytes(1_000)), Dur(106_667));
    assert_eq!(limiter.counts(us(3)), (0, 2));
    limiter.frame(us(4), Bytes(6_000));
    assert_eq!(limiter.counts(us(4)), (0, 5));
    // By time 1, by bytes 5 = F: additive.
    assert_eq!(limiter.counts(us(55)), (1, 5));
}

#[test]
fn hyper_increase_needs_both_counts_above_the_threshold() {
    assert_eq!(stage(5, 4, 4), Stage::Recovery);
    assert_eq!(stage(5, 5, 0), Stage::Additive);
    assert_eq!(stage(5, 4, 9), Stage::Additive);
    assert_eq!(stage(5, 5, 9), Stage::Additive);
    assert_eq!(stage(5, 6, 6), Stage::Hyper);
}

#[test]
fn without_the_clamp_a_cut_upon_a_cut_keeps_the_target() {
    let rp = Rp { clamp: false, ..paper() };
    let mut limiter = Limiter::new(&rp, LINE);
    limiter.cnp(us(0));
    limiter.cnp(us(1));
    assert_eq!(
        (limiter.rate(us(1)).bps, limiter.target(us(1)).bps),
        (25_000_000_000, 100_000_000_000)
    );
    // An increase at 56 us: (25 + 100) / 2 = 62.5; a cut after it makes that the target.
    limiter.cnp(us(60));
    assert_eq!(limiter.target(us(60)).bps, 62_500_000_000);
}

#[test]
fn no_cut_goes_below_the_least_rate() {
    let rp = paper();
    let mut limiter = Limiter::new(&rp, LINE);
    for at in 0..20 {
        limiter.cnp(us(at));
    }
    assert_eq!(limiter.rate(us(19)).bps, 100_000_000);
}

#[test]
fn timers_go_before_a_cnp_at_the_same_instant() {
    let rp = paper();
    let mut limiter = Limiter::new(&rp, LINE);
    limiter.cnp(us(0));
    // alpha 255/256 and C = 75 first: 75 - 75 x 255/512 = 37.646484375.
    assert_eq!(limiter.cnp(us(55)).unwrap().after.bps, 37_646_484_375);
}

#[test]
fn bursts_are_held_back_by_the_rate_at_which_they_began() {
    let rp = Rp { limiting: Limiting::Burst, burst: Bytes(4_000), ..paper() };
    let mut limiter = Limiter::new(&rp, LINE);
    assert_eq!(limiter.frame(us(0), Bytes(1_500)), Dur::ZERO);
    limiter.cnp(us(1));
    assert_eq!(limiter.frame(us(2), Bytes(1_500)), Dur::ZERO);
    // 4500 B at 100 Gb/s: 360 ns; the next burst at 50 Gb/s: 720 ns.
    assert_eq!(limiter.frame(us(3), Bytes(1_500)), Dur::ns(360));
    let next = [1_500, 1_500, 1_500].map(|bytes| limiter.frame(us(4), Bytes(bytes)));
    assert_eq!(next, [Dur::ZERO, Dur::ZERO, Dur::ns(720)]);
}
