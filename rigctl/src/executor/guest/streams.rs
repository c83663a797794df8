//! A trial in which the rig sends streams to the NIC of a guest or a server, and hears what that says of them.
//!
//! Each message asks for its acknowledgement: that is how one knows that the NIC took what it was sent, without which nothing of its silence is
//! its fault.

use super::super::ledger::Ledger;
use super::super::wire::broken::Broken;
use super::lab::{Beside, FlowNics, GuestLab, Read, counted};
use super::starved::Starved;
use crate::stop::Stop;
use core::net::IpAddr;
use rig_capture::decode::{roce_kind, roce_of};
use rig_capture::pcapng::Spool;
use rig_capture::{Dir, DutWaits, Observation, Record, What};
use rig_dut::control::Lost;
use rig_frames::ip::{Ecn, Ip};
use rig_frames::packet::{self, Packet, RoceFrame};
use rig_frames::psn::Psn;
use rig_frames::roce::aeth::Syndrome;
use rig_frames::roce::{Ext, Opcode};
use rig_frames::{ipv4, ipv6};
use rig_guests::peer::TimedFrame;
use rig_guests::{
    FlowsOver, GuestFault, HwCounters, PerftestHost, Sink, Toward, stream_of, toward,
};
use rig_lab::Declared;
use rig_testcases::{Action, Roce, Script, StreamSpec, wire};
use rig_units::{Dur, PortSpeed, Time};
use std::sync::{Mutex, PoisonError};

/// How long the acknowledgement of the last message is waited for behind the trial's end.
const ACKNOWLEDGES: Dur = Dur::s(5);

/// Runs it.
///
/// # Errors
/// As [`GuestLab::trial`]; the NIC does not take what it is sent.
pub(super) fn trial(
    lab: &mut GuestLab,
    (script, declared): (&Script, &Declared),
    stop: &Stop,
) -> Result<Observation, Broken> {
    let origin = lab.now();
    let spool = lab.spool.take().map(|onto| Spool::held(onto, script));
    let heard = Mutex::new(Heard::new(script, Ledger::new(script).onto(spool)));
    let (over, speed) = (lab.nics.over(), lab.speed());
    let ran = match &lab.nics {
        FlowNics::Guests(nics) => {
            let mut waits = DutWaits::default();
            let ran = nics.nic.with(|guest| {
                let starved = Starved::watch(Some(guest), nics.nic.bears(), origin);
                let ran = sent((guest, over), (script, speed), &heard, stop);
                waits = starved.until(origin, script.length);
                ran
            });
            ran.map(|(late, files)| (late, files, Read::Files, waits))
        }
        FlowNics::Servers(nics) => {
            let ran = nics
                .nic
                .at(&declared.name_of(0), |host| sent((host, over), (script, speed), &heard, stop));
            // What keeps a server from its work is its own.
            ran.map(|((late, files), last)| (late, files, Read::Terms(last), DutWaits::default()))
        }
    };
    let heard = heard.into_inner().unwrap_or_else(PoisonError::into_inner);
    let untaken = |why: String| Broken::Away(Lost { tried: "measure the NIC".to_owned(), why });
    let ran = ran.and_then(|ran| heard.untaken().map_or(Ok(ran), |why| Err(untaken(why))));
    let ((late, lost), files, read, waits) = match ran {
        Ok(done) if !stop.hurried() => done,
        failed => {
            heard.ledger.abandon();
            return Err(failed.err().unwrap_or(Broken::Stopped));
        }
    };
    let counters = counted([Some(&files), None], &read, declared, false);
    let beside = Beside {
        origin,
        counters,
        injected: Vec::new(),
        lost,
        late: Some((late, "the rig's port")),
        waits,
    };
    Ok(lab.observed((script, declared), heard.ledger, beside))
}

/// How late the latest frame was, and how many the port lost; and what the NIC counted.
type Sent = ((Dur, u64), HwCounters);

