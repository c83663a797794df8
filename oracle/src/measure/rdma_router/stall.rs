//! For how long the core hands over nothing of a container that has more to send: a request of another one that cannot be served
//! must not keep it waiting.

use super::{OF_FLOW, SOURCE, Sent, beside, capped, ends};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::measure::judge_context::{JudgeContext, TrialReading};
use crate::measure::judged::{Judged, looked};
use crate::measure::measurement::{Known, Red, Tells, told};
use crate::measure::stamps;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::{Dir, Span, Unit, What};
use rig_testcases::vocabulary::Entry;
use rig_testcases::{Action, Memory, RoceKind};
use rig_units::{Time, Within};

const FORMULA: &str = "request (1 + others), M 8 / cap, the copy of a SEND, a sleep, and the port";

/// `rdma_router.stall`.
pub(in crate::measure) static STALL: Known = Known {
    entry: Entry {
        name: "rdma_router.stall",
        about: "the longest time between two messages of a container that has more to send: one turn of all others, also of those whose requests are refused",
        ..OF_FLOW
    },
    tells: Tells::Width("the timestamps of two packets, and a turn of all others"),
    red: Red::Mutated("unknown-key-delays-nobody", "deviation=bad_rkey_stalls_all"),
    expected: |_, context, _| {
        let router = super::router(context.nics());
        told(format!("{} a request, one of each other queue pair", router.request), FORMULA, SOURCE)
    },
    judge: |measure, done, judged| stall(done, measure.named("flow"), judged),
    stamps: Some(|_, context, _| {
        stamps::told(super::router(context.nics()).request, "what another request takes")
    }),
    ..Known::USUAL
};

fn stall(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("rdma_router.stall", flow, judged, |trial| {
        let (index, spec) = trial.flow(flow)?;
        let sent = Sent::of(trial, flow)?;
        if spec.verb.waits() {
            let why = format!("the messages of {flow} wait for answers");
            return Err(trial.doubt(&why).into());
        }
        held_back(trial, spec.nic)?;
        let mut messages: Vec<(u64, Time, usize)> = Vec::new();
        for (number, one) in sent.own() {
            if messages.last().is_some_and(|(before, ..)| number <= *before) {
                return Err(trial.doubt(&format!("{flow} sent a message again")).into());
            }
            messages.push((number, one.at, one.record));
        }
        let ([first, ..], Some(last)) = (&messages[..], messages.last().copied()) else {
            let why = format!("{flow} sent nothing");
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        };
        let until = ends(trial, index);
        let unknown = unknown(trial, index, (first.1, until))?;
        let others = u64::try_from(beside(trial, index).count()).unwrap_or(u64::MAX);
        let most = sent.gap(&capped(done.context.nics(), spec), others);
        let most = done.context.apart().range(Within::exactly(most)).most();
        let more = spec.container.takes_over.is_none()
            && spec.count.is_none_or(|count| last.0 + 1 < u64::from(count));
        let blur = sent.blur(done, trial) * 2;
        let gaps = messages.windows(2).map(|two| (two[1].1 - two[0].1, two[0], Some(two[1])));
        // What comes no more at all is overdue.
        let rest = until.since(last.1).filter(|rest| more && *rest > most + blur);
        let gaps = gaps.chain(rest.map(|rest| (rest, last, None)));
        let Some((gap, from, to)) = gaps.max_by_key(|(gap, ..)| *gap) else {
            let why = format!("{flow} sent one message and no more");
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        };
        let beside = match &unknown {
            Some(name) => format!(", {name} with an R_Key that nobody has announced among them"),
            None => String::new(),
        };
        let want = Prediction {
            unit: Unit::Ps,
            span: Span { lo: 0, hi: most.0 },
            formula: FORMULA,
            text: format!("{most} at most between two messages, beside {others} others{beside}"),
            source: SOURCE,
        };
        let by = unknown.map_or(String::new(), |name| {
            format!(": the core waits for the R_Key of {name}, and everybody with it")
        });
        let after = from.1.since(Time::ZERO).unwrap_or_default();
        let got = (gap > most).then(|| format!("nothing for {gap} from {after} on{by}"));
        let records = [Some(from), to].into_iter().flatten().map(|one| one.2).collect();
        let span = Span { lo: gap.saturating_sub(blur).0, hi: (gap + blur).0 };
        Ok(TrialReading { span, want, got, records, looked: looked(messages.len(), "messages") })
    });
}

/// Who asks meanwhile with an R_Key that nobody has announced. One that does so at another time shows nothing.
fn unknown(trial: &Trial, flow: u16, (from, until): (Time, Time)) -> Result<Option<String>, Doubt> {
    let mut asking =
        beside(trial, flow).filter(|(_, spec)| spec.container.memory == Memory::Unknown).peekable();
    if asking.peek().is_none() {
        return Ok(None);
    }
    let meanwhile = |index: u16| {
        trial.script.steps.iter().any(|step| {
            let at = Time::ZERO + step.at;
            step.action == Action::StartFlow(index) && from <= at && at < until
        })
    };
    let found = asking.find(|(index, _)| meanwhile(*index));
    let found = found.ok_or_else(|| trial.doubt("nobody asked with an unknown R_Key meanwhile"))?;
    Ok(Some(found.1.name.clone()))
}

/// Nothing may have held the NIC back that it has to obey.
pub(super) fn held_back(trial: &Trial, nic: u16) -> Result<(), Doubt> {
    let told = trial.observation.records.iter().any(|one| {
        let heeded = match one.what {
            What::Pfc { enable, .. } => enable != 0,
            What::Roce(roce) => {
                matches!(
                    roce.kind,
                    RoceKind::Nak | RoceKind::Denied | RoceKind::NotReady(_) | RoceKind::Cnp { .. }
                )
            }
            What::Data { .. } | What::BlueRdma(_) | What::BadPfc { .. } | What::Other { .. } => {
                false
            }
        };
        heeded && (one.port, one.dir) == (nic, Dir::Tx)
    });
    let asks = |spec: &rig_testcases::FlowSpec| spec.to == nic && spec.nic != nic;
    if trial.script.flows.iter().any(asks) {
        return Err(trial.doubt("another NIC asks this one, too"));
    }
    match told {
        true => Err(trial.doubt("the NIC was told to wait, or to send something again")),
        false => Ok(()),
    }
}
