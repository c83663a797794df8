//! What a capture shows, as plain data: the JSON of `rigctl analyze`. Lengths of time are picoseconds.

use crate::runner::see::see;
use crate::runner::subject::Places;
use rig_capture::analyse::{self, ActionView};
use rig_capture::pcapng::Capture;
use rig_capture::{Dir, Observation, Span, What};
use rig_lab::RuleFamily;
use rig_oracle::judge::Fired;
use rig_testcases::Script;
use rig_units::Time;
use serde::Serialize;

/// The format of the JSON.
pub(super) const FORMAT: &str = "rig-analysis/1";

/// Everything that was read off a capture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Analysis {
    pub(super) format: &'static str,
    pub(super) frames: usize,
    /// From the file's zero to its last frame.
    pub(super) length_ps: u64,
    pub(super) ports: Vec<Port>,
    pub(super) storms: Vec<Storm>,
    pub(super) streams: Vec<Stream>,
    /// What the device sent.
    pub(super) pfc: Vec<Pfc>,
    /// What storm and stream together show of a watchdog.
    pub(super) watchdog: Vec<Watchdog>,
    /// Why the capture cannot be trusted whole.
    pub(super) doubts: Vec<String>,
    /// What had to be guessed.
    pub(super) notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Port {
    pub(super) name: String,
    pub(super) dut_port: String,
    pub(super) speed: String,
    pub(super) sent: usize,
    pub(super) received: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Storm {
    pub(super) port: String,
    pub(super) class: u8,
    pub(super) quanta: u16,
    pub(super) every_ps: u64,
    /// At the device.
    pub(super) first_xoff: Ps,
    pub(super) last_xoff: Ps,
    pub(super) pause_end: Ps,
    /// Share of the storm during which the class surely was paused.
    pub(super) covered_ppm: u64,
    pub(super) lapses: usize,
    pub(super) longest_lapse_ps: Option<u64>,
    pub(super) longest_lapse_at_ps: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Stream {
    pub(super) name: String,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) class: u8,
    pub(super) bytes: u64,
    pub(super) sent: u64,
    pub(super) received: u64,
    /// `null` where only one side of the device was captured.
    pub(super) lost: Option<u64>,
    pub(super) open: u64,
    pub(super) reordered: u64,
    pub(super) duplicated: u64,
    pub(super) stray: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Pfc {
    pub(super) port: String,
    pub(super) frames: u64,
    /// Class, XOFFs, XONs and the longest time between two XOFFs; classes that none addresses are left out.
    pub(super) classes: Vec<PfcClass>,
    /// What is wrong with which frame, by instant.
    pub(super) malformed: Vec<Malformed>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct PfcClass {
    pub(super) class: u8,
    pub(super) xoff: usize,
    pub(super) xon: usize,
    pub(super) longest_refresh_ps: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Malformed {
    pub(super) at_ps: u64,
    pub(super) what: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Watchdog {
    /// Index into `storms`.
    pub(super) storm: usize,
    /// Index into `streams`.
    pub(super) stream: usize,
    /// From the storm's first XOFF to the action.
    pub(super) detection: Option<Ps>,
    /// To the end of the action.
    pub(super) restoration: Option<Ps>,
    /// What that is counted from.
    pub(super) restoration_from: Anchor,
    /// Why a value is missing.
    pub(super) why_not: Option<String>,
}

/// What a restoration is counted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Anchor {
    /// The storm's last frame.
    LastFrame,
    /// The detection: the rule lets go whatever the storm does.
    Detection,
}

/// Surely within, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Ps {
    pub(super) lo: u64,
    pub(super) hi: u64,
}

impl From<Span> for Ps {
    fn from(Span { lo, hi }: Span) -> Ps {
        Ps { lo, hi }
    }
}

impl Analysis {
    /// Reads `capture` as one of a device that `view` declares.
    pub(super) fn of(capture: &Capture, view: &ActionView, family: RuleFamily) -> Analysis {
        let Capture { observation, script, notes } = capture;
        let storms = (0..).take(script.storms.len());
        let storms = storms.filter_map(|index| storm(observation, script, index)).collect();
        let streams = (0..).take(script.streams.len());
        let gaps = |_: u16| true; // lapses are told with each storm
        let doubts = analyse::voids(observation, script, &gaps).into_iter();
        let doubts = doubts.filter(|void| void.reason != "storm-lapse");
        Analysis {
            format: FORMAT,
            frames: observation.records.len(),
            length_ps: observation.length.0,
            ports: (0..).take(observation.ports.len()).map(|at| port(observation, at)).collect(),
            storms,
            streams: streams.map(|index| stream(observation, script, index, view)).collect(),
            pfc: (0..)
                .take(observation.ports.len())
                .filter_map(|at| pfc(observation, at))
                .collect(),
            watchdog: watchdog(observation, script, view, family),
            doubts: doubts.map(|void| format!("{}: {}", void.reason, void.detail)).collect(),
            notes: notes.clone(),
        }
    }
}

fn port(observation: &Observation, index: u16) -> Port {
    let trace = &observation.ports[usize::from(index)];
    let count = |dir: Dir| {
        let own = observation.records.iter().filter(|of| of.port == index && of.dir == dir);
        own.count()
    };
    Port {
        name: trace.name.clone(),
        dut_port: trace.dut_port.clone(),
        speed: trace.speed.to_string(),
        sent: count(Dir::Tx),
        received: count(Dir::Rx),
    }
}

fn storm(observation: &Observation, script: &Script, index: u16) -> Option<Storm> {
    let spec = &script.storms[usize::from(index)];
    let class = u8::try_from(spec.classes.trailing_zeros()).unwrap_or(0);
    let coverage = analyse::coverage(observation, script, index, class)?;
    let longest = coverage.longest_lapse();
    Some(Storm {
        port: script.ports[usize::from(spec.from)].clone(),
        class,
        quanta: spec.quanta.0,
        every_ps: spec.every.0,
        first_xoff: coverage.first_xoff.into(),
        last_xoff: coverage.last_xoff.into(),
        pause_end: coverage.pause_end.into(),
        covered_ppm: coverage.covered,
        lapses: coverage.lapses.len(),
        longest_lapse_ps: longest.map(|lapse| lapse.length().0),
        longest_lapse_at_ps: longest.map(|lapse| lapse.from.0),
    })
}

fn stream(observation: &Observation, script: &Script, index: u16, view: &ActionView) -> Stream {
    let spec = &script.streams[usize::from(index)];
    let loss = analyse::loss(observation, script, index, view.delays());
    let port = |index: u16| script.ports[usize::from(index)].clone();
    Stream {
        name: spec.name.clone(),
        from: port(spec.from),
        to: port(spec.to),
        class: spec.class,
        bytes: spec.size.0,
        sent: loss.sent,
        received: loss.received,
        lost: (spec.from != spec.to).then_some(loss.lost),
        open: loss.open,
        reordered: loss.reordered,
        duplicated: loss.duplicated,
        stray: loss.stray,
    }
}

fn pfc(observation: &Observation, index: u16) -> Option<Pfc> {
    let (frames, bad) = analyse::pfc_format(observation, index);
    if frames == 0 {
        return None;
    }
    let all = (Time::ZERO, Time::MAX);
    let class = |class: u8| {
        let sent = analyse::pfc_sent(observation, index, class, all);
        let addressed = !sent.xoff.is_empty() || !sent.xon.is_empty();
        addressed.then(|| PfcClass {
            class,
            xoff: sent.xoff.len(),
            xon: sent.xon.len(),
            longest_refresh_ps: sent.longest_refresh.map(|longest| longest.0),
        })
    };
    let malformed = bad
        .into_iter()
        .map(|bad| Malformed { at_ps: observation.records[bad.record].at.0, what: bad.what });
    Some(Pfc {
        port: observation.ports[usize::from(index)].name.clone(),
        frames,
        classes: (0..8).filter_map(class).collect(),
        malformed: malformed.collect(),
    })
}

/// Every storm with every stream that leaves through the queue that it pauses.
fn watchdog(
    observation: &Observation,
    script: &Script,
    view: &ActionView,
    family: RuleFamily,
) -> Vec<Watchdog> {
    let mut all = Vec::new();
    for (storm, of) in (0_u16..).zip(&script.storms) {
        for (stream, spec) in (0_u16..).zip(&script.streams) {
            let meets = spec.to == of.from && of.classes >> spec.class & 1 == 1;
            let during =
                meets && spec.from != spec.to && sent_during(observation, script, storm, stream);
            if during {
                let places = Places { storm, stream, shown_by: stream, class: spec.class };
                all.push(one(observation, script, places, view, family));
            }
        }
    }
    all
}

/// Whether a frame of the stream was sent before the storm was over.
fn sent_during(observation: &Observation, script: &Script, storm: u16, stream: u16) -> bool {
    let class = script.streams[usize::from(stream)].class;
    let Some(coverage) = analyse::coverage(observation, script, storm, class) else { return false };
    observation.records.iter().any(|record| {
        let own = matches!(record.what, What::Data { stream: of, .. } if of == stream);
        own && record.dir == Dir::Tx
            && (coverage.first_xoff.lo..=coverage.pause_end.hi).contains(&record.at.0)
    })
}

fn one(
    observation: &Observation,
    script: &Script,
    places: Places,
    view: &ActionView,
    family: RuleFamily,
) -> Watchdog {
    let restoration_from = match family {
        RuleFamily::IntervalCounter => Anchor::Detection,
        RuleFamily::Broadcom
        | RuleFamily::Mellanox
        | RuleFamily::Cisco8000
        | RuleFamily::Barefoot => Anchor::LastFrame,
    };
    let nothing = |why: &str| Watchdog {
        storm: places.storm.into(),
        stream: places.stream.into(),
        detection: None,
        restoration: None,
        restoration_from,
        why_not: Some(why.to_owned()),
    };
    let seen = match see(1, script, observation, places, view, family) {
        Ok(seen) => seen,
        Err(doubt) => return nothing(doubt.detail.trim_start_matches("trial 1: ")),
    };
    let Fired::At(fired) = &seen.fired else {
        return nothing("nothing acted on the queue: it held what it had until the pause was over");
    };
    let from = match restoration_from {
        Anchor::LastFrame => Span::exactly(seen.last_frame.0),
        Anchor::Detection => fired.after,
    };
    let unseen = "the end of the action does not show in the capture".to_owned();
    Watchdog {
        detection: Some(fired.after.into()),
        why_not: seen.restored.is_none().then_some(unseen),
        restoration: seen.restored.as_ref().map(|restored| restored.after.since(from).into()),
        ..nothing("")
    }
}
