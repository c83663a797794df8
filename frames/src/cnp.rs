//! Congestion notification packet (IBTA Annex A17.9.3): a BTH of opcode 0x81 with BECN set, sixteen reserved bytes, the
//! ICRC. It tells the sender of marked packets to slow down. The reserved bytes are in [`crate::roce::cnp_reserved`].

use crate::Malformed;
use crate::malformed::expect;
use crate::psn::Psn;
use crate::roce::{Opcode, Qpn, bth};

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
}
