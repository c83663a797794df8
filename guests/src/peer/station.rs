//! The thread that moves frames between an interface and the responders behind it.

use super::converse::Converse;
use super::way::{Onward, Treatment, Underway};
use super::{Conduct, Midway, QpPair, Responder, ResponderCounts, RuleKind};
use crate::GuestFault;
use core::net::IpAddr;
use rig_frames::ip::Ip;
use rig_frames::packet::{self, Packet, RoceFrame};
use rig_frames::psn::Psn;
use rig_frames::roce::Opcode;
use rig_frames::udp;
use rig_generator::clock::{Clock as _, Wall};
use rig_generator::netlab::Namespace;
use rig_generator::port::{Backend, Config, Port, PortError, RealTime};
use rig_units::{Dur, Time};
use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

/// How long the thread sleeps where nothing comes.
pub(super) const NAP: Dur = Dur::ms(5);
/// Frames that can wait to leave: a long READ is answered at a stretch.
pub(super) const SLOTS: u32 = 4_096;

/// What became of one connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerCounts {
    /// Its two ends.
    pub ends: QpPair,
    /// What its responder took.
    pub taken: ResponderCounts,
    /// Packets of requests that arrived, whatever was done to them.
    pub requests: u64,
    /// Of those, the ones that a rule lost.
    pub dropped: u64,
    /// Those whose ICRC was wrong, which a responder drops.
    pub wrong_icrc: u64,
    /// Answers that a rule lost.
    pub withheld: u64,
}

/// Everything that passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchanged {
    /// Connections, in the order in which they were met.
    pub connections: Vec<PeerCounts>,
    /// Frames that the port lost on the way in or out: with any, no count is right.
    pub lost: u64,
    /// How long after it was due the latest of the rig's own frames had left.
    pub late: Dur,
}

/// Where each frame of RoCE is told: when, whether the rig sent it, its bytes without FCS. What a rule loses is not told, nor what
/// is lost on the way to the NIC.
pub type FrameTap = Box<dyn FnMut(Time, bool, &[u8]) + Send>;

/// The thread, under way.
#[derive(Debug)]
pub struct Station {
    new: Sender<(QpPair, Conduct, bool)>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Exchanged, GuestFault>>,
}

impl Station {
    /// Opens `interface` and begins to answer for connections as they are met.
    ///
    /// # Errors
    /// The port does not open, or another has UDP port 4791.
    pub fn start(
        namespace: &Namespace,
        interface: &str,
        own: IpAddr,
        (record, way): (FrameTap, Box<dyn Midway>),
    ) -> Result<Station, GuestFault> {
        let config = Config { backend: Backend::AfPacket, slots: SLOTS, ..Config::new(interface) };
        let opened = namespace.run(|| {
            // The kernel would tell a NIC that nobody listens.
            let socket =
                UdpSocket::bind((own, udp::ROCE_PORT)).map_err(|error| error.to_string())?;
            let port = Port::open(&config).map_err(|error| error.to_string())?;
            Ok((port, socket))
        });
        let opened = opened.map_err(|error| error.to_string()).and_then(|opened| opened);
        let (port, socket) = opened
            .map_err(|why| GuestFault::failed(format!("send and receive by {interface}"), why))?;
        let (new, met) = mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let _nobody_reads_it = socket;
            let mut work = Work {
                port,
                clock: Wall::start(),
                met,
                lines: Vec::new(),
                inward: Underway::new(),
                outward: Underway::new(),
                lost: 0,
                late: Dur::ZERO,
                record,
                way,
            };
            // Without the permission frames leave late now and then, which is measured.
            let _real_time = RealTime::enter();
            let done = work.run(&stopped);
            done.map_err(|error| GuestFault::failed("move frames", error)).map(|()| work.passed())
        });
        Ok(Station { new, stop, thread })
    }

    /// Answers for a connection from here on, in this way; where it `converses`, with a SEND of the rig behind each message.
    ///
    /// # Errors
    /// The thread has given up.
    pub fn meet(&self, ends: QpPair, conduct: Conduct, converses: bool) -> Result<(), GuestFault> {
        self.new
            .send((ends, conduct, converses))
            .map_err(|gone| GuestFault::failed("answer for a connection", gone))
    }

    /// Ends it; what passed.
    ///
    /// # Errors
    /// The port gave up meanwhile.
    pub fn finish(self) -> Result<Exchanged, GuestFault> {
        self.stop.store(true, Ordering::SeqCst);
        let done = self.thread.join();
        done.unwrap_or_else(|_| Err(GuestFault::failed("move frames", "the thread panicked")))
    }
}

