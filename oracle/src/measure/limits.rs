//! How late the rig, or a device that is served by a process, may be before a trial means nothing for what counts something: it
//! follows from what the device declares.

use super::ahead::in_the_way;
use super::judge_context::OfTrial;
use crate::measure::buffer_ledger::BufferLedger;
use crate::spec::buffer;
use crate::spec::wred::Class;
use crate::trials::context::Context;
use rig_capture::analyse::{pfc_sent, throughput};
use rig_capture::{DutWait, DutWaits, Observation, Unit};
use rig_frames::ip::Ecn;
use rig_testcases::{Amount, Lookup, Measure, Script, StreamRate, StreamSpec};
use rig_units::{Bytes, Dur, PortSpeed, Time};

/// Picoseconds in a second.
const SECOND: u128 = 1_000_000_000_000;
const MILLION: u128 = 1_000_000;

/// How late the rig and a served device may be, and why not more.
#[derive(Debug, PartialEq, Eq)]
pub struct Limit {
    pub(super) within: Dur,
    pub(super) why: String,
}

/// A stream that the device paused in time loses nothing. It is in time as long as what the rig sends meanwhile fits into
/// the headroom, and as long as a pause is asked for again before it is over.
pub(super) fn lossless(
    context: &Context<'_>,
    script: &Script,
    observation: &Observation,
    spec: &StreamSpec,
) -> Option<Limit> {
    let whole = (Time::ZERO, Time::MAX);
    let paused = !pfc_sent(observation, spec.from, spec.class, whole).xoff.is_empty();
    let speed = observation.ports[usize::from(spec.from)].speed;
    if paused { held_back(context, script, (spec, speed)) } else { None }
}

/// The same of one that the device may pause, sent at a port of that speed.
pub(super) fn held_back(
    context: &Context<'_>,
    script: &Script,
    (spec, speed): (&StreamSpec, PortSpeed),
) -> Option<Limit> {
    let declared = context.seen().switch()?;
    let endpoint = script.endpoint(spec.from);
    let lossless = declared.qos.pfc_enable.contains(&spec.class);
    if !lossless || !endpoint.obeys(spec.class) {
        return None;
    }
    let slot = speed.slot(spec.on_wire());
    // Of the frames that fit, those that come although nobody is late: one ahead of the XOFF, one that the rig has begun, and what
    // it sends until it responds and on the way.
    let fits =
        slot * (declared.buffer.xoff.0 / buffer::occupied(&declared.buffer, spec.size).max(1));
    let nominal = speed.slot(declared.mtu) + slot + endpoint.response + context.cable() * 2;
    // The XOFF may leave late, and the frames before it too.
    let headroom = fits.saturating_sub(nominal) / 2;
    let ahead = in_the_way(declared, script, spec.from, spec.class);
    let again =
        speed.pause(declared.pfc.quanta).saturating_sub(declared.pfc.refresh.most() + ahead);
    let name = &spec.name;
    Some(if headroom <= again {
        Limit {
            within: headroom,
            why: format!("what {name} sends meanwhile has to fit into the headroom"),
        }
    } else {
        Limit {
            within: again,
            why: format!("a pause of {name} runs out unless it is asked for again in time"),
        }
    })
}

/// The stretch of a trial that a measure is about.
fn stretch(
    measure: &Measure,
    context: &Context<'_>,
    script: &Script,
    observation: &Observation,
) -> Option<(Time, Time)> {
    let (from, until) = measure.instants();
    let values = OfTrial::of(context, script, observation);
    let at = |end: &Amount| Some(Time::ZERO + end.resolve(&values as &dyn Lookup).ok()?);
    at(from).zip(at(until))
}

/// Why a rate means nothing of a device that the machine kept waiting in that time. The stamps at either end leave open as much as the bound,
/// and a rate tells no less than that: what the device has not made up for of its waits has to be within it.
pub(super) fn starved(
    measure: &Measure,
    context: &Context<'_>,
    script: &Script,
    observation: &Observation,
) -> Option<String> {
    let DutWaits { stretches, makes_up, .. } = &observation.integrity.waits;
    let (from, until) = stretch(measure, context, script, observation)?;
    let meets = |wait: &&DutWait| wait.at >= from && wait.at.saturating_sub(wait.by) <= until;
    let lacks = stretches.iter().filter(meets).map(|wait| wait.by.saturating_sub(*makes_up));
    let (sum, bound) = (lacks.sum::<Dur>(), observation.bound());
    (sum > bound).then(|| {
        let [sum, makes_up, bound] = [sum, *makes_up, bound].map(|time| Unit::Ps.show(time.0));
        format!(
            "from {} to {} the guest was kept waiting for a processor for {sum} beyond the {makes_up} each time that it makes up for, and a \
             rate bears {bound}",
            Unit::Ps.show(from.0),
            Unit::Ps.show(until.0)
        )
    })
}

