//! What may go wrong around a run in real time: a device that dies, an interface that goes away, a machine that stands
//! still, missing rights. What was measured before is kept, the rest says why, and no healthy device is called faulty.

#![expect(clippy::disallowed_methods, reason = "what is waited for here is another process")]

mod common;

use common::root;
use rig_generator::netlab::Namespace;
use rig_generator::port::{Backend, Config, Port, Transmit};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

const LAB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/veth.yaml");
const TESTCASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testcases/pfcwd.yaml");

/// A run under way.
struct Running {
    child: Child,
    out: TempDir,
}

fn start(only: &str) -> Running {
    started(only, LAB.as_ref(), tempfile::tempdir().expect("a temporary folder"))
}

/// The same where void trials are repeated for seconds, not for minutes: what is broken here stays broken.
fn start_briefly(only: &str) -> Running {
    let out = tempfile::tempdir().expect("a temporary folder");
    let whole = std::fs::read_to_string(LAB).expect("the lab");
    let folder = Path::new(LAB).parent().expect("a folder").display();
    let brief = whole
        .replace("budget: 240s", "budget: 20s")
        .replace("benches: 8", "benches: 1")
        .replace("- duts/", &format!("- {folder}/duts/"));
    assert!(brief.contains("budget: 20s") && brief.contains("benches: 1"), "{brief}");
    let lab = out.path().with_extension("yaml");
    std::fs::write(&lab, brief).expect("writable");
    let running = started(only, &lab, out);
    // It is read before anything starts.
    let _ = running.device();
    std::fs::remove_file(&lab).expect("ours");
    running
}

fn started(only: &str, lab: &Path, out: TempDir) -> Running {
    let program = env!("CARGO_BIN_EXE_rigctl").as_ref();
    let child = rigctl(program, only, lab, out.path()).spawn().expect("rigctl starts");
    Running { child, out }
}

fn rigctl(program: &Path, only: &str, lab: &Path, out: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(["run", TESTCASES, "--seed", "7", "--only", only, "--lab"]).arg(lab);
    command.arg("--out").arg(out);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

impl Running {
    /// The device's process, once there is one.
    fn device(&self) -> u32 {
        let of = |pid: u32| {
            let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
            let lists = tasks
                .flatten()
                .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
            lists
                .flat_map(|list| {
                    list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>()
                })
                .next()
        };
        for _ in 0..200 {
            if let Some(device) = of(self.child.id()) {
                return device;
            }
            sleep(Duration::from_millis(50));
        }
        panic!("no device was started within 10 s");
    }

    /// Waits for the first trial to be under way: the device boots and its ports come up within this.
    fn under_way(&self) {
        sleep(Duration::from_millis(1_200));
    }

    fn ended(self) -> (Output, Value) {
        let output = self.child.wait_with_output().expect("it ends");
        let results = std::fs::read_to_string(self.out.path().join("results.json"));
        let results = results.unwrap_or_else(|why| panic!("no results: {why}\n{}", all(&output)));
        (output, serde_json::from_str(&results).expect("JSON"))
    }
}

fn all(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text)).concat()
}

fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([name, &pid.to_string()]).status().expect("kill");
    assert!(sent.success(), "{name} to {pid}");
}

/// Verdict and reason of each case.
fn verdicts(results: &Value) -> Vec<(String, String)> {
    let text = |case: &Value, key: &str| case[key].as_str().unwrap_or_default().to_owned();
    let cases = results["cases"].as_array().expect("cases").iter();
    cases.map(|case| (text(case, "verdict"), text(case, "reason"))).collect()
}

/// Breaks what `breaks` breaks in the first of several cases: it is told with `words`, and the others pass or wait for a
/// quieter machine.
fn breaking(breaks: impl Fn(u32), words: &str) {
    let run = start("pfcwd::action-*-broadcom");
    let device = run.device();
    run.under_way();
    breaks(device);
    let (output, results) = run.ended();
    let text = all(&output);
    assert_eq!(output.status.code(), Some(4), "{text}");
    let verdicts = verdicts(&results);
    let broken = verdicts.iter().filter(|(verdict, _)| verdict == "broken").count();
    assert_eq!((broken, verdicts.len()), (1, 3), "{verdicts:?}\n{text}");
    assert!(verdicts.iter().all(|(verdict, _)| verdict != "fail"), "{verdicts:?}\n{text}");
    assert!(text.contains(words), "{text}");
}

#[test]
fn a_device_that_dies_breaks_its_case_and_no_other() {
    if root() {
        breaking(|device| signal(device, "-KILL"), "its process has ended");
    }
}

#[test]
fn an_interface_that_goes_away_in_mid_run_is_told_and_the_next_case_has_another() {
    if root() {
        let remove = |device| {
            let far = Namespace::of_process(device).expect("the device runs");
            far.remove("d1").expect("it is there");
        };
        breaking(remove, "the interface went away");
    }
}

/// Runs `only` while the process that `whose` picks is stopped again and again.
fn halting(only: &str, whose: impl Fn(&Running) -> u32, halt: Duration) -> (String, Value) {
    let mut run = start_briefly(only);
    let pid = whose(&run);
    run.under_way();
    while run.child.try_wait().expect("a child").is_none() {
        for (name, rest) in [("-STOP", halt), ("-CONT", Duration::from_millis(400))] {
            // It may end in between.
            let _ = Command::new("kill").args([name, &pid.to_string()]).output();
            sleep(rest);
        }
    }
    let (output, results) = run.ended();
    (all(&output), results)
}

