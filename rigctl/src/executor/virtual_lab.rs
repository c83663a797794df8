//! Runs scripts in virtual time against the emulated device.
//!
//! One session is one device, configured once, for any number of trials: its poll loop goes on between them, as a real
//! device's does, so that a later trial can be placed against what earlier ones found out.

use super::ended_flows::ended_flows;
use super::host_reports::host_reports;
use super::ledger::TrialRecord;
use super::recorder::Recorder;
use super::sampler::Sampler;
use super::wire::broken::Broken;
use crate::stop::Stop;
use rig_capture::pcapng::{Onto, Spool, Spooled};
use rig_capture::{
    Approach, ConfigOutcome, Counters, DutEvent, Integrity, Observation, PfcFault, PortTrace,
    Provenance, Relay, Touched,
};
use rig_dut::control::{ControlError, Order};
use rig_dut::{Control as _, Emulated};
use rig_frames::ip::Ecn;
use rig_generator::{PacedStream, Program};
use rig_lab::{Declared, Policy, Setting};
use rig_oracle::model::packet::Packet;
use rig_oracle::model::tap::{self, Tap};
use rig_oracle::model::{PacketKind, host, middlebox, nic};
use rig_testcases::{
    Action, Container, EndpointSpec, FlowSpec, Injection, IpVersion, MacsecMode, PfcFrames, Script,
    Takes, Which,
};
use rig_units::{Apart, Dur, PortSpeed, Quanta, Time};

/// A device under test in virtual time, and the rig's ports cabled to it.
#[derive(Debug)]
pub struct VirtualLab {
    dut: Emulated,
    cable: Dur,
    /// What is between the rig and each NIC that is under test, in the order of its ports, where that stands behind other devices.
    relays: Vec<Vec<Relay>>,
    /// How far the clock of such a NIC and the rig's may be apart.
    apart: Apart,
    /// As far off as this its stamps are taken to be.
    provenance: Provenance,
    /// Where the draws of the rig itself come from.
    seed: u64,
    /// First id of the next trial's streams, so that a frame of an earlier trial is never taken for one of a later. Ids
    /// wrap around after thousands of trials, when nothing of the first is left.
    next_id: u16,
    /// Whether no trial has been run.
    fresh: bool,
    /// Where every frame of the next trial goes, too.
    pub(super) spool: Option<Onto>,
    /// Every frame of the last one, if it went anywhere.
    pub(super) spooled: Option<Spooled>,
}

/// Id of PFC frames that are sent by hand, above those of the script's storms.
const BY_HAND: u16 = u16::MAX;

impl VirtualLab {
    /// A session with a device that was just configured. What the rig itself leaves to chance is drawn from `seed`.
    pub fn new(dut: Emulated, cable: Dur, seed: u64) -> VirtualLab {
        let (relays, spool, spooled) = (Vec::new(), None, None);
        let (apart, provenance) = (Apart::NOT, Provenance::Virtual);
        let (next_id, fresh) = (0, true);
        VirtualLab { dut, cable, relays, apart, provenance, seed, next_id, fresh, spool, spooled }
    }

    /// The same with stamps that are taken to be off by as much as this at most.
    pub fn stamped(self, bound: Dur) -> VirtualLab {
        let provenance = match bound {
            Dur::ZERO => Provenance::Virtual,
            bound => Provenance::Software { bound },
        };
        VirtualLab { provenance, ..self }
    }

    /// The same, and each NIC under test, whose clock and the rig's may be `apart`, stands behind `relays`: in the order of its ports.
    pub fn behind(self, relays: Vec<Vec<Relay>>, apart: Apart) -> VirtualLab {
        VirtualLab { relays, apart, ..self }
    }

    /// The present, on the clock of the session.
    pub fn now(&self) -> Time {
        self.dut.now()
    }

    /// Lets time pass, unless `stop` hurries. What the rig's ports see meanwhile belongs to no trial.
    pub fn idle_until(&mut self, at: Time, stop: &Stop) {
        self.dut.run_until(at, &mut Deaf(stop));
    }

