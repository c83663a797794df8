//! Trials that are over, and what judges them by one number each.

use super::judged::{At, Judged, Unread};
use super::setting_answer::SettingAnswer;
use crate::trials::ask::Role;
use crate::trials::cited::frame;
use crate::trials::context::Context;
use crate::trials::kept::Kept;
use crate::trials::points::Point;
use crate::trials::trial::Trial;
use crate::trials::values::Values;
use crate::verdict::{Curve, CurvePoint, Doubt, Finding, Judgement, Looked, NotApplicable, Taken};
use crate::{Prediction, Resolution};
use rig_capture::{Observation, Reading, Span, Unit};
use rig_testcases::{Amount, Lookup, Measure, Script, StreamSpec};
use rig_units::{Bytes, Dur, Time};
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// Trials that have been run, and what they are judged by.
#[derive(Debug, Clone, Copy)]
pub struct JudgeContext<'a> {
    /// What they follow from.
    pub context: &'a Context<'a>,
    /// The points of its variables.
    pub points: &'a [Point],
    /// The trials, in the order in which they ran, void ones too.
    pub trials: &'a [Kept],
    /// What came of each setting that the case tries, or why it could not be tried.
    pub tried: &'a [Result<SettingAnswer, String>],
    /// The chance of calling a healthy device faulty that one judgement of counts may spend.
    pub alpha: f64,
    /// Set once nobody waits for judgements any more.
    pub hurried: &'a AtomicBool,
    /// Whether it was, and some trials were not looked at.
    pub cut: &'a Cell<bool>,
}

impl<'a> JudgeContext<'a> {
    /// How far off an instant may be, in the worst of the trials that count.
    pub(super) fn bound(&self) -> Dur {
        let valid = self.trials.iter().filter(|trial| trial.void().is_none());
        valid.map(|trial| trial.outline().observation.bound()).max().unwrap_or_default()
    }

    /// What the names in an amount stand for in one trial, the lengths of its counted streams included.
    pub(super) fn values<'t>(&'t self, trial: &'t Trial) -> OfTrial<'t> {
        OfTrial::of(self.context, &trial.script, &trial.observation)
    }

    /// When in a trial an amount says.
    pub(super) fn instant(&self, trial: &Trial, amount: &Amount) -> Result<Time, Doubt> {
        let at = amount.resolve(&self.values(trial) as &dyn Lookup);
        at.map(|at| Time::ZERO + at).map_err(|name| trial.doubt(&format!("{name} has no value")))
    }

    /// From when until when in a trial a measure looks.
    pub(super) fn stretch(&self, trial: &Trial, of: &Measure) -> Result<(Time, Time), Doubt> {
        let (from, until) = of.instants();
        Ok((self.instant(trial, from)?, self.instant(trial, until)?))
    }

    /// Trials at one point that count, calibrations left out.
    pub(super) fn valid(&self, point: usize) -> impl Iterator<Item = Cow<'a, Trial>> + use<'a> {
        self.of_role(Role::Planned)
            .filter(move |trial| trial.outline().point == point)
            .map(Kept::whole)
    }

    /// Trials that are there for something and count.
    pub(super) fn of_role(&self, role: Role) -> impl Iterator<Item = &'a Kept> + use<'a> {
        let counts = move |trial: &&Kept| trial.void().is_none() && trial.outline().role == role;
        self.goes_on().filter(counts)
    }

    /// All trials, until nobody waits for them any more.
    pub(super) fn goes_on(&self) -> impl Iterator<Item = &'a Kept> + use<'a> {
        let JudgeContext { hurried, cut, trials, .. } = *self;
        trials.iter().take_while(move |_| {
            cut.set(cut.get() || hurried.load(Ordering::Relaxed));
            !cut.get()
        })
    }

    /// Where in the sweep a point lies, for reports.
    pub(super) fn place(&self, point: &Point) -> String {
        [self.context.group.label.as_str(), point.label.as_str()].join(" ").trim().to_owned()
    }

    /// Judges several numbers per trial, each about a subject of its own, at every point.
    pub(super) fn several(
        &self,
        measure: &'static str,
        judged: &mut Judged,
        read: impl Fn(&Trial) -> Result<Vec<(String, TrialReading)>, Doubt>,
    ) {
        for (index, point) in self.points.iter().enumerate() {
            let mut by_subject: BTreeMap<String, Vec<(u32, TrialReading)>> = BTreeMap::new();
            for trial in self.valid(index) {
                match read(&trial) {
                    Ok(all) => all.into_iter().for_each(|(on, read)| {
                        by_subject.entry(on).or_default().push((trial.number, read));
                    }),
                    Err(doubt) => judged.doubt(At::Point(index), doubt),
                }
            }
            for (on, all) in by_subject {
                if let Some(one) = judgement(measure, &on, self.place(point), &all) {
                    judged.file(At::Point(index), one);
                }
            }
        }
    }

