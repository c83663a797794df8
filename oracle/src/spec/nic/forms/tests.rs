use super::*;
use proptest::prelude::*;
use rig_lab::Nic;

const LINE: PortSpeed = PortSpeed::G100;

/// Alpha of one, as the chips of these tests keep it.
const ONE: u128 = 1 << 30;

fn rp(initial: u32, inverse_g: u32) -> Rp {
    Rp { initial_alpha: Ppm(initial), inverse_g, min_rate: L2Rate { bps: 1 }, ..Nic::quiet().rp }
}

/// Whether `want` is inside, and the ends are no further apart than a few millionths of it.
fn near(real: Real, want: f64) -> bool {
    real.lo <= want && want <= real.hi && real.hi - real.lo <= want * 2e-6 + 1e-5
}

#[test]
fn cuts_and_alpha_are_those_worked_by_hand() {
    // a = 1: halves. a = 1/2, g = 1/4: alpha 1/2, 5/8, 23/32; 3/4 x 11/16 = 33/64 of the rate; x 41/64 = 1353/4096.
    assert!(near(first_cut(&rp(1_000_000, 256), LINE), 5e10));
    let rp = rp(500_000, 4);
    let (mut rate, mut alpha) = (Real::of(LINE.bps()), initial_alpha(&rp));
    for want in
        [(3.0, 4.0, 5.0 / 8.0), (33.0, 64.0, 23.0 / 32.0), (1_353.0, 4_096.0, 101.0 / 128.0)]
    {
        rate = cut(&rp, rate, alpha);
        alpha = raised(&rp, alpha);
        assert!(near(rate, want.0 / want.1 * 1e11) && near(alpha, want.2), "{rate:?} {alpha:?}");
    }
    // Two alpha timers: 101/128 x 9/16 = 909/2048; two or three: down to 3/4 of that.
    assert!(near(decayed(&rp, alpha, (2, 2)), 909.0 / 2_048.0));
    let either = decayed(&rp, alpha, (2, 3));
    assert!(
        (either.lo - 2_727.0 / 8_192.0).abs() < 1e-7 && (either.hi - 909.0 / 2_048.0).abs() < 1e-7
    );
}

#[test]
fn each_increase_takes_half_of_what_is_left() {
    // From half of the line: 75, 87.5, 93.75 %; after ten 1/2048 of it is missing; after a thousand nothing.
    let (rp, half, full) = (rp(0, 256), Real::of(50_000_000_000), Real::of(100_000_000_000));
    for (k, want) in [
        (0, 50e9),
        (1, 75e9),
        (2, 87.5e9),
        (3, 93.75e9),
        (10, 1e11 * 2_047.0 / 2_048.0),
        (1_000, 1e11),
    ] {
        let rate = recovered(&rp, half, full, k);
        assert!(near(rate, want) && rate.hi - rate.lo < 5.0, "{k}: {rate:?}");
    }
    assert_eq!(recovered(&rp, half, full, 0).lo.ceil(), 5e10);
}

#[test]
fn no_target_passes_the_line_and_no_cut_the_least_rate() {
    let rp = Rp { min_rate: L2Rate { bps: 60_000_000_000 }, ..rp(1_000_000, 256) };
    assert_eq!(first_cut(&rp, LINE), Real::of(60_000_000_000));
    let full = Real::of(LINE.bps());
    assert_eq!(target(&rp, LINE, full, Stage::Hyper), full);
    assert_eq!(target(&rp, LINE, Real::of(7), Stage::Recovery), Real::of(7));
    assert!(near(target(&rp, LINE, Real::of(7), Stage::Additive), 40_000_007.0));
}

