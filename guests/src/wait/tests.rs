//! Waits, as they are counted and as they are told.

use super::*;
use std::process::Command;

/// The worst of each stretch, in ms, of samples that are 5 ms apart.
fn stretches(waited: &[u64]) -> Vec<(u64, u64)> {
    let mut lag = Lag::default();
    for (number, ms) in (1..).zip(waited) {
        lag.sample(Time::ZERO + Dur::ms(5) * number, Dur::ms(5), Dur::ms(*ms));
    }
    let all = lag.finish().into_iter();
    all.map(|wait| (wait.at.elapsed().0 / Dur::ms(1).0, wait.by.0 / Dur::ms(1).0)).collect()
}

#[test]
fn waits_that_follow_each_other_are_one_and_those_that_are_caught_up_with_are_several() {
    assert_eq!(stretches(&[0, 0, 0]), []);
    assert_eq!(stretches(&[5, 5, 5, 0, 0, 0, 1]), [(15, 15), (35, 1)]);
    // A wait is counted when it is over, and two threads may wait one after the other.
    assert_eq!(stretches(&[0, 0, 57, 0]), [(15, 57)]);
    assert_eq!(stretches(&[1, 1, 1, 1]), [(5, 1), (10, 1), (15, 1), (20, 1)]);
    // It ran 2 of 5 ms: it falls behind ever more.
    assert_eq!(stretches(&[3, 3, 3, 3]), [(20, 6)]);
}

#[test]
fn who_is_behind_at_the_end_is_told_too() {
    assert_eq!(stretches(&[0, 5, 5]), [(15, 10)]);
}

#[test]
fn the_account_of_the_kernel_is_its_second_number_and_a_stopped_process_says_so() {
    assert_eq!(waited("218168738 761720825 693\n"), Some(761_720_825));
    assert_eq!(waited(""), None);
    assert!(is_stopped("7 (a (b) c) T 1 7"));
    assert!(!is_stopped("7 (T) S 1 7"));
}

#[test]
fn a_process_that_is_stopped_for_a_tenth_of_a_second_is_behind_by_as_much() {
    let mut busy = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("sh");
    let watch = WaitWatch::of(busy.id());
    let process = busy.id();
    let stopped = format!("kill -STOP {process} && sleep 0.1 && kill -CONT {process}");
    let status = Command::new("sh").args(["-c", &stopped]).status();
    // It ends by nobody else's hand: before anything may fail.
    busy.kill().expect("it runs");
    busy.wait().expect("it ends");
    assert!(status.expect("sh").success());
    let Some(watch) = watch else {
        let missing = "the kernel keeps no account of waits (CONFIG_SCHED_INFO)";
        let required = std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1");
        assert!(!required, "{missing} and RIG_REQUIRE_ALL=1");
        eprintln!("skipped: {missing}");
        return;
    };
    let waits = watch.finish();
    let longest = waits.iter().map(|wait| wait.by).max().unwrap_or_default();
    assert!(longest >= Dur::ms(90), "{waits:?}");
}

#[test]
fn a_process_that_is_not_there_has_no_account() {
    // No process has a number beyond 2^22.
    assert!(WaitWatch::of(4_194_999).is_none());
}
