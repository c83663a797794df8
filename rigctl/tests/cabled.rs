//! The adapter `declared`: real interfaces in the namespace of the process, a device behind them that nobody can ask. Root
//! and Linux only. Here the device is an emulated one, served on the far ends of pairs; the rig is told nothing of that.

#![expect(clippy::disallowed_methods, reason = "what is waited for here is another process")]

mod common;

use common::root;
use rig_dut::EmulatedWire;
use rig_dut::serve::Place;
use rig_generator::netlab::{End, Namespace, pair};
use rig_units::Dur;
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

const PROFILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/duts/broadcom.yaml");
/// Reasons that are the machine's and not the device's. A device that was late cannot tell the rig here, and what it does
/// late is taken for what it does: the test asks it.
const STALLS: [&str; 3] = ["late-send", "storm-lapse", "capture-hole"];

/// A device on the far ends of four pairs, and a lab of adapter `declared` that names the near ones.
struct Bench {
    near: Namespace,
    device: Child,
    desk: tempfile::TempDir,
}

impl Bench {
    fn new(backend: &str) -> Bench {
        let (near, far) =
            (Namespace::new().expect("a namespace"), Namespace::new().expect("a namespace"));
        let names: Vec<(String, String)> =
            (1..=4).map(|n| (format!("eth{n}"), format!("d{n}"))).collect();
        for (own, its) in &names {
            let [one, other] =
                [(&near, own), (&far, its)].map(|(within, name)| End { within, name });
            pair(one, other, 9_216).expect("a pair");
        }
        let desk = tempfile::tempdir().expect("a temporary folder");
        let socket = desk.path().join("control");
        let mut serve = Command::new(env!("CARGO_BIN_EXE_rigctl"));
        serve.args(["dut", "serve", "--speed", "1Gbps", "--profile", PROFILE, "--control"]);
        serve.arg(&socket).arg("--port").args(names.iter().map(|(_, its)| its));
        let serve = serve.stdin(Stdio::null()).stderr(Stdio::null());
        let device = far.run(|| serve.spawn()).expect("inside").expect("rigctl starts");
        for _ in 0..200 {
            if socket.exists() {
                break;
            }
            sleep(Duration::from_millis(50));
        }
        let bench = Bench { near, device, desk };
        assert!(socket.exists(), "no device was served within 10 s");
        bench.write(
            "lab.yaml",
            &format!(
                "about: \"a switch that nobody can ask\"\nadapter: declared\ncable: 3m\nwire:\n  interfaces: [eth1, eth2, \
                 eth3, eth4]\n  backend: {backend}\n  speed: 1Gbps\n  bound: 4ms\n  budget: 240s\nduts: [{PROFILE}]\n"
            ),
        );
        bench
    }

    /// Why what the device did so far is no measure of what it declares, in its own words.
    fn late(&self) -> Option<String> {
        let place = Place::File(self.desk.path().join("control"));
        let mut device = EmulatedWire::connect(&place).expect("it is served");
        let late = device.lateness().expect("it lives").doubt(Dur::ms(4));
        if let Some(late) = &late {
            #[expect(clippy::print_stderr, reason = "a test that decides less says why")]
            {
                eprintln!(
                    "the device itself was late, so that its verdicts are not looked at: {late}"
                );
            }
        }
        late
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.desk.path().join(name), text).expect("writable");
    }

    /// `rigctl` in the near namespace, on the desk.
    fn rigctl(&self, arguments: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rigctl"));
        command.args(arguments.split_whitespace()).current_dir(self.desk.path());
        command.stdin(Stdio::null());
        self.near.run(|| command.output()).expect("inside").expect("rigctl starts")
    }

    /// What `rigctl run` made of the cases.
    fn run(&self, arguments: &str) -> (Output, Value) {
        let output = self.rigctl(&format!("run --lab lab.yaml --seed 7 --out out {arguments}"));
        let results = std::fs::read_to_string(self.desk.path().join("out/results.json"));
        let results = results.unwrap_or_else(|why| panic!("{why}: {}", said(&output)));
        (output, serde_json::from_str(&results).expect("JSON"))
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ended = self.device.kill();
        let _reaped = self.device.wait();
    }
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

fn case<'a>(results: &'a Value, id: &str) -> &'a Value {
    let cases = results["cases"].as_array().expect("cases");
    cases.iter().find(|case| case["id"] == id).unwrap_or_else(|| panic!("no case {id}"))
}

/// Whether a case passed, or was inconclusive for a stall of the machine.
fn well(case: &Value) -> bool {
    let stalled = STALLS.iter().any(|reason| case["reason"] == *reason);
    case["verdict"] == "pass" || case["verdict"] == "inconclusive" && stalled
}

