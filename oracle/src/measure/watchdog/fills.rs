//! A port that is to be full when its queue is given back: that somebody is asked to pause again shows it, and how soon a port is full follows from
//! its speed.

use super::super::stamps;
use super::super::throughput::offered;
use crate::measure::buffer_ledger::BufferLedger;
use crate::spec::share::{Offer, shares};
use crate::trials::context::Context;
use rig_testcases::{Action, Lookup as _, Measure, Script, StreamSpec};
use rig_units::Dur;

/// Why a stream does not show when its port is given back: it asks for no pause yet when that may be.
pub(super) fn late(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<String> {
    let named = |one: &&StreamSpec| one.name == measure.named("stream");
    let (index, spec) = (0_u16..).zip(&script.streams).find(|(_, one)| named(one))?;
    let storm = script.storms.iter().position(|one| one.name == measure.named("storm"))?;
    if script.storms[storm].from != spec.from {
        return None;
    }
    let at = |is: &dyn Fn(&Action) -> bool| {
        script.steps.iter().filter(|step| is(&step.action)).map(|step| step.at).max()
    };
    let ends = at(&|action| matches!(action, Action::StopStorm(id) if usize::from(*id) == storm))?;
    let begins = at(&|action| *action == Action::StartStream(index))?;
    let earliest = ends + context.values().duration("predicted.restoration.earliest")?;
    let full = begins + fills(context, script, spec)?;
    let port = script.ports.get(usize::from(spec.to))?;
    let speed = stamps::speed(context, script, spec.to);
    (begins >= ends && full > earliest).then(|| {
        format!(
            "{} takes {} to be as full at {port} of {speed} that somebody is asked to pause, and the queue may be given back before",
            spec.name,
            full.saturating_sub(begins)
        )
    })
}

/// How long a stream that has less of its port than it offers takes to bring its group to where a pause is asked for; `None` where it has all.
fn fills(context: &Context<'_>, script: &Script, spec: &StreamSpec) -> Option<Dur> {
    let declared = context.seen().switch()?;
    let speed = |port: u16| stamps::speed(context, script, port);
    let to_port: Vec<&StreamSpec> =
        script.streams.iter().filter(|one| one.to == spec.to && !one.is_to_nic()).collect();
    let offer = |one: &&StreamSpec| Offer {
        queue: usize::from(one.class),
        frame: one.on_wire(),
        bps: offered(one.rate, one.on_wire(), speed(one.from)),
    };
    let offers: Vec<Offer> = to_port.iter().map(offer).collect();
    let own = to_port.iter().position(|one| one.name == spec.name)?;
    let granted = shares(speed(spec.to), &declared.scheduler, &offers).get(own)?.hi;
    let more = u128::from(offers[own].bps.checked_sub(granted).filter(|more| *more > 0)?);
    let frames = BufferLedger::span(declared, |empty| empty.first_xoff(spec)).hi;
    let bits = u128::from(frames) * u128::from(spec.on_wire().0) * 8;
    u64::try_from(bits * 1_000_000_000_000 / more).ok().map(Dur)
}
