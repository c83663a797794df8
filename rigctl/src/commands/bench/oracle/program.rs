//! A program that measures scenarios and says what came out: this one once more, an older one, or anybody's.

use super::super::child::Running;
use super::super::rounds::{FORMAT, Rounds, rate};
use super::rows::{Figures, ROWS, Row, id};
use rig_generator::Fine;
use rig_units::Dur;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::{self, JoinHandle};

/// The exit code of a program that does not know a flag.
const UNKNOWN_FLAG: i32 = 2;
/// So many lines of what it said last are passed on.
const LINES: usize = 4;

/// How long a program may take for a scenario of [`USUAL`]: a build without optimisation, on a machine that is busy with something else,
/// takes a tenth of it.
const PATIENCE: Dur = Dur::s(600);
/// What the rounds of a scenario simulate as a rule, together.
const USUAL: Dur = Dur::ms(250);

/// A program, by its path, and how long it may take for a scenario of [`USUAL`].
#[derive(Debug)]
pub(super) struct Program(PathBuf, Dur);

/// What a program says of one scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Told {
    /// Frames put on a cable: in one round, or in all that it printed lines of.
    pub(super) hops: u64,
    /// The same a second of the processor's.
    pub(super) rate: u64,
}

/// What a program says, by the scenario's name as one word.
pub(super) type All = BTreeMap<String, Told>;

impl Program {
    /// This very program, to run a scenario in a process of its own.
    pub(super) fn own() -> Result<Program, String> {
        let path = std::env::current_exe().map_err(|why| format!("cannot find itself: {why}"))?;
        Ok(Program(path, PATIENCE))
    }

    /// Another one.
    pub(super) fn at(path: &Path) -> Program {
        Program(path.to_owned(), PATIENCE)
    }

    /// What another build of this program finds out, or this one, of one scenario in a fresh process.
    pub(super) fn figures(&self, id: &str, rounds: u16, simulate: Dur) -> Result<Figures, String> {
        #[derive(Deserialize)]
        struct Said {
            scenarios: Vec<Figures>,
        }
        let output = self.succeeds(self.asked(id, rounds, simulate)?)?;
        let said: Said = serde_json::from_slice(&output.stdout)
            .map_err(|why| format!("{}: not what was asked for: {why}", self.0.display()))?;
        said.scenarios.into_iter().next().ok_or_else(|| self.silent(id))
    }

    /// What it says of one scenario, and whatever it adds; `None` where it does not know the flags that ask for one.
    pub(super) fn one(&self, id: &str, rounds: u16, simulate: Dur) -> Result<Option<All>, String> {
        let output = self.asked(id, rounds, simulate)?;
        if output.status.code() == Some(UNKNOWN_FLAG) {
            return Ok(None);
        }
        self.read(output).map(Some)
    }

    /// What it says of all scenarios that it knows.
    pub(super) fn whole(&self) -> Result<All, String> {
        let all = self.1 * u64::try_from(ROWS.len()).unwrap_or(u64::MAX);
        self.read(self.ask(&["bench", "oracle", "--format", "json"].map(str::to_owned), all)?)
    }

    /// That it said nothing of a scenario.
    pub(super) fn silent(&self, id: &str) -> String {
        format!("{} says nothing of {id}: want a line `{id} HOPS CPU_SECONDS`", self.0.display())
    }

    /// What it says of one scenario.
    fn asked(&self, id: &str, rounds: u16, simulate: Dur) -> Result<Output, String> {
        let usual = (simulate * u64::from(rounds)).0.div_ceil(USUAL.0).max(1);
        self.ask(&arguments(id, rounds, simulate), self.1 * usual)
    }

    /// What it says, once it has ended by itself: it is given `patience` and no more.
    fn ask(&self, arguments: &[String], patience: Dur) -> Result<Output, String> {
        let at = self.0.display();
        let mut command = Command::new(&self.0);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|why| format!("cannot start {at}: {why}"))?;
        let mut running = Running(child);
        // Both at once: a pipe that nobody empties stops who fills it.
        let stdout = heard(running.0.stdout.take());
        let stderr = heard(running.0.stderr.take());
        let Some(status) = running.ended(&Fine::start(), patience)? else {
            let asked = arguments.join(" ");
            return Err(format!("`{at} {asked}` had not ended after {patience}, and was ended"));
        };
        let said = |from: JoinHandle<Vec<u8>>| from.join().unwrap_or_default();
        Ok(Output { status, stdout: said(stdout), stderr: said(stderr) })
    }

    fn read(&self, output: Output) -> Result<All, String> {
        let output = self.succeeds(output)?;
        read(&String::from_utf8_lossy(&output.stdout))
            .map_err(|why| format!("{}: {why}", self.0.display()))
    }

    fn succeeds(&self, output: Output) -> Result<Output, String> {
        if output.status.success() {
            return Ok(output);
        }
        let words = String::from_utf8_lossy(&output.stderr);
        let words: Vec<&str> = words.lines().collect();
        let last = words[words.len().saturating_sub(LINES)..].join(" | ");
        Err(format!("{} ended with {}: {last}", self.0.display(), output.status))
    }
}

