//! Whatever bytes come in from outside, the rig neither panics, nor hangs, nor takes memory without end: suites, labs, profiles,
//! captures, control messages, results, events, journals, each a mutation of one of the rig's own. What was found becomes a
//! named test where it was mended.
//!
//! `RIG_FUZZ_INPUTS` says how many inputs each kind gets, `RIG_FUZZ_SEED` from which number on.

mod driver;
mod mutate;
mod seeds;
mod targets;

use driver::{Limits, drive};
use mutate::Kind;

/// Inputs of each kind in CI.
const INPUTS: u64 = 400;

fn asked(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| {
        text.parse().unwrap_or_else(|_| panic!("{name}={text}: want a whole number"))
    })
}

/// Tries a target; what it makes of an input is whether it was taken for sound.
#[expect(clippy::print_stdout, reason = "how many inputs were tried is for who tries many")]
fn fuzz(kind: Kind, seeds: &[Vec<u8>], target: impl Fn(&[u8]) -> bool + Send + 'static) {
    let first = asked("RIG_FUZZ_SEED", 0);
    let sound = seeds.iter().filter(|seed| target(seed)).count();
    assert_eq!(sound, seeds.len(), "a seed that is not taken gets no mutation of it anywhere");
    let inputs = first..first + asked("RIG_FUZZ_INPUTS", INPUTS);
    let count = inputs.end - inputs.start;
    match drive(kind, seeds, inputs, Limits::USUAL, target) {
        Ok(taken) => {
            println!("{count} inputs from {first} on, {taken} of them taken");
            // Neither everything is refused at the door, nor is everything as good as unharmed.
            assert!(count < 100 || (taken > 0 && taken < count), "{taken} of {count}");
        }
        Err(found) => panic!("{found}"),
    }
}

#[test]
fn suites() {
    fuzz(Kind::Text, &seeds::suites(), targets::suite());
}

#[test]
fn labs() {
    fuzz(Kind::Text, &seeds::labs(), targets::lab);
}

#[test]
fn profiles() {
    fuzz(Kind::Text, &seeds::profiles(), targets::profile);
}

#[test]
fn captures() {
    fuzz(Kind::Binary, &seeds::captures(), targets::capture());
}

#[test]
fn control_messages() {
    fuzz(Kind::Text, &seeds::control(), targets::control);
}

#[test]
fn results() {
    let seeds = seeds::results();
    let old = seeds[0].clone();
    fuzz(Kind::Text, &seeds, move |bytes| targets::results(&old, bytes));
}

#[test]
fn events() {
    fuzz(Kind::Text, &seeds::events(), targets::events);
}

#[test]
fn journals() {
    fuzz(Kind::Text, &seeds::journals(), targets::journal());
}
