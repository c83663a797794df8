//! Sends what the ports' senders plan, when it is due, and hands over what arrives meanwhile: one thread for any number
//! of ports.
//!
//! The thread sleeps until shortly before the next departure and only then watches the clock, so that a machine that
//! shares its processors does not take this one away for spinning. A frame is written and staged before that: what
//! follows its instant is one store and one call. What has become due while the thread was busy leaves with one call.
//!
//! The clock is an argument: a test's own, or [`Wall`](crate::clock::Wall).

use crate::clock::Clock;
use crate::gate::Obeys;
use crate::port::{Frame, PortError, Receive, StampedBy, Transmit};
use crate::sender::{Departure, Sender, Who};
use crate::template::Template;
use rig_frames::ethernet::{self, ethertype};
use rig_frames::{pause, pfc};
use rig_units::{Dur, Time};
use std::collections::BTreeMap;

/// Hears of everything that passes the ports. Called on the thread that paces: it must not block.
pub trait Watcher {
    /// A frame was handed over: `at` is right before the kernel was told of it, `gone` when it had taken it. In between
    /// the machine may have looked away.
    fn sent(&mut self, port: u16, departure: &Departure, at: Time, gone: Time);
    /// A frame arrived. `at` is its stamp, by whoever made it.
    fn received(&mut self, port: u16, frame: &[u8], at: Time, by: StampedBy);
    /// Whether it is to be shown the bytes of what is sent. Asked once a call of the pacer.
    fn reads(&self) -> bool {
        false
    }
    /// A frame is in the ring of `port` as it is about to leave. [`sent`](Self::sent) follows for each, in the same order,
    /// unless the port gives up in between.
    fn wrote(&mut self, _port: u16, _frame: &[u8]) {}
}

/// For the last of its time awake the thread does not listen: a pause that arrives then finds the frame under way.
const DEAF: Dur = Dur::us(1);
/// So long before its instant a frame's way out is gone through once for nothing.
const WARM: Dur = Dur::ns(300);
/// Most frames that leave with one call.
pub const BATCH: usize = 64;

/// Who may want to see what a port is about to send.
struct Reader<'a> {
    port: u16,
    reads: bool,
    watcher: &'a mut dyn Watcher,
}

/// One port of the rig with what it sends.
#[derive(Debug)]
pub struct Lane {
    /// The sending half.
    pub tx: Box<dyn Transmit>,
    /// The receiving half.
    pub rx: Box<dyn Receive>,
    /// What it sends when.
    pub sender: Sender,
    /// The frames of each of its senders, and the tag of slots that hold one of them.
    templates: BTreeMap<Who, (u64, Template)>,
    /// The last tag given out. None is used twice: slots outlive the senders of a trial.
    tag: u64,
    /// When a frame is handed over: as its first bit is due, to a port that serialises it; as its last bit is due, to one
    /// over which frames pass in no time (a pair of virtual interfaces).
    pub instant: bool,
    /// A slot that holds the frame that leaves next, if nothing comes in between.
    ready: Option<(Frame, Departure)>,
    /// Frames in the ring that nobody has been told of yet.
    staged: Vec<Departure>,
    /// The rig itself has set the interface down: it is not asked for frames.
    unplugged: bool,
}

impl Lane {
    /// A port that sends nothing yet.
    pub fn new(tx: Box<dyn Transmit>, rx: Box<dyn Receive>, sender: Sender, instant: bool) -> Lane {
        Lane {
            tx,
            rx,
            sender,
            templates: BTreeMap::new(),
            tag: 0,
            instant,
            ready: None,
            staged: Vec::with_capacity(BATCH),
            unplugged: false,
        }
    }

    /// The rig is about to set the interface down at `now`: nothing is sent by it or asked of it.
    pub fn unplug(&mut self, now: Time) {
        self.unplugged = true;
        self.sender.set_up(now, false);
    }

    /// The rig has set the interface up again.
    pub fn plug(&mut self, now: Time) {
        self.unplugged = false;
        self.sender.set_up(now, true);
    }

    /// Whether the rig has set the interface down.
    pub const fn is_unplugged(&self) -> bool {
        self.unplugged
    }

    /// Gives a sender its frames.
    pub fn assign(&mut self, who: Who, template: Template) {
        self.tag += 1;
        self.templates.insert(who, (self.tag, template));
    }

