//! What the host behind a NIC tells of its requests: when each was posted, complete and polled, how it ended, and how that is counted.

use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, Unread, looked};
use super::super::measurement::{Known, Needs, Red, Tells, by_source};
use super::end::{End, says};
use super::{BEHIND, OF_FLOW, Passage, spoilt};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::judge::nic::completions::{Watch, WireMessage, miscounted, untrue};
use crate::judge::nic::rc::{Event, Progress, Sent, acknowledged, brought};
use crate::spec::nic::completions::{SOURCE, Teller, given_up, operation};
use crate::spec::nic::rc::{Packet, Says};
use crate::verdict::Doubt;
use core::cell::Cell;
use rig_capture::{HostCompletion, Span, Unit};
use rig_frames::psn::Psn;
use rig_lab::{Fault, Part};
use rig_testcases::vocabulary::Entry;
use rig_testcases::{Action, Case, FlowSpec, Measure, RoceKind, Verb};
use rig_units::Time;
use std::collections::BTreeMap;

/// `rc.completions`.
pub(in super::super) static COMPLETIONS: Known = Known {
    entry: Entry {
        name: "rc.completions",
        parts: Some(&[Part::Rc]),
        about: "what the host behind a NIC tells of the messages of a flow: when each was posted (T1), complete (T5) and polled (T6), how it ended, and the histograms of T5 - T1 and T6 - T1",
        source: SOURCE,
        sense: is_acknowledged,
        over_ipv6: true,
        ..OF_FLOW
    },
    needs: |_| Needs::Hosts,
    tells: Tells::Each(
        "message; of a completion, how far the NIC's clock may drift from one look of the host to the next",
    ),
    red: Red::Mutated("completions-by-verb", "deviation=completion_clock_uncorrected"),
    expected: |_, context, _| match Teller::declared(&context.nics().nic.estats) {
        Some(Teller { latency, poll, depth, off, .. }) => by_source(
            format!(
                "each complete {latency} after what acknowledges it, told to within {off}; polled within {poll} of that; {depth} posted and not polled"
            ),
            SOURCE,
        ),
        None => by_source("nothing: `nic.estats` is not declared", SOURCE),
    },
    judge: |measure, done, judged| completions(done, measure.named("flow"), judged),
    of_nic: |measure, case| Some(case.flows.get(measure.named("flow"))?.nic.clone()),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// It is of a flow from one NIC to another that acknowledges.
fn is_acknowledged(measure: &Measure, case: &Case) -> Vec<Fault> {
    let name = measure.named("flow");
    let other =
        case.flows.get(name).filter(|flow| operation(flow.verb).is_none() || flow.nic == flow.to);
    let fault = other.map(|_| {
        let found = format!("`rc.completions` of `{name}`, which nobody acknowledges");
        case.fault("measure", found, "a flow of a reliable connection from one NIC to another")
    });
    fault.into_iter().collect()
}

/// A flow as the wire shows it.
struct OnWire {
    messages: Vec<WireMessage>,
    /// The record of the first packet of each message that left.
    records: BTreeMap<u64, usize>,
    /// RNR NAKs that came after the last that was acknowledged.
    refusals: u64,
}

impl OnWire {
    fn of(spec: &FlowSpec, seen: &Passage<'_>, end: &End) -> OnWire {
        let first = Psn::new(spec.psn);
        let packets = u64::from(spec.message.div_ceil(spec.mtu)).max(1);
        let reads = spec.verb == Verb::Read;
        let left = seen.left.iter().filter(|one| one.roce.connection == end.connection);
        let asks = left.filter(|one| match one.roce.kind {
            RoceKind::ReadRequest => reads,
            RoceKind::Data { response, .. } => !reads && !response,
            _ => false,
        });
        let (mut began, mut records, mut sent) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        for one in asks {
            let psn = Psn::new(one.roce.psn);
            sent.push(Sent { at: one.at, psn });
            let Some(ahead) = psn.ahead_of(first).map(u64::from) else { continue };
            if ahead % packets == 0 {
                began.entry(ahead / packets).or_insert(one.at);
                records.entry(ahead / packets).or_insert(one.record);
            }
        }
        let came = || seen.counted().filter(|(one, _)| one.connection == end.connection);
        let progress = if reads {
            let brings = came().filter_map(|(one, at)| match one.kind {
                RoceKind::Data { last, response: true, .. } => {
                    Some(Packet { at, psn: Psn::new(one.psn), last })
                }
                _ => None,
            });
            let asked = began.last_key_value().map_or(0, |(last, _)| last + 1);
            brought(first, asked * packets, &brings.collect::<Vec<_>>())
        } else {
            let events = came().filter_map(|(one, at)| {
                // A receiver that is not ready has taken all before what it refuses, too.
                let refuses = matches!(one.kind, RoceKind::NotReady(_)).then_some(Says::Nak);
                Some(Event { at, says: says(one.kind).or(refuses)?, psn: Psn::new(one.psn) })
            });
            acknowledged(first, &sent, &events.collect::<Vec<_>>(), seen.bound * 2)
        };
        let last = progress.steps.last().map_or(Time::ZERO, |step| step.at);
        let refuses = came().filter(|(one, at)| {
            matches!(one.kind, RoceKind::NotReady(_)) && *at + seen.bound * 2 >= last
        });
        let refusals = u64::try_from(refuses.count()).unwrap_or(u64::MAX);
        let all = spec.count.map_or(began.len(), |count| usize::try_from(count).unwrap_or(0));
        let through = |nth: u64, progress: &Progress| {
            progress.reached((nth + 1) * packets).map(|step| step.at)
        };
        let messages = (0..)
            .take(all)
            .map(|nth| WireMessage {
                began: began.get(&nth).copied(),
                through: through(nth, &progress),
            })
            .collect();
        OnWire { messages, records, refusals }
    }
}

fn completions(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    let resolved = Cell::new(None);
    done.each("rc.completions", flow, judged, |trial| {
        let (index, spec) = trial.flow(flow)?;
        let connection = trial.script.connection(index);
        let end = End { port: spec.nic, connection, first: Psn::new(spec.psn), reads: None };
        let seen = Passage::of(done, trial, spec.nic);
        spoilt::by_whom(trial, &seen, connection)?;
        let declared = Teller::declared(&seen.nic.estats);
        let Some(mut teller) = declared else {
            let why = format!("`{}.estats` is not declared", seen.part);
            return Err(Unread::NotApplicable(why));
        };
        teller.latency = seen.apart.range(teller.latency);
        let doubt = |why: &str| Doubt { reason: NOT_MEASURED, ..trial.doubt(why) };
        let Some(report) = &trial.observation.hosts else {
            return Err(doubt("no host tells of its completions").into());
        };
        let starts = trial.script.steps.iter().filter(|one| one.action == Action::StartFlow(index));
        let starts: Vec<Time> = starts.map(|step| Time::ZERO + step.at).collect();
        let [start] = starts[..] else {
            return Err(doubt(&format!("{flow} is not begun once")).into());
        };
        let told: Vec<HostCompletion> =
            report.completions.iter().filter(|one| one.connection == connection).copied().collect();
        // A stamp may be off as far the other way.
        let shows = teller.off * 2 + seen.bound * 2;
        let range = seen.nic.estats.latency.map(|latency| seen.apart.range(latency));
        resolved.set(range.map(|range| (format!("{}.estats.latency", seen.part), range, shows)));
        let wire = OnWire::of(spec, &seen, &end);
        let watch = Watch {
            blur: seen.bound * 2,
            start,
            until: Time::ZERO + trial.script.length,
            given_up: given_up(&seen.nic.rc, wire.refusals),
        };
        let wrong = untrue(&wire.messages, &told, &teller, &watch);
        if told.is_empty() && wrong.is_empty() {
            return Err(doubt(&format!("no message of {flow} is over by the end")).into());
        }
        let of_flow = report.histograms.iter().filter(|one| one.connection == connection);
        let histograms: Vec<_> = of_flow.copied().collect();
        let origin = trial.observation.origin;
        let counted = operation(spec.verb)
            .and_then(|kind| miscounted(kind, &told, &histograms, (&teller, origin)));
        let first = wrong.first().map(|(nth, first)| format!("message {nth}: {first}"));
        let more = wrong.len().saturating_sub(1);
        let got = match (first, counted) {
            (Some(first), _) if more > 0 => Some(format!("{first}; {more} more")),
            (Some(first), _) => Some(first),
            (None, counted) => counted,
        };
        let records = wrong.first().and_then(|(nth, _)| wire.records.get(nth)).copied();
        let amount = wrong.len().max(usize::from(got.is_some()));
        let want = Prediction {
            unit: Unit::Count,
            span: Span::exactly(0),
            formula: "",
            text: format!("{} completions as the wire shows them, and counted so", told.len()),
            source: SOURCE,
        };
        let span = Span::exactly(u64::try_from(amount).unwrap_or(u64::MAX));
        let records = records.into_iter().collect();
        Ok(TrialReading { span, want, got, records, looked: looked(told.len(), "completions") })
    });
    if let Some(resolved) = resolved.take() {
        judged.resolved("rc.completions", &[resolved]);
    }
}
