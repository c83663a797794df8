//! One plan, two executors: where both reach a verdict, what is measured in virtual time is what is measured on the wire,
//! within the uncertainties that both state. Root and Linux only.

mod common;

use common::root;
use indexmap::IndexMap;
use rig_capture::Span;
use rig_lab::{Lab, RuleFamily, Transport};
use rig_oracle::Judgement;
use rig_oracle::Verdict;
use rig_oracle::measure::Registry;
use rig_oracle::trials::effort::Level;
use rig_reports::CaseReport;
use rig_testcases::Case;
use rigctl::executor::Benches;
use rigctl::executor::wire::{Serve, Start};
use rigctl::runner::case::{self, Rig};
use rigctl::runner::pool::{News, in_order};
use rigctl::stop::Stop;
use std::path::Path;
use std::sync::Arc;

const LAB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/veth.yaml");
/// Searches and curves take many trials each: of them only these, beside the watchdog's suite.
const CHOSEN: [&str; 11] = [
    "xoff-threshold-broadcom",
    "headroom-broadcom",
    "xon-point-broadcom",
    "lossy-never-pauses-broadcom",
    "pfc-counted-as-pfc-broadcom",
    "other-lossless-class-isolated-broadcom",
    "first-marked-last-not-broadcom",
    "not-capable-is-dropped-broadcom",
    "marked-before-stays-marked-broadcom",
    "two-queues-broadcom",
    "replay-window-to-the-frame",
];
/// A case of several families of switches is one case of each: one of them, another family with each case, is compared
/// here, in as many trials as a quick run has. With this variable set (`cargo xtask nightly`) all are, in the usual number.
const EVERY: &str = "RIG_AGREE_ON_EVERY_FAMILY";

/// From so many storms on, the readings of both cover most of what the rule allows, and lie over one another. Fewer may
/// fall apart, each where it is predicted: of four and four at any phases all of the one lie below all of the other, or above, once in 35 times, of
/// eight and eight once in 6435.
const MANY: u32 = 8;

fn every() -> bool {
    std::env::var_os(EVERY).is_some()
}

fn run(lab: &Lab, cases: &[&Case], benches: Option<&Arc<Benches>>) -> Vec<CaseReport> {
    let stop = Stop::default();
    // The fewer trials of a quick run measure the same.
    let level = if every() { Level::Standard } else { Level::Quick };
    let rig = Rig { benches, effort: level.usual(), ..Rig::of(lab, cases, 7, &stop) };
    let jobs = benches.map_or(2, |benches| benches.most());
    let mut reports = Vec::new();
    in_order(
        cases.len(),
        jobs,
        &stop,
        |index| case::run(&rig, cases[index]).report,
        |_, news| {
            if let News::Done(report) = news {
                reports.push(report);
            }
        },
    );
    reports
}

/// Of each case that there is for several families one, each time for another.
fn one_of_each(cases: Vec<&Case>) -> Vec<&Case> {
    let bare = |case: &Case| {
        let name = &case.id.case;
        let own = RuleFamily::NAMES
            .iter()
            .find_map(|(family, _)| name.strip_suffix(&format!("-{family}")));
        own.unwrap_or(name).to_owned()
    };
    let mut families: IndexMap<String, Vec<&Case>> = IndexMap::new();
    for case in cases {
        families.entry(bare(case)).or_default().push(case);
    }
    families.into_values().enumerate().map(|(turn, of)| of[turn % of.len()]).collect()
}

/// What keeps two measurements of one thing from agreeing.
fn apart(on_wire: &Judgement, in_virtual: &Judgement) -> Option<String> {
    let (wire, model) = (on_wire.reading.span, in_virtual.reading.span);
    let predicted = on_wire.prediction.span;
    // All trials of a search together make one reading.
    let once = on_wire.measure.starts_with("buffer.");
    let few = (once || on_wire.trials.min(in_virtual.trials) < MANY) && predicted.lo < predicted.hi;
    let agrees = wire.meets(model) || (few && wire.meets(predicted) && model.meets(predicted));
    let unit = on_wire.reading.unit;
    let show = |span: Span| format!("{} to {}", unit.show(span.lo), unit.show(span.hi));
    (!agrees).then(|| {
        let Judgement { measure, subject, point, .. } = on_wire;
        format!(
            "{measure} of {subject} {point}: {} on the wire, {} in virtual time",
            show(wire),
            show(model)
        )
    })
}

#[test]
fn a_virtual_run_predicts_a_real_one() {
    if !root() {
        return;
    }
    let lab = rig_lab::read::lab(Some(Path::new(LAB))).expect("the bundled lab has no fault");
    let Transport::Veth(wire) = &lab.transport else { panic!("veth.yaml is on the wire") };
    let suites =
        rig_testcases::read::bundled(&Registry).expect("the bundled catalogue has no fault");
    let own = |case: &&Case| case.id.suite == "pfcwd" || CHOSEN.contains(&case.id.case.as_str());
    let cases: Vec<&Case> = suites.iter().flat_map(|suite| &suite.cases).filter(own).collect();
    let cases = if every() { cases } else { one_of_each(cases) };
    let program = env!("CARGO_BIN_EXE_rigctl").into();
    let start = Start::Served(Serve {
        program,
        bound: wire.bound,
        sonic: Vec::new(),
        stop: Arc::default(),
    });
    let benches = Benches::new(start, wire.benches.into());
    let in_virtual = run(&lab, &cases, None);
    let on_wire = run(&lab, &cases, Some(&benches));
    let mut compared = 0;
    let mut faults = Vec::new();
    for (real, model) in on_wire.iter().zip(&in_virtual) {
        assert_eq!(real.id, model.id);
        // A machine that looks away leaves a case undecided; that is no disagreement.
        if matches!(real.verdict, Verdict::Inconclusive(_) | Verdict::Skipped(_)) {
            continue;
        }
        if core::mem::discriminant(&real.verdict) != core::mem::discriminant(&model.verdict) {
            faults.push(format!(
                "{}: {:?} on the wire, {:?} in virtual time",
                real.id, real.verdict, model.verdict
            ));
        }
        // The points of a ramp are named after the pauses that were measured: they go by their order.
        if real.judgements.len() != model.judgements.len() {
            let [real_one, model_one] = [real, model].map(|report| report.judgements.len());
            faults.push(format!(
                "{}: {real_one} measurements on the wire, {model_one} in virtual time",
                real.id
            ));
        }
        for (measured, other) in real.judgements.iter().zip(&model.judgements) {
            assert_eq!((measured.measure, &measured.subject), (other.measure, &other.subject));
            compared += 1;
            faults.extend(apart(measured, other).map(|why| format!("{}: {why}", real.id)));
        }
    }
    assert_eq!(faults, Vec::<String>::new(), "of {compared} measurements");
    assert!(compared > 100, "only {compared} measurements were compared");
}
