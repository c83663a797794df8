//! What passes the taps in one trial: frames put into the ledger, and what is done to them on the way.

use super::super::injector::Injector;
use super::super::ledger::Ledger;
use super::path_mtu::PathMtu;
use rig_capture::decode::{roce_kind, roce_of};
use rig_capture::{Dir, Record, What};
use rig_frames::packet::{self, Packet, RoceFrame};
use rig_frames::psn::Psn;
use rig_frames::roce::Qpn;
use rig_guests::peer::{GuestCrossing, GuestEnd, Learned, Midway, Onward, QpPair, Treatment};
use rig_testcases::{FlowSpec, Injected, Roce};
use rig_units::Time;
use std::sync::{Arc, Mutex, PoisonError};

/// Listens at the tap during one trial.
#[derive(Debug)]
pub(super) struct Tape {
    /// The connection of the flow, in the script.
    pub(super) connection: u16,
    /// The rig port in front of the guest's NIC, and that of the other end: the rig's own, or of another guest.
    pub(super) ports: [u16; 2],
    /// The number of the flow's first packet, as the case has it.
    pub(super) first: u32,
    /// The connection, once it is known. A program asks for one alone.
    pub(super) ends: Option<Ends>,
    /// How many connections are known.
    pub(super) met: u32,
    /// How long the case has its packets.
    pub(super) path_mtu: PathMtu,
    /// Why they are not as long.
    pub(super) cut_short: Option<String>,
    /// Why the trial tells nothing: what came before the connection was known.
    pub(super) void: Option<String>,
    pub(super) ledger: Ledger,
    pub(super) injector: Injector,
    /// The trial's end: nothing later belongs to it.
    pub(super) until: Time,
    /// Whether frames of the connection passed after it: what the NICs have counted is of those, too.
    pub(super) went_on: bool,
}

/// What is known of the two ends of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ends {
    /// The queue pair that answers.
    responder: Qpn,
    /// The queue pair that asks; none where only its requests have been seen.
    requester: Option<Qpn>,
    /// Number of its first packet.
    first: Psn,
}

impl Tape {
    /// For a flow of this connection.
    pub(super) fn new(
        (connection, spec): (u16, &FlowSpec),
        ledger: Ledger,
        injector: Injector,
        until: Time,
    ) -> Tape {
        Tape {
            connection,
            ports: [spec.nic, spec.to],
            first: spec.psn,
            ends: None,
            met: 0,
            path_mtu: PathMtu::of(spec),
            cut_short: None,
            void: None,
            ledger,
            injector,
            until,
            went_on: false,
        }
    }

    /// How far a number is behind the connection's first: a client of perftest begins anywhere.
    fn number(&self, psn: Psn) -> Option<u32> {
        let first = self.ends?.first.get();
        Some(psn.get().wrapping_sub(first) & 0xff_ffff)
    }

    /// What a frame of the connection was; `None`: it is of none, or says nothing.
    fn roce(&self, frame: &RoceFrame) -> Option<Roce> {
        let ends = self.ends?;
        let own = [Some(ends.responder), ends.requester].contains(&Some(frame.bth.dest_qp));
        own.then_some(())?;
        Some(Roce {
            connection: self.connection,
            psn: self.first.wrapping_add(self.number(frame.bth.psn)?) & 0xff_ffff,
            ..roce_of(frame, roce_kind(frame, None)?, u16::try_from(frame.size().0).ok()?)
        })
    }

    /// A frame passed the tap at the first or the second of the ports.
    pub(super) fn saw(&mut self, at: Time, (port, by_rig): (usize, bool), bytes: &[u8]) {
        let Ok(Packet::Roce { frame, icrc_ok }) = packet::parse(bytes) else { return };
        let Some(roce) = self.within(at, &frame) else { return };
        let dir = if by_rig { Dir::Tx } else { Dir::Rx };
        self.record(at, (self.ports[port], dir), Roce { corrupt: !icrc_ok, ..roce });
    }

    /// A frame passed between the way and the rig's own end: no wire, and the rig's second port all the same.
    fn inside(&mut self, at: Time, dir: Dir, frame: &RoceFrame, corrupt: bool) {
        let Some(roce) = self.within(at, frame) else { return };
        self.record(at, (self.ports[1], dir), Roce { corrupt, ..roce });
    }

    /// The same of one that belongs to the trial.
    fn within(&mut self, at: Time, frame: &RoceFrame) -> Option<Roce> {
        let roce = self.roce(frame)?;
        let own = at <= self.until;
        self.went_on |= !own;
        own.then_some(roce)
    }

