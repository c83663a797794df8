//! What measures and storms need to have been recorded, held against the taps of the case.

use crate::case::Stream;
use crate::{Case, Measure, StreamRate, Tap, Wanted};
use rig_lab::walk::At;

/// Something that shows only in what was recorded at a port.
struct Need<'a> {
    port: &'a str,
    /// The least that must be recorded there.
    tap: Tap,
    /// Who needs it, as a clause: `` `loss` follows the frames of `victim` ``.
    what: String,
    /// What a case that says nothing of the port's tap is pointed at.
    place: String,
}

/// Notes every port at which less is recorded than a measure or a storm of the case needs; one fault for each port.
pub(super) fn check(at: &At<'_>, case: &Case) {
    let needs = needs(case);
    for port in case.rig_ports() {
        let tap = case.taps.get(&port).copied().unwrap_or_default();
        let missed = needs.iter().find(|need| *need.port == port && need.tap > tap);
        let Some(Need { what, tap: least, place, .. }) = missed else { continue };
        let place =
            if case.taps.contains_key(&port) { format!("taps.{port}") } else { place.clone() };
        let found = format!("{what} at {port}, where the tap records `{tap}`");
        let enough = match least {
            Tap::All => "all",
            Tap::Sampled => "all or sampled",
            Tap::Pfc | Tap::None => "all, sampled or pfc",
        };
        at.note(case.fault(&place, found, format!("{enough} at {port}, under `taps:`")));
    }
}

/// Everything that must be recorded somewhere, measure by measure, then storm by storm.
fn needs(case: &Case) -> Vec<Need<'_>> {
    let mut all: Vec<Need<'_>> = case.measure.iter().flat_map(|m| of_measure(case, m)).collect();
    for (name, storm) in &case.storms {
        // A storm that nobody recorded cannot be shown to have held.
        let what = format!("whether `{name}` left no gap shows");
        all.push(Need { port: &storm.from, tap: Tap::Pfc, what, place: format!("storms.{name}") });
    }
    all
}

