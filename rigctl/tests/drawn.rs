//! Healthy devices that nobody sells: a bundled one with other ports, sizes, limits and times, each drawn from what sheets say. Whatever is drawn, a
//! device that does it is not accused.
//!
//! CI draws a switch, and a NIC or a pair of NICs; `RIG_DRAWN_SEEDS=100..140` draws one of either for each of these, and tries all cases on it.

#[path = "common/accused.rs"]
mod accused;

use accused::accused_by;
use rig_lab::{Declared, Kind, Lab, Profile};
use rig_oracle::measure::Registry;
use rig_oracle::trials::seed::Seed;
use rig_testcases::Case;
use rig_units::{PortSpeed, Quanta};
use std::ops::Range;
use std::path::Path;

/// What CI draws.
const SEEDS: Range<u64> = 1..2;
/// And one of so many cases that it tries.
const SAMPLE: usize = 9;

/// Fields with values that go together.
type Set = &'static [(&'static str, &'static str)];
/// In how many of 100, and one of which sets.
type Chances = &'static [(u64, &'static [Set])];

/// What switches are, in order: in how many of 100, and one of which sets.
const SWITCHES: Chances = &[
    (70, &[&[("clock", "20ppm")], &[("clock", "50ppm")], &[("clock", "100ppm")]]),
    (25, &[&[("switching_mode", "cut-through")]]),
    (
        90,
        &[
            &[("forwarding_delay", "300ns..1800ns")],
            &[("forwarding_delay", "600ns..601ns")],
            &[("forwarding_delay", "0ns..900ns")],
            &[("forwarding_delay", "420ns..780ns")],
        ],
    ),
    (
        70,
        &[
            &[("buffer.cell", "80B")],
            &[("buffer.cell", "208B")],
            &[("buffer.cell", "256B")],
            &[("buffer.cell", "318B")],
            &[("buffer.cell", "384B")],
        ],
    ),
    (40, &[&[("buffer.margin", "1")], &[("buffer.margin", "4")], &[("buffer.margin", "7")]]),
    (15, &[&[("buffer.accounting_delay", "0ns..1us")]]),
    (
        50,
        &[
            &[("buffer.dynamic_th", "-6")],
            &[("buffer.dynamic_th", "-4")],
            &[("buffer.dynamic_th", "-1")],
            &[("buffer.dynamic_th", "0")],
            &[("buffer.dynamic_th", "3")],
        ],
    ),
    (
        50,
        &[
            &[("buffer.pool", "4000000B"), ("buffer.lossy_pool", "4000000B")],
            &[("buffer.pool", "16777216B"), ("buffer.lossy_pool", "16777216B")],
            &[("buffer.pool", "1073741824B"), ("buffer.lossy_pool", "1073741824B")],
        ],
    ),
    (40, &[&[("buffer.xoff", "131072B")], &[("buffer.xoff", "400001B")]]),
    (
        60,
        &[
            &[("wred.kmax", "200000B"), ("wred.kmin", "20000B"), ("wred.pmax", "10%")],
            &[("wred.kmax", "130001B"), ("wred.kmin", "100001B"), ("wred.pmax", "100%")],
            &[("wred.kmax", "2097152B"), ("wred.kmin", "1048576B"), ("wred.pmax", "5%")],
        ],
    ),
    (30, &[&[("wred.chance_steps", "64")], &[("wred.chance_steps", "1024")]]),
    (20, &[&[("wred.weight", "3")], &[("wred.weight", "9")]]),
    (30, &[&[("wred.marking", "dequeue")], &[("wred.marking", "enqueue")]]),
    (50, &[&[("pfc.emission", "0ns..50ns")], &[("pfc.emission", "0ns..700ns")]]),
    (50, &[&[("pfc.resumption", "0ns..100ns")], &[("pfc.resumption", "0ns..1500ns")]]),
    (20, &[&[("pfc.xon_counts", "false")]]),
    (
        60,
        &[
            &[
                ("pfcwd.detection_time", "400ms"),
                ("pfcwd.restoration_time", "400ms"),
                ("pfcwd.poll_interval", "200ms"),
            ],
            &[
                ("pfcwd.detection_time", "450ms"),
                ("pfcwd.restoration_time", "300ms"),
                ("pfcwd.poll_interval", "150ms"),
            ],
            &[("pfcwd.detection_time", "1s"), ("pfcwd.restoration_time", "750ms")],
        ],
    ),
    (30, &[&[("pfcwd.jitter", "0ns..3ms")], &[("pfcwd.jitter", "1ms..2ms")]]),
    (10, &[&[("pfcwd.skipped_polls", "1")]]),
    (
        70,
        &[
            &[("pfcwd.action_latency", "1ms..30ms")],
            &[("pfcwd.action_latency", "5ms..15ms")],
            &[("pfcwd.action_latency", "0ns..70ms")],
            &[("pfcwd.action_latency", "0ns..150ms")],
            &[("pfcwd.action_latency", "0ns..300ms")],
        ],
    ),
    (40, &[&[("pfcwd.timer_lag", "0ns..2ms")]]),
];

