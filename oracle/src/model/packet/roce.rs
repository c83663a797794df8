//! What frames of RDMA NICs (RoCEv2) have beside what every frame has: their place in a message, their ECN field, and what a
//! device may get wrong in a CNP. Their sizes follow from the headers that they have.

use super::{ECT, Packet, PacketKind};
use rig_frames::roce::aeth::RnrTimer;
use rig_units::Quanta;

/// A packet before this one belongs to the same message.
const NOT_FIRST: u8 = 1;
/// A packet after this one belongs to the same message.
const NOT_LAST: u8 = 1 << 1;
/// Data that a READ brings.
const RESPONSE: u8 = 1 << 2;
/// An ECN-capable frame says so by 01 instead of 10.
const ECT1: u8 = 1 << 3;
/// CNP: the reserved bytes are not zero.
const RESERVED: u8 = 1 << 4;
/// CNP: BECN is not set.
const NO_BECN: u8 = 1 << 5;
/// The ICRC is wrong.
const BAD_ICRC: u8 = 1 << 6;
/// No CNP: MigReq is clear.
const NOT_MIGRATED: u8 = RESERVED;
/// No CNP: it comes from the UDP port that all of its NIC's connections share.
const SHARED_PORT: u8 = NO_BECN;
/// Data: immediate data, or a key to revoke, comes with it.
const TAIL: u8 = 1 << 7;

/// Ethernet, IPv4, UDP, BTH, ICRC and FCS.
pub const ROCE_OVERHEAD: u16 = 62;
/// The header that names remote memory, in the first packet of a WRITE and in a READ request.
pub const RETH: u16 = 16;
/// The header of a datagram: its Q_Key, and the queue pair that it comes from.
pub const DETH: u16 = 8;
/// The header of an acknowledgement.
pub const AETH: u16 = 4;
/// Immediate data, or a key to revoke.
pub const TAIL_SIZE: u16 = 4;
/// Size of an atomic operation, FCS counted: address, key, two operands.
pub const ATOMIC_SIZE: u16 = ROCE_OVERHEAD + 28;
/// Size of the answer to one, FCS counted: an acknowledgement and what was there.
pub const ATOMIC_ACK_SIZE: u16 = ACK_SIZE + 8;
/// Size of an acknowledgement or a NAK, FCS counted.
pub const ACK_SIZE: u16 = ROCE_OVERHEAD + AETH;
/// Size of a CNP, FCS counted: 16 reserved bytes.
pub const CNP_SIZE: u16 = ROCE_OVERHEAD + 16;
/// Size of a READ request, FCS counted.
pub const READ_REQUEST_SIZE: u16 = ROCE_OVERHEAD + RETH;

impl Packet {
    const fn with_flag(mut self, flag: u8, on: bool) -> Packet {
        self.roce = if on { self.roce | flag } else { self.roce & !flag };
        self
    }

    /// The same frame at another place in its message: whether it is the first packet of it, and whether the last. A frame
    /// that was told nothing is both.
    pub const fn with_place(self, first: bool, last: bool) -> Packet {
        self.with_flag(NOT_FIRST, !first).with_flag(NOT_LAST, !last)
    }
    /// Whether it is the first packet of its message.
    pub const fn is_first(&self) -> bool {
        self.roce & NOT_FIRST == 0
    }
    /// Whether it is the last packet of its message.
    pub const fn is_last(&self) -> bool {
        self.roce & NOT_LAST == 0
    }

    /// The same frame, as one of those that a READ brings, or not.
    pub const fn with_response(self, response: bool) -> Packet {
        self.with_flag(RESPONSE, response)
    }
    /// Whether it is one of those that a READ brings.
    pub const fn is_response(&self) -> bool {
        self.roce & RESPONSE != 0
    }

    /// The same frame, ECN-capable by 01: ECT(1).
    pub const fn with_ect1(mut self) -> Packet {
        self.marks |= ECT;
        self.with_flag(ECT1, true)
    }
    /// Whether it says by 01 that it is ECN-capable; by 10 otherwise. Once it is marked the field is 11.
    pub const fn ect1(&self) -> bool {
        self.ect() && self.roce & ECT1 != 0
    }

    /// The same CNP with reserved bytes that are not zero, or with none.
    pub const fn with_reserved_set(self, set: bool) -> Packet {
        self.with_flag(RESERVED, set)
    }
    /// Whether the reserved bytes of this CNP are not all zero.
    pub fn reserved_set(&self) -> bool {
        self.kind == PacketKind::Cnp && self.roce & RESERVED != 0
    }
    /// The same CNP with BECN or without.
    pub const fn with_becn(self, becn: bool) -> Packet {
        self.with_flag(NO_BECN, !becn)
    }
    /// Whether this CNP has BECN.
    pub fn becn(&self) -> bool {
        self.kind == PacketKind::Cnp && self.roce & NO_BECN == 0
    }

    /// The same frame with a wrong ICRC.
    pub const fn with_bad_icrc(self) -> Packet {
        self.with_flag(BAD_ICRC, true)
    }
    /// Whether its ICRC is wrong.
    pub const fn bad_icrc(&self) -> bool {
        self.roce & BAD_ICRC != 0
    }

