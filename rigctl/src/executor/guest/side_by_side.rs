//! A trial of flows that have always something to send: for each a client of perftest, side by side, with the rig at the other end of all.
//!
//! It begins with the first packet of the one that comes last: what passed before that belongs to it as little as what passes behind its end.
//!
//! That they have something to send nobody sees, so no trial is to be had where that is in doubt: where the rig's acknowledgements are far behind, without which a
//! client stops, and where all of them together fill neither the port nor their limits, as of a server whose processor or bus is slower than its port.
//! So a NIC that leaves a part of its port idle is not told from such a server. Nor is there one of packets of another class than the case has.

use super::super::ledger::Ledger;
use super::super::wire::broken::Broken;
use super::lab::{Beside, FlowNics, GuestLab, Read, counted};
use super::path_mtu::PathMtu;
use super::starved::Starved;
use crate::stop::Stop;
use core::time::Duration;
use rig_capture::decode::{roce_kind, roce_of};
use rig_capture::pcapng::Spool;
use rig_capture::{Dir, DutWaits, Observation, Record, Unit, What};
use rig_dut::control::Lost;
use rig_frames::packet::{self, Packet, RoceFrame};
use rig_frames::psn::Psn;
use rig_generator::clock::{Clock as _, Wall};
use rig_guests::peer::{Conduct, Midway, Onward, QpPair, Treatment};
use rig_guests::{CameBeside, GuestFault, Perftest, PerftestHost, side_by_side, stream_of};
use rig_lab::{Declared, Interfaces};
use rig_testcases::{Action, FlowSpec, Roce, RoceKind, Script};
use rig_units::{Apart, Bytes, Dur, L1_OVERHEAD, PortSpeed, Time};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How long clients may take until each of them sends.
const CONNECTS: Dur = Dur::s(30);
/// Messages that a client has posted at a time, which is what perftest has by itself. For each that is acknowledged it posts another one.
const POSTED: u32 = 128;
/// What a packet has beside its payload, at most: Ethernet, IPv6, UDP, BTH, RETH, ICRC and FCS, preamble and gap.
const HEADERS: u32 = 118;

/// Runs it.
///
/// # Errors
/// As [`GuestLab::trial`]; a flow that does not come about, or that the rig held up.
pub(super) fn trial(
    lab: &mut GuestLab,
    (script, declared): (&Script, &Declared),
    stop: &Stop,
) -> Result<Observation, Broken> {
    let origin = lab.now();
    let spool = lab.spool.take().map(|onto| Spool::held(onto, script));
    let flows = started(script);
    let clients: Vec<Perftest> = flows.iter().map(|(_, spec)| client(lab, spec, script)).collect();
    let owed = Owed::of(lab, &flows, script.length);
    let seen = Seen::new(script, &flows, (Ledger::new(script).onto(spool), owed));
    let seen = Arc::new(Mutex::new(seen));
    let runs = |host: &mut dyn PerftestHost| run(host, &clients, (&seen, script.length), stop);
    let ran = match &lab.nics {
        FlowNics::Guests(nics) => {
            let mut waits = DutWaits::default();
            let ran = nics.nic.with(|guest| {
                let starved = Starved::watch(Some(guest), nics.nic.bears(), origin);
                let came = runs(guest);
                // Those before the trial, too: when that began nobody here knows.
                waits = starved.until(origin, CONNECTS + script.length);
                came
            });
            ran.map(|came| (came, Read::Files, waits))
        }
        FlowNics::Servers(nics) => {
            let ran = nics.nic.at(&declared.name_of(0), |host| runs(host));
            // What keeps a server from its work is its own.
            ran.map(|(came, last)| (came, Read::Terms(last), DutWaits::default()))
        }
    };
    let seen = Arc::into_inner(seen).and_then(|seen| seen.into_inner().ok());
    let seen = seen.ok_or_else(|| Broken::Device("a thread holds the frames".to_owned()))?;
    let ran = ran.and_then(|(came, read, waits)| {
        seen.whole(&came, &flows).map_or(Ok((came, read, waits)), Err)
    });
    let (came, read, waits) = match ran {
        Ok(done) if !stop.hurried() => done,
        failed => {
            seen.ledger.abandon();
            return Err(failed.err().unwrap_or(Broken::Stopped));
        }
    };
    // What they have counted is of more than the trial.
    let counters = counted([Some(&came.counters), None], &read, declared, true);
    let beside = Beside {
        origin,
        counters,
        injected: Vec::new(),
        lost: came.passed.lost,
        // What is too late of the rig's is told by what it acknowledges.
        late: None,
        waits,
    };
    Ok(lab.observed((script, declared), seen.ledger, beside))
}

