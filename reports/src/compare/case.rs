//! What changed about one case.

use super::{ChangeKind, Moved};
use crate::outcome::Outcome;
use crate::results::{Case, Curve, Measurement};
use crate::{figure, text::count};
use indexmap::IndexMap;

/// Every change from one run of it to the other, in no order of weight.
pub(super) fn case_changes(old: &Case, new: &Case) -> Vec<ChangeKind> {
    let mut kinds = Vec::new();
    match (old.verdict, new.verdict) {
        (was, is) if was == is && old.reason == new.reason => {}
        (was, Outcome::Fail) => kinds.push(new_failure(Some(was), new)),
        (Outcome::Fail, Outcome::Pass) => kinds.push(ChangeKind::Fixed),
        (was, is) => {
            let said = [&new.reason, &new.detail].into_iter().flatten();
            let reason = said.map(String::as_str).collect::<Vec<_>>().join(": ");
            kinds.push(ChangeKind::Verdict { was, is, reason });
        }
    }
    if old.dut != new.dut && !old.dut.is_empty() && !new.dut.is_empty() {
        kinds.push(ChangeKind::Device { was: old.dut.clone(), is: new.dut.clone() });
    }
    measurements(&old.measurements, &new.measurements, &mut kinds);
    points(&old.curves, &new.curves, &mut kinds);
    kinds
}

pub(super) fn new_failure(was: Option<Outcome>, case: &Case) -> ChangeKind {
    let finding = case.findings.first().map_or_else(String::new, |first| {
        let more = match case.findings.len() - 1 {
            0 => String::new(),
            more => format!(", and {}", count(more, "more finding")),
        };
        format!("{}: want {}, got {}{more}", first.rule, first.want, first.got)
    });
    ChangeKind::NewFailure { was, finding }
}

fn measurements(old: &[Measurement], new: &[Measurement], kinds: &mut Vec<ChangeKind>) {
    let (before, after) = (by_name(old), by_name(new));
    for (key, is) in &after {
        let (measurement, unit, _) = key.clone();
        let Some(was) = before.get(key) else {
            kinds.push(ChangeKind::Measured { measurement });
            continue;
        };
        let moved = |was, is| Moved::new(&measurement, &unit, was, is);
        if was.hi < is.lo || is.hi < was.lo {
            kinds.push(ChangeKind::Shifted(moved((was.lo, was.hi), (is.lo, is.hi))));
        }
        let predicted = |m: &Measurement| (m.predicted_lo, m.predicted_hi);
        if predicted(was) != predicted(is) {
            kinds.push(ChangeKind::Predicted(moved(predicted(was), predicted(is))));
        }
    }
    let missing = before.into_keys().filter(|key| !after.contains_key(key));
    kinds.extend(missing.map(|(measurement, ..)| ChangeKind::Unmeasured { measurement }));
}

/// By what was measured, its unit, and which of those of that name it is: a measure that counts something else than before
/// is another measurement, and a case may measure the same twice.
fn by_name(all: &[Measurement]) -> IndexMap<(String, String, usize), &Measurement> {
    let mut named = IndexMap::new();
    for m in all {
        let mut key = (figure::join(&m.name, &m.subject, &m.point), m.unit.clone(), 0);
        while named.contains_key(&key) {
            key.2 += 1;
        }
        named.insert(key, m);
    }
    named
}

/// The points that two curves of one name share, by the same two rules.
fn points(old: &[Curve], new: &[Curve], kinds: &mut Vec<ChangeKind>) {
    for was in old {
        let of = |is: &&Curve| (&was.name, &was.x) == (&is.name, &is.x);
        let (before, after) =
            (was.points.len(), new.iter().find(of).map_or(0, |is| is.points.len()));
        if after < before {
            let measurement = figure::join(&was.name, "", &format!("against {}", was.x));
            let measurement = match after {
                0 => measurement,
                _ => format!("{measurement}: {} of {before} points", before - after),
            };
            kinds.push(ChangeKind::Unmeasured { measurement });
        }
    }
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
                kinds
                    .push(ChangeKind::Shifted(moved((before.lo, before.hi), (point.lo, point.hi))));
            }
            if before.predicted != point.predicted {
                let exactly = |value| (value, value);
                kinds.push(ChangeKind::Predicted(moved(
                    exactly(before.predicted),
                    exactly(point.predicted),
                )));
            }
        }
    }
}
