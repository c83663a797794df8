//! `control: sonic` from a lab to a verdict. The switch is put together of real parts: a redis-server of the system's with CONFIG_DB of
//! a leaf, a served device on pairs of virtual interfaces, and between them the few lines that play orchagent. Root and Linux only.

mod common;

#[path = "common/bench.rs"]
mod bench;

use bench::{Bench, PROFILE, case, said, well};
use common::root;
use rig_dut::fixture::{Orchagent, RedisServer};
use rig_dut::serve::Place;
use rig_dut::{Control as _, EmulatedWire};
use rig_lab::Setting;
use std::path::Path;

/// Three storms at a detection time that neither the profile declares nor CONFIG_DB says before.
const SUITE: &str = "about: \"one\"\ndevice: switch\ncases:\n  one:\n    why: \"a test\"\n    source: [\"a test\"]\n    dut:\n      \
                     rule_family: broadcom\n      pfcwd: {detection_time: 400ms}\n    streams: {victim: {from: p1, to: p2, class: 3, \
                     kind: rocev2-write, size: 254B, every: 500us}}\n    storms: {storm: {from: p2, classes: [3]}}\n    trials: 3\n    \
                     steps:\n      - {at: 0ms, start: victim}\n      - {at: 20ms, start: storm, for: 700ms}\n    measure:\n      - \
                     pfcwd.detection: {storm: storm, stream: victim}\n";

/// What of a setting reaches the device.
type Reaches = fn(Setting) -> Setting;

/// Orchagent before the device of `bench`.
fn before(server: &RedisServer, bench: &Bench, reaches: Reaches) -> Orchagent {
    let place = Place::File(bench.desk.path().join("control"));
    let mut device = EmulatedWire::connect(&place).expect("it is served");
    Orchagent::before(server, move |settings| {
        let all: Vec<Setting> = settings.into_iter().map(reaches).collect();
        device.set(&all).expect("the device takes it");
    })
}

#[test]
fn a_case_is_configured_judged_and_taken_back_and_a_device_that_does_otherwise_is_red() {
    if !root() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let Ok(server) = RedisServer::start(desk.path()).map_err(|why| eprintln!("{why}")) else {
        return;
    };
    server.load(Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../dut-adapters/testdata/sonic/leaf.json"
    )));
    let found = server.all(4);
    let bench = Bench::new("af-xdp");
    let text = std::fs::read_to_string(bench.desk.path().join("lab.yaml")).expect("the lab");
    let control = format!("{{profile: {PROFILE}, control: sonic, redis: \"{}\"}}", server.at());
    bench.write("lab.yaml", &text.replace(PROFILE, &control));
    bench.write("one.yaml", SUITE);
    let as_asked: Reaches = |setting| setting;
    let orchagent = before(&server, &bench, as_asked);
    let (output, results) = bench.run("one.yaml");
    let told = said(&output);
    let one = case(&results, "one::one");
    drop(orchagent);
    assert!(well(one) || bench.late().is_some(), "{one}\n{told}");
    assert_eq!(server.all(4), found, "CONFIG_DB is what it was");
    assert_eq!(server.all(6), [], "and nobody holds the switch");
    // Whose watchdog waits as long as it likes, whatever it is told.
    let late: Reaches = |setting| match setting.path.as_str() {
        "pfcwd.detection_time" => Setting { value: "600ms".into(), ..setting },
        _ => setting,
    };
    let orchagent = before(&server, &bench, late);
    let (output, results) = bench.run("one.yaml");
    let one = case(&results, "one::one");
    drop(orchagent);
    let stalled = one["verdict"] == "inconclusive" && well(one);
    assert!(
        one["verdict"] == "fail" || stalled || bench.late().is_some(),
        "{one}\n{}",
        said(&output)
    );
    assert_eq!(server.all(4), found);
}
