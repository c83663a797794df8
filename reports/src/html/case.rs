//! One case on the page: why it exists, what was done, what came of it and how to see it again.

use super::escape::{anchor, esc, link};
use super::summary::name;
use super::{badge, curve, intervals, timeline, wall};
use crate::outcome::Outcome;
use crate::text::{count, seconds};
use crate::{CaseReport, Errors, EvidenceFile, Sending, finding, left_out};
use rig_oracle::{Finding, Judgement, Verdict};

/// How many evidence files and void trials are listed.
const LISTED: usize = 8;

/// The section of `case`.
pub(super) fn section(case: &CaseReport) -> String {
    let outcome = Outcome::of(&case.verdict);
    let mut body = String::new();
    body += &verdict(case);
    for left_out in &case.left_out {
        body += &format!("<div class=\"note skipped\"><p>Left out: {}</p></div>\n", esc(left_out));
    }
    if !case.evidence_left_out.is_empty() {
        body += &format!(
            "<div class=\"note skipped\"><p>The evidence budget had no room for {}</p></div>\n",
            esc(&left_out::line(&case.evidence_left_out))
        );
    }
    for what in &case.not_applicable {
        body +=
            &format!("<div class=\"note skipped\"><p>Not applicable: {}</p></div>\n", esc(what));
    }
    for what in &case.undecided {
        body += &format!("<div class=\"note skipped\"><p>Undecided: {}</p></div>\n", esc(what));
    }
    if !case.judgements.is_empty() {
        body += &format!(
            "<h3>Measured against predicted <span class=\"key\"><i class=\"predicted\"></i> predicted <i class=\"measured\"></i> measured</span></h3>\n{}{}",
            intervals::plots(&case.judgements),
            formulas(&case.judgements),
        );
    }
    if !case.curves.is_empty() {
        body += "<h3>Curves <span class=\"key\"><i class=\"predicted-line\"></i> predicted <i class=\"fitted-line\"></i> likeliest, where fitted <i class=\"measured\"></i> what the trials leave possible</span></h3>\n";
        body += &case.curves.iter().map(curve::plot).collect::<String>();
    }
    if let Some(timeline) = &case.timeline {
        body += "<h3>The first trial</h3>\n";
        body += &timeline::plot(timeline);
    }
    body += &sent(&case.sending);
    body += &background(case);
    format!(
        "<section id=\"{}\" data-outcome=\"{word}\" class=\"case {word}\">\n<h2>{} <span>{}</span></h2>\n<p class=\"meta\">{}</p>\n<p class=\"why\">{}</p>\n{body}</section>\n",
        anchor(&case.id),
        badge(outcome),
        name(case),
        meta(case),
        esc(&case.why),
        word = outcome.word(),
    )
}

/// Device, trials and time on one line.
fn meta(case: &CaseReport) -> String {
    let mut parts = Vec::new();
    if !case.dut.is_empty() {
        parts.push(format!("<b>{}</b>", esc(&case.dut)));
    }
    let trials = &case.trials;
    if trials.run > 0 {
        let void = match trials.void.len() {
            0 => String::new(),
            void => format!(", {void} void"),
        };
        parts.push(format!("{}{void}", count(trials.run as usize, "trial")));
    }
    if case.simulated.0 > 0 {
        parts.push(format!("{} simulated", seconds(case.simulated)));
    }
    if !matches!(case.verdict, Verdict::Skipped(_)) {
        parts.push(format!("took {}", wall(&seconds(case.wall))));
    }
    parts.join(" \u{b7} ")
}

/// What is wrong, if anything.
fn verdict(case: &CaseReport) -> String {
    match &case.verdict {
        Verdict::Pass => String::new(),
        Verdict::Fail(findings) => departures(findings, &case.evidence),
        Verdict::Inconclusive(doubt) => {
            let (reason, detail) = (esc(doubt.reason), esc(&doubt.detail));
            format!("<div class=\"note inconclusive\"><p><b>{reason}</b>: {detail}</p></div>\n")
        }
        Verdict::Skipped(why) => {
            format!("<div class=\"note skipped\"><p>Not applicable: {}</p></div>\n", esc(why))
        }
        Verdict::Broken(how) => {
            format!(
                "<div class=\"note broken\"><p>The rig or the lab broke: {}</p></div>\n",
                esc(how)
            )
        }
    }
}

/// Findings, those of one kind thinned.
fn departures(findings: &[Finding], evidence: &[EvidenceFile]) -> String {
    let mut rows = String::new();
    for kind in finding::thin(findings) {
        for finding in &kind.shown {
            rows += &format!(
                "<tr><th>{}</th><td>{}</td><td><b class=\"missed\">{}</b></td><td>{}</td></tr>\n",
                esc(finding.rule),
                esc(&finding.want),
                esc(&finding.got),
                esc(&finding::place(finding, evidence)),
            );
        }
        if let Some(rest) = kind.rest() {
            rows += &format!("<tr><td></td><td colspan=\"3\">{}</td></tr>\n", esc(&rest));
        }
    }
    format!(
        "<div class=\"note fail\"><table class=\"findings\">\n<thead><tr><th>Finding</th><th>Want</th><th>Got</th><th>Where to look</th></tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n"
    )
}

