//! A queue that is deep although nothing waits: a frame counts to its depth as long as it is on its way through the device, and a long way of a fast port holds
//! more than a low kmin.

use crate::measure::throughput::offered;
use crate::spec::wred::{self, Class, Fate};
use crate::trials::context::Context;
use rig_frames::ip::Ecn;
use rig_lab::Switch;
use rig_testcases::{Measure, Script, StreamSpec, Wanted};
use rig_units::{Bytes, Dur, PortSpeed};

/// Picoseconds times bits a second that a byte is.
const BYTE: u128 = 8 * 1_000_000_000_000;

/// Why nothing promises that no frame of a stream is marked: what is on its way to its queue alone is deeper than kmin.
pub(super) fn by_itself(
    measure: &Measure,
    context: &Context<'_>,
    script: &Script,
) -> Option<String> {
    let declared = context.group.declared.switch()?;
    let spec = script.streams.iter().find(|spec| spec.name == measure.named("stream"))?;
    let class = Class { color: declared.qos.color(spec.dscp), capable: spec.ecn != Ecn::NotEct };
    let marks = class.fate(&declared.wred) == Fate::Mark
        && declared.wred.queues.contains(&spec.class)
        && measure.wanted("expect") == Wanted::None;
    if !marks {
        return None;
    }
    let to_queue = script.streams.iter().filter(|one| (one.to, one.class) == (spec.to, spec.class));
    let deep: u64 = to_queue.map(|one| on_the_way(declared, script, one)).sum();
    let kmin = declared.wred.kmin;
    (deep > kmin.0).then(|| {
        format!(
            "what is on its way through the device for up to {} makes its queue {} deep, and kmin is {kmin}",
            declared.transit().most(),
            Bytes(deep)
        )
    })
}

/// What the frames of a stream add to the depth that are on their way at once, and one that comes and one that leaves.
fn on_the_way(declared: &Switch, script: &Script, spec: &StreamSpec) -> u64 {
    let port = |port: u16| script.dut_ports.get(usize::from(port)).copied().unwrap_or_default();
    let speed = declared.port_speed(port(spec.from)).unwrap_or(PortSpeed::G100);
    let frame = spec.on_wire();
    let takes: Dur = declared.transit().most() + speed.slot(frame);
    let bits = u128::from(takes.0) * u128::from(offered(spec.rate, frame, speed));
    let frames = bits.div_ceil(u128::from(frame.0.max(1)) * BYTE) + 1;
    let step = wred::step(&declared.buffer, &declared.wred, spec.size);
    u64::try_from(frames).unwrap_or(u64::MAX).saturating_mul(step)
}
