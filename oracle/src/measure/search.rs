//! Numbers of frames that were searched: what all trials of a search enclose, beside what the closed forms say.

use super::blame;
use super::judge_context::{JudgeContext, TrialReading, judgement};
use super::judged::{At, Judged, looked};
use super::measurement::{Known, Tells, prediction};
use crate::judge::{Found, Search};
use crate::trials::ask::Role;
use crate::trials::context::Context;
use crate::trials::kept::Kept;
use crate::trials::points::Point;
use crate::trials::table::Table;
use crate::trials::threshold_search::{Event, Mark, Stage};
use crate::trials::trial::Trial;
use crate::verdict::{Curve, CurvePoint};
use crate::{Prediction, Resolution};
use rig_capture::{Reading, Span, Unit};
use rig_lab::Switch;
use rig_testcases::{Script, StormSpec, StreamSpec};
use rig_units::Dur;
use std::collections::BTreeMap;

mod late;
mod memories;
mod predict;
mod seen;
mod size;
mod sought;

use predict::predicted;
pub use seen::happened;
use seen::{Tried, evidence, named};
pub(super) use sought::{DROP, XOFF, XON};
use sought::{Searched, Sought};

impl Known {
    /// What is the same of every search.
    const SEARCH: Known = Known {
        tells: Tells::Each("frame: it ends between two numbers that follow one another"),
        on: |measure| measure.searches().join(", then "),
        expected: |measure, context, _| {
            let search = Searched::asked(measure);
            let all = search.iter().flat_map(|search| searched(context, search));
            all.flat_map(|one| prediction(&one)).collect()
        },
        judge: |measure, done, judged| {
            if let Some(search) = Searched::asked(measure) {
                judge(done, judged.measure(), &search, judged);
            }
        },
        stages: |measure| {
            Searched::asked(measure).map(|search| search.stages()).unwrap_or_default()
        },
        ..Known::USUAL
    };
}

/// Judges every number that a measure searches.
fn judge(done: &JudgeContext<'_>, index: usize, search: &Searched<'_>, judged: &mut Judged) {
    for (at, stage) in search.stages().iter().enumerate() {
        let trials = trials(done, index, at);
        let Some(first) = trials.first().map(|(kept, _)| kept.outline()) else {
            let on = stage.streams.join(" and ");
            judged.not_measured(At::Whole, &format!("{} of {on}: no trial counts", search.name));
            continue;
        };
        // The XOFF of a group of which frames are to leave is only where that search begins.
        if stage.event == Event::Xon || search.sought != Sought::Xon {
            let tried: Vec<Tried<'_>> = trials
                .iter()
                .filter_map(|(trial, mark)| Tried::of(done.context, trial, mark, stage))
                .collect();
            let declared = done.context.switch();
            if let Some(other) = unknown(declared, &first.script, (search, stage)) {
                let on = stage.streams.join(" and ");
                let why = format!(
                    "{} of {on}: {other} waits in the buffer, too, and how much of it is there by then is in no closed form",
                    search.name
                );
                judged.not_measured(At::Whole, &why);
                return;
            }
            let want = predicted(declared, search, stage, &first.script);
            one(done, search, (stage, first), (&tried, want), judged);
        }
    }
    size::judge(done, index, search, judged);
}

/// A stream beside those that are searched whose frames wait in a held queue while those of `stage` are sent, so that they take of what
/// is shared.
fn unknown<'a>(
    declared: &Switch,
    script: &'a Script,
    (search, stage): (&Searched<'_>, &Stage),
) -> Option<&'a str> {
    let own = stage.streams.iter().filter_map(|name| {
        let (spec, from) = (named(script, name)?, seen::begun(script, name)?);
        let speed = declared.port_speed(script.dut_ports[usize::from(spec.from)])?;
        Some((from, from + spec.length(speed)?))
    });
    let own: Vec<(Dur, Dur)> = own.collect();
    let waits = |spec: &&StreamSpec| {
        let Some(from) = seen::begun(script, &spec.name) else { return false };
        let until = seen::released(script, spec).map_or(script.length, |at| Dur(at.0));
        let names = |one: &StormSpec| one.from == spec.to && one.classes >> spec.class & 1 == 1;
        let held = script.storms.iter().any(names);
        held && own.iter().any(|&(begins, ends)| from < ends && begins < until)
    };
    let other = |spec: &&StreamSpec| !search.streams.contains(&spec.name.as_str());
    script.streams.iter().filter(other).find(waits).map(|spec| spec.name.as_str())
}

