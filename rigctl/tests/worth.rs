//! Every bundled case earns its place: a wrong device turns it red by itself, or it says why none can. And what a suite says that
//! it covers it notices alone.

use rig_lab::{Kind, Lab, Part};
use rig_oracle::measure::Registry;
use rig_testcases::case::Spared;
use rig_testcases::{Case, Suite};
use rigctl::mutation;
use rigctl::runner::case::Rig;
use rigctl::runner::mutants::per_case::{Worth, worth};
use rigctl::runner::mutants::{self, Cases, Fate, Tried};
use rigctl::runner::pool::{News, default_jobs, in_order};
use rigctl::stop::Stop;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Both tests over the whole catalogue take the same lab, seed and cases: what a case does on a mutant is found out once.
static TRIED: LazyLock<Tried> = LazyLock::new(Tried::default);

/// Every how many of them is tried: CI has 25 minutes, and every night `rigctl mutants` tries all of them, each case and each mutant. With
/// `RIG_WHOLE_WORTH=1` all are tried here, which whoever adds cases or deviations does before.
fn part(usual: usize) -> usize {
    let whole = std::env::var_os("RIG_WHOLE_WORTH").is_some_and(|whole| whole == "1");
    if whole { 1 } else { usual }
}

fn catalogue() -> (Vec<Suite>, Lab) {
    let suites =
        rig_testcases::read::bundled(&Registry).expect("the bundled catalogue has no fault");
    let lab = rig_lab::read::lab(None).expect("the bundled lab has no fault");
    (suites, lab)
}

