//! The run for a person at a terminal: twelve columns of status, time, count and name; where a case did not pass, what
//! was wanted, what was got, where to look and how to repeat it. Not an interface: scripts read `results.json`.

mod progress;
mod wrap;

pub use progress::Progress;

use crate::outcome::{Outcome, Tally};
use crate::shown::{Paint, Shown, printable};
use crate::text::{count, list, seconds};
use crate::{CaseReport, Finished, RunEvent, Started, Void, figure, finding, left_out};
use indexmap::IndexMap;
use rig_oracle::{Judgement, Verdict};
use wrap::wrap;

/// Columns of the status word.
const STATUS: usize = 12;
/// Where the lines under a case start.
const INDENT: usize = STATUS + 1;
/// How many void trials, and cases that never ran, are named.
const NAMED: usize = 3;

/// Whether to colour. The caller decides: it knows where the text goes and what `NO_COLOR` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// With ANSI escapes.
    Always,
    /// Plain.
    Never,
}

/// How the text is to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether to colour.
    pub colour: Colour,
    /// Columns after which long lines are wrapped; `None` leaves them whole, as a file wants it.
    pub width: Option<usize>,
    /// Also say of each passing case what was measured.
    pub detail: bool,
}

/// Tells a run as it happens.
#[derive(Debug)]
pub struct Terminal {
    style: Style,
    cases: usize,
    tally: Tally,
    report: Option<String>,
    /// Captures that there was no room for, their bytes, and how many of them findings cite.
    left_out: (usize, u64, usize),
}

impl Terminal {
    /// Tells it in `style`.
    pub fn new(style: Style) -> Terminal {
        Terminal { style, cases: 0, tally: Tally::default(), report: None, left_out: (0, 0, 0) }
    }

    /// What is to be said about `event`: whole lines, or nothing.
    pub fn on(&mut self, event: &RunEvent) -> Shown {
        match event {
            RunEvent::CaseStarted(_) => Shown::default(),
            RunEvent::Started(started) => self.start(started),
            RunEvent::CaseFinished(report) => self.case(report),
            RunEvent::Finished(finished) => self.finish(finished),
        }
    }

    fn start(&mut self, started: &Started) -> Shown {
        let Started { seed, lab, executor, mutations, cases, wall, .. } = started;
        self.cases = cases.len();
        self.report =
            (!wall.out.is_empty()).then(|| format!("{}/report.html", printable(&wall.out)));
        let what = format!(
            "{}, lab {} ({executor}), seed {seed}",
            count(cases.len(), "case"),
            printable(lab)
        );
        let mut lines = self.line("Starting", None, &what);
        for mutation in mutations {
            lines += &self.line("Mutated", None, &printable(mutation));
        }
        if let Some(pausing) = &wall.pausing {
            lines += &self.line("Pausing", None, &printable(&pausing.line()));
        }
        if let Some(budget) = &wall.budget {
            lines += &self.line("Budget", None, &budget.line());
        }
        if let Some(floor) = &wall.floor {
            lines += &self.line("Floor", None, &floor.line());
        }
        lines
    }

    fn case(&mut self, report: &CaseReport) -> Shown {
        let outcome = Outcome::of(&report.verdict);
        self.tally.add(outcome);
        let width = self.cases.to_string().len();
        let head =
            format!("[{:>9}] ({:>width$}/{}) ", seconds(report.wall), self.tally.all(), self.cases);
        let id = printable(&report.id.to_string());
        let said = match &report.verdict {
            Verdict::Pass | Verdict::Fail(_) => id,
            Verdict::Inconclusive(doubt) => {
                format!("{id}: {}: {}", doubt.reason, printable(&doubt.detail))
            }
            Verdict::Skipped(why) | Verdict::Broken(why) => {
                format!("{id}: {}", printable(why))
            }
        };
        let mut lines = self.line(status(outcome), Some((outcome, &head)), &said);
        match &report.verdict {
            Verdict::Pass | Verdict::Skipped(_) => {}
            Verdict::Fail(findings) => {
                for finding in finding::lines(findings, &report.evidence) {
                    self.under(&mut lines, &finding);
                }
            }
            Verdict::Inconclusive(_) | Verdict::Broken(_) => {
                if let Some(file) = report.evidence.first() {
                    self.under(&mut lines, &format!("look at {}", printable(&file.path)));
                }
            }
        }
        if self.style.detail {
            for judgement in &report.judgements {
                self.measured(&mut lines, judgement);
            }
        }
        for left_out in &report.left_out {
            self.under(&mut lines, &format!("left out: {}", printable(left_out)));
        }
        if !report.evidence_left_out.is_empty() {
            let left_out = &report.evidence_left_out;
            self.under(&mut lines, &format!("no room for {}", left_out::line(left_out)));
            let cited = left_out.iter().filter(|left| left.cited).count();
            self.left_out.0 += left_out.len();
            self.left_out.1 += left_out.iter().map(|left| left.bytes).sum::<u64>();
            self.left_out.2 += cited;
        }
        for what in &report.not_applicable {
            self.under(&mut lines, &format!("not applicable: {}", printable(what)));
        }
        let unsettled = matches!(outcome, Outcome::Fail | Outcome::Inconclusive | Outcome::Broken);
        // The first one is what the verdict says; a case that is to be undecided passes.
        let said = usize::from(outcome == Outcome::Inconclusive);
        for what in report.undecided.iter().skip(said).filter(|_| unsettled) {
            self.under(&mut lines, &format!("undecided: {}", printable(what)));
        }
        if !report.trials.void.is_empty() && (unsettled || self.style.detail) {
            self.under(&mut lines, &void(report));
        }
        if unsettled {
            // Never wrapped: it is there to be copied.
            lines.push(&format!("{:INDENT$}again: {}\n", "", printable(&report.repeat)));
        }
        lines
    }

