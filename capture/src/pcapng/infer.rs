//! From the frames of a file to an observation and the script that would have asked for it: which port sent, which
//! received, what the streams and the storms were. What had to be guessed is said.

use super::evidence::NIC_BEHIND;
use super::kept;
use super::raw::{Raw, RawFrame};
use super::read::{Assume, Capture};
use super::storms::storms;
use crate::blue_rdma::{self, Dialogue};
use crate::connection::{Connection, Finder};
use crate::decode::{Decoder, Found};
use crate::passage::Passages;
use crate::{
    Counters, Dir, Integrity, Loads, Observation, PortTrace, Provenance, Record, StreamCount, What,
};
use rig_frames::packet::{self, Packet};
use rig_frames::vlan;
use rig_testcases::{IpVersion, Script, StreamKind, StreamRate, StreamSpec};
use rig_units::{Dur, PortSpeed, Time};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

type Mac = [u8; 6];

pub(super) fn capture(raw: &Raw<'_>, assume: Assume<'_>) -> Capture {
    let mut notes = Vec::new();
    let (mut ports, port_of) = ports(raw, assume, &mut notes);
    let passed = Passed::of(raw);
    let (mut sightings, found, closed) = decoded(&passed, &port_of);
    let (connections, dialogues) = connections(&passed, &port_of);
    if closed > 0 {
        notes.push(format!(
            "{closed} frames are protected by MACsec (IEEE 802.1AE) and there are no keys here: what they carried is \
             unknown, and nothing is said of streams, PFC and loss among them"
        ));
    }
    if !dialogues.is_empty() {
        notes.push(OF_THE_DIALECT.to_owned());
    }
    notes.extend(backwards(raw));
    let guessed = directions(&mut sightings, found.len());
    if guessed > 0 {
        notes.push(format!(
            "{guessed} frames do not tell their direction: of a stream seen at two ports the first one sent, a PFC \
             frame was sent by the port whose address it bears, all else was received"
        ));
    }
    let mut records: Vec<Record> = sightings.iter().map(Sighted::record).collect();
    records.sort_by_key(|record| (record.at, record.port, record.dir));
    for tagged in records.iter().filter(|one| one.dir == Dir::Rx && one.vlan.is_some()) {
        ports[usize::from(tagged.port)].sees_tags = true;
    }
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
        ..Script::idle(0)
    };
    let holes = [raw.cut.as_slice(), &raw.holes].concat();
    let mut observation = Observation {
        injected: Vec::new(),
        origin: Time::ZERO,
        length,
        ports,
        records,
        streams: Vec::new(),
        loads: Loads::default(),
        counters: Counters::default(),
        events: None,
        hosts: None,
        config: Vec::new(),
        integrity: Integrity {
            lost: raw.lost,
            unrecorded: u64::try_from(raw.holes.len()).unwrap_or(u64::MAX),
            cut: (!holes.is_empty()).then(|| holes.join("; ")),
            ..Integrity::default()
        },
    };
    observation.streams = (0..)
        .zip(&script.streams)
        .map(|(stream, _)| count(&Passages::of(&observation, &script, stream)))
        .collect();
    let kept = kept::kept(raw, &found, &mut observation);
    let loads = raw.loads.iter();
    let loads = loads.map(|(interface, text)| {
        let port = usize::from(port_of[*interface]);
        (observation.ports[port].name.clone(), text.clone())
    });
    let loads = loads.collect();
    let of_nic = raw.about.iter().any(|line| line.contains(NIC_BEHIND));
    Capture { observation, script, of_nic, kept, holes, loads, notes, connections, dialogues }
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
            // Who took the frames is unknown, too: a port that shows a tag sees tags.
            sees_tags: false,
            approach: None,
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
    vlan: Option<vlan::Repr>,
}

impl Sighted {
    fn record(&self) -> Record {
        let Sighted { at, port, dir, what, vlan, .. } = *self;
        Record { secured: None, vlan, at, port, dir: dir.unwrap_or(Dir::Rx), what }
    }
}

/// The frames in order of time, and the capture's zero: the rig's own files count from their trial's start, any other from its first
/// frame.
struct Passed<'a> {
    frames: Vec<&'a RawFrame<'a>>,
    zero: u128,
}

impl<'a> Passed<'a> {
    fn of(raw: &'a Raw<'a>) -> Passed<'a> {
        let mut frames: Vec<&RawFrame<'_>> = raw.frames.iter().collect();
        frames.sort_by_key(|frame| frame.at);
        let first = frames.first().map_or(0, |first| first.at);
        Passed { frames, zero: if raw.own && first < u128::from(u64::MAX / 2) { 0 } else { first } }
    }

    fn at(&self, frame: &RawFrame<'_>) -> Time {
        Time(u64::try_from(frame.at - self.zero).unwrap_or(u64::MAX))
    }
}

