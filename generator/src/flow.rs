//! A stream by hand: what its frames are, whoever they are addressed to.
//!
//! Untagged and over IPv4: the fields that change from frame to frame have fixed places then. Left out: VLAN tags, IPv6,
//! and answers of a connection; frames of any kind can be sent from a capture instead.

use crate::template::{QUEUE_PAIR, Source, Template, UDP_SOURCE};
use core::net::Ipv4Addr;
use core::ops::Range;
use rig_frames::ip::{Dscp, Ecn};
use rig_frames::packet::{Path, RoceFrame};
use rig_frames::psn::Psn;
use rig_frames::roce::{Ext, Opcode, Qpn, bth, reth};
use rig_frames::{MacAddr, Malformed, ethernet, ipv4, udp};
use rig_testcases::wire::{self, PSN, UDP_NUMBER};
use rig_units::{Bytes, FCS, MIN_FRAME, Quanta};

/// What the frames are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowKind {
    /// RDMA WRITE Only over RoCEv2.
    RoceWrite,
    /// RDMA SEND Only over RoCEv2.
    RoceSend,
    /// Congestion notifications.
    Cnp,
    /// Plain UDP.
    Udp,
    /// PFC frames, from the port's own address.
    Pfc {
        /// Bit `c` is set for class `c`.
        classes: u8,
        /// Pause time of each.
        quanta: Quanta,
    },
}

/// What one stream's frames say. Lists are gone through frame by frame, and from the beginning again; none is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// What they are.
    pub kind: FlowKind,
    /// How long they are, FCS counted. Congestion notifications and PFC frames have one size.
    pub size: Bytes,
    /// Ethernet source and destination.
    pub mac: (MacAddr, MacAddr),
    /// IP source and destination.
    pub ip: (Ipv4Addr, Ipv4Addr),
    /// Classes.
    pub dscp: Vec<Dscp>,
    /// Congestion marks.
    pub ecn: Vec<Ecn>,
    /// UDP source ports.
    pub udp_source: Vec<u16>,
    /// Destination queue pairs.
    pub queue_pair: Vec<Qpn>,
    /// The first packet sequence number.
    pub psn: Psn,
    /// Whether each frame carries its number and the time at which it was handed over, eight bytes each, at the
    /// beginning of its payload.
    pub stamped: bool,
}

/// From the start of the payload on: the number, then the stamp.
const NUMBER: Range<usize> = 0..8;
const STAMP: Range<usize> = 8..16;
/// Where the payload of a frame without extended headers begins, and with those of a WRITE.
const SEND_PAYLOAD: usize = 54;
const WRITE_PAYLOAD: usize = 70;

impl Flow {
    /// Frames of the rig's port `from` for its port `to`, as a test case's stream has them: DSCP 3, ECT(0), one UDP
    /// source port, one queue pair.
    pub fn between(from: u16, to: u16, kind: FlowKind, size: Bytes) -> Flow {
        Flow {
            kind,
            size,
            mac: (wire::rig_mac(from), wire::rig_mac(to)),
            ip: (wire::rig_ip(from), wire::rig_ip(to)),
            dscp: vec![Dscp::new(3).expect("six bits")],
            ecn: vec![Ecn::Ect0],
            udp_source: vec![wire::FIRST_UDP_PORT],
            queue_pair: vec![Qpn::new(wire::FIRST_QPN).expect("24 bits")],
            psn: Psn::new(0),
            stamped: false,
        }
    }

    /// The smallest frame, FCS counted, that it can have.
    pub const fn least(&self) -> Bytes {
        match (self.kind, self.stamped) {
            (FlowKind::RoceWrite, true) => Bytes(94),
            (FlowKind::RoceWrite, false) | (FlowKind::RoceSend, true) | (FlowKind::Cnp, _) => {
                Bytes(78)
            }
            (FlowKind::RoceSend, false) | (FlowKind::Udp | FlowKind::Pfc { .. }, _) => MIN_FRAME,
        }
    }

    /// The size of its frames, FCS counted.
    pub const fn frame_size(&self) -> Bytes {
        match self.kind {
            FlowKind::RoceWrite | FlowKind::RoceSend | FlowKind::Udp => self.size,
            FlowKind::Cnp => Bytes(78),
            FlowKind::Pfc { .. } => MIN_FRAME,
        }
    }

