//! The wire executor over virtual interfaces, against the emulated device in a process of its own: root and Linux only.
//!
//! A machine that looks away for long makes trials void, and a case inconclusive with that reason: nothing here fails for
//! it. A healthy device that is called faulty does.

#![expect(clippy::disallowed_methods, reason = "what is waited for here is another process")]

mod common;
#[path = "common/packed.rs"]
mod packed;
#[path = "wire/pair.rs"]
mod pair;
#[path = "common/processes.rs"]
mod processes;

use common::root;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use pcap_file::pcapng::{Block, PcapNgReader};
use processes::children;
use rigctl::runner::pool::{News, in_order};
use rigctl::stop::Stop;
use serde_json::Value;
use std::io::Cursor;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

const SWITCHES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/veth.yaml");
const NICS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/veth-nics.yaml");
const SYSTEM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/veth-system.yaml");
const ROUTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/veth-router.yaml");
const RDMA_ROUTER: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/veth-rdma-router.yaml");
const BLUE_RDMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/veth-blue-rdma.yaml");
/// Reasons that are the machine's and not the device's.
const STALLS: [&str; 3] = ["late-send", "dut-late", "storm-lapse"];

fn command(lab: &str, out: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rigctl"));
    command.args(["run", "--lab", lab, "--seed", "7", "--out"]).arg(out);
    command.args(arguments.split_whitespace()).stdin(Stdio::null());
    command
}

/// What ran, and every case's verdict with its reason.
fn run(lab: &str, arguments: &str) -> (Output, Value) {
    let out = tempfile::tempdir().expect("a temporary folder");
    let output = command(lab, out.path(), arguments).output().expect("rigctl starts");
    let results = std::fs::read_to_string(out.path().join("results.json")).unwrap_or_else(|why| {
        panic!("no results: {why}\n{}", String::from_utf8_lossy(&output.stderr))
    });
    (output, serde_json::from_str(&results).expect("JSON"))
}

/// The verdict of each case; one that is inconclusive for a stall of the machine is left out.
fn verdicts(results: &Value) -> Vec<(String, String)> {
    let cases = results["cases"].as_array().expect("cases");
    let verdict = |case: &Value| {
        let text = |key: &str| case[key].as_str().unwrap_or_default().to_owned();
        let stalled = text("verdict") == "inconclusive" && STALLS.contains(&&*text("reason"));
        (!stalled).then(|| (text("id"), text("verdict")))
    };
    cases.iter().filter_map(verdict).collect()
}

/// The cases that a healthy device is put through in real time: `lab`, and what selects them.
fn passes(lab: &str, only: &str) {
    let (output, results) = run(lab, &format!("--only {only}"));
    assert_eq!(results["executor"], "wire");
    let verdicts = verdicts(&results);
    let text = String::from_utf8_lossy(&output.stdout);
    let well = |verdict: &str| ["pass", "skipped"].contains(&verdict);
    assert!(verdicts.iter().all(|(_, verdict)| well(verdict)), "{verdicts:?}\n{text}");
    let ran: u64 = results["cases"]
        .as_array()
        .expect("cases")
        .iter()
        .filter_map(|case| case["trials"]["run"].as_u64())
        .sum();
    assert!(ran > 0, "no trial ran: {text}");
}

#[test]
fn a_healthy_device_passes_in_real_time_on_the_plan_that_it_passes_in_virtual_time() {
    if root() {
        passes(SWITCHES, "pfcwd::action-*-broadcom");
    }
}

#[test]
fn healthy_nics_pass_in_real_time_what_any_lab_can_decide() {
    if root() {
        passes(NICS, "cnp::*");
        passes(NICS, "dcqcn::*");
        passes(NICS, "dcqcn::least-rate-is-kept --dut behind-a-switch-nic");
    }
}

#[test]
fn a_software_rdma_router_keeps_caps_in_real_time() {
    if root() {
        passes(RDMA_ROUTER, "rdma-router::*");
        let wrong = ("deviation=bucket_never_full", "rdma-router::caps-after-a-rest");
        assert_eq!(missed(RDMA_ROUTER, wrong.0, wrong.1), None);
    }
}

#[test]
fn nics_of_blue_rdma_pass_in_real_time_what_headers_and_counters_tell() {
    if root() {
        passes(BLUE_RDMA, "blue-rdma::*");
        let wrong = [
            ("deviation=answer_where_it_was_read", "blue-rdma::reads-say-where-they-go"),
            ("deviation=immediate_swapped", "blue-rdma::immediate-data-as-it-leaves"),
            ("deviation=descriptor_a_packet", "blue-rdma::descriptors-of-chunks"),
        ];
        for (wrong, case) in wrong {
            assert_eq!(missed(BLUE_RDMA, wrong, case), None);
        }
    }
}

