//! What passes the taps in one trial: frames put into the ledger, and what is done to them on the way.

use super::super::ledger::Ledger;
use super::injector::Injector;
use rig_capture::decode::{roce_kind, roce_of};
use rig_capture::{Dir, Record, What};
use rig_frames::packet::{self, Packet, RoceFrame};
use rig_frames::psn::Psn;
use rig_guests::peer::{GuestCrossing, GuestEnd, Midway, Onward, QpPair, Treatment};
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
    /// Both ends, once they have agreed on a connection. A program asks for one alone.
    pub(super) ends: Option<QpPair>,
    /// How many connections they have agreed on.
    pub(super) met: u32,
    pub(super) ledger: Ledger,
    pub(super) injector: Injector,
    /// The trial's end: nothing later belongs to it.
    pub(super) until: Time,
    /// Whether frames of the connection passed after it: what the NICs have counted is of those, too.
    pub(super) went_on: bool,
}

impl Tape {
    /// For a flow of this connection.
    pub(super) const fn new(
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
            ledger,
            injector,
            until,
            went_on: false,
        }
    }

    /// How far a number is behind the connection's first: a client of perftest begins anywhere.
    fn number(&self, psn: Psn) -> Option<u32> {
        let first = self.ends?.peer_psn.get();
        Some(psn.get().wrapping_sub(first) & 0xff_ffff)
    }

    /// What a frame of the connection was; `None`: it is of none, or says nothing.
    fn roce(&self, frame: &RoceFrame) -> Option<Roce> {
        let ends = self.ends?;
        let own = [ends.own, ends.peer].contains(&frame.bth.dest_qp);
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
        match self.injector.does((at, port), connection, (kind, number), to) {
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
        self.ends.get_or_insert(*ends);
        self.met += 1;
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

    fn passes(&mut self, at: Time, from: GuestEnd, frame: &RoceFrame) -> Treatment {
        let mut tape = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Frames of the connection alone: neither end is the rig's, which could tell another's by its own queue pair.
        let Some(ends) = tape.ends else { return Treatment::Passes };
        let to = match from {
            GuestEnd::Client => ends.own,
            GuestEnd::Server => ends.peer,
        };
        if frame.bth.dest_qp != to {
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
