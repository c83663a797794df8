use super::*;
use proptest::prelude::*;
use rig_units::Pace;

const SPEED: PortSpeed = PortSpeed::G10;
const SIZE: Bytes = Bytes(1000);

fn at(dur: Dur) -> Time {
    Time::ZERO + dur
}

fn stream(index: u16, class: u8, every: Dur) -> Job {
    let rhythm = Rhythm::Even(Pace::every(every));
    Job { who: Who::Stream(index), class: Some(class), size: SIZE, rhythm, first: 0, count: None }
}

/// Leaves out what is late by a frame.
const SKIP: Stall = Stall::SkipAfter(Dur::us(1));

fn sender(stall: Stall) -> Sender {
    Sender::new(SPEED, Obeys::default(), stall)
}

/// The next departures, each on time.
fn on_time(sender: &mut Sender, count: usize) -> Vec<Departure> {
    let mut one = || {
        let next = sender.next()?;
        sender.sent(next.start);
        Some(next)
    };
    (0..count).map_while(|_| one()).collect()
}

fn starts(departures: &[Departure]) -> Vec<(Who, Dur)> {
    departures.iter().map(|departure| (departure.who, departure.start.elapsed())).collect()
}

#[test]
fn streams_of_one_port_take_turns_and_never_overlap() {
    let mut port = sender(SKIP);
    let slot = SPEED.slot(SIZE);
    for index in 0..3 {
        port.start(Time::ZERO, stream(index, 3, slot * 4));
    }
    let departures = on_time(&mut port, 6);
    let who = |n: u16| Who::Stream(n);
    let want = [(0, 0), (1, 1), (2, 2), (0, 4), (1, 5), (2, 6)];
    assert_eq!(starts(&departures), want.map(|(n, slots)| (who(n), slot * slots)));
    assert_eq!(departures[0].end, at(SPEED.serialise(SIZE)));
    assert_eq!(departures[3].number, 1);
}

#[test]
fn a_storm_goes_before_data_and_no_pause_stops_it() {
    let mut port = sender(SKIP);
    port.start(Time::ZERO, stream(0, 3, Dur::us(2)));
    port.start(Time::ZERO, Job::pfc(Who::Storm(0), Dur::us(3), Some(2)));
    port.on_pfc(Time::ZERO, Time::ZERO, &pfc::Repr::all(u8::MAX, Quanta(65_535)));
    let end = SPEED.pause(Quanta(65_535));
    let departures = on_time(&mut port, 3);
    assert_eq!(
        starts(&departures),
        [(Who::Storm(0), Dur::ZERO), (Who::Storm(0), Dur::us(3)), (Who::Stream(0), end)]
    );
}

#[test]
fn after_a_pause_a_stream_goes_on_at_its_rhythm_and_makes_up_for_nothing() {
    let mut port = sender(Stall::CatchUp);
    port.start(Time::ZERO, stream(0, 3, Dur::us(2)));
    assert_eq!(on_time(&mut port, 1)[0].start, Time::ZERO);
    port.on_pfc(at(Dur::us(1)), at(Dur::us(1)), &pfc::Repr::all(8, Quanta(65_535)));
    port.on_pfc(at(Dur::us(9)), at(Dur::us(9)), &pfc::Repr::all(8, Quanta(0)));
    let after: Vec<Dur> = starts(&on_time(&mut port, 3)).iter().map(|start| start.1).collect();
    assert_eq!(after, [Dur::us(9), Dur::us(11), Dur::us(13)]);
    assert_eq!(port.paused(at(Dur::us(20))), [(3, Dur::us(8))]);
}

#[test]
fn what_a_pause_holds_up_is_not_counted_late() {
    let mut port = sender(SKIP);
    port.start(Time::ZERO, stream(0, 3, Dur::us(2)));
    port.on_pfc(Time::ZERO, Time::ZERO, &pfc::Repr::all(8, Quanta(65_535)));
    // The rig hears of the XON 5 us after it came: that is its reaction, and the plan starts from there.
    port.on_pfc(at(Dur::us(10)), at(Dur::us(15)), &pfc::Repr::all(8, Quanta(0)));
    assert_eq!(port.next().expect("open").start, at(Dur::us(15)));
}

