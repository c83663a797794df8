//! What passes the rig's real ports during one trial: frames decoded and put into the ledger, and whatever went wrong on
//! the way.

use super::super::ledger::Ledger;
use super::between::Between;
use super::broken::Broken;
use super::exchanged::Exchanged;
use super::onward::{Leaves, Onward};
use super::silence::Listener;
use super::unseen::Unseen;
use crate::stop::Stop;
use rig_capture::decode::Decoder;
use rig_capture::deep::Capture;
use rig_capture::{Dir, Lateness, PfcFault, Record, What};
use rig_frames::ip::Ecn;
use rig_frames::vlan;
use rig_generator::port::StampedBy;
use rig_generator::{Departure, Kept, Watcher, Who};
use rig_oracle::trials::seed::Seed;
use rig_testcases::{PfcOdd, Roce, RoceKind, Script, Secured, StreamSpec};
use rig_units::{Dur, Quanta, Time};
use std::collections::BTreeMap;

/// Listens at the ports of one trial.
#[derive(Debug)]
pub(super) struct Tape<'a> {
    script: &'a Script,
    stop: &'a Stop,
    origin: Time,
    /// The number under which the first frame of every stream leaves: frames of earlier trials have lower ones.
    first: u64,
    /// The rig port that each lane of the pacer is in this script; `None`: not in use.
    ports: Vec<Option<u16>>,
    /// Of each lane: whether a frame is handed over as its last bit is due, and passes then; else as its first bit is.
    instant: Vec<bool>,
    bound: Dur,
    pub(super) decoder: Decoder,
    by_hand: Vec<What>,
    pub(super) ledger: Ledger,
    pub(super) late: Vec<Lateness>,
    /// How each stream and storm kept to its plan.
    kept: BTreeMap<Who, Kept>,
    /// How far off the worst frame was: behind its plan, or between a stamp and what it stands for.
    pub(super) off: Dur,
    /// Frames of an earlier trial that arrived in this one.
    pub(super) stale: u64,
    /// What the device did between the trial and a reading of its counters.
    pub(super) unseen: Unseen,
    /// Whether a port went deaf.
    pub(super) listener: Listener,
    /// How many frames passed all ports.
    pub(super) exchanged: Exchanged,
    /// When they passed each.
    pub(super) between: Between,
    /// The longest that the device took to do as a step told it, after that was due.
    pub(super) took: Dur,
    /// Every frame goes onto a disk, too, if somebody asked for that.
    pub(super) disk: Option<Capture>,
    /// What goes on to the NIC at the other end.
    pub(super) onward: Onward,
    /// When the frame was to go on that goes on now.
    goes_on: Time,
}

/// Sequence numbers on the wire have 24 bits.
const NUMBERS: u32 = 1 << 24;