    /// What the case does to a frame that came in at the first or the second of the ports.
    fn does(&mut self, at: Time, port: usize, to: Onward, frame: &RoceFrame) -> Treatment {
        let Some(number) = self.number(frame.bth.psn) else { return Treatment::Passes };
        let Some(kind) = roce_kind(frame, None) else { return Treatment::Passes };
        let (connection, port) = (self.connection, self.ports[port]);
        let expected = to == Onward::Rig { expected: true };
        match self.injector.does((at, port), connection, (kind, number), expected) {
            None => Treatment::Passes,
            Some(Injected::Ce) => Treatment::Marked,
            Some(Injected::Drop) => Treatment::Lost,
            Some(Injected::Delay(by)) => Treatment::Late(by),
            Some(Injected::Behind(frames)) => Treatment::Behind(frames),
            Some(Injected::Duplicate) => Treatment::Twice,
            Some(Injected::BadIcrc) => Treatment::Spoilt,
            // No guest has a NIC of blue-rdma, none is sent a packet of it, and none sends datagrams.
            Some(Injected::Rocev2 | Injected::BlueRdma | Injected::OtherKey) => Treatment::Passes,
            Some(Injected::NotReady(timer)) => Treatment::NotReady(timer),
        }
    }

    /// Both ends have agreed on a connection.
    fn met(&mut self, ends: &QpPair) {
        self.cut_short = self.cut_short.take().or_else(|| self.path_mtu.missed(ends.mtu));
        let (responder, requester) = (ends.own, Some(ends.peer));
        self.ends.get_or_insert(Ends { responder, requester, first: ends.peer_psn });
        self.met += 1;
    }

    /// A frame has told something of a connection. What the second guest asks for is of no flow.
    fn learned(&mut self, what: &Learned) {
        match *what {
            Learned::Begun { asks: GuestEnd::Client, responder, first } => {
                self.ends.get_or_insert(Ends { responder, requester: None, first });
                self.met += 1;
            }
            Learned::Answered { asks: GuestEnd::Client, responder, requester, untold } => {
                let of_flow = |ends: &&mut Ends| ends.responder == responder;
                let Some(ends) = self.ends.as_mut().filter(of_flow) else { return };
                ends.requester = Some(requester);
                if untold > 0 {
                    let answers = if untold == 1 {
                        "1 answer".to_owned()
                    } else {
                        format!("{untold} answers")
                    };
                    self.void.get_or_insert(format!(
                        "{answers} to queue pair {:#x} had passed before a frame told whose that is: what the case does to answers came too late for them",
                        requester.get()
                    ));
                }
            }
            Learned::Halfway { asks: GuestEnd::Client, responder } => {
                self.void.get_or_insert(format!(
                    "nobody saw the first packet to queue pair {:#x} come by whole: what the case does to packets by their numbers came too late for it",
                    responder.get()
                ));
            }
            Learned::Begun { .. } | Learned::Answered { .. } | Learned::Halfway { .. } => {}
        }
    }

    fn record(&mut self, at: Time, (port, dir): (u16, Dir), roce: Roce) {
        let what = What::Roce(roce);
        self.ledger.saw(Record { at, port, dir, what, secured: None, vlan: None });
    }
}

/// The way between the NIC and the rig's end, which writes to a tape.
pub(super) struct TapedWay(pub(super) Arc<Mutex<Tape>>);

impl Midway for TapedWay {
    fn met(&mut self, ends: &QpPair) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).met(ends);
    }

    fn passes(&mut self, at: Time, to: Onward, frame: &RoceFrame) -> Treatment {
        let mut tape = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let by_rig = to == Onward::Nic;
        if by_rig {
            tape.inside(at, Dir::Rx, frame, false);
        }
        tape.does(at, usize::from(by_rig), to, frame)
    }

    fn arrived(&mut self, at: Time, frame: &RoceFrame, spoilt: bool) {
        let mut tape = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tape.inside(at, Dir::Tx, frame, spoilt);
    }
}

/// The way between two guests, which writes to a tape.
pub(super) struct Across(pub(super) Arc<Mutex<Tape>>);

impl GuestCrossing for Across {
    fn met(&mut self, ends: &QpPair) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).met(ends);
    }

    fn learned(&mut self, what: &Learned) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).learned(what);
    }

    fn passes(&mut self, at: Time, from: GuestEnd, frame: &RoceFrame) -> Treatment {
        let mut tape = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Frames of the connection alone: neither end is the rig's, which could tell another's by its own queue pair.
        let Some(ends) = tape.ends else { return Treatment::Passes };
        let to = match from {
            GuestEnd::Client => Some(ends.responder),
            GuestEnd::Server => ends.requester,
        };
        if to != Some(frame.bth.dest_qp) {
            return Treatment::Passes;
        }
        tape.does(at, port_of(from), Onward::Nic, frame)
    }

    fn saw(&mut self, at: Time, tap: GuestEnd, by_rig: bool, bytes: &[u8]) {
        let mut tape = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tape.saw(at, (port_of(tap), by_rig), bytes);
    }
}