fn rig<'a>(lab: &'a Lab, stop: &'a Stop, cases: &[&Case]) -> Rig<'a> {
    Rig::of(lab, cases, 1, stop)
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
fn every_case_is_turned_red_by_a_wrong_device_alone() {
    let (suites, lab) = catalogue();
    let cases = suites.iter().flat_map(|suite| suite.cases.iter().map(move |case| (suite, case)));
    let cases: Vec<(&Suite, &Case)> = cases.step_by(part(16)).collect();
    let stop = Stop::default();
    let alone: Vec<&Case> = cases.iter().map(|(_, case)| *case).collect();
    let rig = rig(&lab, &stop, &alone);
    let all = mutants::every(&lab, &suites);
    let worths = side_by_side(cases.len(), |index| {
        let (suite, case) = cases[index];
        worth(&rig, suite, case, &all, false, &TRIED)
    });
    let idle: Vec<String> = cases
        .iter()
        .zip(&worths)
        .filter(|(_, worth)| !worth.as_ref().is_ok_and(Worth::holds))
        .map(|((_, case), worth)| format!("{}: {worth:?}", case.id))
        .collect();
    assert!(idle.is_empty(), "{}", idle.join("\n"));
    let tried: usize = worths
        .iter()
        .map(|worth| match worth {
            Ok(Worth::Kills { tried, .. }) => *tried,
            _ => 0,
        })
        .sum();
    assert!(
        tried < cases.len() * 2,
        "{tried} mutants for {} cases: killers.tsv is out of date (rigctl mutants --per-case)",
        cases.len()
    );
}

#[test]
fn what_may_show_nothing_is_a_handful_about_void_measurements_and_refusals() {
    let (suites, _) = catalogue();
    let mut names = BTreeSet::new();
    for case in suites.iter().flat_map(|suite| &suite.cases) {
        let Some(spared) = &case.spared else { continue };
        assert!(spared.why.len() > 20, "{}: {}", case.id, spared.why);
        assert!(mutation::parse(&spared.tried).is_ok(), "{}: {}", case.id, spared.tried);
        let id = case.id.to_string();
        let family = case.family.map(|family| format!("-{family}")).unwrap_or_default();
        names.insert(id.strip_suffix(&family).unwrap_or(&id).to_owned());
    }
    assert!(names.len() <= 5, "{names:?}");
}

/// Nobody has to believe that a mutant tried by hand is the only one that could have turned a case red.
#[test]
fn a_case_that_wrongly_says_that_nothing_turns_it_red_is_found_when_all_are_tried() {
    let (mut suites, lab) = catalogue();
    let all = mutants::every(&lab, &suites);
    let cases = suites.iter_mut().flat_map(|suite| &mut suite.cases);
    let mut one = cases.filter(|case| case.id.to_string() == "recovery::one-lost-response");
    let case = one.next().expect("a case that is turned red by what it is about");
    // Nothing is marked in it: how often marks are answered does not show.
    let tried = "nic.np.interval=x2".to_owned();
    case.spared = Some(Spared { why: "nothing of it could be wrong".to_owned(), tried });
    let case = case.clone();
    let suite = suites.iter().find(|suite| suite.name == "recovery").expect("its suite");
    let stop = Stop::default();
    let rig = rig(&lab, &stop, &[&case]);
    let known = Tried::default();
    let spared = worth(&rig, suite, &case, &all, false, &known);
    assert!(matches!(spared, Ok(Worth::Spared { tried: 1, .. })), "{spared:?}");
    let Ok(Worth::SparedWrongly { by }) = worth(&rig, suite, &case, &all, true, &known) else {
        panic!("it was believed")
    };
    assert!(by.iter().any(|text| text == "deviation=read_asks_one_psn_late"), "{by:?}");
}

/// A run that is broken off has shown nothing of what it did not try: neither that a mutant survives nor that a case is idle.
#[test]
fn what_was_not_tried_to_the_end_is_neither_a_survivor_nor_idle() {
    let (suites, lab) = catalogue();
    let suite = suites.iter().find(|suite| suite.name == "recovery").expect("its suite");
    let case = suite.cases.iter().find(|case| case.id.case == "one-lost-response");
    let case = case.expect("a case that a mutant turns red");
    let all = mutants::every(&lab, &suites);
    let mutant = all.iter().find(|of| of.text == "deviation=read_asks_one_psn_late");
    let stop = Stop::default();
    stop.hurry();
    let known = Tried::default();
    let rig = rig(&lab, &stop, &[case]);
    let fate = mutants::try_one(&rig, &Cases::of(&[case]), mutant.expect("a mutant"), &known);
    assert_eq!(fate, Ok(Fate::BrokenOff { after: 0 }));
    assert_eq!(worth(&rig, suite, case, &all, false, &known), Ok(Worth::BrokenOff { tried: 0 }));
}

/// Whatever breaks in a part that a suite says it covers, a case of that suite notices, or of another one that covers the same part.
#[test]
fn what_a_suite_covers_needs_no_suite_that_does_not_cover_it() {
    let (suites, lab) = catalogue();
    for (_, part) in Part::NAMES {
        let covered = suites.iter().any(|suite| suite.covers.contains(&part));
        assert!(covered, "nobody covers {part}");
    }
    let claims: Vec<(&Suite, mutants::Mutant)> = suites
        .iter()
        .flat_map(|suite| {
            mutants::all(&lab, std::slice::from_ref(suite)).into_iter().map(move |of| (suite, of))
        })
        .collect();
    assert!(claims.len() >= 300, "{} mutants", claims.len());
    // What no case has two NICs for is told of one.
    let names: BTreeSet<String> = claims.iter().map(|(_, mutant)| mutant.text.clone()).collect();
    let told = |text: &str| {
        text.strip_prefix("peer.").is_some_and(|rest| names.contains(&format!("nic.{rest}")))
    };
    let claims: Vec<(&Suite, mutants::Mutant)> = claims.into_iter().step_by(part(32)).collect();
    let stop = Stop::default();
    let whole: Vec<&Case> = suites.iter().flat_map(|suite| &suite.cases).collect();
    let rig = rig(&lab, &stop, &whole);
    let fates = side_by_side(claims.len(), |index| {
        let (suite, mutant) = &claims[index];
        let beside = |of: &&Suite| of.covers.iter().any(|part| suite.covers.contains(part));
        let own: Vec<&Case> = suites.iter().filter(beside).flat_map(|of| &of.cases).collect();
        mutants::try_one(&rig, &Cases::of(&own), mutant, &TRIED)
    });
    let missed: Vec<String> = claims
        .iter()
        .zip(fates)
        .filter(|((_, mutant), fate)| match fate {
            Ok(Fate::Killed { .. } | Fate::Equivalent { .. }) => false,
            Ok(Fate::NotApplicable { .. }) => !told(&mutant.text),
            _ => true,
        })
        .map(|((suite, mutant), fate)| format!("{} alone: {}: {fate:?}", suite.name, mutant.text))
        .collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// What a lab has not cannot break.
#[test]
fn mutants_of_what_a_lab_has_not_are_not_applicable() {
    let (suites, _) = catalogue();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/cisco-8000.yaml");
    let lab = rig_lab::read::lab(Some(path.as_ref())).expect("the bundled lab has no fault");
    let cases: Vec<&Case> = suites.iter().flat_map(|suite| &suite.cases).collect();
    let stop = Stop::default();
    let rig = rig(&lab, &stop, &cases);
    let known = Tried::default();
    let fate = |text: &str| {
        let all = mutants::every(&lab, &suites);
        let mutant = all.into_iter().find(|mutant| mutant.text == text).expect(text);
        mutants::try_one(&rig, &Cases::of(&cases), &mutant, &known)
    };
    let because = |text: &str| match fate(text) {
        Ok(Fate::NotApplicable { because }) => because,
        other => panic!("{text}: {other:?}"),
    };
    const NO_NIC: &str = "no device of lab cisco-8000 is a NIC or a software RDMA router";
    assert_eq!(because("deviation=cnp_on_cnp"), NO_NIC);
    assert_eq!(because("nic.np.interval=x2"), NO_NIC);
    assert!(matches!(fate("deviation=xon_ignored"), Ok(Fate::Killed { .. })));
    let switches: Vec<&Case> =
        cases.iter().copied().filter(|case| case.kind == Kind::Switch).collect();
    let switches = Cases::of(&switches);
    let all = mutants::every(&rig.lab.clone(), &suites);
    let of_nics = all.iter().filter(|mutant| mutant.text.starts_with("nic."));
    for mutant in of_nics {
        let fate = mutants::try_one(&rig, &switches, mutant, &known);
        assert!(matches!(fate, Ok(Fate::NotApplicable { .. })), "{}: {fate:?}", mutant.text);
    }
}
