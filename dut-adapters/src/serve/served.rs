//! The loop of a served device: frames in, the engine up to the present, frames out, questions answered, and asleep until
//! something is due or comes in. It never watches the clock: a device that keeps a processor busy is late elsewhere.

use super::device::Device;
use super::mailbox::{Letter, Mailbox, Post, mailbox};
use super::meter::Meter;
use super::passed::Passed;
use crate::control::{Control as _, ControlError, Health, Order, Refused};
use crate::protocol::{Answer, Ask, Happened, Hello, PROTOCOL, VERSION};
use core::fmt;
use nix::sys::prctl;
use rig_capture::DutEvent;
use rig_generator::Clock;
use rig_generator::port::{PortError, Receive, Transmit};
use rig_lab::{Keys, Profile};
use rig_units::{Dur, Time};
use std::io;

/// The longest sleep. Whatever a wake-up may miss is found then.
const NAP: Dur = Dur::ms(10);
/// The longest sleep while a driver has no room for what is to be sent.
const DOZE: Dur = Dur::us(50);
/// How often a port is read in one round. One that has more is read on in the next.
const GULPS: u32 = 64;

/// One port of the device.
#[derive(Debug)]
pub struct Line {
    /// The interface, by name.
    pub interface: String,
    /// Sends.
    pub tx: Box<dyn Transmit>,
    /// Receives.
    pub rx: Box<dyn Receive>,
}

/// A device on its ports.
#[derive(Debug)]
pub struct Served<C> {
    clock: C,
    profile: Profile,
    lines: Vec<Line>,
    /// When the first frame was due that a port was given and has not sent.
    owed: Vec<Option<Time>>,
    /// What has passed the ports.
    passed: Passed,
    /// Frames that no port had room for.
    unsent: u64,
    device: Device,
    /// The keys of the lab, once somebody has given them.
    keys: Option<Keys>,
    /// The boot, on the clock.
    epoch: Time,
    /// When whoever polls in the device's place polls next, on CLOCK_MONOTONIC.
    poll_due: Option<u64>,
    /// How many times its watchdogs had acted as that was last told.
    heralded: usize,
    mailbox: Mailbox,
}

/// What to do after a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Come back then, or when something comes in.
    Sleep(Time),
    /// Nothing any more: it was asked to end.
    Quit,
}

/// Why a device cannot be served.
#[derive(Debug)]
pub enum Unserved {
    /// It refuses the configuration of its profile.
    Refused(ControlError),
    /// The system has no sockets left.
    System(io::Error),
}

impl fmt::Display for Unserved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unserved::Refused(refused) => refused.fmt(f),
            Unserved::System(error) => write!(f, "cannot serve a device: {error}"),
        }
    }
}

impl core::error::Error for Unserved {}

impl<C: Clock> Served<C> {
    /// The device of `profile` on `lines`, one for each of its ports, booted now as it declares itself; and how to talk
    /// to it.
    ///
    /// # Errors
    /// When the device refuses its own configuration.
    ///
    /// # Panics
    /// When there are not as many lines as ports.
    pub fn new(
        profile: Profile,
        lines: Vec<Line>,
        clock: C,
        seed: u64,
    ) -> Result<(Served<C>, Post), Unserved> {
        let ports = usize::from(profile.declared.port_count());
        assert!(lines.len() == ports, "{} lines for {ports} ports", lines.len());
        let device = Device::boot(&profile, &[], seed, Meter::default());
        let device = device.map_err(Unserved::Refused)?;
        let (post, mailbox) = mailbox().map_err(Unserved::System)?;
        let epoch = clock.now();
        let owed = vec![None; ports];
        let (unsent, keys) = (0, None);
        let served = Served {
            clock,
            profile,
            lines,
            owed,
            passed: Passed::by(ports),
            unsent,
            device,
            keys,
            epoch,
            poll_due: None,
            heralded: 0,
            mailbox,
        };
        Ok((served, post))
    }

    /// How the device introduces itself.
    pub fn hello(&self) -> Hello {
        Hello {
            protocol: PROTOCOL.to_owned(),
            version: VERSION,
            device: self.profile.name.clone(),
            interfaces: self.lines.iter().map(|line| line.interface.clone()).collect(),
            declared: self.profile.declared.clone(),
        }
    }

    /// Serves until it is asked to end.
    ///
    /// # Errors
    /// An interface is down or gone.
    pub fn run(&mut self) -> Result<(), PortError> {
        while let Next::Sleep(until) = self.round()? {
            let rx = self.lines.iter().map(|line| line.rx.as_ref());
            let bell: &dyn Receive = &self.mailbox.bell;
            let ports: Vec<&dyn Receive> = rx.chain([bell]).collect();
            self.clock.sleep(until, &ports)?;
        }
        Ok(())
    }

