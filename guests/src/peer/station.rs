//! The thread that moves frames between an interface and the responders behind it.

use super::converse::{Converse, Converses};
use super::way::{Onward, Treatment, Underway};
use super::{AskedCounts, Conduct, Midway, QpPair, Responder, ResponderCounts, RuleKind};
use crate::GuestFault;
use core::net::IpAddr;
use core::time::Duration;
use rig_frames::ethernet;
use rig_frames::ip::Ip;
use rig_frames::packet::{self, Packet, RoceFrame};
use rig_frames::psn::Psn;
use rig_frames::roce::{Opcode, Qpn};
use rig_frames::{MacAddr, udp};
use rig_generator::clock::{Clock as _, Wall};
use rig_generator::netlab::Namespace;
use rig_generator::port::{Backend, Config, Port, PortError, RealTime};
use rig_units::{Dur, Time};
use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
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
    /// What the rig asked of its own.
    pub asked: AskedCounts,
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

impl Exchanged {
    /// What a peer has refused, if it has: with that all that the rig had to say there is over. Or that it has brought what no right one does.
    pub fn refused(&self) -> Option<String> {
        let told = |of: &PeerCounts| {
            let AskedCounts { refused, odd, answered, .. } = of.asked;
            let peer = of.ends.peer.get();
            if let Some(why) = refused {
                return Some(format!("queue pair {peer:#x} refused: {why:?}"));
            }
            (odd > 0).then(|| {
                format!("queue pair {peer:#x}: of {answered} words to which one was added {odd} were not one more than the word before")
            })
        };
        self.connections.iter().find_map(told)
    }
}

/// Where each frame of RoCE is told: when, whether the rig sent it, its bytes without FCS. What a rule loses is not told, nor what
/// is lost on the way to the NIC.
pub type FrameTap = Box<dyn FnMut(Time, bool, &[u8]) + Send>;

/// What the thread is told of a connection.
#[derive(Debug)]
enum Told {
    /// Its ends, how the rig behaves at its own, and what it sends there by itself.
    Met(QpPair, Conduct, Option<Converses>),
    /// The peer of this queue pair of the rig's is ready.
    Ready(Qpn),
}

/// The thread, under way.
#[derive(Debug)]
pub struct Station {
    new: Sender<Told>,
    over: Mutex<Receiver<Qpn>>,
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
        let (tells, over) = mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let _nobody_reads_it = socket;
            let mut work = Work {
                port,
                clock: Wall::start(),
                met,
                tells,
                nic: None,
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
        Ok(Station { new, over: Mutex::new(over), stop, thread })
    }

    /// Answers for a connection from here on, in this way, and sends there what it `converses` with.
    ///
    /// # Errors
    /// The thread has given up.
    pub fn meet(
        &self,
        ends: QpPair,
        conduct: Conduct,
        converses: Option<Converses>,
    ) -> Result<(), GuestFault> {
        self.tell(Told::Met(ends, conduct, converses))
    }

    /// The peer of the rig's queue pair `own` is ready: what the rig has to begin with there leaves.
    ///
    /// # Errors
    /// The thread has given up.
    pub fn ready(&self, own: Qpn) -> Result<(), GuestFault> {
        self.tell(Told::Ready(own))
    }

    /// Waits so long at most for a connection on which the rig has said all that it was to say there, and heard that it came: its queue pair.
    pub fn waits(&self, at_most: Duration) -> Option<Qpn> {
        let over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        over.recv_timeout(at_most).ok()
    }

