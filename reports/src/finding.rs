//! Findings for people: the same departure in trial after trial is told once or twice, then counted.

use crate::EvidenceFile;
use crate::shown::printable;
use crate::text::list;
use rig_capture::FrameRef;
use rig_oracle::Finding;

/// How many findings of one kind are shown in full.
const SHOWN: usize = 2;
/// How many kinds of one rule are shown: a measure that looks at every trial wants something else of each.
const KINDS: usize = 4;
/// How many frames of one finding are named.
const FRAMES: usize = 4;

/// Findings of one kind: the same rule, the same wish.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Alike<'a> {
    /// The first of them.
    pub(crate) shown: Vec<&'a Finding>,
    /// How many follow.
    pub(crate) more: usize,
}

impl Alike<'_> {
    /// `and 7 more like this`; `None` when all are shown.
    pub(crate) fn rest(&self) -> Option<String> {
        (self.more > 0).then(|| format!("and {} more like this", self.more))
    }
}

/// `findings` by kind, in the order of each kind's first.
pub(crate) fn thin(findings: &[Finding]) -> Vec<Alike<'_>> {
    let mut kinds: Vec<Alike<'_>> = Vec::new();
    for finding in findings {
        let same = |kind: &&mut Alike<'_>| {
            kind.shown[0].rule == finding.rule && kind.shown[0].want == finding.want
        };
        if let Some(kind) = kinds.iter_mut().find(same) {
            if kind.shown.len() < SHOWN {
                kind.shown.push(finding);
            } else {
                kind.more += 1;
            }
            continue;
        }
        let of_rule = |kind: &&mut Alike<'_>| kind.shown[0].rule == finding.rule;
        let mut others: Vec<_> = kinds.iter_mut().filter(of_rule).collect();
        match others.pop() {
            Some(last) if others.len() + 1 >= KINDS => last.more += 1,
            _ => kinds.push(Alike { shown: vec![finding], more: 0 }),
        }
    }
    kinds
}

/// Where to look: `frames #118 and #131 of evidence/cnp/gap/02.pcapng`; without a file, the trial.
pub(crate) fn place(finding: &Finding, evidence: &[EvidenceFile]) -> String {
    let file = match evidence.iter().find(|file| file.trial == finding.trial) {
        Some(file) => printable(&file.path),
        None => format!("trial {}", finding.trial),
    };
    match finding.frames.as_slice() {
        [] => file,
        [_] => format!("frame {} of {file}", frames(&finding.frames)),
        _ => format!("frames {} of {file}", frames(&finding.frames)),
    }
}

/// `#118 and #131`; of many, the first few and how many more.
pub(crate) fn frames(frames: &[FrameRef]) -> String {
    let named = if frames.len() > FRAMES { FRAMES - 1 } else { frames.len() };
    let mut names: Vec<String> =
        frames[..named].iter().map(|FrameRef(no)| format!("#{no}")).collect();
    if named < frames.len() {
        names.push(format!("{} more", frames.len() - named));
    }
    list(&names)
}

/// One finding on one line: what was wanted, what was got, where to look.
pub(crate) fn line(finding: &Finding, evidence: &[EvidenceFile]) -> String {
    let Finding { rule, want, got, .. } = finding;
    let place = place(finding, evidence);
    format!("{rule}: want {}, got {}, {place}", printable(want), printable(got))
}

/// All findings, a line each, thinned.
pub(crate) fn lines(findings: &[Finding], evidence: &[EvidenceFile]) -> Vec<String> {
    let mut lines = Vec::new();
    for kind in thin(findings) {
        lines.extend(kind.shown.iter().map(|finding| line(finding, evidence)));
        lines.extend(kind.rest());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(rule: &'static str, trial: u32, frames: &[u64]) -> Finding {
        let frames = frames.iter().copied().map(FrameRef).collect();
        let (want, got) = ("200ms to 300ms".to_owned(), format!("{}ms", 345 + trial));
        Finding { rule, want, got, trial, frames }
    }

    #[test]
    fn a_departure_in_ten_trials_takes_three_lines() {
        let all: Vec<Finding> =
            (1..=10).map(|trial| finding("pfcwd.detection", trial, &[])).collect();
        assert_eq!(
            lines(&all, &[]),
            [
                "pfcwd.detection: want 200ms to 300ms, got 346ms, trial 1",
                "pfcwd.detection: want 200ms to 300ms, got 347ms, trial 2",
                "and 8 more like this",
            ]
        );
    }

    #[test]
    fn different_rules_are_thinned_apart_and_keep_their_order() {
        let all: Vec<Finding> = (1..=3)
            .flat_map(|trial| [finding("loss", trial, &[]), finding("counters", trial, &[])])
            .collect();
        let kinds = thin(&all);
        assert_eq!(
            kinds.iter().map(|kind| kind.shown[0].rule).collect::<Vec<_>>(),
            ["loss", "counters"]
        );
        assert_eq!(kinds[0].rest().as_deref(), Some("and 1 more like this"));
    }

    #[test]
    fn a_measure_that_wants_something_else_of_every_trial_does_not_flood_the_terminal() {
        let all: Vec<Finding> = (1..=20)
            .map(|trial| Finding {
                want: format!("{trial} cells"),
                ..finding("buffer.watermarks", trial, &[])
            })
            .collect();
        let lines = lines(&all, &[]);
        assert_eq!(lines.len(), 5, "{lines:#?}");
        assert_eq!(lines[4], "and 16 more like this");
    }

    #[test]
    fn a_place_names_the_file_of_its_own_trial() {
        let file = |trial| EvidenceFile {
            path: format!("evidence/a/b/{trial:02}.pcapng"),
            trial,
            frames: 9,
            bytes: 99,
        };
        let files = [file(1), file(2)];
        assert_eq!(
            place(&finding("loss", 2, &[118, 131]), &files),
            "frames #118 and #131 of evidence/a/b/02.pcapng"
        );
        assert_eq!(place(&finding("loss", 1, &[7]), &files), "frame #7 of evidence/a/b/01.pcapng");
        assert_eq!(place(&finding("loss", 3, &[7]), &files), "frame #7 of trial 3");
    }

    #[test]
    fn of_many_frames_the_first_few_are_named() {
        let refs: Vec<FrameRef> = (1..=9).map(FrameRef).collect();
        assert_eq!(frames(&refs), "#1, #2, #3 and 6 more");
        assert_eq!(frames(&refs[..4]), "#1, #2, #3 and #4");
    }
}
