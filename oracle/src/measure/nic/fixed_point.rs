//! Where several senders through one marking queue come to rest: how many packets are marked and how many CNPs there are, for each
//! number of senders. That both grow is judged; what the fluid model has to say of it is printed beside, with how far it is off.

use super::super::judge_context::{JudgeContext, TrialReading, judgement};
use super::super::judged::{At, Judged, looked};
use super::super::measurement::told;
use super::super::measurement::{Known, Red, Tells};
use super::super::stamps;
use super::shares::{Runs, ppm, runs, span};
use super::{BEHIND, gap_stamps, over_the_way};
use crate::judge::answers::NOT_MEASURED;
use crate::judge::batches::{self, Mean};
use crate::judge::nic::growth::{Growth, growth};
use crate::resolution::widened;
use crate::spec::nic::fluid::{self, Incast, Rest};
use crate::trials::context::Context;
use crate::trials::table::Table;
use crate::trials::trial::Trial;
use crate::verdict::{Curve, CurvePoint, Doubt};
use crate::{Prediction, Resolution};
use rig_capture::analyse::Carried;
use rig_capture::{Span, Unit};
use rig_lab::{Fault, Scope};
use rig_testcases::vocabulary::{Entry, Given, Looks, ValueKind, required};
use rig_testcases::{Case, Measure, Script, Window};
use rig_units::{Bytes, Dur, PortSpeed};

const MORE: &str =
    "two windows or more, such as {flows: [a, b], from: 30ms, until: 50ms}, each of more flows";

fn each_of_more(given: &Given<'_>) -> bool {
    let Some(windows) = given.of.windows("windows") else { return true };
    let few = windows.windows(2).any(|two| two[0].flows.len() >= two[1].flows.len());
    if few || windows.len() < 2 {
        let flows: Vec<String> =
            windows.iter().map(|window| window.flows.len().to_string()).collect();
        let found = match flows.is_empty() {
            true => "no window".to_owned(),
            false => format!("windows of {} flows", flows.join(", ")),
        };
        given.fault("windows", found, MORE);
        return false;
    }
    true
}

/// Only a queue that marks has a fixed point.
fn something_marks(_: &Measure, case: &Case) -> Vec<Fault> {
    if case.between.bottleneck.is_some() {
        return Vec::new();
    }
    let found = "`rate.fixed_point` without a queue that marks";
    vec![case.fault("between", found, "`between:` with a `bottleneck:`")]
}