#[test]
fn a_device_that_nobody_can_ask_is_measured_by_the_wire_alone() {
    if !root() {
        return;
    }
    let bench = Bench::new("af-xdp");
    let (output, results) = bench.run(
        "--only pfcwd::{detection-latency,idle-queue-is-stormed,action-*,storm-counters,limits-*}-broadcom",
    );
    let told = said(&output);
    assert_eq!(results["executor"], "wire");
    let cases = results["cases"].as_array().expect("cases");
    let late = bench.late();
    for case in cases {
        let detail = case["detail"].as_str().unwrap_or_default();
        let skipped = case["verdict"] == "skipped" && !detail.is_empty();
        assert!(skipped || well(case) || late.is_some(), "{}: {case}\n{told}", case["id"]);
    }
    let passed = cases.iter().filter(|case| case["verdict"] == "pass").count();
    assert!(passed > 0 || late.is_some(), "{told}");
    let forward = case(&results, "pfcwd::action-forward-broadcom");
    assert!(
        forward["detail"]
            .as_str()
            .expect("why")
            .contains("it would have to be configured: pfcwd.action=forward (it declares drop)"),
        "{forward}"
    );
    // Of a sweep the point that the device is at.
    let latency = case(&results, "pfcwd::detection-latency-broadcom");
    assert_eq!(
        latency["left_out"],
        serde_json::json!([
            "pfcwd.detection_time=1000ms (it declares 200ms): nothing here configures it"
        ])
    );
    let pausing = &results["wall"]["pausing"];
    assert_eq!(pausing["from"], "fed", "{pausing}");
    assert!(told.contains("Pausing p1"), "{told}");
}

#[test]
fn links_are_cut_and_mended_at_the_rigs_own_interfaces() {
    if !root() {
        return;
    }
    for backend in ["af-xdp", "af-packet"] {
        let bench = Bench::new(backend);
        let (output, results) = bench.run("--only pfcwd::port-toggle-broadcom");
        let toggle = case(&results, "pfcwd::port-toggle-broadcom");
        assert!(well(toggle) || bench.late().is_some(), "{backend}: {toggle}\n{}", said(&output));
        let link = bench.near.run(|| rig_generator::port::Link::named("eth2")).expect("inside");
        assert!(link.expect("it is there").carrier, "{backend}");
    }
}

#[test]
fn a_device_that_departs_from_what_it_declares_fails_without_being_asked() {
    if !root() {
        return;
    }
    let bench = Bench::new("af-xdp");
    // The profile is given another detection time than the device that is served.
    let profile = std::fs::read_to_string(PROFILE).expect("a profile");
    bench.write("other.yaml", &profile.replace("detection_time: 200ms", "detection_time: 600ms"));
    let text = std::fs::read_to_string(bench.desk.path().join("lab.yaml")).expect("the lab");
    bench.write("lab.yaml", &text.replace(PROFILE, "other.yaml"));
    let suite = "about: \"one\"\ndevice: switch\ncases:\n  one:\n    why: \"a test\"\n    source: [\"a test\"]\n    dut: \
                 {rule_family: broadcom}\n    streams: {victim: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 254B, \
                 every: 500us}}\n    storms: {storm: {from: p2, classes: [3]}}\n    trials: 3\n    steps:\n      - {at: 0ms, \
                 start: victim}\n      - {at: 20ms, start: storm, for: 900ms}\n    measure:\n      - pfcwd.detection: {storm: \
                 storm, stream: victim}\n";
    bench.write("one.yaml", suite);
    let (output, results) = bench.run("one.yaml");
    let one = case(&results, "one::one");
    let stalled = one["verdict"] == "inconclusive" && well(one);
    assert!(
        one["verdict"] == "fail" || stalled || bench.late().is_some(),
        "{one}\n{}",
        said(&output)
    );
}

#[test]
fn interfaces_that_do_not_fit_break_the_run_and_say_what_mends_them() {
    if !root() {
        return;
    }
    let bench = Bench::new("af-xdp");
    bench.near.set_mtu("eth1", 1_500).expect("it is there");
    let (output, _) = bench.run("--only pfcwd::drop-at-oversubscription-broadcom");
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    assert!(said(&output).contains("`ip link set eth1 mtu 9004`"), "{}", said(&output));
    // The device ends with its port, and the namespace with the device: no interface is left.
    bench.near.remove("eth3").expect("it is there");
    let (output, _) = bench.run("--only pfcwd::action-drop-broadcom");
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    assert!(said(&output).contains(": no such interface in this"), "{}", said(&output));
}

#[test]
fn a_doctor_opens_what_the_lab_names_and_lets_go_of_it() {
    if !root() {
        return;
    }
    let bench = Bench::new("af-xdp");
    // Twice: what the first had kept open, the second would find busy.
    for _ in 0..2 {
        let output = bench.rigctl("doctor --lab lab.yaml");
        let told = said(&output);
        let ports = told.matches("AF_XDP in the driver, copies, frames of any length").count();
        assert_eq!(ports, 5, "four of the lab, and a pair of its own: {told}");
    }
    let output = bench.rigctl("doctor --lab lab.yaml --cabled p1 p2");
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    assert!(said(&output).contains("frames eth1 -> eth2  no cable"), "{}", said(&output));
}

#[test]
fn what_makes_no_sense_without_a_control_channel_is_refused() {
    if !root() {
        return;
    }
    let bench = Bench::new("af-xdp");
    let output = bench.rigctl("run --lab lab.yaml --out out --mutate pfcwd.detection_time=x2");
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("`rigctl dut serve --mutate"), "{}", said(&output));
    assert!(!Path::new(&bench.desk.path().join("out")).exists());
}
