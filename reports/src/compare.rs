//! Two runs beside each other: new failures, and measurements that moved beyond their uncertainty.

mod text;

use crate::outcome::Outcome;
use crate::results::number::bound;
use crate::results::{Case, Curve, Measurement, Results};
use crate::{figure, text::count};
use indexmap::IndexMap;
use serde::Serialize;

/// The format of [`Comparison::to_json`].
pub const FORMAT: &str = "rig-comparison/2";

/// What changed from one run to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// [`FORMAT`].
    pub format: &'static str,
    /// The circumstances that differ: seed, lab, version, mutations, whether a run is whole.
    pub circumstances: Vec<Circumstance>,
    /// Cases that both runs have.
    pub common: usize,
    /// Of these, the ones about which nothing changed.
    pub unchanged: usize,
    /// Every change, gravest first, then in catalogue order.
    pub changes: Vec<Change>,
}

/// Something about the runs as a whole that is not the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Circumstance {
    /// What: `seed`, `lab`, `executor`, `version`, `mutations`, `partial`.
    pub what: &'static str,
    /// In the old run.
    pub was: String,
    /// In the new run.
    pub is: String,
}

/// One change of one case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// `suite::case`
    pub case: String,
    /// What changed.
    #[serde(flatten)]
    pub kind: Kind,
}

/// What changed about a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Kind {
    /// It fails and did not, or was not there.
    NewFailure {
        /// What it was before; `null` when it was not there.
        was: Option<Outcome>,
        /// The first finding, and how many more.
        finding: String,
    },
    /// Any other change of verdict, or of the reason for it.
    Verdict {
        /// Before.
        was: Outcome,
        /// Now.
        is: Outcome,
        /// The reason of the new one; empty on a pass.
        reason: String,
    },
    /// It failed and passes.
    Fixed,
    /// It was not there.
    Appeared {
        /// Its verdict.
        is: Outcome,
    },
    /// It is not there any more.
    Vanished {
        /// Its verdict.
        was: Outcome,
        /// The new run was cut short before it.
        not_run: bool,
    },
    /// It ran on another device.
    Device {
        /// Before.
        was: String,
        /// Now.
        is: String,
    },
    /// A measurement lies wholly outside what was measured before.
    Shifted(Moved),
    /// The prediction of a measurement is another.
    Predicted(Moved),
    /// A measurement is new.
    Measured {
        /// Which.
        measurement: String,
    },
    /// A measurement is missing.
    Unmeasured {
        /// Which.
        measurement: String,
    },
}

/// An interval that moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// Measure, subject and point.
    pub measurement: String,
    /// Unit of the numbers.
    pub unit: String,
    /// Before.
    pub was: Ends,
    /// Now.
    pub is: Ends,
    /// By how much each moved; `null` from or to what has no limit or never happened.
    pub by: By,
}

/// An interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Ends {
    /// The least; `null`: it never happened.
    #[serde(serialize_with = "bound::serialize")]
    pub lo: u64,
    /// The greatest; `null`: unbounded, or it never happened.
    #[serde(serialize_with = "bound::serialize")]
    pub hi: u64,
}

/// By how much an interval moved; negative downwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "each is the move of the place that its name says")]
pub struct By {
    pub lo: Option<i64>,
    pub middle: Option<i64>,
    pub hi: Option<i64>,
}

impl Moved {
    fn new(measurement: &str, unit: &str, was: (u64, u64), is: (u64, u64)) -> Moved {
        let [was, is] = [was, is].map(|(lo, hi)| Ends { lo, hi });
        let by = |was: u64, is: u64| {
            let finite = was != u64::MAX && is != u64::MAX;
            let by = i128::from(is) - i128::from(was);
            i64::try_from(by).ok().filter(|_| finite)
        };
        let middle = |ends: Ends| match ends.hi {
            u64::MAX => u64::MAX,
            hi => ends.lo + (hi - ends.lo) / 2,
        };
        let by = By {
            lo: by(was.lo, is.lo),
            middle: by(middle(was), middle(is)),
            hi: by(was.hi, is.hi),
        };
        Moved { measurement: measurement.to_owned(), unit: unit.to_owned(), was, is, by }
    }
}

impl Comparison {
    /// What changed from `old` to `new`.
    pub fn of(old: &Results, new: &Results) -> Comparison {
        let before = by_id(old);
        let after = by_id(new);
        let mut changes = Vec::new();
        let mut unchanged = 0;
        for case in &new.cases {
            let kinds = match before.get(&*case.id) {
                Some(was) => {
                    let kinds = case_changes(was, case);
                    unchanged += usize::from(kinds.is_empty());
                    kinds
                }
                None if case.verdict == Outcome::Fail => vec![new_failure(None, case)],
                None => vec![Kind::Appeared { is: case.verdict }],
            };
            changes.extend(kinds.into_iter().map(|kind| Change { case: case.id.clone(), kind }));
        }
        for case in old.cases.iter().filter(|case| !after.contains_key(&*case.id)) {
            let kind =
                Kind::Vanished { was: case.verdict, not_run: new.not_run.contains(&case.id) };
            changes.push(Change { case: case.id.clone(), kind });
        }
        changes.sort_by_key(|change| change.kind.gravity());
        let common = new.cases.iter().filter(|case| before.contains_key(&*case.id)).count();
        Comparison {
            format: FORMAT,
            circumstances: circumstances(old, new),
            common,
            unchanged,
            changes,
        }
    }

    /// Whether a case fails that did not: what a nightly run should end red on.
    pub fn regressed(&self) -> bool {
        self.changes.iter().any(|change| matches!(change.kind, Kind::NewFailure { .. }))
    }

