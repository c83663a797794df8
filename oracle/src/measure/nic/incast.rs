//! READs of many queue pairs of one reader: how many of each are under way at once, and how deep what all of them bring makes the rig's queue to the reader.
//!
//! A reader that puts together what was lost asks many others for a part each, and all of it comes at once (Bai et al., NSDI'23: erasure-code reconstruction). A reader has one peer here, and so many queue
//! pairs to it: what they share is its port, and the queue before that. How much is asked for at once is what keeps the queue small.

use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, looked};
use super::super::measurement::{Known, Red, Tells, told};
use super::super::stamps;
use super::{Passage, beside_payload, rc};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::judge::nic::rc::brought;
use crate::spec::nic::incast::{burst, depth};
use crate::spec::nic::pipeline;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::{Dir, Span, Unit, What};
use rig_lab::{Fault, Part};
use rig_testcases::vocabulary::{Entry, Looks, ValueKind, required};
use rig_testcases::{Action, Case, Measure, RoceKind, Verb};
use rig_units::{Bytes, Dur, L1_OVERHEAD, Time};
use std::collections::{BTreeMap, BTreeSet};

const SOURCE: &str = "IBTA volume 1: initiator depth (`max_rd_atomic` of ibv_modify_qp); Bai et al., NSDI'23: reads for reconstruction";
const FORMULA: &str =
    "sum of what is asked for at once, less what leaves while it comes, to the sum";

/// What a request for a READ takes no more than.
const REQUEST: Bytes = Bytes(120);

/// `rc.outstanding`.
pub(in super::super) static OUTSTANDING: Known = Known {
    entry: Entry {
        name: "rc.outstanding",
        parts: Some(&[Part::Rc]),
        about: "READs of a queue pair that are under way at once: one; and how much of what the READs of all of them bring the rig's queue to the reader holds",
        source: SOURCE,
        fields: &[required(
            "flows",
            ValueKind::Flows,
            "the flows of READs, such as [extents]",
            "the flows: all READs of one reader",
        )],
        sense: reads,
        looks: &[Looks::EVERY_FRAME],
        ..Entry::USUAL
    },
    tells: Tells::Each("READ; of the queue, a frame"),
    red: Red::Mutated("extents-asked-for-at-once", "deviation=reads_ahead"),
    on,
    expected: |_, _, _| {
        told(
            "one READ of each queue pair, and a queue no deeper than all of them ask for",
            FORMULA,
            SOURCE,
        )
    },
    judge: |measure, done, judged| outstanding(done, measure, judged),
    stamps: Some(|measure, context, script| {
        stamps::turns(context, script, measure.names("flows").first()?)
    }),
    of_nic: |measure, case| Some(case.flows.get(measure.names("flows").first()?)?.nic.clone()),
    ..Known::USUAL
};

fn on(measure: &Measure) -> String {
    let flows = measure.names("flows");
    format!("{} queue pairs from {} on", flows.len(), flows.first().map_or("", String::as_str))
}

/// They are READs of one NIC from another.
fn reads(measure: &Measure, case: &Case) -> Vec<Fault> {
    let names = measure.names("flows").iter();
    let mut named = names.filter_map(|name| Some((name, case.flows.get(name)?)));
    let other = named.find(|(_, flow)| flow.verb != Verb::Read || flow.nic == flow.to);
    let fault = other.map(|(name, _)| {
        let found = format!("`{name}` is no READ of one NIC from another");
        case.fault("measure", found, "flows with `verb: read`, each from one NIC to another")
    });
    fault.into_iter().collect()
}

