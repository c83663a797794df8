//! How a host protects what it sends and opens what it receives (IEEE 802.1AE), as the peer of a device under test.
//!
//! Left out on purpose: every check of what it receives. A host opens any tag: what the device sends is judged by whoever reads
//! the capture.

use super::Plug;
use super::rig_port::{Choice, RigPort};
use crate::model::packet::{Packet, PacketKind, Tag};
use rig_lab::Form;
use rig_testcases::{MacsecMode, Tamper};
use rig_units::Time;

/// A host's side of MACsec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Security {
    /// Association number of what it sends, 0 to 3.
    pub an: u8,
    /// Packet number of the next frame that it protects.
    pub next_pn: u32,
    /// Whether frames are encrypted or only protected: the E bit.
    pub encrypted: bool,
    /// Whether every tag names its secure channel.
    pub sci: bool,
    /// How its PFC frames travel, where nothing else is asked for.
    pub pfc: Form,
    /// Which PFC frames it obeys.
    pub obeys: Obeys,
}

/// The forms in which a host obeys PFC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Obeys {
    /// PFC without a SecTAG.
    pub clear: bool,
    /// Behind a tag.
    pub encrypted: bool,
}

/// How a host that speaks MACsec protects what it sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Peer {
    security: Security,
    /// The frame that goes onto the cable next.
    outgoing: Packet,
}

impl Peer {
    const fn new(security: Security) -> Peer {
        Peer { security, outgoing: Packet::data(0, 0, 0, 0, 0, 0) }
    }

    /// Goes on with another association, from the first packet number.
    const fn rekey(&mut self, an: u8) {
        self.security = Security { an, next_pn: 1, ..self.security };
    }

    /// The frame as it goes onto the cable.
    fn protect(&mut self, packet: &Packet, macsec_mode: MacsecMode) -> Packet {
        let Security { an, next_pn, encrypted, sci, pfc, .. } = self.security;
        let usual = if packet.kind == PacketKind::Pfc && pfc == Form::Clear {
            MacsecMode::Clear
        } else {
            MacsecMode::Sound
        };
        let macsec_mode = if macsec_mode == MacsecMode::Usual { usual } else { macsec_mode };
        if macsec_mode == MacsecMode::Clear || packet.is_secured() {
            return *packet;
        }
        let tamper =
            if let MacsecMode::Tampered(tamper) = macsec_mode { Some(tamper) } else { None };
        let an = if let MacsecMode::Of(an) = macsec_mode { an } else { an };
        let pn = match macsec_mode {
            MacsecMode::Late(by) => next_pn.saturating_sub(by),
            _ => {
                self.security.next_pn = next_pn.wrapping_add(1);
                next_pn
            }
        };
        // What names another channel names it.
        let sci = sci || tamper == Some(Tamper::WrongSci);
        packet.secured(Tag { an, pn, encrypted, sci, tamper })
    }

    /// What the host makes of a frame: the one behind the tag, or nothing where it does not obey PFC in this form.
    fn open(&self, packet: &Packet) -> Option<Packet> {
        let (packet, tag) = packet.opened();
        let Obeys { clear, encrypted } = self.security.obeys;
        let obeys = if tag.is_some() { encrypted } else { clear };
        (packet.kind != PacketKind::Pfc || obeys).then_some(packet)
    }
}

impl RigPort {
    /// Speaks MACsec from the next frame on, or no more.
    pub(crate) fn secure(&mut self, security: Option<Security>) {
        self.security = security.map(Peer::new);
    }

    /// Goes on with another association, from the first packet number.
    pub(crate) fn rekey(&mut self, an: u8) {
        if let Some(peer) = &mut self.security {
            peer.rekey(an);
        }
    }

    /// The frame that starts next, as it goes onto the cable of a port that speaks MACsec.
    #[cold]
    #[inline(never)]
    pub(super) fn next_secured(&mut self) -> Option<&Packet> {
        let packet = *self.front()?;
        let macsec_mode = match self.choice {
            Choice::Control => MacsecMode::Usual,
            Choice::Storm(index) => self.storms.get(index)?.macsec_mode,
            Choice::Stream(index) => self.streams.get(index)?.macsec_mode,
        };
        let peer = self.security.as_mut()?;
        peer.outgoing = peer.protect(&packet, macsec_mode);
        Some(&peer.outgoing)
    }

    /// Takes in a frame, as [`receive`](Self::receive) does, and opens it before; the answer is protected.
    #[cold]
    #[inline(never)]
    pub(super) fn receive_secured(
        &mut self,
        plug: &mut Plug,
        now: Time,
        packet: &Packet,
        bypass: bool,
    ) -> Option<Packet> {
        plug.clock = now;
        let opened = match &self.security {
            Some(peer) => peer.open(packet)?,
            None => *packet,
        };
        let answer = self.receive(plug, now, &opened, bypass)?;
        Some(self.security.as_mut().map_or(answer, |peer| peer.protect(&answer, MacsecMode::Usual)))
    }
}