    /// Stops every sender and forgets its frames; from now on the port obeys pauses as `obeys` says. Pauses go on.
    pub fn forget(&mut self, obeys: Obeys) {
        self.sender.stop_all();
        self.sender.obey(obeys);
        self.templates.clear();
    }

    /// The next departure and the instant at which it is handed over.
    fn next(&self) -> Option<(Time, Departure)> {
        let next = self.sender.next()?;
        Some((if self.instant { next.end } else { next.start }, next))
    }

    /// Writes the frame of `departure` into a slot, or, if one holds it already, only its time; `false` when no slot is
    /// free.
    fn prepare(&mut self, departure: &Departure, stamp_ns: u64) -> bool {
        let Lane { ready, templates, tx, .. } = self;
        if let Some((frame, held)) = ready
            && held == departure
        {
            let (_, template) = templates.get(&departure.who).expect("every sender has its frames");
            template.stamp(tx.bytes(frame), stamp_ns);
            return true;
        }
        let slot = self.ready.take().map(|(frame, _)| frame).or_else(|| self.tx.alloc());
        let Some(mut frame) = slot else { return false };
        let (tag, template) =
            self.templates.get(&departure.who).expect("every sender has its frames");
        // Tag 0 is a slot that was never used.
        let primed = frame.tag == *tag;
        frame.tag = *tag;
        template.write(self.tx.bytes(&mut frame), primed, departure.number, stamp_ns);
        self.ready = Some((frame, *departure));
        true
    }

    /// Puts the prepared frame into the ring.
    fn stage(&mut self, reader: &mut Reader<'_>) {
        let Some((mut frame, departure)) = self.ready.take() else { return };
        let len = self.templates.get(&departure.who).map_or(0, |(_, template)| template.len());
        if reader.reads {
            reader.watcher.wrote(reader.port, &self.tx.bytes(&mut frame)[..len]);
        }
        self.tx.stage(frame, len);
        self.staged.push(departure);
    }

    /// Puts into the ring what else was due by `now`, as far as it goes. The frame in front of it counts as sent.
    fn gather(&mut self, now: Time, until: Time, stamp_ns: u64, reader: &mut Reader<'_>) {
        while self.staged.len() < BATCH {
            self.sender.sent(now);
            let next = self.next().filter(|(due, next)| *due <= now && next.start < until);
            let Some((_, departure)) = next else { return };
            if !self.prepare(&departure, stamp_ns) {
                return;
            }
            self.stage(reader);
        }
        self.sender.sent(now);
    }

    /// Hands the staged frames over at `due`, or at once when that is over; from when until when.
    fn send<C: Clock>(&mut self, clock: &C, due: Time) -> Result<(Time, Time), PortError> {
        let mut at = clock.now();
        // Twice the same way where there is ample time: the call into the kernel for the frame before has driven this code out
        // of the caches, and the first turn brings it back.
        let turns = [due.saturating_sub(WARM), due];
        for until in &turns[usize::from(at + WARM > turns[0])..] {
            clock.spin(*until);
            at = clock.now();
        }
        self.tx.publish();
        self.tx.kick()?;
        Ok((at, clock.now()))
    }

    /// Takes in what has arrived; whether anything had.
    fn receive<C: Clock>(
        &mut self,
        port: u16,
        clock: &C,
        watcher: &mut dyn Watcher,
    ) -> Result<bool, PortError> {
        let Lane { rx, sender, unplugged: false, instant, .. } = self else { return Ok(false) };
        let taken = rx.poll(&mut |frame, stamp| {
            let at = clock.at(stamp.at);
            // Elsewhere a frame is handed over as it begins: what has not been is not under way, but late.
            if *instant {
                sender.begin(at);
            }
            take_in(sender, port, frame, (at, stamp.by), clock, watcher);
        })?;
        Ok(taken > 0)
    }
}

/// One frame that arrived: it is obeyed, then handed on.
fn take_in<C: Clock>(
    sender: &mut Sender,
    port: u16,
    frame: &[u8],
    (at, by): (Time, StampedBy),
    clock: &C,
    watcher: &mut dyn Watcher,
) {
    obey(sender, frame, at, clock);
    watcher.received(port, frame, at, by);
}

