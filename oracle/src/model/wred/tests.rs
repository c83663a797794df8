//! The curve, what is taken by it, and what each fault changes, on a queue without a switch around it.

use super::*;
use proptest::prelude::*;
use rig_lab::WredFaults;
use rig_units::Ppm;

fn curve(kmin: u64, kmax: u64, percent: u32) -> Curve {
    Curve { kmin, kmax, pmax: Ppm(percent * 10_000) }
}

fn config(curve: Curve) -> Config {
    Config { queues: 1 << 3, mark: [curve; 3], drop: [curve; 3], seed: 7, ..Config::off() }
}

fn wred(config: &Config) -> Wred {
    Wred::new(config, [PortSpeed::G100; 2].into_iter(), 9_000)
}

fn ect() -> Packet {
    Packet::data(0, 0, 1, 3, 3, 1_000).with_ect(true)
}

const fn depth(bytes: u64) -> Depth {
    Depth { bytes, frames: bytes / 1_000 }
}

/// How many of `n` frames that leave `bytes` behind are marked.
fn marked(wred: &mut Wred, n: u32, bytes: u64) -> u32 {
    (0..n).map(|_| u32::from(wred.leaves(Time::ZERO, (0, 3), &ect(), depth(bytes), 1_000))).sum()
}

#[test]
fn the_chance_is_none_below_kmin_grows_from_there_and_jumps_at_kmax() {
    let curve = curve(1_000, 3_000, 5);
    let certain = |depth| curve.chance(depth, false, Ppm(0)).certain();
    assert_eq!([0, 999, 1_000].map(certain), [Some(false); 3]);
    assert_eq!([1_001, 2_999].map(certain), [None; 2]);
    assert_eq!([3_000, u64::MAX].map(certain), [Some(true); 2]);
    // 5 % halfway is 2.5 %: the draw that is just below 2^64 / 40, and the one that is just not.
    let halfway = curve.chance(2_000, false, Ppm(0));
    assert!(halfway.hit(u64::MAX / 40) && !halfway.hit(u64::MAX / 40 + 1));
    let high = curve.chance(2_000, false, Ppm(25_000));
    assert!(high.hit(u64::MAX / 20) && !high.hit(u64::MAX / 20 + 1));
    let stays = curve.chance(3_000, true, Ppm(0));
    assert!(stays.hit(u64::MAX / 20) && !stays.hit(u64::MAX / 20 + 1));
}

#[test]
fn thresholds_that_meet_or_cross_are_a_step_at_kmax() {
    for kmin in [3_000, 4_000] {
        let certain = |depth| curve(kmin, 3_000, 5).chance(depth, false, Ppm(0)).certain();
        assert_eq!([2_999, 3_000].map(certain), [Some(false), Some(true)]);
    }
}

#[test]
fn a_frame_that_leaves_is_marked_by_what_is_behind_it_or_by_that_and_itself() {
    let config = config(curve(10_000, 10_000, 100));
    let at = |config: &Config, bytes| marked(&mut wred(config), 1, bytes);
    assert_eq!((at(&config, 9_999), at(&config, 10_000)), (0, 1));
    let itself = Config { counts_itself: true, ..config.clone() };
    assert_eq!((at(&itself, 8_999), at(&itself, 9_000)), (0, 1));
    let packets = Config { packet: Some(500), ..config };
    assert_eq!((at(&packets, 19_999), at(&packets, 20_000)), (0, 1));
}

