use super::super::fixture::{Device, Rounds};
use super::*;
use proptest::prelude::*;
use rig_lab::{Limiting, Nic};
use rig_units::L2Rate;

const LINE: PortSpeed = PortSpeed::G100;

fn rp() -> Rp {
    Rp { enable: true, ..Nic::quiet().rp }
}

fn greedy(
    rp: &Rp,
    line: PortSpeed,
    cnps: &[Time],
    bytes: Bytes,
    count: usize,
) -> Vec<(Time, Bytes)> {
    Device::healthy(rp).greedy(line, cnps, bytes, count)
}

fn judged(rp: &Rp, cnps: &[Time], frames: &[(Time, Bytes)]) -> Followed {
    let allowance = Some(Dur::ZERO);
    follow(rp, LINE, &LimiterTrace { cnps, frames, off: Off::default(), allowance })
}

#[test]
fn a_sender_that_keeps_the_rule_shows_its_rate_and_no_fault() {
    let cnps = [Time(1_000_000)];
    let frames = greedy(&rp(), LINE, &cnps, Bytes(1_000), 100);
    let followed = judged(&rp(), &cnps, &frames);
    assert_eq!((followed.faults.len(), followed.judged), (0, 99));
    // At the speed of the port 8000 bits take 1020 x 80 ps = 81.6 ns: 98.04 Gb/s; after the cut 160 ns.
    assert_eq!(followed.curve[0].measured, Span::exactly(98_039_215_686));
    assert_eq!(followed.curve[0].predicted, Span::exactly(98_039_215_686));
    // The port stands idle behind a packet only once the rate holds the next one back.
    let held = followed.curve.iter().position(|point| point.held);
    assert!(held.is_some_and(|first| followed.curve[first].at > cnps[0]), "{held:?}");
    let last = followed.curve[98];
    // A picosecond of 160 000 either way.
    let half = Span { lo: 49_999_687_501, hi: 50_000_312_501 };
    assert_eq!((last.measured, last.predicted), (Span::exactly(50_000_000_000), half));
    assert_eq!(followed.coarsest, Some((Dur(2), Dur(160_001))));
}

#[test]
fn a_frame_off_by_more_than_a_device_rounds_is_a_fault_and_within_the_stamps_it_is_none() {
    let cnps = [Time(1_000_000)];
    let healthy = greedy(&rp(), LINE, &cnps, Bytes(1_000), 60);
    let faults = |shift: i64, bound: Dur| {
        let mut frames = healthy.clone();
        for (at, _) in &mut frames[40..] {
            *at = Time(at.0.checked_add_signed(shift).unwrap());
        }
        let allowance = Some(Dur::ZERO);
        let off = Off { stamps: bound, ..Off::default() };
        let seen = LimiterTrace { cnps: &cnps, frames: &frames, off, allowance };
        let faults = follow(&rp(), LINE, &seen).faults;
        faults.iter().map(|fault| (fault.kind, fault.frame)).collect::<Vec<_>>()
    };
    for (kind, way) in [(PaceFault::TooEarly, -1), (PaceFault::TooLate, 1)] {
        // The gap is whole picoseconds, rounded up or down.
        assert_eq!(faults(way, Dur::ZERO), []);
        assert_eq!(faults(2 * way, Dur::ZERO), [(kind, 40)]);
        assert_eq!(faults(3 * way, Dur(1)), []);
        assert_eq!(faults(4 * way, Dur(1)), [(kind, 40)]);
    }
}

#[test]
fn a_sender_with_nothing_to_send_is_late_only_where_that_is_not_allowed() {
    let frames = [(Time(0), Bytes(1_000)), (Time(1_000_000), Bytes(1_000))];
    let seen =
        |allowance| LimiterTrace { cnps: &[], frames: &frames, off: Off::default(), allowance };
    assert_eq!(follow(&rp(), LINE, &seen(None)).faults, []);
    assert_eq!(follow(&rp(), LINE, &seen(Some(Dur(918_399)))).faults[0].kind, PaceFault::TooLate);
    assert_eq!(follow(&rp(), LINE, &seen(Some(Dur(918_400)))).faults, []);
}

