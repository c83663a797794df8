//! The ways to run a script: in virtual time against the emulated device in this process, in real time on real ports, and in
//! real time on the NIC of a guest. Only the runner knows that there are several.

mod ended_flows;
pub mod guest;
mod host_reports;
mod injector;
pub mod ledger;
pub mod recorder;
pub mod sampler;
pub mod virtual_lab;
pub mod wire;

pub use guest::GuestLab;
pub use virtual_lab::VirtualLab;
pub use wire::{Benches, Broken, WireLab};

use crate::stop::Stop;
use rig_capture::Observation;
use rig_capture::deep::{Capture, Interface};
use rig_capture::pcapng::{Onto, Spooled};
use rig_generator::Kept;
use rig_lab::Declared;
use rig_testcases::Script;
use rig_units::Time;

/// A device under test that was just configured, and the rig's ports cabled to it.
#[derive(Debug)]
pub enum Executor {
    /// In virtual time.
    Virtual(Box<VirtualLab>),
    /// In real time.
    Wire(Box<WireLab>),
    /// In real time, on a NIC in a guest.
    Guest(Box<GuestLab>),
}

impl Executor {
    /// The present, on the clock of the session.
    pub fn now(&self) -> Time {
        match self {
            Executor::Virtual(lab) => lab.now(),
            Executor::Wire(lab) => lab.now(),
            Executor::Guest(lab) => lab.now(),
        }
    }

    /// Whether the device was booted for this session, so that it begins with nothing stormed.
    pub fn is_fresh(&self) -> bool {
        match self {
            // Each trial in a guest has a connection of its own.
            Executor::Virtual(_) | Executor::Guest(_) => true,
            Executor::Wire(lab) => lab.is_fresh(),
        }
    }

    /// Lets time pass, unless `stop` hurries. What the rig's ports see meanwhile belongs to no trial.
    ///
    /// # Errors
    /// A port of the rig gave up.
    pub fn idle_until(&mut self, at: Time, stop: &Stop) -> Result<(), Broken> {
        match self {
            Executor::Virtual(lab) => {
                lab.idle_until(at, stop);
                Ok(())
            }
            Executor::Wire(lab) => lab.idle_until(at, stop),
            // Between two connections nothing of them goes on.
            Executor::Guest(_) => Ok(()),
        }
    }

    /// The rig's ports, as a capture to disk describes them; none where every frame is known anyway.
    pub fn interfaces(&self, script: &Script, declared: &Declared) -> Vec<Interface> {
        match self {
            Executor::Virtual(_) | Executor::Guest(_) => Vec::new(),
            Executor::Wire(lab) => lab.interfaces(script, declared),
        }
    }

    /// Where the frames of the next trial go, too; of that before, what was going on.
    pub fn onto_disk(&mut self, capture: Option<Capture>) -> Option<Capture> {
        match self {
            Executor::Virtual(_) | Executor::Guest(_) => None,
            Executor::Wire(lab) => core::mem::replace(&mut lab.disk, capture),
        }
    }

    /// Where every frame of the next trial goes, for its evidence.
    pub fn spool(&mut self, onto: Option<Onto>) {
        match self {
            Executor::Virtual(lab) => lab.spool = onto,
            Executor::Wire(lab) => lab.spool = onto,
            Executor::Guest(lab) => lab.spool = onto,
        }
    }

    /// Every frame of the last trial, if they went anywhere.
    pub fn spooled(&mut self) -> Option<Spooled> {
        match self {
            Executor::Virtual(lab) => lab.spooled.take(),
            Executor::Wire(lab) => lab.spooled.take(),
            Executor::Guest(lab) => lab.spooled.take(),
        }
    }

    /// Runs one trial from now on. In virtual time the counters called `read` are read on the way; in real time a question
    /// would hold up what is due meanwhile.
    ///
    /// # Errors
    /// What the script asks of a port that no port can do; a port or a device that gave up; that `stop` hurried.
    pub fn trial(
        &mut self,
        script: &Script,
        declared: &Declared,
        read: &[String],
        stop: &Stop,
    ) -> Result<Observation, Broken> {
        match self {
            Executor::Virtual(lab) => lab.trial(script, declared, read, stop),
            Executor::Wire(lab) => lab.trial(script, declared, stop),
            Executor::Guest(lab) => lab.trial(script, declared, stop),
        }
    }

    /// How each sender of the last trial kept to its plan, by name; in virtual time all do, and in a guest there is none.
    pub fn kept(&mut self) -> Vec<(String, Kept)> {
        match self {
            Executor::Virtual(_) | Executor::Guest(_) => Vec::new(),
            Executor::Wire(lab) => lab.kept(),
        }
    }
}