#[test]
fn marks_are_as_many_as_the_chance_says_and_each_queue_has_its_own() {
    let mut wred = wred(&config(curve(0, 20_000, 10)));
    // 5 % of 100 000: a standard deviation of 69.
    let count = marked(&mut wred, 100_000, 10_000);
    assert!(count.abs_diff(5_000) < 6 * 69, "{count}");
    let counts = wred.counts(0, 3);
    assert_eq!((counts.marked, counts.marked_bytes), (count.into(), u64::from(count) * 1_000));
    assert_eq!((wred.counts(1, 3), wred.counts(0, 2)), (Counts::default(), Counts::default()));
    let pattern = |port, queue, seed| {
        let mut wred = Wred::new(
            &Config { seed, queues: u8::MAX, ..config(curve(0, 20_000, 100)) },
            [PortSpeed::G100; 2].into_iter(),
            9_000,
        );
        let one = |_| wred.leaves(Time::ZERO, (port, queue), &ect(), depth(10_000), 1_000);
        (0..64).map(one).collect::<Vec<bool>>()
    };
    assert_eq!(pattern(0, 3, 7), pattern(0, 3, 7));
    let others = [pattern(1, 3, 7), pattern(0, 4, 7), pattern(0, 3, 8)];
    assert!(others.iter().all(|other| *other != pattern(0, 3, 7)));
}

/// What becomes of a frame that arrives at 20 000 B.
fn arrives(config: &Config, packet: &Packet) -> Fate {
    wred(config).arrives(Time::ZERO, (0, 3), packet, depth(20_000), 1_000)
}

#[test]
fn what_is_not_ecn_capable_is_dropped_when_it_arrives_whatever_the_marking_point() {
    let dequeue = config(curve(10_000, 10_000, 100));
    let enqueue = Config { at_enqueue: true, ..dequeue.clone() };
    let (plain, ce) = (ect().with_ect(false), ect().with_ect(false).with_ce(true));
    for config in [&dequeue, &enqueue] {
        assert_eq!(arrives(config, &plain), Fate::Drop);
        let unmarked = Config { ecn: [false, true, true], ..config.clone() };
        assert_eq!(arrives(&unmarked, &ect()), Fate::Drop);
        let apart = Config { drop: [curve(30_000, 30_000, 100); 3], ..config.clone() };
        assert_eq!(arrives(&apart, &plain), Fate::Pass);
    }
    assert_eq!((arrives(&dequeue, &ect()), arrives(&enqueue, &ect())), (Fate::Pass, Fate::Mark));
    assert_eq!(arrives(&enqueue, &ce), Fate::Mark);
    let mut wred = wred(&dequeue);
    wred.arrives(Time::ZERO, (0, 3), &plain, depth(20_000), 1_000);
    assert_eq!((wred.counts(0, 3).dropped, wred.counts(0, 3).dropped_bytes), (1, 1_000));
}

#[test]
fn from_the_end_of_its_curve_on_a_hard_drop_takes_what_is_marked_below() {
    let hard =
        |kmax| Config { at_enqueue: true, harddrop: true, ..config(curve(10_000, kmax, 100)) };
    // What arrives finds 20000 B.
    let ce = ect().with_ce(true);
    assert_eq!([ect(), ce].map(|packet| arrives(&hard(20_000), &packet)), [Fate::Drop; 2]);
    assert_ne!(arrives(&hard(20_001), &ect()), Fate::Drop);
    let soft = Config { harddrop: false, ..hard(20_000) };
    assert_eq!(arrives(&soft, &ect()), Fate::Mark);
    let faults = WredFaults { harddrop_spares_ce: true, ..WredFaults::NONE };
    let spares = Config { faults, ..hard(20_000) };
    assert_eq!([ect(), ce].map(|packet| arrives(&spares, &packet)), [Fate::Drop, Fate::Mark]);
    let mut wred = wred(&hard(20_000));
    wred.arrives(Time::ZERO, (0, 3), &ect(), depth(20_000), 1_000);
    let counts = wred.counts(0, 3);
    assert_eq!((counts.dropped, counts.dropped_bytes, counts.marked), (1, 1_000, 0));
}

#[test]
fn a_frame_goes_by_the_curve_of_its_colour() {
    let far = curve(30_000, 30_000, 100);
    let mut config = config(curve(10_000, 10_000, 100));
    config.mark[2] = far;
    config.color[3] = 2;
    config.color[4] = 1;
    let at = |dscp| {
        let packet = Packet { dscp, ..ect() };
        wred(&config).leaves(Time::ZERO, (0, 3), &packet, depth(20_000), 1_000)
    };
    assert_eq!([3, 4, 5].map(at), [false, true, true]);
}

