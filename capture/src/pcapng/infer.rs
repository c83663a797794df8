//! From the frames of a file to an observation and the script that would have asked for it: which port sent, which
//! received, what the streams and the storms were. What had to be guessed is said.

use super::read::{Assume, Capture, Raw, RawFrame};
use crate::decode::{Decoder, Found};
use crate::passage::Passages;
use crate::{
    Counters, Dir, Integrity, Observation, PortTrace, Provenance, Record, StreamCount, What,
};
use rig_testcases::{
    Action, PfcFrames, Script, Step, StormSpec, StreamKind, StreamRate, StreamSpec,
};
use rig_units::{Dur, PortSpeed, Quanta, Time};
use std::collections::{BTreeMap, BTreeSet};

/// An XOFF this many pause times after the one before begins another storm; closer, the time between is a lapse.
const ANOTHER_STORM: u64 = 2;
/// Fewer XOFFs than this in a row are congestion, not a storm.
const LEAST_XOFFS: usize = 3;

type Mac = [u8; 6];

pub(super) fn capture(raw: &Raw<'_>, assume: Assume<'_>) -> Capture {
    let mut notes = Vec::new();
    let (ports, port_of) = ports(raw, assume, &mut notes);
    let (mut sightings, found) = decoded(raw, &port_of);
    let guessed = directions(&mut sightings, found.len());
    if guessed > 0 {
        notes.push(format!(
            "{guessed} frames do not tell their direction: of a stream seen at two ports the first one sent, a PFC \
             frame was sent by the port whose address it bears, all else was received"
        ));
    }
    let mut records: Vec<Record> = sightings.iter().map(Sighted::record).collect();
    records.sort_by_key(|record| (record.at, record.port, record.dir));
    let streams = streams(&found, &records, assume, &mut notes);
    let (storms, steps) = storms(&ports, &records);
    let length = records.last().map_or(Dur::ZERO, |last| last.at.elapsed());
    let script = Script {
        ports: ports.iter().map(|port| port.name.clone()).collect(),
        dut_ports: (0..).take(ports.len()).collect(),
        streams,
        storms,
        steps,
        length,
    };
    let mut observation = Observation {
        origin: Time::ZERO,
        length,
        ports,
        records,
        streams: Vec::new(),
        counters: Counters::default(),
        events: None,
        config: Vec::new(),
        integrity: Integrity { lost: raw.lost, cut: raw.cut.clone(), ..Integrity::default() },
    };
    observation.streams = (0..)
        .zip(&script.streams)
        .map(|(stream, _)| count(&Passages::of(&observation, &script, stream)))
        .collect();
    Capture { observation, script, notes }
}

/// One port for each interface name, and the port of each interface.
fn ports(raw: &Raw<'_>, assume: Assume<'_>, notes: &mut Vec<String>) -> (Vec<PortTrace>, Vec<u16>) {
    let mut ports: Vec<PortTrace> = Vec::new();
    let mut port_of = Vec::new();
    let mut assumed = Vec::new();
    for (index, interface) in raw.interfaces.iter().enumerate() {
        let name = interface.name.clone().unwrap_or_else(|| format!("if{index}"));
        if let Some(same) = ports.iter().position(|port| port.name == name) {
            port_of.push(u16::try_from(same).unwrap_or(u16::MAX));
            continue;
        }
        let speed = interface.bps.and_then(PortSpeed::from_bps);
        if speed.is_none() {
            assumed.push(name.clone());
        }
        port_of.push(u16::try_from(ports.len()).unwrap_or(u16::MAX));
        ports.push(PortTrace {
            name,
            speed: speed.unwrap_or(assume.speed),
            dut_port: interface.description.clone().unwrap_or_default(),
            cable: assume.cable,
            // Who took the timestamps is unknown; they are cut to their unit at least.
            provenance: Provenance::Hardware { bound: Dur(interface.resolution) },
        });
    }
    if !assumed.is_empty() {
        let (names, speed) = (assumed.join(", "), assume.speed);
        notes.push(format!("the speed of {names} is not in the file: {speed} is assumed"));
    }
    (ports, port_of)
}

/// A frame, read, with what its direction is guessed from.
struct Sighted {
    at: Time,
    port: u16,
    dir: Option<Dir>,
    src: Mac,
    what: What,
}