/// Of a device of NICs.
const CLOCKS: Chances = &[(70, &[&[("clock", "20ppm")], &[("clock", "100ppm")]])];

/// What NICs are, each below its own key.
const NICS: Chances = &[
    (
        80,
        &[
            &[("np.latency", "0ns..5us")],
            &[("np.latency", "700ns..1300ns")],
            &[("np.latency", "2us..20us")],
        ],
    ),
    (
        50,
        &[
            &[("np.interval", "0us")],
            &[("np.interval", "4us")],
            &[("np.interval", "50us")],
            &[("np.interval", "500us")],
        ],
    ),
    (30, &[&[("np.scope", "qp")], &[("np.scope", "dest_ip")], &[("np.scope", "port")]]),
    (20, &[&[("np.nak_earns", "true")], &[("np.ack_earns", "true")]]),
    (20, &[&[("np.dscp", "0")], &[("np.dscp", "46")], &[("np.ecn", "ect0")]]),
    (
        80,
        &[
            &[("rc.ack_latency", "0ns..4us")],
            &[("rc.ack_latency", "100ns")],
            &[("rc.ack_latency", "3us..12us")],
        ],
    ),
    (
        80,
        &[
            &[("rc.nak_latency", "0ns..2us")],
            &[("rc.nak_latency", "1us..1500ns")],
            &[("rc.nak_latency", "50us")],
        ],
    ),
    (
        80,
        &[
            &[("rc.resend_latency", "0ns..5us")],
            &[("rc.resend_latency", "2us..3us")],
            &[("rc.resend_latency", "10us..100us")],
        ],
    ),
    (30, &[&[("rc.ack_held", "0ns..2us")], &[("rc.ack_held", "0ns..20us")]]),
    (30, &[&[("rc.ack_every", "2")], &[("rc.ack_every", "4")], &[("rc.ack_every", "16")]]),
    (20, &[&[("rc.resend_extra", "4")], &[("rc.resend_extra", "32")]]),
    (30, &[&[("rc.timeout", "6")], &[("rc.timeout", "14")]]),
    (30, &[&[("rc.timeout_late", "0ns..20us")], &[("rc.timeout_late", "never")]]),
    (
        30,
        &[
            &[("receive.cache", "8"), ("receive.miss", "100ns")],
            &[("receive.cache", "64"), ("receive.miss", "2us")],
        ],
    ),
    (
        60,
        &[
            &[("rp.latency", "0ns..5us")],
            &[("rp.latency", "300ns..450ns")],
            &[("rp.latency", "10us")],
        ],
    ),
    (30, &[&[("rp.limiting", "packet")], &[("rp.limiting", "burst")]]),
    (30, &[&[("rp.cut_window", "0us")], &[("rp.cut_window", "50us")], &[("rp.cut_window", "1ms")]]),
    (40, &[&[("rp.timer", "20us")], &[("rp.timer", "300us")], &[("rp.timer", "1500us")]]),
    (
        40,
        &[
            &[("rp.byte_counter", "150KB")],
            &[("rp.byte_counter", "32767B")],
            &[("rp.byte_counter", "10MB")],
        ],
    ),
    (
        40,
        &[
            &[("rp.alpha_timer", "1us")],
            &[("rp.alpha_timer", "10us")],
            &[("rp.alpha_timer", "200us")],
        ],
    ),
    (40, &[&[("rp.threshold", "1")], &[("rp.threshold", "2")], &[("rp.threshold", "10")]]),
    (
        40,
        &[
            &[("rp.min_rate", "10Mbps-L2")],
            &[("rp.min_rate", "100Mbps-L2")],
            &[("rp.min_rate", "1Gbps-L2")],
        ],
    ),
    (
        40,
        &[
            &[("rp.ai_rate", "5Mbps-L2")],
            &[("rp.ai_rate", "40Mbps-L2")],
            &[("rp.ai_rate", "400Mbps-L2")],
        ],
    ),
    (
        40,
        &[
            &[("rp.hai_rate", "50Mbps-L2")],
            &[("rp.hai_rate", "200Mbps-L2")],
            &[("rp.hai_rate", "2Gbps-L2")],
        ],
    ),
    (30, &[&[("rp.inverse_g", "16")], &[("rp.inverse_g", "205")], &[("rp.inverse_g", "1024")]]),
    (30, &[&[("rp.initial_alpha", "50%")], &[("rp.initial_alpha", "100%")]]),
    (20, &[&[("rp.clamp", "true")], &[("rp.clamp", "false")]]),
    (20, &[&[("rp.rate_step", "1Mbps-L2")], &[("rp.rate_step", "10Mbps-L2")]]),
    (
        30,
        &[&[("rp.pacer_step", "1ns")], &[("rp.pacer_step", "10ns")], &[("rp.pacer_step", "100ns")]],
    ),
    (
        60,
        &[
            &[("pfc.response", "0ns..2us")],
            &[("pfc.response", "500ns..750ns")],
            &[("pfc.response", "0s")],
        ],
    ),
    (
        40,
        &[
            &[("pfc.resumption", "0ns..1us")],
            &[("pfc.resumption", "2us..5us")],
            &[("pfc.resumption", "never")],
        ],
    ),
    (
        40,
        &[
            &[("pfc.xoff", "64KiB"), ("pfc.xon", "16KiB")],
            &[("pfc.xoff", "1MiB"), ("pfc.xon", "60KiB")],
        ],
    ),
    (40, &[&[("pfc.emission", "0ns..2us")], &[("pfc.emission", "1us..2us")]]),
    (30, &[&[("pfc.threshold_step", "1KiB")], &[("pfc.threshold_step", "4KiB")]]),
    (
        40,
        &[
            &[("host.pcie", "28Gbps-L2")],
            &[("host.pcie", "56Gbps-L2")],
            &[("host.pcie", "200Gbps-L2")],
        ],
    ),
    (40, &[&[("host.mtt", "128")], &[("host.mtt", "65536")]]),
    (40, &[&[("host.mtt_miss", "100ns")], &[("host.mtt_miss", "1us..3us")]]),
    (30, &[&[("host.page", "64KiB")], &[("host.page", "2MiB")]]),
];

