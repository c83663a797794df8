//! The sending half: the packet numbers of the association in use (IEEE 802.1AE 10.5).

use super::Config;
use crate::model::packet::Tag;
use rig_lab::Macsec;

/// The association that frames are sent with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sender {
    an: u8,
    /// Packet number of the next frame; `None` when they are used up.
    next_pn: Option<u64>,
}

impl Sender {
    /// The association that is configured, with nothing sent.
    pub(super) fn new(config: &Config) -> Sender {
        Sender { an: config.an, next_pn: usable(config, config.next_pn.unwrap_or(1)) }
    }

    /// Goes on with the packet number that is configured, in the association that it has.
    pub(super) fn go_on(&mut self, config: &Config) {
        self.next_pn = Sender::new(config).next_pn;
    }

    /// The tag of the next frame, if there is a packet number left for it. The tag has the lower half of a longer one.
    pub(super) fn tag(&mut self, config: &Config) -> Option<Tag> {
        let pn = self.next_pn?;
        self.next_pn = match pn.checked_add(1).and_then(|next| usable(config, next)) {
            None if config.faults.macsec_pn_wraps => Some(0),
            next => next,
        };
        let [.., a, b, c, d] = pn.to_be_bytes();
        Some(Tag {
            an: self.an,
            pn: u32::from_be_bytes([a, b, c, d]),
            encrypted: config.encrypts,
            sci: config.sends_sci,
            tamper: None,
        })
    }
}

/// A packet number, if the cipher suite has it: no nonce is used twice with one key.
fn usable(config: &Config, pn: u64) -> Option<u64> {
    (config.extended || pn <= Macsec::MOST_PN).then_some(pn)
}
