//! A lab of transport `interfaces` on pairs of virtual interfaces: the rig's ends in one namespace, a served device on the
//! others, in another.

#![expect(clippy::disallowed_methods, reason = "what is waited for here is another process")]

use rig_dut::serve::Place;
use rig_dut::{Control as _, EmulatedWire};
use rig_generator::netlab::{End, Namespace, pair_with_queues};
use rig_units::Dur;
use serde_json::Value;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

pub(crate) const PROFILE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/duts/broadcom.yaml");
/// Reasons that are the machine's and not the device's. A device that was late cannot tell the rig here, and what it does
/// late is taken for what it does: the test asks it.
const STALLS: [&str; 3] = ["late-send", "storm-lapse", "capture-hole"];

/// A device on the far ends of four pairs, and a lab of transport `interfaces` that names the near ones.
pub(crate) struct Bench {
    pub(crate) near: Namespace,
    pub(crate) device: Child,
    pub(crate) desk: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new(backend: &str) -> Bench {
        let (near, far) =
            (Namespace::new().expect("a namespace"), Namespace::new().expect("a namespace"));
        let names: Vec<(String, String)> =
            (1..=4).map(|n| (format!("eth{n}"), format!("d{n}"))).collect();
        for (own, its) in &names {
            let [one, other] =
                [(&near, own), (&far, its)].map(|(within, name)| End { within, name });
            // As NICs spread what they receive.
            pair_with_queues(one, other, 9_216, 4).expect("a pair");
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
                "about: \"a switch that nobody can ask\"\ntransport: interfaces\ncable: 3m\nwire:\n  interfaces: [eth1, eth2, \
                 eth3, eth4]\n  backend: {backend}\n  speed: 1Gbps\n  bound: 4ms\n  budget: 240s\nduts: [{PROFILE}]\n"
            ),
        );
        bench
    }

    /// Why what the device did so far is no measure of what it declares, in its own words.
    pub(crate) fn late(&self) -> Option<String> {
        let place = Place::File(self.desk.path().join("control"));
        let mut device = EmulatedWire::connect(&place).expect("it is served");
        let late = device.health().expect("it lives").doubt(Dur::ms(4));
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

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.desk.path().join(name), text).expect("writable");
    }

    /// `rigctl` on the desk.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rigctl"));
        command.args(arguments.split_whitespace()).current_dir(self.desk.path());
        command.stdin(Stdio::null()).env("RIGCTL_STATE", self.desk.path().join("state"));
        command
    }

    /// `rigctl` in the near namespace, on the desk.
    pub(crate) fn rigctl(&self, arguments: &str) -> Output {
        let mut command = self.command(arguments);
        self.near.run(|| command.output()).expect("inside").expect("rigctl starts")
    }

    /// What `rigctl run` made of the cases.
    pub(crate) fn run(&self, arguments: &str) -> (Output, Value) {
        let output =
            self.rigctl(&format!("run --lab lab.yaml --seed 7 --overwrite --out out {arguments}"));
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

pub(crate) fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

pub(crate) fn case<'a>(results: &'a Value, id: &str) -> &'a Value {
    let cases = results["cases"].as_array().expect("cases");
    cases.iter().find(|case| case["id"] == id).unwrap_or_else(|| panic!("no case {id}"))
}

/// Whether a case passed, or was inconclusive for a stall of the machine.
pub(crate) fn well(case: &Value) -> bool {
    let stalled = STALLS.iter().any(|reason| case["reason"] == *reason);
    case["verdict"] == "pass" || case["verdict"] == "inconclusive" && stalled
}
