//! `report.html`: one file, opens offline, works without a script and asks the network for nothing.
//!
//! The page is well-formed XML too, so that a test can read it back. Equal runs give equal bytes outside `<time>`.

mod axis;
mod case;
mod curve;
mod escape;
mod intervals;
mod standalone;
mod summary;
mod timeline;

use crate::Run;
use crate::outcome::Outcome;
use escape::esc;
pub use standalone::{PlotFile, figures};

/// The style sheet, part of the page.
const STYLE: &str = include_str!("html/style.css");

/// The text of `report.html`.
pub fn page(run: &Run) -> String {
    let tally = run.tally();
    let title = format!("{} \u{b7} {}", summary::headline(run).1, run.started.lab);
    let sections: String = run.cases.iter().map(case::section).collect();
    let table = if run.cases.is_empty() {
        String::new()
    } else {
        summary::filter(&tally) + &summary::table(&run.cases)
    };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body id=\"top\">\n{}<main>\n{table}{sections}</main>\n</body>\n</html>\n",
        esc(&title),
        summary::header(run),
    )
}

/// A verdict as a word with a sign of its own, so that colour is not all that tells them apart.
fn badge(outcome: Outcome) -> String {
    let sign = match outcome {
        Outcome::Pass => '\u{2713}',
        Outcome::Fail => '\u{2715}',
        Outcome::Inconclusive => '?',
        Outcome::Skipped => '\u{2013}',
        Outcome::Broken => '!',
    };
    let word = outcome.word();
    format!("<span class=\"badge {word}\"><i>{sign}</i>{word}</span>")
}

/// Something that depends on the clock; all that differs between two equal runs is inside such marks.
fn wall(text: &str) -> String {
    format!("<time>{text}</time>")
}

#[cfg(test)]
mod tests;
