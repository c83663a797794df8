//! A NIC of blue-rdma with its driver: hardware that places packets in whatever order and keeps a bitmap of what has come, and a driver that
//! acknowledges, sends again, and has a timer. The rule is `docs/blue-rdma.md`.
//!
//! A frame of the engine has no room for what such packets say: each names what stands in the log that the NICs of a network share.
//!
//! Left out on purpose: how receive buffers of SENDs are exchanged, a first or only packet of RoCEv2 with a key that fits (hardware would place it), and
//! the time that hardware and driver take beside what is declared. PFC holds back packets with a payload, not acknowledgements.

mod arrive;
mod log;
mod port;
mod receiver;
mod sender;
mod window;

pub(crate) use log::Log;
pub use log::Said;
pub(crate) use port::Port;

use super::nic::{Flow, Verb};
use super::oscillator::Oscillator;
use super::packet::{Packet, PacketKind, RETH, ROCE_OVERHEAD};
use receiver::Receiver;
use rig_capture::blue_rdma::{COMPLETIONS, DESCRIPTORS, Frame, MEMORY, OVERHEAD, Says};
use rig_lab::BlueRdmaFaults;
use rig_lab::declared::BlueRdma;
use rig_units::{Dur, Time};
use sender::Sender;
use std::collections::{BTreeMap, VecDeque};

/// What a NIC of blue-rdma is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// As it is declared.
    pub declared: BlueRdma,
    /// What it does wrong.
    pub faults: BlueRdmaFaults,
    /// What its timer is told by.
    pub clock: Oscillator,
}

/// A NIC with one port.
#[derive(Debug, Clone)]
struct Nic {
    config: Config,
    /// The host that it is.
    host: u16,
    log: Log,
    senders: BTreeMap<u16, Sender>,
    receivers: BTreeMap<u16, Receiver>,
    /// What waits for its time, of one time in the order in which it came.
    later: BTreeMap<(Time, u64), Later>,
    waited: u64,
    /// Acknowledgements that are ready.
    answers: VecDeque<Packet>,
    /// The sender that was last.
    last: u16,
    /// What queue pairs of others send, and the hosts that they are at.
    expected: BTreeMap<u16, Flow>,
    /// When the last CNP of a connection was asked for.
    notified: BTreeMap<u16, Time>,
    /// The driver's thread has ended.
    is_dead: bool,
}

/// What waits for its time.
#[derive(Debug, Clone, Copy)]
enum Later {
    /// An acknowledgement.
    Answer(Packet),
    /// What the driver makes of one that came, of a connection.
    Heed(u16, Frame),
    /// An answer to a READ of a connection.
    Respond(u16),
    /// A look at the timer of a connection.
    Watch(u16),
}

impl Nic {
    fn new(host: u16, config: &Config) -> Nic {
        Nic {
            config: *config,
            host,
            log: Log::default(),
            senders: BTreeMap::new(),
            receivers: BTreeMap::new(),
            later: BTreeMap::new(),
            waited: 0,
            answers: VecDeque::new(),
            last: 0,
            expected: BTreeMap::new(),
            notified: BTreeMap::new(),
            is_dead: false,
        }
    }

    fn start(&mut self, now: Time, flow: &Flow) {
        self.senders.insert(flow.id, Sender::new(flow, now));
        if flow.verb == Verb::Read {
            // What answers has numbers of its own, which begin with the same one.
            self.receivers.insert(flow.id, Receiver::new(flow.psn, &self.config.faults));
        }
    }

    fn stop(&mut self, id: u16) {
        if let Some(sender) = self.senders.get_mut(&id) {
            sender.stop();
        }
    }

    /// Learns of a connection from `host`, as the two ends tell each other.
    fn expect(&mut self, host: u16, flow: &Flow) {
        self.receivers.insert(flow.id, Receiver::new(flow.psn, &self.config.faults));
        self.expected.insert(flow.id, Flow { dst: host, ..*flow });
    }

    /// Messages of a connection that have come whole here: of READs the answers.
    fn answered(&self, id: u16) -> u64 {
        self.receivers.get(&id).map_or(0, |receiver| receiver.done)
    }

