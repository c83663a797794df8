//! A NIC of blue-rdma with its driver: hardware that places packets in whatever order and keeps a bitmap of what has come, and a driver that
//! acknowledges, sends again, and has a timer. The rule is `docs/blue-rdma.md`.
//!
//! A frame of the engine has no room for what such packets say: each names what stands in the log that the NICs of a network share.
//!
//! Left out on purpose: READ, SEND and immediate data, CNPs, windows of MSNs and PSNs, chunks of 64 KiB (no packet shows where one ends), and
//! the time that hardware and driver take beside what is declared. PFC holds back packets with a payload, not acknowledgements.

mod log;
mod port;
mod receiver;
mod sender;
mod window;

pub(crate) use log::Log;
pub use log::Said;
pub(crate) use port::Port;

use super::nic::Flow;
use super::oscillator::Oscillator;
use super::packet::{Packet, PacketKind};
use receiver::Receiver;
use rig_capture::blue_rdma::{DRIVER_REPORT_SIZE, Frame, REPORT_SIZE, Says};
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
}

/// What waits for its time.
#[derive(Debug, Clone, Copy)]
enum Later {
    /// An acknowledgement.
    Answer(Packet),
    /// What the driver makes of one that came, of a connection.
    Heed(u16, Frame),
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
        }
    }

    fn start(&mut self, now: Time, flow: &Flow) {
        self.senders.insert(flow.id, Sender::new(flow, now));
    }

    fn stop(&mut self, id: u16) {
        if let Some(sender) = self.senders.get_mut(&id) {
            sender.stop();
        }
    }

    /// Learns of the first number of a connection, as the two ends tell each other.
    fn expect(&mut self, id: u16, psn: u32) {
        self.receivers.insert(id, Receiver::new(psn, &self.config.faults));
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

    /// A frame arrives whose last bit is here at `now`; no PFC.
    fn receive(&mut self, now: Time, packet: &Packet) {
        let Some(frame) = self.log.said(packet) else { return };
        let id = packet.stream;
        let BlueRdma { hardware, driver, .. } = self.config.declared;
        let Says::Data { last, address, .. } = frame.says else {
            return self.wait(now + driver, Later::Heed(id, frame));
        };
        let Some(receiver) = self.receivers.get_mut(&id) else { return };
        // Where nothing says where it goes it is placed behind what came before, or not at all.
        if address == 0 && !receiver.is_next(frame.psn) {
            return;
        }
        let faults = &self.config.faults;
        let taken = receiver.take(frame.psn, (frame.is_retry, last), faults);
        for (is_of_hardware, mut report) in taken {
            let (size, takes) =
                if is_of_hardware { (REPORT_SIZE, hardware) } else { (DRIVER_REPORT_SIZE, driver) };
            (report.msn, report.size) = (if is_of_hardware { report.msn } else { frame.msn }, size);
            let mut answer = packet.ack(size).with_ect(false).with_ce(false);
            answer.src = self.host;
            answer.seq = report.psn;
            if !is_of_hardware && matches!(report.says, Says::Report { lost: true, .. }) {
                answer.kind = PacketKind::Nak;
            }
            let answer = self.log.note(answer, report);
            self.wait(now + takes, Later::Answer(answer));
        }
    }

    /// Does what is due at `now`.
    fn on_wake(&mut self, now: Time) {
        while let Some(entry) = self.later.first_entry()
            && entry.key().0 <= now
        {
            match entry.remove() {
                Later::Answer(packet) => self.answers.push_back(packet),
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
                sender.timed_out(now, self.config.declared.retries);
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
        let ready = |(id, sender): (&u16, &Sender)| sender.is_ready(closed).then_some(Some(*id));
        let behind = self.senders.range(self.last.saturating_add(1)..).find_map(ready);
        behind.or_else(|| self.senders.range(..=self.last).find_map(ready))
    }

    /// That begins to leave at `now`.
    fn begin(&mut self, now: Time, next: Option<u16>) -> Option<Packet> {
        let Some(id) = next else { return self.answers.pop_front() };
        let sender = self.senders.get_mut(&id)?;
        let (packet, frame) = sender.send(now, self.host, &self.config.faults);
        self.last = id;
        let watches = !self.config.faults.rto_never && !sender.is_watched;
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
