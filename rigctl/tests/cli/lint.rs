//! `lint`: what it says of files, and of everything bundled.

use crate::support::Desk;
use serde_json::Value;
use std::path::Path;

const PAGE: &str = include_str!("../../../docs/sizing.md");

/// What the rules find in bundled profiles over 40 m of cable, and why it stays.
const KNOWN: &[(&str, &str, &str)] = &[
    // SONiC gives Spectrum and Tofino no xon_offset; what hysteresis the chips have of their own, no sheet states.
    ("barefoot", "xon-flaps", "a device as SONiC configures it"),
    ("barefoot-by-standard", "xon-flaps", "a device as SONiC configures it"),
    ("mellanox", "xon-flaps", "a device as SONiC configures it"),
    ("mellanox-by-standard", "xon-flaps", "a device as SONiC configures it"),
    ("mellanox-dynamic", "xon-flaps", "a device as SONiC configures it"),
    ("mellanox-tick", "xon-flaps", "a device as SONiC configures it"),
];

fn found(desk: &Desk, arguments: &str) -> (i32, Vec<String>) {
    let left = desk.rigctl(&format!("lint {arguments} --format json"));
    assert_eq!(left.stderr, "", "{arguments}");
    let told: Value = serde_json::from_str(&left.stdout).expect("JSON");
    assert_eq!(told["version"], 1);
    let findings = told["findings"].as_array().expect("a list");
    let rules = findings.iter().map(|one| one["rule"].as_str().expect("a name").to_owned());
    (left.code, rules.collect())
}

#[test]
fn bundled_profiles_are_sound_but_for_what_is_known() {
    let desk = Desk::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab-configs/duts");
    let mut looked_at = 0;
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        let known = KNOWN.iter().filter(|(profile, ..)| *profile == name).map(|(_, rule, _)| *rule);
        let known: Vec<&str> = known.collect();
        let code = i32::from(!known.is_empty());
        let (left, rules) = found(&desk, &name);
        assert_eq!((left, rules.iter().map(String::as_str).collect()), (code, known), "{name}");
        looked_at += 1;
    }
    assert!(looked_at >= 19, "{looked_at}");
    // 16 MiB for 32 ports of 100 Gb/s, each with the headroom that a switch of 8 has: the profile says so of itself, and no case asks for a
    // memory.
    let (code, rules) = found(&desk, "shallow-32x100g --memory 16MiB");
    assert_eq!((code, rules.as_slice()), (1, &["memory-overcommitted".to_owned()][..]));
    assert_eq!(found(&desk, "broadcom --memory 16MiB"), (0, vec![]));
}

#[test]
fn a_finding_names_its_place_in_the_file_that_states_it_its_formula_and_its_source() {
    let desk = Desk::new();
    desk.write(
        "mine.yaml",
        "name: mine\nabout: \"too little of it\"\nextends: broadcom\ndeclared:\n  buffer:\n    xoff: 90KB\n  wred:\n    kmin: 2MB\n    kmax: 3MB\n",
    );
    let left = desk.rigctl("lint mine.yaml");
    assert_eq!((left.code, left.stderr.as_str()), (1, ""));
    for wanted in [
        "mine.yaml:6:11: lossless-headroom, mine: headroom of 90KB at 100Gbps over 40m of cable",
        "6 |     xoff: 90KB",
        "= want: at least 97968B",
        "= by: F3: (731.36ns of a frame ahead",
        "= source: IEEE 802.1Q cl. 36",
        "mine.yaml:8:11: ecn-after-pfc, mine: a kmin of 2MB in class 3",
        "2 findings in 1 switch",
    ] {
        assert!(left.stdout.contains(wanted), "{wanted}:\n{}", left.stdout);
    }
    // What it extends states the rest: a pause that lapses is broadcom's line.
    desk.write("slow.yaml", "name: slow\nabout: \"no more of it\"\nextends: broadcom\ndeclared:\n  mtu: 9000B\n  pfc:\n    quanta: 19532q\n");
    let left = desk.rigctl("lint slow.yaml --cable 3m");
    assert!(left.stdout.contains("lab-configs/duts/broadcom.yaml:"), "{}", left.stdout);
    assert!(
        left.stdout.contains("pause-lapses, slow: XOFF of 19532q every 100us at 100Gbps"),
        "{}",
        left.stdout
    );
    assert_eq!(desk.rigctl("lint slow.yaml --allow pause-lapses").code, 0);
}

