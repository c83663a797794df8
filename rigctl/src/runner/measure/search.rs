//! Numbers of frames that were searched: what each trial showed, what all of them enclose, and what the closed forms say.

use super::{Done, Judged, Read, judgement};
use crate::runner::fill::Fill;
use crate::runner::hunt::{Event, Mark, Stage, stages};
use crate::runner::plan::Role;
use crate::runner::points::Point;
use crate::runner::session::{Session, Trial};
use rig_capture::analyse::{self, ActionView};
use rig_capture::{Dir, Observation, Span, Unit, What};
use rig_lab::Declared;
use rig_oracle::Prediction;
use rig_oracle::judge::{Found, Search};
use rig_oracle::spec::buffer;
use rig_oracle::verdict::{Curve, CurvePoint, Doubt};
use rig_testcases::{Action, Measure, Script, StreamSpec};
use rig_units::{Dur, Quanta, Time};
use std::collections::BTreeMap;

/// Whether what a trial was for happened in it.
///
/// # Errors
/// The trial cannot tell.
pub fn happened(session: &Session<'_>, trial: &Trial, mark: &Mark) -> Result<bool, Doubt> {
    let stage = stages(&session.case.measure[mark.measure]).swap_remove(mark.stage);
    let view = ActionView::from(&session.group.declared);
    let mut any = false;
    for (index, spec) in of_stage(&trial.script, &stage) {
        any |= match stage.event {
            Event::Xoff => first_pfc(&trial.observation, spec, true).is_some(),
            Event::Xon => {
                let held = stage.from.as_ref().and_then(|name| named(&trial.script, name));
                let until = held.and_then(|held| released(&trial.script, held));
                let xon = first_pfc(&trial.observation, spec, false);
                xon.is_some_and(|xon| {
                    until.is_none_or(|until| trial.observation.records[xon].at < until)
                })
            }
            Event::Drop => {
                let loss = analyse::loss(&trial.observation, &trial.script, index, view.delays());
                if loss.lost == 0 && loss.open > 0 {
                    let detail = format!(
                        "trial {}: {} frames of {} had not arrived when it ended",
                        trial.number, loss.open, spec.name
                    );
                    return Err(Doubt { reason: "not-observable", detail });
                }
                loss.lost > 0
            }
        };
    }
    Ok(any)
}

/// Judges every number that a measure searches.
pub(super) fn judge(done: &Done<'_>, index: usize, measure: &Measure, judged: &mut Judged) {
    for (at, stage) in stages(measure).iter().enumerate() {
        let of = |trial: &&Trial| {
            let mark = match trial.role {
                Role::Search(mark) => mark,
                Role::Planned | Role::Calibration => return None,
            };
            (trial.void.is_none() && (mark.measure, mark.stage) == (index, at)).then_some(mark)
        };
        let trials: Vec<(&Trial, Mark)> =
            done.trials.iter().filter_map(|trial| Some((trial, of(&trial)?))).collect();
        // The XOFF of a group of which frames are to leave is only where that search begins.
        let is_last = stage.event == Event::Xon || !matches!(measure, Measure::XonPoint { .. });
        if let (Some((first, _)), true) = (trials.first(), is_last) {
            one(done, measure, (stage, first), &trials, judged);
        }
    }
}

/// What the closed forms say of each number that `measure` searches, each found as it is predicted.
pub fn searched(session: &Session<'_>, measure: &Measure) -> Vec<Prediction> {
    let mut point = Point::default();
    let mut all = Vec::new();
    for stage in stages(measure) {
        let Ok(script) = session.script(&point) else { break };
        let want = predicted(&session.group.declared, measure, &stage, &script);
        for name in &stage.streams {
            point.counts.insert(name.clone(), want.span.hi.saturating_sub(stage.less));
        }
        all.push(want);
    }
    // The XOFF of a group of which frames are to leave is only where that search begins.
    if matches!(measure, Measure::XonPoint { .. }) {
        all.drain(..all.len().saturating_sub(1));
    }
    all
}

