//! A switch that forwards no socket, whose `sonic-db-cli` prints otherwise than the rig reads it from a moment on: as Python has it where it
//! was text, or as JSON has it. No moment leaves a key changed, and none accuses the switch.

use super::ssh::{Lab, desk, program, write};
use super::{SUITE, soon, verdict};
use std::fs;
use std::path::Path;
use std::process::Command;

/// When it strikes, and what shows that it is then: database, key and field, and what stands there.
const MOMENTS: [(&str, &[&str], &str); 5] = [
    ("before the switch is looked at", &[], ""),
    ("while it is set", &["4", "PFC_WD|Ethernet0", "detection_time"], "400"),
    ("before the stimulus", &["2", "COUNTERS:", "PFC_WD_DETECTION_TIME"], "400000"),
    ("during it", &["2", "COUNTERS:", "PFC_WD_STATUS"], "stormed"),
    ("while it is taken back", &["2", "COUNTERS:", "PFC_WD_STATUS"], "operational"),
];

/// What a field of the switch says to who is there.
fn says(desk: &Path, place: &[&str]) -> String {
    let [database, key, field] = place else { return String::new() };
    let asked = |words: &[&str]| {
        let mut ask = Command::new("redis-cli");
        ask.arg("-s").arg(desk.join("own/redis.sock")).args(words);
        let said = ask.output().expect("redis-cli");
        String::from_utf8_lossy(&said.stdout).trim().to_owned()
    };
    let queue = || asked(&["-n", "2", "HGET", "COUNTERS_QUEUE_NAME_MAP", "Ethernet4:3"]);
    let key = if key.ends_with(':') { format!("{key}{}", queue()) } else { (*key).to_owned() };
    asked(&["-n", database, "HGET", &key, field])
}

#[test]
fn whatever_an_image_prints_from_whatever_moment_on_no_key_is_left_and_nobody_accused() {
    if std::env::var_os("RIG_WHOLE_SONIC").is_none_or(|all| all != "1") {
        eprintln!(
            "skipped: five runs of half a minute, for RIG_WHOLE_SONIC=1 alone (cargo xtask nightly)"
        );
        return;
    }
    let Some(desk) = desk() else { return };
    let desk = desk.path();
    write(desk, "one.yaml", SUITE);
    fs::create_dir(desk.join("tmp")).expect("a folder");
    let lab = Lab::serving(desk, "AllowStreamLocalForwarding no\nAllowTcpForwarding no\n", "");
    let before = lab.config();
    let at = format!("ssh:leaf-1:{}", desk.join("own/redis.sock").display());
    lab.described_by(&at, "");
    let healthy = fs::read_to_string(desk.join("switch/sonic-db-cli")).expect("it is there");
    // One text of an answer, in quotes as JSON has it.
    let quoted = format!(
        "{}| sed 's/\\\\/\\\\\\\\/g; s/\"/\\\\\"/g; s/^/\"/; s/$/\"/'\n",
        healthy.trim_end().replace("exec ", "")
    );
    let line = "run one.yaml --only one::one --lab lab.yaml --seed 7 --overwrite --out out";
    let mut answered = 0;
    for (when, place, value) in MOMENTS {
        let output = std::thread::scope(|scope| {
            let strikes = || program(desk, "switch/sonic-db-cli", &quoted);
            if place.is_empty() {
                strikes();
            }
            let run = scope.spawn(|| lab.rigctl(line));
            if when == "while it is taken back" {
                assert!(
                    soon(&mut || says(desk, place) == "stormed" || run.is_finished()),
                    "{when}"
                );
            }
            if !place.is_empty() {
                let mut is_then = || says(desk, place) == value || run.is_finished();
                // A session over a shell takes its time.
                assert!((0..6).any(|_| soon(&mut is_then)), "{when}");
                strikes();
            }
            run.join().expect("no panic")
        });
        let results = lab.results();
        if results["cases"].as_array().is_some_and(Vec::is_empty) {
            answered += 1;
            // Nobody could look at the switch, and nothing was judged.
            assert!(place.is_empty() && !output.status.success(), "{when}: {output:?}");
        } else {
            let (word, reason) = verdict(&results, "one::one");
            answered += u8::from(!super::STALLS.contains(&reason));
            let lost =
                word == "broken" || reason == "not-steered" || super::STALLS.contains(&reason);
            assert!(word == "pass" || lost, "{when}: {word} {reason}\n{output:?}");
            assert!(place.is_empty() || word != "broken", "{when}: {output:?}");
        }
        program(desk, "switch/sonic-db-cli", &healthy);
        let restored = lab.rigctl("restore");
        assert!(restored.status.success(), "{when}: {restored:?}");
        assert_eq!(lab.config(), before, "{when}: {restored:?}");
    }
    // A machine that is too slow for the rig tells nothing of the image.
    assert!(answered >= 2, "of five moments {answered} came to anything but a stall");
}