/// `rate.fixed_point`.
pub(in super::super) static FIXED_POINT: Known = Known {
    entry: Entry {
        name: "rate.fixed_point",
        parts: Some(&[rig_lab::Part::Rp]),
        about: "more flows through one bottleneck are marked more, and get more CNPs; beside it the fluid model",
        source: "DCQCN 5",
        fields: &[required(
            "windows",
            ValueKind::Windows,
            MORE,
            "the flows, and when: each of more than the one before",
        )],
        check: each_of_more,
        looks: &[Looks::EVERY_FRAME],
        sense: something_marks,
        ..Entry::USUAL
    },
    tells: Tells::Chance("the batches that were seen, and how alike neighbours are"),
    red: Red::Mutated("more-senders-are-marked-more", "nic.rp.enable=false"),
    on: |measure| Window::flows_of(&measure.windows()).join(" and "),
    expected: |measure, context, _| {
        let senders: Vec<String> =
            measure.windows().iter().map(|window| window.flows.len().to_string()).collect();
        let text = format!(
            "more marks and more CNPs with each of {} senders; how many, the fluid model says, and only for people{}",
            senders.join(", "),
            over_the_way(context)
        );
        told(text, "a^2 alpha = tau^2 R_AI R (b + d)(c + e)", fluid::SOURCE)
    },
    judge: |measure, done, judged| judge(done, &measure.windows(), judged),
    // Of a queue that is full whoever cuts is told from who does not.
    stamps: Some(|measure, context, script| {
        let windows = measure.windows();
        let flow = windows.first()?.flows.first()?;
        let cut = gap_stamps::cut_of(flow, context, script);
        stamps::finest([stamps::bottleneck(script), cut])
    }),
    unpromised: Some(shared),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// Why more flows are no more senders: several share a limiter.
fn shared(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<String> {
    let windows = measure.windows();
    let of =
        script.flows.iter().find(|flow| windows.iter().any(|of| of.flows.contains(&flow.name)))?;
    let nic = context.nics().behind(*script.dut_ports.get(usize::from(of.nic))?)?;
    let scope = Some(nic.rp.scope).filter(|scope| *scope != Scope::Qp)?;
    Some(format!(
        "it has one limiter for each {}: more flows of one NIC are not more senders",
        scope.words()
    ))
}

/// Judges the windows of every point.
fn judge(done: &JudgeContext<'_>, windows: &[Window], judged: &mut Judged) {
    for (index, point) in done.points.iter().enumerate() {
        let place = done.place(point);
        let Some(trial) = done.valid(index).next() else { continue };
        match rests(done, index, &trial, windows) {
            Ok(rests) if rests.windows(2).any(|two| two.iter().all(untouched)) => {
                rests.iter().for_each(|seen| judged.table(seen.table.clone()));
                let flows = Window::flows_of(windows).join(", ");
                let why = "not one packet was marked: they never came to rest at the queue";
                let doubt = trial.doubt(&format!("{flows}: {why}"));
                judged.doubt(At::Point(index), Doubt { reason: NOT_MEASURED, ..doubt });
            }
            Ok(rests) => {
                rests.iter().for_each(|seen| judged.table(seen.table.clone()));
                tell(&rests, (At::Point(index), &place), done.alpha, judged);
            }
            Err(doubt) => judged.doubt(At::Point(index), doubt),
        }
    }
}

/// Whether the flows of a window never met a queue that marks.
fn untouched(seen: &WindowFigures) -> bool {
    seen.marked.mean <= 0.0 && seen.cnps.mean <= 0.0
}

/// What one window shows.
struct WindowFigures {
    senders: usize,
    first: u32,
    trials: u32,
    table: Table,
    /// The fraction of packets that are marked.
    marked: Mean,
    /// CNPs a second, in millions.
    cnps: Mean,
    /// What waited on the average, in bytes.
    depth: f64,
    model: Rest,
}

fn rests(
    done: &JudgeContext<'_>,
    point: usize,
    trial: &Trial,
    windows: &[Window],
) -> Result<Vec<WindowFigures>, Doubt> {
    // Every window has two means that have to hold.
    let alpha = done.alpha / (2.0 * f64::from(u32::try_from(windows.len()).unwrap_or(u32::MAX)));
    let of = |window: &Window| {
        let few = || trial.doubt(&format!("too little was carried by {}", window.flows.join(", ")));
        let runs = runs(done, point, window)?.ok_or_else(few)?;
        runs.overflowed(done, point, window)?;
        let batch = (window.until - window.from).0 / batches_of(&runs);
        let millions = |cnps: u64| float(cnps) / (float(batch) / 1e6);
        let marked = mean(&runs, alpha, |all| Some(float(all.marked) / nonzero(all.frames)?));
        let cnps = mean(&runs, alpha, |all| Some(millions(all.cnps)));
        let (marked, cnps) = (marked.ok_or_else(few)?, cnps.ok_or_else(few)?);
        let whole = sum(runs.carried.iter().flatten().flatten());
        let frame = Bytes(whole.bytes / whole.frames.max(1));
        let model = model(done, trial, window, frame)?;
        let depth = depth(trial, &whole, frame);
        let (senders, first) = (window.flows.len(), runs.trials[0]);
        let trials = u32::try_from(runs.carried[0].len()).unwrap_or(u32::MAX);
        let table = runs.table("rate.fixed_point", window, &done.place(&done.points[point]));
        Ok(WindowFigures { senders, first, trials, table, marked, cnps, depth, model })
    };
    windows.iter().map(of).collect()
}

/// The mean over batches of what all flows together come to in each.
fn mean(runs: &Runs, alpha: f64, of: impl Fn(&Carried) -> Option<f64>) -> Option<Mean> {
    let trials = runs.carried.first()?.len();
    let of_batch =
        |trial: usize, batch: usize| of(&sum(runs.carried.iter().map(|flow| &flow[trial][batch])));
    let of_trial = |trial: usize| -> Option<Vec<f64>> {
        (0..runs.carried[0][trial].len()).map(|batch| of_batch(trial, batch)).collect()
    };
    let series: Vec<Vec<f64>> = (0..trials).map(of_trial).collect::<Option<_>>()?;
    batches::means(&[series], alpha)?.first().copied()
}

fn batches_of(runs: &Runs) -> u64 {
    let batches = runs.carried.first().and_then(|flow| flow.first()).map_or(1, Vec::len);
    u64::try_from(batches).unwrap_or(1).max(1)
}

fn sum<'a>(all: impl Iterator<Item = &'a Carried>) -> Carried {
    all.fold(Carried::default(), |sum, one| Carried {
        frames: sum.frames + one.frames,
        bytes: sum.bytes + one.bytes,
        marked: sum.marked + one.marked,
        cnps: sum.cnps + one.cnps,
        lost: sum.lost + one.lost,
        waited: sum.waited + one.waited,
    })
}

/// The fluid model of the senders of a window.
fn model(
    done: &JudgeContext<'_>,
    trial: &Trial,
    window: &Window,
    frame: Bytes,
) -> Result<Rest, Doubt> {
    let none = || trial.doubt("the rig has no queue that marks");
    let (_, _, between) = trial.script.between.as_ref().ok_or_else(none)?;
    let bottleneck = between.bottleneck.as_ref().ok_or_else(none)?;
    let declared = done.context.nics();
    let first = trial.script.dut_ports.get(usize::from(bottleneck.to)) == Some(&0);
    let peer = declared.peer.as_ref().ok_or_else(|| trial.doubt("it is one NIC"))?;
    let (rp, np) = match first {
        true => (&peer.rp, &declared.nic.np),
        false => (&declared.nic.rp, &peer.np),
    };
    let (curve, line) = (&bottleneck.curve, bottleneck.speed);
    let senders = u32::try_from(window.flows.len()).unwrap_or(u32::MAX);
    Ok(Incast { rp, np, curve, line, senders, frame }.rest())
}

/// What waited on the average, from how long packets of that size took through the queue.
fn depth(trial: &Trial, whole: &Carried, frame: Bytes) -> f64 {
    let between = trial.script.between.as_ref().map(|(_, _, between)| between);
    let delay = between.map_or(Dur::ZERO, |between| between.delay);
    let speed = between.and_then(|between| Some(between.bottleneck.as_ref()?.speed));
    let slot = speed.map_or(1, |speed: PortSpeed| speed.slot(frame).0);
    let waited = whole.waited.saturating_sub(delay * whole.frames);
    float(waited.0) / float(whole.frames.max(1)) / float(slot) * float(frame.0)
}

/// What grows with the number of senders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Marked,
    Cnps,
}

