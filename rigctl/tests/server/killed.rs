//! A run that is ended at any moment, by a kill or by Ctrl-C: behind `rigctl restore` nothing of it is left on the server.

use super::bounded::Bounded;
use super::{KNOB, PATIENCE, can, command, dcb, done, notifier};
use rig_generator::port::Mono;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// Streams to two servers of perftest, with a knob of files set, and three parts of DCB.
const KILLED: &str = r#"
about: "what is set while a run is ended"
device: nic
cases:
  marks:
    why: "all of it is put back"
    source: ["a test"]
    dut: {nic: {np: {enable: true, interval: 0us}, ets: {priorities: [1, 0, 0, 0, 1, 1, 2, 0], classes: [{percent: 30}, {percent: 70}, strict], limits: {2: 2Gbps-L2}}, pfc: {priorities: [3, 4]}}}
    streams:
      marked: {from: p1, class: 3, kind: rocev2-write, size: 1024B, every: 80ms, ecn: ce}
      other: {from: p1, class: 3, kind: rocev2-write, size: 300B, every: 90ms}
    steps: [{at: 0us, start: [marked, other], for: 800ms}]
    length: 1100ms
    trials: 1
    measure: [{cnp.answers: {port: p1}}]
"#;

/// How many moments, over the whole of a run: ten of them at night (`RIG_WHOLE_LINUX=1`), by either signal twice else.
fn moments() -> u64 {
    let at_night = std::env::var_os("RIG_WHOLE_LINUX").is_some_and(|all| all == "1");
    if at_night { 10 } else { 4 }
}

#[test]
fn at_whatever_moment_a_run_is_ended_nothing_of_it_is_left() {
    if !can() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let desk = desk.path();
    notifier(desk);
    fs::write(desk.join("killed.yaml"), KILLED).expect("writable");
    let knob = || fs::read_to_string(desk.join(KNOB)).expect("a file").trim().to_owned();
    let line = |out: &str| {
        let at = |name: &str| desk.join(name).display().to_string();
        let [suite, lab, out] = ["killed.yaml", "lab.yaml", out].map(at);
        format!("run {suite} --seed 1 --lab {lab} --out {out}")
    };
    // Once to its end: how long that takes, and what a kernel tells of DCB once something was set and put back.
    let begun = Mono::now();
    let whole_run = done(desk, &line("whole"));
    let whole = Mono::now().since(begun).map_or(0, |whole| whole.0 / 1_000);
    let said = String::from_utf8_lossy(&whole_run.stdout).into_owned();
    assert!(whole_run.status.success(), "{said}");
    let was = (knob(), dcb(desk));
    // So that one knows of each moment that it is one: some find a setting made, and some a server of perftest.
    let (mut set, mut served) = (0, 0);
    let moments = moments();
    for moment in 0..moments {
        let _none_yet = fs::remove_file(desk.join("rig"));
        let out = format!("out-{moment}");
        let rig = Bounded::start(&mut command(desk, &line(&out)));
        super::wait_for(&desk.join("rig"));
        wait(Duration::from_nanos(whole * (2 * moment + 1) / (2 * moments)));
        set += u32::from(was != (knob(), dcb(desk)));
        served += u32::from(
            of_server(desk)
                .iter()
                .any(|what| what.contains("perftest.py") && !what.contains("192.168.7.1")),
        );
        let own = fs::read_to_string(desk.join("rig")).expect("its number");
        let signal = if moment % 2 == 0 { "-KILL" } else { "-INT" };
        // One that is done by then has nothing to be ended.
        let _done =
            Command::new("kill").args([signal, own.trim()]).output().expect("there is kill");
        let _ended = rig.end(PATIENCE, |mut rig| rig.wait());
        let told = |done: &std::process::Output| {
            [&done.stdout, &done.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat()
        };
        let restored = done(desk, "restore");
        assert!(restored.status.success(), "{signal} at {moment}: {}", told(&restored));
        assert_eq!((knob(), dcb(desk)), was, "{signal} at {moment}: {}", told(&restored));
        let again = done(desk, "restore --dry-run");
        assert!(again.status.success(), "{}", told(&again));
        assert!(!told(&again).contains("which was"), "{signal} at {moment}: {}", told(&again));
        // A program that is told to end takes a moment for it.
        let left = (0..100).map(|_| of_server(desk)).find(|left| {
            wait(Duration::from_millis(if left.is_empty() { 0 } else { 100 }));
            left.is_empty()
        });
        assert!(left.is_some(), "{signal} at {moment}: {:?}", of_server(desk));
    }
    // Of few moments none may be within the second of the streams.
    assert!(
        set >= 1 && (served >= 1 || moments < 10),
        "{set} of {moments} found something set, and {served} a server"
    );
}

#[test]
fn a_child_that_does_not_end_is_killed_with_what_it_has_started_and_what_it_had_said_is_told() {
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 600 & echo this is $!; wait"]).stdout(Stdio::piped());
    let child = Bounded::start(&mut command);
    let waited = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| {
        child.end(Duration::from_millis(300), Child::wait_with_output)
    }));
    let why = waited.expect_err("it sleeps").downcast::<String>().expect("words");
    let (_, said) = why.split_once("this is ").unwrap_or_else(|| panic!("{why}"));
    let sleeps: String = said.chars().take_while(char::is_ascii_digit).collect();
    let words = fs::read(format!("/proc/{sleeps}/cmdline")).unwrap_or_default();
    assert!(why.contains("still ran after 300ms") && words.is_empty(), "{why}: {words:?}");
    // One that nobody comes to wait for, as of a test that fails before.
    let child = Bounded::start(&mut command);
    let own = format!("/proc/{}", child.id());
    drop(child);
    assert!(!Path::new(&own).exists());
}

/// The processes that work in the folder that is the server, each with its words.
fn of_server(desk: &Path) -> Vec<String> {
    let host = fs::metadata(desk.join("host")).expect("a folder");
    let all = fs::read_dir("/proc").expect("every Linux has it").flatten();
    let works_there = |at: &Path| {
        fs::metadata(at.join("cwd"))
            .is_ok_and(|folder| (folder.dev(), folder.ino()) == (host.dev(), host.ino()))
    };
    let each = all.filter(|entry| works_there(&entry.path())).map(|entry| {
        let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).replace('\0', " ");
        format!("{} {words}", entry.file_name().display())
    });
    // One that is dead and waits for whoever asks how it ended has no words.
    each.filter(|told| told.trim_end().contains(' ')).collect()
}

#[expect(clippy::disallowed_methods, reason = "what is waited for is another process")]
fn wait(length: Duration) {
    thread::sleep(length);
}