#[test]
fn each_fault_changes_what_its_name_says() {
    let right = Config { at_enqueue: true, ..config(curve(10_000, 10_000, 100)) };
    let with = |faults: WredFaults| Config { faults, ..right.clone() };
    let (plain, ce) = (ect().with_ect(false), ect().with_ce(true));
    let none = WredFaults::NONE;
    assert_eq!(arrives(&with(WredFaults { marks_non_ect: true, ..none }), &plain), Fate::Mark);
    assert_eq!(arrives(&with(WredFaults { drops_ect: true, ..none }), &ect()), Fate::Drop);
    let clears = Config {
        mark: [curve(30_000, 30_000, 100); 3],
        ..with(WredFaults { clears_ce: true, ..none })
    };
    assert_eq!((arrives(&clears, &ce), arrives(&clears, &ect())), (Fate::Clear, Fate::Pass));
    let no_jump = Config {
        mark: [curve(10_000, 10_000, 0); 3],
        ..with(WredFaults { no_jump_at_kmax: true, ..none })
    };
    assert_eq!(arrives(&no_jump, &ect()), Fate::Pass);
    let count = |faults| {
        let mut wred = wred(&with(faults));
        wred.note_mark((0, 3), 1_000, true);
        wred.counts(0, 3).marked
    };
    assert_eq!((count(none), count(WredFaults { ce_not_counted: true, ..none })), (1, 0));
}

#[test]
fn frames_that_share_a_draw_are_marked_alike() {
    let mut config = config(curve(0, 20_000, 100));
    config.faults.draws_correlated = Some(8);
    let mut wred = wred(&config);
    let one = |_| wred.leaves(Time::ZERO, (0, 3), &ect(), depth(10_000), 1_000);
    let pattern: Vec<bool> = (0..800).map(one).collect();
    assert!(pattern.chunks(8).all(|eight| eight.iter().all(|mark| *mark == eight[0])));
    assert!(pattern.chunks(8).any(|eight| eight[0]) && pattern.chunks(8).any(|eight| !eight[0]));
}

#[test]
fn ports_that_share_their_draws_mark_alike_and_others_do_not() {
    let alike = |shared| {
        let mut config = config(curve(0, 20_000, 100));
        config.faults.draws_shared_by_ports = shared;
        let mut wred = wred(&config);
        let mut at = |port| wred.leaves(Time::ZERO, (port, 3), &ect(), depth(10_000), 1_000);
        (0..100).all(|_| at(0) == at(1))
    };
    assert!(alike(true) && !alike(false));
}

#[test]
fn the_average_rises_with_what_arrives_and_falls_while_nothing_does() {
    let config = Config { weight: 2, ..config(curve(10_000, 10_000, 100)) };
    let mut wred = wred(&config);
    let mut arrive = |now, bytes| {
        wred.arrives(now, (0, 3), &ect(), depth(bytes), 1_000);
        wred.leaves(now, (0, 3), &ect(), depth(bytes), 1_000)
    };
    // A quarter of 16 000, then of what is left: 4 000, 7 000, 9 250, 10 937.
    assert_eq!([(); 4].map(|()| arrive(Time::ZERO, 16_000)), [false, false, false, true]);
    // 6.72 ns each: two small frames leave 9/16 of it, 6 152, three quarters of which is 4 614.
    let later = Time::ZERO + PortSpeed::G100.slot(SMALL) * 2;
    assert!(!arrive(later, 0));
    assert_eq!(wred.queues[0][3].average.depth(2), 4_614);
}

