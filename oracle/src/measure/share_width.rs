//! By how much of itself the rate of a queue has to be off to show, before anything runs: the turns, clocks and transits that a share is held
//! against, and the frames at both ends of what is counted.

use super::legs::legs;
use super::stamps::{speed, stream};
use super::throughput::{Round, offered, others};
use crate::spec::share::{Offer, shares_between};
use crate::trials::context::Context;
use rig_capture::Span;
use rig_testcases::{Action, Lookup, Measure, Script, StreamSpec};
use rig_units::{Bytes, Dur, Ppm};
use std::collections::BTreeMap;

/// What names stand for in a script that has not run yet.
struct Planned<'a> {
    context: &'a Context<'a>,
    script: &'a Script,
}

impl Lookup for Planned<'_> {
    fn duration(&self, name: &str) -> Option<Dur> {
        let own = stream(self.script, name);
        let length = |spec: &StreamSpec| spec.length(speed(self.context, self.script, spec.from));
        own.and_then(|(_, spec)| length(spec)).or_else(|| self.context.values().duration(name))
    }

    fn size(&self, stream: &str) -> Option<Bytes> {
        self.context.values().size(stream)
    }
}

/// Of the queues that share a port the one that shows the least; `None` where that cannot be told yet, or a queue is to have nothing.
pub(super) fn of(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<Ppm> {
    let names = measure.names("streams");
    let specs: Vec<(u16, &StreamSpec)> =
        names.iter().map(|name| stream(script, name)).collect::<Option<_>>()?;
    let (_, first) = *specs.first()?;
    let planned = Planned { context, script };
    let (from, until) = measure.instants();
    let [from, until] = [from, until].map(|at| at.resolve(&planned as &dyn Lookup).ok());
    let (from, until) = (from?, until?);
    let over = until.saturating_sub(from);
    let port = speed(context, script, first.to);
    let offer = |(_, spec): &(u16, &StreamSpec)| Offer {
        queue: usize::from(spec.class),
        frame: spec.on_wire(),
        bps: offered(spec.rate, spec.on_wire(), speed(context, script, spec.from)),
    };
    let offers: Vec<Offer> = specs.iter().map(offer).collect();
    let scheduler = &context.switch().scheduler;
    let begins = specs.iter().filter_map(|(index, _)| {
        let starts = |action: &Action| *action == Action::StartStream(*index);
        script.steps.iter().find(|step| starts(&step.action)).map(|step| step.at)
    });
    let begin = begins.min().unwrap_or(from);
    let window = (from.saturating_sub(begin), until.saturating_sub(begin));
    let mut queues: BTreeMap<u8, (Span, u64)> = BTreeMap::new();
    for ((_, spec), granted) in specs.iter().zip(shares_between(port, scheduler, &offers, window)) {
        let (share, frame) = queues.entry(spec.class).or_insert((Span::exactly(0), 0));
        *share = Span { lo: share.lo + granted.lo, hi: share.hi + granted.hi };
        *frame = (*frame).max(spec.on_wire().0);
    }
    let round = Round::of(scheduler, &offers);
    let hides = legs(context, script, first).iter().map(|leg| leg.transit().width()).sum();
    let left = others(script, first.to, names, port);
    let parts = queues.into_iter().map(|(queue, (share, frame))| {
        let uneven = round.uneven(queue, context.apart(), port, (hides, over));
        // A frame at either end of what is counted, on either side of what is wanted; and what stamps leave open of how long that is.
        let frames = u128::from(frame) * 16 * 1_000_000_000_000 / u128::from(over.0.max(1));
        let stamps =
            u128::from(share.hi) * u128::from(context.bound().0) * 4 / u128::from(over.0.max(1));
        let width = u128::from(share.hi.saturating_sub(share.lo)) + u128::from(left);
        let off = u128::from(uneven) + frames + stamps + width;
        let part = (off * u128::from(Ppm::ONE.0)).checked_div(u128::from(share.lo))?;
        Some(Ppm(u32::try_from(part).unwrap_or(u32::MAX)))
    });
    parts.collect::<Option<Vec<Ppm>>>()?.into_iter().max()
}
