//! One configuration of one device, and the trials run on it.

use super::hunt::Counts;
use super::points::{Cadence, Group, Point, Varied, point};
use super::seed::Seed;
use super::subject::{self, Subject};
use super::values::Values;
use crate::executor::virtual_lab::speeds;
use crate::executor::wire::Share;
use crate::executor::{Benches, Broken, Executor, VirtualLab, WireLab};
use crate::stop::Stop;
use crate::to_disk::Folder;
use rig_capture::Observation;
use rig_capture::pcapng::{Onto, Spooled};
use rig_dut::emulated_wire::Undone;
use rig_dut::{Dut, Emulated, Refused};
use rig_generator::{Kept, Program};
use rig_lab::{Adapter, Fault, Form, Keys, Lab, Profile, Setting};
use rig_oracle::spec::pfcwd::{Names, Rule, Stimulus};
use rig_testcases::case::Refresh;
use rig_testcases::{Case, Protection, Script};
use rig_units::{Bytes, Dur, Length, Time};
use std::borrow::Cow;
use std::sync::Arc;

/// A device in one configuration, with everything that the oracle knows of it and of the case.
#[derive(Debug)]
pub struct Session<'a> {
    /// The case.
    pub case: &'a Case,
    /// The device, at the speed that the sweep asks for.
    pub profile: Cow<'a, Profile>,
    /// Its configuration.
    pub group: Group,
    /// The rule that follows from it.
    pub rule: Rule,
    /// What the case is about, if it is about a storm.
    pub subject: Option<Subject>,
    /// What the stormed queue carries.
    pub stimulus: Stimulus,
    /// Predictions by name.
    pub names: Names,
    cable_cm: u64,
    /// The lab's keys for MACsec.
    keys: Option<Keys>,
    /// How far off a timestamp may be, or the device behind it.
    bound: Dur,
    /// Whether the device is served by a process, which a stall of the machine makes late.
    served: bool,
    seed: Seed,
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
    /// The rig or the lab broke.
    Broken(String),
    /// Somebody asked for the end.
    Stopped,
}

impl<'a> Session<'a> {
    /// Prepares; the device is booted by the first trial.
    pub fn new(
        lab: &Lab,
        profile: &'a Profile,
        case: &'a Case,
        group: Group,
        seed: Seed,
    ) -> Session<'a> {
        let rule = Rule::of(profile.rule.family, &group.declared.pfcwd);
        let subject = Subject::first(case);
        let stimulus = subject::stimulus(case, &group.declared, subject.as_ref());
        let tail = subject::tail(case, &group.declared, subject.as_ref());
        let names = Names { rule, stimulus, tail };
        let cable_cm = match group.varied {
            Some(Varied::Cable(Length(cm))) => cm,
            _ => lab.cable_cm,
        };
        let mut profile = Cow::Borrowed(profile);
        if let Some(Varied::Speed(speed)) = group.varied {
            let profile = profile.to_mut();
            profile.declared = profile.declared.at(speed);
        }
        Session {
            case,
            profile,
            group,
            rule,
            subject,
            stimulus,
            names,
            cable_cm,
            keys: lab.keys.clone(),
            bound: match &lab.adapter {
                Adapter::Emulated => Dur::ZERO,
                Adapter::EmulatedWire(wire) => wire.bound,
                Adapter::Declared(wire) => wire.bound,
            },
            served: matches!(lab.adapter, Adapter::EmulatedWire(_)),
            seed,
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

    /// What the names in the case's amounts stand for, without a sweep.
    pub fn values(&self) -> Values<'_> {
        Values {
            declared: &self.group.declared,
            predicted: self.names,
            swept: std::collections::BTreeMap::new(),
            size: match &self.group.varied {
                Some(Varied::Size(stream, size)) => Some((stream.clone(), *size)),
                _ => None,
            },
            counts: Counts::new(),
        }
    }