    /// Its frames.
    ///
    /// # Errors
    /// The size is one that its kind cannot have.
    ///
    /// # Panics
    /// When a list is empty.
    pub fn template(&self) -> Result<Template, Malformed> {
        let frame = match self.kind {
            FlowKind::Pfc { classes, quanta } => {
                let quanta = core::array::from_fn(|class| {
                    if classes >> class & 1 == 1 { quanta } else { Quanta(0) }
                });
                return Ok(Template::new(wire::pfc(self.mac.0, classes, quanta)));
            }
            FlowKind::RoceWrite => self.roce(Opcode::RcWriteOnly)?,
            FlowKind::RoceSend => self.roce(Opcode::RcSendOnly)?,
            FlowKind::Cnp => RoceFrame::cnp(self.path(), self.queue_pair[0]).emit(),
            FlowKind::Udp => self.plain(),
        };
        let (number, payload) = match self.kind {
            FlowKind::RoceWrite => (Some((PSN, self.psn.get())), Some(WRITE_PAYLOAD)),
            FlowKind::RoceSend => (Some((PSN, self.psn.get())), Some(SEND_PAYLOAD)),
            FlowKind::Udp => (Some((UDP_NUMBER, self.psn.get())), None),
            FlowKind::Cnp | FlowKind::Pfc { .. } => (None, None),
        };
        let mut template = Template::new(frame);
        if let Some((field, first)) = number {
            template = template.with(field, Source::Number(first.into()))?;
        }
        if self.stamped {
            let stamp = match payload {
                Some(start) => {
                    let at = |field: Range<usize>| start + field.start..start + field.end;
                    template = template.with(at(NUMBER), Source::Number(0))?;
                    Some(at(STAMP))
                }
                // Its number has its place already.
                None if self.kind == FlowKind::Udp => Some(UDP_NUMBER.end..UDP_NUMBER.end + 8),
                None => None,
            };
            if let Some(at) = stamp {
                template = template.with(at, Source::Stamp)?;
            }
        }
        if self.udp_source.len() > 1 {
            let values = self.udp_source.iter().map(|port| port.to_be_bytes().to_vec());
            template = template.with(UDP_SOURCE, Source::Cycle(values.collect()))?;
        }
        if self.queue_pair.len() > 1 && self.kind != FlowKind::Udp {
            let values = self.queue_pair.iter().map(|pair| pair.get().to_be_bytes()[1..].to_vec());
            template = template.with(QUEUE_PAIR, Source::Cycle(values.collect()))?;
        }
        let tos = self.tos();
        Ok(if tos.len() > 1 { template.with_tos(&tos) } else { template })
    }

    fn roce(&self, opcode: Opcode) -> Result<Vec<u8>, Malformed> {
        let pair = self.queue_pair[0];
        let bth = bth::Repr::new(opcode, pair, self.psn);
        let ext = |dma_len| match self.kind {
            FlowKind::RoceWrite => {
                Ext::Reth(reth::Repr { virtual_address: 0x1000, rkey: pair.get(), dma_len })
            }
            _ => Ext::Plain,
        };
        let frame = RoceFrame::new(self.path(), bth, ext(0)).sized(self.size.max(self.least()))?;
        Ok(RoceFrame { ext: ext(frame.payload_len.into()), ..frame }.emit())
    }

    /// A frame of plain UDP, as those of a test case are.
    fn plain(&self) -> Vec<u8> {
        let headers = ethernet::LEN + ipv4::LEN + udp::LEN;
        let len = usize::try_from((self.size.max(self.least()) - FCS).0).expect("fits in memory");
        let payload = len - headers;
        let link = ethernet::Repr {
            dst: self.mac.1,
            src: self.mac.0,
            ethertype: ethernet::ethertype::IPV4,
        };
        let udp = udp::Repr {
            src_port: self.udp_source[0],
            dst_port: wire::UDP_PORT,
            checksum: udp::Checksum::Zero,
        };
        let mut frame = link.emit().to_vec();
        frame.extend_from_slice(&self.header().emit(udp::LEN + payload));
        frame.extend_from_slice(&udp.emit(payload));
        frame.extend_from_slice(&wire::UDP_MAGIC);
        frame.resize(len, 0);
        frame
    }

    fn header(&self) -> ipv4::Repr {
        let (src, dst) = self.ip;
        ipv4::Repr { ecn: self.ecn[0], ..ipv4::Repr::udp(src, dst, self.dscp[0]) }
    }

    fn path(&self) -> Path {
        let path = Path::v4(self.mac.0, self.mac.1, self.header());
        Path { udp_src: self.udp_source[0], ..path }
    }

