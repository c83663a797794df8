//! Base transport header (IBTA Vol 1, 9.2); FECN and BECN as Annex A17 puts them.

use super::{Opcode, Qpn};
use crate::Malformed;
use crate::bytes::{be16, be24, put, raw};
use crate::malformed::{expect, not_one_of, split};
use crate::psn::Psn;

mod field {
    use core::ops::Range;

    pub(super) const OPCODE: Range<usize> = 0..1;
    /// SE (1 bit), MigReq (1), pad count (2), version (4).
    pub(super) const FLAGS: Range<usize> = 1..2;
    pub(super) const PKEY: Range<usize> = 2..4;
    /// FECN (1 bit), BECN (1), reserved (6).
    pub(super) const NOTICE: Range<usize> = 4..5;
    pub(super) const DEST_QP: Range<usize> = 5..8;
    /// Acknowledge request (1 bit), reserved (7).
    pub(super) const ACK: Range<usize> = 8..9;
    pub(super) const PSN: Range<usize> = 9..12;
}

/// Length of the header, in bytes.
pub const LEN: usize = field::PSN.end;
const _: () = assert!(LEN == 12);

const SOLICITED: u8 = 0x80;
const MIG_REQ: u8 = 0x40;
const VERSION: u8 = 0x0f;
const FECN: u8 = 0x80;
const BECN: u8 = 0x40;
const ACK_REQ: u8 = 0x80;

/// The default partition key, full member.
pub const DEFAULT_PKEY: u16 = 0xffff;

/// A header; the pad count follows from the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Repr {
    /// What the packet does.
    pub opcode: Opcode,
    /// Solicited event: the receiver shall wake its application.
    pub solicited: bool,
    /// MigReq: the connection is in its migrated state, which hardware sends as true.
    pub mig_req: bool,
    /// Partition key.
    pub pkey: u16,
    /// Forward congestion notification.
    pub fecn: bool,
    /// Backward congestion notification.
    pub becn: bool,
    /// Destination queue pair.
    pub dest_qp: Qpn,
    /// Whether the sender wants an acknowledgement.
    pub ack_req: bool,
    /// Packet sequence number.
    pub psn: Psn,
}

/// Zero bytes that fill a payload up to a multiple of four.
pub const fn pad(payload_len: u16) -> usize {
    (4 - payload_len as usize % 4) % 4
}

impl Repr {
    /// A header with everything else as hardware sends it: default partition, migrated state, no marks, no requests.
    pub const fn new(opcode: Opcode, dest_qp: Qpn, psn: Psn) -> Repr {
        Repr {
            opcode,
            solicited: false,
            mig_req: true,
            pkey: DEFAULT_PKEY,
            fecn: false,
            becn: false,
            dest_qp,
            ack_req: false,
            psn,
        }
    }

    /// Reads a header and returns it with its pad count and the bytes behind it: extended headers, payload and pad, the
    /// ICRC if it was not cut off before. Reserved bits are ignored, as a receiver must.
    ///
    /// # Errors
    /// When the bytes end too early; on an opcode or a version that the rig does not know.
    pub fn parse(bytes: &[u8]) -> Result<(Repr, usize, &[u8]), Malformed> {
        let (header, rest) = split::<LEN>("bth", bytes)?;
        let [code, flags, .., ack, _, _, _] = *header;
        let notice = header[field::NOTICE.start];
        let opcode = Opcode::new(code).ok_or_else(|| {
            not_one_of("bth.opcode", field::OPCODE.start, "an RC, UC or UD opcode or CNP", code)
        })?;
        expect("bth.version", field::FLAGS.start, 0, flags & VERSION)?;
        let repr = Repr {
            opcode,
            solicited: flags & SOLICITED != 0,
            mig_req: flags & MIG_REQ != 0,
            pkey: be16(header, field::PKEY),
            fecn: notice & FECN != 0,
            becn: notice & BECN != 0,
            dest_qp: Qpn::low(be24(header, field::DEST_QP)),
            ack_req: ack & ACK_REQ != 0,
            psn: Psn::new(be24(header, field::PSN)),
        };
        Ok((repr, usize::from(flags >> 4 & 3), rest))
    }

