//! A checker is done when a run has shown it firing: for every measure of the language one case that a broken device, or
//! a broken storm, turns red through that measure and through no other.

use rig_lab::Lab;
use rig_oracle::Verdict;
use rig_oracle::measure::{self, Needs, Red, Registry, Tells};
use rig_testcases::vocabulary::{Argument, Entry, Need};
use rig_testcases::{Case, Measure, Suite, Vocabulary, Wanted};
use rigctl::mutation;
use rigctl::runner::case::{self, Ran, Rig};
use rigctl::stop::Stop;
use std::collections::{BTreeMap, BTreeSet};

/// Cases that are no use to a lab, by the measure that fails.
const WRITTEN: [(&str, &str); 3] =
    [("storm.coverage", FILLED_GAPS), ("rate.shares", HELD_BACK), ("rc.completion", NEVER_AGAIN)];

/// A storm that is to pause half of the time, and frames sent by hand in its gaps: it pauses all of it.
const FILLED_GAPS: &str = "about: \"one case\"
device: switch
cases:
  filled-gaps:
    why: \"a storm that is not the storm that was asked for\"
    source: [\"a test\"]
    dut: {rule_family: broadcom, pfcwd: {detection_time: 200ms, restoration_time: 200ms, poll_interval: 100ms, action: drop}}
    streams: {victim: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 254B, every: 500us}}
    storms: {storm: {from: p2, classes: [3], quanta: 15000q, refresh: 2x}}
    trials: 1
    steps:
      - {at: 0ms,  start: victim}
      - {at: 20ms, start: storm, for: 50ms}
      - {at: 30ms, pfc: {from: p2, classes: [3], quanta: 65535q, count: 20, every: 1ms}}
    measure:
      - storm.coverage: {storm: storm}
";

