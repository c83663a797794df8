//! The watchdog of a device beside a case: the rule that it follows, and the storms that the case is about.

use super::subject::{Places, Subject, stimulus, tail};
use crate::spec::pfcwd::{Names, Rule, Stimulus};
use crate::trials::points::Cadence;
use rig_lab::{RuleFamily, Switch};
use rig_testcases::case::Refresh;
use rig_testcases::{Case, Script};
use rig_units::Dur;

/// A watchdog, and what a case has to do with it.
#[derive(Debug)]
pub struct Watch {
    /// The rule that it follows as it is configured.
    pub(crate) rule: Rule,
    /// Storms and streams that measures of it are about; the first is in question where only one can be.
    pub(crate) subjects: Vec<Subject>,
    /// What the stormed queue carries.
    pub(crate) stimulus: Stimulus,
    /// From the storm's last frame to the end of its pause.
    pub(crate) tail: Dur,
    /// How the storm in question makes its pause.
    pub(crate) cadence: Option<Cadence>,
}

impl Watch {
    /// Of a case about `subjects` on a device of this family.
    pub(crate) fn of(
        case: &Case,
        family: RuleFamily,
        declared: &Switch,
        subjects: Vec<Subject>,
    ) -> Watch {
        let first = subjects.first();
        let tail = tail(case, declared, first);
        let storm = first.and_then(|subject| case.storms.get(&subject.storm));
        let every = |refresh: &Refresh| match refresh {
            Refresh::OfPause(millionths) => tail.scaled(*millionths, 1_000_000),
            Refresh::Every(every) => *every,
        };
        let every = storm.map(|storm| every(&storm.refresh)).filter(|every| *every > Dur::ZERO);
        Watch {
            rule: Rule::of(family, &declared.pfcwd),
            stimulus: stimulus(case, declared, first),
            tail,
            cadence: every.map(|every| Cadence { every, pause: tail }),
            subjects,
        }
    }

    /// What it will do, by the names that a case computes with.
    pub(crate) const fn predicted(&self) -> Names {
        Names { rule: self.rule, stimulus: self.stimulus, tail: self.tail }
    }

    /// The storm in question; `None` where no measure is about one.
    pub fn subject(&self) -> Option<&Subject> {
        self.subjects.first()
    }

    /// Where a subject stands in a script; `None` if it does not.
    pub(crate) fn places(&self, script: &Script, subject: &Subject) -> Option<Places> {
        Places::of(&self.subjects, script, subject)
    }

    /// What the stormed queue carried: frames that are off by `bound` stretch the gap between two of them.
    pub(crate) fn stimulus_within(&self, bound: Dur) -> Stimulus {
        Stimulus { data_gap: self.stimulus.data_gap.map(|gap| gap + bound * 2) }
    }
}