/// One connection.
struct Line {
    ends: QpPair,
    conduct: Conduct,
    responder: Responder,
    /// Who sends where the peer waits for that.
    converse: Option<Converse>,
    /// The number that it was not ready for, until that comes again: nothing else is taken.
    unready: Option<Psn>,
    /// Copies of each packet that arrived, by its number from the first.
    copies: BTreeMap<u32, u32>,
    moved: PeerCounts,
}

/// A request on its way to the responder of a line.
#[derive(Clone)]
struct Request {
    line: usize,
    frame: RoceFrame,
    withhold: bool,
}

struct Work {
    port: Port,
    clock: Wall,
    met: Receiver<(QpPair, Conduct, bool)>,
    lines: Vec<Line>,
    inward: Underway<Request>,
    outward: Underway<RoceFrame>,
    lost: u64,
    late: Dur,
    record: FrameTap,
    way: Box<dyn Midway>,
}

impl Work {
    fn run(&mut self, stop: &AtomicBool) -> Result<(), PortError> {
        let mut arrived = Vec::new();
        let mut bytes = Vec::new();
        while !stop.load(Ordering::SeqCst) {
            let clock = self.clock;
            let frames = self.port.rx.poll(&mut |frame, stamp| {
                arrived.push((clock.at(stamp.at), frame.to_vec()));
            })?;
            // Who is met is told before their peer is, so before any frame of theirs.
            while let Ok((ends, conduct, converses)) = self.met.try_recv() {
                self.way.met(&ends);
                self.lines.push(Line::new(ends, conduct, converses));
            }
            for (at, frame) in arrived.drain(..) {
                self.take(at, frame);
            }
            let now = self.clock.now();
            while let Some((_, request, spoilt)) = self.inward.arrived(now) {
                self.answer(now, &request, spoilt);
            }
            self.send(&mut bytes)?;
            if frames == 0 {
                let due = [self.inward.next_due(), self.outward.next_due()];
                let due = due.into_iter().flatten().min();
                let nap = due.map_or(NAP, |due| due.since(self.clock.now()).unwrap_or_default());
                if nap > Dur::ZERO {
                    self.port.rx.wait(nap.min(NAP))?;
                }
            }
        }
        let stats = self.port.rx.stats()?;
        self.lost += stats.rx_dropped;
        Ok(())
    }

    fn passed(self) -> Exchanged {
        let of = |line: Line| PeerCounts { taken: line.responder.taken(), ..line.moved };
        let connections = self.lines.into_iter().map(of).collect();
        Exchanged { connections, lost: self.lost, late: self.late }
    }

    fn take(&mut self, at: Time, mut bytes: Vec<u8>) {
        let Ok(Packet::Roce { frame, icrc_ok }) = packet::parse(&bytes) else { return };
        let line = self.lines.iter_mut().enumerate().find(|(_, line)| line.is_of(&frame));
        let Some((index, line)) = line.filter(|_| is_request(frame.bth.opcode)) else {
            (self.record)(at, false, &bytes);
            return;
        };
        line.moved.requests += 1;
        let packet = frame.bth.psn.ahead_of(line.ends.peer_psn).unwrap_or(u32::MAX);
        let copy = line.copies.entry(packet).or_default();
        *copy += 1;
        let copy = *copy;
        let ruled = |kind| line.conduct.rules.iter().any(|rule| rule.applies(kind, packet, copy));
        if ruled(RuleKind::Drop) {
            line.moved.dropped += 1;
            return;
        }
        let corrupt = ruled(RuleKind::Corrupt);
        if corrupt {
            // The last byte of the ICRC: no trailer follows what is as long as a request with data.
            if let Some(last) = bytes.last_mut() {
                *last ^= 0xff;
            }
        }
        (self.record)(at, false, &bytes);
        if corrupt || !icrc_ok {
            line.moved.wrong_icrc += 1;
            return;
        }
        let withhold = ruled(RuleKind::Withhold);
        if line.unready.is_some_and(|psn| psn != frame.bth.psn) {
            return;
        }
        line.unready = None;
        // What is at the responder before this one is taken before it.
        let now = self.clock.now();
        while let Some((_, request, spoilt)) = self.inward.arrived(at) {
            self.answer(now, &request, spoilt);
        }
        let expected = self.lines[index].responder.expects() == frame.bth.psn;
        let treatment = self.way.passes(at, Onward::Rig { expected }, &frame);
        if let Treatment::NotReady(timer) = treatment {
            let line = &mut self.lines[index];
            line.unready = Some(frame.bth.psn);
            let answer = line.responder.refuse(&frame, timer);
            return self.outward.take(at, Treatment::Passes, answer);
        }
        self.inward.take(at, treatment, Request { line: index, frame, withhold });
    }

