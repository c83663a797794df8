//! How far apart queue pairs get that take turns, and what all of them carry.

use super::given::{Ran, Word};
use rig_capture::{Dir, What};
use rig_testcases::RoceKind;

const APART: &str = "8 queue pairs from few-1 on";
const RATE: &str = "8 queue pairs from few-1 on, rate";

/// Eight queue pairs through a port of 100G.
fn eight(more: &str) -> Ran {
    let text = format!(
        "    dut: {{nic: {{generation: gen2, rc: {{timeout: 0}}}}}}
    between: {{delay: 500ns{more}}}
    flows: {{few: {{nic: p1, to: p2, class: 3, verb: write, message: 1KiB, mtu: 1024B, queue_pairs: 8}}}}
    steps: [{{at: 0us, start: few}}]
    length: 110us
    trials: 1
    measure: [{{rate.turns: {{flows: [few], from: 20us, until: 100us}}}}]
"
    );
    Ran::of("gen2-to-gen2", &text)
}

/// What they say with so many packets fewer of the first of them.
fn without(ran: &Ran, count: usize) -> super::given::Said {
    ran.changed(|seen| {
        let own = |one: RoceKind| matches!(one, RoceKind::Data { .. });
        let all = seen.roce(1, Dir::Tx, own);
        let first = |at: &&usize| {
            matches!(seen.observation.records[**at].what, What::Roce(roce) if roce.connection == 0)
        };
        // In the middle of the window.
        let of_first: Vec<usize> = all.iter().filter(first).copied().collect();
        let from = of_first.len() / 2;
        for lost in of_first[from..from + count].iter().rev() {
            seen.lose(*lost);
        }
    })
}

#[test]
fn one_packet_apart_is_a_turn_and_two_are_not() {
    let ran = eight("");
    assert_eq!(ran.as_seen().wrong(), "");
    let (read, want, passes) = ran.as_seen().about("rate.turns", APART);
    assert_eq!((want.hi, passes, read.hi <= 1), (1, true, true));
    let (read, want, passes) = without(&ran, 3).about("rate.turns", APART);
    assert!(read.lo > want.hi && !passes, "{read:?}");
}

#[test]
fn what_a_port_brings_is_told_to_a_few_packets() {
    let ran = eight("");
    let (_, want, passes) = ran.as_seen().about("rate.turns", RATE);
    assert!(passes && want.hi - want.lo <= 6, "{want:?}");
    let (read, _, passes) = without(&ran, 6).about("rate.turns", RATE);
    assert!(read.hi < want.lo && !passes, "{read:?} in {want:?}");
}

#[test]
fn queue_pairs_that_are_asked_again_say_nothing() {
    let lost = ", inject: [{on: few-1, frames: data, psn: 30, do: drop, iteration: 1}]";
    assert_eq!(eight(lost).as_seen().word("rate.turns"), Word::Doubt("not-measured"));
}

/// Forty packets of each of eight queue pairs, to a NIC that declares room for the state of so many, and is wrong so.
fn of_state(cache: u32, miss: &str, mutant: Option<&str>) -> Word {
    let text = format!(
        "    dut: {{nic: {{generation: gen2, rc: {{timeout: 0}}}}, peer: {{generation: gen2, receive: {{cache: {cache}, miss: {miss}}}}}}}
    between: {{delay: 500ns}}
    flows: {{few: {{nic: p1, to: p2, class: 3, verb: write, message: 1KiB, mtu: 1024B, queue_pairs: 8, count: 40}}}}
    steps: [{{at: 0us, start: few}}]
    length: 10ms
    trials: 1
    measure: [{{rc.completion: {{flow: few, by: 1us, or: declared}}}}]
"
    );
    let ran = Ran::with("gen2-to-gen2", &text, |profile| {
        if let Some(mutant) = mutant {
            profile.mutate(&mutant.parse().expect("a departure")).expect("it has that");
        }
    });
    ran.as_seen().word("rc.completion")
}

