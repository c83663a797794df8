//! What timestamps tell of a marking curve.

use super::super::super::drains::{certain, drains_as_it_fills, held_back, waits};
use super::super::super::stamps::{self, Stamps};
use super::super::class;
use crate::trials::context::Context;
use rig_lab::{Marking, Wred};
use rig_testcases::{Measure, Script};
use rig_units::{Bytes, Dur};

/// What frames met is certain where more waits than is open: of a load that comes while others leave, what waits beyond kmin in the end; where pauses make
/// it wait, what they hold back beyond kmin, and what lies between kmin and kmax; of an average that a timer takes, how long it remembers. Where a process serves the device each trial is held against how late it was itself.
pub(super) fn of(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<Stamps> {
    if context.is_served() {
        return None;
    }
    let wred = &context.switch().wred;
    let remembers = wred.average_interval.filter(|_| wred.weight > 0);
    let remembers = remembers.map(|every| every * (1 << wred.weight.min(Wred::MOST_WEIGHT)));
    let remembers =
        remembers.and_then(|time| stamps::told(time, "the time that the average remembers"));
    stamps::finest([remembers, of_load(measure, context, script)])
}

/// The same of a load whatever decides, the depth or an average of it.
fn of_load(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<Stamps> {
    let switch = context.switch();
    let wred = &switch.wred;
    let names = measure.names("streams");
    let mut named = (0_u16..).zip(&script.streams).filter(|(_, of)| names.contains(&of.name));
    let (at, spec) = named.find(|(at, _)| drains_as_it_fills(context, script, *at))?;
    let line = stamps::speed(context, script, spec.to);
    let leaves = class(switch, spec).point(wred) == Marking::Dequeue;
    let beyond = |waits: Dur, what: &str| {
        let beyond = waits.saturating_sub(line.serialise(wred.kmin));
        stamps::told(certain(context, script, (at, leaves), beyond), what)
    };
    let waits = waits(context, script, at).unwrap_or_default();
    let load = beyond(waits, "the time in which drains what waits beyond kmin");
    let depths = line.serialise(Bytes(wred.kmax.0.saturating_sub(wred.kmin.0)));
    let paused = || {
        let held = held_back(context, script, at).unwrap_or_default();
        stamps::finest([
            beyond(held, "the time in which drains what a pause holds back beyond kmin"),
            stamps::told(depths, "the time in which the queue drains from kmax to kmin"),
        ])
    };
    load.or_else(paused)
}