/// The flows that a script starts, each with its connection.
fn started(script: &Script) -> Vec<(u16, &FlowSpec)> {
    let flows = script.steps.iter().filter_map(|step| match step.action {
        Action::StartFlow(flow) => Some(flow),
        _ => None,
    });
    flows
        .filter_map(|flow| Some((script.connection(flow), script.flows.get(usize::from(flow))?)))
        .collect()
}

/// Whether a script starts flows that do not end by themselves.
pub(super) fn is_of(script: &Script) -> bool {
    let flows = started(script);
    !flows.is_empty() && flows.iter().all(|(_, spec)| spec.count.is_none())
}

/// The client that makes a flow, for as long as it is asked.
fn client(lab: &GuestLab, spec: &FlowSpec, script: &Script) -> Perftest {
    let lasts = (CONNECTS + script.length).0.div_ceil(Dur::s(1).0);
    let FlowSpec { message, mtu, class, dscp, .. } = spec;
    let (timeout, tclass) = (lab.control().timeout(), u32::from(*dscp) << 2);
    let flags = format!(
        "-D {lasts} -s {message} -m {mtu} -u {timeout} -S {class} --tclass {tclass} -t {POSTED} -Q 1"
    );
    Perftest {
        flags: flags.split(' ').map(str::to_owned).collect(),
        // As often as it asks for.
        conduct: Conduct { rules: Vec::new(), ack_every: None },
        patience: Duration::from_secs(lasts),
        ..lab.perftest(spec, script.length)
    }
}

/// Runs them until the trial is over.
fn run(
    host: &mut dyn PerftestHost,
    clients: &[Perftest],
    (seen, length): (&Arc<Mutex<Seen>>, Dur),
    stop: &Stop,
) -> Result<CameBeside, GuestFault> {
    let (heard, way) = (Arc::clone(seen), Met(Arc::clone(seen)));
    let record =
        move |at, by_rig, bytes: &[u8]| locked(&heard, |seen| seen.passed(at, by_rig, bytes));
    let clock = Wall::start();
    let goes_on = || {
        let in_time = clock.now() < Time::ZERO + CONNECTS + length;
        in_time && !stop.hurried() && !locked(seen, |seen| seen.is_over)
    };
    side_by_side(host, clients, (Box::new(record), Box::new(way)), &goes_on)
}

