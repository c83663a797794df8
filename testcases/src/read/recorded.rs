//! What measures and storms need to have been recorded, held against the taps of the case.

use crate::vocabulary::{Looks, RecordedAt};
use crate::{Case, Measure, Tap};
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
    let mut all = Vec::new();
    for Looks { at, tap, what, key } in measure.entry.looks.iter().copied() {
        let what = |stream: &str| format!("`{}` {}", measure.name(), what.replace("{}", stream));
        match at {
            RecordedAt::Of(pick, ends) => {
                let streams = pick(measure, case).into_iter();
                for (stream, of) in streams.filter_map(|name| case.streams.get_key_value(name)) {
                    let place = format!("streams.{stream}{key}");
                    all.extend(ends.of(of).into_iter().map(|port| {
                        let (what, place) = (what(stream), place.clone());
                        Need { port, tap, what, place }
                    }));
                }
            }
            RecordedAt::Named => all.extend(measure.behind(case).into_iter().map(|port| {
                let (what, place) = (what(""), String::new());
                Need { port, tap, what, place }
            })),
        }
    }
    all
}
