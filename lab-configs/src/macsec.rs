//! MACsec on the front-panel ports (IEEE 802.1AE), with SONiC's names where it has them (`MACSEC_PROFILE`, `MACSEC_PORT`).
//!
//! One configuration for every port. The peer of a port is keyed as the port is: both number their associations alike, so that
//! one AN stands for both directions.
//!
//! Left out on purpose: key agreement (IEEE 802.1X MKA), whose outcome is what stands here; confidentiality offsets other than 0;
//! and `validateFrames` other than strict.

use crate::field::Holds::{Count, Range, Switch, Word};
use crate::field::{Field, needed, optional};
use rig_units::{Bytes, Dur, MIN_FRAME, Within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// MACsec of a switch, the same on every port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Macsec {
    /// Whether every front-panel port speaks MACsec. All else says nothing while it does not.
    pub enable: bool,
    /// What frames are protected with.
    pub cipher_suite: CipherSuite,
    /// Whether frames are encrypted or only protected.
    pub policy: Policy,
    /// Whether every SecTAG names its secure channel: 8 bytes more.
    pub send_sci: bool,
    /// Whether frames that are older than the window are dropped.
    pub enable_replay_protect: bool,
    /// How many frames one may be late by (802.1AE replayWindow), in frames.
    pub replay_window: u32,
    /// What becomes of PFC frames in either form, and in which form they are sent.
    pub pfc_encryption_mode: PfcMode,
    /// What becomes of PFC frames in clear. Absent: as the mode says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pfc_clear: Option<Reception>,
    /// What becomes of protected PFC frames. Absent: as the mode says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pfc_encrypted: Option<Reception>,
    /// In which form PFC frames are sent. Absent: as the mode says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pfc_sent: Option<Form>,
    /// What a frame takes longer on its way in, and once more on its way out, of each anew. No frame overtakes another.
    pub latency: Within,
    /// What each byte of it in clear, FCS counted, adds to that: of a block that takes a frame in whole before it checks or seals it, the time of
    /// a byte on the cable. Absent: nothing, the latency is the same whatever the size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_per_byte: Option<Within>,
    /// The association number in use, 0 to 3 (802.1AE encodingSA). A change of it is a rekey.
    pub encoding_sa: u8,
    /// Packet number of the first frame sent with an association (`SAI_MACSEC_SA_ATTR_CONFIGURED_EGRESS_XPN`). Absent: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_pn: Option<u64>,
}

/// What frames are protected with (IEEE 802.1AE clause 14).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum CipherSuite {
    /// 128-bit keys, 32-bit packet numbers.
    #[serde(rename = "GCM-AES-128")]
    GcmAes128,
    /// 256-bit keys, 32-bit packet numbers.
    #[serde(rename = "GCM-AES-256")]
    GcmAes256,
    /// 128-bit keys, 64-bit packet numbers.
    #[serde(rename = "GCM-AES-XPN-128")]
    GcmAesXpn128,
    /// 256-bit keys, 64-bit packet numbers.
    #[serde(rename = "GCM-AES-XPN-256")]
    GcmAesXpn256,
}

/// What protection means (SONiC `MACSEC_PROFILE` `policy`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Frames are encrypted and authenticated.
    Security,
    /// Frames are authenticated and can be read by anybody.
    IntegrityOnly,
}

/// What protection adds to a frame, in bytes: a SecTAG of 8 with its EtherType, or 16 where it names its channel (`sci`), and an
/// ICV of 16 (IEEE 802.1AE 9.3, 14.5). The bytes themselves are made in `frames`, which a test holds against this.
pub const fn overhead(sci: bool) -> u16 {
    if sci { 32 } else { 24 }
}

