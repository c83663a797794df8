//! A session on ports in real time: one device, booted for it where it can be, and its trials.

use super::bench::Bench;
use super::benches::Lease;
use super::broken::Broken;
use super::clocks::SessionClock;
use super::exchanged::Exchanged;
use super::losses::Losses;
use super::silence::Listener;
use super::steered::Steered;
use super::tape::Tape;
use super::told::Told;
use super::trial::Trial;
use super::under_way::UnderWay;
use crate::executor::guest::GuestHost;
use crate::executor::ledger::TrialRecord;
use crate::executor::virtual_lab::speeds;
use crate::stop::Stop;
use rig_capture::codec::bad_pfc;
use rig_capture::deep::{Capture, Interface};
use rig_capture::pcapng::{Onto, Spool, Spooled};
use rig_capture::{Approach, Counters, Integrity, Observation, PortTrace, Provenance};
use rig_capture::{Relay, What};
use rig_dut::control::{Ability, Order, Readings, if_offered};
use rig_frames::ethernet;
use rig_generator::port::{Fault, PortError, RealTime, StampedBy};
use rig_generator::{Clock, Departure, Kept, Obeys, Program, Template, Watcher, Who};
use rig_lab::{Declared, Setting};
use rig_oracle::trials::seed::Seed;
use rig_testcases::{Action, EndpointSpec, Script, wire};
use rig_units::{Apart, Dur, FCS, PortSpeed, Time, Within};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Between a reading of the clock and what it stands for, with nothing in between but a few instructions.
const READS: Dur = Dur::us(2);

/// A device under test in real time, and the rig's ports cabled to it.
#[derive(Debug)]
pub struct WireLab {
    pub(super) bench: Lease,
    pub(super) clock: SessionClock,
    pub(super) cable: Dur,
    /// What is between the rig and each NIC under test.
    relays: Vec<Vec<Relay>>,
    /// How far the clock of what is under test and the rig's may be apart.
    apart: Apart,
    /// What is drawn of frames between NICs is drawn from it, in each trial anew.
    seed: Seed,
    trials: u64,
    /// Whether anybody asks for the device's counters.
    counts: bool,
    /// How each sender of the last trial kept to its plan.
    pub(super) kept: Vec<(String, Kept)>,
    /// Where the frames of the next trial go, too; afterwards it is taken out again.
    pub disk: Option<Capture>,
    /// Where every frame of the next trial goes once it is over.
    pub spool: Option<Onto>,
    /// Every frame of the last one.
    pub spooled: Option<Spooled>,
}

impl WireLab {
    /// A session with a device that is booted now with `settings`, or with one that cannot be booted and has them.
    ///
    /// # Errors
    /// When the device refuses a setting, or cannot be reached.
    pub fn boot(
        mut bench: Lease,
        settings: &[Setting],
        seed: u64,
        cable: Dur,
    ) -> Result<WireLab, Broken> {
        let booted = bench.control.boot(settings, seed);
        if let Err(Broken::Device(_) | Broken::Away(_) | Broken::Unseen(_)) = booted {
            bench.spoil();
        }
        let epoch = booted?;
        let clock = bench.clock(epoch);
        bench.pacer.clock = Arc::clone(&clock);
        let is_fresh = bench.control.boots();
        // One that is given keys has them anew with each session, and numbers its frames from the first on.
        let is_keyed = is_fresh || bench.control.capabilities().offers(Ability::Keys);
        for lane in &mut bench.pacer.lanes {
            if is_fresh {
                // What is paused otherwise stays so: the device that asked for it goes on.
                lane.sender.restart();
            }
            if is_keyed {
                lane.peer = None;
            }
        }
        Ok(WireLab {
            bench,
            clock,
            cable,
            relays: Vec::new(),
            apart: Apart::NOT,
            seed: Seed::of_run(seed).split("the rig between NICs"),
            trials: 0,
            counts: true,
            kept: Vec::new(),
            disk: None,
            spool: None,
            spooled: None,
        })
    }