impl Part {
    const fn name(self) -> &'static str {
        match self {
            Part::Marked => "marked",
            Part::Cnps => "CNPs a second",
        }
    }

    const fn unit(self) -> Unit {
        match self {
            Part::Marked => Unit::Ppm,
            Part::Cnps => Unit::Count,
        }
    }

    const fn of(self, seen: &WindowFigures) -> Mean {
        match self {
            Part::Marked => seen.marked,
            Part::Cnps => seen.cnps,
        }
    }
}

fn tell(rests: &[WindowFigures], (at, place): (At, &str), alpha: f64, judged: &mut Judged) {
    for part in [Part::Marked, Part::Cnps] {
        let before = core::iter::once(None).chain(rests.iter().map(Some));
        for (seen, before) in rests.iter().zip(before) {
            let on = format!("{}, {} senders", part.name(), seen.senders);
            let all = [(seen.first, read(part, seen, before))];
            if let Some(mut one) = judgement("rate.fixed_point", &on, place.to_owned(), &all) {
                one.trials = seen.trials;
                // It rests on all trials together.
                one.taken.clear();
                let told = ppm(part.of(seen).told(alpha));
                let span = widened(one.prediction.span, told, 0);
                one.resolution = match before {
                    Some(_) => Resolution::likely(part.unit(), span),
                    None => Resolution::none("others are held against it"),
                };
                judged.file(at, one);
            }
        }
        let means: Vec<Mean> = rests.iter().map(|seen| part.of(seen)).collect();
        let open =
            rests.windows(2).zip(growth(&means)).filter(|(_, growth)| *growth == Growth::Open);
        let open = open.map(|(two, _)| {
            let shown = |seen: &WindowFigures| show(part.unit(), &part.of(seen));
            let detail = format!(
                "{place} {}: {} with {} senders, {} with {}: more or not, more trials or longer windows tell",
                part.name(),
                shown(&two[0]),
                two[0].senders,
                shown(&two[1]),
                two[1].senders
            );
            Doubt { reason: "not-observable", detail: detail.trim().to_owned() }
        });
        open.for_each(|doubt| judged.doubt(at, doubt));
    }
    judged.curve(curve(rests, place));
}

