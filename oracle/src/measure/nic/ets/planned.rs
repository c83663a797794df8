//! By how much of itself what a traffic class gets has to be off to show, before anything runs: a round of all classes, what is left open of
//! which bytes count, limits that need not make up for what their class waits, clocks and stamps, and a frame at both ends of what is counted.

use super::super::beside_payload;
use super::offered::{Of, Offered, Table, classes, sends};
use super::{want, window};
use crate::trials::context::Context;
use rig_capture::Span;
use rig_testcases::{Action, FlowSpec, Injected, Measure, Script, StreamKind, Verb, Window};
use rig_units::{Dur, Ppm, Time};

/// What the first packet of a message has beside its headers, of a WRITE.
const RETH: u64 = 16;

/// Of the named classes the one that shows the least; `None` where that cannot be told yet: CNPs, marks or PFC may hold a flow back, and what it has
/// to send then is read off the wire. A class that is to have nothing is left out: whatever it gets shows.
pub(super) fn shows(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<Ppm> {
    let window = window(measure);
    let offered = planned(&window, context, script)?;
    let declared = classes(&offered, &offered.table);
    let wanted = want(&offered, offered.port, &declared);
    let round = offered.round(&declared);
    let is_named = |class: usize| {
        let own = |of: &Of| of.is_named && offered.table.class_of(of.priority) == class;
        offered.flows.iter().any(own)
    };
    let named = wanted.iter().enumerate().filter(|(class, _)| is_named(*class));
    let each = named.filter_map(|(class, want)| {
        let own = offered.flows.iter().filter(|of| offered.table.class_of(of.priority) == class);
        let longest = own.map(|of| of.longest).max()?;
        // What is wanted has a round at either end, of which one has to be passed. What is read is open by a frame and by what stamps are, and one
        // more frame need not be whole.
        let read = offered.rate(offered.bytes_of(want.hi), 2 * longest);
        let off = u128::from(want.hi - want.lo).saturating_sub(round.into());
        let off = off + u128::from(read.hi - want.hi.min(read.hi));
        let share = u64::midpoint(want.lo, want.hi);
        // Below a round nothing is promised.
        let is_nothing = want.lo == 0;
        (!is_nothing).then(|| off * u128::from(Ppm::ONE.0) / u128::from(share.max(1)))
    });
    let most = each.max()?;
    Some(Ppm(u32::try_from(most).unwrap_or(u32::MAX)))
}

/// What the flows of the NIC have to send in a window, as the script has it.
fn planned(window: &Window, context: &Context<'_>, script: &Script) -> Option<Offered> {
    let first = script.flows.iter().find(|flow| window.flows.first() == Some(&flow.name))?;
    let port = first.nic;
    if is_held(script, window.until) {
        return None;
    }
    let behind = *script.dut_ports.get(usize::from(port))?;
    let nic = context.nics().behind(behind)?;
    let speed = context.group.declared.port_speed(behind)?;
    let within = (Time::ZERO + window.from, Time::ZERO + window.until);
    let mut flows = Vec::new();
    for (index, spec) in (0_u16..).zip(&script.flows).filter(|(_, spec)| spec.nic == port) {
        if spec.verb == Verb::Read || !sends(script, (index, spec), within).ok()? {
            continue;
        }
        let (frames, bytes, longest) = message(spec);
        flows.push(Of {
            name: spec.name.clone(),
            priority: spec.class,
            is_named: window.flows.contains(&spec.name),
            offers: Span::exactly(speed.bps()),
            frames,
            bytes,
            longest,
            records: Vec::new(),
        });
    }
    let clock = context.apart().part(speed.bps());
    let (blur, lasts) = (context.bound() * 2, within.1 - within.0);
    (blur * 10 <= lasts).then_some(())?;
    let port =
        Span { lo: speed.bps().saturating_sub(clock), hi: speed.bps().saturating_add(clock) };
    let table = Table::of(&nic.ets)?;
    Some(Offered { table, flows, frames: 0, port, speed, lasts, blur, clock })
}

/// Whether something may hold a flow back by then, beside the port and its classes.
fn is_held(script: &Script, until: Dur) -> bool {
    let marks = script.between.as_ref().is_some_and(|(.., between)| {
        between.bottleneck.is_some()
            || between.inject.iter().any(|one| matches!(one.tamper, Injected::Ce))
    });
    let is_cnp = |stream: u16| {
        let stream = script.streams.get(usize::from(stream));
        stream.is_some_and(|stream| stream.kind == StreamKind::Cnp)
    };
    let holds = |action: &Action| match action {
        Action::Pfc(_) | Action::StartStorm(_) => true,
        Action::StartStream(stream) => is_cnp(*stream),
        _ => false,
    };
    marks || script.steps.iter().any(|step| step.at < until && holds(&step.action))
}

/// The packets of a message, their bytes, and those of the longest.
fn message(spec: &FlowSpec) -> (u64, u64, u64) {
    let packets = u64::from(spec.message.div_ceil(spec.mtu.max(1)).max(1));
    let first = if matches!(spec.verb, Verb::Write | Verb::WriteUnreliable) { RETH } else { 0 };
    let bytes = u64::from(spec.message) + packets * beside_payload(spec).0 + first;
    (packets, bytes, u64::from(spec.mtu.min(spec.message)) + beside_payload(spec).0 + first)
}

impl Offered {
    /// What so many bits a second come to in the window.
    fn bytes_of(&self, bps: u64) -> u64 {
        let bytes = u128::from(bps) * u128::from(self.lasts.0) / (8 * 1_000_000_000_000);
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}
