//! Every field that may hold a range: a device anywhere inside of it passes, and one outside by what a measure prints of itself fails.

use super::given::Ran;
use rig_lab::field::Holds;
use rig_lab::{Mutation, Profile, Setting, fields};
use rig_units::Dur;
use serde_json::{Value, json};

/// A field, and a case of a few lines in which a device draws it some two hundred times.
struct Tried {
    path: &'static str,
    device: &'static str,
    /// What prints within which values devices cannot be told apart.
    measure: &'static str,
    /// Least and most of what is declared.
    ends: [Dur; 2],
    case: fn() -> String,
}

/// What is tried of a NIC's field holds of the NIC behind the second port, too: their rows are the same.
const TRIED: &[Tried] = &[
    Tried {
        path: "pfc.response",
        device: "broadcom",
        measure: "pfc.response",
        ends: SHORT,
        case: || {
            let words: String = (1..=10).map(|word| word * 30 + 1_000).map(xoff).collect();
            format!(
                "    streams: {{load: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, rate: 100%, count: 4000}}}}
    taps: {{p2: all}}
    trials: 20
    steps:
      - {{at: 1ms, start: load}}
{words}    length: 3ms
    measure: [{{pfc.response: {{stream: load}}}}, {{pfc.pause: {{stream: load}}}}]
"
            )
        },
    },
    Tried {
        path: "pfcwd.action_latency",
        device: "broadcom",
        measure: "pfcwd.detection",
        ends: [Dur::ms(10), Dur::ms(20)],
        case: || stormed(20),
    },
    Tried {
        path: "nic.np.latency",
        device: "gen2",
        measure: "cnp.latency",
        ends: SHORT,
        case: || {
            marked("np: {interval: 0us}", "{cnp.latency: {port: p1}}, {cnp.answers: {port: p1}}")
        },
    },
    Tried {
        path: "nic.rc.ack_latency",
        device: "gen2",
        measure: "rc.receiver",
        ends: SHORT,
        case: || marked("rc: {ack_every: 1}", "{rc.receiver: {stream: marked}}"),
    },
    Tried {
        path: "nic.rc.nak_latency",
        device: "gen2-to-gen2",
        measure: "rc.receiver",
        ends: SHORT,
        case: || holed(("p2", "p1"), "rc.receiver"),
    },
    Tried {
        path: "nic.rc.resend_latency",
        device: "gen2-to-gen2",
        measure: "rc.sender",
        ends: SHORT,
        case: || holed(("p1", "p2"), "rc.sender"),
    },
];

fn xoff(at: u32) -> String {
    format!("      - {{at: {at}us, pfc: {{from: p2, classes: [3], quanta: 600q}}}}\n")
}

/// Two hundred packets, each marked and each far from the next.
fn marked(settings: &str, measures: &str) -> String {
    format!(
        "    dut: {{nic: {{generation: gen2, {settings}}}}}
    streams: {{marked: {{from: p1, class: 3, kind: rocev2-write, size: 1024B, every: 60us, ecn: ce, count: 200}}}}
    steps: [{{at: 0us, start: marked}}]
    length: 13ms
    trials: 1
    measure: [{measures}]
"
    )
}

/// Every eightieth packet of a flow is lost once: twenty in a trial.
fn holed((from, to): (&str, &str), measure: &str) -> String {
    let lost = (0..20).map(|hole| {
        let psn = 40 + 80 * hole;
        format!("{{on: flow, frames: data, psn: {psn}, do: drop, iteration: 1}}")
    });
    let lost = lost.collect::<Vec<_>>().join(", ");
    let nic = "{generation: gen2, rc: {ack_every: 1, timeout: 0us}}";
    format!(
        "    dut: {{nic: {nic}, peer: {nic}}}
    between: {{delay: 500ns, inject: [{lost}]}}
    flows: {{flow: {{nic: {from}, to: {to}, class: 3, verb: write, message: 16KiB, mtu: 1024B, count: 110}}}}
    steps: [{{at: 0us, start: flow}}]
    length: 1ms
    trials: 10
    measure: [{{{measure}: {{flow: flow}}}}]
"
    )
}

