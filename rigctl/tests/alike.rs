//! No two deviations are alike: what turns the same cases red with the same words is one way to be wrong under two names, and shows no more than one of them does.
//!
//! All deviations of a part are in one group at first. Each case in its turn parts those of which it says something else, and whoever is alone is told apart.
//! So a pair that is alike is left at the end, whichever cases come first.

use rig_lab::{Kind, Lab, Part};
use rig_oracle::Verdict;
use rig_oracle::measure::Registry;
use rig_testcases::{Case, Suite};
use rigctl::mutation;
use rigctl::runner::case::{self, Rig};
use rigctl::runner::mutants;
use rigctl::runner::pool::{News, default_jobs, in_order};
use rigctl::stop::Stop;
use std::collections::BTreeMap;

/// Which case was found to notice which deviation.
const FOUND: &str = include_str!("../src/runner/mutants/killers.tsv");

/// The parts that CI has time for; with `RIG_WHOLE_ALIKE=1` all are tried, as every night.
const BY_DAY: [Part; 2] = [Part::Np, Part::Ets];

/// Deviations that may be alike in what the catalogue can see, and why.
const ALIKE: [(&str, &str, &str); 0] = [];

fn catalogue() -> (Vec<Suite>, Lab) {
    let suites =
        rig_testcases::read::bundled(&Registry).expect("the bundled catalogue has no fault");
    let lab = rig_lab::read::lab(None).expect("the bundled lab has no fault");
    (suites, lab)
}

/// What a case says of a deviation, less the frames that show it; nothing where it does not fail.
fn said(lab: &Lab, case: &Case, mutant: &str) -> String {
    let mut lab = lab.clone();
    mutation::apply(&mut lab, &[mutant.to_owned()]).expect("it fits");
    let stop = Stop::default();
    let report = case::run(&Rig::of(&lab, &[case], 1, &stop), case).report;
    let Verdict::Fail(findings) = report.verdict else { return String::new() };
    let words =
        findings.iter().map(|one| format!("{}: want {}, got {}", one.rule, one.want, one.got));
    words.collect::<Vec<_>>().join("; ")
}

/// Those of a part that no case tells apart, in groups of two or more; each with how many cases fail on it.
fn alike(lab: &Lab, cases: &[&Case], mutants: &[String]) -> Vec<(Vec<String>, usize)> {
    let mut groups = vec![(mutants.to_vec(), 0)];
    for case in cases {
        groups.retain(|(group, _)| group.len() > 1);
        let all: Vec<&String> = groups.iter().flat_map(|(group, _)| group).collect();
        let mut words = Vec::new();
        let work = |index: usize| said(lab, case, all[index]);
        in_order(all.len(), default_jobs(), &Stop::default(), work, |_, news| {
            if let News::Done(done) = news {
                words.push(done);
            }
        });
        let mut words = words.into_iter();
        let mut parted = Vec::new();
        for (group, red) in groups {
            let mut by: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for one in group {
                by.entry(words.next().expect("one for each")).or_default().push(one);
            }
            parted.extend(
                by.into_iter().map(|(said, group)| (group, red + usize::from(!said.is_empty()))),
            );
        }
        groups = parted;
    }
    groups.retain(|(group, _)| group.len() > 1);
    groups
}

/// The cases of the suites that cover a part, those first that were found to notice one of these.
fn cases<'a>(suites: &'a [Suite], part: Part, mutants: &[String]) -> Vec<&'a Case> {
    let found = |case: &Case| {
        let family = case.family.map(|family| format!("-{family}")).unwrap_or_default();
        let id = case.id.to_string();
        let is_it = |of: &str| of == id || id.strip_suffix(&family) == Some(of);
        let rows = FOUND.lines().filter_map(|line| line.split_once('\t'));
        rows.filter(|(of, _)| is_it(of)).any(|(_, mutant)| mutants.iter().any(|one| one == mutant))
    };
    let near = |suite: &Suite| suite.covers.contains(&part);
    let all =
        suites.iter().flat_map(|suite| suite.cases.iter().map(move |case| (near(suite), case)));
    let mut all: Vec<(bool, &Case)> = all
        .map(|(near, case)| (near, found(case), case))
        .filter(|(near, found, _)| *near || *found)
        .map(|(_, found, case)| (!found, case))
        .collect();
    all.sort_by_key(|(later, _)| *later);
    all.into_iter().map(|(_, case)| case).filter(|case| case.kind != Kind::System).collect()
}

#[test]
fn no_two_deviations_of_a_part_turn_the_same_cases_red_with_the_same_words() {
    let (suites, lab) = catalogue();
    let whole = std::env::var_os("RIG_WHOLE_ALIKE").is_some_and(|whole| whole == "1");
    let mut parts: BTreeMap<Part, Vec<String>> = BTreeMap::new();
    for mutant in mutants::every(&lab, &suites) {
        let Some(part) = mutant.part.filter(|_| mutant.device.is_none()) else { continue };
        if mutant.text.starts_with("deviation=") && (whole || BY_DAY.contains(&part)) {
            parts.entry(part).or_default().push(mutant.text);
        }
    }
    assert!(parts.len() >= BY_DAY.len(), "{parts:?}");
    let mut wrong = Vec::new();
    for (part, mutants) in &parts {
        let cases = cases(&suites, *part, mutants);
        let left = alike(&lab, &cases, mutants);
        println!("{part:?}: {} deviations, {} cases, {left:?}", mutants.len(), cases.len());
        // What none of these cases notices is a survivor, which `rigctl mutants` finds, and like nothing.
        for (group, red) in left.into_iter().filter(|(_, red)| *red > 0) {
            let is_known = |(a, b, _): &(&str, &str, &str)| group == [*a, *b];
            if !ALIKE.iter().any(is_known) {
                wrong.push(format!(
                    "{part:?}: {} turn the same {red} cases red, with the same words",
                    group.join(" and ")
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn one_deviation_under_two_names_is_found_and_one_that_goes_further_is_not() {
    let (suites, lab) = catalogue();
    let names = ["cnp_hidden_interval", "cnp_hidden_interval:50", "cnp_hidden_interval:70"];
    let names = names.map(|name| format!("deviation={name}"));
    let cases = cases(&suites, Part::Np, &names);
    let left = alike(&lab, &cases, &names);
    let [(group, red)] = &left[..] else { panic!("{left:?}") };
    assert_eq!(group[..], names[..2]);
    assert!(*red > 0);
}