/// Gigabits a second.
const SPEEDS: [u64; 6] = [25, 50, 100, 200, 400, 800];
/// The same of NICs.
const NIC_SPEEDS: [u64; 8] = [10, 25, 40, 50, 100, 200, 400, 800];
/// How long cables to NICs are, in centimetres.
const CABLES: [u64; 5] = [100, 300, 2_000, 10_000, 200_000];
/// How many ports a switch has.
const PORTS: [u64; 7] = [2, 3, 4, 8, 16, 33, 64];

/// One of a few.
fn one<T: Copy>(seed: &mut Seed, of: &[T]) -> T {
    of[usize::try_from(seed.draw(of.len() as u64)).expect("one of a few")]
}

fn seeds() -> Option<Range<u64>> {
    let text = std::env::var("RIG_DRAWN_SEEDS").ok().filter(|text| !text.is_empty())?;
    let ends = text.split_once("..").and_then(|(a, b)| Some(a.parse().ok()?..b.parse().ok()?));
    Some(ends.unwrap_or_else(|| panic!("RIG_DRAWN_SEEDS={text}: want `1..9`")))
}

/// Whether a profile may be so, as its reader finds; a pair of NICs has no file.
fn may_be(profile: &Profile, file: &Path) -> bool {
    std::fs::write(file, profile.written().to_string()).expect("a file of the test's own");
    match profile.kind {
        Kind::Switch => rig_lab::read::profile(file).is_ok(),
        _ => profile.declared.nics_out_of_range().is_empty(),
    }
}

/// What was drawn of a profile, in words. What contradicts the rest stays as it was.
fn drawn(
    profile: &mut Profile,
    (below, sets): (&str, Chances),
    seed: &mut Seed,
    file: &Path,
) -> Vec<String> {
    let mut told = Vec::new();
    for (percent, of) in sets {
        let (chance, set) = (seed.draw(100), one(seed, of));
        if chance >= *percent {
            continue;
        }
        let mut other = profile.clone();
        let all = set.iter().try_for_each(|(path, value)| {
            other.declared = other.declared.overridden(&format!("{below}{path}"), value).ok()?;
            Some(())
        });
        if all.is_some() && may_be(&other, file) {
            *profile = other;
            told.extend(set.iter().map(|(path, value)| format!("{below}{path}={value}")));
        }
    }
    told
}

