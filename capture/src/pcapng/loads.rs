//! What an interface's comments say of loads: one line for each stream, direction and window.

use crate::{Dir, Observation};
use rig_testcases::Script;
use rig_units::Time;

/// `load stream=victim dir=received window=2 from=0.200000000 frames=7 bytes=7168 first=0.200000130 last=0.200001870`
/// for each load at `port`. Seconds from the trial's start, cut to the nanosecond as those of frames are; bytes count the
/// FCS.
pub(super) fn lines(observation: &Observation, script: &Script, port: u16) -> Vec<String> {
    let loads = observation.loads.all.iter().filter(|load| load.port == port);
    let line = |load: &crate::Load| {
        let dir = match load.dir {
            Dir::Tx => "sent",
            Dir::Rx => "received",
        };
        let begins = observation.loads.windows.get(usize::from(load.window));
        format!(
            "load stream={} dir={dir} window={} from={} frames={} bytes={} first={} last={}",
            name(script, load.connection),
            load.window,
            seconds(begins.copied().unwrap_or(Time::ZERO)),
            load.frames,
            load.bytes,
            seconds(load.first),
            seconds(load.last),
        )
    };
    loads.map(line).collect()
}

/// A stream or a flow, by the name that the case gives it.
fn name(script: &Script, connection: u16) -> String {
    let stream = script.streams.get(usize::from(connection)).map(|spec| spec.name.clone());
    let flow = || script.flow_of(connection).map(|(_, flow)| flow.name.clone());
    stream.or_else(flow).unwrap_or_else(|| format!("#{connection}"))
}

fn seconds(at: Time) -> String {
    let ns = at.0 / 1_000;
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}
