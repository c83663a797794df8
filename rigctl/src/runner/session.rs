//! One configuration of one device, and the trials run on it.

use super::plan::Role;
use super::points::{Cadence, Group, Point, point};
use super::seed::Seed;
use super::subject::{self, Subject};
use super::values::Values;
use crate::executor::VirtualLab;
use rig_capture::Observation;
use rig_dut::{Dut, Emulated, Refused};
use rig_lab::{Fault, Lab, Profile, Setting};
use rig_oracle::spec::pfcwd::{Names, Rule, Stimulus};
use rig_oracle::verdict::Doubt;
use rig_testcases::case::Refresh;
use rig_testcases::{Case, Script};
use rig_units::{Bytes, Dur, Time};

/// A device in one configuration, with everything that the oracle knows of it and of the case.
#[derive(Debug)]
pub struct Session<'a> {
    /// The case.
    pub case: &'a Case,
    /// The device.
    pub profile: &'a Profile,
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
    seed: Seed,
    lab: Option<VirtualLab>,
    booted: u32,
}

/// One trial that was run.
#[derive(Debug)]
pub struct Trial {
    /// Its number within the case, from 1.
    pub number: u32,
    /// Index of its point in the sweep of variables.
    pub point: usize,
    /// What was sent.
    pub script: Script,
    /// What was seen.
    pub observation: Observation,
    /// What it is for.
    pub role: Role,
    /// Why it does not count, if it does not.
    pub void: Option<Doubt>,
}

/// Why a trial could not be run.
#[derive(Debug)]
pub enum Obstacle {
    /// The case cannot be done on this device; found at a place in its file.
    Case(Box<Fault>),
    /// The device did not take its configuration.
    Device(Refused),
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
        Session {
            case,
            profile,
            group,
            rule,
            subject,
            stimulus,
            names,
            cable_cm: lab.cable_cm,
            seed,
            lab: None,
            booted: 0,
        }
    }

    /// What the names in the case's amounts stand for, without a sweep.
    pub fn values(&self) -> Values<'_> {
        Values {
            declared: &self.group.declared,
            predicted: self.names,
            swept: std::collections::BTreeMap::new(),
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

    /// How far off its plan a storm may start, and a pause may last: an own frame in flight stands in the way, and the
    /// device's MAC takes its declared response.
    pub fn slack(&self) -> Dur {
        let speeds = (0..self.group.declared.port_count())
            .filter_map(|port| self.group.declared.port_speed(port));
        let in_flight =
            speeds.min().map_or(Dur::us(1), |slowest| slowest.slot(self.group.declared.mtu));
        in_flight + self.group.declared.pfc.response
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
        let dut = Emulated::boot(self.profile, &self.group.settings, self.cable_cm, seed);
        let mut dut =
            dut.map_err(|refused| format!("the device refused the case's settings: {refused}"))?;
        Ok(dut.configure(std::slice::from_ref(setting)).err().map(|refused| refused.to_string()))
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
        let values = Values { swept: point.swept.clone(), ..self.values() };
        let mut script = self.case.script(&self.group.declared, &values).map_err(Box::new)?;
        if self.case.length.is_none() {
            script.length += self.settle(&script);
        }
        Ok(script)
    }

    /// How long a trial goes on after its last step: until every storm's restoration is over and has been seen.
    fn settle(&self, script: &Script) -> Dur {
        const MARGIN: Dur = Dur::ms(5);
        let gap = |stream: &rig_testcases::StreamSpec| match stream.rate {
            rig_testcases::StreamRate::Every(gap) => gap,
            rig_testcases::StreamRate::Load(_) => Dur::ZERO,
        };
        let probes = script.streams.iter().map(gap).max().unwrap_or_default() * 4;
        let stormy = !script.storms.is_empty();
        let restored = self.names.lookup("predicted.restoration.latest").filter(|_| stormy);
        self.names.tail + restored.unwrap_or_default() + probes + MARGIN
    }

    /// Runs one trial. `place` says when its storm is to start: at a phase of the poll interval on the session's clock,
    /// or so long from now.
    ///
    /// # Errors
    /// When the device does not take its configuration, or the script asks of a port what it cannot do.
    pub fn run(&mut self, script: &Script, place: Place) -> Result<Observation, Obstacle> {
        let poll_interval = self.rule.poll_interval;
        let storm_at = first_storm(script);
        let reach = self.reach(script);
        let declared = self.group.declared.clone();
        let lab = self.booted()?;
        let now = lab.now();
        let start = match place {
            Place::After(wait) => now + wait,
            Place::Phase(phase) => {
                // The start's own phase is that of the storm less the time into the script.
                let earliest = (now + storm_at + reach).elapsed() % poll_interval;
                now + (phase + poll_interval - earliest) % poll_interval
            }
        };
        lab.idle_until(start);
        lab.trial(script, &declared).map_err(|faults| {
            let found = faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
            Obstacle::Case(Box::new(self.case.fault(
                "",
                found,
                "a stimulus that the ports can send",
            )))
        })
    }

    /// From the step that starts the storm to the last bit of its first frame at the device.
    fn reach(&self, script: &Script) -> Dur {
        /// Preamble, start delimiter and the shortest frame.
        const PFC: Bytes = Bytes(72);
        let from = script.storms.first().map_or(0, |storm| storm.from);
        let port = script.dut_ports.get(usize::from(from)).copied().unwrap_or_default();
        let speed = self.group.declared.port_speed(port);
        speed.map_or(Dur::ZERO, |speed| speed.serialise(PFC)) + travel(self.cable_cm)
    }

    /// The next trial gets a device that was just booted.
    pub fn reboot(&mut self) {
        self.lab = None;
    }

    fn booted(&mut self) -> Result<&mut VirtualLab, Obstacle> {
        if self.lab.is_none() {
            let seed = self.seed.split(&format!("boot {}", self.booted)).value();
            self.booted += 1;
            let dut = Emulated::boot(self.profile, &self.group.settings, self.cable_cm, seed);
            let dut = dut.map_err(Obstacle::Device)?;
            let mut lab = VirtualLab::new(dut, travel(self.cable_cm));
            // A device finishes the wait between two polls that it had begun before it was configured.
            let declared = &self.profile.declared.pfcwd;
            lab.idle_until(Time::ZERO + declared.poll_interval + declared.jitter.bounds().1);
            self.lab = Some(lab);
        }
        Ok(self.lab.as_mut().expect("just booted"))
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

/// How long a signal takes over so many centimetres of cable, at 1.98e8 m/s.
const fn travel(cable_cm: u64) -> Dur {
    Dur(cable_cm * 10_000 / 198)
}
