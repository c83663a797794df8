//! How much of the catalogue a device can have to which nobody has a way, and that it is worth something there: a healthy device passes
//! and a broken one does not.

use super::super::applicability::{self, Missing, Unfit};
use super::super::bundled;
use super::super::case::{Rig, run};
use super::in_a_line;
use crate::stop::Stop;
use rig_lab::{
    Backend, ControlName, Declared, Fault, Interfaces, Lab, Mutation, Profile, RuleFamily, Setting,
    Transport,
};
use rig_oracle::measure::{self, Needs};
use rig_oracle::verdict::Verdict;
use rig_testcases::case::CaseAction;
use rig_testcases::{Accepts, Amount, Case, CaseId, Measure, StreamRate};
use rig_units::{Dur, PortSpeed};
use std::path::Path;

/// Devices that nobody sells, and some that are bundled.
const PROFILES: [&str; 10] = [
    "rigctl/tests/found/leaf-25g.yaml",
    "rigctl/tests/found/edge-50g.yaml",
    "rigctl/tests/found/spine-200g.yaml",
    "rigctl/tests/found/spine-800g.yaml",
    "rigctl/tests/found/tor-100g.yaml",
    "lab-configs/duts/barefoot.yaml",
    "lab-configs/duts/broadcom.yaml",
    "lab-configs/duts/broadcom-400g.yaml",
    "lab-configs/duts/cisco-8000.yaml",
    "lab-configs/duts/mellanox.yaml",
];

fn profile(path: &str) -> Profile {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    rig_lab::read::profile(&path).unwrap_or_else(|faults| panic!("{faults:#?}"))
}

/// At interfaces of the rig, each with a port, and timestamps within a microsecond.
fn at_interfaces(dut: &Profile) -> Lab {
    let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
    lab.duts = vec![dut.clone()];
    lab.transport = Transport::Interfaces(Interfaces {
        interfaces: (1..=64).map(|n| format!("eth{n}")).collect(),
        backend: Backend::AfXdp,
        dpdk: None,
        speed: None,
        clock: rig_units::Ppm(0),
        bound: Dur::us(1),
        budget: Dur::s(60),
    });
    lab
}

/// The model of it, to which nobody has a way either.
fn in_virtual_time(dut: &Profile) -> Lab {
    let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
    lab.controls.insert(dut.name.clone(), ControlName::None);
    lab.duts = vec![dut.clone()];
    lab
}

/// Whether a case is about what somebody with a way to the device does or reads, or about MACsec: no device without one shows that.
fn asks_for_a_way(case: &Case) -> bool {
    let copied = |path: &str| path.starts_with("flex_counter.") || path.starts_with("watermark.");
    let set = case.settings.iter().any(|one| one.path == "macsec.enable" || copied(&one.path));
    let done = case.steps.iter().any(|step| match &step.what {
        CaseAction::Device(_) => true,
        CaseAction::Configure(one) => case.found.get(&one.path) != Some(&Accepts::Any),
        _ => false,
    });
    let read = |one: &Measure| {
        matches!((measure::of(one).needs)(one), Needs::Counters | Needs::Told | Needs::Settings)
    };
    set || done || case.measure.iter().all(read)
}

#[test]
fn three_quarters_of_what_asks_for_no_way_to_the_device_can_be_had_without_one() {
    let all = bundled::cases();
    for path in PROFILES {
        let dut = profile(path);
        let (lab, emulated) =
            (at_interfaces(&dut), rig_lab::read::lab(None).expect("the bundled lab"));
        let of = all.iter().filter(|case| case.suits(&dut).is_ok() && !asks_for_a_way(case));
        let of: Vec<&Case> = of.collect();
        let mut count = 0;
        for case in &of {
            assert_eq!(applicability::of(&emulated, &dut, case).err(), None, "{}", case.id);
            let Err(unfit) = applicability::of(&lab, &dut, case) else {
                count += 1;
                continue;
            };
            // What is lacking is a setting, timestamps or time, and it is named.
            let (id, why) = (&case.id, unfit.why.as_str());
            let named = match unfit.lack {
                Missing::Control => why.starts_with("it would have to be configured: "),
                Missing::Stamps => why.starts_with("it needs timestamps within "),
                Missing::Found => why.starts_with("as the device is found "),
                Missing::Lab => false,
            };
            assert!(named, "{path}: {id}: {unfit:?}");
        }
        assert!(count * 4 >= of.len() * 3, "{path}: {count} of {}", of.len());
    }
}

