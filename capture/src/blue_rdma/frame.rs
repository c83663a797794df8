//! A frame of a NIC of blue-rdma as a small value, and the bytes that it is.

use rig_frames::blue_rdma::{Author, Ext, Header, ack, bth, rreth};
use rig_frames::ip::{Dscp, Ecn};
use rig_frames::psn::Psn;
use rig_frames::roce::{Opcode, Qpn, imm_dt, reth};
use rig_frames::{ethernet, ipv4, udp};
use rig_testcases::wire;

/// Ethernet, IPv4, UDP, BTH, extended headers and FCS: what each packet with a payload has beside it, in bytes.
pub const OVERHEAD: u16 = 100;
/// Size of an acknowledgement by hardware, a CNP and a READ request, FCS counted, in bytes.
pub const REPORT_SIZE: u16 = OVERHEAD;
/// Size of one that the driver writes, FCS counted, in bytes.
pub const DRIVER_REPORT_SIZE: u16 = 94;
const _: () = assert!(ethernet::LEN + ipv4::LEN + udp::LEN + 54 + 4 == OVERHEAD as usize);

/// Counter of a NIC's driver: descriptors that it wrote for hardware to send by.
pub const DESCRIPTORS: &str = "descriptors";
/// Counter of a NIC's driver: completions of what was to be signalled, in order.
pub const COMPLETIONS: &str = "completions";

/// Virtual address of the memory that the messages of a flow are written to.
pub const MEMORY: u64 = 0x10_0000;
/// Virtual address of the memory that READs of a flow are answered to.
pub const ANSWERS: u64 = 0x1000_0000;

/// A frame of a queue pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame {
    /// The connection, as in [`rig_testcases::Roce`].
    pub connection: u16,
    /// Packet sequence number, 24 bits.
    pub psn: u32,
    /// Number of its message.
    pub msn: u16,
    /// Size, FCS counted.
    pub size: u16,
    /// Whether it is marked as sent before.
    pub is_retry: bool,
    /// Whether it is marked: congestion experienced.
    pub ce: bool,
    /// Whether its payload is that of a SEND, which is placed as a WRITE's is.
    pub is_send: bool,
    /// Immediate data, which stands in the last packet of a message alone.
    pub immediate: Option<u32>,
    /// What it says.
    pub says: Says,
}

/// What a frame says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Says {
    /// Payload of a WRITE or a SEND.
    Data {
        /// The message begins with it.
        first: bool,
        /// The message ends with it. It asks for an acknowledgement then.
        last: bool,
        /// Address in its RETH: where its payload goes. 0 where there is none.
        address: u64,
        /// Length in its RETH: of a first packet that of the message.
        length: u32,
    },
    /// A READ request. It asks for an acknowledgement.
    Request {
        /// Address of what is to be read.
        address: u64,
        /// How long that is.
        length: u32,
        /// Address that the answer goes to.
        answer: u64,
    },
    /// Payload that answers a READ. It asks for no acknowledgement.
    Response {
        /// The answer begins with it.
        first: bool,
        /// The answer ends with it.
        last: bool,
        /// Address in its RETH.
        address: u64,
        /// Length in its RETH: of a first packet that of the answer.
        length: u32,
    },
    /// A CNP.
    Cnp,
    /// An acknowledgement.
    Report {
        /// The driver wrote it.
        by_driver: bool,
        /// Packets are missing.
        lost: bool,
        /// The window moved.
        moved: bool,
        /// The bitmap before.
        before: Bitmap,
        /// The bitmap now.
        now: Bitmap,
        /// The PSN that the bitmap before is around.
        before_psn: u32,
    },
}

/// 128 bits, the upper half first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bitmap([u64; 2]);

impl From<u128> for Bitmap {
    fn from(bits: u128) -> Bitmap {
        let half = |bits: u128| u64::try_from(bits & u128::from(u64::MAX)).unwrap_or(u64::MAX);
        Bitmap([half(bits >> 64), half(bits)])
    }
}

impl From<Bitmap> for u128 {
    fn from(Bitmap([upper, lower]): Bitmap) -> u128 {
        (u128::from(upper) << 64) | u128::from(lower)
    }
}

impl Frame {
    /// Whether it is a packet with a payload.
    pub const fn is_data(&self) -> bool {
        matches!(self.says, Says::Data { .. })
    }