    /// The same frame that is no CNP, with MigReq set or clear.
    pub const fn with_mig_req(self, set: bool) -> Packet {
        self.with_flag(NOT_MIGRATED, !set)
    }
    /// Whether MigReq is set.
    pub fn mig_req(&self) -> bool {
        self.kind == PacketKind::Cnp || self.roce & NOT_MIGRATED == 0
    }
    /// The same frame that is no CNP, from the UDP port that all connections of its NIC share, or from its own.
    pub const fn with_shared_port(self, shared: bool) -> Packet {
        self.with_flag(SHARED_PORT, shared)
    }
    /// Whether it comes from a UDP port that all connections of its NIC share.
    pub fn shares_port(&self) -> bool {
        self.kind != PacketKind::Cnp && self.roce & SHARED_PORT != 0
    }
    /// The same frame of data with immediate data or a key to revoke, or without.
    pub const fn with_tail(self, tail: bool) -> Packet {
        self.with_flag(TAIL, tail)
    }
    /// Whether immediate data, or a key to revoke, comes with this data.
    pub fn has_tail(&self) -> bool {
        self.kind == PacketKind::Data && self.roce & TAIL != 0
    }

    /// The same frame of data as an atomic operation: an addition of one, or, with `compare`, a swap for one more. What is compared has
    /// 24 bits. As with a READ request no tag of MACsec has room beside it.
    pub const fn with_atomic(self, compare: Option<u32>) -> Packet {
        match compare {
            None => self.with_word(1, 0),
            Some(compare) => self.with_word(2, compare),
        }
    }
    /// What this atomic operation compares with, if it does; nothing of other frames.
    pub fn atomic(&self) -> Option<Option<u32>> {
        match (self.kind, self.enable) {
            (PacketKind::Data, 1) => Some(None),
            (PacketKind::Data, 2) => Some(Some(self.word())),
            _ => None,
        }
    }
    /// The same acknowledgement with what an atomic operation found: 24 bits.
    pub const fn with_found(self, found: Option<u32>) -> Packet {
        match found {
            None => self,
            Some(found) => self.with_word(1, found),
        }
    }
    /// What an atomic operation found, of its acknowledgement.
    pub fn found(&self) -> Option<u32> {
        (self.kind == PacketKind::Ack && self.enable == 1).then_some(self.word())
    }

    const fn with_word(mut self, what: u8, word: u32) -> Packet {
        let [_, b, c, d] = word.to_be_bytes();
        (self.enable, self.zero) = (what, b);
        self.quanta = Quanta(u16::from_be_bytes([c, d]));
        self
    }
    const fn word(&self) -> u32 {
        let [c, d] = self.quanta.0.to_be_bytes();
        u32::from_be_bytes([0, self.zero, c, d])
    }

    /// The same datagram with another Q_Key than that of the queue that it goes to. As with an atomic operation no tag of MACsec has room beside it.
    pub const fn with_other_key(self) -> Packet {
        self.with_word(4, 0)
    }
    /// Whether this datagram has such a Q_Key.
    pub fn has_other_key(&self) -> bool {
        (self.kind, self.enable) == (PacketKind::Data, 4)
    }

    /// The same frame with a key, by its last byte: of the memory that it works on, that it revokes, or that it tells of. 0 is none that changes.
    pub const fn with_key(mut self, key: u8) -> Packet {
        self.seq = self.seq & 0xff_ffff | (key as u32) << 24;
        self
    }
    /// The key that it says.
    pub const fn key(&self) -> u8 {
        let [key, ..] = self.seq.to_be_bytes();
        key
    }
    /// The same NAK, as one of an access to memory that may not be touched. No tag of MACsec has room beside it.
    pub const fn with_denial(self) -> Packet {
        self.with_word(5, 0)
    }
    /// Whether it is such a NAK.
    pub fn is_denial(&self) -> bool {
        matches!((self.kind, self.enable), (PacketKind::Nak, 5))
    }

    /// The same frame of a NIC of blue-rdma, which says what stands under this number in the log of its network: 24 bits. As with an atomic
    /// operation no tag of MACsec has room beside it.
    pub(crate) const fn with_note(self, number: u32) -> Packet {
        self.with_word(3, number)
    }
    /// The same frame as one of RoCEv2, of this size.
    pub(crate) const fn without_note(self, size: u16) -> Packet {
        Packet { size, ..self.with_word(0, 0) }
    }
    /// Under which number stands what a frame of blue-rdma says.
    pub(crate) fn note(&self) -> Option<u32> {
        let may = !matches!(self.kind, PacketKind::Pfc | PacketKind::NotReady);
        (may && self.enable == 3).then_some(self.word())
    }

    /// A request for `length` bytes, from the packet sequence number `psn` on.
    pub const fn read_request(stream: u16, src: u16, dst: u16, psn: u32, length: u32) -> Packet {
        let mut packet = Packet::data(stream, src, dst, 0, 0, READ_REQUEST_SIZE);
        packet.kind = PacketKind::ReadRequest;
        packet.seq = psn;
        packet.wanting(length)
    }

    /// The same READ request, for so many bytes.
    pub const fn wanting(mut self, length: u32) -> Packet {
        let [a, b, c, d] = length.to_be_bytes();
        (self.enable, self.zero) = (a, b);
        self.quanta = Quanta(u16::from_be_bytes([c, d]));
        self
    }

    /// The same RNR NAK, which asks for so long a wait.
    pub const fn with_rnr_timer(mut self, timer: RnrTimer) -> Packet {
        self.enable = timer.get();
        self
    }
    /// How long an RNR NAK asks to wait.
    pub fn rnr_timer(&self) -> RnrTimer {
        RnrTimer::new(self.enable).unwrap_or_default()
    }

    /// The bytes that a READ request asks for.
    pub const fn wanted(&self) -> u32 {
        let [c, d] = self.quanta.0.to_be_bytes();
        u32::from_be_bytes([self.enable, self.zero, c, d])
    }
}