/// Where the predictions come from and what could not have been told apart.
fn formulas(judgements: &[Judgement]) -> String {
    let mut rows = String::new();
    let mut sources: Vec<(&str, &str)> = Vec::new();
    for judgement in judgements {
        let Judgement { measure, subject, point, prediction, trials, looked, resolution, .. } =
            judgement;
        let place = if point.is_empty() { subject } else { point };
        rows += &format!(
            "<tr><td>{}<small>{}</small></td><td><b>{}</b> {}</td><td>{}</td><td class=\"number\">{trials}</td><td class=\"number\">{}<small>{}</small></td></tr>\n",
            esc(measure),
            esc(place),
            esc(prediction.formula),
            esc(&prediction.text),
            esc(&resolution.to_string()),
            looked.count,
            esc(looked.of),
        );
        let source = (prediction.formula, prediction.source);
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    let sources =
        sources.iter().map(|(formula, source)| format!("<b>{}</b> {}", esc(formula), esc(source)));
    format!(
        "<table class=\"formulas\">\n<thead><tr><th>Measure</th><th>Formula</th><th>Resolution</th><th class=\"number\">Trials</th><th class=\"number\">Looked at</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n<p class=\"sources\">{}</p>\n",
        sources.collect::<Vec<_>>().join("<br/>"),
    )
}

/// What the rig sent, counted at three places beside the plan; on real ports how it kept to it.
fn sent(all: &[Sending]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let timed = all.iter().any(|of| of.gap_error.is_some());
    let figures = |of: Option<Errors>| match (timed, of) {
        (false, _) => String::new(),
        (true, None) => "<td></td>".repeat(2),
        (true, Some(errors)) => {
            let [p50, _, p99, _, max] = errors.shown();
            format!(
                "<td class=\"number\">{p50}<small>p99 {p99}</small></td><td class=\"number\">{max}</td>"
            )
        }
    };
    let mut rows = String::new();
    for of in all {
        let planned = match (of.planned_lo, of.planned_hi) {
            (Some(lo), Some(hi)) if lo == hi => lo.to_string(),
            (Some(lo), Some(hi)) => format!("{lo} to {hi}"),
            _ => "\u{2013}".to_owned(),
        };
        let received = of.received.map_or("\u{2013}".to_owned(), |received| received.to_string());
        rows += &format!(
            "<tr><td>{}</td><td class=\"number\">{planned}</td><td class=\"number\">{}</td><td class=\"number\">{received}</td><td class=\"number\">{}</td>{}{}</tr>\n",
            esc(&of.name),
            of.sent,
            of.recorded,
            figures(of.gap_error),
            figures(of.late_by),
        );
    }
    let timing = if timed {
        "<th class=\"number\">Gap error, half</th><th class=\"number\">at most</th><th class=\"number\">Late by, half</th><th class=\"number\">at most</th>"
    } else {
        ""
    };
    format!(
        "<h3>What the rig sent</h3>\n<table class=\"formulas sending\">\n<thead><tr><th>Sender</th><th class=\"number\">Planned</th><th class=\"number\">Sent</th><th class=\"number\">Received</th><th class=\"number\">Recorded</th>{timing}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n"
    )
}

/// What was done, where the case comes from, what was kept, how to repeat it.
fn background(case: &CaseReport) -> String {
    let mut blocks = String::new();
    let mut block = |title: &str, items: Vec<String>| {
        if !items.is_empty() {
            let items: String = items.iter().map(|item| format!("<li>{item}</li>")).collect();
            blocks += &format!("<div><h3>{title}</h3><ul>{items}</ul></div>\n");
        }
    };
    block("System", case.system.iter().map(|line| esc(line)).collect());
    block("Stimulus", case.stimulus.iter().map(|line| esc(line)).collect());
    block("Source", case.source.iter().map(|line| esc(line)).collect());
    block(
        "Evidence",
        some(&case.evidence, "file", |file| {
            let (path, frames) = (
                esc(&file.path),
                count(usize::try_from(file.frames).unwrap_or(usize::MAX), "frame"),
            );
            format!(
                "<a href=\"{}\"><code>{path}</code></a> trial {}, {frames}",
                esc(&link(&file.path)),
                file.trial
            )
        }),
    );
    block(
        "Trial by trial",
        some(&case.tables, "table", |table| {
            let (path, rows) =
                (esc(&table.path), count(usize::try_from(table.rows).unwrap_or(usize::MAX), "row"));
            format!("<a href=\"{}\"><code>{path}</code></a> {rows}", esc(&link(&table.path)))
        }),
    );
    block(
        "Void trials",
        some(&case.trials.void, "trial", |void| format!("#{} {}", void.trial, esc(&void.reason))),
    );
    format!(
        "<div class=\"background\">\n{blocks}</div>\n<h3>Again</h3>\n<pre><code>{}</code></pre>\n",
        esc(&case.repeat)
    )
}

/// The first of `items`, and how many more.
fn some<T>(items: &[T], noun: &str, show: impl Fn(&T) -> String) -> Vec<String> {
    let mut shown: Vec<String> = items.iter().take(LISTED).map(show).collect();
    if items.len() > LISTED {
        shown.push(format!("and {}", count(items.len() - LISTED, &format!("more {noun}"))));
    }
    shown
}
