//! Streams of the rig to a NIC that is not its own: each goes to a server of perftest there, WRITEs to its memory and SENDs to its receive queue. The rig
//! has asked for the connection as a client does. Nobody there is told when a stream ends: the servers are ended.
//!
//! Left out: answers to a NAK. Nothing is lost on purpose, and a NIC that has missed something drops what follows, as one does whose receive queue is
//! empty: no trial is to be had of that.

use crate::GuestFault;
use crate::peer::{GoesOn, TimedFrame, TimedPassed, TimedPort, TimedTap};
use crate::perftest::{Destination, GREETINGS, Opening, TOLD, greet};
use crate::session::{ENDS, FIRST_QP, FlowsOver, PATIENCE, PORT, PerftestHost, RigEnd, rig_end};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::time::Duration;
use rig_frames::MacAddr;
use rig_frames::psn::Psn;
use rig_frames::roce::{Opcode, Qpn};
use rig_generator::clock::{Clock as _, Wall};
use rig_generator::netlab::Namespace;
use rig_units::{Dur, Time};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// How long a server may take until it listens.
const LISTENS: Dur = Dur::s(20);
/// How long one that does not listen is tried until somebody looks whether it is there at all.
const TRIES: Dur = Dur::ms(500);
/// How long it may take to answer then.
const ANSWERS: Duration = Duration::from_secs(20);
/// How long one that nobody ends goes on behind the streams' end.
const GOES_ON: Dur = Dur::s(60);
/// How often it is looked whether a server is still there.
const LOOKS: Dur = Dur::ms(100);
/// What a server of SENDs has posted at a time, which is what perftest has by itself. It posts a new one for each that it has taken.
const POSTED: u32 = 512;
/// SENDs that it takes before it is done: more than a trial has.
const TAKES: u32 = 10_000_000;

/// A stream, as a server of perftest has to know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Toward {
    /// What its packets are: a SEND Only, or a WRITE Only for anything else.
    pub opcode: Opcode,
    /// Bytes of each of its messages, which are packets.
    pub payload: u16,
    /// Number of its first packet.
    pub psn: Psn,
}

/// Where a stream goes, and by which queue pair of the rig it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sink {
    /// The rig's queue pair, its Ethernet address, and its address.
    pub own: (Qpn, MacAddr, IpAddr),
    /// The NIC's, with the memory behind it.
    pub theirs: Destination,
    /// The Ethernet address of the NIC, and its address.
    pub nic: (MacAddr, IpAddr),
}

/// What a server of perftest says to a client before anything is sent to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Greeted {
    /// Its version, as it says it.
    pub version: String,
    /// Bytes that a packet to it carries at most, of those that it was started with.
    pub mtu: u16,
    /// The address that its queue pair is reached at.
    pub address: IpAddr,
}

/// Has a server there for a moment, and greets it as a stream's client does.
///
/// # Errors
/// As [`toward`].
pub fn greeted((host, over): (&mut dyn PerftestHost, FlowsOver)) -> Result<Greeted, GuestFault> {
    let stream = Toward { opcode: Opcode::RcWriteOnly, payload: 1_024, psn: Psn::new(0) };
    let nic = host.address()?;
    let RigEnd { namespace, own, nic: flags, .. } = host.way(over)?;
    let command = server(&stream, PORT, &flags);
    let lasts = (LISTENS + GOES_ON).0 / Dur::s(1).0;
    let started = host.start(&[format!("timeout {lasts} {command}")])?;
    let lines = lines_to(host, &namespace, (&started, nic));
    let met = lines.and_then(|lines| {
        let line = lines.into_iter().next().ok_or("nothing was started there")?;
        meet(&stream, FIRST_QP, (own, line))
    });
    host.end(&started)?;
    let met = met.map_err(|why| format!("{why}{}", said(host, &command)));
    let Met { opened, theirs, .. } =
        met.map_err(|why| GuestFault::failed("greet a server of perftest", why))?;
    let version = String::from_utf8_lossy(&opened.version);
    Ok(Greeted {
        version: version.trim_end_matches('\0').escape_debug().to_string(),
        mtu: opened.mtu_bytes(),
        address: Ipv6Addr::from(theirs.gid).to_canonical(),
    })
}

/// The stream whose queue pair of the rig's this is.
pub fn stream_of(qpn: Qpn) -> Option<u16> {
    qpn.get().checked_sub(FIRST_QP).and_then(|stream| u16::try_from(stream).ok())
}

