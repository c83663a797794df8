//! Bytes of frames that MACsec protects (IEEE 802.1AE), as both ends of one cable seal and open them.
//!
//! The rig's port and the device's behind it send on a secure channel each, and share the keys of the lab. What is done to
//! frames on purpose is done so that the other end can tell it: a wrong key is the right one inverted, a wrong channel
//! that of the same address with another port.
//!
//! Left out: the replay window, which is the receiver's own, and key agreement.

use super::{dut_mac, rig_mac};
use crate::{Protection, Script, Secured, Tamper};
use rig_frames::ethernet::{self, ethertype};
use rig_frames::macsec::{BadKey, Opened, Sa, Sci, Seal, Suite, recover, tci};
use rig_lab::CipherSuite;

/// Who sends on a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// The rig's port.
    Rig,
    /// The device's.
    Dut,
}

/// Both secure channels of one cable, each with its four associations.
#[derive(Debug, Clone)]
pub struct Cable {
    suite: Suite,
    rig: [Association; 4],
    dut: [Association; 4],
}

/// One association, and what passes for it and is wrong.
#[derive(Debug, Clone)]
struct Association {
    right: Sa,
    wrong_key: Sa,
    wrong_sci: Sa,
}

/// The port of a channel that neither end has.
const NOBODY: u16 = 2;
/// To so many bytes a truncated frame is cut: no secure data of 48 bytes or more, whose short length is zero, fits into it.
const CUT: usize = 60;
/// Octets of a whole frame: tag control information, and packet number.
const TCI: usize = 14;
const PN: core::ops::Range<usize> = 16..20;

impl Cable {
    /// The cable of a port of the rig, protected as a script says. A suite of 128 bits takes the first half of a longer key.
    ///
    /// # Errors
    /// When a key is shorter than the suite's.
    pub fn of(protection: &Protection, port: u16) -> Result<Cable, BadKey> {
        let suite = suite(protection.suite);
        let channel = |mac, ssci| -> Result<[Association; 4], BadKey> {
            let sci = Sci { mac, port: Sci::END_STATION };
            let one = |an: usize| {
                let key = protection.keys.saks[an].bytes();
                let want = suite.key_len();
                let key = key.get(..want).ok_or(BadKey { want, got: key.len() })?;
                let inverted: Vec<u8> = key.iter().map(|byte| !byte).collect();
                let of = |key, sci| Sa::new(suite, key, sci, ssci, protection.keys.salt());
                Ok(Association {
                    right: of(key, sci)?,
                    wrong_key: of(&inverted, sci)?,
                    wrong_sci: of(key, Sci { port: NOBODY, ..sci })?,
                })
            };
            Ok([one(0)?, one(1)?, one(2)?, one(3)?])
        };
        Ok(Cable { suite, rig: channel(rig_mac(port), 1)?, dut: channel(dut_mac(port), 2)? })
    }

    /// The cable of each port of a script; none where nothing is protected.
    ///
    /// # Errors
    /// As [`Cable::of`].
    pub fn all(script: &Script) -> Result<Vec<Cable>, BadKey> {
        let Some(protection) = &script.macsec else { return Ok(Vec::new()) };
        (0..).zip(&script.ports).map(|(port, _)| Cable::of(protection, port)).collect()
    }

    /// `frame` as `end` sends it. A frame of a channel that nobody has always names it.
    pub fn seal(&self, end: End, secured: &Secured, frame: &[u8]) -> Vec<u8> {
        let Secured { an, pn, encrypted, sci, tamper } = *secured;
        let association = self.association(end, an);
        let sa = match tamper {
            Some(Tamper::WrongKey) => &association.wrong_key,
            Some(Tamper::WrongSci) => &association.wrong_sci,
            Some(Tamper::Forged | Tamper::Truncated) | None => &association.right,
        };
        let send_sci = sci || tamper == Some(Tamper::WrongSci);
        let seal = Seal { an: an & 3, pn, encrypt: encrypted, send_sci, end_station: false };
        let mut sealed = sa.protect(&seal, frame);
        match (tamper, sealed.last_mut()) {
            (Some(Tamper::Forged), Some(last)) => *last = !*last,
            (Some(Tamper::Truncated), _) => sealed.truncate(CUT),
            _ => {}
        }
        sealed
    }