/// A packet that is lost each time that it is sent, and a sender without a timeout: it hangs, and does so by the rule.
const NEVER_AGAIN: &str = "about: \"one case\"
device: nic
cases:
  never-again:
    why: \"a connection that hangs is not one that is through\"
    source: [\"a test\"]
    dut: {nic: {generation: gen2, rc: {timeout: 0}}, peer: {generation: gen2}}
    between: {delay: 500ns, inject: [{on: sender, frames: data, psn: 40, do: drop}]}
    flows: {sender: {nic: p1, to: p2, class: 3, verb: write, message: 16KiB, mtu: 1024B, count: 12}}
    steps: [{at: 0us, start: sender}]
    length: 500us
    trials: 1
    measure:
      - rc.completion: {flow: sender}
      - rc.sender: {flow: sender}
      - rc.receiver: {flow: sender}
";

/// Two flows through one bottleneck, of which one is told of congestion that is not there: it gets less than its share.
const HELD_BACK: &str = "about: \"one case\"
device: nic
cases:
  held-back:
    why: \"a flow that hears of congestion that is not there gets less than its share\"
    source: [\"a test\"]
    dut: {nic: {generation: gen2, rp: {cut_window: 50us, inverse_g: 16}}, peer: {generation: gen2, rc: {ack_every: 16}}}
    between: {delay: 1us, inject: [{on: held, frames: data, every: 20, do: ce}], bottleneck: {to: p2, speed: 10Gbps, kmin: 40KB, kmax: 400KB, pmax: 10%, buffer: 8MB}}
    flows:
      free: {nic: p1, to: p2, class: 3, verb: write, message: 64KiB, mtu: 4096B}
      held: {nic: p1, to: p2, class: 3, verb: write, message: 64KiB, mtu: 4096B}
    steps:
      - {at: 0us, start: [held, free], for: 120ms}
    trials: 8
    measure:
      - rate.shares: {flows: [held, free], from: 20ms, until: 120ms}
";

fn written(text: &str) -> Suite {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("one-case.yaml");
    std::fs::write(&path, text).expect("writable");
    rig_testcases::read::read(&path, &Registry).unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// One case on a lab.
fn run(lab: &Lab, case: &Case, path: &str) -> Ran {
    let stop = Stop::default();
    let rig = Rig { path, ..Rig::of(lab, &[case], 7, &stop) };
    case::run(&rig, case)
}

/// The rules of the findings of one run.
fn found(lab: &Lab, case: &Case, path: &str) -> BTreeSet<&'static str> {
    match run(lab, case, path).report.verdict {
        Verdict::Fail(findings) => findings.iter().map(|finding| finding.rule).collect(),
        other => panic!("{} does not fail: {other:?}", case.id),
    }
}

#[test]
fn every_measure_of_the_language_has_a_run_that_turns_red_through_it_alone() {
    let suites =
        rig_testcases::read::bundled(&Registry).expect("the bundled catalogue has no fault");
    let lab = rig_lab::read::lab(None).expect("the bundled lab has no fault");
    let cases = || suites.iter().flat_map(|suite| &suite.cases);
    let used: BTreeMap<&str, &Measure> =
        cases().flat_map(|case| &case.measure).map(|measure| (measure.name(), measure)).collect();
    let schema = rig_testcases::schema(&Registry);
    let language = schema["$defs"]["measure"]["properties"].as_object().expect("the measures");
    // What `configure:` asks for is not written under `measure:`.
    let language = language.keys().map(String::as_str).chain(["config"]);
    for name in language {
        let measure = used.get(name).unwrap_or_else(|| panic!("no bundled case measures {name}"));
        let rules = match measure::of(measure).red {
            Red::Mutated(wanted, mutation) => {
                let case = cases().find(|case| case.id.case == wanted).expect(wanted);
                let mut lab = lab.clone();
                mutation::apply(&mut lab, &[mutation.to_owned()]).expect(mutation);
                found(&lab, case, mutation)
            }
            Red::Written => {
                let own = WRITTEN.iter().find(|(of, _)| *of == name);
                let (_, text) = own.unwrap_or_else(|| panic!("no case is written for {name}"));
                found(&lab, &written(text).cases[0], "one-case.yaml")
            }
        };
        assert_eq!(rules, BTreeSet::from([name]));
    }
}

/// Headroom as it is declared, one cell short of what may come, and a case that wants no frame lost: the finding names a
/// trial that lost one.
#[test]
fn headroom_that_may_not_hold_is_found_at_the_trial_that_shows_it() {
    let suites =
        rig_testcases::read::bundled(&Registry).expect("the bundled catalogue has no fault");
    let lab = rig_lab::read::lab(None).expect("the bundled lab has no fault");
    let mut cases = suites.iter().flat_map(|suite| &suite.cases);
    let case = cases.find(|case| case.id.case == "headroom-one-cell-short").expect("a case");
    let mut case = case.clone();
    for measure in &mut case.measure {
        if measure.name() == "headroom.loss" {
            *measure = measure.clone().with("expect", Argument::Wanted(Wanted::None));
        }
    }
    let ran = run(&lab, &case, "");
    let Verdict::Fail(findings) = &ran.report.verdict else { panic!("{:?}", ran.report.verdict) };
    for finding in findings {
        let trial = ran.trials.iter().find(|trial| trial.number() == finding.trial);
        let count = trial.expect("a trial of the case").outline().observation.streams[0];
        assert!(count.received < count.sent, "trial {} lost nothing", finding.trial);
    }
}

/// A measure as people read of it.
fn section(measure: &Measure) -> String {
    let known = measure::of(measure);
    let Entry { name, about, source, fields, .. } = &known.entry;
    let needs = match (known.needs)(measure) {
        Needs::Wire => "the wire alone",
        Needs::Events => {
            "the wire, and the device's own events where its watchdog's action leaves no trace there"
        }
        Needs::Told => "the device's own events, and the wire",
        Needs::Counters => "the device's counters, and the wire",
        Needs::Hosts => "what the host behind the NIC tells of its requests, and the wire",
        Needs::Settings => "that the device can be configured",
    };
    let red = match known.red {
        Red::Mutated(case, mutation) => format!("`{case}` with `--mutate {mutation}`"),
        Red::Written => "a case that stands with the test (`rigctl/tests/fires.rs`)".to_owned(),
    };
    let tells = match known.tells {
        Tells::Each(thing) => format!("exact, each {thing}"),
        Tells::Width(by) => format!("as wide as its readings, by {by}"),
        Tells::Chance(by) => format!("at a power of 0.99, by {by}"),
        Tells::Unsaid => panic!("{name} does not say how small a departure it shows"),
    };
    let rows = fields.iter().map(|field| {
        let must = if matches!(field.need, Need::Required(_)) { "yes" } else { "" };
        format!("| `{}` | {must} | {} |\n", field.key, field.about)
    });
    format!(
        "## `{name}`\n\n{about}\n\n| key | must | what it says |\n| --- | --- | --- |\n{}\n- held against: {source}\n\
         - rests on: {needs}\n- resolution: {tells}\n- seen to turn red by itself: {red}\n\n",
        rows.collect::<String>()
    )
}

/// With `RIG_WRITE_SCHEMAS=1` it is written instead.
#[test]
fn the_page_of_measures_is_current() {
    let suites =
        rig_testcases::read::bundled(&Registry).expect("the bundled catalogue has no fault");
    let measures: Vec<&Measure> =
        suites.iter().flat_map(|suite| &suite.cases).flat_map(|case| &case.measure).collect();
    let section = |entry: &'static Entry| {
        let used = measures.iter().find(|measure| measure.name() == entry.name);
        section(used.expect("a bundled case measures it"))
    };
    let sections: String = Registry.entries().into_iter().map(section).collect();
    let page = format!(
        "# What can be measured\n\nWhat may stand under `measure:` in a case, made from the program itself. `rigctl explain CASE` shows what \
         each one is\nexpected to show in a case, with its numbers. F1 to F14 are the formulas of `docs/requirements.md`.\n\n{}\n",
        sections.trim_end()
    );
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/measures.md");
    if std::env::var_os("RIG_WRITE_SCHEMAS").is_some() {
        std::fs::write(path, &page).expect("writable");
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(committed == page, "{path} is not current: RIG_WRITE_SCHEMAS=1 writes it");
}
