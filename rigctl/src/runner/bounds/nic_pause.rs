//! How soon a NIC stops for an XOFF, when it goes on, and by which frames it must not be held.

use super::given::{Ran, Seen, Word};
use rig_capture::{Dir, Span};
use rig_testcases::RoceKind;

/// A flow of packets of 1106 B at most at 100 Gb/s, 88.48 ns each and one of the first of a message 1.28 ns more; and PFC to its port.
fn told(measure: &str, words: &[(&str, &str, &str)]) -> Ran {
    let words = words.iter().map(|(at, classes, quanta)| {
        format!("      - {{at: {at}, pfc: {{from: p1, classes: {classes}, quanta: {quanta}}}}}\n")
    });
    let words: String = words.collect();
    Ran::of(
        "gen2",
        &format!(
            "    dut: {{nic: {{generation: gen2}}}}
    flows: {{load: {{nic: p1, class: 3, verb: write, message: 64KiB, mtu: 1024B}}}}
    steps:
      - {{at: 0us, start: load, for: 90us}}
{words}    length: 100us
    trials: 1
    measure: [{{{measure}: {{flow: load}}}}]
"
        ),
    )
}

/// Ten XOFFs, 10 us apart, in each of twenty trials.
pub(super) fn stopped_ten_times() -> String {
    let words: String = (1..=10)
        .map(|word| {
            format!(
                "      - {{at: {}us, pfc: {{from: p1, classes: [3], quanta: 1000q}}}}\n",
                word * 10
            )
        })
        .collect();
    format!(
        "    dut: {{nic: {{generation: gen2}}}}
    flows: {{flow: {{nic: p1, class: 3, verb: write, message: 64KiB, mtu: 1024B}}}}
    steps:
      - {{at: 0us, start: flow, for: 120us}}
{words}    length: 130us
    trials: 20
    measure: [{{nic.stops: {{flow: flow}}}}, {{nic.goes_on: {{flow: flow}}}}]
"
    )
}

fn packets(seen: &Seen<'_>) -> Vec<usize> {
    seen.roce(0, Dir::Rx, |kind| matches!(kind, RoceKind::Data { .. }))
}

/// The packets that come after the longest silence.
fn after_the_silence(seen: &Seen<'_>) -> Vec<usize> {
    let all = packets(seen);
    let at = |record: usize| seen.observation.records[record].at;
    let gaps = all.windows(2).enumerate();
    let (before, _) = gaps.max_by_key(|(_, pair)| at(pair[1]) - at(pair[0])).expect("a gap");
    all[before + 1..].to_vec()
}

#[test]
fn the_last_packet_starts_within_a_packet_of_the_declared_response() {
    let ran = told("nic.stops", &[("10us", "[3]", "1000q")]);
    let (_, want) = ran.as_seen().spans("nic.stops");
    assert_eq!(want.hi, 1_000_000);
    assert!((900_000..920_000).contains(&want.lo), "{want:?}");
    // An XOFF that was sent a picosecond sooner was answered a picosecond later.
    ran.holds_its_bounds("nic.stops", |seen, by| {
        let xoff = seen.words(0, Dir::Tx, true)[0];
        seen.shift(xoff, -by);
    });
}

#[test]
fn it_goes_on_when_the_quanta_of_the_last_word_are_over() {
    // 1000 quanta are 5.12 us; the response is 1 us.
    let alone: &[_] = &[("10us", "[3]", "1000q")];
    let again: &[_] = &[("10us", "[3]", "1000q"), ("13us", "[3]", "2000q")];
    let xon: &[_] = &[("10us", "[3]", "4000q"), ("15us", "[3]", "0q")];
    let last = |us: u64, lasts: [u64; 2]| Span { lo: us + lasts[0], hi: us + lasts[1] };
    for (words, want) in [
        (alone, last(0, [5_120_000, 6_120_000])),
        (again, last(3_000_000, [10_240_000, 11_240_000])),
        (xon, last(5_000_000, [0, 1_000_000])),
    ] {
        let ran = told("nic.goes_on", words);
        assert_eq!(ran.as_seen().spans("nic.goes_on").1, want, "{words:?}");
        ran.holds_its_bounds("nic.goes_on", |seen, by| {
            let late = after_the_silence(seen);
            seen.shift_all(&late, by);
        });
    }
}

#[test]
fn a_pause_no_longer_than_response_and_packet_shows_nothing() {
    // 195 quanta are 998 ns; 213 are 1090.56 ns, a packet more than the response.
    for measure in ["nic.stops", "nic.goes_on"] {
        let shows =
            |quanta: &str| told(measure, &[("10us", "[3]", quanta)]).as_seen().word(measure);
        assert_eq!(shows("195q"), Word::Doubt("not-observable"));
        assert_eq!(shows("230q"), Word::Pass);
    }
}

#[test]
fn a_nic_that_is_held_for_a_part_of_a_pause_that_is_not_for_it_is_held() {
    let ran = told("nic.sends_on", &[("10us", "[4]", "4000q")]);
    assert_eq!(ran.as_seen().word("nic.sends_on"), Word::Pass);
    // 4000 quanta are 20.48 us, from 10 us on.
    let within = |seen: &Seen<'_>| -> Vec<usize> {
        let all = packets(seen).into_iter();
        let at = |record: &usize| seen.observation.records[*record].at.0;
        all.filter(|one| (11_000_000..30_700_000).contains(&at(one))).collect()
    };
    // A packet in the middle of 20 us shows that it was held for 10 us twice.
    for left in [1, 0] {
        let said = ran.changed(|seen| {
            let mut gone = within(seen);
            let middle = gone.len() / 2;
            gone.drain(middle..middle + left);
            for record in gone.into_iter().rev() {
                seen.lose(record);
            }
        });
        assert!(!said.passes("nic.sends_on"), "{left} left: {}", said.wrong());
    }
}

#[test]
fn who_is_told_nothing_but_what_is_for_it_shows_no_frame_that_is_not() {
    let word = |words: &[_]| told("nic.sends_on", words).as_seen().word("nic.sends_on");
    assert!(matches!(word(&[("10us", "[3]", "1000q")]), Word::Doubt(_)));
    // An XON while it is held is for it.
    assert!(matches!(word(&[("10us", "[3]", "9000q"), ("15us", "[3]", "0q")]), Word::Doubt(_)));
    assert_eq!(word(&[("10us", "[3]", "0q")]), Word::Pass);
    assert_eq!(word(&[("10us", "[]", "65535q")]), Word::Pass);
}
