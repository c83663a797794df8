//! A device in one configuration, and the trials run on it.

use super::{applicability, refusal};
use crate::executor::virtual_lab::speeds;
use crate::executor::wire::Share;
use crate::executor::{Benches, Broken, Executor, GuestLab, VirtualLab, WireLab};
use crate::stop::Stop;
use crate::to_disk::Folder;
use rig_capture::Observation;
use rig_capture::pcapng::{Onto, Spooled};
use rig_dut::control::{Lost, Unseen};
use rig_dut::{Control as _, Emulated, Refused};
use rig_generator::port::Mono;
use rig_generator::{Kept, Program};
use rig_lab::{Fault, Setting};
use rig_oracle::measure::{self, SettingAnswer};
use rig_oracle::trials::ask::{Rests, Start};
use rig_oracle::trials::context::Context;
use rig_oracle::trials::seed::Seed;
use rig_testcases::Script;
use rig_units::{Length, Time};
use std::sync::Arc;

/// The trials of a case on a device in one configuration.
#[derive(Debug)]
pub struct Session<'a> {
    /// What they follow from.
    pub context: Context<'a>,
    rests: Rests,
    /// Where real ports come from; none in virtual time.
    benches: Option<Arc<Benches>>,
    stop: &'a Stop,
    executor: Option<Executor>,
    booted: u32,
    /// Where the frames of the next trial go, and its number.
    to_disk: Option<(&'a Folder, u32)>,
    /// Where they go for its evidence.
    spool: Option<Onto>,
}

/// Why a trial could not be run.
#[derive(Debug)]
pub enum Obstacle {
    /// The case cannot be done on this device; found at a place in its file.
    Case(Box<Fault>),
    /// The device did not take its configuration.
    Device(Refused),
    /// The way to the device was lost: of the device itself nothing is known.
    Away(Lost),
    /// The rig or the lab broke.
    Broken(String),
    /// Somebody asked for the end.
    Stopped,
}

impl<'a> Session<'a> {
    /// Prepares; the device is booted by the first trial.
    pub fn new(context: Context<'a>, rests: Rests) -> Session<'a> {
        Session {
            context,
            rests,
            benches: None,
            stop: Stop::never(),
            executor: None,
            booted: 0,
            to_disk: None,
            spool: None,
        }
    }

    /// The same session on real ports, if there are benches.
    #[must_use]
    pub fn over(mut self, benches: Option<&Arc<Benches>>) -> Session<'a> {
        self.benches = benches.cloned();
        self
    }

