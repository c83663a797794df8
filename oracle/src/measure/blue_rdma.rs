//! What is measured of NICs of blue-rdma: their headers, their bitmaps, their CNPs, what they do with packets of RoCEv2, what their drivers have outstanding,
//! acknowledge, send again, give up, write descriptors for and complete.

pub(super) mod acks;
pub(super) mod bitmaps;
pub(super) mod cnps;
pub(super) mod completions;
pub(super) mod descriptors;
pub(super) mod gives_up;
pub(super) mod headers;
mod read_headers;
pub(super) mod recovery;
pub(super) mod resent;
pub(super) mod rocev2;
pub(super) mod windows;

use super::judge_context::TrialReading;
use super::judged::looked;
use super::stamps::{self, Stamps};
use crate::Prediction;
use crate::spec::blue_rdma::{self as spec, SOURCE, near};
use crate::trials::context::Context;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::blue_rdma::{Frame, Says};
use rig_capture::{Dir, PortTrace, Span, Unit, What};
use rig_lab::{Fault, Part};
use rig_testcases::vocabulary::{Entry, FLOW, Looks};
use rig_testcases::{Case, FlowSpec, Measure, Script, Verb};
use rig_units::{Bytes, Dur, Time};
use std::collections::BTreeSet;

/// What all of them are.
const OF_FLOW: Entry = Entry {
    parts: Some(&[Part::BlueRdma]),
    source: "docs/blue-rdma.md: what the released sources do",
    fields: &[FLOW],
    looks: &[Looks::EVERY_FRAME],
    sense: of_two,
    ..Entry::USUAL
};

/// WRITEs and SENDs, with immediate data or without.
const PLACED: [Verb; 4] = [Verb::Write, Verb::Send, Verb::WriteImmediate, Verb::SendImmediate];

/// The flow is one of WRITEs or SENDs from one NIC to the other.
fn of_two(measure: &Measure, case: &Case) -> Vec<Fault> {
    let want =
        "a flow with `verb: write`, `send`, or either with `-immediate`, and `to` the other NIC";
    between(measure, case, |verb| PLACED.contains(&verb), want)
}

/// The flow is one of WRITEs, SENDs or READs between the NICs: what else they do is not built.
fn of_either(measure: &Measure, case: &Case) -> Vec<Fault> {
    let want = "a flow with `verb: write`, `send`, either with `-immediate`, or `read`, and `to` the other NIC";
    between(measure, case, |verb| verb == Verb::Read || PLACED.contains(&verb), want)
}

fn between(measure: &Measure, case: &Case, is_one: fn(Verb) -> bool, want: &str) -> Vec<Fault> {
    let name = measure.named("flow");
    let is_other = |verb: Verb, (nic, to): (&str, &str)| !is_one(verb) || nic == to;
    let flow = case.flows.get(name);
    let fault = flow.filter(|flow| is_other(flow.verb, (&flow.nic, &flow.to))).map(|_| {
        let found = format!("`{}` of `{name}`", measure.name());
        case.fault("measure", found, want)
    });
    fault.into_iter().collect()
}

/// What came before what at a port of a NIC has to be told: a packet of the flow from the next.
fn packets(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<Stamps> {
    let flow = script.flows.iter().find(|flow| flow.name == measure.named("flow"))?;
    let slot = stamps::speed(context, script, flow.nic).slot(Bytes(spec_size(flow).into()));
    stamps::told(slot, "what a packet takes")
}

/// A frame at the port of a NIC.
#[derive(Debug, Clone, Copy)]
struct Passed {
    /// Its place among the records.
    record: usize,
    /// When its last bit passed there.
    at: Time,
    /// Whether the NIC sent it.
    sent: bool,
    frame: Frame,
}

/// A flow and what passed of it.
struct Flow<'a> {
    spec: &'a FlowSpec,
    /// Number of its first packet.
    first: i64,
    /// Packets of a message.
    packets: i64,
    /// What passed the NIC at the end that is looked at, in order.
    passed: Vec<Passed>,
    trace: &'a PortTrace,
    /// When what that NIC sends no longer reaches the rig within the trial.
    until: Time,
}

/// An end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Sender,
    Receiver,
}

