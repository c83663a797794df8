//! Which queues a port empties while frames still come: by what a script has run at once.

use super::stamps::speed;
use super::throughput::offered;
use crate::spec::pause::pause_time;
use crate::trials::context::Context;
use rig_testcases::running::{TrafficSource, running};
use rig_testcases::{Script, StreamRate, StreamSpec};
use rig_units::{Dur, Percent, PortSpeed, Rate};
use std::collections::BTreeSet;

/// Whether frames come to the queue of a stream while others leave it: its port is offered more than it carries, or a storm with gaps holds it, and
/// none without gaps does.
pub(super) fn drains_as_it_fills(context: &Context<'_>, script: &Script, of: u16) -> bool {
    let spec = &script.streams[usize::from(of)];
    let speed = |port: u16| speed(context, script, port);
    let line = speed(spec.to);
    let carries = carries(spec, line);
    running(script, &speed).into_iter().any(|(_, senders)| {
        let storms = (0_u16..).zip(&script.storms).filter(|(at, storm)| {
            let runs = senders.contains(&TrafficSource::Storm(*at));
            runs && storm.from == spec.to && storm.classes >> spec.class & 1 == 1
        });
        let gaps: Vec<bool> =
            storms.map(|(_, storm)| storm.every > pause_time(storm.quanta, line)).collect();
        let streams = (0_u16..)
            .zip(&script.streams)
            .filter(|(at, one)| senders.contains(&TrafficSource::Stream(*at)) && one.to == spec.to);
        let offers: u64 =
            streams.map(|(_, one)| offered(one.rate, one.on_wire(), speed(one.from))).sum();
        let fills = gaps.contains(&true) || offers > carries;
        senders.contains(&TrafficSource::Stream(of)) && fills && !gaps.contains(&false)
    })
}

/// How much more all that a stream and those beside it bring takes on their port than the stream lasts: so long drains what waits at its end, where no
/// pause held it.
pub(super) fn waits(context: &Context<'_>, script: &Script, of: u16) -> Option<Dur> {
    let spec = &script.streams[usize::from(of)];
    let speed = |port: u16| speed(context, script, port);
    let line = speed(spec.to);
    let lasts = spec.length(speed(spec.from))?;
    let along = along(context, script, of);
    let beside = (0_u16..)
        .zip(&script.streams)
        .filter(|(at, one)| along.contains(&TrafficSource::Stream(*at)) && one.to == spec.to);
    let brings = beside.map(|(_, one)| match (one.count, one.length(speed(one.from))) {
        (Some(count), Some(length)) => {
            let whole = line.slot(one.on_wire()) * count;
            whole.scaled(lasts.min(length).0, length.0.max(1))
        }
        _ => lasts.scaled(offered(one.rate, one.on_wire(), speed(one.from)), carries(one, line)),
    });
    Some(brings.sum::<Dur>().saturating_sub(lasts))
}

/// The longest that drains what a pause with gaps after it holds back of a stream's queue.
pub(super) fn held_back(context: &Context<'_>, script: &Script, of: u16) -> Option<Dur> {
    let spec = &script.streams[usize::from(of)];
    let line = speed(context, script, spec.to);
    let along = along(context, script, of);
    let storms = (0_u16..).zip(&script.storms).filter(|(at, storm)| {
        let holds = storm.from == spec.to && storm.classes >> spec.class & 1 == 1;
        holds && along.contains(&TrafficSource::Storm(*at))
    });
    let pauses = storms.map(|(_, storm)| (pause_time(storm.quanta, line), storm.every));
    let longest = pauses.filter(|(pause, every)| every > pause).map(|(pause, _)| pause).max()?;
    let comes: u64 = beside(context, script, of).map(|(_, offers)| offers).sum();
    Some(longest.scaled(comes, carries(spec, line)))
}

/// Of a stretch that the queue of a stream takes to drain, what has to be told so that a quarter of it is certain: when a frame leaves, what came by then is
/// open; when one comes, what others brought and what had gone.
pub(super) fn certain(
    context: &Context<'_>,
    script: &Script,
    (of, leaves): (u16, bool),
    stretch: Dur,
) -> Dur {
    let spec = &script.streams[usize::from(of)];
    let carried = carries(spec, speed(context, script, spec.to));
    let comes = beside(context, script, of);
    let comes = comes.filter(|(from, _)| leaves || *from != spec.from);
    let goes = if leaves { 0 } else { carried };
    let open = comes.map(|(_, offers)| offers).sum::<u64>() + goes;
    (stretch / 4 * 3).scaled(carried, open.max(1))
}

/// What comes to the queue of a stream while it runs, itself counted: by which rig port, and how much of it.
fn beside<'a>(
    context: &'a Context<'_>,
    script: &'a Script,
    of: u16,
) -> impl Iterator<Item = (u16, u64)> + 'a {
    let spec = &script.streams[usize::from(of)];
    let along = along(context, script, of);
    let streams = (0_u16..).zip(&script.streams).filter(move |(at, one)| {
        along.contains(&TrafficSource::Stream(*at)) && (one.to, one.class) == (spec.to, spec.class)
    });
    streams.map(|(_, one)| {
        (one.from, offered(one.rate, one.on_wire(), speed(context, script, one.from)))
    })
}

/// What runs at any time while a stream does, itself counted.
fn along(context: &Context<'_>, script: &Script, of: u16) -> BTreeSet<TrafficSource> {
    let speed = |port: u16| speed(context, script, port);
    let all = running(script, &speed).into_iter().map(|(_, senders)| senders);
    all.filter(|senders| senders.contains(&TrafficSource::Stream(of))).flatten().collect()
}

/// What a port carries of frames as those of a stream.
fn carries(spec: &StreamSpec, line: PortSpeed) -> u64 {
    let all = StreamRate::Load(Rate::Share(Percent { ppm: 1_000_000 }));
    offered(all, spec.on_wire(), line).max(1)
}
