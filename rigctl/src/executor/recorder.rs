//! What the engine's hosts, which are the rig's ports, see during one trial.

use super::ledger::{Ledger, TrialRecord};
use crate::stop::Stop;
use rig_capture::pcapng::Spool;
use rig_capture::{Dir, Record, What, blue_rdma};
use rig_frames::macsec;
use rig_frames::vlan::{self, Pcp};
use rig_oracle::model::blue_rdma::Said;
use rig_oracle::model::packet::{CLASSES, Packet, PacketKind, Tag};
use rig_oracle::model::tap::{self, Tap};
use rig_testcases::{Script, Secured};
use rig_units::{Dur, Quanta, Time};
use std::collections::BTreeMap;

/// Listens at the ports of one trial.
#[derive(Debug)]
pub struct Recorder<'a> {
    stop: &'a Stop,
    origin: Time,
    /// The engine's id of the first run below.
    first_id: u16,
    /// One entry for each time a stream or flow was started: its connection, and what the numbers in its frames lack of those in
    /// the stream.
    runs: Vec<(u16, u32)>,
    /// Packet sequence number of each stream's first frame.
    firsts: Vec<u32>,
    /// The 802.1Q tag of each stream's frames as they are sent. The model carries its priority alone.
    tags: Vec<Option<vlan::Repr>>,
    /// The host of the engine behind each rig port.
    hosts: Vec<u16>,
    ledger: Ledger,
    /// Whether packet numbers have 64 bits, of which a tag has 32.
    extended: bool,
    /// The greatest packet number seen of each port, direction and association.
    lowest: BTreeMap<(u16, Dir, u8), u64>,
    /// What frames of NICs of blue-rdma say.
    said: Option<Said>,
}

impl<'a> Recorder<'a> {
    /// Starts to listen at the ports of `script` at `origin`, the trial's start, until `stop` hurries. All that it hears goes to
    /// `spool`, if there is one.
    pub fn new(
        stop: &'a Stop,
        (origin, first_id): (Time, u16),
        script: &Script,
        spool: Option<Spool>,
    ) -> Recorder<'a> {
        let (hosts, ledger) = (script.dut_ports.clone(), Ledger::new(script).onto(spool));
        let extended = script.macsec.as_ref().is_some_and(|macsec| macsec.suite.is_extended());
        let (runs, lowest) = (Vec::new(), BTreeMap::new());
        let firsts = script.streams.iter().map(|spec| spec.psn).collect();
        let of_streams = script.streams.iter().map(|spec| spec.vlan);
        let tags = of_streams.chain(script.flows.iter().map(|spec| spec.vlan)).collect();
        Recorder {
            stop,
            origin,
            first_id,
            runs,
            firsts,
            tags,
            hosts,
            ledger,
            extended,
            lowest,
            said: None,
        }
    }

    /// The same, and frames of NICs of blue-rdma say what they do.
    #[must_use]
    pub fn reading(self, said: Said) -> Recorder<'a> {
        Recorder { said: Some(said), ..self }
    }

    /// A step of the script happens: frames of loads are worth recording again.
    pub fn event(&mut self, at: Dur) {
        self.ledger.event(at);
    }

    /// A stream is started, perhaps again: the id under which the engine is to run it. Its numbers go on.
    pub fn start(&mut self, stream: u16) -> u16 {
        self.ledger.starts(stream);
        let sent = self.ledger.sent(stream);
        self.begin(stream, u32::try_from(sent).unwrap_or(u32::MAX))
    }

    /// A stream to a NIC is started, perhaps again: the id by which it is stopped, the connection that its frames name, and the
    /// number of its next frame. It stays one connection, whose numbers go on.
    pub fn start_to_nic(&mut self, stream: u16) -> (u16, u16, u32) {
        let first = self.firsts.get(usize::from(stream)).copied().unwrap_or(0);
        let sent = u32::try_from(self.ledger.sent(stream)).unwrap_or(u32::MAX);
        let id = self.begin(stream, first.wrapping_neg());
        let names = self.ids(stream).next().unwrap_or(id);
        (id, names, first.wrapping_add(sent))
    }

    /// Something that has a connection of this number is started: the id under which the engine is to run it.
    pub fn begin(&mut self, connection: u16, lacks: u32) -> u16 {
        self.runs.push((connection, lacks));
        let run = u16::try_from(self.runs.len() - 1).unwrap_or(u16::MAX);
        self.first_id.wrapping_add(run)
    }

    /// The engine's id of a connection, if it has begun: of its latest run.
    pub fn names(&self, connection: u16) -> Option<u16> {
        self.ids(connection).last()
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

    /// Ends, and nobody wants to know what was seen.
    pub fn abandon(self) {
        self.ledger.abandon();
    }

    /// Ends: all that was seen.
    pub fn finish(self) -> TrialRecord {
        self.ledger.finish()
    }

    /// What a tag says, its packet number whole: of one port and association they grow.
    fn secured(&mut self, (port, dir): (u16, Dir), tag: Tag) -> Secured {
        let Tag { an, pn, encrypted, sci, tamper } = tag;
        let lowest = self.lowest.entry((port, dir, an)).or_insert(1);
        let pn = if self.extended { macsec::recover(pn, *lowest) } else { pn.into() };
        if tamper.is_none() {
            *lowest = pn.max(*lowest);
        }
        Secured { an, pn, encrypted, sci, tamper }
    }

    /// The stream of a frame of data and its number in it; `None` for frames of an earlier trial.
    fn place(&self, packet: &Packet) -> Option<(u16, u32)> {
        let run = packet.stream.wrapping_sub(self.first_id);
        let (stream, first) = *self.runs.get(usize::from(run))?;
        Some((stream, first.wrapping_add(packet.seq)))
    }
}