#[test]
fn an_average_on_a_timer_goes_by_time_and_not_by_frames() {
    let every = Some(Dur::us(1));
    let config =
        Config { weight: 2, average_interval: every, ..config(curve(10_000, 10_000, 100)) };
    let mut wred = wred(&config);
    let at = |us| Time::ZERO + Dur::us(us);
    wred.held(at(10), (0, 3), Depth::default());
    // However many frames come at once, the timer has not run out.
    for _ in 0..100 {
        wred.arrives(at(10), (0, 3), &ect(), depth(16_000), 1_000);
    }
    assert_eq!(wred.queues[0][3].average.depth(2), 0);
    // Four times: 4 000, 7 000, 9 250, 10 937; and three quarters of that each time that it finds nothing.
    wred.held(at(14), (0, 3), depth(16_000));
    assert_eq!(wred.queues[0][3].average.depth(2), 10_937);
    assert!(wred.leaves(at(14), (0, 3), &ect(), depth(0), 1_000));
    wred.held(at(16), (0, 3), Depth::default());
    assert_eq!(wred.queues[0][3].average.depth(2), 6_152);
    // A day later it is over, and was not counted a time after the other.
    wred.held(at(86_400_000_000), (0, 3), Depth::default());
    assert_eq!(wred.queues[0][3].average.depth(2), 0);
}

#[test]
fn an_average_that_outlives_an_empty_queue_falls_with_what_arrives_alone() {
    let mut config = config(curve(10_000, 10_000, 100));
    config.install(&WredFaults { average_outlives_idle: Some(1), ..WredFaults::NONE });
    let mut wred = wred(&config);
    let mut arrive = |now, bytes| {
        wred.arrives(now, (0, 3), &ect(), depth(bytes), 1_000);
        wred.leaves(now, (0, 3), &ect(), depth(bytes), 1_000)
    };
    // Half of 30 000; then, however much later, half of that: the average is what the next frame is marked by.
    assert!(arrive(Time::ZERO, 30_000));
    assert!(!arrive(Time::ZERO + Dur::s(1), 0));
    assert_eq!(wred.queues[0][3].average.depth(1), 7_500);
}

proptest! {
    /// The chance of a hit, counted over the draws: within one draw of the fraction.
    #[test]
    fn a_hit_has_the_chance_that_the_curve_has(
        kmin in 0_u64..1 << 38, span in 1_u64..1 << 30, at: u32, pmax in 1_u32..=1_000_000
    ) {
        let curve = Curve { kmin, kmax: kmin + span, pmax: Ppm(pmax) };
        let depth = kmin + ((span * u64::from(at)) >> 32);
        let chance = curve.chance(depth, false, Ppm(0));
        let exact = u128::from(pmax) * u128::from(depth - kmin);
        let den = 1_000_000 * u128::from(span);
        // The greatest draw that is a hit, by its definition: draw / 2^64 < exact / den.
        if let Some(greatest) = ((exact << 64).div_ceil(den)).checked_sub(1) {
            let greatest = u64::try_from(greatest).unwrap_or(u64::MAX);
            prop_assert!(chance.certain() == Some(true) || chance.hit(greatest));
            if let Some(next) = greatest.checked_add(1) {
                prop_assert!(!chance.hit(next));
            }
        } else {
            prop_assert_eq!(chance.certain(), Some(false));
        }
    }

    #[test]
    fn a_deeper_queue_is_never_less_likely_to_mark(
        kmin in 0_u64..1_000, kmax in 0_u64..1_000, pmax in 0_u32..=1_000_000, depth in 0_u64..1_200, draw: u64
    ) {
        let curve = Curve { kmin, kmax, pmax: Ppm(pmax) };
        let marks = |depth| {
            let chance = curve.chance(depth, false, Ppm(0));
            chance.certain().unwrap_or_else(|| chance.hit(draw))
        };
        prop_assert!(marks(depth + 1) || !marks(depth));
    }
}

#[test]
fn marks_by_a_count_are_twice_as_many_and_no_gap_is_longer_than_one_over_the_chance() {
    // A tenth at 2000 B: gaps of 1 to 10, of which the mean is 5.5.
    let counting = Config { counts_since: true, ..config(curve(0, 20_000, 100)) };
    let mut wred = wred(&counting);
    let mut gaps = [0_u32; 11];
    let mut since = 0;
    for _ in 0..55_000 {
        since += 1;
        if marked(&mut wred, 1, 2_000) == 1 {
            gaps[since] += 1;
            since = 0;
        }
    }
    // Some 10 000 marks, 1000 of each gap: 30 is a standard deviation.
    assert_eq!(gaps[0], 0);
    assert!(gaps[1..].iter().all(|&gap| gap.abs_diff(1_000) < 180), "{gaps:?}");
}

