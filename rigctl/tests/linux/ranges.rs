//! Guests just outside the ranges of `soft-roce.yaml`: of each range that a guest can be brought outside of by itself one case. (A queue that holds all back for longer than
//! `rnr_late` holds what was under way, too, and one that holds a NAK holds acknowledgements: both are red as that.) What stands for
//! perftest in the guest knows a case by its number of messages, so that one boot has room for all of them.

use super::{LABS, can_have_one, guest};
use std::fs;
use std::path::{Path, PathBuf};

const RANGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/linux/ranges.yaml");

/// What is done ahead of perftest, by its words: the NIC's range is left, by as little as the case can tell.
const OUTSIDE: [&str; 10] = [
    "#!/bin/sh",
    // Nothing of the case before it stays.
    "/usr/bin/tc qdisc del dev eth0 root 2>/dev/null",
    "late() { /usr/bin/tc qdisc add dev eth0 root netem delay $1 limit 10000; }",
    "case \" $* \" in",
    // Of 50 ms. The NAK comes as ever, and what is sent for it is this much later at the tap.
    "*\" -n 13 \"*) late 60ms;;",
    // Of 58 ms behind a timeout of 65.5 us: code 14 is 67 ms, in whole jiffies 64 to 72.
    "*\" -n 14 \"*) set -- \"$@\" -u 14;;",
    "*\" -n 16 \"*) set -- \"$@\" -m 512;;",
    // Of 50 ms that an acknowledgement may be held, and 50 ms that it may take.
    "*\" -n 17 \"*) late 112ms;;",
    "esac",
    "exec own.${0##*/} \"$@\"",
];

/// The lines that put it in the place of both programs.
fn outside() -> Vec<String> {
    let quoted = |line: &&str| format!("'{}'", line.replace('\'', "'\\''"));
    let script = OUTSIDE.iter().map(quoted).collect::<Vec<_>>().join(" ");
    let one = |program: &str| {
        let at = format!("/usr/bin/{program}");
        format!(
            "busybox mv {at} /usr/bin/own.{program} && printf '%s\\n' {script} >{at} && busybox chmod +x {at}"
        )
    };
    ["ib_write_bw", "ib_send_bw"].map(one).to_vec()
}

/// What a lab's cases came to: each is to be red with these words, or broken with them where the two ends do not go together.
fn seen(name: &str, wire: &str, pair: &str, cases: &[(&str, &str, &str)], desk: &Path) {
    let text = format!(
        "about: {name}\ntransport: guests\ncable: 1m\nwire: {{bound: 1ms, wait: 8ms, trial: 4s, budget: 90s, {wire}}}\nduts: [{{pair: [{pair}]}}]\n"
    );
    let lab = desk.join(format!("{name}.yaml"));
    fs::write(&lab, text).expect("a lab");
    let names: Vec<&str> = cases.iter().map(|(case, ..)| *case).collect();
    let only = format!("*::{{{}}}", names.join(","));
    let told = guest::run("linux-ranges", (&[RANGES], &only), &lab, &desk.join(name));
    for (case, want, why) in cases {
        let (verdict, report) = &told[*case];
        assert_eq!(verdict, want, "{case}: {report}");
        assert!(report.contains(why), "{case}: {report}");
    }
}

#[test]
fn a_guest_just_outside_a_range_is_seen_by_that_range() {
    if std::env::var_os("RIG_WHOLE_LINUX").is_none_or(|all| all != "1") {
        eprintln!("skipped: three guests more, for RIG_WHOLE_LINUX=1 alone (cargo xtask nightly)");
        return;
    }
    if !can_have_one() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let duts = PathBuf::from(LABS).join("duts").display().to_string();
    let lines = serde_json::to_string(&outside()).expect("text");
    let alone = [
        ("sent-again-late", "fail", "sent again too late"),
        ("timed-out-late", "fail", "not sent again as the timeout ran out"),
        ("of-another-mtu", "broken", "agreed on a path MTU of 512 B"),
    ];
    let rig = format!("{duts}/soft-roce.yaml, {duts}/rig-peer.yaml");
    seen("alone", &format!("prepare: {lines}"), &rig, &alone, desk.path());
    let answers = [("acknowledged-late", "fail", "no acknowledgement")];
    let both = format!("{duts}/soft-roce.yaml, {duts}/soft-roce.yaml");
    let wire = format!("other_end: guest, prepare_other: {lines}");
    seen("answers", &wire, &both, &answers, desk.path());
}
