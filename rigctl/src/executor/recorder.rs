//! What the rig's ports see during one trial, kept as records and counts.
//!
//! Each port's tap says what is recorded there. Usually it is a sample: probes and PFC frames all; frames of a load in
//! windows, the first ones after the trial's start, after each step of the script and after each change of what a PFC
//! frame says; between windows one in [`SAMPLE`], the same ones wherever they pass, so that rates and losses can be told
//! over any stretch. Frames of streams are counted whatever the tap says.

use rig_capture::{Dir, Record, SAMPLE, StreamCount, What};
use rig_oracle::model::packet::{CLASSES, Kind, Packet};
use rig_oracle::model::tap::{self, Tap};
use rig_testcases::Script;
use rig_units::{Quanta, Time};

/// Frames of loads that are recorded after each event, per port.
const WINDOW: u32 = 128;

/// Listens at the ports of one trial.
#[derive(Debug)]
pub struct Recorder {
    origin: Time,
    /// The engine's id of the first run below.
    first_id: u16,
    /// One entry for each time a stream was started: the stream, and the number of its first frame.
    runs: Vec<(u16, u32)>,
    /// The rig port to which each stream is addressed.
    to: Vec<u16>,
    /// The host of the engine behind each rig port.
    hosts: Vec<u16>,
    records: Vec<Record>,
    counts: Vec<StreamCount>,
    /// Number that a stream's next received frame has when nothing is lost or reordered.
    next: Vec<u32>,
    ports: Vec<Port>,
    unrecorded: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Port {
    tap: rig_testcases::Tap,
    /// Frames of loads that are still to be recorded after the last event.
    left: u32,
    /// What the last PFC frame in each direction said: enabled and zero classes.
    said: [(u8, u8); 2],
}

impl Recorder {
    /// Starts to listen at the ports of `script` at `origin`, the trial's start.
    pub fn new(origin: Time, first_id: u16, script: &Script) -> Recorder {
        let ports = (0_u16..).take(script.dut_ports.len());
        let port = |port: u16| Port { tap: script.tap(port), left: WINDOW, ..Port::default() };
        Recorder {
            origin,
            first_id,
            runs: Vec::new(),
            to: script.streams.iter().map(|stream| stream.to).collect(),
            hosts: script.dut_ports.clone(),
            records: Vec::new(),
            counts: vec![StreamCount::default(); script.streams.len()],
            next: vec![0; script.streams.len()],
            ports: ports.map(port).collect(),
            unrecorded: 0,
        }
    }

    /// A step of the script happens: frames of loads are worth recording again.
    pub fn event(&mut self) {
        self.ports.iter_mut().for_each(|port| port.left = WINDOW);
    }

    /// A stream is started, perhaps again: the id under which the engine is to run it. Its numbers go on.
    pub fn start(&mut self, stream: u16) -> u16 {
        let sent = self.counts[usize::from(stream)].sent;
        self.runs.push((stream, u32::try_from(sent).unwrap_or(u32::MAX)));
        let run = u16::try_from(self.runs.len() - 1).unwrap_or(u16::MAX);
        self.first_id.wrapping_add(run)
    }

    /// The ids of a stream, all its runs.
    pub fn ids(&self, stream: u16) -> impl Iterator<Item = u16> {
        let runs = (0_u16..).zip(&self.runs).filter(move |(_, (of, _))| *of == stream);
        runs.map(|(run, _)| self.first_id.wrapping_add(run))
    }

    /// How many ids were used.
    pub fn used(&self) -> u16 {
        u16::try_from(self.runs.len()).unwrap_or(u16::MAX)
    }

    /// Ends: the records in order, the counts, and how many frames were counted only.
    pub fn finish(mut self) -> (Vec<Record>, Vec<StreamCount>, u64) {
        self.records.sort_by_key(|record| (record.at, record.port, record.dir));
        (self.records, self.counts, self.unrecorded)
    }