    /// Makes the rig's ports speak MACsec as peers of the device, where it does. Packet numbers go on from trial to trial.
    fn secure(&mut self, script: &Script, declared: &Declared) {
        let Some(macsec) = declared.switch().map(|switch| &switch.macsec) else { return };
        for (port, &behind) in (0..).zip(&script.dut_ports) {
            let EndpointSpec { pfc, pn, .. } = script.endpoint(port);
            let security = host::Security {
                an: macsec.encoding_sa,
                next_pn: pn,
                encrypted: macsec.policy == Policy::Security,
                sci: macsec.send_sci,
                pfc: macsec.sent(),
                obeys: host::Obeys {
                    clear: pfc != Takes::Encrypted,
                    encrypted: pfc != Takes::Clear,
                },
            };
            self.dut.rig().secure(behind, macsec.enable.then_some(security));
        }
    }

    /// Runs one trial from now on. The counters called `read` are read on the way, which changes nothing else.
    ///
    /// # Errors
    /// What the script asks of a port that no port can do.
    pub fn trial(
        &mut self,
        script: &Script,
        declared: &Declared,
        read: &[String],
        stop: &Stop,
    ) -> Result<Observation, Broken> {
        let speeds = speeds(script, declared);
        let program = Program::of(script, &speeds).map_err(Broken::Impossible)?;
        let origin = self.now();
        self.dut.order(Order::ClearWatermarks)?;
        let (before, _) = self.dut.stirred();
        let _earlier = self.dut.events()?;
        let spool = self.spool.take().map(|onto| Spool::create(onto, script));
        let said = self.dut.rig().said();
        let recorder = Recorder::new(stop, (origin, self.next_id), script, spool).reading(said);
        if self.fresh {
            self.fresh = false;
            self.secure(script, declared);
        }
        let (sampler, config) = (Sampler::new(read, script.length), Vec::new());
        let mut trial =
            Trial { lab: self, script, program: &program, recorder, sampler, config, undone: None };
        trial.behave(|port| script.endpoint(port));
        trial.bridge();
        trial.run(origin);
        trial.behave(|_| EndpointSpec::default());
        let injected = trial.unbridge(origin);
        let Trial { recorder, sampler, config, undone, .. } = trial;
        if stop.hurried() {
            recorder.abandon();
            return Err(Broken::Stopped);
        }
        if let Some(error) = undone {
            recorder.abandon();
            return Err(error.into());
        }
        self.next_id = self.next_id.wrapping_add(recorder.used());
        let hosts = host_reports(&mut self.dut, script, (&recorder, origin));
        let ended = ended_flows(&self.dut, script, &recorder);
        let TrialRecord { records, streams, loads, unrecorded, spool } = recorder.finish();
        self.spooled = spool.map(Spool::finish);
        let since =
            |event: DutEvent| Some(DutEvent { at: Time(event.at.since(origin)?.0), ..event });
        let events = Some(self.dut.events()?.into_iter().filter_map(since).collect());
        let ports = script.dut_ports.iter().zip(&script.ports).zip(speeds).map(
            |((&index, name), speed)| PortTrace {
                name: name.clone(),
                speed,
                dut_port: self.dut.port_name(index),
                cable: self.cable,
                provenance: self.provenance,
                sees_tags: true,
                approach: None,
            },
        );
        let mut ports: Vec<PortTrace> = ports.collect();
        for (at, (trace, &behind)) in (0..).zip(ports.iter_mut().zip(&script.dut_ports)) {
            let Some(relays) = self.relays.get(usize::from(behind)) else { continue };
            let way = (relays.clone(), self.apart);
            trace.approach = Some(Approach::of(trace.speed, way, at, &records));
        }
        let (after, at_rest) = self.dut.stirred();
        let mut counters = Counters::read(before, after).but_for(at_rest);
        counters.samples = sampler.finish();
        ended.into_iter().for_each(|(host, id)| self.dut.rig().end_flow(host, id));
        Ok(Observation {
            origin,
            length: script.length,
            ports,
            records,
            streams,
            loads,
            counters,
            events,
            hosts,
            config,
            injected,
            integrity: Integrity { unrecorded, ..Integrity::default() },
        })
    }
}