fn of_measure<'a>(case: &'a Case, measure: &'a Measure) -> Vec<Need<'a>> {
    let name = measure.name();
    let mut all = Vec::new();
    for (stream, of) in measure.follows(case).iter().filter_map(|s| case.streams.get_key_value(*s))
    {
        for port in [&of.from, &of.to] {
            let what = format!("`{name}` follows the frames of `{stream}`");
            let place = format!("streams.{stream}");
            all.push(Need { port, tap: Tap::Sampled, what, place });
        }
    }
    match measure {
        Measure::Throughput { streams, .. } => {
            for (stream, of) in streams.iter().filter_map(|s| case.streams.get_key_value(s)) {
                let what = format!("`{name}` counts the frames of `{stream}`");
                let place = format!("streams.{stream}");
                all.push(Need { port: &of.to, tap: Tap::Sampled, what, place });
            }
        }
        Measure::Withheld { streams, .. } => {
            for (stream, of) in streams.iter().filter_map(|s| case.streams.get_key_value(s)) {
                for port in [&of.from, &of.to] {
                    let what = format!("`{name}` counts every frame of `{stream}`");
                    let place = format!("streams.{stream}");
                    all.push(Need { port, tap: Tap::All, what, place });
                }
            }
        }
        Measure::PfcSent { port, .. }
        | Measure::PfcFormat { port }
        | Measure::PfcCounters { port, .. } => {
            let what = format!("`{name}` looks at the PFC frames");
            all.push(Need { port, tap: Tap::Pfc, what, place: String::new() });
        }
        Measure::Loss { stream, expect: Wanted::Predicted } => {
            if let Some(of) = case.streams.get(stream).filter(|of| stormed_load(case, of)) {
                let what = format!("`{name}` of the load `{stream}` is predicted from every frame");
                let place = format!("streams.{stream}.rate");
                all.push(Need { port: &of.from, tap: Tap::All, what, place });
            }
        }
        Measure::EcnCurve { .. }
        | Measure::EcnMarks { .. }
        | Measure::EcnCounters { .. }
        | Measure::EcnOrder { .. } => {
            let follows = measure.follows(case).into_iter();
            let streams = follows.filter_map(|name| case.streams.get_key_value(name));
            // Of a load only a sample is recorded otherwise.
            for (stream, of) in streams.filter(|(_, of)| matches!(of.rate, StreamRate::Load(_))) {
                for port in [&of.from, &of.to] {
                    let what = format!("`{name}` looks at every frame of `{stream}`");
                    let place = format!("streams.{stream}");
                    all.push(Need { port, tap: Tap::All, what, place });
                }
            }
        }
        Measure::Threshold(threshold) => {
            let streams = threshold.streams();
            let streams = streams.into_iter().filter_map(|name| case.streams.get_key_value(name));
            for (stream, of) in streams {
                let what = format!("`{name}` looks for PFC frames");
                let place = format!("streams.{stream}");
                all.push(Need { port: &of.from, tap: Tap::Pfc, what, place });
            }
        }
        Measure::Response { stream } | Measure::PauseLength { stream } => {
            if let Some((stream, of)) = case.streams.get_key_value(stream) {
                let what = format!("`{name}` follows every frame of `{stream}`");
                let place = format!("streams.{stream}");
                all.push(Need { port: &of.to, tap: Tap::All, what, place });
            }
        }
        Measure::Duty { stream, .. } => {
            if let Some((stream, of)) = case.streams.get_key_value(stream) {
                let what = format!("`{name}` counts the frames of `{stream}`");
                let place = format!("streams.{stream}");
                all.push(Need { port: &of.to, tap: Tap::All, what, place });
            }
        }
        Measure::MacsecCounters { port } | Measure::MacsecFrames { port } => {
            let what = format!("`{name}` looks at every frame");
            all.push(Need { port, tap: Tap::All, what, place: String::new() });
        }
        Measure::MacsecPfc { stream, .. } => {
            if let Some((stream, of)) = case.streams.get_key_value(stream) {
                let what = format!("`{name}` looks at every frame to `{stream}`'s receiver");
                let place = format!("streams.{stream}");
                all.push(Need { port: &of.to, tap: Tap::All, what, place });
            }
        }
        Measure::Nic(measure) => {
            let of = measure.subjects();
            let flows = of.iter().filter_map(|name| case.flows.get(*name));
            let flows = flows.flat_map(|flow| [flow.nic.as_str(), flow.to.as_str()]);
            let streams = of.iter().filter_map(|name| case.streams.get(*name));
            let streams = streams.map(|stream| stream.from.as_str());
            let mut ports: Vec<&str> =
                measure.port().into_iter().chain(flows).chain(streams).collect();
            ports.sort_unstable();
            ports.dedup();
            for port in ports {
                let what = format!("`{name}` looks at every frame");
                all.push(Need { port, tap: Tap::All, what, place: String::new() });
            }
        }
        // The storms of the others are among the case's.
        Measure::Detection { .. }
        | Measure::Restoration { .. }
        | Measure::Fired { .. }
        | Measure::ActionTaken { .. }
        | Measure::Counters { .. }
        | Measure::Coverage { .. }
        | Measure::Loss { .. }
        | Measure::Watermarks { .. }
        | Measure::Copies { .. }
        | Measure::XoffLatency { .. }
        | Measure::HeadroomLoss { .. }
        | Measure::Config { .. } => {}
    }
    all
}

/// Whether it is a load that may meet a stormed queue: what reaches that is counted frame by frame.
fn stormed_load(case: &Case, stream: &Stream) -> bool {
    let load = matches!(stream.rate, StreamRate::Load(_));
    load && case.storms.values().any(|storm| {
        let passes = stream.to == storm.from || stream.from == storm.from;
        passes && storm.classes.contains(&stream.class)
    })
}