#[test]
fn after_a_stall_frames_are_skipped_and_counted_or_sent_in_a_row() {
    for (stall, want, skipped) in [(SKIP, Dur::us(22), 10), (Stall::CatchUp, Dur::us(2), 0)] {
        let mut port = sender(stall);
        port.start(Time::ZERO, stream(0, 3, Dur::us(2)));
        // The frame that was due at 0 leaves at 21 us: those of 2 to 20 us could only follow as a burst.
        port.sent(at(Dur::us(21)));
        assert_eq!(port.next().expect("goes on").start, at(want), "{stall:?}");
        assert_eq!(port.stop(Who::Stream(0)), skipped, "those of 2 to 20 us");
    }
}

#[test]
fn what_a_stream_left_out_is_known_after_its_last_frame() {
    let mut port = sender(SKIP);
    let every = Dur::us(2);
    let job = Job { count: Some(10), ..stream(0, 3, every) };
    port.start(Time::ZERO, job);
    // Looked away once in its midst, and again over its end.
    port.sent(Time::ZERO + every * 3);
    let mut left = 1;
    while let Some(next) = port.next() {
        left += 1;
        port.sent(if left == 5 { next.start + every * 40 } else { next.start });
    }
    assert!(port.is_idle());
    let skipped = port.stop(Who::Stream(0));
    assert_eq!(left + skipped, 10);
    assert!(skipped > 3, "twice, and all that was left: {skipped}");
    assert_eq!(port.stop(Who::Stream(0)), 0, "told once");
}

#[test]
fn a_job_ends_after_its_count_and_numbers_go_on_from_its_first() {
    let mut port = sender(SKIP);
    port.start(Time::ZERO, Job { count: Some(2), first: 40, ..stream(0, 3, Dur::us(2)) });
    let numbers: Vec<u64> = on_time(&mut port, 5).iter().map(|sent| sent.number).collect();
    assert_eq!(numbers, [40, 41]);
    assert!(port.is_idle());
}

#[test]
fn nothing_leaves_without_a_link_and_what_was_due_starts_when_it_is_back() {
    let mut port = sender(SKIP);
    port.start(Time::ZERO, stream(0, 3, Dur::us(2)));
    on_time(&mut port, 1);
    port.set_up(at(Dur::us(1)), false);
    assert_eq!(port.next(), None);
    port.set_up(at(Dur::us(50)), true);
    assert_eq!(port.next().expect("up").start, at(Dur::us(50)));
}

#[test]
fn on_a_clock_that_starts_afresh_nothing_is_left_of_the_old_one() {
    let mut port = sender(SKIP);
    port.start(at(Dur::s(9)), stream(0, 3, Dur::us(2)));
    on_time(&mut port, 5);
    port.on_pfc(at(Dur::s(10)), at(Dur::s(10)), &pfc::Repr::all(8, Quanta(65_535)));
    port.restart();
    assert!(port.is_idle());
    port.start(at(Dur::us(1)), stream(0, 3, Dur::us(2)));
    assert_eq!(port.next().expect("started").start, at(Dur::us(1)));
}

proptest! {
    #[test]
    fn departures_never_overlap_nor_fall_into_a_pause_and_stay_in_order(
        jobs in proptest::collection::vec((0_u8..4, 1_u64..6_000), 1..6),
        frames in proptest::collection::vec((1_u64..30_000, 0_u8..16, 0_u16..200), 0..12),
    ) {
        let mut port = sender(Stall::CatchUp);
        for (index, (class, every)) in (0..).zip(jobs) {
            port.start(Time::ZERO, stream(index, class, Dur::ns(every)));
        }
        let mut gate = Gate::new(SPEED, Obeys::default());
        let (mut now, mut free) = (Time::ZERO, Time::ZERO);
        for (gap, classes, quanta) in frames {
            let next = now + Dur::ns(gap);
            while let Some(departure) = port.next().filter(|departure| departure.start < next) {
                prop_assert!(departure.start >= free, "{:?} overlaps", departure);
                let Who::Stream(_) = departure.who else { unreachable!("only streams") };
                free = departure.start + SPEED.slot(SIZE);
                port.sent(departure.start);
            }
            now = next;
            let frame = pfc::Repr::all(classes, Quanta(quanta));
            gate.on_pfc(now, &frame);
            port.on_pfc(now, now, &frame);
            if let Some(departure) = port.next() {
                let open = (0..4).map(|class| gate.opens(class, departure.start)).min();
                prop_assert!(open <= Some(departure.start), "{:?} within a pause", departure);
            }
        }
    }
}
