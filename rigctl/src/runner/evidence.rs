//! Which captures are kept, and where; frames that findings cite get their number in the file and a comment there.

use super::case::Ran;
use crate::cli::Keep;
use crate::outdir::OutDir;
use rig_capture::pcapng::{Evidence, Onto, Zip};
use rig_oracle::trials::cited::record;
use rig_oracle::verdict::{Finding, Verdict};
use rig_reports::{CaseReport, EvidenceFile};
use rig_testcases::CaseId;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// Writes the captures of a case that are to be kept, and notes them in its report.
///
/// # Errors
/// The system's, when a file cannot be written whole; the report stands.
pub fn keep(keep: Keep, out: &OutDir, ran: &mut Ran) -> io::Result<()> {
    let cited = cited(&ran.report);
    let mut outcome = Ok(());
    for trial in &ran.trials {
        let findings = cited.get(&trial.number());
        let wanted = match keep {
            Keep::All => true,
            Keep::First => trial.number() == 1 || findings.is_some(),
            Keep::None => false,
        };
        if !wanted && findings.is_none() {
            continue;
        }
        let comments = findings.map(Vec::as_slice).unwrap_or_default();
        let records: Vec<usize> = comments.iter().map(|(record, _)| *record).collect();
        let whole = trial.whole();
        let (observation, script) = (&whole.observation, &whole.script);
        let evidence = match (keep, &trial.all) {
            (Keep::All, Some(all)) => Evidence::all(observation, script, all),
            (Keep::All, None) => Evidence::whole(observation, script),
            (Keep::First | Keep::None, _) => Evidence::of(observation, script, &records),
        };
        number(&mut ran.report, whole.number, &evidence);
        if wanted && outcome.is_ok() {
            outcome = write(out, &mut ran.report, whole.number, &evidence, comments);
        }
    }
    outcome
}

/// Where every frame of a trial goes until its capture is written.
pub fn spool(out: &OutDir, id: &CaseId, trial: u32) -> Onto {
    let name = place(id, trial, "frames");
    Onto { path: out.path().join(&name), file: out.new_file(&name) }
}

fn place(CaseId { suite, case }: &CaseId, trial: u32, kind: &str) -> String {
    format!("evidence/{suite}/{case}/{trial:04}.{kind}")
}

fn write(
    out: &OutDir,
    report: &mut CaseReport,
    trial: u32,
    evidence: &Evidence<'_>,
    comments: &[(usize, String)],
) -> io::Result<()> {
    let path = place(&report.id, trial, "pcapng.gz");
    let written = out.file(&path).and_then(|file| {
        let mut zip = Zip::new(file);
        let written = evidence.write(comments, &mut zip)?;
        Ok((written.frames, zip.finish()?))
    });
    match written {
        Ok(written) => {
            let (frames, bytes) = written;
            report.evidence.push(EvidenceFile { path, trial, frames, bytes });
            Ok(())
        }
        Err(error) => {
            // Half a capture is mistaken for one.
            out.remove(&path);
            Err(io::Error::new(error.kind(), format!("{path}: {error}")))
        }
    }
}

/// The trials that findings cite.
pub fn cited_trials(report: &CaseReport) -> BTreeSet<u32> {
    findings(report).map(|finding| finding.trial).collect()
}

/// What findings say of which records, trial by trial.
fn cited(report: &CaseReport) -> BTreeMap<u32, Vec<(usize, String)>> {
    let mut all: BTreeMap<u32, Vec<(usize, String)>> = BTreeMap::new();
    for finding in findings(report) {
        let of_trial = all.entry(finding.trial).or_default();
        let text = format!("{}: want {}, got {}", finding.rule, finding.want, finding.got);
        of_trial.extend(finding.frames.iter().map(|&frame| (record(frame), text.clone())));
    }
    for of_trial in all.values_mut() {
        of_trial.sort();
        of_trial.dedup_by_key(|(record, _)| *record);
    }
    all
}

fn findings(report: &CaseReport) -> impl Iterator<Item = &Finding> {
    let judged = report.judgements.iter().flat_map(|judgement| &judgement.findings);
    let of_verdict: &[Finding] = match &report.verdict {
        Verdict::Fail(findings) => findings,
        Verdict::Pass | Verdict::Inconclusive(_) | Verdict::Skipped(_) | Verdict::Broken(_) => &[],
    };
    judged.chain(of_verdict)
}

/// Gives every cited frame of a trial its number in the file.
fn number(report: &mut CaseReport, trial: u32, evidence: &Evidence<'_>) {
    let judged = report.judgements.iter_mut().flat_map(|judgement| &mut judgement.findings);
    let of_verdict: &mut [Finding] = match &mut report.verdict {
        Verdict::Fail(findings) => findings,
        Verdict::Pass | Verdict::Inconclusive(_) | Verdict::Skipped(_) | Verdict::Broken(_) => {
            &mut []
        }
    };
    for finding in judged.chain(of_verdict).filter(|finding| finding.trial == trial) {
        finding.frames =
            finding.frames.iter().filter_map(|&frame| evidence.frame(record(frame))).collect();
    }
}