    fn tell(&self, told: Told) -> Result<(), GuestFault> {
        self.new.send(told).map_err(|gone| GuestFault::failed("answer for a connection", gone))
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
    /// Whether it was told that all was said there.
    is_over: bool,
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
    met: Receiver<Told>,
    /// Where it is told that all was said on a connection.
    tells: Sender<Qpn>,
    /// The Ethernet addresses of the rig and of the NIC, off the last frame that came.
    nic: Option<(MacAddr, MacAddr)>,
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
            let mut ready = Vec::new();
            while let Ok(told) = self.met.try_recv() {
                match told {
                    Told::Met(ends, conduct, converses) => {
                        self.way.met(&ends);
                        self.lines.push(Line::new(ends, conduct, converses));
                    }
                    Told::Ready(own) => ready.push(own),
                }
            }
            for (at, frame) in arrived.drain(..) {
                self.take(at, frame);
            }
            let now = self.clock.now();
            ready.into_iter().for_each(|own| self.begin(now, own));
            self.say_again(now);
            while let Some((_, request, spoilt)) = self.inward.arrived(now) {
                self.answer(now, &request, spoilt);
            }
            self.send(&mut bytes)?;
            if frames == 0 {
                let due = [self.inward.next_due(), self.outward.next_due()];
                let again = self.lines.iter().map(|line| line.converse.as_ref()?.due());
                let due = due.into_iter().chain(again).flatten().min();
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
        let of = |line: Line| {
            let asked = line.converse.as_ref().map(Converse::asked).unwrap_or_default();
            PeerCounts { taken: line.responder.taken(), asked, ..line.moved }
        };
        let connections = self.lines.into_iter().map(of).collect();
        Exchanged { connections, lost: self.lost, late: self.late }
    }

    /// What the rig has to begin with on a connection is on its way.
    fn begin(&mut self, now: Time, own: Qpn) {
        let line = self.lines.iter_mut().find(|line| line.ends.own == own);
        // Its peer has said over this line that it is ready.
        let (Some(line), Some((from, to))) = (line, self.nic) else { return };
        let path = line.ends.path(from, to);
        let begins = line.converse.iter_mut().flat_map(|converse| converse.begins(now, path));
        let begins = begins.collect();
        self.outward(now, begins);
    }

    /// What has waited too long for an answer is on its way once more.
    fn say_again(&mut self, now: Time) {
        let talks = self.lines.iter_mut().flat_map(|line| line.converse.as_mut());
        let again = talks.flat_map(|converse| converse.again(now)).collect();
        self.outward(now, again);
    }

    /// An answer of the NIC's to what the rig has asked on a line.
    fn hear(&mut self, now: Time, index: usize, answer: &RoceFrame) {
        let sent = self.lines[index].converse.as_mut().map(|converse| converse.hears(now, answer));
        self.outward(now, sent.unwrap_or_default());
        self.look(index);
    }

    /// Tells whoever waits for it that all was said on a line, once.
    fn look(&mut self, index: usize) {
        let line = &mut self.lines[index];
        let is_over = line.converse.as_ref().is_some_and(Converse::is_over);
        if is_over && !line.is_over {
            // Nobody waits for it where the rig answers alone.
            let _told = self.tells.send(line.ends.own);
            line.is_over = true;
        }
    }

    fn outward(&mut self, now: Time, frames: Vec<RoceFrame>) {
        for frame in frames {
            let treatment = self.way.passes(now, Onward::Nic, &frame);
            self.outward.take(now, treatment, frame);
        }
    }

    fn take(&mut self, at: Time, mut bytes: Vec<u8>) {
        let link = ethernet::Repr::parse(&bytes).ok().map(|(link, _)| (link.dst, link.src));
        self.nic = link.filter(|(own, _)| own.0[0] & 1 == 0).or(self.nic);
        let Ok(Packet::Roce { frame, icrc_ok }) = packet::parse(&bytes) else { return };
        let line = self.lines.iter_mut().enumerate().find(|(_, line)| line.is_of(&frame));
        let Some((index, line)) = line else {
            (self.record)(at, false, &bytes);
            return;
        };
        if !is_request(frame.bth.opcode) {
            (self.record)(at, false, &bytes);
            if icrc_ok {
                self.hear(self.clock.now(), index, &frame);
            }
            return;
        }
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
            answers.extend(converse.behind(now, &request.frame, line.responder.taken()));
        }
        self.outward(now, answers);
        self.look(request.line);
    }

    fn send(&mut self, bytes: &mut Vec<u8>) -> Result<(), PortError> {
        let tx = &mut self.port.tx;
        let mut first = None;
        let now = self.clock.now();
        while self.outward.next_due().is_some_and(|due| due <= now) {
            let Some(mut slot) = tx.alloc() else { break };
            let Some((due, frame, spoilt)) = self.outward.arrived(now) else { break };
            frame.emit_into(bytes);
            for converse in self.lines.iter().filter_map(|line| line.converse.as_ref()) {
                converse.number(&frame, bytes);
            }
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
    fn new(ends: QpPair, conduct: Conduct, converses: Option<Converses>) -> Line {
        let moved = PeerCounts {
            ends,
            taken: ResponderCounts::default(),
            requests: 0,
            dropped: 0,
            wrong_icrc: 0,
            withheld: 0,
            asked: AskedCounts::default(),
        };
        let responder = Responder::new(ends, conduct.ack_every);
        let converse = converses.map(|converses| Converse::new(ends, converses));
        let copies = BTreeMap::new();
        Line { ends, conduct, responder, converse, is_over: false, unready: None, copies, moved }
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
