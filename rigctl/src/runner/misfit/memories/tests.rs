//! What is said of a device with several packet memories, and what is not.

use super::*;
use crate::runner::{applicability, bundled};
use rig_lab::{Declared, Memories};
use rig_testcases::Sweep;

/// A device of the default lab with memories by ingress and by egress, two ports a pipe.
fn with(device: &str, [ingress, egress]: [&[u16]; 2]) -> (Lab, Profile) {
    let lab = rig_lab::read::lab(None).expect("the bundled lab");
    let mut dut = lab.duts.iter().find(|dut| dut.name == device).expect("a device").clone();
    let set = |declared: &mut Declared| {
        let Declared::Switch(switch) = declared else { panic!("it is a switch") };
        let of =
            |pipes: &[u16]| Some(Memories::Pipes(pipes.to_vec())).filter(|_| !pipes.is_empty());
        switch.buffer.ingress_memories = of(ingress);
        switch.buffer.egress_memories = of(egress);
    };
    match &mut dut.system {
        Some(system) => set(&mut system.devices[1].declared),
        None => set(&mut dut.declared),
    }
    (lab, dut)
}

/// Why a bundled case is not run on such a device; nothing where it is.
fn why(device: &str, case: &str, sides: [&[u16]; 2]) -> String {
    let (lab, dut) = with(device, sides);
    let case = bundled::cases().iter().find(|one| one.id.to_string() == case).expect("a case");
    let reach = applicability::of(&lab, &dut, case);
    reach.err().map(|unfit| unfit.why).unwrap_or_default()
}

const HAS: &str =
    "broadcom has 2 packet memories (buffer.ingress_memories, buffer.egress_memories), ";

#[test]
fn a_case_in_one_memory_is_run_and_one_in_several_where_each_stream_is_known_by_its_own() {
    // p1, p3 and p4 send to p2.
    for case in ["thresholds-in-turn-broadcom", "six-groups-together-broadcom"] {
        let case = format!("buffers::{case}");
        assert_eq!(why("broadcom", &case, [&[0, 0, 1, 1], &[]]), "", "{case}");
        assert_eq!(why("broadcom", &case, [&[], &[0, 1, 1, 0]]), "", "{case}");
    }
    let apart: [&[u16]; 2] = [&[0, 1, 1, 0], &[]];
    assert_eq!(why("broadcom", "buffers::thresholds-in-turn-broadcom", apart), "");
    assert_eq!(
        why("broadcom", "buffers::six-groups-together-broadcom", apart),
        format!(
            "{HAS}far takes another of them than fill, and buffer.xoff is predicted of streams that take one"
        )
    );
}

#[test]
fn how_deep_a_queue_in_several_memories_is_nobody_says() {
    // p1 and p3 send to p2.
    let case = "ecn::marks-before-pauses-broadcom";
    assert_eq!(why("broadcom", case, [&[], &[0, 1, 1, 0]]), "");
    let told = why("broadcom", case, [&[0, 1, 1, 0], &[]]);
    assert!(
        told.starts_with(HAS) && told.contains("is predicted of streams that take one"),
        "{told}"
    );
}

#[test]
fn a_group_in_two_memories_is_not_told_part_by_part() {
    let stream = |to: &str, class: u8| {
        format!(
            "{{from: p1, to: {to}, class: {class}, kind: rocev2-write, size: 1024B, every: 20us, count: searched}}"
        )
    };
    let said = |other: u8| {
        let text = format!(
            "about: a\ndevice: switch\ncases:\n  one:\n    why: a\n    source: [a]\n    streams: {{a: {}, b: {}}}\n    storms: {{hold: {{from: p2, classes: [3, 4]}}, aside: {{from: p4, classes: [3, 4]}}}}\n    endpoints: {{p1: {{obeys: none}}}}\n    steps: [{{at: 0ms, start: [hold, aside]}}, {{at: 1ms, start: a}}, {{at: {{of: a, plus: 10ms}}, start: b}}]\n    length: {{of: a, times: 4, plus: 50ms}}\n    measure: [buffer.drop: {{streams: [a, b]}}]\n",
            stream("p2", 3),
            stream("p4", other)
        );
        let suite = rig_testcases::read::piped(text.as_bytes(), &measure::Registry);
        let case = suite.unwrap_or_else(|faults| panic!("{faults:#?}")).cases.remove(0);
        let (lab, dut) = with("broadcom", [&[], &[0, 1, 1, 0]]);
        of(&lab, &dut, &case)
    };
    assert_eq!(said(4), None);
    let why = "a and b fill parts of one group in two of them, and buffer.drop is predicted of a group in one";
    assert_eq!(said(3), Some(format!("{HAS}{why}")));
}

