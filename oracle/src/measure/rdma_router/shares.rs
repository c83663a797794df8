//! How evenly the core serves queue pairs that ask for the same all the time.

use super::stall::held_back;
use super::{OF_FLOW, SOURCE, Sent, alike, capped, ends, spec, started};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::judge::jain::jain;
use crate::measure::judge_context::{JudgeContext, TrialReading};
use crate::measure::judged::{Judged, looked};
use crate::measure::measurement::{Known, Red, Tells, told};
use crate::measure::stamps;
use crate::verdict::Doubt;
use rig_capture::{Span, Unit};
use rig_testcases::vocabulary::{Entry, ValueKind, required};
use rig_testcases::{Measure, Verb};
use rig_units::{Bytes, Dur, Time};
use std::collections::BTreeMap;

const FORMULA: &str = "one message at either end of the stretch";

/// `rdma_router.shares`.
pub(in crate::measure) static SHARES: Known = Known {
    entry: Entry {
        name: "rdma_router.shares",
        about: "messages by which queue pairs differ that ask for the same all the time: they take turns; Jain's index is told",
        fields: &[required(
            "flows",
            ValueKind::Flows,
            "the flows, such as [qp]",
            "the flows, which ask for the same from the same instant on",
        )],
        ..OF_FLOW
    },
    tells: Tells::Width("a message more or less at either end of what is looked at"),
    red: Red::Mutated("five-hundred-and-twelve-flows", "deviation=mailboxes_out_of_reach"),
    on,
    expected: |_, _, _| told("no two of them are more than 2 messages apart", FORMULA, SOURCE),
    judge: |measure, done, judged| shares(done, measure, judged),
    stamps: Some(|_, _, script| stamps::steps(script)),
    ..Known::USUAL
};

fn on(measure: &Measure) -> String {
    let flows = measure.names("flows");
    let first = flows.first().map_or("", String::as_str);
    format!("{} flows from {first} on", flows.len())
}

fn shares(done: &JudgeContext<'_>, measure: &Measure, judged: &mut Judged) {
    let flows = measure.names("flows");
    let Some(first) = flows.first() else { return };
    done.each("rdma_router.shares", &on(measure), judged, |trial| {
        let (_, spec) = trial.flow(first)?;
        held_back(trial, spec.nic)?;
        let together = alike(trial, first)?;
        let mut counts: BTreeMap<u16, u64> = BTreeMap::new();
        let mut until = Time(u64::MAX);
        for name in flows {
            let (index, _) = trial.flow(name)?;
            let connection = trial.script.connection(index);
            if !together.contains(&connection) || spec.count.is_some() {
                let why = format!("{name} and {first} do not ask for the same all the time");
                return Err(trial.doubt(&why).into());
            }
            until = until.min(ends(trial, index));
            counts.insert(connection, 0);
        }
        if together.len() != counts.len() {
            return Err(trial.doubt("others ask for the same, too").into());
        }
        let sent = Sent::of(trial, first)?;
        let sharing = u64::try_from(counts.len()).unwrap_or(u64::MAX);
        let what = (Bytes(spec.message.into()), spec.verb == Verb::Send);
        let router = capped(done.context.nics(), spec);
        let packets = u64::from(spec.message.div_ceil(spec.mtu.max(1)));
        let frame = sent.left.iter().map(|one| sent.takes(one)).max().unwrap_or_default();
        let turn: Dur =
            done.context.apart().most(spec::turn(&router, sharing, what, frame * packets));
        let from = started(trial, first)? + turn;
        if from + turn * 3 > until {
            let why = format!("{first} and the others have less than three turns of {turn}");
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        let mut records = Vec::new();
        for one in sent.messages().filter(|one| from <= one.at && one.at < until) {
            if let Some(count) = counts.get_mut(&one.roce.connection) {
                *count += 1;
                records.push(one.record);
            }
        }
        let all: u64 = counts.values().sum();
        if all < sharing {
            let why = format!("{all} messages of {sharing} queue pairs tell nothing of turns");
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        let (fewest, most) = (counts.values().min(), counts.values().max());
        let (fewest, most) = (*fewest.unwrap_or(&0), *most.unwrap_or(&0));
        let want = Prediction {
            unit: Unit::Count,
            span: Span { lo: 0, hi: spec::APART },
            formula: FORMULA,
            text: format!("no more than {} messages apart, of {all}", spec::APART),
            source: SOURCE,
        };
        let index = jain(counts.values().copied());
        let got = format!("{fewest} to {most} messages each, {index}");
        let looked = looked(usize::try_from(all).unwrap_or(usize::MAX), "messages");
        records.truncate(2);
        Ok(TrialReading {
            span: Span::exactly(most - fewest),
            want,
            got: Some(got),
            records,
            looked,
        })
    });
}
