//! Of several packet memories each has a part of the pool that a case sets. What the case wants of the whole by hand, that nobody is paused or that a
//! port stays busy, a part may be too small for: a device that declares so is not wrong.

use crate::measure::buffer_ledger::BufferLedger;
use crate::spec::buffer::occupied;
use crate::trials::context::Context;
use rig_testcases::{Measure, Script, StreamSpec, Wanted};
use rig_units::PortSpeed;

/// Why nobody says that no sender of a lossless class is paused: one sends as many frames to a port where they wait as one memory makes an XOFF of.
pub(super) fn pauses(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<String> {
    if measure.wanted("expect") != Wanted::None || measure.says("after") {
        return None;
    }
    let declared = context.seen().switch().filter(|switch| switch.buffer.memories() > 1)?;
    let port = script.ports.iter().position(|name| name == measure.named("port"))?;
    let class = measure.arguments.class("class");
    let own = script.streams.iter().filter(|spec| {
        let of_class = class.is_none_or(|class| spec.class == class);
        usize::from(spec.from) == port && of_class && declared.qos.lossless(spec.class)
    });
    own.into_iter().find_map(|spec| {
        let held = script.storms.iter().any(|storm| {
            storm.from == spec.to && storm.classes >> spec.class & 1 == 1
        });
        let shared = script.streams.iter().any(|one| one.to == spec.to && one.name != spec.name);
        let xoff = BufferLedger::span(declared, |empty| empty.first_xoff(spec)).lo;
        let many = spec.count.is_none_or(|count| count >= xoff);
        let (name, memories) = (&spec.name, declared.buffer.memories());
        ((held || shared) && many).then(|| {
            format!(
                "{xoff} frames of {name} that wait bring one of {memories} packet memories to its limit, and the case wants none of them paused"
            )
        })
    })
}

/// Why a lossless stream may leave its port idle, although it has more to send: what its group holds in one memory when it may go on is less than its
/// port sends until more has come.
pub(super) fn runs_dry(
    measure: &Measure,
    context: &Context<'_>,
    script: &Script,
) -> Option<String> {
    let declared = context.seen().switch().filter(|switch| switch.buffer.memories() > 1)?;
    let speed = |port: u16| {
        let port = script.dut_ports.get(usize::from(port)).copied().unwrap_or_default();
        declared.port_speed(port).unwrap_or(PortSpeed::G100)
    };
    let named = |name: &String| script.streams.iter().find(|one| one.name == *name);
    let lossless = |spec: &&StreamSpec| declared.qos.lossless(spec.class);
    let streams = measure.names("streams");
    let mut streams = streams.iter().filter_map(named).filter(lossless);
    streams.find_map(|spec| {
        let each = occupied(&declared.buffer, spec.size);
        let xoff = BufferLedger::span(declared, |empty| empty.first_xoff(spec)).lo;
        let rests = xoff.saturating_sub(2) * each;
        let rests = rests.saturating_sub(declared.buffer.xon_offset.0);
        // An XON behind a frame that leaves, a frame that is on its way, and one that comes.
        let (from, frame) = (speed(spec.from), spec.on_wire());
        let word = declared.resumption().most() + declared.transit().most() + context.cable() * 2;
        let takes = word + from.slot(declared.mtu) + from.slot(frame) * 2;
        let sends = takes.0.div_ceil(speed(spec.to).byte().0.max(1)) + frame.0;
        (rests < sends).then(|| {
            format!(
                "{} has {rests} B in one of {} packet memories when it may go on, and its port sends {sends} B until more has come",
                spec.name,
                declared.buffer.memories()
            )
        })
    })
}
