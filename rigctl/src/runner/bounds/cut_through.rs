//! Switches that cut frames through: nobody who says so is called faulty, and whoever does not say so is found, and whoever says so and does not.

use super::given::{Ran, Said, Word};
use super::ranges::cases::{crossed, passed};
use rig_lab::{Mutation, Profile, Setting};
use serde_json::json;

const STORES: &str = "store-and-forward";
const CUTS: &str = "cut-through";

/// The case on a device that declares one mode and has another.
fn ran(case: &str, [says, does]: [&str; 2]) -> Said {
    ran_on("broadcom", case, "600ns", [says, does])
}

/// The same on any device that forwards after `delay`.
fn ran_on(device: &'static str, case: &str, delay: &str, modes: [&str; 2]) -> Said {
    with(device, case, delay, modes, None)
}

/// The same where something more is declared.
fn with(
    device: &'static str,
    case: &str,
    delay: &str,
    [says, does]: [&str; 2],
    more: Option<Setting>,
) -> Said {
    let path = "switching_mode".to_owned();
    Ran::with(device, case, |device: &mut Profile| {
        let delay = Setting { path: "forwarding_delay".to_owned(), value: json!(delay) };
        let mode = Setting { path: path.clone(), value: json!(says) };
        for setting in [delay, mode].into_iter().chain(more) {
            device.declared = device.declared.with(&setting).expect("a value");
        }
        let always = Mutation::Override { path, value: does.to_owned() };
        device.mutate(&always).expect("a mode");
    })
    .as_seen()
}

/// 1024 B at 100 Gb/s last 81.92 ns.
#[test]
fn a_frame_is_on_its_way_from_the_bit_on_that_is_declared() {
    let case = passed("{}");
    for mode in [STORES, CUTS] {
        assert_eq!(ran(&case, [mode, mode]).wrong(), "", "{mode}");
    }
    let sooner = ran(&case, [STORES, CUTS]);
    assert_eq!(sooner.word("latency"), Word::Fail("517.12ns to 518.72ns".to_owned()));
    let later = ran(&case, [CUTS, STORES]);
    assert_eq!(later.word("latency"), Word::Fail("680.96ns to 683.2ns".to_owned()));
}

/// From a port of 100 Gb/s to one of 400 Gb/s a frame waits for 61.44 ns until the rest of it is in when it is wanted; the other way it waits for nothing.
#[test]
fn a_frame_that_leaves_faster_than_it_comes_waits_for_its_own_end() {
    for (ports, shown, most) in
        [("{p1: slow, p2: fast}", 61, 61_440), ("{p1: fast, p2: slow}", 10, 10_000)]
    {
        let case = format!("    ports: {ports}\n{}", passed("{}"));
        let said = ran_on("broadcom-mixed", &case, "10ns", [CUTS; 2]);
        assert_eq!(said.wrong(), "", "{ports}");
        let (read, want) = said.spans("latency");
        assert_eq!((want.lo, want.hi), (10_000, most));
        assert!(read.lo / 1_000 <= shown && shown <= read.hi.div_ceil(1_000), "{ports}: {read:?}");
    }
}

/// Between ports of one speed a frame waits for nothing, however slow others are, unless something goes from one of those to a faster one: what comes
/// behind that stays behind it, wherever it goes.
#[test]
fn a_frame_waits_where_one_before_it_does_and_for_no_port_that_sends_nothing() {
    let other =
        "      other: {from: p3, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 9us}\n";
    // It comes 20 ns before each of the others.
    let elsewhere =
        "      other: {from: p3, to: p4, class: 3, kind: rocev2-write, size: 1024B, every: 10us}\n";
    for (ports, beside, most) in [
        ("{p1: fast, p2: fast}", "", 10_000),
        ("{p1: slow, p2: slow, p3: fast}", other, 10_000),
        ("{p1: fast, p2: fast, p3: slow}", other, 61_440),
        ("{p1: fast, p2: fast, p3: slow, p4: fast}", elsewhere, 61_440),
    ] {
        let one = "      probe: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 10us}\n";
        let other = if beside.is_empty() { "" } else { "{at: 0us, start: other}, " };
        let case = format!(
            "    ports: {ports}
    streams:
{one}{beside}    taps: {{p1: all, p2: all}}
    trials: 1
    steps: [{other}{{at: 20ns, start: probe}}]
    length: 200us
    measure: [{{latency: {{stream: probe}}}}]
"
        );
        let said = ran_on("broadcom-mixed", &case, "10ns", [CUTS; 2]);
        assert_eq!(said.wrong(), "", "{ports}");
        let (_, want) = said.spans("latency");
        assert_eq!((want.lo, want.hi), (10_000, most), "{ports}");
    }
}

/// Of ports of one speed: 20 ns more than declared were within what the slowest and the fastest of the device leave open.
#[test]
fn a_device_that_takes_longer_than_declared_is_told_whatever_ports_it_has_beside() {
    let case = format!("    ports: {{p1: fast, p2: fast}}\n{}", passed("{}"));
    let slower = Ran::with("broadcom-mixed", &case, |device: &mut Profile| {
        for (path, value) in [("forwarding_delay", "10ns"), ("switching_mode", CUTS)] {
            let setting = Setting { path: path.to_owned(), value: json!(value) };
            device.declared = device.declared.with(&setting).expect("a value");
        }
        let (path, value) = ("forwarding_delay".to_owned(), "30ns".to_owned());
        device.mutate(&Mutation::Override { path, value }).expect("a delay");
    });
    assert!(matches!(slower.as_seen().word("latency"), Word::Fail(_)));
}

#[test]
fn an_xoff_follows_the_bit_with_which_a_frame_has_come() {
    let case = crossed();
    for mode in [STORES, CUTS] {
        assert_eq!(ran(&case, [mode, mode]).wrong(), "", "{mode}");
    }
    for other in [[STORES, CUTS], [CUTS, STORES]] {
        assert!(!ran(&case, other).passes("pfc.latency"), "{other:?}");
    }
}

/// A port of 10 Gb/s takes 7.2 us for a frame of 9000 B: what has come with its first bit is lost to a watchdog that acts before
/// the last one.
#[test]
fn what_is_lost_is_lost_from_the_first_bit_on() {
    let slow =
        Setting { path: "ports".to_owned(), value: json!([{"count": 8, "speed": "10Gbps"}]) };
    let case = "    dut:
      pfcwd: {detection_time: 200ms, restoration_time: 200ms, poll_interval: 100ms, action: drop, big_red_switch: false}
      wred: {ecn: ecn_all}
    streams:
      victim: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 254B, every: 5us}
      other: {from: p3, to: p2, class: 3, kind: rocev2-write, size: 9000B, every: 8us}
    storms: {storm: {from: p2, classes: [3]}}
    trials: 4
    steps:
      - {at: 0ms, start: victim}
      - {at: 20ms, start: storm, for: 400ms}
      - {at: 190ms, start: other}
    length: 730ms
    measure:
      - pfcwd.detection: {storm: storm, stream: victim}
      - pfcwd.restoration: {storm: storm, stream: victim}
      - loss: {stream: other}
";
    assert_eq!(with("broadcom", case, "600ns", [CUTS; 2], Some(slow)).wrong(), "");
}
