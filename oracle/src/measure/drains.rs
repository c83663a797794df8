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
    let along = running(script, &speed).into_iter().map(|(_, senders)| senders);
    let along: BTreeSet<TrafficSource> =
        along.filter(|senders| senders.contains(&TrafficSource::Stream(of))).flatten().collect();
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

/// What a port carries of frames as those of a stream.
fn carries(spec: &StreamSpec, line: PortSpeed) -> u64 {
    let all = StreamRate::Load(Rate::Share(Percent { ppm: 1_000_000 }));
    offered(all, spec.on_wire(), line).max(1)
}