/// One number.
fn one(
    done: &Done<'_>,
    measure: &Measure,
    (stage, first): (&Stage, &Trial),
    trials: &[(&Trial, Mark)],
    judged: &mut Judged,
) {
    let tried: Vec<Tried<'_>> =
        trials.iter().filter_map(|(trial, mark)| Tried::of(done, trial, mark, stage)).collect();
    let found = Search::of(u64::MAX, tried.iter().map(|one| (one.held, one.happened)).collect());
    let found = found.found();
    let want = predicted(&done.session.group.declared, measure, stage, &first.script);
    let (span, got, at) = match found {
        Found::At(span) => (span, None, span.hi),
        Found::Never { up_to } => {
            let got = format!("none in up to {up_to} frames");
            (Span { lo: up_to + 1, hi: u64::MAX }, Some(got), up_to)
        }
    };
    judged.curves.push(curve(done, measure, stage, (&tried, want.span)));
    // The first trial that shows it, and its first frames of note.
    let shown = tried.iter().find(|one| one.held == at).map(|one| one.trial);
    let records = shown.map(|trial| evidence(trial, stage)).unwrap_or_default();
    let number = shown.map_or(first.number, |trial| trial.number);
    let read = Read { span, want, got, records };
    let on = stage.streams.join(" and ");
    let place = done.session.group.label.clone();
    let leaks: u64 = tried.iter().map(|one| one.leaked).sum();
    if let Some(mut judgement) = judgement(measure.name(), &on, place, &[(number, read)]) {
        judgement.trials = u32::try_from(trials.len()).unwrap_or(u32::MAX);
        judgement.resolution = match (found, leaks) {
            (Found::At(span), 0) => format!("not with {}, with {}", span.lo - 1, span.hi),
            (Found::At(span), leaks) => {
                format!(
                    "not with {}, with {}; {leaks} frames leaked out of held queues",
                    span.lo - 1,
                    span.hi
                )
            }
            (Found::Never { .. }, _) => String::new(),
        };
        judged.judgements.push(judgement);
    }
}

/// One number that was tried.
struct Tried<'a> {
    trial: &'a Trial,
    /// Frames that were held.
    held: u64,
    /// Frames that leaked out while the queue was held: they are not in the buffer.
    leaked: u64,
    happened: bool,
}

impl<'a> Tried<'a> {
    /// `None` where the trial cannot tell.
    fn of(done: &Done<'_>, trial: &'a Trial, mark: &Mark, stage: &Stage) -> Option<Tried<'a>> {
        let happened = happened(done.session, trial, mark).ok()?;
        let leaked = leaked(trial, stage);
        Some(Tried { trial, held: mark.tried.saturating_sub(leaked), leaked, happened })
    }
}

/// Every number that was tried, and whether it happened: certain or impossible, and possible within what is predicted.
fn curve(
    done: &Done<'_>,
    measure: &Measure,
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
    let x = [done.session.group.label.as_str(), &on].join(" ").trim().to_owned();
    let points = points.collect();
    Curve { measure: measure.name(), x, x_unit: Unit::Frames, unit: Unit::Ppm, points }
}

/// What the closed forms say.
fn predicted(declared: &Declared, measure: &Measure, stage: &Stage, script: &Script) -> Prediction {
    let before: Vec<&str> = measure
        .searches()
        .into_iter()
        .take_while(|name| stage.streams.first().is_some_and(|first| first != name))
        .collect();
    let own = stage.streams.first().and_then(|name| named(script, name));
    let Some(spec) = own else { return frames(Span::exactly(0), String::new(), "") };
    let buffer = &declared.buffer;
    let occ = buffer::occupied(buffer, spec.size);
    let limit = limit_text(declared);
    match stage.event {
        Event::Xoff if stage.streams.len() > 1 => {
            let specs: Vec<&StreamSpec> =
                stage.streams.iter().filter_map(|name| named(script, name)).collect();
            let (lo, hi) = Fill::empty(declared).together(&specs);
            frames(
                Span { lo, hi },
                format!("{} streams grow together by {occ}B a frame: {limit}", specs.len()),
                "F4, F5",
            )
        }
        Event::Xoff => {
            let fill = Fill::of(declared, script, &before);
            let others = fill.others(spec.from);
            let n = fill.first_xoff(spec);
            let text = format!(
                "the first n with {occ}B x n - {} above {limit}, others holding {}B of the pool",
                buffer.reserved, others.pool
            );
            frames(Span::exactly(n), text, "F4, F5")
        }
        Event::Drop if stage.streams.len() > 1 => {
            let fill = Fill::empty(declared);
            let frames_held = fill.first_drop(spec);
            let senders = u64::try_from(stage.streams.len()).unwrap_or(u64::MAX);
            let (span, text) = overrun(declared, script, spec, senders, frames_held);
            frames(span, text, "F5, F12")
        }
        Event::Drop => {
            let fill = Fill::of(declared, script, &before);
            let n = fill.first_drop(spec);
            let text = if fill.is_lossless(spec.class) {
                let xoff = fill.first_xoff(spec);
                format!("XOFF at {xoff}, then headroom of {} in frames of {occ}B", buffer.xoff)
            } else {
                format!(
                    "a lossy queue within 2^{} x what is left of {}",
                    buffer.lossy_dynamic_th, buffer.lossy_pool
                )
            };
            frames(Span::exactly(n), text, "F5")
        }
        Event::Xon => {
            let fill = Fill::empty(declared);
            let stay = before.first().and_then(|name| named(script, name));
            let all = stay.and_then(|stay| stay.count).unwrap_or(0) + spec.count.unwrap_or(0);
            let n = buffer::xon_after(buffer, spec.size, &fill.others(spec.from), all);
            let text = format!(
                "of {all} frames of {occ}B so many leave that the rest is within max({}, limit - {}), the headroom empty",
                buffer.xon, buffer.xon_offset
            );
            frames(Span::exactly(n.unwrap_or(0)), text, "F4")
        }
    }
}