fn outstanding(done: &JudgeContext<'_>, measure: &Measure, judged: &mut Judged) {
    let names = measure.names("flows");
    done.each("rc.outstanding", &on(measure), judged, |trial| {
        let mut all = 0;
        let (mut early, mut idle) = (Vec::new(), None);
        for name in names {
            let end = rc::End::receiver(trial, name)?;
            let seen = Passage::of(done, trial, end.port);
            let Some(reading) = end.reads else { continue };
            let (_, came) = rc::packets(trial, &end, &seen);
            let (records, asked) = rc::asked(&end, &seen);
            let packets = u64::from(reading.packets.max(1));
            let through = brought(end.first, u64::MAX, &came);
            let mut begun = 0;
            for (record, one) in records.iter().zip(&asked) {
                let place = one.psn.ahead_of(end.first).map(u64::from);
                // One that asks anew is no other.
                if place != Some(begun * packets) {
                    continue;
                }
                all += 1;
                let before = through.reached(begun * packets).map(|step| step.at);
                let open = seen.bound * 2;
                if begun > 0 && before.is_none_or(|came| one.at + open < came) {
                    early.push((*record, before.and_then(|came| came.since(one.at))));
                }
                begun += 1;
            }
            idle = idle.or(Some(name).filter(|_| begun < 2));
        }
        if let Some(name) = idle {
            let why = format!(
                "{name} asked for no second READ: nothing tells whether its queue pair waits"
            );
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        let got = early.first().map(|(_, by)| {
            let by = by
                .map_or("which never came".to_owned(), |by| format!("the first {by} before that"));
            format!(
                "{} of {all} READs asked for before the one before them had come, {by}",
                early.len()
            )
        });
        let want = Prediction {
            unit: Unit::Count,
            span: Span::exactly(0),
            formula: "READs asked for before all of the one before them came",
            text: format!("one READ of each of {} queue pairs at once", names.len()),
            source: SOURCE,
        };
        let span = Span::exactly(u64::try_from(early.len()).unwrap_or(u64::MAX));
        let records = early.first().map(|(record, _)| *record).into_iter().collect();
        Ok(TrialReading { span, want, got, records, looked: looked(all, "READs") })
    });
    done.several("rc.outstanding", judged, |trial| {
        let read = held(done, trial, names)?;
        Ok(read.map(|read| (format!("{}, the queue", on(measure)), read)).into_iter().collect())
    });
}

/// How deep the queue to the reader became; nothing where the rig has none.
fn held(
    done: &JudgeContext<'_>,
    trial: &Trial,
    names: &[String],
) -> Result<Option<TrialReading>, Doubt> {
    let Some((.., between)) = &trial.script.between else { return Ok(None) };
    let Some(first) = names.first() else { return Ok(None) };
    let (_, spec) = trial.flow(first)?;
    let Some(narrow) = between.bottleneck.as_ref().filter(|narrow| narrow.to == spec.nic) else {
        return Ok(None);
    };
    let doubt = |why: &str| Doubt { reason: NOT_MEASURED, ..trial.doubt(why) };
    let port = trial.observation.ports[usize::from(spec.to)].speed;
    let mut slots = BTreeMap::new();
    let [mut asked, mut bare] = [Bytes(0); 2];
    let mut begin = BTreeSet::new();
    for name in names {
        let (index, other) = trial.flow(name)?;
        if (other.nic, other.to) != (spec.nic, spec.to) {
            return Err(doubt("they are of several readers: nothing says how deep the queue is"));
        }
        let spec = other;
        let packets = u64::from(spec.message.div_ceil(spec.mtu.max(1)));
        asked = asked + Bytes(u64::from(spec.message)) + spec.headers() * packets;
        bare = bare + Bytes(u64::from(spec.message)) + beside_payload(spec) * packets;
        let frames = Bytes(u64::from(spec.message)) + (spec.headers() + L1_OVERHEAD) * packets;
        slots.insert(trial.script.connection(index), port.serialise(frames));
        let starts =
            trial.script.steps.iter().filter(|step| step.action == Action::StartFlow(index));
        begin.extend(starts.map(|step| step.at));
    }
    if begin.len() != 1 {
        return Err(doubt("they do not begin at once: nothing says how deep the queue is"));
    }
    if !trial.observation.injected.is_empty() {
        return Err(doubt("what was lost is asked for anew, and comes beside what is under way"));
    }
    let mut depth_now = 0_u64;
    let mut deepest = (0_u64, None);
    let (mut frames, mut longest) = (0_usize, 0_u64);
    for (record, one) in trial.observation.records.iter().enumerate() {
        let What::Roce(roce) = one.what else { continue };
        let data = matches!(roce.kind, RoceKind::Data { response: true, .. });
        if !data || !slots.contains_key(&roce.connection) {
            continue;
        }
        let size = u64::from(roce.size);
        match (one.port, one.dir) {
            (port, Dir::Rx) if port == spec.to => {
                depth_now += size;
                (frames, longest) = (frames + 1, longest.max(size));
                if depth_now > deepest.0 {
                    deepest = (depth_now, Some(record));
                }
            }
            (port, Dir::Tx) if port == spec.nic => depth_now = depth_now.saturating_sub(size),
            _ => {}
        }
    }
    let Some(record) = deepest.1 else { return Err(doubt("nothing of what they read came")) };
    let request = trial.observation.ports[usize::from(spec.nic)].speed.slot(REQUEST);
    let comes = comes(&Passage::of(done, trial, spec.to), request, &slots);
    let [least, _] = depth(bare, comes, narrow.speed);
    let [_, most] = depth(asked, comes, narrow.speed);
    // The first of it leaves as the rest comes: a frame at either end.
    let lo = least.0.saturating_sub(longest * 2);
    let span = Span::exactly(deepest.0);
    let want = Prediction {
        unit: Unit::Bytes,
        span: Span { lo, hi: most.0 },
        formula: FORMULA,
        text: format!(
            "{} to {}: {} queue pairs ask for {} at once, and {} leaves of what comes at {port} in {comes}",
            Bytes(lo),
            most,
            names.len(),
            asked,
            narrow.speed
        ),
        source: SOURCE,
    };
    Ok(Some(TrialReading {
        span,
        want,
        got: None,
        records: vec![record],
        looked: looked(frames, "frames"),
    }))
}

/// How long what the first READ of each queue pair brings comes at the most, where requests of `request` each leave the reader one behind the other, given with what each answer takes of the port that it
/// comes from: the NIC there answers a request when its receive pipeline lets it pass, and the first of a queue pair whose state is not at hand is held up by that. When the reader did ask says nothing of
/// how deep the queue has to be: asking late is what makes it shallow.
fn comes(seen: &Passage<'_>, request: Dur, slots: &BTreeMap<u16, Dur>) -> Dur {
    let requests: Vec<(Time, u16)> =
        (1..).zip(slots.keys()).map(|(nth, of)| (Time::ZERO + request * nth, *of)).collect();
    let passes = pipeline::passed(&seen.nic.receive, &requests);
    let answers: Vec<_> = passes.into_iter().zip(slots.values().copied()).collect();
    seen.apart.most(burst(&answers))
}