    /// Judges one number per trial, at every point: each reading must meet what is predicted for its trial.
    pub(super) fn each(
        &self,
        measure: &'static str,
        on: &str,
        judged: &mut Judged,
        read: impl Fn(&Trial) -> Result<TrialReading, Unread>,
    ) {
        let mut curve = Vec::new();
        for (index, point) in self.points.iter().enumerate() {
            let (mut all, mut idle) = (Vec::new(), None);
            let (place, here) = (self.place(point), At::Point(index));
            let mut count = 0;
            for trial in &mut self.valid(index) {
                count += 1;
                match read(&trial) {
                    // One trial that shows nothing is not made up for by the others.
                    Ok(read) if read.looked.count == 0 && read.span.meets(read.want.span) => {
                        let of = read.looked.of;
                        judged.not_measured(
                            here,
                            &format!(
                                "trial {}: {measure} of {on}: no {of} to look at {place}",
                                trial.number
                            ),
                        );
                    }
                    Ok(read) => all.push((trial.number, read)),
                    Err(Unread::NotApplicable(why)) => idle = Some(why),
                    Err(Unread::Doubt(doubt)) => judged.doubt(here, doubt),
                }
            }
            if count == 0 {
                judged.not_measured(here, &format!("{measure} of {on}: no trial counts {place}"));
            }
            if let Some(why) = idle.filter(|_| all.is_empty()) {
                let (subject, point) = (on.to_owned(), place.clone());
                judged.not_applicable(here, NotApplicable { measure, subject, point, why });
            }
            let judgement = judgement(measure, on, place, &all);
            let at = point.swept.iter().next().map(|(name, value)| (name.clone(), value.0));
            curve.extend(judgement.as_ref().zip(at).map(|(judgement, (name, x))| {
                let (measured, predicted) = (judgement.reading.span, judgement.prediction.span);
                (name, judgement.reading.unit, CurvePoint { x, measured, predicted })
            }));
            if let Some(judgement) = judgement {
                judged.file(here, judgement);
            }
        }
        if let [(name, unit, _), _, ..] = &curve[..] {
            let x = [self.context.group.label.as_str(), name].join(" ").trim().to_owned();
            let unit = *unit;
            let points = curve.into_iter().map(|(_, _, point)| point).collect();
            let fitted = Vec::new();
            judged.curve(Curve { measure, x, x_unit: Unit::Ps, unit, points, fitted });
        }
    }
}

/// See [`JudgeContext::values`].
pub(super) struct OfTrial<'a> {
    values: Values<'a>,
    script: &'a Script,
    observation: &'a Observation,
}

impl<'a> OfTrial<'a> {
    pub(super) fn of(
        context: &'a Context<'_>,
        script: &'a Script,
        observation: &'a Observation,
    ) -> Self {
        OfTrial { values: context.values(), script, observation }
    }
}

impl Lookup for OfTrial<'_> {
    fn duration(&self, name: &str) -> Option<Dur> {
        let own = self.script.streams.iter().find(|spec| spec.name == name);
        let speed = |spec: &StreamSpec| self.observation.ports[usize::from(spec.from)].speed;
        own.and_then(|spec| spec.length(speed(spec))).or_else(|| self.values.duration(name))
    }

    fn size(&self, stream: &str) -> Option<Bytes> {
        self.values.size(stream)
    }
}

/// One number of one trial.
#[derive(Debug, Clone)]
pub(super) struct TrialReading {
    /// What was measured.
    pub(super) span: Span,
    /// What was predicted.
    pub(super) want: Prediction,
    /// In words, when the number alone does not say it.
    pub(super) got: Option<String>,
    /// Records that show it.
    pub(super) records: Vec<usize>,
    /// What was looked at: of nothing nothing was measured.
    pub(super) looked: Looked,
}

/// Most frames that one finding cites.
const CITED: usize = 6;

/// All readings of one measure at one point as one judgement; none without readings.
pub(super) fn judgement(
    measure: &'static str,
    on: &str,
    point: String,
    all: &[(u32, TrialReading)],
) -> Option<Judgement> {
    let (_, first) = all.first()?;
    let unit = first.want.unit;
    let findings =
        all.iter().filter(|(_, read)| !read.span.meets(read.want.span)).map(|(trial, read)| {
            Finding {
                rule: measure,
                want: read.want.text.clone(),
                got: read.got.clone().unwrap_or_else(|| show(unit, read.span)),
                trial: *trial,
                frames: read.records.iter().take(CITED).copied().map(frame).collect(),
            }
        });
    let findings: Vec<Finding> = findings.collect();
    // Predictions may differ between trials; the one that was broken is shown, else the first.
    let shown = all
        .iter()
        .find(|(_, read)| !read.span.meets(read.want.span))
        .map_or(first, |(_, read)| read);
    let hull = |spans: &mut dyn Iterator<Item = Span>| {
        spans
            .reduce(|a, b| Span { lo: a.lo.min(b.lo), hi: a.hi.max(b.hi) })
            .unwrap_or(Span::exactly(0))
    };
    let mut prediction = shown.want.clone();
    if findings.is_empty() {
        prediction.span = hull(&mut all.iter().map(|(_, read)| read.want.span));
    }
    let span = hull(&mut all.iter().map(|(_, read)| read.span));
    let frames = findings.first().map(|finding| finding.frames.clone()).unwrap_or_default();
    let taken: Vec<Taken> =
        all.iter().map(|(trial, read)| Taken { trial: *trial, span: read.span }).collect();
    let wanted = hull(&mut all.iter().map(|(_, read)| read.want.span));
    Some(Judgement {
        measure,
        subject: on.to_owned(),
        point,
        reading: Reading { unit, span, frames },
        prediction,
        trials: u32::try_from(all.len()).unwrap_or(u32::MAX),
        resolution: Resolution::of_each(unit, wanted, &taken),
        taken,
        looked: Looked {
            count: all.iter().map(|(_, read)| read.looked.count).sum(),
            ..first.looked
        },
        findings,
    })
}

pub(super) fn show(unit: Unit, span: Span) -> String {
    Reading { unit, span, frames: Vec::new() }.to_string()
}

/// A number of frames that follows from what the case asks, without a formula.
pub(super) fn wanted(span: Span, text: impl Into<String>) -> Prediction {
    Prediction { unit: Unit::Frames, span, formula: "", text: text.into(), source: "the case" }
}
