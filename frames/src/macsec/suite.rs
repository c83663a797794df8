//! Cipher suites (IEEE 802.1AE clause 14): AES in Galois/counter mode, with two key lengths and two packet number lengths.

use super::ICV;
use aes_gcm::aead::{AeadInOut, KeyInit};
use aes_gcm::{Aes128Gcm, Aes256Gcm};
use core::fmt;

/// Length of an initialisation vector, in bytes (clause 14.5).
pub(super) const IV: usize = 12;

/// A cipher suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Suite {
    /// GCM-AES-128, the default one (clause 14.5).
    GcmAes128,
    /// GCM-AES-256 (clause 14.6).
    GcmAes256,
    /// GCM-AES-XPN-128, with 64-bit packet numbers (clause 14.7).
    GcmAesXpn128,
    /// GCM-AES-XPN-256, with 64-bit packet numbers (clause 14.8).
    GcmAesXpn256,
}

impl Suite {
    /// Every suite.
    pub const ALL: [Suite; 4] =
        [Suite::GcmAes128, Suite::GcmAes256, Suite::GcmAesXpn128, Suite::GcmAesXpn256];

    /// Length of a key, in bytes.
    pub const fn key_len(self) -> usize {
        match self {
            Suite::GcmAes128 | Suite::GcmAesXpn128 => 16,
            Suite::GcmAes256 | Suite::GcmAesXpn256 => 32,
        }
    }

    /// Whether packet numbers have 64 bits, of which the tag carries the low half.
    pub const fn is_xpn(self) -> bool {
        matches!(self, Suite::GcmAesXpn128 | Suite::GcmAesXpn256)
    }
}

impl fmt::Display for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Suite::GcmAes128 => "GCM-AES-128",
            Suite::GcmAes256 => "GCM-AES-256",
            Suite::GcmAesXpn128 => "GCM-AES-XPN-128",
            Suite::GcmAesXpn256 => "GCM-AES-XPN-256",
        })
    }
}

/// A key with its schedule made, which is the slow part. Boxed, because a schedule is long and an SA is passed about.
#[derive(Clone)]
pub(super) enum Cipher {
    Aes128(Box<Aes128Gcm>),
    Aes256(Box<Aes256Gcm>),
}

impl Cipher {
    /// `None` when the key has another length than the suite's.
    pub(super) fn new(suite: Suite, key: &[u8]) -> Option<Cipher> {
        match suite.key_len() {
            16 => Aes128Gcm::new_from_slice(key).ok().map(|gcm| Cipher::Aes128(Box::new(gcm))),
            _ => Aes256Gcm::new_from_slice(key).ok().map(|gcm| Cipher::Aes256(Box::new(gcm))),
        }
    }

    /// Encrypts `secret` in place; the ICV covers `clear` and what `secret` became. The mode is a key stream, so
    /// encrypting once more decrypts.
    pub(super) fn encrypt(&self, iv: [u8; IV], clear: &[u8], secret: &mut [u8]) -> [u8; ICV] {
        let (iv, secret) = (iv.into(), secret.into());
        let icv = match self {
            Cipher::Aes128(gcm) => gcm.encrypt_inout_detached(&iv, clear, secret),
            Cipher::Aes256(gcm) => gcm.encrypt_inout_detached(&iv, clear, secret),
        };
        match icv {
            Ok(icv) => icv.into(),
            Err(aes_gcm::Error) => unreachable!("no frame is as long as the 64 GiB of GCM"),
        }
    }

    /// Decrypts `secret` in place when the ICV is right; when it is not, leaves it as it was.
    pub(super) fn decrypt(
        &self,
        iv: [u8; IV],
        clear: &[u8],
        secret: &mut [u8],
        icv: [u8; ICV],
    ) -> bool {
        let (iv, secret, icv) = (iv.into(), secret.into(), icv.into());
        match self {
            Cipher::Aes128(gcm) => gcm.decrypt_inout_detached(&iv, clear, secret, &icv),
            Cipher::Aes256(gcm) => gcm.decrypt_inout_detached(&iv, clear, secret, &icv),
        }
        .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_of_a_key_schedule() {
        fn wiped<T: zeroize::ZeroizeOnDrop>() {}
        wiped::<Aes128Gcm>();
        wiped::<Aes256Gcm>();
    }

    #[test]
    fn a_suite_reads_as_the_standard_names_it() {
        let names = Suite::ALL.map(|suite| suite.to_string());
        assert_eq!(names, ["GCM-AES-128", "GCM-AES-256", "GCM-AES-XPN-128", "GCM-AES-XPN-256"]);
    }

    #[test]
    fn a_key_of_another_length_makes_no_cipher() {
        for suite in Suite::ALL {
            for len in 0..=40 {
                let made = Cipher::new(suite, &[7; 40][..len]).is_some();
                assert_eq!(made, len == suite.key_len(), "{suite} with {len} bytes");
            }
        }
    }

    #[test]
    fn a_wrong_icv_leaves_the_secret_as_it_was() {
        let cipher = Cipher::new(Suite::GcmAes128, &[7; 16]).unwrap();
        let mut secret = *b"sixteen bytes or so";
        let icv = cipher.encrypt([1; IV], b"clear", &mut secret);
        let sealed = secret;
        assert!(!cipher.decrypt([1; IV], b"clear", &mut secret, icv.map(|byte| !byte)));
        assert_eq!(secret, sealed);
        assert!(cipher.decrypt([1; IV], b"clear", &mut secret, icv));
        assert_eq!(&secret, b"sixteen bytes or so");
    }
}