/// Which of the ports of a tape is in front of a guest.
const fn port_of(end: GuestEnd) -> usize {
    match end {
        GuestEnd::Client => 0,
        GuestEnd::Server => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;
    use rig_frames::MacAddr;
    use rig_frames::ip::Dscp;
    use rig_frames::ipv4;
    use rig_frames::packet::Path;
    use rig_frames::roce::{Ext, Opcode, aeth, bth};
    use rig_oracle::trials::seed::Seed;
    use rig_testcases::{Injection, Script, Target, Which};
    use rig_units::Dur;

    fn qpn(of: u32) -> Qpn {
        Qpn::new(of).expect("24 bits")
    }

    fn packet(opcode: Opcode, to: u32, psn: u32) -> RoceFrame {
        let dscp = Dscp::new(0).expect("six bits");
        let ip = ipv4::Repr::udp(Ipv4Addr::UNSPECIFIED, Ipv4Addr::UNSPECIFIED, dscp);
        let path = Path::v4(MacAddr([2; 6]), MacAddr([4; 6]), ip);
        let ext = match opcode {
            Opcode::RcAcknowledge => Ext::Aeth(aeth::Repr {
                syndrome: aeth::Syndrome::ACK,
                msn: aeth::Msn::new(0).expect("24 bits"),
            }),
            _ => Ext::Plain,
        };
        RoceFrame::new(path, bth::Repr::new(opcode, qpn(to), Psn::new(psn)), ext)
    }

    /// Across which the first packet and the first answer are lost.
    fn across() -> Across {
        let one = |frames| Injection {
            on: 7,
            frames,
            which: Which::Nth(1),
            iteration: None,
            tamper: Injected::Drop,
        };
        let injector = Injector::new(&[one(Target::Data), one(Target::Ack)], &Seed::of_run(1));
        Across(Arc::new(Mutex::new(Tape {
            connection: 7,
            ports: [0, 1],
            first: 0,
            ends: None,
            met: 0,
            path_mtu: PathMtu { mtu: 1_024, message: 16_384 },
            cut_short: None,
            void: None,
            ledger: Ledger::new(&Script::idle(2)),
            injector,
            until: Time::ZERO + Dur::ms(1),
            went_on: false,
        })))
    }

    fn void(across: &Across) -> Option<String> {
        across.0.lock().expect("nobody else has it").void.clone()
    }

    fn begun() -> Learned {
        Learned::Begun { asks: GuestEnd::Client, responder: qpn(0x11), first: Psn::new(90) }
    }

    fn answered(untold: u32) -> Learned {
        let (responder, requester) = (qpn(0x11), qpn(0x22));
        Learned::Answered { asks: GuestEnd::Client, responder, requester, untold }
    }

    #[test]
    fn what_a_case_does_is_armed_on_what_the_frame_itself_has_told() {
        let mut across = across();
        let data = packet(Opcode::RcSendOnly, 0x11, 90);
        let answer = packet(Opcode::RcAcknowledge, 0x22, 90);
        let at = Time::ZERO;
        assert_eq!(across.passes(at, GuestEnd::Client, &data), Treatment::Passes);
        across.learned(&begun());
        assert_eq!(across.passes(at, GuestEnd::Client, &data), Treatment::Lost);
        assert_eq!(across.passes(at, GuestEnd::Server, &answer), Treatment::Passes);
        across.learned(&answered(0));
        assert_eq!(across.passes(at, GuestEnd::Server, &answer), Treatment::Lost);
        assert_eq!(void(&across), None);
    }

    #[test]
    fn what_came_before_the_connection_was_known_voids_the_trial() {
        let mut late = across();
        late.learned(&begun());
        late.learned(&answered(2));
        let why = void(&late).expect("two answers passed");
        assert!(why.starts_with("2 answers to queue pair 0x22 had passed"), "{why}");
        let mut halfway = across();
        halfway.learned(&Learned::Halfway { asks: GuestEnd::Client, responder: qpn(0x11) });
        let why = void(&halfway).expect("no beginning");
        assert!(why.starts_with("nobody saw the first packet to queue pair 0x11"), "{why}");
        // What the second guest asks for is of no flow.
        let mut other = across();
        other.learned(&Learned::Halfway { asks: GuestEnd::Server, responder: qpn(0x11) });
        assert_eq!(void(&other), None);
    }
}