#[test]
fn a_rig_that_stands_still_voids_its_trials_and_fails_no_device() {
    if !root() {
        return;
    }
    let rig = |run: &Running| run.child.id();
    let (text, results) = halting("pfcwd::action-drop-broadcom", rig, Duration::from_millis(100));
    let verdicts = verdicts(&results);
    assert_eq!(verdicts.len(), 1, "{text}");
    assert_eq!(verdicts[0].0, "inconclusive", "{text}");
    assert!(["late-send", "storm-lapse"].contains(&&*verdicts[0].1), "{verdicts:?}\n{text}");
}

#[test]
fn a_device_that_stands_still_under_a_full_load_overruns_its_ring_and_says_so() {
    if !root() {
        return;
    }
    let (text, results) = halting(
        "pfcwd::sender-that-ignores-pfc-broadcom",
        Running::device,
        Duration::from_millis(300),
    );
    let verdicts = verdicts(&results);
    assert_eq!(verdicts.len(), 1, "{text}");
    assert_eq!(verdicts[0].0, "inconclusive", "{text}");
    // The word for it may be that of what came of it: the frames let out at once afterwards, the storm that was torn.
    assert!(text.contains("the served device fell behind"), "{text}");
    assert!(text.contains("never reached the device"), "{text}");
}

/// Sends more frames into a wire than the ring of the port at its end has room for. A rig that has ended has taken its
/// interfaces with it.
fn flood(far: &mut dyn Transmit) {
    for _ in 0..4_096 {
        if let Some(mut frame) = far.alloc() {
            far.bytes(&mut frame)[..60].fill(2);
            far.stage(frame, 60);
            far.publish();
        }
        if far.kick().is_err() {
            return;
        }
    }
}

#[test]
fn a_rig_that_does_not_read_while_frames_come_overruns_its_own_ring_and_says_so() {
    if !root() {
        return;
    }
    let mut run = start_briefly("pfcwd::action-drop-broadcom");
    let device = Namespace::of_process(run.device()).expect("the device runs");
    run.under_way();
    let config = Config { backend: Backend::AfPacket, ring: 8, slots: 8, ..Config::new("d2") };
    let far = device.run(|| Port::open(&config)).expect("inside").expect("it is there");
    let Port { mut tx, .. } = far;
    let rig = run.child.id();
    while run.child.try_wait().expect("a child").is_none() {
        // Nothing but the rig stands still: whatever comes meanwhile waits in its ring, or is lost.
        signal(rig, "-STOP");
        flood(&mut *tx);
        signal(rig, "-CONT");
        sleep(Duration::from_millis(100));
    }
    let (output, results) = run.ended();
    let text = all(&output);
    let verdicts = verdicts(&results);
    assert_eq!(verdicts, [("inconclusive".to_owned(), "capture-hole".to_owned())], "{text}");
    assert!(text.contains("p2 had no room for "), "{text}");
    assert!(text.contains("the rig did not read in time"), "{text}");
    assert_eq!(output.status.code(), Some(3), "{text}");
}

#[test]
fn ctrl_c_ends_a_run_in_real_time_with_what_was_measured_and_leaves_no_process() {
    if !root() {
        return;
    }
    let run = start("pfcwd::detection-latency-broadcom");
    let device = run.device();
    run.under_way();
    signal(run.child.id(), "-INT");
    let (output, results) = run.ended();
    assert_eq!(output.status.code(), Some(4), "{}", all(&output));
    assert_eq!(results["partial"], "interrupted");
    for _ in 0..100 {
        if !Path::new(&format!("/proc/{device}")).exists() {
            return;
        }
        sleep(Duration::from_millis(50));
    }
    panic!("the device still runs 5 s after its rig ended");
}

#[test]
fn without_rights_the_run_says_once_what_it_needs() {
    if !root() {
        return;
    }
    let desk = tempfile::tempdir().expect("a temporary folder");
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(desk.path(), open).expect("ours");
    let program = desk.path().join("rigctl");
    std::fs::copy(env!("CARGO_BIN_EXE_rigctl"), &program).expect("copied");
    std::fs::create_dir(desk.path().join("duts")).expect("writable");
    let duts = Path::new(LAB).with_file_name("duts");
    let duts = std::fs::read_dir(duts).expect("a folder").flatten().map(|entry| entry.path());
    for file in duts.chain([LAB.into(), TESTCASES.into()]) {
        let within =
            if file.parent().is_some_and(|folder| folder.ends_with("duts")) { "duts" } else { "" };
        let name = file.file_name().expect("a file");
        std::fs::copy(&file, desk.path().join(within).join(name)).expect("copied");
    }
    let mut command = Command::new(&program);
    command.args(["run", "pfcwd.yaml", "--lab", "veth.yaml", "--out", "out"]);
    let output = command.current_dir(desk.path()).uid(65_534).gid(65_534).output().expect("starts");
    let text = all(&output);
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert_eq!(text.matches("run with sudo").count(), 1, "{text}");
    assert!(text.contains("CAP_SYS_ADMIN"), "{text}");
}

#[test]
fn a_kernel_without_btf_will_do() {
    if !root() {
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder");
    let mut run = rigctl(
        env!("CARGO_BIN_EXE_rigctl").as_ref(),
        "pfcwd::limits-accepted-broadcom",
        LAB.as_ref(),
        out.path(),
    );
    // Nothing else sees the empty folder that hides the kernel's types.
    let mut hidden = Command::new("unshare");
    hidden.args(["--mount", "sh", "-c"]);
    hidden.arg(
        "if [ -d /sys/kernel/btf ]; then mount -t tmpfs none /sys/kernel/btf; fi; exec \"$@\"",
    );
    hidden.arg("sh").arg(run.get_program()).args(run.get_args());
    let output = hidden.stdin(Stdio::null()).output().expect("unshare of util-linux");
    run.stdin(Stdio::null());
    assert_eq!(output.status.code(), Some(0), "{}", all(&output));
}