/// What is counted of a device, as a row of the page.
fn row(all: &[Case], dut: &Profile) -> String {
    let (lab, emulated) = (at_interfaces(dut), rig_lab::read::lab(None).expect("the bundled lab"));
    let of: Vec<&Case> = all
        .iter()
        .filter(|case| {
            // Of MACsec the rig and a device need keys of each other's.
            let keys = case.settings.iter().any(|one| one.path == "macsec.enable");
            !keys && case.suits(dut).is_ok() && applicability::of(&emulated, dut, case).is_ok()
        })
        .collect();
    let asking = of.iter().filter(|case| asks_for_a_way(case)).count();
    let [mut whole, mut part, mut others, mut control, mut stamps, mut found] = [0; 6];
    for case in &of {
        let asks = usize::from(asks_for_a_way(case));
        match applicability::of(&lab, dut, case) {
            Ok(reach) => {
                *if reach.left_out.is_empty() { &mut whole } else { &mut part } += 1;
                others += 1 - asks;
            }
            Err(unfit) => match unfit.lack {
                Missing::Stamps => stamps += 1 - asks,
                Missing::Found => found += 1 - asks,
                Missing::Control | Missing::Lab => control += 1 - asks,
            },
        }
    }
    let of_all = (whole + part) * 100 / of.len().max(1);
    let of_others = others * 100 / (of.len() - asking).max(1);
    format!(
        "| `{}` | {} | {whole} | {part} | {of_all} % | {asking} | {of_others} % | {control} | {stamps} | {found} |",
        dut.name,
        of.len()
    )
}

#[test]
fn the_page_says_how_much_can_be_had_of_each() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/oracle.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let rows = PROFILES.map(|path| row(bundled::cases(), &profile(path)));
    let missing: Vec<String> =
        rows.into_iter().filter(|row| !page.lines().any(|line| line == row)).collect();
    assert!(missing.is_empty(), "docs/oracle.md wants these rows:\n{}", missing.join("\n"));
}

fn named<'a>(all: &'a [Case], suite: &str, case: &str) -> &'a Case {
    let id = CaseId { suite: suite.to_owned(), case: case.to_owned() };
    all.iter().find(|case| case.id == id).expect("a case")
}

/// What becomes of a case on a device as it is, whole or broken.
fn verdict(dut: &Profile, case: &Case, seed: u64, broken: Option<(&str, &str)>) -> Verdict {
    let mut dut = dut.clone();
    if let Some((path, value)) = broken {
        let (path, value) = (path.to_owned(), value.to_owned());
        dut.mutate(&Mutation::Override { path, value }).expect("it fits");
    }
    let (lab, stop) = (in_virtual_time(&dut), Stop::never());
    run(&Rig::of(&lab, &[case], seed, stop), case).report.verdict
}

#[test]
fn a_healthy_device_passes_as_it_is_and_a_broken_one_fails() {
    let all = bundled::cases();
    let tried = [
        ("buffers", "xoff-threshold", ("buffer.dynamic_th", "+1")),
        ("headroom", "xoff-and-xon-at-once", ("buffer.pool", "x1.1")),
        ("pfcwd", "detection-latency", ("pfcwd.detection_time", "x1.5")),
        ("pfcwd", "pfc-is-repeated-before-the-pause-runs-out", ("pfc.refresh", "x1.5")),
    ];
    for path in ["rigctl/tests/found/leaf-25g.yaml", "rigctl/tests/found/tor-100g.yaml"] {
        let dut = profile(path);
        let family = dut.family().expect("it has a watchdog");
        for (suite, name, broken) in tried {
            let case = named(all, suite, &format!("{name}-{family}"));
            if applicability::of(&in_virtual_time(&dut), &dut, case).is_err() {
                continue;
            }
            for seed in 1..=3 {
                let healthy = verdict(&dut, case, seed, None);
                assert_eq!(healthy, Verdict::Pass, "{path}: {} at seed {seed}", case.id);
            }
            let red = verdict(&dut, case, 1, Some(broken));
            assert!(matches!(red, Verdict::Fail(_)), "{path}: {} {broken:?}: {red:?}", case.id);
        }
    }
}

