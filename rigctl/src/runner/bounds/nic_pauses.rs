//! When a NIC with a slow host asks for a pause, when it lets its sender go on, and when it asks again.

use super::given::{Ran, Seen, Word};
use rig_capture::Dir;
use rig_lab::Setting;
use rig_units::Dur;

/// Frames of 1086 B at 40 Gb/s to a host that takes a page of 4 KiB in 1.12 us, from a sender that does not obey. XOFF is due above 131072 B,
/// XON at 65536 B, each 200 ns later.
fn filled(count: u32) -> Ran {
    asked(count, "")
}

/// The same, where `asks` has to be due.
fn asked(count: u32, asks: &str) -> Ran {
    Ran::with(
        "pcie-gen3",
        &format!(
            "    dut: {{nic: {{generation: pcie-gen3, host: {{page: 4KiB, region: 64MiB}}}}}}
    streams: {{load: {{from: p1, class: 3, kind: rocev2-write, size: 1086B, rate: 100%, count: {count}}}}}
    endpoints: {{p1: {{obeys: none}}}}
    steps:
      - {{at: 0us, start: load}}
    length: 4ms
    trials: 1
    measure: [{{nic.pauses: {{port: p1, class: 3{asks}}}}}]
"
        ),
        |device| {
            // Of a range each bound would lie as far off as its reads leave open.
            let setting = Setting { path: "nic.host.mtt_miss".to_owned(), value: "500ns".into() };
            device.declared = device.declared.with(&setting).expect("a time");
        },
    )
}

/// A sender that obeys: some thirty pauses in each trial, by such a host.
pub(super) fn paused_often(host: &str) -> String {
    format!(
        "    dut: {{nic: {{generation: pcie-gen3, host: {{{host}}}}}}}
    streams: {{load: {{from: p1, class: 3, kind: rocev2-write, size: 1086B, rate: 100%}}}}
    steps:
      - {{at: 0us, start: load, for: 3ms}}
    length: 4ms
    trials: 4
    measure: [{{nic.pauses: {{port: p1, class: 3}}}}]
"
    )
}

/// A sender that does not obey fills the buffer for some three milliseconds.
pub(super) fn full_for_long() -> String {
    "    dut: {nic: {generation: pcie-gen3, host: {loopback: 37Gbps-L2, page: 2MiB, region: 2MiB}}}
    streams: {load: {from: p1, class: 3, kind: rocev2-write, size: 1086B, rate: 100%}}
    endpoints: {p1: {obeys: none}}
    steps:
      - {at: 0us, start: load, for: 3ms}
    length: 4ms
    trials: 2
    measure: [{nic.pauses: {port: p1, class: 3}}]
"
    .to_owned()
}

fn word(seen: &Seen<'_>, xoff: bool, nth: usize) -> usize {
    seen.words(0, Dir::Rx, xoff)[nth]
}

#[test]
fn xoff_and_xon_come_within_their_emission_and_a_frame_that_is_under_way() {
    let ran = filled(900);
    let said = ran.as_seen();
    assert_eq!(said.wrong(), "");
    for (what, xoff) in [("XOFF", true), ("XON", false)] {
        let subject = format!("p1 class 3 {what}");
        let (read, want, _) = said.about("nic.pauses", &subject);
        assert_eq!((want.lo, read.lo >= want.lo), (200_000, true), "{read:?} in {want:?}");
        ran.holds_bounds_of(("nic.pauses", &subject), |seen, by| {
            let word = word(seen, xoff, 0);
            seen.shift(word, by);
        });
    }
}

#[test]
fn a_word_that_is_missing_is_missed_and_one_that_nothing_called_for_is_one_too_many() {
    let ran = filled(900);
    for xoff in [true, false] {
        let said = ran.changed(|seen| {
            let word = word(seen, xoff, 0);
            seen.lose(word);
        });
        let Word::Fail(got) = said.word("nic.pauses") else { panic!("{}", said.wrong()) };
        assert!(got.contains(if xoff { "0 pauses" } else { "no XON for" }), "{got}");
    }
    // One that left long before.
    let said = ran.changed(|seen| {
        let word = word(seen, true, 0);
        let soon = i64::try_from(Dur::us(100).0).expect("a time");
        seen.shift(word, -soon);
    });
    assert!(said.wrong().contains("without need"), "{}", said.wrong());
}

#[test]
fn a_buffer_that_stays_full_is_told_of_again_each_400_us() {
    // It is full for some 580 us: one XOFF more.
    let ran = filled(2_600);
    assert_eq!(ran.as_seen().wrong(), "");
    ran.holds_bounds_of(("nic.pauses", "p1 class 3 refresh"), |seen, by| {
        let last = seen.words(0, Dir::Rx, true).len() - 1;
        let word = word(seen, true, last);
        seen.shift(word, by);
    });
}

#[test]
fn what_nothing_reached_says_nothing() {
    let ran = Ran::of(
        "pcie-gen3",
        "    dut: {nic: {generation: pcie-gen3}}
    streams: {other: {from: p1, class: 4, kind: rocev2-write, size: 1086B, every: 5us, count: 9}}
    steps:
      - {at: 0us, start: other}
    length: 1ms
    trials: 1
    measure: [{nic.pauses: {port: p1, class: 3}}]
",
    );
    assert_eq!(ran.as_seen().word("nic.pauses"), Word::Doubt("not-measured"));
}

#[test]
fn what_had_to_be_due_and_was_not_is_undecided() {
    let word = |count, asks: &str| {
        let asks = format!(", asks: {asks}");
        asked(count, &asks).as_seen().word("nic.pauses")
    };
    // 900 frames fill the buffer for less than 400 us, and 100 never do.
    for (asks, when_full) in
        [("xoff", Word::Pass), ("xon", Word::Pass), ("refresh", Word::Doubt("not-measured"))]
    {
        assert_eq!(word(900, asks), when_full, "{asks}");
        assert_eq!(word(100, asks), Word::Doubt("not-measured"), "{asks}");
    }
    assert_eq!(filled(100).as_seen().word("nic.pauses"), Word::Pass, "nothing had to be");
}
