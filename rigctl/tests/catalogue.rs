//! The bundled catalogue in-process: the healthy device passes for every seed, and nothing but the seed decides a result.

use rig_capture::Observation;
use rig_capture::analyse::timeline_counters;
use rig_lab::{Kind, Lab, Transport};
use rig_oracle::Verdict;
use rig_oracle::measure;
use rig_oracle::measure::Registry;
use rig_oracle::trials::ask::Start;
use rig_oracle::trials::points::groups;
use rig_oracle::trials::seed::Seed;
use rig_testcases::{Case, Suite};
use rig_units::Dur;
use rigctl::runner::case::{self, Rig};
use rigctl::runner::choose::choose;
use rigctl::runner::pool::{News, default_jobs, in_order};
use rigctl::runner::preflight;
use rigctl::runner::session::Session;
use rigctl::stop::Stop;
use std::path::Path;

fn catalogue() -> (Vec<Suite>, Lab) {
    let suites =
        rig_testcases::read::bundled(&Registry).expect("the bundled catalogue has no fault");
    let lab = rig_lab::read::lab(None).expect("the bundled lab has no fault");
    (suites, lab)
}

fn rig<'a>(lab: &'a Lab, seed: u64, stop: &'a Stop, cases: &[&Case]) -> Rig<'a> {
    Rig::of(lab, cases, seed, stop)
}

/// Does `work` for every index on all cores; results in order.
fn side_by_side<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut all = Vec::new();
    in_order(count, default_jobs(), &Stop::default(), work, |_, news| {
        if let News::Done(done) = news {
            all.push(done);
        }
    });
    all
}

#[test]
fn every_case_passes_on_the_healthy_device_and_none_is_skipped() {
    let (suites, lab) = catalogue();
    let cases: Vec<&Case> = suites.iter().flat_map(|suite| &suite.cases).collect();
    assert!(cases.len() >= 24, "{} cases", cases.len());
    let stop = Stop::default();
    // Seed 1 is that of `worth`, and every night has others.
    const SEED: u64 = 20_261_121;
    let rig = rig(&lab, SEED, &stop, &cases);
    let reports = side_by_side(cases.len(), |index| case::run(&rig, cases[index]).report);
    for report in reports {
        assert_eq!(report.verdict, Verdict::Pass, "{} with seed {SEED}", report.id);
        assert!(
            !report.judgements.is_empty() || !report.trials.void.is_empty(),
            "{} judged nothing",
            report.id
        );
    }
}

/// The devices of `veth.yaml` with ports as slow as virtual interfaces are run: what a case wants must not depend on it.
#[test]
fn every_case_passes_at_the_speed_of_the_virtual_interfaces() {
    let (suites, _) = catalogue();
    let veth = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab-configs/veth.yaml");
    let lab = rig_lab::read::lab(Some(&veth)).expect("the bundled lab has no fault");
    let cases = suites.iter().flat_map(|suite| &suite.cases);
    // NICs at virtual interfaces are those of another lab: veth-nics.yaml.
    let cases: Vec<&Case> = cases.filter(|case| case.kind == Kind::Switch).collect();
    let stop = Stop::default();
    // `agreement` has another at this speed, and every family of switches every night.
    const SEED: u64 = 2;
    let rig = rig(&lab, SEED, &stop, &cases);
    let reports = side_by_side(cases.len(), |index| case::run(&rig, cases[index]).report);
    let mut skipped = 0;
    for report in reports {
        match report.verdict {
            Verdict::Pass => {}
            // What stamps of milliseconds cannot show.
            Verdict::Skipped(why) if why.contains("timestamps within") => {}
            // A rule family that no device of this lab has.
            Verdict::Skipped(why) if why.contains("not hardware") => {}
            // More ports than there are.
            Verdict::Skipped(_) => skipped += 1,
            other => panic!("{} with seed {SEED}: {other:?}", report.id),
        }
    }
    assert!(skipped < 40, "{skipped} skipped");
}

#[test]
fn the_same_seed_gives_the_same_report_and_another_seed_another() {
    let (suites, lab) = catalogue();
    let wanted = [
        "detection-latency-broadcom",
        "detection-with-late-polls-mellanox",
        "trigger-ramp-barefoot",
    ];
    let cases: Vec<&Case> = suites
        .iter()
        .flat_map(|s| &s.cases)
        .filter(|case| wanted.contains(&case.id.case.as_str()))
        .collect();
    assert_eq!(cases.len(), wanted.len());
    let stop = Stop::default();
    let run = |seed| {
        let rig = rig(&lab, seed, &stop, &cases);
        side_by_side(cases.len(), |index| {
            let ran = case::run(&rig, cases[index]);
            let observed: Vec<_> =
                ran.trials.iter().map(|kept| kept.whole().into_owned().observation).collect();
            (ran.report.judgements, ran.report.curves, observed)
        })
    };
    let first = run(7);
    assert!(first == run(7), "seed 7 twice");
    assert!(first != run(8), "seed 8 gives what seed 7 gives");
}