/// Has a server for each of `streams` there, and sends what `plan` makes of where they go `over`, for so long as `length`, or until `goes_on` says no.
///
/// # Errors
/// The host is lost, a server does not answer or ends before its stream does, or a port of the rig breaks.
pub fn toward(
    (host, over): (&mut dyn PerftestHost, FlowsOver),
    streams: &[Toward],
    (plan, length): (impl FnOnce(&[Sink]) -> Vec<TimedFrame> + Send, Dur),
    (record, goes_on): (TimedTap<'_>, GoesOn<'_>),
) -> Result<TimedPassed, GuestFault> {
    let nic = host.address()?;
    let RigEnd { namespace, interface, own, nic: flags, .. } = host.way(over)?;
    let lasts = (length + LISTENS + GOES_ON).0 / Dur::s(1).0;
    let commands: Vec<String> = (PORT..)
        .zip(streams)
        .map(|(port, stream)| format!("timeout {lasts} {}", server(stream, port, &flags)))
        .collect();
    let started = host.start(&commands)?;
    let opened = namespace.run(|| TimedPort::open(&interface, own));
    let opened = opened.map_err(|error| error.to_string()).and_then(|opened| opened);
    let mut all_met = false;
    let ran = opened.and_then(|mut port| {
        let lines = lines_to(host, &namespace, (&started, nic))?;
        let met = streams.iter().zip(lines).zip(FIRST_QP..);
        let met = met.map(|((stream, line), qpn)| meet(stream, qpn, (own, line)));
        // The servers have what was said to them for as long as the lines are.
        let met: Vec<Met> = met.collect::<Result<_, String>>()?;
        all_met = true;
        let (own_mac, nic_mac) = port.addresses(nic)?;
        let sinks = met.iter().map(|met| Sink {
            own: (met.own, own_mac, own),
            theirs: met.theirs,
            // Its programs are met at another one where it is of IPv6.
            nic: (nic_mac, Ipv6Addr::from(met.theirs.gid).to_canonical()),
        });
        let frames = plan(&sinks.collect::<Vec<_>>());
        let looks = AtomicU64::new(0);
        // Nothing is to be had of a NIC whose server is gone.
        let serve = |now: Time| {
            if now.0 < looks.load(Ordering::Relaxed) {
                return true;
            }
            looks.store((now + LOOKS).0, Ordering::Relaxed);
            !met.iter().any(|met| is_over(&met.line))
        };
        let goes_on = |now: Time| goes_on(now) && serve(now);
        let passed = port.run(&frames, length, (record, &goes_on))?;
        match met.iter().zip(PORT..).find(|(met, _)| is_over(&met.line)) {
            Some((_, at)) => Err(format!("perftest's server at port {at} ended before its stream")),
            None => Ok(passed),
        }
    });
    let ended = host.end(&started);
    // What it says of why it does not listen, as whoever looks there would see it. One that was met does.
    let ran = ran.map_err(|why| {
        if all_met {
            return why;
        }
        let first = streams.first().map(|stream| server(stream, PORT, &flags));
        let said = first.map(|command| said(host, &command)).unwrap_or_default();
        format!("{why}{said}")
    });
    let passed = ran.map_err(|why| GuestFault::failed("send to the NIC", why))?;
    ended.map(|()| passed)
}

/// The server of a stream.
fn server(stream: &Toward, port: u16, nic: &str) -> String {
    let (size, mtu) = (stream.payload.max(1), mtu_of(stream.payload).1);
    let (program, takes) = match stream.opcode {
        Opcode::RcSendOnly => ("ib_send_bw", format!("-n {TAKES} -r {POSTED}")),
        // Bytes of memory; perftest makes no less than five messages, and none here.
        _ => ("ib_write_bw", "-n 5".to_owned()),
    };
    format!("{program} {nic} -F --port {port} -s {size} -m {mtu} {takes}")
}

/// What a server says of why it does not listen, as whoever looks there would see it; nothing where it listens.
fn said(host: &mut dyn PerftestHost, command: &str) -> String {
    let said = host.run(&format!("timeout 10 {command}"), PATIENCE).ok();
    let said = said.filter(|said| !ENDS.contains(&said.status));
    said.map(|said| format!("; there: {}", said.lines.join("; "))).unwrap_or_default()
}

/// A server that was greeted.
struct Met {
    line: TcpStream,
    /// The rig's queue pair.
    own: Qpn,
    opened: Opening,
    theirs: Destination,
}

