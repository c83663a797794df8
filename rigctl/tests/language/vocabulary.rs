//! Every entry is one measure, and the schema and the reader say of it what it says itself.

use rig_lab::yaml::Source;
use rig_oracle::measure::Registry;
use rig_testcases::vocabulary::{Field, Need, ValueKind};
use rig_testcases::{Measure, Vocabulary, schema};
use std::collections::BTreeSet;

#[test]
fn every_entry_has_a_name_of_its_own_and_says_what_it_is() {
    let names: BTreeSet<&str> = Registry.entries().iter().map(|entry| entry.name).collect();
    assert_eq!(names.len(), Registry.entries().len());
    for entry in Registry.entries() {
        let keys: BTreeSet<&str> = entry.fields.iter().map(|field| field.key).collect();
        assert_eq!(keys.len(), entry.fields.len(), "{}", entry.name);
        let told = |text: &str| !text.is_empty() && !text.ends_with('.');
        assert!(told(entry.about) && told(entry.source), "{}", entry.name);
        assert!(entry.fields.iter().all(|field| told(field.about)), "{}", entry.name);
    }
}

#[test]
fn the_schema_has_the_fields_of_every_entry() {
    let schema = schema(&Registry);
    let all = schema.pointer("/$defs/measure/properties").and_then(|all| all.as_object()).unwrap();
    assert_eq!(all.len(), Registry.entries().len());
    for entry in Registry.entries() {
        let told = &all[entry.name];
        let needed = |field: &&Field| matches!(field.need, Need::Required(_));
        let keys: BTreeSet<&str> = entry.fields.iter().map(|field| field.key).collect();
        let required: BTreeSet<&str> =
            entry.fields.iter().filter(needed).map(|field| field.key).collect();
        let properties = told["properties"].as_object().unwrap();
        assert_eq!(properties.keys().map(String::as_str).collect::<BTreeSet<_>>(), keys);
        let listed = told["required"].as_array().unwrap();
        assert_eq!(
            listed.iter().map(|key| key.as_str().unwrap()).collect::<BTreeSet<_>>(),
            required
        );
        assert!(properties.values().all(|of| of["description"].is_string()), "{}", entry.name);
    }
}

/// What may stand behind a key, in the case of `suite`.
fn example(field: &Field) -> String {
    match field.kind {
        ValueKind::Storm | ValueKind::OneStorm => "storm".to_owned(),
        ValueKind::Stream => "load".to_owned(),
        ValueKind::Flow => "flow".to_owned(),
        ValueKind::Ports | ValueKind::OnePort => "p1".to_owned(),
        ValueKind::OneSearched | ValueKind::Searched => {
            if field.key == "leave" { "other" } else { "one" }.to_owned()
        }
        ValueKind::Streams | ValueKind::SomeStreams => "[load]".to_owned(),
        ValueKind::Flows => "[flow, more]".to_owned(),
        ValueKind::Class => "3".to_owned(),
        ValueKind::Duration | ValueKind::Interval | ValueKind::Amount => {
            if field.key == "until" { "2ms" } else { "1ms" }.to_owned()
        }
        ValueKind::Rate => "1Gbps-L2".to_owned(),
        ValueKind::Share => "10%".to_owned(),
        ValueKind::Whole(_) => "1".to_owned(),
        ValueKind::Word(words) => words[0].to_owned(),
        ValueKind::Wanted(words) => words[0].0.to_owned(),
        ValueKind::Count => "0".to_owned(),
        ValueKind::Windows => {
            "[{flows: [flow, more], from: 1ms, until: 2ms}, {flows: [flow, more, last], from: 2ms, until: 3ms}]"
                .to_owned()
        }
    }
}