#[test]
fn a_sender_with_nvidias_knobs_keeps_the_rule_however_it_rounds_and_breaks_it_without() {
    let shipped = Rp {
        gd: Some(10),
        min_dec_fac: Some(rig_units::Ppm(600_001)),
        first_cnp_rate: Some(L2Rate { bps: 79_999_999_999 }),
        cut_window: Dur::us(4),
        clamp: false,
        ..rp()
    };
    let cnps = [0, 5, 90, 500].map(|us| Time(0) + Dur::us(us));
    for rounds in [Rounds::Down, Rounds::Up, Rounds::Nearest] {
        let frames = |rp: Rp| {
            let device = Device { rounds, ..Device::healthy(&rp) };
            device.greedy(LINE, &cnps, Bytes(4_000), 1_500)
        };
        assert_eq!(judged(&shipped, &cnps, &frames(shipped)).faults, [], "{rounds:?}");
        for other in [
            Rp { gd: None, min_dec_fac: None, ..shipped },
            Rp { min_dec_fac: Some(rig_units::Ppm(610_000)), ..shipped },
            Rp { first_cnp_rate: None, ..shipped },
        ] {
            assert!(!judged(&shipped, &cnps, &frames(other)).faults.is_empty(), "{other:?}");
        }
    }
}

#[test]
fn each_parameter_shows_in_the_frames_of_three_cuts() {
    // Cuts at 1, 6 and 501 us; between the last two there are nine increases: four of recovery, one additive, four hyper.
    let declared = Rp { cut_window: Dur::us(4), byte_counter: Bytes(0), ..rp() };
    let bursts = Rp { limiting: Limiting::Burst, ..declared };
    let cnps = [0, 5, 500].map(|us| Time(0) + Dur::us(us));
    type Change = fn(&mut Rp);
    let changes: [(&str, Change); 19] = [
        ("enable", |rp| rp.enable = false),
        ("latency", |rp| rp.latency = Dur::ns(1_400).into()),
        ("cut_window", |rp| rp.cut_window = Dur::us(6)),
        ("initial_alpha", |rp| rp.initial_alpha.0 = 900_000),
        ("gd", |rp| rp.gd = Some(10)),
        ("min_dec_fac", |rp| rp.min_dec_fac = Some(rig_units::Ppm(600_000))),
        ("first_cnp_rate", |rp| rp.first_cnp_rate = Some(L2Rate { bps: 80_000_000_000 })),
        ("inverse_g", |rp| rp.inverse_g = 128),
        ("alpha_timer", |rp| rp.alpha_timer = Dur::us(45)),
        ("timer", |rp| rp.timer = Dur::us(56)),
        ("byte_counter", |rp| rp.byte_counter = Bytes(400_000)),
        ("threshold", |rp| rp.threshold = 6),
        ("ai_rate", |rp| rp.ai_rate.bps = 80_000_000),
        ("hai_rate", |rp| rp.hai_rate.bps = 100_000_000),
        ("min_rate", |rp| rp.min_rate.bps = 30_000_000_000),
        ("clamp", |rp| rp.clamp = false),
        ("limiting", |rp| {
            rp.limiting =
                if rp.limiting == Limiting::Burst { Limiting::Packet } else { Limiting::Burst }
        }),
        ("burst", |rp| rp.burst = Bytes(8_000)),
        ("nothing", |_| ()),
    ];
    for declared in [declared, bursts] {
        for (name, change) in changes {
            let mut other = declared;
            change(&mut other);
            let frames = greedy(&other, LINE, &cnps, Bytes(4_000), 1_500);
            let faults = judged(&declared, &cnps, &frames).faults.len();
            let alike =
                name == "nothing" || name == "burst" && declared.limiting == Limiting::Packet;
            assert_eq!(faults == 0, alike, "{name}: {faults}");
        }
    }
}

/// Cuts that leave alpha time to decay, four increases of each kind behind the last of them.
fn several() -> (Rp, Vec<Time>) {
    let declared = Rp { byte_counter: Bytes(400_000), threshold: 2, inverse_g: 256, ..rp() };
    (declared, [0, 70, 140, 300, 365, 430].map(|us| Time(0) + Dur::us(us)).to_vec())
}

#[test]
fn a_device_may_round_as_it_likes_and_is_not_accused() {
    for limiting in [Limiting::Packet, Limiting::Burst] {
        let (declared, cnps) = several();
        let declared = Rp { limiting, ..declared };
        let all = [Rounds::Down, Rounds::Up, Rounds::Nearest].map(|rounds| {
            let device = Device { rounds, ..Device::healthy(&declared) };
            let frames = device.greedy(LINE, &cnps, Bytes(4_000), 3_000);
            assert_eq!(judged(&declared, &cnps, &frames).faults, [], "{rounds:?}");
            frames
        });
        assert!(all[0] != all[1] && all[0] != all[2] && all[1] != all[2], "they do differ");
    }
}

