//! A run whose device is the NIC of a server: `/sys` there is a folder, `ssh` leads into a network namespace at the other end of a cable, and a
//! program of a few lines stands for perftest and the NIC. Root and Linux only.

#[path = "server/between.rs"]
mod between;
#[path = "common/bounded.rs"]
mod bounded;
#[path = "server/killed.rs"]
mod killed;
#[path = "server/over_v6.rs"]
mod over_v6;
#[path = "common/recorded.rs"]
mod recorded;

use bounded::Bounded;
use core::time::Duration;
use recorded::{MLX5, program, spread, wait_for};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

const PERFTEST: &str = include_str!("server/perftest.py");
const RECOVERY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testcases/recovery.yaml");
const DUTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/duts");

/// The cable, with the server's end in a namespace of its own, and the rig's here, where `/sys` is the server's, too.
const INSIDE: &str = r#"
desk=$1
shift
ip link add rig0 type veth peer name nic0 || exit 9
unshare --net sleep 600 &
there=$!
trap 'kill $there' EXIT
until [ "$(readlink /proc/$there/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done
ip link set nic0 netns $there
ip link set lo up && ip addr add 192.168.7.1/24 dev rig0 && ip link set rig0 up
ip addr add fd00:7::1/64 dev rig0 nodad
nsenter -t $there -n sh -c 'ip addr add 192.168.7.2/24 dev nic0 && ip addr add fd00:7::2/64 dev nic0 nodad && ip link set nic0 up'
# Of another process's namespace a rig that has given up its rights may not ask.
touch "$desk/net" && mount --bind /proc/$there/ns/net "$desk/net"
mount --bind "$desk/host/sys" /sys
"$@" &
echo $! >"$desk/rig"
wait $!
"#;
const SSH: &str = r#"#!/bin/sh
for last; do :; done
cd DESK/host && PATH="$PWD/bin:$PATH" && export PATH || exit
exec $last
"#;
/// At the other end of the cable, which whoever restores may not enter, and need not.
const THERE: &str = "#!/bin/sh\nPROGRAM=${0##*/} exec nsenter --net=DESK/net python3 DESK/host/bin/perftest.py \"$@\"\n";

/// What is declared of it: as its kernel has it, PFC for class 3.
const NIC: &str = "name: nic\nabout: a NIC of a server\nextends: soft-roce\ndeclared: {nic: {pfc: {priorities: [3]}}}\n";

/// A flow of a NIC that sends CNPs less often than it does as it is.
const SET: &str = r#"
about: "a setting that is a knob"
device: nic
cases:
  rare-cnps:
    why: "what a case asks of a server's NIC is set there"
    source: ["a test"]
    dut: {nic: {np: {interval: 50us}, rc: {timeout: 0}}}
    between: {delay: 500ns}
    flows: {sender: {nic: p1, to: p2, class: 3, verb: write, message: 4KiB, mtu: 1024B, count: 12}}
    steps: [{at: 0us, start: sender}]
    length: 500us
    trials: 1
    measure: [{rc.sender: {flow: sender}}, {rc.completion: {flow: sender}}]
  usual:
    why: "the next case, which asks for nothing"
    source: ["a test"]
    dut: {nic: {rc: {timeout: 0}}}
    between: {delay: 500ns}
    flows: {sender: {nic: p1, to: p2, class: 3, verb: write, message: 4KiB, mtu: 1024B, count: 12}}
    steps: [{at: 0us, start: sender}]
    length: 500us
    trials: 1
    measure: [{rc.sender: {flow: sender}}, {rc.completion: {flow: sender}}]
  shared:
    why: "how classes share is set by DCB netlink"
    source: ["a test"]
    dut: {nic: {ets: {priorities: [1, 0, 0, 0, 1, 1, 2, 0], classes: [{percent: 30}, {percent: 70}, strict], limits: {2: 2Gbps-L2}}, pfc: {priorities: [3, 4]}, rc: {timeout: 0}}}
    between: {delay: 500ns}
    flows: {sender: {nic: p1, to: p2, class: 3, verb: write, message: 4KiB, mtu: 1024B, count: 12}}
    steps: [{at: 0us, start: sender}]
    length: 500us
    trials: 1
    measure: [{rc.sender: {flow: sender}}, {rc.completion: {flow: sender}}]
  another-scale:
    why: "a setting that no knob is for is not set"
    source: ["a test"]
    dut: {nic: {np: {enable: true}}}
    between: {delay: 500ns}
    flows: {sender: {nic: p1, to: p2, class: 3, verb: write, message: 4KiB, mtu: 1024B, count: 12}}
    steps: [{at: 0us, start: sender}]
    length: 500us
    trials: 1
    measure: [{rc.sender: {flow: sender}}]
"#;

/// Whether namespaces can be made, and there is a Python.
#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn can() -> bool {
    let is_root = nix::unistd::geteuid().is_root();
    let python = Command::new("python3").arg("--version").stdout(Stdio::null()).status();
    let can = is_root && python.is_ok_and(|status| status.success());
    let required = std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1");
    assert!(can || !required, "it takes root and python3, and RIG_REQUIRE_ALL=1");
    if !can {
        eprintln!("skipped: root alone has another /sys, and python3 stands for the NIC");
    }
    can
}