/// Two trials of the case's first point; the first one reads counters on the way, or does not.
fn observed(lab: &Lab, case: &Case, reads: bool) -> Vec<Observation> {
    let (profile, _) = choose(lab, None, case).expect("the bundled lab suits every case");
    let group = groups(case, &profile.declared).expect("fits").swap_remove(0);
    let context = measure::context(lab, profile, case, group, Seed::of_run(7));
    let points = context.points().expect("fits");
    let script = context.script(&points[0]).expect("fits");
    let reads = reads && !script.streams.is_empty();
    let names = if reads { timeline_counters::worth_reading(&script, None, 0) } else { Vec::new() };
    let trials = [names.as_slice(), &[]];
    let start = Start::After(Dur::us(1_234));
    let rests = measure::rests(&context);
    let mut session = Session::new(context, rests);
    trials.into_iter().filter_map(|names| session.run(&script, start, names).ok()).collect()
}

/// Every third case by day, all with `RIG_WHOLE_CATALOGUE=1` (`cargo xtask nightly`).
#[test]
fn reading_counters_on_the_way_changes_nothing_else() {
    let (suites, lab) = catalogue();
    let whole = std::env::var_os("RIG_WHOLE_CATALOGUE").is_some_and(|whole| whole == "1");
    let every = if whole { 1 } else { 3 };
    let cases: Vec<&Case> = suites.iter().flat_map(|suite| &suite.cases).step_by(every).collect();
    let changed = side_by_side(cases.len(), |index| {
        let without = observed(&lab, cases[index], false);
        let mut with = observed(&lab, cases[index], true);
        let samples = with.first_mut().map(|first| std::mem::take(&mut first.counters.samples));
        assert!(with == without, "{}", cases[index].id);
        samples.map_or(0, |samples| timeline_counters::changed(&samples).len())
    });
    // The lanes of a page are those of a switch's queues.
    let switches = cases.iter().filter(|case| case.kind == Kind::Switch).count();
    let with_lanes = changed.iter().filter(|&&timeline_counters| timeline_counters >= 3).count();
    assert!(with_lanes * 2 > switches, "{with_lanes} of {switches} cases");
}

#[test]
fn every_case_resolves_on_every_bundled_lab_on_which_it_applies() {
    let (suites, _) = catalogue();
    let labs = labs();
    for lab in &labs {
        for case in suites.iter().flat_map(|suite| &suite.cases) {
            let faults = preflight::faults(lab, None, case);
            assert!(faults.is_empty(), "{} on {}: {faults:?}", case.id, lab.name);
        }
    }
    assert!(labs.len() >= 6, "{} labs", labs.len());
}

/// The devices that the default lab does not have: other speeds, other sizes.
#[test]
fn every_case_passes_or_does_not_apply_on_the_devices_of_the_other_labs() {
    let (suites, default) = catalogue();
    let cases: Vec<&Case> = suites.iter().flat_map(|suite| &suite.cases).collect();
    let stop = Stop::default();
    let known = |lab: &Lab| {
        lab.duts.iter().all(|dut| default.duts.iter().any(|known| known.name == dut.name))
    };
    let others: Vec<Lab> = labs().into_iter().filter(|lab| !known(lab)).collect();
    assert!(others.len() >= 2, "{} labs", others.len());
    for (turn, lab) in others.iter().enumerate() {
        // Every other case, and of the next lab those between: all of them on every lab is what the nights are for (`nightly seeds`).
        let cases: Vec<&Case> = cases.iter().copied().skip(turn % 2).step_by(2).collect();
        let rig = rig(lab, 1, &stop, &cases);
        let reports = side_by_side(cases.len(), |index| case::run(&rig, cases[index]).report);
        for report in reports {
            let fine = match report.verdict {
                Verdict::Pass | Verdict::Skipped(_) => true,
                // What a guest's device declares is so wide that questions stay open.
                Verdict::Inconclusive(_) => matches!(lab.transport, Transport::Guests(_)),
                _ => false,
            };
            assert!(fine, "{} on {}: {:?}", report.id, lab.name, report.verdict);
        }
    }
}

/// Every bundled lab.
fn labs() -> Vec<Lab> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab-configs");
    let entries = std::fs::read_dir(root).expect("the labs' folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let yaml = paths.filter(|path| path.extension().is_some_and(|end| end == "yaml"));
    let read = |path: std::path::PathBuf| {
        rig_lab::read::lab(Some(&path)).unwrap_or_else(|faults| panic!("{faults:?}"))
    };
    yaml.map(read).collect()
}