#[test]
fn a_device_whose_g_is_off_by_one_in_1024_is_accused() {
    let (declared, cnps) = several();
    for g_off in [1 << 20, -(1 << 20)] {
        let device = Device { g_off, ..Device::healthy(&declared) };
        let frames = device.greedy(LINE, &cnps, Bytes(4_000), 3_000);
        assert!(!judged(&declared, &cnps, &frames).faults.is_empty(), "{g_off}");
    }
}

#[test]
fn a_timer_that_is_off_by_two_frames_is_accused() {
    // A timer shows in the gap behind the frame after it: it is known to within the distance of two frames. Past the first cut 4000 B
    // take at least 320 ns, and less than twice as long from the first increase on.
    let (declared, cnps) = several();
    for off in [Dur::ns(1_300), Dur::us(2)] {
        for timer in [declared.timer + off, declared.timer - off] {
            let device = Device::healthy(&Rp { timer, ..declared });
            let frames = device.greedy(LINE, &cnps, Bytes(4_000), 3_000);
            assert!(!judged(&declared, &cnps, &frames).faults.is_empty(), "{timer}");
        }
    }
}

/// The same by a clock whose seconds are longer by so many millionths, to the picosecond below.
fn by_a_clock(ppm: i64, at: Time) -> Time {
    let second = 1_000_000_u64;
    Time(Dur(at.0).scaled(second.saturating_add_signed(ppm), second).0)
}

/// Faults of a device that is configured so and whose clock is off by so much, where one like `declared` may be off by 100 ppm.
fn by_clocks(declared: &Rp, other: &Rp, ppm: i64, cnps: &[Time]) -> usize {
    let frames = greedy(other, LINE, cnps, Bytes(4_000), 3_000);
    let frames: Vec<_> = frames.iter().map(|&(at, bytes)| (by_a_clock(ppm, at), bytes)).collect();
    let cnps: Vec<Time> = cnps.iter().map(|&at| by_a_clock(ppm, at)).collect();
    let apart = rig_units::Apart::of(rig_units::Ppm(100), rig_units::Ppm(0));
    // What a CNP takes is as the clock of the stamps shows it.
    let declared = Rp { latency: apart.range(declared.latency), ..*declared };
    let off = Off { stamps: Dur(1), apart, ..Off::default() };
    let seen = LimiterTrace { cnps: &cnps, frames: &frames, off, allowance: Some(Dur::ZERO) };
    let followed = follow(&declared, LINE, &seen);
    assert_eq!(followed.lost, 0);
    followed.faults.len()
}

#[test]
fn a_device_within_its_clock_is_not_accused_and_one_past_it_is() {
    let (declared, cnps) = several();
    // 20 ppm of the gap behind a cut are more than a picosecond either way.
    for (ppm, accused) in [(-120, true), (-100, false), (0, false), (100, false), (120, true)] {
        assert_eq!(by_clocks(&declared, &declared, ppm, &cnps) > 0, accused, "{ppm}");
    }
}

#[test]
fn a_rate_between_that_of_a_cut_and_that_of_none_is_that_of_neither() {
    // The second CNP comes at the end of the window, to what 100 ppm leave open of it.
    let declared = Rp { cut_window: Dur::us(50), byte_counter: Bytes(0), ..rp() };
    let cnps = [Time(0), Time(0) + Dur::us(50)];
    let cut = greedy(&declared, LINE, &cnps, Bytes(1_000), 400);
    let until = cut.partition_point(|(at, _)| *at < Time(0) + Dur::us(50)) + 1;
    let apart = rig_units::Apart::of(rig_units::Ppm(100), rig_units::Ppm(0));
    let declared = Rp { latency: apart.range(declared.latency), ..declared };
    // Each gap from a frame past both effects on: 160 ns without the second cut, 320 ns with it.
    let followed = |gap: u64| {
        let mut frames = cut[..until].to_vec();
        let from = Time(0) + Dur::us(52);
        frames.extend((0..10).map(|nth| (from + Dur(gap * nth), Bytes(1_000))));
        let off = Off { stamps: Dur(1), apart, ..Off::default() };
        // The one before them has nothing to send for so long.
        let allowance = Some(Dur::ZERO);
        let skipped = until..until + 1;
        let followed =
            follow(&declared, LINE, &LimiterTrace { cnps: &cnps, frames: &frames, off, allowance });
        let mut faults = followed.faults.iter().filter(|fault| !skipped.contains(&fault.frame));
        (faults.next().map(|fault| fault.kind), followed.otherwise)
    };
    for (gap, kind, otherwise) in [
        (159_980, Some(PaceFault::TooEarly), 0),
        (159_981, None, 1),
        (160_020, None, 1),
        (160_021, Some(PaceFault::Between), 0),
        (240_000, Some(PaceFault::Between), 0),
        (319_964, Some(PaceFault::Between), 0),
        (319_965, None, 0),
        (320_000, None, 0),
    ] {
        assert_eq!(followed(gap), (kind, otherwise), "{gap}");
    }
}