#[test]
fn a_system_of_switches_passes_in_real_time() {
    if root() {
        passes(SYSTEM, "system::*");
        passes(ROUTER, "system::latency-adds-up-over-a-router");
    }
}

/// Wrong switches, and the case that notices each.
const WRONG: [(&str, &str); 9] = [
    ("pfcwd.action=alert", "action-drop-broadcom"),
    ("pfcwd.drop_by=zero-buffer", "drop-and-the-way-back-broadcom"),
    ("deviation=forward_drops", "action-forward-broadcom"),
    ("deviation=alert_acts", "action-alert-broadcom"),
    ("deviation=drop_spreads_to_queue", "isolation-of-queue-and-port-broadcom"),
    ("deviation=xon_counts_as_storm", "xon-frames-are-no-storm-broadcom"),
    ("deviation=poll_stops_after_storm", "second-storm-broadcom"),
    ("deviation=counters_off", "storm-counters-broadcom"),
    ("deviation=malformed_pfc", "pfc-frame-format-broadcom"),
];

/// Wrong devices of a system, and the case that notices each.
const WRONG_IN_A_SYSTEM: [(&str, &str, &str); 2] = [
    (SYSTEM, "far/deviation=class_dropped:3", "system::pfc-spreads-hop-by-hop"),
    (ROUTER, "router/forwarding_delay=15ms", "system::latency-adds-up-over-a-router"),
];

/// Wrong NICs, and the case that notices each.
const WRONG_NICS: [(&str, &str); 12] = [
    ("deviation=cnp_per_packet", "cnp::interval-of-many-milliseconds"),
    ("deviation=cnp_on_cnp", "cnp::marked-cnp-earns-none"),
    ("deviation=cnp_wrong_qp", "cnp::each-mark-answered"),
    ("deviation=cnp_wrong_address", "cnp::interval-of-a-scope-of-many-milliseconds"),
    ("deviation=cnp_reserved_set", "cnp::form-of-a-cnp"),
    ("deviation=cnp_without_becn", "cnp::form-of-a-cnp"),
    ("deviation=cnp_not_counted", "cnp::each-mark-answered"),
    ("nic.np.dscp=0", "cnp::dscp-of-a-cnp"),
    ("nic.np.scope=port", "cnp::interval-of-a-scope-of-many-milliseconds"),
    ("nic.rp.min_rate=x2", "dcqcn::least-rate-is-kept --dut behind-a-switch-nic"),
    ("nic.rp.timer=x2", "dcqcn::increases-every-100ms"),
    ("deviation=hyper_before_additive", "dcqcn::stages-of-100ms"),
];

/// Side by side: all that such a run does is wait for its own time to go by.
const SIDE_BY_SIDE: usize = 4;

/// What the case makes of a device of the lab that is wrong, unless it notices.
fn missed(lab: &str, wrong: &str, case: &str) -> Option<String> {
    let (output, results) = run(lab, &format!("--only {case} --mutate {wrong}"));
    let verdicts = verdicts(&results);
    let text = String::from_utf8_lossy(&output.stdout);
    // Without one trial that counts there is nothing to notice it by; then the case says so.
    let noticed = verdicts.iter().all(|(_, verdict)| verdict == "fail");
    (!noticed).then(|| format!("{wrong}: {verdicts:?}\n{text}"))
}

#[test]
fn devices_that_depart_from_what_they_declare_fail_in_real_time() {
    if !root() {
        return;
    }
    let switches = WRONG.map(|(wrong, case)| (SWITCHES, wrong, format!("pfcwd::{case}")));
    let nics = WRONG_NICS.map(|(wrong, case)| (NICS, wrong, case.to_owned()));
    let systems = WRONG_IN_A_SYSTEM.map(|(lab, wrong, case)| (lab, wrong, case.to_owned()));
    let all: Vec<_> = switches.into_iter().chain(nics).chain(systems).collect();
    none_amiss(all.len(), |index| missed(all[index].0, all[index].1, &all[index].2));
}

