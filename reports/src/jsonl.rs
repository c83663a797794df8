//! `events.jsonl`: one event a line, written as it happens, so that a run that is killed keeps what it measured.

use crate::outcome::{Outcome, Tally};
use crate::results::Case;
use crate::text::milliseconds;
use crate::{CaseReport, Finished, RunEvent, Started, Wall};
use rig_units::Dur;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};

/// The format of the lines.
pub(crate) const FORMAT: &str = "rig-events/2";

/// Writes events to a file as they come. The start of a case is not written: its order depends on the machine.
#[derive(Debug)]
pub struct JsonLines<W: Write> {
    out: W,
    tally: Tally,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Line<'a> {
    Started {
        format: &'static str,
        version: &'a str,
        seed: u64,
        lab: &'a str,
        executor: &'a str,
        mutations: &'a [String],
        cases: usize,
        planned: Vec<String>,
        wall: &'a Wall,
    },
    /// What `results.json` will say of a case.
    Case {
        case: Box<Case>,
        page: Page,
        wall: Took,
    },
    Finished {
        partial: Option<&'a str>,
        not_run: Vec<String>,
        exit: u8,
        wall: Took,
    },
}

/// What of a case the page alone says.
#[derive(Serialize, Deserialize)]
pub(crate) struct Page {
    /// Absent for a device by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) system: Vec<String>,
    pub(crate) stimulus: Vec<String>,
    pub(crate) repeat: String,
    pub(crate) simulated_ps: u64,
    /// Which of the measurements are not as predicted, by number from 0.
    pub(crate) missed: Vec<usize>,
}

impl Page {
    fn of(report: &CaseReport) -> Page {
        let missed = report.judgements.iter().enumerate();
        let missed = missed.filter(|(_, judgement)| !judgement.findings.is_empty());
        Page {
            system: report.system.clone(),
            stimulus: report.stimulus.clone(),
            repeat: report.repeat.clone(),
            simulated_ps: report.simulated.0,
            missed: missed.map(|(at, _)| at).collect(),
        }
    }
}

#[derive(Serialize)]
struct Took {
    took_ms: u64,
}

impl Took {
    const fn of(wall: Dur) -> Took {
        Took { took_ms: milliseconds(wall) }
    }
}

impl<W: Write> JsonLines<W> {
    /// Writes to `out`, from the first event on.
    pub fn new(out: W) -> JsonLines<W> {
        JsonLines { out, tally: Tally::default() }
    }

    /// Writes one event and flushes it.
    ///
    /// # Errors
    /// What writing to `out` fails with.
    pub fn on(&mut self, event: &RunEvent) -> io::Result<()> {
        let line = match event {
            RunEvent::CaseStarted(_) => return Ok(()),
            RunEvent::Started(started) => {
                let Started { seed, version, lab, executor, mutations, cases, wall } = &**started;
                let planned = cases.iter().map(ToString::to_string).collect();
                let (seed, cases) = (*seed, cases.len());
                Line::Started {
                    format: FORMAT,
                    version,
                    seed,
                    lab,
                    executor,
                    mutations,
                    cases,
                    planned,
                    wall,
                }
            }
            RunEvent::CaseFinished(report) => {
                self.tally.add(Outcome::of(&report.verdict));
                let case = Box::new(Case::of(report));
                Line::Case { case, page: Page::of(report), wall: Took::of(report.wall) }
            }
            RunEvent::Finished(Finished { partial, not_run, wall }) => Line::Finished {
                partial: partial.as_deref(),
                not_run: not_run.iter().map(ToString::to_string).collect(),
                exit: self.tally.exit(partial.is_some()).code(),
                wall: Took::of(*wall),
            },
        };
        let mut text = serde_json::to_vec(&line)?;
        text.push(b'\n');
        self.out.write_all(&text)?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use serde_json::Value;

    fn lines(events: &[RunEvent]) -> Vec<Value> {
        let mut out = Vec::new();
        let mut writer = JsonLines::new(&mut out);
        for event in events {
            writer.on(event).expect("memory can be written to");
        }
        let text = String::from_utf8(out).expect("text");
        text.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect()
    }

    #[test]
    fn each_event_takes_one_line_and_starts_of_cases_none() {
        let lines = lines(&fixture::events());
        let kinds: Vec<&str> = lines.iter().filter_map(|line| line["event"].as_str()).collect();
        assert_eq!(kinds, ["started", "case", "case", "case", "case", "case", "case", "finished"]);
        assert_eq!(lines[0]["seed"], 7_307);
        assert_eq!(lines[2]["case"]["verdict"], "fail");
        assert_eq!(lines[2]["wall"]["took_ms"], 913);
        assert_eq!(lines[7]["exit"], 4);
    }

    /// Counts flushes; a line that is not flushed is lost with the process.
    #[derive(Default)]
    struct Flushes(usize);

    impl Write for &mut Flushes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            self.0 += 1;
            Ok(())
        }
    }

    #[test]
    fn every_line_is_flushed_as_it_is_written() {
        let mut out = Flushes::default();
        let mut writer = JsonLines::new(&mut out);
        for event in &fixture::events()[..6] {
            writer.on(event).expect("memory can be written to");
        }
        assert_eq!(out.0, 3);
    }

    #[test]
    fn control_characters_stay_inside_their_line() {
        let case = fixture::hostile().cases.remove(1);
        let lines = lines(&[RunEvent::CaseFinished(Box::new(case))]);
        assert_eq!(lines[0]["case"]["dut"], fixture::HOSTILE);
    }
}