    /// The comparison for scripts: pretty-printed, with a newline at the end.
    pub fn to_json(&self) -> String {
        crate::results::pretty(self)
    }
}

impl Kind {
    /// Its place in the report.
    const fn gravity(&self) -> u8 {
        match self {
            Kind::NewFailure { .. } => 0,
            Kind::Verdict { .. } => 1,
            Kind::Fixed => 2,
            Kind::Vanished { .. } => 3,
            Kind::Appeared { .. } => 4,
            Kind::Device { .. } => 5,
            Kind::Shifted(_) => 6,
            Kind::Predicted(_) => 7,
            Kind::Unmeasured { .. } => 8,
            Kind::Measured { .. } => 9,
        }
    }
}

fn by_id(results: &Results) -> IndexMap<&str, &Case> {
    results.cases.iter().map(|case| (&*case.id, case)).collect()
}

fn circumstances(old: &Results, new: &Results) -> Vec<Circumstance> {
    let whole = |results: &Results| results.partial.clone().unwrap_or_else(|| "whole".to_owned());
    let mutations = |results: &Results| match results.mutations.as_slice() {
        [] => "none".to_owned(),
        all => all.join(" "),
    };
    let pairs = [
        ("seed", old.seed.to_string(), new.seed.to_string()),
        ("lab", old.lab.clone(), new.lab.clone()),
        ("executor", old.executor.clone(), new.executor.clone()),
        ("version", old.version.clone(), new.version.clone()),
        ("mutations", mutations(old), mutations(new)),
        ("partial", whole(old), whole(new)),
    ];
    let differing = pairs.into_iter().filter(|(_, was, is)| was != is);
    differing.map(|(what, was, is)| Circumstance { what, was, is }).collect()
}

fn case_changes(old: &Case, new: &Case) -> Vec<Kind> {
    let mut kinds = Vec::new();
    match (old.verdict, new.verdict) {
        (was, is) if was == is && old.reason == new.reason => {}
        (was, Outcome::Fail) => kinds.push(new_failure(Some(was), new)),
        (Outcome::Fail, Outcome::Pass) => kinds.push(Kind::Fixed),
        (was, is) => {
            let said = [&new.reason, &new.detail].into_iter().flatten();
            let reason = said.map(String::as_str).collect::<Vec<_>>().join(": ");
            kinds.push(Kind::Verdict { was, is, reason });
        }
    }
    if old.dut != new.dut && !old.dut.is_empty() && !new.dut.is_empty() {
        kinds.push(Kind::Device { was: old.dut.clone(), is: new.dut.clone() });
    }
    measurements(&old.measurements, &new.measurements, &mut kinds);
    points(&old.curves, &new.curves, &mut kinds);
    kinds
}

fn new_failure(was: Option<Outcome>, case: &Case) -> Kind {
    let finding = case.findings.first().map_or_else(String::new, |first| {
        let more = match case.findings.len() - 1 {
            0 => String::new(),
            more => format!(", and {}", count(more, "more finding")),
        };
        format!("{}: want {}, got {}{more}", first.rule, first.want, first.got)
    });
    Kind::NewFailure { was, finding }
}

fn measurements(old: &[Measurement], new: &[Measurement], kinds: &mut Vec<Kind>) {
    // A measure that counts something else than before is another measurement.
    let name = |m: &Measurement| (figure::join(&m.name, &m.subject, &m.point), m.unit.clone());
    let before: IndexMap<_, &Measurement> = old.iter().map(|m| (name(m), m)).collect();
    let after: IndexMap<_, &Measurement> = new.iter().map(|m| (name(m), m)).collect();
    for (key, is) in &after {
        let (measurement, unit) = key.clone();
        let Some(was) = before.get(key) else {
            kinds.push(Kind::Measured { measurement });
            continue;
        };
        let moved = |was, is| Moved::new(&measurement, &unit, was, is);
        if was.hi < is.lo || is.hi < was.lo {
            kinds.push(Kind::Shifted(moved((was.lo, was.hi), (is.lo, is.hi))));
        }
        let predicted = |m: &Measurement| (m.predicted_lo, m.predicted_hi);
        if predicted(was) != predicted(is) {
            kinds.push(Kind::Predicted(moved(predicted(was), predicted(is))));
        }
    }
    let missing = before.into_keys().filter(|key| !after.contains_key(key));
    kinds.extend(missing.map(|(measurement, _)| Kind::Unmeasured { measurement }));
}

/// The points that two curves of one name share, by the same two rules.
fn points(old: &[Curve], new: &[Curve], kinds: &mut Vec<Kind>) {
    for is in new {
        let Some(was) = old.iter().find(|was| (&was.name, &was.x) == (&is.name, &is.x)) else {
            continue;
        };
        for point in &is.points {
            let Some(before) = was.points.iter().find(|before| before.x == point.x) else {
                continue;
            };
            let at = match is.x_unit.as_str() {
                "frames" => rig_capture::Unit::Frames.show(point.x),
                _ => rig_capture::Unit::Ps.show(point.x),
            };
            let measurement = figure::join(&is.name, "", &format!("{}={at}", is.x));
            let unit = if is.unit.is_empty() { rig_capture::Unit::Ppm.name() } else { &is.unit };
            let moved = |was, is| Moved::new(&measurement, unit, was, is);
            if before.hi < point.lo || point.hi < before.lo {
                kinds.push(Kind::Shifted(moved((before.lo, before.hi), (point.lo, point.hi))));
            }
            if before.predicted != point.predicted {
                let exactly = |value| (value, value);
                kinds.push(Kind::Predicted(moved(
                    exactly(before.predicted),
                    exactly(point.predicted),
                )));
            }
        }
    }
}

#[cfg(test)]
mod tests;
