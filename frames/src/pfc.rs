//! Priority flow control (PFC) frame, from the MAC Control opcode on.
//!
//! Meaning: IEEE 802.1Q clause 36. Layout: IEEE 802.3 Annex 31D.

use crate::Malformed;
use crate::bytes::{be16, put, raw};
use crate::malformed::{expect, split};
use rig_units::Quanta;

mod field {
    use core::ops::Range;

    pub(super) const OPCODE: Range<usize> = 0..2;
    /// Bit `c` is class `c`; bits 8..=15 are sent as zero.
    pub(super) const ENABLE: Range<usize> = 2..4;
    /// Pause time of `class`, in quanta of 512 bit times.
    pub(super) const fn quanta(class: usize) -> Range<usize> {
        4 + 2 * class..6 + 2 * class
    }
}

/// Opcode of a PFC frame among the MAC Control frames.
pub const OPCODE: u16 = 0x0101;
/// Length of the opcode and its parameters, in bytes.
pub const LEN: usize = field::quanta(7).end;
const _: () = assert!(LEN == 20);

/// What a receiver may act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Repr {
    /// Per class: `None` when not addressed, `Some(Quanta(0))` to resume at once.
    pub quanta: [Option<Quanta>; 8],
}

impl Repr {
    /// The frame that asks every class in `classes` (bit `c` is class `c`) for a pause of `quanta`.
    pub fn all(classes: u8, quanta: Quanta) -> Repr {
        Repr { quanta: core::array::from_fn(|class| (classes >> class & 1 == 1).then_some(quanta)) }
    }

    /// Reads a frame; times of classes that are not enabled are ignored, as a receiver must.
    ///
    /// # Errors
    /// When the bytes end too early; on another opcode.
    pub fn parse(bytes: &[u8]) -> Result<Repr, Malformed> {
        let (bytes, _padding) = split::<LEN>("pfc", bytes)?;
        expect("pfc.opcode", field::OPCODE.start, OPCODE, be16(bytes, field::OPCODE))?;
        let enable = be16(bytes, field::ENABLE);
        let quanta = core::array::from_fn(|class| {
            let enabled = (enable >> class) & 1 == 1;
            enabled.then(|| Quanta(be16(bytes, field::quanta(class))))
        });
        Ok(Repr { quanta })
    }

    /// Writes the frame this value stands for; every byte is written.
    pub fn emit(&self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        put(&mut bytes, field::OPCODE, OPCODE);
        let mut enable: u16 = 0;
        for (class, quanta) in self.quanta.iter().enumerate() {
            if let Some(Quanta(quanta)) = quanta {
                enable |= 1 << class;
                put(&mut bytes, field::quanta(class), *quanta);
            }
        }
        put(&mut bytes, field::ENABLE, enable);
        bytes
    }
}

raw! { LEN;
    /// Sets the opcode.
    set_opcode: u16 = field::OPCODE;
    /// Sets the whole class-enable vector, reserved bits included.
    set_enable: u16 = field::ENABLE;
}

impl Raw<'_> {
    /// Sets the pause time of `class`, enabled or not.
    ///
    /// # Panics
    /// On a class above 7.
    pub fn set_quanta(&mut self, class: usize, value: u16) {
        assert!(class < 8, "classes are 0..=7, not {class}");
        put(self.0, field::quanta(class), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Class 3 paused for the longest time, class 4 resumed; written down by hand.
    const XOFF3_XON4: [u8; LEN] =
        [0x01, 0x01, 0x00, 0x18, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0];

    fn repr() -> Repr {
        let mut quanta = [None; 8];
        quanta[3] = Some(Quanta(0xffff));
        quanta[4] = Some(Quanta(0));
        Repr { quanta }
    }

    #[test]
    fn golden_bytes_both_ways() {
        assert_eq!(Repr::parse(&XOFF3_XON4), Ok(repr()));
        assert_eq!(repr().emit(), XOFF3_XON4);
    }

    #[test]
    fn every_truncation_is_refused() {
        crate::bytes::refuses_truncations("pfc", &XOFF3_XON4[..LEN], |bytes| {
            Repr::parse(bytes).err()
        });
    }

    #[test]
    fn a_wrong_opcode_is_named_with_its_place() {
        let mut bytes = XOFF3_XON4;
        Raw(&mut bytes).set_opcode(1);
        let refused = Repr::parse(&bytes).unwrap_err();
        assert_eq!(refused.to_string(), "pfc.opcode at byte 0: want 0x101, got 0x1");
    }

    #[test]
    fn all_256_enable_vectors_round_trip() {
        for enable in 0..=0xff {
            let mut bytes = [0; LEN];
            let mut raw = Raw(&mut bytes);
            raw.set_opcode(OPCODE);
            raw.set_enable(enable);
            assert_eq!(Repr::parse(&bytes).unwrap().emit(), bytes);
        }
    }

    #[test]
    fn a_time_without_its_enable_bit_pauses_nothing() {
        let mut bytes = XOFF3_XON4;
        let mut raw = Raw(&mut bytes);
        raw.set_enable(0xff00);
        raw.set_quanta(7, 9);
        assert_eq!(Repr::parse(&bytes), Ok(Repr::default()));
    }

    #[test]
    fn a_mask_of_classes_becomes_one_frame() {
        let both = Repr::all(0b0001_1000, Quanta(5)).quanta;
        assert_eq!(
            both.map(|q| q.is_some()),
            [false, false, false, true, true, false, false, false]
        );
        assert_eq!(both[3], Some(Quanta(5)));
    }
}
