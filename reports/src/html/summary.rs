//! The top of the page: what came of the run, and the table of cases with a filter by verdict.

use super::axis::{Axis, percent};
use super::escape::{anchor, esc};
use super::{badge, intervals, wall};
use crate::outcome::{Outcome, Tally};
use crate::text::{count, list, seconds};
use crate::{CaseReport, Run, figure};
use rig_oracle::{Judgement, Verdict};

/// Headline, facts, warnings.
pub(super) fn header(run: &Run) -> String {
    let started = &run.started;
    let mut facts = vec![
        ("Lab", esc(&started.lab)),
        ("Executor", esc(started.executor)),
        ("Seed", started.seed.to_string()),
        ("rigctl", esc(&started.version)),
        ("Started", wall(&esc(&started.wall.started))),
    ];
    if let Some(finished) = &run.finished {
        facts.push(("Took", wall(&seconds(finished.wall))));
    }
    facts.push(("Exit code", run.exit().code().to_string()));
    let facts: String = facts
        .iter()
        .map(|(name, value)| format!("<div><dt>{name}</dt><dd>{value}</dd></div>"))
        .collect();
    let mut notes = String::new();
    if let Some(why) = run.partial() {
        let not_run = run.finished.iter().flat_map(|finished| &finished.not_run);
        let not_run: String =
            not_run.map(|id| format!("<li><code>{}</code></li>", esc(&id.to_string()))).collect();
        let not_run = if not_run.is_empty() {
            not_run
        } else {
            format!("<p>Never ran:</p><ul>{not_run}</ul>")
        };
        notes += &format!(
            "<div class=\"note broken\"><p><b>Partial.</b> {}</p>{not_run}</div>\n",
            esc(why)
        );
    }
    if !started.mutations.is_empty() {
        let all: String = started
            .mutations
            .iter()
            .map(|text| format!("<li><code>{}</code></li>", esc(text)))
            .collect();
        notes += &format!(
            "<div class=\"note inconclusive\"><p><b>Mutated.</b> The device was made to deviate on purpose:</p><ul>{all}</ul></div>\n"
        );
    }
    if let Some(pausing) = &started.wall.pausing {
        let line = wall(&esc(&pausing.line()));
        notes += &format!("<div class=\"note skipped\"><p><b>Pausing.</b> {line}</p></div>\n");
    }
    if let Some(budget) = &started.wall.budget {
        let line = wall(&esc(&budget.line()));
        notes += &format!("<div class=\"note skipped\"><p><b>Budget.</b> {line}</p></div>\n");
    }
    if let Some(floor) = &started.wall.floor {
        let line = wall(&esc(&floor.line()));
        notes += &format!("<div class=\"note skipped\"><p><b>Floor.</b> {line}</p></div>\n");
    }
    let (outcome, headline) = headline(run);
    format!(
        "<header>\n<p class=\"kicker\">RDMA rig report</p>\n<h1 class=\"{}\">{headline}</h1>\n{}<dl class=\"facts\">{facts}</dl>\n{notes}</header>\n",
        outcome.word(),
        shares(&run.tally()),
    )
}

/// The run in one sentence, without the wall clock.
pub(super) fn headline(run: &Run) -> (Outcome, String) {
    let tally = run.tally();
    let cases = count(tally.run(), "case");
    let bad: Vec<Outcome> = [Outcome::Fail, Outcome::Inconclusive, Outcome::Broken]
        .into_iter()
        .filter(|&outcome| tally.count(outcome) > 0)
        .collect();
    let said: Vec<String> =
        bad.iter().map(|&bad| format!("{} {}", tally.count(bad), bad.participle())).collect();
    match bad.first() {
        _ if bad.contains(&Outcome::Broken) => {
            (Outcome::Broken, format!("{} of {cases}", list(&said)))
        }
        Some(&worst) => (worst, format!("{} of {cases}", list(&said))),
        None if run.partial().is_some() => (Outcome::Broken, format!("Cut short after {cases}")),
        None if tally.run() == 0 => (Outcome::Skipped, "Nothing ran".to_owned()),
        None => {
            let which =
                if tally.run() == 1 { "The case".to_owned() } else { format!("All {cases}") };
            // What did not run is not passed over: of a lab that can do little little has passed.
            let passed = match tally.count(Outcome::Skipped) {
                0 => format!("{which} passed"),
                skipped => format!("{which} that ran passed, {skipped} skipped"),
            };
            (Outcome::Pass, passed)
        }
    }
}

/// The share of each verdict, as a strip.
fn shares(tally: &Tally) -> String {
    let axis = Axis::new(rig_capture::Unit::Frames, 0, tally.all() as u64);
    let (mut strip, mut from) = (String::new(), 0);
    for outcome in Outcome::ALL {
        let to = from + tally.count(outcome) as u64;
        let (left, width) = (axis.at(from), axis.at(to) - axis.at(from));
        if width > 0 {
            let (x, width) = (percent(left), percent(width));
            strip += &format!(
                "<rect class=\"{}\" x=\"{x}\" width=\"{width}\" height=\"6\"/>",
                outcome.word()
            );
        }
        from = to;
    }
    format!("<svg class=\"shares\" height=\"6\" aria-hidden=\"true\">{strip}</svg>\n")
}

