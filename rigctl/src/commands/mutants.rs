//! `rigctl mutants`: which case notices which broken device.

mod per_case;

use super::input::{Bad, Input};
use super::words::count;
use crate::cli::{Format, MutantsArgs};
use crate::interrupt::Requests;
use crate::rights::Work;
use crate::runner::case::Rig;
use crate::runner::mutants::{self, Cases, Fate, Mutant, Tried};
use crate::runner::pool::{News, default_jobs, in_order};
use crate::runner::{baseline, preflight};
use crate::stop::Stop;
use crate::wall::Stopwatch;
use crate::{stderr, stdout};
use rig_reports::{Exit, printable};
use std::sync::Arc;

/// Runs every mutant, or lists them.
///
/// # Errors
/// Input that cannot be used; nothing has run then.
pub fn mutants(args: &MutantsArgs) -> Result<Exit, Bad> {
    let watch = Stopwatch::start();
    let input = Input::read(&args.selection)?;
    input.tell_unmatched();
    let all = match args.per_case {
        // A case may show what its suite does not claim to cover.
        true => mutants::every(&input.lab, &input.suites),
        false => mutants::all(&input.lab, &input.suites),
    };
    if args.list {
        list(&all, args.format == Format::Json);
        return Ok(Exit::Passed);
    }
    let cases = input.cases();
    let mut bad = Bad::default();
    for case in &cases {
        bad.faults(&preflight::faults(&input.lab, input.only_dut.as_deref(), case));
    }
    bad.or(())?;
    if cases.is_empty() {
        return Ok(Exit::NothingRan);
    }
    if all.is_empty() {
        stderr::line(
            "no mutant to try: the suites chosen say `covers: none`. What their cases notice: \
             `rigctl mutants --per-case`",
        );
        return Ok(Exit::NothingRan);
    }
    let stop = Arc::new(Stop::default());
    let _listening = Requests::hear()
        .and_then(|requests| requests.listen(Arc::clone(&stop), Work::Waiting, || ()));
    let rig = Rig {
        only: input.only_dut.as_deref(),
        path: &input.typed,
        ..Rig::of(&input.lab, &cases, args.seed, &stop)
    };
    let jobs = args.jobs.map_or_else(default_jobs, usize::from);
    let healthy = baseline::run(&rig, &cases, jobs);
    if stop.requested() {
        stderr::line("error: interrupted while the healthy device was tried: no mutant was");
        return Ok(Exit::Broken);
    }
    if !healthy.green() {
        stderr::line(&format!(
            "error: the healthy device does not pass, so no mutant proves anything: {}",
            healthy.not_green.join(", ")
        ));
        return Ok(Exit::Broken);
    }
    if args.per_case {
        let matrix = per_case::Matrix { rig: &rig, input: &input, all: &all, jobs, args };
        return Ok(matrix.run(&watch));
    }
    let mut lines = Lines { json: args.format == Format::Json, fates: Vec::new(), of: all.len() };
    let (known, likely) = (Tried::default(), Cases::of(&cases));
    let work = |index: usize| mutants::try_one(&rig, &likely, &all[index], &known);
    in_order(all.len(), jobs, &stop, work, |index, news| {
        if let News::Done(fate) = news {
            lines.take(&all[index], fate);
        }
    });
    let interrupted = stop.requested();
    let survivors =
        lines.fates.iter().filter(|(_, fate)| matches!(fate, Ok(Fate::Survived) | Err(_))).count();
    lines.finish(&healthy, &watch, survivors);
    Ok(match (interrupted, survivors) {
        (true, _) => Exit::Broken,
        (false, 0) => Exit::Passed,
        (false, _) => Exit::Failed,
    })
}

/// Every mutant, a line each: as it is typed, and of a deviation what it is.
fn list(all: &[Mutant], json: bool) {
    if json {
        let row =
            |mutant: &Mutant| serde_json::json!({"mutant": mutant.text, "about": mutant.about()});
        let value = serde_json::json!({
            "format": "rig-mutants/1",
            "mutants": all.iter().map(row).collect::<Vec<_>>(),
        });
        stdout::json(&format!("{value:#}"));
        return;
    }
    let line = |mutant: &Mutant| format!("{:44}  {}", mutant.text, mutant.about());
    let lines = all.iter().map(|mutant| format!("{}\n", printable(line(mutant).trim_end())));
    stdout::text(&lines.collect::<String>());
}