    /// How the storm in question makes its pause; `None` where no storm is in question.
    pub fn cadence(&self) -> Option<Cadence> {
        let storm = self.case.storms.get(&self.subject.as_ref()?.storm)?;
        let pause = self.names.tail;
        let every = match storm.refresh {
            Refresh::OfPause(millionths) => pause.scaled(millionths, 1_000_000),
            Refresh::Every(every) => every,
        };
        (every > Dur::ZERO).then_some(Cadence { every, pause })
    }

    /// Whether the device is served by a process, which a stall of the machine makes late as the rig itself.
    pub const fn is_served(&self) -> bool {
        self.served
    }

    /// How far off its plan a storm may start, and a pause may last, at worst.
    pub fn slack(&self) -> Dur {
        self.slack_within(self.bound)
    }

    /// The same where timestamps are off by no more than `bound`: an own frame in flight stands in the way, and the
    /// device's MAC takes its declared response.
    pub fn slack_within(&self, bound: Dur) -> Dur {
        let speeds = (0..self.group.declared.port_count())
            .filter_map(|port| self.group.declared.port_speed(port));
        let in_flight =
            speeds.min().map_or(Dur::us(1), |slowest| slowest.slot(self.group.declared.mtu));
        in_flight + self.group.declared.response(Form::Encrypted) + bound * 2
    }

    /// Length of every cable between the rig and the device, in centimetres.
    pub const fn cable_cm(&self) -> u64 {
        self.cable_cm
    }

    /// The time through one.
    pub const fn cable(&self) -> Dur {
        Length(self.cable_cm).travel()
    }

    /// The seed of the plan's draws.
    pub fn plan_seed(&self) -> u64 {
        self.seed.split("plan").value()
    }

    /// Tries one more setting on a device of its own: why it refuses, or `None` when it takes it.
    ///
    /// # Errors
    /// When the device does not even take the case's other settings.
    pub fn try_setting(&self, setting: &Setting) -> Result<Option<String>, String> {
        let seed = self.seed.split("configure").value();
        let refused = |refused: &dyn core::fmt::Display| {
            format!("the device refused the case's settings: {refused}")
        };
        let answer = match &self.benches {
            None => {
                let dut = Emulated::boot(&self.profile, &self.group.settings, self.cable_cm, seed);
                dut.map_err(|why| refused(&why))?.configure(std::slice::from_ref(setting))
            }
            Some(benches) => {
                let mut bench = benches.lease(&self.profile, Share::default())?;
                let booted = bench.behind.boot(&self.group.settings, seed);
                booted.map_err(|why| refused(&why))?;
                match bench.behind.set(setting) {
                    Err(Undone::Lost(lost)) => {
                        bench.spoil();
                        return Err(lost.to_string());
                    }
                    Err(Undone::Refused(refused)) => Err(refused),
                    Ok(()) => Ok(()),
                }
            }
        };
        Ok(answer.err().map(|refused| refused.to_string()))
    }

    /// The point like `like`, its storm making a pause of `pause`.
    pub fn point_of(&self, like: &Point, pause: Dur) -> Point {
        like.swept
            .keys()
            .next()
            .map_or_else(|| like.clone(), |name| point(name, pause, self.cadence()))
    }

    /// The script of a trial at `point`.
    ///
    /// # Errors
    /// What cannot be done on this device, at its place in the file.
    pub fn script(&self, point: &Point) -> Result<Script, Box<Fault>> {
        let (swept, counts) = (point.swept.clone(), point.counts.clone());
        let values = Values { swept, counts, ..self.values() };
        let mut script = self.case.script(&self.group.declared, &values).map_err(Box::new)?;
        script.macsec = Protection::of(&self.group.declared.macsec, self.keys.as_ref());
        if self.case.length.is_none() {
            script.length += self.settle(&script);
        }
        Ok(script)
    }

