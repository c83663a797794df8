//! SecTAG, from its EtherType on (IEEE 802.1AE clause 9): by which association a frame is protected, how, and as which
//! packet.

use super::ICV;
use super::sci::{self, Sci};
use crate::bits::bits;
use crate::bytes::{be16, be32, raw};
use crate::ethernet::{MIN_FRAME, ethertype};
use crate::malformed::{expect, not_one_of, short, split};
use crate::{MacAddr, Malformed, Want};

mod field {
    use core::ops::Range;

    pub(super) const ETHERTYPE: Range<usize> = 0..2;
    /// Six bits of tag control information, see [`super::tci`], and two of association number.
    pub(super) const TCI_AN: Range<usize> = 2..3;
    /// Two reserved bits, sent as zero, and six of short length.
    pub(super) const SL: Range<usize> = 3..4;
    pub(super) const PN: Range<usize> = 4..8;
}

/// Bits of the octet that holds tag control information and association number (clause 9.5), for [`Raw`].
pub mod tci {
    /// Version; zero in the one there is.
    pub const V: u8 = 0x80;
    /// End station: the SCI is the source address with port 1, and not in the tag.
    pub const ES: u8 = 0x40;
    /// Secure channel: the SCI is in the tag.
    pub const SC: u8 = 0x20;
    /// Single copy broadcast, of EPON.
    pub const SCB: u8 = 0x10;
    /// Encryption: the secure data is confidential.
    pub const E: u8 = 0x08;
    /// Changed text: the secure data is not what was to be sent.
    pub const C: u8 = 0x04;
    /// The association number beside them.
    pub const AN: u8 = 0x03;
}

bits!(
    /// Association number: which of up to four associations of a secure channel (clause 9.6).
    An: 2 bits of u8
);

/// Length of the tag without SCI, in bytes.
pub const FIXED: usize = field::PN.end;
const _: () = assert!(FIXED == 8);
/// Both addresses, which stand before the tag.
pub(super) const ADDRESSES: usize = 12;
/// From so many bytes of secure data on, the short length is zero (clause 9.7).
const NOT_SHORT: u8 = 48;

/// Short length: of the secure data in bytes when it is below 48, else zero (clause 9.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Sl(u8);

impl Sl {
    /// `value`, if a tag may carry it.
    pub const fn new(value: u8) -> Option<Sl> {
        if value < NOT_SHORT { Some(Sl(value)) } else { None }
    }

    /// The short length of `len` bytes of secure data.
    pub fn of(len: usize) -> Sl {
        u8::try_from(len).ok().and_then(Sl::new).unwrap_or_default()
    }

    /// The number itself.
    pub const fn get(self) -> u8 {
        self.0
    }
}

/// How a tag tells the secure channel: the combinations of ES, SC and SCB that clause 9.5 permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Channel {
    /// SC: by the SCI in the tag.
    Explicit(Sci),
    /// ES: by the source address.
    EndStation,
    /// None of them: the link has one sender only.
    PointToPoint,
    /// SCB, for EPON.
    SingleCopyBroadcast {
        /// ES beside it.
        es: bool,
    },
}

/// What a receiver may act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SecTag {
    /// The secure channel.
    pub channel: Channel,
    /// E: the secure data is confidential. E without C is left to key agreement (clause 9.5).
    pub e: bool,
    /// C: the secure data is not what was to be sent.
    pub c: bool,
    /// The association of the channel.
    pub an: An,
    /// Short length.
    pub sl: Sl,
    /// Packet number, of an XPN suite the low half. Not judged here, since that half may well be zero.
    pub pn: u32,
}

impl SecTag {
    /// Length of this tag, in bytes.
    #[expect(clippy::len_without_is_empty, reason = "no tag is empty")]
    pub const fn len(&self) -> usize {
        match self.channel {
            Channel::Explicit(_) => FIXED + sci::LEN,
            Channel::EndStation | Channel::PointToPoint | Channel::SingleCopyBroadcast { .. } => {
                FIXED
            }
        }
    }

    /// The SCI, as the tag or the source address of its frame tells it; `None` when the receiver must know it.
    pub const fn sci(&self, src: MacAddr) -> Option<Sci> {
        match self.channel {
            Channel::Explicit(sci) => Some(sci),
            Channel::EndStation => Some(Sci { mac: src, port: Sci::END_STATION }),
            Channel::PointToPoint | Channel::SingleCopyBroadcast { .. } => None,
        }
    }

