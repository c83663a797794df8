use super::*;
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// The explanation of a bundled case, without its line in the file: that is another one after any edit of the catalogue.
fn explained(id: &str) -> String {
    let text = text(bundled(), id).unwrap_or_else(|bad| bad.text());
    let line = |line: &str| match line.rsplit_once(':') {
        Some((file, _)) if line.starts_with("  written in") => format!("{file}:LINE\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// Read once for all of these.
fn bundled() -> &'static Input {
    static BUNDLED: OnceLock<Input> = OnceLock::new();
    BUNDLED.get_or_init(read)
}

fn read() -> Input {
    let selection = Selection { paths: Vec::new(), lab: None, dut: None, only: None };
    Input::read(&selection).expect("the bundled catalogue reads")
}

#[test]
fn a_latency_is_explained_with_stimulus_formula_and_source() {
    insta::assert_snapshot!(explained("pfcwd::detection-latency-broadcom"));
}

#[test]
fn a_ramp_is_explained_by_its_ends_and_middle() {
    insta::assert_snapshot!(explained("pfcwd::trigger-ramp-barefoot"));
}

#[test]
fn ports_that_behave_or_are_recorded_otherwise_are_named() {
    insta::assert_snapshot!(explained("pfcwd::sender-that-ignores-pfc-broadcom"));
    insta::assert_snapshot!(explained("pfcwd::drop-takes-a-whole-burst-broadcom"));
}

#[test]
fn a_system_is_explained_by_its_devices_its_links_and_where_the_rig_is() {
    insta::assert_snapshot!(explained("system::latency-adds-up"));
}

#[test]
fn the_tag_of_a_stream_is_told() {
    let text = explained("ecn::curve-of-tagged-frames-broadcom");
    assert!(text.contains(", tagged VLAN 100, PCP 5"), "{text}");
}

#[test]
fn what_a_lab_cannot_have_of_a_case_is_told_and_not_promised() {
    // A switch that nobody asks for its counters.
    let mut input = read();
    input.lab.transport = rig_lab::Transport::Interfaces(rig_lab::Interfaces {
        interfaces: (1..=4).map(|n| format!("eth{n}")).collect(),
        backend: rig_lab::Backend::AfXdp,
        dpdk: None,
        speed: None,
        clock: rig_units::Ppm(0),
        bound: Dur::us(10),
        budget: Dur::s(60),
    });
    let id = "pfcwd::storm-counters-broadcom";
    let text = text(&input, id).unwrap_or_else(|bad| panic!("{}", bad.text()));
    assert!(
        text.contains("  left out    counters: the control `none` reads no counters"),
        "{text}"
    );
    let measured = text.split_once("  measured\n").expect("something is measured").1;
    assert!(!measured.contains("    counters"), "{measured}");
}

#[test]
fn a_slip_in_the_name_is_answered_with_what_was_meant() {
    insta::assert_snapshot!(explained("pfcwd::detection-latenzy-broadcom"));
    insta::assert_snapshot!(explained("trigger-ramp"));
    insta::assert_snapshot!(explained("?"));
}

#[test]
fn every_case_of_the_catalogue_is_explained_with_each_of_its_measures() {
    let input = bundled();
    for case in input.cases() {
        let text = text(input, &case.id.to_string()).unwrap_or_else(|bad| panic!("{}", bad.text()));
        for measure in &case.measure {
            assert!(text.contains(measure.name()), "{}: {}", case.id, measure.name());
        }
        let long = text.lines().find(|line| line.chars().count() > 160);
        assert_eq!(long, None, "{}", case.id);
        assert!(!text.contains("no value"), "{text}");
    }
}

/// What a measure is about stands in docs/measures.md: here is what it comes to on this device, in this case.
#[test]
fn what_is_predicted_is_more_than_what_is_measured() {
    let input = bundled();
    let mut told = BTreeSet::new();
    for case in input.cases() {
        // The first case with each measure: to work out what all of them predict takes a minute.
        let fresh = case.measure.iter().filter(|measure| told.insert(measure.name())).count();
        if fresh == 0 {
            continue;
        }
        let said = text(input, &case.id.to_string()).unwrap_or_else(|bad| bad.text());
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        for measure in &case.measure {
            assert!(!said.contains(measure.entry.about), "{}: {}", case.id, measure.name());
        }
    }
}

#[test]
fn why_there_are_so_many_trials_is_told() {
    let trials = |id: &str| {
        let text = explained(id);
        let line = text.lines().find(|line| line.starts_with("  trials"));
        line.unwrap_or_default().trim_start_matches("  trials").trim().to_owned()
    };
    let bursts = trials("ecn::curve-broadcom");
    assert!(
        bursts.ends_with(": bursts, so that a corner off by 5% is missed in 1% at most"),
        "{bursts}"
    );
    let default = "3: what shows in every other one is missed in one run of 8";
    assert_eq!(trials("headroom::xoff-refreshed-broadcom"), default);
    assert_eq!(trials("ecn::curve-with-a-low-pmax-broadcom"), "100: as the case says");
    // The judge of a latency has reasons of its own.
    assert_eq!(trials("pfcwd::detection-latency-broadcom"), "10");
}

#[test]
fn what_an_interval_of_cnps_counts_for_is_told_in_words() {
    let input = bundled();
    let each = input.cases();
    let asks = |case: &&&Case| case.measure.iter().any(|one| one.name() == "cnp.answers");
    let told = each.iter().filter(asks).map(|case| text(input, &case.id.to_string()));
    let told: Vec<String> = told.map(|text| text.unwrap_or_else(|bad| bad.text())).collect();
    let has = |words: &str| told.iter().any(|text| text.contains(words));
    assert!(has("before it, per queue pair"));
    for word in ["per Qp", "per DestIp", "per Port"] {
        assert!(!has(word), "{word}");
    }
}
