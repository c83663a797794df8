//! A run from what it wrote down while it ran: a run that was killed has its reports made from that. What the page alone shows
//! and no result rests on, the pictures of first trials, is not written down and not there again.

use crate::event::{CaseReport, Finished, Started, Wall};
use crate::jsonl::{FORMAT, Page};
use crate::outcome::Outcome;
use crate::results::{Case, Curve, Finding, Measurement};
use crate::{Run, RunEvent, Unreadable};
use rig_capture::{FrameRef, Reading, Span, Unit};
use rig_oracle::verdict::{CurvePoint, Doubt, Looked};
use rig_oracle::{Judgement, Prediction, Resolution, Taken, Verdict};
use rig_testcases::CaseId;
use rig_units::Dur;
use serde::Deserialize;
use std::collections::BTreeSet;

const PS_PER_MS: u64 = 1_000_000_000;

#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Line {
    Started {
        format: String,
        version: String,
        seed: u64,
        lab: String,
        executor: String,
        mutations: Vec<String>,
        planned: Vec<String>,
        wall: Box<Wall>,
    },
    Case {
        case: Box<Case>,
        page: Page,
        wall: Took,
    },
    Finished {
        partial: Option<String>,
        not_run: Vec<String>,
        wall: Took,
    },
}

#[derive(Deserialize)]
struct Took {
    took_ms: u64,
}

impl Took {
    const fn dur(&self) -> Dur {
        Dur(self.took_ms.saturating_mul(PS_PER_MS))
    }
}