/// Several senders at the speed of the port that they send to.
fn overrun(
    declared: &Declared,
    script: &Script,
    spec: &StreamSpec,
    senders: u64,
    held: u64,
) -> (Span, String) {
    let speed = declared.port_speed(script.dut_ports[usize::from(spec.to)]);
    let slot = speed.map_or(Dur::us(1), |speed| speed.slot(spec.size));
    let passing = declared.forwarding_delay.0.div_ceil(slot.0);
    let (lo, hi) = buffer::overrun(held, senders, passing);
    let text = format!(
        "{senders} senders at line rate, one of them drained: {held} frames held at the first loss, {passing} in the pipeline"
    );
    (Span { lo, hi }, text)
}

/// The limit of a lossless group in words.
fn limit_text(declared: &Declared) -> String {
    let buffer = &declared.buffer;
    match (buffer.static_th, buffer.port_dynamic_th) {
        (Some(fixed), _) => fixed.to_string(),
        (None, Some(port)) => format!(
            "2^{} x what is left of the port's 2^{port} x what is left of {}",
            buffer.dynamic_th, buffer.pool
        ),
        (None, None) => format!("2^{} x what is left of {}", buffer.dynamic_th, buffer.pool),
    }
}

fn frames(span: Span, text: String, formula: &'static str) -> Prediction {
    Prediction { unit: Unit::Frames, span, formula, text, source: buffer::SOURCE }
}

/// The streams of a stage with their places in the script.
fn of_stage<'a>(
    script: &'a Script,
    stage: &'a Stage,
) -> impl Iterator<Item = (u16, &'a StreamSpec)> {
    let own = |(_, spec): &(u16, &StreamSpec)| stage.streams.contains(&spec.name);
    (0_u16..).zip(&script.streams).filter(own)
}

fn named<'a>(script: &'a Script, name: &str) -> Option<&'a StreamSpec> {
    script.streams.iter().find(|spec| spec.name == name)
}

/// The first XOFF, or XON, that the device sends to the sender of `spec` for its class.
fn first_pfc(observation: &Observation, spec: &StreamSpec, xoff: bool) -> Option<usize> {
    observation.records.iter().position(|record| {
        (record.port, record.dir) == (spec.from, Dir::Rx)
            && record.what.pauses(spec.class).is_some_and(|quanta| (quanta > Quanta(0)) == xoff)
    })
}

/// When the queue that `spec` is sent to is let go: the first storm at its port that ends.
fn released(script: &Script, spec: &StreamSpec) -> Option<Time> {
    let holds = |storm: u16| {
        let storm = &script.storms[usize::from(storm)];
        storm.from == spec.to && storm.classes >> spec.class & 1 == 1
    };
    let ends = script.steps.iter().find_map(|step| match step.action {
        Action::StopStorm(storm) if holds(storm) => Some(step.at),
        _ => None,
    });
    ends.map(|at| Time::ZERO + at)
}

/// Frames of the searched streams that arrived although their queues were held.
fn leaked(trial: &Trial, stage: &Stage) -> u64 {
    let observation = &trial.observation;
    let count = of_stage(&trial.script, stage).map(|(index, spec)| {
        let Some(until) = released(&trial.script, spec) else { return 0 };
        let bound = observation.ports[usize::from(spec.to)].provenance.bound();
        let own = observation.records.iter().take_while(|record| record.at + bound < until);
        let own = own.filter(|record| {
            record.dir == Dir::Rx
                && matches!(record.what, What::Data { stream, .. } if stream == index)
        });
        u64::try_from(own.count()).unwrap_or(u64::MAX)
    });
    count.max().unwrap_or(0)
}

/// The records that show what happened, if it did.
fn evidence(trial: &Trial, stage: &Stage) -> Vec<usize> {
    let of = of_stage(&trial.script, stage);
    let pfc =
        of.filter_map(|(_, spec)| first_pfc(&trial.observation, spec, stage.event != Event::Xon));
    pfc.collect()
}