    /// The same, and each NIC under test, whose clock and the rig's may be `apart`, stands behind `relays`: in the order of its ports.
    pub fn behind(self, relays: Vec<Vec<Relay>>, apart: Apart) -> WireLab {
        WireLab { relays, apart, ..self }
    }

    /// The same, and counters are read only where something `counts` on them: some devices take their time to tell them.
    pub fn counting(self, counts: bool) -> WireLab {
        WireLab { counts, ..self }
    }

    /// Whether the device was booted for this session, so that it begins with nothing stormed.
    pub fn is_fresh(&self) -> bool {
        self.bench.control.boots()
    }

    /// A bench that gave up is of no more use: it is not handed on to the next case.
    fn noted<T>(&mut self, ran: Result<T, Broken>) -> Result<T, Broken> {
        if let Err(
            Broken::Port(_)
            | Broken::Device(_)
            | Broken::Away(_)
            | Broken::Unseen(_)
            | Broken::Refused(_),
        ) = ran
        {
            self.bench.spoil();
        }
        ran
    }

    /// The present, on the clock of the session.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Lets time pass, unless `stop` hurries. What the rig's ports see meanwhile belongs to no trial.
    ///
    /// # Errors
    /// A port of the rig gave up.
    pub fn idle_until(&mut self, at: Time, stop: &Stop) -> Result<(), Broken> {
        let ran = self.bench.pacer.run_until(at, &mut Deaf(stop));
        self.noted(ran.map_err(Broken::Port))
    }

    /// Runs one trial from now on.
    ///
    /// # Errors
    /// What no port can do; a port or the device that gave up; that `stop` hurried.
    pub fn trial(
        &mut self,
        script: &Script,
        declared: &Declared,
        stop: &Stop,
    ) -> Result<Observation, Broken> {
        let ran = self.ran(script, declared, stop);
        self.noted(ran)
    }

