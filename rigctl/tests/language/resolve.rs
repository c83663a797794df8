//! Scripts worked out from cases, the whole catalogue among them, and what a device cannot do.

use insta::assert_snapshot;
use proptest::prelude::*;
use rig_lab::yaml::Source;
use rig_lab::{Declared, Fault, Lab, Profile, Setting};
use rig_oracle::measure::Registry;
use rig_testcases::read::{PREDICTIONS, bundled, suite};
use rig_testcases::script::{StreamKind, Tap};
use rig_testcases::{Action, Amount, Case, EndpointSpec, Lookup, Measure, Script, Sweep, Takes};
use rig_units::{Dur, PortSpeed, Quanta};
use std::collections::BTreeMap;

/// Values by name; what is not listed is looked up in the configuration.
struct Table<'a>(&'a Declared, BTreeMap<&'a str, Dur>);

impl Lookup for Table<'_> {
    fn duration(&self, name: &str) -> Option<Dur> {
        let listed = self.1.get(name).copied();
        listed.or_else(|| self.0.get(name)?.as_str()?.parse().ok())
    }
}

fn lab() -> Lab {
    rig_lab::read::lab(None).unwrap_or_else(|faults| panic!("{}", faults[0]))
}

fn dut(name: &str) -> Profile {
    let found = lab().duts.into_iter().find(|dut| dut.name == name);
    found.unwrap_or_else(|| panic!("{name} is not in the default lab"))
}

