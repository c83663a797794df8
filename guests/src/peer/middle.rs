//! The rig in the cable between two NICs: a thread that passes on all that either sends, and does to single frames of RoCE what it is told.
//!
//! Each guest's tap is in a namespace of its own, and servers are at two interfaces, so that nothing but this thread joins them. What is no RoCE passes as it is: among it may be
//! the talk of the two programs, which tells the connections that they agree on. Where they talk elsewhere the frames themselves tell them.

use super::station::{Exchanged, NAP, SLOTS};
use super::way::Underway;
use super::{Learned, Learner, QpPair, Treatment};
use crate::perftest::Overheard;
use crate::{GuestFault, RigEnd};
use rig_frames::ethernet::{self, ethertype};
use rig_frames::ipv4;
use rig_frames::packet::{self, Packet, RoceFrame};
use rig_generator::clock::{Clock as _, Wall};
use rig_generator::port::{Backend, Config, Port, PortError, RealTime, wait_any};
use rig_units::{Dur, Time};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// At which of the two guests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GuestEnd {
    /// That whose program asks.
    Client,
    /// That whose program answers.
    Server,
}

impl GuestEnd {
    const BOTH: [GuestEnd; 2] = [GuestEnd::Client, GuestEnd::Server];

    /// The other one.
    pub const fn other(self) -> GuestEnd {
        match self {
            GuestEnd::Client => GuestEnd::Server,
            GuestEnd::Server => GuestEnd::Client,
        }
    }

    const fn index(self) -> usize {
        match self {
            GuestEnd::Client => 0,
            GuestEnd::Server => 1,
        }
    }
}

/// Sees what passes between two guests, and decides what becomes of it.
pub trait GuestCrossing: Send {
    /// The programs have agreed on a connection; its frames may come from now on. The server's end is the own one.
    fn met(&mut self, ends: &QpPair);

    /// A frame that is about to pass has told this of a connection, on which nobody was heard to agree.
    fn learned(&mut self, what: &Learned);

    /// What becomes of a frame of RoCE that came from this guest at `at`. Nobody is [not ready](Treatment::NotReady) here but the guests
    /// themselves: such a frame is lost.
    fn passes(&mut self, at: Time, from: GuestEnd, frame: &RoceFrame) -> Treatment;

    /// A frame of RoCE was at the tap of this guest: the rig sent it, or the guest did. Its bytes without FCS.
    fn saw(&mut self, at: Time, tap: GuestEnd, by_rig: bool, bytes: &[u8]);
}

/// From what the rig knows the connections.
#[derive(Debug)]
pub(crate) enum Knows {
    /// From what the programs tell each other at a port of TCP.
    Talk(Overheard),
    /// From the frames.
    Frames(Learner),
}

/// The thread, under way.
#[derive(Debug)]
pub(crate) struct Middle {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Exchanged, GuestFault>>,
}

impl Middle {
    /// Opens the rig's interfaces in front of the client and of the server, and begins to pass frames on.
    ///
    /// # Errors
    /// A port does not open.
    pub(crate) fn start(
        [client, server]: [&RigEnd; 2],
        knows: Knows,
        crossing: Box<dyn GuestCrossing>,
    ) -> Result<Middle, GuestFault> {
        let ports = [opened(client)?, opened(server)?];
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread =
            thread::spawn(move || {
                let mut work = Work {
                    ports,
                    clock: Wall::start(),
                    ways: [Underway::new(), Underway::new()],
                    knows,
                    crossing,
                    lost: 0,
                    late: Dur::ZERO,
                };
                // Without the permission frames leave late now and then, which is measured.
                let _real_time = RealTime::enter();
                let done = work.run(&stopped);
                let Work { lost, late, .. } = work;
                done.map_err(|error| GuestFault::failed("pass on frames", error))
                    .map(|()| Exchanged { connections: Vec::new(), lost, late })
            });
        Ok(Middle { stop, thread })
    }

    /// Ends it; what passed. Its connections are the guests' own, and nobody here answered for one.
    ///
    /// # Errors
    /// A port gave up meanwhile.
    pub(crate) fn finish(self) -> Result<Exchanged, GuestFault> {
        self.stop.store(true, Ordering::SeqCst);
        let done = self.thread.join();
        done.unwrap_or_else(|_| Err(GuestFault::failed("pass on frames", "the thread panicked")))
    }
}

fn opened(end: &RigEnd) -> Result<Port, GuestFault> {
    let RigEnd { namespace, interface, .. } = end;
    let config = Config { backend: Backend::AfPacket, slots: SLOTS, ..Config::new(interface) };
    let port = namespace.run(|| Port::open(&config).map_err(|error| error.to_string()));
    let port = port.map_err(|error| error.to_string()).and_then(|port| port);
    port.map_err(|why| GuestFault::failed(format!("send and receive by {interface}"), why))
}

struct Work {
    /// In front of the client, and of the server.
    ports: [Port; 2],
    clock: Wall,
    /// What is on its way from each of the two.
    ways: [Underway<Vec<u8>>; 2],
    knows: Knows,
    crossing: Box<dyn GuestCrossing>,
    lost: u64,
    late: Dur,
}

