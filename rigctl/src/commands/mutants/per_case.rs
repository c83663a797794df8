//! `rigctl mutants --per-case`: a line for each case, with the mutant that turns it red by itself.

use super::unfinished;
use crate::cli::{Format, MutantsArgs};
use crate::commands::input::Input;
use crate::commands::words::count;
use crate::runner::case::Rig;
use crate::runner::mutants::Mutant;
use crate::runner::mutants::per_case::{Worth, worth};
use crate::runner::pool::{News, in_order};
use crate::stdout;
use crate::wall::Stopwatch;
use rig_reports::{Exit, printable};
use rig_testcases::{Case, Suite};

/// Cases against mutants.
pub(super) struct Matrix<'a> {
    pub(super) rig: &'a Rig<'a>,
    pub(super) input: &'a Input,
    pub(super) all: &'a [Mutant],
    pub(super) jobs: usize,
    pub(super) args: &'a MutantsArgs,
}

impl Matrix<'_> {
    /// Tries every case and writes what came of it.
    pub(super) fn run(&self, watch: &Stopwatch) -> Exit {
        let chosen: Vec<(&Suite, &Case)> = self
            .input
            .suites
            .iter()
            .flat_map(|suite| suite.cases.iter().map(move |case| (suite, case)))
            .filter(|(_, case)| self.input.cases().iter().any(|one| one.id == case.id))
            .collect();
        let full = self.args.full;
        let work = |index: usize| {
            let (suite, case) = chosen[index];
            worth(self.rig, suite, case, self.all, full)
        };
        let json = self.args.format == Format::Json;
        let mut done = Vec::new();
        in_order(chosen.len(), self.jobs, self.rig.stop, work, |index, news| {
            let News::Done(worth) = news else { return };
            let case = chosen[index].1;
            if !json {
                stdout::text(&format!("{}\n", printable(&line(case, &worth, full))));
            }
            done.push((case.id.to_string(), worth));
        });
        let idle = done.iter().filter(|(_, worth)| !worth.as_ref().is_ok_and(Worth::holds));
        let idle = idle.count();
        let begun = done.iter().filter(|(_, worth)| matches!(worth, Ok(Worth::BrokenOff { .. })));
        let open = chosen.len() - done.len() + begun.count();
        if json {
            let value = serde_json::json!({
                "format": "rig-matrix/1",
                "full": full,
                "unfinished": open,
                "cases": done.iter().map(|(id, worth)| row(id, worth)).collect::<Vec<_>>(),
                "idle": idle,
            });
            stdout::json(&format!("{value:#}"));
        } else {
            let number = |wanted: fn(&Worth) -> bool| {
                done.iter().filter(|(_, worth)| worth.as_ref().is_ok_and(wanted)).count()
            };
            stdout::text(&format!(
                "     Summary [{:4}s] {}: {} kill, {} say why they cannot, {} skipped, {idle} show nothing{}\n",
                watch.elapsed().0 / 1_000_000_000_000,
                count(chosen.len(), "case"),
                number(|worth| matches!(worth, Worth::Kills { .. })),
                number(|worth| matches!(worth, Worth::Spared { .. })),
                number(|worth| matches!(worth, Worth::Skipped { .. })),
                unfinished(open),
            ));
        }
        match (self.rig.stop.requested(), idle) {
            (true, _) => Exit::Broken,
            (false, 0) => Exit::Passed,
            (false, _) => Exit::Failed,
        }
    }
}

fn line(case: &Case, worth: &Result<Worth, String>, full: bool) -> String {
    let id = case.id.to_string();
    match worth {
        Ok(Worth::Kills { mutants, tried }) if full => {
            format!("       KILLS {id:60} {} of {tried}: {}", mutants.len(), mutants.join(" "))
        }
        Ok(Worth::Kills { mutants, tried: 1 }) => {
            format!("       KILLS {id:60} {}", mutants.join(" "))
        }
        Ok(Worth::Kills { mutants, tried }) => {
            let before = count(tried - 1, "other");
            format!(
                "       KILLS {id:60} {}, after {before} that changed nothing",
                mutants.join(" ")
            )
        }
        Ok(Worth::Spared { by_hand, tried }) => {
            let why = case.spared.as_ref().map_or("", |spared| &spared.why);
            let others = match tried - 1 {
                0 => String::new(),
                others => format!(" and {}", count(others, "other")),
            };
            format!("      SPARED {id:60} {why}; tried: {by_hand}{others}")
        }
        Ok(Worth::SparedWrongly { by }) => {
            let does = if by.len() == 1 { "does" } else { "do" };
            format!("       WRONG {id:60} says that none can, but {} {does}", by.join(" "))
        }
        Ok(Worth::Skipped { why }) => format!("        SKIP {id:60} {why}"),
        Ok(Worth::BrokenOff { tried }) => {
            format!("  UNFINISHED {id:60} {} tried", count(*tried, "mutant"))
        }
        Ok(Worth::Nothing { tried }) => {
            format!("     NOTHING {id:60} {} tried", count(*tried, "mutant"))
        }
        Err(why) => format!("       ERROR {id}: {why}"),
    }
}

fn row(id: &str, worth: &Result<Worth, String>) -> serde_json::Value {
    match worth {
        Ok(Worth::Kills { mutants, tried }) => {
            serde_json::json!({"id": id, "worth": "kills", "mutants": mutants, "tried": tried})
        }
        Ok(Worth::Spared { by_hand, tried }) => {
            serde_json::json!({"id": id, "worth": "spared", "by_hand": by_hand, "tried": tried})
        }
        Ok(Worth::SparedWrongly { by }) => {
            serde_json::json!({"id": id, "worth": "spared-wrongly", "mutants": by})
        }
        Ok(Worth::Skipped { why }) => {
            serde_json::json!({"id": id, "worth": "skipped", "why": why})
        }
        Ok(Worth::BrokenOff { tried }) => {
            serde_json::json!({"id": id, "worth": "unfinished", "tried": tried})
        }
        Ok(Worth::Nothing { tried }) => {
            serde_json::json!({"id": id, "worth": "nothing", "tried": tried})
        }
        Err(why) => serde_json::json!({"id": id, "worth": "error", "why": why}),
    }
}
