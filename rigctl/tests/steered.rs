//! Who may steer a device that `rigctl dut serve` offers at a socket. Root and Linux only.

#![expect(clippy::disallowed_methods, reason = "what is waited for here is another process")]

mod common;

use common::root;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use rig_dut::EmulatedWire;
use rig_dut::control::{Control as _, Keyring, Order};
use rig_dut::serve::Place;
use rig_generator::netlab::{End, Namespace, pair};
use rig_lab::{Keys, Secret};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Becomes nobody, calls at a socket, says nothing, and prints what it hears first.
const CALL: &str = "import os, socket, sys
os.setgroups([])
os.setresgid(65534, 65534, 65534)
os.setresuid(65534, 65534, 65534)
line = socket.socket(socket.AF_UNIX)
line.connect(sys.argv[1].replace('@', chr(0)))
print(line.makefile().readline().strip()[:400])";

/// A device on two ports, in a namespace of its own.
struct Device {
    within: Namespace,
    process: Child,
    /// Where it works, and leaves what it leaves.
    #[expect(dead_code, reason = "it goes with the device")]
    desk: tempfile::TempDir,
    stderr: BufReader<ChildStderr>,
    place: String,
}

impl Device {
    /// Served at `control` with more flags, under a umask that hides nothing.
    fn serve(control: &str, flags: &str) -> Device {
        let within = Namespace::new().expect("a namespace");
        for (one, other) in [("d1", "r1"), ("d2", "r2")] {
            let [one, other] = [one, other].map(|name| End { within: &within, name });
            pair(one, other, 9_216).expect("a pair");
        }
        let line = format!(
            "umask 000; ulimit -c unlimited; exec env --default-signal=QUIT \"$0\" dut serve --dut broadcom --port d1 d2 --speed 1Gbps --control '{control}' {flags}"
        );
        let mut serve = Command::new("sh");
        serve.args(["-c", &line, env!("CARGO_BIN_EXE_rigctl")]);
        let desk = tempfile::tempdir().expect("a temporary folder");
        serve.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        serve.current_dir(desk.path());
        let mut process = within.run(|| serve.spawn()).expect("inside").expect("sh starts");
        let mut stderr = BufReader::new(process.stderr.take().expect("a pipe"));
        let mut said = String::new();
        stderr.read_line(&mut said).expect("text");
        assert!(said.starts_with("serving broadcom on d1, d2"), "{said}");
        Device { within, process, desk, stderr, place: control.to_owned() }
    }

    fn connect(&self) -> Result<EmulatedWire, String> {
        let place: Place = self.place.parse().expect("a place");
        let connected = self.within.run(|| EmulatedWire::connect(&place)).expect("inside");
        connected.map_err(|lost| lost.why)
    }

    /// What a user who is nobody hears.
    fn called_by_nobody(&self) -> String {
        let mut command = Command::new("python3");
        command.args(["-S", "-c", CALL, &self.place]).stdin(Stdio::null());
        let output = self.within.run(|| command.output()).expect("inside").expect("python3 starts");
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    }

    fn threads(&self) -> usize {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.process.id())).expect("it runs");
        tasks.count()
    }

    /// Ends it; what it said since.
    fn end(mut self) -> String {
        self.process.kill().expect("it runs");
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).expect("text");
        said
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let _ended = self.process.kill();
        let _reaped = self.process.wait();
    }
}

fn name(of: &str) -> String {
    format!("@rig-steered-{of}")
}

