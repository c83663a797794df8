//! Keys of a lab. They are never printed: what is shown of one is its length, and of a mistake in one its position. The memory
//! that held one is overwritten before it is given back.

use crate::fault::brief;
use core::fmt;
use core::ops::Range;
use zeroize::Zeroizing;

/// So much of a message is looked through for keys, in characters; the rest of it is not shown.
const MOST_LOOKED_AT: usize = 4_000;

/// Bytes that nobody is to read.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<Vec<u8>>);

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
        // With room for all at once: a buffer that grows leaves copies of what it held.
        let mut nibbles = Zeroizing::new(Vec::with_capacity(text.len()));
        for digit in text.chars().enumerate() {
            nibbles.push(nibble(digit)?);
        }
        let (pairs, odd) = nibbles.as_chunks::<2>();
        if !odd.is_empty() {
            return Err(format!("{} hexadecimal digits, an odd number", nibbles.len()));
        }
        Ok(Secret(Zeroizing::new(pairs.iter().map(|[hi, lo]| hi << 4 | lo).collect())))
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

    /// The salt of extended packet numbering (IEEE 802.1AE-2018).
    pub fn salt(&self) -> [u8; Keys::SALT] {
        self.salt.bytes().first_chunk().copied().unwrap_or_default()
    }
}

/// The text of a line with what may be a key hidden: every letter and digit after its key, or all where there is none or it is
/// what looks like a key.
pub(crate) fn masked(line: &str) -> String {
    let from = line.find(':').map_or(0, |colon| colon + 1);
    let (key, rest) = line.split_at(if looks_like_one(&line[..from]) { 0 } else { from });
    let hidden = rest.chars().map(|c| if c.is_alphanumeric() { '*' } else { c });
    key.chars().chain(hidden).collect()
}

/// Whether a text may hold a key wherever it stands.
pub(crate) fn looks_like_one(text: &str) -> bool {
    !suspects(text).is_empty()
}

/// A message as it is printed: what looks like a key in it is hidden, and what is long is cut.
pub(crate) fn shown(message: &str) -> String {
    // Cut first, and well behind where it is cut again: what is left of a key there is not shown.
    let head = message.char_indices().nth(MOST_LOOKED_AT).map_or(message.len(), |(end, _)| end);
    let more = if head < message.len() { "..." } else { "" };
    brief(&format!("{}{more}", hidden(&message[..head])))
}

/// A text in which whatever looks like a key is hidden: for messages that quote what somebody typed or what stands in a file.
pub fn hidden(text: &str) -> String {
    let suspects = suspects(text);
    let star = |(at, c): (usize, char)| {
        if c != ' ' && suspects.iter().any(|run| run.contains(&at)) { '*' } else { c }
    };
    text.char_indices().map(star).collect()
}

/// Where a text may hold a key: 12 hexadecimal digits in a row of which one is a letter, or as many plain ones as a key or a salt
/// has: any other long number is a number. The same where they come in groups of one size, with a blank, colon, dash or dot
/// between two.
fn suspects(text: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<(usize, Range<usize>)> = Vec::new();
    for (at, _) in text.char_indices().filter(|(_, c)| c.is_ascii_hexdigit()) {
        match runs.last_mut() {
            Some((size, run)) if run.end == at => {
                run.end = at + 1;
                *size += 1;
            }
            _ => runs.push((1, at..at + 1)),
        }
    }
    // The letters of a word, such as the last three of IEEE, are none of a group's.
    let of_a_word = |run: &Range<usize>| {
        let letter =
            |c: Option<char>| c.is_some_and(|c| c.is_alphabetic() && !c.is_ascii_hexdigit());
        let beside = [text[..run.start].chars().next_back(), text[run.end..].chars().next()];
        !text[run.clone()].contains(|c: char| c.is_ascii_digit()) && beside.into_iter().any(letter)
    };
    let mut groups: Vec<(usize, Range<usize>)> = Vec::new();
    for (size, run) in runs {
        if of_a_word(&run) {
            groups.push((0, run));
            continue;
        }
        let apart =
            |group: &Range<usize>| matches!(&text[group.end..run.start], " " | ":" | "-" | ".");
        match groups.last_mut() {
            Some((first, group)) if *first > 1 && size <= *first && apart(group) => {
                group.end = run.end;
            }
            _ => groups.push((size, run)),
        }
    }
    let suspect = |group: &Range<usize>| {
        let digits = || text[group.clone()].chars().filter(char::is_ascii_hexdigit);
        let (count, letters) = (digits().count(), digits().any(|c| c.is_ascii_alphabetic()));
        let of_a_key = [Keys::SALT].iter().chain(&Keys::LENGTHS).any(|bytes| count == 2 * bytes);
        of_a_key || letters && count >= 12
    };
    groups.into_iter().map(|(_, group)| group).filter(suspect).collect()
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
    fn nothing_is_left_of_a_secret_where_it_was() {
        let secret = Secret::from_hex(&"5a".repeat(64)).expect("hexadecimal digits");
        let at = u64::try_from(secret.bytes().as_ptr().addr()).expect("an address");
        let memory = std::fs::File::open("/proc/self/mem").expect("ours");
        let there = || {
            let mut bytes = [0; 64];
            std::os::unix::fs::FileExt::read_exact_at(&memory, &mut bytes, at).expect("mapped");
            // What keeps memory writes into the beginning of what is given back.
            bytes[32..].to_vec()
        };
        assert_eq!(there(), [0x5a; 32]);
        drop(secret);
        assert_ne!(there(), [0x5a; 32]);
    }

    #[test]
    fn what_follows_the_key_of_a_line_is_hidden() {
        assert_eq!(masked("  salt: 00ff"), "  salt: ****");
        assert_eq!(masked("    - \"hunter2\""), "    - \"*******\"");
        assert_eq!(masked("  00ff00ff00ff00ff: 1"), "  ****************: *");
    }

    #[test]
    fn what_looks_like_a_key_is_hidden_wherever_it_is_quoted() {
        let all = [
            ("unknown key `0123456789ab`", "unknown key `************`"),
            ("`k00FF00ff00ff:x`", "`k************:x`"),
            ("`01 23 45 67 89 ab`", "`** ** ** ** ** **`"),
            ("01:23:45:67:89:ab:c", "*******************"),
            ("0123-4567-89ab", "**************"),
            ("key01-23-45-67-89-ab", "key*****************"),
            ("keyabcdefabcdef", "key************"),
            ("1234567890 and 123456789012345678901234", "1234567890 and ************************"),
        ];
        for (text, want) in all {
            assert_eq!(hidden(text), want);
            assert!(looks_like_one(text), "{text}");
        }
        let none = [
            "0123456789a",
            "18446744073709551616",
            "123456789012345678901234567890",
            "2026-11-22 18:11:39",
            "12 bytes, 16 or 32",
            "# IEEE 802.3 31B.3.7 at 100Gbps",
            "{0: 1, 2: 3}",
        ];
        for text in none {
            assert_eq!(hidden(text), text);
        }
    }
}
