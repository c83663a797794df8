//! PAUSE frame of IEEE 802.3 Annex 31B ("802.3x"), from the MAC Control opcode on: stops the whole link.

use crate::Malformed;
use crate::bytes::{be16, put, raw};
use crate::malformed::{expect, split};
use rig_units::Quanta;

mod field {
    use core::ops::Range;

    pub(super) const OPCODE: Range<usize> = 0..2;
    pub(super) const QUANTA: Range<usize> = 2..4;
}

/// Opcode of a PAUSE frame among the MAC Control frames.
pub const OPCODE: u16 = 0x0001;
/// Length of the opcode and its parameter, in bytes.
pub const LEN: usize = field::QUANTA.end;

/// What a receiver may act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Repr {
    /// How long the link partner stays silent; zero to resume at once.
    pub quanta: Quanta,
}

impl Repr {
    /// Reads a frame.
    ///
    /// # Errors
    /// When the bytes end too early; on another opcode.
    pub fn parse(bytes: &[u8]) -> Result<Repr, Malformed> {
        let (bytes, _padding) = split::<LEN>("pause", bytes)?;
        expect("pause.opcode", field::OPCODE.start, OPCODE, be16(bytes, field::OPCODE))?;
        Ok(Repr { quanta: Quanta(be16(bytes, field::QUANTA)) })
    }

    /// Writes the frame this value stands for; every byte is written.
    pub fn emit(&self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        put(&mut bytes, field::OPCODE, OPCODE);
        put(&mut bytes, field::QUANTA, self.quanta.0);
        bytes
    }
}

raw! { LEN;
    /// Sets the opcode.
    set_opcode: u16 = field::OPCODE;
    /// Sets the pause time.
    set_quanta: u16 = field::QUANTA;
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLDEN: [u8; LEN] = [0x00, 0x01, 0x12, 0x34];

    #[test]
    fn golden_bytes_both_ways() {
        assert_eq!(Repr::parse(&GOLDEN), Ok(Repr { quanta: Quanta(0x1234) }));
        assert_eq!(Repr { quanta: Quanta(0x1234) }.emit(), GOLDEN);
    }

    #[test]
    fn every_truncation_is_refused() {
        crate::bytes::refuses_truncations("pause", &GOLDEN[..LEN], |bytes| {
            Repr::parse(bytes).err()
        });
    }

    #[test]
    fn a_pfc_opcode_is_no_pause() {
        let mut bytes = GOLDEN;
        let mut raw = Raw(&mut bytes);
        raw.set_opcode(crate::pfc::OPCODE);
        raw.set_quanta(0);
        let refused = Repr::parse(&bytes).unwrap_err();
        assert_eq!(refused.to_string(), "pause.opcode at byte 0: want 0x1, got 0x101");
    }
}
