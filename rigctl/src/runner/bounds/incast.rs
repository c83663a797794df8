//! READs that are under way at once, and how deep what they bring makes the rig's queue.

use super::given::{Ran, Seen, Word};
use rig_capture::Dir;
use rig_testcases::RoceKind;

/// Two queue pairs that read four times 8 KiB each, over a way of 10 Gb/s.
fn read() -> Ran {
    Ran::of(
        "gen2-to-gen2",
        "    dut: {nic: {generation: gen2, rc: {timeout: 0}}, peer: {generation: gen2, rc: {timeout: 0}}}
    between:
      delay: 1us
      bottleneck: {to: p1, speed: 10Gbps, kmin: 1MB, kmax: 1MB, pmax: 10%, buffer: 1MB}
    flows: {flow: {nic: p1, to: p2, class: 3, verb: read, message: 8KiB, mtu: 1024B, count: 4, queue_pairs: 2}}
    steps: [{at: 0us, start: flow}]
    length: 500us
    trials: 1
    measure: [{rc.outstanding: {flows: [flow]}}]
",
    )
}

/// Where requests left, and where what they bring came to the rig.
fn requests(seen: &Seen<'_>) -> Vec<usize> {
    seen.roce(0, Dir::Rx, |kind| kind == RoceKind::ReadRequest)
}

#[test]
fn a_read_that_is_asked_for_when_the_one_before_it_has_come_is_one_at_a_time() {
    let ran = read();
    assert_eq!(ran.as_seen().wrong(), "");
    // The third request is the first that waits: as the last of the READ before it comes it may leave, and not a picosecond sooner.
    for (by, fails) in [(1_000, false), (0, false), (-1, true)] {
        let said = ran.changed(|seen| {
            let third = requests(seen)[2];
            seen.shift(third, by);
        });
        assert_eq!(
            matches!(said.word("rc.outstanding"), Word::Fail(_)),
            fails,
            "{by}: {}",
            said.wrong()
        );
    }
}

#[test]
fn a_queue_is_as_deep_as_what_is_asked_for_at_once_and_no_deeper() {
    let ran = read();
    let (read, want, passes) =
        ran.as_seen().about("rc.outstanding", "2 queue pairs from flow-1 on, the queue");
    assert!(passes && want.lo > 10_000, "{read:?} in {want:?}");
    // What is read last comes with what is read first: twice as much waits.
    let said = ran.changed(|seen| {
        let response = |kind| matches!(kind, RoceKind::Data { response: true, .. });
        let came = seen.roce(1, Dir::Rx, response).split_off(40);
        seen.shift_all(&came, -25_000_000);
    });
    assert!(!said.about("rc.outstanding", "2 queue pairs from flow-1 on, the queue").2);
}

#[test]
fn a_queue_is_less_deep_where_requests_pass_more_slowly_than_their_answers_leave() {
    // Sixteen queue pairs whose state the other end has to fetch, each for 500 ns: what they bring comes in 7.5 us, in which 9 KB of 17 leave. The way is so long that nobody asks anew before that.
    let ran = Ran::of(
        "gen2-to-gen1",
        "    dut: {nic: {generation: gen2, rc: {timeout: 0}}, peer: {generation: gen1, rc: {timeout: 0}}}
    between:
      delay: 500ns
      bottleneck: {to: p1, speed: 10Gbps, kmin: 1MB, kmax: 1MB, pmax: 10%, buffer: 1MB}
    flows: {flow: {nic: p1, to: p2, class: 3, verb: read, message: 1KiB, mtu: 1024B, count: 2, queue_pairs: 16}}
    steps: [{at: 0us, start: flow}]
    sweep: {cable: [2km]}
    length: 500us
    trials: 1
    measure: [{rc.outstanding: {flows: [flow]}}]
",
    );
    let on = "16 queue pairs from flow-1 on, the queue";
    let (read, want, passes) = ran.as_seen().about("rc.outstanding", on);
    assert!(passes && (5_000..10_000).contains(&read.hi), "{read:?} in {want:?}");
    // Half of it makes hardly half of that.
    let said = ran.changed(|seen| {
        let response = |kind| matches!(kind, RoceKind::Data { response: true, .. });
        let later = seen.roce(1, Dir::Rx, response)[8..16].to_vec();
        later.into_iter().rev().for_each(|came| seen.lose(came));
    });
    assert!(!said.about("rc.outstanding", on).2);
}