/// The server, spread into files, and a lab with it.
fn server(desk: &Path) {
    let folder = desk.join("host");
    spread(desk, MLX5);
    let at_desk = |text: &str| text.replace("DESK", &desk.display().to_string());
    program(&folder.join("bin/perftest.py"), PERFTEST);
    for name in ["ib_write_bw", "ib_send_bw"] {
        program(&folder.join("bin").join(name), &at_desk(THERE));
    }
    program(&desk.join("bin/ssh"), &at_desk(SSH));
    fs::write(desk.join("set.yaml"), SET).expect("writable");
    let lab = format!(
        "about: a NIC of a server\ntransport: server\ncable: 1m\n\
         wire: {{interface: rig0, address: 192.168.7.1, ssh: server7, device: mlx5_0, gid: 3, bound: 20ms, trial: 10s, budget: 600s}}\n\
         duts: [{{pair: [nic.yaml, {DUTS}/rig-peer.yaml]}}]\n"
    );
    fs::write(desk.join("lab.yaml"), lab).expect("writable");
    fs::write(desk.join("nic.yaml"), NIC).expect("writable");
}

fn command(desk: &Path, line: &str) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("unshare");
    command.args(["--mount", "--net", "sh", "-c", INSIDE, "sh"]).arg(desk);
    command.arg(env!("CARGO_BIN_EXE_rigctl")).args(line.split_whitespace());
    command.env("RIGCTL_STATE", desk.join("state"));
    command.env("PATH", format!("{}:{path}", desk.join("bin").display()));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// How long a rig may take for a few cases, on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(180);

/// The end of such a command.
fn done(desk: &Path, line: &str) -> Output {
    Bounded::start(&mut command(desk, line)).end(PATIENCE, Child::wait_with_output)
}

/// What a run of these cases came to: of each its verdict, and all that the report says of it.
fn run(desk: &Path, suite: &str, only: &str, out: &str) -> Vec<(String, String)> {
    verdicts((desk, done), suite, only, out)
}

