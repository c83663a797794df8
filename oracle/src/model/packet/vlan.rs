//! The 802.1Q tag of a frame, as the model carries it: whether there is one, and its priority. Its VLAN is that of the frame's
//! stream: no device of the model looks at it, or writes another.

use super::{FAULT, Packet, PacketKind};

/// The mark of a frame with an 802.1Q tag.
const TAGGED: u8 = 1 << 7;

/// What the tag adds to a frame, in bytes.
const LEN: u16 = 4;

/// The smallest frame of Ethernet, FCS counted.
const LEAST: u16 = 64;

impl Packet {
    /// The same frame with a tag of this priority, 0 to 7, or without one. Its size stays: who puts a tag on counts it.
    #[must_use]
    pub fn with_pcp(mut self, pcp: Option<u8>) -> Packet {
        assert!(self.kind != PacketKind::Pfc, "PFC has no tag");
        self.marks &= !(TAGGED | 7 << FAULT);
        self.marks |= pcp.map_or(0, |pcp| TAGGED | (pcp & 7) << FAULT);
        self
    }

    /// The priority in its tag; `None` where it has none.
    pub const fn pcp(&self) -> Option<u8> {
        if self.marks & TAGGED == 0 { None } else { Some(self.marks >> FAULT & 7) }
    }

    /// The same frame behind a tag of this priority, longer by that; one that has a tag has this priority.
    #[must_use]
    pub fn tagged(self, pcp: u8) -> Packet {
        let more = if self.pcp().is_none() { LEN } else { 0 };
        Packet { size: self.size.saturating_add(more), ..self.with_pcp(Some(pcp)) }
    }

    /// The same frame without its tag, shorter by that unless it is as short as a frame can be.
    #[must_use]
    pub fn untagged(self) -> Packet {
        let size = self.pcp().map_or(self.size, |_| (self.size - LEN).max(LEAST));
        Packet { size, ..self.with_pcp(None) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_units::Quanta;

    #[test]
    fn a_tag_is_beside_all_else_that_a_frame_carries() {
        let plain =
            Packet::data(7, 0, 1, 3, 3, 1_024).with_ect(true).with_ce(true).with_record(true);
        assert_eq!((plain.pcp(), plain.untagged()), (None, plain));
        for pcp in 0..8 {
            let tagged = plain.with_pcp(Some(pcp));
            assert_eq!(
                (tagged.pcp(), tagged.fault(), tagged.is_secured()),
                (Some(pcp), None, false)
            );
            assert_eq!(tagged.with_pcp(None), plain);
            assert_eq!(plain.tagged(pcp), Packet { size: 1_028, ..tagged });
            assert_eq!(plain.tagged(7 - pcp).tagged(pcp), plain.tagged(pcp));
            assert_eq!(tagged.untagged(), Packet { size: 1_020, ..plain });
            assert_eq!(Packet { size: 66, ..tagged }.untagged().size, 64);
            // A receiver's answer has a tag of its own, or none.
            assert_eq!(tagged.ack(64), plain.ack(64));
        }
    }

    #[test]
    fn a_tag_stays_behind_the_tag_of_macsec() {
        let tag = super::super::Tag { an: 1, pn: 7, encrypted: true, sci: true, tamper: None };
        let tagged = Packet::data(7, 0, 1, 3, 3, 1_024).with_pcp(Some(5));
        let secured = tagged.secured(tag);
        assert_eq!(secured.pcp(), Some(5));
        assert_eq!(secured.opened(), (tagged, Some(tag)));
    }

    #[test]
    #[should_panic(expected = "PFC has no tag")]
    fn pfc_is_never_tagged() {
        let _ = Packet::pfc(8, 0, Quanta(1), 64).with_pcp(Some(3));
    }
}
