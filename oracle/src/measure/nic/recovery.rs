//! How NICs recover from holes, go-back-N or selective repeat: what is said where one keeps the other than it declares.

use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, looked};
use super::super::measurement::{Known, Red, Tells, by_source};
use super::super::stamps;
use super::declared_recovery::declared;
use super::rc::{End, answers, packets, sent_and_came, sight};
use super::{BEHIND, OF_FLOW, Passage, spoilt};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::judge::nic::rc::kind;
use crate::spec::nic::rc::timeout;
use crate::trials::flow_time::round_trip;
use crate::verdict::Doubt;
use rig_capture::{Span, Unit};
use rig_lab::{Fault, Part, Rc, Recovery};
use rig_testcases::vocabulary::{Entry, FLOW, ValueKind, optional};
use rig_testcases::{Case, Measure, Verb};
use rig_units::{Bytes, Within};

/// `rc.recovery`.
pub(in super::super) static RECOVERY: Known = Known {
    entry: Entry {
        name: "rc.recovery",
        parts: Some(&[Part::Rc]),
        about: "which recovery a NIC has, go-back-N or selective repeat: by what it sends again after a NAK, or by what it acknowledges as a hole is filled",
        source: RULES,
        fields: &[
            FLOW,
            optional(
                "of",
                ValueKind::Word(&["sender", "receiver"]),
                "which end of the flow; absent: the sender",
            ),
        ],
        sense: between_nics,
        ..OF_FLOW
    },
    tells: Tells::Each("hole"),
    red: Red::Mutated("go-back-n-from-outside", "nic.rc.recovery=selective-repeat"),
    expected: |_, _, _| by_source("the recovery that the NIC declares, at each hole", RULES),
    judge: |measure, done, judged| recovery(done, measure, judged),
    of_nic: |measure, case| {
        let flow = case.flows.get(measure.named("flow"))?;
        Some(if is_receiver(measure) { flow.to.clone() } else { flow.nic.clone() })
    },
    stamps: Some(|measure, context, script| {
        let sender = !is_receiver(measure);
        let flow = script.flows.iter().find(|flow| flow.name == measure.named("flow"));
        let flow = flow.filter(|_| sender)?;
        let to = *script.dut_ports.get(usize::from(flow.to))?;
        let answers = context.nics().behind(to)?.rc.ack_latency.least();
        let packet = Bytes(flow.mtu.into());
        let packets = stamps::speed(context, script, flow.nic).slot(packet) * 4;
        let trip = (round_trip(context, script, packet) + answers).saturating_sub(packets);
        stamps::told(
            trip,
            "the packets behind a repetition from what answers it: a round trip but for four packets",
        )
    }),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

const RULES: &str =
    "IBTA volume 1, chapter 9.7.5 and 9.9 (go-back-N); US patent 10,430,374 B2 (selective repeat)";

fn is_receiver(measure: &Measure) -> bool {
    measure.arguments.word("of") == Some("receiver")
}

/// It is what one NIC sends to another: of a READ there is no NAK, and the rig asks for nothing.
fn between_nics(measure: &Measure, case: &Case) -> Vec<Fault> {
    let name = measure.named("flow");
    let fault = case.flows.get(name).filter(|flow| flow.verb == Verb::Read || flow.nic == flow.to);
    let fault = fault.map(|_| {
        let found = format!("`rc.recovery` of `{name}`, of which no receiver asks with a NAK");
        case.fault("measure", found, "a flow from one NIC to another that is no READ")
    });
    fault.into_iter().collect()
}

/// Tells which recovery an end shows, and judges that against what it declares.
fn recovery(done: &JudgeContext<'_>, measure: &Measure, judged: &mut Judged) {
    let name = measure.named("flow");
    let on = match is_receiver(measure) {
        true => format!("{name} at its receiver"),
        false => name.to_owned(),
    };
    done.each("rc.recovery", &on, judged, |trial| {
        let (what, (part, rc), (shown, records, came_by)) = match is_receiver(measure) {
            false => {
                let end = End::sender(trial, name)?;
                let seen = Passage::of(done, trial, end.port);
                if let Some(spoilt) = spoilt::data(&seen, end.connection) {
                    return spoilt.read(trial);
                }
                let waits = timeout(&seen.nic.rc).map(Within::least);
                let (sent, came, sight) = sent_and_came(&end, &seen);
                let shown = kind::sends_again(end.first, &sent.1, &came.1, (waits, &sight));
                ("sends again", (seen.part, &seen.nic.rc), (shown, sent.0, came.0))
            }
            true => {
                let end = End::receiver(trial, name)?;
                let seen = Passage::of(done, trial, end.port);
                if let Some(spoilt) = spoilt::answers(&seen, end.connection) {
                    return spoilt.read(trial);
                }
                let (records, packets) = packets(trial, &end, &seen);
                let (by, answers) = answers(&end, &seen);
                let Rc { ack_latency, nak_latency, .. } = seen.nic.rc;
                let soonest = ack_latency.least().min(nak_latency.least());
                let seeing = (soonest, &sight(&seen));
                let shown = kind::keeps(end.first, &packets, &answers, seeing);
                ("takes", (seen.part, &seen.nic.rc), (shown, records, by))
            }
        };
        let wanted = declared(rc);
        let count = |of: Option<Recovery>| shown.iter().filter(|one| one.recovery == of).count();
        let kinds = [Recovery::GoBackN, Recovery::SelectiveRepeat];
        let found = kinds.map(|kind| (kind.words(), count(Some(kind))));
        let found = found.into_iter().chain([("neither", count(None))]);
        let found: Vec<String> = found
            .filter(|(_, holes)| *holes > 0)
            .map(|(kind, holes)| format!("{kind} at {holes} of {} holes", shown.len()))
            .collect();
        if shown.is_empty() {
            let why = format!(
                "{name}: no hole shows what the NIC {what}: no NAK was followed by what it names and more, or nothing came behind a hole that was filled"
            );
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        let other = || shown.iter().filter(|one| one.recovery != Some(wanted));
        let first = other().next().map(|one| {
            [records.get(one.packet), came_by.get(one.reply)].into_iter().flatten().copied()
        });
        let want = Prediction {
            unit: Unit::Count,
            span: Span::exactly(0),
            formula: "",
            text: format!("at each hole {}, as {part}.rc.recovery declares", wanted.words()),
            source: RULES,
        };
        let span = Span::exactly(u64::try_from(other().count()).unwrap_or(u64::MAX));
        let got = Some(format!("{what} as {}", found.join(", ")));
        let records = first.into_iter().flatten().collect();
        Ok(TrialReading { span, want, got, records, looked: looked(shown.len(), "holes") })
    });
}
