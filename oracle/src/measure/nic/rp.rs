//! The reaction point: how far and how soon a CNP cuts, and whether every packet after it leaves when the rate allows it.

use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, Unread, looked};
use super::super::measurement::told;
use super::super::measurement::{Known, Red, Tells, prediction};
use super::limited::{Limited, SOURCE};
use super::{BEHIND, OF_FLOW, gap_stamps};
use crate::Prediction;
use crate::judge::nic::rp::{self, PaceFault, Point};
use crate::spec::nic::forms;
use crate::trials::context::Context;
use crate::verdict::{Curve, CurvePoint, Doubt};
use core::cell::Cell;
use rig_capture::{Span, Unit};
use rig_lab::{Limiting, Part, Rp};
use rig_testcases::vocabulary::Entry;
use rig_testcases::{Measure, Script};
use rig_units::{Apart, Dur, L2Rate, PortSpeed, Ppm, Within};

/// `rate.follows`.
pub(in super::super) static FOLLOWS: Known = Known {
    entry: Entry {
        name: "rate.follows",
        parts: Some(&[Part::Rp]),
        about: "each packet of a flow leaves as early as its rate allows and no earlier, by the CNPs that it got",
        source: "DCQCN 3.1",
        unreliable: true,
        over_ipv6: true,
        ..OF_FLOW
    },
    tells: Tells::Width("what a device may round, and the timestamps"),
    red: Red::Mutated("cuts-in-a-row", "deviation=alpha_not_raised"),
    expected: |_, _, _| {
        told(
            "each packet as early as the rate allows and no earlier, by the CNPs that came",
            "the next leaves s 8 / C after the one before; cuts, alpha, timers, bytes and stages make C",
            SOURCE,
        )
    },
    judge: |measure, done, judged| follows(done, measure.named("flow"), judged),
    stamps: Some(gap_stamps::of_follows),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// `rate.cut`.
pub(in super::super) static CUT: Known = Known {
    entry: Entry {
        name: "rate.cut",
        parts: Some(&[Part::Rp]),
        about: "the factor by which the first CNP of a trial cuts the rate",
        source: "DCQCN 3.1",
        ..OF_FLOW
    },
    tells: Tells::Width("the timestamps of the two packets that show the rate"),
    red: Red::Mutated("cut-against-alpha", "nic.rp.initial_alpha=x0.9"),
    expected: |_, context, _| {
        let line = context.group.declared.port_speed(0).unwrap_or(PortSpeed::G100);
        let cut = L2Rate { bps: forms::first_cut(&context.nics().nic.rp, line).nearest() };
        told(format!("to {cut} of {line}"), "C (1 - alpha / 2)", SOURCE)
    },
    judge: |measure, done, judged| cut(done, measure.named("flow"), judged),
    stamps: Some(gap_stamps::of_cut),
    crosses: |_, _| BEHIND,
    unpromised: Some(never_at_once),
    ..Known::USUAL
};

/// `rate.reaction`.
pub(in super::super) static REACTION: Known = Known {
    entry: Entry {
        name: "rate.reaction",
        parts: Some(&[Part::Rp]),
        about: "from the last bit of the first CNP of a trial to the first packet that the new rate holds back",
        source: "the declared latency",
        ..OF_FLOW
    },
    tells: Tells::Width("the gap between two packets"),
    red: Red::Mutated("latency-of-a-cut", "nic.rp.latency=x1.5"),
    expected: |_, context, _| prediction(&reacts(&context.nics().nic.rp, Dur::ZERO)),
    judge: |measure, done, judged| reaction(done, measure.named("flow"), judged),
    stamps: Some(gap_stamps::of_reaction),
    crosses: |_, _| BEHIND,
    unpromised: Some(never_at_once),
    ..Known::USUAL
};

/// Judges every packet's distance from the one before; the rate over time becomes a curve.
fn follows(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    for (index, point) in done.points.iter().enumerate() {
        let first = done.valid(index).next();
        let Some(Ok(limited)) = first.map(|trial| Limited::of(done, &trial, flow)) else {
            continue;
        };
        let place = done.place(point);
        let x = format!("{place} time of {flow}").trim().to_owned();
        let points = limited.follow().curve;
        let alphas = alphas(&limited, &points, format!("{x}, alpha at each cut"));
        let curves = alphas.into_iter().chain(curve(&points, x));
        curves.for_each(|curve| judged.curve(curve));
    }
    let told = Cell::new(None);
    done.each("rate.follows", flow, judged, |trial| {
        let limited = Limited::of(done, trial, flow)?;
        let followed = limited.follow();
        told.set(rp::coarser(told.get(), followed.coarsest));
        if followed.judged == 0 {
            return Err(trial.doubt(&format!("{flow} sent no two packets")).into());
        }
        limited.takes_effect(trial, flow)?;
        if limited.apart != Apart::NOT && limited.rp.limiting == Limiting::Burst {
            let why = "with which packet a burst begins is not known by clocks that may be apart";
            return Err(trial.doubt(why).into());
        }
        if followed.lost > 0 {
            let why = format!("stamps leave too many orders open for {} packets", followed.lost);
            return Err(trial.doubt(&why).into());
        }
        if followed.faults.is_empty() && followed.otherwise > 0 {
            let why = format!(
                "{} CNPs came so near the end of a window of {} that stamps and clocks leave open whether they cut: {flow} sent as if those \
                 had cut that came within it by their stamps, or those had not that came after it",
                followed.otherwise, limited.rp.cut_window
            );
            return Err(trial.doubt(&why).into());
        }
        if followed.faults.is_empty() {
            limited.shows(trial, &followed.curve)?;
        }
        let first = followed.faults.first();
        let got = first.map(|fault| {
            let kind = match fault.kind {
                PaceFault::TooEarly => "too early",
                PaceFault::TooLate => "too late",
                PaceFault::Between => "at a rate between those of which one was due",
            };
            let since = match limited.is_behind_a_loss(fault.from) {
                true => ", all of them since it first sent a packet again",
                false => "",
            };
            format!(
                "{} packets off, the first {kind}: {} after the one it counts from, where {} were due{since}",
                followed.faults.len(),
                Unit::Ps.show(fault.got.0),
                rig_capture::Reading { unit: Unit::Ps, span: fault.want, frames: Vec::new() }
            )
        });
        let records = first.map(|fault| {
            [fault.from, fault.frame].map(|frame| limited.frames[frame].0).to_vec()
        });
        let want = Prediction {
            unit: Unit::Frames,
            span: Span::exactly(0),
            formula: "the next packet leaves s 8 / C after the one before, C by the CNPs so far",
            text: format!(
                "each of {} packets as early as its rate allows and no earlier, after {} CNPs",
                limited.frames.len(),
                limited.cnps.len()
            ),
            source: SOURCE,
        };
        let span = Span::exactly(u64::try_from(followed.faults.len()).unwrap_or(u64::MAX));
        let looked = looked(followed.judged, "packets");
        Ok(TrialReading { span, want, got, records: records.unwrap_or_default(), looked })
    });
    if let Some((open, of)) = told.take() {
        let (open, of) = (Unit::Ps.show(open.0), Unit::Ps.show(of.0));
        judged
            .tells("rate.follows", &format!("a gap that is off by more than {open} of {of} shows"));
    }
}

/// More points than these say no more.
const POINTS: usize = 400;
/// Nor do more points at which the rate changes.
const CHANGES: usize = 2_000;

/// The rate over time, thinned out; the points at which it changes stay.
fn curve(points: &[Point], x: String) -> Option<Curve> {
    let step = points.len().div_ceil(POINTS).max(1);
    let changes =
        |index: usize| index == 0 || points[index].predicted != points[index - 1].predicted;
    let changing: Vec<usize> = (0..points.len()).filter(|&index| changes(index)).collect();
    let each = changing.len().div_ceil(CHANGES).max(1);
    let mut kept: Vec<usize> = (0..points.len()).step_by(step).collect();
    kept.extend(changing.into_iter().step_by(each));
    kept.sort_unstable();
    kept.dedup();
    let points: Vec<CurvePoint> = kept
        .into_iter()
        .map(|index| {
            let Point { at, measured, predicted, .. } = points[index];
            CurvePoint { x: at.0, measured, predicted }
        })
        .collect();
    (points.len() > 1).then_some(Curve {
        measure: "rate.follows",
        x,
        x_unit: Unit::Ps,
        unit: Unit::Bps,
        points,
        fitted: Vec::new(),
    })
}

/// Alpha at each cut, as the rates before and after it show it: a cut leaves 1 - alpha / 2.
fn alphas(limited: &Limited, points: &[Point], x: String) -> Option<Curve> {
    at_once(&limited.rp).ok()?;
    let one = u128::from(Ppm::ONE.0);
    let alpha = |before: Span, after: Span| {
        let cut = |before: u64, after: u64| {
            let left = u128::from(after) * one / u128::from(before.max(1));
            u64::try_from(2 * one.saturating_sub(left)).unwrap_or(u64::MAX)
        };
        Span { lo: cut(before.lo, after.hi), hi: cut(before.hi, after.lo) }
    };
    let effects = limited.cnps.iter().map(|cnp| cnp.passes + limited.rp.latency.most());
    let at_cut = effects.filter_map(|effect| {
        let next = points.partition_point(|point| point.at < effect);
        let [before, after] = [points.get(next.checked_sub(1)?)?, points.get(next)?];
        let fell = after.predicted.hi < before.predicted.lo;
        let measured = alpha(before.measured, after.measured);
        let predicted = alpha(before.predicted, after.predicted);
        fell.then_some(CurvePoint { x: effect.0, measured, predicted })
    });
    let cuts: Vec<CurvePoint> = at_cut.collect();
    let each = cuts.len().div_ceil(CHANGES).max(1);
    let points: Vec<CurvePoint> = cuts.into_iter().step_by(each).collect();
    (points.len() > 1).then_some(Curve {
        measure: "rate.follows",
        x,
        x_unit: Unit::Ps,
        unit: Unit::Ppm,
        points,
        fitted: Vec::new(),
    })
}

/// Whether a CNP cuts as it takes effect.
///
/// # Errors
/// It does not, and why.
fn at_once(rp: &Rp) -> Result<(), Unread> {
    match rp.by_period {
        Some(true) => Err(Unread::NotApplicable(format!(
            "by `rp.by_period` it cuts at the end of a period of {}, and with what alpha has become by then: `rate.follows` holds it against that",
            rp.cut_window
        ))),
        _ => Ok(()),
    }
}

/// The same of the NIC that a measure's flow leaves, before anything runs.
fn never_at_once(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<String> {
    let spec = script.flows.iter().find(|spec| spec.name == measure.named("flow"))?;
    let behind = *script.dut_ports.get(usize::from(spec.nic))?;
    match at_once(&context.nics().behind(behind)?.rp) {
        Err(Unread::NotApplicable(why)) => Some(why),
        Ok(()) | Err(Unread::Doubt(_)) => None,
    }
}

/// Judges what the first cut leaves of the port's speed.
fn cut(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    let told = Cell::new(None);
    done.each("rate.cut", flow, judged, |trial| {
        let limited = Limited::of(done, trial, flow)?;
        at_once(&limited.rp)?;
        let Some(&cnp) = limited.cnps.first() else {
            return Err(trial.doubt("no CNP was sent").into());
        };
        if !limited.rp.enable {
            return Err(trial.doubt("the reaction point is off: there is no cut").into());
        }
        limited.takes_effect(trial, flow)?;
        let curve = limited.follow().curve;
        let until = limited.next_change(cnp);
        let alone = |point: &&Point| point.at >= cnp.at && until.is_none_or(|next| point.at < next);
        // One that does not cut holds nothing back: then what follows the CNP's effect shows that.
        let effect = cnp.passes + limited.rp.latency.most() + limited.blur() + limited.off.cnps;
        let held = curve.iter().filter(alone).find(|point| point.held);
        let shown = held.or_else(|| curve.iter().filter(alone).find(|point| point.at >= effect));
        let Some(point) = shown else {
            let why =
                format!("{flow} sent nothing between its first cut and what changes its rate next");
            return Err(trial.doubt(&why).into());
        };
        let line = u128::from(limited.line.bps());
        let ppm = |bps: u64| u64::try_from(u128::from(bps) * 1_000_000 / line).unwrap_or(u64::MAX);
        let of = |span: Span| Span { lo: ppm(span.lo), hi: ppm(span.hi) };
        let show = |span| rig_capture::Reading { unit: Unit::Ppm, span, frames: Vec::new() };
        let want = of(limited.after_first_cut(point.bytes));
        let measured = of(point.measured);
        // A packet that nothing held back may have come late for reasons of the application's: its rate is the least that was allowed.
        let measured = Span {
            hi: if point.held { measured.hi } else { ppm(limited.line.bps()).max(measured.hi) },
            ..measured
        };
        let open = measured.hi - measured.lo + want.hi - want.lo;
        told.set(Some((open, forms::of_alpha(&limited.rp, open))));
        if let Some(uncut) = limited.uncut(point.bytes).map(of).into_iter().find(|uncut| {
            measured.meets(want) && measured.meets(*uncut) && !want.meets(*uncut)
        }) {
            let why = format!(
                "by stamps and clocks {flow} sent at {} of the port's speed: a cut leaves {}, and no cut {}",
                show(measured),
                show(want),
                show(uncut)
            );
            return Err(trial.doubt(&why).into());
        }
        if measured.meets(want) && limited.hides_its_first_cut(point.bytes) {
            let why = "by the declared steps of its rates or of its pacer the first cut may leave no gap";
            return Err(Doubt { reason: "not-observable", ..trial.doubt(why) }.into());
        }
        let want = Prediction {
            unit: Unit::Ppm,
            span: want,
            formula: forms::formula(&limited.rp),
            text: format!(
                "{} of the port's speed, by one cut with alpha {}",
                show(want),
                limited.rp.initial_alpha
            ),
            source: SOURCE,
        };
        let sent = limited.frames.iter().find(|(_, at, _)| *at == point.at);
        let records = [cnp.record].into_iter().chain(sent.map(|(record, ..)| *record)).collect();
        Ok(TrialReading { span: measured, want, got: None, records, looked: looked(1, "cuts") })
    });
    if let Some((open, alpha)) = told.take() {
        let alpha =
            alpha.map_or(String::new(), |alpha| format!(": {} of alpha", Unit::Ppm.show(alpha)));
        let rate = Unit::Ppm.show(open);
        let text =
            format!("a cut that leaves {rate} more or less of the port's speed shows{alpha}");
        judged.tells("rate.cut", &text);
    }
}

/// How soon a CNP takes effect that the receive pipeline holds for so long.
fn reacts(rp: &Rp, held: Dur) -> Prediction {
    let [least, most] = [rp.latency.least(), rp.latency.most()];
    Prediction {
        unit: Unit::Ps,
        span: Span { lo: (held + least).0, hi: (held + most).0 },
        formula: "what the receive pipeline takes and rp.latency; seen between two packets",
        text: match rp.latency.width() {
            Dur::ZERO => {
                format!("{} after the last bit of the CNP", Unit::Ps.show((held + least).0))
            }
            _ => format!("{} after {held} of the receive pipeline", rp.latency),
        },
        source: "the declared latency",
    }
}

/// Judges how soon the first CNP takes effect.
fn reaction(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    let told: Cell<Option<(String, Within, Dur)>> = Cell::new(None);
    done.each("rate.reaction", flow, judged, |trial| {
        let limited = Limited::of(done, trial, flow)?;
        at_once(&limited.rp)?;
        let (cnp, held) = limited.held(trial)?;
        let since = |index: usize| limited.frames[index].1.since(cnp.at);
        let blur = limited.blur();
        // The packet before still had the old rate behind it, this one has the new.
        let lo = since(held - 1).map_or(0, |since| since.saturating_sub(blur).0 + 1);
        let span = Span { lo, hi: (since(held).unwrap_or_default() + blur).0 };
        let of = format!("{}.rp.latency", limited.part);
        // Between which two packets it was is known, and no more.
        let open = Dur(span.hi - span.lo + 1);
        let open = told.take().map_or(open, |(.., before)| before.max(open));
        told.set(Some((of, limited.rp.latency, open)));
        let mut want = reacts(&limited.rp, cnp.passes - cnp.at);
        want.span.lo = want.span.lo.saturating_sub(limited.off.cnps.0);
        want.span.hi += limited.off.cnps.0;
        let records = vec![cnp.record, limited.frames[held].0];
        Ok(TrialReading { span, want, got: None, records, looked: looked(1, "cuts") })
    });
    if let Some(told) = told.take() {
        judged.resolved("rate.reaction", &[told]);
    }
}
