//! What a flow gets through of which packets were lost, against what go-back-N leaves of that.

use super::given::{Ran, Seen, Word};
use rig_capture::Dir;
use rig_testcases::RoceKind;

/// A hundred messages of two packets, and what is done to them.
fn sent(inject: &str) -> Ran {
    Ran::of(
        "gen2-to-gen2",
        &format!(
            "    dut: {{nic: {{generation: gen2, rc: {{ack_every: 1, timeout: 5}}}}, peer: {{generation: gen2, rc: {{ack_every: 1}}}}}}
    between: {{delay: 1us, inject: [{inject}]}}
    flows: {{flow: {{nic: p1, to: p2, class: 3, verb: write, message: 8KiB, mtu: 4096B, count: 100}}}}
    steps: [{{at: 0us, start: flow}}]
    length: 3ms
    trials: 1
    measure: [{{rate.goodput: {{flow: flow, expect: mended}}}}]
"
        ),
    )
}

/// Where acknowledgements reached the sender.
fn acks(seen: &Seen<'_>) -> Vec<usize> {
    seen.roce(0, Dir::Tx, |kind| kind == RoceKind::Ack)
}

#[test]
fn what_was_lost_costs_no_more_than_the_rule_says() {
    for inject in [
        "{on: flow, frames: data, psn: 50, iteration: 1, do: drop}",
        "{on: flow, frames: data, psn: 50, iteration: 1, do: bad-icrc}",
        "{on: flow, frames: data, psn: 50, iteration: 1, do: drop}, {on: flow, frames: nak, nth: 1, do: drop}",
        "{on: flow, frames: data, psn: 50, iteration: 1, do: drop}, {on: flow, frames: data, psn: 50, iteration: 2, do: drop}",
        "{on: flow, frames: data, chance: 5%, do: drop}",
    ] {
        let ran = sent(inject);
        let seen = ran.as_seen();
        let (read, want, passes) = seen.about("rate.goodput", "flow");
        assert!(passes, "{inject}: {read:?} in {want:?}, {}", seen.wrong());
        // All acknowledgements that come last later by so many parts of all the time.
        let took = ran.as_seen_of(|seen| {
            let acks = acks(seen);
            let at = |place: usize| seen.observation.records[place].at;
            (at(acks[acks.len() - 1]) - at(acks[0])).0
        });
        let most = u128::from(took) * u128::from(read.hi) / u128::from(want.lo) - u128::from(took);
        let most = i64::try_from(most).expect("a time");
        for (by, passes) in [(most - 10_000, true), (most + 10_000, false)] {
            let said = ran.changed(|seen| {
                let last = acks(seen).split_off(acks(seen).len() - 1);
                seen.shift_all(&last, by);
            });
            assert_eq!(said.about("rate.goodput", "flow").2, passes, "{inject}, {by}");
        }
    }
}

#[test]
fn a_connection_that_hangs_as_the_rule_has_it_shows_nothing() {
    let hangs = Ran::of(
        "gen2-to-gen2",
        "    dut: {nic: {generation: gen2, rc: {ack_every: 1, timeout: 0}}, peer: {generation: gen2, rc: {ack_every: 1}}}
    between: {inject: [{on: flow, frames: data, psn: 5, iteration: 1, do: drop}, {on: flow, frames: data, psn: 5, iteration: 2, do: drop}]}
    flows: {flow: {nic: p1, to: p2, class: 3, verb: write, message: 8KiB, mtu: 4096B}}
    steps: [{at: 0us, start: flow, for: 1ms}]
    length: 1100us
    trials: 1
    measure: [{rate.goodput: {flow: flow, expect: mended}}]
",
    );
    // What was lost twice is asked for by nobody, and its sender has no timer.
    let said = hangs.as_seen();
    assert!(matches!(said.word("rate.goodput"), Word::Doubt(_)), "{}", said.wrong());
}
