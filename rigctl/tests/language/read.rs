//! The catalogue as it is, and what a person is told about mistakes: one text a mistake, read and judged by hand.

use insta::assert_snapshot;
use proptest::prelude::*;
use rig_lab::Fault;
use rig_lab::yaml::Source;
use rig_oracle::measure::Registry;
use rig_testcases::case::{Endpoint, Response};
use rig_testcases::read::{bundled, suite};
use rig_testcases::{Amount, Suite, Takes, Tap};
use rig_units::{Dur, Quanta};

/// All faults of a text, as a person reads them.
fn faults(faults: &[Fault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n")
}

#[test]
fn the_bundled_catalogue_has_no_fault_and_no_case_is_skipped_on_the_default_lab() {
    let suites = bundled(&Registry).unwrap_or_else(|all| panic!("{}", faults(&all)));
    let lab = rig_lab::read::lab(None).unwrap_or_else(|all| panic!("{}", faults(&all)));
    let mut skipped = Vec::new();
    for case in suites.iter().flat_map(|suite| &suite.cases) {
        let why_not: Vec<_> = lab.duts.iter().map(|dut| case.suits(dut)).collect();
        if why_not.iter().all(Result::is_err) {
            skipped.push(format!("{}: {why_not:?}", case.id));
        }
    }
    assert!(skipped.is_empty(), "{}", skipped.join("\n"));
}

#[test]
fn the_watchdog_catalogue_has_its_cases() {
    let suites = bundled(&Registry).unwrap_or_else(|all| panic!("{}", faults(&all)));
    let suite = suites.iter().find(|suite| suite.name == "pfcwd").expect("it is bundled");
    let names: Vec<&str> = suite.cases.iter().map(|case| case.id.case.as_str()).collect();
    assert_snapshot!(names.join("\n"));
}

/// A suite that is right, line by line.
const RIGHT: &str = "\
about: \"a suite\"
device: switch
setup:
  dut: {pfcwd: {detection_time: 200ms}}
  streams:
    victim: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 1022B, every: 500us}
  storms:
    storm: {from: p2, classes: [3]}
