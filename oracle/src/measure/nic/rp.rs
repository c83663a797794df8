//! The reaction point: how far and how soon a CNP cuts, and whether every packet after it leaves when the rate allows it.

use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, looked};
use super::super::measurement::told;
use super::super::measurement::{Known, Red, Tells, prediction};
use super::{OF_FLOW, Seen};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::judge::nic::rp::{self, Followed, Kind, Point};
use crate::spec::nic::forms;
use crate::spec::nic::real::Real;
use crate::trials::trial::Trial;
use crate::verdict::{Curve, CurvePoint, Doubt};
use core::cell::Cell;
use rig_capture::{Span, Unit};
use rig_lab::{Limiting, Rp, Scope};
use rig_testcases::RoceKind;
use rig_testcases::vocabulary::Entry;
use rig_units::{Apart, Bytes, Dur, L2Rate, PortSpeed, Ppm, Time, Within};
use std::collections::BTreeMap;

/// `rate.follows`.
pub(in super::super) static FOLLOWS: Known = Known {
    entry: Entry {
        name: "rate.follows",
        about: "each packet of a flow leaves as early as its rate allows and no earlier, by the CNPs that it got",
        source: "DCQCN 3.1",
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
    ..Known::USUAL
};

/// `rate.cut`.
pub(in super::super) static CUT: Known = Known {
    entry: Entry {
        name: "rate.cut",
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
    ..Known::USUAL
};

/// `rate.reaction`.
pub(in super::super) static REACTION: Known = Known {
    entry: Entry {
        name: "rate.reaction",
        about: "from the last bit of the first CNP of a trial to the first packet that the new rate holds back",
        source: "the declared latency",
        ..OF_FLOW
    },
    tells: Tells::Width("the gap between two packets"),
    red: Red::Mutated("latency-of-a-cut", "nic.rp.latency=x1.5"),
    expected: |_, context, _| prediction(&reacts(&context.nics().nic.rp, Dur::ZERO)),
    judge: |measure, done, judged| reaction(done, measure.named("flow"), judged),
    ..Known::USUAL
};

pub(super) const SOURCE: &str =
    "DCQCN: Zhu et al., SIGCOMM'15, section 3; docs/nic.md, reaction point";

/// A CNP for a limiter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    /// Its record.
    record: usize,
    /// When it arrived, on the wire.
    at: Time,
    /// When the declared receive pipeline lets it pass.
    passes: Time,
}

/// What one limiter was told and did.
pub(super) struct Limited<'a> {
    /// The part by which it is configured.
    part: &'static str,
    pub(super) rp: &'a Rp,
    pub(super) line: PortSpeed,
    pub(super) bound: Dur,
    /// How far the device's clock, set by the rig's as the trial began, may be from it by its end.
    drift: Dur,
    pub(super) apart: Apart,
    pub(super) allowance: Dur,
    /// What reached it, each CNP with its arrival and with what is predicted of it.
    pub(super) cnps: Vec<Told>,
    /// Records, departures and sizes of the packets.
    pub(super) frames: Vec<(usize, Time, Bytes)>,
}

