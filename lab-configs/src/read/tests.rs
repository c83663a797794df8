//! The labs and profiles of the repository, and what a person is told about mistakes in one: read and judged by hand.

use super::*;
use crate::{
    CipherSuite, Declared, Kind, Macsec, PfcMode, Policy, Reception, RuleFamily, Switch, Watermark,
};
use insta::assert_snapshot;

fn all(faults: &[Fault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n")
}

/// A lab that has no fault, from its text and the bundled profiles.
pub(super) fn lab_of(text: &str) -> Lab {
    let lab = lab_from(&Source::new("lab.yaml", text), &bundled::dut);
    lab.unwrap_or_else(|faults| panic!("{}", all(&faults)))
}

/// What a person is told of a lab with faults.
pub(super) fn faults_of_lab(text: &str) -> String {
    let lab = lab_from(&Source::new("lab.yaml", text), &bundled::dut);
    all(&lab.expect_err("a lab with faults"))
}

fn files(folder: &str) -> Vec<std::path::PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(&root).unwrap_or_else(|e| panic!("{}: {e}", root.display()));
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut all: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|ext| ext == "yaml")).collect();
    all.sort();
    all
}

#[test]
fn a_profile_that_is_written_reads_back_as_the_same() {
    let mut duts = lab(None).unwrap_or_else(|faults| panic!("{}", all(&faults))).duts;
    for mutation in ["deviation=counters_off", "pfcwd.detection_time=x1.1"] {
        let mut mutated = duts[0].clone();
        mutated.mutate(&mutation.parse().expect("a mutation")).expect("of a switch");
        duts.push(mutated);
    }
    // A system stands in a lab alone.
    for dut in duts.into_iter().filter(|dut| dut.system.is_none()) {
        let text = dut.written().to_string();
        let read = profile_from(&Source::new("profile.yaml", &text));
        assert_eq!(read.unwrap_or_else(|faults| panic!("{}", all(&faults))), dut);
    }
}

#[test]
fn every_lab_of_the_repository_is_read() {
    let labs = files("");
    assert!(labs.len() >= 8, "{labs:?}");
    for path in labs {
        let lab = lab(Some(&path)).unwrap_or_else(|faults| panic!("{}", all(&faults)));
        assert!(crate::is_name(&lab.name), "{}", lab.name);
    }
}

#[test]
fn every_profile_is_bundled_and_named_as_its_file() {
    for path in files("duts") {
        let profile = profile(&path).unwrap_or_else(|faults| panic!("{}", all(&faults)));
        assert_eq!(Some(profile.name.as_str()), path.file_stem().and_then(|s| s.to_str()));
        let bundled = bundled::dut(&format!("duts/{}.yaml", profile.name));
        let bundled = bundled.unwrap_or_else(|faults| panic!("{}", all(&faults)));
        assert_eq!(profile_from(&bundled), Ok(profile));
    }
}

#[test]
fn the_default_lab_needs_no_file_and_has_every_rule_and_both_poll_loops() {
    let lab = lab(None).unwrap_or_else(|faults| panic!("{}", all(&faults)));
    assert_eq!((lab.name.as_str(), lab.cable_cm), ("emulated", 300));
    for (name, family) in RuleFamily::NAMES {
        assert!(lab.duts.iter().any(|dut| dut.family() == Some(family)), "{name} is missing");
    }
    assert!(
        lab.duts.iter().any(|dut| dut.declared.get("pfcwd.jitter") == Some("50us..1.1ms".into()))
    );
}

#[test]
fn a_bundled_device_does_as_it_declares() {
    let lab = lab(None).unwrap_or_else(|faults| panic!("{}", all(&faults)));
    for dut in lab.duts {
        assert_eq!(dut.actual().applied(&dut.declared), Ok(dut.declared.clone()));
        assert_eq!(dut.actual().deviations(), []);
    }
}

/// The bundled profile with one thing (or several) changed.
fn changed(changes: &[(&str, &str)]) -> Result<Profile, Vec<Fault>> {
    let text = include_str!("../../duts/broadcom.yaml").to_owned();
    let text = changes.iter().fold(text, |text, (right, wrong)| {
        assert!(text.contains(right), "`{right}` does not stand in the profile");
        text.replacen(right, wrong, 1)
    });
    profile_from(&Source::new("broadcom.yaml", &text))
}