/// Reads what comes out of a pipe to its end.
fn heard(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut said = Vec::new();
        // Of a pipe that breaks what came before it is what was said.
        let _broken = pipe.map(|mut pipe| pipe.read_to_end(&mut said));
        said
    })
}

fn arguments(id: &str, rounds: u16, simulate: Dur) -> Vec<String> {
    let (rounds, simulate) = (rounds.to_string(), simulate.to_string());
    let flags = ["--rounds", &rounds, "--simulate", &simulate, "--format", "json"];
    let named = ["bench", "oracle", "--alone", "--scenario", id];
    named.into_iter().chain(flags).map(str::to_owned).collect()
}

/// What a program printed: the JSON of this one, old or new, or lines of anybody's.
fn read(text: &str) -> Result<All, String> {
    #[derive(Deserialize)]
    struct Said {
        format: String,
        scenarios: Vec<One>,
    }
    #[derive(Deserialize)]
    struct One {
        scenario: String,
        hops: u64,
        hops_per_cpu_s: Rounds,
    }
    if !text.trim_start().starts_with('{') {
        return lines(text);
    }
    let said: Said = serde_json::from_str(text).map_err(|why| format!("JSON, but {why}"))?;
    if said.format != FORMAT {
        return Err(format!("format {}: want {FORMAT}", said.format));
    }
    let told =
        |one: One| (id(&one.scenario), Told { hops: one.hops, rate: one.hops_per_cpu_s.median });
    Ok(said.scenarios.into_iter().map(told).collect())
}

/// What lines `NAME HOPS CPU_SECONDS` come to.
fn lines(text: &str) -> Result<All, String> {
    let known: Vec<String> = ROWS.iter().map(Row::id).collect();
    let mut sums: BTreeMap<String, (u64, Dur)> = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let Some(name) = words.next().filter(|word| known.iter().any(|one| one == word)) else {
            continue;
        };
        let hops = words.next().and_then(|word| word.parse::<u64>().ok());
        let took = words.next().and_then(|word| format!("{word}s").parse::<Dur>().ok());
        let (Some(hops), Some(took), None) = (hops, took.filter(|took| took.0 > 0), words.next())
        else {
            return Err(format!(
                "`{line}`: want `{name} HOPS CPU_SECONDS`, as `{name} 812345 0.0612`"
            ));
        };
        let sum = sums.entry(name.to_owned()).or_default();
        *sum = (sum.0.saturating_add(hops), sum.1 + took);
    }
    let told = |(name, (hops, took))| (name, Told { hops, rate: rate(hops, took) });
    Ok(sums.into_iter().map(told).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that does what a script says.
    fn script(text: &str, patience: Dur) -> (tempfile::TempDir, Program) {
        use std::os::unix::fs::PermissionsExt as _;
        let desk = tempfile::tempdir().expect("a folder");
        let path = desk.path().join("other");
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("writable");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&path, mode).expect("it is ours");
        (desk, Program(path, patience))
    }

    #[test]
    fn a_program_that_does_not_end_is_ended_and_told() {
        let (_desk, other) = script("exec sleep 600", Dur::ms(50));
        let why = other.one("incast2", 1, Dur::us(9)).expect_err("it hangs");
        assert!(why.ends_with("--format json` had not ended after 50ms, and was ended"), "{why}");
        // What fills a pipe is read meanwhile.
        let (_desk, other) = script("yes | head -c 300000; echo incast2 5 1", Dur::s(60));
        assert_eq!(other.whole().expect("it ends")["incast2"], Told { hops: 5, rate: 5 });
    }

    #[test]
    fn lines_of_a_scenario_are_summed_up_and_chatter_is_passed_over() {
        let all = read("ns-3 begins\nincast2 1000 0.25\nincast8 3 1\n\nincast2 500 0.5\n").unwrap();
        assert_eq!(all["incast2"], Told { hops: 1_500, rate: 2_000 });
        assert_eq!(all["incast8"], Told { hops: 3, rate: 3 });
        assert_eq!(all.len(), 2);
    }

    #[test]
    fn a_line_that_is_meant_and_makes_no_sense_is_told() {
        for line in ["incast2", "incast2 x 1", "incast2 1 0", "incast2 1 -1", "incast2 1 1 1"] {
            let why = read(line).expect_err(line);
            assert!(why.contains("want `incast2 HOPS CPU_SECONDS`"), "{why}");
        }
    }

    #[test]
    fn what_an_older_one_of_these_prints_is_understood() {
        let old = r#"{"format": "rig-bench/1", "bench": "oracle", "rounds": 5, "scenarios": [
            {"scenario": "incast2 nic, 64 queue pairs", "hops": 7, "data_hops": 4, "peak_kib": 1,
             "hops_per_cpu_s": {"median": 20, "min": 10, "max": 30}}]}"#;
        let all = read(old).unwrap();
        assert_eq!(all["incast2-nic-64-queue-pairs"], Told { hops: 7, rate: 20 });
        let other = read(r#"{"format": "rig-bench/9", "scenarios": []}"#).expect_err("unknown");
        assert_eq!(other, "format rig-bench/9: want rig-bench/1");
    }
}
