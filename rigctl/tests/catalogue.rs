//! The bundled catalogue in-process: the healthy device passes for every seed, every mutant is noticed, and nothing but
//! the seed decides a result.

use rig_lab::Lab;
use rig_oracle::Verdict;
use rig_testcases::{Case, Suite};
use rigctl::runner::case::{self, Rig};
use rigctl::runner::mutants::{self, Fate};
use rigctl::runner::pool::{News, Stop, default_jobs, in_order};
use rigctl::runner::{budget, preflight};

fn catalogue() -> (Vec<Suite>, Lab) {
    let suites = rig_testcases::read::bundled().expect("the bundled catalogue has no fault");
    let lab = rig_lab::read::lab(None).expect("the bundled lab has no fault");
    (suites, lab)
}

fn rig<'a>(lab: &'a Lab, seed: u64, stop: &'a Stop, cases: &[&Case]) -> Rig<'a> {
    Rig {
        lab,
        only: None,
        seed,
        stop,
        alpha: budget::each(cases),
        path: "",
        flags: "",
        benches: None,
    }
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
fn every_case_passes_on_the_healthy_device_for_every_seed_and_none_is_skipped() {
    let (suites, lab) = catalogue();
    let cases: Vec<&Case> = suites.iter().flat_map(|suite| &suite.cases).collect();
    assert!(cases.len() >= 24, "{} cases", cases.len());
    let stop = Stop::default();
    for seed in [1, 20_261_121] {
        let rig = rig(&lab, seed, &stop, &cases);
        let reports = side_by_side(cases.len(), |index| case::run(&rig, cases[index]).report);
        for report in reports {
            assert_eq!(report.verdict, Verdict::Pass, "{} with seed {seed}", report.id);
            assert!(
                !report.judgements.is_empty() || !report.trials.void.is_empty(),
                "{} judged nothing",
                report.id
            );
        }
    }
}

#[test]
fn every_mutant_is_killed_or_proven_equivalent() {
    let (suites, lab) = catalogue();
    let cases: Vec<&Case> = suites.iter().flat_map(|suite| &suite.cases).collect();
    let stop = Stop::default();
    let rig = rig(&lab, 1, &stop, &cases);
    let all = mutants::all(&lab);
    assert!(all.len() >= 40, "{} mutants", all.len());
    let fates = side_by_side(all.len(), |index| mutants::try_one(&rig, &cases, &all[index]));
    for (mutant, fate) in all.iter().zip(fates) {
        assert!(
            matches!(fate, Ok(Fate::Killed { .. } | Fate::Equivalent { .. })),
            "{}: {fate:?}",
            mutant.text
        );
    }
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
            let observed: Vec<_> = ran.trials.into_iter().map(|trial| trial.observation).collect();
            (ran.report.judgements, ran.report.curves, observed)
        })
    };
    let first = run(7);
    assert!(first == run(7), "seed 7 twice");
    assert!(first != run(8), "seed 8 gives what seed 7 gives");
}

#[test]
fn every_case_resolves_on_every_bundled_lab_on_which_it_applies() {
    let (suites, _) = catalogue();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab-configs");
    let mut labs = 0;
    for entry in std::fs::read_dir(root).expect("the labs' folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|end| end != "yaml") {
            continue;
        }
        let lab = rig_lab::read::lab(Some(&path)).unwrap_or_else(|faults| panic!("{faults:?}"));
        for case in suites.iter().flat_map(|suite| &suite.cases) {
            let faults = preflight::faults(&lab, None, case);
            assert!(faults.is_empty(), "{} on {}: {faults:?}", case.id, lab.name);
        }
        labs += 1;
    }
    assert!(labs >= 6, "{labs} labs");
}