impl<'a> Flow<'a> {
    fn of(trial: &'a Trial, flow: &str, end: End) -> Result<Flow<'a>, Doubt> {
        let (index, spec) = trial.flow(flow)?;
        let connection = trial.script.connection(index);
        let port = if end == End::Sender { spec.nic } else { spec.to };
        let trace = &trial.observation.ports[usize::from(port)];
        let all = trial.observation.records.iter().enumerate();
        let own = all.filter_map(|(record, one)| match one.what {
            What::BlueRdma(frame) if (one.port, frame.connection) == (port, connection) => {
                let (sent, way) = (one.dir == Dir::Rx, trace.way(frame.size));
                let at = if sent { one.at.saturating_sub(way) } else { one.at + way };
                Some(Passed { record, at, sent, frame })
            }
            _ => None,
        });
        let mut passed: Vec<Passed> = own.collect();
        passed.sort_by_key(|one| one.at);
        let packets = i64::from(spec.message.div_ceil(spec.mtu.max(1))).max(1);
        let until = (Time::ZERO + trial.script.length).saturating_sub(trace.way(spec_size(spec)));
        Ok(Flow { spec, first: near(spec.psn, 0), packets, passed, trace, until })
    }

    /// What the NIC sent, in the order in which it left: stamps may say the same of two that came soon after each other.
    fn left(&self) -> impl Iterator<Item = &Passed> {
        let mut all: Vec<&Passed> = self.passed.iter().filter(|one| one.sent).collect();
        all.sort_by_key(|one| one.record);
        all.into_iter()
    }

    /// What so many of its frames take at the port.
    fn slots(&self, frames: usize) -> Dur {
        let slot = self.trace.speed.slot(Bytes(spec_size(self.spec).into()));
        slot * u64::try_from(frames).unwrap_or(u64::MAX)
    }
}

/// What a sender knows to have come, by the acknowledgements that reached it.
struct Come {
    /// All before it.
    base: i64,
    beyond: BTreeSet<i64>,
}

impl Come {
    const fn none_before(first: i64) -> Come {
        Come { base: first, beyond: BTreeSet::new() }
    }

    /// An acknowledgement has come to a sender that had sent all before `reached`; anything else changes nothing.
    fn told(&mut self, frame: &Frame, reached: i64) {
        let Says::Report { by_driver, lost, before, now, before_psn, .. } = frame.says else {
            return;
        };
        let [old, new] = [before_psn, frame.psn].map(|one| near(one, self.base));
        if !by_driver {
            let said = spec::come(old, before.into()).chain(spec::come(new, now.into()));
            self.beyond.extend(said.filter(|&number| number < reached));
        } else if !lost {
            self.base = self.base.max(new.min(reached));
        }
        self.beyond = self.beyond.split_off(&self.base);
        while self.beyond.remove(&self.base) {
            self.base += 1;
        }
    }
}

/// Another flow of the NIC at the sender's end.
fn beside<'t>(trial: &'t Trial, flow: &FlowSpec) -> Option<&'t FlowSpec> {
    let mut others = trial.script.flows.iter().filter(|other| other.name != flow.name);
    others.find(|other| other.nic == flow.nic || other.to == flow.nic)
}

/// The name of a counter of the NIC at the sender's end, which counts nothing but this flow.
fn counter_of(trial: &Trial, flow: &FlowSpec, name: &str) -> Result<String, Doubt> {
    if let Some(other) = beside(trial, flow) {
        let why = format!("the NIC counts {} among {}", other.name, flow.name);
        return Err(trial.doubt(&why));
    }
    // There are two of them, by the parts that configure them.
    let is_first = trial.script.dut_ports.get(usize::from(flow.nic)).is_none_or(|port| *port == 0);
    let nic = if is_first { "nic" } else { "peer" };
    Ok(format!("{nic} {name}"))
}

/// The size of its longest frame.
fn spec_size(spec: &FlowSpec) -> u16 {
    let payload = spec.mtu.min(spec.message);
    u16::try_from(payload).unwrap_or(u16::MAX).saturating_add(rig_capture::blue_rdma::OVERHEAD)
}

/// Things that are not as they should be, each with the record that shows it, of so many that were looked at.
fn reading(
    text: String,
    wrong: Vec<(usize, String)>,
    (count, of): (usize, &'static str),
) -> TrialReading {
    let want =
        Prediction { unit: Unit::Count, span: Span::exactly(0), formula: "", text, source: SOURCE };
    let got = wrong.first().map(|(_, first)| match wrong.len() {
        1 => first.clone(),
        all => format!("{first}; {} more", all - 1),
    });
    let span = Span::exactly(u64::try_from(wrong.len()).unwrap_or(u64::MAX));
    let records = wrong.into_iter().map(|(record, _)| record).collect();
    TrialReading { span, want, got, records, looked: looked(count, of) }
}
