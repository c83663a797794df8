//! How a host protects what it sends and opens what it receives (IEEE 802.1AE), as the peer of a device under test.
//!
//! Left out on purpose: every check of what it receives. A host opens any tag: what the device sends is judged by whoever reads
//! the capture.

use super::{Choice, Host};
use crate::model::packet::{Kind, Packet, Tag};
use rig_lab::Form;
use rig_testcases::{Harm, Shield};
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
    /// In clear.
    pub clear: bool,
    /// Behind a tag.
    pub encrypted: bool,
}

/// How a host that speaks MACsec protects what it sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Peer(Security);

impl Peer {
    pub(crate) const fn new(security: Security) -> Peer {
        Peer(security)
    }

    /// Goes on with another association, from the first packet number.
    pub(crate) const fn rekey(&mut self, an: u8) {
        self.0 = Security { an, next_pn: 1, ..self.0 };
    }

    /// The frame as it goes onto the cable.
    pub(crate) fn protect(&mut self, packet: &Packet, shield: Shield) -> Packet {
        let Security { an, next_pn, encrypted, sci, pfc, .. } = self.0;
        let usual = if packet.kind == Kind::Pfc && pfc == Form::Clear {
            Shield::Clear
        } else {
            Shield::Sound
        };
        let shield = if shield == Shield::Usual { usual } else { shield };
        if shield == Shield::Clear || packet.is_secured() {
            return *packet;
        }
        let harm = if let Shield::Harmed(harm) = shield { Some(harm) } else { None };
        let an = if let Shield::Of(an) = shield { an } else { an };
        let pn = match shield {
            Shield::Late(by) => next_pn.saturating_sub(by),
            _ => {
                self.0.next_pn = next_pn.wrapping_add(1);
                next_pn
            }
        };
        // What names another channel names it.
        let sci = sci || harm == Some(Harm::WrongSci);
        packet.secured(Tag { an, pn, encrypted, sci, harm })
    }

    /// What the host makes of a frame: the one behind the tag, or nothing where it does not obey PFC in this form.
    pub(crate) fn open(&self, packet: &Packet) -> Option<Packet> {
        let (packet, tag) = packet.opened();
        let Obeys { clear, encrypted } = self.0.obeys;
        let obeys = if tag.is_some() { encrypted } else { clear };
        (packet.kind != Kind::Pfc || obeys).then_some(packet)
    }
}

impl Host {
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

    /// Whether it speaks MACsec.
    #[inline]
    pub(crate) const fn is_secured(&self) -> bool {
        self.security.is_some()
    }

    /// The frame that starts next, as it goes onto the cable of a host that speaks MACsec.
    #[cold]
    #[inline(never)]
    pub(crate) fn next_secured(&mut self) -> Option<Packet> {
        let packet = *self.next()?;
        let shield = match self.choice {
            Choice::Control => Shield::Usual,
            Choice::Storm(index) => self.storms.get(index)?.shield,
            Choice::Stream(index) => self.streams.get(index)?.shield,
        };
        Some(self.protected(&packet, shield))
    }

    fn protected(&mut self, packet: &Packet, shield: Shield) -> Packet {
        self.security.as_mut().map_or(*packet, |peer| peer.protect(packet, shield))
    }

    /// Takes in a frame, as [`receive`](Self::receive) does, and opens it before; the answer is protected.
    #[cold]
    #[inline(never)]
    pub(crate) fn receive_secured(
        &mut self,
        now: Time,
        packet: &Packet,
        bypass: bool,
    ) -> Option<Packet> {
        self.clock = now;
        let opened = match &self.security {
            Some(peer) => peer.open(packet)?,
            None => *packet,
        };
        let answer = self.receive(now, &opened, bypass)?;
        Some(self.protected(&answer, Shield::Usual))
    }
}