impl Work {
    fn run(&mut self, stop: &AtomicBool) -> Result<(), PortError> {
        let mut arrived = Vec::new();
        while !stop.load(Ordering::SeqCst) {
            let clock = self.clock;
            for end in GuestEnd::BOTH {
                self.ports[end.index()].rx.poll(&mut |frame, stamp| {
                    arrived.push((clock.at(stamp.at), end, frame.to_vec()));
                })?;
            }
            let none = arrived.is_empty();
            // The ports are heard one after the other; an answer stays behind what it answers.
            arrived.sort_by_key(|(at, end, _)| (*at, *end));
            for (at, from, frame) in arrived.drain(..) {
                self.take(at, from, frame);
            }
            for from in GuestEnd::BOTH {
                self.send(from)?;
            }
            if none {
                let due = self.ways.iter().filter_map(Underway::next_due).min();
                let nap = due.map_or(NAP, |due| due.since(self.clock.now()).unwrap_or_default());
                if nap > Dur::ZERO {
                    let [client, server] = &self.ports;
                    wait_any(&[&*client.rx, &*server.rx], nap.min(NAP))?;
                }
            }
        }
        for port in &self.ports {
            self.lost += port.rx.stats()?.rx_dropped;
        }
        Ok(())
    }

    fn take(&mut self, at: Time, from: GuestEnd, mut bytes: Vec<u8>) {
        let way = &mut self.ways[from.index()];
        let Ok(Packet::Roce { frame, icrc_ok }) = packet::parse(&bytes) else {
            if let Knows::Talk(overheard) = &mut self.knows {
                for ends in overheard.heard(&bytes) {
                    self.crossing.met(&ends);
                }
            }
            return way.beside(at, bytes);
        };
        if let Knows::Frames(learner) = &mut self.knows
            && let Some(what) = learner.hears(from, &frame, icrc_ok)
        {
            self.crossing.learned(&what);
        }
        self.crossing.saw(at, from, false, &bytes);
        let treatment = self.crossing.passes(at, from, &frame);
        if treatment == Treatment::Marked {
            mark(&mut bytes);
        }
        way.take(at, treatment, bytes);
    }

    /// Sends to the other guest what has come from this one.
    fn send(&mut self, from: GuestEnd) -> Result<(), PortError> {
        let to = from.other();
        let (way, tx) = (&mut self.ways[from.index()], &mut self.ports[to.index()].tx);
        let now = self.clock.now();
        let mut first = None;
        while way.next_due().is_some_and(|due| due <= now) {
            let Some(mut slot) = tx.alloc() else { break };
            let Some((due, mut bytes, spoilt)) = way.arrived(now) else { break };
            if spoilt && let Some(last) = bytes.last_mut() {
                // Of the ICRC: what is so long has no trailer.
                *last ^= 0xff;
            }
            tx.bytes(&mut slot)[..bytes.len()].copy_from_slice(&bytes);
            tx.stage(slot, bytes.len());
            first = Some(first.unwrap_or(due).min(due));
            if matches!(packet::parse(&bytes), Ok(Packet::Roce { .. })) {
                self.crossing.saw(self.clock.now(), to, true, &bytes);
            }
        }
        tx.publish();
        self.lost += tx.kick()?.lost;
        if let Some(first) = first {
            self.late = self.late.max(self.clock.now().since(first).unwrap_or_default());
        }
        Ok(())
    }
}

/// Marks congestion in a frame of IP (RFC 3168, 5), whatever its sender made of the two bits. The ICRC covers neither.
fn mark(bytes: &mut [u8]) {
    let Ok((header, _)) = ethernet::Repr::parse(bytes) else { return };
    let Some(packet) = bytes.get_mut(ethernet::LEN..) else { return };
    match (header.ethertype, packet) {
        (ethertype::IPV4, packet) => {
            if let Some(mut ip) = ipv4::Raw::new(packet) {
                ip.set_ecn(3);
                let sum = ipv4::checksum(&ip.to_immutable());
                ip.set_checksum(sum);
            }
        }
        // The lower half of the class stands in the upper half of the second byte (RFC 8200, 3).
        (ethertype::IPV6, [_, class, ..]) => *class |= 0x30,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_frames::ip::Ecn;
    use rig_frames::psn::Psn;
    use rig_frames::roce::{Ext, Opcode, Qpn, bth};
    use rig_frames::{MacAddr, packet};

    #[test]
    fn a_mark_changes_the_mark_alone_and_the_checksum_of_the_header() {
        let qpn = Qpn::new(0x11).expect("24 bits");
        let v4 = ["10.77.0.1", "10.77.0.2"].map(|ip| ip.parse().expect("an address"));
        let v6 = ["fd77::1", "fd77::2"].map(|ip| ip.parse().expect("an address"));
        for [own_ip, peer_ip] in [v4, v6] {
            let (own_psn, peer_psn) = (Psn::new(1), Psn::new(2));
            let ends =
                QpPair { own: qpn, peer: qpn, peer_psn, own_psn, own_ip, peer_ip, mtu: 1024 };
            let path = ends.path(MacAddr([2; 6]), MacAddr([4; 6]));
            let bth = bth::Repr::new(Opcode::RcSendOnly, qpn, own_psn);
            let sent = RoceFrame { payload_len: 64, ..RoceFrame::new(path, bth, Ext::Plain) };
            let mut bytes = sent.emit();
            mark(&mut bytes);
            let Ok(Packet::Roce { frame, icrc_ok }) = packet::parse(&bytes) else {
                panic!("{bytes:?}")
            };
            assert_eq!((frame.path.ip.ecn(), icrc_ok), (Ecn::Ce, true));
            assert_eq!((frame.path.ip.dscp(), frame.bth), (sent.path.ip.dscp(), sent.bth));
        }
    }
}