fn said(changes: &[(&str, &str)]) -> String {
    changed(changes).map_or_else(|faults| all(&faults), |profile| panic!("no fault in {profile:?}"))
}

#[test]
fn a_profile_may_depart_from_what_it_declares() {
    let actual = "actual:\n  overrides: {pfcwd.detection_time: x1.1, pfcwd.restoration_time: never}\n  deviations: [\"drop_leaks:3\", alert_acts]\ndeclared:";
    let profile =
        changed(&[("declared:", actual)]).unwrap_or_else(|faults| panic!("{}", all(&faults)));
    let applied = profile.actual().applied(&profile.declared);
    let pfcwd = switch(applied.map_err(|bad| bad.to_string())).pfcwd;
    assert_eq!((pfcwd.detection_time, pfcwd.restoration_time), (rig_units::Dur::ms(220), None));
    let on: Vec<String> = profile.actual().deviations().iter().map(ToString::to_string).collect();
    assert_eq!(on, ["drop_leaks:3", "alert_acts"]);
}

/// All that must be said of MACsec.
const MACSEC: &str = "macsec: {enable: true, cipher_suite: GCM-AES-XPN-256, policy: integrity_only, send_sci: false, \
    enable_replay_protect: true, replay_window: 64, pfc_encryption_mode: encrypt, latency: 300ns, encoding_sa: 2}";

macro_rules! mistakes {
    ($($name:ident: $changes:expr;)*) => {$(
        #[test]
        fn $name() {
            assert_snapshot!(said(&$changes));
        }
    )*};
}

