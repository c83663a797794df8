//! Programs are shells of a line each; which of the tests run aside is held against the tests themselves.

use super::*;
use crate::root;
use crate::watch::Watch;
use core::time::Duration;
use std::fs::read_to_string;

/// Starts `sh -c SCRIPT` for each, as cargo would, and waits for all.
fn well(name: &str, scripts: &[&str]) -> bool {
    let socket = std::env::temp_dir().join(format!("xtask-{name}-{}", std::process::id()));
    let aside_of = Aside::at(socket.clone(), ("RUNNER".to_owned(), "xtask".into()));
    let aside_of = aside_of.expect("a socket");
    for script in scripts {
        let words = ["-c", script].map(str::to_owned);
        aside(&socket, &[], "sh", &words).expect("it starts");
    }
    aside_of.end()
}

#[test]
fn all_that_was_started_is_waited_for_and_one_that_fails_is_enough() {
    assert!(well("none", &[]));
    assert!(well("good", &["echo one", "sleep 0.2; echo two"]));
    assert!(!well("bad", &["echo one", "sleep 0.2; echo two; exit 7"]));
    assert!(!well("first", &["exit 1", "sleep 0.2"]));
    // As a program ends that panics in a destructor, or for want of memory.
    assert!(!well("killed", &["kill -9 $$"]));
}

#[test]
fn what_a_program_has_started_is_hastened_with_it() {
    if idle().is_none() {
        return;
    }
    let mut outer = Command::new("sh");
    let outer = outer.args(["-c", "sh -c 'sleep 60; true'; true"]).spawn();
    let mut outer = outer.expect("it starts");
    let below = |process: &str| {
        let list = read_to_string(format!("/proc/{process}/task/{process}/children"));
        list.unwrap_or_default().split_whitespace().next().map(str::to_owned)
    };
    // Its policy is the 41st of what the kernel says of it, the 39th behind its name.
    let policy = |process: &str| {
        let said = read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        said.rsplit_once(") ").and_then(|(_, behind)| behind.split(' ').nth(38).map(str::to_owned))
    };
    let first = outer.id().to_string();
    let begun = Watch::start();
    let below_it = loop {
        if let Some(second) = below(&first)
            && let Some(third) = below(&second)
        {
            break [second, third];
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "three processes");
        std::thread::yield_now();
    };
    for process in [&first, &below_it[0], &below_it[1]] {
        let into = Command::new("chrt").args(["--idle", "--pid", "0", process]).status();
        assert!(into.is_ok_and(|status| status.success()), "{process}");
    }
    let before = policy(&below_it[1]);
    hasten(&first);
    let after = [&first, &below_it[0], &below_it[1]].map(|process| policy(process));
    let _killed = (outer.kill(), Command::new("kill").args(&below_it).status(), outer.wait());
    assert_eq!(before.as_deref(), Some("5"), "idle");
    assert_eq!(after, [(); 3].map(|()| Some("0".to_owned())), "the usual one");
}

#[test]
fn one_that_ends_without_a_word_has_not_gone_well() {
    let said = |text: &str| heard(text.as_bytes());
    assert_eq!(said("a\nb\n\n== ended: 0\n"), ("a\nb\n\n".to_owned(), Some(0)));
    assert_eq!(said("a\n== ended: 101\nb"), ("a\n".to_owned(), Some(101)));
    assert_eq!(said("a\n== ended: \n"), ("a\n".to_owned(), None));
    assert_eq!(said("test result: ok\n"), ("test result: ok\n".to_owned(), None));
    assert!(!show("x", said("test result: ok\n")));
}

#[test]
fn the_runner_is_that_of_what_is_built_here() {
    let said = "cargo 1.95.0\nrelease: 1.95.0\nhost: x86_64-unknown-linux-gnu\n";
    assert_eq!(runner(said).as_deref(), Some("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER"));
    assert_eq!(runner("cargo 1.95.0\n"), None);
}

#[test]
fn a_program_goes_by_its_name_alone() {
    assert_eq!(named("/t/debug/deps/worth-0123456789abcdef"), "worth");
    assert_eq!(named("/t/debug/deps/rig_oracle-0123456789abcdef"), "rig_oracle");
    assert_eq!(named("sh"), "sh");
    let four = ["--test-threads".to_owned(), "4".to_owned()];
    assert_eq!(at_a_time("/t/debug/deps/faults-0123456789abcdef"), Some(four));
    assert_eq!(at_a_time("/t/debug/deps/wire-0123456789abcdef"), None);
}

/// The files of a program of tests; of the unit tests of a room none, for what they are about may wait.
fn files(name: &str) -> Option<Vec<PathBuf>> {
    let room = root().join(name.trim_start_matches("rig_"));
    if room.join("src/lib.rs").is_file() {
        return Some(Vec::new());
    }
    ["rigctl", "oracle"].iter().find_map(|room| {
        let tests = root().join(room).join("tests");
        let (file, folder) = (tests.join(format!("{name}.rs")), tests.join(name));
        let within = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let within = within.map(|entry| entry.path());
        let all = within.chain(Some(file)).filter(|path| path.is_file());
        let all: Vec<_> = all.filter(|path| path.extension() == Some("rs".as_ref())).collect();
        (!all.is_empty()).then_some(all)
    })
}

#[test]
fn what_runs_aside_is_there_and_waits_for_nothing() {
    for (name, _) in WAIT {
        assert!(files(name).is_some() && !COMPUTE.contains(&name), "{name}");
    }
    for name in COMPUTE {
        let files = files(name).unwrap_or_else(|| panic!("no tests are named {name}"));
        for file in files {
            let text = read_to_string(&file).expect("readable");
            let waits = ["sleep", "Stopwatch", "Mono::", "Namespace", "mod common;"];
            let waits = waits.iter().find(|word| text.contains(*word));
            assert_eq!(waits, None, "{}", file.display());
        }
    }
}

#[test]
fn one_that_hangs_is_ended() {
    let words = bound("1");
    if words.is_empty() {
        return;
    }
    let begun = Watch::start();
    let status = before(&words, OsStr::new("sleep")).arg("60").status().expect("it starts");
    // What `timeout` says of one that it ended.
    assert_eq!(status.code(), Some(124));
    assert!(begun.elapsed() < Duration::from_secs(30));
}
