//! Figures worked by hand, and the closed forms against a queue that is filled and emptied frame by frame.

use super::*;
use proptest::prelude::*;

/// An ECN-capable green frame.
const GREEN: Class = Class { color: Color::Green, capable: true };

fn buffer(cell: u64, descriptor: u64) -> Buffer {
    let (cell, descriptor) = (Bytes(cell), Bytes(descriptor));
    Buffer { cell, descriptor, ..Buffer::plain(10_000_000, 0) }
}

fn wred(kmin: u64, kmax: u64, percent: u32) -> Wred {
    Wred {
        queues: vec![3],
        kmin: Bytes(kmin),
        kmax: Bytes(kmax),
        pmax: Ppm(percent * 10_000),
        ..Wred::off()
    }
}

fn curve(kmin: u64, kmax: u64, percent: u32) -> Curve {
    marking_curve(&wred(kmin, kmax, percent), Color::Green)
}

/// 1024 B in cells of 208 B: 1040.
fn burst(wred: &Wred, frames: u64) -> Burst {
    Burst::of(&buffer(208, 0), wred, GREEN, Bytes(1_024), frames)
}

#[test]
fn a_colour_has_the_curve_of_green_until_it_has_its_own() {
    let green = curve(5_000, 9_000, 5);
    let own = curve(1_000, 2_000, 10);
    let wred = Wred { red: Some(own), ..wred(5_000, 9_000, 5) };
    let marking = |wred: &Wred| Color::NAMES.map(|(_, color)| marking_curve(wred, color));
    let dropping =
        |wred: &Wred| Color::NAMES.map(|(_, color)| Class { color, capable: false }.curve(wred));
    assert_eq!(marking(&Wred { red: None, ..wred.clone() }), [green; 3]);
    assert_eq!(marking(&wred), [green, green, own]);
    assert_eq!(dropping(&wred), [green, green, own]);
    let drop = Curve { pmax: Ppm::ONE, ..own };
    let wred = Wred { drop: Some(drop), ..wred };
    assert_eq!(dropping(&wred), [drop; 3]);
    assert_eq!(marking(&wred), [green, green, own]);
}

#[test]
fn each_of_sonics_eight_modes_marks_the_colours_of_its_name() {
    for (mode, marked) in [
        (EcnMode::EcnNone, [false, false, false]),
        (EcnMode::EcnGreen, [true, false, false]),
        (EcnMode::EcnYellow, [false, true, false]),
        (EcnMode::EcnRed, [false, false, true]),
        (EcnMode::EcnGreenYellow, [true, true, false]),
        (EcnMode::EcnGreenRed, [true, false, true]),
        (EcnMode::EcnYellowRed, [false, true, true]),
        (EcnMode::EcnAll, [true, true, true]),
    ] {
        assert_eq!(Color::NAMES.map(|(_, color)| marks(mode, color)), marked, "{mode:?}");
    }
}

#[test]
fn the_chance_grows_in_a_line_and_jumps() {
    // SONiC's accuracy test: 500 000, 900 000, 5 %.
    let at = |depth| chance(&curve(500_000, 900_000, 5), depth);
    assert_eq!([0, 499_999, 500_000].map(at), [Chance::NEVER; 3]);
    assert_eq!([700_000, 620_000, 500_080].map(|depth| at(depth).ppm().0), [25_000, 15_000, 10]);
    assert_eq!(at(899_999).ppm(), Ppm(50_000));
    assert_eq!([900_000, u64::MAX].map(at), [Chance::ALWAYS; 2]);
    assert!((at(700_000).share() - 0.025).abs() < 1e-15);
    assert!((chance_at(&curve(500_000, 900_000, 5), 700_000.0) - 0.025).abs() < 1e-15);
    // A step, and thresholds that cross.
    assert_eq!(
        [999, 1_000].map(|d| chance(&curve(1_000, 1_000, 5), d)),
        [Chance::NEVER, Chance::ALWAYS]
    );
    assert_eq!(
        [999, 1_000].map(|d| chance(&curve(2_000, 1_000, 5), d)),
        [Chance::NEVER, Chance::ALWAYS]
    );
    assert_eq!(chance(&curve(0, 1_000, 0), 999), Chance::NEVER);
}