impl Run {
    /// The run whose `events.jsonl` this is. One that did not come to its end says so, and which cases it never ran; a last line
    /// that was not written whole counts for nothing.
    ///
    /// # Errors
    /// A text that is none of a run's; a line in the middle that cannot be read.
    pub fn rebuilt(file: &str, events: &[u8]) -> Result<Run, Unreadable> {
        let mut words = Words::default();
        let mut run: Option<Run> = None;
        let end = events.iter().rposition(|&byte| byte == b'\n').unwrap_or(0);
        let whole = str::from_utf8(&events[..end]).map_err(|error| Unreadable {
            file: file.to_owned(),
            line: 1 + events[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count(),
            column: 1,
            message: "it is not UTF-8 text".to_owned(),
        })?;
        for (number, line) in (1..).zip(whole.lines()) {
            let wrong = |column, message: String| Unreadable {
                file: file.to_owned(),
                line: number,
                column,
                message,
            };
            let line: Line = serde_json::from_str(line)
                .map_err(|error| wrong(error.column(), said(&error.to_string())))?;
            let event = match (line, &run) {
                (Line::Started { format, .. }, _) if format != FORMAT => {
                    let want = format!("the format is `{format}`; this rigctl reads `{FORMAT}`");
                    return Err(wrong(1, want));
                }
                (
                    Line::Started {
                        version, seed, lab, executor, mutations, planned, wall, ..
                    },
                    None,
                ) => {
                    let executor = words.fixed(executor);
                    let cases = planned.iter().map(|id| id_of(id)).collect();
                    let wall = *wall;
                    let started = Started { seed, version, lab, executor, mutations, cases, wall };
                    run = Some(Run::new(started));
                    continue;
                }
                (Line::Started { .. }, Some(_)) => {
                    return Err(wrong(1, "a second run begins: want the events of one".to_owned()));
                }
                (_, None) => return Err(wrong(1, "want the start of a run first".to_owned())),
                (Line::Case { case, page, wall }, Some(_)) => {
                    RunEvent::CaseFinished(Box::new(words.report(*case, page, wall.dur())))
                }
                (Line::Finished { partial, not_run, wall }, Some(_)) => {
                    let not_run = not_run.iter().map(|id| id_of(id)).collect();
                    RunEvent::Finished(Finished { partial, not_run, wall: wall.dur() })
                }
            };
            if let Some(run) = &mut run {
                misplaced(run, &event).map_or(Ok(()), |why| Err(wrong(1, why)))?;
                run.take(event);
            }
        }
        let none = || Unreadable {
            file: file.to_owned(),
            line: 0,
            column: 0,
            message: "no run has begun here: want the events.jsonl of a run".to_owned(),
        };
        let mut run = run.ok_or_else(none)?;
        run.finished = Some(match run.finished.take() {
            None => run.died(),
            Some(finished)
                if run.cases.len() + finished.not_run.len() != run.started.cases.len() =>
            {
                died(&run, "the run ended, and its events break off")
            }
            Some(finished) => finished,
        });
        Ok(run)
    }
}

impl Run {
    /// How it ends if it dies now.
    pub fn died(&self) -> Finished {
        died(self, "the run died")
    }
}

/// Why an event cannot come next, if it cannot.
fn misplaced(run: &Run, event: &RunEvent) -> Option<String> {
    if run.finished.is_some() {
        return Some("the run has ended already".to_owned());
    }
    let RunEvent::CaseFinished(case) = event else { return None };
    if !run.started.cases.contains(&case.id) {
        return Some(format!("{} was not to run", case.id));
    }
    let twice = run.cases.iter().any(|earlier| earlier.id == case.id);
    if twice {
        return Some(format!("{} has ended already", case.id));
    }
    let judgements = case.judgements.iter().flat_map(|of| {
        let taken = of.taken.iter().map(|taken| taken.span);
        [of.reading.span, of.prediction.span].into_iter().chain(taken)
    });
    let points = case.curves.iter().flat_map(|curve| &curve.points);
    let points = points.flat_map(|point| [point.measured, point.predicted]);
    let Span { lo, hi } = judgements.chain(points).find(|span| span.lo > span.hi)?;
    Some(format!(
        "{} has an interval from {lo} to {hi}: want one that ends after it begins",
        case.id
    ))
}

/// The end of a run that is not whole; `how` it came to that.
fn died(run: &Run, how: &str) -> Finished {
    let ended: BTreeSet<&CaseId> = run.cases.iter().map(|case| &case.id).collect();
    let not_run = run.started.cases.iter().filter(|id| !ended.contains(id)).cloned().collect();
    let (done, all) = (run.cases.len(), run.started.cases.len());
    let partial = format!("{how} after {done} of {all} cases; made from its events");
    let wall = run.cases.iter().map(|case| case.wall).max().unwrap_or_default();
    Finished { partial: Some(partial), not_run, wall }
}

fn id_of(id: &str) -> CaseId {
    let (suite, case) = id.split_once("::").unwrap_or((id, ""));
    CaseId { suite: suite.to_owned(), case: case.to_owned() }
}

fn said(error: &str) -> String {
    error.rsplit_once(" at line ").map_or(error, |(what, _)| what).to_owned()
}

/// Words that are a part of the program in a run that goes on. Those of one that is read stay until the process ends, each once:
/// who makes reports from events does nothing else.
#[derive(Debug, Default)]
struct Words(BTreeSet<&'static str>);

impl Words {
    fn fixed(&mut self, word: String) -> &'static str {
        if let Some(known) = self.0.get(&*word) {
            return known;
        }
        let word: &'static str = word.leak();
        self.0.insert(word);
        word
    }

    fn report(&mut self, case: Case, page: Page, wall: Dur) -> CaseReport {
        let mut findings = Vec::new();
        for Finding { rule, want, got, trial, frames, .. } in case.findings {
            let (rule, frames) = (self.fixed(rule), frames.into_iter().map(FrameRef).collect());
            findings.push(rig_oracle::Finding { rule, want, got, trial, frames });
        }
        let mut judgements: Vec<Judgement> =
            case.measurements.into_iter().map(|of| self.judgement(of)).collect();
        for missed in page.missed {
            if let Some(judgement) = judgements.get_mut(missed) {
                let own = findings.iter().filter(|finding| finding.rule == judgement.measure);
                judgement.findings = own.cloned().collect();
            }
        }
        let (reason, detail) = (case.reason, case.detail.unwrap_or_default());
        let verdict = match case.verdict {
            Outcome::Pass => Verdict::Pass,
            Outcome::Fail => Verdict::Fail(findings),
            Outcome::Inconclusive => {
                let reason = self.fixed(reason.unwrap_or_default());
                Verdict::Inconclusive(Doubt { reason, detail })
            }
            Outcome::Skipped => Verdict::Skipped(detail),
            Outcome::Broken => Verdict::Broken(detail),
        };
        CaseReport {
            id: id_of(&case.id),
            why: case.why,
            source: case.source,
            dut: case.dut,
            verdict,
            judgements,
            curves: case.curves.into_iter().map(|curve| self.curve(curve)).collect(),
            left_out: case.left_out,
            not_applicable: case.not_applicable,
            undecided: case.undecided,
            trials: case.trials,
            sending: case.sending,
            evidence: case.evidence,
            evidence_left_out: case.evidence_left_out,
            tables: case.tables,
            timeline: None,
            system: page.system,
            stimulus: page.stimulus,
            repeat: page.repeat,
            simulated: Dur(page.simulated_ps),
            wall,
        }
    }

    fn judgement(&mut self, of: Measurement) -> Judgement {
        let unit = unit(&of.unit);
        let span = |lo, hi| Span { lo, hi };
        let taken = of.readings.iter();
        Judgement {
            measure: self.fixed(of.name),
            subject: of.subject,
            point: of.point,
            reading: Reading { unit, span: span(of.lo, of.hi), frames: Vec::new() },
            prediction: Prediction {
                unit,
                span: span(of.predicted_lo, of.predicted_hi),
                formula: self.fixed(of.formula),
                text: of.formula_text,
                source: self.fixed(of.formula_source),
            },
            trials: of.trials,
            taken: taken
                .map(|one| Taken { trial: one.trial, span: span(one.lo, one.hi) })
                .collect(),
            looked: Looked { count: of.looked, of: self.fixed(of.looked_at) },
            resolution: Resolution::of_text(&of.resolution),
            findings: Vec::new(),
        }
    }

    fn curve(&mut self, of: Curve) -> rig_oracle::Curve {
        let points = of.points.iter().map(|point| CurvePoint {
            x: point.x,
            measured: Span { lo: point.lo, hi: point.hi },
            predicted: Span { lo: point.predicted_lo, hi: point.predicted_hi },
        });
        rig_oracle::Curve {
            measure: self.fixed(of.name),
            x: of.x,
            x_unit: unit(&of.x_unit),
            unit: unit(&of.unit),
            points: points.collect(),
            fitted: of.points.iter().filter_map(|point| point.fitted).collect(),
        }
    }
}

fn unit(name: &str) -> Unit {
    let all = [Unit::Ps, Unit::Frames, Unit::Ppm, Unit::Bps, Unit::Bytes];
    all.into_iter().find(|unit| unit.name() == name).unwrap_or(Unit::Count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{JsonLines, Results, fixture, html, junit};

    fn written(events: &[RunEvent]) -> String {
        let mut out = Vec::new();
        let mut lines = JsonLines::new(&mut out);
        events.iter().for_each(|event| lines.on(event).expect("memory can be written to"));
        String::from_utf8(out).expect("text")
    }

    /// The run of the fixture as it ran, without the pictures.
    fn run() -> Run {
        let mut run = fixture::run();
        run.cases.iter_mut().for_each(|case| case.timeline = None);
        run
    }

    #[test]
    fn every_report_comes_out_as_the_run_itself_wrote_it() {
        let again =
            Run::rebuilt("events.jsonl", written(&fixture::events()).as_bytes()).expect("its own");
        assert_eq!(Results::of(&again).to_json(), Results::of(&run()).to_json());
        let xml = |run: &Run| junit::xml(run).expect("written to memory");
        assert_eq!(xml(&again), xml(&run()));
        assert_eq!(html::page(&again), html::page(&run()));
    }

    #[test]
    fn a_run_that_died_says_so_and_names_what_it_never_ran() {
        let events = fixture::events();
        let text = written(&events[..events.len() - 2]);
        // What was cut may be no text any more.
        let half = [&text.as_bytes()[..text.len() - 40], &[0xff]].concat();
        let run = Run::rebuilt("events.jsonl", &half).expect("as far as it goes");
        let of = run.cases.len();
        assert_eq!(of + 2, fixture::cases().len());
        let finished = run.finished.as_ref().expect("how it ended");
        assert_eq!(finished.not_run.len(), 2);
        let want = "the run died after 4 of 6 cases; made from its events";
        assert_eq!(run.partial(), Some(want));
        assert_eq!(run.exit(), crate::Exit::Broken);
    }

    #[test]
    fn what_is_no_record_of_a_run_is_refused_where_it_stands() {
        let text = written(&fixture::events());
        let twice = format!("{text}{text}");
        let late: String = text.lines().skip(1).map(|line| format!("{line}\n")).collect();
        let broken = text.replacen("\"case\":{", "\"case\":[", 1);
        let say = |text: &str| Run::rebuilt("e", text.as_bytes()).expect_err("no run").to_string();
        assert!(say(&twice).starts_with("e:9:1: a second run begins"), "{}", say(&twice));
        assert_eq!(say(&late), "e:1:1: want the start of a run first");
        assert!(say(&broken).starts_with("e:2:"), "{}", say(&broken));
        assert!(say("").ends_with("want the events.jsonl of a run"), "{}", say(""));
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let end = lines[7];
        assert!(say(&[&lines[..3], &lines[2..]].concat().concat()).ends_with("has ended already"));
        assert_eq!(say(&format!("{text}{end}")), "e:9:1: the run has ended already");
        let other = lines[1].replacen("::", "::not-", 1);
        assert!(say(&[lines[0], &other].concat()).ends_with("was not to run"));
        let ends = lines[1].find("\"hi\":").expect("a measurement") + 5;
        let number = lines[1][ends..].find(',').expect("more keys");
        let backwards = format!("{}1{}", &lines[1][..ends], &lines[1][ends + number..]);
        let said = say(&[lines[0], &backwards].concat());
        assert!(
            said.starts_with("e:2:1: ") && said.contains(" to 1: want one that ends"),
            "{said}"
        );
    }

    #[test]
    fn a_run_that_ended_and_lacks_a_case_is_partial() {
        let text = written(&fixture::events());
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let lost = [&lines[..2], &lines[3..]].concat().concat();
        let run = Run::rebuilt("e", lost.as_bytes()).expect("its own");
        let want =
            "the run ended, and its events break off after 5 of 6 cases; made from its events";
        assert_eq!(run.partial(), Some(want));
        let not_run = &run.finished.as_ref().expect("how it ended").not_run;
        assert_eq!(not_run, &[fixture::cases()[1].id.clone()]);
    }
}