/// The filter. It works without a script: the style sheet asks which of these is checked.
pub(super) fn filter(tally: &Tally) -> String {
    let tile = |word: &str, says: &str, n: usize, checked: &str| {
        format!(
            "<input type=\"radio\" name=\"show\" id=\"show-{word}\"{checked}/><label for=\"show-{word}\" class=\"{word}\"><b>{n}</b> {says}</label>"
        )
    };
    let mut tiles = tile("all", "all", tally.all(), " checked=\"checked\"");
    for outcome in Outcome::ALL.into_iter().filter(|&outcome| tally.count(outcome) > 0) {
        tiles += &tile(outcome.word(), outcome.participle(), tally.count(outcome), "");
    }
    format!("<fieldset class=\"filter\"><legend>Show cases that are</legend>{tiles}</fieldset>\n")
}

/// One row a case.
pub(super) fn table(cases: &[CaseReport]) -> String {
    let rows: String = cases.iter().map(row).collect();
    format!(
        "<table class=\"cases\">\n<thead><tr><th>Verdict</th><th>Case</th><th>Measured</th><th class=\"gauge\"></th>\
         <th>Predicted</th><th class=\"number trials\">Trials</th><th class=\"number\">Time</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n"
    )
}

fn row(case: &CaseReport) -> String {
    let outcome = Outcome::of(&case.verdict);
    let device = if case.dut.is_empty() {
        String::new()
    } else {
        format!("<small>{}</small>", esc(&case.dut))
    };
    format!(
        "<tr data-outcome=\"{}\"><td>{}</td><td class=\"name\"><a href=\"#{}\">{}</a>{device}</td>{}<td class=\"number trials\">{}</td><td class=\"number\">{}</td></tr>\n",
        outcome.word(),
        badge(outcome),
        anchor(&case.id),
        name(case),
        told(case),
        case.trials.run,
        wall(&seconds(case.wall)),
    )
}

/// The case's name, the suite's part of it set back.
pub(super) fn name(case: &CaseReport) -> String {
    format!("<span class=\"suite\">{}::</span><wbr/>{}", esc(&case.id.suite), esc(&case.id.case))
}

/// What a row says: the measurement that decided the case, or the reason for which there is none.
fn told(case: &CaseReport) -> String {
    let reason = match &case.verdict {
        Verdict::Inconclusive(doubt) => {
            Some(format!("<b>{}</b>: {}", esc(doubt.reason), esc(&doubt.detail)))
        }
        Verdict::Skipped(why) | Verdict::Broken(why) => Some(esc(why)),
        Verdict::Pass | Verdict::Fail(_) => None,
    };
    if let Some(reason) = reason {
        return format!("<td colspan=\"3\" class=\"reason\">{reason}</td>");
    }
    let judgements = &case.judgements;
    let Some(told) =
        judgements.iter().find(|j| !j.findings.is_empty()).or_else(|| judgements.first())
    else {
        let points: usize = case.curves.iter().map(|curve| curve.points.len()).sum();
        let what = if points > 0 {
            format!("a curve of {}", count(points, "point"))
        } else {
            "\u{2013}".to_owned()
        };
        return format!("<td colspan=\"3\" class=\"reason\">{what}</td>");
    };
    let Judgement { measure, reading, prediction, findings, .. } = told;
    let tone = if findings.is_empty() { "met" } else { "missed" };
    let more = match judgements.len() {
        1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    let axis = Axis::around(reading.unit, [reading.span, prediction.span]);
    format!(
        "<td class=\"figure\"><b class=\"{tone}\">{}</b><small>{}{more}</small></td><td class=\"gauge\">{}</td><td class=\"figure\">{}<small>{}</small></td>",
        figure::span(reading.unit, reading.span),
        esc(measure),
        intervals::bar(&axis, told, 18, false),
        figure::span(prediction.unit, prediction.span),
        esc(prediction.formula),
    )
}

#[cfg(test)]
mod tests {
    use super::super::axis::WIDTH;
    use super::*;
    use crate::fixture;

    #[test]
    fn the_headline_names_all_that_did_not_pass() {
        let say = |cases: &[CaseReport]| headline(&fixture::run_of(cases.to_vec())).1;
        let [pass, fail, doubt, skip, broken] = [
            fixture::pass(),
            fixture::fail(),
            fixture::inconclusive(),
            fixture::skipped(),
            fixture::broken(),
        ];
        assert_eq!(say(&[]), "Nothing ran");
        assert_eq!(say(std::slice::from_ref(&pass)), "The case passed");
        assert_eq!(
            say(&[pass.clone(), pass.clone(), skip.clone()]),
            "All 2 cases that ran passed, 1 skipped"
        );
        assert_eq!(say(&[pass.clone(), skip]), "The case that ran passed, 1 skipped");
        assert_eq!(say(&[pass.clone(), pass.clone()]), "All 2 cases passed");
        assert_eq!(say(&[pass.clone(), doubt.clone()]), "1 inconclusive of 2 cases");
        assert_eq!(
            say(&[pass.clone(), doubt.clone(), fail.clone()]),
            "1 failed and 1 inconclusive of 3 cases"
        );
        assert_eq!(
            say(&[pass.clone(), doubt, fail, broken]),
            "1 failed, 1 inconclusive and 1 broken of 4 cases"
        );
        let mut cut = fixture::run_of(vec![pass]);
        cut.finished = None;
        assert_eq!(headline(&cut).1, "Cut short after 1 case");
    }

    #[test]
    fn the_strip_of_shares_is_filled_from_edge_to_edge() {
        let tally: Tally = [Outcome::Pass, Outcome::Pass, Outcome::Fail].into_iter().collect();
        let strip = shares(&tally);
        assert!(strip.contains("<rect class=\"pass\" x=\"0%\" width=\"66.666%\""), "{strip}");
        assert!(strip.contains("<rect class=\"fail\" x=\"66.666%\" width=\"33.334%\""), "{strip}");
        assert_eq!(WIDTH, 66_666 + 33_334);
    }
}
