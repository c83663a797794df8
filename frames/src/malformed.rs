//! The one error of every parser: which field, where, what was wanted, what was there.

use core::fmt;

/// A frame that does not follow its format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed {
    /// Dotted name of the field, as written in rules and reports; the bare name of the format when it is cut short.
    pub field: &'static str,
    /// First byte of the field, counted from the start of the format.
    pub offset: usize,
    /// What the format asks for.
    pub want: Want,
    /// The value, or the length in bytes, found.
    pub got: u64,
}

/// What a format asks of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// This value and no other.
    Exactly(u64),
    /// A length of at least so many bytes.
    AtLeast(u64),
    /// A length of at most so many bytes.
    AtMost(u64),
    /// One of several values, named together.
    OneOf(&'static str),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Malformed { field, offset, want, got } = self;
        write!(f, "{field} at byte {offset}: ")?;
        match want {
            Want::Exactly(want) => write!(f, "want {want:#x}, got {got:#x}"),
            Want::AtLeast(want) => write!(f, "want at least {want} bytes, got {got}"),
            Want::AtMost(want) => write!(f, "want at most {want} bytes, got {got}"),
            Want::OneOf(want) => write!(f, "want {want}, got {got:#x}"),
        }
    }
}

impl core::error::Error for Malformed {}

/// A format of `want` bytes that was cut after `got`.
pub(crate) const fn short(format: &'static str, want: usize, got: usize) -> Malformed {
    Malformed { field: format, offset: got, want: Want::AtLeast(want as u64), got: got as u64 }
}

/// A value outside a named set.
pub(crate) fn not_one_of(
    field: &'static str,
    offset: usize,
    want: &'static str,
    got: impl Into<u64>,
) -> Malformed {
    Malformed { field, offset, want: Want::OneOf(want), got: got.into() }
}

/// Refuses any value of a field but one.
pub(crate) fn expect<T: Copy + PartialEq + Into<u64>>(
    field: &'static str,
    offset: usize,
    want: T,
    got: T,
) -> Result<(), Malformed> {
    if want == got {
        Ok(())
    } else {
        Err(Malformed { field, offset, want: Want::Exactly(want.into()), got: got.into() })
    }
}

/// Cuts what a length field at `offset` announces from what is there: a length below `least` is a lie about the
/// header, one above `bytes` a truncated frame.
pub(crate) fn cut<'a>(
    field: &'static str,
    offset: usize,
    least: usize,
    announced: usize,
    bytes: &'a [u8],
) -> Result<&'a [u8], Malformed> {
    let got = announced as u64;
    if announced < least {
        return Err(Malformed { field, offset, want: Want::AtLeast(least as u64), got });
    }
    bytes.get(..announced).ok_or(Malformed {
        field,
        offset,
        want: Want::AtMost(bytes.len() as u64),
        got,
    })
}

/// The first `LEN` bytes and the rest, or an error naming the format that needs them.
pub(crate) fn split<'a, const LEN: usize>(
    format: &'static str,
    bytes: &'a [u8],
) -> Result<(&'a [u8; LEN], &'a [u8]), Malformed> {
    bytes.split_first_chunk().ok_or_else(|| short(format, LEN, bytes.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wish_reads_as_a_sentence() {
        let lines = [
            expect("pfc.opcode", 0, 0x101_u16, 1).unwrap_err().to_string(),
            short("bth", 12, 5).to_string(),
            not_one_of("aeth.syndrome", 0, "ACK, RNR NAK or NAK", 0x40_u8).to_string(),
            cut("udp.length", 4, 8, 7, &[0; 9]).unwrap_err().to_string(),
            cut("udp.length", 4, 8, 10, &[0; 9]).unwrap_err().to_string(),
        ];
        assert_eq!(
            lines,
            [
                "pfc.opcode at byte 0: want 0x101, got 0x1",
                "bth at byte 5: want at least 12 bytes, got 5",
                "aeth.syndrome at byte 0: want ACK, RNR NAK or NAK, got 0x40",
                "udp.length at byte 4: want at least 8 bytes, got 7",
                "udp.length at byte 4: want at most 9 bytes, got 10",
            ]
        );
    }

    #[test]
    fn an_announced_length_is_cut_to_the_byte() {
        assert_eq!(cut("udp.length", 4, 8, 8, &[0; 9]), Ok(&[0; 8][..]));
        assert_eq!(cut("udp.length", 4, 8, 9, &[0; 9]), Ok(&[0; 9][..]));
    }
}
