//! Ctrl-C while the guest of a run has no processor: nobody waits for it, and nobody says that it broke.

use super::killed::{Desk, MARK, around, left, networks, processes};
use crate::guest::TURN;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::BTreeSet;
use std::fs;
use std::sync::PoisonError;
use std::thread::sleep;
use std::time::Duration;

/// How long the run may go on.
const ENDS: Duration = Duration::from_secs(10);
/// How often, 100 ms apart, it is looked whether the first case is over.
const LOOKS: u32 = 2_400;

/// A process of this number.
fn process(number: u32) -> Pid {
    Pid::from_raw(i32::try_from(number).expect("a process"))
}

/// Whether a process runs QEMU.
fn is_guest(number: u32) -> bool {
    let name = fs::read_to_string(format!("/proc/{number}/comm")).unwrap_or_default();
    name.starts_with("qemu-system")
}

/// In the second of two cases, so that there is something to report.
#[test]
fn a_run_that_is_stopped_while_its_guest_says_nothing_ends_and_is_not_broken() {
    if !super::by_night("a guest that is stopped") {
        return;
    }
    let _own = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let desk = Desk::new();
    let before = around(&desk);
    let mark = format!("{}-stopped", std::process::id());
    let entry = format!("{MARK}={mark}");
    let mut run = desk.run(&mark);
    let told = || fs::read_to_string(desk.out().join("events.jsonl")).unwrap_or_default();
    let is_over = (0..LOOKS).any(|_| {
        sleep(Duration::from_millis(100));
        told().contains("\"verdict\"")
    });
    assert!(is_over, "{}", told());
    sleep(Duration::from_secs(1));
    assert_eq!(run.try_wait().expect("it is ours"), None, "it was over sooner: {}", told());
    let here = networks(std::process::id());
    let ours = processes(&entry);
    let own: BTreeSet<String> =
        ours.iter().flat_map(|&pid| networks(pid)).filter(|net| !here.contains(net)).collect();
    let guests: Vec<u32> = ours.into_iter().filter(|&pid| is_guest(pid)).collect();
    assert_eq!((guests.len(), own.is_empty()), (1, false), "{own:?}");
    kill(process(guests[0]), Signal::SIGSTOP).expect("it is ours");
    sleep(Duration::from_secs(1));
    kill(process(run.id()), Signal::SIGINT).expect("it is ours");
    let status = run.end(ENDS, |mut run| run.wait());
    assert_eq!(status.code(), Some(4), "{status}");
    let results = fs::read(desk.out().join("results.json")).expect("a report");
    let results: serde_json::Value = serde_json::from_slice(&results).expect("JSON");
    // Not that the device broke, too.
    assert_eq!(results["partial"], "interrupted", "{results}");
    let mut stays = Vec::new();
    for _ in 0..50 {
        stays = left(&entry, &own);
        if stays.is_empty() {
            break;
        }
        sleep(Duration::from_millis(100));
    }
    assert!(stays.is_empty(), "{stays:?}");
    assert_eq!(around(&desk), before);
}