impl<'a> Tape<'a> {
    /// Listens to `script` from `origin` on, until `stop` hurries; `instant` has an entry for each lane.
    pub(super) fn new(
        (script, stop): (&'a Script, &'a Stop),
        origin: Time,
        first: u64,
        instant: Vec<bool>,
        (bound, listener, seed): (Dur, Listener, &Seed),
    ) -> Tape<'a> {
        let lanes = instant.len();
        let mut ports = vec![None; lanes];
        for (port, &lane) in (0..).zip(&script.dut_ports) {
            if let Some(slot) = ports.get_mut(usize::from(lane)) {
                *slot = Some(port);
            }
        }
        Tape {
            stop,
            script,
            origin,
            first,
            ports,
            instant,
            bound,
            decoder: Decoder::of(script),
            by_hand: Vec::new(),
            ledger: Ledger::new(script),
            late: Vec::new(),
            // Made before anything is sent: they are large.
            kept: senders(script).map(|who| (who, Kept::new())).collect(),
            off: Dur::ZERO,
            stale: 0,
            unseen: Unseen::default(),
            listener,
            exchanged: Exchanged::default(),
            between: Between::of(lanes),
            took: Dur::ZERO,
            disk: None,
            onward: Onward::of(script, origin, seed),
            goes_on: origin,
        }
    }

    /// Something that is not a frame was due at `due` and done at `now`.
    pub(super) fn acted(&mut self, due: Time, now: Time) {
        let by = now.since(due).unwrap_or_default();
        self.off = self.off.max(by);
        if by > self.bound {
            let at = Time(now.since(self.origin).unwrap_or_default().0);
            self.late.push(Lateness { at, by, sender: "a step".to_owned() });
        }
    }

    /// Frames by hand are about to be sent: what they say. Their number among those of this trial.
    pub(super) fn by_hand(&mut self, what: What) -> u16 {
        self.by_hand.push(what);
        u16::try_from(self.by_hand.len() - 1).unwrap_or(u16::MAX)
    }

    /// The number under which a stream that is started now sends its next frame.
    pub(super) fn next_number(&self, stream: u16) -> u64 {
        self.first_of(stream) + self.ledger.sent(stream)
    }

    /// The number of a stream's first frame. Connections with a NIC begin anew with each trial, and nothing of them comes back.
    fn first_of(&self, stream: u16) -> u64 {
        let to_nic = self.script.streams[usize::from(stream)].is_to_nic();
        if to_nic { 0 } else { self.first }
    }

    /// What a frame says that the rig itself sent.
    fn own(&self, departure: &Departure) -> What {
        match departure.who {
            Who::Stream(stream) => {
                let spec = &self.script.streams[usize::from(stream)];
                if let Some(connection) = spec.of {
                    return What::Roce(cnp(spec, connection));
                }
                let seq = departure.number - self.first_of(stream);
                What::Data {
                    stream,
                    seq: u32::try_from(seq).unwrap_or(u32::MAX),
                    size: u16::try_from(spec.size.0).unwrap_or(u16::MAX),
                    ce: spec.ecn == Ecn::Ce,
                }
            }
            Who::Storm(storm) => {
                let spec = &self.script.storms[usize::from(storm)];
                pfc(spec.classes, spec.quanta)
            }
            Who::ByHand(index) => self.by_hand[usize::from(index)],
        }
    }

    /// How each stream and storm that sent anything kept to its plan, by name.
    pub(super) fn kept(&mut self) -> Vec<(String, Kept)> {
        let kept = core::mem::take(&mut self.kept).into_iter();
        let sent = kept.filter(|(_, kept)| kept.lateness.count() > 0);
        sent.map(|(who, kept)| (self.sender(who), kept)).collect()
    }

    fn sender(&self, who: Who) -> String {
        match who {
            Who::Stream(stream) => self.script.streams[usize::from(stream)].name.clone(),
            Who::Storm(storm) => self.script.storms[usize::from(storm)].name.clone(),
            Who::ByHand(_) => "pfc by hand".to_owned(),
        }
    }

    /// Whether the trial is to go on.
    ///
    /// # Errors
    /// Somebody asked for the end.
    pub(super) fn goes_on(&self) -> Result<(), Broken> {
        if self.stop.hurried() { Err(Broken::Stopped) } else { Ok(()) }
    }

    fn push(
        &mut self,
        (lane, dir): (u16, Dir),
        at: Time,
        (what, secured, vlan): (What, Option<Secured>, Option<vlan::Repr>),
    ) {
        let Some(port) = self.ports.get(usize::from(lane)).copied().flatten() else { return };
        let Some(since) = at.since(self.origin) else { return };
        self.ledger.saw(Record { secured, vlan, at: Time(since.0), port, dir, what });
    }
}

/// A CNP for the sender of a connection.
fn cnp(spec: &StreamSpec, connection: u16) -> Roce {
    let size = u16::try_from(spec.size.0).unwrap_or(u16::MAX);
    let cnp = Roce::of(connection, RoceKind::Cnp { fault: None }, 0, size);
    let StreamSpec { ecn, dscp, address, over, gid, .. } = *spec;
    Roce { ecn, dscp, address, over, gid, ..cnp }
}

/// Everyone who sends in a script.
fn senders(script: &Script) -> impl Iterator<Item = Who> {
    let streams = (0..).take(script.streams.len()).map(Who::Stream);
    streams.chain((0..).take(script.storms.len()).map(Who::Storm))
}

/// What a PFC frame says that gives all its classes one time.
pub(super) fn pfc(enable: u8, quanta: Quanta) -> What {
    let of = |class: usize| if enable >> class & 1 == 1 { quanta } else { Quanta(0) };
    What::Pfc { enable, quanta: core::array::from_fn(of) }
}

/// The same frame, where it is odd by an address.
pub(super) fn odd(what: What, odd: PfcOdd) -> What {
    match (what, PfcFault::of(odd)) {
        (What::Pfc { enable, quanta }, Some(fault)) => What::BadPfc { fault, enable, quanta },
        (what, _) => what,
    }
}