/// So many storms, each acted on and let go.
fn stormed(trials: u32) -> String {
    format!(
        "    dut: {{pfcwd: {{detection_time: 100ms, restoration_time: 100ms, poll_interval: 100ms, action: drop}}}}
    streams: {{victim: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 254B, every: 1ms}}}}
    storms: {{storm: {{from: p2, classes: [3]}}}}
    trials: {trials}
    steps:
      - {{at: 0ms, start: victim}}
      - {{at: 5ms, start: storm, for: 330ms}}
    measure:
      - pfcwd.detection: {{storm: storm, stream: victim}}
      - pfcwd.restoration: {{storm: storm, stream: victim}}
      - pfcwd.action: {{storm: storm, stream: victim}}
"
    )
}

/// Of what is in the order of a microsecond.
const SHORT: [Dur; 2] = [Dur::us(1), Dur::us(2)];

impl Tried {
    /// The case on a device that declares `range`; with a value, one that always does that.
    fn run(&self, range: &Value, value: Option<Dur>) -> Ran {
        Ran::with(self.device, &(self.case)(), |device: &mut Profile| {
            let setting = Setting { path: self.path.to_owned(), value: range.clone() };
            device.declared = device.declared.with(&setting).expect("a range");
            let Some(value) = value.map(|value| value.to_string()) else { return };
            let always = Mutation::Override { path: self.path.to_owned(), value };
            device.mutate(&always).expect("a value");
        })
    }

    /// Whatever lies between `ends` passes, and what lies beyond what is told fails.
    fn holds(&self, range: &Value, [least, most]: [Dur; 2], [lo, hi]: [Dur; 2]) {
        for inside in [least, most, (least + most) / 2] {
            let said = self.run(range, Some(inside)).as_seen();
            assert_eq!(said.wrong(), "", "{} of {inside} in {range}", self.path);
        }
        let outside = [lo.0.checked_sub(1), hi.0.checked_add(1)];
        for outside in outside.into_iter().flatten().map(Dur) {
            let said = self.run(range, Some(outside)).as_seen();
            assert!(said.fails(self.measure), "{} of {outside} in {range}", self.path);
        }
    }

    /// Within which values its measure says that devices cannot be told apart, where `range` is declared.
    fn told(&self, range: &Value) -> [Dur; 2] {
        let said = self.run(range, None).as_seen();
        assert_eq!(said.wrong(), "", "{} drawn from {range}", self.path);
        let one = said.of(self.measure).next().expect("it was judged");
        let within = one.resolution.split("; ").find_map(|one| {
            let ends = one.strip_prefix(self.path)?.strip_prefix(" in [")?.strip_suffix(']')?;
            let (lo, hi) = ends.split_once(", ")?;
            Some([lo.parse().ok()?, hi.parse().ok()?])
        });
        within.unwrap_or_else(|| panic!("{} prints `{}`", self.measure, one.resolution))
    }
}

#[test]
fn every_field_that_may_hold_a_range_is_tried() {
    let rows = fields::all().filter(|(_, field)| field.holds == Holds::Range);
    let rows: Vec<String> =
        rows.map(|(path, _)| path).filter(|path| !path.starts_with("peer.")).collect();
    assert_eq!(rows, TRIED.iter().map(|tried| tried.path).collect::<Vec<_>>());
}

#[test]
fn a_device_inside_its_range_passes_and_one_outside_by_what_is_printed_fails() {
    for tried in TRIED {
        let [least, most] = tried.ends;
        let span = Value::String(format!("{least}..{most}"));
        for range in [span, json!({ "max": most.to_string() })] {
            let least = if range.is_string() { least } else { Dur::ZERO };
            let [lo, hi] = tried.told(&range);
            assert!(lo <= least && most <= hi && hi < most * 2, "{} in [{lo}, {hi}]", tried.path);
            tried.holds(&range, [least, most], [lo, hi]);
        }
    }
}

#[test]
fn an_action_too_late_to_tell_its_poll_accuses_nobody_inside_and_is_found_outside() {
    let (path, device, measure) = ("pfcwd.action_latency", "broadcom", "pfcwd.detection");
    let ends = [Dur::ms(20), Dur::ms(90)];
    let tried = |case| Tried { path, device, measure, ends, case };
    let (few, many) = (tried(|| stormed(5)), tried(|| stormed(100)));
    let range = Value::String("20ms..90ms".to_owned());
    // Each storm takes two draws.
    let told = many.told(&range);
    // The window is as wide as a poll interval and the range: what leads out of it from anywhere.
    assert_eq!(told, [Dur::ZERO, Dur::ms(190) - Dur(1)]);
    few.holds(&range, ends, told);
}