mistakes! {
    unknown_key_of_a_profile: [("asic:", "asics:")];
    asic_that_is_no_word: [("asic: tomahawk", "asic: 3")];
    asic_that_is_missing: [("asic:", "# asic:")];
    lab_as_a_profile: [("declared:", "duts:")];
    unknown_key_deep_below: [("    poll_interval: 100ms", "    pol_interval: 100ms")];
    missing_key: [("    charge: interval ", "    # charge: interval ")];
    several_wrong_values: [("pool: 10875072B", "pool: 10875072"), ("action: drop", "action: dorp"), ("count: 8", "count: eight"), ("forwarding_delay: 600ns", "forwarding_delay: fast")];
    ranges_that_say_none: [("response: 2.02us ", "response: 3us..1us ")];
    limits_that_cross: [("response: 2.02us ", "response: {min: 3us, max: 1us} ")];
    limit_from_below_alone: [("response: 2.02us ", "response: {min: 3us} ")];
    tolerance_below_nothing: [("response: 2.02us ", "response: {typ: 2us, tol: -10%} ")];
    range_by_another_key: [("response: 2.02us ", "response: {most: 2us} ")];
    range_without_a_unit: [("response: 2.02us ", "response: {max: 2} ")];
    range_of_what_is_one_value: [("poll_interval: 100ms", "poll_interval: 90ms..100ms")];
    limit_of_what_is_one_value: [("detection_time: 200ms", "detection_time: {max: 200ms}"), ("kmin: 104000B", "kmin: {typ: 104000B, tol: 2%}")];
    word_of_before_ranges: [("charge: interval ", "jitter: tick\n    charge: interval ")];
    response_that_outlasts_its_pause: [("response: 2.02us ", "response: 2us..336us ")];
    name_with_blanks: [("name: broadcom", "name: Broad Com")];
    unknown_family: [("family: broadcom", "family: tomahawk")];
    no_ports: [("count: 8", "count: 0")];
    more_ports_than_fit: [("ports: [{count: 8, speed: 100Gbps}]", "ports: [{count: 65535, speed: 100Gbps}, {count: 65535, speed: 100Gbps}]")];
    speed_that_does_not_exist: [("speed: 100Gbps", "speed: 99Gbps")];
    refresh_beyond_the_pause: [("refresh: 100us", "refresh: 400us")];
    refresh_that_may_be_at_once: [("refresh: 100us ", "refresh: {max: 50us} ")];
    detection_time_out_of_range: [("detection_time: 200ms", "detection_time: 99ms")];
    restoration_time_out_of_range: [("restoration_time: 200ms", "restoration_time: 60001ms")];
    yang_refuses_detection_below_the_poll: [("poll_interval: 100ms", "poll_interval: 300ms")];
    cisco_refuses_forward: [("family: broadcom", "family: cisco-8000"), ("action: drop", "action: forward")];
    virtual_output_queues_with_a_reserve: [("crossing: headroom", "accounting: voq\n    port_dynamic_th: 1\n    crossing: headroom")];
    accounting_as_another_word: [("crossing: headroom", "accounting: egress\n    crossing: headroom")];
    memories_that_are_left_out: [("crossing: headroom", "ingress_memories: [0, 2]\n    crossing: headroom")];
    more_pipes_than_ports: [("crossing: headroom", "egress_memories: [0, 1, 0, 1, 0, 1, 0, 1, 0]\n    crossing: headroom")];
    more_memories_than_there_are: [("crossing: headroom", "ingress_memories: 3\n    egress_memories: 2\n    crossing: headroom")];
    memories_of_virtual_output_queues: [("crossing: headroom", "accounting: voq\n    ingress_memories: 2\n    crossing: headroom"), ("reserved: 1248B", "reserved: 0B")];
    watermarks_polled_all_the_time: [("  pfcwd:\n", "  watermark: {poll: 0ms}\n  pfcwd:\n")];
    xoff_that_takes_longer_than_its_pause: [("    xon_counts:", "    emission: 400us\n    xon_counts:")];
    macsec_in_part: [("  pfcwd:\n", "  macsec: {enable: true, policy: security}\n  pfcwd:\n")];
    macsec_out_of_range: [("  pfcwd:\n", &format!("  {}\n  pfcwd:\n", MACSEC.replace("window: 64", "window: 1073741824").replace("sa: 2", "sa: 4, next_pn: 0").replace("300ns", "400us")))];
    cutting_through_beside_macsec: [("  pfcwd:\n", &format!("  switching_mode: cut-through\n  {MACSEC}\n  pfcwd:\n"))];
    unknown_words_of_macsec: [("  pfcwd:\n", &format!("  {}\n  pfcwd:\n", MACSEC.replace("XPN-256", "512").replace("integrity_only", "open").replace("mode: encrypt", "mode: encrypted, pfc_clear: drop")))];
    too_few_queues: [(", strict, strict]", ", strict]")];
    queues_in_place_of_their_scheduler: [("scheduler: {queues: [", "scheduler: ["), (", strict, strict]}", ", strict, strict]")];
    code_point_beyond_63: [("46: 5", "64: 5")];
    thresholds_of_wred_that_cross: [("kmin: 104000B", "kmin: 312001B"), ("weight: 0", "drop: {kmin: 2B, kmax: 1B, pmax: 1%}\n    weight: 16")];
    colour_of_wred_without_a_threshold: [("weight: 0", "red: {kmin: 1B, pmax: 5%}\n    weight: 0")];
    unknown_words_of_wred: [("ecn: ecn_all", "ecn: all"), ("pmax: 5%", "pmax: 101%"), ("unit: bytes", "unit: frames")];
    frames_that_count_nothing: [("unit: bytes ", "unit: {packets: 0B} "), ("queues: [3, 4]", "queues: [3, 8]")];
    guard_without_pfc: [("pfcwd_sw_enable: [3, 4]", "pfcwd_sw_enable: [3, 5]")];
    override_of_nothing: [("declared:", "actual: {overrides: {pfcwd.detektion_time: x2}}\ndeclared:")];
    override_that_does_not_fit: [("declared:", "actual: {overrides: {pfcwd.action: x2}}\ndeclared:")];
    unknown_deviation: [("declared:", "actual: {deviations: [drop_leek]}\ndeclared:")];
    deviation_with_a_value_it_does_not_take: [("declared:", "actual: {deviations: [\"alert_acts:2\"]}\ndeclared:")];
}