/// How PFC and MACsec meet. The first three are SONiC's (`pfc_encryption_mode`); the others are what devices are known to do
/// that do not understand one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PfcMode {
    /// Sends clear; obeys clear ones and ignores protected ones: PFC lies below MACsec.
    Bypass,
    /// Sends protected; obeys both.
    Encrypt,
    /// Sends protected; obeys protected ones and ignores clear ones.
    StrictEncrypt,
    /// Sends clear; obeys clear ones and counts protected ones as bad.
    ClearOnly,
    /// Sends protected; obeys protected ones and counts clear ones as bad.
    EncryptedOnly,
}

/// What becomes of a PFC frame that arrives in one form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reception {
    /// It is obeyed.
    Honour,
    /// It is dropped, and is no error of the port.
    Ignore,
    /// It is dropped and counts as an error of the port.
    Bad,
}

/// In which form a PFC frame travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// As an ordinary MAC control frame.
    Clear,
    /// Behind a SecTAG, as data is.
    Encrypted,
}

impl CipherSuite {
    /// Length of a key, in bytes.
    pub const fn key_len(self) -> usize {
        match self {
            CipherSuite::GcmAes128 | CipherSuite::GcmAesXpn128 => 16,
            CipherSuite::GcmAes256 | CipherSuite::GcmAesXpn256 => 32,
        }
    }

    /// Whether packet numbers have 64 bits (IEEE 802.1AEbw).
    pub const fn is_extended(self) -> bool {
        matches!(self, CipherSuite::GcmAesXpn128 | CipherSuite::GcmAesXpn256)
    }
}

