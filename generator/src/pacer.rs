//! Sends what the ports' senders plan, when it is due, and hands over what arrives meanwhile: one thread for any number
//! of ports.
//!
//! The thread sleeps until shortly before the next departure and only then watches the clock, so that a machine that
//! shares its processors does not take this one away for spinning. A frame is written and staged before that: what
//! follows its instant is one store and one call. What has become due while the thread was busy leaves with one call.
//!
//! The clock is an argument: a test's own, or [`Wall`](crate::clock::Wall).

use crate::clock::Clock;
use crate::port::{PortError, Receive, StampedBy};
use crate::sender::Departure;
use lane::Reader;
use rig_units::{Dur, Time};

mod lane;
pub use lane::Lane;

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
    /// What was handed over at `port` from `since` on, and told of as sent, left at `until` only: the kernel had no room for it.
    fn held(&mut self, _port: u16, _since: Time, _until: Time) {}
    /// A frame that came and goes on by another port by `now`: the port, and its bytes as they are to leave. It leaves at once.
    fn onward(&mut self, _now: Time) -> Option<(u16, Vec<u8>)> {
        None
    }
    /// When the next one goes on that is not to leave yet, if there is one.
    fn goes_on_at(&self) -> Option<Time> {
        None
    }
    /// It left: from when until when it was handed over. `None`: `port` had no room for it, and it is lost.
    fn passed(&mut self, _port: u16, _frame: &[u8], _left: Option<(Time, Time)>) {}
    /// Whether it wants to hear no more: what is due then is not sent, and nothing is waited for.
    fn is_over(&self) -> bool {
        false
    }
}

/// How long the thread sleeps at most before it asks whether it is over.
const ASKS: Dur = Dur::ms(200);
/// How long it sleeps at most while the kernel has no room for what a port was to send.
const DOZE: Dur = Dur::us(50);

/// For the last of its time awake the thread does not listen: a pause that arrives then finds the frame under way.
const DEAF: Dur = Dur::us(1);
/// In so many batches a port hands over all that its ring holds.
const RINGFUL: u32 = 64;
/// Most frames that leave with one call.
pub const BATCH: usize = 64;

/// All ports of a rig, and the clock by which they send.
#[derive(Debug)]
pub struct Pacer<C> {
    /// The clock by which all ports send.
    pub clock: C,
    /// The ports.
    pub lanes: Vec<Lane>,
    /// How long before a departure the thread stops sleeping.
    pub awake: Dur,
}

impl<C: Clock> Pacer<C> {
    /// Sends and receives until `until`. What is to start at that instant or later does not leave, nor what no port has
    /// taken by then; what starts before it is finished. It ends early once `watcher` is over.
    ///
    /// # Errors
    /// An interface is down or gone.
    pub fn run_until(&mut self, until: Time, watcher: &mut dyn Watcher) -> Result<(), PortError> {
        let reads = watcher.reads();
        let mut rest = 0;
        while !watcher.is_over() {
            let mut quiet = true;
            for (port, lane) in (0..).zip(&mut self.lanes) {
                quiet &= !lane.receive(port, &self.clock, watcher)?;
                if let Some(since) = lane.retry()? {
                    watcher.held(port, since, self.clock.now());
                }
            }
            while let Some((port, frame)) = watcher.onward(self.clock.now()) {
                let left = self.lanes[usize::from(port)].pass_on(&frame, &self.clock)?;
                watcher.passed(port, &frame, left);
                quiet = false;
            }
            let now = self.clock.now();
            let wakes = watcher.goes_on_at().unwrap_or(Time::MAX);
            let next = self.next().filter(|(_, _, departure)| departure.start < until);
            let Some((port, due, departure)) = next else {
                if now >= until {
                    // What arrived by then waits in the rings, of which each call takes a batch.
                    rest += 1;
                    if quiet || rest > RINGFUL {
                        return Ok(());
                    }
                    continue;
                }
                if until <= now + self.awake {
                    self.clock.spin(until.min(now + DEAF));
                } else if quiet {
                    self.sleep(until.saturating_sub(self.awake).min(wakes))?;
                }
                continue;
            };
            let lane = &mut self.lanes[port];
            if due > now + self.awake {
                if lane.prepare(&departure, 0) && quiet {
                    self.sleep(due.saturating_sub(self.awake).min(wakes))?;
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
        Ok(())
    }

    /// Takes in `frame` as if it had arrived at `port` just now.
    pub fn feed(&mut self, port: u16, frame: &[u8], watcher: &mut dyn Watcher) {
        let Some(lane) = self.lanes.get_mut(usize::from(port)) else { return };
        let stamp = (self.clock.now(), StampedBy::Process);
        lane.take_in(port, frame, stamp, &self.clock, watcher);
    }

    /// The departure that comes first, of the lowest port among equals.
    fn next(&self) -> Option<(usize, Time, Departure)> {
        let of = |(port, lane): (usize, &Lane)| lane.next().map(|(due, next)| (port, due, next));
        self.lanes.iter().enumerate().filter_map(of).min_by_key(|&(port, due, _)| (due, port))
    }

    /// Sleeps until `until`, or until a frame arrives.
    fn sleep(&self, until: Time) -> Result<(), PortError> {
        let plugged = self.lanes.iter().filter(|lane| !lane.is_unplugged());
        let ports: Vec<&dyn Receive> = plugged.map(|lane| lane.rx.as_ref()).collect();
        let owes = self.lanes.iter().any(|lane| lane.owes().is_some());
        let most = if owes { DOZE } else { ASKS };
        self.clock.sleep(until.min(self.clock.now() + most), &ports)
    }
}

#[cfg(test)]
mod tests;
