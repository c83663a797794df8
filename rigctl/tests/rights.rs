//! What a process of the rig's keeps of root's rights, as the kernel tells it of each of its threads. Root and Linux only.

#![expect(clippy::disallowed_methods, reason = "what is waited for here is another process")]

mod common;
#[path = "common/processes.rs"]
mod processes;

use common::root;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use processes::children;
use rig_generator::netlab::{End, Namespace, pair};
use rigctl::fence;
use rigctl::rights::{self, Work};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

const LAB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/veth.yaml");
/// A user who has nothing to do with any of this.
const NOBODY: u32 = 65_534;
const STEP: Duration = Duration::from_millis(2);
/// So many of them.
const PATIENCE: u32 = 30_000;

fn rigctl(arguments: &str, at: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rigctl"));
    command.args(arguments.split_whitespace()).current_dir(at).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn desk() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat()
}

/// A thread, as `/proc` has it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Thread {
    name: String,
    number: u32,
    permitted: u64,
    effective: u64,
    bounding: u64,
    /// What it would hand on, in either way.
    handed: u64,
    may_gain: bool,
    before_others: bool,
}

/// Every thread of a process; none once it has ended.
fn threads(process: u32) -> Vec<Thread> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let thread = |task: fs::DirEntry| {
        let status = fs::read_to_string(task.path().join("status")).ok()?;
        let stat = fs::read_to_string(task.path().join("stat")).ok()?;
        let field = |name: &str| {
            let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            value.unwrap_or_default().trim()
        };
        let set = |name: &str| u64::from_str_radix(field(name), 16).ok();
        // Field 41 of proc(5) is the policy, 1 for SCHED_FIFO; the third is the first behind the name.
        let policy = stat.rsplit_once(')')?.1.split_whitespace().nth(41 - 3)?;
        Some(Thread {
            name: field("Name").to_owned(),
            number: field("Pid").parse().ok()?,
            permitted: set("CapPrm")?,
            effective: set("CapEff")?,
            bounding: set("CapBnd")?,
            handed: set("CapInh")? | set("CapAmb")?,
            may_gain: field("NoNewPrivs") != "1",
            before_others: policy == "1",
        })
    };
    tasks.filter_map(thread).collect()
}

/// What there is to keep: a container may have given these tests less than all.
fn kept(work: Work) -> u64 {
    let own = threads(std::process::id());
    own[0].permitted & work.capabilities()
}

/// Each thread has exactly what the table says of `work`, with what the table says of `now` in effect.
fn have(threads: &[Thread], work: Work, now: Work) {
    for thread in threads {
        let is = (thread.permitted, thread.effective, thread.handed, thread.may_gain);
        let (all, in_effect) = match thread.name.as_str() {
            "keeper" => (kept(work), 0),
            // The one that hears signals puts back what was changed, where anything is.
            "requests" if work == Work::Trial => (0, 0),
            "requests" => (kept(work) & kept(Work::Restoring), 0),
            _ => (kept(work), kept(now)),
        };
        let sets = (all, in_effect, 0, false);
        assert_eq!(is, sets, "{work}, {now}: {thread:#x?}");
    }
}

fn end(mut process: Child) {
    process.kill().expect("it runs");
    process.wait().expect("it ends");
}

#[test]
fn a_run_in_virtual_time_keeps_what_writing_takes() {
    if !root() {
        return;
    }
    let desk = desk();
    let mut run = rigctl("run --seed 7 --jobs 2 --out out", desk.path());
    let run = run.stdout(Stdio::null()).spawn().expect("rigctl starts");
    let mut side_by_side = 0;
    for _ in 0..PATIENCE {
        // Looked for first: what is seen then is later.
        let begun = desk.path().join("out/events.jsonl").exists();
        let seen = threads(run.id());
        if begun {
            have(&seen, Work::Writing, Work::Writing);
            assert!(seen.iter().all(|thread| thread.bounding == kept(Work::Writing)), "{seen:#x?}");
            side_by_side = side_by_side.max(seen.len());
        }
        // The one that reports, the one that hears signals, and two that work.
        if side_by_side >= 4 {
            break;
        }
        sleep(STEP);
    }
    end(run);
    assert!(side_by_side >= 4, "never more than {side_by_side} threads");
}

#[test]
fn a_trial_has_in_effect_what_a_trial_takes_and_its_device_keeps_next_to_nothing() {
    if !root() {
        return;
    }
    let desk = desk();
    let arguments =
        format!("run --lab {LAB} --only pfcwd::action-drop-broadcom --seed 7 --out out");
    let run = rigctl(&arguments, desk.path()).spawn().expect("rigctl starts");
    // On a thread that is not the first nothing but a trial runs before others.
    let on_trial = |threads: &[Thread]| {
        threads.iter().any(|thread| thread.before_others && thread.number != run.id())
    };
    for _ in 0..PATIENCE {
        let seen = threads(run.id());
        let devices: Vec<_> = children(run.id()).into_iter().map(threads).collect();
        if on_trial(&seen) && on_trial(&threads(run.id())) {
            have(&seen, Work::Ports, Work::Trial);
            assert!(seen.iter().any(|thread| thread.name == "keeper"), "{seen:#x?}");
            assert!(seen.iter().all(|thread| thread.bounding == kept(Work::Ports)), "{seen:#x?}");
            assert!(devices.iter().any(|device| device.len() > 1), "{devices:#x?}");
            devices.iter().for_each(|device| have(device, Work::Served, Work::Served));
            return end(run);
        }
        sleep(STEP);
    }
    panic!("no trial was seen: {}", said(&run.wait_with_output().expect("it ends")));
}

