//! By how much of itself what streams get of a full port has to be off to show, before anything runs: what `share.withheld` leaves open of a
//! queue and of each lossless source of it, and the frames at both ends of what is counted.

use super::share_width::{Shared, part};
use super::stamps::speed;
use super::withheld::{Loses, Source, Way, at_the_edge, by_queue};
use crate::trials::context::Context;
use rig_capture::Span;
use rig_testcases::{Measure, Script};
use rig_units::{Ppm, Time};

const PS_PER_S: u128 = 1_000_000_000_000;

/// Of the queues and sources that are judged the one that shows the least; `None` where that cannot be told yet, or a queue is to have nothing.
pub(super) fn of(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<Ppm> {
    let shared = Shared::of(measure, context, script)?;
    let declared = context.switch();
    let clock = context.apart().part(shared.port.bps());
    let speed = |port: u16| speed(context, script, port);
    let way = Way { context, script, speed: &speed, bound: context.bound() };
    let (from, until) = shared.within;
    let window = (Time::ZERO + from, Time::ZERO + until);
    let over = u128::from(shared.over().0.max(1));
    let mut all = Vec::new();
    for (class, (granted, own)) in by_queue(&shared.specs, &shared.offers, (&shared.granted, clock))
    {
        // In bits a second: how far what is wanted goes beyond its share, and of each source the frames at an end with the one that need not
        // be whole.
        let shows = |sources: &[Source<'_>], want: Span, share: u64| {
            let edge = |one: &Source<'_>| {
                let frames = at_the_edge(one.spec, shared.port, context.bound()) + 1;
                u128::from(frames * one.spec.on_wire().0 * 8)
            };
            let frames = sources.iter().map(edge).sum::<u128>() * PS_PER_S / over;
            let open = want.hi.saturating_sub(share).max(share.saturating_sub(want.lo));
            part(u128::from(open) + frames, share)
        };
        if declared.qos.pfc_enable.contains(&class) {
            let within = way.paused(&own, granted)?;
            let each = granted.lo / u64::try_from(own.len()).unwrap_or(u64::MAX);
            for source in &own {
                all.push(shows(core::slice::from_ref(source), within, each)?);
            }
            all.push(shows(&own, granted, granted.lo)?);
        } else {
            let offered: u64 = own.iter().map(|source| source.offered).sum();
            let sent = own.iter().map(|one| {
                let frame = u128::from(one.spec.on_wire().0.max(1)) * 8 * PS_PER_S;
                u128::from(one.offered) * over / frame
            });
            let sent = u64::try_from(sent.sum::<u128>()).unwrap_or(u64::MAX);
            let since = Time::ZERO + shared.since;
            let Loses { span, few, .. } =
                Loses::of(declared, &own, (granted, sent), (since, window));
            // In millionths of what is offered: what is wanted, the single frames at one end of it, and one that is lost or not.
            let open = (span.hi - span.lo).saturating_sub(few) + 1_000_000 / sent.max(1) + 2;
            all.push(part(u128::from(open) * u128::from(offered) / 1_000_000, granted.lo)?);
        }
    }
    all.into_iter().max()
}
