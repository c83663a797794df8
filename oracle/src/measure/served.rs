//! What a measure rests on of the order in which the queues of a port are served: that one which is sent no more than the line takes loses
//! nothing, and that one below a flood is not served at all. By another scheduler neither is so, and a device that has one is not wrong.

use super::throughput::offered;
use crate::spec::share::{Offer, shares};
use crate::trials::context::Context;
use rig_capture::Span;
use rig_testcases::running::{TrafficSource, running};
use rig_testcases::{Measure, Script, StreamSpec, Wanted};
use rig_units::PortSpeed;

/// Why a stream of a class that pauses nobody may lose frames although its queue is sent no more than the line takes: others of the port
/// are served beside it, and leave it less.
pub(super) fn loses(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<String> {
    if measure.wanted("expect") != Wanted::None {
        return None;
    }
    let granted = while_it_runs(context, script, measure.named("stream"))?;
    let less = granted.into_iter().find(|of| of.alone.hi >= of.offers && of.gets.hi < of.offers)?;
    let Granted { queue, port, offers, gets: Span { hi: gets, .. }, .. } = less;
    Some(format!(
        "queue {queue} of {port} is sent {offers} bit/s, and the declared scheduler grants it {gets} beside the others: nothing promises that it loses none"
    ))
}

/// Why the queue of a stream of a class that pauses nobody does not hold what is sent to it: the flood that is to hold it leaves it some of the
/// port.
pub(super) fn drains(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<String> {
    let names = measure.names("streams");
    // How many frames there are is what is searched: more are sent as long as none is lost.
    let mut script = script.clone();
    for spec in script.streams.iter_mut().filter(|spec| names.contains(&spec.name)) {
        spec.count = None;
    }
    names.iter().find_map(|name| {
        let granted = while_it_runs(context, &script, name)?;
        let some = granted.into_iter().find(|of| of.flooded && of.gets.lo > 0)?;
        let Granted { queue, port, gets: Span { lo: gets, .. }, .. } = some;
        Some(format!(
            "what else is sent to {port} is to hold queue {queue}, and the declared scheduler grants that {gets} bit/s all the same: it drains"
        ))
    })
}

/// What a queue is granted while a stream of it runs, in bits a second in frames.
struct Granted<'a> {
    queue: u8,
    /// The rig's port that it goes to.
    port: &'a str,
    /// All that is sent to it.
    offers: u64,
    /// What it is granted where no other queue has anything to send.
    alone: Span,
    gets: Span,
    /// Whether others fill the port.
    flooded: bool,
}

/// That of each while in which the same senders run; nothing of a class that pauses its senders, for which nothing waits in the queue alone.
fn while_it_runs<'a>(
    context: &Context<'_>,
    script: &'a Script,
    name: &str,
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
        let granted = shares(line, &declared.scheduler, &offers);
        let each = specs.iter().zip(&offers).zip(granted);
        each.map(|((spec, offer), span)| (spec.class, offer.bps, span)).collect()
    };
    let of_queue = |granted: Vec<(u8, u64, Span)>| {
        let own = granted.into_iter().filter(|(class, ..)| *class == own.class);
        own.fold((0, Span::exactly(0)), |(all, gets), (_, offers, more)| {
            (all + offers, Span { lo: gets.lo + more.lo, hi: gets.hi + more.hi })
        })
    };
    let whiles = running(script, &speed).into_iter().filter_map(|(_, senders)| {
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
        let flooded = grants(&others).iter().any(|(_, offers, gets)| gets.hi < *offers);
        Some(Granted { queue: own.class, port, offers, alone, gets, flooded })
    });
    Some(whiles.collect())
}
