//! Whether a container's queue pair is served: not beyond its quota, nor with an R_Key that no host has announced.

use super::stall::held_back;
use super::{OF_FLOW, SOURCE, Sent, beside, capped, ends, router, spec, started};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::measure::judge_context::{JudgeContext, TrialReading};
use crate::measure::judged::{Judged, looked};
use crate::measure::measurement::{Known, Red, Tells, told};
use crate::measure::stamps;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::{Span, Unit};
use rig_lab::declared::RdmaRouter;
use rig_testcases::vocabulary::Entry;
use rig_testcases::{Action, Memory};
use rig_units::Bytes;

/// `rdma_router.admission`.
pub(in crate::measure) static ADMISSION: Known = Known {
    entry: Entry {
        name: "rdma_router.admission",
        about: "whether messages of a queue pair leave: not beyond the quota of its container, nor with an R_Key that no host has announced, and otherwise they do",
        ..OF_FLOW
    },
    tells: Tells::Each("queue pair: one that is served and should not be, or the other way round"),
    red: Red::Mutated("quota-of-a-container", "rdma_router.quota=x2"),
    expected: |_, context, _| {
        let quota = router(context.nics()).quota;
        let text = quota.map_or("as many queue pairs as a container likes".to_owned(), |quota| {
            format!("{quota} queue pairs of a container at most")
        });
        told(text, "", SOURCE)
    },
    judge: |measure, done, judged| admission(done, measure.named("flow"), judged),
    stamps: Some(|_, _, script| stamps::steps(script)),
    ..Known::USUAL
};

fn admission(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("rdma_router.admission", flow, judged, |trial| {
        let (index, spec) = trial.flow(flow)?;
        let not_measured = |why: String| Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) };
        let called = started(trial, flow)?;
        let router = capped(done.context.nics(), spec);
        if router.cap.is_some() && Bytes(spec.message.into()) > router.burst {
            let why = format!("a message of {flow} is more than a bucket holds");
            return Err(trial.doubt(&why).into());
        }
        held_back(trial, spec.nic)?;
        let sent = Sent::of(trial, flow)?;
        let refused = refused(&router, trial, index)?;
        let own = sent.own().map(|(_, one)| one.record).next();
        let others = u64::try_from(beside(trial, index).count()).unwrap_or(u64::MAX);
        // Each of the others may have its message and one more on the way before.
        let turn = sent.gap(&router, others) + router.registration;
        let turn = done.context.apart().most(turn * 2) + trial.observation.bound() * 2;
        if own.is_none() && called + turn > ends(trial, index) {
            return Err(not_measured(format!("{flow} has too little time to be served")).into());
        }
        // A NIC that is not seen to send shows nothing of what it does not send.
        let alive = sent.messages().find(|one| one.at > called).map(|one| one.record);
        let Some(shown) = own.or(alive) else {
            return Err(not_measured(format!("nothing left the NIC after {flow} began")).into());
        };
        let (count, text) = match refused {
            Some(why) => (0, format!("no message of {flow}: {why}")),
            None => (1, format!("messages of {flow}")),
        };
        let want = Prediction {
            unit: Unit::Count,
            span: Span::exactly(count),
            formula: "",
            text,
            source: SOURCE,
        };
        let served = u64::from(own.is_some());
        let got = match own {
            Some(_) => format!("{} of them left", sent.own().count()),
            None => "none left".to_owned(),
        };
        let (records, looked) = (vec![shown], looked(1, "queue pairs"));
        let span = Span::exactly(served);
        Ok(TrialReading { span, want, got: Some(got), records, looked })
    });
}

/// A flow that the router serves, sooner or later.
pub(super) fn served(router: &RdmaRouter, trial: &Trial, flow: u16) -> Result<(), Doubt> {
    let spec = &trial.script.flows[usize::from(flow)];
    let name = &spec.name;
    if router.cap.is_some() && Bytes(spec.message.into()) > router.burst {
        return Err(trial.doubt(&format!("a message of {name} is more than a bucket holds")));
    }
    match refused(router, trial, flow)? {
        Some(why) => Err(trial.doubt(&format!("{name} is refused: {why}"))),
        None => Ok(()),
    }
}

/// Why a flow is not served, if it is not.
fn refused(router: &RdmaRouter, trial: &Trial, flow: u16) -> Result<Option<String>, Doubt> {
    let flows = &trial.script.flows;
    let own = &flows[usize::from(flow)];
    let unknown = own.container.memory == Memory::Unknown;
    let unknown = unknown.then(|| "no host has announced its R_Key".to_owned());
    let Some(quota) = router.quota else { return Ok(unknown) };
    let mut open: Vec<u16> = Vec::new();
    for step in &trial.script.steps {
        match step.action {
            Action::StopFlow(stopped) => open.retain(|one| *one != stopped),
            Action::StartFlow(index) => {
                let spec = &flows[usize::from(index)];
                let whose = |spec: &rig_testcases::FlowSpec| (spec.nic, spec.container.number);
                if whose(spec) != whose(own) {
                    continue;
                }
                open.retain(|one| Some(*one) != spec.container.takes_over);
                let ends = |one: &u16| {
                    let spec = &flows[usize::from(*one)];
                    spec.count.is_some()
                        || spec.container.takes_over.is_some()
                        || spec.container.memory == Memory::Unknown
                };
                if let Some(one) = open.iter().find(|one| ends(one)) {
                    let name = &flows[usize::from(*one)].name;
                    return Err(trial.doubt(&format!("{name} may be over by itself or not")));
                }
                let (number, admits) = (own.container.number, spec::admits(router, open.len()));
                if index == flow && !admits {
                    let why =
                        format!("container {number} has {quota} queue pairs, which is its quota");
                    return Ok(Some(why));
                }
                if index == flow {
                    return Ok(unknown);
                }
                if admits {
                    open.push(index);
                }
            }
            _ => {}
        }
    }
    Ok(unknown)
}
