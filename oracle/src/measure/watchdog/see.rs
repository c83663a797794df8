//! What one trial showed of its storm: the analysers' readings, put on the clock on which the oracle judges them.

use super::subject::Places;
use crate::judge::{self, Fired, StormTrial};
use crate::trials::cited::frame;
use crate::verdict::Doubt;
use rig_capture::analyse::{self, ActionView, Sighting};
use rig_capture::{Dir, Observation, Span};
use rig_lab::RuleFamily;
use rig_testcases::{Action, DeviceVerb, Script};
use rig_units::{Dur, Quanta, Time};

/// How the device tells when a storm is over.
#[derive(Debug, Clone, Copy)]
pub struct Counting {
    /// By which rule.
    pub family: RuleFamily,
    /// Whether a frame that releases counts as one that came, where it goes by frames.
    pub xon_counts: bool,
}

/// Reads trial `number` of the storm at `places`.
///
/// # Errors
/// What the trial cannot show: a storm that never left, an action that leaves no trace.
pub fn see(
    number: u32,
    script: &Script,
    observation: &Observation,
    places: Places,
    view: &ActionView,
    rule: Counting,
) -> Result<StormTrial, Doubt> {
    let Places { storm, class, .. } = places;
    let doubt =
        |reason, detail: &str| Doubt { reason, detail: format!("trial {number}: {detail}") };
    let coverage = analyse::coverage(observation, script, storm, class)
        .ok_or_else(|| doubt("not-observable", "the storm never left the rig's port"))?;
    let start = coverage.first_xoff;
    // The pause begins when the MAC has taken the XOFF in: at any time up to its declared response. To a watchdog that
    // looks at the pause the storm begins only then.
    let since_start = |span: Span| Span {
        lo: span.lo.saturating_sub(start.hi + view.response.0),
        hi: span.hi.saturating_sub(start.lo),
    };
    let sighting = |span: Span, frames: &[usize]| judge::Sighting {
        after: since_start(span),
        frames: frames.iter().copied().map(frame).collect(),
    };
    let (acted, ended) = sightings(script, observation, places, view, rule.family);
    let fired = match acted {
        Sighting::At { span, frames } => Fired::At(sighting(span, &frames)),
        Sighting::Never => Fired::Never,
        Sighting::NotObservable(why) | Sighting::Void(why) => {
            return Err(doubt("not-observable", &why));
        }
    };
    let restored = match ended {
        Sighting::At { span, frames } => Some(sighting(span, &frames)),
        Sighting::Never | Sighting::NotObservable(_) | Sighting::Void(_) => None,
    };
    let last = last_pfc(observation, script, places, rule.xon_counts)
        .unwrap_or(Time(coverage.last_xoff.middle()));
    // Nothing shows after the last frame that is sent to the queue.
    let end = Time::ZERO + observation.length;
    let watched = |stream: u16| {
        let until = analyse::sends(observation, script, stream).map_or(end, |(_, last)| last);
        Dur(until.min(end).0.saturating_sub(start.hi))
    };
    // What is counted from the end of the storm goes by the stamp of that end, which is off to either side: `after` allows for both.
    let stamped = |at: u64| Dur(at.saturating_sub(start.middle()));
    Ok(StormTrial {
        trial: number,
        storm_start: observation.origin + Dur(start.lo),
        pause_length: Dur(coverage.pause_end.lo.saturating_sub(start.hi)),
        pause_end: stamped(coverage.pause_end.middle()),
        last_frame: stamped(last.0),
        fired,
        restored,
        watched: watched(places.stream).max(watched(places.shown_by)),
        followed: watched(places.stream),
        restarted: restarts(script).next().is_some(),
    })
}

/// When the script starts the watchdog afresh, and by what.
pub(super) fn restarts(script: &Script) -> impl Iterator<Item = (Dur, DeviceVerb)> {
    script.steps.iter().filter_map(|step| match &step.action {
        Action::Device(verb) if verb.row().restarts == Some("pfcwd") => Some((step.at, *verb)),
        _ => None,
    })
}

/// When the device acted and when it let go, on the trial's clock.
pub(crate) fn sightings(
    script: &Script,
    observation: &Observation,
    places: Places,
    view: &ActionView,
    family: RuleFamily,
) -> (Sighting, Sighting) {
    let Places { storm, stream, shown_by, class } = places;
    let acted = analyse::fired(observation, script, storm, shown_by, view);
    let coverage = analyse::coverage(observation, script, storm, class);
    let (Some(span), Some(coverage)) = (acted.span(), coverage) else {
        return (acted, Sighting::Never);
    };
    // A recovery of a fixed time lets go whatever the storm does; all others only once it is over.
    let after = match family {
        RuleFamily::IntervalCounter | RuleFamily::Hardware => Time(span.hi),
        RuleFamily::Broadcom
        | RuleFamily::Mellanox
        | RuleFamily::Cisco8000
        // An action that begins later than the pause ends cannot have ended before.
        | RuleFamily::Barefoot => Time(coverage.pause_end.hi.max(span.hi)),
    };
    let ended = analyse::restored(observation, script, storm, stream, view, (span, after));
    (acted, ended)
}

/// When the last PFC frame of the storm's port and class that the device counts reached it, frames sent by hand included.
fn last_pfc(
    observation: &Observation,
    script: &Script,
    places: Places,
    xon_counts: bool,
) -> Option<Time> {
    let port = script.storms[usize::from(places.storm)].from;
    let own = observation.records.iter().rev().find(|record| {
        let quanta = record.what.pauses(places.class);
        let counts = quanta.is_some_and(|quanta| xon_counts || quanta > Quanta(0));
        record.port == port && record.dir == Dir::Tx && counts
    });
    own.map(|record| record.at + observation.ports[usize::from(port)].cable)
}
