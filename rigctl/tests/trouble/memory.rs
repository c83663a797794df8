//! A rig in real time whose ports, device and clock are in memory: the pacer, the sessions, the control of the device and the device
//! itself are those of a lab, and what may go wrong with them goes wrong when it is told to.

use super::slow::{Slow, rest};
use rig_dut::EmulatedWire;
use rig_dut::control::Control;
use rig_dut::emulated_wire::Answers;
use rig_dut::protocol::{Answer, Ask};
use rig_dut::serve::{Line, Next, Post, Served};
use rig_generator::Clock;
use rig_generator::clock::Manual;
use rig_generator::port::memory::{Halves, pair};
use rig_generator::port::{Fault, Frame, Kick, Mono, PortError, Receive, Stamp, Stats, Transmit};
use rig_lab::Profile;
use rig_units::{Dur, Time};
use rigctl::executor::Broken;
use rigctl::executor::wire::{Bench, Clocks, Maker, SessionClock, Steered};
use rigctl::stop::Stop;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// How far off a timestamp of the lab may be.
pub(crate) const BOUND: Dur = Dur::ms(1);
/// Beyond that by far.
const FAR: Dur = Dur::ms(20);
/// Beyond it, and no longer than a port has slots for what is sent meanwhile.
const STANDS: Dur = Dur::ms(8);

/// What goes wrong on the way to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// Nothing does.
    Nothing,
    /// A port of the rig is taken away.
    PortGone,
    /// The device ends: nothing comes from it, and it answers nothing.
    Died,
    /// The device does nothing for a while, and goes on then.
    Stalled,
    /// The clock leaps ahead.
    Leapt,
    /// Somebody asks for the end.
    Asked,
    /// Nothing that comes to the second port reaches the rig for a while.
    Deaf,
    /// What the first port was given stands on its way for a while, and reaches the device then.
    Stood,
    /// Nothing reaches the second port from then on for good, which no machine does: so does a device that lets nothing through there.
    Mute,
    /// The device takes long for a change, and frames pass meanwhile.
    Slow,
}

/// What may strike at any instant and leaves every verdict as it was, but for those that it voids. A port that goes deaf is seen by more
/// frames than one: a loss of a single one is one of the device's.
pub(crate) const ALL: [What; 6] =
    [What::Nothing, What::PortGone, What::Died, What::Stalled, What::Leapt, What::Asked];

/// A rig in memory, and what goes wrong with it: at the how manieth time that it waits.
#[derive(Debug)]
pub(crate) struct Memory {
    own: Weak<Memory>,
    clock: Manual,
    what: What,
    at: u64,
    waited: AtomicU64,
    /// How often it had waited when the device was booted first: when the ports had been tried.
    booted: AtomicU64,
    stop: Arc<Stop>,
    gone: AtomicBool,
    dead: AtomicBool,
    /// Until when the device does nothing.
    stalled: AtomicU64,
    /// Until when the second port hears nothing.
    deaf: AtomicU64,
    /// Until when nothing leaves the first port for the device.
    stood: AtomicU64,
    /// Whether the device is being changed, slowly.
    pub(crate) changing: AtomicBool,
    served: Mutex<Option<(Served<Manual>, Post)>>,
}

impl Memory {
    pub(crate) fn new(what: What, at: u64, stop: &Arc<Stop>) -> Arc<Memory> {
        Arc::new_cyclic(|own| Memory {
            own: Weak::clone(own),
            clock: Manual::default(),
            what,
            at,
            waited: AtomicU64::new(0),
            booted: AtomicU64::new(u64::MAX),
            stop: Arc::clone(stop),
            gone: AtomicBool::new(false),
            dead: AtomicBool::new(false),
            stalled: AtomicU64::new(0),
            deaf: AtomicU64::new(0),
            stood: AtomicU64::new(0),
            changing: AtomicBool::new(false),
            served: Mutex::default(),
        })
    }

    /// How often it has waited.
    pub(crate) fn waited(&self) -> u64 {
        self.waited.load(Ordering::Relaxed)
    }

    /// How often it waited after somebody had asked for the end, trials apart from what tries the ports before them.
    pub(crate) fn late(&self) -> u64 {
        let asked = if self.what == What::Asked { self.at } else { u64::MAX };
        self.waited().saturating_sub(asked.max(self.booted.load(Ordering::Relaxed)))
    }

