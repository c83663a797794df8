//! What of a case was not told, in words for its report: measures that do not apply, and what could not be measured.

use rig_oracle::judge::answers::Answers;
use rig_oracle::verdict::{Doubt, NotApplicable};

/// What could not be told: of each measure at each point the first reason, and how many more there are.
pub(super) fn undecided(answers: &Answers) -> Vec<String> {
    let told = |(Doubt { reason, detail }, more): (Doubt, usize)| match more {
        0 => format!("{reason}: {detail}"),
        more => format!("{reason}: {detail}, and {more} more of it"),
    };
    answers.undecided().into_iter().map(told).collect()
}

/// What does not apply, each once, with how often.
pub(super) fn not_applicable(answers: &Answers) -> Vec<String> {
    let mut all: Vec<(NotApplicable, usize)> = Vec::new();
    for one in answers.not_applicable() {
        let same = |(other, _): &&mut (NotApplicable, usize)| {
            (other.measure, &other.subject, &other.why) == (one.measure, &one.subject, &one.why)
        };
        match all.iter_mut().find(same) {
            Some((_, times)) => *times += 1,
            None => all.push((one, 1)),
        }
    }
    let told = |(one, times): (NotApplicable, usize)| match times {
        1 => one.to_string(),
        times => format!("{one} ({times} points)"),
    };
    all.into_iter().map(told).collect()
}
