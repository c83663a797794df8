use super::*;
use proptest::prelude::*;
use rig_lab::{Limiting, Nic};

const LINE: PortSpeed = PortSpeed::G100;

fn rp() -> Rp {
    Rp { enable: true, cut_window: Dur::us(50), ..Nic::quiet().rp }
}

fn frames(at: &[u64]) -> Vec<(Time, Bytes)> {
    at.iter().map(|&at| (Time(at), Bytes(1_000))).collect()
}

fn spans(rp: &Rp, cnps: &[u64], at: &[u64], bound: u64) -> Vec<(u64, u64)> {
    spans_by(rp, cnps, at, stamps(Dur(bound)))
}

fn spans_by(rp: &Rp, cnps: &[u64], at: &[u64], off: Off) -> Vec<(u64, u64)> {
    let cnps: Vec<Time> = cnps.iter().map(|&at| Time(at)).collect();
    let gaps = gaps(rp, LINE, &cnps, &frames(at), (off, None));
    gaps.iter().map(|gap| (gap.lo.0, gap.hi.0)).collect()
}

fn stamps(bound: Dur) -> Off {
    Off { stamps: bound, ..Off::default() }
}

/// To the picosecond that a device rounds, either way.
fn around(lo: u64, hi: u64) -> (u64, u64) {
    (lo - 1, hi + 1)
}

#[test]
fn a_cnp_shows_in_the_gap_after_the_first_frame_from_its_effect_on() {
    // Effect 1 us after it arrived. 8000 bits: 80 ns at 100 Gb/s, 160 ns at 50.
    let want = [around(80_000, 80_000), around(160_000, 160_000)];
    assert_eq!(spans(&rp(), &[0], &[999_999, 1_000_000], 0), want);
}

#[test]
fn near_the_effect_either_rate_may_be_and_past_it_one() {
    let either = around(80_000, 160_000);
    let want = [around(80_000, 80_000), either, either, around(160_000, 160_000)];
    assert_eq!(spans(&rp(), &[0], &[997_999, 998_000, 1_001_999, 1_002_000], 1_000), want);
}

#[test]
fn a_cnp_at_the_end_of_the_window_may_cut_or_not() {
    // A quarter of the line: 320 ns; half of it: 160 ns.
    let at = [60_000_000];
    assert_eq!(spans(&rp(), &[0, 50_000_000], &at, 0), [around(320_000, 320_000)]);
    assert_eq!(spans(&rp(), &[0, 49_999_999], &at, 0), [(106_666, 106_667)]);
    assert_eq!(spans(&rp(), &[0, 49_999_999], &at, 1)[0].1, 320_001);
    // Without a cut the timer ran at 56 us: three quarters.
    assert_eq!(spans(&rp(), &[0, 49_999_999], &at, 1)[0].0, 106_666);
}

/// 100 ppm of what is timed, and nothing of what a stamp says.
fn clocks() -> Off {
    Off { apart: Apart::of(rig_units::Ppm(100), rig_units::Ppm(0)), ..Off::default() }
}

#[test]
fn what_a_clock_is_off_counts_from_the_last_cut_and_no_further() {
    // The timer runs out 55 us after a cut: 5500.55 ps more or less by a clock within 100 ppm.
    let at = |timer: u64| [-5_502, -5_501, 5_500, 5_501].map(|by| timer.saturating_add_signed(by));
    let one = |(lo, hi): (u64, u64)| hi - lo <= 2;
    let open = |cnps: &[u64], timer| {
        let spans = spans_by(&rp(), cnps, &at(timer), clocks());
        spans.into_iter().map(|span| !one(span)).collect::<Vec<_>>()
    };
    assert_eq!(open(&[0], 56_000_000), [false, true, true, false]);
    // Nor is it more after a second cut, whenever that was.
    assert_eq!(open(&[0, 500_000_000], 556_000_000), [false, true, true, false]);
    // A CNP is where its stamp says.
    let cnps = [0, 500_000_000];
    let spans = spans_by(&rp(), &cnps, &[500_999_999, 501_000_000], clocks());
    assert!(spans.iter().all(|span| one(*span)) && spans[0].1 < spans[1].0, "{spans:?}");
    // And so far as its way to the limiter leaves open.
    let spans =
        |cnps: u64, at: u64| spans_by(&rp(), &[0], &[at], Off { cnps: Dur(cnps), ..clocks() })[0];
    let sides = [spans(300, 999_699), spans(300, 999_700), spans(300, 1_000_299)];
    assert_eq!(sides.map(one), [true, false, false]);
    assert!(one(spans(300, 1_000_300)));
}

