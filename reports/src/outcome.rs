//! The verdict of a case as one word, the count of each, and the exit code that follows.

use core::fmt;
use rig_oracle::Verdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A verdict without its reasons: what tables, counters and `results.json` say.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// As predicted.
    Pass,
    /// The device deviates.
    Fail,
    /// The evidence does not decide.
    Inconclusive,
    /// The lab has no device to which the case applies.
    Skipped,
    /// The rig or the lab broke.
    Broken,
}

impl Outcome {
    /// Every outcome, in the order in which summaries name them.
    pub const ALL: [Outcome; 5] =
        [Outcome::Pass, Outcome::Fail, Outcome::Inconclusive, Outcome::Broken, Outcome::Skipped];

    /// The outcome that `verdict` amounts to.
    pub const fn of(verdict: &Verdict) -> Outcome {
        match verdict {
            Verdict::Pass => Outcome::Pass,
            Verdict::Fail(_) => Outcome::Fail,
            Verdict::Inconclusive(_) => Outcome::Inconclusive,
            Verdict::Skipped(_) => Outcome::Skipped,
            Verdict::Broken(_) => Outcome::Broken,
        }
    }

    /// Its name in `results.json` and in the page's markup.
    pub const fn word(self) -> &'static str {
        match self {
            Outcome::Pass => "pass",
            Outcome::Fail => "fail",
            Outcome::Inconclusive => "inconclusive",
            Outcome::Skipped => "skipped",
            Outcome::Broken => "broken",
        }
    }

    /// What a number of cases with it are: `3 passed`.
    pub const fn participle(self) -> &'static str {
        match self {
            Outcome::Pass => "passed",
            Outcome::Fail => "failed",
            Outcome::Inconclusive => "inconclusive",
            Outcome::Skipped => "skipped",
            Outcome::Broken => "broken",
        }
    }
}

/// How many cases ended how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally([usize; Outcome::ALL.len()]);

impl Tally {
    /// Counts one more case.
    pub const fn add(&mut self, outcome: Outcome) {
        self.0[outcome as usize] += 1;
    }

    /// How many ended so.
    pub const fn count(&self, outcome: Outcome) -> usize {
        self.0[outcome as usize]
    }

    /// How many cases were carried out: all but the skipped ones.
    pub fn run(&self) -> usize {
        self.all() - self.count(Outcome::Skipped)
    }

    /// How many cases were counted.
    pub fn all(&self) -> usize {
        self.0.iter().sum()
    }

    /// The exit code of a run that ended with these counts; `partial` when it was cut short.
    pub fn exit(&self, partial: bool) -> Exit {
        if partial || self.count(Outcome::Broken) > 0 {
            Exit::Broken
        } else if self.count(Outcome::Fail) > 0 {
            Exit::Failed
        } else if self.count(Outcome::Inconclusive) > 0 {
            Exit::Inconclusive
        } else if self.count(Outcome::Pass) > 0 {
            Exit::Passed
        } else {
            Exit::NothingRan
        }
    }
}

impl FromIterator<Outcome> for Tally {
    fn from_iter<I: IntoIterator<Item = Outcome>>(outcomes: I) -> Tally {
        let mut tally = Tally::default();
        outcomes.into_iter().for_each(|outcome| tally.add(outcome));
        tally
    }
}

/// `12 run: 10 passed, 1 failed, 1 inconclusive, 3 skipped`
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.run() {
            0 => f.write_str("nothing ran")?,
            run => write!(f, "{run} run")?,
        }
        let named = Outcome::ALL.into_iter().filter(|&outcome| self.count(outcome) > 0);
        for (i, outcome) in named.enumerate() {
            let separator = if i == 0 { ":" } else { "," };
            write!(f, "{separator} {} {}", self.count(outcome), outcome.participle())?;
        }
        Ok(())
    }
}

/// Exit codes of `rigctl run`, documented in `rigctl run --help`. Input errors (2) are found before a run starts and
/// outrank all of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Every case that ran passed.
    Passed = 0,
    /// A case failed.
    Failed = 1,
    /// The test case, the lab or the flags are wrong.
    Input = 2,
    /// A case was inconclusive and none failed.
    Inconclusive = 3,
    /// The rig or the lab broke, or the run was cut short.
    Broken = 4,
    /// Nothing ran.
    NothingRan = 5,
}

impl Exit {
    /// The number for the operating system.
    pub const fn code(self) -> u8 {
        self as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Outcome::{Broken, Fail, Inconclusive, Pass, Skipped};

    fn code(outcomes: &[Outcome], partial: bool) -> u8 {
        outcomes.iter().copied().collect::<Tally>().exit(partial).code()
    }

    #[test]
    fn where_several_exit_codes_apply_4_outranks_1_outranks_3_outranks_0() {
        let table: &[(&[Outcome], u8)] = &[
            (&[Pass], 0),
            (&[Pass, Skipped], 0),
            (&[Pass, Inconclusive], 3),
            (&[Inconclusive, Skipped], 3),
            (&[Pass, Inconclusive, Fail], 1),
            (&[Fail, Skipped], 1),
            (&[Pass, Inconclusive, Fail, Broken, Skipped], 4),
            (&[Broken], 4),
            (&[Skipped, Skipped], 5),
            (&[], 5),
        ];
        for (outcomes, want) in table {
            assert_eq!(code(outcomes, false), *want, "{outcomes:?}");
            assert_eq!(code(outcomes, true), 4, "{outcomes:?}, cut short");
        }
    }

    #[test]
    fn the_codes_are_the_documented_ones() {
        let all = [Exit::Passed, Exit::Failed, Exit::Input, Exit::Inconclusive, Exit::Broken];
        assert_eq!(all.map(Exit::code), [0, 1, 2, 3, 4]);
        assert_eq!(Exit::NothingRan.code(), 5);
    }

    #[test]
    fn a_tally_names_what_occurred_and_leaves_out_what_did_not() {
        let text = |outcomes: &[Outcome]| outcomes.iter().copied().collect::<Tally>().to_string();
        assert_eq!(text(&[]), "nothing ran");
        assert_eq!(text(&[Skipped]), "nothing ran: 1 skipped");
        assert_eq!(text(&[Pass, Fail, Pass]), "3 run: 2 passed, 1 failed");
        assert_eq!(
            text(&[Broken, Inconclusive, Skipped, Fail, Pass]),
            "4 run: 1 passed, 1 failed, 1 inconclusive, 1 broken, 1 skipped"
        );
    }
}
