//! A rig port as the peer of a device that speaks MACsec (IEEE 802.1AE): how it protects what it sends, with which packet
//! numbers, and which PFC it obeys.
//!
//! Left out on purpose: every check of data that it receives. What the device sends is judged by whoever reads the capture.

use rig_frames::MacAddr;
use rig_frames::macsec::BadKey;
use rig_testcases::wire::macsec::{Cable, End, Heard, is_protected};
use rig_testcases::{EndpointSpec, Form, MacsecMode, Protection, Secured, Takes, Tamper};
use std::borrow::Cow;

/// A port's side of MACsec.
#[derive(Debug, Clone)]
pub struct Peer {
    cable: Cable,
    extended: bool,
    /// Association number of what it sends.
    an: u8,
    /// Packet number of the next frame that it protects.
    next_pn: u64,
    encrypted: bool,
    sci: bool,
    /// How its PFC frames travel, where nothing else is asked for.
    pfc: Form,
    takes: Takes,
    /// Packet number that the device's associations begin with.
    first: u64,
    heard: Heard,
}

impl Peer {
    /// Rig port `port`, which has protected nothing yet.
    ///
    /// # Errors
    /// When a key is too short for the cipher suite.
    pub fn of(protection: &Protection, port: u16, endpoint: EndpointSpec) -> Result<Peer, BadKey> {
        Ok(Peer {
            cable: Cable::of(protection, port)?,
            extended: protection.suite.is_extended(),
            an: protection.an,
            next_pn: endpoint.pn.into(),
            encrypted: protection.encrypt,
            sci: protection.sci,
            pfc: protection.pfc,
            takes: endpoint.pfc,
            first: protection.next_pn,
            heard: Heard::from(protection.next_pn),
        })
    }

    /// Goes on with another association, from the first packet number.
    pub fn rekey(&mut self, an: u8) {
        (self.an, self.next_pn) = (an, 1);
        self.heard.begin(an, self.first);
    }

    /// The device goes on with the packet number `first`.
    pub fn renumber(&mut self, first: u64) {
        self.first = first;
        self.heard.may_begin(first);
    }

    /// How the next frame is protected if it leaves now; `None`: it leaves in clear.
    pub fn next(&self, macsec_mode: MacsecMode, is_pfc: bool) -> Option<Secured> {
        let usual =
            if is_pfc && self.pfc == Form::Clear { MacsecMode::Clear } else { MacsecMode::Sound };
        let macsec_mode = if macsec_mode == MacsecMode::Usual { usual } else { macsec_mode };
        let an = if let MacsecMode::Of(an) = macsec_mode { an } else { self.an };
        let (pn, tamper) = match macsec_mode {
            MacsecMode::Clear => return None,
            MacsecMode::Usual | MacsecMode::Sound | MacsecMode::Of(_) => (self.next_pn, None),
            MacsecMode::Late(by) => (self.next_pn.saturating_sub(by.into()), None),
            MacsecMode::Tampered(tamper) => (self.next_pn, Some(tamper)),
        };
        // What names another channel names it.
        let sci = self.sci || tamper == Some(Tamper::WrongSci);
        Some(Secured { an, pn, encrypted: self.encrypted, sci, tamper })
    }

    /// A frame with [`next`](Self::next) of this MACsec mode leaves.
    pub fn left(&mut self, macsec_mode: MacsecMode) {
        if !matches!(macsec_mode, MacsecMode::Late(_) | MacsecMode::Clear) {
            let next = self.next_pn.wrapping_add(1);
            self.next_pn = if self.extended { next } else { next & u64::from(u32::MAX) };
        }
    }

    /// `frame` as it goes onto the cable.
    pub fn seal(&self, secured: &Secured, frame: &[u8]) -> Vec<u8> {
        self.cable.seal(End::Rig, secured, frame)
    }

    /// A frame that arrived, in clear, if the port obeys it in the form in which it came. Behind a tag only MAC Control is
    /// opened: addresses can be read in any frame.
    pub fn heeds<'a>(&mut self, frame: &'a [u8]) -> Option<Cow<'a, [u8]>> {
        if !is_protected(frame) {
            return (self.takes != Takes::Encrypted).then_some(Cow::Borrowed(frame));
        }
        if frame.get(..6) != Some(&MacAddr::MAC_CONTROL.0) {
            return None;
        }
        let (clear, secured) = self.cable.open(End::Dut, &self.heard, frame)?;
        self.heard.saw(&secured);
        (self.takes != Takes::Clear && secured.tamper.is_none()).then_some(Cow::Owned(clear))
    }
}

#[cfg(test)]
pub(crate) mod tests;