    fn ran(
        &mut self,
        script: &Script,
        declared: &Declared,
        stop: &Stop,
    ) -> Result<Observation, Broken> {
        let speeds = speeds(script, declared);
        let program = Program::of(script, &speeds).map_err(Broken::Impossible)?;
        self.fits(script)?;
        let Bench { control, .. } = &mut *self.bench;
        if_offered(control.order(Order::Cable { behind: script.dut_ports.clone() }))?;
        self.secure(script, declared)?;
        self.assign(script);
        let Bench { control, cabling, pacer, host, .. } = &mut *self.bench;
        if self.counts {
            if_offered(control.order(Order::ClearWatermarks))?;
        }
        if_offered(control.order(Order::Disconnect))?;
        let read = self.clock.now();
        let before = readings(control, self.counts)?;
        let earlier = if_offered(control.events())?.unwrap_or_default();
        let _earlier = if_offered(control.health())?;
        let _earlier = if_offered(control.passed())?;
        let lost = Losses::of(&pacer.lanes)?;
        cabling.note(script)?;
        // Over a link that the rig itself cuts nothing passes, and nobody counts what.
        let cuts = script.steps.iter().any(|step| matches!(step.action, Action::LinkDown(_)));
        // An emulated AES takes milliseconds for a frame, and is behind with many of them on a machine that does much else.
        let asks = host.is_some() && script.macsec.is_some() && !cuts;
        let under_way = if asks { UnderWay::before(&mut **control, declared)? } else { None };
        // Only while frames are on their way: what is worked out afterwards may wait. Without the permission frames are
        // late more often, which voids their trials.
        let real_time = RealTime::enter();
        let begun = self.now();
        let starved = self.bench.host.as_ref().map(|host| host.watch(begun)).unwrap_or_default();
        let origin = self.now();
        let instant: Vec<bool> = self.bench.pacer.lanes.iter().map(|lane| lane.instant).collect();
        // What had been sent by the end is still on its way.
        let slowest =
            speeds.iter().map(|speed| speed.slot(declared.mtu())).max().unwrap_or_default();
        let transit = declared.transit().map_or(Dur::ZERO, Within::most);
        let relay = |relay: &Relay| relay.transit.most() + relay.cable + slowest;
        let between: Dur = self.relays.iter().flatten().map(relay).sum();
        let way = transit + between * 2 + self.cable * 2 + slowest * 2;
        let bound = self.bench.bound;
        let listener = Listener::of(script, declared, way + bound);
        let seed = self.seed.split(&self.trials.to_string());
        self.trials += 1;
        let mut tape =
            Tape::new((script, stop), origin, self.bench.next, instant, (bound, listener, &seed));
        tape.ledger = tape.ledger.onto(self.spool.take().map(|onto| Spool::held(onto, script)));
        tape.disk = self.disk.take();
        if declared.blue_rdma().is_some() {
            tape.decoder = core::mem::take(&mut tape.decoder).of_blue_rdma();
        }
        tape.unseen.before(read, &earlier);
        let slowest = speeds.iter().min().copied().unwrap_or(PortSpeed::G100);
        let mut trial =
            Trial { lab: self, script, program: &program, tape, config: Vec::new(), slowest };
        let ran = trial.run(origin);
        let stopped = trial.stop();
        drop(real_time);
        let ran =
            ran.and_then(|()| under_way.map_or(Ok(None), |under_way| trial.settle(&under_way)));
        let settled = trial.lab.now();
        let Trial { mut tape, config, .. } = trial;
        let kept = tape.kept();
        let Tape {
            ledger,
            late,
            off,
            disk,
            mut unseen,
            listener,
            exchanged,
            took,
            between,
            onward,
            ..
        } = tape;
        (self.kept, self.disk) = (kept, disk);
        // That a link could not be mended says more than that the trial was broken off.
        let ended = match ran {
            Err(Broken::Stopped) => stopped.and(ran),
            ran => ran.and_then(|rest| stopped.map(|()| rest)),
        };
        let rest = match ended {
            Ok(rest) => rest,
            Err(broken) => {
                ledger.abandon();
                return Err(broken);
            }
        };
        let lost = Losses::of(&self.bench.pacer.lanes)?.since(&lost);
        if let Some(disk) = &mut self.disk {
            lost.received().for_each(|(lane, frames)| disk.missed(lane, frames));
        }
        let most = (0..script.streams.len()).map(|stream| ledger.sent(index(stream))).max();
        self.bench.next += most.unwrap_or(0);
        let TrialRecord { records, streams, loads, unrecorded, spool } = ledger.finish();
        let Bench { control, host, .. } = &mut *self.bench;
        let after = readings(control, self.counts)?;
        // A wait is counted when it is over, and who answers has a processor again.
        host.as_deref().map_or(Ok(()), GuestHost::answers)?;
        let waits = starved.until(origin, script.length);
        let read = self.clock.now();
        let obeyed = took;
        let took = read.since(origin + script.length).unwrap_or_default().max(took) + after.age;
        let happened = if_offered(control.events())?;
        let missed = control.missed();
        let health = if_offered(control.health())?;
        let passed = if_offered(control.passed())?;
        // It leaves the device as late as that was.
        let on_its_way = way + health.as_ref().map_or(bound, |health| health.send_late);
        // What came until it had settled is of the trial.
        unseen.after((origin + script.length + on_its_way).max(settled), read);
        self.bench.pacer.run_until(read, &mut unseen)?;
        let counted = health.as_ref().filter(|_| !cuts);
        let exchanged = Exchanged { came: exchanged.came + unseen.came(), ..exchanged };
        let short = counted.and_then(|health| exchanged.short_of_device(health));
        let hole = counted.and_then(|health| exchanged.short_of_rig(health));
        // What is missing is told as that: behind it the counts of both ends are apart.
        let whole = counted.filter(|_| short.is_none() && hole.is_none());
        let stood = whole.and(passed).map(|passed| between.stood(&passed)).unwrap_or_default();
        let agreed = counted.is_some_and(|health| exchanged.agrees(health));
        unseen.events(origin, happened.as_deref().unwrap_or_default());
        let told = happened.iter().flatten().map(|event| event.off);
        let told_within = told.max().unwrap_or_default();
        // Only now: nothing is due any more, and the device has been read.
        self.spooled = spool.map(Spool::finish);
        // How far off the instants of this trial may be is measured, frame by frame, at both ends; where nobody measures at
        // the other one, or on the way there, it is what the lab says.
        let off = match &health {
            Some(health) => {
                let late = health
                    .misplaced
                    .max(health.send_late)
                    .max(health.poll_late)
                    .max(stood.longest());
                off.max(late).max(told_within) + READS
            }
            None => bound,
        };
        // A device that is late tells when it should have acted: the wire shows it later.
        let within = off.min(bound);
        let told = happened.map(|events| Told::since(origin, events, within));
        let (events, undated) = told.map_or((None, None), |told| (Some(told.events), told.undated));
        let ports = script.dut_ports.iter().zip(&script.ports).zip(speeds).map(
            |((&index, name), speed)| PortTrace {
                name: name.clone(),
                speed,
                dut_port: declared.name_of(index),
                cable: self.cable,
                provenance: Provenance::Software { bound: within },
                sees_tags: self.bench.sees_tags,
                approach: None,
            },
        );
        let mut ports: Vec<PortTrace> = ports.collect();
        for (at, (trace, &behind)) in (0..).zip(ports.iter_mut().zip(&script.dut_ports)) {
            let relays = self.relays.get(usize::from(behind));
            trace.approach = relays.map(|relays| {
                Approach::of(trace.speed, (relays.clone(), self.apart), at, &records)
            });
        }
        let moving: BTreeSet<String> = before.moving.into_iter().chain(after.moving).collect();
        let rests = |mut values: BTreeMap<String, u64>| {
            values.retain(|name, _| !moving.contains(name));
            values
        };
        let mut counters = Counters::read(rests(before.values), rests(after.values));
        counters.moving = Arc::new(moving);
        (counters.took, counters.obeyed) = (took, obeyed);
        counters.vendor = Arc::new(after.vendor);
        counters.absent = Arc::new(after.absent);
        Ok(Observation {
            injected: onward.touched(),
            origin,
            length: script.length,
            ports,
            records,
            streams,
            loads,
            counters,
            events,
            hosts: None,
            config,
            integrity: Integrity {
                lost: lost.frames(),
                unrecorded,
                late,
                cut: both(lost.told(|lane| self.bench.cabling.interface(lane)), hole),
                dut: both(
                    both(health.and_then(|health| health.doubt(bound)), stood.doubt(bound)),
                    both(short, rest),
                ),
                waits,
                // What both ends counted alike did not get lost on this machine: the device has dropped it.
                silent: listener.ends(Time::ZERO + script.length).filter(|_| !agreed),
                unseen: unseen.count(),
                undated: missed.or(undated).or(health.and_then(|health| health.untold(bound))),
            },
        })
    }

