//! Healthy devices that nobody sells: a bundled one with other ports, sizes, limits and times, each drawn from what sheets say. Whatever is drawn, a
//! device that does it is not accused.
//!
//! CI draws a switch and a NIC; `RIG_DRAWN_SEEDS=100..140` draws one of either for each of these, and tries all cases on it.

#[path = "common/accused.rs"]
mod accused;

use accused::accused_by;
use rig_lab::{Declared, Kind, Lab, Profile};
use rig_oracle::measure::Registry;
use rig_oracle::trials::seed::Seed;
use rig_testcases::Case;
use std::ops::Range;
use std::path::Path;

/// What CI draws.
const SEEDS: Range<u64> = 1..2;
/// And one of so many cases that it tries.
const SAMPLE: usize = 9;

/// Fields with values that go together.
type Set = &'static [(&'static str, &'static str)];

/// What switches are, in order: in how many of 100, and one of which sets.
const SWITCHES: &[(u64, &[Set])] = &[
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

/// The same of NICs.
const NICS: &[(u64, &[Set])] = &[
    (70, &[&[("clock", "20ppm")], &[("clock", "100ppm")]]),
    (80, &[&[("nic.np.latency", "0ns..5us")], &[("nic.np.latency", "700ns..1300ns")]]),
    (
        50,
        &[
            &[("nic.np.interval", "0us")],
            &[("nic.np.interval", "7us")],
            &[("nic.np.interval", "50us")],
        ],
    ),
    (30, &[&[("nic.np.scope", "qp")], &[("nic.np.scope", "ip")], &[("nic.np.scope", "port")]]),
    (80, &[&[("nic.rc.ack_latency", "0ns..4us")], &[("nic.rc.ack_latency", "500ns..750ns")]]),
    (80, &[&[("nic.rc.nak_latency", "0ns..2us")], &[("nic.rc.nak_latency", "1us..1500ns")]]),
    (80, &[&[("nic.rc.resend_latency", "0ns..5us")], &[("nic.rc.resend_latency", "2us..3us")]]),
    (30, &[&[("nic.rc.ack_held", "0ns..2us")]]),
    (30, &[&[("nic.rc.ack_every", "4")], &[("nic.rc.ack_every", "16")]]),
    (20, &[&[("nic.rc.resend_extra", "4")], &[("nic.rc.resend_extra", "16")]]),
    (30, &[&[("nic.rc.timeout", "6")], &[("nic.rc.timeout", "14")]]),
    (60, &[&[("nic.rp.latency", "0ns..5us")], &[("nic.rp.latency", "300ns..450ns")]]),
    (30, &[&[("nic.rp.cut_window", "0us")], &[("nic.rp.cut_window", "50us")]]),
    (30, &[&[("nic.rp.timer", "300us")], &[("nic.rp.timer", "1500us")]]),
    (30, &[&[("nic.rp.byte_counter", "150KB")], &[("nic.rp.byte_counter", "32767B")]]),
    (30, &[&[("nic.rp.alpha_timer", "1us")], &[("nic.rp.alpha_timer", "100us")]]),
    (20, &[&[("nic.rp.rate_step", "1Mbps-L2")]]),
    (30, &[&[("nic.rp.pacer_step", "10ns")], &[("nic.rp.pacer_step", "100ns")]]),
    (60, &[&[("nic.pfc.response", "0ns..2us")], &[("nic.pfc.response", "500ns..750ns")]]),
];

/// Gigabits a second.
const SPEEDS: [u64; 6] = [25, 50, 100, 200, 400, 800];
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
    profile.kind != Kind::Switch || rig_lab::read::profile(file).is_ok()
}

/// What was drawn of a profile, in words. What contradicts the rest stays as it was.
fn drawn(
    profile: &mut Profile,
    sets: &[(u64, &[Set])],
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
            other.declared = other.declared.overridden(path, value).ok()?;
            Some(())
        });
        if all.is_some() && may_be(&other, file) {
            *profile = other;
            told.extend(set.iter().map(|(path, value)| format!("{path}={value}")));
        }
    }
    told
}

/// A lab with one device, a switch for an even number; and what it is.
fn lab(number: u64, file: &Path) -> (Lab, Vec<String>) {
    const BASES: [&str; 7] =
        ["broadcom", "mellanox", "cisco-8000", "barefoot", "hardware", "broadcom-weighted", "voq"];
    let mut seed = Seed::of_run(number).split("drawn");
    let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
    let is_switch = number.is_multiple_of(2);
    lab.duts.retain(|dut| match dut.kind {
        Kind::Switch => is_switch && BASES.contains(&&*dut.name),
        Kind::Nic => !is_switch,
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
    let sets = if is_switch { SWITCHES } else { NICS };
    told.extend(drawn(&mut own, sets, &mut seed, file));
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