#[test]
fn another_user_is_turned_away_from_a_name_and_from_a_file() {
    if !root() {
        return;
    }
    let desk = tempfile::tempdir().expect("a temporary folder");
    fs::set_permissions(desk.path(), fs::Permissions::from_mode(0o755)).expect("ours");
    let file = desk.path().join("control");
    for place in [name("user"), file.display().to_string()] {
        let device = Device::serve(&place, "");
        if !place.starts_with('@') {
            let mode = fs::metadata(&file).expect("a socket").permissions().mode() & 0o777;
            assert_eq!(mode, 0o600, "the umask was 000");
            assert!(device.called_by_nobody().contains("PermissionError"), "closed by its mode");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).expect("ours");
        }
        for _ in 0..3 {
            let heard = device.called_by_nobody();
            assert!(heard.starts_with(r#"{"refused":{"why":"process "#), "{place}: {heard}");
            assert!(
                heard.contains("(python3) of user 65534 may not steer this device: want user 0"),
                "{heard}"
            );
        }
        device.connect().expect("its own user may");
        let said = device.end();
        let told: Vec<&str> =
            said.lines().map(|line| line.split(':').next().unwrap_or("")).collect();
        assert_eq!(told, ["turned away (1 so far)", "turned away (2 so far)"], "{said}");
    }
}

#[test]
fn a_second_client_is_told_who_has_the_device() {
    if !root() {
        return;
    }
    let device = Device::serve(&name("second"), "");
    let mut first = device.connect().expect("nobody has it");
    let why = device.connect().expect_err("it is taken");
    let own = format!("process {} (", std::process::id());
    assert!(why.starts_with(&own) && why.contains("of user 0 has this device"), "{why}");
    assert!(first.counters(&[]).is_ok(), "the first goes on");
    drop(first);
    // Who hung up a moment ago keeps nobody out.
    for _ in 0..50 {
        device.connect().expect("nobody has it");
    }
    assert!(device.end().contains("turned away (1 so far)"));
}

#[test]
fn with_force_who_comes_takes_over() {
    if !root() {
        return;
    }
    let device = Device::serve(&name("force"), "--force");
    let mut first = device.connect().expect("nobody has it");
    let mut second = device.connect().expect("it takes over");
    assert!(second.counters(&[]).is_ok());
    assert!(first.counters(&[]).expect_err("cut").to_string().contains("has ended"));
    assert!(device.called_by_nobody().contains("may not steer this device"), "whoever has it");
    assert!(second.counters(&[]).is_ok(), "nobody took it over");
}

#[test]
fn a_device_that_has_keys_leaves_no_dump_of_its_memory() {
    if !root() {
        return;
    }
    let dumps = |keyed: bool| {
        let mut device = Device::serve(&name("dump"), "");
        if keyed {
            let secret = |len: usize| Secret::from_hex(&"5a".repeat(len)).expect("digits");
            let keys = Keys { saks: [16; 4].map(secret), salt: secret(12) };
            let mut wire = device.connect().expect("nobody has it");
            wire.order(Order::Key { keys: Keyring(keys) }).expect("it takes them");
        }
        let id = device.process.id().to_string();
        assert!(Command::new("kill").args(["-QUIT", &id]).status().expect("kill").success());
        device.process.wait().expect("it ends").core_dumped()
    };
    if dumps(false) {
        assert!(!dumps(true));
    } else {
        eprintln!("skipped: this machine dumps no process (ulimit -c, core_pattern)");
    }
}

#[test]
fn thousands_of_silent_clients_cost_no_thread() {
    if !root() {
        return;
    }
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).expect("a limit");
    setrlimit(Resource::RLIMIT_NOFILE, most, most).expect("up to the hard limit");
    let device = Device::serve(&name("silent"), "");
    let place: Place = device.place.parse().expect("a place");
    let before = device.threads();
    let call = || (0..3_000).map(|_| place.call()).collect::<Result<Vec<_>, _>>();
    let mut lines = device.within.run(call).expect("inside").expect("all are heard");
    let why = device.connect().expect_err("the first has it");
    assert!(why.contains("has this device"), "{why}");
    assert!(device.threads() <= before + 1, "{before} threads, then {}", device.threads());
    // Each is told why, and its line is closed.
    let mut heard = String::new();
    lines[2_999].read_to_string(&mut heard).expect("text");
    assert!(heard.starts_with(r#"{"refused""#) && heard.ends_with("}\n"), "{heard}");
    drop(lines);
    device.connect().expect("all have gone");
    for _ in 0..100 {
        if device.threads() <= before {
            return;
        }
        sleep(Duration::from_millis(20));
    }
    panic!("{before} threads, then {}", device.threads());
}
