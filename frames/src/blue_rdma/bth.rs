//! The base transport header of blue-rdma (`RdmaHeaders`): that of the IBTA but for bytes 1 to 3.

use super::ext::Layout;
use crate::Malformed;
use crate::bytes::{be16, be24, put};
use crate::malformed::{expect, not_one_of, split};
use crate::psn::Psn;
use crate::roce::{Opcode, Qpn};

mod field {
    use core::ops::Range;

    /// Service (3 bits), opcode (5).
    pub(super) const OPCODE: Range<usize> = 0..1;
    /// Solicited event (1 bit), isRetry (1), pad count (2), version (4).
    pub(super) const FLAGS: Range<usize> = 1..2;
    pub(super) const MSN: Range<usize> = 2..4;
    /// FECN (1 bit), BECN (1), reserved (6).
    pub(super) const NOTICE: Range<usize> = 4..5;
    pub(super) const DEST_QP: Range<usize> = 5..8;
    /// Acknowledge request (1 bit), reserved (7).
    pub(super) const ACK: Range<usize> = 8..9;
    pub(super) const PSN: Range<usize> = 9..12;
}

/// Length of the header, in bytes.
pub const LEN: usize = field::PSN.end;
const _: () = assert!(LEN == crate::roce::bth::LEN);

/// Service 4, opcode 0: a CNP. RoCEv2 has 0x81.
const CNP: u8 = 0x80;
const SOLICITED: u8 = 0x80;
const IS_RETRY: u8 = 0x40;
const VERSION: u8 = 0x0f;
const ACK_REQ: u8 = 0x80;

/// A header. The pad count is always zero: what fills up stands in front of the payload. FECN and BECN are never set, in CNPs neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Repr {
    /// What the packet does: an opcode of RC, or CNP, which has another code here.
    pub opcode: Opcode,
    /// Solicited event: the receiver shall wake its application.
    pub solicited: bool,
    /// The packet was sent before.
    pub is_retry: bool,
    /// Number of the message, of all packets of it; of an acknowledgement by hardware, how many of these the queue pair has sent.
    pub msn: u16,
    /// Destination queue pair.
    pub dest_qp: Qpn,
    /// Whether the sender wants an acknowledgement.
    pub ack_req: bool,
    /// Packet sequence number.
    pub psn: Psn,
}

/// The opcode of a code, if the dialect has it.
fn opcode(code: u8) -> Option<Opcode> {
    let opcode = if code == CNP { Some(Opcode::Cnp) } else { Opcode::new(code) };
    opcode.filter(|of| Layout::of(*of).is_some() && (*of != Opcode::Cnp || code == CNP))
}

impl Repr {
    /// Reads a header and returns it with the bytes behind it. Reserved bits, FECN, BECN and the pad count are ignored.
    ///
    /// # Errors
    /// When the bytes end too early; on an opcode or a version that the dialect does not have.
    pub fn parse(bytes: &[u8]) -> Result<(Repr, &[u8]), Malformed> {
        let (header, rest) = split::<LEN>("blue_rdma.bth", bytes)?;
        let [code, flags, .., ack, _, _, _] = *header;
        let opcode = opcode(code).ok_or_else(|| {
            not_one_of(
                "blue_rdma.bth.opcode",
                field::OPCODE.start,
                "an RC opcode or CNP (0x80)",
                code,
            )
        })?;
        expect("blue_rdma.bth.version", field::FLAGS.start, 0, flags & VERSION)?;
        let repr = Repr {
            opcode,
            solicited: flags & SOLICITED != 0,
            is_retry: flags & IS_RETRY != 0,
            msn: be16(header, field::MSN),
            dest_qp: Qpn::low(be24(header, field::DEST_QP)),
            ack_req: ack & ACK_REQ != 0,
            psn: Psn::new(be24(header, field::PSN)),
        };
        Ok((repr, rest))
    }

    /// Writes the header; every byte is written, what is never set as zero.
    pub fn emit(&self) -> [u8; LEN] {
        let bit = |set: bool, mask: u8| if set { mask } else { 0 };
        let code = if self.opcode == Opcode::Cnp { CNP } else { self.opcode.code() };
        let mut bytes = [0; LEN];
        put(&mut bytes, field::OPCODE, code);
        put(
            &mut bytes,
            field::FLAGS,
            bit(self.solicited, SOLICITED) | bit(self.is_retry, IS_RETRY),
        );
        put(&mut bytes, field::MSN, self.msn);
        put(&mut bytes, field::NOTICE, 0_u8);
        put(&mut bytes, field::DEST_QP, self.dest_qp);
        put(&mut bytes, field::ACK, bit(self.ack_req, ACK_REQ));
        put(&mut bytes, field::PSN, self.psn);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Service 0 and opcode 7, WRITE middle: 0b000_00111. isRetry alone of the flags: 0x40. MSN 0x0102, then nothing of FECN and
    /// BECN, queue pair 0x123456, an acknowledgement asked for (0x80), PSN 0xfedcba.
    const GOLDEN: [u8; LEN] =
        [0x07, 0x40, 0x01, 0x02, 0x00, 0x12, 0x34, 0x56, 0x80, 0xfe, 0xdc, 0xba];

    fn repr() -> Repr {
        Repr {
            opcode: Opcode::RcWriteMiddle,
            solicited: false,
            is_retry: true,
            msn: 0x0102,
            dest_qp: Qpn::new(0x12_3456).unwrap(),
            ack_req: true,
            psn: Psn::new(0xfe_dcba),
        }
    }

    #[test]
    fn golden_bytes_both_ways() {
        assert_eq!(Repr::parse(&GOLDEN), Ok((repr(), &[][..])));
        assert_eq!(repr().emit(), GOLDEN);
    }

    #[test]
    fn every_truncation_is_refused() {
        crate::bytes::refuses_truncations("blue_rdma.bth", &GOLDEN, |bytes| {
            Repr::parse(bytes).err()
        });
    }

    #[test]
    fn a_cnp_has_a_code_of_its_own_and_what_the_dialect_has_not_is_named() {
        let cnp = Repr { opcode: Opcode::Cnp, ..repr() }.emit();
        assert_eq!(cnp[0], 0x80);
        assert_eq!(Repr::parse(&cnp).unwrap().0.opcode, Opcode::Cnp);
        let refused = |code: u8| {
            let mut bytes = GOLDEN;
            bytes[0] = code;
            Repr::parse(&bytes).map(|(repr, _)| repr.opcode).map_err(|of| of.to_string())
        };
        let want = "blue_rdma.bth.opcode at byte 0: want an RC opcode or CNP (0x80), got 0x81";
        assert_eq!(refused(0x81), Err(want.to_owned()));
        // A compare and swap, a UD SEND, a raw packet of the RTL's.
        for code in [0x13, 0x64, 0xcb] {
            assert!(refused(code).is_err(), "{code:#x}");
        }
        let mut bytes = GOLDEN;
        bytes[1] = 0x01;
        let refused = Repr::parse(&bytes).unwrap_err().to_string();
        assert_eq!(refused, "blue_rdma.bth.version at byte 1: want 0x0, got 0x1");
    }
}
