//! A secure association as a station holds it: a key and what goes into initialisation vectors (IEEE 802.1AE clauses 10.5
//! and 10.6).

use super::pn::{low_half, recover};
use super::sectag::{ADDRESSES, An, Channel, SecTag, Sl};
use super::suite::{Cipher, IV};
use super::{Sci, Suite, overhead};
use crate::malformed::{not_one_of, short};
use crate::{Malformed, ethernet};
use core::fmt;

/// One secure association as a station holds it. Its Debug shows no key.
#[derive(Clone)]
pub struct Sa {
    suite: Suite,
    sci: Sci,
    ssci: u32,
    salt: [u8; IV],
    cipher: Cipher,
}

impl fmt::Debug for Sa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sa { suite, sci, ssci, salt: _, cipher: _ } = self;
        f.debug_struct("Sa")
            .field("suite", suite)
            .field("sci", sci)
            .field("ssci", ssci)
            .finish_non_exhaustive()
    }
}

/// A key that is none of its suite's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadKey {
    /// Length that the suite asks for, in bytes.
    pub want: usize,
    /// Length of the key, in bytes.
    pub got: usize,
}

impl fmt::Display for BadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a MACsec key: want {} bytes, got {}", self.want, self.got)
    }
}

impl core::error::Error for BadKey {}

/// How one frame is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seal {
    /// Association number, 0 to 3.
    pub an: u8,
    /// Packet number. It must be new to the key: nothing here counts. A suite without XPN uses the low 32 bits.
    pub pn: u64,
    /// Confidentiality (E and C), or integrity alone.
    pub encrypt: bool,
    /// Whether the SCI stands in the tag (SC).
    pub send_sci: bool,
    /// Whether the tag says that the SCI is the source address with port 1 (ES). No tag does when the SCI stands in it.
    pub end_station: bool,
}

/// A protected frame, opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// The SecTAG, as received.
    pub tag: SecTag,
    /// Packet number, with its high half where the suite has one.
    pub pn: u64,
    /// The frame in clear, from the destination address, whatever the ICV says: a device that does not look at ICVs
    /// passes it on.
    pub frame: Vec<u8>,
    /// Whether the ICV is right.
    pub icv_ok: bool,
}

impl Sa {
    /// An association by `key`. `ssci` and `salt` matter to XPN suites only.
    ///
    /// # Errors
    /// When the key has another length than the suite's keys.
    pub fn new(
        suite: Suite,
        key: &[u8],
        sci: Sci,
        ssci: u32,
        salt: [u8; IV],
    ) -> Result<Sa, BadKey> {
        let bad = BadKey { want: suite.key_len(), got: key.len() };
        let cipher = Cipher::new(suite, key).ok_or(bad)?;
        Ok(Sa { suite, sci, ssci, salt, cipher })
    }

    /// The cipher suite.
    pub const fn suite(&self) -> Suite {
        self.suite
    }

    /// Who sends by this association.
    pub const fn sci(&self) -> Sci {
        self.sci
    }

    /// Protects `frame`, given from its destination address on without FCS. What comes back is longer by
    /// [`overhead`]; it is the MAC's to fill it up to 60 bytes.
    ///
    /// # Panics
    /// On an association number above 3; on a frame shorter than an Ethernet header.
    pub fn protect(&self, seal: &Seal, frame: &[u8]) -> Vec<u8> {
        assert!(frame.len() >= ethernet::LEN, "a frame has a header, not {} bytes", frame.len());
        let Some(an) = An::new(seal.an) else { panic!("associations are 0..=3, not {}", seal.an) };
        let (addresses, data) = frame.split_at(ADDRESSES);
        let channel = match (seal.send_sci, seal.end_station) {
            (true, _) => Channel::Explicit(self.sci),
            (false, true) => Channel::EndStation,
            (false, false) => Channel::PointToPoint,
        };
        let (e, c) = (seal.encrypt, seal.encrypt);
        let tag = SecTag { channel, e, c, an, sl: Sl::of(data.len()), pn: low_half(seal.pn) };
        let mut out = Vec::with_capacity(frame.len() + overhead(seal.send_sci));
        out.extend_from_slice(addresses);
        tag.emit(&mut out);
        let clear = if seal.encrypt { out.len() } else { out.len() + data.len() };
        out.extend_from_slice(data);
        let (clear, secret) = out.split_at_mut(clear);
        let icv = self.cipher.encrypt(self.iv(seal.pn), clear, secret);
        out.extend_from_slice(&icv);
        out
    }

    /// Opens a protected frame, given from its destination address on without FCS. `expected` is the lowest packet
    /// number that may come next; only XPN suites need it.
    ///
    /// That the frame is one of this association, by its SCI and number, is for the caller to see to.
    ///
    /// # Errors
    /// As [`SecTag::parse`]; on a packet number of zero, which is none (clause 9.8); on E without C or C without E, which no suite
    /// here sends.
    pub fn open(&self, frame: &[u8], expected: u64) -> Result<Opened, Malformed> {
        let (addresses, tagged) = frame
            .split_at_checked(ADDRESSES)
            .ok_or_else(|| short("ethernet", ADDRESSES, frame.len()))?;
        let (tag, data, icv) = SecTag::parse(tagged)?;
        if tag.e != tag.c {
            return Err(not_one_of("macsec.tci", 2, "E and C, or neither", tagged[2]));
        }
        let pn = if self.suite.is_xpn() { recover(tag.pn, expected) } else { tag.pn.into() };
        if pn == 0 {
            return Err(not_one_of("macsec.pn", 4, "a number from 0x1 on", pn));
        }
        let iv = self.iv(pn);
        let head = ADDRESSES + tag.len();
        let mut secret = data.to_vec();
        let icv_ok = if tag.e {
            let right = self.cipher.decrypt(iv, &frame[..head], &mut secret, *icv);
            if !right {
                self.cipher.encrypt(iv, &[], &mut secret);
            }
            right
        } else {
            self.cipher.decrypt(iv, &frame[..head + data.len()], &mut [], *icv)
        };
        let mut clear = addresses.to_vec();
        clear.append(&mut secret);
        Ok(Opened { tag, pn, frame: clear, icv_ok })
    }

    /// The initialisation vector of one packet: SCI and packet number, or with XPN short SCI and the whole packet number
    /// under the salt (clauses 14.5 and 14.7).
    fn iv(&self, pn: u64) -> [u8; IV] {
        let mut iv = [0; IV];
        if self.suite.is_xpn() {
            iv[..4].copy_from_slice(&self.ssci.to_be_bytes());
            iv[4..].copy_from_slice(&pn.to_be_bytes());
            for (byte, salt) in iv.iter_mut().zip(self.salt) {
                *byte ^= salt;
            }
        } else {
            iv[..8].copy_from_slice(&self.sci.to_bytes());
            iv[8..].copy_from_slice(&low_half(pn).to_be_bytes());
        }
        iv
    }
}
