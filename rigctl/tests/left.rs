//! What a run that is killed or asked to end leaves behind at real interfaces: links that it has set down. Root and Linux only.

#![expect(clippy::disallowed_methods, reason = "what is waited for here is another process")]

mod common;

#[path = "common/bench.rs"]
mod bench;

use bench::{Bench, case, said, well};
use common::root;
use nix::sys::ptrace;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use rig_generator::port::Link;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// A link is down for seconds.
const CUT: &str = "about: \"one\"\ndevice: switch\ncases:\n  one:\n    why: \"a test\"\n    source: [\"a test\"]\n    dut: \
                   {rule_family: broadcom}\n    streams: {victim: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 254B, \
                   every: 5ms}}\n    trials: 1\n    steps:\n      - {at: 0ms, link_down: p2, for: 3s}\n      - {at: 3200ms, \
                   start: victim, for: 100ms}\n    measure:\n      - loss: {stream: victim, expect: none}\n";
const RUN: &str = "run cut.yaml --lab lab.yaml --seed 7 --out";

/// A bench with the suite, and nobody else's state.
fn desk() -> Bench {
    let bench = Bench::new("af-packet");
    bench.write("cut.yaml", CUT);
    bench
}

fn is_up(bench: &Bench) -> bool {
    let link = bench.near.run(|| Link::named("eth2")).expect("inside");
    link.expect("it is there").up
}

/// The same command where a hangup is not ignored: the tests themselves may run under nohup.
fn hearing(command: &Command) -> Command {
    let mut hearing = Command::new("env");
    hearing.arg("--default-signal=HUP").arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => hearing.env(name, value),
            None => hearing.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        hearing.current_dir(folder);
    }
    hearing
}

/// A run in the moment in which the link is down.
fn run(bench: &Bench, out: &str) -> Child {
    let mut command = hearing(&bench.command(&format!("{RUN} {out}")));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut rig = bench.near.run(|| command.spawn()).expect("inside").expect("rigctl starts");
    for _ in 0..3_000 {
        if !is_up(bench) {
            return rig;
        }
        sleep(Duration::from_millis(10));
    }
    let _ended = rig.kill();
    panic!("no link was cut: {}", said(&rig.wait_with_output().expect("it ends")));
}

fn signal(rig: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(rig.id()).expect("a process"));
    kill(pid, signal).expect("it runs");
}

fn killed(bench: &Bench, out: &str) {
    let rig = run(bench, out);
    signal(&rig, Signal::SIGKILL);
    rig.wait_with_output().expect("it ends");
    assert!(!is_up(bench), "killed before it could mend");
}

/// Every thread of it but the one that hears signals stands still from now on.
fn stuck(rig: &Child) -> Vec<Pid> {
    let mut all = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{}/task", rig.id())).expect("it runs").flatten() {
        let name = std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        let id = task.file_name().to_str().and_then(|id| id.parse().ok()).expect("a number");
        if name.trim() != "requests" {
            let thread = Pid::from_raw(id);
            ptrace::seize(thread, ptrace::Options::empty()).expect("root may");
            ptrace::interrupt(thread).expect("it is traced");
            waitpid(thread, Some(WaitPidFlag::__WALL)).expect("it stands still");
            all.push(thread);
        }
    }
    // Whoever traces a process is told last of its first thread, by who waits for the process.
    all.retain(|thread| thread.as_raw().unsigned_abs() != rig.id());
    all
}

/// A thread that stood still has ended with its process.
fn ended(thread: Pid) {
    waitpid(thread, Some(WaitPidFlag::__WALL)).expect("it ends");
}

fn told(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), said(output))
}

#[test]
fn what_a_killed_run_left_down_is_listed_and_brought_up() {
    if !root() {
        return;
    }
    let bench = desk();
    killed(&bench, "out");
    let (code, text) = told(&bench.rigctl("restore --dry-run"));
    assert!(
        code == Some(4) && text.starts_with("link eth2, which was up: to be restored"),
        "{text}"
    );
    // From another network namespace it cannot be reached.
    let (code, text) = told(&bench.command("restore").output().expect("rigctl starts"));
    assert!(code == Some(0) && text.contains("link eth2, which was up: left alone"), "{text}");
    assert!(text.contains("in network namespace"), "{text}");
    assert!(!is_up(&bench), "nothing was touched");
    let (code, text) = told(&bench.rigctl("restore"));
    assert!(code == Some(0) && text.starts_with("link eth2, which was up: restored"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(is_up(&bench));
    assert_eq!(told(&bench.rigctl("restore")), (Some(0), String::new()));
}

#[test]
fn a_second_run_on_those_ports_is_refused_and_the_next_mends_what_the_first_left() {
    if !root() {
        return;
    }
    let bench = desk();
    let first = run(&bench, "first");
    // However long the second one takes: it comes while the first one has the ports.
    signal(&first, Signal::SIGSTOP);
    let (code, text) = told(&bench.rigctl(&format!("{RUN} second")));
    assert_eq!(code, Some(4), "{text}");
    let holder = format!(
        "is in use by process {}, whose run folder is {}/first",
        first.id(),
        bench.desk.path().display()
    );
    assert!(
        text.contains("error: interface eth1 of network namespace") && text.contains(&holder),
        "{text}"
    );
    assert!(!bench.desk.path().join("second").exists() && !is_up(&bench), "it has touched nothing");
    signal(&first, Signal::SIGKILL);
    first.wait_with_output().expect("it ends");
    assert!(!is_up(&bench), "killed before it could mend");
    let (output, results) = bench.run("cut.yaml");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("note: link eth2, which was up: restored"), "{}", said(&output));
    assert!(well(case(&results, "cut::one")) || bench.late().is_some(), "{}", said(&output));
    assert!(is_up(&bench));
    assert_eq!(told(&bench.rigctl("restore")), (Some(0), String::new()));
}

#[test]
fn a_run_that_is_asked_to_end_leaves_no_link_down() {
    if !root() {
        return;
    }
    let bench = desk();
    let rig = run(&bench, "once");
    // One that lives is left to itself.
    let (code, text) = told(&bench.rigctl("restore"));
    assert!(code == Some(0) && text.contains(&format!("process {} lives", rig.id())), "{text}");
    assert!(!is_up(&bench));
    signal(&rig, Signal::SIGTERM);
    let output = rig.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    assert!(is_up(&bench));
    let asked = [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129), (Signal::SIGINT, 130)];
    for (again, code) in asked {
        let rig = run(&bench, again.as_str());
        // A rig that cannot break off its trial.
        let stuck = stuck(&rig);
        signal(&rig, again);
        // What comes at once is still the first request.
        sleep(Duration::from_millis(500));
        assert!(!is_up(&bench), "nobody has mended it yet");
        signal(&rig, again);
        stuck.into_iter().for_each(ended);
        let output = rig.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(code), "{again}: {}", said(&output));
        assert!(is_up(&bench), "{again}: it was not put back");
        assert_eq!(told(&bench.rigctl("restore")), (Some(0), String::new()));
    }
}