    fn served(&self) -> MutexGuard<'_, Option<(Served<Manual>, Post)>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the device does anything now.
    fn runs(&self) -> bool {
        let stalled = Time(self.stalled.load(Ordering::Relaxed));
        !self.dead.load(Ordering::Relaxed) && self.clock.now() >= stalled
    }

    /// The device does all there is to do now; when it wants to be woken.
    fn round(&self) -> Result<Time, PortError> {
        let mut served = self.served();
        match served.as_mut().filter(|_| self.runs()) {
            None => Ok(Time::MAX),
            Some((served, _)) => match served.round()? {
                Next::Sleep(until) => Ok(until),
                Next::Quit => Ok(Time::MAX),
            },
        }
    }

    /// Waits until then at most, and for the device at most.
    fn wait(&self, until: Time) -> Result<(), PortError> {
        let now = self.waited.fetch_add(1, Ordering::Relaxed);
        if now == self.at {
            match self.what {
                What::Nothing | What::Slow => {}
                What::PortGone => self.gone.store(true, Ordering::Relaxed),
                What::Died => self.dead.store(true, Ordering::Relaxed),
                What::Stalled => {
                    self.stalled.store((self.clock.now() + FAR).0, Ordering::Relaxed);
                }
                What::Leapt => self.clock.advance_to(self.clock.now() + FAR),
                What::Asked => self.stop.hurry(),
                What::Deaf => self.deaf.store((self.clock.now() + FAR).0, Ordering::Relaxed),
                What::Stood => self.stood.store((self.clock.now() + STANDS).0, Ordering::Relaxed),
                What::Mute => self.deaf.store(u64::MAX, Ordering::Relaxed),
            }
        }
        // Virtual time does not leave behind whoever changes the device meanwhile.
        if self.changing.load(Ordering::Relaxed) {
            rest();
        }
        let wake = self.round()?;
        // A device that stalls is woken when it has stalled.
        let stalled = Time(self.stalled.load(Ordering::Relaxed));
        let wake = if self.clock.now() < stalled { wake.min(stalled) } else { wake };
        self.clock.advance_to(wake.min(until));
        self.round().map(drop)
    }
}

impl Maker for Memory {
    fn bench(&self, profile: &Profile) -> Result<Bench, Broken> {
        let gone = || Broken::Device("it is gone".to_owned());
        let own = self.own.upgrade().ok_or_else(gone)?;
        // Another bench has ports and a device of its own.
        self.gone.store(false, Ordering::Relaxed);
        self.dead.store(false, Ordering::Relaxed);
        let mut near: Vec<Halves> = Vec::new();
        let line = |port: u16| {
            let (ours, (tx, rx)) = pair(&self.clock, 256, 9_100);
            let (out, back) = ours;
            let port_of = |half| Loose { half, memory: Arc::clone(&own), port };
            near.push((
                Box::new(port_of(out)),
                Box::new(Back { half: back, memory: Arc::clone(&own), port }),
            ));
            Line { interface: format!("m{port}"), tx, rx }
        };
        let lines = (0..profile.declared.port_count()).map(line).collect();
        let served = Served::new(profile.clone(), lines, self.clock.clone(), 1);
        let (served, post) = served.map_err(|why| Broken::Device(why.to_string()))?;
        let hello = served.hello();
        *self.served() = Some((served, post));
        let device = EmulatedWire::here(hello, Box::new(Asked(Weak::clone(&self.own))));
        let clock = self.since(self.clock.mono(self.clock.now()));
        let device: Box<dyn Control> = match self.what {
            What::Slow => Box::new(Slow { device, clock: self.clock.clone(), memory: own }),
            _ => Box::new(device),
        };
        Ok(Bench::of(profile, Steered::new(device), clock, (near, BOUND)))
    }
}

impl Clocks for Memory {
    fn since(&self, epoch: Mono) -> SessionClock {
        let memory = Weak::clone(&self.own);
        Arc::new(Session { memory, clock: self.clock.clone(), epoch })
    }
}

/// The clock of a session.
#[derive(Debug)]
struct Session {
    memory: Weak<Memory>,
    clock: Manual,
    epoch: Mono,
}

impl Session {
    fn zero(&self) -> Time {
        self.clock.at(self.epoch)
    }