/// Sends all streams of a script to the NIC there.
fn sent(
    (host, over): (&mut dyn PerftestHost, FlowsOver),
    (script, speed): (&Script, PortSpeed),
    heard: &Mutex<Heard<'_>>,
    stop: &Stop,
) -> Result<Sent, GuestFault> {
    let lock = || heard.lock().unwrap_or_else(PoisonError::into_inner);
    let before = host.counters()?;
    let each: Vec<Toward> = script.streams.iter().map(of).collect();
    let end = Time::ZERO + script.length;
    let mut record = |at: Time, of: Option<(u16, u32)>, bytes: &[u8]| match of {
        Some(frame) => lock().sent(at, frame),
        None => lock().came(at, bytes),
    };
    let goes_on = |now: Time| !stop.hurried() && (now <= end || !lock().is_whole());
    let plan = |sinks: &[Sink]| {
        lock().nic = sinks.first().map(|sink| sink.nic.1);
        frames(script, sinks, speed)
    };
    let lasts = script.length + ACKNOWLEDGES;
    let passed = toward((host, over), &each, (plan, lasts), (&mut record, &goes_on))?;
    let after = host.counters()?;
    Ok(((passed.late, passed.lost), HwCounters { before, after }))
}

/// What passed in the trial.
struct Heard<'s> {
    script: &'s Script,
    ledger: Ledger,
    /// The NIC's address, once it is known.
    nic: Option<IpAddr>,
    /// Of each stream the frame that left last, and the number of the last one that was acknowledged.
    ends: Vec<(Option<u32>, Option<Psn>)>,
    /// What the NIC refused, and how.
    refused: Option<String>,
}