/// A device served at `control`, as seen once it is; it is asked to end then.
fn served(control: &str, at: &Path) -> (Vec<Thread>, Output) {
    let within = Namespace::new().expect("a namespace");
    let [one, other] = ["d1", "d2"].map(|name| End { within: &within, name });
    pair(one, other, 9_216).expect("a pair");
    let arguments = "dut serve --dut broadcom --port d1 d2 --speed 1Gbps --control";
    let mut serve = rigctl(&format!("{arguments} {control}"), at);
    let mut device = within.run(|| serve.spawn()).expect("inside").expect("rigctl starts");
    // It runs before others from the moment on in which it serves, and has heard of its end since before that.
    for _ in 0..PATIENCE {
        if threads(device.id()).iter().any(|thread| thread.before_others) {
            break;
        }
        sleep(STEP);
    }
    let seen = threads(device.id());
    let number = Pid::from_raw(i32::try_from(device.id()).expect("a process"));
    kill(number, Signal::SIGTERM).expect("it runs");
    let ended = (0..PATIENCE).any(|_| {
        sleep(STEP);
        device.try_wait().expect("ours").is_some()
    });
    if !ended {
        device.kill().expect("it runs");
    }
    let output = device.wait_with_output().expect("it ends");
    assert!(ended, "it was asked to end, and went on: {}", said(&output));
    (seen, output)
}

#[test]
fn a_served_device_keeps_what_sending_takes() {
    if !root() {
        return;
    }
    let desk = desk();
    let (seen, output) = served("@rig-rights", desk.path());
    assert!(output.status.success() && seen.len() > 2, "{}", said(&output));
    have(&seen, Work::Served, Work::Served);
    assert!(seen.iter().all(|thread| thread.bounding == kept(Work::Served)), "{seen:#x?}");
}

#[test]
fn a_served_device_takes_its_socket_out_of_a_folder_of_the_users() {
    if !root() {
        return;
    }
    let desk = desk();
    chown(desk.path(), Some(NOBODY), Some(NOBODY)).expect("root");
    let (seen, output) = served("socket", desk.path());
    assert!(output.status.success() && seen.len() > 2, "{}", said(&output));
    have(&seen, Work::ServedAtFile, Work::Served);
    assert_eq!(fs::read_dir(desk.path()).expect("readable").count(), 0, "{}", said(&output));
}

#[test]
fn a_stream_by_hand_keeps_what_a_trial_takes() {
    if !root() {
        return;
    }
    let (desk, within) = (desk(), Namespace::new().expect("a namespace"));
    let [one, other] = ["d1", "d2"].map(|name| End { within: &within, name });
    pair(one, other, 9_216).expect("a pair");
    let mut stream =
        rigctl("gen --port d1 --kind udp --size 256B --every 5ms --speed 10Gbps", desk.path());
    let stream = within.run(|| stream.spawn()).expect("inside").expect("rigctl starts");
    let mut seen = Vec::new();
    for _ in 0..PATIENCE {
        seen = threads(stream.id());
        if seen.iter().any(|thread| thread.before_others) {
            break;
        }
        sleep(STEP);
    }
    end(stream);
    assert!(!seen.is_empty(), "it sends until it is asked to end");
    have(&seen, Work::Trial, Work::Trial);
}

