//! A tenant of a NIC, and who else sends by the same port or to the same host, by the flows of a script.

use super::super::super::stamps;
use super::super::beside_payload;
use crate::spec::nic::neighbours::{Neighbour, Round};
use crate::trials::context::Context;
use rig_lab::Nic;
use rig_testcases::{FlowSpec, Measure, Script, Verb};
use rig_units::{Bytes, Within};

/// What a WRITE says of the memory that it is for, and a READ of what it wants.
const RETH: u64 = 16;
/// What the first and the last packet of what a READ brings say beside.
const AETH: u64 = 4;
/// What an atomic operation says.
const ATOMIC: u64 = 28;

/// A tenant and its neighbours.
pub(super) struct Tenants<'a> {
    /// The tenant's flow, and its index.
    pub(super) index: u16,
    pub(super) spec: &'a FlowSpec,
    pub(super) sender: &'a Nic,
    pub(super) receiver: &'a Nic,
    /// All other flows that send by its port, or are answered by it.
    pub(super) others: Vec<(&'a FlowSpec, Neighbour)>,
    script: &'a Script,
}

impl<'a> Tenants<'a> {
    pub(super) fn of(
        measure: &Measure,
        context: &'a Context<'_>,
        script: &'a Script,
    ) -> Option<Tenants<'a>> {
        let name = measure.named("flow");
        let (index, spec) = (0_u16..).zip(&script.flows).find(|(_, flow)| flow.name == name)?;
        let nic = |port: u16| context.nics().behind(*script.dut_ports.get(usize::from(port))?);
        let others = script.flows.iter().filter(|flow| flow.name != name);
        let others = others.filter_map(|flow| Some((flow, neighbour(flow, spec)?))).collect();
        let (sender, receiver) = (nic(spec.nic)?, nic(spec.to)?);
        Some(Tenants { index, spec, sender, receiver, others, script })
    }

    /// How many connections bring something to the tenant's host.
    pub(super) fn connections(&self) -> u64 {
        let others = self.others.iter().filter(|(_, one)| one.arrives).count();
        u64::try_from(others).unwrap_or(u64::MAX).saturating_add(1)
    }

    /// The name of the flow of a connection.
    pub(super) fn name_of(&self, connection: u16) -> &str {
        self.script.flow_of(connection).map_or("", |(_, flow)| &flow.name)
    }

    /// From one packet of the tenant to its next, at most.
    pub(super) fn round(&self, context: &Context<'_>) -> Option<Round> {
        let own = neighbour(self.spec, self.spec)?;
        let others: Vec<Neighbour> = self.others.iter().map(|(_, one)| *one).collect();
        let Nic { pfc, host, .. } = self.receiver;
        let speed = stamps::speed(context, self.script, self.spec.to);
        // From what calls for a word until the sender obeys: behind a frame of the receiver's, over the cable, and a frame that is under way.
        let longest =
            core::iter::once(&own).chain(&others).map(|one| one.frames.0 / one.packets.max(1));
        let longest = Bytes(longest.max().unwrap_or(0) + RETH);
        let said = pfc.emission.unwrap_or(Within::ZERO).most() + speed.slot(longest) * 3;
        let response = self.script.endpoint(self.spec.to).response;
        let heard = context.apart().most(said + context.cable() * 2 + response);
        Round::of(host, (&own, &others), speed, (pfc.xoff.zip(pfc.xon), heard))
    }
}

/// What a flow sends by the port of `tenant`: its messages, requests for them, or what they are answered with. `None`: nothing that waits for a turn.
fn neighbour(flow: &FlowSpec, tenant: &FlowSpec) -> Option<Neighbour> {
    let packets = u64::from(flow.message.div_ceil(flow.mtu.max(1)).max(1));
    let message = u64::from(flow.message);
    let of = |packets: u64, payload: u64, arrives: bool| Neighbour {
        packets,
        frames: Bytes(payload) + beside_payload(flow) * packets,
        payload: Bytes(payload),
        arrives,
    };
    let by_port = flow.nic == tenant.nic;
    match flow.verb {
        Verb::Read if by_port => Some(of(1, RETH, false)),
        Verb::Read => {
            let said = AETH * packets.min(2);
            (flow.to == tenant.nic).then(|| of(packets, message + said, flow.nic == tenant.to))
        }
        _ if !by_port => None,
        verb if verb.is_atomic() => Some(of(1, ATOMIC, flow.to == tenant.to)),
        verb => {
            let write = matches!(verb, Verb::Write | Verb::WriteImmediate | Verb::WriteUnreliable);
            let said = if write { RETH } else { 0 } + if verb.has_tail() { AETH } else { 0 };
            Some(of(packets, message + said, flow.to == tenant.to))
        }
    }
}

/// Who is beside the tenant, for people: `small (4 queue pairs, write of 64B)`, and what the host at the other end sends to itself.
pub(super) fn words(tenants: &Tenants<'_>) -> String {
    let mut groups: Vec<(&str, &FlowSpec, u64)> = Vec::new();
    for (flow, _) in &tenants.others {
        let stem = stem(&flow.name);
        match groups.iter_mut().find(|(name, ..)| *name == stem) {
            Some((_, _, count)) => *count += 1,
            None => groups.push((stem, flow, 1)),
        }
    }
    let of = |(name, flow, count): &(&str, &FlowSpec, u64)| {
        let verb = Verb::NAMES.iter().find(|(_, verb)| *verb == flow.verb);
        let verb = verb.map_or("", |(name, _)| name);
        let pairs = if *count == 1 { "queue pair" } else { "queue pairs" };
        format!("{name} ({count} {pairs}, {verb} of {})", Bytes(flow.message.into()))
    };
    let loopback = tenants.receiver.host.loopback;
    let itself = loopback.map(|rate| format!("what its receiver's host sends to itself ({rate})"));
    let all: Vec<String> = groups.iter().map(of).chain(itself).collect();
    if all.is_empty() { "nobody".to_owned() } else { all.join(" and ") }
}

/// The name of a flow, without its number where it is one of several queue pairs.
fn stem(name: &str) -> &str {
    match name.rsplit_once('-') {
        Some((stem, number)) if number.chars().all(|digit| digit.is_ascii_digit()) => stem,
        _ => name,
    }
}