/// A suite that measures one thing, and everything that a measure may name.
fn suite(device: &str, measure: &str) -> String {
    const SWITCH: &str = "    streams:
      load: {from: p1, to: p2, class: 3, kind: udp, size: 100B, every: 1ms, count: 9}
      one: {from: p3, to: p5, class: 3, kind: udp, size: 100B, every: 1ms, count: ONE}
      other: {from: p3, to: p4, class: 3, kind: udp, size: 100B, every: 1ms, count: OTHER}
    storms: {storm: {from: p2, classes: [3]}}
    taps: {p1: all, p2: all}
    steps: [{at: 0s, start: [load, one, other]}, {at: 1ms, start: storm, for: 1ms}]\n";
    const NIC: &str =
        "    streams: {load: {from: p1, class: 3, kind: rocev2-send, size: 100B, every: 1ms}}
    flows:
      flow: {nic: p1, to: p2, class: 3, verb: write, message: 1024B, mtu: 1024B, count: 9}
      more: {nic: p3, to: p2, class: 3, verb: write, message: 1024B, mtu: 1024B, count: 9}
      last: {nic: p4, to: p2, class: 3, verb: write, message: 1024B, mtu: 1024B, count: 9}
    between: {bottleneck: {to: p2, speed: 10Gbps, kmin: 40KB, kmax: 400KB, pmax: 10%, buffer: 8MB}}
    steps: [{at: 0s, start: [load, flow, more, last]}]\n";
    let count = |name: &str| if measure.contains(name) { "searched" } else { "9" };
    let switch = SWITCH.replace("ONE", count(": one")).replace("OTHER", count(": other"));
    let does = match measure {
        _ if measure.contains("app.stream") => "verb: send, message: 1024B",
        _ if measure.contains("app.keys") => "verb: send-registered, message: 1024B",
        _ if measure.contains("rc.immediate") => "verb: send-immediate, message: 1024B",
        _ if measure.contains("rc.fence") || measure.contains("rc.receives") => {
            "verb: send, message: 1024B"
        }
        _ if measure.contains("uc.") => "verb: uc-send, message: 1024B",
        _ if measure.contains("ud.") => "verb: ud-send, message: 1024B",
        _ if measure.contains("rc.outstanding") => "verb: read, message: 1024B",
        _ if measure.contains("rc.atomic") => "verb: fetch-add, message: 8B",
        _ => "verb: write, message: 1024B",
    };
    let nics = NIC.replace("verb: write, message: 1024B", does);
    // Turns are told of who has something to send all the time.
    let of_all = measure.contains("rate.turns") || measure.contains("rate.beside");
    let nics = if of_all { nics.replace(", count: 9", "") } else { nics };
    // A step of an application has no count of its own.
    let nics = if measure.contains("app.") {
        let checked = measure.contains("app.checksum");
        let step = if checked { "{flow: flow, checksum: true}" } else { "flow" };
        let one = format!("    apps: {{one: {{steps: [{step}], rounds: 9}}}}\n");
        let own = nics.replacen(", count: 9", "", 1).replace("load, flow,", "load, one,");
        one + &own
    } else {
        nics
    };
    let body = if device == "switch" { switch.as_str() } else { nics.as_str() };
    format!(
        "about: x\ndevice: {device}\ncases:\n  a:\n    why: x\n    source: [x]\n{body}    measure: [{measure}]\n"
    )
}

/// Each with every key that goes with the others, and with no more than it must have.
#[test]
fn every_entry_is_read_as_the_measure_of_its_name() {
    for entry in Registry.entries() {
        for all in [false, true] {
            let either = |key: &str| match entry.name {
                "buffer.xoff" | "buffer.drop" => key == if all { "together" } else { "streams" },
                "rc.receiver" => key == if all { "flow" } else { "stream" },
                "rate.goodput" => key != "expect" && (all || key != "at_most" && key != "from"),
                "pfc.sent" => all || key != "class" && key != "after",
                _ => all,
            };
            let fields = entry
                .fields
                .iter()
                .filter(|field| matches!(field.need, Need::Required(_)) || either(field.key));
            let told: Vec<String> =
                fields.map(|field| format!("{}: {}", field.key, example(field))).collect();
            let measure = format!("{{{}: {{{}}}}}", entry.name, told.join(", "));
            let family = |name: &str| entry.name.starts_with(name);
            let nic =
                ["app.", "cnp.", "nic.", "rate.", "rc.", "uc.", "ud."].into_iter().any(family);
            let device = match (nic, family("rdma_router.")) {
                (true, _) => "nic",
                (_, true) => "rdma-router",
                _ if family("blue_rdma.") => "blue-rdma",
                _ => "switch",
            };
            let read = rig_testcases::read::suite(
                &Source::new("t.yaml", &suite(device, &measure)),
                &Registry,
            );
            let read = read.unwrap_or_else(|all| panic!("{measure}: {}", all[0]));
            let names: Vec<_> = read.cases[0].measure.iter().map(Measure::name).collect();
            assert_eq!(names, [entry.name]);
        }
    }
}
