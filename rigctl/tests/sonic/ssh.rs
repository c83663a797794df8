//! A stand-in over a real `sshd`, with keys that are made for it, in a namespace of its own: the rig has nothing but `ssh` to it.

use super::{SUITE, cabled, redis, root, soon, verdict};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rig_generator::netlab::Namespace;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// `sshd` wants a folder in /run, which is of this namespace alone here.
const SSHD: &str =
    "mount -t tmpfs none /run && mkdir /run/sshd && exec /usr/sbin/sshd -D -e -f \"$0\"";
const PORT: &str = "2222";

/// Whether there is an sshd.
#[expect(clippy::print_stderr, reason = "a skipped test says why")]
pub(super) fn sshd() -> bool {
    let is_there = Path::new("/usr/sbin/sshd").exists();
    let required = std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1");
    let missing = "there is no sshd (apt-get install openssh-server)";
    assert!(is_there || !required, "{missing} and RIG_REQUIRE_ALL=1");
    if !is_there {
        eprintln!("skipped: {missing}");
    }
    is_there
}

/// A process that ends with this value.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _asked = kill(Pid::from_raw(self.0.id().cast_signed()), Signal::SIGTERM);
        let _reaped = self.0.wait();
    }
}

/// A switch and the rig's end of its cables.
pub(super) struct Lab<'d> {
    desk: &'d Path,
    near: Namespace,
    /// Whoever serves the device, and the sshd.
    device: Ends,
    sshd: Ends,
    _far: Namespace,
}

