//! The benches of a run: each a device with the rig's ports cabled to it, lent to one session at a time.

use super::bench::Bench;
use super::bridged::{self, Bridged};
use super::broken::Broken;
use super::cabled::ControlPath;
use super::clocks::{Clocks, SessionClock};
use super::patience::Patience;
use super::room::{Room, Share};
use super::served::Serve;
use super::{cabled, served};
use crate::executor::guest::FlowNics;
use crate::rights::{self, Work};
use core::ops::{Deref, DerefMut};
use rig_dut::Journal;
use rig_generator::clock::Wall;
use rig_generator::port::Mono;
use rig_lab::{Interfaces, Profile};
use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;

/// How benches come about.
#[derive(Debug)]
pub enum Start {
    /// The rig makes them, and the devices on them: as many as are wanted.
    Served(Serve),
    /// The one that is there, with the control of its device; what is changed at it is noted.
    Cabled(Interfaces, ControlPath, Arc<Journal>),
    /// Somebody else makes them.
    Made(Arc<dyn Maker>),
    /// The bridge of a guest.
    Bridged(Bridged),
    /// There are NICs instead that send by themselves: of guests, or of a server.
    Flows(FlowNics),
}

/// Makes benches.
pub trait Maker: core::fmt::Debug + Send + Sync {
    /// One with the device of `profile`.
    ///
    /// # Errors
    /// Why there is none.
    fn bench(&self, profile: &Profile) -> Result<Bench, Broken>;
}

/// The machine's own.
#[derive(Debug, Clone, Copy)]
struct Own;

impl Clocks for Own {
    fn since(&self, epoch: Mono) -> SessionClock {
        Arc::new(Wall::since(epoch))
    }
}

/// Every bench that is idle, and how to start another.
#[derive(Debug)]
pub struct Benches {
    start: Start,
    clocks: Arc<dyn Clocks>,
    /// Idle ones, the one used last at the end.
    idle: Mutex<Vec<Bench>>,
    /// Most that are kept idle.
    most: usize,
    /// How much of the machine all of them may take.
    room: Room,
    /// What is left for trials that turn out void.
    patience: Patience,
}

impl Benches {
    /// None yet. At most `most` wait for the next session when they are idle.
    pub fn new(start: Start, most: usize) -> Arc<Benches> {
        Benches::by(Arc::new(Own), start, most)
    }

    /// The same, whose sessions go by `clocks` instead of the machine's own clock: what a clock may do to a session is done
    /// to it by a test.
    pub fn by(clocks: Arc<dyn Clocks>, start: Start, most: usize) -> Arc<Benches> {
        let processors = available_parallelism().map_or(1, NonZero::get);
        let room = Room::of(processors);
        let (idle, patience) = (Mutex::default(), Patience::default());
        Arc::new(Benches { start, clocks, idle, most, room, patience })
    }

    /// How many may be in use side by side.
    pub const fn most(&self) -> usize {
        self.most
    }

    /// The NICs that there are instead of benches.
    pub const fn flows(&self) -> Option<&FlowNics> {
        match &self.start {
            Start::Flows(nics) => Some(nics),
            Start::Served(_) | Start::Cabled(..) | Start::Made(_) | Start::Bridged(_) => None,
        }
    }

    /// The share of the machine that all of them may take together.
    pub const fn whole(&self) -> Share {
        self.room.whole()
    }

    /// What a run has left for trials that turn out void; nothing until somebody grants it.
    pub const fn patience(&self) -> &Patience {
        &self.patience
    }

    /// A bench with the device of `profile`: an idle one, or one that is started now. Waits until the machine has `share`
    /// to spare for it.
    ///
    /// # Errors
    /// Why none can be started; that somebody asked for the end meanwhile.
    pub fn lease(self: &Arc<Benches>, profile: &Profile, share: Share) -> Result<Lease, Broken> {
        let share = self.room.take(share);
        let mut lease = Lease { bench: None, share, home: Arc::clone(self) };
        lease.bench = Some(match self.take(profile) {
            Some(bench) => bench,
            None => self.start(profile)?,
        });
        Ok(lease)
    }

    fn start(&self, profile: &Profile) -> Result<Bench, Broken> {
        let _raised = rights::raise(Work::Ports);
        match &self.start {
            Start::Served(serve) => {
                served::start(serve, profile, &*self.clocks).map_err(Broken::Device)
            }
            Start::Cabled(wire, reach, journal) => {
                let started = cabled::start((wire, reach), journal, profile, &*self.clocks);
                started.map_err(Broken::Device)
            }
            Start::Made(maker) => maker.bench(profile),
            Start::Bridged(guest) => bridged::start(guest, profile, &*self.clocks),
            Start::Flows(_) => {
                Err(Broken::Device("there is no bench: the NIC sends by itself".to_owned()))
            }
        }
    }

    fn take(&self, profile: &Profile) -> Option<Bench> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let at = idle.iter().rposition(|bench| bench.profile == profile.name)?;
        Some(idle.remove(at))
    }

    fn put(&self, bench: Bench) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(bench);
        if idle.len() > self.most {
            idle.remove(0);
        }
    }
}

/// A bench that is in use. It goes back when the lease ends.
#[derive(Debug)]
pub struct Lease {
    bench: Option<Bench>,
    share: Share,
    home: Arc<Benches>,
}

impl Lease {
    /// The clock of a session that started at `epoch`.
    pub(super) fn clock(&self, epoch: Mono) -> SessionClock {
        self.home.clocks.since(epoch)
    }

    /// The bench is of no more use: it is taken down instead of going back.
    pub fn spoil(&mut self) {
        if let Some(bench) = &mut self.bench {
            bench.spoilt = true;
        }
    }
}

impl Deref for Lease {
    type Target = Bench;
    fn deref(&self) -> &Bench {
        self.bench.as_ref().expect("a lease has its bench until it ends")
    }
}

impl DerefMut for Lease {
    fn deref_mut(&mut self) -> &mut Bench {
        self.bench.as_mut().expect("a lease has its bench until it ends")
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(mut bench) = self.bench.take() {
            match (bench.control.restore(), &bench.host) {
                (Ok(()), _) if !bench.spoilt => self.home.put(bench),
                // What cannot be taken back stays noted, and the next session begins with a bench of its own: where the device is a guest, with
                // another one, for what this one is set to nobody knows.
                (Err(_), Some(guest)) => guest.ends(),
                (Ok(()) | Err(_), _) => {}
            }
        }
        self.home.room.give_back(self.share);
    }
}
