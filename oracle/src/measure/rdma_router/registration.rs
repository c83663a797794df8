//! How long a container waits that registers memory first: whoever of the other hosts is gone.

use super::admission::served;
use super::stall::held_back;
use super::{OF_FLOW, SOURCE, Sent, capped, spec, started};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::measure::judge_context::{JudgeContext, TrialReading};
use crate::measure::judged::{Judged, looked};
use crate::measure::measurement::{FromStart, Known, Red, Tells, told};
use crate::measure::stamps::{self, Stamps};
use crate::trials::context::Context;
use crate::verdict::Doubt;
use rig_capture::{Span, Unit};
use rig_testcases::vocabulary::Entry;
use rig_testcases::{Action, Measure, Memory, Script, Verb};
use rig_units::{Bytes, Dur};

const FORMULA: &str = "registration, request, M 8 / copy of a SEND, and a sleep at most";

/// `rdma_router.registration`.
pub(in crate::measure) static REGISTRATION: Known = Known {
    entry: Entry {
        name: "rdma_router.registration",
        about: "from the call of a container that registers its memory first to the first bit of its first packet: it waits for no other host",
        ..OF_FLOW
    },
    tells: Tells::Width("the timestamps of the packet that shows it"),
    red: Red::Mutated(
        "registration-while-a-host-is-gone",
        "deviation=registration_waits_for_dead_host",
    ),
    expected: |_, context, _| {
        let router = super::router(context.nics());
        let text = format!(
            "{} of registration, {} a request, {} of sleep",
            router.registration, router.request, router.sleep
        );
        told(text, FORMULA, SOURCE)
    },
    judge: |measure, done, judged| registration(done, measure.named("flow"), judged),
    stamps: Some(stamps_of),
    from_start: FromStart::Everything,
    ..Known::USUAL
};

/// What it takes is told from nothing, and from what its flow is asked for.
fn stamps_of(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<Stamps> {
    let at = script.flows.iter().position(|flow| flow.name == measure.named("flow"))?;
    let flow = &script.flows[at];
    let (message, copied) = (Bytes(flow.message.into()), flow.verb == Verb::Send);
    let takes = spec::registered(super::router(context.nics()), message, copied);
    let when = |action: &Action| {
        script.steps.iter().find(|step| step.action == *action).map(|step| step.at)
    };
    let index = u16::try_from(at).ok()?;
    let stops = when(&Action::StopFlow(index)).unwrap_or(script.length);
    let asked = stops.saturating_sub(when(&Action::StartFlow(index))?);
    stamps::finest([
        stamps::told(takes.least(), "what registration and hand-over take"),
        stamps::told(
            asked.saturating_sub(takes.most()),
            "what is left of the time that it is asked for",
        ),
    ])
}

fn registration(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("rdma_router.registration", flow, judged, |trial| {
        let (index, spec) = trial.flow(flow)?;
        let doubt = |why: &str| trial.doubt(&format!("{flow} {why}"));
        if spec.container.memory != Memory::New {
            return Err(doubt("registers no memory").into());
        }
        held_back(trial, spec.nic)?;
        served(&capped(done.context.nics(), spec), trial, index)?;
        let sent = Sent::of(trial, flow)?;
        let called = started(trial, flow)?;
        let router = super::router(done.context.nics());
        let message = Bytes(spec.message.into());
        let takes = spec::registered(router, message, spec.verb == Verb::Send);
        let takes = done.context.apart().range(takes);
        let gone = match router.hosts_gone {
            0 => String::new(),
            1 => ", while a host of its list is gone".to_owned(),
            many => format!(", while {many} hosts of its list are gone"),
        };
        let want = Prediction {
            unit: Unit::Ps,
            span: Span { lo: takes.least().0, hi: takes.most().0 },
            formula: FORMULA,
            text: format!("{takes} from the call to the first packet{gone}"),
            source: SOURCE,
        };
        let blur = sent.blur(done, trial);
        let looked = looked(1, "registrations");
        let Some((_, first)) = sent.own().find(|(before, _)| *before == 0) else {
            // Only a NIC that is seen to send afterwards shows that this one sent nothing.
            let (until, due) = (super::ends(trial, index), called + takes.most() + blur);
            let alive = sent.messages().find(|one| one.at > due).filter(|_| until > due);
            let Some(alive) = alive else {
                let why = doubt("sent nothing, and nobody else did afterwards");
                return Err(Doubt { reason: NOT_MEASURED, ..why }.into());
            };
            let waited = until - called;
            let span = Span { lo: waited.saturating_sub(blur).0, hi: u64::MAX };
            let got = format!(
                "nothing in {waited}, though others sent afterwards: its registration waits{gone}"
            );
            let records = vec![alive.record];
            return Ok(TrialReading { span, want, got: Some(got), records, looked });
        };
        let early = |at, until| at > called && at <= until;
        let meanwhile = sent.messages().filter(|one| one.record != first.record);
        if meanwhile.into_iter().any(|one| early(one.at + sent.takes(one), first.at)) {
            return Err(doubt("was handed over while others sent").into());
        }
        let took: Dur = first.at.since(called).unwrap_or_default();
        let span = Span { lo: took.saturating_sub(blur).0, hi: (took + blur).0 };
        Ok(TrialReading { span, want, got: None, records: vec![first.record], looked })
    });
}