impl Sighted {
    fn record(&self) -> Record {
        let Sighted { at, port, dir, what, .. } = *self;
        Record { at, port, dir: dir.unwrap_or(Dir::Rx), what }
    }
}

/// The frames in order of time. A capture that starts within 106 days of its clock's zero keeps that zero, as the rig's
/// own files do; a later one starts with its first frame.
fn decoded(raw: &Raw<'_>, port_of: &[u16]) -> (Vec<Sighted>, Vec<Found>) {
    let mut frames: Vec<&RawFrame<'_>> = raw.frames.iter().collect();
    frames.sort_by_key(|frame| frame.at);
    let first = frames.first().map_or(0, |first| first.at);
    let zero = if first < u128::from(u64::MAX / 2) { 0 } else { first };
    let mut decoder = Decoder::discovering();
    let read = |frame: &&RawFrame<'_>| {
        let port = port_of[frame.interface];
        let dir = match frame.direction {
            1 => Some(Dir::Rx),
            2 => Some(Dir::Tx),
            _ => None,
        };
        Sighted {
            at: Time(u64::try_from(frame.at - zero).unwrap_or(u64::MAX)),
            port,
            dir,
            src: frame.bytes.get(6..).and_then(|at| at.first_chunk()).copied().unwrap_or_default(),
            what: decoder.decode(port, dir.unwrap_or(Dir::Rx), &frame.bytes, frame.len),
        }
    };
    let sightings = frames.iter().map(read).collect();
    (sightings, decoder.found().to_vec())
}

/// Gives a direction to the frames that have none; how many those were.
fn directions(sightings: &mut [Sighted], streams: usize) -> usize {
    let mut ports_of: Vec<Vec<u16>> = vec![Vec::new(); streams];
    for sighted in sightings.iter() {
        if let What::Data { stream, .. } = sighted.what
            && !ports_of[usize::from(stream)].contains(&sighted.port)
        {
            ports_of[usize::from(stream)].push(sighted.port);
        }
    }
    let mut guessed = 0;
    let mut stations: BTreeSet<(u16, Mac)> = BTreeSet::new();
    for sighted in sightings.iter_mut() {
        let What::Data { stream, .. } = sighted.what else { continue };
        guessed += usize::from(sighted.dir.is_none());
        let sent =
            matches!(ports_of[usize::from(stream)][..], [from, _, ..] if from == sighted.port);
        let dir = *sighted.dir.get_or_insert(if sent { Dir::Tx } else { Dir::Rx });
        if dir == Dir::Tx {
            stations.insert((sighted.port, sighted.src));
        }
    }
    for sighted in sightings.iter_mut().filter(|sighted| sighted.dir.is_none()) {
        guessed += 1;
        let own = stations.contains(&(sighted.port, sighted.src));
        sighted.dir = Some(if own { Dir::Tx } else { Dir::Rx });
    }
    guessed
}

/// The streams as a case would have asked for them.
fn streams(
    found: &[Found],
    records: &[Record],
    assume: Assume<'_>,
    notes: &mut Vec<String>,
) -> Vec<StreamSpec> {
    /// Where one stream was seen: how often sent and received by each port, when first and last, and how often sent.
    #[derive(Default, Clone)]
    struct Seen {
        at: BTreeMap<(Dir, u16), u64>,
        sent: Option<(Time, Time, u64)>,
    }
    let mut seen = vec![Seen::default(); found.len()];
    for record in records {
        let What::Data { stream, .. } = record.what else { continue };
        let seen = &mut seen[usize::from(stream)];
        *seen.at.entry((record.dir, record.port)).or_default() += 1;
        if record.dir == Dir::Tx {
            let (_, last, count) = seen.sent.get_or_insert((record.at, record.at, 0));
            (*last, *count) = (record.at, *count + 1);
        }
    }
    let mut one_sided = Vec::new();
    let streams = found.iter().zip(&seen).map(|(found, seen)| {
        let most = |dir: Dir| {
            let of = seen.at.iter().filter(|((d, _), _)| *d == dir);
            of.max_by_key(|(_, count)| **count).map(|((_, port), _)| *port)
        };
        let (from, to) = (most(Dir::Tx), most(Dir::Rx));
        let name = match (found.kind, found.flow.qpn) {
            (StreamKind::RoceWrite | StreamKind::RoceSend, Some(qpn)) => {
                format!("{} to {} queue pair {qpn:#x}", found.flow.src, found.flow.dst)
            }
            _ => format!("{} to {} port {}", found.flow.src, found.flow.dst, found.flow.udp_src),
        };
        if from.is_none() || to.is_none() {
            one_sided.push(name.clone());
        }
        let gap = seen.sent.and_then(|(first, last, count)| {
            last.since(first)?.0.checked_div(count.saturating_sub(1)).map(Dur)
        });
        StreamSpec {
            name,
            from: from.or(to).unwrap_or(0),
            to: to.or(from).unwrap_or(0),
            class: (assume.class_of)(found.dscp) & 7,
            dscp: found.dscp,
            kind: found.kind,
            size: found.size,
            rate: StreamRate::Every(gap.unwrap_or(Dur::ZERO)),
        }
    });
    let streams = streams.collect();
    if !one_sided.is_empty() {
        let names = one_sided.join("; ");
        notes.push(format!(
            "seen at one side of the device only, so nothing is said of their loss: {names}"
        ));
    }
    streams
}

