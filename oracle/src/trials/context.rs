//! A case on a device in one configuration, with everything that the oracle knows of both: what a script, a plan and a judgement
//! follow from. Nothing runs here.

use super::flow_time;
use super::points::{Cadence, Group, Point, Varied, point, points};
use super::seed::Seed;
use super::threshold_search::Counts;
use super::values::Values;
use crate::measure::watchdog::subject::Subject;
use crate::measure::watchdog::watch::Watch;
use rig_capture::Relay;
use rig_lab::{Declared, Fault, Form, Keys, Kind, Lab, Nics, Profile, Switch, Transport};
use rig_testcases::{Case, Protection, Script};
use rig_units::{Apart, Dur, Length, Ppm, Within};
use std::borrow::Cow;

/// A case on a device in one configuration.
#[derive(Debug)]
pub struct Context<'a> {
    /// The case that is run.
    pub case: &'a Case,
    /// The device, at the speed that the sweep asks for.
    pub profile: Cow<'a, Profile>,
    /// Its configuration.
    pub group: Group,
    /// The same as the rig's clock shows it, and as one of its packet memories has it; of each device of a system, too.
    seen: Declared,
    seen_of_system: Vec<Declared>,
    /// How far the device's clock and the rig's may be apart.
    apart: Apart,
    /// How far off the rig's own clock may be.
    own_clock: Ppm,
    /// Its watchdog, and what the case has to do with it; `None` where it has none.
    pub watch: Option<Watch>,
    cable_cm: u64,
    /// The lab's keys for MACsec.
    keys: Option<Keys>,
    /// How far off a timestamp may be, or the device behind it.
    bound: Dur,
    /// Whether the device is served by a process, which a stall of the machine makes late.
    served: bool,
    /// Whether a trial takes no time of the machine's clock.
    virtually: bool,
    /// What everything that is drawn follows from.
    pub seed: Seed,
}

