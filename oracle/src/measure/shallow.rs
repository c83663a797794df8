//! A queue that holds too little to keep its port busy. Shares of a port are those of queues that have something to send whenever their turn comes:
//! one whose limit is below what is on its way through the device, or below what comes while others have their turn, loses frames and runs dry
//! all the same, and a device that declares such a limit is not wrong.

use super::throughput::{Round, offered};
use crate::measure::buffer_ledger::BufferLedger;
use crate::spec::share::Offer;
use crate::trials::context::Context;
use rig_lab::Switch;
use rig_testcases::{Measure, Script, StreamSpec};
use rig_units::{Bytes, PortSpeed};

/// Picoseconds times bits a second that a byte is.
const BYTE: u128 = 8 * 1_000_000_000_000;

/// Why nothing promises that a queue of a class that pauses nobody has a frame whenever its turn comes, although more is sent to it than it is granted.
pub(super) fn runs_dry(
    measure: &Measure,
    context: &Context<'_>,
    script: &Script,
) -> Option<String> {
    let declared = context.seen().switch()?;
    measure.names("streams").iter().find_map(|name| {
        let spec = script.streams.iter().find(|one| one.name == *name)?;
        let port = script.ports.get(usize::from(spec.to))?;
        if declared.qos.lossless(spec.class) {
            return None;
        }
        let holds = BufferLedger::span(declared, |empty| empty.first_drop(spec)).lo - 1;
        let needs = keeps_busy(declared, script, spec);
        let queue = spec.class;
        let why = || {
            format!(
                "queue {queue} of {port} holds {holds} frames of {name}, and by the declared delay and scheduler it takes {needs} to have one whenever its turn comes"
            )
        };
        (holds < needs).then(why)
    })
}

/// How many frames the queue of a stream has to hold for that. Each has its place as soon as it has come, and none can leave before it is through
/// the device; one may take as much longer than another as the delay is wide; and while others have their turn none leaves.
fn keeps_busy(declared: &Switch, script: &Script, spec: &StreamSpec) -> u64 {
    let speed = |port: u16| {
        let port = script.dut_ports.get(usize::from(port)).copied().unwrap_or_default();
        declared.port_speed(port).unwrap_or(PortSpeed::G100)
    };
    let offer = |one: &StreamSpec| Offer {
        queue: usize::from(one.class),
        frame: one.on_wire(),
        bps: offered(one.rate, one.on_wire(), speed(one.from)),
    };
    let to_port = script.streams.iter().filter(|one| one.to == spec.to);
    let offers: Vec<Offer> = to_port.map(offer).collect();
    let (transit, queue) = (declared.transit(), usize::from(spec.class));
    let through = u128::from((transit.most() + transit.width()).0);
    let on_the_way = offers.iter().filter(|one| one.queue == queue).map(|one| {
        let frame = u128::from(one.frame.0.max(1)) * BYTE;
        (through * u128::from(one.bps)).div_ceil(frame) + 1
    });
    let waits = Round::of(&declared.scheduler, &offers).bytes(spec.class);
    let Bytes(frame) = spec.on_wire();
    let needs = on_the_way.sum::<u128>() + u128::from(waits.div_ceil(frame.max(1)));
    u64::try_from(needs).unwrap_or(u64::MAX)
}
