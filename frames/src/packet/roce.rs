//! A whole RoCEv2 frame as a value.

use super::Path;
use crate::ethernet::MIN_FRAME;
use crate::ip::{self, Ip};
use crate::malformed::{Want, expect, not_one_of, short};
use crate::psn::Psn;
use crate::roce::opcode::Payload;
use crate::roce::{Ext, Opcode, Qpn, aeth, bth};
use crate::{MacAddr, Malformed, cnp, icrc, ipv4, ipv6, udp, vlan};
use rig_units::{Bytes, FCS};

/// A RoCEv2 frame: RDMA data, an acknowledgement or a CNP. Lengths, pad, checksums and ICRC follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RoceFrame {
    /// Where it comes from and goes to.
    pub path: Path,
    /// What it is.
    pub bth: bth::Repr,
    /// The headers that the opcode asks for.
    pub ext: Ext,
    /// Length of the payload, in bytes. Its byte at offset `i` is `i` modulo 256.
    pub payload_len: u16,
    /// Zero bytes behind the ICRC, on top of those that fill a short frame up to 60 bytes. They make the sizes that
    /// RoCE alone cannot have: its frames are 2 modulo 4 bytes long.
    pub trailer: u16,
}

impl RoceFrame {
    /// A frame without payload and trailer.
    pub const fn new(path: Path, bth: bth::Repr, ext: Ext) -> RoceFrame {
        RoceFrame { path, bth, ext, payload_len: 0, trailer: 0 }
    }

    /// A congestion notification to `dest_qp`.
    pub const fn cnp(path: Path, dest_qp: Qpn) -> RoceFrame {
        RoceFrame::new(path, cnp::bth(dest_qp), Ext::Cnp)
    }

    /// An acknowledgement, positive or negative, of the packet `psn`.
    pub const fn ack(path: Path, dest_qp: Qpn, psn: Psn, aeth: aeth::Repr) -> RoceFrame {
        RoceFrame::new(path, bth::Repr::new(Opcode::RcAcknowledge, dest_qp, psn), Ext::Aeth(aeth))
    }

    /// The same frame made exactly `size` long, FCS counted: the payload takes all it can, the trailer what is left.
    ///
    /// # Errors
    /// On a size below 64 bytes or below that of the frame without payload; on one that no IP packet can have.
    pub fn sized(self, size: Bytes) -> Result<RoceFrame, Malformed> {
        let bad = |want| Malformed { field: "frame.size", offset: 0, want, got: size.0 };
        let empty = RoceFrame { payload_len: 0, trailer: 0, ..self };
        let least = empty.size();
        let len = size
            .0
            .checked_sub(FCS.0)
            .filter(|_| size >= least)
            .ok_or(bad(Want::AtLeast(least.0)))?;
        let payload_len = match self.bth.opcode.payload() {
            Payload::None => 0,
            Payload::Mtu | Payload::Tail | Payload::Any => {
                let room = len - empty.natural_len() as u64;
                room - room % 4
            }
        };
        // No payload of 64 KiB fits one packet, so the check below refuses what is capped here.
        let payload_len = u16::try_from(payload_len).unwrap_or(u16::MAX);
        let filled = RoceFrame { payload_len, ..empty };
        filled.check()?;
        let trailer = u16::try_from(len - filled.len() as u64)
            .map_err(|_| bad(Want::AtMost(u64::from(u16::MAX))))?;
        Ok(RoceFrame { trailer, ..filled })
    }

    /// Length of the frame without FCS, in bytes; at least 60.
    pub fn len(&self) -> usize {
        self.natural_len().max(MIN_FRAME) + usize::from(self.trailer)
    }

    /// Whether the frame has no bytes: never.
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// Size of the frame, FCS counted.
    pub fn size(&self) -> Bytes {
        Bytes(self.len() as u64) + FCS
    }

    /// Whether the parts agree: UDP inside IP, the headers that the opcode asks for, no payload where none may be, BECN
    /// in a CNP, a length that IP can express. [`parse`](super::parse) returns only frames that do.
    ///
    /// # Errors
    /// Names the part that does not.
    pub fn check(&self) -> Result<(), Malformed> {
        let opcode = self.bth.opcode;
        expect("ip.protocol", 0, ip::UDP, self.path.ip.protocol())?;
        if self.ext.layout() != opcode.layout() {
            let want = "an opcode that asks for the extended headers given";
            return Err(not_one_of("bth.opcode", 0, want, opcode.code()));
        }
        if opcode == Opcode::Cnp {
            cnp::check(&self.bth)?;
        }
        let after_bth = |want| Malformed {
            field: "roce.payload",
            offset: bth::LEN + self.ext.layout().len(),
            want: Want::AtMost(want),
            got: self.payload_len.into(),
        };
        if opcode.payload() == Payload::None && self.payload_len != 0 {
            return Err(after_bth(0));
        }
        let most = match self.path.ip {
            Ip::V4(_) => ipv4::MAX_PAYLOAD,
            Ip::V6(_) => ipv6::MAX_PAYLOAD,
        };
        let around = udp::LEN + self.around_payload();
        if around + self.padded_payload() > most {
            Err(after_bth((most - around) as u64))
        } else {
            Ok(())
        }
    }