#[test]
fn sonics_dequeue_test_marks_the_first_and_not_the_last() {
    // kmin 50 000, kmax 51 000, 100 %, 101 frames of 1024 B, a cell of a byte: the first leaves 102 400 B behind, the last none.
    let wred = wred(50_000, 51_000, 100);
    let burst = Burst::of(&buffer(1, 0), &wred, GREEN, Bytes(1_024), 101);
    // 51 000 / 1024 = 49.8: with 50 or more behind always, with 49, which is 50 176 B, by chance, with 48 never.
    assert_eq!(burst.always(), Some(1..=51));
    assert_eq!(burst.by_chance(), Some(52..=52));
    assert_eq!(burst.never(), Some(53..=101));
    assert_eq!(burst.chance(52).ppm(), Ppm(176_000));
    let expected = burst.expected();
    assert_eq!((expected.always, expected.never), (51, 49));
    assert!((expected.mean - 51.176).abs() < 1e-12);
    assert!((expected.variance - 0.176 * 0.824).abs() < 1e-12);
}

#[test]
fn depths_are_in_whole_cells_and_count_what_the_point_of_marking_sees() {
    let dequeue = burst(&wred(0, 0, 0), 10);
    assert_eq!([1, 2, 10].map(|rank| dequeue.depth(rank)), [9 * 1_040, 8 * 1_040, 0]);
    let enqueue = dequeue.turned();
    assert_eq!([1, 2, 10].map(|rank| enqueue.depth(rank)), [0, 1_040, 9 * 1_040]);
    let itself = Wred { counts_itself: true, ..wred(0, 0, 0) };
    let (dequeue, enqueue) = (burst(&itself, 10), burst(&itself, 10).turned());
    assert_eq!([1, 10].map(|rank| dequeue.depth(rank)), [10 * 1_040, 1_040]);
    assert_eq!([1, 10].map(|rank| enqueue.depth(rank)), [1_040, 10 * 1_040]);
    // With a descriptor of 17 B a frame of 1024 B takes six cells.
    assert_eq!(step(&buffer(208, 17), &itself, Bytes(1_024)), 1_248);
    let packets = Wred { unit: DepthUnit::Packets(Bytes(500)), ..itself };
    assert_eq!(step(&buffer(208, 17), &packets, Bytes(1_024)), 500);
    // 20 others stand before the burst: at dequeue they have left when its first does.
    let behind = Burst { before: 20, ..burst(&wred(0, 0, 0), 10) };
    assert_eq!((behind.depth(1), behind.turned().depth(1)), (9 * 1_040, 20 * 1_040));
}

#[test]
fn the_accuracy_test_expects_so_many_marks() {
    // 910 frames of 1024 B in cells of a byte; above 900 000 B: 910 - 879 = 31 frames. Below: the n-th of 1..=878 behind it has
    // 0.05 (1024 n - 500 000) / 400 000 from n = 489 on: 390 terms, 0.000 092 to 0.049 884: their sum is 9.7453.
    let burst = Burst::of(&buffer(1, 0), &wred(500_000, 900_000, 5), GREEN, Bytes(1_024), 910);
    let expected = burst.expected();
    assert_eq!(expected.always, 31);
    assert_eq!(burst.by_chance().map(Iterator::count), Some(390));
    let sum = (489..=878).map(|n| f64::from(1_024 * n - 500_000) / 8e6).sum::<f64>();
    assert!((expected.mean - 31.0 - sum).abs() < 1e-9, "{expected:?}");
    assert!((sum - 390.0 * (0.000_092 + 0.049_884) / 2.0).abs() < 1e-9);
}

#[test]
fn what_is_not_ecn_capable_or_of_another_colour_is_dropped_by_its_own_curve() {
    let mut wred = wred(100, 200, 50);
    let green = GREEN;
    let plain = Class { capable: false, ..green };
    let red = Class { color: Color::Red, ..green };
    assert_eq!(
        [green, plain, red].map(|class| class.fate(&wred)),
        [Fate::Mark, Fate::Drop, Fate::Mark]
    );
    assert_eq!(plain.point(&wred), Marking::Enqueue);
    assert_eq!(plain.curve(&wred), curve(100, 200, 50));
    wred.ecn = EcnMode::EcnGreenYellow;
    wred.drop = Some(curve(1_000, 1_000, 100));
    assert_eq!((red.fate(&wred), red.curve(&wred)), (Fate::Drop, curve(1_000, 1_000, 100)));
    assert_eq!(green.curve(&wred), curve(100, 200, 50));
}

#[test]
fn a_hard_drop_takes_from_kmax_on_what_is_marked_below_and_leaves_the_rest_as_it_is() {
    let wred = Wred { harddrop: true, drop: Some(curve(1, 2, 3)), ..wred(20_800, 41_600, 50) };
    let plain = Class { capable: false, ..GREEN };
    assert_eq!([GREEN, plain].map(|class| class.fate(&wred)), [Fate::MarkOrDrop, Fate::Drop]);
    assert_eq!(GREEN.point(&wred), Marking::Enqueue);
    assert_eq!(
        (GREEN.curve(&wred), plain.curve(&wred)),
        (curve(20_800, 41_600, 50), curve(1, 2, 3))
    );
    // In cells of 208 B a frame of 208 B sees one step for each before it: the 201st sees 41600 B, and none before is dropped.
    assert_eq!(goes_in(&buffer(208, 0), &wred, GREEN, Bytes(208)), Some((200, 200)));
    let none = EcnMode::EcnNone;
    assert_eq!(GREEN.fate(&Wred { ecn: none, ..wred }), Fate::Drop);
}

