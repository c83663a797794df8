//! How soon a port stops, and for how long.

use super::given::{Ran, Seen, Word};
use rig_capture::{Dir, Span};
use rig_units::Time;

/// A full load of frames of 1024 B at 100 Gb/s, 83.52 ns each, and words of PFC to its port.
pub(super) fn load(measure: &str, words: &[(&str, &str)]) -> Ran {
    let words = words.iter().map(|(at, quanta)| {
        format!("      - {{at: {at}, pfc: {{from: p2, classes: [3], quanta: {quanta}}}}}\n")
    });
    let words: String = words.collect();
    Ran::of(
        "broadcom",
        &format!(
            "    streams: {{load: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, rate: 100%, count: 400}}}}
    taps: {{p2: all}}
    trials: 1
    steps:
      - {{at: 1ms, start: load}}
{words}    length: 2ms
    measure: [{{{measure}: {{stream: load}}}}]
"
        ),
    )
}

/// The frames of the load that arrive after the gap.
pub(super) fn after_the_gap(seen: &Seen<'_>) -> Vec<usize> {
    let arrivals = seen.frames(0, Dir::Rx);
    let at = |record: usize| seen.observation.records[record].at;
    let gaps = arrivals.windows(2).enumerate();
    let (before, _) = gaps.max_by_key(|(_, pair)| at(pair[1]) - at(pair[0])).expect("a gap");
    arrivals[before + 1..].to_vec()
}

#[test]
fn the_last_frame_starts_within_a_frame_of_the_declared_response() {
    // 394 quanta are 2.01728 us, declared as 2.02 us.
    let ran = load("pfc.response", &[("1010us", "600q")]);
    assert_eq!(
        ran.as_seen().spans("pfc.response").1,
        Span { lo: 2_020_000 - 83_520, hi: 2_020_000 }
    );
    // An XOFF that was sent a picosecond sooner was answered a picosecond later.
    ran.holds_its_bounds("pfc.response", |seen, by| {
        let xoff = seen.words(1, Dir::Tx, true)[0];
        seen.shift(xoff, -by);
    });
}

#[test]
fn of_a_pause_the_response_is_taken_and_up_to_a_frame() {
    // 600 quanta are 3.072 us.
    let ran = load("pfc.pause", &[("1010us", "600q")]);
    let most = 3_072_000 - 2_020_000;
    assert_eq!(ran.as_seen().spans("pfc.pause").1, Span { lo: most - 83_520, hi: most });
    ran.holds_its_bounds("pfc.pause", |seen, by| {
        let late = after_the_gap(seen);
        seen.shift_all(&late, by);
    });
}

#[test]
fn an_xon_ends_a_pause_as_late_as_an_xoff_begins_it() {
    let ran = load("pfc.pause", &[("1010us", "20000q"), ("1015us", "0q")]);
    assert_eq!(ran.as_seen().spans("pfc.pause").1, Span { lo: 5_000_000 - 83_520, hi: 5_000_000 });
    ran.holds_its_bounds("pfc.pause", |seen, by| {
        let late = after_the_gap(seen);
        seen.shift_all(&late, by);
    });
}

#[test]
fn a_pause_that_replaces_another_lasts_from_its_own_word_on() {
    let ran = load("pfc.pause", &[("1010us", "20000q"), ("1015us", "600q")]);
    let most = 5_000_000 + 3_072_000 - 2_020_000;
    assert_eq!(ran.as_seen().spans("pfc.pause").1, Span { lo: most - 83_520, hi: most });
    ran.holds_its_bounds("pfc.pause", |seen, by| {
        let late = after_the_gap(seen);
        seen.shift_all(&late, by);
    });
}

#[test]
fn a_pause_no_longer_than_response_and_frame_shows_nothing() {
    // 410 quanta are 2.0992 us and 411 are 2.10432 us; the response and a frame are 2.10352 us.
    for measure in ["pfc.response", "pfc.pause"] {
        let shows = |quanta: &str| load(measure, &[("1010us", quanta)]).as_seen().word(measure);
        assert_eq!(shows("410q"), Word::Doubt("not-observable"));
        assert_eq!(shows("411q"), Word::Pass);
    }
}

#[test]
fn short_pauses_take_the_port_for_their_share_of_the_time_give_or_take_a_frame() {
    let ran = Ran::of(
        "broadcom",
        "    streams: {load: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, rate: 100%}}
    storms: {storm: {from: p2, classes: [3], quanta: 1000q, refresh: 2x}}
    taps: {p1: all, p2: all}
    trials: 1
    steps: [{at: 0ms, start: load, for: 1ms}, {at: 100us, start: storm, for: 800us}]
    length: 3ms
    measure: [{pfc.duty: {storm: storm, stream: load, from: 200us, until: 800us}}]
",
    );
    let (read, want) = ran.as_seen().spans("pfc.duty");
    assert!(read.meets(want), "{read:?} {want:?}");
    let within = |seen: &Seen<'_>| -> Vec<usize> {
        let at = |record: &usize| seen.observation.records[*record].at;
        let all = seen.frames(0, Dir::Rx).into_iter();
        all.filter(|one| (Time(200_000_000)..=Time(800_000_000)).contains(&at(one))).collect()
    };
    let (frames, over) = ran.as_seen_of(|seen| {
        let all = within(seen);
        let at = |record: usize| seen.observation.records[record].at;
        (all.len() as u64 - 1, (at(all[all.len() - 1]) - at(all[0])).0)
    });
    // The share that so many frames leave idle, the last one lying across the edge.
    let idle = |frames: u64| {
        let bps = (u128::from(frames) + 1) * 8_192 * 1_000_000_000_000 / u128::from(over);
        1_000_000
            - u64::try_from(bps * 1_044 / 1_024 * 1_000_000 / 100_000_000_000).expect("a share")
    };
    assert_eq!(idle(frames), read.lo);
    let fails = |less: u64| {
        let said = ran.changed(|seen| {
            for _ in 0..less {
                let all = within(seen);
                seen.lose(all[all.len() / 2]);
            }
        });
        said.fails("pfc.duty")
    };
    let least = (0..frames).find(|less| idle(frames - less) > want.hi).expect("a number");
    assert!(!fails(least - 1) && fails(least), "{least} frames less");
}