    /// Writes the frame, without FCS.
    ///
    /// # Panics
    /// When [`check`](Self::check) refuses it.
    pub fn emit(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.len());
        self.emit_into(&mut out);
        out
    }

    /// Writes the frame into `out` in place of what was there; nothing is allocated where the capacity suffices.
    ///
    /// # Panics
    /// When [`check`](Self::check) refuses it.
    pub fn emit_into(&self, out: &mut Vec<u8>) {
        if let Err(refused) = self.check() {
            panic!("a RoCE frame contradicts itself: {refused}");
        }
        out.clear();
        self.path.put(out, self.around_payload() + self.padded_payload());
        let datagram = self.path.len() - udp::LEN;
        let packet = datagram - self.path.ip.header_len();
        out.extend_from_slice(&self.bth.emit(self.payload_len));
        self.ext.emit(out);
        put_payload(out, self.payload_len);
        out.resize(out.len() + bth::pad(self.payload_len), 0);
        let icrc = icrc::of(&out[packet..]).expect("the headers were just written");
        out.extend_from_slice(&icrc);
        if self.path.checksum == udp::Checksum::Filled {
            udp::fill_checksum(&self.path.ip, &mut out[datagram..]);
        }
        out.resize(self.len(), 0);
    }

    /// Length from the Ethernet header to the ICRC.
    fn natural_len(&self) -> usize {
        self.path.len() + self.around_payload() + self.padded_payload()
    }

    /// Length of BTH, extended headers and ICRC.
    const fn around_payload(&self) -> usize {
        bth::LEN + self.ext.layout().len() + icrc::LEN
    }

    const fn padded_payload(&self) -> usize {
        self.payload_len as usize + bth::pad(self.payload_len)
    }
}

/// One long payload; every payload is a beginning of it, or several copies.
static PATTERN: [u8; 4096] = {
    let mut pattern = [0; 4096];
    let mut at: usize = 0;
    while at < pattern.len() {
        pattern[at] = at.to_le_bytes()[0];
        at += 1;
    }
    pattern
};

fn put_payload(out: &mut Vec<u8>, len: u16) {
    let mut left = usize::from(len);
    while left > 0 {
        let part = left.min(PATTERN.len());
        out.extend_from_slice(&PATTERN[..part]);
        left -= part;
    }
}

/// Reads the IP packet of Ethernet type `kind` at the beginning of `bytes`, in a frame of `frame_len` bytes, and judges
/// its ICRC.
pub(super) fn parse(
    src: MacAddr,
    dst: MacAddr,
    vlan: Option<vlan::Repr>,
    kind: u16,
    frame_len: usize,
    bytes: &[u8],
) -> Result<(RoceFrame, bool), Malformed> {
    let (ip, ip_payload) = Ip::parse(kind, bytes)?;
    let (udp, datagram) = udp::Repr::parse(&ip, ip_payload)?;
    // Otherwise the ICRC's place is a matter of opinion.
    expect("udp.length", 4, ip_payload.len() as u64, (udp::LEN + datagram.len()) as u64)?;
    let (covered, icrc) = datagram
        .split_last_chunk::<{ icrc::LEN }>()
        .ok_or_else(|| short("bth", bth::LEN + icrc::LEN, datagram.len()))?;
    let (bth, pads, rest) = bth::Repr::parse(covered)?;
    let (ext, padded) = Ext::parse(bth.opcode.layout(), rest)?;
    let payload = padded.len().checked_sub(pads).and_then(|len| u16::try_from(len).ok());
    let payload_len = payload.ok_or(Malformed {
        field: "bth.pad",
        offset: 1,
        want: Want::AtMost(padded.len() as u64),
        got: pads as u64,
    })?;
    expect("bth.pad", 1, bth::pad(payload_len) as u64, pads as u64)?;
    let path = Path { src, dst, vlan, ip, udp_src: udp.src_port, checksum: udp.checksum };
    let mut frame = RoceFrame { path, bth, ext, payload_len, trailer: 0 };
    frame.check()?;
    let trailer = frame_len.saturating_sub(frame.len());
    // A frame longer than any IP packet and 64 KiB of padding exists in no network.
    frame.trailer = u16::try_from(trailer).unwrap_or(u16::MAX);
    let packet = &bytes[..ip.header_len() + ip_payload.len() - icrc::LEN];
    Ok((frame, icrc::of(packet)? == *icrc))
}
