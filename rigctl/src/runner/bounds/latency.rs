//! How long a frame takes through an idle device.

use super::given::{Ran, Word};
use rig_capture::{Dir, Provenance, Span};
use rig_units::{Dur, Length};

/// Frames of 1024 B at 100 Gb/s, 83.52 ns each with preamble and gap, 81.92 ns without, through a device that declares 600 ns.
fn passing(more: &str) -> Ran {
    Ran::of(
        "broadcom",
        &format!(
            "    streams: {{passing: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 20us, count: 20}}}}
    taps: {{p1: all, p2: all}}
    trials: 1
    steps:
      - {{at: 0ms, start: passing}}
{more}    length: 2ms
    measure: [latency: {{stream: passing}}]
"
        ),
    )
}

#[test]
fn what_is_declared_may_lie_where_the_preamble_is() {
    let ran = passing("");
    let (read, want) = ran.as_seen().spans("latency");
    assert_eq!(want, Span::exactly(600_000));
    assert_eq!(read.hi - read.lo, 1_600);
    ran.holds_its_bounds("latency", |seen, by| {
        let last = seen.frames(0, Dir::Rx)[19];
        seen.shift(last, by);
    });
}

#[test]
fn a_timestamp_that_may_be_off_widens_what_was_read_on_either_side() {
    let bound = Dur::ns(25);
    let ran = passing("").then(|seen| {
        seen.observation.ports[1].provenance = Provenance::Hardware { bound };
    });
    let (read, _) = ran.as_seen().spans("latency");
    assert_eq!(read.hi - read.lo, 1_600 + 2 * bound.0);
    ran.holds_its_bounds("latency", |seen, by| {
        let last = seen.frames(0, Dir::Rx)[19];
        seen.shift(last, by);
    });
}

#[test]
fn of_a_stream_that_lost_a_frame_nothing_is_said() {
    let said = passing("").changed(|seen| {
        let one = seen.frames(0, Dir::Rx)[7];
        seen.lose(one);
    });
    assert_eq!(said.word("latency"), Word::Doubt("not-measured"));
}

#[test]
fn a_frame_that_had_to_wait_is_no_measure_of_the_device() {
    // The first frame is so late that the second follows it at once, or a picosecond after that.
    let ran = passing("");
    let of = |gap: i64| {
        ran.changed(|seen| {
            let frames = seen.frames(0, Dir::Rx);
            let at = |record: usize| seen.observation.records[record].at.0;
            let behind = at(frames[1]) - 83_520;
            let by = i64::try_from(behind - at(frames[0])).expect("a time") - gap;
            // Both are late: only who did not wait says so.
            seen.shift(frames[0], by);
            let (first, second) = (seen.frames(0, Dir::Rx)[0], seen.frames(0, Dir::Rx)[1]);
            seen.shift_all(&[first, second], 5_000);
        })
    };
    let count = |gap: i64| of(gap).of("latency").next().expect("it was judged").looked.count;
    assert_eq!((count(0), count(1)), (19, 20));
}

#[test]
fn a_frame_that_a_pause_held_is_no_measure_of_the_device() {
    let looked = |more: &str| {
        let said = passing(more).as_seen();
        assert_eq!(said.word("latency"), Word::Pass);
        said.of("latency").next().expect("it was judged").looked.count
    };
    assert_eq!(looked(""), 20);
    // 4000 quanta are 20.48 us: at least one frame comes meanwhile.
    let paused = looked("      - {at: 50us, pfc: {from: p2, classes: [3], quanta: 4000q}}\n");
    assert!((17..20).contains(&paused), "{paused}");
}

/// The same over two switches in a row, 600 ns and 450 ns, with 40 m of cable between them.
fn over_two(every: &str, beside: bool) -> Ran {
    let [stream, start] = if beside {
        [
            "\n      beside: {from: p2, to: p4, class: 4, kind: rocev2-write, size: 1024B, every: 35us, count: 20}",
            "\n      - {at: 0ms, start: beside}",
        ]
    } else {
        [""; 2]
    };
    Ran::of(
        "two-in-a-row",
        &format!(
            "    streams:
      passing: {{from: p1, to: p3, class: 3, kind: rocev2-write, size: 1024B, every: {every}, count: 20}}{stream}
    taps: {{p1: all, p3: all}}
    trials: 1
    steps:
      - {{at: 0ms, start: passing}}{start}
    length: 2ms
    measure: [latency: {{stream: passing}}]
"
        ),
    )
}

#[test]
fn two_switches_take_their_delays_and_the_frame_once_more_on_the_cable_between_them() {
    let ran = over_two("20us", false);
    let taken = Dur::ns(600 + 450) + Length(4_000).travel();
    let (read, want) = ran.as_seen().spans("latency");
    assert_eq!(want, Span { lo: taken.0 + 81_920, hi: taken.0 + 83_520 });
    assert_eq!(read.hi - read.lo, 1_600);
    ran.holds_its_bounds("latency", |seen, by| {
        let last = seen.frames(0, Dir::Rx)[19];
        seen.shift(last, by);
    });
}

#[test]
fn frames_that_may_meet_others_between_the_switches_tell_nothing() {
    for crowded in [over_two("1us", false), over_two("20us", true)] {
        assert_eq!(crowded.as_seen().word("latency"), Word::Doubt("not-observable"));
    }
}
