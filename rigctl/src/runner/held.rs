//! How long storms of the rig hold queues of a device, and what they hold.

use rig_lab::{Declared, Switch};
use rig_oracle::measure::Fires;
use rig_oracle::spec::buffer::{self, Off, Others};
use rig_oracle::trials::context::Context;
use rig_oracle::trials::points::Point;
use rig_oracle::trials::threshold_search::Counts;
use rig_testcases::case::{Count, Stream};
use rig_testcases::{Action, Case, Lookup, Script, Step, StormSpec};
use rig_units::{Dur, PortSpeed};

/// How long the last frame of a storm pauses the port that it goes to.
pub(super) fn tail(declared: &Declared, script: &Script, storm: &StormSpec) -> Dur {
    let speed = script.dut_ports.get(usize::from(storm.from));
    let speed = speed.and_then(|port| declared.port_speed(*port));
    speed.unwrap_or(PortSpeed::G100).pause(storm.quanta)
}

/// Each storm that is started, in the order of their numbers, and for how long it sends.
pub(super) fn sending(script: &Script) -> Vec<(u16, Dur)> {
    let each = (0_u16..).zip(&script.storms).flat_map(|(id, _)| {
        let starts = script.steps.iter().filter(move |one| one.action == Action::StartStorm(id));
        starts.map(move |start| {
            let stops = |step: &&Step| step.action == Action::StopStorm(id) && step.at >= start.at;
            let end = script.steps.iter().find(stops).map_or(script.length, |step| step.at);
            (id, end.saturating_sub(start.at))
        })
    });
    each.collect()
}

/// Whether the watchdog takes nothing that holds a queue for a storm while streams send so many frames. A case that is about it has
/// its own say in that.
pub(super) fn is_no_storm(context: &Context<'_>, counts: &Counts) -> bool {
    let Some(watch) = context.watch.as_ref().filter(|watch| !watch.is_measured()) else {
        return true;
    };
    let point = Point { counts: counts.clone(), ..Point::default() };
    let Ok(script) = context.script(&point) else { return false };
    sending(&script).into_iter().all(|(id, sends)| {
        let tail = tail(&context.group.declared, &script, &script.storms[usize::from(id)]);
        watch.fires(sends, tail) == Fires::Never
    })
}

/// As many frames of each searched stream as a search may try: it doubles until the queue takes in no more.
pub(super) fn most_searched(case: &Case, switch: &Switch, values: &dyn Lookup) -> Counts {
    let searched = case.streams.iter().filter(|(_, stream)| stream.count == Some(Count::Searched));
    let most = |name: &str, stream: &Stream| {
        let size = values.size(name).unwrap_or(stream.size);
        let memory = &switch.buffer;
        let lossless = switch.qos.pfc_enable.contains(&stream.class);
        let first = if lossless {
            let drop = |off| buffer::first_drop(memory, size, &Others::ALONE.with(off));
            Off::span(switch, drop).1
        } else {
            buffer::lossy_first_drop(memory, size, 0, 0)
        };
        first.saturating_mul(2)
    };
    searched.map(|(name, stream)| (name.clone(), most(name, stream))).collect()
}