/// A case with these streams, storms and steps.
fn case(streams: &str, storms: &str, steps: &str, rest: &str) -> Case {
    let text = format!(
        "about: x\ndevice: switch\ncases:\n  it:\n    why: x\n    source: [x]\n    streams: {{{streams}}}\n    \
         storms: {{{storms}}}\n    steps: [{steps}]\n    {rest}\n"
    );
    let mut suite = suite(&Source::new("t.yaml", &text), &Registry).unwrap_or_else(|faults| {
        panic!("{}", faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    });
    suite.cases.remove(0)
}

const VICTIM: &str = "victim: {from: p1, to: p2, class: 3, kind: udp, size: 64B, every: 1ms}";
const STORM: &str = "storm: {from: p2, classes: [3]}";
const START: &str = "{at: 0ms, start: victim}";
const LOSS: &str = "measure: [{loss: {stream: victim}}]";

fn script_on(profile: &Profile, case: &Case) -> Result<Script, Fault> {
    case.script(&profile.declared, &Table(&profile.declared, BTreeMap::new()))
}

fn script(case: &Case) -> Script {
    script_on(&dut("broadcom"), case).unwrap_or_else(|fault| panic!("{fault}"))
}

fn refused(profile: &str, case: &Case) -> String {
    match script_on(&dut(profile), case) {
        Ok(script) => panic!("{script:?}"),
        Err(fault) => fault.to_string(),
    }
}

#[test]
fn the_first_case_of_a_suite_becomes_a_script() {
    let suites = bundled(&Registry).unwrap_or_default();
    let suite = suites.iter().find(|suite| suite.name == "pfcwd").expect("it is bundled");
    let script = script(&suite.cases[0]);
    assert_eq!(script.ports, ["p1", "p2"]);
    assert_eq!(script.dut_ports, [0, 1]);
    assert_eq!((script.streams[0].dscp, script.streams[1].dscp), (3, 4));
    assert_eq!(script.streams[0].kind, StreamKind::RoceWrite);
    assert_eq!(script.storms[0].every, PortSpeed::G100.pause(Quanta::MAX) / 2);
    assert_eq!(script.storms[0].classes, 0b1000);
    assert_eq!(script.length, Dur::ms(470));
}

/// Every case at every value of its settings, with predictions made up: nothing asks of a port what it cannot send.
#[test]
fn every_bundled_case_becomes_a_script_on_every_device_that_suits_it() {
    let suites = bundled(&Registry).unwrap_or_default();
    let lab = lab();
    let mut scripts = 0;
    for case in suites.iter().flat_map(|suite| &suite.cases) {
        for dut in lab.duts.iter().filter(|dut| case.suits(dut).is_ok()) {
            for declared in configurations(case, &dut.declared) {
                let mut known = BTreeMap::from([
                    ("storm-length", Dur::ms(250)),
                    ("late", Dur::us(5)),
                    ("phase", Dur::ns(40)),
                ]);
                known.extend(PREDICTIONS.map(|name| (name, Dur::ms(300))));
                let script = case.script(&declared, &Table(&declared, known));
                let script = script.unwrap_or_else(|f| panic!("{} on {}: {f}", case.id, dut.name));
                assert!(script.steps.is_sorted_by_key(|step| step.at));
                scripts += 1;
            }
        }
    }
    assert!(scripts > 200, "{scripts}");
}

fn configurations(case: &Case, declared: &Declared) -> Vec<Declared> {
    let with = |declared: &Declared, setting: &Setting| {
        declared.with(setting).unwrap_or_else(|bad| panic!("{}: {bad}", case.id))
    };
    let base = case.settings.iter().fold(declared.clone(), |all, setting| with(&all, setting));
    let mut all = vec![base.clone()];
    for sweep in &case.sweep {
        if let Sweep::Setting { path, values } = sweep {
            let each =
                values.iter().map(|value| Setting { path: path.clone(), value: value.clone() });
            all.extend(each.map(|setting| with(&base, &setting)));
        }
    }
    all
}

#[test]
fn steps_of_one_instant_stay_in_the_order_of_the_case() {
    let steps = "{at: 9ms, start: victim}, {at: 1ms, start: storm, for: 8ms}, {at: 9ms, configure: {buffer.dynamic_th: 0}}";
    let script = script(&case(VICTIM, STORM, steps, LOSS));
    let actions: Vec<Action> = script.steps.into_iter().map(|step| step.action).collect();
    let setting = Setting { path: "buffer.dynamic_th".to_owned(), value: 0.into() };
    let want = [
        Action::StartStorm(0),
        Action::StartStream(0),
        Action::StopStorm(0),
        Action::Configure(setting),
    ];
    assert_eq!(actions, want);
}

#[test]
fn a_script_is_as_long_as_its_last_step_unless_it_says_so() {
    let steps = "{at: 1ms, start: victim}, {at: 2ms, link_down: p2, for: 3ms}";
    assert_eq!(script(&case(VICTIM, "", steps, LOSS)).length, Dur::ms(5));
    let frames = "{at: 1ms, start: victim}, {at: 2ms, pfc: {from: p2, classes: [3], quanta: 0q, count: 5, every: 2ms}}";
    assert_eq!(script(&case(VICTIM, "", frames, LOSS)).length, Dur::ms(10));
    let longer = format!("length: {{of: pfcwd.detection_time, times: 0.5}}\n    {LOSS}");
    assert_eq!(script(&case(VICTIM, "", steps, &longer)).length, Dur::ms(100));
}

#[test]
fn lists_of_ports_become_groups() {
    let fan = "victim: {from: p1, to: [p2, p3], class: 3, kind: udp, size: 64B, every: 1ms}";
    let storms = "all: {from: [p2, p3], classes: [3]}";
    let measure = "measure: [{pfcwd.detection: {storm: all, stream: victim}}]";
    let case = case(fan, storms, "{at: 0ms, start: [victim, all]}", measure);
    let names: Vec<&String> = case.streams.keys().chain(case.storms.keys()).collect();
    assert_eq!(names, ["victim-p2", "victim-p3", "all-p2", "all-p3"]);
    let pair = |of: &Measure| (of.named("storm").to_owned(), of.named("stream").to_owned());
    let pairs: Vec<(String, String)> = case.measure.iter().map(pair).collect();
    assert_eq!(
        pairs,
        [("all-p2", "victim-p2"), ("all-p3", "victim-p3")]
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
    );
}

#[test]
fn fast_and_slow_ports_are_found_where_there_are_two_speeds() {
    let case = case(
        VICTIM,
        "",
        "{at: 0ms, start: victim}",
        &format!("ports: {{p1: slow, p2: fast}}\n    {LOSS}"),
    );
    let mixed = dut("broadcom-mixed");
    assert_eq!(script_on(&mixed, &case).map(|script| script.dut_ports), Ok(vec![4, 0]));
    let same = dut("broadcom");
    assert_eq!(case.suits(&same), Err("all its ports have one speed".to_owned()));
}

#[test]
fn a_case_says_why_a_device_does_not_suit_it() {
    let far = "victim: {from: p1, to: p9, class: 3, kind: udp, size: 64B, every: 1ms}";
    let on = |rest: &str, streams: &str, name: &str| {
        let case = case(streams, "", "{at: 0ms, start: victim}", &format!("{rest}\n    {LOSS}"));
        case.suits(&dut(name)).map_or_else(|why| why, |()| "suits".to_owned())
    };
    let said = [
        on("dut: {rule_family: mellanox}", VICTIM, "broadcom"),
        on("dut: {pfcwd: {jitter: 50us..1.1ms}}", VICTIM, "broadcom"),
        on("dut: {pfcwd: {jitter: 50us..1.1ms}}", VICTIM, "broadcom-tick"),
        on("dut: {pfcwd: {action: alert}}", VICTIM, "broadcom"),
        on("trials: 1", far, "broadcom"),
    ];
    assert_eq!(
        said,
        [
            "its rule family is broadcom, not mellanox",
            "its pfcwd.jitter is not 50us..1.1ms",
            "suits",
            "suits",
            "it has 8 ports, and the case uses p9",
        ]
    );
}

#[test]
fn what_a_device_cannot_do_is_refused_at_its_place() {
    let start = "{at: 0ms, start: victim}";
    let stream = |fields: &str| format!("victim: {{from: p1, to: p2, kind: udp, {fields}}}");
    let said = [
        refused("broadcom", &case(&stream("class: 7, size: 64B, every: 1ms"), "", start, LOSS)),
        refused("broadcom", &case(&stream("class: 3, size: 9123B, every: 1ms"), "", start, LOSS)),
        refused("broadcom", &case(&stream("class: 3, size: 9000B, every: 700ns"), "", start, LOSS)),
        refused(
            "broadcom",
            &case(&stream("class: 3, size: 1000B, rate: 200Gbps-L1"), "", start, LOSS),
        ),
        refused(
            "broadcom",
            &case(
                VICTIM,
                "storm: {from: p2, classes: [3], every: 400us}",
                "{at: 0ms, start: [victim, storm]}",
                LOSS,
            ),
        ),
        refused(
            "broadcom",
            &case(
                VICTIM,
                "storm: {from: p2, classes: [3], every: 1ns}",
                "{at: 0ms, start: [victim, storm]}",
                LOSS,
            ),
        ),
        refused(
            "broadcom",
            &case(VICTIM, STORM, "{at: {of: predicted.never-fires}, start: [victim, storm]}", LOSS),
        ),
        refused(
            "broadcom",
            &case(
                VICTIM,
                STORM,
                "{at: 5ms, start: [victim, storm]}",
                &format!("length: 1ms\n    {LOSS}"),
            ),
        ),
    ];
    assert_snapshot!(said.join("\n\n"));
}

#[test]
fn loads_that_share_a_port_are_held_against_its_line_rate() {
    let two = |a: &str, b: &str, steps: &str| {
        let streams = format!(
            "victim: {{from: p1, to: p2, class: 3, kind: udp, size: 1000B, rate: {a}}}, \
             more: {{from: p1, to: p3, class: 4, kind: udp, size: 1000B, rate: {b}}}"
        );
        script_on(&dut("broadcom"), &case(&streams, "", steps, LOSS))
            .map(|_| ())
            .map_err(|f| f.to_string())
    };
    let together = "{at: 0ms, start: [victim, more]}";
    assert_eq!(two("60%", "40%", together), Ok(()));
    assert_eq!(
        two("60%", "60%", "{at: 0ms, start: victim, for: 1ms}, {at: 1ms, start: more}"),
        Ok(())
    );
    assert_snapshot!(two("60%", "40.0001%", together).unwrap_err());
}

/// Whichever port the last sender of an instant leaves by.
#[test]
fn a_port_that_is_asked_for_too_much_is_found_whoever_starts_after_it() {
    let streams = "victim: {from: p1, to: p2, class: 3, kind: udp, size: 1000B, rate: 60%}, \
                   more: {from: p1, to: p3, class: 4, kind: udp, size: 1000B, rate: 60%}, \
                   last: {from: p3, to: p2, class: 4, kind: udp, size: 1000B, rate: 1%}";
    let said =
        refused("broadcom", &case(streams, "", "{at: 0ms, start: [victim, more, last]}", LOSS));
    assert!(said.contains("ask p1 for 120.0000 % of its 100Gbps"), "{said}");
}

#[test]
fn a_storm_takes_its_share_of_the_port_it_leaves_by() {
    let full = "victim: {from: p2, to: p1, class: 4, kind: udp, size: 1000B, rate: 100%}";
    let said = refused("broadcom", &case(full, STORM, "{at: 0ms, start: [victim, storm]}", LOSS));
    assert!(said.contains("ask p2 for 100.0040 % of its 100Gbps"), "{said}");
}

#[test]
fn ports_behave_and_are_recorded_as_usual_unless_the_case_says_otherwise() {
    let own = "endpoints: {p2: {obeys: [0, 7], response: 394q}}\n    taps: {p1: all}";
    let script = script(&case(VICTIM, "", START, &format!("{own}\n    {LOSS}")));
    let late =
        EndpointSpec { pfc: Takes::Either, pn: 1, obeys: 0b1000_0001, response: Dur(2_017_280) };
    assert_eq!(script.endpoints, [EndpointSpec::default(), late]);
    assert_eq!(script.taps, [Tap::All, Tap::Sampled]);
    assert_eq!((script.endpoint(1), script.tap(0)), (late, Tap::All));
    assert_eq!((script.endpoint(9), script.tap(9)), (EndpointSpec::default(), Tap::Sampled));
}

#[test]
fn quanta_of_a_response_last_as_long_as_on_the_port_they_are_said_of() {
    let own =
        "ports: {p1: slow, p2: fast}\n    endpoints: {p1: {response: 60q}, p2: {response: 60q}}";
    let case = case(VICTIM, "", START, &format!("{own}\n    {LOSS}"));
    let script = script_on(&dut("broadcom-mixed"), &case).unwrap_or_else(|fault| panic!("{fault}"));
    // 60 x 512 bit times at 100 and at 400 Gb/s.
    let responses: Vec<Dur> = script.endpoints.iter().map(|endpoint| endpoint.response).collect();
    assert_eq!(responses, [Dur(307_200), Dur(76_800)]);
}

/// What is said of a measure of `victim`, whose sender is `p1`.
fn with_sender(endpoint: &str, measure: &str) -> Result<(), String> {
    let rest = format!("endpoints: {{p1: {{{endpoint}}}}}\n    measure: [{{{measure}}}]");
    let case = case(VICTIM, STORM, "{at: 0ms, start: [victim, storm], for: 2ms}", &rest);
    script_on(&dut("broadcom"), &case).map(|_| ()).map_err(|fault| fault.to_string())
}

#[test]
fn what_is_predicted_of_a_sender_that_obeys_is_refused_of_one_that_does_not() {
    let said = [
        "pfcwd.detection: {storm: storm, stream: victim}",
        "pfcwd.restoration: {storm: storm, stream: victim}",
        "pfcwd.fired: {storm: storm, stream: victim}",
        "pfcwd.action: {storm: storm, stream: victim}",
        "counters: {storm: storm, stream: victim}",
        "loss: {stream: victim}",
    ]
    .map(|measure| {
        assert_eq!(with_sender("obeys: [3]", measure), Ok(()));
        with_sender("obeys: [4]", measure).expect_err(measure)
    });
    assert_snapshot!(said.join("\n\n"));
}

#[test]
fn what_the_case_itself_wants_of_a_sender_that_ignores_pfc_is_measured() {
    for measure in [
        "loss: {stream: victim, expect: some}",
        "throughput: {streams: [victim], from: 1ms, until: 2ms}",
        "pfc.sent: {port: p1, class: 3, expect: some}",
        "storm.coverage: {storm: storm}",
    ] {
        assert_eq!(with_sender("obeys: none", measure), Ok(()), "{measure}");
    }
}

#[test]
fn a_sender_may_take_the_standards_time_to_stop_and_not_a_picosecond_more() {
    // 394 quanta at 100 Gb/s are 2.01728 us.
    let measures =
        ["loss: {stream: victim}", "throughput: {streams: [victim], from: 1ms, until: 2ms}"];
    for measure in measures {
        assert_eq!(with_sender("response: 394q", measure), Ok(()));
        assert_eq!(with_sender("response: 2017280ps", measure), Ok(()));
        assert_eq!(
            with_sender("response: 1ms, obeys: none", measures[1]),
            Ok(()),
            "it never stops"
        );
    }
    let said = [
        with_sender("response: 2017281ps", measures[0]).expect_err("late"),
        with_sender("response: 395q", measures[1]).expect_err("late"),
    ];
    assert_snapshot!(said.join("\n\n"));
}

#[test]
fn a_class_that_the_device_never_pauses_needs_no_sender_that_obeys() {
    let lossy = "victim: {from: p1, to: p2, class: 1, kind: udp, size: 64B, every: 1ms}";
    let rest = format!("endpoints: {{p1: {{obeys: none}}}}\n    {LOSS}");
    assert_eq!(script(&case(lossy, "", START, &rest)).endpoint(0).obeys, 0);
}

proptest! {
    #[test]
    fn an_affine_length_of_time_is_exact(times in 0_u64..10_000_000, plus in 0_u64..1_000_000, minus in 0_u64..1_000_000) {
        let declared = dut("broadcom").declared;
        let (plus, minus) = (Dur::us(plus), Dur::us(minus));
        let amount = Amount::Of { of: "pfcwd.detection_time".to_owned(), times, plus, minus };
        let want = (200_000_000_000 * times / 1_000_000 + plus.0).saturating_sub(minus.0);
        prop_assert_eq!(amount.resolve(&Table(&declared, BTreeMap::new())), Ok(Dur(want)));
    }
}
