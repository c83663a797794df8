//! A session with the NIC of a guest: its trials, each one run of perftest there.

use super::super::injector::Injector;
use super::super::ledger::{Ledger, TrialRecord};
use super::super::virtual_lab::speeds;
use super::super::wire::broken::Broken;
use super::machine::GuestNics;
use super::server::ServerNics;
use super::side_by_side;
use super::starved::Starved;
use super::streams;
use super::tape::{Across, Tape, TapedWay};
use crate::stop::Stop;
use core::time::Duration;
use rig_capture::pcapng::{Onto, Spool, Spooled};
use rig_capture::{
    Counters, DutWaits, Integrity, Lateness, Observation, PortTrace, Provenance, Touched,
};
use rig_dut::control::{Lost, Readings, Refused};
use rig_dut::host::{Counted, knobs_at, knobs_of};
use rig_dut::{Control as _, PerftestControl};
use rig_generator::clock::{Clock as _, Wall};
use rig_guests::guest::DRIVER;
use rig_guests::peer::Conduct;
use rig_guests::{Came, ENDS, FlowsOver, GuestFault, HwCounters, Perftest, PerftestHost};
use rig_lab::{Declared, IpVersion, OtherEnd, Setting};
use rig_oracle::trials::seed::Seed;
use rig_testcases::{Action, FlowSpec, Script, Verb};
use rig_units::{Dur, PortSpeed, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Whose NIC sends the flows.
#[derive(Debug, Clone)]
pub enum FlowNics {
    /// A guest's, with the rig or another guest at the other end.
    Guests(GuestNics),
    /// A server's, with the rig or another server at the other end.
    Servers(ServerNics),
}

impl FlowNics {
    pub(super) fn bound(&self) -> Dur {
        match self {
            FlowNics::Guests(nics) => nics.bound,
            FlowNics::Servers(nics) => nics.bound,
        }
    }

    fn other_end(&self) -> OtherEnd {
        match self {
            FlowNics::Guests(nics) if nics.other.is_some() => OtherEnd::Nic,
            FlowNics::Servers(nics) if nics.other.is_some() => OtherEnd::Nic,
            FlowNics::Guests(_) | FlowNics::Servers(_) => OtherEnd::Rig,
        }
    }

    pub(super) fn over(&self) -> FlowsOver {
        match self {
            FlowNics::Guests(GuestNics { over: IpVersion::V6, .. }) => FlowsOver::V6,
            FlowNics::Guests(_) => FlowsOver::V4,
            FlowNics::Servers(nics) => nics.nic.over(),
        }
    }
}

/// What its own settings are told to a server, for each NIC: each field that perftest does not set. None in a guest, where nothing else is set.
fn knobs(
    nics: &FlowNics,
    (declared, settings): (&Declared, &[Setting]),
) -> Result<[Vec<String>; 2], Broken> {
    let FlowNics::Servers(_) = nics else { return Ok([const { Vec::new() }; 2]) };
    let (mut whole, mut asked) = (declared.clone(), [const { Vec::new() }; 2]);
    let refused = |why: String| Broken::Refused(Refused { why });
    for setting in settings {
        whole = whole.with(setting).map_err(|bad| refused(bad.to_string()))?;
        if PerftestControl::with(declared, setting, nics.other_end()).is_err() {
            let of_peer = setting.path.starts_with("peer.");
            asked[usize::from(of_peer)].push(setting.path.as_str());
        }
    }
    let [own, peers] = asked.map(|asked| knobs_at(&whole, &asked).map_err(refused));
    Ok([own?, peers?])
}

/// What is known of a trial beside the frames of its ledger.
#[derive(Debug)]
pub(super) struct Beside {
    /// When it began, on the clock of the session.
    pub(super) origin: Time,
    /// What the NICs counted.
    pub(super) counters: Counters,
    /// What was done to frames on purpose.
    pub(super) injected: Vec<Touched>,
    /// Frames that ports of the rig lost.
    pub(super) lost: u64,
    /// By how much the latest of the rig's own frames was late, and who sent it; none where the rig sends nothing that has a time.
    pub(super) late: Option<(Dur, &'static str)>,
    /// What kept a guest waiting.
    pub(super) waits: DutWaits,
}

/// A NIC that is not the rig's in one configuration.
#[derive(Debug)]
pub struct GuestLab {
    pub(super) nics: FlowNics,
    control: PerftestControl,
    /// What it is set to, whoever set it.
    configured: Declared,
    cable: Dur,
    clock: Wall,
    /// What the rig leaves to chance is drawn from it, and from how many trials there were.
    seed: Seed,
    trials: u32,
    /// Where every frame of the next trial goes once it is over.
    pub spool: Option<Onto>,
    /// Every frame of the last one.
    pub spooled: Option<Spooled>,
}

impl GuestLab {
    /// A session with the NIC that is declared so, with `settings` on top.
    ///
    /// # Errors
    /// Nothing here can set one of them.
    pub fn boot(
        nics: FlowNics,
        (declared, settings): (&Declared, &[Setting]),
        (cable, seed): (Dur, u64),
    ) -> Result<GuestLab, Broken> {
        let other_end = nics.other_end();
        let whole = settings.iter().try_fold(declared.clone(), |whole, one| whole.with(one));
        let configured = whole.map_err(|bad| Broken::Refused(Refused { why: bad.to_string() }))?;
        let mut control = PerftestControl::of(declared.clone(), other_end);
        let asked = knobs(&nics, (declared, settings))?;
        let [own_knobs, peers] = &asked;
        let own = |setting: &&Setting| {
            asked.iter().all(Vec::is_empty)
                || PerftestControl::with(declared, setting, other_end).is_ok()
        };
        control.set(&settings.iter().filter(own).cloned().collect::<Vec<_>>())?;
        if let FlowNics::Servers(servers) = &nics {
            servers.nic.set(own_knobs, &knobs_of(&configured, 0))?;
            match &servers.other {
                Some(other) => other.set(peers, &knobs_of(&configured, 1))?,
                // The rig's own responder has none, and no case that asks for one comes here.
                None => debug_assert!(peers.is_empty(), "{peers:?}"),
            }
        }
        let clock = Wall::start();
        let seed = Seed::of_run(seed);
        let (spool, spooled) = (None, None);
        Ok(GuestLab { nics, control, configured, cable, clock, seed, trials: 0, spool, spooled })
    }

    /// The present, on the clock of the session.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Runs one trial from now on: the flow that the script starts, or those that do not end by themselves; the streams where it has none.
    ///
    /// # Errors
    /// The guest is lost, perftest does not come about, or `stop` hurried.
    pub fn trial(
        &mut self,
        script: &Script,
        declared: &Declared,
        stop: &Stop,
    ) -> Result<Observation, Broken> {
        if script.flows.is_empty() {
            return streams::trial(self, (script, declared), stop);
        }
        if side_by_side::is_of(script) {
            return side_by_side::trial(self, (script, declared), stop);
        }
        let (flow, spec) = started(script)?;
        let connection = script.connection(flow);
        let origin = self.now();
        let spool = self.spool.take().map(|onto| Spool::held(onto, script));
        let ledger = Ledger::new(script).onto(spool);
        let inject = script.between.as_ref().map(|(_, _, between)| between.inject.as_slice());
        let injector =
            Injector::new(inject.unwrap_or_default(), &self.seed.split(&self.trials.to_string()));
        self.trials += 1;
        let until = Time::ZERO + script.length;
        let tape = Arc::new(Mutex::new(Tape::new((connection, spec), ledger, injector, until)));
        let session = self.perftest(spec, script.length);
        let ran = match &self.nics {
            FlowNics::Guests(nics) => in_guests(nics, &session, &tape, (origin, script.length)),
            FlowNics::Servers(ServerNics { nic, other, .. }) => {
                let [port, others] = [0, 1].map(|end| declared.name_of(end));
                let ran = match other {
                    None => nic.at(&port, |host| run(&session, host, &tape)),
                    Some(other) => nic.at_both(other, [&port, &others], |[client, server]| {
                        session.run_between([client, server], Box::new(Across(Arc::clone(&tape))))
                    }),
                };
                // What keeps a server from its work is its own.
                ran.map(|(came, last)| (came, Read::Terms(last), DutWaits::default()))
            }
        };
        let tape = Arc::into_inner(tape).and_then(|tape| tape.into_inner().ok());
        let tape = tape.ok_or_else(|| Broken::Device("a thread holds the frames".to_owned()))?;
        let had = |(came, read, waits)| Ok((had(came, &tape)?, read, waits));
        let (came, read, waits) = match ran.and_then(had) {
            Ok(done) if !stop.hurried() => done,
            failed => {
                tape.ledger.abandon();
                return Err(failed.err().unwrap_or(Broken::Stopped));
            }
        };
        let Tape { ledger, injector, went_on, .. } = tape;
        let files = [Some(&came.counters), came.other.as_ref()];
        let counters = counted(files, &read, declared, went_on);
        let sender = match self.nics.other_end() {
            OtherEnd::Rig => "the rig's end of the connection",
            OtherEnd::Nic => "the rig between the NICs",
        };
        let beside = Beside {
            origin,
            counters,
            injected: injector.touched(),
            lost: came.passed.lost,
            late: Some((came.passed.late, sender)),
            waits,
        };
        Ok(self.observed((script, declared), ledger, beside))
    }

    /// The trial, with all that was recorded of it. Its ledger is done; every frame of it is this session's last spool.
    pub(super) fn observed(
        &mut self,
        (script, declared): (&Script, &Declared),
        ledger: Ledger,
        beside: Beside,
    ) -> Observation {
        let TrialRecord { records, streams, loads, unrecorded, spool } = ledger.finish();
        self.spooled = spool.map(Spool::finish);
        let bound = self.nics.bound();
        let late = beside.late.filter(|(by, _)| *by > bound);
        let late =
            late.map(|(by, sender)| Lateness { at: Time::ZERO, by, sender: sender.to_owned() });
        Observation {
            origin: beside.origin,
            length: script.length,
            ports: self.ports(script, declared),
            records,
            streams,
            loads,
            counters: beside.counters,
            events: None,
            hosts: None,
            injected: beside.injected,
            config: Vec::new(),
            integrity: Integrity {
                lost: beside.lost,
                unrecorded,
                late: late.into_iter().collect(),
                waits: beside.waits,
                ..Integrity::default()
            },
        }
    }

    /// The ports of a trial.
    fn ports(&self, script: &Script, declared: &Declared) -> Vec<PortTrace> {
        let bound = self.nics.bound();
        let ports = script.dut_ports.iter().zip(&script.ports).zip(speeds(script, declared));
        let ports = ports.map(|((&index, name), speed)| PortTrace {
            name: name.clone(),
            speed,
            dut_port: declared.name_of(index),
            cable: self.cable,
            provenance: Provenance::Software { bound },
            sees_tags: false,
            approach: None,
        });
        ports.collect()
    }

    /// The speed of the NIC's port.
    pub(super) fn speed(&self) -> PortSpeed {
        self.configured.port_speed(0).unwrap_or(PortSpeed::G100)
    }

    /// What the NIC is set to.
    pub(super) const fn configured(&self) -> &Declared {
        &self.configured
    }

    /// What is set of it by what a connection brings along.
    pub(super) const fn control(&self) -> &PerftestControl {
        &self.control
    }

    /// The client that makes a flow.
    pub(super) fn perftest(&self, spec: &FlowSpec, length: Dur) -> Perftest {
        let program = match spec.verb {
            Verb::Send
            | Verb::SendRegistered
            | Verb::SendImmediate
            | Verb::SendInvalidate
            | Verb::SendUnreliable
            | Verb::Datagram => "ib_send_bw",
            Verb::Write | Verb::WriteImmediate | Verb::WriteUnreliable => "ib_write_bw",
            Verb::FetchAdd | Verb::CompareSwap => "ib_atomic_bw",
            Verb::Read => "ib_read_bw",
        };
        let count = spec.count.unwrap_or_default();
        let FlowSpec { message, mtu, .. } = spec;
        let timeout = self.control.timeout();
        let mut flags = format!("-n {count} -s {message} -m {mtu} -u {timeout}");
        if spec.verb == Verb::Read {
            // A flow's messages come one after the other; perftest would ask for many at a time.
            flags += " -o 1";
        }
        Perftest {
            program: program.to_owned(),
            flags: flags.split(' ').map(str::to_owned).collect(),
            conduct: Conduct { rules: Vec::new(), ack_every: self.control.ack_every() },
            over: self.nics.over(),
            patience: Duration::from_nanos(length.0 / 1_000),
        }
    }
}

/// The one flow that a script starts.
fn started(script: &Script) -> Result<(u16, &FlowSpec), Broken> {
    let flows: Vec<u16> = script
        .steps
        .iter()
        .filter_map(|step| match step.action {
            Action::StartFlow(flow) => Some(flow),
            _ => None,
        })
        .collect();
    match flows.as_slice() {
        [flow] => Ok((*flow, &script.flows[usize::from(*flow)])),
        all => Err(Broken::Device(format!("{} flows at a time in a guest: want one", all.len()))),
    }
}

/// A run of perftest in a guest, or between two of them, from `origin` on for so long.
fn in_guests(
    nics: &GuestNics,
    session: &Perftest,
    tape: &Arc<Mutex<Tape>>,
    (origin, length): (Time, Dur),
) -> Result<(Came, Read, DutWaits), Broken> {
    let mut waits = DutWaits::default();
    let bears = nics.nic.bears();
    let came = match &nics.other {
        None => nics.nic.with(|guest| {
            let starved = Starved::watch(Some(guest), bears, origin);
            let came = run(session, guest, tape);
            waits = starved.until(origin, length);
            came
        }),
        Some(other) => nics.nic.with_both(other, |guests| {
            let starved = [0, 1].map(|of| Starved::watch(Some(&*guests[of]), bears, origin));
            let [client, server] = guests;
            let came = session.run_between([client, server], Box::new(Across(Arc::clone(tape))));
            let all = starved.map(|starved| starved.until(origin, length));
            waits.clone_from(&all[0]);
            waits.stretches = all.into_iter().flat_map(|waits| waits.stretches).collect();
            waits.stretches.sort_by_key(|wait| wait.at);
            came
        }),
    };
    Ok((came?, Read::Files, waits))
}

fn run(
    session: &Perftest,
    host: &mut dyn PerftestHost,
    tape: &Arc<Mutex<Tape>>,
) -> Result<Came, GuestFault> {
    let (saw, between) = (Arc::clone(tape), TapedWay(Arc::clone(tape)));
    let record = move |at, by_rig, bytes: &[u8]| {
        saw.lock().unwrap_or_else(PoisonError::into_inner).saw(at, (0, by_rig), bytes);
    };
    session.run_through(host, (Box::new(record), Box::new(between)))
}

/// By which names a run has the counters of its NICs.
pub(super) enum Read {
    /// Those of the files of a guest's driver.
    Files,
    /// The rig's own; with what was read last.
    Terms(Readings),
}

/// What the NICs counted during one run, by the rig's terms. Where frames `went_on` behind the trial's end, what of it is the trial's
/// nobody knows.
pub(super) fn counted(
    files: [Option<&HwCounters>; 2],
    read: &Read,
    declared: &Declared,
    went_on: bool,
) -> Counters {
    let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
    let (mut vendor, mut absent) = (BTreeMap::new(), BTreeMap::new());
    for (port, files) in (0..).zip(files) {
        let Some(HwCounters { before: first, after: last }) = files else { continue };
        let port = declared.name_of(port);
        let of = |values: &BTreeMap<String, u64>| match read {
            Read::Files => Counted::of_hw_counters(DRIVER, values).readings(&port),
            Read::Terms(last) => Readings { values: values.clone(), ..last.clone() },
        };
        let [first, last] = [of(first), of(last)];
        before.extend(first.values);
        after.extend(last.values);
        vendor.extend(last.vendor);
        absent.extend(last.absent);
    }
    // One that is less than it was has begun anew: by how much it grew nobody knows, either.
    let unsure =
        |name: &String, now: &u64| went_on || before.get(name).is_some_and(|was| was > now);
    let moving: BTreeSet<String> = after
        .iter()
        .filter(|(name, now)| unsure(name, now))
        .map(|(name, _)| name.clone())
        .collect();
    for gone in &moving {
        before.remove(gone);
        after.remove(gone);
        vendor.remove(gone);
    }
    let mut counters = Counters::read(before, after);
    (counters.vendor, counters.absent) = (Arc::new(vendor), Arc::new(absent));
    counters.moving = Arc::new(moving);
    counters
}

/// That a program came as far as to have its connection. One that was ended with the trial, or whose connection broke, did.
fn had(came: Came, tape: &Tape) -> Result<Came, Broken> {
    let told = |what: &str| {
        let said = came.ran.lines.join("\n");
        let also = came.unfinished.as_deref().unwrap_or("both sides were done");
        Broken::Device(format!("{what} (exit status {}; {also}):\n{said}", came.ran.status))
    };
    if let Some(why) = &tape.void {
        let tried = "follow the connection from its first packet on".to_owned();
        return Err(Broken::Away(Lost { tried, why: why.clone() }));
    }
    if let Some(why) = &tape.cut_short {
        return Err(Broken::Device(why.clone()));
    }
    match tape.met {
        0 if ENDS.contains(&came.ran.status) => Err(told(
            "perftest had no connection by the trial's end: give the lab a longer `trial`",
        )),
        0 if came.ran.status == 0 && came.unfinished.is_none() => Err(told(
            "no connection was heard of, and perftest had one: its two programs did not find each other through the rig",
        )),
        0 => Err(told("perftest had no connection")),
        1 => Ok(came),
        _ => Err(told("perftest asked for several connections")),
    }
}