    /// How long a trial goes on after its last step: until every storm's restoration is over and has been seen, however late
    /// the rig and the device may each be.
    fn settle(&self, script: &Script) -> Dur {
        const MARGIN: Dur = Dur::ms(5);
        let gap = |stream: &rig_testcases::StreamSpec| match stream.rate {
            rig_testcases::StreamRate::Every(gap) => gap,
            rig_testcases::StreamRate::Load(_) => Dur::ZERO,
        };
        let probes = script.streams.iter().map(gap).max().unwrap_or_default() * 4;
        let stormy = !script.storms.is_empty();
        let restored = self.names.lookup("predicted.restoration.latest").filter(|_| stormy);
        let late = self.bound * 2;
        self.names.tail + restored.unwrap_or_default() + probes + MARGIN + late
    }

    /// Runs one trial. `place` says when its storm is to start: at a phase of the poll interval on the session's clock,
    /// or so long from now. The counters called `read` are read on the way.
    ///
    /// # Errors
    /// When the device does not take its configuration, or the script asks of a port what it cannot do.
    pub fn run(
        &mut self,
        script: &Script,
        place: Place,
        read: &[String],
    ) -> Result<Observation, Obstacle> {
        let poll_interval = self.rule.poll_interval;
        let storm_at = first_storm(script);
        let reach = self.reach(script);
        let declared = self.group.declared.clone();
        let (to_disk, id, spool) = (self.to_disk, &self.case.id, self.spool.take());
        let stop = self.stop;
        let lab = self.booted(script)?;
        lab.spool(spool);
        // Making a file takes its time: before the trial's is looked at.
        if let Some((folder, number)) = to_disk {
            let interfaces = lab.interfaces(script, &declared);
            let _none_before = lab.onto_disk(folder.begin(id, number, interfaces));
        }
        let now = lab.now();
        let start = match place {
            Place::After(wait) => now + wait,
            Place::Phase(phase) => {
                // The start's own phase is that of the storm less the time into the script.
                let earliest = (now + storm_at + reach).elapsed() % poll_interval;
                now + (phase + poll_interval - earliest) % poll_interval
            }
        };
        let seen = lab.idle_until(start, stop);
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
                Obstacle::Case(Box::new(self.case.fault("", found, want)))
            }
            Broken::Port(error) => Obstacle::Broken(error.to_string()),
            Broken::Device(error) => Obstacle::Broken(error),
            Broken::Stopped => Obstacle::Stopped,
        })
    }

    /// How each sender of the last trial kept to its plan, by name.
    pub fn kept(&mut self) -> Vec<(String, Kept)> {
        self.executor.as_mut().map(Executor::kept).unwrap_or_default()
    }

    /// From the step that starts the storm to the last bit of its first frame at the device.
    fn reach(&self, script: &Script) -> Dur {
        /// Preamble, start delimiter and the shortest frame.
        const PFC: Bytes = Bytes(72);
        let from = script.storms.first().map_or(0, |storm| storm.from);
        let port = script.dut_ports.get(usize::from(from)).copied().unwrap_or_default();
        let speed = self.group.declared.port_speed(port);
        speed.map_or(Dur::ZERO, |speed| speed.serialise(PFC)) + Length(self.cable_cm).travel()
    }

    /// The next trial gets a device that was just booted.
    pub fn reboot(&mut self) {
        self.executor = None;
    }

    /// Waits until whatever a trial before has left stormed is restored.
    ///
    /// # Errors
    /// The device is lost.
    pub fn let_restore(&mut self) -> Result<(), Obstacle> {
        let restored = self.names.lookup("predicted.restoration.latest");
        let (Some(executor), Some(restored)) = (&mut self.executor, restored) else {
            return Ok(());
        };
        let until = executor.now() + self.names.tail + restored;
        executor.idle_until(until, self.stop).map_err(|broken| Obstacle::Broken(broken.to_string()))
    }

    /// Trials of one session send much the same: the first one's script tells what they take of the machine.
    fn booted(&mut self, script: &Script) -> Result<&mut Executor, Obstacle> {
        if self.executor.is_none() {
            let seed = self.seed.split(&format!("boot {}", self.booted)).value();
            self.booted += 1;
            let mut executor = self.boot(seed, script)?;
            let declared = &self.profile.declared.pfcwd;
            let settled = if executor.is_fresh() {
                // A device finishes the wait between two polls that it had begun before it was configured.
                Time::ZERO + declared.poll_interval + declared.jitter.bounds().1
            } else {
                // What a case before may have left stormed is restored by then.
                let restored = self.names.lookup("predicted.restoration.latest");
                executor.now() + self.names.tail + restored.unwrap_or(declared.poll_interval)
            };
            executor
                .idle_until(settled, self.stop)
                .map_err(|broken| Obstacle::Broken(broken.to_string()))?;
            self.executor = Some(executor);
        }
        Ok(self.executor.as_mut().expect("just booted"))
    }

    fn boot(&self, seed: u64, script: &Script) -> Result<Executor, Obstacle> {
        let (settings, cable) = (&self.group.settings, Length(self.cable_cm).travel());
        let Some(benches) = &self.benches else {
            let dut = Emulated::boot(&self.profile, settings, self.cable_cm, seed);
            let dut = dut.map_err(Obstacle::Device)?;
            let rig = Seed::of_run(seed).split("rig").value();
            return Ok(Executor::Virtual(Box::new(VirtualLab::new(dut, cable, rig))));
        };
        let program = Program::of(script, &speeds(script, &self.group.declared));
        // A script that cannot be sent is refused by its trial.
        let share = program.map_or(Share::default(), |program| Share::of(script, &program));
        let bench = benches.lease(&self.profile, share).map_err(Obstacle::Broken)?;
        let lab = WireLab::boot(bench, settings, seed, cable).map_err(|undone| match undone {
            Undone::Refused(refused) => Obstacle::Device(refused),
            Undone::Lost(lost) => Obstacle::Broken(lost.to_string()),
        })?;
        Ok(Executor::Wire(Box::new(lab)))
    }
}

