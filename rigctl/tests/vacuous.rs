//! A verdict is never empty: for every measure of the language, cases whose stimulus cannot show it. None may pass.

use rig_lab::Lab;
use rig_oracle::Verdict;
use rig_oracle::measure::Registry;
use rig_testcases::case::CaseAction;
use rig_testcases::{Amount, Case, CaseId, DeviceVerb, Expect, Measure, Suite, Which};
use rig_units::Dur;
use rigctl::runner::case::{self, Rig};
use rigctl::runner::pool::{News, default_jobs, in_order};
use rigctl::stop::Stop;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn catalogue() -> (Vec<Suite>, Lab) {
    let suites =
        rig_testcases::read::bundled(&Registry).expect("the bundled catalogue has no fault");
    let lab = rig_lab::read::lab(None).expect("the bundled lab has no fault");
    (suites, lab)
}

/// The measures of the language by name; `config` is asked for by `configure:`.
fn language() -> BTreeSet<String> {
    let schema = rig_testcases::schema(&Registry);
    let measures = schema["$defs"]["measure"]["properties"].as_object().expect("the measures");
    measures.keys().cloned().chain(["config".to_owned()]).collect()
}

fn verdict(lab: &Lab, case: &Case) -> Verdict {
    let stop = Stop::default();
    let rig = Rig::of(lab, &[case], 7, &stop);
    case::run(&rig, case).report.verdict
}

/// The verdicts of cases, side by side.
fn verdicts(lab: &Lab, cases: &[Case]) -> Vec<(CaseId, &'static str, Verdict)> {
    let mut all = Vec::new();
    let run = |index: usize| verdict(lab, &cases[index]);
    in_order(cases.len(), default_jobs(), &Stop::default(), run, |index, news| {
        if let News::Done(verdict) = news {
            let case: &Case = &cases[index];
            let measure = case.measure.first().map_or("", Measure::name);
            all.push((case.id.clone(), measure, verdict));
        }
    });
    assert_eq!(all.len(), cases.len());
    all
}

/// The case with one of its measures alone, once.
fn alone(case: &Case, measure: &Measure) -> Case {
    let mut case = case.clone();
    case.measure = vec![measure.clone()];
    case.expect = Expect::Pass;
    case.trials = Some(1);
    case
}

/// The same, and nothing is sent: no stream, no flow, no storm, no PFC by hand, no order to reboot; of settings to try none.
fn silenced(mut case: Case) -> Case {
    let sends = |action: &CaseAction| {
        matches!(
            action,
            CaseAction::Start { .. }
                | CaseAction::Stop { .. }
                | CaseAction::Pfc { .. }
                | CaseAction::Device(DeviceVerb::Reboot(_))
        )
    };
    case.steps.retain(|step| !sends(&step.what));
    case.length.get_or_insert(Amount::Exactly(Dur::ms(700)));
    case.configure.clear();
    case
}

/// Of how many bundled cases a measure is tried without its stimulus.
const OF_EACH: usize = 2;

#[test]
fn no_measure_of_the_language_passes_where_nothing_is_sent() {
    let (suites, lab) = catalogue();
    let mut by_name: BTreeMap<&str, Vec<Case>> = BTreeMap::new();
    for case in suites.iter().flat_map(|suite| &suite.cases) {
        for measure in &case.measure {
            let cases = by_name.entry(measure.name()).or_default();
            if cases.len() < OF_EACH && cases.last().is_none_or(|last| last.id != case.id) {
                cases.push(silenced(alone(case, measure)));
            }
        }
    }
    for name in language() {
        assert!(by_name.contains_key(name.as_str()), "no bundled case measures {name}");
    }
    let cases: Vec<Case> = by_name.into_values().flatten().collect();
    for (id, measure, verdict) in verdicts(&lab, &cases) {
        assert_ne!(verdict, Verdict::Pass, "{measure} of {id} where nothing is sent");
    }
}

#[test]
fn an_injection_whose_frame_never_comes_is_never_passed_over() {
    let (suites, lab) = catalogue();
    let mut cases = Vec::new();
    for case in suites.iter().flat_map(|suite| &suite.cases) {
        // One of several is enough: the last, which the others may be in the way of.
        for measure in case.measure.iter().take(1).filter(|_| !case.between.inject.is_empty()) {
            let mut case = alone(case, measure);
            let last = case.between.inject.last_mut().expect("there is one");
            // Of steps that share a queue pair frames are found by their numbers alone.
            let shares = case.id.to_string().contains("-by-one-queue-pair");
            let never = if shares { Which::Psn(0xff_0000) } else { Which::Nth(u32::MAX) };
            (last.which, last.iteration) = (never, None);
            cases.push(case);
        }
    }
    assert!(cases.len() > 10, "{} cases inject something", cases.len());
    for (id, measure, verdict) in verdicts(&lab, &cases) {
        let Verdict::Inconclusive(doubt) = &verdict else {
            panic!("{measure} of {id}: {verdict:?}")
        };
        assert_eq!(doubt.reason, "stimulus-not-applied", "{id}: {}", doubt.detail);
    }
}

/// Features switched off, classes that carry nothing, one mark where an interval takes two: cases of their own. The
/// `source:` of each is the reason for which it must be undecided.
#[test]
fn what_a_stimulus_cannot_show_is_undecided() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vacuous");
    let lab = rig_lab::read::lab(None).expect("the bundled lab has no fault");
    for name in ["nic", "switch"] {
        let path = folder.join(name).with_extension("yaml");
        let suite = rig_testcases::read::read(&path, &Registry)
            .unwrap_or_else(|faults| panic!("{faults:?}"));
        assert!(suite.cases.len() > 3, "{} cases of {name}", suite.cases.len());
        for (case, (id, measure, verdict)) in suite.cases.iter().zip(verdicts(&lab, &suite.cases)) {
            let Verdict::Inconclusive(doubt) = &verdict else {
                panic!("{measure} of {id}: {verdict:?}")
            };
            assert_eq!(doubt.reason, case.source[0], "{id}: {}", doubt.detail);
        }
    }
}