/// The trials of one stage of the search of measure `index` that count.
fn trials<'a>(done: &JudgeContext<'a>, index: usize, stage: usize) -> Vec<(&'a Kept, Mark)> {
    let mark = |trial: &Kept| match trial.outline().role {
        Role::Search(mark) => Some(mark),
        Role::Planned | Role::Calibration => None,
    };
    let own = done.goes_on().filter(|trial| trial.void().is_none());
    let own = own.filter_map(|trial| Some((trial, mark(trial)?)));
    own.filter(|(_, mark)| (mark.measure, mark.stage) == (index, stage)).collect()
}

/// What the trials of a stage enclose.
fn found(tried: &[Tried<'_>]) -> Found {
    Search::of(u64::MAX, tried.iter().map(|one| (one.held, one.happened)).collect()).found()
}

/// What the closed forms say of each number that `search` finds, each found as it is predicted.
fn searched(context: &Context<'_>, search: &Searched<'_>) -> Vec<Prediction> {
    let mut point = Point::default();
    let mut all = Vec::new();
    for stage in search.stages() {
        let Ok(script) = context.script(&point) else { break };
        let want = predicted(context.switch(), search, &stage, &script);
        for name in &stage.streams {
            point.counts.insert(name.clone(), want.span.hi.saturating_sub(stage.less));
        }
        all.push(want);
    }
    // The XOFF of a group of which frames are to leave is only where that search begins.
    if search.sought == Sought::Xon {
        all.drain(..all.len().saturating_sub(1));
    }
    all
}

/// One number.
fn one(
    done: &JudgeContext<'_>,
    search: &Searched<'_>,
    (stage, first): (&Stage, &Trial),
    (tried, want): (&[Tried<'_>], Prediction),
    judged: &mut Judged,
) {
    let found = found(tried);
    if let Some(why) = untold(search, stage, found, want.span) {
        judged.table(table(done, search, stage, tried));
        judged.not_measured(At::Whole, &why);
        return;
    }
    let (span, got, at) = match found {
        Found::At(span) => (span, None, span.hi),
        Found::Never { up_to } => {
            let own = |spec: &&StreamSpec| stage.streams.contains(&spec.name);
            let spec = first.script.streams.iter().find(own);
            // The trial with the most frames shows it, if any does.
            let last = tried.iter().max_by_key(|one| one.held);
            let other =
                spec.zip(last).filter(|_| stage.event != Event::Drop).and_then(|(spec, last)| {
                    blame::other_class(&last.trial.whole(), spec.from, spec.class)
                });
            let other = other.map(|other| format!("; {other}")).unwrap_or_default();
            let got = format!("none in up to {up_to} frames{other}");
            (Span { lo: up_to + 1, hi: u64::MAX }, Some(got), up_to)
        }
    };
    judged.curve(curve(done, search, stage, (tried, want.span)));
    judged.table(table(done, search, stage, tried));
    // The first trial that shows it, and its first frames of note.
    let shown = tried.iter().find(|one| one.held == at).map(|one| one.trial);
    let records = shown.map(|trial| evidence(&trial.whole(), stage)).unwrap_or_default();
    let number = shown.map_or(first.number, Kept::number);
    let looked = looked(tried.len(), "numbers that were tried");
    let wanted = want.span;
    let declared = done.context.switch();
    let other = matches!(found, Found::At(_)).then_some(span).filter(|span| !span.meets(wanted));
    let other = other
        .and_then(|span| memories::as_of(declared, search, stage, &first.script, span))
        .map(|other| {
            format!("{}, {other}", Reading { unit: Unit::Frames, span, frames: Vec::new() })
        });
    let got = got.or(other);
    let read = TrialReading { span, want, got, records, looked };
    let on = stage.streams.join(" and ");
    let place = done.context.group.label.clone();
    let leaks: u64 = tried.iter().map(|one| one.leaked).sum();
    if let Some(mut judgement) = judgement(search.name, &on, place, &[(number, read)]) {
        judgement.trials = u32::try_from(tried.len()).unwrap_or(u32::MAX);
        // It rests on all trials together.
        judgement.taken.clear();
        let resolution = Resolution::certain(Unit::Frames, wanted, span.hi - span.lo);
        let late = late::alike(done, search, stage, &first.script);
        let resolution = resolution.with(late);
        judgement.resolution = match (found, leaks) {
            (Found::At(span), 0) => {
                resolution.beside(&format!("not with {}, with {}", span.lo - 1, span.hi))
            }
            (Found::At(span), leaks) => resolution.beside(&format!(
                "not with {}, with {}; {leaks} frames leaked out of held queues",
                span.lo - 1,
                span.hi
            )),
            (Found::Never { .. }, _) => resolution,
        };
        judged.file(At::Whole, judgement);
    }
}

/// Why a number was not found that may be as great as predicted: no more frames are held than a queue is without its watchdog taking that for a storm,
/// or than any buffer takes.
fn untold(search: &Searched<'_>, stage: &Stage, found: Found, wanted: Span) -> Option<String> {
    let Found::Never { up_to } = found else { return None };
    (up_to < wanted.hi && wanted.hi < u64::MAX).then(|| {
        format!(
            "{} of {}: none in up to {up_to} frames, and more are not tried (a queue that is held for longer its watchdog may take for stormed); predicted is {}",
            search.name,
            stage.streams.join(" and "),
            Reading { unit: Unit::Frames, span: wanted, frames: Vec::new() },
        )
    })
}

/// What each trial tried, and whether it happened.
fn table(
    done: &JudgeContext<'_>,
    search: &Searched<'_>,
    stage: &Stage,
    tried: &[Tried<'_>],
) -> Table {
    const COLUMNS: &[&str] = &["subject", "point", "trial", "held", "happened"];
    let (on, place) = (stage.streams.join(" and "), &done.context.group.label);
    let mut table = Table::new(search.name, COLUMNS);
    for one in tried {
        table.row([&on, place, &one.trial.number(), &one.held, &u8::from(one.happened)]);
    }
    table
}

/// Every number that was tried, and whether it happened: certain or impossible, and possible within what is predicted.
fn curve(
    done: &JudgeContext<'_>,
    search: &Searched<'_>,
    stage: &Stage,
    (tried, want): (&[Tried<'_>], Span),
) -> Curve {
    const SURE: u64 = 1_000_000;
    let mut seen: BTreeMap<u64, Vec<bool>> = BTreeMap::new();
    for one in tried {
        seen.entry(one.held).or_default().push(one.happened);
    }
    let points = seen.into_iter().map(|(x, happened)| CurvePoint {
        x,
        measured: Span {
            lo: if happened.iter().all(|did| *did) { SURE } else { 0 },
            hi: if happened.iter().any(|did| *did) { SURE } else { 0 },
        },
        predicted: Span {
            lo: if x >= want.hi { SURE } else { 0 },
            hi: if x >= want.lo { SURE } else { 0 },
        },
    });
    let on = format!("{} held, frames", stage.streams.join(" and "));
    let x = [done.context.group.label.as_str(), &on].join(" ").trim().to_owned();
    let points = points.collect();
    Curve {
        measure: search.name,
        x,
        x_unit: Unit::Frames,
        unit: Unit::Ppm,
        points,
        fitted: Vec::new(),
    }
}