    /// How each stream and storm of the last trial kept to its plan, by name.
    pub fn kept(&mut self) -> Vec<(String, Kept)> {
        core::mem::take(&mut self.kept)
    }

    /// The rig's ports, as a capture to disk describes them: those of the script by its names.
    pub fn interfaces(&self, script: &Script, declared: &Declared) -> Vec<Interface> {
        let lanes = 0..self.bench.pacer.lanes.len();
        let describe = |lane: usize| {
            let behind = index(lane);
            let named = script.dut_ports.iter().position(|&port| port == behind);
            let name = named.map(|port| script.ports[port].clone());
            let bound = self.bench.bound;
            Interface {
                name: name.unwrap_or_else(|| {
                    format!("{} (not used)", self.bench.cabling.interface(lane))
                }),
                description: declared.name_of(behind),
                speed: declared.port_speed(behind).unwrap_or(PortSpeed::G100),
                clock: format!(
                    "CLOCK_MONOTONIC since the trial began, off by no more than {bound} in a trial that counts; a frame \
                     that was sent stands at its last bit"
                ),
            }
        };
        lanes.map(describe).collect()
    }

    /// Whether every frame of the script passes the ports at both ends of its way.
    fn fits(&self, script: &Script) -> Result<(), Broken> {
        let Bench { longest, cabling, .. } = &*self.bench;
        for stream in &script.streams {
            let size = usize::try_from((stream.on_wire() - FCS).0).unwrap_or(usize::MAX);
            for port in [stream.from, stream.to] {
                let lane = usize::from(script.dut_ports[usize::from(port)]);
                let takes = longest.get(lane).copied().unwrap_or(0);
                if size > takes {
                    let mtu = takes.saturating_sub(ethernet::LEN);
                    let fault = Fault::MtuTooSmall { mtu, longest: size };
                    return Err(PortError { interface: cabling.interface(lane), fault }.into());
                }
            }
        }
        Ok(())
    }