fn verdicts(
    (desk, done): (&Path, fn(&Path, &str) -> Output),
    suite: &str,
    only: &str,
    out: &str,
) -> Vec<(String, String)> {
    let (lab, to) = (desk.join("lab.yaml"), desk.join(out));
    let line = format!(
        "run {suite} --only {only} --seed 1 --lab {} --out {}",
        lab.display(),
        to.display()
    );
    let done = done(desk, &line);
    let said = [&done.stdout, &done.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat();
    let results = fs::read(to.join("results.json")).unwrap_or_else(|_| panic!("{said}"));
    let results: Value = serde_json::from_slice(&results).expect("JSON");
    let all = results["cases"].as_array().unwrap_or_else(|| panic!("{said}"));
    let told = |case: &Value| {
        (case["verdict"].as_str().unwrap_or_default().to_owned(), format!("{case}\n{said}"))
    };
    all.iter().map(told).collect()
}

/// What DCB of the NIC is set to, as its kernel would tell.
fn dcb(desk: &Path) -> String {
    fs::read_to_string(desk.join("host/dcb/ens1f0np0/ieee")).expect("a file").trim().to_owned()
}

#[test]
fn how_classes_share_is_set_for_a_case_and_put_back() {
    if !can() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let desk = desk.path();
    server(desk);
    let suite = desk.join("set.yaml").display().to_string();
    let told = run(desk, &suite, "set::shared", "shared");
    assert_eq!(told[0].0, "pass", "{}", told[0].1);
    let seen = fs::read(desk.join("host/seen-dcb")).expect("it was set while it ran");
    let seen: Value = serde_json::from_slice(&seen).expect("JSON");
    let is = |part: &str| seen[part].to_string();
    assert_eq!(is("prio_tc"), "[1,0,0,0,1,1,2,0]");
    assert_eq!(
        (is("tc_tsa"), is("tc_bw")),
        ("[2,2,0,0,0,0,0,0]".into(), "[30,70,0,0,0,0,0,0]".into())
    );
    assert_eq!(is("tc_maxrate"), "[0,0,2000000,0,0,0,0,0]");
    assert_eq!(is("prio_pfc"), "[0,0,0,1,1,0,0,0]");
    let after = fs::read(desk.join("host/dcb/ens1f0np0/shown")).expect("put back, too");
    let after: Value = serde_json::from_slice(&after).expect("JSON");
    assert_eq!(after["prio_tc"].to_string(), "[1,0,2,3,4,5,6,7]");
    assert_eq!(after["tc_tsa"].to_string(), "[255,255,255,255,255,255,255,255]");
    assert_eq!(after["tc_maxrate"].to_string(), "[0,0,0,0,0,0,0,0]");
    assert_eq!(after["prio_pfc"].to_string(), "[0,0,0,1,0,0,0,0]");

    // Set otherwise than the profile has it, by another hand: nothing is measured.
    let shared = NIC.replace(
        "nic: {",
        "nic: {ets: {priorities: [0, 0, 0, 0, 0, 0, 0, 0], classes: [{percent: 100}]}, ",
    );
    fs::write(desk.join("nic.yaml"), shared).expect("writable");
    let before = dcb(desk);
    let told = run(desk, RECOVERY, "recovery::nothing-lost", "other");
    assert_eq!(told[0].0, "inconclusive", "{}", told[0].1);
    let why = "ets is 10234567:vendor,vendor,vendor,vendor,vendor,vendor,vendor,vendor (dcb ets ens1f0np0)";
    assert!(told[0].1.contains(why), "{}", told[0].1);
    assert_eq!(dcb(desk), before);
    // The driver rounds: the case is not measured on another limit than it asks for.
    fs::write(desk.join("nic.yaml"), NIC).expect("writable");
    fs::write(desk.join("set.yaml"), SET.replace("2: 2Gbps-L2", "2: 2050Mbps-L2"))
        .expect("writable");
    let told = run(desk, &suite, "set::shared", "rounded");
    assert_eq!(told[0].0, "inconclusive", "{}", told[0].1);
    assert!(told[0].1.contains("reads back as 2:2000000"), "{}", told[0].1);
}

const ETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testcases/host-ets.yaml");

/// Flows of several classes, side by side: what each gets of the port is what its class was set to, for the time of the case.
#[test]
fn flows_share_the_port_of_a_server_as_its_classes_are_set_and_a_nic_that_mixes_them_up_is_seen() {
    if !can() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let desk = desk.path();
    server(desk);
    of_ten_megabits(desk);

    let cases = "host-ets::{hlk-minimum-classes,priorities-of-one-class}";
    let told = run(desk, ETS, cases, "right");
    assert_eq!(told.len(), 2);
    for (verdict, report) in told {
        assert_eq!(verdict, "pass", "{report}");
    }
    let told = run(desk, ETS, "host-ets::{hlk-single-class,class-that-comes-later}", "skipped");
    let why = ["class 1 is limited to 2Gbps-L2", "more happens in it than that flows start"];
    for ((verdict, report), why) in told.into_iter().zip(why) {
        assert_eq!(verdict, "skipped", "{report}");
        assert!(report.contains(why), "{report}");
    }
    for (fault, verdict, why) in [
        ("mixed", "fail", "as if classes 0 and 1 had each other's bandwidth"),
        ("slow", "inconclusive", "the flows did not fill the port: "),
        ("flat", "inconclusive", " have DSCP 0, and "),
    ] {
        fs::write(desk.join("host").join(fault), "").expect("writable");
        let told = run(desk, ETS, "host-ets::hlk-minimum-classes", fault);
        fs::remove_file(desk.join("host").join(fault)).expect("it was there");
        assert_eq!(told[0].0, verdict, "{fault}: {}", told[0].1);
        assert!(told[0].1.contains(why), "{fault}: {}", told[0].1);
    }
}

/// A port that a program fills, and which may have to wait for a processor.
fn of_ten_megabits(desk: &Path) {
    let ets = "declared: {ports: [{count: 1, speed: 10Mbps}], nic: {ets: {precision: 5%}, pfc: {priorities: [3]}}}";
    let nic = NIC.replace("declared: {nic: {pfc: {priorities: [3]}}}", ets);
    fs::write(desk.join("nic.yaml"), nic).expect("writable");
    let peer = fs::read_to_string(Path::new(DUTS).join("rig-peer.yaml")).expect("a profile");
    fs::write(desk.join("rig-peer.yaml"), peer.replace("1Gbps", "10Mbps")).expect("writable");
    let lab = fs::read_to_string(desk.join("lab.yaml")).expect("a lab");
    let lab = lab
        .replace("trial: 10s", "trial: 2s")
        .replace("bound: 20ms", "bound: 50ms")
        .replace(&format!("{DUTS}/"), "");
    fs::write(desk.join("lab.yaml"), lab).expect("writable");
}

const CNP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testcases/cnp.yaml");

/// Marks that no stamp can take for one another.
const MARKS: &str = r#"
about: "streams to a NIC"
device: nic
cases:
  marks:
    why: "each mark is answered"
    source: ["a test"]
    dut: {nic: {np: {enable: true, interval: 0us}}}
    streams:
      marked: {from: p1, class: 3, kind: rocev2-write, size: 1024B, every: 80ms, ecn: ce}
      other: {from: p1, class: 3, kind: rocev2-write, size: 300B, psn: 16777214, rate: 28.4Kbps-L1, ecn: ce}
      sent: {from: p1, class: 3, kind: rocev2-send, size: 500B, every: 110ms, ecn: ce}
    steps: [{at: 0us, start: [marked, other, sent], for: 800ms}]
    length: 1100ms
    trials: 1
    measure: [{cnp.answers: {port: p1}}, {cnp.format: {port: p1}}, {rc.receiver: {stream: other}}, {nic.counters: {port: p1}}]
"#;

#[test]
fn streams_go_to_the_nic_of_a_server_and_what_it_leaves_out_or_refuses_is_told() {
    if !can() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let desk = desk.path();
    notifier(desk);
    let suite = desk.join("marks.yaml").display().to_string();
    let unmarked = run(desk, CNP, "cnp::nothing-without-a-mark", "streams");
    let told = [run(desk, &suite, "*", "marks"), unmarked].concat();
    assert_eq!(told.len(), 2);
    for (verdict, report) in told {
        assert_eq!(verdict, "pass", "{report}");
    }
    // What comes from an address that the rig has not is not sent, and says why.
    let told = run(desk, CNP, "cnp::interval-of-its-own-for-each-scope", "more");
    assert_eq!(told[0].0, "skipped", "{}", told[0].1);
    assert!(told[0].1.contains("third comes from another address"), "{}", told[0].1);

    for (fault, verdict, why) in [
        ("deaf", "fail", "a mark without a CNP"),
        // Streams go side by side: whichever is told first.
        ("silent", "inconclusive", "the NIC acknowledges nothing of "),
        ("refuse", "inconclusive", ": RemoteAccessError"),
        ("full", "inconclusive", "the NIC has nothing posted for packet 0 of sent: an RNR NAK"),
        ("gone", "broken", "perftest's server at port 18515 ended before its stream"),
        ("unable", "broken", "; there: Couldn't open the device"),
    ] {
        let file = desk.join("host").join(fault);
        fs::write(&file, "").expect("writable");
        let told = run(desk, &suite, "*", fault);
        fs::remove_file(&file).expect("it was there");
        assert_eq!(told[0].0, verdict, "{fault}: {}", told[0].1);
        assert!(told[0].1.contains(why), "{fault}: {}", told[0].1);
    }
}

#[test]
fn doctor_greets_a_server_before_any_run_and_says_why_it_does_not_answer() {
    if !can() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let desk = desk.path();
    notifier(desk);
    let line = format!("doctor --lab {}", desk.join("lab.yaml").display());
    let told = || {
        let done = done(desk, &line);
        let said =
            [&done.stdout, &done.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat();
        (done.status.success(), said)
    };
    let (_, said) = told();
    let is = |said: &str, words: &[&str]| {
        let line = said
            .lines()
            .find(|line| line.split_whitespace().take(2).eq(words[..2].iter().copied()));
        let line = line.unwrap_or_else(|| panic!("{said}"));
        assert!(words[2..].iter().all(|word| line.contains(word)), "{said}");
    };
    is(&said, &["ok", "NIC", "mlx5_0, GID 3 is 192.168.7.2"]);
    is(&said, &["ok", "perftest", "6.06 answers, packets of 1024 B"]);
    fs::write(desk.join("host/unable"), "").expect("writable");
    let (ready, said) = told();
    is(&said, &["NEED", "perftest", "Connection refused", "; there: Couldn't open the device"]);
    assert!(!ready, "{said}");
}

/// A server whose NIC notifies, and a suite for it.
fn notifier(desk: &Path) {
    server(desk);
    let gid = "0000:0000:0000:0000:0000:ffff:c0a8:0702\n";
    fs::write(desk.join("host/sys/class/infiniband/mlx5_0/ports/1/gids/3"), gid).expect("writable");
    let np = "np: {enable: true, interval: 4us, latency: 0s..10ms, dscp: 48, ecn: ect0}";
    let notifies = NIC.replace("nic: {", &format!("nic: {{{np}, "));
    fs::write(desk.join("nic.yaml"), notifies).expect("writable");
    fs::write(desk.join("marks.yaml"), MARKS).expect("writable");
}

const KNOB: &str = "host/sys/class/net/ens1f0np0/ecn/roce_np/min_time_between_cnps";

#[test]
fn cases_run_on_the_nic_of_a_server_and_a_counter_that_stands_still_is_seen() {
    if !can() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let desk = desk.path();
    server(desk);
    let cases = "recovery::{nothing-lost,first-and-middle-and-last-of-a-message}";
    for (verdict, report) in run(desk, RECOVERY, cases, "right") {
        assert_eq!(verdict, "pass", "{report}");
        assert!(report.contains("nic.counters"), "{report}");
    }
    fs::write(desk.join("host/still"), "").expect("writable");
    let told = run(desk, RECOVERY, "recovery::first-and-middle-and-last-of-a-message", "still");
    let (verdict, report) = &told[0];
    assert_eq!(verdict, "fail", "{report}");
    assert!(report.contains("packet_seq_err (hw_counters/packet_seq_err) grown by 3"), "{report}");
}

#[test]
fn what_a_case_asks_for_is_set_for_its_time_and_put_back_also_after_a_kill() {
    if !can() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let desk = desk.path();
    server(desk);
    let is = || fs::read_to_string(desk.join(KNOB)).expect("a file").trim().to_owned();
    let before = is();
    assert_ne!(before, "50");
    let suite = desk.join("set.yaml");
    let suite = suite.display().to_string();
    let told = run(desk, &suite, "set::rare-cnps", "set");
    assert_eq!(told[0].0, "pass", "{}", told[0].1);
    assert_eq!(fs::read_to_string(desk.join("host/seen")).expect("it ran").trim(), "50");
    assert_eq!(is(), before, "put back by the run");
    let told = run(desk, &suite, "set::another-scale", "skipped");
    assert_eq!(told[0].0, "skipped", "{}", told[0].1);
    assert!(told[0].1.contains("nic.np.enable"), "{}", told[0].1);

    // The line is lost while it is set: before the next case it is put back.
    fs::write(desk.join("host/lose"), "").expect("writable");
    let told = run(desk, &suite, "set::{rare-cnps,usual}", "lost");
    assert_ne!(told[0].0, "pass", "{}", told[0].1);
    assert_eq!(told[1].0, "pass", "{}", told[1].1);
    let seen = fs::read_to_string(desk.join("host/seen")).expect("it ran");
    assert_eq!(seen.split_whitespace().last(), Some(before.as_str()), "{seen}");
    assert_eq!(is(), before);

    // One that is set otherwise than it is declared is not measured.
    let other = NIC.replace("nic: {", "nic: {np: {enable: true, interval: 16us}, ");
    fs::write(desk.join("nic.yaml"), other).expect("writable");
    let told = run(desk, RECOVERY, "recovery::nothing-lost", "other");
    let why = format!("min_time_between_cnps is {before} (");
    assert_eq!(told[0].0, "inconclusive", "{}", told[0].1);
    assert!(told[0].1.contains(&why) && told[0].1.contains("the profile says 16"), "{}", told[0].1);
    fs::write(desk.join("nic.yaml"), NIC).expect("writable");

    // Killed while its program runs there.
    fs::write(desk.join("host/hang"), "").expect("writable");
    let line = format!(
        "run {suite} --only set::rare-cnps --seed 1 --lab {} --out {}",
        desk.join("lab.yaml").display(),
        desk.join("killed").display()
    );
    let rig = Bounded::start(&mut command(desk, &line));
    wait_for(&desk.join("host/way"));
    assert_eq!(is(), "50");
    let own = fs::read_to_string(desk.join("rig")).expect("its number");
    let killed = Command::new("kill").args(["-9", own.trim()]).status().expect("there is kill");
    assert!(killed.success());
    let _ended = rig.end(PATIENCE, |mut rig| rig.wait());
    fs::remove_file(desk.join("host/hang")).expect("it was there");
    let done = done(desk, "restore");
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(
        done.status.success() && said.contains(&format!("which was {before}: restored")),
        "{said}"
    );
    assert_eq!(is(), before);
}