/// Speed of every rig port: that of the device's port behind it.
pub fn speeds(script: &Script, declared: &Declared) -> Vec<PortSpeed> {
    let behind = |port: &u16| declared.port_speed(*port).unwrap_or(PortSpeed::G100);
    script.dut_ports.iter().map(behind).collect()
}

/// Hears nothing.
struct Deaf<'a>(&'a Stop);

impl Tap for Deaf<'_> {
    fn frame(&mut self, _: Time, _: u16, _: tap::Dir, _: &Packet) {}

    fn is_over(&self) -> bool {
        self.0.hurried()
    }
}

/// One trial under way.
struct Trial<'a, 's> {
    lab: &'a mut VirtualLab,
    script: &'a Script,
    program: &'a Program,
    recorder: Recorder<'s>,
    sampler: Sampler,
    config: Vec<ConfigOutcome>,
    /// Why the device did not do what a step asked of it.
    undone: Option<ControlError>,
}

impl Trial<'_, '_> {
    /// Makes each of the rig's ports the peer that `of` says.
    fn behave(&mut self, of: impl Fn(u16) -> EndpointSpec) {
        for (port, &behind) in (0..).zip(&self.script.dut_ports) {
            let EndpointSpec { obeys, response, .. } = of(port);
            self.lab.dut.rig().obey(behind, obeys, response);
        }
    }

    /// Puts the rig between two NICs, where the script has it there.
    fn bridge(&mut self) {
        if let Some((a, b, between)) = &self.script.between {
            let hosts = [*a, *b].map(|port| self.script.dut_ports[usize::from(port)]);
            self.lab.dut.rig().bridge(hosts, between.delay);
            if let Some(bottleneck) = &between.bottleneck {
                let host = self.script.dut_ports[usize::from(bottleneck.to)];
                self.lab.dut.rig().narrow(host, bottleneck, self.lab.seed);
            }
        }
    }

    /// Passes nothing on any more; what was done to frames on the way.
    fn unbridge(&mut self, origin: Time) -> Vec<Touched> {
        let port = |host: u16| {
            let found = (0..).zip(&self.script.dut_ports).find(|&(_, &behind)| behind == host);
            found.map(|(port, _)| port)
        };
        let touched = self.lab.dut.rig().unbridge().into_iter();
        let told = |one: middlebox::Touched| {
            let at = Time(one.at.since(origin)?.0);
            let middlebox::Touched { host, injection, what, .. } = one;
            Some(Touched { at, port: port(host)?, injection, what })
        };
        touched.filter_map(told).collect()
    }

    /// Goes on with another association at every port of the rig: what a key server would tell both ends.
    fn rekey(&mut self, an: u8) {
        for &behind in &self.script.dut_ports {
            self.lab.dut.rig().rekey(behind, an);
        }
    }

    fn run(&mut self, origin: Time) {
        for step in &self.script.steps {
            self.pass(origin, step.at);
            if self.recorder.is_over() {
                return;
            }
            self.recorder.event(step.at);
            self.act(&step.action);
            self.sampler.read(step.at, &mut self.lab.dut);
        }
        self.pass(origin, self.script.length);
        self.sampler.read(self.script.length, &mut self.lab.dut);
        // What still runs stops here; frames under way belong to no trial.
        for stream in 0..self.script.streams.len() {
            self.act(&Action::StopStream(index(stream)));
        }
        for storm in 0..self.script.storms.len() {
            self.act(&Action::StopStorm(index(storm)));
        }
    }

    /// Lets time pass until `until` of the trial, reading counters on the way.
    fn pass(&mut self, origin: Time, until: Dur) {
        while let Some(due) = self.sampler.due_before(until) {
            self.lab.dut.run_until(origin + due, &mut self.recorder);
            self.sampler.read(due, &mut self.lab.dut);
        }
        self.lab.dut.run_until(origin + until, &mut self.recorder);
    }

