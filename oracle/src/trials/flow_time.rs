//! How long the flows of a script may take between two NICs, by what is declared of both, of the way and of what the case does to their frames: a case
//! says how long its trial is in an ordinary lab, and over longer cables, at slower ports or with slower NICs a flow that is healthy is not done by
//! then.
//!
//! Nothing is judged by it: a trial that is too long costs a little, one that is too short tells nothing.

use super::context::Context;
use crate::spec::nic::rc::{rnr_retries, timeout};
use rig_lab::Nic;
use rig_testcases::{Action, FlowSpec, Injected, Injection, Script, Target, Verb, Which};
use rig_units::{Bytes, Dur, PortSpeed, Ppm, Within};
use std::collections::BTreeMap;

/// What is between two NICs, there and back, with a frame of so many bytes: cables, devices, the rig, and the frame itself at each of them.
pub fn round_trip(context: &Context<'_>, script: &Script, frame: Bytes) -> Dur {
    let rig = script.between.as_ref().map_or(Dur::ZERO, |(.., between)| between.delay);
    let slot = slowest(context).slot(frame);
    let relays = context.relays();
    let beyond = relays.iter().flatten().map(|relay| relay.transit.most() + relay.cable + slot);
    let way = context.cable() * 2 + rig + slot * 2 + beyond.sum();
    context.apart().most(way * 2)
}

/// When the last flow of a script may be done, from the trial's start; zero where none ends by itself.
pub(super) fn latest(context: &Context<'_>, script: &Script) -> Dur {
    // Looked for once: there may be thousands of flows, each with steps of its own.
    let (mut started, mut stopped) = (BTreeMap::new(), BTreeMap::new());
    for step in &script.steps {
        let (times, flow) = match step.action {
            Action::StartFlow(flow) => (&mut started, flow),
            Action::StopFlow(flow) => (&mut stopped, flow),
            _ => continue,
        };
        let last = times.entry(flow).or_insert(step.at);
        *last = step.at.max(*last);
    }
    let flows = || (0_u16..).zip(&script.flows);
    let done = flows().filter_map(|(index, spec)| {
        Some(*started.get(&index)? + takes(context, script, (index, spec))?)
    });
    // They share their ports: each may wait for all others.
    let all: Dur = done.sum();
    // Of one that is stopped the message that is under way, and all that is on the way, is still to come.
    let stops = flows().filter_map(|(index, spec)| {
        let one = FlowSpec { count: spec.count.is_none().then_some(1), ..spec.clone() };
        Some(*stopped.get(&index)? + takes(context, script, (index, &one))?)
    });
    stops.fold(all, Dur::max)
}

fn slowest(context: &Context<'_>) -> PortSpeed {
    let declared = &context.group.declared;
    let speeds = (0..declared.port_count()).filter_map(|port| declared.port_speed(port));
    speeds.min().unwrap_or(PortSpeed::G100)
}