/// Asserts that of so many runs, some side by side, each is tried and none has anything amiss.
fn none_amiss(runs: usize, amiss: impl Fn(usize) -> Option<String> + Sync) {
    let mut tried = 0;
    let mut faults = Vec::new();
    in_order(runs, SIDE_BY_SIDE, &Stop::default(), amiss, |_, news| {
        if let News::Done(amiss) = news {
            tried += 1;
            faults.extend(amiss);
        }
    });
    assert_eq!(tried, runs);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_rig_that_is_killed_leaves_no_process_behind() {
    if root() {
        killed(false);
    }
}

#[test]
fn a_device_that_is_stopped_while_the_rig_is_killed_ends_with_it() {
    if root() {
        killed(true);
    }
}

#[test]
fn a_rig_whose_device_hangs_ends_at_the_first_request() {
    // As it starts, as it is booted or so, and in the middle of a trial.
    for after_ms in [0, 30, 100, 1_000] {
        if root() {
            hangs(Duration::from_millis(after_ms));
        }
    }
}

/// A run is asked to end whose device was stopped so long after it had begun to run its own program.
fn hangs(after: Duration) {
    let out = tempfile::tempdir().expect("a temporary folder");
    let mut rig = command(SWITCHES, out.path(), "--only pfcwd::detection-latency-broadcom")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("rigctl starts");
    let pid = |id: u32| Pid::from_raw(i32::try_from(id).expect("a process"));
    // Within 5 s; but not before it runs its own program: until then whoever started it waits for it, whatever signal comes.
    let runs = |&id: &u32| {
        let words = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        words.split(|&byte| byte == 0).any(|word| word == b"serve")
    };
    let mut served = Vec::new();
    for _ in 0..5_000 {
        served = children(rig.id());
        if !served.is_empty() && served.iter().all(runs) {
            break;
        }
        sleep(Duration::from_millis(1));
    }
    let all_run = !served.is_empty() && served.iter().all(runs);
    assert!(all_run, "no device was started within 5 s: {served:?}");
    sleep(after);
    assert!(served.iter().all(|&id| kill(pid(id), Signal::SIGSTOP).is_ok()), "{served:?}");
    sleep(Duration::from_millis(600));
    kill(pid(rig.id()), Signal::SIGINT).expect("it runs");
    let mut ended = None;
    // A device is waited for twenty seconds.
    for _ in 0..100 {
        ended = rig.try_wait().expect("ours");
        if ended.is_some() {
            break;
        }
        sleep(Duration::from_millis(50));
    }
    let _gone = (rig.kill(), rig.wait());
    assert_eq!(ended.and_then(|ended| ended.code()), Some(4), "{after:?}: {ended:?}, {served:?}");
    let results = std::fs::read_to_string(out.path().join("results.json"));
    assert!(
        results.is_ok_and(|text| text.contains("\"partial\": \"")),
        "it says that it is a part"
    );
}

/// Kills a run in the middle; its device, which may be stopped at that moment, must end.
fn killed(stopped: bool) {
    let out = tempfile::tempdir().expect("a temporary folder");
    let mut rig = command(SWITCHES, out.path(), "--only pfcwd::detection-latency-broadcom")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("rigctl starts");
    let mut served = Vec::new();
    for _ in 0..100 {
        served = children(rig.id());
        if !served.is_empty() {
            break;
        }
        sleep(Duration::from_millis(50));
    }
    assert!(!served.is_empty(), "no device was started within 5 s");
    sleep(Duration::from_millis(500));
    let all = |signal: Signal| {
        let pids = served.iter().map(|&pid| i32::try_from(pid).expect("a process"));
        pids.map(|pid| kill(Pid::from_raw(pid), signal)).collect::<Vec<_>>()
    };
    if stopped {
        assert!(all(Signal::SIGSTOP).iter().all(Result::is_ok), "{served:?}");
    }
    rig.kill().expect("it runs");
    rig.wait().expect("it ends");
    let alive = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    };
    for _ in 0..100 {
        if !served.iter().any(alive) {
            return;
        }
        sleep(Duration::from_millis(50));
    }
    // Whatever else is wrong, nothing is left of this test.
    let _ended = all(Signal::SIGKILL);
    panic!("{served:?} still run 5 s after the rig was killed");
}

/// One probe and one storm, once.
const SHORT: &str = "about: \"a suite of one case\"
device: switch
cases:
  one-storm:
    why: \"a test\"
    source: [\"a test\"]
    dut: {rule_family: broadcom, pfcwd: {detection_time: 200ms, restoration_time: 200ms, poll_interval: 100ms, action: drop}}
    streams:
      victim: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 254B, every: 2ms}
      load: {from: p2, to: p1, class: 4, kind: rocev2-write, size: 1024B, rate: 20Mbps-L2}
    storms: {storm: {from: p2, classes: [3]}}
    steps:
      - {at: 0ms, start: [victim, load]}
      - {at: 20ms, start: storm, for: 450ms}
    trials: 1
    measure:
      - pfcwd.detection: {storm: storm, stream: victim}