    fn act(&mut self, action: &Action) {
        let behind = |port: u16| self.script.dut_ports[usize::from(port)];
        match action {
            Action::StartStream(stream) => {
                let from = behind(self.script.streams[usize::from(*stream)].from);
                let stream = self.stream(*stream);
                self.lab.dut.rig().start_stream(from, &stream);
            }
            Action::StopStream(stream) => {
                let from = behind(self.script.streams[usize::from(*stream)].from);
                for id in self.recorder.ids(*stream) {
                    self.lab.dut.rig().stop_stream(from, id);
                }
            }
            Action::StartFlow(flow) => self.start_flow(*flow),
            Action::StopFlow(flow) => {
                let host = self.nic(self.script.flows[usize::from(*flow)].nic);
                let ids: Vec<u16> = self.recorder.ids(self.script.connection(*flow)).collect();
                for id in ids {
                    self.lab.dut.rig().stop_flow(host, id);
                }
            }
            Action::StartStorm(storm) => {
                let spec = &self.script.storms[usize::from(*storm)];
                let pfc = Pfc {
                    id: *storm,
                    enable: spec.classes,
                    quanta: spec.quanta,
                    every: spec.every,
                    macsec_mode: spec.macsec,
                };
                self.lab.dut.rig().start_storm(behind(spec.from), &pfc.times(None));
            }
            Action::StopStorm(storm) => {
                let from = behind(self.script.storms[usize::from(*storm)].from);
                self.lab.dut.rig().stop_storm(from, *storm);
            }
            Action::Pfc(frames) => {
                let PfcFrames { from, enable, quanta, count, every, macsec, odd } = *frames;
                if let Some(fault) = PfcFault::of(odd) {
                    let zero = if quanta.0 == 0 { enable } else { 0 };
                    let mut frame = Packet::pfc(enable, zero, quanta, host::PFC_SIZE);
                    frame.stream = BY_HAND;
                    let frame = frame.with_record(true).with_fault(fault);
                    return self.lab.dut.rig().send(behind(from), frame);
                }
                let pfc = Pfc { id: BY_HAND, enable, quanta, every, macsec_mode: macsec };
                self.lab.dut.rig().start_storm(behind(from), &pfc.times(Some(count)));
            }
            Action::LinkDown(port) => self.lab.dut.set_link(behind(*port), false),
            Action::LinkUp(port) => self.lab.dut.set_link(behind(*port), true),
            Action::Configure(setting) => {
                let refused = self.lab.dut.set(core::slice::from_ref(setting)).err();
                let refused = refused.map(|refused| refused.to_string());
                let taken = refused.is_none();
                self.config.push(ConfigOutcome { setting: setting.clone(), refused });
                if let Some(an) = association(setting).filter(|_| taken) {
                    self.rekey(an);
                }
            }
            Action::Device(verb) => {
                let done = self.lab.dut.order(Order::from(*verb));
                self.undone = self.undone.take().or(done.err());
            }
        }
    }

    /// The host of the engine that is the NIC behind a rig port.
    fn nic(&self, port: u16) -> u16 {
        self.lab.dut.nic_host(self.script.dut_ports[usize::from(port)])
    }