    /// Writes the header in front of a payload of `payload_len` bytes; every byte is written, reserved bits as zero.
    pub fn emit(&self, payload_len: u16) -> [u8; LEN] {
        let bit = |set: bool, mask: u8| if set { mask } else { 0 };
        let pad = (pad(payload_len) as u64) << 4;
        let flags = bit(self.solicited, SOLICITED) | bit(self.mig_req, MIG_REQ);
        let mut bytes = [0; LEN];
        put(&mut bytes, field::OPCODE, self.opcode.code());
        put(&mut bytes, field::FLAGS, u64::from(flags) | pad);
        put(&mut bytes, field::PKEY, self.pkey);
        put(&mut bytes, field::NOTICE, bit(self.fecn, FECN) | bit(self.becn, BECN));
        put(&mut bytes, field::DEST_QP, self.dest_qp);
        put(&mut bytes, field::ACK, bit(self.ack_req, ACK_REQ));
        put(&mut bytes, field::PSN, self.psn);
        bytes
    }
}

raw! { LEN;
    /// Sets the opcode.
    set_opcode: u8 = field::OPCODE;
    /// Sets solicited event (0x80), MigReq (0x40), pad count (0x30) and version (0x0f).
    set_flags: u8 = field::FLAGS;
    /// Sets the partition key.
    set_pkey: u16 = field::PKEY;
    /// Sets FECN (0x80), BECN (0x40) and six reserved bits.
    set_notice: u8 = field::NOTICE;
    /// Sets the destination queue pair: the low 24 bits.
    set_dest_qp: u32 = field::DEST_QP;
    /// Sets the acknowledge request (0x80) and seven reserved bits.
    set_ack: u8 = field::ACK;
    /// Sets the packet sequence number: the low 24 bits.
    set_psn: u32 = field::PSN;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RC WRITE only, MigReq, pad 3, to queue pair 0x123456, acknowledge requested, PSN 0xfedcba.
    const GOLDEN: [u8; LEN] =
        [0x0a, 0x70, 0xff, 0xff, 0x00, 0x12, 0x34, 0x56, 0x80, 0xfe, 0xdc, 0xba];

    fn repr() -> Repr {
        let dest_qp = Qpn::new(0x12_3456).unwrap();
        Repr { ack_req: true, ..Repr::new(Opcode::RcWriteOnly, dest_qp, Psn::new(0xfe_dcba)) }
    }

    #[test]
    fn golden_bytes_both_ways() {
        assert_eq!(Repr::parse(&GOLDEN), Ok((repr(), 3, &[][..])));
        assert_eq!(repr().emit(1021), GOLDEN);
    }

    #[test]
    fn every_truncation_is_refused() {
        crate::bytes::refuses_truncations("bth", &GOLDEN[..LEN], |bytes| Repr::parse(bytes).err());
    }

    #[test]
    fn the_pad_fills_up_to_four() {
        assert_eq!([0, 1, 2, 3, 4, 5, u16::MAX].map(pad), [0, 3, 2, 1, 0, 3, 1]);
    }

    #[test]
    fn an_unknown_opcode_or_version_is_named() {
        let mut bytes = GOLDEN;
        Raw(&mut bytes).set_opcode(0x15);
        let refused = Repr::parse(&bytes).unwrap_err().to_string();
        assert_eq!(refused, "bth.opcode at byte 0: want an RC, UC or UD opcode or CNP, got 0x15");
        let mut bytes = GOLDEN;
        Raw(&mut bytes).set_flags(0x01);
        assert_eq!(
            Repr::parse(&bytes).unwrap_err().to_string(),
            "bth.version at byte 1: want 0x0, got 0x1"
        );
    }

    #[test]
    fn raw_sets_every_bit() {
        let mut bytes = [0; LEN];
        let mut raw = Raw(&mut bytes);
        raw.set_opcode(0xff);
        raw.set_flags(0xff);
        raw.set_pkey(0xffff);
        raw.set_notice(0xff);
        raw.set_dest_qp(u32::MAX);
        raw.set_ack(0xff);
        raw.set_psn(u32::MAX);
        assert_eq!(bytes, [0xff; LEN]);
    }

    proptest! {
        #[test]
        fn any_twelve_bytes_are_refused_or_round_trip_but_for_reserved_bits(
            code in prop::sample::select(Opcode::ALL), mut bytes in any::<[u8; LEN]>(),
        ) {
            bytes[0] = code.code();
            match Repr::parse(&bytes) {
                Err(refused) => prop_assert_eq!((refused.field, bytes[1] & VERSION != 0), ("bth.version", true)),
                Ok((repr, pads, _)) => {
                    bytes[4] &= FECN | BECN;
                    bytes[8] &= ACK_REQ;
                    let payload_len = [0, 3, 2, 1][pads];
                    prop_assert_eq!(repr.emit(payload_len), bytes);
                }
            }
        }
    }
}