/// A rate takes records from half of its time at least. Where they are missing, a stall at either end may have kept them away.
pub(super) fn rate(
    measure: &Measure,
    context: &Context<'_>,
    script: &Script,
    observation: &Observation,
) -> Vec<Limit> {
    let Some(window) = stretch(measure, context, script, observation) else { return Vec::new() };
    let streams = measure.names("streams");
    let named = (0_u16..).zip(&script.streams).filter(|(_, spec)| streams.contains(&spec.name));
    let missing = named.filter_map(|(stream, spec)| {
        let why = throughput(observation, script, stream, window).err()?;
        let why = format!("of {} {why}", spec.name);
        Some(Limit { within: (window.1 - window.0) / 4, why })
    });
    missing.take(1).collect()
}

/// A stream that never makes the device pause it has no more frames in the device than it is meant to. Those that the rig is
/// late with come together, and find those that the device is late with.
pub(super) fn crossing(
    context: &Context<'_>,
    observation: &Observation,
    spec: &StreamSpec,
) -> Option<Limit> {
    let declared = context.seen().switch()?;
    if !declared.qos.pfc_enable.contains(&spec.class) {
        return None;
    }
    let first = BufferLedger::span(declared, |empty| empty.first_xoff(spec)).lo;
    let speed = observation.ports[usize::from(spec.from)].speed;
    let gap = match spec.rate {
        StreamRate::Every(gap) => gap,
        StreamRate::Load(_) => speed.slot(spec.on_wire()),
    };
    let within = Dur(gap.0.saturating_mul(first) / 2);
    let why = format!(
        "frame {first} of {} makes the device pause it, however few come at a time",
        spec.name
    );
    Some(Limit { within, why })
}

/// Loads that have room for each other at the port that they go to fill its queue as far as the rig is late: what it makes up for comes together,
/// and finds what came of the others. By that alone the queue is not to come to where it is marked.
pub(super) fn filling(
    context: &Context<'_>,
    script: &Script,
    observation: &Observation,
    spec: &StreamSpec,
) -> Option<Limit> {
    let declared = context.seen().switch()?;
    if !declared.wred.queues.contains(&spec.class) {
        return None;
    }
    let queued = |other: &&StreamSpec| (other.to, other.class) == (spec.to, spec.class);
    let queued = script.streams.iter().filter(queued);
    // One sender alone is no faster than the queue is emptied.
    queued.clone().find(|other| other.from != spec.from)?;
    let speed = observation.ports[usize::from(spec.to)].speed;
    let (mut share, mut held, mut rate) = (0, 0, 0);
    for one in queued {
        let own = observation.ports[usize::from(one.from)].speed;
        let gap = match one.rate {
            StreamRate::Every(gap) => gap,
            StreamRate::Load(rate) => rate.pace(one.on_wire(), own).gap(),
        };
        let (gap, bytes) = (u128::from(gap.0.max(1)), buffer::occupied(&declared.buffer, one.size));
        share += u128::from(speed.slot(one.on_wire()).0) * MILLION / gap;
        held += bytes;
        rate += u128::from(bytes) * SECOND / gap;
    }
    if share > MILLION {
        return None;
    }
    let class = Class { color: declared.qos.color(spec.dscp), capable: spec.ecn != Ecn::NotEct };
    let Bytes(kmin) = class.curve(&declared.wred).kmin;
    let room = u128::from(kmin.saturating_sub(held)) * SECOND / rate.max(1);
    let why = format!(
        "what {} and others to its queue send meanwhile must not fill it to kmin, {kmin}B",
        spec.name
    );
    Some(Limit { within: Dur(u64::try_from(room).unwrap_or(u64::MAX)), why })
}