    fn wait(&self, until: Time) -> Result<(), PortError> {
        let until = Time(until.0.saturating_add(self.zero().0));
        self.memory.upgrade().map_or(Ok(()), |memory| memory.wait(until))
    }
}

impl Clock for Session {
    fn now(&self) -> Time {
        Time::ZERO + self.clock.now().since(self.zero()).unwrap_or_default()
    }

    fn at(&self, stamp: Mono) -> Time {
        Time::ZERO + self.clock.at(stamp).since(self.zero()).unwrap_or_default()
    }

    fn mono(&self, at: Time) -> Mono {
        self.clock.mono(Time(at.0 + self.zero().0))
    }

    fn sleep(&self, until: Time, _: &[&dyn Receive]) -> Result<(), PortError> {
        self.wait(until)
    }

    fn spin(&self, until: Time) {
        while self.now() < until && self.wait(until).is_ok() {}
    }
}

/// The control of the device.
#[derive(Debug)]
struct Asked(Weak<Memory>);

impl Answers for Asked {
    fn answer(&mut self, ask: &Ask) -> Result<Answer, String> {
        let ended = || "its process has ended".to_owned();
        let memory = self.0.upgrade().ok_or_else(ended)?;
        if memory.dead.load(Ordering::Relaxed) {
            return Err(ended());
        }
        // One that stalls answers when it goes on.
        memory.clock.advance_to(Time(memory.stalled.load(Ordering::Relaxed)));
        memory.round().map_err(|error| error.to_string())?;
        if let Ask::Boot { .. } = ask {
            memory.booted.fetch_min(memory.waited(), Ordering::Relaxed);
        }
        let mut served = memory.served();
        let (served, _) = served.as_mut().ok_or_else(ended)?;
        served.answer(ask.clone()).map_err(|error| error.to_string())
    }
}

/// That the port is no more.
fn whole(memory: &Memory, port: u16) -> Result<(), PortError> {
    match memory.gone.load(Ordering::Relaxed) && port == 0 {
        true => Err(PortError { interface: "p1".to_owned(), fault: Fault::Gone }),
        false => Ok(()),
    }
}

/// The sending half of a port that may go.
#[derive(Debug)]
struct Loose {
    half: Box<dyn Transmit>,
    memory: Arc<Memory>,
    port: u16,
}

impl Transmit for Loose {
    fn alloc(&mut self) -> Option<Frame> {
        self.half.alloc()
    }
    fn bytes<'a>(&'a mut self, frame: &'a mut Frame) -> &'a mut [u8] {
        self.half.bytes(frame)
    }
    fn release(&mut self, frame: Frame) {
        self.half.release(frame);
    }
    fn stage(&mut self, frame: Frame, len: usize) {
        self.half.stage(frame, len);
    }
    fn publish(&mut self) {
        self.half.publish();
    }
    fn kick(&mut self) -> Result<Kick, PortError> {
        whole(&self.memory, self.port)?;
        let stood = Time(self.memory.stood.load(Ordering::Relaxed));
        if self.port == 0 && self.memory.clock.now() < stood {
            // The kernel has taken it.
            return Ok(Kick::default());
        }
        self.half.kick()
    }
    fn reclaim(&mut self) -> usize {
        self.half.reclaim()
    }
    fn stats(&self) -> Result<Stats, PortError> {
        self.half.stats()
    }
}

/// The receiving half of one.
#[derive(Debug)]
struct Back {
    half: Box<dyn Receive>,
    memory: Arc<Memory>,
    port: u16,
}

impl Receive for Back {
    fn poll(&mut self, take: &mut dyn FnMut(&[u8], Stamp)) -> Result<usize, PortError> {
        whole(&self.memory, self.port)?;
        let deaf = Time(self.memory.deaf.load(Ordering::Relaxed));
        if self.port == 1 && self.memory.clock.now() < deaf {
            return self.half.poll(&mut |_, _| {}).map(|_| 0);
        }
        self.half.poll(take)
    }
    fn wait(&mut self, timeout: Dur) -> Result<bool, PortError> {
        whole(&self.memory, self.port)?;
        self.half.wait(timeout)
    }
    fn fds(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }
    fn stats(&self) -> Result<Stats, PortError> {
        self.half.stats()
    }
}
