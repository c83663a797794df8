//! How evenly flows share a path. Several trials are runs of one series.

use super::super::judge_context::{JudgeContext, TrialReading, judgement};
use super::super::judged::{At, Judged, looked};
use super::super::measurement::{Batches, Known, Red, Tells, in_words};
use super::super::stamps;
use super::limited::Limited;
use super::{BEHIND, Passage, np, over_the_way, rc};
use crate::judge::batches::Mean;
use crate::judge::nic::shares::{self, Equal, LongRun};
use crate::resolution::widened;
use crate::spec::nic::fluid;
use crate::trials::context::Context;
use crate::trials::table::Table;
use crate::verdict::Doubt;
use crate::{Prediction, Resolution};
use rig_capture::analyse::{Carried, carried};
use rig_capture::{Span, Unit};
use rig_lab::{Limiting, Part, Scope};
use rig_testcases::vocabulary::{Entry, Looks, WINDOW};
use rig_testcases::{FlowSpec, Measure, Script, Window};
use rig_units::{Bytes, Ppm, Time};

/// `rate.shares`.
pub(in super::super) static SHARES: Known = Known {
    entry: Entry {
        name: "rate.shares",
        parts: Some(&[Part::Rp]),
        about: "flows through one bottleneck get the same, in the long run",
        source: fluid::SOURCE,
        fields: &WINDOW,
        check: |given| {
            given.ordered();
            true
        },
        looks: &[Looks::EVERY_FRAME],
        ..Entry::USUAL
    },
    tells: Tells::Chance("the batches that were seen, and how alike neighbours are"),
    red: Red::Written,
    expected: |measure, context, _| {
        let window = window(measure);
        let mut wanted = wanted(&window, 0);
        wanted.text += &over_the_way(context);
        let Batches { count, lasts } = batches(&window);
        wanted.text += &format!(
            "; what is off by less than chance makes of {count} batches of {lasts} a trial is told with what was measured: it depends on how much \
             they vary and how alike neighbours are. Where one that gets nothing would not show, that is no verdict"
        );
        in_words(wanted)
    },
    judge: |measure, done, judged| judge(done, &window(measure), judged),
    stamps: Some(|_, _, script| stamps::bottleneck(script)),
    unpromised: Some(unlike),
    batches: |measure| Some(batches(&window(measure))),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

fn window(measure: &Measure) -> Window {
    measure.arguments.window().unwrap_or_default()
}

/// Why nothing promises equal shares: that rests on flows that are alike, each with a limiter of its own.
fn unlike(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<String> {
    let named = window(measure).flows;
    let mut flows = script.flows.iter().filter(|flow| named.contains(&flow.name));
    let first = flows.next()?;
    // All but the name, the first number and which connection it is.
    let of = |flow: &FlowSpec| {
        let FlowSpec { nic, to, class, dscp, verb, message, mtu, count, address, .. } = *flow;
        (nic, to, class, dscp, verb, message, mtu, count, address)
    };
    if let Some(other) = flows.find(|flow| of(flow) != of(first)) {
        return Some(format!(
            "{} and {} are not alike, and nothing says that they get the same",
            first.name, other.name
        ));
    }
    let nic = context.nics().behind(*script.dut_ports.get(usize::from(first.nic))?)?;
    let scope = Some(nic.rp.scope).filter(|scope| *scope != Scope::Qp)?;
    Some(format!("it has one limiter for each {}: how flows share it is left open", scope.words()))
}

/// So many batches a trial.
const BATCHES: u8 = 64;

/// Those that a window is cut into.
fn batches(window: &Window) -> Batches {
    let lasts = window.until.saturating_sub(window.from) / u64::from(BATCHES);
    Batches { count: BATCHES.into(), lasts }
}

/// What flows carried in a window, as `[flow][trial][batch]`, and the numbers of the trials.
pub(super) struct Runs {
    pub(super) trials: Vec<u32>,
    pub(super) carried: Vec<Vec<Vec<Carried>>>,
}

/// Everything that the trials at one point show of a window. `None`: no trial counts.
pub(super) fn runs(
    done: &JudgeContext<'_>,
    point: usize,
    window: &Window,
) -> Result<Option<Runs>, Doubt> {
    let mut runs = Runs { trials: Vec::new(), carried: vec![Vec::new(); window.flows.len()] };
    for trial in done.valid(point) {
        runs.trials.push(trial.number);
        let connection = |flow: &String| Ok(trial.script.connection(trial.flow(flow)?.0));
        let connections = window.flows.iter().map(connection).collect::<Result<Vec<u16>, _>>()?;
        let within = (Time::ZERO + window.from, Time::ZERO + window.until);
        let all = carried(&trial.observation, &connections, within, BATCHES.into());
        runs.carried.iter_mut().zip(all).for_each(|(runs, run)| runs.push(run));
    }
    Ok((!runs.trials.is_empty()).then_some(runs))
}

impl Runs {
    /// Whether packets decide: where the rig's queue was full and all slowed down as declared, who goes back for what was lost has less,
    /// and a queue that is full grows with nobody. Where somebody did not slow down it is that which fills it, and is judged.
    ///
    /// # Errors
    /// Packets were lost between NICs that did what they are declared to do.
    pub(super) fn overflowed(
        &self,
        done: &JudgeContext<'_>,
        point: usize,
        window: &Window,
    ) -> Result<(), Doubt> {
        let batches = self.carried.iter().flatten().flatten();
        let lost: u64 = batches.map(|batch| batch.lost).sum();
        if lost == 0 {
            return Ok(());
        }
        for trial in done.valid(point) {
            for flow in &window.flows {
                let limited = Limited::of(done, &trial, flow)?;
                // Whom nobody told did not slow down: then the receiver is to be judged.
                if limited.cnps.is_empty() || !limited.follow().faults.is_empty() {
                    return Ok(());
                }
            }
        }
        let why = format!(
            "the rig's queue was full and lost {lost} packets of {}, which all were told to slow down and did as declared: shares and queues are those of the loss",
            window.flows.join(", ")
        );
        let detail = format!("{} {why}", done.place(&done.points[point]));
        Err(Doubt { reason: "not-observable", detail: detail.trim().to_owned() })
    }

    /// What each batch of each trial came to, for `measure` at `place`.
    pub(super) fn table(&self, measure: &'static str, window: &Window, place: &str) -> Table {
        const COLUMNS: &[&str] = &[
            "flow", "from_ps", "until_ps", "point", "trial", "batch", "frames", "bytes", "marked",
            "cnps",
        ];
        let mut table = Table::new(measure, COLUMNS);
        let Window { flows, from, until } = window;
        for (flow, of_flow) in flows.iter().zip(&self.carried) {
            for (trial, batches) in self.trials.iter().zip(of_flow) {
                for (batch, one) in (1..).zip(batches) {
                    let Carried { frames, bytes, marked, cnps, .. } = one;
                    let batch: u32 = batch;
                    table.row([
                        flow, &from.0, &until.0, &place, trial, &batch, frames, bytes, marked, cnps,
                    ]);
                }
            }
        }
        table
    }
}

/// Judges the share of each flow.
fn judge(done: &JudgeContext<'_>, window: &Window, judged: &mut Judged) {
    for (index, point) in done.points.iter().enumerate() {
        let runs = match runs(done, index, window) {
            Ok(Some(runs)) => runs,
            Ok(None) => {
                let flows = window.flows.join(", ");
                judged.not_measured(
                    At::Point(index),
                    &format!("rate.shares of {flows}: no trial counts"),
                );
                continue;
            }
            Err(doubt) => {
                judged.doubt(At::Point(index), doubt);
                continue;
            }
        };
        let place = done.place(point);
        judged.table(runs.table("rate.shares", window, &place));
        if let Err(doubt) = runs.overflowed(done, index, window) {
            starved(done, (index, &place), window, &runs, judged);
            judged.doubt(At::Point(index), doubt);
            continue;
        }
        let ends = ends(done, window, index, &runs);
        let bytes = |batch: &Carried| Bytes(batch.bytes);
        let of_run = |run: &Vec<Carried>| run.iter().map(bytes).collect();
        let of_flow = |flow: &Vec<Vec<Carried>>| flow.iter().map(of_run).collect();
        let sent: Vec<Vec<Vec<Bytes>>> = runs.carried.iter().map(of_flow).collect();
        let Some(shares) = shares::in_the_long_run(&sent, done.alpha) else {
            starved(done, (index, &place), window, &runs, judged);
            let detail = format!(
                "{place} shares did not settle in the time that the window lasts: it tells no long run"
            );
            let detail = detail.trim().to_owned();
            judged.doubt(At::Point(index), Doubt { reason: "not-observable", detail });
            continue;
        };
        for (flow, share) in window.flows.iter().zip(&shares) {
            if let Some(why) = open(share, ends, done.alpha) {
                let detail = format!("{place} {flow} has {why}").trim().to_owned();
                judged.doubt(At::Point(index), Doubt { reason: "not-observable", detail });
                continue;
            }
            let read = reading(window, ppm(ends), &share.mean);
            let trials = u32::try_from(sent[0].len()).unwrap_or(u32::MAX);
            let all = [(runs.trials[0], read)];
            if let Some(mut one) = judgement("rate.shares", flow, place.clone(), &all) {
                one.trials = trials;
                // It rests on all trials together.
                one.taken.clear();
                let told = ppm(share.told(ends, done.alpha));
                let equal = Span::exactly(Ppm::ONE.0.into());
                let span = widened(equal, told, told);
                one.resolution = Resolution::likely(Unit::Ppm, span).beside(&jain(&sent));
                judged.file(At::Point(index), one);
            }
        }
    }
}

/// Why it is not said whether a share is an equal one; `None`: it is.
fn open(share: &LongRun, ends: f64, alpha: f64) -> Option<String> {
    let why = match share.against_equal(ends, alpha) {
        Equal::Yes | Equal::No => return None,
        Equal::Untold => {
            "one that gets nothing would not show, more trials or a longer window tell"
        }
        Equal::Settling => {
            "off by too little, or still on its way to an equal one, more or later windows tell"
        }
    };
    let Mean { readings, worth, .. } = share.mean;
    let Span { lo, hi } = span(&share.mean);
    let [lo, hi] = [lo, hi].map(|of| Unit::Ppm.show(of));
    Some(format!(
        "{lo} to {hi} of an equal share, from {readings} batches that are worth {worth} independent ones: {why}"
    ))
}

/// What of an equal share the ends of a window may make: flows that take turns stand a frame apart, or what a limiter lets go at once.
fn ends(done: &JudgeContext<'_>, window: &Window, point: usize, runs: &Runs) -> f64 {
    let trial = done.valid(point).next();
    let limiter = trial.and_then(|trial| {
        let (_, flow) = trial.flow(window.flows.first()?).ok()?;
        let port = *trial.script.dut_ports.get(usize::from(flow.nic))?;
        Some(done.context.nics().behind(port)?.rp)
    });
    let bursts = limiter.filter(|rp| rp.limiting == Limiting::Burst).map(|rp| rp.burst);
    let all = runs.carried.iter().flatten().flatten();
    let frames = all.filter(|batch| batch.frames > 0);
    let frame = frames.map(|batch| batch.bytes.div_ceil(batch.frames)).max().unwrap_or_default();
    let turn = frame + bursts.unwrap_or_default().0;
    let carried = |trial: usize| -> u64 {
        runs.carried.iter().flat_map(|flow| &flow[trial]).map(|batch| batch.bytes).sum()
    };
    let least = (0..runs.trials.len()).map(carried).min().unwrap_or_default();
    let flows = u64::try_from(window.flows.len()).unwrap_or(u64::MAX);
    float(turn.saturating_mul(flows)) / float(least.max(1))
}

#[expect(clippy::cast_precision_loss, reason = "bytes of one run are far below 2^53")]
fn float(value: u64) -> f64 {
    value as f64
}

/// What each flow should have, where the ends of the window make so much of it.
fn wanted(window: &Window, ends: u64) -> Prediction {
    let Window { flows, from, until } = window;
    Prediction {
        unit: Unit::Ppm,
        span: widened(Span::exactly(Ppm::ONE.0.into()), ends, ends),
        formula: "what it got over the mean of all, by batches, how alike neighbours are, and Student's t, against 1: flows that are alike \
                  get the same",
        text: format!("an equal share of {} from {from} to {until}", flows.len()),
        source: fluid::SOURCE,
    }
}

fn reading(window: &Window, ends: u64, mean: &Mean) -> TrialReading {
    let span = span(mean);
    let got = format!(
        "{} to {} of an equal share, {} on the average of {} batches, worth {} independent ones",
        Unit::Ppm.show(span.lo),
        Unit::Ppm.show(span.hi),
        Unit::Ppm.show(ppm(mean.mean)),
        mean.readings,
        mean.worth
    );
    let (want, looked) = (wanted(window, ends), looked(mean.readings, "batches"));
    TrialReading { span, want, got: Some(got), records: Vec::new(), looked }
}

/// Files the flows that get less than their share and are told of more congestion than they met: a receiver answers a mark with a CNP
/// at most, be it a marked packet or a NAK of its own that counts as one, so that one which sends more of them for a flow than there were marks holds that flow back for others. That is
/// so for certain, however long it takes until shares settle.
fn starved(
    done: &JudgeContext<'_>,
    (index, place): (usize, &str),
    window: &Window,
    runs: &Runs,
    judged: &mut Judged,
) {
    let one = u64::from(Ppm::ONE.0);
    for (flow, carried) in window.flows.iter().zip(&runs.carried) {
        let mut all = Vec::new();
        for (at, trial) in done.valid(index).enumerate() {
            let Ok(end) = rc::End::receiver(&trial, flow) else { continue };
            let (cnps, earned) = np::earned(&Passage::of(done, &trial, end.port), end.connection);
            let sum = |batches: &[Carried]| batches.iter().map(|batch| batch.bytes).sum::<u64>();
            let whole: u64 = runs.carried.iter().map(|runs| sum(&runs[at])).sum();
            let flows = u64::try_from(window.flows.len()).unwrap_or(u64::MAX);
            let share = u128::from(sum(&carried[at])) * u128::from(flows * one);
            let share = u64::try_from(share / u128::from(whole.max(1))).unwrap_or(u64::MAX);
            if share >= one || cnps.len() <= earned {
                continue;
            }
            let got = format!(
                "{} of an equal share, held back by {} CNPs for {earned} marks",
                Unit::Ppm.show(share),
                cnps.len()
            );
            let read = TrialReading {
                span: Span::exactly(share),
                want: wanted(window, 0),
                got: Some(got),
                looked: looked(carried[at].len(), "batches"),
                records: cnps,
            };
            all.push((trial.number, read));
        }
        if let Some(mut one) = judgement("rate.shares", flow, place.to_owned(), &all) {
            one.resolution = Resolution::yes_or_no();
            judged.file(At::Point(index), one);
        }
    }
}

/// Jain's index of all that was carried, for people.
fn jain(sent: &[Vec<Vec<Bytes>>]) -> String {
    let total = |runs: &Vec<Vec<Bytes>>| runs.iter().flatten().copied().sum::<Bytes>();
    let totals: Vec<Bytes> = sent.iter().map(total).collect();
    let read = shares::shares(&totals);
    read.map_or(String::new(), |shares| format!("Jain's index {}", Unit::Ppm.show(shares.jain.lo)))
}

/// What a mean may be, in millionths, rounded outwards.
pub(super) fn span(mean: &Mean) -> Span {
    Span { lo: ppm(mean.lo()), hi: ppm(mean.hi()).saturating_add(u64::from(mean.off > 0.0)) }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
pub(super) fn ppm(value: f64) -> u64 {
    (value.max(0.0) * 1e6) as u64
}