    /// Types of service, frame by frame, until they come round.
    fn tos(&self) -> Vec<u8> {
        let (classes, marks) = (self.dscp.len(), self.ecn.len());
        let round = (1..).map(|n| n * classes).find(|n| n % marks == 0).unwrap_or(classes);
        let tos = |n: usize| self.dscp[n % classes].get() << 2 | self.ecn[n % marks].bits();
        (0..round).map(tos).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_frames::icrc;
    use rig_frames::ip::Ip;
    use rig_frames::packet::{self, Packet};
    use rig_testcases::{StreamKind, StreamRate, StreamSpec};
    use rig_units::Dur;

    fn roce(frame: &[u8]) -> RoceFrame {
        match packet::parse(frame) {
            Ok(Packet::Roce { frame, icrc_ok: true }) => frame,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn without_more_said_its_frames_are_those_of_a_test_case() {
        for (kind, of) in [
            (FlowKind::RoceWrite, StreamKind::RoceWrite),
            (FlowKind::RoceSend, StreamKind::RoceSend),
            (FlowKind::Udp, StreamKind::Udp),
        ] {
            let size = Bytes(254);
            let spec = StreamSpec {
                name: "s".into(),
                kind: of,
                size,
                rate: StreamRate::Every(Dur::us(1)),
                ..StreamSpec::probe(0, 1)
            };
            let template = Flow::between(0, 1, kind, size).template().expect("a size");
            for number in [0, 1, 300] {
                assert_eq!(
                    template.frame(number.into(), 0),
                    wire::data(&spec, 0, number, size, false)
                );
            }
        }
    }

    #[test]
    fn the_smallest_frames_are_as_small_as_they_say() {
        for kind in [FlowKind::RoceWrite, FlowKind::RoceSend, FlowKind::Cnp, FlowKind::Udp] {
            for stamped in [false, true] {
                let flow = Flow { stamped, ..Flow::between(0, 1, kind, Bytes(64)) };
                let flow = Flow { size: flow.least(), ..flow };
                let frame = flow.template().expect("a size").frame(7, 9);
                assert_eq!(frame.len() as u64 + FCS.0, flow.least().0, "{kind:?} {stamped}");
                assert_eq!(flow.frame_size(), flow.least());
                if kind != FlowKind::Udp {
                    assert_eq!(icrc::holds(&frame), Ok(true));
                }
            }
        }
    }

    #[test]
    fn number_and_stamp_stand_at_the_beginning_of_the_payload() {
        for (kind, start) in
            [(FlowKind::RoceSend, SEND_PAYLOAD), (FlowKind::RoceWrite, WRITE_PAYLOAD)]
        {
            let flow = Flow { stamped: true, ..Flow::between(0, 1, kind, Bytes(128)) };
            let frame = flow.template().expect("a size").frame(0x0102_0304_0506, 0x0a0b);
            assert_eq!(
                frame[start..start + 16],
                [0, 0, 1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0, 10, 11]
            );
            assert_eq!(icrc::holds(&frame), Ok(true));
            assert_eq!(roce(&frame).bth.psn, Psn::new(0x0304_0506));
        }
    }

    #[test]
    fn lists_are_gone_through_side_by_side() {
        let flow = Flow {
            dscp: [3, 4].map(|n| Dscp::new(n).expect("six bits")).to_vec(),
            ecn: vec![Ecn::Ect0, Ecn::Ce, Ecn::NotEct],
            udp_source: vec![7, 8, 9],
            queue_pair: [1, 0x12_3456].map(|n| Qpn::new(n).expect("24 bits")).to_vec(),
            psn: Psn::new(0xff_ffff),
            ..Flow::between(0, 1, FlowKind::RoceWrite, Bytes(256))
        };
        let template = flow.template().expect("a size");
        let seen = |number| {
            let frame = roce(&template.frame(number, 0));
            let Ip::V4(ip) = frame.path.ip else { panic!("IPv4") };
            let bth = frame.bth;
            (ip.dscp.get(), ip.ecn, frame.path.udp_src, bth.dest_qp.get(), bth.psn.get())
        };
        assert_eq!(seen(0), (3, Ecn::Ect0, 7, 1, 0xff_ffff));
        assert_eq!(seen(1), (4, Ecn::Ce, 8, 0x12_3456, 0));
        assert_eq!(seen(5), (4, Ecn::NotEct, 9, 0x12_3456, 4));
        assert_eq!(seen(6).0, 3);
    }

    #[test]
    fn pfc_and_congestion_notifications_are_what_others_read() {
        let kind = FlowKind::Pfc { classes: 0b1000, quanta: Quanta(500) };
        let frame = Flow::between(0, 1, kind, Bytes(0)).template().expect("fixed").frame(3, 0);
        let Ok(Packet::Pfc { repr, .. }) = packet::parse(&frame) else { panic!("PFC") };
        assert_eq!(repr.quanta[3], Some(Quanta(500)));
        let flow = Flow::between(0, 1, FlowKind::Cnp, Bytes(0));
        let frame = roce(&flow.template().expect("fixed").frame(3, 0));
        assert_eq!((frame.bth.opcode, frame.bth.dest_qp.get()), (Opcode::Cnp, wire::FIRST_QPN));
    }
}