#[test]
fn a_window_is_as_long_as_the_clock_of_the_limiter_makes_it() {
    // 50 us by a clock within 100 ppm: 5000.5 ps more or less. Cut once and increased once, or cut twice.
    let (once, twice) = ((106_666, 106_667), around(320_000, 320_000));
    let after = |since| spans_by(&rp(), &[0, since], &[60_000_000], clocks())[0];
    assert_eq!(after(49_994_998), once);
    assert_eq!(after(49_994_999), (once.0, twice.1));
    assert_eq!(after(50_005_000), (once.0, twice.1));
    assert_eq!(after(50_005_001), twice);
}

#[test]
fn bursts_are_counted_from_the_first_frame_that_left() {
    let rp = Rp { limiting: Limiting::Burst, burst: Bytes(2_000), ..rp() };
    let gaps = gaps(
        &rp,
        LINE,
        &[Time(0)],
        &frames(&[0, 1, 2_000_000, 2_000_001, 3_000_000]),
        (Off::default(), None),
    );
    let want = [(0, 0, 0), (0, 2_000, 159_999), (2, 0, 0), (2, 2_000, 319_999), (4, 0, 0)];
    let got: Vec<(usize, u64, u64)> =
        gaps.iter().map(|gap| (gap.from, gap.bytes.0, gap.lo.0)).collect();
    assert_eq!(got, want);
}

#[test]
fn stamps_that_tell_nothing_are_said_to_tell_nothing() {
    let cnps: Vec<u64> = (0..400).map(|n| n * 1_000_000).collect();
    let rp = Rp { cut_window: Dur::ZERO, ..rp() };
    let at: Vec<u64> = (0..4_000).map(|n| n * 100_000).collect();
    let cnps: Vec<Time> = cnps.into_iter().map(Time).collect();
    let gaps = gaps(&rp, LINE, &cnps, &frames(&at), (stamps(Dur::ms(1)), None));
    assert!(gaps.last().unwrap().is_lost());
}

proptest! {
    #[test]
    fn what_happened_is_among_what_blurred_stamps_allow(
        cnps in prop::collection::vec((1_u64..120_000_000, 0_u64..=4_000), 0..8),
        frames in prop::collection::vec((80_000_u64..6_000_000, 0_u64..=4_000), 1..80),
        byte_counter in prop_oneof![Just(0_u64), 3_000_u64..40_000],
    ) {
        let rp = Rp { byte_counter: Bytes(byte_counter), ..rp() };
        let add_up = |steps: &[(u64, u64)]| {
            let mut at = 10_000;
            steps.iter().map(|&(step, blur)| {
                at += step;
                (Time(at), Time(at + blur - 2_000))
            }).collect::<Vec<(Time, Time)>>()
        };
        let (cnps, frames) = (add_up(&cnps), add_up(&frames));
        let of = |all: &[(Time, Time)], seen: bool| all.iter().map(|&(at, stamp)| if seen { stamp } else { at }).collect::<Vec<Time>>();
        let sized = |all: Vec<Time>| all.into_iter().map(|at| (at, Bytes(1_000))).collect::<Vec<(Time, Bytes)>>();
        let exact = gaps(&rp, LINE, &of(&cnps, false), &sized(of(&frames, false)), (Off::default(), None));
        let blurred = gaps(&rp, LINE, &of(&cnps, true), &sized(of(&frames, true)), (stamps(Dur(2_000)), None));
        for (exact, blurred) in exact.iter().zip(&blurred) {
            // What devices may round is below a millionth.
            prop_assert!(exact.hi.0 - exact.lo.0 <= 2 + exact.hi.0 / 1_000_000, "{:?}", exact);
            prop_assert!(blurred.lo <= exact.lo && exact.hi <= blurred.hi, "{:?} {:?}", exact, blurred);
        }
        prop_assert!(!blurred.iter().any(Gap::is_lost));
    }
}