    /// Whether it is of what the sender of a flow sends of its own: payload of a WRITE or a SEND, or a READ request.
    pub const fn is_own(&self) -> bool {
        matches!(self.says, Says::Data { .. } | Says::Request { .. })
    }

    /// What stands behind UDP, but for the payload.
    ///
    /// # Panics
    /// On a connection of 16384 or more.
    fn header(&self) -> Header {
        let dest_qp = Qpn::new(wire::qpn(self.connection)).expect("connections are few");
        let (opcode, ext, author, ack_req) = match self.says {
            Says::Data { first, last, address, length } => {
                let rkey = if address == 0 { 0 } else { dest_qp.get() };
                let reth = reth::Repr { virtual_address: address, rkey, dma_len: length };
                let immediate = self.immediate.filter(|_| last);
                let opcode = match (self.is_send, first, last, immediate.is_some()) {
                    (false, true, true, false) => Opcode::RcWriteOnly,
                    (false, true, true, true) => Opcode::RcWriteOnlyImm,
                    (false, true, false, _) => Opcode::RcWriteFirst,
                    (false, false, true, false) => Opcode::RcWriteLast,
                    (false, false, true, true) => Opcode::RcWriteLastImm,
                    (false, false, false, _) => Opcode::RcWriteMiddle,
                    (true, true, true, false) => Opcode::RcSendOnly,
                    (true, true, true, true) => Opcode::RcSendOnlyImm,
                    (true, true, false, _) => Opcode::RcSendFirst,
                    (true, false, true, false) => Opcode::RcSendLast,
                    (true, false, true, true) => Opcode::RcSendLastImm,
                    (true, false, false, _) => Opcode::RcSendMiddle,
                };
                let ext = match immediate {
                    Some(data) => Ext::RethImm(reth, imm_dt::Repr { data }),
                    None => Ext::Reth(reth),
                };
                (opcode, ext, Author::Hardware, last)
            }
            Says::Request { address, length, answer } => {
                let (rkey, lkey) = (dest_qp.get(), dest_qp.get());
                let reth = reth::Repr { virtual_address: address, rkey, dma_len: length };
                let rreth = rreth::Repr { virtual_address: answer, lkey };
                (Opcode::RcReadRequest, Ext::RethRreth(reth, rreth), Author::Hardware, true)
            }
            Says::Response { first, last, address, length } => {
                let rkey = dest_qp.get();
                let reth = reth::Repr { virtual_address: address, rkey, dma_len: length };
                let opcode = match (first, last) {
                    (true, true) => Opcode::RcReadResponseOnly,
                    (true, false) => Opcode::RcReadResponseFirst,
                    (false, true) => Opcode::RcReadResponseLast,
                    (false, false) => Opcode::RcReadResponseMiddle,
                };
                (opcode, Ext::Reth(reth), Author::Hardware, false)
            }
            Says::Cnp => (Opcode::Cnp, Ext::None, Author::Hardware, false),
            Says::Report { by_driver, lost, moved, before, now, before_psn } => {
                let (before, now, before_psn) = (before.into(), now.into(), Psn::new(before_psn));
                let ack = ack::Repr { before, now, lost, moved, by_driver, before_psn };
                let author = if by_driver { Author::Driver } else { Author::Hardware };
                (Opcode::RcAcknowledge, Ext::Ack(ack), author, false)
            }
        };
        let (is_retry, msn, psn) = (self.is_retry, self.msn, Psn::new(self.psn));
        let bth = bth::Repr { opcode, solicited: false, is_retry, msn, dest_qp, ack_req, psn };
        Header { bth, ext, author }
    }