/// What is written.
struct Lines {
    json: bool,
    fates: Vec<(String, Result<Fate, String>)>,
    /// How many mutants there are to try.
    of: usize,
}

impl Lines {
    fn take(&mut self, mutant: &Mutant, fate: Result<Fate, String>) {
        if !self.json {
            let line = match &fate {
                Ok(Fate::Killed { by, after: 1 }) => {
                    format!("      KILLED {:44} by {by}", mutant.text)
                }
                Ok(Fate::Killed { by, after }) => {
                    format!("      KILLED {:44} by {by}, the {after}th case tried", mutant.text)
                }
                Ok(Fate::Equivalent { because }) => {
                    format!("  EQUIVALENT {:44} {because}", mutant.text)
                }
                Ok(Fate::NotApplicable { because }) => {
                    format!("NOT APPLICABLE {:42} {because}", mutant.text)
                }
                Ok(Fate::Survived) => format!("    SURVIVED {}", mutant.text),
                Ok(Fate::BrokenOff { after }) => {
                    format!("  UNFINISHED {:44} {} tried", mutant.text, count(*after, "case"))
                }
                Err(why) => format!("       ERROR {}: {why}", mutant.text),
            };
            stdout::text(&format!("{}\n", printable(&line)));
        }
        self.fates.push((mutant.text.clone(), fate));
    }

    fn finish(&mut self, healthy: &baseline::Healthy, watch: &Stopwatch, survivors: usize) {
        let count = |wanted: fn(&Fate) -> bool| -> usize {
            self.fates.iter().filter(|(_, fate)| fate.as_ref().is_ok_and(wanted)).count()
        };
        let killed = count(|fate| matches!(fate, Fate::Killed { .. }));
        let equivalent = count(|fate| matches!(fate, Fate::Equivalent { .. }));
        let elsewhere = count(|fate| matches!(fate, Fate::NotApplicable { .. }));
        let begun = count(|fate| matches!(fate, Fate::BrokenOff { .. }));
        let open = self.of - self.fates.len() + begun;
        if self.json {
            let mutants: Vec<_> = self.fates.iter().map(|(text, fate)| json(text, fate)).collect();
            let value = serde_json::json!({
                "format": "rig-mutants/1",
                "mutants": mutants,
                "resolution": healthy.resolution,
                "killed": killed, "equivalent": equivalent, "not_applicable": elsewhere, "survived": survivors,
                "unfinished": open,
            });
            stdout::json(&format!("{value:#}"));
            return;
        }
        for (parameter, brackets) in &healthy.resolution {
            stdout::text(&format!(
                "  RESOLUTION {parameter}: cannot be told apart within {}\n",
                brackets.join(" or ")
            ));
        }
        let seconds = watch.elapsed().0 / 1_000_000_000_000;
        stdout::text(&format!(
            "     Summary [{seconds:4}s] {} mutants: {killed} killed, {equivalent} equivalent, {elsewhere} not applicable, {survivors} survived{}\n",
            self.of,
            unfinished(open),
        ));
    }
}

/// How many were not tried to the end, where a run was broken off.
fn unfinished(open: usize) -> String {
    if open == 0 { String::new() } else { format!(", {open} unfinished") }
}

fn json(text: &str, fate: &Result<Fate, String>) -> serde_json::Value {
    match fate {
        Ok(Fate::Killed { by, after }) => {
            serde_json::json!({"mutant": text, "fate": "killed", "by": by.to_string(), "cases": after})
        }
        Ok(Fate::Equivalent { because }) => {
            serde_json::json!({"mutant": text, "fate": "equivalent", "because": because})
        }
        Ok(Fate::NotApplicable { because }) => {
            serde_json::json!({"mutant": text, "fate": "not-applicable", "because": because})
        }
        Ok(Fate::Survived) => serde_json::json!({"mutant": text, "fate": "survived"}),
        Ok(Fate::BrokenOff { after }) => {
            serde_json::json!({"mutant": text, "fate": "unfinished", "cases": after})
        }
        Err(why) => serde_json::json!({"mutant": text, "fate": "error", "why": why}),
    }
}