#[test]
fn a_device_in_a_row_with_several_memories_is_not_judged() {
    let told = |ingress: &[u16]| {
        let (lab, dut) = with("two-in-a-row", [ingress, &[]]);
        let mut cases = bundled::cases().iter();
        let case = cases.find(|case| case.suits(&dut).is_ok()).expect("a case of a system");
        of(&lab, &dut, case)
    };
    assert_eq!(told(&[]), None);
    let why = told(&[0, 1]).expect("a reason");
    assert!(why.ends_with("and it is one of several devices in a row"), "{why}");
}

/// What is left out of a bundled case on such a device.
fn left_out(device: &str, case: &str, sides: [&[u16]; 2]) -> String {
    let (lab, dut) = with(device, sides);
    let case = bundled::cases().iter().find(|one| one.id.to_string() == case).expect("a case");
    let reach = applicability::of(&lab, &dut, case).unwrap_or_else(|unfit| panic!("{}", unfit.why));
    reach.left_out.join("; ")
}

#[test]
fn what_a_pool_is_large_enough_for_as_a_whole_is_not_wanted_of_its_parts() {
    let burst = "buffers::slow-receiver-with-dynamic-sharing-broadcom";
    assert_eq!(left_out("broadcom", burst, [&[], &[]]), "");
    // A half of 1 MB and 1248 B are 481 frames of 1040 B.
    assert_eq!(
        left_out("broadcom", burst, [&[0, 0, 1, 1], &[]]),
        "pfc.sent: 482 frames of burst that wait bring one of 2 packet memories to its limit, and the case wants none of them paused"
    );
    // Nothing waits where neither a storm nor another sender is in the way, however much is sent.
    let alone = "pfcwd::line-rate-traffic-broadcom";
    assert_eq!(left_out("broadcom", alone, [&[0, 0, 1, 1], &[]]), "");
}

#[test]
fn a_part_in_which_too_little_waits_keeps_no_port_busy() {
    let slow = "pfcwd::mixed-speed";
    assert_eq!(left_out("broadcom-mixed", slow, [&[], &[]]), "");
    let told = left_out("broadcom-mixed", slow, [&[], &[0, 1, 2, 3, 4, 5, 6, 7]]);
    let why = "throughput: burst has 0 B in one of 8 packet memories when it may go on";
    assert!(told.starts_with(why), "{told}");
}

#[test]
fn which_memories_a_device_has_no_sweep_sets() {
    let (lab, dut) = with("broadcom", [&[], &[]]);
    let name = "buffers::six-groups-together-broadcom";
    let mut case = bundled::cases().iter().find(|one| one.id.to_string() == name).unwrap().clone();
    assert!(applicability::of(&lab, &dut, &case).is_ok());
    case.sweep.push(Sweep::Setting {
        path: "buffer.ingress_memories".to_owned(),
        values: vec![serde_json::json!(1), serde_json::json!([0, 1, 1, 0])],
    });
    let why = applicability::of(&lab, &dut, &case).err().map(|unfit| unfit.why);
    assert_eq!(why.as_deref(), Some("which packet memories it has nobody sets of a device"));
}