/// Rows of XOFF frames of one class that the rig's side sent, as storms.
fn storms(ports: &[PortTrace], records: &[Record]) -> (Vec<StormSpec>, Vec<Step>) {
    let mut rows: Vec<Row> = Vec::new();
    let mut current: BTreeMap<(u16, u8), usize> = BTreeMap::new();
    for record in records.iter().filter(|record| record.dir == Dir::Tx) {
        for class in 0..8 {
            let Some(quanta) = record.what.pauses(class) else { continue };
            let place = (record.port, class);
            if quanta == Quanta(0) {
                current.remove(&place);
                continue;
            }
            let speed = ports[usize::from(record.port)].speed;
            let reach = |row: &Row| row.last + speed.pause(row.quanta) * ANOTHER_STORM;
            match current.get(&place).copied().filter(|&row| record.at <= reach(&rows[row])) {
                Some(row) => (rows[row].last, rows[row].xoffs) = (record.at, rows[row].xoffs + 1),
                None => {
                    current.insert(place, rows.len());
                    let (first, last) = (record.at, record.at);
                    rows.push(Row { place, quanta, first, last, xoffs: 1 });
                }
            }
        }
    }
    let (mut rows, few): (Vec<Row>, Vec<Row>) =
        rows.into_iter().partition(|row| row.xoffs >= LEAST_XOFFS);
    rows.truncate(usize::from(u16::MAX));
    let by_hand = few.iter().map(|row| {
        let (from, class) = row.place;
        let every = row.last - row.first;
        let count = u32::try_from(row.xoffs).unwrap_or(u32::MAX);
        let frames = PfcFrames { from, enable: 1 << class, quanta: row.quanta, count, every };
        Step { at: row.first.elapsed(), action: Action::Pfc(frames) }
    });
    let mut steps: Vec<Step> = by_hand.collect();
    for (storm, row) in (0..).zip(&rows) {
        steps.push(Step { at: row.first.elapsed(), action: Action::StartStorm(storm) });
        let after = row.last.elapsed() + Dur(1);
        steps.push(Step { at: after, action: Action::StopStorm(storm) });
    }
    steps.sort_by_key(|step| step.at);
    let storms = rows.iter().map(|row| {
        let gaps = u64::try_from(row.xoffs - 1).unwrap_or(u64::MAX);
        let (port, class) = row.place;
        let trace = &ports[usize::from(port)];
        StormSpec {
            name: format!("{} class {class} at {}", trace.name, row.first),
            from: port,
            classes: 1 << class,
            quanta: row.quanta,
            every: (row.last - row.first) / gaps.max(1),
        }
    });
    (storms.collect(), steps)
}

struct Row {
    place: (u16, u8),
    quanta: Quanta,
    first: Time,
    last: Time,
    xoffs: usize,
}

fn count(passages: &Passages) -> StreamCount {
    let number = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    StreamCount {
        sent: number(passages.all.len()),
        received: number(passages.all.iter().filter(|passage| passage.received.is_some()).count()),
        reordered: number(passages.reordered.len()),
    }
}