#[test]
fn frames_that_are_dropped_go_in_up_to_the_step() {
    let plain = Class { capable: false, ..GREEN };
    let room = |wred: &Wred| goes_in(&buffer(208, 0), wred, plain, Bytes(1_024));
    // The 21st finds 20 x 1040 = 20 800 B.
    assert_eq!(room(&wred(20_800, 20_800, 100)), Some((20, 20)));
    assert_eq!(room(&wred(20_801, 20_801, 100)), Some((21, 21)));
    assert_eq!(room(&wred(0, 20_800, 5)), Some((1, 20)));
    assert_eq!(room(&wred(0, 20_800, 0)), Some((20, 20)));
    let itself = Wred { counts_itself: true, ..wred(20_800, 20_800, 100) };
    assert_eq!(room(&itself), Some((19, 19)));
    assert_eq!(goes_in(&buffer(208, 0), &itself, GREEN, Bytes(1_024)), None);
}

#[test]
fn corners_lie_between_the_depths_of_two_neighbours() {
    let burst = burst(&wred(20_000, 60_000, 50), 100);
    let corners = Corners::of(&burst);
    // 19 x 1040 = 19 760, 20 x 1040 = 20 800; 57 x 1040 = 59 280, 58 x 1040 = 60 320.
    assert_eq!(corners.kmin, (Some(19_760), Some(20_800)));
    assert_eq!(corners.kmax, (Some(59_280), Some(60_320)));
    let (kmin, kmax) = alike(&burst.curve, burst.step);
    assert_eq!((kmin, kmax), ((Bytes(19_760), Bytes(20_799)), (Bytes(59_281), Bytes(60_320))));
}

/// The average after the `rank`-th frame of a burst that nothing leaves.
fn average_of(burst: &Burst, weight: u8, rank: u64) -> Average {
    let burst = Burst { point: Marking::Enqueue, ..*burst };
    (1..=rank)
        .map(|rank| burst.depth(rank))
        .fold(Average::within(0), |average, depth| average.take(weight, &(depth..=depth)))
}

/// The same in closed form, with v = 1 - w: frames that meet s, s + c, s + 2c, ... make it
/// `s (1 - v^i) + c (i - 1 - v (1 - v^(i-1)) / w)`.
fn closed(burst: &Burst, weight: u8, rank: u64) -> f64 {
    let (w, i, c) = ((-f64::from(weight)).exp2(), rank as f64, burst.step as f64);
    let s = if burst.counts_itself { c } else { 0.0 };
    if weight == 0 {
        return s + c * (i - 1.0);
    }
    // v^i, without the loss of 1 - w for a small w.
    let power = |i: f64| (i * (-w).ln_1p()).exp();
    s * (1.0 - power(i)) + c * (i - 1.0 - (1.0 - w) * (1.0 - power(i - 1.0)) / w)
}

#[test]
fn the_average_lags_behind_a_ramp_by_what_its_weight_says() {
    // In steps of 1000 with w = 1/4: 0, then 250, then 250 + (2000 - 250) / 4 = 687.5, then 1265.625; a byte and a bit for rounding.
    let burst = Burst { step: 1_000, ..burst(&wred(0, 0, 0), 100) };
    let at = |burst: &Burst, weight, rank| average_of(burst, weight, rank).compared();
    let is = |(lo, hi): (f64, f64), want: f64| {
        assert!(
            (lo - (want - 1.0).max(0.0)).abs() < 1e-6 && (hi - want - 1.0 / 1_024.0).abs() < 1e-6,
            "{lo} {hi} {want}"
        );
    };
    for (rank, want) in [(1, 0.0), (2, 250.0), (3, 687.5), (4, 1_265.625)] {
        is(at(&burst, 2, rank), want);
    }
    // In the end by v / w = 3 steps.
    is(at(&burst, 2, 100), 96_000.0);
    let itself = Burst { counts_itself: true, ..burst };
    is(at(&itself, 2, 1), 250.0);
    is(at(&itself, 0, 7), 7_000.0);
}