cases:
  a-case:
    why: \"it matters\"
    source: [\"a paper\"]
    dut: {rule_family: broadcom}
    sweep: {length: [100ms, 200ms]}
    steps:
      - {at: 0ms, start: victim}
      - {at: 20ms, start: storm, for: length}
    measure:
      - pfcwd.detection: {storm: storm, stream: victim}
";

fn read_text(text: &str) -> Result<Suite, Vec<Fault>> {
    suite(&Source::new("pfcwd.yaml", text), &Registry)
}

/// What is said about `RIGHT` with one thing (or several) changed.
fn said(changes: &[(&str, &str)]) -> String {
    let text = changes.iter().fold(RIGHT.to_owned(), |text, (right, wrong)| {
        assert!(text.contains(right), "`{right}` does not stand in the text");
        text.replacen(right, wrong, 1)
    });
    match read_text(&text) {
        Ok(suite) => panic!("no fault was found in {suite:?}"),
        Err(all) => faults(&all),
    }
}

#[test]
fn a_suite_without_a_mistake_is_read() {
    assert_eq!(read_text(RIGHT).map(|suite| suite.cases.len()), Ok(1));
}

macro_rules! mistakes {
    ($($name:ident: $changes:expr;)*) => {$(
        #[test]
        fn $name() {
            assert_snapshot!(said(&$changes));
        }
    )*};
}

mistakes! {
    covers_nothing_by_an_empty_list: [("device: switch", "device: switch\ncovers: []")];
    covers_none_in_capitals: [("device: switch", "device: switch\ncovers: None")];
    covers_none_in_a_list: [("device: switch", "device: switch\ncovers: [none]")];
    stop_of_a_counted_stream: [
        ("every: 500us", "every: 500us, count: 10"),
        ("      - {at: 0ms, start: victim}\n", "      - {at: 0ms, start: victim}\n      - {at: 1ms, stop: victim}\n"),
    ];
    kills_none_of_a_case_that_measures: [("    why:", "    kills: {none: because, tried: pfcwd.action=alert}\n    why:")];
    kills_none_without_what_was_tried: [("    why:", "    kills: {none: because}\n    why:")];
    kills_none_of_a_mutant_that_is_not: [("    why:", "    kills: {none: because, tried: drop_leaks}\n    why:")];
    kills_none_of_a_value_that_does_not_fit: [("    why:", "    kills: {none: because, tried: pfcwd.action=hide}\n    why:")];
    unknown_key_at_the_top: [("device: switch", "devise: switch")];
    unknown_key_of_the_setup: [("  streams:", "  strems:")];
    unknown_key_of_a_stream: [("size: 1022B", "sise: 1022B")];
    unknown_key_of_a_storm: [("classes: [3]", "class: [3]")];
    unknown_key_of_a_case: [("    why:", "    wy:")];
    unknown_key_of_a_step: [("at: 20ms, start", "at: 20ms, strat")];
    unknown_key_of_a_measure: [("{storm: storm, stream: victim}", "{storm: storm, straem: victim}")];
    unknown_measure: [("pfcwd.detection:", "pfcwd.detektion:")];
    unknown_setting: [("detection_time: 200ms", "detecton_time: 200ms")];
    queues_in_place_of_their_scheduler: [("pfcwd: {detection_time: 200ms}", "scheduler: [strict]")];
    unknown_rule_family: [("rule_family: broadcom", "rule_family: brodcom")];
    unknown_stream_in_a_step: [("start: victim", "start: victm")];
    unknown_storm_in_a_measure: [("storm: storm, stream", "storm: strom, stream")];
    unknown_device: [("device: switch", "device: router")];
    a_switch_by_itself_over_a_router: [("    why:", "    over: router\n    why:")];
    unknown_kind_of_stream: [("rocev2-write", "roce-write")];
    unknown_variable: [("for: length", "for: lenght")];
    unknown_swept_setting: [("{length: [100ms, 200ms]}", "{dut.pfcwd.detection: [1s]}"), ("for: length", "for: 1s")];
    unknown_prediction: [("{length: [100ms, 200ms]}", "{length: {across: triger-ramp, points: 5}}")];
    unknown_name_in_a_length: [("for: length", "for: {of: pfcwd.detection, times: 2}")];
    duration_without_a_unit: [("at: 20ms", "at: 20")];
    duration_with_a_wrong_unit: [("at: 20ms", "at: 20msec")];
    size_without_a_unit: [("1022B", "1022")];
    size_below_the_headers: [("1022B", "64B")];
    class_out_of_range: [("class: 3", "class: 8")];
    class_as_a_word: [("class: 3", "class: three")];
    port_with_a_wrong_name: [("to: p2", "to: Ethernet4")];
    port_that_sends_to_itself: [("to: p2", "to: p1")];
    interval_of_nothing: [("every: 500us", "every: 0us")];
    rate_that_says_not_what_it_counts: [("every: 500us", "rate: 10Gbps")];
    rate_above_the_port: [("every: 500us", "rate: 120%")];
    rate_and_interval: [("every: 500us", "every: 500us, rate: 10%")];
    no_rate: [(", every: 500us", "")];
    missing_why: [("    why: \"it matters\"\n", "")];
    missing_source: [("    source: [\"a paper\"]\n", "")];
    missing_steps_and_measures: [
        ("    steps:\n      - {at: 0ms, start: victim}\n      - {at: 20ms, start: storm, for: length}\n", ""),
        ("    measure:\n      - pfcwd.detection: {storm: storm, stream: victim}\n", ""),
        ("    sweep: {length: [100ms, 200ms]}\n", "")
    ];
    step_with_two_actions: [("start: victim", "start: victim, stop: storm")];
    step_with_no_action: [("{at: 0ms, start: victim}", "{at: 0ms}")];
    clear_of_a_copy_without_a_request: [("start: storm, for: length", "clear: periodic")];
    copies_of_a_stream_without_an_end: [("pfcwd.detection: {storm: storm, stream: victim}", "watermarks.copies: {stream: victim}")];
    copies_of_a_queue_with_a_guest: [
        ("500us}", "500us, count: 9}\n    guest: {from: p3, to: p2, class: 3, kind: udp, size: 100B, every: 1ms}"),
        ("start: victim}", "start: [victim, guest]}"),
        ("pfcwd.detection: {storm: storm, stream: victim}", "watermarks.copies: {stream: victim}")
    ];
    stop_before_start: [("{at: 0ms, start: victim}", "{at: 0ms, start: victim, for: 1s}\n      - {at: 0ms, stop: storm}"), ("for: length", "for: 1s"), ("    sweep: {length: [100ms, 200ms]}\n", "")];
    started_while_running: [("{at: 0ms, start: victim}", "{at: 0ms, start: victim}\n      - {at: 5ms, start: victim}"), ("for: length", "for: 1s"), ("    sweep: {length: [100ms, 200ms]}\n", "")];
    sweep_that_nothing_uses: [("for: length", "for: 1s")];
    stream_that_nothing_uses: [("    sweep:", "    streams: {idle: {from: p1, to: p3, class: 4, kind: udp, size: 100B, every: 1ms}}\n    sweep:")];
    storm_with_gaps: [("classes: [3]", "classes: [3], refresh: 1.5x")];
    storm_without_a_class: [("classes: [3]", "classes: []")];
    storm_that_resumes: [("classes: [3]", "classes: [3], quanta: 0q")];
    storm_refreshed_in_percent: [("classes: [3]", "classes: [3], refresh: 50%")];
    lapse_expected_of_a_storm_without_gaps: [("    measure:", "    expect: {verdict: inconclusive, reason: storm-lapse}\n    measure:")];
    stream_that_does_not_pass_the_storm: [("classes: [3]", "classes: [4]")];
    required_setting_out_of_range: [("detection_time: 200ms", "detection_time: 99ms")];
    queues_that_are_not_eight: [("detection_time: 200ms", "detection_time: 200ms}, scheduler: {queues: [strict, {dwrr: 0}]")];
    setting_with_a_wrong_word: [("detection_time: 200ms", "action: dorp")];
    setting_without_a_unit: [("detection_time: 200ms", "detection_time: 200")];
    rejected_without_configure: [("    measure:", "    expect: rejected\n    measure:")];
    configure_without_expect: [("    measure:", "    configure: {pfcwd.action: forward}\n    measure:")];
    case_with_a_capital: [("a-case:", "A-Case:")];
    endpoint_that_nothing_uses: [("    sweep:", "    endpoints: {p7: {obeys: none}}\n    sweep:")];
    endpoint_with_a_wrong_name: [("    sweep:", "    endpoints: {Ethernet4: {obeys: none}}\n    sweep:")];
    endpoint_with_an_unknown_key: [("    sweep:", "    endpoints: {p1: {obays: none}}\n    sweep:")];
    endpoint_with_a_misspelt_word: [("    sweep:", "    endpoints: {p1: {obeys: non}}\n    sweep:")];
    endpoint_with_a_class_out_of_range: [("    sweep:", "    endpoints: {p1: {obeys: [3, 8]}}\n    sweep:")];
    endpoint_with_a_class_twice: [("    sweep:", "    endpoints: {p1: {obeys: [3, 3]}}\n    sweep:")];
    endpoint_with_a_bare_class: [("    sweep:", "    endpoints: {p1: {obeys: 3}}\n    sweep:")];
    endpoint_that_responds_without_a_unit: [("    sweep:", "    endpoints: {p1: {response: 60}}\n    sweep:")];
    endpoint_that_responds_in_a_wrong_unit: [("    sweep:", "    endpoints: {p1: {response: 60Gbps}}\n    sweep:")];
    endpoint_that_responds_too_late: [("    sweep:", "    endpoints: {p1: {response: 2s}}\n    sweep:")];
    endpoint_twice: [("    sweep:", "    endpoints: {p1: {obeys: none}, p1: {obeys: all}}\n    sweep:")];
    endpoints_as_a_list: [("    sweep:", "    endpoints: [p1]\n    sweep:")];
    tap_that_nothing_uses: [("    sweep:", "    taps: {p3: all}\n    sweep:")];
    tap_with_a_misspelt_word: [("    sweep:", "    taps: {p1: sampeld}\n    sweep:")];
    tap_that_is_a_mapping: [("    sweep:", "    taps: {p1: {record: all}}\n    sweep:")];
    macsec_with_a_misspelt_word: [("every: 500us", "every: 500us, macsec: forgd")];
    macsec_that_is_a_list: [("every: 500us", "every: 500us, macsec: [forged]")];
    macsec_late_by_nothing: [("every: 500us", "every: 500us, macsec: {late: 0}")];
    macsec_in_a_window_of_less_than_nothing: [("    dut: {", "    dut: {macsec: {replay_window: -1, enable: yes}, ")];
    tap_of_the_setup_that_no_case_uses: [("  storms:", "  taps: {p1: all, p22: all}\n  storms:")];
    tap_below_what_a_measure_follows: [("    sweep:", "    taps: {p1: pfc}\n    sweep:")];
    tap_below_what_a_storm_needs: [("    sweep:", "    taps: {p2: none}\n    sweep:"), ("pfcwd.detection: {storm: storm, stream: victim}", "storm.coverage: {storm: storm}")];
    tap_below_what_throughput_counts: [("    sweep:", "    taps: {p1: none, p2: pfc}\n    sweep:"), ("pfcwd.detection: {storm: storm, stream: victim}", "throughput: {streams: [victim], from: 1ms, until: 2ms}")];
    tap_below_the_pfc_that_is_looked_at: [("    sweep:", "    taps: {p1: none}\n    sweep:"), ("pfcwd.detection: {storm: storm, stream: victim}", "pfc.format: {port: p1}")];
    tap_below_what_counters_follow: [
        ("    sweep:", "    streams: {way-back: {from: p2, to: p3, class: 3, kind: udp, size: 100B, every: 1ms}}\n    taps: {p3: pfc}\n    sweep:"),
        ("start: victim", "start: [victim, way-back]"),
        ("pfcwd.detection:", "counters:")
    ];
    tap_of_the_setup_below_what_a_measure_follows: [("  storms:", "  taps: {p1: none}\n  storms:")];
    load_sampled_where_its_loss_is_predicted: [("every: 500us", "rate: 10%"), ("pfcwd.detection: {storm: storm, stream: victim}", "loss: {stream: victim}")];
    tap_that_samples_where_a_loss_is_predicted: [("    sweep:", "    taps: {p1: sampled, p2: pfc}\n    sweep:"), ("every: 500us", "rate: 10%"), ("pfcwd.detection: {storm: storm, stream: victim}", "loss: {stream: victim}")];
    streams_together_of_which_some_share_a_group: [
        ("    sweep:", "    streams:\n      a: {from: p1, to: p2, class: 3, kind: udp, size: 100B, every: 1ms, count: searched}\n      b: {from: p1, to: p3, class: 3, kind: udp, size: 100B, every: 1ms, count: searched}\n      c: {from: p4, to: p5, class: 3, kind: udp, size: 100B, every: 1ms, count: searched}\n    sweep:"),
        ("start: victim}", "start: [victim, a, b, c]}"),
        ("pfcwd.detection: {storm: storm, stream: victim}", "buffer.xoff: {together: [a, b, c]}")
    ];
    streams_of_one_group_and_queue: [
        ("    sweep:", "    streams:\n      a: {from: p1, to: p2, class: 3, kind: udp, size: 100B, every: 1ms, count: searched}\n      b: {from: p1, to: p2, class: 3, kind: udp, size: 100B, every: 1ms, count: searched}\n    sweep:"),
        ("start: victim}", "start: [victim, a, b]}"),
        ("pfcwd.detection: {storm: storm, stream: victim}", "buffer.xoff: {streams: [a, b]}")
    ];
    curve_of_two_queues: [
        ("    sweep:", "    streams:\n      other: {from: p1, to: p2, class: 4, kind: udp, size: 100B, every: 1ms}\n    sweep:"),
        ("start: victim}", "start: [victim, other]}"),
        ("pfcwd.detection: {storm: storm, stream: victim}", "ecn.curve: {streams: [victim, other]}")
    ];
    curve_of_frames_that_are_dropped_and_marked: [
        ("    sweep:", "    streams:\n      other: {from: p1, to: p2, class: 3, kind: udp, size: 100B, every: 1ms, ecn: not-ect}\n    sweep:"),
        ("start: victim}", "start: [victim, other]}"),
        ("pfcwd.detection: {storm: storm, stream: victim}", "ecn.curve: {streams: [victim, other]}")
    ];
    curve_of_two_colours: [
        ("    sweep:", "    streams:\n      other: {from: p1, to: p2, class: 3, kind: udp, size: 100B, every: 1ms, color: yellow}\n    sweep:"),
        ("start: victim}", "start: [victim, other]}"),
        ("pfcwd.detection: {storm: storm, stream: victim}", "ecn.curve: {streams: [victim, other]}")
    ];
    stream_behind_a_priority_tag: [("size: 1022B", "size: 1022B, vlan: {id: 0, pcp: 3}")];
    stream_behind_a_reserved_tag: [("size: 1022B", "size: 1022B, vlan: {id: 4095, pcp: 8}")];
    stream_behind_half_a_tag: [("size: 1022B", "size: 80B, vlan: {id: 100}")];
    stream_too_short_for_its_tag: [("size: 1022B", "size: 80B, vlan: {id: 100, pcp: 3}")];
    stream_behind_a_wrong_tag_to_ports_that_are_recorded: [
        ("size: 1022B", "size: 1022B, vlan: {id: 5000, pcp: 3}"),
        ("    sweep:", "    endpoints: {p1: {obeys: non}}\n    taps: {p1: all, p2: pfc}\n    sweep:")
    ];
    found_of_what_nobody_sets: [("    sweep:", "    found: {buffer: {pool: any}}\n    sweep:")];
    found_of_nothing: [("setup:", "setup:\n  found: {pfcwd: {detection: any, detection_time: sometimes}}")];
    found_in_a_range_of_nothing: [("setup:", "setup:\n  found: {pfcwd: {detection_time: {min: 300ms, max: 200ms}, poll_interval: {}}}")];
    found_in_proportion_to_a_chance: [("setup:", "setup:\n  found: {wred: {pmax: in-proportion, kmin: {min: 5ms}}, buffer: {cell: any}}")];
    profile_as_a_suite: [("about:", "extends: broadcom\nabout:"), ("cases:", "actual:")];
    stream_of_no_colour: [("class: 3, kind", "class: 3, color: blue, kind")];
    curve_of_no_stream: [("pfcwd.detection: {storm: storm, stream: victim}", "ecn.curve: {streams: []}")];
    curve_of_a_stream: [("pfcwd.detection: {storm: storm, stream: victim}", "ecn.curve: {stream: victim}")];
    several_at_once: [("class: 3", "class: 9"), ("1022B", "1022"), ("start: victim", "start: victm"), ("why:", "wy:")];
    a_key_twice: [("device: switch", "device: switch\ndevice: switch")];
    a_tab: [("  streams:", "\tstreams:")];
    a_bracket_too_few: [("classes: [3]", "classes: [3")];
    a_list_where_a_mapping_belongs: [("  dut: {pfcwd: {detection_time: 200ms}}", "  dut: [pfcwd]")];
    a_text_where_a_list_belongs: [("source: [\"a paper\"]", "source: a paper")];
}

#[test]
fn what_a_case_says_of_a_port_stands_over_what_the_setup_says() {
    let setup = "  endpoints: {p1: {obeys: [3, 4], response: 60q}, p2: {response: 400ns}}\n  taps: {p1: all, p2: sampled}\n  storms:";
    let own = "    endpoints: {p1: {obeys: none}}\n    taps: {p2: all}\n    sweep:";
    let changed = RIGHT.replacen("  storms:", setup, 1).replacen("    sweep:", own, 1);
    let suite = read_text(&changed).unwrap_or_else(|all| panic!("{}", faults(&all)));
    let case = &suite.cases[0];
    let first =
        Endpoint { pfc: Takes::Either, pn: 1, obeys: 0, response: Response::Quanta(Quanta(60)) };
    let second = Endpoint {
        pfc: Takes::Either,
        pn: 1,
        obeys: 0xff,
        response: Response::Time(Amount::Exactly(Dur::ns(400))),
    };
    assert_eq!(
        case.endpoints.clone().into_iter().collect::<Vec<_>>(),
        [("p1".to_owned(), first), ("p2".to_owned(), second)]
    );
    assert_eq!(case.taps.values().copied().collect::<Vec<_>>(), [Tap::All, Tap::All]);
}

#[test]
fn what_ends_at_a_nic_does_not_leave_it_again_to_be_counted() {
    let text = "about: x\ndevice: nic\ncases:\n  it:\n    why: x\n    source: [x]\n    \
                streams: {load: {from: p1, class: 3, kind: rocev2-write, size: 1024B, every: 10us, count: 9}}\n    \
                steps: [{at: 0ms, start: load}]\n    measure: [loss: {stream: load, expect: none}]\n";
    let all = read_text(text).expect_err("a healthy NIC would lose all of it");
    assert_snapshot!(faults(&all));
}

#[test]
fn a_case_on_a_system_says_what_it_goes_over() {
    let text = |over: &str| {
        format!(
            "about: x\ndevice: system\ncases:\n  it:\n    why: x\n    source: [x]\n    over: {over}\n    \
             streams: {{load: {{from: p1, to: p3, class: 3, kind: udp, size: 64B, every: 10us, count: 9}}}}\n    \
             steps: [{{at: 0ms, start: load}}]\n    length: 1ms\n    measure: [loss: {{stream: load, expect: none}}]\n"
        )
    };
    assert_snapshot!(faults(&read_text(&text("nic")).expect_err("a NIC passes nothing on")));
    let case = read_text(&text("router")).expect("it is right").cases.remove(0);
    let lab = rig_lab::read::lab(None).expect("the bundled lab");
    let suits = |name: &str| case.suits(lab.duts.iter().find(|dut| dut.name == name).expect(name));
    assert_eq!(suits("over-a-router"), Ok(()));
    assert_eq!(suits("two-in-a-row"), Err("a router is not among its devices".to_owned()));
}

#[test]
fn a_setup_may_speak_of_ports_that_only_some_cases_use() {
    let more = "    streams: {other: {from: p1, to: p3, class: 4, kind: udp, size: 100B, every: 1ms}}\n    steps: [{at: 0ms, start: other}]\n    measure: [{loss: {stream: other}}]\n";
    let suite = RIGHT.replacen("  storms:", "  taps: {p3: all}\n  storms:", 1);
    let suite = format!("{suite}  another:\n    why: x\n    source: [x]\n{more}");
    let suite = read_text(&suite).unwrap_or_else(|all| panic!("{}", faults(&all)));
    let taps: Vec<usize> = suite.cases.iter().map(|case| case.taps.len()).collect();
    assert_eq!(taps, [0, 1]);
}

proptest! {
    /// Whatever classes a port obeys, those are the ones of the script's port.
    #[test]
    fn a_list_of_classes_is_read_as_it_stands(obeys: u8, quanta: u16, tap in 0_usize..4) {
        let listed: Vec<String> = (0..8).filter(|class| obeys >> class & 1 == 1).map(|class| class.to_string()).collect();
        let (word, tap) = Tap::NAMES[tap];
        let own = format!("    endpoints: {{p1: {{obeys: [{}], response: {quanta}q}}}}\n    taps: {{p1: {word}}}\n    sweep:", listed.join(", "));
        let text = RIGHT.replacen("    sweep:", &own, 1).replacen("pfcwd.detection: {storm: storm, stream: victim}", "storm.coverage: {storm: storm}", 1);
        let case = read_text(&text).map_err(|all| TestCaseError::fail(faults(&all)))?.cases.remove(0);
        let want = Endpoint { pfc: Takes::Either, pn: 1, obeys, response: Response::Quanta(Quanta(quanta)) };
        prop_assert_eq!((case.endpoints["p1"].clone(), case.taps["p1"]), (want, tap));
    }
}