/// What a window shows, against the one before it.
fn read(part: Part, seen: &WindowFigures, before: Option<&WindowFigures>) -> TrialReading {
    let mut text = Vec::new();
    text.push(before.map_or("any number".to_owned(), |before| {
        format!("more than with {} senders", before.senders)
    }));
    if part == Part::Marked {
        text.push(beside(seen));
    }
    let want = Prediction {
        unit: part.unit(),
        span: Span { lo: before.map_or(0, |one| span(&part.of(one)).lo + 1), hi: u64::MAX },
        formula: "grows with the number of senders; the fluid model's value is not judged",
        text: text.join("; "),
        source: fluid::SOURCE,
    };
    let mean = part.of(seen);
    let looked = looked(mean.readings, "batches");
    TrialReading { span: span(&mean), want, got: None, records: Vec::new(), looked }
}

/// What the fluid model says of a window, how far the measured fraction is from it, and what waited.
fn beside(seen: &WindowFigures) -> String {
    let Rest { marked, queue, .. } = seen.model;
    let off = (seen.marked.mean / marked - 1.0) * 100.0;
    let queue = match queue {
        Some(queue) => format!("{queue:.0}B"),
        None => "beyond the slope".to_owned(),
    };
    format!(
        "the fluid model has {} (measured is {off:+.0} % off it) and a queue of {queue} (measured {:.0}B)",
        Unit::Ppm.show(ppm(marked)),
        seen.depth
    )
}

/// The fraction by the number of senders, beside the model's.
fn curve(rests: &[WindowFigures], place: &str) -> Curve {
    let point = |seen: &WindowFigures| CurvePoint {
        x: u64::try_from(seen.senders).unwrap_or(u64::MAX),
        measured: span(&seen.marked),
        predicted: Span::exactly(ppm(seen.model.marked)),
    };
    Curve {
        measure: "rate.fixed_point",
        x: format!("{place} senders, marked beside the fluid model").trim().to_owned(),
        x_unit: Unit::Count,
        unit: Unit::Ppm,
        points: rests.iter().map(point).collect(),
        fitted: Vec::new(),
    }
}

fn show(unit: Unit, mean: &Mean) -> String {
    let Span { lo, hi } = span(mean);
    format!("{} to {}", unit.show(lo), unit.show(hi))
}

fn nonzero(value: u64) -> Option<f64> {
    (value > 0).then(|| float(value))
}

#[expect(clippy::cast_precision_loss, reason = "numbers of one run are far below 2^53")]
fn float(value: u64) -> f64 {
    value as f64
}