impl Tap for Recorder<'_> {
    fn is_over(&self) -> bool {
        self.stop.hurried()
    }

    fn frame(&mut self, at: Time, host: u16, dir: tap::Dir, packet: &Packet) {
        let dir = match dir {
            tap::Dir::Tx => Dir::Tx,
            tap::Dir::Rx => Dir::Rx,
        };
        let Some((port, _)) = (0..).zip(&self.hosts).find(|&(_, &behind)| behind == host) else {
            return;
        };
        let (packet, tag) = packet.opened();
        let place = match packet.kind {
            PacketKind::Pfc => (0, 0),
            PacketKind::Data
            | PacketKind::Ack
            | PacketKind::Nak
            | PacketKind::Cnp
            | PacketKind::ReadRequest
            | PacketKind::NotReady => {
                match self.place(&packet) {
                    Some(place) => place,
                    // Of an earlier trial, unless it names no connection at all.
                    None if packet.kind == PacketKind::Cnp => (u16::MAX, 0),
                    None => return,
                }
            }
        };
        let Some(since) = at.since(self.origin) else { return };
        let own = packet.kind == PacketKind::Data && usize::from(place.0) < self.firsts.len();
        let said = self.said.as_ref().and_then(|said| said.of(&packet)).filter(|_| !own);
        let what = match said {
            Some(frame) => {
                let (connection, ce) = (place.0, packet.ce());
                What::BlueRdma(blue_rdma::Frame { connection, ce, ..frame })
            }
            None => what(&packet, place, own, dir),
        };
        let at = Time(since.0);
        let secured = tag.map(|tag| self.secured((port, dir), tag));
        let has_one = own || matches!(what, What::Roce(_));
        let sent = self.tags.get(usize::from(place.0)).copied().flatten().filter(|_| has_one);
        let vlan = sent.and_then(|tag| Some(vlan::Repr { pcp: Pcp::new(packet.pcp()?)?, ..tag }));
        self.ledger.saw(Record { at, port, dir, what, secured, vlan });
    }
}

/// The record of a frame of the model; `own`: of one of the rig's streams.
fn what(packet: &Packet, (stream, seq): (u16, u32), own: bool, dir: Dir) -> What {
    if packet.kind == PacketKind::Data && own {
        return What::Data { stream, seq, size: packet.size, ce: packet.ce() };
    }
    if let Some(roce) = rig_dut::roce::roce(packet, stream, dir == Dir::Rx) {
        return What::Roce(roce);
    }
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

#[cfg(test)]
mod tests;
