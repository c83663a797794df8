//! Congestion notification packet (IBTA Annex A17.9.3): a BTH of opcode 0x81 with BECN set, sixteen reserved bytes, the
//! ICRC. It tells the sender of marked packets to slow down.

use crate::Malformed;
use crate::malformed::{expect, short};
use crate::psn::Psn;
use crate::roce::{Opcode, Qpn, bth};

/// Length of the reserved bytes behind the BTH. They are sent as zero and ignored when read; whoever wants to judge or
/// spoil them finds them at that place of the frame.
pub const LEN: usize = 16;

/// The BTH of a notification to `dest_qp`: BECN set, default partition, all else zero.
pub const fn bth(dest_qp: Qpn) -> bth::Repr {
    bth::Repr { mig_req: false, becn: true, ..bth::Repr::new(Opcode::Cnp, dest_qp, Psn::new(0)) }
}

/// Refuses a BTH of opcode CNP without BECN: it notifies of nothing.
///
/// # Errors
/// When BECN is clear.
pub fn check(bth: &bth::Repr) -> Result<(), Malformed> {
    expect("cnp.becn", 4, 1, u8::from(bth.becn))
}

/// What lies behind the reserved bytes.
pub(crate) fn skip_reserved(bytes: &[u8]) -> Result<&[u8], Malformed> {
    bytes.get(LEN..).ok_or_else(|| short("cnp", LEN, bytes.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_bytes_of_the_header() {
        // As a ConnectX-4 Lx sends it; the whole captured frame is a test of `packet`.
        let golden = [0x81, 0x00, 0xff, 0xff, 0x40, 0x00, 0x01, 0x18, 0, 0, 0, 0];
        assert_eq!(bth(Qpn::new(0x118).unwrap()).emit(0), golden);
    }

    #[test]
    fn a_notification_without_becn_is_refused() {
        let quiet = bth::Repr { becn: false, ..bth(Qpn::default()) };
        assert_eq!(check(&quiet).unwrap_err().to_string(), "cnp.becn at byte 4: want 0x1, got 0x0");
        assert_eq!(check(&bth(Qpn::default())), Ok(()));
    }

    #[test]
    fn every_truncation_is_refused() {
        for len in 0..LEN {
            let refused = skip_reserved(&[0; LEN][..len]).unwrap_err();
            assert_eq!((refused.field, refused.got), ("cnp", len as u64));
        }
        assert_eq!(skip_reserved(&[0; LEN]), Ok(&[][..]));
    }
}