    /// Reads a tag and all that follows its addresses; returns it with the secure data and the ICV behind.
    ///
    /// Bytes behind the ICV are the padding of a frame that would be shorter than 60 bytes; a longer one has none.
    ///
    /// # Errors
    /// By the rules of clause 9.12: when the bytes end too early; on another EtherType or version; on ES or SCB beside
    /// SC; on reserved bits set; on a short length of 48 or more, or one that is not that of the secure data.
    pub fn parse(bytes: &[u8]) -> Result<(SecTag, &[u8], &[u8; ICV]), Malformed> {
        let (fixed, mut rest) = split::<FIXED>("macsec", bytes)?;
        let [_, _, tci_an, sl_octet, ..] = *fixed;
        let set = |bit| tci_an & bit != 0;
        let kind = be16(fixed, field::ETHERTYPE);
        expect("macsec.ethertype", field::ETHERTYPE.start, ethertype::MACSEC, kind)?;
        expect("macsec.v", field::TCI_AN.start, 0, u8::from(set(tci::V)))?;
        let channel = match (set(tci::SC), set(tci::ES), set(tci::SCB)) {
            (true, false, false) => {
                let (sci, behind) = rest
                    .split_first_chunk()
                    .ok_or_else(|| short("macsec", FIXED + sci::LEN, bytes.len()))?;
                rest = behind;
                Channel::Explicit(Sci::from_bytes(*sci))
            }
            (false, true, false) => Channel::EndStation,
            (false, false, false) => Channel::PointToPoint,
            (false, es, true) => Channel::SingleCopyBroadcast { es },
            (true, _, _) => {
                let want = "SC without ES and SCB";
                return Err(not_one_of("macsec.tci", field::TCI_AN.start, want, tci_an));
            }
        };
        let sl = Sl::new(sl_octet)
            .ok_or_else(|| not_one_of("macsec.sl", field::SL.start, "0x0 to 0x2f", sl_octet))?;
        let tag = SecTag {
            channel,
            e: set(tci::E),
            c: set(tci::C),
            an: An::low(tci_an),
            sl,
            pn: be32(fixed, field::PN),
        };
        let (data, icv) = tag.cut(bytes.len(), rest)?;
        Ok((tag, data, icv))
    }

    /// Secure data and ICV out of what stands behind the tag, `whole` being the length with the tag.
    fn cut<'a>(
        &self,
        whole: usize,
        rest: &'a [u8],
    ) -> Result<(&'a [u8], &'a [u8; ICV]), Malformed> {
        let head = self.len();
        let got = rest.len().saturating_sub(ICV);
        let announced = usize::from(self.sl.get());
        let len = if announced == 0 { got.max(NOT_SHORT.into()) } else { announced };
        let (data, behind) =
            rest.split_at_checked(len).ok_or_else(|| short("macsec", head + len + ICV, whole))?;
        let (icv, padding) =
            behind.split_first_chunk().ok_or_else(|| short("macsec", head + len + ICV, whole))?;
        if !padding.is_empty() && ADDRESSES + whole > MIN_FRAME {
            let want = Want::AtMost(len as u64);
            return Err(Malformed {
                field: "macsec.secure_data",
                offset: head,
                want,
                got: got as u64,
            });
        }
        Ok((data, icv))
    }

    /// Appends the tag; every byte is written.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let bit = |set, bit| if set { bit } else { 0 };
        let channel = match self.channel {
            Channel::Explicit(_) => tci::SC,
            Channel::EndStation => tci::ES,
            Channel::PointToPoint => 0,
            Channel::SingleCopyBroadcast { es } => tci::SCB | bit(es, tci::ES),
        };
        let mut fixed = [0; FIXED];
        let mut raw = Raw(&mut fixed);
        raw.set_ethertype(ethertype::MACSEC);
        raw.set_tci_an(channel | bit(self.e, tci::E) | bit(self.c, tci::C) | self.an.get());
        raw.set_sl(self.sl.get());
        raw.set_pn(self.pn);
        out.extend(fixed);
        if let Channel::Explicit(sci) = self.channel {
            out.extend(sci.to_bytes());
        }
    }
}

raw! { FIXED;
    /// Sets the EtherType.
    set_ethertype: u16 = field::ETHERTYPE;
    /// Sets the octet of tag control information and association number, by the bits of [`tci`].
    set_tci_an: u8 = field::TCI_AN;
    /// Sets the octet of the short length, reserved bits included.
    set_sl: u8 = field::SL;
    /// Sets the packet number.
    set_pn: u32 = field::PN;
}

#[cfg(test)]
mod tests;