    fn measured(&self, lines: &mut Shown, judgement: &Judgement) {
        let Judgement { reading, prediction, looked, resolution, .. } = judgement;
        let name = printable(&figure::name(judgement));
        let measured = figure::span(reading.unit, reading.span);
        let predicted = figure::span(prediction.unit, prediction.span);
        let known = figure::Known::of(judgement).line();
        let looked = format!("{} {}", looked.count, looked.of);
        // What the case itself wants follows from no formula.
        let formula = match prediction.formula {
            "" => String::new(),
            formula => format!(" ({formula})"),
        };
        let text =
            format!("{name}: {measured} ({known}), predicted {predicted}{formula}, {looked}");
        self.under(lines, &text);
        self.under(lines, &format!("  resolution: {}", printable(&resolution.to_string())));
    }

    fn finish(&mut self, finished: &Finished) -> Shown {
        let Finished { partial, not_run, wall } = finished;
        let mut lines = Shown::default();
        if let Some(why) = partial {
            let mut text = printable(why);
            if !not_run.is_empty() {
                let ids = some(not_run.iter().map(|id| printable(&id.to_string())).collect());
                text = format!("{text}; not run: {ids}");
            }
            lines += &self.line("Partial", None, &text);
        }
        let exit = self.tally.exit(partial.is_some()).code();
        let head = format!("[{:>9}] ", seconds(*wall));
        let worst = match exit {
            0 => Outcome::Pass,
            1 => Outcome::Fail,
            4 => Outcome::Broken,
            _ => Outcome::Inconclusive,
        };
        let text = format!("{} (exit {exit})", self.tally);
        lines += &self.line("Summary", Some((worst, &head)), &text);
        if let (1.., bytes, cited) = self.left_out {
            let text = left_out::total(self.left_out.0, bytes, cited);
            lines += &self.line("No room", None, &format!("for {text} (--evidence-budget)"));
        }
        if let Some(report) = &self.report {
            lines += &self.line("Report", None, report);
        }
        lines
    }

    /// `status` in its columns, coloured as `outcome`, the head of the line, then `text`, wrapped.
    fn line(&self, status: &str, head: Option<(Outcome, &str)>, text: &str) -> Shown {
        let (paint, head) =
            head.map_or((Paint::Bold, ""), |(outcome, head)| (paint(outcome), head));
        let used = INDENT + head.len();
        let text = wrap(text, used, INDENT, self.style.width);
        let status = format!("{status:>STATUS$}");
        let mut line = Shown::default();
        match self.style.colour {
            Colour::Always => line.paint(paint, &status),
            Colour::Never => line.push(&status),
        }
        line.push(&format!(" {head}{text}\n"));
        line
    }

    /// A line under a case.
    fn under(&self, lines: &mut Shown, text: &str) {
        let text = wrap(text, INDENT, INDENT + 2, self.style.width);
        lines.push(&format!("{:INDENT$}{text}\n", ""));
    }
}

const fn status(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "PASS",
        Outcome::Fail => "FAIL",
        Outcome::Inconclusive => "INCONCLUSIVE",
        Outcome::Skipped => "SKIPPED",
        Outcome::Broken => "BROKEN",
    }
}

const fn paint(outcome: Outcome) -> Paint {
    match outcome {
        Outcome::Pass => Paint::Green,
        Outcome::Fail => Paint::Red,
        Outcome::Inconclusive => Paint::Yellow,
        Outcome::Skipped => Paint::Blue,
        Outcome::Broken => Paint::Magenta,
    }
}

/// `3 of 12 trials void: late-send by 4us in #3; capture-hole in #7 and #9`
fn void(report: &CaseReport) -> String {
    let trials = &report.trials;
    let mut reasons: IndexMap<&str, Vec<String>> = IndexMap::new();
    for Void { trial, reason } in &trials.void {
        reasons.entry(reason).or_default().push(format!("#{trial}"));
    }
    let reasons: Vec<String> = reasons
        .into_iter()
        .map(|(reason, trials)| format!("{} in {}", printable(reason), some(trials)))
        .collect();
    let run = count(trials.run as usize, "trial");
    let more = match reasons.len().saturating_sub(NAMED) {
        0 | 1 => String::new(),
        more => format!("; {more} others"),
    };
    let shown = if more.is_empty() { &reasons[..] } else { &reasons[..NAMED] };
    format!("{} of {run} void: {}{more}", trials.void.len(), shown.join("; "))
}

/// The first few of `items`, and how many more.
fn some(mut items: Vec<String>) -> String {
    if items.len() > NAMED + 1 {
        let more = items.len() - NAMED;
        items.truncate(NAMED);
        items.push(format!("{more} more"));
    }
    list(&items)
}

#[cfg(test)]
mod tests;