/// A line to each of the servers that were started there. One that has ended is not waited for.
fn lines_to(
    host: &mut dyn PerftestHost,
    namespace: &Namespace,
    (started, nic): (&[u32], Ipv4Addr),
) -> Result<Vec<(SocketAddr, TcpStream)>, String> {
    let line = |(number, port): (&u32, u16)| {
        let at = SocketAddr::new(IpAddr::V4(nic), port);
        let clock = Wall::start();
        loop {
            let tried = namespace.run(|| connected(at)).map_err(|error| error.to_string())?;
            let error = match tried {
                Ok(line) => return Ok((at, line)),
                Err(error) => error,
            };
            let has_ended = host.has_ended(*number).map_err(|fault| fault.to_string())?;
            if has_ended || clock.now() > Time::ZERO + LISTENS {
                return Err(format!("perftest's server at {at}: {error}"));
            }
        }
    };
    started.iter().zip(PORT..).map(line).collect()
}

/// Asks a server for a connection, as a client does.
fn meet(
    stream: &Toward,
    own: u32,
    (address, (at, mut line)): (IpAddr, (SocketAddr, TcpStream)),
) -> Result<Met, String> {
    let of = |why: String| format!("perftest's server at {at}: {why}");
    let set = line.set_nodelay(true).and_then(|()| line.set_read_timeout(Some(ANSWERS)));
    set.map_err(|error| of(error.to_string()))?;
    let qpn = Qpn::new(own).ok_or_else(|| of("no queue pair is left".to_owned()))?;
    let opening = Opening::of_rig(mtu_of(stream.payload).0);
    let ours = rig_end((qpn, stream.psn), address, 1);
    let times = if stream.opcode == Opcode::RcSendOnly { GREETINGS } else { TOLD };
    let met = greet(&mut line, &opening, (&[ours], times), |_, _| Ok(()));
    let (opened, all) = met.map_err(|error| of(error.to_string()))?;
    let theirs = *all.first().ok_or_else(|| of("it has no queue pair".to_owned()))?;
    Ok(Met { line, own: qpn, opened, theirs })
}

/// Whether a server has hung up: it says nothing while messages go to it.
pub(crate) fn is_over(line: &TcpStream) -> bool {
    let looked = line.set_nonblocking(true).and_then(|()| line.peek(&mut [0]));
    !looked.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

/// The least path MTU that a payload fits into: its number, and its bytes.
fn mtu_of(payload: u16) -> (u8, u16) {
    let mut fits = (1..=5).map(|number: u8| (number, 128_u16 << number));
    fits.find(|(_, bytes)| payload <= *bytes).unwrap_or((5, 4_096))
}

/// A line to a program that may not listen yet.
fn connected(at: SocketAddr) -> io::Result<TcpStream> {
    let clock = Wall::start();
    loop {
        match TcpStream::connect_timeout(&at, ANSWERS) {
            Ok(line) => return Ok(line),
            Err(error) if clock.now() > Time::ZERO + TRIES => return Err(error),
            Err(_) => pause(Duration::from_millis(50)),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "what is waited for is another process")]
fn pause(length: Duration) {
    thread::sleep(length);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_memory_for_a_message_of_one_packet() {
        assert_eq!(
            [0, 256, 257, 946, 4_096, 9_000].map(|payload| mtu_of(payload).1),
            [256, 256, 512, 1_024, 4_096, 4_096]
        );
        let stream = Toward { opcode: Opcode::RcWriteOnly, payload: 946, psn: Psn::new(7) };
        assert_eq!(
            server(&stream, 18_516, "-d mlx5_0 -x 3"),
            "ib_write_bw -d mlx5_0 -x 3 -F --port 18516 -s 946 -m 1024 -n 5"
        );
        // What SENDs go to is posted again as it is taken, for longer than any trial.
        let stream = Toward { opcode: Opcode::RcSendOnly, ..stream };
        assert_eq!(
            server(&stream, 18_516, "-d mlx5_0 -x 3"),
            "ib_send_bw -d mlx5_0 -x 3 -F --port 18516 -s 946 -m 1024 -n 10000000 -r 512"
        );
    }

    #[test]
    fn streams_are_known_by_their_queue_pairs() {
        let of = |qpn| Qpn::new(qpn).and_then(stream_of);
        assert_eq!(
            [FIRST_QP - 1, FIRST_QP, FIRST_QP + 7, 0x0fff_ffff & 0xff_ffff].map(of),
            [None, Some(0), Some(7), None]
        );
    }
}