    /// Does all there is to do now.
    ///
    /// # Errors
    /// An interface is down or gone.
    pub fn round(&mut self) -> Result<Next, PortError> {
        let (horizon, more) = self.receive()?;
        let dealt = self.device.run_until(horizon);
        self.send()?;
        let done = self.since_boot(self.clock.now());
        self.device.meter.late(dealt.event, done, |health| &mut health.event_late);
        self.device.meter.late(dealt.arrival, done, |health| &mut health.arrival_late);
        self.mailbox.bell.poll(&mut |_, _| {})?;
        while let Some(Letter { ask, reply }) = self.mailbox.take() {
            if ask == Ask::Quit {
                return Ok(Next::Quit);
            }
            // Who does not wait for the answer does not get it.
            let _gone = reply.send(self.answer(ask)?);
        }
        // What a letter had it do counts, too.
        let happened = self.device.emulated.happened();
        if happened != self.heralded {
            self.heralded = happened;
            self.mailbox.herald();
        }
        // What is due at an instant is done after it.
        let due = self.device.next().0.saturating_add(self.epoch.0).saturating_add(1);
        let waits = self.owed.iter().any(Option::is_some);
        let nap = match (more, waits) {
            (true, _) => Dur::ZERO,
            (false, true) => DOZE,
            (false, false) => NAP,
        };
        Ok(Next::Sleep(Time(due).min(self.clock.now() + nap)))
    }

    /// Takes in what has arrived. Up to which instant everything is known now, and whether a port has more.
    fn receive(&mut self) -> Result<(Time, bool), PortError> {
        let (mut horizon, mut more) = (self.clock.now(), false);
        for (port, line) in (0..).zip(&mut self.lines) {
            let (clock, device, epoch) = (&self.clock, &mut self.device, self.epoch);
            let passed = &mut self.passed;
            let mut latest = epoch;
            let mut take = |frame: &[u8], stamp: rig_generator::port::Stamp| {
                latest = clock.at(stamp.at);
                passed.came(port, latest);
                // What came before the boot came to another device.
                if let Some(since) = latest.since(epoch) {
                    device.arrive(port, Time::ZERO + since, frame);
                }
            };
            let mut gulps = 0;
            while line.rx.poll(&mut take)? > 0 {
                gulps += 1;
                if gulps == GULPS {
                    (horizon, more) = (horizon.min(latest), true);
                    break;
                }
            }
        }
        Ok((self.since_boot(horizon), more))
    }

    /// Sends what leaves the device.
    fn send(&mut self) -> Result<(), PortError> {
        let mut sent = 0;
        for departure in self.device.departures() {
            let port = usize::from(departure.port);
            let (line, bytes) = (&mut self.lines[port], &departure.bytes);
            let slot = match line.tx.alloc() {
                None => {
                    line.tx.publish();
                    line.tx.kick()?;
                    line.tx.alloc()
                }
                slot => slot,
            };
            let Some(mut frame) = slot else {
                self.unsent += 1;
                continue;
            };
            match line.tx.bytes(&mut frame).get_mut(..bytes.len()) {
                Some(room) => room.copy_from_slice(bytes),
                None => {
                    line.tx.release(frame);
                    self.unsent += 1;
                    continue;
                }
            }
            line.tx.stage(frame, bytes.len());
            self.owed[port].get_or_insert(departure.at);
            self.passed.leaves(port);
            sent += 1;
        }
        self.device.meter.note(|health| health.sent += sent);
        for (port, (line, owed)) in self.lines.iter_mut().zip(&mut self.owed).enumerate() {
            if owed.is_none() {
                continue;
            }
            line.tx.publish();
            if line.tx.kick()?.waiting == 0 {
                self.passed.left(port, self.clock.now());
                let now = self.clock.now().since(self.epoch).unwrap_or_default();
                let due = owed.take();
                self.device.meter.late(due, Time(now.0), |health| &mut health.send_late);
            }
        }
        Ok(())
    }