#[test]
fn what_misses_of_a_cache_hold_is_counted_to_the_packet() {
    // Of short ones the wire is the longer; behind long ones all that waited is answered in one go.
    for miss in ["0ns", "500ns", "5us", "20us"] {
        for cache in [1, 7, 8, 9] {
            assert_eq!(of_state(cache, miss, None), Word::Pass, "{cache} {miss}");
        }
    }
    for (cache, miss, mutant) in [
        (8, "500ns", "peer.receive.cache=7"),
        (8, "5us", "peer.receive.miss=x1.1"),
        (7, "500ns", "peer.receive.miss=x1.1"),
        (9, "500ns", "deviation=connection_state_forgotten"),
    ] {
        let word = of_state(cache, miss, Some(mutant));
        assert!(matches!(word, Word::Fail(_)), "{cache} {miss} {mutant}: {word:?}");
    }
}

#[test]
fn what_a_flow_may_take_counts_from_its_own_start() {
    let word = |by: &str, mutant: Option<&str>| {
        let text = format!(
            "    dut: {{nic: {{generation: gen2, rc: {{timeout: 0}}}}, peer: {{generation: gen2, receive: {{cache: 8, miss: 500ns}}}}}}
    between: {{delay: 500ns}}
    flows: {{late: {{nic: p1, to: p2, class: 3, verb: write, message: 1KiB, mtu: 1024B, queue_pairs: 8, count: 40}}}}
    steps: [{{at: 300us, start: late}}]
    length: 10ms
    trials: 1
    measure: [{{rc.completion: {{flow: late, by: {by}, or: declared}}}}]
"
        );
        let ran = Ran::with("gen2-to-gen2", &text, |profile| {
            if let Some(mutant) = mutant {
                profile.mutate(&mutant.parse().expect("a departure")).expect("it has that");
            }
        });
        ran.as_seen().word("rc.completion")
    };
    assert_eq!(word("1us", None), Word::Pass);
    let late = word("1us", Some("peer.receive.cache=7"));
    assert!(matches!(late, Word::Fail(_)), "{late:?}");
}

#[test]
fn what_waits_for_answers_or_behind_other_frames_is_not_late() {
    let word = |flows: &str, start: &str, inject: &str| {
        let text = format!(
            "    dut: {{nic: {{generation: gen2, rc: {{timeout: 0}}}}, peer: {{generation: gen2, receive: {{cache: 4, miss: 500ns}}}}}}
    between: {{delay: 1us, inject: [{inject}]}}
    flows: {{{flows}}}
    steps: [{{at: 0us, start: [{start}]}}]
    length: 10ms
    trials: 1
    measure: [{{rc.completion: {{flow: few, by: 1us, or: declared}}}}]
"
        );
        Ran::of("gen2-to-gen2", &text).as_seen().word("rc.completion")
    };
    let few = |verb: &str, message: &str, pairs: u16| {
        format!(
            "few: {{nic: p1, to: p2, class: 3, verb: {verb}, message: {message}, mtu: 1024B, queue_pairs: {pairs}, count: 6}}"
        )
    };
    for pairs in [1, 4, 6] {
        for verb in ["fetch-add", "compare-swap"] {
            assert_eq!(word(&few(verb, "8B", pairs), "few", ""), Word::Pass, "{verb} {pairs}");
        }
        let back =
            "back: {nic: p2, to: p1, class: 3, verb: write, message: 64KiB, mtu: 4096B, count: 2}";
        let both = format!("{}, {back}", few("write", "64B", pairs));
        assert_eq!(word(&both, "back, few", ""), Word::Pass, "behind its own, {pairs}");
        let twice = "{on: few-1, frames: data, every: 2, do: duplicate}";
        let twice = if pairs == 1 { twice.replace("few-1", "few") } else { twice.to_owned() };
        assert_eq!(word(&few("write", "2KiB", pairs), "few", &twice), Word::Pass, "twice, {pairs}");
    }
}
