//! The SecTAG and ICV of a protected frame (IEEE 802.1AE clause 9), as the model carries them: beside the frame that they
//! protect, in fields that frame has no use for while it is on a cable.
//!
//! Left out: the short length and the confidentiality offset.

use super::{Packet, PacketKind};
use rig_testcases::Tamper;
use rig_units::Quanta;

/// What protects a frame on a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tag {
    /// Association number, 0 to 3.
    pub an: u8,
    /// Packet number; its lower half where numbers have 64 bits.
    pub pn: u32,
    /// The E bit: the frame is encrypted, not only protected.
    pub encrypted: bool,
    /// Whether it names its secure channel.
    pub sci: bool,
    /// What is wrong with it.
    pub tamper: Option<Tamper>,
}

/// The mark of a frame that has a tag.
const TAGGED: u8 = 1 << 6;
/// Where the tag lies in `tc`: two bits of AN, one each for E and the SCI, then the number of its harm, 0 for none.
const ENCRYPTED: u8 = 1 << 2;
const SCI: u8 = 1 << 3;
const HARM: u32 = 4;
const TAMPERS: [Tamper; 4] =
    [Tamper::Forged, Tamper::WrongKey, Tamper::WrongSci, Tamper::Truncated];

impl Tag {
    /// What protection adds to a frame, in bytes: SecTAG, SCI if it is there, ICV (IEEE 802.1AE 9.3, 14.5).
    pub const fn overhead(&self) -> u16 {
        rig_lab::macsec::overhead(self.sci)
    }

    fn packed(&self) -> u8 {
        let tamper = (1..).zip(TAMPERS).find(|&(_, known)| Some(known) == self.tamper);
        let tamper = tamper.map_or(0, |(number, _): (u8, _)| number);
        let flag = |bit: u8, on: bool| if on { bit } else { 0 };
        self.an & 3 | flag(ENCRYPTED, self.encrypted) | flag(SCI, self.sci) | tamper << HARM
    }

    fn unpacked(bits: u8, pn: u32) -> Tag {
        let tamper = usize::from(bits >> HARM).checked_sub(1);
        Tag {
            an: bits & 3,
            pn,
            encrypted: bits & ENCRYPTED != 0,
            sci: bits & SCI != 0,
            tamper: tamper.and_then(|number| TAMPERS.get(number).copied()),
        }
    }
}

impl Packet {
    /// This frame behind a tag: longer by what the tag adds. A PFC frame's number in its storm is lost.
    #[must_use]
    pub fn secured(mut self, tag: Tag) -> Packet {
        self.marks |= TAGGED;
        self.tc = tag.packed();
        self.size += tag.overhead();
        match self.kind {
            PacketKind::Pfc => self.seq = tag.pn,
            PacketKind::Data
            | PacketKind::Ack
            | PacketKind::Nak
            | PacketKind::Cnp
            | PacketKind::ReadRequest
            | PacketKind::NotReady => {
                let [enable, zero, high, low] = tag.pn.to_be_bytes();
                (self.enable, self.zero) = (enable, zero);
                self.quanta = Quanta(u16::from_be_bytes([high, low]));
            }
        }
        self
    }

    /// The frame behind its tag, and the tag; a frame without one as it is.
    #[must_use]
    pub fn opened(mut self) -> (Packet, Option<Tag>) {
        let Some(tag) = self.tag() else { return (self, None) };
        self.marks &= !TAGGED;
        self.tc = 0;
        self.size -= tag.overhead();
        match self.kind {
            PacketKind::Pfc => self.seq = 0,
            PacketKind::Data
            | PacketKind::Ack
            | PacketKind::Nak
            | PacketKind::Cnp
            | PacketKind::ReadRequest
            | PacketKind::NotReady => {
                (self.enable, self.zero, self.quanta) = (0, 0, Quanta(0));
            }
        }
        (self, Some(tag))
    }

    /// Whether it has a tag.
    #[inline]
    pub const fn is_secured(&self) -> bool {
        self.marks & TAGGED != 0
    }

    /// The tag of the rig, where it carries one.
    pub fn tag(&self) -> Option<Tag> {
        let pn = match self.kind {
            PacketKind::Pfc => self.seq,
            PacketKind::Data
            | PacketKind::Ack
            | PacketKind::Nak
            | PacketKind::Cnp
            | PacketKind::ReadRequest
            | PacketKind::NotReady => {
                let [high, low] = self.quanta.0.to_be_bytes();
                u32::from_be_bytes([self.enable, self.zero, high, low])
            }
        };
        self.is_secured().then(|| Tag::unpacked(self.tc, pn))
    }
}

#[cfg(test)]
mod tests;