    /// The same session, its trials broken off once `stop` hurries.
    #[must_use]
    pub fn until(self, stop: &'a Stop) -> Session<'a> {
        Session { stop, ..self }
    }

    /// The next trial has this number, and every frame of it goes onto the disk if there is a folder for it.
    pub fn keep_on_disk(&mut self, folder: Option<&'a Folder>, number: u32) {
        self.to_disk = folder.map(|folder| (folder, number));
    }

    /// Every frame of the next trial goes there for its evidence.
    pub fn spool(&mut self, onto: Option<Onto>) {
        self.spool = onto;
    }

    /// Every frame of the last trial, if they went anywhere.
    pub fn spooled(&mut self) -> Option<Spooled> {
        self.executor.as_mut().and_then(Executor::spooled)
    }

    /// Tries each setting of the case on a device of its own: what it does with it; or that the device does not even take the case's
    /// other settings.
    pub fn tried(&self) -> Vec<Result<SettingAnswer, String>> {
        self.context.case.configure.iter().map(|setting| self.try_setting(setting)).collect()
    }

    /// Tries one more setting on a device of its own.
    ///
    /// # Errors
    /// When the device does not even take the case's other settings, or nothing tells what it did with this one.
    fn try_setting(&self, setting: &Setting) -> Result<SettingAnswer, String> {
        let seed = self.context.seed.split("configure").value();
        let refused = |refused: &dyn core::fmt::Display| {
            format!("the device refused the case's settings: {refused}")
        };
        let setting = core::slice::from_ref(setting);
        let answer = match &self.benches {
            None => {
                let dut = Emulated::boot(
                    &self.context.profile,
                    &self.context.group.settings,
                    self.context.cable_cm(),
                    seed,
                );
                dut.map_err(|why| refused(&why))?.set(setting).map_err(Broken::from)
            }
            Some(benches) => {
                let leased = benches.lease(&self.context.profile, Share::default());
                let mut bench = leased.map_err(|broken| broken.to_string())?;
                let booted = bench.control.boot(&self.context.group.settings, seed);
                booted.map_err(|why| refused(&why))?;
                let answer = match applicability::front_door(self.context.case) {
                    Some(way) => bench.control.propose(way, setting),
                    None => bench.control.set(setting),
                };
                if let Err(Broken::Unseen(unseen)) = answer {
                    let said = refusal::said(&mut bench.control, setting, unseen, Mono::now);
                    if said.is_err() {
                        bench.spoil();
                    }
                    return said;
                }
                if let Err(Broken::Device(_) | Broken::Away(_)) = answer {
                    bench.spoil();
                }
                answer
            }
        };
        match answer {
            Ok(()) => Ok(SettingAnswer::Taken),
            Err(Broken::Refused(refused)) => Ok(SettingAnswer::Refused(refused.to_string())),
            Err(broken) => Err(broken.to_string()),
        }
    }

    /// Runs one trial. The counters called `read` are read on the way.
    ///
    /// # Errors
    /// When the device does not take its configuration, or the script asks of a port what it cannot do.
    pub fn run(
        &mut self,
        script: &Script,
        start: Start,
        read: &[String],
    ) -> Result<Observation, Obstacle> {
        let declared = self.context.group.declared.clone();
        let (to_disk, id, spool) = (self.to_disk, &self.context.case.id, self.spool.take());
        let stop = self.stop;
        let lab = self.booted(script)?;
        lab.spool(spool);
        // Making a file takes its time: before the trial's is looked at.
        if let Some((folder, number)) = to_disk {
            let interfaces = lab.interfaces(script, &declared);
            let _none_before = lab.onto_disk(folder.begin(id, number, interfaces));
        }
        let now = lab.now();
        let wait = match start {
            Start::After(wait) => wait,
            Start::InStep { lead, phase, every } => {
                let earliest = (now + lead).elapsed() % every;
                (phase + every - earliest) % every
            }
        };
        let seen = lab.idle_until(now + wait, stop);
        let seen = seen.and_then(|()| lab.trial(script, &declared, read, stop));
        if let (Some((folder, number)), Some(capture)) = (to_disk, lab.onto_disk(None)) {
            match seen {
                Err(Broken::Stopped) => folder.drop_trial(id, number, capture),
                _ => folder.end(id, number, capture),
            }
        }
        seen.map_err(|broken| match broken {
            Broken::Impossible(faults) => {
                let found = faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
                let want = "a stimulus that the ports can send";
                Obstacle::Case(Box::new(self.context.case.fault("", found, want)))
            }
            other => in_the_way(other),
        })
    }

    /// How each sender of the last trial kept to its plan, by name.
    pub fn kept(&mut self) -> Vec<(String, Kept)> {
        self.executor.as_mut().map(Executor::kept).unwrap_or_default()
    }

    /// The next trial gets a device that was just booted.
    pub fn reboot(&mut self) {
        self.executor = None;
    }

    /// Leaves the device alone until what a trial before has begun is over.
    ///
    /// # Errors
    /// The device is lost.
    pub fn rest(&mut self) -> Result<(), Obstacle> {
        let Some(executor) = &mut self.executor else { return Ok(()) };
        let until = executor.now() + self.rests.used;
        executor.idle_until(until, self.stop).map_err(in_the_way)
    }

    /// Trials of one session send much the same: the first one's script tells what they take of the machine.
    fn booted(&mut self, script: &Script) -> Result<&mut Executor, Obstacle> {
        if self.executor.is_none() {
            let seed = self.context.seed.split(&format!("boot {}", self.booted)).value();
            self.booted += 1;
            let mut executor = self.boot(seed, script)?;
            let settled = if executor.is_fresh() {
                Time::ZERO + self.rests.fresh
            } else {
                executor.now() + self.rests.used
            };
            executor.idle_until(settled, self.stop).map_err(in_the_way)?;
            self.executor = Some(executor);
        }
        Ok(self.executor.as_mut().expect("just booted"))
    }

    fn boot(&self, seed: u64, script: &Script) -> Result<Executor, Obstacle> {
        let (settings, cable) =
            (&self.context.group.settings, Length(self.context.cable_cm()).travel());
        let Some(benches) = &self.benches else {
            let dut =
                Emulated::boot(&self.context.profile, settings, self.context.cable_cm(), seed);
            let dut = dut.map_err(|error| not_booted(error.into()))?;
            let rig = Seed::of_run(seed).split("rig").value();
            let lab = VirtualLab::new(dut, cable, rig)
                .behind(self.context.relays(), self.context.apart())
                .stamped(self.context.simulated_bound());
            return Ok(Executor::Virtual(Box::new(lab)));
        };
        if let Some(nics) = benches.flows() {
            let device = (&self.context.profile.declared, settings.as_slice());
            let lab = GuestLab::boot(nics.clone(), device, (cable, seed)).map_err(not_booted)?;
            return Ok(Executor::Guest(Box::new(lab)));
        }
        let program = Program::of(script, &speeds(script, &self.context.group.declared));
        // A script that cannot be sent is refused by its trial.
        let share = program.map_or(Share::default(), |program| Share::of(script, &program));
        let bench = benches.lease(&self.context.profile, share).map_err(in_the_way)?;
        let lab = WireLab::boot(bench, settings, seed, cable).map_err(not_booted)?;
        let lab = lab.behind(self.context.relays(), self.context.apart());
        let lab = lab.counting(measure::reads_counters(self.context.case));
        Ok(Executor::Wire(Box::new(lab)))
    }
}

/// Why a session has no device.
fn not_booted(broken: Broken) -> Obstacle {
    match broken {
        Broken::Refused(refused) => Obstacle::Device(refused),
        other => in_the_way(other),
    }
}

/// Why nothing more can be had of a session.
fn in_the_way(broken: Broken) -> Obstacle {
    match broken {
        Broken::Stopped => Obstacle::Stopped,
        Broken::Away(lost) | Broken::Unseen(Unseen { lost, .. }) => Obstacle::Away(lost),
        broken => Obstacle::Broken(broken.to_string()),
    }
}
