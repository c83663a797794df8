//! Whether SENDs wait for the acknowledgement of all before them, and what the flows of a NIC get beside one that is held back.

use super::given::{Ran, Seen, Word};
use rig_capture::Dir;
use rig_testcases::RoceKind;

/// Ten messages of two packets, with 1 us on their way.
fn sent(verb: &str, fence: &str) -> Ran {
    Ran::of(
        "gen2-to-gen2",
        &format!(
            "    dut: {{nic: {{generation: gen2, rc: {{ack_every: 1, timeout: 0, fmr_fence: {fence}}}}}, peer: {{generation: gen2, rc: {{ack_every: 1}}}}}}
    between: {{delay: 1us}}
    flows: {{flow: {{nic: p1, to: p2, class: 3, verb: {verb}, message: 2KiB, mtu: 1024B, count: 10}}}}
    steps: [{{at: 0us, start: flow}}]
    length: 100us
    trials: 1
    measure: [{{rc.fence: {{flow: flow}}}}]
"
        ),
    )
}

/// Where the data of the flow left.
fn data(seen: &Seen<'_>) -> Vec<usize> {
    seen.roce(0, Dir::Rx, |kind| matches!(kind, RoceKind::Data { .. }))
}

#[test]
fn who_does_as_declared_passes_and_nothing_is_wanted_of_what_is_not() {
    for (verb, fence) in [
        ("send-registered", "true"),
        ("send-registered", "false"),
        ("send", "true"),
        ("send", "never"),
    ] {
        assert_eq!(sent(verb, fence).as_seen().word("rc.fence"), Word::Pass, "{verb}, {fence}");
    }
    assert_eq!(sent("send-registered", "never").as_seen().of("rc.fence").count(), 0);
}

#[test]
fn a_message_that_begins_before_the_acknowledgement_of_the_one_before_it_was_held_by_no_fence() {
    let ran = sent("send-registered", "true");
    // It begins with the last bit of the acknowledgement: a picosecond sooner is before.
    for (by, passes) in [(0, true), (1_000, true), (-1, false)] {
        let said = ran.changed(|seen| {
            let second = data(seen)[2];
            seen.shift(second, by);
        });
        assert_eq!(said.about("rc.fence", "flow").2, passes, "{by}: {}", said.wrong());
    }
}

#[test]
fn a_message_that_begins_when_an_idle_port_had_long_let_it_go_waited() {
    let ran = sent("send-registered", "false");
    // All but the first message, by more than the way there and back.
    let said = ran.changed(|seen| {
        let late = data(seen).split_off(2);
        seen.shift_all(&late, 10_000_000);
    });
    let Word::Fail(got) = said.word("rc.fence") else { panic!("{}", said.wrong()) };
    assert!(got.contains("1 of 1 messages waited"), "{got}");
}

#[test]
fn one_message_a_round_trip_may_take_what_answers_and_the_port_leave_open_and_no_more() {
    let ran = sent("send-registered", "true");
    let (read, want, _) = ran.as_seen().about("rc.fence", "flow a round trip");
    assert!(read.meets(want), "{read:?} in {want:?}");
    // The last message later by so many parts of all nine round trips.
    let of_all = |seen: &Seen<'_>| {
        let data = data(seen);
        let at = |place: usize| seen.observation.records[data[place]].at;
        (at(18) - at(0)).0
    };
    let took = ran.as_seen_of(of_all);
    let most = u128::from(took) * u128::from(read.hi) / u128::from(want.lo) - u128::from(took);
    let most = i64::try_from(most).expect("a time");
    for (by, passes) in [(most - 10_000, true), (most + 10_000, false)] {
        let said = ran.changed(|seen| {
            let last = data(seen).split_off(18);
            seen.shift_all(&last, by);
        });
        assert_eq!(said.about("rc.fence", "flow a round trip").2, passes, "{by}");
    }
}

/// Three flows of a NIC, of which the first is sent CNPs all the time.
fn beside() -> Ran {
    Ran::of(
        "gen2",
        "    dut: {nic: {generation: gen2, rp: {enable: true, limiting: packet, cut_window: 0us}, rc: {timeout: 0}}}
    flows:
      slow: {nic: p1, class: 3, verb: write, message: 64KiB, mtu: 1024B}
      two: {nic: p1, class: 3, verb: write, message: 64KiB, mtu: 1024B}
      three: {nic: p1, class: 4, verb: write, message: 64KiB, mtu: 4096B}
    streams: {cut: {from: p1, class: 6, kind: cnp, of: slow, every: 40us}}
    steps:
      - {at: 0us, start: [slow, two, three], for: 1ms}
      - {at: 20us, start: cut, for: 950us}
    length: 1100us
    trials: 1
    measure: [{rate.max_min: {flows: [slow, two, three], from: 300us, until: 950us}}]
",
    )
}

#[test]
fn each_flow_has_its_share_of_frames_beside_one_that_is_held_back() {
    let ran = beside();
    assert_eq!(ran.as_seen().wrong(), "");
    let read = |flow| ran.as_seen().about("rate.max_min", flow).0.lo;
    // A packet of the one is a packet of the other, four times as large.
    assert!(read("slow") * 8 < read("two") && read("two") * 3 < read("three"), "{}", read("two"));
}

#[test]
fn who_is_held_by_nobody_shows_nothing_that_leaks() {
    let idle = beside().changed(|seen| {
        let cnps = seen.roce(0, Dir::Tx, |kind| matches!(kind, RoceKind::Cnp { .. }));
        cnps.into_iter().rev().for_each(|record| seen.lose(record));
    });
    assert!(matches!(idle.word("rate.max_min"), Word::Doubt(_)), "{}", idle.wrong());
}