/// Lets a sender obey what a frame asks for, if it is one of MAC Control.
fn obey<C: Clock>(sender: &mut Sender, frame: &[u8], at: Time, clock: &C) {
    let kind = ethertype::MAC_CONTROL.to_be_bytes();
    if frame.get(12..14) != Some(&kind) {
        return;
    }
    let control = &frame[ethernet::LEN..];
    if let Ok(pfc) = pfc::Repr::parse(control) {
        sender.on_pfc(at, clock.now(), &pfc);
    } else if let Ok(pause) = pause::Repr::parse(control) {
        sender.on_pause(at, clock.now(), pause.quanta);
    }
}

/// All ports of a rig, and the clock by which they send.
#[derive(Debug)]
pub struct Pacer<C> {
    /// The clock.
    pub clock: C,
    /// The ports.
    pub lanes: Vec<Lane>,
    /// How long before a departure the thread stops sleeping.
    pub awake: Dur,
}

impl<C: Clock> Pacer<C> {
    /// Sends and receives until `until`. What is to start at that instant or later does not leave, nor what no port has
    /// taken by then; what starts before it is finished.
    ///
    /// # Errors
    /// An interface is down or gone.
    pub fn run_until(&mut self, until: Time, watcher: &mut dyn Watcher) -> Result<(), PortError> {
        let reads = watcher.reads();
        loop {
            let mut quiet = true;
            for (port, lane) in (0..).zip(&mut self.lanes) {
                quiet &= !lane.receive(port, &self.clock, watcher)?;
            }
            let now = self.clock.now();
            let next = self.next().filter(|(_, _, departure)| departure.start < until);
            let Some((port, due, departure)) = next else {
                if now >= until {
                    return Ok(());
                }
                if until <= now + self.awake {
                    self.clock.spin(until.min(now + DEAF));
                } else if quiet {
                    self.sleep(until.saturating_sub(self.awake))?;
                }
                continue;
            };
            let lane = &mut self.lanes[port];
            if due > now + self.awake {
                if lane.prepare(&departure, 0) && quiet {
                    self.sleep(due.saturating_sub(self.awake))?;
                }
                continue;
            }
            if due > now + DEAF {
                self.clock.spin(due.saturating_sub(DEAF).min(now + DEAF));
                continue;
            }
            // From here on the frame leaves: a pause that arrives in this last moment finds it under way.
            let stamp = self.clock.mono(due.max(now)).0;
            if !lane.prepare(&departure, stamp) {
                // Every slot is under way: the port cannot send, and what is due becomes late.
                lane.tx.kick()?;
                if now >= until {
                    return Ok(());
                }
                continue;
            }
            let port = u16::try_from(port).unwrap_or(u16::MAX);
            let mut reader = Reader { port, reads, watcher: &mut *watcher };
            lane.stage(&mut reader);
            let behind = due < now;
            if behind {
                lane.gather(now, until, stamp, &mut reader);
            }
            let (at, gone) = lane.send(&self.clock, due)?;
            if !behind {
                lane.sender.sent(at);
            }
            for departure in lane.staged.drain(..) {
                watcher.sent(port, &departure, at, gone);
            }
        }
    }

    /// Takes in `frame` as if it had arrived at `port` just now.
    pub fn feed(&mut self, port: u16, frame: &[u8], watcher: &mut dyn Watcher) {
        let Some(lane) = self.lanes.get_mut(usize::from(port)) else { return };
        let stamp = (self.clock.now(), StampedBy::Process);
        take_in(&mut lane.sender, port, frame, stamp, &self.clock, watcher);
    }

    /// The departure that comes first, of the lowest port among equals.
    fn next(&self) -> Option<(usize, Time, Departure)> {
        let of = |(port, lane): (usize, &Lane)| lane.next().map(|(due, next)| (port, due, next));
        self.lanes.iter().enumerate().filter_map(of).min_by_key(|&(port, due, _)| (due, port))
    }

    /// Sleeps until `until`, or until a frame arrives.
    fn sleep(&self, until: Time) -> Result<(), PortError> {
        let plugged = self.lanes.iter().filter(|lane| !lane.unplugged);
        let ports: Vec<&dyn Receive> = plugged.map(|lane| lane.rx.as_ref()).collect();
        self.clock.sleep(until, &ports)
    }
}

#[cfg(test)]
mod tests;