#[test]
fn what_is_outside_of_the_thresholds_ends_the_count() {
    let counting = Config { counts_since: true, ..config(curve(10_000, 20_000, 100)) };
    let fates = |depths: &[u64]| {
        let mut wred = wred(&counting);
        depths.iter().map(|&bytes| marked(&mut wred, 1, bytes)).collect::<Vec<u32>>()
    };
    // At nearly 1 each frame is taken but the first, which begins the count.
    assert_eq!(fates(&[19_999, 19_999, 19_999]), [0, 1, 1]);
    assert_eq!(fates(&[19_999, 19_999, 9_999, 19_999, 19_999]), [0, 1, 0, 0, 1]);
    assert_eq!(fates(&[20_000, 20_000, 19_999, 19_999]), [1, 1, 0, 1]);
    // At kmin it goes on.
    assert_eq!(fates(&[19_999, 19_999, 10_000, 19_999]), [0, 1, 0, 1]);
}

#[test]
fn a_chance_in_steps_is_rounded_in_one_of_three_ways_and_a_device_keeps_to_its_own() {
    let config = Config { steps: Some(256), ..config(curve(0, 20_000, 5)) };
    let ways = [Rounding::Down, Rounding::Nearest, Rounding::Up];
    let kept = |config: &Config| ways.map(|way| config.in_steps(way).mark[0].pmax.0);
    // 12.8 steps, 3.2, and 16.
    assert_eq!(kept(&config), [46_875, 50_781, 50_781]);
    assert_eq!(config.in_steps(Rounding::Up).drop[2].pmax, Ppm(50_781));
    assert_eq!(kept(&Config { steps: Some(64), ..config.clone() }), [46_875, 46_875, 62_500]);
    assert_eq!(kept(&Config { steps: Some(320), ..config.clone() }), [50_000; 3]);
    let of_seed = |seed| wred(&Config { seed, ..config.clone() }).config.mark[0].pmax;
    let all: std::collections::BTreeSet<Ppm> = (0..20).map(of_seed).collect();
    assert_eq!(all.len(), 2);
    // What is set anew is kept in the same way, whatever seed goes with it.
    let mut device = wred(&config);
    let before = device.config.mark[0].pmax;
    device.set(&Config { seed: 8, ..config });
    assert_eq!(device.config.mark[0].pmax, before);
}

#[test]
fn a_threshold_in_steps_is_kept_in_one_of_three_ways_and_none_is_missed_below_what_was_set() {
    let config = Config { threshold_step: Some(300), ..config(curve(1_000, 2_000, 5)) };
    let ways = [Rounding::Down, Rounding::Nearest, Rounding::Up];
    let kept = ways.map(|way| config.in_steps(way).mark[0]);
    assert_eq!(
        kept.map(|curve| (curve.kmin, curve.kmax)),
        [(900, 1_800), (900, 2_100), (1_200, 2_100)]
    );
    assert_eq!(config.in_steps(Rounding::Up).drop[2].kmin, 1_200);
    // A depth between what is kept and what was set is looked at.
    let of_seed = |seed| wred(&Config { seed, ..config.clone() });
    let all: std::collections::BTreeSet<(u64, u64)> =
        (0..20).map(of_seed).map(|device| (device.floor, device.config.mark[0].kmin)).collect();
    assert_eq!(all.into_iter().collect::<Vec<_>>(), [(900, 900), (1_200, 1_200)]);
}

#[test]
fn a_step_too_high_is_one_more_and_never_more_than_all() {
    let mut config = Config { steps: Some(16), ..config(curve(0, 20_000, 20)) };
    config.install(&WredFaults { pmax_a_step_high: true, ..WredFaults::NONE });
    assert_eq!(config.in_steps(Rounding::Nearest).mark[0].pmax, Ppm(250_000));
    config.mark[0].pmax = Ppm::ONE;
    assert_eq!(config.in_steps(Rounding::Nearest).mark[0].pmax, Ppm::ONE);
}