#[test]
fn a_nic_whose_refresh_outlasts_its_pause_is_refused_whichever_it_is_and_however_it_came_about() {
    let gbps = |n: u64| rig_units::PortSpeed::from_bps(n * 1_000_000_000).expect("a speed");
    let text = include_str!("../../duts/pcie-gen3.yaml").to_owned();
    let read = |changes: &[(&str, &str)]| {
        let text = changes.iter().fold(text.clone(), |text, (old, new)| {
            assert!(text.contains(old), "`{old}` does not stand in the profile");
            text.replacen(old, new, 1)
        });
        profile_from(&Source::new("pcie-gen3.yaml", &text))
    };
    let told = |read: Result<Profile, Vec<Fault>>| all(&read.expect_err("it is too late"));
    // The bundled one at a faster port, and with a shorter pause at its own.
    assert_snapshot!(told(read(&[("speed: 40Gbps", "speed: 100Gbps")])));
    assert_snapshot!(told(read(&[("quanta: 65535q", "quanta: 31249q")])));
    // One that is as the bundled one, but for its port.
    assert_snapshot!(told(extending(
        &format!("{OWN}extends: pcie-gen3\ndeclared: {{ports: [{{count: 1, speed: 100Gbps}}]}}\n"),
        &[],
    )));
    // As long as its pause is not too long.
    let just = read(&[("quanta: 65535q", "quanta: 31250q")]);
    let profile = just.unwrap_or_else(|faults| panic!("{}", all(&faults)));
    // What a case sweeps, and the other one of two.
    assert_eq!(profile.declared.nics_out_of_range(), []);
    let faster = profile.declared.at(gbps(100)).nics_out_of_range();
    let want = "XOFF is refreshed every 400us, the pause of 31250q runs out after 160us at 100Gbps";
    let wants = "pfc.refresh of at most 160us".to_owned();
    assert_eq!(faster, [("nic.pfc.refresh".to_owned(), want.to_owned(), wants)]);
    let lab = lab_of(
        "about: x\ntransport: virtual\ncable: 3m\nduts: [{pair: [duts/pcie-gen3.yaml, duts/pcie-gen3.yaml]}]\n",
    );
    let faster = lab.duts[0].declared.at(gbps(100)).nics_out_of_range();
    let paths: Vec<&str> = faster.iter().map(|(path, ..)| path.as_str()).collect();
    assert_eq!(paths, ["nic.pfc.refresh", "peer.pfc.refresh"]);
}

fn switch(declared: Result<Declared, String>) -> Switch {
    declared.expect("rows that fit").switch().expect("a switch").clone()
}

#[test]
fn that_no_poll_is_left_out_may_be_said_with_a_number() {
    let none = changed(&[("charge: interval ", "skipped_polls: 0\n    charge: interval ")])
        .map(|own| own.declared);
    assert_eq!(none, changed(&[]).map(|own| own.declared));
}

#[test]
fn a_profile_may_say_how_watermarks_are_polled_or_say_nothing() {
    let text = include_str!("../../duts/broadcom.yaml");
    let sample = crate::sample(Kind::Switch);
    assert_eq!(switch(sample).watermark, Watermark::default());
    let polled = text.replace("  pfcwd:\n", "  watermark: {poll: 60s}\n  pfcwd:\n");
    let profile = profile_from(&Source::new("dut.yaml", &polled));
    let profile = profile.unwrap_or_else(|faults| panic!("{}", all(&faults)));
    let want = Watermark { poll: Some(rig_units::Dur::ms(60_000)), telemetry: None };
    assert_eq!(switch(Ok(profile.declared)).watermark, want);
}