impl<'s> Heard<'s> {
    fn new(script: &'s Script, ledger: Ledger) -> Heard<'s> {
        let ends = vec![(None, None); script.streams.len()];
        Heard { script, ledger, nic: None, ends, refused: None }
    }

    /// A frame of a stream left.
    fn sent(&mut self, at: Time, (stream, seq): (u16, u32)) {
        let index = usize::from(stream);
        let Some(spec) = self.script.streams.get(index) else { return };
        self.ends[index].0 = Some(seq);
        // As the case has it, with what a header of IPv6 has more.
        let more =
            if self.nic.is_some_and(|nic| nic.is_ipv6()) { ipv6::LEN - ipv4::LEN } else { 0 };
        let size = u16::try_from(spec.size.0 + more as u64).unwrap_or(u16::MAX);
        self.record(at, Dir::Tx, What::Data { stream, seq, size, ce: spec.ecn == Ecn::Ce });
    }

    /// A frame came; what is of no stream, or not from the NIC, or nothing that a NIC says of one, is none of the trial's.
    fn came(&mut self, at: Time, bytes: &[u8]) {
        // One that is a CNP but for its BECN is told as one with that fault.
        let parsed =
            packet::parse(bytes).or_else(|_| packet::parse(&wire::nic::with_becn(bytes.to_vec())));
        let Ok(Packet::Roce { frame, icrc_ok }) = parsed else { return };
        let from = match frame.path.ip {
            Ip::V4(ip) => IpAddr::V4(ip.src),
            Ip::V6(ip) => IpAddr::V6(ip.src),
        };
        let own = self.nic == Some(from);
        let Some(connection) = stream_of(frame.bth.dest_qp).filter(|_| own) else { return };
        let Some(end) = self.ends.get_mut(usize::from(connection)) else { return };
        let psn = frame.bth.psn.get();
        match frame.ext.aeth().map(|aeth| aeth.syndrome) {
            Some(Syndrome::Ack(_)) if icrc_ok => end.1 = Some(frame.bth.psn),
            Some(Syndrome::Nak(nak)) => {
                self.refuses(connection, &format!("refuses packet {psn}"), &format!("{nak:?}"));
            }
            Some(Syndrome::RnrNak(_)) => {
                let why = "an RNR NAK: perftest's server posts what it has taken";
                self.refuses(connection, &format!("has nothing posted for packet {psn}"), why);
            }
            _ => {}
        }
        let is_cnp = frame.bth.opcode == Opcode::Cnp;
        let fault = is_cnp.then(|| wire::nic::fault(bytes)).flatten();
        let Some(roce) = told(&frame, connection, fault) else { return };
        self.record(at, Dir::Rx, What::Roce(Roce { corrupt: !icrc_ok, ..roce }));
    }

    /// The first thing that the NIC did not take of a stream is why nothing is told of it.
    fn refuses(&mut self, connection: u16, what: &str, how: &str) {
        let name = &self.script.streams[usize::from(connection)].name;
        self.refused.get_or_insert_with(|| format!("the NIC {what} of {name}: {how}"));
    }

    fn record(&mut self, at: Time, dir: Dir, what: What) {
        if at <= Time::ZERO + self.script.length {
            self.ledger.saw(Record { at, port: 0, dir, what, secured: None, vlan: None });
        }
    }

    /// Whether every stream is acknowledged up to its last message, or something is refused.
    fn is_whole(&self) -> bool {
        self.refused.is_some() || self.open().next().is_none()
    }

    /// The streams whose last message is not acknowledged.
    fn open(&self) -> impl Iterator<Item = (&StreamSpec, Option<Psn>)> {
        let each = self.script.streams.iter().zip(&self.ends);
        each.filter_map(|(spec, (last, acknowledged))| {
            let last = Psn::new(spec.psn).advance((*last)?);
            (*acknowledged != Some(last)).then_some((spec, *acknowledged))
        })
    }

    /// Why nothing is told of a NIC that did not take what it was sent; `None`: it did.
    fn untaken(&self) -> Option<String> {
        let open = || {
            let (spec, acknowledged) = self.open().next()?;
            let up_to = acknowledged.map_or_else(
                || "acknowledges nothing".to_owned(),
                |psn| format!("acknowledges nothing behind packet {}", psn.get()),
            );
            Some(format!("the NIC {up_to} of {}: whether it took the rest nobody knows", spec.name))
        };
        self.refused.clone().or_else(open)
    }
}

/// What a frame of the NIC's is.
fn told(
    frame: &RoceFrame,
    connection: u16,
    fault: Option<rig_testcases::CnpFault>,
) -> Option<Roce> {
    let size = u16::try_from(frame.size().0).ok()?;
    let roce = roce_of(frame, roce_kind(frame, fault)?, size);
    Some(Roce { connection, psn: frame.bth.psn.get(), ..roce })
}

/// What a server has to know of a stream.
fn of(spec: &StreamSpec) -> Toward {
    let (opcode, payload) = match packet::parse(&wire::sent(spec, 0, 0, spec.size)) {
        Ok(Packet::Roce { frame, .. }) => (frame.bth.opcode, frame.payload_len),
        _ => (Opcode::RcWriteOnly, 0),
    };
    Toward { opcode, payload, psn: Psn::new(spec.psn) }
}

/// All that is sent, in order.
fn frames(script: &Script, sinks: &[Sink], speed: PortSpeed) -> Vec<TimedFrame> {
    let mut all = Vec::new();
    for ((stream, spec), sink) in (0..).zip(&script.streams).zip(sinks) {
        let (mut pace, mut due, mut seq) = (spec.pace(speed), Time::ZERO, 0);
        for (from, until) in stretches(script, stream) {
            // Where it starts again it keeps its pace.
            due = due.max(Time::ZERO + from);
            while due < Time::ZERO + until && spec.count.is_none_or(|count| u64::from(seq) < count)
            {
                let bytes = addressed(spec, (stream, seq), sink);
                let at = due.since(Time::ZERO).unwrap_or_default();
                all.extend(bytes.map(|bytes| TimedFrame { at, of: (stream, seq), bytes }));
                (due, seq) = (pace.next(due), seq + 1);
            }
        }
    }
    all.sort_by_key(|frame| frame.at);
    all
}

/// From when to when a stream sends.
fn stretches(script: &Script, stream: u16) -> Vec<(Dur, Dur)> {
    let mut all = Vec::new();
    let mut begun = None;
    for step in &script.steps {
        match step.action {
            Action::StartStream(one) if one == stream => begun = begun.or(Some(step.at)),
            Action::StopStream(one) if one == stream => {
                all.extend(begun.take().map(|from| (from, step.at)));
            }
            _ => {}
        }
    }
    all.extend(begun.map(|from| (from, script.length)));
    all
}

/// A frame as its stream has it, to where the NIC takes it.
fn addressed(spec: &StreamSpec, (stream, seq): (u16, u32), sink: &Sink) -> Option<Vec<u8>> {
    let Ok(Packet::Roce { mut frame, .. }) =
        packet::parse(&wire::sent(spec, stream, seq, spec.size))
    else {
        return None;
    };
    (frame.path.src, frame.path.dst) = (sink.own.1, sink.nic.0);
    frame.path.ip = between(frame.path.ip, (sink.own.2, sink.nic.1));
    frame.bth.dest_qp = sink.theirs.qpn;
    frame.bth.ack_req = true;
    if let Ext::Reth(reth) = &mut frame.ext {
        (reth.rkey, reth.virtual_address) = (sink.theirs.rkey, sink.theirs.virtual_address);
    }
    Some(frame.emit())
}

/// The header of a frame between these two, with what it says beside addresses.
fn between(ip: Ip, ends: (IpAddr, IpAddr)) -> Ip {
    let in_six = |ip: IpAddr| match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    match (ip, ends) {
        (Ip::V4(ip), (IpAddr::V4(src), IpAddr::V4(dst))) => Ip::V4(ipv4::Repr { src, dst, ..ip }),
        (
            Ip::V4(ipv4::Repr { dscp, ecn, .. }) | Ip::V6(ipv6::Repr { dscp, ecn, .. }),
            (src, dst),
        ) => Ip::V6(ipv6::Repr { ecn, ..ipv6::Repr::udp(in_six(src), in_six(dst), dscp) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_frames::MacAddr;
    use rig_frames::roce::Qpn;
    use rig_guests::perftest::Destination;
    use rig_testcases::{Step, StreamRate};
    use rig_units::Bytes;

    /// A probe of eight messages from the last number but one on, from 1 ms to 5 ms.
    fn script() -> Script {
        let probe = StreamSpec { psn: 0xff_fffe, ..StreamSpec::probe(0, 0) };
        let step = |at, action| Step { at: Dur::ms(at), action };
        Script {
            streams: vec![probe],
            steps: vec![step(1, Action::StartStream(0)), step(5, Action::StopStream(0))],
            length: Dur::ms(10),
            ..Script::idle(1)
        }
    }

    /// Somewhere to send to.
    fn sink() -> Sink {
        let qpn = Qpn::new(0x100).expect("24 bits");
        let theirs = Destination {
            lid: 0,
            out_reads: 1,
            qpn,
            psn: Psn::new(0),
            rkey: 1,
            virtual_address: 0,
            gid: [0; 16],
            srqn: 0,
        };
        let mac = MacAddr([2; 6]);
        let [own, nic] = ["fd00:7::1", "fd00:7::2"].map(|ip| ip.parse().expect("an address"));
        Sink { own: (qpn, mac, own), theirs, nic: (mac, nic) }
    }

    #[test]
    fn a_stream_is_taken_once_its_last_message_is_acknowledged() {
        let script = script();
        let mut heard = Heard::new(&script, Ledger::new(&script));
        assert!(heard.is_whole(), "nothing was sent");
        (0..8).for_each(|seq| heard.sent(Time::ZERO + Dur::ms(1), (0, seq)));
        let why = "the NIC acknowledges nothing of probe: whether it took the rest nobody knows";
        assert_eq!((heard.is_whole(), heard.untaken().as_deref()), (false, Some(why)));
        heard.ends[0].1 = Some(Psn::new(4));
        let why = heard.untaken().expect("one is left");
        assert!(why.contains("acknowledges nothing behind packet 4 of probe"), "{why}");
        heard.ends[0].1 = Some(Psn::new(5));
        assert_eq!((heard.is_whole(), heard.untaken()), (true, None));
        heard.refused = Some("no".to_owned());
        assert_eq!((heard.is_whole(), heard.untaken().as_deref()), (true, Some("no")));
    }

    #[test]
    fn a_load_leaves_frame_by_frame_at_its_rate_and_keeps_its_pace_over_a_stop() {
        let mut script = script();
        // 250 B and what is around them, 20 B, at 2.16 Mb/s: one in 1 ms.
        let probe = &mut script.streams[0];
        probe.rate = StreamRate::Load("2.16Mbps-L1".parse().expect("a rate"));
        probe.size = Bytes(250);
        let again = Action::StartStream(0);
        script.steps.push(Step { at: Dur::us(5_500), action: again });
        let all = frames(&script, &[sink()], PortSpeed::G100);
        let at: Vec<Dur> = all.iter().map(|frame| frame.at).collect();
        // The sixth was due at 5 ms, when it had stopped.
        let want = [1_000, 2_000, 3_000, 4_000, 5_500, 6_500, 7_500, 8_500, 9_500].map(Dur::us);
        assert_eq!(at, want);
        assert_eq!(all.last().map(|frame| frame.of), Some((0, 8)));
    }

    #[test]
    fn a_stream_sends_from_each_start_to_its_stop_and_numbers_go_on() {
        let mut script = script();
        assert_eq!(stretches(&script, 0), [(Dur::ms(1), Dur::ms(5))]);
        assert_eq!(stretches(&script, 1), []);
        script.steps.push(Step { at: Dur::ms(8), action: Action::StartStream(0) });
        assert_eq!(stretches(&script, 0)[1..], [(Dur::ms(8), Dur::ms(10))]);
    }
}