    /// Gives every sender of the script its frames, and every port its manners.
    fn assign(&mut self, script: &Script) {
        let behind = |port: u16| usize::from(script.dut_ports[usize::from(port)]);
        for (port, &lane) in (0..).zip(&script.dut_ports) {
            let EndpointSpec { obeys, response, .. } = script.endpoint(port);
            let obeys = Obeys { classes: obeys, link_pause: false, response };
            self.bench.pacer.lanes[usize::from(lane)].forget(obeys);
        }
        for (stream, spec) in (0..).zip(&script.streams) {
            let lane = &mut self.bench.pacer.lanes[behind(spec.from)];
            lane.assign(Who::Stream(stream), Template::of_stream(stream, spec));
        }
        for (storm, spec) in (0..).zip(&script.storms) {
            let frame = frame(spec.from, &super::tape::pfc(spec.classes, spec.quanta));
            let lane = &mut self.bench.pacer.lanes[behind(spec.from)];
            lane.assign(Who::Storm(storm), Template::new(frame).with_macsec(spec.macsec));
        }
    }
}

/// What is told of one thing, and of another.
fn both(one: Option<String>, other: Option<String>) -> Option<String> {
    let all: Vec<String> = one.into_iter().chain(other).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// The device's counters now, where somebody asks for them and it has some.
fn readings(control: &mut Steered, asked: bool) -> Result<Readings, Broken> {
    if !asked {
        return Ok(Readings::default());
    }
    Ok(if_offered(control.counters(&[]))?.unwrap_or_default())
}

/// The bytes of a PFC frame of the rig's port.
pub(super) fn frame(port: u16, what: &What) -> Vec<u8> {
    match *what {
        What::Pfc { enable, quanta } => wire::pfc(wire::rig_mac(port), enable, quanta),
        What::BadPfc { fault, enable, quanta } => {
            bad_pfc(wire::pfc(wire::rig_mac(port), enable, quanta), fault)
        }
        What::Data { .. } | What::Roce(_) | What::BlueRdma(_) | What::Other { .. } => Vec::new(),
    }
}

/// Hears nothing.
struct Deaf<'a>(&'a Stop);

impl Watcher for Deaf<'_> {
    fn is_over(&self) -> bool {
        self.0.hurried()
    }

    fn sent(&mut self, _: u16, _: &Departure, _: Time, _: Time) {}
    fn received(&mut self, _: u16, _: &[u8], _: Time, _: StampedBy) {}
}

pub(super) fn index(n: usize) -> u16 {
    u16::try_from(n).unwrap_or(u16::MAX)
}