#[test]
fn a_profile_may_speak_macsec_or_say_nothing() {
    let text = include_str!("../../duts/broadcom.yaml");
    assert_eq!(switch(crate::sample(Kind::Switch)).macsec, Macsec::off());
    let profile = |macsec: &str| {
        let text = text.replace("  pfcwd:\n", &format!("  {macsec}\n  pfcwd:\n"));
        let profile = profile_from(&Source::new("dut.yaml", &text));
        switch(Ok(profile.unwrap_or_else(|faults| panic!("{}", all(&faults))).declared)).macsec
    };
    let want = Macsec {
        enable: true,
        cipher_suite: CipherSuite::GcmAesXpn256,
        policy: Policy::IntegrityOnly,
        send_sci: false,
        enable_replay_protect: true,
        replay_window: 64,
        pfc_encryption_mode: PfcMode::Encrypt,
        latency: rig_units::Dur::ns(300).into(),
        encoding_sa: 2,
        ..Macsec::off()
    };
    assert_eq!(profile(MACSEC), want);
    let more = MACSEC.replace("sa: 2", "sa: 2, pfc_clear: bad, pfc_sent: never, next_pn: 9");
    let bad = Some(Reception::Bad);
    assert_eq!(profile(&more), Macsec { pfc_clear: bad, next_pn: Some(9), ..want });
}

#[test]
fn redis_does_not_mind_a_detection_time_below_the_poll_interval() {
    let changes = [
        ("poll_interval: 100ms", "poll_interval: 300ms"),
        ("config_path: yang", "config_path: redis"),
    ];
    assert!(changed(&changes).is_ok());
}

/// A lab whose profiles are the bundled ones.
fn of_lab(text: &str) -> String {
    let source = Source::new("labs/my-lab.yaml", text);
    lab_from(&source, &bundled::dut).map_or_else(|faults| all(&faults), |lab| format!("{lab:?}"))
}

#[test]
fn a_lab_names_what_is_wrong_with_it() {
    assert_snapshot!(of_lab("about: x\ntransport: virtal\ncable: 3\nduts: [duts/brodcom.yaml]\n"));
    assert_snapshot!(of_lab(
        "about: x\ntransport: virtual\ncable: 3m\nduts: [duts/broadcom.yaml, duts/broadcom.yaml]\n"
    ));
    assert_snapshot!(of_lab("about: x\ntransport: virtual\ncable: 2000km\nduts: []\n"));
    assert_snapshot!(of_lab(
        "about: x\ntransport: veth\ncontrol: served\nbound: 1ms\ncable: 3m\nduts: [duts/broadcom.yaml]\n"
    ));
    assert_snapshot!(of_lab(include_str!("../../duts/broadcom-weighted.yaml")));
    assert_snapshot!(of_lab("about: x\ncases: {}\n"));
}

#[test]
fn what_only_virtual_time_has_is_refused_on_a_wire_with_what_to_list_instead() {
    let veth = "veth\nwire: {speed: 500Mbps, ports: 4, bound: 16ms, benches: 8, budget: 240s}";
    let cabled = "interfaces\nwire: {interfaces: [a, b], bound: 4ms, budget: 60s}";
    let router = (
        "duts/router.yaml",
        "a router, `router`, on interfaces of the rig",
        "a switch: of others nobody there has a connection or a route",
    );
    let pair = (
        "{pair: [duts/gen1.yaml, duts/gen2.yaml]}",
        "the pair of NICs `gen1-to-gen2` in a lab with `ports: 4`",
        "`ports: 2`, one for each of them, and a lab of its own for NICs alone",
    );
    let nic = (
        "duts/gen2.yaml",
        "a NIC, `gen2`, on interfaces of the rig",
        "a switch: of others nobody there has a connection or a route",
    );
    for (transport, (dut, found, want)) in [(veth, pair), (cabled, router), (cabled, nic)] {
        let text = format!("about: x\ntransport: {transport}\ncable: 3m\nduts: [{dut}]\n");
        let told = faults_of_lab(&text);
        assert!(told.contains(found) && told.contains(want), "{dut}: {told}");
    }
}

#[test]
fn the_faults_of_a_profile_carry_the_profiles_own_name() {
    let folder = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap_or_else(|e| panic!("{e}"));
        path
    };
    write(
        "x.yaml",
        &include_str!("../../duts/broadcom.yaml").replace("action: drop", "action: dorp"),
    );
    let path =
        write("lab.yaml", "about: x\ntransport: virtual\ncable: 3m\nduts: [x.yaml, y.yaml]\n");
    let said = lab(Some(&path)).map_or_else(|faults| all(&faults), |lab| panic!("{lab:?}"));
    let said = said.replace(&folder.path().display().to_string(), "DIR");
    assert_snapshot!(said);
}