    /// Answers a question.
    ///
    /// # Errors
    /// An interface is down or gone.
    pub fn answer(&mut self, ask: Ask) -> Result<Answer, PortError> {
        Ok(match ask {
            Ask::Boot { seed, settings } => {
                let meter = Meter::new(self.lost()?);
                let booted = Device::boot(&self.profile, &settings, seed, meter);
                let keyed = booted.and_then(|mut device| {
                    let keyed = device.key(self.keys.clone());
                    keyed.map(|()| device)
                });
                match keyed {
                    Ok(device) => {
                        self.device = device;
                        self.epoch = self.clock.now();
                        self.poll_due = None;
                        // What the device before it has not got rid of counts from now on.
                        self.owed.iter_mut().flatten().for_each(|due| *due = Time::ZERO);
                        Answer::Booted { epoch_ns: self.epoch_ns(), declared: self.declared() }
                    }
                    Err(refused) => Answer::Refused { why: refused.to_string() },
                }
            }
            Ask::Configure { settings } => {
                let set = self.device.emulated.set(&settings);
                match set.and_then(|()| self.device.configured()) {
                    Ok(()) => Answer::Configured { declared: self.declared() },
                    Err(refused) => Answer::Refused { why: refused.to_string() },
                }
            }
            Ask::Counters { names } => {
                let read = self.device.emulated.counters(&names).unwrap_or_default();
                Answer::Counters { values: read.values }
            }
            Ask::Do(order) => match self.obey(order) {
                Ok(()) => Answer::Done,
                Err(refused) => Answer::Refused { why: refused.to_string() },
            },
            Ask::Events => {
                let events = self.device.emulated.events().unwrap_or_default();
                let epoch_ns = self.epoch_ns();
                let happened = |DutEvent { at, port, class, kind, .. }| {
                    let at_ns = epoch_ns + at.0 / 1_000;
                    Happened { at_ns, port, class, what: kind }
                };
                Answer::Events { events: events.into_iter().map(happened).collect() }
            }
            Ask::Polled { due_ns, next_ns } => {
                self.was_due(due_ns);
                self.poll_due = Some(next_ns);
                let at_ns = self.epoch_ns() + self.device.emulated.now().0 / 1_000;
                Answer::Polled { at_ns, queues: self.device.emulated.polled() }
            }
            Ask::Status => Answer::Health(self.health(|meter| meter.total())?),
            Ask::Lateness => Answer::Health(self.health(Meter::window)?),
            Ask::Passed => {
                let mono = |at| self.clock.mono(at).0;
                Answer::Passed { ports: self.passed.told(mono) }
            }
            Ask::Quit => Answer::Done,
        })
    }

    /// Does something at once.
    fn obey(&mut self, order: Order) -> Result<(), ControlError> {
        if let Order::Decided { due_ns, .. } = order {
            self.was_due(due_ns);
        }
        match order {
            Order::Key { keys } => {
                // A dump of this process's memory would show them.
                let _unsupported = prctl::set_dumpable(false);
                self.keys = Some(keys.0);
                self.device.key(self.keys.clone())
            }
            Order::Cable { behind } => {
                self.uncabled(&behind).map_or(Ok(()), |why| Err(Refused { why }))?;
                self.device.cable(&behind);
                Ok(())
            }
            Order::Link { port, .. }
            | Order::StartFlow { port, .. }
            | Order::StopFlow { port, .. }
                if usize::from(port) >= self.lines.len() =>
            {
                Err(Refused { why: self.no_port(port) }.into())
            }
            other => self.device.obey(other),
        }
    }

    /// Something inside the device was due then, and is done now.
    fn was_due(&mut self, due_ns: u64) {
        let due = due_ns.checked_sub(self.epoch_ns()).map(|ns| Time::ZERO + Dur::ns(ns));
        let now = self.since_boot(self.clock.now());
        self.device.meter.late(due, now, |health| &mut health.event_late);
        self.device.meter.late(due, now, |health| &mut health.poll_late);
    }

    fn health(&mut self, of: impl Fn(&mut Meter) -> Health) -> Result<Health, PortError> {
        let lost = self.lost()?;
        self.poll_due.into_iter().for_each(|due_ns| self.was_due(due_ns));
        // What a port still owes is late already, and by the time it has gone nobody may ask any more.
        let now = self.since_boot(self.clock.now());
        for &due in self.owed.iter().flatten() {
            self.device.meter.late(Some(due), now, |health| &mut health.send_late);
        }
        self.device.meter.lost(lost);
        Ok(of(&mut self.device.meter))
    }

    /// Frames that the ports have lost: received ones, and ones to send.
    fn lost(&self) -> Result<(u64, u64), PortError> {
        let mut lost = (0, self.unsent);
        for line in &self.lines {
            lost.0 += line.rx.stats()?.rx_lost();
            let stats = line.tx.stats()?;
            lost.1 += stats.tx_lost + stats.tx_invalid;
        }
        Ok(lost)
    }

    /// What is wrong with a list of ports to be cabled to, if anything.
    fn uncabled(&self, behind: &[u16]) -> Option<String> {
        let beyond = behind.iter().find(|&&port| usize::from(port) >= self.lines.len());
        let mut sorted = behind.to_vec();
        sorted.sort_unstable();
        let twice = sorted.windows(2).find(|two| two[0] == two[1]).map(|two| two[0]);
        beyond.map(|&port| self.no_port(port)).or_else(|| {
            twice.map(|port| format!("two cables to port {port}: want each port once at most"))
        })
    }

    fn no_port(&self, port: u16) -> String {
        format!("there is no port {port}: want 0 to {}", self.lines.len().saturating_sub(1))
    }

    fn declared(&self) -> Box<rig_lab::Declared> {
        Box::new(self.device.emulated.configured().clone())
    }

    fn epoch_ns(&self) -> u64 {
        self.clock.mono(self.epoch).0
    }

    fn since_boot(&self, at: Time) -> Time {
        Time::ZERO + at.since(self.epoch).unwrap_or_default()
    }
}

#[cfg(test)]
pub(crate) mod tests;
