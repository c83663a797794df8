//! The files that are made from a whole run, or from what there is of one.

use crate::outdir::OutDir;
use rig_reports::{Results, Run, html, junit};

/// What happened, line by line, while it happened.
pub const EVENTS: &str = "events.jsonl";
/// The results, for scripts.
pub const RESULTS: &str = "results.json";

/// The texts of the files.
#[derive(Debug)]
pub struct Files {
    /// Of [`RESULTS`].
    pub results: String,
    /// Of `junit.xml`, or why there is none.
    pub junit: Result<String, String>,
    html: String,
}

impl Files {
    /// The texts for `run`, finished or not.
    pub fn of(run: &Run) -> Files {
        Files {
            results: Results::of(run).to_json(),
            junit: junit::xml(run).map_err(|error| format!("junit.xml: {error}")),
            html: html::page(run),
        }
    }

    /// Writes them, each whole or not at all; why one could not be.
    pub fn write(&self, out: &OutDir) -> Vec<String> {
        let Files { results, junit, html } = self;
        let all =
            [(RESULTS, Ok(results)), ("junit.xml", junit.as_ref()), ("report.html", Ok(html))];
        let write = |(name, text): (&str, Result<&String, &String>)| match text {
            Ok(text) => out.write(name, text.as_bytes()).err().map(|error| error.to_string()),
            Err(why) => Some(why.clone()),
        };
        all.into_iter().filter_map(write).collect()
    }
}