/// A value that its setting may not have: the path below `declared:`, what stands there, what would be accepted.
pub type OutOfRange = (&'static str, String, String);

impl Macsec {
    /// Its fields, a row each. The policy and the cipher suite belong to the keys, which SONiC agrees on anew with the profile: they are not
    /// changed while the device runs.
    pub const FIELDS: &[Field] = &[
        needed("enable", Switch, "false").by_case().live().tried(&["false"]),
        needed("cipher_suite", Word, "GCM-AES-128").by_case().tried(&[
            "GCM-AES-128",
            "GCM-AES-256",
            "GCM-AES-XPN-128",
            "GCM-AES-XPN-256",
        ]),
        needed("policy", Word, "security").by_case().tried(&["security", "integrity_only"]),
        needed("send_sci", Switch, "true").by_case().tried(&["true", "false"]),
        needed("enable_replay_protect", Switch, "false").by_case().live().tried(&["true", "false"]),
        // Around the window of the case that has one.
        needed("replay_window", Count, "0").by_case().live().tried(&["0", "7", "9"]),
        needed("pfc_encryption_mode", Word, "bypass").by_case().live().tried(&[
            "bypass",
            "encrypt",
            "strict_encrypt",
            "clear_only",
            "encrypted_only",
        ]),
        optional("pfc_clear", Word).by_case().live().tried(&["honour", "ignore", "bad", "never"]),
        optional("pfc_encrypted", Word)
            .by_case()
            .live()
            .tried(&["honour", "ignore", "bad", "never"]),
        optional("pfc_sent", Word).by_case().live().tried(&["clear", "encrypted", "never"]),
        needed("latency", Range, "0ms").varies(),
        // What a byte lasts at 100 Gb/s.
        optional("latency_per_byte", Range).varies().tried(&["80ps"]),
        needed("encoding_sa", Count, "0").by_case().live().tried(&["1", "2", "3"]),
        optional("next_pn", Count).by_case().live().tried(&["never", "1000"]),
    ];

    /// The greatest association number: the SecTAG has two bits for it (IEEE 802.1AE 9.5).
    pub const MOST_AN: u8 = 3;
    /// The greatest packet number of 32 bits (IEEE 802.1AE 10.5.2): the last that an association may use.
    pub const MOST_PN: u64 = u32::MAX as u64;
    /// The most that a byte may add to a frame's latency: what it lasts at 8 Mb/s. The longest frame takes less than 10 ms then.
    pub const MOST_PER_BYTE: Dur = Dur::us(1);
    /// The widest window with packet numbers of 64 bits: beyond it their upper half could not be told (IEEE 802.1AEbw 10.7.8).
    pub const MOST_WINDOW_XPN: u32 = (1 << 30) - 1;

    /// No MACsec on any port.
    pub const fn off() -> Macsec {
        Macsec {
            enable: false,
            cipher_suite: CipherSuite::GcmAes128,
            policy: Policy::Security,
            send_sci: true,
            enable_replay_protect: false,
            replay_window: 0,
            pfc_encryption_mode: PfcMode::Bypass,
            pfc_clear: None,
            pfc_encrypted: None,
            pfc_sent: None,
            latency: Within::ZERO,
            latency_per_byte: None,
            encoding_sa: 0,
            next_pn: None,
        }
    }

    /// In which form PFC frames are sent.
    pub fn sent(&self) -> Form {
        self.pfc_sent.unwrap_or(match self.pfc_encryption_mode {
            PfcMode::Bypass | PfcMode::ClearOnly => Form::Clear,
            PfcMode::Encrypt | PfcMode::StrictEncrypt | PfcMode::EncryptedOnly => Form::Encrypted,
        })
    }

    /// What protection adds to a frame, in bytes.
    pub const fn overhead(&self) -> u16 {
        overhead(self.send_sci)
    }

    /// Size of a PFC frame that it sends, as it travels, FCS counted.
    pub fn pfc_size(&self) -> Bytes {
        let tagged = self.enable && self.sent() == Form::Encrypted;
        MIN_FRAME + Bytes(if tagged { self.overhead().into() } else { 0 })
    }

    /// What it adds to the way of a PFC frame of this form, in either direction: one in clear goes past it.
    pub fn pfc_latency(&self, form: Form) -> Within {
        match (self.enable, form) {
            (true, Form::Encrypted) => self.takes(MIN_FRAME),
            (true, Form::Clear) | (false, _) => Within::ZERO,
        }
    }

    /// What a frame of this size takes longer, either way, where it is protected.
    pub fn takes(&self, size: Bytes) -> Within {
        self.latency_per_byte.map_or(self.latency, |byte| self.latency + byte.times(size.0))
    }

    /// What it adds to the way from port to port of a frame of this size.
    pub fn transit(&self, size: Bytes) -> Within {
        if self.enable { self.takes(size).times(2) } else { Within::ZERO }
    }

    /// Every value that lies outside its range.
    pub fn out_of_range(&self) -> Vec<OutOfRange> {
        let mut all = Vec::new();
        if self.encoding_sa > Macsec::MOST_AN {
            let found = format!("the association {}", self.encoding_sa);
            all.push(("macsec.encoding_sa", found, format!("0 to {}", Macsec::MOST_AN)));
        }
        if let Some(byte) = self.latency_per_byte.filter(|byte| byte.most() > Macsec::MOST_PER_BYTE)
        {
            let want = format!("up to {}", Macsec::MOST_PER_BYTE);
            all.push(("macsec.latency_per_byte", format!("{byte} for each byte"), want));
        }
        let extended = self.cipher_suite.is_extended();
        let most = if extended { u64::MAX } else { Macsec::MOST_PN };
        if let Some(pn) = self.next_pn.filter(|pn| !(1..=most).contains(pn)) {
            let found = format!("a packet number of {pn}");
            all.push(("macsec.next_pn", found, format!("1 to {most} with this cipher suite")));
        }
        if extended && self.replay_window > Macsec::MOST_WINDOW_XPN {
            let found = format!("a replay window of {} frames", self.replay_window);
            let want = format!("0 to {} with this cipher suite", Macsec::MOST_WINDOW_XPN);
            all.push(("macsec.replay_window", found, want));
        }
        all
    }
}

/// A profile that says nothing of it has none.
impl Default for Macsec {
    fn default() -> Macsec {
        Macsec::off()
    }
}

#[cfg(test)]
mod tests;