    fn start_flow(&mut self, flow: u16) {
        let spec = &self.script.flows[usize::from(flow)];
        let (host, behind) = (self.nic(spec.nic), self.script.dut_ports[usize::from(spec.to)]);
        let far = if spec.nic == spec.to { behind } else { self.nic(spec.to) };
        let dst = host::at(far, spec.address);
        let connection = self.script.connection(flow);
        let leads = self.script.flow_of(connection).is_none_or(|(lead, _)| lead == flow);
        let id = match self.recorder.names(connection) {
            // Another step of an application begins by the queue pair of its first.
            Some(names) if !leads => names,
            _ => self.recorder.begin(connection, 0),
        };
        let verb = nic::Verb::from(spec.verb);
        let FlowSpec { message, mtu, count, psn, class, dscp, .. } = *spec;
        if let Some((_, _, between)) = self.script.between.as_ref().filter(|_| leads) {
            for one in between.inject.iter().filter(|one| one.on == connection) {
                let which = match one.which {
                    // In the case it counts from the flow's first packet.
                    Which::Psn(nth) => Which::Psn(psn.wrapping_add(nth) & 0xff_ffff),
                    other => other,
                };
                let injection = Injection { on: id, which, ..one.clone() };
                self.lab.dut.rig().inject(injection, self.lab.seed);
            }
        }
        let takes_over = spec.container.takes_over;
        let before = takes_over.and_then(|of| self.recorder.names(self.script.connection(of)));
        let container = Container { takes_over: before, ..spec.container };
        let (ect, pcp) = (true, spec.vlan.map(|tag| tag.pcp.get()));
        let (over, gid) = (spec.over, spec.gid);
        let flow = nic::Flow {
            id,
            verb,
            message,
            mtu,
            count,
            psn,
            dst,
            class,
            dscp,
            pcp,
            over,
            gid,
            ect,
            container,
        };
        match spec.app {
            Some(step) => self.lab.dut.rig().start_step(host, &flow, step),
            None => self.lab.dut.rig().start_flow(host, &flow),
        }
    }

    /// The stream of the model that stands for a stream of the script, with the number of its next frame.
    fn stream(&mut self, stream: u16) -> host::Stream {
        let spec = &self.script.streams[usize::from(stream)];
        let paced = self.program.ports[usize::from(spec.from)].streams.iter();
        let paced = paced.copied().find(|paced| paced.index == stream);
        let PacedStream { pace, recorded, .. } =
            paced.expect("a program has every stream of its script");
        let to_nic = spec.is_to_nic();
        let (id, names, first) = match (spec.of, to_nic) {
            // CNPs name the connection that they are for; before it has begun, none.
            (Some(of), _) => {
                let id = self.recorder.start(stream);
                (id, self.recorder.names(of).unwrap_or(id), 0)
            }
            (None, true) => self.recorder.start_to_nic(stream),
            (None, false) => {
                let id = self.recorder.start(stream);
                (id, id, 0)
            }
        };
        let dst = if to_nic {
            host::at(self.nic(spec.to), spec.gid)
        } else {
            self.script.dut_ports[usize::from(spec.to)]
        };
        host::Stream {
            id,
            kind: if spec.of.is_some() { PacketKind::Cnp } else { PacketKind::Data },
            names,
            first,
            class: spec.class,
            dscp: spec.dscp,
            size: u16::try_from(spec.size.0).unwrap_or(u16::MAX),
            pace,
            dst,
            count: spec.count.map(|frames| u32::try_from(frames).unwrap_or(u32::MAX)),
            ect: spec.ecn != Ecn::NotEct,
            ce: spec.ecn == Ecn::Ce,
            record: recorded,
            pcp: spec.vlan.map(|tag| tag.pcp.get()),
            macsec_mode: spec.macsec,
            address: match spec.over {
                IpVersion::V4 => spec.address,
                IpVersion::V6 => host::over_v6(spec.address),
            },
        }
    }
}

/// PFC frames that a port repeats.
struct Pfc {
    id: u16,
    enable: u8,
    quanta: Quanta,
    every: Dur,
    macsec_mode: MacsecMode,
}

impl Pfc {
    /// So many of them, or until stopped.
    fn times(self, count: Option<u32>) -> host::Storm {
        let Pfc { id, enable, quanta, every, macsec_mode } = self;
        let zero = if quanta.0 == 0 { enable } else { 0 };
        host::Storm { id, enable, zero, quanta, every, count, macsec_mode }
    }
}

/// The association that a setting goes on with, if it is that.
pub(super) fn association(setting: &Setting) -> Option<u8> {
    let an = (setting.path == "macsec.encoding_sa").then(|| setting.value.as_u64())?;
    an.and_then(|an| u8::try_from(an).ok())
}

fn index(n: usize) -> u16 {
    u16::try_from(n).unwrap_or(u16::MAX)
}
