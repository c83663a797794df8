//! The MACsec entity of one port (IEEE 802.1AE clause 10): protects what the port sends, checks and opens what it receives.
//!
//! Frames in clear go past it where they are MAC control and the policy lets them; all else in clear is dropped
//! (`validateFrames` strict). The peer numbers its associations as the port does, so that one AN stands for both directions: the
//! one in use and the one before it are received on, and one is sent on.
//!
//! Left out on purpose: cryptography, of which only the outcome matters; confidentiality offsets; more than one peer; and the
//! second replay check after validation, since no time passes between the two.

use super::packet::{Packet, PacketKind};
use receive::Receiver;
use rig_lab::{Form, Macsec, MacsecFaults, PfcMode, Policy, Reception};
use rig_testcases::Tamper;
use rig_units::{PortSpeed, Within};
use send::Sender;

mod counters;
mod receive;
mod send;
pub use counters::Counters;

/// Length of a PFC frame in clear, FCS counted.
const PFC: u64 = 64;

/// How a port speaks MACsec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// Whether packet numbers have 64 bits.
    pub extended: bool,
    /// Whether frames are encrypted, not only protected.
    pub encrypts: bool,
    /// Whether every tag names its secure channel.
    pub sends_sci: bool,
    /// Whether frames older than the window are dropped.
    pub replay_protect: bool,
    /// How many frames one may be late by.
    pub replay_window: u32,
    /// What becomes of PFC frames in clear.
    pub clear: Reception,
    /// What becomes of PFC frames behind a tag.
    pub encrypted: Reception,
    /// In which form PFC frames are sent.
    pub sent: Form,
    /// What a frame takes to get through, either way: any of these.
    pub latency: Within,
    /// What each of its bytes adds to that.
    pub latency_of_a_byte: Within,
    /// Association number in use, 0 to 3.
    pub an: u8,
    /// Packet number of the first frame sent with an association, if it was set: else 1.
    pub next_pn: Option<u64>,
    /// It protects with another cipher suite than it was configured to: neither end can open what the other sends.
    pub other_suite: bool,
    /// What it does wrong.
    pub faults: MacsecFaults,
}

impl Config {
    /// As a profile declares it; `None` where MACsec is not enabled.
    pub fn declared(declared: &Macsec) -> Option<Config> {
        let (clear, encrypted, sent) = pfc(declared.pfc_encryption_mode);
        declared.enable.then(|| Config {
            extended: declared.cipher_suite.is_extended(),
            encrypts: declared.policy == Policy::Security,
            sends_sci: declared.send_sci,
            replay_protect: declared.enable_replay_protect,
            replay_window: declared.replay_window,
            clear: declared.pfc_clear.unwrap_or(clear),
            encrypted: declared.pfc_encrypted.unwrap_or(encrypted),
            sent: declared.pfc_sent.unwrap_or(sent),
            latency: declared.latency,
            latency_of_a_byte: declared.latency_per_byte.unwrap_or(Within::ZERO),
            an: declared.encoding_sa & Macsec::MOST_AN,
            next_pn: declared.next_pn,
            other_suite: false,
            faults: MacsecFaults::NONE,
        })
    }

    /// Gives the port its faults.
    pub(super) fn install(&mut self, faults: &MacsecFaults) {
        self.faults = *faults;
        if faults.macsec_encrypted_pfc_dropped && self.encrypted == Reception::Honour {
            self.encrypted = Reception::Ignore;
        }
        if faults.macsec_clear_pfc_accepted {
            self.clear = Reception::Honour;
        }
        if faults.macsec_pfc_sent_clear {
            self.sent = Form::Clear;
        }
    }

    /// What the headroom of a port of `speed` was sized without, in bytes: the latency on the way out and back, and what
    /// protection adds to the PFC frame. Nothing, where nothing is wrong.
    pub(super) fn headroom_lacks(&self, speed: PortSpeed) -> u32 {
        if !self.faults.macsec_headroom_too_small || self.sent == Form::Clear {
            return 0;
        }
        let overhead = u64::from(rig_lab::macsec::overhead(self.sends_sci));
        let way = (self.pfc_takes().most() * 2).0 / speed.byte().0.max(1);
        u32::try_from(way + overhead).unwrap_or(u32::MAX)
    }

    /// What a PFC frame of the port takes longer: one in clear goes past MACsec.
    pub fn emission(&self) -> Within {
        if self.sent == Form::Encrypted { self.pfc_takes() } else { Within::ZERO }
    }

    /// What it takes to seal a PFC frame, or to open one.
    fn pfc_takes(&self) -> Within {
        self.latency + self.latency_of_a_byte.times(PFC)
    }
}