#[test]
fn the_knobs_of_nvidia_are_those_worked_by_hand() {
    let cut = |change: &dyn Fn(&mut Rp)| {
        let mut rp = rp(500_000, 256);
        change(&mut rp);
        first_cut(&rp, LINE)
    };
    // Alpha is 1/2: three quarters are left, or half where all of it counts.
    assert!(near(cut(&|rp| rp.gd = Some(11)), 75e9) && near(cut(&|rp| rp.gd = Some(10)), 50e9));
    let least = |ppm: u32| cut(&|rp| rp.min_dec_fac = Some(Ppm(ppm)));
    assert!(
        near(least(700_000), 75e9) && near(least(900_000), 90e9) && near(least(1_000_000), 1e11)
    );
    let set = |gbps: u64| cut(&|rp| rp.first_cnp_rate = Some(L2Rate { bps: gbps * 1_000_000_000 }));
    assert!(near(set(40), 30e9) && near(set(400), 75e9));
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
fn a_gap_is_bits_by_rate_to_the_picosecond_either_way() {
    // 12 000 bits at 75 Gb/s: 160 ns; 8 000: 106 666.67 ps.
    let held = |rp: &Rp, bytes| hold(rp, LINE, Bytes(bytes), Real::of(75_000_000_000));
    let plain = rp(1_000_000, 256);
    assert_eq!(held(&plain, 1_500), (Dur(159_999), Dur(160_001)));
    assert_eq!(held(&plain, 1_000), (Dur(106_666), Dur(106_667)));
    // A pacer that ticks every 100 ns.
    let ticks = Rp { pacer_step: Some(Dur::ns(100)), ..plain };
    assert_eq!(held(&ticks, 1_000), (Dur(6_666), Dur(206_667)));
    assert_eq!(held(&ticks, 500).0, Dur(0));
    // At the speed of the port nothing is paced.
    assert_eq!(hold(&ticks, LINE, Bytes(1_250), Real::of(LINE.bps())), (Dur(99_999), Dur(100_001)));
}

#[test]
fn rates_in_steps_are_off_by_one_after_a_cut_by_two_in_recovery_and_a_target_is_not() {
    let step = 10_000_000_000_u64;
    let rp = Rp { rate_step: Some(L2Rate { bps: step }), ..rp(500_000, 256) };
    let after = first_cut(&rp, LINE);
    assert!((after.lo - 65e9).abs() < 100.0 && (after.hi - 85e9).abs() < 100.0, "{after:?}");
    let full = Real::of(LINE.bps());
    let back = recovered(&rp, Real::of(50_000_000_000), full, 1);
    assert!((back.lo - 55e9).abs() < 100.0 && (back.hi - 95e9).abs() < 100.0, "{back:?}");
    assert!(near(target(&rp, LINE, Real::of(7), Stage::Additive), 40_000_007.0));
    // The least rate is kept as it is.
    let rp = Rp { min_rate: L2Rate { bps: 61_000_000_000 }, ..rp };
    assert!(recovered(&rp, Real::of(61_000_000_000), full, 1).lo >= 61e9);
}

proptest! {
    /// The bounds of the table against chips that round in whole numbers, each in a way of its own at every step.
    #[test]
    fn no_way_of_rounding_leaves_the_bounds(
        initial in 0_u32..=1_000_000, inverse_g in 2_u32..1_000, ups in prop::collection::vec(any::<bool>(), 1..9),
        steps in prop::collection::vec((any::<bool>(), 0_u64..60), 1..40),
        (gd, share) in (prop_oneof![Just(None), Just(Some(10_u8))], prop::option::of(0_u32..=1_000_000)),
    ) {
        let rp = Rp { gd, min_dec_fac: share.map(Ppm), ..rp(initial, inverse_g) };
        let divisor = if gd.is_some() { ONE } else { 2 * ONE };
        let share = u128::from(share.unwrap_or(0));
        let mut ups = ups.iter().cycle();
        let mut over = |a: u128, b: u128| if *ups.next().unwrap() { a.div_ceil(b) } else { a / b };
        let (mut rate, mut alpha) = (Real::of(LINE.bps()), initial_alpha(&rp));
        let mut held = (u128::from(LINE.bps()), over(u128::from(initial) * ONE, 1_000_000));
        let g = u128::from(inverse_g);
        for (cuts, many) in steps {
            if cuts {
                (rate, alpha) = (cut(&rp, rate, alpha), raised(&rp, alpha));
                let floor = over(held.0 * share, 1_000_000);
                held.0 = (held.0 - over(held.0 * held.1, divisor)).max(floor).max(1);
                held.1 = held.1 - over(held.1, g) + over(ONE, g);
            } else {
                alpha = decayed(&rp, alpha, (many, many));
                let before = rate;
                rate = recovered(&rp, before, Real::of(LINE.bps()), many);
                for _ in 0..many {
                    held.1 -= over(held.1, g);
                    held.0 = over(held.0 + u128::from(LINE.bps()), 2);
                }
            }
            let (is, share) = (u64::try_from(held.0).unwrap(), u64::try_from(held.1).unwrap());
            prop_assert!(rate.lo <= Real::of(is).lo && Real::of(is).hi <= rate.hi, "{} {:?}", is, rate);
            let share = Real::of(share).lo / f64::from(1 << 30);
            prop_assert!(alpha.lo <= share && share <= alpha.hi, "{} {:?}", share, alpha);
        }
    }
}
