//! How frames of the rig are protected by MACsec (IEEE 802.1AE), and what is done to them on purpose.

use core::fmt;
use rig_lab::macsec::overhead;
use rig_lab::{CipherSuite, Form, Keys, Macsec, Policy};

/// What is wrong with a protected frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tamper {
    /// The ICV is wrong, all else as it was.
    Forged,
    /// Sealed with a key that nobody has.
    WrongKey,
    /// It names a secure channel that the peer does not have.
    WrongSci,
    /// Cut within the SecTAG.
    Truncated,
}

/// How a frame is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum MacsecMode {
    /// As the peer of the device would.
    #[default]
    Usual,
    /// Without MACsec.
    Clear,
    /// With MACsec.
    Sound,
    /// Sound, with the packet number of so many frames before, 1 of the one just before. The frame after it goes on as if it had
    /// not been sent.
    Late(u32),
    /// Sound, of this association, whichever is in use.
    Of(u8),
    /// With MACsec, and wrong.
    Tampered(Tamper),
}

impl MacsecMode {
    /// Their names in YAML.
    pub const NAMES: [(&str, MacsecMode); 8] = [
        ("usual", MacsecMode::Usual),
        ("clear", MacsecMode::Clear),
        ("protected", MacsecMode::Sound),
        ("replayed", MacsecMode::Late(1)),
        ("forged", MacsecMode::Tampered(Tamper::Forged)),
        ("wrong-key", MacsecMode::Tampered(Tamper::WrongKey)),
        ("wrong-sci", MacsecMode::Tampered(Tamper::WrongSci)),
        ("truncated", MacsecMode::Tampered(Tamper::Truncated)),
    ];
}

impl fmt::Display for MacsecMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MacsecMode::Late(by) if *by > 1 => write!(f, "late by {by}"),
            MacsecMode::Of(an) => write!(f, "of association {an}"),
            other => {
                let name =
                    MacsecMode::NAMES.into_iter().find(|(_, macsec_mode)| macsec_mode == other);
                f.write_str(name.map_or("", |(name, _)| name))
            }
        }
    }
}

/// What MACsec shows of a frame on the wire: its SecTAG (clause 9), and what was found wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Secured {
    /// Association number.
    pub an: u8,
    /// Packet number, all of it: a SecTAG has its lower 32 bits.
    pub pn: u64,
    /// Whether it was encrypted, or protected alone.
    pub encrypted: bool,
    /// Whether the SecTAG has the channel's identifier (SCI): 8 bytes more.
    pub sci: bool,
    /// What is wrong with it.
    pub tamper: Option<Tamper>,
}

impl Secured {
    /// Bytes that it adds to the frame: SecTAG and ICV.
    pub const fn overhead(&self) -> u16 {
        overhead(self.sci)
    }
}

/// How the rig's ports and the device's protect their frames for one another in one trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protection {
    /// What frames are protected with.
    pub suite: CipherSuite,
    /// Whether they are encrypted, or protected alone.
    pub encrypt: bool,
    /// Whether every SecTAG has the channel's identifier.
    pub sci: bool,
    /// The association number that both begin with.
    pub an: u8,
    /// Packet number that the device begins with, by each association.
    pub next_pn: u64,
    /// In which form the device sends PFC.
    pub pfc: Form,
    /// The lab's keys.
    pub keys: Keys,
}

impl Protection {
    /// What `declared` asks for, with the keys of a lab; `None` where its ports speak no MACsec.
    pub fn of(declared: &Macsec, keys: Option<&Keys>) -> Option<Protection> {
        let keys = keys.filter(|_| declared.enable)?.clone();
        Some(Protection {
            suite: declared.cipher_suite,
            encrypt: declared.policy == Policy::Security,
            sci: declared.send_sci,
            an: declared.encoding_sa,
            next_pn: declared.next_pn.unwrap_or(1),
            pfc: declared.sent(),
            keys,
        })
    }
}

/// Which forms of PFC a rig port obeys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Takes {
    /// Clear or encrypted.
    #[default]
    Either,
    /// In clear alone.
    Clear,
    /// Encrypted alone.
    Encrypted,
}

impl Takes {
    /// Their names in YAML.
    pub const NAMES: [(&str, Takes); 3] =
        [("either", Takes::Either), ("clear", Takes::Clear), ("encrypted", Takes::Encrypted)];
}