#[test]
fn what_is_no_file_is_said_so() {
    let folder = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
    let binary = folder.path().join("binary.yaml");
    std::fs::write(&binary, b"about: x\n\xff\xfe\x00").unwrap_or_else(|e| panic!("{e}"));
    let huge = folder.path().join("huge.yaml");
    std::fs::write(&huge, "a: 1\n".repeat(300_000)).unwrap_or_else(|e| panic!("{e}"));
    let said = |path: &Path| match lab(Some(path)) {
        Ok(lab) => panic!("{lab:?}"),
        Err(faults) => all(&faults).replace(&folder.path().display().to_string(), "DIR"),
    };
    let paths = [folder.path().join("none.yaml"), folder.path().to_owned(), binary, huge];
    assert_snapshot!(paths.map(|path| said(&path)).join("\n"));
}

/// A profile that extends another, beside files of these names and texts.
fn extending(text: &str, beside: &[(&str, &str)]) -> Result<Profile, Vec<Fault>> {
    let find = |name: &str| {
        let found = beside.iter().find(|(file, _)| *file == name);
        found.map(|(file, text)| Source::new(file, text)).ok_or_else(Vec::new)
    };
    extended(&Source::new("own.yaml", text), Path::new(""), &find, &[])
}

const OWN: &str = "name: own\nabout: mine\n";

#[test]
fn what_a_profile_leaves_out_is_as_the_one_says_that_it_extends() {
    let text = format!(
        "{OWN}extends: broadcom\ndeclared:\n  pfcwd: {{detection_time: 400ms, restoration_time: never}}\n"
    );
    let own = extending(&text, &[]).unwrap_or_else(|faults| panic!("{}", all(&faults)));
    let mut want =
        profile_from(&bundled::dut("duts/broadcom.yaml").expect("bundled")).expect("whole");
    (want.name, want.about) = ("own".to_owned(), "mine".to_owned());
    for (path, value) in
        [("detection_time", "400ms".into()), ("restoration_time", serde_json::Value::Null)]
    {
        let setting = crate::Setting { path: format!("pfcwd.{path}"), value };
        want.declared = want.declared.with(&setting).expect("it fits");
    }
    assert_eq!(own, want);
    let nothing = extending(&format!("{OWN}extends: gen1\n"), &[]);
    assert_eq!(nothing.map(|own| own.declared.get("nic.generation")), Ok(Some("gen1".into())));
}

#[test]
fn a_profile_beside_it_goes_before_a_bundled_one_and_how_it_departs_is_left_behind() {
    let beside =
        "name: broadcom\nabout: b\nextends: mellanox\nactual: {deviations: [alert_acts]}\n";
    let own = extending(&format!("{OWN}extends: broadcom\n"), &[("broadcom.yaml", beside)]);
    let own = own.unwrap_or_else(|faults| panic!("{}", all(&faults)));
    assert_eq!((own.family(), own.actual().deviations()), (Some(RuleFamily::Mellanox), &[][..]));
}

#[test]
fn faults_of_extending_are_told_where_they_stand() {
    let broken =
        "name: a\nabout: b\nextends: broadcom\ndeclared: {pfcwd: {detection_time: soon}}\n";
    let round = "name: a\nabout: b\nextends: own\n";
    let told = [
        ("extends: brodcom\n", &[][..]),
        ("extends: a\n", &[("a.yaml", broken)]),
        ("extends: a\n", &[("a.yaml", round), ("own.yaml", "name: own\nabout: c\nextends: a\n")]),
        ("extends: gen1\nkind: switch\n", &[]),
        ("extends: broadcom\ndeclared: {wred: {kmin: 400000B}}\n", &[]),
    ]
    .map(|(text, beside)| {
        let faults = extending(&format!("{OWN}{text}"), beside).expect_err("no profile");
        all(&faults)
    });
    assert_snapshot!(told.join("\n---\n"));
}