#[test]
fn a_lab_is_looked_at_with_its_own_cables_and_links() {
    let desk = Desk::new();
    desk.write("far.yaml", "name: far\nabout: \"smaller frames\"\nextends: mellanox\ndeclared:\n  mtu: 9000B\n  buffer: {xon_offset: 9216B}\n");
    let lab = |length: &str| {
        format!(
            "about: \"two in a row\"\ntransport: virtual\ncable: 3m\nduts:\n  - system: row\n    about: \"a row\"\n    devices: {{near: broadcom.yaml, far: far.yaml}}\n    links:\n      - {{from: near/Ethernet28, to: far/Ethernet28, length: {length}}}\n    ports: {{p1: near/Ethernet0, p2: near/Ethernet4, p3: far/Ethernet0, p4: far/Ethernet4}}\n"
        )
    };
    let profile = include_str!("../../../lab-configs/duts/broadcom.yaml");
    desk.write("broadcom.yaml", profile);
    desk.write("lab.yaml", &lab("40m"));
    let left = desk.rigctl("lint lab.yaml");
    assert_eq!(left.code, 1, "{}{}", left.stdout, left.stderr);
    assert!(left.stdout.contains("lab.yaml:9:"), "{}", left.stdout);
    assert!(
        left.stdout.contains("mtu-mismatch, row: a link between an MTU of 9122B and one of 9000B"),
        "{}",
        left.stdout
    );
    assert!(left.stdout.contains("1 finding in 2 switches"), "{}", left.stdout);
    // A kilometre between them is too much for either's headroom.
    desk.write("lab.yaml", &lab("1km"));
    let (code, rules) = found(&desk, "lab.yaml --allow mtu-mismatch");
    assert_eq!((code, rules), (1, vec!["lossless-headroom".to_owned(); 2]));
}

#[test]
fn switches_of_a_system_that_is_no_device_as_a_whole_are_looked_at_once_each() {
    let desk = Desk::new();
    desk.write("broadcom.yaml", include_str!("../../../lab-configs/duts/broadcom.yaml"));
    desk.write("gen2.yaml", include_str!("../../../lab-configs/duts/gen2.yaml"));
    desk.write(
        "lab.yaml",
        "about: a\ntransport: virtual\ncable: 3m\nduts:\n  - system: row\n    about: a\n    devices: {near: broadcom.yaml, far: broadcom.yaml, nics: {pair: [gen2.yaml, gen2.yaml]}}\n    links:\n      - {from: near/Ethernet28, to: nics/nic, length: 40m}\n      - {from: far/Ethernet28, to: nics/peer, length: 1km}\n    ports: {p1: near/Ethernet0, p2: far/Ethernet0}\n",
    );
    let left = desk.rigctl("lint lab.yaml");
    assert_eq!(left.code, 1, "{}{}", left.stdout, left.stderr);
    assert!(left.stdout.contains("lossless-headroom, far"), "{}", left.stdout);
    assert!(left.stdout.contains("1 finding in 2 switches"), "{}", left.stdout);
}

#[test]
fn what_cannot_be_read_is_wrong_input_and_a_rule_is_one_of_those_listed() {
    let desk = Desk::new();
    let left = desk.rigctl("lint nowhere.yaml --allow xon-flap");
    assert_eq!((left.code, left.stdout.as_str()), (2, ""));
    for wanted in [
        "`--allow xon-flap`: there is no such rule",
        "did you mean `xon-flaps`?",
        "nowhere.yaml: there is no such file",
    ] {
        assert!(left.stderr.contains(wanted), "{wanted}: {}", left.stderr);
    }
    assert_eq!(desk.rigctl("lint gen1").code, 0);
    let list = desk.rigctl("lint --list");
    assert_eq!(list.code, 0);
    assert!(
        PAGE.contains(&list.stdout),
        "docs/sizing.md is to hold what `rigctl lint --list` prints:\n{}",
        list.stdout
    );
}
