//! What a measure rests on of the order in which the queues of a port are served: that one which is sent no more than the line takes loses
//! nothing, and that one below a flood is not served at all. By another scheduler neither is so, and a device that has one is not wrong.
//! Nor is one that answers a short pause later than it is over: then nothing waits for it.

use super::throughput::offered;
use crate::measure::buffer_ledger::BufferLedger;
use crate::spec::buffer::{self, Off};
use crate::spec::pause::Periodic;
use crate::spec::share::{Offer, shares};
use crate::trials::context::Context;
use rig_capture::{Span, Unit};
use rig_lab::Scheduler;
use rig_testcases::running::{TrafficSource, running};
use rig_testcases::{Action, Measure, Script, StreamSpec, Wanted};
use rig_units::{Bytes, Dur, PortSpeed};
use std::collections::BTreeSet;

/// Why a stream of a class that pauses nobody may lose frames although its queue is sent no more than the line takes: others of the port
/// are served beside it, and leave it less.
pub(super) fn loses(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<String> {
    if measure.wanted("expect") != Wanted::None {
        return None;
    }
    let slowest = context.group.declared.switch()?.scheduler.slowest();
    let granted = while_it_runs(context, script, measure.named("stream"), &slowest)?;
    // What it does not get waits in its queue, and what others do not get may wait in the same memory.
    let waiting = |of: &Granted<'_>| (waits_of(of.offers, of.gets.lo, of.lasts), of.others_wait);
    let waits = granted.iter().map(waiting).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let others: BTreeSet<u8> = granted.iter().flat_map(|of| &of.beside).copied().collect();
    let less = granted.into_iter().find(|of| of.alone.hi >= of.offers && of.gets.hi < of.offers)?;
    let declared = context.seen().switch()?;
    let buffer = &declared.buffer;
    // Queues that pause nobody hold no more than their limits, however much is sent to them.
    let limited = others.iter().all(|class| !declared.qos.pfc_enable.contains(class));
    let drop = |off: Off| {
        let most = buffer::lossy_most(buffer, others.len(), off.limit.unsigned_abs());
        let taken = if limited { waits.1.min(most) } else { waits.1 };
        buffer::lossy_first_drop_off(buffer, less.size, (taken, taken), off.limit)
    };
    let (first, _) = Off::span(declared, drop);
    if waits.0.div_ceil(less.size.0.max(1)) + 2 < first {
        return None;
    }
    let Granted { queue, port, offers, gets, .. } = less;
    let [offers, gets] = [offers, gets.hi].map(|rate| Unit::Bps.show(rate));
    Some(format!(
        "queue {queue} of {port} is sent {offers}, and the declared scheduler grants it {gets} beside the others: nothing promises that it loses none"
    ))
}

/// Why the queue of a stream of a class that pauses nobody does not hold what is sent to it: the flood that is to hold it leaves it some of the
/// port.
pub(super) fn drains(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<String> {
    let names = measure.names("streams");
    let fastest = context.group.declared.switch()?.scheduler.fastest();
    // How many frames there are is what is searched: more are sent as long as none is lost.
    let mut script = script.clone();
    for spec in script.streams.iter_mut().filter(|spec| names.contains(&spec.name)) {
        spec.count = None;
    }
    let granted = names.iter().find_map(|name| {
        let granted = while_it_runs(context, &script, name, &fastest)?;
        // What is to hold it may not even fill the port.
        let mut beside_others = granted.into_iter().filter(|of| !of.beside.is_empty());
        let some = beside_others.find(|of| of.gets.lo > 0)?;
        let Granted { queue, port, gets, .. } = some;
        let gets = Unit::Bps.show(gets.lo);
        Some(format!(
            "what else is sent to {port} is to hold queue {queue}, and the declared scheduler grants that {gets} all the same: it drains"
        ))
    });
    granted.or_else(|| names.iter().find_map(|name| let_go(context, &script, name)))
}

/// Why what else is sent to the port of a stream does not hold its queue until that is full: it comes from a port of another speed, and ends before.
fn let_go(context: &Context<'_>, script: &Script, name: &str) -> Option<String> {
    let declared = context.seen().switch()?;
    let speed = |port: u16| {
        let port = script.dut_ports.get(usize::from(port)).copied().unwrap_or_default();
        declared.port_speed(port).unwrap_or(PortSpeed::G100)
    };
    let begins = |id: u16| {
        let mut steps = script.steps.iter();
        steps.find(|step| step.action == Action::StartStream(id)).map(|step| step.at)
    };
    let all = || (0_u16..).zip(&script.streams);
    let (id, own) = all().find(|(_, one)| one.name == name)?;
    if declared.qos.pfc_enable.contains(&own.class) {
        return None;
    }
    let own_speed = speed(own.from);
    let full = begins(id)?
        + own.pace(own_speed).after(buffer::lossy_first_drop(&declared.buffer, own.size, 0, 0));
    let beside = all().filter(|(_, one)| one.to == own.to && one.class != own.class);
    let mut ends = beside.filter_map(|(id, one)| {
        let from = speed(one.from);
        Some((one, from, begins(id)? + one.length(from)?))
    });
    let (other, from, _) = ends.find(|(_, from, ends)| *from != own_speed && *ends < full)?;
    let ports = [other.from, own.from].map(|port| script.ports.get(usize::from(port)));
    let [by, port] = ports;
    Some(format!(
        "{} of {} at {from} ends before the queue of {name} of {} at {own_speed} is full: it is not held for so long",
        other.name, by?, port?
    ))
}

/// Why a device may have nothing to pause the senders of a class at a port for, which are sent no more than their ports carry: each pause of
/// what receives them may be over before the device has to obey, or holds back less than makes a group cross its limit.
pub(super) fn waits(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<String> {
    if measure.wanted("expect") != Wanted::Some || measure.says("after") {
        return None;
    }
    let (declared, class) = (context.seen().switch()?, measure.arguments.class("class")?);
    let port = script.ports.iter().position(|name| name == measure.named("port"))?;
    let speed = |port: u16| {
        let port = script.dut_ports.get(usize::from(port)).copied().unwrap_or_default();
        declared.port_speed(port).unwrap_or(PortSpeed::G100)
    };
    if declared.scheduler.pir.is_some() || !declared.qos.pfc_enable.contains(&class) {
        return None;
    }
    let mut least = None;
    for (_, senders) in running(script, &speed) {
        let streams = (0_u16..).zip(&script.streams);
        let runs = |(at, _): &(u16, &StreamSpec)| senders.contains(&TrafficSource::Stream(*at));
        let all: Vec<&StreamSpec> = streams.filter(runs).map(|(_, one)| one).collect();
        let own = |one: &&&StreamSpec| usize::from(one.from) == port && one.class == class;
        for spec in all.iter().filter(own) {
            let line = speed(spec.to);
            let to: Vec<&&StreamSpec> = all.iter().filter(|one| one.to == spec.to).collect();
            // Another sender, or one that is faster than the port, makes it wait whatever is paused; of one that does not end by itself
            // as much as it takes waits.
            let (1, Some(count)) = (to.len(), spec.count) else { return None };
            if offered(spec.rate, spec.on_wire(), speed(spec.from)) > line.bps() {
                return None;
            }
            let storms = (0_u16..).zip(&script.storms);
            let held = storms.filter(|(at, storm)| {
                let runs = senders.contains(&TrafficSource::Storm(*at)) && storm.from == spec.to;
                runs && storm.classes & (1 << class) != 0
            });
            let duty = held.map(|(_, storm)| {
                let of = Periodic {
                    quanta: storm.quanta,
                    every: storm.every,
                    speed: line,
                    response: context.apart().most(declared.pfc.response.most()),
                    frame: spec.on_wire(),
                };
                of.duty().least
            });
            let part = duty.max()?;
            let frames = u128::from(count) * u128::from(part) / 1_000_000;
            let limit = BufferLedger::span(declared, |empty| empty.first_xoff(spec)).hi;
            if frames >= u128::from(limit) {
                return None;
            }
            least = Some((spec.to, part, frames, limit));
        }
    }
    let (to, part, frames, limit) = least?;
    let (to, part) = (script.ports.get(usize::from(to))?, Unit::Ppm.show(part));
    Some(format!(
        "the pauses of {to} hold class {class} for {part} of the time at the least, with a response as late as it is declared: {frames} frames need wait, and a group asks for a pause from {limit} on"
    ))
}

/// Bytes that are sent in a time and not granted, by rates in bits a second.
fn waits_of(offers: u64, gets: u64, lasts: Dur) -> u64 {
    let bits = u128::from(offers.saturating_sub(gets)) * u128::from(lasts.0) / 1_000_000_000_000;
    u64::try_from(bits.div_ceil(8)).unwrap_or(u64::MAX)
}

/// What a queue is granted while a stream of it runs, in bits a second in frames.
struct Granted<'a> {
    queue: u8,
    /// Size of the stream's frames.
    size: Bytes,
    /// For how long it runs at the most.
    lasts: Dur,
    /// Bytes that are sent to other queues meanwhile and not granted.
    others_wait: u64,
    /// The classes of those queues.
    beside: Vec<u8>,
    /// The rig's port that it goes to.
    port: &'a str,
    /// All that is sent to it.
    offers: u64,
    /// What it is granted where no other queue has anything to send.
    alone: Span,
    gets: Span,
}

/// That of each while in which the same senders run, of ports that are scheduled so; nothing of a class that pauses its senders, for which nothing waits in the queue alone.
fn while_it_runs<'a>(
    context: &Context<'_>,
    script: &'a Script,
    name: &str,
    scheduler: &Scheduler,
) -> Option<Vec<Granted<'a>>> {
    let declared = context.group.declared.switch()?;
    let (id, own) = (0_u16..).zip(&script.streams).find(|(_, one)| one.name == name)?;
    let lossless = |class: u8| declared.qos.pfc_enable.contains(&class);
    if lossless(own.class) {
        return None;
    }
    let speed = |port: u16| {
        let port = script.dut_ports.get(usize::from(port)).copied().unwrap_or_default();
        declared.port_speed(port).unwrap_or(PortSpeed::G100)
    };
    let line = speed(own.to);
    let port = script.ports.get(usize::from(own.to))?;
    // What each of some streams offers, and what it is granted of the line where these are all.
    let grants = |specs: &[&StreamSpec]| -> Vec<(u8, u64, Span)> {
        let offer = |spec: &&StreamSpec| Offer {
            queue: usize::from(spec.class),
            frame: spec.on_wire(),
            bps: offered(spec.rate, spec.on_wire(), speed(spec.from)),
        };
        let offers: Vec<Offer> = specs.iter().map(offer).collect();
        let granted = shares(line, scheduler, &offers);
        let each = specs.iter().zip(&offers).zip(granted);
        each.map(|((spec, offer), span)| (spec.class, offer.bps, span)).collect()
    };
    let of_queue = |granted: Vec<(u8, u64, Span)>| {
        let own = granted.into_iter().filter(|(class, ..)| *class == own.class);
        own.fold((0, Span::exactly(0)), |(all, gets), (_, offers, more)| {
            (all + offers, Span { lo: gets.lo + more.lo, hi: gets.hi + more.hi })
        })
    };
    let times = running(script, &speed);
    let ends = times.iter().skip(1).map(|(at, _)| *at).chain([script.length]).collect::<Vec<_>>();
    let whiles = times.into_iter().zip(ends).filter_map(|((from, senders), until)| {
        senders.contains(&TrafficSource::Stream(id)).then_some(())?;
        // What a storm holds takes nothing of the port.
        let held = |class: u8| {
            let mut storms = (0_u16..).zip(&script.storms);
            storms.any(|(at, storm)| {
                let runs = senders.contains(&TrafficSource::Storm(at)) && storm.from == own.to;
                runs && lossless(class) && storm.classes & (1 << class) != 0
            })
        };
        let streams = (0_u16..).zip(&script.streams);
        let runs = |(at, one): &(u16, &StreamSpec)| {
            senders.contains(&TrafficSource::Stream(*at)) && one.to == own.to && !held(one.class)
        };
        let all: Vec<&StreamSpec> = streams.filter(runs).map(|(_, one)| one).collect();
        let (same, others): (Vec<&StreamSpec>, Vec<&StreamSpec>) =
            all.iter().partition(|one| one.class == own.class);
        let (offers, alone) = of_queue(grants(&same));
        let (_, gets) = of_queue(grants(&all));
        let own_length = own.length(speed(own.from)).unwrap_or(Dur(u64::MAX));
        let lasts = until.saturating_sub(from).min(own_length);
        let besides = grants(&all).into_iter().filter(|(class, ..)| *class != own.class);
        let others_wait =
            besides.map(|(_, offers, gets)| waits_of(offers, gets.lo, lasts)).sum::<u64>();
        let beside = others.iter().map(|one| one.class).collect();
        Some(Granted {
            queue: own.class,
            size: own.size,
            lasts,
            others_wait,
            beside,
            port,
            offers,
            alone,
            gets,
        })
    });
    Some(whiles.collect())
}