/// What of a bundled case for broadcom can be had on that device as it is, changed.
fn found(suite: &str, name: &str, changes: &[(&str, &str)]) -> Result<(Case, Vec<String>), Unfit> {
    let mut dut = profile("lab-configs/duts/broadcom.yaml");
    for (path, value) in changes {
        let value = value.parse::<i64>().map_or_else(|_| (*value).into(), Into::into);
        let setting = Setting { path: (*path).to_owned(), value };
        dut.declared = dut.declared.with(&setting).expect("it fits");
    }
    assert_eq!(dut.family(), Some(RuleFamily::Broadcom));
    let all = bundled::cases();
    let case = named(all, suite, &format!("{name}-broadcom"));
    applicability::of(&in_virtual_time(&dut), &dut, case).map(|reach| (reach.case, reach.left_out))
}

#[test]
fn what_a_case_does_goes_with_what_is_found() {
    let amounts = |case: &Case| format!("{:?} {:?}", case.steps, case.streams["fill"]);
    let (as_set, _) = found("ecn", "curve", &[]).expect("its curve does");
    // 312 000 B in place of 350 000 B, and 200 ms in place of 5 s.
    assert!(amounts(&as_set).contains("count: Some(Frames(357))"), "{}", amounts(&as_set));
    assert!(amounts(&as_set).contains("Every(Dur(800000))"), "{}", amounts(&as_set));
    let (wider, _) = found("ecn", "curve", &[("wred.kmax", "624000B")]).expect("so does that");
    assert!(amounts(&wider).contains("count: Some(Frames(714))"), "{}", amounts(&wider));
    // A frame of 1024 B and its gap: no sender is faster than its port.
    let soon = [("pfcwd.detection_time", "100ms"), ("pfcwd.poll_interval", "20ms")];
    let (slower, _) = found("ecn", "curve", &soon).expect("a watchdog that waits half as long");
    assert!(amounts(&slower).contains("Every(Dur(400000))"), "{}", amounts(&slower));
}

#[test]
fn a_dynamic_limit_goes_with_what_it_leaves_of_the_pool() {
    let frames = |changes: &[(&str, &str)]| {
        let (case, _) =
            found("buffers", "slow-receiver-with-dynamic-sharing", changes).expect("it goes");
        ["burst", "far"].map(|name| format!("{:?}", case.streams[name].count))
    };
    // 10 875 072 B in place of 2 MB, of which an eighth of the rest is a ninth and all of it a half.
    let as_is = frames(&[]);
    assert_eq!(as_is, [1_692, 1_451].map(|count| format!("Some(Frames({count}))")));
    let larger = frames(&[("buffer.dynamic_th", "0")]);
    assert_eq!(larger, [7_613, 6_526].map(|count| format!("Some(Frames({count}))")));
}

#[test]
fn what_is_found_below_the_least_that_a_case_takes_is_no_place_for_it() {
    let pmax = |pmax: &str| found("ecn", "curve", &[("wred.pmax", pmax)]).map(|_| ());
    assert_eq!(pmax("1%"), Ok(()));
    let why = "it would have to be configured: wred.pmax=50% (it declares 9999ppm)";
    assert_eq!(pmax("9999ppm"), Err(Missing::Control.so(why)));
}

#[test]
fn what_fills_a_large_memory_comes_sooner_where_the_watchdog_would_not_wait() {
    let every = |deep: &[(&str, &str)]| {
        let (case, _) = found("buffers", "threshold-over-frame-sizes", deep).expect("it is filled");
        format!("{:?}", case.streams["fill"].rate)
    };
    assert_eq!(every(&[]), "Every(Dur(6400000))");
    // Every 6.4 us 128 B frames fill 20 MB only after the watchdog has fired.
    let deep = [("buffer.pool", "20000000B"), ("buffer.dynamic_th", "0")];
    assert_eq!(every(&deep), "Every(Dur(1600000))");
}