fn locked<T>(seen: &Mutex<Seen>, with: impl FnOnce(&mut Seen) -> T) -> T {
    with(&mut seen.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The way to the rig's end, on which all passes.
struct Met(Arc<Mutex<Seen>>);

impl Midway for Met {
    fn met(&mut self, ends: &QpPair) {
        locked(&self.0, |seen| seen.met(ends));
    }

    fn passes(&mut self, _: Time, _: Onward, _: &RoceFrame) -> Treatment {
        Treatment::Passes
    }

    fn arrived(&mut self, _: Time, _: &RoceFrame, _: bool) {}
}

/// One flow.
#[derive(Debug)]
struct Line {
    name: String,
    connection: u16,
    /// The number of its first packet, as the case has it.
    first: u32,
    path_mtu: PathMtu,
    dscp: u8,
    /// Most packets on the way of which its client has surely posted more.
    most: u32,
    ends: Option<QpPair>,
    sends: bool,
    /// The number behind the last one that the rig has acknowledged.
    acknowledged: Psn,
}

/// What flows carry together that have always something to send.
#[derive(Debug)]
struct Owed {
    /// Bits a second on the wire: the port's, or less where the class of each is limited.
    rate: u64,
    /// Bytes in the trial at the least: as far as stamps tell its ends, by the slower of two clocks, and less what its bandwidths are declared to be off.
    least: Bytes,
}

impl Owed {
    fn of(lab: &GuestLab, flows: &[(u16, &FlowSpec)], length: Dur) -> Owed {
        let configured = lab.configured();
        let speed = configured.port_speed(0).map_or(0, PortSpeed::bps);
        let ets = configured.nics().map(|nics| &nics.nic.ets);
        let limit = |class: u8| {
            let own = *ets?.priorities.as_ref()?.get(usize::from(class))?;
            Some((own, ets?.limits.as_ref()?.get(&own)?.bps))
        };
        let limits: Option<BTreeMap<u8, u64>> =
            flows.iter().map(|(_, spec)| limit(spec.class)).collect();
        let rate = limits.map_or(speed, |limits| limits.values().sum::<u64>().min(speed));
        let surely = length.saturating_sub(lab.nics.bound() * 2);
        let bytes = u128::from(rate) * u128::from(surely.0) / 8_000_000_000_000;
        // One under way at either end, of each.
        let ends: u64 = flows.iter().map(|(_, spec)| 2 * u64::from(spec.mtu + HEADERS)).sum();
        let whole = u64::try_from(bytes).unwrap_or(u64::MAX);
        let precision = ets.and_then(|ets| ets.precision).map_or(0, |off| off.0);
        let off = u64::try_from(bytes * u128::from(precision) / 1_000_000).unwrap_or(u64::MAX);
        let clocks = Apart::of(configured.clock(), Interfaces::CLOCK).part(whole);
        let left_open = ends.saturating_add(clocks).saturating_add(off);
        Owed { rate, least: Bytes(whole.saturating_sub(left_open)) }
    }

    /// Why `carried` bytes in `length` are too few to say that they had; `None` where they are not.
    fn unfilled(&self, carried: Bytes, length: Dur) -> Option<String> {
        let bits = u128::from(carried.0) * 8_000_000_000_000 / u128::from(length.0.max(1));
        let got = u64::try_from(bits).unwrap_or(u64::MAX);
        let [got, owed] = [got, self.rate].map(|bps| Unit::Bps.show(bps));
        (carried < self.least).then(|| {
            format!("the flows did not fill the port: {got} of {owed}, be it for the NIC or for the server")
        })
    }
}

/// What passed in the trial.
#[derive(Debug)]
struct Seen {
    lines: Vec<Line>,
    owed: Owed,
    /// Bytes of data on the wire.
    carried: Bytes,
    ledger: Ledger,
    length: Dur,
    /// When the last of them began to send.
    begun: Option<Time>,
    is_over: bool,
    /// Why what passed says nothing of the NIC.
    void: Option<String>,
    /// Why packets are not as long as the case has them.
    cut_short: Option<String>,
}

impl Seen {
    fn new(script: &Script, flows: &[(u16, &FlowSpec)], (ledger, owed): (Ledger, Owed)) -> Seen {
        let line = |&(connection, spec): &(u16, &FlowSpec)| Line {
            name: spec.name.clone(),
            connection,
            first: spec.psn,
            path_mtu: PathMtu::of(spec),
            dscp: spec.dscp,
            most: POSTED / 2 * spec.message.div_ceil(spec.mtu.max(1)).max(1),
            ends: None,
            sends: false,
            acknowledged: Psn::new(0),
        };
        let lines = flows.iter().map(line).collect();
        Seen {
            lines,
            owed,
            carried: Bytes(0),
            ledger,
            length: script.length,
            begun: None,
            is_over: false,
            void: None,
            cut_short: None,
        }
    }

    /// A client has its connection, which its place says.
    fn met(&mut self, ends: &QpPair) {
        let line = stream_of(ends.own).and_then(|place| self.lines.get_mut(usize::from(place)));
        if let Some(line) = line {
            line.acknowledged = ends.peer_psn;
            line.ends = Some(*ends);
            self.cut_short = self.cut_short.take().or_else(|| line.path_mtu.missed(ends.mtu));
        }
    }

    /// A frame passed the rig's port.
    fn passed(&mut self, at: Time, by_rig: bool, bytes: &[u8]) {
        let Ok(Packet::Roce { frame, icrc_ok }) = packet::parse(bytes) else { return };
        let Some(kind) = roce_kind(&frame, None) else { return };
        let Ok(size) = u16::try_from(frame.size().0) else { return };
        let to = |ends: &QpPair| if by_rig { ends.peer } else { ends.own };
        let is_of = |line: &&mut Line| line.ends.is_some_and(|ends| to(&ends) == frame.bth.dest_qp);
        let Some(line) = self.lines.iter_mut().find(is_of) else { return };
        let roce = roce_of(&frame, kind, size);
        let is_data = matches!(kind, RoceKind::Data { .. }) && !by_rig;
        if is_data && !line.sends {
            line.sends = true;
            if self.lines.iter().all(|line| line.sends) {
                self.begun = Some(at);
            }
        }
        let Some(line) = self.lines.iter_mut().find(is_of) else { return };
        let Some(ends) = line.ends else { return };
        if by_rig && matches!(kind, RoceKind::Ack) {
            line.acknowledged = frame.bth.psn.advance(1);
        }
        let Some(since) = self.begun.and_then(|begun| at.since(begun)) else { return };
        if since > self.length {
            self.is_over = true;
            return;
        }
        if is_data {
            self.carried = self.carried + Bytes(size.into()) + L1_OVERHEAD;
            self.void = self.void.take().or_else(|| line.void(frame.bth.psn, roce.dscp));
        }
        let number = frame.bth.psn.get().wrapping_sub(ends.peer_psn.get());
        let psn = line.first.wrapping_add(number) & 0xff_ffff;
        let what = What::Roce(Roce { connection: line.connection, psn, corrupt: !icrc_ok, ..roce });
        let dir = if by_rig { Dir::Tx } else { Dir::Rx };
        let at = Time::ZERO + since;
        self.ledger.saw(Record { at, port: 0, dir, what, secured: None, vlan: None });
    }

    /// Why nothing is told of a trial; `None`: it came about.
    fn whole(&self, came: &CameBeside, flows: &[(u16, &FlowSpec)]) -> Option<Broken> {
        if let Some(why) = &self.cut_short {
            return Some(Broken::Device(why.clone()));
        }
        let away = |why| Some(Broken::Away(Lost { tried: "measure the NIC".to_owned(), why }));
        let unfilled = || self.owed.unfilled(self.carried, self.length).filter(|_| self.is_over);
        if let Some(why) = self.void.clone().or_else(unfilled) {
            return away(why);
        }
        if self.is_over {
            return None;
        }
        let kept = self.lines.iter().find(|line| !line.sends && line.ends.is_some());
        if let (None, Some(line)) = (&came.ended, kept) {
            // Others may go ahead of it, as those of a strict class do.
            return away(format!("{} has its connection, and sent nothing in time", line.name));
        }
        let name = |place: usize| flows.get(place).map_or("a flow", |(_, spec)| spec.name.as_str());
        let silent = self.lines.iter().find(|line| !line.sends);
        let why = match (&came.ended, silent) {
            (Some((place, why)), _) => {
                format!("perftest's client of {} ended before the trial did: {why}", name(*place))
            }
            (None, Some(line)) => {
                format!("perftest's client of {} sent nothing within {CONNECTS}", line.name)
            }
            (None, None) => "nothing came at the trial's end".to_owned(),
        };
        Some(Broken::Device(why))
    }
}

impl Line {
    /// Why this packet of it says nothing of the NIC.
    fn void(&self, psn: Psn, dscp: u8) -> Option<String> {
        let Line { name, most, .. } = self;
        if dscp != self.dscp {
            let want = self.dscp;
            return Some(format!("packets of {name} have DSCP {dscp}, and {want} was asked for"));
        }
        let ahead = psn.ahead_of(self.acknowledged).is_some_and(|ahead| ahead > *most);
        ahead.then(|| {
            format!(
                "the rig acknowledged {name} too late: more than {most} packets were on the way"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_says_something_while_its_client_has_surely_more_and_in_its_class() {
        let line = Line {
            name: "bulk".to_owned(),
            connection: 0,
            first: 0,
            path_mtu: PathMtu { mtu: 1_024, message: 65_536 },
            dscp: 26,
            most: 64,
            ends: None,
            sends: true,
            acknowledged: Psn::new(0xff_fff0),
        };
        // Across the end of numbers.
        assert_eq!(line.void(Psn::new(0x30), 26), None);
        let why = line.void(Psn::new(0x31), 26).expect("one packet more");
        assert!(why.contains("acknowledged bulk too late: more than 64 packets"), "{why}");
        // One that was acknowledged before comes again.
        assert_eq!(line.void(Psn::new(0xff_ffef), 26), None);
        let why = line.void(Psn::new(0), 24).expect("another class");
        assert!(why.contains("packets of bulk have DSCP 24, and 26 was asked for"), "{why}");
    }

    #[test]
    fn flows_that_carry_a_byte_less_than_they_owe_say_nothing() {
        let owed = Owed { rate: 10_000_000, least: Bytes(1_249_000) };
        assert_eq!(owed.unfilled(Bytes(1_249_000), Dur::s(1)), None);
        let why = owed.unfilled(Bytes(1_248_999), Dur::s(1)).expect("a byte less");
        assert!(why.contains("did not fill the port: "), "{why}");
    }
}
