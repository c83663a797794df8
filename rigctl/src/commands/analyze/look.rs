//! Every analyser that a capture alone can feed.

use super::seen::{
    Analysis, Anchor, FORMAT, Malformed, Pfc, PfcClass, Port, Storm, Stream, Watchdog,
};
use rig_capture::analyse::{self, ActionView};
use rig_capture::fate::Delays;
use rig_capture::pcapng::{Capture, Kept};
use rig_capture::{Dir, Observation, Span, What};
use rig_lab::{Profile, RuleFamily};
use rig_oracle::judge::Fired;
use rig_oracle::measure::Places;
use rig_oracle::measure::{Counting, see};
use rig_testcases::Script;
use rig_units::Time;

impl Analysis {
    /// Reads `capture` as one of a device.
    pub(super) fn of(capture: &Capture, device: &Profile) -> Analysis {
        let Capture { observation, script, kept, holes, loads, notes, .. } = capture;
        let storms = (0..).take(script.storms.len());
        let storms = storms.filter_map(|index| storm(observation, script, index)).collect();
        let streams = (0..).take(script.streams.len());
        let gaps = |_: u16| true; // lapses are told with each storm
        let doubts = analyse::voids(observation, script, &gaps).into_iter();
        let holed = observation.integrity.cut.as_ref();
        let doubts = doubts
            .filter(|void| void.reason != "storm-lapse" && Some(&void.detail) != holed)
            .map(|void| format!("{}: {}", void.reason, void.detail));
        let guarded = device.family().zip(device.declared.switch());
        let watchdog = guarded.map_or_else(Vec::new, |(family, switch)| {
            let rule = Counting { family, xon_counts: switch.pfc.xon_counts };
            watchdog(capture, &ActionView::from(switch), rule)
        });
        let delays = Delays::from(&device.declared);
        let mut notes = notes.clone();
        if watchdog.iter().any(|of| of.detection.is_some()) {
            let alike = "Detected is where frames of a stream begin to be lost: a full buffer or a dropping curve \
                         looks the same";
            notes.push(alike.to_owned());
        }
        let doubts = holes.iter().map(|hole| format!("capture-hole: {hole}")).chain(doubts);
        Analysis {
            format: FORMAT,
            frames: observation.records.len(),
            length_ps: observation.length.0,
            ports: (0..).take(observation.ports.len()).map(|at| port(observation, at)).collect(),
            storms,
            streams: streams
                .map(|index| stream(observation, script, (index, kept[usize::from(index)]), delays))
                .collect(),
            loads: loads.iter().map(|(port, text)| format!("{port}: {text}")).collect(),
            pfc: (0..)
                .take(observation.ports.len())
                .filter_map(|at| pfc(observation, at))
                .collect(),
            connections: capture.connections.clone(),
            blue_rdma: capture.dialogues.clone(),
            watchdog,
            doubts: doubts.collect(),
            notes,
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

fn stream(
    observation: &Observation,
    script: &Script,
    (index, kept): (u16, Kept),
    delays: Delays,
) -> Stream {
    let spec = &script.streams[usize::from(index)];
    let loss = analyse::loss(observation, script, index, delays);
    let port = |index: u16| script.ports[usize::from(index)].clone();
    Stream {
        name: spec.name.clone(),
        from: port(spec.from),
        to: port(spec.to),
        class: spec.class,
        bytes: spec.size.0,
        sent: loss.sent,
        received: loss.received,
        lost: (spec.from != spec.to && kept != Kept::Part).then_some(loss.lost),
        whole: kept == Kept::Whole,
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
            longest_refresh_ps: sent.slowest.map(|(longest, _)| longest.0),
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
fn watchdog(capture: &Capture, view: &ActionView, rule: Counting) -> Vec<Watchdog> {
    let Capture { observation, script, kept, .. } = capture;
    let mut all = Vec::new();
    for (storm, of) in (0_u16..).zip(&script.storms) {
        for (stream, spec) in (0_u16..).zip(&script.streams) {
            let meets = spec.to == of.from && of.classes >> spec.class & 1 == 1;
            let during =
                meets && spec.from != spec.to && sent_during(observation, script, storm, stream);
            if during {
                let places = Places { storm, stream, shown_by: stream, class: spec.class };
                let whole = kept[usize::from(stream)] == Kept::Whole;
                all.push(one(observation, script, (places, whole), view, rule));
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
    (places, whole): (Places, bool),
    view: &ActionView,
    rule: Counting,
) -> Watchdog {
    let restoration_from = match rule.family {
        RuleFamily::IntervalCounter | RuleFamily::Hardware => Anchor::Detection,
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
    if !whole {
        return nothing("frames of it are not in the file, so none that is missing shows anything");
    }
    let seen = match see(1, script, observation, places, view, rule) {
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