impl Watcher for Tape<'_> {
    fn is_over(&self) -> bool {
        self.stop.hurried()
    }

    fn sent(&mut self, lane: u16, departure: &Departure, at: Time, gone: Time) {
        self.exchanged.sent += 1;
        self.between.sent(lane, gone);
        let serialise = departure.end.since(departure.start).unwrap_or_default();
        let instant = self.instant.get(usize::from(lane)).copied().unwrap_or(false);
        let due = if instant { departure.end } else { departure.start };
        let by = at.since(due).unwrap_or_default();
        if let Some(kept) = self.kept.get_mut(&departure.who) {
            kept.sent(due, at);
        }
        self.off = self.off.max(by).max(gone.since(at).unwrap_or_default());
        if by > self.bound {
            let sender = self.sender(departure.who);
            let at = Time(at.since(self.origin).unwrap_or_default().0);
            self.late.push(Lateness { at, by, sender });
        }
        let last_bit = if instant { at } else { at + serialise };
        if let (Who::Stream(stream), Some(since)) = (departure.who, last_bit.since(self.origin)) {
            self.listener.sent(stream, Time(since.0));
        }
        if let Some(disk) = &mut self.disk {
            disk.sent(Time(last_bit.since(self.origin).unwrap_or_default().0));
        }
        let what = self.own(departure);
        let vlan = match what {
            What::Data { stream, .. } => self.script.streams[usize::from(stream)].vlan,
            _ => None,
        };
        self.push((lane, Dir::Tx), last_bit, (what, departure.secured, vlan));
    }

    fn received(&mut self, lane: u16, frame: &[u8], at: Time, by: StampedBy) {
        self.exchanged.came += 1;
        self.between.came(lane, at);
        if at < self.origin {
            self.unseen.early(at);
        }
        // A frame that belongs to no stream, or passes a port that the script does not use, passes the rig all the same.
        if let (Some(disk), Some(since)) = (&mut self.disk, at.since(self.origin)) {
            disk.received(lane, Time(since.0), frame);
        }
        // A stamp made here says when this process came round to the frame: how long it had waited is unknown.
        if by == StampedBy::Process {
            self.off = self.off.max(self.bound);
        }
        let Some(port) = self.ports.get(usize::from(lane)).copied().flatten() else { return };
        if let Some(since) = at.since(self.origin) {
            self.listener.heard(port, Time(since.0));
        }
        let (what, secured, vlan) = self.decoder.read(port, Dir::Rx, frame, frame.len());
        if at >= self.origin {
            self.onward.came(port, at, (frame, &what));
        }
        let what = match what {
            What::Data { stream, seq, size, ce } => {
                let first = u32::try_from(self.first % u64::from(NUMBERS)).unwrap_or(0);
                let seq = seq.wrapping_sub(first) % NUMBERS;
                if u64::from(seq) >= self.ledger.sent(stream) {
                    self.stale += 1;
                    return;
                }
                What::Data { stream, seq, size, ce }
            }
            what => what,
        };
        self.push((lane, Dir::Rx), at, (what, secured, vlan));
    }

    fn held(&mut self, lane: u16, since: Time, until: Time) {
        let Some(port) = self.ports.get(usize::from(lane)).copied().flatten() else { return };
        let by = until.since(since.max(self.origin)).unwrap_or_default();
        self.off = self.off.max(by);
        if by > self.bound {
            let name = &self.script.ports[usize::from(port)];
            let at = Time(until.since(self.origin).unwrap_or_default().0);
            let sender = format!("what {name} was given, as the kernel had no room for it,");
            self.late.push(Lateness { at, by, sender });
        }
    }

    fn onward(&mut self, now: Time) -> Option<(u16, Vec<u8>)> {
        let Leaves { lane, bytes, due } = self.onward.next(now)?;
        self.goes_on = due;
        Some((lane, bytes))
    }

    fn goes_on_at(&self) -> Option<Time> {
        self.onward.due()
    }

    fn passed(&mut self, lane: u16, frame: &[u8], left: Option<(Time, Time)>) {
        let Some(port) = self.ports.get(usize::from(lane)).copied().flatten() else { return };
        let Some((at, gone)) = left else {
            // It is no loss of the device's: the trial does not count.
            let name = &self.script.ports[usize::from(port)];
            let sender = format!("what {name} was to pass on, as it had no room for it,");
            let at = self.late.last().map_or(Time::ZERO, |late| late.at);
            self.late.push(Lateness { at, by: self.bound, sender });
            return;
        };
        self.exchanged.sent += 1;
        self.between.sent(lane, gone);
        self.off = self.off.max(gone.since(at).unwrap_or_default());
        let by = at.since(self.goes_on).unwrap_or_default();
        if by > self.bound {
            let sender = format!("what {} was to pass on", self.script.ports[usize::from(port)]);
            let at = Time(at.since(self.origin).unwrap_or_default().0);
            self.late.push(Lateness { at, by, sender });
        }
        if let Some(disk) = &mut self.disk {
            disk.wrote(lane, frame);
            disk.sent(Time(at.since(self.origin).unwrap_or_default().0));
        }
        let said = self.decoder.read(port, Dir::Tx, frame, frame.len());
        self.push((lane, Dir::Tx), at, said);
    }

    fn reads(&self) -> bool {
        self.disk.is_some()
    }

    fn wrote(&mut self, lane: u16, frame: &[u8]) {
        if let Some(disk) = &mut self.disk {
            disk.wrote(lane, frame);
        }
    }
}
