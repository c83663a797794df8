//! What an acknowledgement of blue-rdma says (`RdmaHeaders`, AETH): which packets of two windows have come.
//!
//! The receiver keeps 128 bits, of the last eight strides of 16 packets. A packet of a newer stride moves the window, and where one
//! that moved out is missing, hardware acknowledges with the window before and that after.
//!
//! | bytes | what |
//! | --- | --- |
//! | 0 to 15 | bitmap before the move |
//! | 16 to 31 | bitmap after it, around the PSN of the BTH |
//! | 32 | packets lost (1 bit), window moved (1), written by the driver (1), reserved (5) |
//! | 33 to 35 | PSN that the bitmap before is around |
//!
//! A PSN stands for the newest stride: it is the lowest of that. Bit `i` of a bitmap, counted from the least significant one, is the
//! packet of that PSN + `i` - 112.
//!
//! The driver's own say less: bitmaps of ones and its PSN the first that has not come; or bitmaps of zeros, `lost`, and between
//! `before_psn` and its PSN at least one is missing.

use crate::Malformed;
use crate::bytes::{be24, be64, put};
use crate::malformed::split;
use crate::psn::Psn;
use core::ops::Range;

mod field {
    use core::ops::Range;

    pub(super) const BEFORE: Range<usize> = 0..16;
    pub(super) const NOW: Range<usize> = 16..32;
    pub(super) const FLAGS: Range<usize> = 32..33;
    pub(super) const BEFORE_PSN: Range<usize> = 33..36;
}

/// Length of the header, in bytes.
pub const LEN: usize = field::BEFORE_PSN.end;
const _: () = assert!(LEN == 36);

const LOST: u8 = 0x80;
const MOVED: u8 = 0x40;
const BY_DRIVER: u8 = 0x20;

/// Packets of a window.
pub const WINDOW: u32 = 128;
/// Packets by which a window moves.
pub const STRIDE: u32 = 16;

/// An acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Repr {
    /// Bitmap before the window moved.
    pub before: u128,
    /// Bitmap now.
    pub now: u128,
    /// Packets are missing.
    pub lost: bool,
    /// The window moved.
    pub moved: bool,
    /// The driver wrote it.
    pub by_driver: bool,
    /// The PSN that `before` is around.
    pub before_psn: Psn,
}

/// The first packet of the window whose newest stride begins at `psn`.
pub fn first_of(psn: Psn) -> Psn {
    // Modulo 2^24, as all of them.
    Psn::new(psn.get().wrapping_sub(WINDOW - STRIDE))
}

fn be128(header: &[u8; LEN], at: Range<usize>) -> u128 {
    let half = |from: usize| u128::from(be64(header, from..from + 8));
    (half(at.start) << 64) | half(at.start + 8)
}

fn put128(bytes: &mut [u8; LEN], at: Range<usize>, value: u128) {
    bytes[at].copy_from_slice(&value.to_be_bytes());
}

impl Repr {
    /// Reads the header and returns it with the bytes behind it. Reserved bits are ignored.
    ///
    /// # Errors
    /// When the bytes end too early.
    pub fn parse(bytes: &[u8]) -> Result<(Repr, &[u8]), Malformed> {
        let (header, rest) = split::<LEN>("blue_rdma.ack", bytes)?;
        let flags = header[field::FLAGS.start];
        let repr = Repr {
            before: be128(header, field::BEFORE),
            now: be128(header, field::NOW),
            lost: flags & LOST != 0,
            moved: flags & MOVED != 0,
            by_driver: flags & BY_DRIVER != 0,
            before_psn: Psn::new(be24(header, field::BEFORE_PSN)),
        };
        Ok((repr, rest))
    }

    /// Writes the header; every byte is written, reserved bits as zero.
    pub fn emit(&self) -> [u8; LEN] {
        let bit = |set: bool, mask: u8| if set { mask } else { 0 };
        let flags = bit(self.lost, LOST) | bit(self.moved, MOVED) | bit(self.by_driver, BY_DRIVER);
        let mut bytes = [0; LEN];
        put128(&mut bytes, field::BEFORE, self.before);
        put128(&mut bytes, field::NOW, self.now);
        put(&mut bytes, field::FLAGS, flags);
        put(&mut bytes, field::BEFORE_PSN, self.before_psn);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets 0 to 127 came but for 5. The newest stride begins at 112 (0x70), so bit 0 is packet 0 and bit 5 is clear: ones but for 0xdf at
    /// the end. Packet 128 moves the window by 16 bits: 5 has moved out, 112 ones are left, and above them bit 112 is packet 128:
    /// 0x0001 in front. Lost and moved are 0x80 and 0x40.
    const GOLDEN: [u8; LEN] = {
        let mut bytes = [0xff; LEN];
        bytes[15] = 0xdf;
        bytes[16] = 0x00;
        bytes[17] = 0x01;
        bytes[32] = 0xc0;
        bytes[33] = 0x00;
        bytes[34] = 0x00;
        bytes[35] = 0x70;
        bytes
    };

    fn repr() -> Repr {
        let before = u128::MAX ^ (1 << 5);
        let now = (u128::MAX >> 16) | (1 << 112);
        let before_psn = Psn::new(112);
        Repr { before, now, lost: true, moved: true, by_driver: false, before_psn }
    }

    #[test]
    fn golden_bytes_both_ways() {
        assert_eq!(Repr::parse(&GOLDEN), Ok((repr(), &[][..])));
        assert_eq!(repr().emit(), GOLDEN);
    }

    #[test]
    fn every_truncation_is_refused() {
        crate::bytes::refuses_truncations("blue_rdma.ack", &GOLDEN, |bytes| {
            Repr::parse(bytes).err()
        });
    }

    #[test]
    fn each_flag_has_its_bit_and_the_psn_its_place() {
        let none = Repr {
            before: 0,
            now: 0,
            lost: false,
            moved: false,
            by_driver: false,
            before_psn: Psn::new(0xab_cdef),
        };
        for (repr, flags) in [
            (Repr { lost: true, ..none }, 0x80),
            (Repr { moved: true, ..none }, 0x40),
            (Repr { by_driver: true, ..none }, 0x20),
        ] {
            assert_eq!(repr.emit()[32..], [flags, 0xab, 0xcd, 0xef]);
        }
    }

    #[test]
    fn a_window_begins_seven_strides_below_its_psn() {
        assert_eq!(first_of(Psn::new(112)), Psn::new(0));
        assert_eq!(first_of(Psn::new(0)), Psn::new(0xff_ff90));
    }
}
