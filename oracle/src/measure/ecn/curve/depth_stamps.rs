//! What timestamps tell of a marking curve.

use super::super::super::drains::{drains_as_it_fills, waits};
use super::super::super::stamps::{self, Stamps};
use crate::trials::context::Context;
use rig_testcases::{Measure, Script};
use rig_units::Bytes;

/// What frames met is certain where more waits than is open: of a load that comes while others leave, what waits beyond kmin in the end; where pauses make
/// it wait, what lies between kmin and kmax. Where a process serves the device each trial is held against how late it was itself.
pub(super) fn of(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<Stamps> {
    if context.is_served() {
        return None;
    }
    let wred = &context.switch().wred;
    let names = measure.names("streams");
    let mut named = (0_u16..).zip(&script.streams).filter(|(_, of)| names.contains(&of.name));
    let (at, spec) = named.find(|(at, _)| drains_as_it_fills(context, script, *at))?;
    let line = stamps::speed(context, script, spec.to);
    let waits = waits(context, script, at).unwrap_or_default();
    let beyond = waits.saturating_sub(line.serialise(wred.kmin));
    let beyond = stamps::told(beyond, "the time in which drains what waits beyond kmin");
    let depths = line.serialise(Bytes(wred.kmax.0.saturating_sub(wred.kmin.0)));
    beyond.or_else(|| stamps::told(depths, "the time in which the queue drains from kmax to kmin"))
}