#[test]
fn an_average_is_as_open_as_what_it_is_made_of() {
    let open = Average::within(1_000).take(1, &(200..=400));
    assert_eq!(open.compared(), (99.0, 700.0 + 1.0 / 1_024.0));
    assert_eq!(open.or(Average::within(50)).compared(), (0.0, 700.0 + 1.0 / 1_024.0));
    // Nothing is left after an hour, and as much as there was if no time went by.
    let forgotten = open.idle(1, &(0..=1_000_000));
    assert_eq!(forgotten.compared(), (0.0, 700.0 + 1.0 / 1_024.0));
    assert!(open.idle(1, &(1_000..=1_000_000)).compared().1 < 0.001);
    // Four small frames at a weight of 1/2: a sixteenth.
    let (lo, hi) = Average::within(0).take(0, &(1_600..=1_600)).idle(1, &(4..=4)).compared();
    assert!(lo > 98.99 && hi < 100.01, "{lo} {hi}");
}

proptest! {
    /// A queue as a number that goes up by a frame and down by a frame.
    #[test]
    fn a_burst_sees_what_a_queue_shows_that_is_filled_and_emptied(
        frames in 1_u64..60, cell in 1_u64..300, itself: bool, kmin in 0_u64..60_000, span in 0_u64..30_000, pmax in 0_u32..=100
    ) {
        let wred = Wred { counts_itself: itself, ..wred(kmin, kmin + span, pmax) };
        let dequeue = Burst::of(&buffer(cell, 0), &wred, GREEN, Bytes(1_024), frames);
        let mut queue = 0;
        for rank in 1..=frames {
            let before = queue;
            queue += 1_024_u64.div_ceil(cell) * cell;
            prop_assert_eq!(dequeue.turned().depth(rank), if itself { queue } else { before });
        }
        let mut marks = 0.0;
        for rank in 1..=frames {
            let before = queue;
            queue -= 1_024_u64.div_ceil(cell) * cell;
            let depth = if itself { before } else { queue };
            prop_assert_eq!(dequeue.depth(rank), depth);
            marks += if depth >= kmin + span {
                1.0
            } else if depth <= kmin {
                0.0
            } else {
                f64::from(pmax) / 100.0 * (depth - kmin) as f64 / span as f64
            };
        }
        prop_assert!((dequeue.expected().mean - marks).abs() < 1e-9);
        let pieces = [dequeue.always(), dequeue.by_chance(), dequeue.never()];
        let all: u64 = pieces.into_iter().flatten().map(|ranks| ranks.end() - ranks.start() + 1).sum();
        prop_assert_eq!(all, frames);
    }

    #[test]
    fn of_a_burst_the_average_is_its_closed_form(
        frames in 1_u64..2_000, weight in 0_u8..=15, itself: bool, step in 1_u64..10_000
    ) {
        let burst = Burst { step, counts_itself: itself, ..burst(&wred(0, 0, 0), frames) };
        let (lo, hi) = average_of(&burst, weight, frames).compared();
        let closed = closed(&burst, weight, frames);
        let slack = 1e-9 * (step * frames) as f64 + 1e-9;
        prop_assert!(lo <= closed + slack && closed <= hi + slack && hi - lo < 1.01, "{closed} {lo} {hi}");
    }
}

#[test]
fn a_queue_that_nothing_holds_back_is_as_deep_as_what_comes_while_a_frame_is_in_it() {
    // At 100 Gb/s 64 B come every 6.72 ns. In 600 ns of transit, its own 6.72 and the 121.6 of 1500 B before it come 108.4: 109.
    let deep = |unit: DepthUnit, shortest: u64, beside: &dyn Fn(Dur) -> u64| {
        let wred = Wred { unit, ..wred(0, 0, 100) };
        let sent = Sent { shortest: Bytes(shortest), beside };
        passing(&buffer(208, 0), &wred, PortSpeed::G100, (Dur::ns(600), Bytes(1_500)), &sent)
    };
    assert_eq!(deep(DepthUnit::Packets(Bytes(100)), 0, &|_| 0), 109 * 100 + 100);
    // A cell each, and the eight of the long one.
    assert_eq!(deep(DepthUnit::Bytes, 64, &|_| 0), 109 * 208 + 8 * 208);
    // Of 1086 B, 88.48 ns each, 10 come in 600 + 88.48 + 121.6. Most cells are those of 1457 B, the first with eight, of which eight come.
    assert_eq!(deep(DepthUnit::Packets(Bytes(100)), 1_086, &|_| 0), 10 * 100 + 100);
    assert_eq!(deep(DepthUnit::Bytes, 1_086, &|_| 0), 64 * 208 + 8 * 208);
    // What comes beside them counts for the transit and two long ones.
    assert_eq!(deep(DepthUnit::Bytes, 1_086, &|over| over.0), 64 * 208 + 8 * 208 + 843_200);
}