/// NICs at another speed: each that sends PFC asks again twice in its pause.
fn at_speed(own: &mut Profile, gbps: u64) {
    let speed = PortSpeed::from_bps(gbps * 1_000_000_000).expect("a speed of ports");
    own.declared = own.declared.at(speed);
    for key in ["nic", "peer"] {
        let path = format!("{key}.pfc.quanta");
        let quanta = own.declared.get(&path).filter(|quanta| !quanta.is_null());
        let quanta = quanta.and_then(|quanta| serde_json::from_value::<Quanta>(quanta).ok());
        let Some(quanta) = quanta else { continue };
        let refresh = (speed.pause(quanta) / 2).to_string();
        let refreshed = own.declared.overridden(&format!("{key}.pfc.refresh"), &refresh);
        own.declared = refreshed.expect("a time");
    }
}

/// A lab with one device, a switch for an even number; and what it is. A NIC has a cable of its own length.
fn lab(number: u64, file: &Path) -> (Lab, Vec<String>) {
    const BASES: [&str; 7] =
        ["broadcom", "mellanox", "cisco-8000", "barefoot", "hardware", "broadcom-weighted", "voq"];
    let mut seed = Seed::of_run(number).split("drawn");
    let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
    let is_switch = number.is_multiple_of(2);
    lab.duts.retain(|dut| match dut.kind {
        Kind::Switch => is_switch && BASES.contains(&&*dut.name),
        // What hangs behind a switch is a part of that system, which no draw reaches.
        Kind::Nic => !is_switch && dut.system.is_none(),
        _ => false,
    });
    let at = seed.draw(lab.duts.len() as u64);
    let mut own = lab.duts.swap_remove(usize::try_from(at).expect("one of a few"));
    let mut told = vec![own.name.clone()];
    if let Declared::Switch(switch) = &mut own.declared {
        let (speed, count) = (one(&mut seed, &SPEEDS), one(&mut seed, &PORTS));
        let group = serde_json::json!([{"count": count, "speed": format!("{speed}Gbps")}]);
        switch.ports = serde_json::from_value(group).expect("ports");
        // Asked for again twice in the longest pause, and obeyed within 394 quanta.
        let [refresh, response] = [65_535 / 2, 394].map(|quanta: u64| quanta * 512 / speed);
        for (path, value) in [
            ("pfc.refresh", format!("{refresh}ns")),
            ("pfc.response", format!("0ns..{response}ns")),
        ] {
            own.declared = own.declared.overridden(path, &value).expect("a time");
        }
        told.push(format!("{count} ports of {speed}Gbps"));
    }
    if !is_switch {
        let (speed, cable) = (one(&mut seed, &NIC_SPEEDS), one(&mut seed, &CABLES));
        at_speed(&mut own, speed);
        lab.cable_cm = cable;
        told.push(format!("{speed}Gbps over {cable} cm"));
    }
    let has_peer = own.declared.nics().is_some_and(|nics| nics.peer.is_some());
    let sets: &[(&str, Chances)] = match (is_switch, has_peer) {
        (true, _) => &[("", SWITCHES)],
        (false, false) => &[("", CLOCKS), ("nic.", NICS)],
        (false, true) => &[("", CLOCKS), ("nic.", NICS), ("peer.", NICS)],
    };
    told.extend(sets.iter().flat_map(|of| drawn(&mut own, *of, &mut seed, file)));
    lab.duts = vec![own];
    (lab, told)
}

#[test]
fn no_healthy_device_is_accused_whatever_it_is() {
    let suites = rig_testcases::read::bundled(&Registry).expect("the catalogue");
    let own = tempfile::tempdir().expect("a temporary folder");
    let file = own.path().join("dut.yaml");
    let (numbers, sample) = seeds().map_or((SEEDS, SAMPLE), |numbers| (numbers, 1));
    let (mut wrong, mut passed) = (Vec::new(), 0);
    for number in numbers.flat_map(|number| [2 * number, 2 * number + 1]) {
        let (lab, told) = lab(number, &file);
        let kind = lab.duts[0].kind;
        let all = suites.iter().flat_map(|suite| &suite.cases).filter(|case| case.kind == kind);
        let first = usize::try_from(number).unwrap_or(0) % sample;
        let cases: Vec<&Case> = all.skip(first).step_by(sample).collect();
        let (more, well) = accused_by(&lab, &cases, number);
        eprintln!("{number}: {well} of {} passed on {}", cases.len(), told.join(" "));
        more.iter().for_each(|why| eprintln!("  {why}"));
        wrong.extend(more.into_iter().map(|why| format!("{}: {why}", told.join(" "))));
        passed += well;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(passed > 10, "{passed} passed");
}