/// What one flow takes by itself; `None` of one that goes on until it is stopped, or to the rig.
fn takes(context: &Context<'_>, script: &Script, flow: (u16, &FlowSpec)) -> Option<Dur> {
    let (index, spec) = flow;
    let messages = u64::from(spec.count?);
    if spec.nic == spec.to {
        return None;
    }
    let (.., between) = script.between.as_ref()?;
    let nic = |port: u16| context.seen().nics()?.behind(*script.dut_ports.get(usize::from(port))?);
    let (own, other) = (nic(spec.nic)?, nic(spec.to)?);
    let frame = Bytes(u64::from(spec.mtu)) + spec.headers();
    let packets = u64::from(spec.message.div_ceil(spec.mtu.max(1)));
    let all = slowest(context).slot(frame) * (packets * messages);
    let misses = (own.receive.miss + other.receive.miss) * (packets * messages);
    // Over a wire an answer comes when a machine has a processor for it.
    let waits = if context.is_served() { context.bound() } else { Dur::ZERO };
    let trip = round_trip(context, script, frame) + waits;
    let (asks, answers) = if spec.verb == Verb::Read { (own, own) } else { (other, other) };
    let held = answers.rc.ack_held.map_or(Dur::ZERO, Within::most);
    // A timer runs from the last acknowledgement that came.
    let told = asks.rc.nak_latency.most().max(answers.rc.ack_latency.most() + held);
    let asked = trip + told + own.rc.resend_latency.most();
    let end = trip + other.rc.ack_latency.most() + held;
    let connection = script.connection(index);
    let each = between.inject.iter().filter(|one| one.on == connection);
    let again = each.map(|one| costs(one, own, (messages * packets, all), asked)).sum::<Dur>();
    // Who is told of a mark may be as slow as its least rate from then on.
    let (sends, told) = if spec.verb == Verb::Read { (other, own) } else { (own, other) };
    let marks = between.inject.iter().any(|one| matches!(one.tamper, Injected::Ce));
    let slowed = marks && sends.rp.enable && told.np.enable;
    let slowed = slowed.then(|| sends.rp.min_rate.serialise(frame * (packets * messages)));
    let all = all + slowed.unwrap_or(Dur::ZERO);
    // A request of a READ is a way of its own for each message, and so is an atomic operation, and what may wait behind a fence.
    let one_by_one = spec.verb.waits() || spec.verb == Verb::SendRegistered;
    // A step of an application may wait for the one before it each time, and its host takes its own time in each round.
    let requests = if one_by_one || spec.app.is_some() { asked * messages } else { Dur::ZERO };
    let thinks = spec.app.map_or(Dur::ZERO, |step| step.think * u64::from(step.rounds));
    let requests = requests + thinks;
    Some(context.apart().most(all + misses + again + requests + end))
}

/// How many of so many a chance may hit: all but never more.
fn likely(all: u64, chance: Ppm) -> u64 {
    let mean = (u128::from(all) * u128::from(chance.0)).div_ceil(u128::from(Ppm::ONE.0));
    let mean = u64::try_from(mean).unwrap_or(u64::MAX);
    mean.saturating_add(5 * (mean.isqrt() + 1))
}

/// How much longer a flow may take for what is done to its frames: for each the question and the way back, the timer where nobody asks, and what is sent
/// in vain meanwhile.
fn costs(injection: &Injection<u16>, own: &Nic, (packets, all): (u64, Dur), asked: Dur) -> Dur {
    let waits = timeout(&own.rc).map_or(Dur::ZERO, Within::most);
    let times = match injection.which {
        Which::Psn(_) | Which::Nth(_) | Which::During { .. } => 1,
        Which::Every { every, run } => packets * u64::from(run.max(1)) / u64::from(every.max(1)),
        Which::Drawn(chance) => likely(packets, chance),
    };
    // What is done in every round is done until the sender gives up.
    let for_good = matches!(injection.which, Which::Psn(_)) && injection.iteration.is_none();
    let round = asked + waits;
    // Of what is drawn only what is lost again, and what nobody asks for, waits for a timer.
    if let (Which::Drawn(chance), Target::Data) = (injection.which, injection.frames) {
        let (later, again) = match injection.tamper {
            Injected::Drop | Injected::BadIcrc => (Dur::ZERO, likely(times, chance)),
            Injected::Delay(by) => (by, 0),
            Injected::Behind(_) => (Dur::ZERO, 0),
            _ => return Dur::ZERO,
        };
        return (asked + later + all.min(asked)) * times + waits * again;
    }
    let wait = |wait| wait + own.rc.rnr_late.map_or(Dur::ZERO, Within::most) + asked;
    match injection.tamper {
        // Nobody sends a datagram again.
        Injected::Ce | Injected::Duplicate | Injected::OtherKey => Dur::ZERO,
        Injected::Drop | Injected::BadIcrc | Injected::Rocev2 | Injected::BlueRdma if for_good => {
            round + waits * u64::from(own.rc.retries) + all.min(round)
        }
        Injected::Drop
        | Injected::BadIcrc
        | Injected::Rocev2
        | Injected::BlueRdma
        | Injected::Behind(_) => (round + all.min(round)) * times,
        Injected::Delay(by) => by + (round + all.min(round)) * times,
        Injected::NotReady(timer) if for_good => {
            wait(timer.wait()) * u64::from(rnr_retries(&own.rc).unwrap_or(0) + 1)
        }
        Injected::NotReady(timer) => wait(timer.wait()) + all.min(round),
    }
}
