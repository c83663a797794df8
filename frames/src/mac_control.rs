//! Whole MAC Control frames (IEEE 802.3 clause 31): an Ethernet header of type 0x8808, an opcode, zeros up to 60 bytes.
//!
//! Left out: opcodes other than PAUSE and PFC (EPON's 2 to 6 and extensions); [`parse`] returns `None` for them.

use crate::ethernet::{self, MIN_FRAME, ethertype};
use crate::malformed::{expect, short};
use crate::{MacAddr, Malformed, pause, pfc};

/// A MAC Control frame that the rig knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Control {
    /// PFC.
    Pfc(pfc::Repr),
    /// 802.3x PAUSE.
    Pause(pause::Repr),
}

/// A PFC frame from `src`, 60 bytes.
pub fn frame_pfc(src: MacAddr, repr: &pfc::Repr) -> Vec<u8> {
    frame(src, &repr.emit())
}

/// A PAUSE frame from `src`, 60 bytes.
pub fn frame_pause(src: MacAddr, repr: &pause::Repr) -> Vec<u8> {
    frame(src, &repr.emit())
}

/// Reads the part behind the Ethernet header of a frame of type 0x8808, sent to `dst`.
///
/// # Errors
/// When the bytes end too early; on a PFC frame to another address than 01:80:c2:00:00:01, which no receiver may act
/// on (a PAUSE frame may go to the station's own address, IEEE 802.3 Annex 31B.1).
pub fn parse(dst: MacAddr, bytes: &[u8]) -> Result<Option<Control>, Malformed> {
    let opcode = bytes.first_chunk().ok_or_else(|| short("mac_control", 2, bytes.len()))?;
    Ok(match u16::from_be_bytes(*opcode) {
        pfc::OPCODE => {
            let number = |MacAddr([a, b, c, d, e, f])| u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
            expect("pfc.dst", 0, number(MacAddr::MAC_CONTROL), number(dst))?;
            Some(Control::Pfc(pfc::Repr::parse(bytes)?))
        }
        pause::OPCODE => Some(Control::Pause(pause::Repr::parse(bytes)?)),
        _ => None,
    })
}

fn frame(src: MacAddr, control: &[u8]) -> Vec<u8> {
    let header =
        ethernet::Repr { dst: MacAddr::MAC_CONTROL, src, ethertype: ethertype::MAC_CONTROL };
    let mut frame = vec![0; MIN_FRAME];
    frame[..ethernet::LEN].copy_from_slice(&header.emit());
    frame[ethernet::LEN..][..control.len()].copy_from_slice(control);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_units::Quanta;

    const SRC: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);

    #[test]
    fn a_pfc_frame_is_60_bytes_with_zeros_behind_the_times() {
        let frame = frame_pfc(SRC, &pfc::Repr::all(0b1000, Quanta(0xffff)));
        let mut golden = vec![0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0x88, 0x08, 1, 1, 0, 8];
        golden.extend([0, 0, 0, 0, 0, 0, 0xff, 0xff]);
        golden.resize(60, 0);
        assert_eq!(frame, golden);
    }

    #[test]
    fn both_kinds_round_trip() {
        let (xoff, stop) = (pfc::Repr::all(0xff, Quanta(1)), pause::Repr { quanta: Quanta(2) });
        let pfc = frame_pfc(SRC, &xoff);
        let pause = frame_pause(SRC, &stop);
        assert_eq!(parse(MacAddr::MAC_CONTROL, &pfc[14..]), Ok(Some(Control::Pfc(xoff))));
        assert_eq!(parse(SRC, &pause[14..]), Ok(Some(Control::Pause(stop))));
    }

    #[test]
    fn pfc_to_another_address_is_refused() {
        let frame = frame_pfc(SRC, &pfc::Repr::default());
        let refused = parse(SRC, &frame[14..]).unwrap_err();
        assert_eq!(refused.to_string(), "pfc.dst at byte 0: want 0x180c2000001, got 0x20000000001");
    }

    #[test]
    fn an_unknown_opcode_is_left_alone() {
        assert_eq!(parse(SRC, &[0, 2, 0, 0]), Ok(None));
        assert_eq!(parse(SRC, &[0]).unwrap_err().field, "mac_control");
    }
}