    /// The bytes of the frame, FCS not among them, as it passes a rig port: towards the NIC behind it, or from there.
    ///
    /// # Panics
    /// On a connection of 16384 or more.
    pub fn bytes(&self, port: u16, to_nic: bool) -> Vec<u8> {
        let rig = (wire::rig_mac(port), wire::rig_ip(port));
        let nic = (wire::dut_mac(port), wire::nic_ip(port));
        let ((src, from), (dst, to)) = if to_nic { (rig, nic) } else { (nic, rig) };
        let headers = self.header().emit();
        let outer = ethernet::LEN + ipv4::LEN + udp::LEN;
        let len = (usize::from(self.size) - 4 - outer).max(headers.len());
        let src_port = match self.says {
            Says::Report { by_driver: true, .. } => udp::ROCE_PORT,
            _ => u16::try_from(wire::qpn(self.connection) & 0xffff).unwrap_or(0),
        };
        let link = ethernet::Repr { dst, src, ethertype: ethernet::ethertype::IPV4 };
        let datagram =
            udp::Repr { src_port, dst_port: udp::ROCE_PORT, checksum: udp::Checksum::Zero };
        let mut frame = link.emit().to_vec();
        let ip = ipv4::Repr::udp(from, to, Dscp::default());
        let ecn = if self.ce { Ecn::Ce } else { ip.ecn };
        frame.extend(ipv4::Repr { ecn, ..ip }.emit(udp::LEN + len));
        frame.extend(datagram.emit(len));
        frame.extend(headers);
        frame.resize(outer + len, 0);
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_frames::blue_rdma::Datagram;

    const DATA: Frame = Frame {
        connection: 3,
        psn: 0x1_2345,
        msn: 7,
        size: OVERHEAD + 1_024,
        is_retry: true,
        ce: false,
        is_send: false,
        immediate: None,
        says: Says::Data { first: false, last: true, address: MEMORY + 4_096, length: 1_024 },
    };

    fn read(frame: &Frame) -> (Header, usize) {
        let bytes = frame.bytes(1, false);
        assert_eq!(bytes.len() + 4, usize::from(frame.size));
        let datagram = Datagram::of(&bytes).expect("a datagram");
        assert!(datagram.sound && datagram.src == wire::nic_ip(1));
        let (header, payload) = Header::parse(datagram.bytes).expect("of blue-rdma");
        (header, payload.len())
    }

    #[test]
    fn what_is_written_is_read_as_it_was_meant() {
        assert_eq!(read(&DATA), (DATA.header(), 1_024));
        let of_send = Frame { is_send: true, ..DATA };
        assert_eq!(read(&of_send), (of_send.header(), 1_024));
        assert_ne!(of_send.header(), DATA.header());
        // Immediate data takes none of the payload: the headers have room for it.
        for frame in [DATA, of_send] {
            let with = Frame { immediate: Some(0xdead_beef), ..frame };
            assert_eq!(read(&with), (with.header(), 1_024));
            assert_ne!(with.header(), frame.header());
        }
        let bits = u128::MAX ^ (1 << 5) ^ (1 << 100);
        let says = |by_driver| Says::Report {
            by_driver,
            lost: true,
            moved: true,
            before: bits.into(),
            now: (bits >> 16).into(),
            before_psn: 112,
        };
        for (by_driver, size) in [(false, REPORT_SIZE), (true, DRIVER_REPORT_SIZE)] {
            let report = Frame { size, is_retry: false, says: says(by_driver), ..DATA };
            assert_eq!(read(&report), (report.header(), 0));
            let Ext::Ack(ack) = report.header().ext else { panic!("an acknowledgement") };
            assert_eq!((ack.before, ack.now), (bits, bits >> 16));
        }
    }

    #[test]
    fn a_read_and_its_answer_and_a_cnp_are_read_as_they_were_meant() {
        let request = Says::Request { address: MEMORY, length: 5_000, answer: MEMORY + 1 };
        for says in [request, Says::Cnp] {
            let frame = Frame { size: REPORT_SIZE, is_retry: false, says, ..DATA };
            assert_eq!(read(&frame), (frame.header(), 0));
        }
        let says = Says::Response { first: true, last: false, address: MEMORY, length: 5_000 };
        let answer = Frame { says, ..DATA };
        assert_eq!(read(&answer), (answer.header(), 1_024));
    }

    #[test]
    fn a_mark_stands_in_the_header_of_ipv4() {
        let of = |ce| Frame { ce, ..DATA }.bytes(0, true)[ethernet::LEN + 1] & 3;
        assert_eq!([of(false), of(true)], [2, 3]);
    }

    #[test]
    fn a_packet_without_a_reth_is_refused_by_its_length() {
        let says = Says::Data { first: false, last: false, address: 0, length: 0 };
        let bytes = Frame { says, ..DATA }.bytes(0, true);
        let refused = Header::parse(Datagram::of(&bytes).expect("a datagram").bytes);
        let refused = refused.expect_err("its RETH says nothing").to_string();
        assert_eq!(refused, "blue_rdma.reth.dma_len at byte 24: want 0x400, got 0x0");
    }
}