impl<'a> Context<'a> {
    /// Of a case on a device in a configuration; `subjects` are what it is about.
    pub fn of(
        lab: &Lab,
        profile: &'a Profile,
        case: &'a Case,
        group: Group,
        (seed, subjects): (Seed, Vec<Subject>),
    ) -> Context<'a> {
        let own_clock = lab.transport.clock();
        let apart = Apart::of(group.declared.clock(), own_clock);
        let seen = |declared: &Declared| {
            let seen = declared.seen(apart);
            of_one_memory(seen.expect("the ends of a range are times that can be declared"))
        };
        let own = seen(&group.declared);
        let guarded = profile.family().zip(own.switch());
        let watch = guarded
            .map(|(family, switch)| Watch::of(case, (family, apart), (&own, switch), subjects));
        let cable_cm = match group.varied {
            Some(Varied::Cable(Length(cm))) => cm,
            _ => lab.cable_cm,
        };
        let mut profile = Cow::Borrowed(profile);
        // What each device of a system is configured to is predicted from, too.
        if profile.kind == Kind::System
            && let Ok(configured) = profile.clone().into_owned().configured(&group.settings)
        {
            profile = Cow::Owned(configured);
        }
        if let Some(Varied::Speed(speed)) = group.varied {
            profile.to_mut().run_at(speed);
        }
        let devices = profile.system.as_deref().filter(|system| system.alone.is_none());
        let devices = devices.into_iter().flat_map(|system| &system.devices);
        let seen_of_system = devices.map(|device| seen(&device.declared)).collect();
        Context {
            case,
            profile,
            group,
            seen: own,
            seen_of_system,
            apart,
            own_clock,
            watch,
            cable_cm,
            keys: lab.keys.clone(),
            bound: lab.transport.bound(),
            served: matches!(lab.transport, Transport::Veth(_)),
            virtually: lab.transport.is_virtual(),
            seed,
        }
    }

    /// How far off a timestamp of the lab may be.
    pub const fn bound(&self) -> Dur {
        self.bound
    }

    /// How far off the stamps of a simulated trial are taken to be: not at all, but where a lab in virtual time says so.
    pub const fn simulated_bound(&self) -> Dur {
        if self.virtually { self.bound } else { Dur::ZERO }
    }

    /// What the names in the case's amounts stand for, without a sweep.
    pub fn values(&self) -> Values<'_> {
        Values {
            declared: &self.group.declared,
            predicted: self.watch.as_ref().map(Watch::predicted),
            swept: std::collections::BTreeMap::new(),
            size: match &self.group.varied {
                Some(Varied::Size(stream, size)) => Some((stream.clone(), *size)),
                _ => None,
            },
            counts: Counts::new(),
        }
    }

    /// Every point of the case's variables; one without a sweep of variables.
    ///
    /// # Errors
    /// The name of a prediction or value that this device does not have.
    pub fn points(&self) -> Result<Vec<Point>, String> {
        points(self.case, &self.values(), self.cadence())
    }

    /// What it is configured to, as a switch, for whatever is measured of what a switch has: of several packet memories what each has.
    ///
    /// # Panics
    /// On a device of another kind: the reader lets nobody ask for such a measure of one.
    pub fn switch(&self) -> &Switch {
        switch_of(&self.seen)
    }

    /// What it is configured to, as NICs, for whatever is measured of what a NIC has.
    ///
    /// # Panics
    /// On a device of another kind: the reader lets nobody ask for such a measure of one.
    pub fn nics(&self) -> &Nics {
        self.seen.nics().expect("what a NIC has is measured of NICs")
    }

    /// What the device behind a rig port is configured to.
    pub fn behind(&self, script: &Script, port: u16) -> &Declared {
        let device = self.profile.system.as_deref().filter(|system| system.alone.is_none());
        let device = device.and_then(|system| {
            let at = system.ports.get(usize::from(script.dut_ports[usize::from(port)]))?;
            self.seen_of_system.get(usize::from(at.device))
        });
        device.unwrap_or(&self.seen)
    }

    /// What is between the rig and each NIC under test, as it is declared, in the order of the ports: nothing, unless they stand behind other
    /// devices.
    pub fn relays(&self) -> Vec<Vec<Relay>> {
        let relay = |(device, cable_cm): (&Profile, Option<u64>)| {
            let clock = device.declared.clock();
            Relay {
                transit: device.declared.transit().unwrap_or(Within::ZERO),
                mode: device.declared.switching_mode(),
                cable: Length(cable_cm.unwrap_or(self.cable_cm)).travel(),
                apart: Apart::of(clock, self.own_clock),
            }
        };
        let ports = 0..self.profile.declared.port_count();
        let ways = ports.map(|port| self.profile.approach(port).into_iter().map(relay).collect());
        ways.take_while(|way: &Vec<Relay>| !way.is_empty()).collect()
    }

    /// How far the device's clock and the rig's may be apart.
    pub const fn apart(&self) -> Apart {
        self.apart
    }

    /// What it is configured to as the rig's clock shows it.
    pub(crate) const fn seen(&self) -> &Declared {
        &self.seen
    }

    /// The same of a device of a system, by its place there.
    pub(crate) fn seen_of(&self, device: u16) -> &Declared {
        self.seen_of_system.get(usize::from(device)).unwrap_or(&self.seen)
    }

    /// How the storm in question makes its pause; `None` where no storm is in question.
    fn cadence(&self) -> Option<Cadence> {
        self.watch.as_ref()?.cadence
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
    /// device's MAC takes the longest that is declared of its response.
    pub fn slack_within(&self, bound: Dur) -> Dur {
        let speeds = (0..self.group.declared.port_count())
            .filter_map(|port| self.group.declared.port_speed(port));
        let in_flight =
            speeds.min().map_or(Dur::us(1), |slowest| slowest.slot(self.group.declared.mtu()));
        in_flight + self.switch().response(Form::Encrypted).most() + bound * 2
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
        let switch = self.group.declared.switch();
        script.macsec =
            switch.and_then(|switch| Protection::of(&switch.macsec, self.keys.as_ref()));
        if self.case.length.is_none() {
            script.length += self.settle(&script);
        }
        // In virtual time it costs nothing to wait for what may take longer than in an ordinary lab; over a wire NICs are as slow as its ports.
        if (self.virtually || self.served) && !script.flows.is_empty() {
            script.length = script.length.max(flow_time::latest(self, &script));
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
        let watched = self.watch.as_ref().map_or(Dur::ZERO, |watch| {
            watch.longest + watch.gives_back().filter(|_| stormy).unwrap_or_default()
        });
        watched + probes + MARGIN + self.bound * 2
    }
}

/// A device of which the pools are those of one of its packet memories.
fn of_one_memory(mut declared: Declared) -> Declared {
    if let Declared::Switch(switch) = &mut declared
        && switch.buffer.memories() > 1
    {
        switch.buffer = switch.buffer.of_one_memory();
    }
    declared
}

/// A device as the switch that it is, for whatever is measured of what a switch has.
///
/// # Panics
/// On a device of another kind: the reader lets nobody ask for such a measure of one.
pub(crate) fn switch_of(declared: &Declared) -> &Switch {
    declared.switch().expect("what a switch has is measured of switches")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trials::points::groups;
    use rig_lab::Interfaces;
    use std::path::Path;

    /// From the last step of a full load to the end of its trial.
    fn rest(lab: &Lab) -> Dur {
        let suites =
            rig_testcases::read::bundled_of(&crate::measure::Registry, |name| name == "pfcwd")
                .expect("the catalogue");
        let mut cases = suites.iter().flat_map(|suite| &suite.cases);
        let case = cases.find(|case| case.id.case == "line-rate-traffic-broadcom").expect("a case");
        let mut suited = lab.duts.iter().filter(|dut| case.suits(dut).is_ok());
        let profile = suited.next().expect("it suits one");
        let group = groups(case, &profile.declared).expect("settings").remove(0);
        let context = crate::measure::context(lab, profile, case, group, Seed::of_run(0));
        let points = context.points().expect("no sweep");
        let script = context.script(&points[0]).expect("a script");
        script.length - script.steps.last().expect("steps").at
    }

    #[test]
    fn what_is_measured_by_a_clock_that_may_be_off_is_judged_so() {
        let exact = rig_lab::read::lab(None).expect("the bundled lab");
        let wire = Interfaces {
            interfaces: vec!["eth1".to_owned()],
            backend: rig_lab::Backend::AfPacket,
            dpdk: None,
            speed: None,
            bound: Dur::us(1),
            clock: Ppm(100),
            budget: Dur::s(9),
        };
        let mut at_wire = exact.clone();
        at_wire.transport = Transport::Interfaces(wire);
        let seen = |lab: &Lab| {
            let suites =
                rig_testcases::read::bundled_of(&crate::measure::Registry, |name| name == "pfcwd")
                    .expect("the catalogue");
            let mut cases = suites.iter().flat_map(|suite| &suite.cases);
            let case =
                cases.find(|case| case.id.case == "line-rate-traffic-broadcom").expect("a case");
            let profile = &lab.duts[0];
            let group = groups(case, &profile.declared).expect("settings").remove(0);
            let context = crate::measure::context(lab, profile, case, group, Seed::of_run(0));
            (context.apart().limit(), context.switch().clock)
        };
        assert_eq!(seen(&at_wire), (Ppm(100), Some(Ppm(100))));
        assert_eq!(seen(&exact), (Ppm(0), None));
    }

    #[test]
    fn a_trial_outlasts_what_the_rig_and_the_device_may_be_late_by() {
        let veth = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab-configs/veth.yaml");
        let lab = rig_lab::read::lab(Some(&veth)).expect("the bundled lab");
        let Transport::Veth(wire) = &lab.transport else { panic!("it is on the wire") };
        assert!(rest(&lab) > wire.bound * 2, "{}", rest(&lab));
        let exact = rig_lab::read::lab(None).expect("the bundled lab");
        assert!(rest(&exact) < Dur::ms(10), "{}", rest(&exact));
    }
}