    /// A request is at its responder: what that answers is on its way.
    fn answer(&mut self, now: Time, request: &Request, spoilt: bool) {
        self.way.arrived(now, &request.frame, spoilt);
        let line = &mut self.lines[request.line];
        if spoilt {
            line.moved.wrong_icrc += 1;
            return;
        }
        let mut answers = Vec::new();
        line.responder.on(&request.frame, &mut answers);
        if request.withhold {
            line.moved.withheld += answers.len() as u64;
            answers.clear();
        }
        if let Some(converse) = &mut line.converse {
            answers.extend(converse.behind(&request.frame, line.responder.taken()));
        }
        for answer in answers {
            let treatment = self.way.passes(now, Onward::Nic, &answer);
            self.outward.take(now, treatment, answer);
        }
    }

    fn send(&mut self, bytes: &mut Vec<u8>) -> Result<(), PortError> {
        let tx = &mut self.port.tx;
        let mut first = None;
        let now = self.clock.now();
        while self.outward.next_due().is_some_and(|due| due <= now) {
            let Some(mut slot) = tx.alloc() else { break };
            let Some((due, frame, spoilt)) = self.outward.arrived(now) else { break };
            frame.emit_into(bytes);
            if spoilt && let Some(last) = bytes.last_mut() {
                *last ^= 0xff;
            }
            tx.bytes(&mut slot)[..bytes.len()].copy_from_slice(bytes);
            tx.stage(slot, bytes.len());
            first = Some(first.unwrap_or(due).min(due));
            (self.record)(self.clock.now(), true, bytes);
        }
        tx.publish();
        self.lost += tx.kick()?.lost;
        if let Some(first) = first {
            self.late = self.late.max(self.clock.now().since(first).unwrap_or_default());
        }
        Ok(())
    }
}

impl Line {
    fn new(ends: QpPair, conduct: Conduct, converses: bool) -> Line {
        let moved = PeerCounts {
            ends,
            taken: ResponderCounts::default(),
            requests: 0,
            dropped: 0,
            wrong_icrc: 0,
            withheld: 0,
        };
        let responder = Responder::new(ends, conduct.ack_every);
        let converse = converses.then(|| Converse::new(ends));
        Line { ends, conduct, responder, converse, unready: None, copies: BTreeMap::new(), moved }
    }

    /// Whether a frame comes from the peer of this connection.
    fn is_of(&self, frame: &RoceFrame) -> bool {
        let from = match frame.path.ip {
            Ip::V4(ip) => IpAddr::V4(ip.src),
            Ip::V6(ip) => IpAddr::V6(ip.src),
        };
        from == self.ends.peer_ip && frame.bth.dest_qp == self.ends.own
    }
}

/// Whether a responder gets it.
fn is_request(opcode: Opcode) -> bool {
    !matches!(
        opcode,
        Opcode::RcReadResponseFirst
            | Opcode::RcReadResponseMiddle
            | Opcode::RcReadResponseLast
            | Opcode::RcReadResponseOnly
            | Opcode::RcAcknowledge
            | Opcode::RcAtomicAcknowledge
            | Opcode::Cnp
    )
}