#[test]
fn who_was_given_the_rights_of_ports_alone_runs_on_ports() {
    if !root() {
        return;
    }
    let desk = desk();
    let arguments = format!("run --lab {LAB} --only pfcwd::action-drop-broadcom --seed 7");
    let output = given(&desk, "ports", &arguments);
    let text = said(&output);
    // A stall of the machine decides nothing, and is none of the rights'.
    assert!([Some(0), Some(3)].contains(&output.status.code()), "{text}");
    assert!(text.contains("lab veth (wire)") && !text.contains("EPERM"), "{text}");
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_kernel_that_refuses_is_told_of_once_and_the_work_goes_on() {
    if !root() {
        return;
    }
    let desk = desk();
    let output = given(&desk, "no-capset", "run --only cnp::form-* --seed 7");
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    assert_eq!(text.matches("could not give up the rights").count(), 1, "{text}");
}

/// `rigctl` as a script starts it: see there.
fn given(desk: &tempfile::TempDir, how: &str, arguments: &str) -> Output {
    const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/given.py");
    let (program, home) = (desk.path().join("rigctl"), desk.path().join("home"));
    fs::copy(env!("CARGO_BIN_EXE_rigctl"), &program).expect("room for a copy");
    fs::create_dir(&home).expect("writable");
    fs::set_permissions(desk.path(), fs::Permissions::from_mode(0o755)).expect("ours");
    chown(&home, Some(NOBODY), Some(NOBODY)).expect("root");
    let mut command = Command::new("python3");
    command.args(["-S", SCRIPT, how]).arg(program).args(arguments.split_whitespace());
    command.current_dir(&home).env("HOME", &home).stdin(Stdio::null());
    command.output().expect("python3 starts")
}

#[test]
fn under_sudo_a_run_still_writes_renames_and_gives_away_in_a_folder_of_the_users() {
    if !root() {
        return;
    }
    let desk = desk();
    let home = desk.path().join("home");
    fs::create_dir(&home).expect("writable");
    chown(&home, Some(NOBODY), Some(NOBODY)).expect("root");
    // Nobody else may look into it, and in it only owners rename.
    fs::set_permissions(&home, fs::Permissions::from_mode(0o1_700)).expect("root");
    let run = "run --only cnp::* --seed 7 --overwrite --out night";
    for command in [run, run, "report night", "compare night~1 night"] {
        let mut command = rigctl(command, &home);
        command.env("SUDO_UID", NOBODY.to_string()).env("SUDO_GID", NOBODY.to_string());
        let output = command.output().expect("rigctl starts");
        assert!(output.status.success(), "{command:?}: {}", said(&output));
    }
    for file in ["night", "night/results.json", "night~1", "night~1/results.json"] {
        let owner = fs::metadata(home.join(file)).expect("it is there").uid();
        assert_eq!(owner, NOBODY, "{file}");
    }
}

#[test]
fn who_has_no_rights_notices_nothing() {
    if !root() {
        return;
    }
    let desk = desk();
    // Where this user may read it.
    let program = desk.path().join("rigctl");
    fs::copy(env!("CARGO_BIN_EXE_rigctl"), &program).expect("room for a copy");
    let home = desk.path().join("home");
    fs::create_dir(&home).expect("writable");
    fs::set_permissions(desk.path(), fs::Permissions::from_mode(0o755)).expect("ours");
    chown(&home, Some(NOBODY), Some(NOBODY)).expect("root");
    for arguments in ["run --only cnp::* --seed 7 --out out", "check", "compare out out"] {
        let mut command = Command::new(&program);
        command.args(arguments.split_whitespace()).current_dir(&home).stdin(Stdio::null());
        let output = command.uid(NOBODY).gid(NOBODY).output().expect("rigctl starts");
        assert!(output.status.success(), "{arguments}: {}", said(&output));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!stderr.contains("rights") && !stderr.contains("writing"), "{arguments}: {stderr}");
    }
}

#[test]
fn who_may_not_look_into_the_folder_that_they_are_in_is_told() {
    if !root() {
        return;
    }
    let desk = desk();
    fs::set_permissions(desk.path(), fs::Permissions::from_mode(0o755)).expect("ours");
    let (program, home) = (desk.path().join("rigctl"), desk.path().join("home"));
    fs::copy(env!("CARGO_BIN_EXE_rigctl"), &program).expect("room for a copy");
    fs::create_dir(&home).expect("writable");
    chown(&home, Some(NOBODY), Some(NOBODY)).expect("root");
    let mut command = Command::new("sh");
    command.args(["-c", "chmod 0 . && exec \"$0\" run --only 'cnp::*' --out out"]);
    command.arg(&program).current_dir(&home).uid(NOBODY).gid(NOBODY);
    let output = command.output().expect("sh starts");
    let text = said(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("`--out out` cannot be made: Permission denied"), "{text}");
}

#[test]
fn a_run_writes_nowhere_but_where_it_was_told_to_when_it_began() {
    if !fence::is_there() {
        let required = std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1");
        assert!(!required, "the kernel has no Landlock (RIG_REQUIRE_ALL=1)");
        eprintln!("skipped: this kernel has no Landlock");
        return;
    }
    let desk = desk();
    let place = |name: &str| desk.path().join(name);
    fs::create_dir(place("reports")).expect("writable");
    let arguments = "run --only pfcwd::*-broadcom --seed 7 --out out --junit reports/junit.xml";
    let run = rigctl(arguments, desk.path()).spawn().expect("rigctl starts");
    for _ in 0..PATIENCE {
        if place("reports/junit.xml").exists() {
            break;
        }
        sleep(STEP);
    }
    // Another folder of that name, which this process would write into if the kernel let it.
    fs::rename(place("reports"), place("moved")).expect("writable");
    fs::create_dir(place("reports")).expect("writable");
    let output = run.wait_with_output().expect("it ends");
    let text = said(&output);
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert!(text.contains("reports/junit.xml: Permission denied"), "{text}");
    assert_eq!(fs::read_dir(place("reports")).expect("readable").count(), 0);
    assert!(place("out/results.json").exists(), "its own folder it does write into: {text}");
}

#[test]
fn the_page_has_the_table() {
    let page = include_str!("../../SECURITY.md");
    let table = rights::table();
    assert!(page.contains(&table), "SECURITY.md wants this table:\n{table}");
}
