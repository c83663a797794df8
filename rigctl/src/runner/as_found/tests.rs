//! How much of the catalogue a device can have to which nobody has a way, and that it is worth something there: a healthy device passes
//! and a broken one does not.

use super::super::applicability::{self, Missing, Unfit};
use super::super::bundled;
use super::super::case::{Rig, run};
use crate::stop::Stop;
use rig_lab::{
    Backend, ControlName, Interfaces, Lab, Mutation, Profile, RuleFamily, Setting, Transport,
};
use rig_oracle::verdict::Verdict;
use rig_testcases::case::CaseAction;
use rig_testcases::{Case, CaseId, DeviceVerb};
use rig_units::Dur;
use std::path::Path;

/// Devices that nobody sells, and some that are bundled.
const PROFILES: [&str; 9] = [
    "rigctl/tests/found/leaf-25g.yaml",
    "rigctl/tests/found/edge-50g.yaml",
    "rigctl/tests/found/spine-200g.yaml",
    "rigctl/tests/found/spine-800g.yaml",
    "rigctl/tests/found/tor-100g.yaml",
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

#[test]
fn three_fifths_of_what_needs_no_macsec_can_be_had_without_a_way_to_the_device() {
    // What its software copies nobody sees who has no way to it.
    let copied = |case: &&Case| {
        case.settings.iter().any(|setting| setting.path.starts_with("flex_counter."))
    };
    // Nor does anybody reboot what he has no way to.
    let rebooted = |case: &&Case| {
        let reboots = |what: &CaseAction| matches!(what, CaseAction::Device(DeviceVerb::Reboot(_)));
        case.steps.iter().any(|step| reboots(&step.what))
    };
    let all = bundled::cases();
    for path in PROFILES {
        let dut = profile(path);
        let (lab, secured) = (at_interfaces(&dut), |case: &&Case| {
            case.settings.iter().any(|setting| setting.path == "macsec.enable")
        });
        let of: Vec<&Case> = all.iter().filter(|case| case.suits(&dut).is_ok()).collect();
        let of = of.into_iter().filter(|case| !secured(case) && !copied(case) && !rebooted(case));
        let of: Vec<&Case> = of.collect();
        let had = |case: &&&Case| applicability::of(&lab, &dut, case).is_ok();
        let count = of.iter().filter(had).count();
        assert!(count * 5 >= of.len() * 3, "{path}: {count} of {}", of.len());
        let emulated = rig_lab::read::lab(None).expect("the bundled lab");
        for case in of {
            let lack = applicability::of(&lab, &dut, case).err().map(|unfit| unfit.lack);
            assert_ne!(lack, Some(Missing::Lab), "{path}: {}", case.id);
            assert_eq!(applicability::of(&emulated, &dut, case).err(), None, "{}", case.id);
        }
    }
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
fn what_is_found_below_the_least_that_a_case_takes_is_no_place_for_it() {
    let pmax = |pmax: &str| found("ecn", "curve", &[("wred.pmax", pmax)]).map(|_| ());
    assert_eq!(pmax("1%"), Ok(()));
    let why = "it would have to be configured: wred.pmax=50% (it declares 9999ppm)";
    assert_eq!(pmax("9999ppm"), Err(Missing::Control.so(why)));
}

#[test]
fn a_watchdog_that_would_take_a_held_queue_for_a_stormed_one_is_no_place_for_a_case() {
    // 128 B frames fill 60 MB only after the watchdog has fired.
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
