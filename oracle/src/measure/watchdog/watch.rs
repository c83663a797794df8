//! The watchdog of a device beside a case: the rule that it follows, and the storms that the case is about.

use super::subject::{Places, Subject, stimulus, tail as tail_of};
use crate::spec::pfcwd::{Names, Rule, Stimulus};
use crate::trials::points::Cadence;
use rig_lab::{Declared, RuleFamily, Switch};
use rig_testcases::case::Refresh;
use rig_testcases::{Case, Script};
use rig_units::{Apart, Dur};

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
    /// The longest of these of all storms that measures are about: each lasts as its own port has it.
    pub(crate) longest: Dur,
    /// How the storm in question makes its pause.
    pub(crate) cadence: Option<Cadence>,
}

/// Whether a watchdog fires in a storm of some length, wherever its polls are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fires {
    /// It never does.
    Never,
    /// It does or does not, as its polls fall.
    Perhaps,
    /// It always does.
    Always,
}

impl Watch {
    /// Whether it fires in a storm that sends for so long and pauses for `tail` after its last frame. Where no measure is about a storm
    /// nobody knows what the queue carries: what makes the watchdog fire soonest.
    pub fn fires(&self, sends: Dur, tail: Dur) -> Fires {
        let unknown = Stimulus { data_gap: Some(Dur::ZERO) };
        let stimulus = if self.subjects.is_empty() { &unknown } else { &self.stimulus };
        let always = self.rule.always_fires_from(stimulus);
        let never = self.rule.never_fires_up_to(stimulus);
        if never.is_none_or(|never| sends.saturating_add(tail) <= never) {
            Fires::Never
        } else if always.is_some_and(|always| sends >= always) {
            Fires::Always
        } else {
            Fires::Perhaps
        }
    }

    /// Whether a measure of the case is about it.
    pub const fn is_measured(&self) -> bool {
        !self.subjects.is_empty()
    }

    /// Of a case about `subjects` on a device of this family.
    pub(crate) fn of(
        case: &Case,
        (family, apart): (RuleFamily, Apart),
        (declared, switch): (&Declared, &Switch),
        subjects: Vec<Subject>,
    ) -> Watch {
        let first = subjects.first();
        let tail = tail_of(case, declared, first);
        let storm = first.and_then(|subject| case.storms.get(&subject.storm));
        let every = |refresh: &Refresh| match refresh {
            Refresh::OfPause(millionths) => tail.scaled(*millionths, 1_000_000),
            Refresh::Every(every) => *every,
        };
        let every = storm.map(|storm| every(&storm.refresh)).filter(|every| *every > Dur::ZERO);
        Watch {
            rule: Rule { apart, ..Rule::of(family, &switch.pfcwd) },
            stimulus: stimulus(case, declared, first),
            tail,
            longest: subjects
                .iter()
                .map(|one| tail_of(case, declared, Some(one)))
                .max()
                .unwrap_or_default(),
            cadence: every.map(|every| Cadence { every, pause: tail }),
            subjects,
        }
    }

    /// What it will do, by the names that a case computes with.
    pub(crate) const fn predicted(&self) -> Names {
        Names { rule: self.rule, stimulus: self.stimulus, tail: self.tail }
    }

    /// By when after the last frame of any of its storms a queue is given back at the latest.
    pub(crate) fn gives_back(&self) -> Option<Dur> {
        Names { tail: self.longest, ..self.predicted() }.lookup("predicted.restoration.latest")
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