";

/// Every frame of a file: its port, its direction and its time in nanoseconds.
fn frames(file: &Path) -> Vec<(String, u32, u128)> {
    let mut reader = PcapNgReader::new(Cursor::new(packed::plain(file))).expect("a pcapng file");
    let (mut ports, mut all) = (Vec::new(), Vec::new());
    while let Some(block) = reader.next_block() {
        match block.expect("a whole block") {
            Block::InterfaceDescription(port) => {
                let name = port.options.iter().find_map(|option| match option {
                    InterfaceDescriptionOption::IfName(name) => Some(name.to_string()),
                    _ => None,
                });
                ports.push(name.expect("a name"));
            }
            Block::EnhancedPacket(frame) => {
                let direction = frame.options.iter().find_map(|option| match option {
                    EnhancedPacketOption::Flags(flags) => Some(flags & 3),
                    _ => None,
                });
                let port = ports[frame.interface_id as usize].clone();
                all.push((port, direction.expect("a direction"), frame.timestamp.as_nanos()));
            }
            _ => {}
        }
    }
    all.sort();
    all
}

#[test]
fn a_capture_to_disk_has_every_frame_that_the_observation_has() {
    if !root() {
        return;
    }
    let desk = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| desk.path().join(name);
    std::fs::write(at("short.yaml"), SHORT).expect("writable");
    let mut run = command(SWITCHES, &at("out"), "--evidence all");
    run.arg(at("short.yaml")).arg("--capture").arg(at("frames"));
    let output = run.output().expect("rigctl starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let results = std::fs::read_to_string(at("out/results.json")).expect("results");
    let results: Value = serde_json::from_str(&results).expect("JSON");
    let kept = results["cases"][0]["evidence"].as_array().expect("evidence");
    assert!(!kept.is_empty(), "{text}");
    let captured = |trial: u64| frames(&at(&format!("frames/short/one-storm/{trial:04}.pcapng")));
    // Frames of an earlier trial may still arrive in a later one: only the first is to be the same to the frame.
    let observed = frames(&at("out").join(kept[0]["path"].as_str().expect("a path")));
    assert_eq!(kept[0]["frames"].as_u64(), Some(observed.len() as u64));
    // Frames of the load are recorded now and then, and all of them are kept.
    assert!(observed.len() > 2000, "{}", observed.len());
    let mut first = captured(1);
    first.retain(|(port, ..)| ["p1", "p2"].contains(&port.as_str()));
    assert_eq!(first, observed);
    let trials = (1..).zip(kept).map(|(trial, _)| captured(trial).len()).sum::<usize>();
    let want = format!("Captured {trials} frames in {} files under ", kept.len());
    assert!(text.contains(&want), "{want}: {text}");
}

/// A probe behind a tag.
const TAGGED: &str = "about: \"a suite of one case\"
device: switch
cases:
  tagged:
    why: \"a test\"
    source: [\"a test\"]
    dut: {rule_family: broadcom}
    streams: {probe: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 254B, every: 2ms, vlan: {id: 100, pcp: 5}}}
    steps:
      - {at: 0ms, start: probe, for: 100ms}
    trials: 1
    measure:
      - loss: {stream: probe, expect: none}
";

#[test]
fn a_tag_passes_a_device_that_keeps_it_and_is_in_the_evidence() {
    if !root() {
        return;
    }
    let desk = tempfile::tempdir().expect("a temporary folder");
    let (suite, out) = (desk.path().join("tagged.yaml"), desk.path().join("out"));
    std::fs::write(&suite, TAGGED).expect("writable");
    let output = command(SWITCHES, &out, "--evidence all").arg(&suite).output();
    let told = output.expect("rigctl starts").stdout;
    let results = std::fs::read_to_string(out.join("results.json")).expect("results");
    let results: Value = serde_json::from_str(&results).expect("JSON");
    let path = results["cases"][0]["evidence"][0]["path"].as_str();
    let path = path.unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&told)));
    let mut reader =
        PcapNgReader::new(Cursor::new(packed::plain(&out.join(path)))).expect("a file");
    let mut passed = 0;
    while let Some(block) = reader.next_block() {
        let Block::EnhancedPacket(frame) = block.expect("a whole block") else { continue };
        assert_eq!(frame.data[12..16], [0x81, 0x00, 0xa0, 100], "frame {passed}");
        passed += 1;
    }
    // Each is there as it was sent and as it arrived.
    assert!(passed >= 80, "{passed}: {}", String::from_utf8_lossy(&told));
}
