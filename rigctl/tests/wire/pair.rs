//! Two emulated NICs in a process of their own, and the rig between them.

use super::common::root;
use super::{STALLS, none_amiss, run};

const PAIR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/veth-nic-pair.yaml");

const SUITE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testcases/recovery.yaml");

/// What is told of NICs, each by a case that healthy ones pass, and a wrong one that fails it, with what is said of it.
const TOLD: [(&str, &str, &str); 6] = [
    // RNR
    (
        "recovery::not-ready-for-tenths-of-a-second",
        "deviation=rnr_not_waited",
        "after each of 2 RNR NAKs when its time is over, got sent again with neither NAK nor timeout",
    ),
    // timeouts
    ("recovery::lost-again", "nic.rc.timeout=x1.5", "got not sent again as the timeout ran out"),
    // atomics
    (
        "recovery::atomic-operation-that-comes-twice",
        "deviation=atomic_executed_twice",
        "got PSN 20 found 21 where 20 was due",
    ),
    // duplicates
    (
        "recovery::doubled-frame",
        "deviation=duplicate_taken",
        "want peer duplicate_request grown by 1, got 0",
    ),
    // IPv6
    (
        "recovery::lost-packet-over-ipv6",
        "deviation=ack_from_other_gid",
        "got an acknowledgement from the NIC's address 2 where its connection has address 1",
    ),
    // counters
    (
        "recovery::lost-response",
        "deviation=implied_nak_not_counted",
        "want nic implied_nak_seq_err grown by 4, got 0",
    ),
];

/// What is amiss with what a run says of a case: on healthy NICs, or on wrong ones of which it is to say that.
fn amiss(case: &str, wrong: Option<(&str, &str)>) -> Option<String> {
    let mutate = wrong.map(|(wrong, _)| format!(" --mutate {wrong}")).unwrap_or_default();
    let (output, results) = run(PAIR, &format!("{SUITE} --only {case}{mutate}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let told = &results["cases"][0];
    let [verdict, reason] = ["verdict", "reason"].map(|key| told[key].as_str().unwrap_or_default());
    if verdict == "inconclusive" && STALLS.contains(&reason) {
        // The machine looked away in each of its trials.
        return None;
    }
    let ran = told["trials"]["run"].as_u64().is_some_and(|ran| ran > 0);
    let right = match wrong {
        None => verdict == "pass",
        Some((_, said)) => verdict == "fail" && text.contains(said),
    };
    (!right || !ran || results["executor"] != "wire").then(|| format!("{case}{mutate}: {text}"))
}

#[test]
fn two_nics_are_told_from_wrong_ones_with_the_rig_between_them_in_real_time() {
    if !root() {
        return;
    }
    let healthy = TOLD.map(|(case, ..)| (case, None));
    let wrong = TOLD.map(|(case, wrong, said)| (case, Some((wrong, said))));
    let all = [healthy, wrong].concat();
    none_amiss(all.len(), |index| amiss(all[index].0, all[index].1));
}