/// What a mode does to PFC frames that arrive in clear and protected, and how it sends its own.
const fn pfc(mode: PfcMode) -> (Reception, Reception, Form) {
    let (clear, encrypted) = match mode {
        PfcMode::Bypass => (Reception::Honour, Reception::Ignore),
        PfcMode::Encrypt => (Reception::Honour, Reception::Honour),
        PfcMode::StrictEncrypt => (Reception::Ignore, Reception::Honour),
        PfcMode::ClearOnly => (Reception::Honour, Reception::Bad),
        PfcMode::EncryptedOnly => (Reception::Bad, Reception::Honour),
    };
    let sent = match mode {
        PfcMode::Bypass | PfcMode::ClearOnly => Form::Clear,
        PfcMode::Encrypt | PfcMode::StrictEncrypt | PfcMode::EncryptedOnly => Form::Encrypted,
    };
    (clear, encrypted, sent)
}

/// What came of a frame that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// A frame of data, in clear.
    Data(Packet),
    /// A PFC frame that is obeyed, and by how much later because it was protected: any of these.
    Pfc(Packet, Within),
    /// Nothing.
    Gone,
}

/// The MACsec entity of one port.
#[derive(Debug, Clone)]
pub struct SecY {
    config: Config,
    sender: Sender,
    receiver: Receiver,
    counters: Counters,
}

impl SecY {
    /// One that has sent and received nothing.
    pub fn new(config: &Config) -> SecY {
        SecY {
            config: *config,
            sender: Sender::new(config),
            receiver: Receiver::new(),
            counters: Counters::default(),
        }
    }

    /// Goes by another configuration from the next frame on. Another AN is a rekey; a packet number that is set otherwise is
    /// that of the next frame.
    pub fn set(&mut self, config: &Config) {
        let before = core::mem::replace(&mut self.config, *config);
        if config.an != before.an {
            self.receiver.rekey(before.an, config);
            if !config.faults.macsec_an_not_switched {
                self.sender = Sender::new(config);
            }
        } else if config.next_pn.is_some() && config.next_pn != before.next_pn {
            self.sender.go_on(config);
        }
    }

    /// The frame as it goes onto the cable; `None` when the packet numbers of the association are used up.
    pub fn transmit(&mut self, packet: &Packet) -> Option<Packet> {
        if packet.kind == PacketKind::Pfc && self.config.sent == Form::Clear {
            if self.config.faults.macsec_clear_pfc_takes_number {
                self.sender.tag(&self.config);
            }
            return Some(*packet);
        }
        let mut tag = self.sender.tag(&self.config)?;
        if self.config.other_suite {
            tag.tamper = Some(Tamper::WrongKey);
        }
        self.counters.sent(packet, tag.encrypted);
        Some(packet.secured(tag))
    }

    /// What a frame comes to that arrived.
    pub fn receive(&mut self, packet: &Packet) -> Received {
        let (packet, tag) = packet.opened();
        let is_pfc = packet.kind == PacketKind::Pfc;
        let (reception, latency) = match tag {
            None if is_pfc => (self.clear_pfc(), Within::ZERO),
            None => {
                self.counters.no_tag += 1;
                return Received::Gone;
            }
            Some(mut tag) => {
                if self.config.other_suite {
                    tag.tamper = tag.tamper.or(Some(Tamper::WrongKey));
                }
                let is_valid = self.receiver.check(tag, is_pfc, &self.config, &mut self.counters);
                (self.protected(is_valid, is_pfc), self.config.pfc_takes())
            }
        };
        let honours = reception == Reception::Honour;
        match is_pfc {
            true if honours || self.config.faults.macsec_bad_frame_pauses => {
                Received::Pfc(packet, latency)
            }
            false if honours => Received::Data(packet),
            _ => Received::Gone,
        }
    }

    /// What becomes of a PFC frame in clear: one that is obeyed never reaches the SecY.
    const fn clear_pfc(&mut self) -> Reception {
        let reception = self.config.clear;
        if !matches!(reception, Reception::Honour) {
            self.counters.no_tag += 1;
        }
        self.judged(reception)
    }

    /// What becomes of a frame behind a tag.
    const fn protected(&mut self, is_valid: bool, is_pfc: bool) -> Reception {
        match (is_valid, is_pfc) {
            (false, _) => Reception::Ignore,
            (true, false) => Reception::Honour,
            (true, true) => self.judged(self.config.encrypted),
        }
    }

    /// A PFC frame that is bad is an error of the port.
    const fn judged(&mut self, reception: Reception) -> Reception {
        if matches!(reception, Reception::Bad) {
            self.counters.in_errors += 1;
        }
        reception
    }

    /// What it counted so far.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }
}

#[cfg(test)]
mod tests;
