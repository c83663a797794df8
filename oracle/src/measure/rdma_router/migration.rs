//! What becomes of the messages of a container that moves: those that had left and those that leave over its new connection are all that
//! were asked for, each once.

use super::stall::held_back;
use super::{OF_FLOW, SOURCE, Sent, beside, capped, ends, started};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::measure::judge_context::{JudgeContext, TrialReading};
use crate::measure::judged::{Judged, looked};
use crate::measure::measurement::{Known, Red, Tells, told};
use crate::measure::stamps;
use crate::verdict::Doubt;
use rig_capture::{Span, Unit};
use rig_frames::psn::Psn;
use rig_testcases::vocabulary::Entry;
use rig_testcases::{RoceKind, Verb};
use std::collections::BTreeSet;

/// `rdma_router.migration`.
pub(in crate::measure) static MIGRATION: Known = Known {
    entry: Entry {
        name: "rdma_router.migration",
        about: "messages of a container that moves, over its old connection and its new one: each of those that were asked for leaves whole, and once",
        ..OF_FLOW
    },
    tells: Tells::Each("message: one that is lost or comes twice"),
    red: Red::Mutated("migration-loses-nothing", "deviation=migration_repeats"),
    expected: |_, _, _| told("as many messages as were asked for before it moved", "", SOURCE),
    judge: |measure, done, judged| migration(done, measure.named("flow"), judged),
    stamps: Some(|_, _, script| stamps::steps(script)),
    ..Known::USUAL
};

impl Sent<'_> {
    /// The numbers of the messages that left whole, and when the last one did.
    fn whole(&self) -> BTreeSet<u64> {
        let first = Psn::new(self.spec.psn);
        let packets = u64::from(self.spec.message.div_ceil(self.spec.mtu.max(1))).max(1);
        let own = self.left.iter().filter(|one| one.roce.connection == self.connection);
        let ends = own.filter(|one| {
            matches!(one.roce.kind, RoceKind::Data { last: true, response: false, .. })
        });
        let number =
            |psn: u32| Psn::new(psn).ahead_of(first).map(|ahead| u64::from(ahead) / packets);
        ends.filter_map(|one| number(one.roce.psn)).collect()
    }
}

fn migration(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("rdma_router.migration", flow, judged, |trial| {
        let (index, spec) = trial.flow(flow)?;
        let not_measured = |why: String| Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) };
        let before =
            spec.container.takes_over.and_then(|at| trial.script.flows.get(usize::from(at)));
        let Some((before, asked)) = before.and_then(|one| Some((one, one.count?))) else {
            return Err(trial.doubt(&format!("{flow} goes on with nothing of another")).into());
        };
        if before.verb == Verb::Read || before.verb.is_atomic() {
            let why = format!("what {} asks for is sent by the other end", before.name);
            return Err(trial.doubt(&why).into());
        }
        held_back(trial, spec.nic)?;
        let moved = started(trial, flow)?;
        if started(trial, &before.name)? >= moved {
            let why = format!("{} begins after {flow} does", before.name);
            return Err(trial.doubt(&why).into());
        }
        let (old, new) = (Sent::of(trial, &before.name)?, Sent::of(trial, flow)?);
        let [first, rest] = [old.whole(), new.whole()];
        if first.is_empty() || rest.is_empty() {
            let why = format!("{} or {flow} sent no message, so that nothing moved", before.name);
            return Err(not_measured(why).into());
        }
        let others = u64::try_from(beside(trial, index).count()).unwrap_or(u64::MAX);
        let gap = done.context.apart().most(new.gap(&capped(done.context.nics(), spec), others));
        let last = new.own().last().map_or(moved, |(_, one)| one.at);
        if last + gap + trial.observation.bound() * 2 > ends(trial, index) {
            return Err(not_measured(format!("{flow} may have more to send at the end")).into());
        }
        let count = |of: &BTreeSet<u64>| u64::try_from(of.len()).unwrap_or(u64::MAX);
        let came = count(&first) + count(&rest);
        let asked = u64::from(asked);
        let off = match came {
            more if more > asked => format!(": {} twice", more - asked),
            less if less < asked => format!(": {} lost", asked - less),
            _ => String::new(),
        };
        let want = Prediction {
            unit: Unit::Count,
            span: Span::exactly(asked),
            formula: "",
            text: format!("{asked} messages, before and after the container moved"),
            source: SOURCE,
        };
        let got = format!("{} before and {} after it moved{off}", count(&first), count(&rest));
        let cited = [old.own().last(), new.own().last()].into_iter().flatten();
        let records = cited.map(|(_, one)| one.record).collect();
        let looked = looked(usize::try_from(came).unwrap_or(usize::MAX), "messages");
        Ok(TrialReading { span: Span::exactly(came), want, got: Some(got), records, looked })
    });
}
