//! Keys of a lab. They are never printed: what is shown of one is its length, and of a mistake in one its position.

use core::fmt;

/// Bytes that nobody is to read.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// Reads hexadecimal digits.
    ///
    /// # Errors
    /// Where it is none, without saying what stands there.
    pub fn from_hex(text: &str) -> Result<Secret, String> {
        let nibble = |(at, digit): (usize, char)| {
            let digit = digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            digit.ok_or_else(|| format!("character {} is no hexadecimal digit", at + 1))
        };
        let nibbles: Vec<u8> = text.chars().enumerate().map(nibble).collect::<Result<_, _>>()?;
        let (pairs, odd) = nibbles.as_chunks::<2>();
        if !odd.is_empty() {
            return Err(format!("{} hexadecimal digits, an odd number", nibbles.len()));
        }
        Ok(Secret(pairs.iter().map(|[hi, lo]| hi << 4 | lo).collect()))
    }

    /// The bytes, for who computes with them.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({} bytes)", self.0.len())
    }
}

/// What the ports of a lab and the device share for MACsec: the outcome of a key agreement (IEEE 802.1X MKA), fixed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    /// The secure association key (SAK) of each association number.
    pub saks: [Secret; 4],
    /// The salt of the extended packet numbers' suites (IEEE 802.1AEbw), 12 bytes.
    pub salt: Secret,
}

impl Keys {
    /// Bytes of a salt.
    pub const SALT: usize = 12;
    /// Bytes that a key may have: for suites of 128 bits, and for all.
    pub const LENGTHS: [usize; 2] = [16, 32];

    /// The longest key that every association has, in bytes.
    pub fn key_len(&self) -> usize {
        self.saks.iter().map(|sak| sak.bytes().len()).min().unwrap_or(0)
    }

    /// The salt.
    pub fn salt(&self) -> [u8; Keys::SALT] {
        self.salt.bytes().first_chunk().copied().unwrap_or_default()
    }
}

/// The text of a line with what may be a key hidden: every letter and digit after its key, or all where there is none.
pub(crate) fn masked(line: &str) -> String {
    let from = line.find(':').map_or(0, |colon| colon + 1);
    let (key, rest) = line.split_at(from);
    let hidden = rest.chars().map(|c| if c.is_alphanumeric() { '*' } else { c });
    key.chars().chain(hidden).collect()
}

/// Whether a line may hold a key wherever it stands: a run of 16 hexadecimal digits.
pub(crate) fn looks_like_one(line: &str) -> bool {
    let mut runs = line.split(|c: char| !c.is_ascii_hexdigit());
    runs.any(|run| run.len() >= 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_its_length_and_a_mistake_its_position() {
        let secret = Secret::from_hex("00ff10AB").unwrap();
        assert_eq!(secret.bytes(), [0, 255, 16, 171]);
        assert_eq!(format!("{secret:?}"), "Secret(4 bytes)");
        let bad = |text| Secret::from_hex(text).unwrap_err();
        assert_eq!(bad("00fg"), "character 4 is no hexadecimal digit");
        assert_eq!(bad("00f"), "3 hexadecimal digits, an odd number");
        assert!(Secret::from_hex("").unwrap().bytes().is_empty());
    }

    #[test]
    fn what_follows_the_key_of_a_line_is_hidden() {
        assert_eq!(masked("  salt: 00ff"), "  salt: ****");
        assert_eq!(masked("    - \"hunter2\""), "    - \"*******\"");
        assert!(looks_like_one("kees: [0123456789abcdef]"));
        assert!(!looks_like_one("source: [\"0123456789abcde\"]"));
    }
}