    /// Counts a frame of data: its stream and its number in it. Frames of an earlier trial are none of this one's.
    fn count(&mut self, port: usize, dir: Dir, packet: &Packet) -> Option<(u16, u32)> {
        let run = packet.stream.wrapping_sub(self.first_id);
        let (index, first) = *self.runs.get(usize::from(run))?;
        let (stream, seq) = (usize::from(index), first.wrapping_add(packet.seq));
        let count = &mut self.counts[stream];
        // A frame that goes astray to where nothing is recorded must not make up for one that is missing.
        let astray = usize::from(self.to[stream]) != port;
        match dir {
            Dir::Tx => count.sent += 1,
            Dir::Rx if astray && self.ports[port].tap < rig_testcases::Tap::Sampled => {}
            Dir::Rx => {
                count.received += 1;
                let next = &mut self.next[stream];
                count.reordered += u64::from(seq < *next);
                *next = (*next).max(seq.wrapping_add(1));
            }
        }
        Some((index, seq))
    }

    /// Whether this frame, number `seq` of its stream, goes into the records.
    fn wanted(&mut self, seq: u32, port: usize, dir: Dir, packet: &Packet) -> bool {
        let Some(port) = self.ports.get_mut(port) else { return false };
        let wanted = match port.tap {
            rig_testcases::Tap::None => false,
            rig_testcases::Tap::Pfc => packet.kind == Kind::Pfc,
            rig_testcases::Tap::Sampled => port.sampled(seq, dir, packet),
            rig_testcases::Tap::All => true,
        };
        self.unrecorded += u64::from(!wanted);
        wanted
    }
}

impl Port {
    /// Whether the frame is among those of the sample.
    fn sampled(&mut self, seq: u32, dir: Dir, packet: &Packet) -> bool {
        if packet.kind == Kind::Pfc {
            let said = &mut self.said[usize::from(dir == Dir::Rx)];
            if *said != (packet.enable, packet.zero) {
                *said = (packet.enable, packet.zero);
                self.left = WINDOW;
            }
            return true;
        }
        if packet.record() {
            return true;
        }
        let one_of_many = packet.kind == Kind::Data && seq.is_multiple_of(SAMPLE);
        let within = self.left > 0 || one_of_many;
        self.left = self.left.saturating_sub(1);
        within
    }
}

impl Tap for Recorder {
    fn frame(&mut self, at: Time, host: u16, dir: tap::Dir, packet: &Packet) {
        let dir = match dir {
            tap::Dir::Tx => Dir::Tx,
            tap::Dir::Rx => Dir::Rx,
        };
        let Some(port) = self.hosts.iter().position(|&behind| behind == host) else { return };
        let place = match packet.kind {
            Kind::Data => match self.count(port, dir, packet) {
                Some(place) => place,
                None => return,
            },
            Kind::Ack | Kind::Pfc => (0, 0),
        };
        let Some(since) = at.since(self.origin) else { return };
        if self.wanted(place.1, port, dir, packet) {
            let (at, port) = (Time(since.0), u16::try_from(port).unwrap_or(u16::MAX));
            self.records.push(Record { at, port, dir, what: what(packet, place) });
        }
    }
}

/// The record of a frame of the model.
fn what(packet: &Packet, (stream, seq): (u16, u32)) -> What {
    match packet.kind {
        Kind::Data => What::Data { stream, seq, size: packet.size, ce: packet.ce() },
        Kind::Ack => What::Other { size: rig_units::Bytes(packet.size.into()) },
        Kind::Pfc => {
            let mut quanta = [Quanta(0); CLASSES];
            for (class, time) in quanta.iter_mut().enumerate() {
                if packet.enable >> class & 1 == 1 && packet.zero >> class & 1 == 0 {
                    *time = packet.quanta;
                }
            }
            let enable = packet.enable;
            match packet.fault() {
                Some(fault) => What::BadPfc { fault, enable, quanta },
                None => What::Pfc { enable, quanta },
            }
        }
    }
}

#[cfg(test)]
mod tests;
