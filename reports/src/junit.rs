//! JUnit XML: one `testsuite` a suite, one `testcase` a case.
//!
//! `failure`: the device deviates. `error`: the rig or the lab broke, or the case never ran because the run was cut
//! short. `skipped`, with the reason: inconclusive or not applicable. What was measured and predicted is in properties, with
//! how far trials lay apart (`spread`) and how far off one reading may be (`uncertainty`);
//! exact values are in `results.json`. Only timestamps and durations differ between equal runs.

use crate::figure::Known;
use crate::shown::printable;
use crate::text::count;
use crate::{CaseReport, Run, Void, figure, finding};
use core::time::Duration;
use indexmap::IndexMap;
use quick_junit::{
    NonSuccessKind, Property, Report, SerializeError, TestCase, TestCaseStatus, TestSuite,
};
use rig_oracle::Verdict;
use rig_testcases::CaseId;
use rig_units::Dur;

/// The text of `junit.xml`.
///
/// # Errors
/// What the XML writer fails with; writing to memory, it does not.
pub fn xml(run: &Run) -> Result<String, SerializeError> {
    let mut report = Report::new("rigctl");
    report.timestamp = run.started.wall.started.parse().ok();
    let mut cases: Vec<(&CaseId, TestCase, Dur)> = Vec::new();
    cases.extend(
        run.cases.iter().map(|case| (&case.id, test_case(case, run.started.seed), case.wall)),
    );
    if let Some(finished) = &run.finished {
        report.set_time(duration(finished.wall));
        let why = finished.partial.as_deref();
        cases.extend(finished.not_run.iter().map(|id| (id, never_ran(id, why), Dur::ZERO)));
    }
    let mut suites: IndexMap<&str, TestSuite> = IndexMap::new();
    for (id, case, took) in cases {
        let suite = suites.entry(&id.suite).or_insert_with(|| TestSuite::new(printable(&id.suite)));
        suite.time = Some(suite.time.unwrap_or_default() + duration(took));
        suite.add_test_case(case);
    }
    report.add_test_suites(suites.into_values());
    report.to_string()
}

fn test_case(report: &CaseReport, seed: u64) -> TestCase {
    let mut case = named(&report.id, status(report));
    case.set_time(duration(report.wall));
    case.add_property(Property::new("seed", seed.to_string()));
    if !report.dut.is_empty() {
        case.add_property(Property::new("dut", printable(&report.dut)));
    }
    for judgement in &report.judgements {
        let name = printable(&figure::name(judgement));
        let reading = &judgement.reading;
        let prediction = &judgement.prediction;
        let measured = figure::span(reading.unit, reading.span);
        case.add_property((format!("measured[{name}]"), measured));
        let Known { spread, uncertainty } = Known::of(judgement);
        if let Some(spread) = spread {
            case.add_property((format!("spread[{name}]"), spread));
        }
        case.add_properties([
            (format!("uncertainty[{name}]"), uncertainty),
            (format!("predicted[{name}]"), figure::span(prediction.unit, prediction.span)),
            (format!("resolution[{name}]"), printable(&judgement.resolution.to_string())),
        ]);
    }
    for left_out in &report.left_out {
        case.add_property(Property::new("left-out", printable(left_out)));
    }
    for what in &report.not_applicable {
        case.add_property(Property::new("not-applicable", printable(what)));
    }
    for what in &report.undecided {
        case.add_property(Property::new("undecided", printable(what)));
    }
    for Void { trial, reason } in &report.trials.void {
        case.add_property(Property::new(format!("void[{trial}]"), printable(reason)));
    }
    if !report.evidence.is_empty() {
        // The form in which Jenkins and GitLab pick up files.
        let attach = |path: &str| format!("[[ATTACHMENT|{}]]\n", printable(path));
        case.set_system_out(
            report.evidence.iter().map(|file| attach(&file.path)).collect::<String>(),
        );
    }
    case
}

fn status(report: &CaseReport) -> TestCaseStatus {
    match &report.verdict {
        Verdict::Pass => TestCaseStatus::success(),
        Verdict::Fail(findings) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            if let Some(first) = findings.first() {
                let line = finding::line(first, &report.evidence);
                let more = match findings.len() - 1 {
                    0 => String::new(),
                    more => format!(" (and {})", count(more, "more finding")),
                };
                status.set_type(first.rule).set_message(line + &more);
            }
            let mut lines = finding::lines(findings, &report.evidence);
            lines.push(format!("again: {}", printable(&report.repeat)));
            status.set_description(lines.join("\n"));
            status
        }
        Verdict::Inconclusive(doubt) => {
            let mut status = TestCaseStatus::skipped();
            let why = format!("inconclusive: {}: {}", doubt.reason, printable(&doubt.detail));
            status.set_type("inconclusive").set_message(why);
            status
        }
        Verdict::Skipped(why) => {
            let mut status = TestCaseStatus::skipped();
            status
                .set_type("not-applicable")
                .set_message(format!("not applicable: {}", printable(why)));
            status
        }
        Verdict::Broken(how) => broken("rig-or-lab", printable(how)),
    }
}

fn never_ran(id: &CaseId, why: Option<&str>) -> TestCase {
    let why = why.map_or_else(|| "the run ended".to_owned(), printable);
    named(id, broken("not-run", format!("never ran: {why}")))
}

fn broken(kind: &str, message: String) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_type(kind).set_message(message);
    status
}

fn named(id: &CaseId, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(printable(&id.case), status);
    case.set_classname(printable(&id.suite));
    case
}

const fn duration(dur: Dur) -> Duration {
    Duration::from_nanos(dur.0 / 1_000)
}

#[cfg(test)]
mod tests;