#[test]
fn a_watchdog_that_would_take_a_held_queue_for_a_stormed_one_is_no_place_for_a_case() {
    // 128 B frames that come as soon as 9000 B may fill 60 MB only after the watchdog has fired.
    let deep = [("buffer.pool", "60000000B"), ("buffer.dynamic_th", "0")];
    let unfit = found("buffers", "threshold-over-frame-sizes", &deep).expect_err("too deep");
    assert_eq!(unfit.lack, Missing::Found);
    assert!(unfit.why.contains("its watchdog always fires"), "{}", unfit.why);
}

#[test]
fn a_setting_is_not_changed_on_the_way_where_its_value_does_not_matter() {
    let (case, left_out) = found("pfcwd", "line-rate-traffic", &[]).expect("a full link is one");
    assert_eq!(left_out, ["pfcwd.detection_time is not changed on the way: nothing here can"]);
    assert_eq!(case.steps.len(), 1);
    let why = "the case changes wred.kmax on the way, and nothing here can";
    assert_eq!(found("ecn", "changed-while-running", &[]), Err(Missing::Control.so(why)));
}

#[test]
fn a_device_that_is_what_a_case_sets_runs_it_as_it_is_written() {
    let all = bundled::cases();
    let case = named(all, "pfcwd", "both-lossless-classes-broadcom");
    assert_eq!(found("pfcwd", "both-lossless-classes", &[]), Ok((case.clone(), Vec::new())));
}

/// What becomes of a case on a device with ports of 1 Gb/s whose watchdog waits a 25th of what the case sets.
fn slow(name: &str) -> Result<Case, Unfit> {
    let mut dut = profile("lab-configs/duts/broadcom.yaml");
    let gigabit: PortSpeed = "1Gbps".parse().expect("a speed");
    let Declared::Switch(switch) = &mut dut.declared else { panic!("it is a switch") };
    switch.ports.iter_mut().for_each(|group| group.speed = gigabit);
    let all = bundled::cases();
    let case = named(all, "buffers", &format!("{name}-broadcom"));
    applicability::of(&in_virtual_time(&dut), &dut, case).map(|reach| reach.case)
}

#[test]
fn frames_that_begin_together_share_their_port_and_the_largest_of_a_sweep_finds_room() {
    let every = |name: &str| {
        let case = slow(name).unwrap_or_else(|unfit| panic!("{name}: {unfit:?}"));
        case.streams["fill"].rate
    };
    // 1044 B at 1 Gb/s: alone, and with the other group of its port.
    assert_eq!(every("thresholds-in-turn"), StreamRate::Every(Dur::ns(8_352)));
    assert_eq!(every("six-groups-together"), StreamRate::Every(Dur::ns(16_704)));
    // 9020 B, the largest that is swept, come so slowly that the watchdog does not wait; and the reason is one line.
    let unfit = slow("threshold-over-frame-sizes").expect_err("it takes too long");
    assert!(unfit.why.contains("in which its watchdog always fires"), "{}", unfit.why);
    assert!(!unfit.why.contains('\n'), "{}", unfit.why);
}

#[test]
fn a_trial_outlasts_the_last_pause_however_much_sooner_all_else_happens() {
    let Some(Amount::Of { plus, .. }) = slow("headroom").expect("it is filled").length else {
        panic!("it goes with what is searched")
    };
    // A 25th of 300 ms, and 65535 quanta at 1 Gb/s.
    assert_eq!(plus, Dur::ms(12) + Dur::ns(33_553_920));
}

#[test]
fn a_fault_among_reasons_is_one_line() {
    let fault = Fault::of_file("a.yaml", "200 % of a port", "at most 100 %");
    assert_eq!(in_a_line(&fault), "200 % of a port; it would take at most 100 %");
}