/// What is to be said of times that go backwards: the order of the frames is then anybody's guess.
fn backwards(raw: &Raw<'_>) -> Option<String> {
    let mut before: Vec<Option<u128>> = vec![None; raw.interfaces.len()];
    let (mut frames, mut most) = (0_u64, 0);
    for frame in &raw.frames {
        let back = before[frame.interface].map_or(0, |before| before.saturating_sub(frame.at));
        frames += u64::from(back > 0);
        most = most.max(back);
        before[frame.interface] = Some(frame.at);
    }
    let most = Dur(u64::try_from(most).unwrap_or(u64::MAX));
    (frames > 0).then(|| {
        format!(
            "frames that bear an earlier time than the one before them at their interface: {frames}, by up to {most}; all are taken in \
             the order of their times, which may not be that in which they passed"
        )
    })
}

/// What the frames of NICs of blue-rdma are not read as.
const OF_THE_DIALECT: &str = "some frames have the headers of blue-rdma and no ICRC: a NIC of RoCEv2 drops them, and here nothing is \
                              said of them as streams and connections";

/// The reliable connections among the frames, and what NICs of blue-rdma send. Of a frame that is cut nobody knows the ICRC: its
/// headers are believed.
fn connections(passed: &Passed<'_>, port_of: &[u16]) -> (Vec<Connection>, Vec<Dialogue>) {
    let mut dialect = blue_rdma::Finder::default();
    for frame in &passed.frames {
        let port = port_of[frame.interface];
        dialect.take(port, passed.at(frame), &filled(frame));
    }
    let mut finder = Finder::default();
    for frame in &passed.frames {
        let port = port_of[frame.interface];
        let bytes = filled(frame);
        if dialect.has(port, &bytes) {
            continue;
        }
        if let Ok(Packet::Roce { frame: roce, icrc_ok }) = packet::parse(&bytes) {
            let cut = frame.bytes.len() < frame.len;
            finder.take(port, passed.at(frame), &roce, icrc_ok || cut);
        }
    }
    (finder.connections(), dialect.dialogues())
}

/// A frame as long as it was, with zeros for what is not in the file.
fn filled<'a>(frame: &'a RawFrame<'_>) -> Cow<'a, [u8]> {
    let mut bytes = Cow::Borrowed(&frame.bytes[..]);
    if bytes.len() < frame.len {
        bytes.to_mut().resize(frame.len.min(usize::from(u16::MAX)), 0);
    }
    bytes
}

/// The frames, the streams among them, and how many nobody could open.
fn decoded(passed: &Passed<'_>, port_of: &[u16]) -> (Vec<Sighted>, Vec<Found>, u64) {
    let mut decoder = Decoder::discovering();
    let read = |frame: &&RawFrame<'_>| {
        let port = port_of[frame.interface];
        let dir = match frame.direction {
            1 => Some(Dir::Rx),
            2 => Some(Dir::Tx),
            _ => None,
        };
        let (what, _, vlan) = decoder.read(port, dir.unwrap_or(Dir::Rx), &frame.bytes, frame.len);
        Sighted {
            at: passed.at(frame),
            port,
            dir,
            src: frame.bytes.get(6..).and_then(|at| at.first_chunk()).copied().unwrap_or_default(),
            what,
            vlan,
        }
    };
    let sightings = passed.frames.iter().map(read).collect();
    (sightings, decoder.found().to_vec(), decoder.closed())
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
    struct Sightings {
        at: BTreeMap<(Dir, u16), u64>,
        sent: Option<(Time, Time, u64)>,
    }
    let mut seen = vec![Sightings::default(); found.len()];
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
            class: (assume.class_of)(found.dscp) & 7,
            dscp: found.dscp,
            kind: found.kind,
            size: found.size,
            over: if found.flow.src.is_ipv6() { IpVersion::V6 } else { IpVersion::V4 },
            rate: StreamRate::Every(gap.unwrap_or(Dur::ZERO)),
            ..StreamSpec::probe(from.or(to).unwrap_or(0), to.or(from).unwrap_or(0))
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

fn count(passages: &Passages) -> StreamCount {
    let number = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    StreamCount {
        sent: number(passages.all.len()),
        received: number(passages.all.iter().filter(|passage| passage.received.is_some()).count()),
        reordered: number(passages.reordered.len()),
    }
}