/// When a trial's storm is to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The trial starts so long from now.
    After(Dur),
    /// The storm's first frame reaches the device at this phase of the poll interval, on the session's clock.
    Phase(Dur),
}

/// When the first storm of the script starts; the start of the trial without one.
fn first_storm(script: &Script) -> Dur {
    let starts = script
        .steps
        .iter()
        .find(|step| matches!(step.action, rig_testcases::Action::StartStorm(_)));
    starts.map_or(Dur::ZERO, |step| step.at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::choose::choose;
    use crate::runner::points::{groups, points};
    use std::path::Path;

    /// From the last step of a full load to the end of its trial.
    fn rest(lab: &Lab) -> Dur {
        let suites = rig_testcases::read::bundled().expect("the catalogue");
        let mut cases = suites.iter().flat_map(|suite| &suite.cases);
        let case = cases.find(|case| case.id.case == "line-rate-traffic-broadcom").expect("a case");
        let profile = choose(lab, None, case).expect("it suits one");
        let group = groups(case, &profile.declared).expect("settings").remove(0);
        let session = Session::new(lab, profile, case, group, Seed::of_run(0));
        let points = points(case, &session.values(), session.cadence()).expect("no sweep");
        let script = session.script(&points[0]).expect("a script");
        script.length - script.steps.last().expect("steps").at
    }

    #[test]
    fn a_trial_outlasts_what_the_rig_and_the_device_may_be_late_by() {
        let veth = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab-configs/veth.yaml");
        let lab = rig_lab::read::lab(Some(&veth)).expect("the bundled lab");
        let Adapter::EmulatedWire(wire) = &lab.adapter else { panic!("it is on the wire") };
        assert!(rest(&lab) > wire.bound * 2, "{}", rest(&lab));
        let exact = rig_lab::read::lab(None).expect("the bundled lab");
        assert!(rest(&exact) < Dur::ms(10), "{}", rest(&exact));
    }
}