impl Lab<'_> {
    /// Its sshd is configured as this says, too.
    fn start<'d>(desk: &'d Path, more: &str) -> Lab<'d> {
        Lab::serving(desk, more, "")
    }

    /// The same of a device that is served with these flags, too.
    pub(super) fn serving<'d>(desk: &'d Path, more: &str, flags: &str) -> Lab<'d> {
        let (near, far) = cabled();
        near.set_up("lo", true).expect("it goes up");
        for key in ["host", "user"] {
            let mut make = Command::new("ssh-keygen");
            make.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(desk.join(key));
            assert!(make.status().expect("ssh-keygen").success());
        }
        let at = |name: &str| desk.join(name).display().to_string();
        let host = fs::read_to_string(desk.join("host.pub")).expect("a key");
        write(desk, "known", &format!("[127.0.0.1]:{PORT} {host}"));
        fs::copy(desk.join("user.pub"), desk.join("let-in")).expect("writable");
        write(
            desk,
            "sshd_config",
            &format!(
                "Port {PORT}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nStrictModes no\nUsePAM no\n\
                 PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\nSetEnv PATH={}:/usr/bin:/bin\n{more}",
                at("host"),
                at("let-in"),
                at("switch")
            ),
        );
        write(
            desk,
            "ssh_config",
            &format!(
                "Host leaf-1\nHostName 127.0.0.1\nPort {PORT}\nUser root\nIdentityFile {}\nIdentitiesOnly yes\nUserKnownHostsFile {}\n\
                 StrictHostKeyChecking yes\n",
                at("user"),
                at("known")
            ),
        );
        // What a person finds at the switch.
        fs::create_dir(desk.join("switch")).expect("a folder");
        for name in ["sonic-db-cli", "pfcwd", "show", "counterpoll", "config"] {
            let (rigctl, socket) = (env!("CARGO_BIN_EXE_rigctl"), at("own/redis.sock"));
            let say = format!("dut say --redis unix:{socket} $(cat {}) -- {name}", at("faults"));
            program(
                desk,
                &format!("switch/{name}"),
                &format!("#!/bin/sh\nexec {rigctl} {say} \"$@\"\n"),
            );
        }
        write(desk, "faults", "");
        // What it is rebooted by: its sshd goes with it, which is this test's to do once it sees the mark.
        program(desk, "switch/sudo", "#!/bin/sh\n[ \"$1\" = -n ] && shift\nexec \"$@\"\n");
        for name in ["warm-reboot", "reboot"] {
            let (rigctl, socket) = (env!("CARGO_BIN_EXE_rigctl"), at("own/redis.sock"));
            let say = format!("{rigctl} dut say --redis unix:{socket} -- {name}");
            let mark = format!("echo {name} >> {}", at("rebooted"));
            program(
                desk,
                &format!("switch/{name}"),
                &format!("#!/bin/sh\n{say} && {mark}\nsleep 9\n"),
            );
        }
        // The system's own, told where this test's configuration is in place of the user's.
        fs::create_dir(desk.join("bin")).expect("a folder");
        let ssh = format!("#!/bin/sh\nexec /usr/bin/ssh -F {} \"$@\"\n", at("ssh_config"));
        program(desk, "bin/ssh", &ssh);
        let mut serve = Command::new(env!("CARGO_BIN_EXE_rigctl"));
        serve.args(["dut", "serve"]).args(flags.split_whitespace());
        // No chip knows what a YANG model says: that is checked where a patch comes in.
        let flags = "--dut broadcom --mutate pfcwd.config_path=redis --port d1 d2 --speed 500Mbps --as sonic --redis";
        serve.args(flags.split(' ')).arg(format!("unix:{}", at("own/redis.sock")));
        serve.stdin(Stdio::null()).stderr(Stdio::null());
        let device = Ends(far.run(|| serve.spawn()).expect("inside").expect("rigctl starts"));
        let sshd = daemon(&near, desk);
        let lab = Lab { desk, near, device, sshd, _far: far };
        lab.is_up();
        lab
    }

    fn is_up(&self) {
        assert!(soon(&mut || self.ask(&["PING"]) == "PONG\n"), "it is up, and its sshd");
    }

    /// A run of the case in which its sessions end once the switch is as the case has set it, and with `all` the sshd, too.
    fn dropped(&self, line: &str, all: bool) -> Output {
        std::thread::scope(|scope| {
            let run = scope.spawn(|| self.rigctl(&format!("{line} --only one::one")));
            let is_set = || self.ask(&["HGET", "PFC_WD\\|Ethernet0", "detection_time"]) == "400\n";
            assert!(soon(&mut || is_set()), "it is set");
            let pid = self.sshd.0.id();
            let daemon = all.then(|| pid.cast_signed());
            // Who waits for a session comes first, or it would start the next.
            for pid in daemon.into_iter().chain(started(pid)) {
                let _gone = kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
            run.join().expect("no panic")
        })
    }

    /// What a command line says where the rig is.
    pub(super) fn run(&self, program: &str, arguments: &[&str]) -> Output {
        ran(self.desk, &self.near, program, arguments)
    }

    /// What the redis answers to a person at the switch.
    fn ask(&self, words: &[&str]) -> String {
        // Of several chips the last is the device.
        let chip = self.desk.join("redis1/redis.sock");
        let socket = if chip.exists() { chip } else { self.desk.join("own/redis.sock") };
        let socket = socket.display().to_string();
        let asked = [&["leaf-1", "redis-cli", "-s", &socket, "-n", "4"], words].concat();
        String::from_utf8_lossy(&self.run("ssh", &asked).stdout).into_owned()
    }

    /// Every key of CONFIG_DB and what stands there.
    pub(super) fn config(&self) -> String {
        // A row that was written anew has its fields in another order.
        let dump = "local row = function(key) local all, some = redis.call('HGETALL', key), {} \
                    for at = 1, #all, 2 do some[#some + 1] = all[at] .. '=' .. all[at + 1] end table.sort(some) return some end \
                    return cjson.encode({row('PFC_WD|Ethernet0'), row('PFC_WD|Ethernet4'), row('PFC_WD|GLOBAL'), redis.call('DBSIZE')})";
        self.ask(&["EVAL", &format!("\"{dump}\""), "0"])
    }

    pub(super) fn rigctl(&self, arguments: &str) -> Output {
        self.run(env!("CARGO_BIN_EXE_rigctl"), &words(arguments))
    }

    /// Writes its profile and a lab with it; where its redis is.
    fn described(&self) -> String {
        let at = format!("ssh:leaf-1:{}", self.desk.join("own/redis.sock").display());
        self.described_by(&at, "");
        at
    }

    /// The same by its redis there and more flags.
    pub(super) fn described_by(&self, at: &str, flags: &str) {
        let leaf = self.rigctl(&format!("profile from-dut --redis {at} {flags}"));
        assert!(leaf.status.success(), "{leaf:?}");
        fs::write(self.desk.join("leaf.yaml"), leaf.stdout).expect("writable");
        let lab = format!(
            "about: \"behind ssh\"\ntransport: interfaces\ncable: 3m\nwire: {{interfaces: [eth1, eth2], speed: 500Mbps, bound: 16ms, budget: \
             60s}}\nduts: [{{profile: leaf.yaml, control: sonic, redis: \"{at}\", disposable: true}}]\n"
        );
        write(self.desk, "lab.yaml", &lab);
    }

    pub(super) fn results(&self) -> Value {
        let text = fs::read_to_string(self.desk.join("out/results.json")).expect("results");
        serde_json::from_str(&text).expect("JSON")
    }
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// What a program says that is run where the rig is.
fn ran(desk: &Path, near: &Namespace, program: &str, arguments: &[&str]) -> Output {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(program);
    command.args(arguments).current_dir(desk).stdin(Stdio::null());
    command.env("PATH", format!("{}:{path}", desk.join("bin").display()));
    command.env("RIGCTL_STATE", desk.join("state")).env("TMPDIR", desk.join("tmp"));
    near.run(|| command.output()).expect("inside").expect("it starts")
}

/// An sshd where the rig is.
fn daemon(near: &Namespace, desk: &Path) -> Ends {
    let mut daemon = Command::new("unshare");
    daemon.args(["--mount", "sh", "-c", SSHD]).arg(desk.join("sshd_config"));
    daemon.stdin(Stdio::null()).stderr(Stdio::null());
    Ends(near.run(|| daemon.spawn()).expect("inside").expect("unshare"))
}

pub(super) fn write(desk: &Path, name: &str, text: &str) {
    fs::write(desk.join(name), text).expect("writable");
}

/// A folder of this test's own, where root, `sshd` and `redis-server` are there; who is missing is told.
pub(super) fn desk() -> Option<tempfile::TempDir> {
    if !root() || !sshd() {
        return None;
    }
    let desk = tempfile::tempdir().expect("a folder");
    redis(desk.path()).then_some(desk)
}

pub(super) fn program(desk: &Path, name: &str, text: &str) {
    write(desk, name, text);
    let may_run = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(desk.join(name), may_run).expect("ours");
}

/// The processes that one has started, and that these have.
fn started(pid: u32) -> Vec<i32> {
    let of = format!("/proc/{pid}/task/{pid}/children");
    let own = fs::read_to_string(of).unwrap_or_default();
    let own: Vec<u32> = own.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
    own.iter().flat_map(|&pid| [vec![pid.cast_signed()], started(pid)].concat()).collect()
}

#[test]
fn a_switch_behind_ssh_is_judged_and_a_session_that_is_dropped_accuses_nobody_and_leaves_nothing() {
    let Some(desk) = desk() else { return };
    let desk = desk.path();
    write(desk, "one.yaml", SUITE);
    fs::create_dir(desk.join("tmp")).expect("a folder");
    let mut lab = Lab::start(desk, "");
    let before = lab.config();
    assert!(before.contains("detection_time"), "{before}");
    let at = lab.described();
    let line = "run one.yaml --lab lab.yaml --seed 7 --overwrite --out out";
    // Heard over ssh alone: `alert` leaves no trace on the wire.
    let output = lab.rigctl(&format!("{line} --only one::told"));
    let results = lab.results();
    let (word, reason) = verdict(&results, "one::told");
    let stalled = word == "inconclusive" && super::STALLS.contains(&reason);
    assert!(word == "pass" || stalled, "{word} {reason}\n{output:?}");
    assert_eq!(lab.config(), before);
    // What a person sees of it there.
    let typed = |line: &str| {
        let output = lab.run("ssh", &["leaf-1", line]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let stats = typed("pfcwd show stats");
    let queue = stats.lines().find(|line| line.trim_start().starts_with("Ethernet4:3 "));
    assert!(stats.contains("STORM DETECTED/RESTORED") && queue.is_some(), "{stats}");
    let shown = typed("show pfcwd config");
    assert!(shown.contains("Changed polling interval to 100ms\n     PORT    ACTION"), "{shown}");
    let row = typed("sonic-db-cli CONFIG_DB HGETALL 'PFC_WD|Ethernet0'");
    assert!(row.starts_with("{'") && row.contains("'detection_time': '200'"), "{row}");
    // In the middle of a session, once the switch is as the case has set it.
    let output = lab.dropped(line, false);
    let lost = ("inconclusive", "not-steered");
    assert_eq!(verdict(&lab.results(), "one::one"), lost, "{output:?}");
    assert_eq!(lab.config(), before, "{output:?}");
    // And no way back: what was set stays until there is one.
    let output = lab.dropped(line, true);
    assert_eq!(verdict(&lab.results(), "one::one"), lost, "{output:?}");
    lab.sshd = daemon(&lab.near, desk);
    lab.is_up();
    assert_ne!(lab.config(), before, "nobody could take it back: {output:?}");
    let restored = lab.rigctl("restore");
    assert!(restored.status.success(), "{restored:?}");
    assert_eq!(lab.config(), before, "{restored:?}");
    // A host that is not the one that is known is none to steer.
    write(desk, "known", "");
    let other = lab.rigctl(&format!("profile from-dut --redis {at}"));
    let said = String::from_utf8_lossy(&other.stderr).into_owned();
    assert!(!other.status.success() && said.contains("Host key verification failed"), "{said}");
    let Lab { device, sshd, .. } = lab;
    drop((device, sshd));
    let left: Vec<_> = fs::read_dir(desk.join("tmp")).expect("a folder").flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

const CATALOGUE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testcases/pfcwd.yaml");
/// Its cases of what the YANG model refuses and of what SONiC's commands do, a fault of the switch, and what is said of it then.
const FRONT_DOORS: [(&str, &str, &str); 5] = [
    ("detection-below-the-poll-interval-refused", "", "pass"),
    ("detection-below-the-poll-interval-refused", "--fault no-yang", "fail"),
    ("typed-limits-accepted", "", "pass"),
    ("typed-limits-refused", "", "pass"),
    ("typed-limits-refused", "--fault no-cli", "fail"),
];

/// A warm reboot, in which what was set stays; one that is ordered of a switch that is set otherwise than it is saved; one of a switch
/// as it is.
const REBOOTS: &str = "about: \"one\"\ndevice: switch\nsetup:\n  dut: {rule_family: broadcom}\n  streams: {victim: {from: p1, to: p2, class: 3, \
                       kind: rocev2-write, size: 254B, every: 500us}}\ncases:\n  warm:\n    why: \"a test\"\n    source: [\"a test\"]\n    \
                       dut: {pfcwd: {detection_time: 400ms}}\n    trials: 1\n    steps:\n      - {at: 0ms, start: victim, for: {of: \
                       reboot.warm}}\n      - {at: 20ms, reboot: warm}\n    length: {of: reboot.warm, plus: 100ms}\n    measure:\n      - \
                       loss: {stream: victim, expect: none}\n      - reboot.cause: {}\n  set:\n    why: \"a test\"\n    source: [\"a \
                       test\"]\n    dut: {pfcwd: {detection_time: 400ms}}\n    trials: 1\n    steps: &cold\n      - {at: 0ms, start: \
                       victim, for: {of: reboot.cold}}\n      - {at: 20ms, reboot: cold}\n    length: {of: reboot.cold, plus: 100ms}\n    \
                       measure: &measures\n      - reboot.outage: {stream: victim}\n      - reboot.cause: {}\n  cold:\n    why: \"a \
                       test\"\n    source: [\"a test\"]\n    trials: 1\n    steps: *cold\n    length: {of: reboot.cold, plus: 100ms}\n    \
                       measure: *measures\n";

#[test]
fn a_switch_behind_ssh_is_rebooted_and_what_was_set_does_not_outlive_that_unsaid() {
    if std::env::var_os("RIG_WHOLE_SONIC").is_none_or(|all| all != "1") {
        eprintln!("skipped: three reboots, for RIG_WHOLE_SONIC=1 alone (cargo xtask nightly)");
        return;
    }
    let Some(desk) = desk() else { return };
    let desk = desk.path();
    write(desk, "reboots.yaml", REBOOTS);
    fs::create_dir(desk.join("tmp")).expect("a folder");
    let mut lab = Lab::start(desk, "");
    let before = lab.config();
    lab.described();
    let leaf = fs::read_to_string(desk.join("leaf.yaml")).expect("a profile");
    let says = "  reboot: {warm: 3s, cold: 3s, cold_outage: 2s}\n";
    write(desk, "leaf.yaml", &leaf.replacen("  pfcwd:", &format!("{says}  pfcwd:"), 1));
    let line = "run reboots.yaml --lab lab.yaml --seed 7 --overwrite --out out";
    let mut came = 0;
    let output = std::thread::scope(|scope| {
        let (desk, near) = (lab.desk, &lab.near);
        let run = scope.spawn(move || ran(desk, near, env!("CARGO_BIN_EXE_rigctl"), &words(line)));
        while !run.is_finished() {
            let marks = || fs::read_to_string(desk.join("rebooted")).unwrap_or_default();
            if !soon(&mut || run.is_finished() || marks().lines().count() > came) {
                continue;
            }
            if marks().lines().count() > came {
                came += 1;
                let pid = lab.sshd.0.id();
                for pid in core::iter::once(pid.cast_signed()).chain(started(pid)) {
                    let _gone = kill(Pid::from_raw(pid), Signal::SIGKILL);
                }
                lab.sshd = daemon(near, desk);
            }
        }
        run.join().expect("no panic")
    });
    let results = lab.results();
    // A trial that the machine has stalled is done again.
    assert!(came >= 3, "{came}: {output:?}");
    for id in ["reboots::warm", "reboots::cold"] {
        let (word, reason) = verdict(&results, id);
        let stalled = word == "inconclusive" && super::STALLS.contains(&reason);
        assert!(word == "pass" || stalled, "{id}: {word} {reason}\n{output:?}");
    }
    // What was set is gone with a cold one, and who judges the rest by it would accuse the switch.
    let lost = ("inconclusive", "not-steered");
    assert_eq!(verdict(&results, "reboots::set"), lost, "{output:?}");
    lab.is_up();
    assert_eq!(lab.config(), before, "{output:?}");
}

#[test]
fn what_a_front_door_refuses_is_tried_there_and_a_switch_that_takes_it_is_red() {
    if std::env::var_os("RIG_WHOLE_SONIC").is_none_or(|all| all != "1") {
        eprintln!(
            "skipped: five runs of 12 s to a minute, for RIG_WHOLE_SONIC=1 alone (cargo xtask nightly)"
        );
        return;
    }
    let Some(desk) = desk() else { return };
    let desk = desk.path();
    fs::create_dir(desk.join("tmp")).expect("a folder");
    let lab = Lab::start(desk, "");
    let before = lab.config();
    lab.described();
    let flags = "--lab lab.yaml --seed 7 --overwrite --out out";
    let leaf = fs::read_to_string(desk.join("leaf.yaml")).expect("a profile");
    // No database says it: who tries another way says so.
    let usual = "# config_path: yang";
    assert!(leaf.contains(usual), "{leaf}");
    for (case, fault, wanted) in FRONT_DOORS {
        let way = if case.starts_with("typed") { "cli" } else { "yang" };
        write(desk, "leaf.yaml", &leaf.replace(usual, &format!("config_path: {way}")));
        write(desk, "faults", fault);
        let output = lab.rigctl(&format!("run {CATALOGUE} --only pfcwd::{case} {flags}"));
        let (results, id) = (lab.results(), format!("pfcwd::{case}"));
        let (word, _) = verdict(&results, &id);
        assert_eq!(word, wanted, "{case} {fault}: {output:?}");
        assert_eq!(lab.config(), before, "{output:?}");
    }
}

#[test]
fn a_switch_that_forwards_no_socket_is_steered_by_its_own_commands_and_tells_no_events() {
    let Some(desk) = desk() else { return };
    let desk = desk.path();
    write(desk, "one.yaml", SUITE);
    fs::create_dir(desk.join("tmp")).expect("a folder");
    let lab = Lab::start(desk, "AllowStreamLocalForwarding no\nAllowTcpForwarding no\n");
    let before = lab.config();
    let at = lab.described();
    let line = "run one.yaml --lab lab.yaml --seed 7 --overwrite --out out";
    let output = lab.rigctl(line);
    let results = lab.results();
    // Nothing on the wire tells of `alert`, and nobody can listen.
    assert_eq!(verdict(&results, "one::told").0, "inconclusive", "{output:?}");
    let (word, reason) = verdict(&results, "one::one");
    let stalled = word == "inconclusive" && super::STALLS.contains(&reason);
    assert!(word == "pass" || stalled, "{word} {reason}\n{output:?}");
    assert_eq!(lab.config(), before, "{output:?}");
    // Where the switch has no such command either, both ways are told.
    fs::remove_file(desk.join("switch/sonic-db-cli")).expect("it is there");
    let neither = lab.rigctl(&format!("profile from-dut --redis {at}"));
    let said = String::from_utf8_lossy(&neither.stderr).into_owned();
    let both = "the connection is closed, and by sonic-db-cli: there is no sonic-db-cli";
    assert!(!neither.status.success() && said.contains(both), "{said}");
}