#[test]
fn a_clock_hides_no_parameter() {
    let (declared, cnps) = several();
    type Change = fn(&mut Rp);
    let changes: [(&str, Change); 10] = [
        ("enable", |rp| rp.enable = false),
        ("gd", |rp| rp.gd = Some(10)),
        ("min_dec_fac", |rp| rp.min_dec_fac = Some(rig_units::Ppm(600_000))),
        ("initial_alpha", |rp| rp.initial_alpha.0 = 900_000),
        ("inverse_g", |rp| rp.inverse_g *= 2),
        ("alpha_timer", |rp| rp.alpha_timer = rp.alpha_timer * 2),
        ("timer", |rp| rp.timer += Dur::us(1)),
        ("threshold", |rp| rp.threshold += 1),
        ("ai_rate", |rp| rp.ai_rate.bps += rp.ai_rate.bps / 2),
        ("latency", |rp| rp.latency = Dur::us(2).into()),
    ];
    for (name, change) in changes {
        let mut other = declared;
        change(&mut other);
        for ppm in [-100, 0, 100] {
            assert!(by_clocks(&declared, &other, ppm, &cnps) > 0, "{name} by {ppm} ppm");
        }
    }
}

proptest! {
    #[test]
    fn a_device_with_another_parameter_is_told_from_one_that_keeps_the_rule(
        // Far enough apart for alpha to decay: before that, no g makes a difference.
        steps in prop::collection::vec(60_000_000_u64..90_000_000, 3..8), burst in any::<bool>(), which in 0_usize..7,
    ) {
        let limiting = if burst { Limiting::Burst } else { Limiting::Packet };
        let declared = Rp { limiting, byte_counter: Bytes(400_000), ..rp() };
        let mut at = 0;
        let cnps: Vec<Time> = steps.iter().map(|step| { at += step; Time(at) }).collect();
        let frames = |rp: &Rp| greedy(rp, LINE, &cnps, Bytes(4_000), 3_000);
        prop_assert_eq!(judged(&declared, &cnps, &frames(&declared)).faults, []);
        let other = match which {
            0 => Rp { enable: false, ..declared },
            1 => Rp { latency: Dur::us(3).into(), ..declared },
            2 => Rp { inverse_g: 16, ..declared },
            3 => Rp { alpha_timer: Dur::us(20), ..declared },
            4 => Rp { timer: Dur::us(20), ..declared },
            5 => Rp { byte_counter: Bytes(100_000), ..declared },
            _ => Rp { initial_alpha: rig_units::Ppm(500_000), min_rate: L2Rate { bps: 1 }, ..declared },
        };
        // The last CNPs may come after the frames; those that come show it.
        prop_assert!(!judged(&declared, &cnps, &frames(&other)).faults.is_empty(), "{which}");
    }

    #[test]
    fn blurred_stamps_make_no_fault(
        steps in prop::collection::vec(5_000_000_u64..90_000_000, 0..8), burst in any::<bool>(), bytes in any::<bool>(),
        blur in prop::collection::vec(0_u64..=8_000, 200),
    ) {
        let limiting = if burst { Limiting::Burst } else { Limiting::Packet };
        let byte_counter = Bytes(if bytes { 100_000 } else { 0 });
        let rp = Rp { limiting, byte_counter, cut_window: Dur::us(20), ..rp() };
        let mut at = 0;
        let mut cnps: Vec<Time> = steps.iter().map(|step| { at += step; Time(at) }).collect();
        let mut frames = greedy(&rp, LINE, &cnps, Bytes(1_500), 1_500);
        let mut blur = blur.iter().cycle();
        // 4 ns either way of 4 ns later.
        let mut off = |at: &mut Time| *at = Time(at.0 + blur.next().unwrap());
        frames.iter_mut().for_each(|(at, _)| off(at));
        cnps.iter_mut().for_each(off);
        let off = Off { stamps: Dur(4_000), ..Off::default() };
        let seen = LimiterTrace { cnps: &cnps, frames: &frames, off, allowance: Some(Dur::ZERO) };
        let followed = follow(&rp, LINE, &seen);
        prop_assert_eq!(followed.faults, []);
        prop_assert_eq!(followed.lost, 0);
    }
}