impl<'a> Limited<'a> {
    /// The limiter of a flow: its own, or that of all flows of its port.
    pub(super) fn of(
        done: &JudgeContext<'a>,
        trial: &Trial,
        flow: &str,
    ) -> Result<Limited<'a>, Doubt> {
        let (index, spec) = trial.flow(flow)?;
        let seen = Seen::of(done, trial, spec.nic);
        let rp = &seen.nic.rp;
        let own = |connection: u16| match (rp.scope, trial.script.flow_of(connection)) {
            (Scope::Qp, _) => connection == trial.script.connection(index),
            (Scope::DestIp, Some((_, other))) => other.address == spec.address,
            (Scope::Port, Some(_)) => true,
            (Scope::DestIp | Scope::Port, None) => false,
        };
        let told = seen.counted().filter(|(one, _)| matches!(one.kind, RoceKind::Cnp { .. }));
        let cnps = told.filter(|(one, _)| own(one.connection));
        let cnps = cnps.map(|(one, passes)| Told { record: one.record, at: one.at, passes });
        let data = seen.left.iter().filter(|one| matches!(one.roce.kind, RoceKind::Data { .. }));
        let frames = data.filter(|one| own(one.roce.connection));
        let frames = frames.map(|one| (one.record, one.at, Bytes(one.roce.size.into())));
        let line = trial.observation.ports[usize::from(spec.nic)].speed;
        // What else the NIC sends may be in the way of a packet: what is under way, and a frame of each other connection; two where
        // a burst that had to wait is followed by the next one, which has waited longer than the packet.
        let others = seen.left.iter().filter(|one| {
            !matches!(one.roce.kind, RoceKind::Data { .. }) || !own(one.roce.connection)
        });
        let mut longest: BTreeMap<u16, Dur> = BTreeMap::new();
        for one in others {
            let slot = line.slot(Bytes(one.roce.size.into()));
            let of = longest.entry(one.roce.connection).or_default();
            *of = slot.max(*of);
        }
        let under_way = longest.values().max().copied().unwrap_or_default();
        let turn: Dur = longest.into_values().sum();
        let turns = match rp.limiting {
            Limiting::Packet => turn,
            Limiting::Burst => turn * 2,
        };
        Ok(Limited {
            part: seen.part,
            rp,
            line,
            bound: seen.bound,
            drift: Dur(seen.apart.part(trial.script.length.0)),
            apart: seen.apart,
            allowance: seen.apart.most(turns + under_way),
            cnps: cnps.collect(),
            frames: frames.collect(),
        })
    }

    pub(super) fn follow(&self) -> Followed {
        let cnps: Vec<Time> = self.cnps.iter().map(|cnp| cnp.passes).collect();
        let frames: Vec<(Time, Bytes)> =
            self.frames.iter().map(|&(_, at, bytes)| (at, bytes)).collect();
        let allowance = Some(self.allowance);
        let bound = self.bound + self.drift;
        let seen = rp::Seen { cnps: &cnps, frames: &frames, bound, allowance };
        rp::follow(self.rp, self.line, &seen)
    }

    /// Whether something is sent once the first CNP takes effect, if there is one.
    pub(super) fn takes_effect(&self, trial: &Trial, flow: &str) -> Result<(), Doubt> {
        let (first, last) = (self.cnps.first(), self.frames.last());
        let (Some(cnp), Some((_, last, _))) = (first, last) else { return Ok(()) };
        if *last >= cnp.passes + self.rp.latency.most() {
            return Ok(());
        }
        let why = format!("{flow} sent nothing after a CNP took effect");
        Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) })
    }

    /// What it sends `bytes` at after its first cut and nothing else, in bits a second, no faster than the port.
    fn after_first_cut(&self, bytes: Bytes) -> Span {
        let rate = match self.rp.enable {
            true => forms::first_cut(self.rp, self.line),
            false => Real::of(self.line.bps()),
        };
        let (least, most) = forms::hold(bytes, rate);
        let sent = |gap: Dur| rp::rate(bytes, gap.max(self.line.slot(bytes)).0);
        // What it counts a second by is its own.
        let [slowest, fastest] = [sent(most), sent(least)];
        let part = |rate: u64| self.apart.part(rate);
        Span { lo: slowest.saturating_sub(part(slowest)), hi: fastest + part(fastest) }
    }

    /// From when on something else than the first CNP, `cnp`, may have changed the rate: the next one, the timer, or so
    /// many bytes.
    fn next_change(&self, cnp: Told) -> Option<Time> {
        let effect = cnp.passes + self.rp.latency.least();
        let second = self.cnps.get(1).map(|cnp| cnp.passes + self.rp.latency.least());
        let every = Some(self.rp.byte_counter).filter(|every| *every > Bytes(0));
        let mut sent = 0;
        let mut counted =
            self.frames.iter().filter(|(_, at, _)| *at >= effect).filter(|(.., bytes)| {
                sent += bytes.0;
                every.is_some_and(|every| sent >= every.0)
            });
        let by_bytes = counted.next().map(|(_, at, _)| *at);
        let first = second.into_iter().chain(by_bytes).fold(effect + self.rp.timer, Time::min);
        let timer = effect + self.apart.least(self.rp.timer);
        self.rp.enable.then(|| first.min(timer).saturating_sub(self.bound * 2))
    }

    /// When the port is surely free again after a packet.
    pub(super) fn free(&self, begun: Time, packet: Bytes) -> Time {
        begun + self.apart.most(self.line.slot(packet)) + self.bound * 2
    }

    /// The first packet behind which the port was idle: it, and the one before. Only after the first CNP.
    pub(super) fn held(&self, trial: &Trial) -> Result<(Told, usize), Doubt> {
        let Some(&cnp) = self.cnps.first() else {
            return Err(trial.doubt("no CNP was sent"));
        };
        let pairs = self.frames.windows(2).enumerate();
        let mut idle = pairs
            .filter(|(_, pair)| pair[1].1 > self.free(pair[0].1, pair[0].2) && pair[0].1 > cnp.at);
        let first = idle.next().map(|(index, _)| index).filter(|index| *index > 0);
        first.map(|index| (cnp, index)).ok_or_else(|| trial.doubt("no packet was held back"))
    }
}

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
        if limited.drift > Dur::ZERO && limited.rp.limiting == Limiting::Burst {
            let why = "with which packet a burst begins is not known by clocks that may be apart";
            return Err(trial.doubt(why).into());
        }
        if followed.lost > 0 {
            let why = format!("stamps leave too many orders open for {} packets", followed.lost);
            return Err(trial.doubt(&why).into());
        }
        let first = followed.faults.first();
        let got = first.map(|fault| {
            let kind = match fault.kind {
                Kind::TooEarly => "too early",
                Kind::TooLate => "too late",
            };
            format!(
                "{} packets off, the first {kind}: {} after the one it counts from, where {} were due",
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
fn alphas(limited: &Limited<'_>, points: &[Point], x: String) -> Option<Curve> {
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

/// Judges what the first cut leaves of the port's speed.
fn cut(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    let told = Cell::new(None);
    done.each("rate.cut", flow, judged, |trial| {
        let limited = Limited::of(done, trial, flow)?;
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
        let effect = cnp.passes + limited.rp.latency.most() + limited.bound * 2;
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
        let want = of(limited.after_first_cut(point.bytes));
        let measured = of(point.measured);
        // A packet that nothing held back may have come late for reasons of the application's: its rate is the least that was allowed.
        let measured = Span {
            hi: if point.held { measured.hi } else { ppm(limited.line.bps()).max(measured.hi) },
            ..measured
        };
        told.set(Some(measured.hi - measured.lo + want.hi - want.lo));
        let want = Prediction {
            unit: Unit::Ppm,
            span: want,
            formula: "C (1 - alpha / 2)",
            text: format!(
                "{} of the port's speed, by one cut with alpha {}",
                rig_capture::Reading { unit: Unit::Ppm, span: want, frames: Vec::new() },
                limited.rp.initial_alpha
            ),
            source: SOURCE,
        };
        let sent = limited.frames.iter().find(|(_, at, _)| *at == point.at);
        let records = [cnp.record].into_iter().chain(sent.map(|(record, ..)| *record)).collect();
        Ok(TrialReading { span: measured, want, got: None, records, looked: looked(1, "cuts") })
    });
    if let Some(open) = told.take() {
        // A cut takes half of alpha.
        let (rate, alpha) = (Unit::Ppm.show(open), Unit::Ppm.show(2 * open));
        judged.tells(
            "rate.cut",
            &format!(
                "a cut that leaves {rate} more or less of the port's speed shows: {alpha} of alpha"
            ),
        );
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
        let (cnp, held) = limited.held(trial)?;
        let since = |index: usize| limited.frames[index].1.since(cnp.at);
        let blur = limited.bound * 2;
        // The packet before still had the old rate behind it, this one has the new.
        let lo = since(held - 1).map_or(0, |since| since.saturating_sub(blur).0 + 1);
        let span = Span { lo, hi: (since(held).unwrap_or_default() + blur).0 };
        let of = format!("{}.rp.latency", limited.part);
        // Between which two packets it was is known, and no more.
        let open = Dur(span.hi - span.lo + 1);
        let open = told.take().map_or(open, |(.., before)| before.max(open));
        told.set(Some((of, limited.rp.latency, open)));
        let want = reacts(limited.rp, cnp.passes - cnp.at);
        let records = vec![cnp.record, limited.frames[held].0];
        Ok(TrialReading { span, want, got: None, records, looked: looked(1, "cuts") })
    });
    if let Some(told) = told.take() {
        judged.resolved("rate.reaction", &[told]);
    }
}
