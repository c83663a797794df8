//! By how much of itself the rate of a queue has to be off to show, before anything runs: the turns, clocks and transits that a share is held
//! against, and the frames at both ends of what is counted.

use super::legs::legs;
use super::stamps::{speed, stream};
use super::throughput::{Round, offered, others};
use crate::spec::share::{Offer, shares_between};
use crate::trials::context::Context;
use rig_capture::Span;
use rig_testcases::{Action, Lookup, Measure, Script, StreamSpec};
use rig_units::{Bytes, Dur, PortSpeed, Ppm};
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

/// Streams that are to share a port, as a script has them.
pub(super) struct Shared<'a> {
    /// The streams, with their numbers.
    pub(super) specs: Vec<(u16, &'a StreamSpec)>,
    /// What each offers, and what it is granted.
    pub(super) offers: Vec<Offer>,
    pub(super) granted: Vec<Span>,
    pub(super) port: PortSpeed,
    /// When the last of them begins.
    pub(super) since: Dur,
    /// What is looked at.
    pub(super) within: (Dur, Dur),
}

impl<'a> Shared<'a> {
    /// Those of a measure; `None` where that cannot be told yet.
    pub(super) fn of(
        measure: &Measure,
        context: &'a Context<'a>,
        script: &'a Script,
    ) -> Option<Shared<'a>> {
        let names = measure.names("streams");
        let specs: Vec<(u16, &StreamSpec)> =
            names.iter().map(|name| stream(script, name)).collect::<Option<_>>()?;
        let (_, first) = *specs.first()?;
        let planned = Planned { context, script };
        let (from, until) = measure.instants();
        let [from, until] = [from, until].map(|at| at.resolve(&planned as &dyn Lookup).ok());
        let (from, until) = (from?, until?);
        let port = speed(context, script, first.to);
        let offer = |(_, spec): &(u16, &StreamSpec)| Offer {
            queue: usize::from(spec.class),
            frame: spec.on_wire(),
            bps: offered(spec.rate, spec.on_wire(), speed(context, script, spec.from)),
        };
        let offers: Vec<Offer> = specs.iter().map(offer).collect();
        let begins = specs.iter().filter_map(|(index, _)| {
            let starts = |action: &Action| *action == Action::StartStream(*index);
            script.steps.iter().find(|step| starts(&step.action)).map(|step| step.at)
        });
        let begins: Vec<Dur> = begins.collect();
        let begin = begins.iter().copied().min().unwrap_or(from);
        let window = (from.saturating_sub(begin), until.saturating_sub(begin));
        let granted = shares_between(port, &context.switch().scheduler, &offers, window);
        let since = begins.into_iter().max().unwrap_or(from);
        Some(Shared { specs, offers, granted, port, since, within: (from, until) })
    }

    pub(super) const fn over(&self) -> Dur {
        self.within.1.saturating_sub(self.within.0)
    }
}

/// Of the queues that share a port the one that shows the least; `None` where that cannot be told yet, or a queue is to have nothing.
pub(super) fn of(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<Ppm> {
    let shared = Shared::of(measure, context, script)?;
    let (port, over) = (shared.port, shared.over());
    let (_, first) = *shared.specs.first()?;
    let mut queues: BTreeMap<u8, (Span, u64)> = BTreeMap::new();
    for ((_, spec), granted) in shared.specs.iter().zip(&shared.granted) {
        let (share, frame) = queues.entry(spec.class).or_insert((Span::exactly(0), 0));
        *share = Span { lo: share.lo + granted.lo, hi: share.hi + granted.hi };
        *frame = (*frame).max(spec.on_wire().0);
    }
    let round = Round::of(&context.switch().scheduler, &shared.offers);
    let hides = legs(context, script, first).iter().map(|leg| leg.transit().width()).sum();
    let left = others(script, first.to, measure.names("streams"), port);
    let parts = queues.into_iter().map(|(queue, (share, frame))| {
        let uneven = round.uneven(queue, context.apart(), port, (hides, over));
        // A frame at either end of what is counted, on either side of what is wanted; and what stamps leave open of how long that is.
        let frames = u128::from(frame) * 16 * 1_000_000_000_000 / u128::from(over.0.max(1));
        let stamps =
            u128::from(share.hi) * u128::from(context.bound().0) * 4 / u128::from(over.0.max(1));
        let width = u128::from(share.hi.saturating_sub(share.lo)) + u128::from(left);
        part(u128::from(uneven) + frames + stamps + width, share.lo)
    });
    parts.collect::<Option<Vec<Ppm>>>()?.into_iter().max()
}

/// What part of a share so much is; `None` of a share of nothing.
pub(super) fn part(off: u128, share: u64) -> Option<Ppm> {
    let part = (off * u128::from(Ppm::ONE.0)).checked_div(u128::from(share))?;
    Some(Ppm(u32::try_from(part).unwrap_or(u32::MAX)))
}