    /// What its driver has counted: descriptors that it wrote, and completions.
    fn counters(&self) -> [(&'static str, u64); 2] {
        let faults = &self.config.faults;
        let completed =
            self.senders.iter().map(|(id, one)| one.completed(self.answered(*id), faults));
        let descriptors = self.senders.values().map(|one| one.descriptors);
        [(DESCRIPTORS, descriptors.sum()), (COMPLETIONS, completed.sum())]
    }

    /// Goes on with another configuration; its state stays.
    fn set(&mut self, config: &Config) {
        self.config = *config;
    }

    fn wait(&mut self, at: Time, what: Later) {
        self.waited += 1;
        self.later.insert((at, self.waited), what);
    }

    /// When something waits for its time; [`Time::MAX`] if nothing does.
    fn wake(&self) -> Time {
        self.later.first_key_value().map_or(Time::MAX, |((at, _), _)| *at)
    }

    /// Does what is due at `now`.
    fn on_wake(&mut self, now: Time) {
        while let Some(entry) = self.later.first_entry()
            && entry.key().0 <= now
        {
            match entry.remove() {
                Later::Answer(packet) => self.answers.push_back(packet),
                Later::Heed(_, Frame { says: Says::Cnp, .. }) => {
                    self.is_dead |= self.config.faults.cnp_panics;
                }
                Later::Heed(..) | Later::Respond(_) if self.is_dead => {}
                Later::Respond(id) => {
                    let Some(flow) = self.expected.get(&id) else { continue };
                    let answers = || Sender::answering(flow, now);
                    self.senders.entry(id).or_insert_with(answers).answer();
                }
                Later::Heed(id, frame) => {
                    if let Some(sender) = self.senders.get_mut(&id) {
                        sender.heed(now, &frame, &self.config.faults);
                    }
                }
                Later::Watch(id) => self.watch(now, id),
            }
        }
    }

    fn watch(&mut self, now: Time, id: u16) {
        let Some(sender) = self.senders.get_mut(&id) else { return };
        let late = self.config.declared.timeout_late;
        let due = self.config.runs_out(sender.since);
        match due.map(|due| due + late).filter(|_| sender.is_waiting()) {
            None => sender.is_watched = false,
            Some(due) if due > now => self.wait(due, Later::Watch(id)),
            Some(_) => {
                sender.timed_out(now, self.config.declared.retries, &self.config.faults);
                sender.is_watched = false;
            }
        }
    }

    /// What is next to leave, where the classes in `closed` are paused: `None` of nothing, `Some(None)` of an acknowledgement, else of
    /// which connection.
    fn next(&self, closed: u8) -> Option<Option<u16>> {
        if !self.answers.is_empty() {
            return Some(None);
        }
        let rules = (&self.config.declared, &self.config.faults);
        let ready = |(id, sender): (&u16, &Sender)| {
            sender.is_ready(closed, self.answered(*id), rules).then_some(Some(*id))
        };
        let behind = self.senders.range(self.last.saturating_add(1)..).find_map(ready);
        behind.or_else(|| self.senders.range(..=self.last).find_map(ready))
    }

    /// That begins to leave at `now`.
    fn begin(&mut self, now: Time, next: Option<u16>) -> Option<Packet> {
        let Some(id) = next else { return self.answers.pop_front() };
        let sender = self.senders.get_mut(&id)?;
        let (packet, frame) = sender.send(now, self.host, &self.config.faults);
        self.last = id;
        let watches = !self.config.faults.rto_never && !sender.is_watched && sender.has_timer();
        let due = self.config.runs_out(sender.since).filter(|_| watches);
        if let Some(due) = due {
            sender.is_watched = true;
            self.wait(due + self.config.declared.timeout_late, Later::Watch(id));
        }
        Some(self.log.note(packet, frame))
    }

    /// The link went down: what waits to go out is lost.
    fn cut_off(&mut self) {
        self.answers.clear();
    }
}

/// A packet of a WRITE of this dialect as a NIC of RoCEv2 would have sent it: a RETH in the first alone, pad, ICRC.
pub(crate) fn as_rocev2(packet: &Packet) -> Packet {
    let payload = packet.size.saturating_sub(OVERHEAD).next_multiple_of(4);
    let reth = if packet.is_first() { RETH } else { 0 };
    packet.without_note(payload.saturating_add(ROCE_OVERHEAD + reth))
}

/// A packet of a message of RoCEv2 that does not begin it as a NIC of this dialect would have sent it: a RETH of its own, no pad, no ICRC. Whoever looks for
/// one takes the last four bytes of payload for it.
pub(crate) fn as_blue_rdma(packet: &Packet, log: &Log) -> Packet {
    let size = packet.size.saturating_sub(ROCE_OVERHEAD).saturating_add(OVERHEAD);
    let (first, last) = (packet.is_first(), packet.is_last());
    let length = u32::from(size.saturating_sub(OVERHEAD));
    let frame = Frame {
        connection: packet.stream,
        psn: packet.seq & 0xff_ffff,
        msn: 0,
        size,
        is_retry: false,
        ce: packet.ce(),
        is_send: false,
        immediate: None,
        says: Says::Data { first, last, address: MEMORY, length },
    };
    log.note(Packet { size, ..*packet }.with_bad_icrc(), frame)
}

/// A frame of the outside world from host `src` to host `dst`, which says this of a connection.
pub(crate) fn saying(frame: Frame, (src, dst): (u16, u16), log: &Log) -> Packet {
    let mut packet = Packet::data(frame.connection, src, dst, 0, 0, frame.size);
    packet.seq = frame.psn;
    packet = match frame.says {
        Says::Data { first, last, .. } => packet.with_place(first, last),
        Says::Response { first, last, .. } => packet.with_place(first, last).with_response(true),
        _ => packet,
    };
    packet.kind = match frame.says {
        Says::Data { .. } | Says::Response { .. } => PacketKind::Data,
        Says::Request { .. } => PacketKind::ReadRequest,
        Says::Cnp => PacketKind::Cnp,
        Says::Report { by_driver: true, lost: true, .. } => PacketKind::Nak,
        Says::Report { .. } => PacketKind::Ack,
    };
    log.note(packet.with_ect(true).with_ce(frame.ce), frame)
}

impl Config {
    /// When a timer that was set at `since` runs out, if it does so before the end of time.
    fn runs_out(&self, since: Time) -> Option<Time> {
        let doubled = 1_u64.checked_shl(self.declared.timeout.into())?;
        let lasts = Dur(Dur::ns(4_096).0.checked_mul(doubled)?);
        Some(Time(since.0.checked_add(self.clock.lasting(lasts).0)?))
    }
}

#[cfg(test)]
mod tests;