    /// What `end` has sent, in clear, and how it was protected; `None` for a frame that is not. `heard` is what was heard of
    /// it so far. Of a frame whose tag cannot be right nothing is left in clear.
    pub fn open(&self, end: End, heard: &Heard, frame: &[u8]) -> Option<(Vec<u8>, Secured)> {
        if !is_protected(frame) {
            return None;
        }
        let (shown, opened) = self.tried(end, heard.lowest, frame);
        // One that does not open may be the first of an association that has begun again.
        let again =
            || Some(self.tried(end, heard.first, frame)).filter(|(_, opened)| sound(opened));
        let other = if self.suite.is_xpn() && !sound(&opened) { again() } else { None };
        let (shown, opened) = other.unwrap_or((shown, opened));
        let association = self.association(end, shown.an);
        let truncated = Secured { tamper: Some(Tamper::Truncated), ..shown };
        let Some(opened) = opened else { return Some((Vec::new(), truncated)) };
        let named =
            ethernet::Repr::parse(frame).ok().and_then(|(link, _)| opened.tag.sci(link.src));
        let by = |sa: &Sa| sa.open(frame, shown.pn).ok().filter(|opened| opened.icv_ok);
        let clear = |other: Option<Opened>, opened: Opened| other.unwrap_or(opened).frame;
        Some(if named.is_some_and(|named| named != association.right.sci()) {
            let secured = Secured { tamper: Some(Tamper::WrongSci), ..shown };
            (clear(by(&association.wrong_sci), opened), secured)
        } else if opened.icv_ok {
            (opened.frame, shown)
        } else {
            let other = by(&association.wrong_key);
            let forged = other.is_none() && plausible(&opened.frame);
            let tamper = if forged { Tamper::Forged } else { Tamper::WrongKey };
            (clear(other, opened), Secured { tamper: Some(tamper), ..shown })
        })
    }

    /// The whole packet number of a frame whose tag shows `low`, after what was heard.
    pub fn whole(&self, heard: &Heard, an: u8, low: u32) -> u64 {
        self.recovered(heard.lowest, an, low)
    }

    fn recovered(&self, lowest: [u64; 4], an: u8, low: u32) -> u64 {
        if self.suite.is_xpn() { recover(low, lowest[usize::from(an & 3)]) } else { low.into() }
    }

    /// What a frame's tag shows and its association opens, where the packet number is `lowest` at least. `None`: the tag
    /// cannot be right.
    fn tried(&self, end: End, lowest: [u64; 4], frame: &[u8]) -> (Secured, Option<Opened>) {
        let shown = self.shown(lowest, frame);
        let sa = &self.association(end, shown.an).right;
        (shown, sa.open(frame, lowest[usize::from(shown.an)]).ok())
    }

    /// What the octets of a tag show, whether it can be right or not.
    fn shown(&self, lowest: [u64; 4], frame: &[u8]) -> Secured {
        let octet = frame.get(TCI).copied().unwrap_or_default();
        let an = octet & tci::AN;
        let pn = frame.get(PN).and_then(|pn| pn.first_chunk()).copied().unwrap_or_default();
        let pn = self.recovered(lowest, an, u32::from_be_bytes(pn));
        let (encrypted, sci) = (octet & tci::E != 0, octet & tci::SC != 0);
        Secured { an, pn, encrypted, sci, tamper: None }
    }

    fn association(&self, end: End, an: u8) -> &Association {
        let all = match end {
            End::Rig => &self.rig,
            End::Dut => &self.dut,
        };
        &all[usize::from(an & 3)]
    }
}

/// The greatest packet number heard of one end by each association, and that which it began with: of extended ones a tag
/// shows half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heard {
    lowest: [u64; 4],
    first: [u64; 4],
}

impl Heard {
    /// Nothing yet, of an end whose associations begin at `first`.
    pub const fn from(first: u64) -> Heard {
        Heard { lowest: [first; 4], first: [first; 4] }
    }

    /// A frame was heard. One that is wrong says nothing.
    pub fn saw(&mut self, secured: &Secured) {
        let lowest = &mut self.lowest[usize::from(secured.an & 3)];
        if secured.tamper.is_none() {
            *lowest = secured.pn.max(*lowest);
        }
    }

    /// An association begins again, at `first`.
    pub fn begin(&mut self, an: u8, first: u64) {
        let an = usize::from(an & 3);
        (self.lowest[an], self.first[an]) = (first, first);
    }

    /// An association may begin again at `first`, with frames from before still on their way.
    pub fn may_begin(&mut self, first: u64) {
        self.first = [first; 4];
    }
}

impl Default for Heard {
    fn default() -> Heard {
        Heard::from(1)
    }
}

/// Whether a frame was opened and is right.
fn sound(opened: &Option<Opened>) -> bool {
    opened.as_ref().is_some_and(|opened| opened.icv_ok)
}

/// Whether a frame is protected, as its EtherType says.
pub fn is_protected(frame: &[u8]) -> bool {
    frame.get(12..14) == Some(&ethertype::MACSEC.to_be_bytes())
}

/// Whether a frame may be what somebody meant: noise hardly has the type of anything that the rig sends.
fn plausible(frame: &[u8]) -> bool {
    let kind = ethernet::Repr::parse(frame).map(|(link, _)| link.ethertype);
    matches!(kind, Ok(ethertype::IPV4 | ethertype::IPV6 | ethertype::MAC_CONTROL))
}

const fn suite(suite: CipherSuite) -> Suite {
    match suite {
        CipherSuite::GcmAes128 => Suite::GcmAes128,
        CipherSuite::GcmAes256 => Suite::GcmAes256,
        CipherSuite::GcmAesXpn128 => Suite::GcmAesXpn128,
        CipherSuite::GcmAesXpn256 => Suite::GcmAesXpn256,
    }
}

#[cfg(test)]
mod tests;
