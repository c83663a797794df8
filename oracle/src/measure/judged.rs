//! What the measures of one session came to. Nothing gets in without saying which of the case's questions it answers, so that
//! what nobody answered is known.

use crate::judge::answers::{self, Answers, NOT_MEASURED};
use crate::trials::table::{self, Table};
use crate::verdict::{Answer, Curve, Doubt, Judgement, Looked, NotApplicable};
use crate::{Alike, Resolution};
use rig_units::{Dur, Within};

/// Why a trial shows no number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unread {
    /// It could not be told.
    Doubt(Doubt),
    /// There is no such number on this device, or in this stimulus; says why.
    NotApplicable(String),
}

impl From<Doubt> for Unread {
    fn from(doubt: Doubt) -> Unread {
        Unread::Doubt(doubt)
    }
}

/// Which points of the sweep something is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    /// One of them, by index.
    Point(usize),
    /// All of them together: a search, a ramp.
    Whole,
}

/// What the measures of one session came to.
#[derive(Debug, Default)]
pub struct Judged {
    judgements: Vec<Judgement>,
    curves: Vec<Curve>,
    tables: Vec<Table>,
    answers: Answers,
    /// Which measure of the case is being judged.
    measure: usize,
    /// Its questions, one a point.
    open: Vec<usize>,
}

/// The same, all of it judged.
#[derive(Debug)]
pub struct Settled {
    /// Measured values beside predicted ones.
    pub judgements: Vec<Judgement>,
    /// Measured curves.
    pub curves: Vec<Curve>,
    /// What each trial showed of values that rest on all of them together.
    pub tables: Vec<Table>,
    /// What became of everything that was asked for.
    pub answers: Answers,
}

impl Judged {
    /// From here on it is about `measure`, which every point has to answer for.
    pub(super) fn ask(
        &mut self,
        (index, measure): (usize, &'static str),
        points: impl Iterator<Item = String>,
    ) {
        self.measure = index;
        let answers = &mut self.answers;
        self.open = points.map(|point| answers.ask(measure, point)).collect();
    }

    /// Which measure of the case it is about.
    pub(super) const fn measure(&self) -> usize {
        self.measure
    }

    /// A measured value. One that looked at nothing and found nothing is no measurement.
    pub(super) fn file(&mut self, at: At, judgement: Judgement) {
        let answer = answers::answer(&judgement);
        if matches!(answer, Answer::Measured(_)) {
            self.judgements.push(judgement);
        }
        self.answer(at, &answer);
    }

    /// What could not be told.
    pub(super) fn doubt(&mut self, at: At, doubt: Doubt) {
        self.answer(at, &Answer::Doubt(doubt));
    }

    /// What was not measured although the case asks for it.
    pub(super) fn not_measured(&mut self, at: At, detail: &str) {
        let detail = detail.trim().to_owned();
        self.doubt(at, Doubt { reason: NOT_MEASURED, detail });
    }

    /// What does not apply.
    pub(super) fn not_applicable(&mut self, at: At, what: NotApplicable) {
        self.answer(at, &Answer::NotApplicable(what));
    }

    /// A measured curve: it illustrates, and answers nothing.
    pub(super) fn curve(&mut self, curve: Curve) {
        self.curves.push(curve);
    }

    /// What each trial showed of a value that rests on all of them together.
    pub(super) fn table(&mut self, table: Table) {
        table::collect(&mut self.tables, vec![table]);
    }

    /// Says of what was filed of `measure` within which values of parameters devices cannot be told apart for certain: each with what
    /// is declared of it, and how far outside of that one shows wherever it is measured.
    pub(super) fn resolved(&mut self, measure: &str, parameters: &[(String, Within, Dur)]) {
        let told = parameters
            .iter()
            .map(|(parameter, declared, off)| Alike::of_time(parameter, *declared, *off));
        let told: Vec<Alike> = told.collect();
        for one in self.judgements.iter_mut().filter(|one| one.measure == measure) {
            one.resolution.alike.clone_from(&told);
        }
    }

    /// The same of more of them, beside those.
    pub(super) fn resolved_too(&mut self, measure: &str, told: &[Alike]) {
        for one in self.judgements.iter_mut().filter(|one| one.measure == measure) {
            one.resolution.alike.extend(told.iter().cloned());
        }
    }

    /// The same of what was filed of `measure` on `subject` alone.
    pub(super) fn alike(&mut self, (measure, subject): (&str, &str), alike: &Alike) {
        let own = |one: &&mut Judgement| (one.measure, one.subject.as_str()) == (measure, subject);
        for one in self.judgements.iter_mut().filter(own) {
            one.resolution.alike = vec![alike.clone()];
        }
    }

    /// Says something beside how small a departure shows of what was filed of `measure` on `subject`.
    pub(super) fn beside(&mut self, (measure, subject): (&str, &str), remark: &str) {
        let own = |one: &&mut Judgement| (one.measure, one.subject.as_str()) == (measure, subject);
        for one in self.judgements.iter_mut().filter(own) {
            one.resolution = one.resolution.clone().beside(remark);
        }
    }

    /// Says of what was filed of `measure` on `subject` that what is `blur` outside of its prediction shows, whatever its readings look like: a delay that
    /// cannot be below zero is read too well.
    pub(super) fn shows_beyond(&mut self, (measure, subject): (&str, &str), blur: Dur) {
        let own = |one: &&mut Judgement| (one.measure, one.subject.as_str()) == (measure, subject);
        for one in self.judgements.iter_mut().filter(own) {
            let told = Resolution::certain(one.prediction.unit, one.prediction.span, blur.0);
            one.resolution = told.with(one.resolution.alike.drain(..));
        }
    }

    /// Says of what was filed of `measure` from how much on a departure shows, in words.
    pub(super) fn tells(&mut self, measure: &str, told: &str) {
        for one in self.judgements.iter_mut().filter(|one| one.measure == measure) {
            one.resolution = Resolution::of_text(told).with(one.resolution.alike.drain(..));
        }
    }

    /// What was measured so far.
    pub(super) fn judgements(&self) -> &[Judgement] {
        &self.judgements
    }

    /// Everything, once all measures were judged.
    pub(super) fn settle(self) -> Settled {
        let Judged { judgements, curves, tables, answers, .. } = self;
        Settled { judgements, curves, tables, answers }
    }

    fn answer(&mut self, at: At, answer: &Answer) {
        for (index, question) in self.open.iter().enumerate() {
            if at == At::Whole || at == At::Point(index) {
                self.answers.file(*question, answer.clone());
            }
        }
    }
}

/// So many things of a kind.
pub(super) fn looked(count: usize, of: &'static str) -> Looked {
    Looked { count: u64::try_from(count).unwrap_or(u64::MAX), of }
}
