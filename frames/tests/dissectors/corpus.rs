//! One frame or more of every format, for programs that nobody here wrote to read.

use rig_frames::ip::{Dscp, Ecn, Ip};
use rig_frames::ipv6::FlowLabel;
use rig_frames::packet::{Packet, Path, RoceFrame};
use rig_frames::psn::Psn;
use rig_frames::roce::aeth::{self, Nak, RnrTimer, Syndrome};
use rig_frames::roce::ext::Layout;
use rig_frames::roce::opcode::Payload;
use rig_frames::roce::{
    Ext, Opcode, Qpn, atomic_ack_eth, atomic_eth, bth, deth, ieth, imm_dt, reth,
};
use rig_frames::vlan::{self, Pcp, Vid};
use rig_frames::{MacAddr, arp, ipv4, ipv6, pause, pfc, udp};
use rig_units::{Bytes, Quanta};
use std::net::{Ipv4Addr, Ipv6Addr};

const A: MacAddr = MacAddr([2, 0, 0, 0, 0, 0x0a]);
const B: MacAddr = MacAddr([2, 0, 0, 0, 0, 0x0b]);

/// Every opcode over four paths and with several payloads, all kinds of acknowledgement, PFC, PAUSE and ARP.
pub(crate) fn corpus() -> Vec<Packet> {
    let mut all = Vec::new();
    for (number, &opcode) in (0_u32..).zip(Opcode::ALL) {
        let lengths: &[u16] =
            if opcode.payload() == Payload::None { &[0] } else { &[0, 1, 2, 3, 1024, 4096] };
        for (nth, &payload_len) in (0_u32..).zip(lengths) {
            let path = paths()[usize::try_from((number + nth) % 4).unwrap()];
            let psn = Psn::new(0x00ff_ffff).advance(number * 10 + nth);
            let bth = bth::Repr {
                ack_req: nth == 1,
                solicited: nth == 2,
                fecn: nth == 3,
                ..bth(opcode, number, psn)
            };
            let frame = RoceFrame {
                payload_len,
                ..RoceFrame::new(path, bth, ext(opcode.layout(), number))
            };
            all.push(frame);
        }
    }
    let dest_qp = Qpn::new(0x77).unwrap();
    for syndrome in
        [Syndrome::ACK, Syndrome::RnrNak(RnrTimer::MAX), Syndrome::Nak(Nak::PsnSequenceError)]
    {
        let aeth = aeth::Repr { syndrome, msn: aeth::Msn::MAX };
        all.push(RoceFrame::ack(paths()[0], dest_qp, Psn::new(9), aeth));
    }
    all.push(RoceFrame::cnp(paths()[0], dest_qp));
    let write =
        RoceFrame::new(paths()[0], bth(Opcode::RcWriteOnly, 1, Psn::new(1)), ext(Layout::Reth, 1));
    all.push(write.sized(Bytes(1024)).unwrap());
    let mut all: Vec<Packet> =
        all.into_iter().map(|frame| Packet::Roce { frame, icrc_ok: true }).collect();

    let each = pfc::Repr {
        quanta: std::array::from_fn(|class| Some(Quanta(0x100 + u16::try_from(class).unwrap()))),
    };
    for repr in [pfc::Repr::all(0b0001_1000, Quanta::MAX), pfc::Repr::all(0b1000, Quanta(0)), each]
    {
        all.push(Packet::Pfc { src: A, repr });
    }
    all.push(Packet::Pause { src: A, repr: pause::Repr { quanta: Quanta(0x1234) } });
    let (sender_ip, target_ip) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
    let operation = arp::Operation::Request;
    let repr = arp::Repr {
        operation,
        sender_mac: A,
        sender_ip,
        target_mac: MacAddr::default(),
        target_ip,
    };
    all.push(Packet::Arp { src: A, dst: MacAddr::BROADCAST, vlan: None, repr });
    all
}

fn bth(opcode: Opcode, number: u32, psn: Psn) -> bth::Repr {
    let new = bth::Repr::new(opcode, Qpn::new(0x00ab_cd00 + number).unwrap(), psn);
    bth::Repr { becn: opcode == Opcode::Cnp, ..new }
}

fn paths() -> [Path; 4] {
    let dscp = Dscp::new(26).unwrap();
    let four = ipv4::Repr::udp(Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2), dscp);
    let five =
        ipv4::Repr { ecn: Ecn::Ce, identification: 0xbeef, ttl: 7, dont_fragment: false, ..four };
    let six = ipv6::Repr::udp(
        Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1),
        Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2),
        dscp,
    );
    let six = ipv6::Repr { flow_label: FlowLabel::new(0xabcde).unwrap(), ..six };
    let tag = vlan::Repr { pcp: Pcp::new(3).unwrap(), dei: true, vid: Vid::new(100).unwrap() };
    let plain = Path::v4(A, B, four);
    [
        plain,
        Path { vlan: Some(tag), ip: Ip::V4(five), udp_src: 50_000, ..plain },
        Path { ip: Ip::V6(six), checksum: udp::Checksum::Filled, ..plain },
        Path { vlan: Some(tag), ip: Ip::V4(four), checksum: udp::Checksum::Filled, ..plain },
    ]
}

fn ext(layout: Layout, number: u32) -> Ext {
    let virtual_address = 0x1122_3344_5566_7700 + u64::from(number);
    let reth =
        reth::Repr { virtual_address, rkey: 0xa1a2_a300 + number, dma_len: 0x0001_0000 + number };
    let imm = imm_dt::Repr { data: 0xdead_be00 + number };
    let aeth =
        aeth::Repr { syndrome: Syndrome::ACK, msn: aeth::Msn::new(0x1000 + number).unwrap() };
    let deth = deth::Repr { qkey: 0x8001_0000, src_qp: Qpn::new(0x1200 + number).unwrap() };
    let (swap_or_add, compare) = (0x0102_0304_0506_0708, 0x1112_1314_1516_1718);
    match layout {
        Layout::Plain => Ext::Plain,
        Layout::Imm => Ext::Imm(imm),
        Layout::Ieth => Ext::Ieth(ieth::Repr { rkey: 0xb1b2_b300 + number }),
        Layout::Reth => Ext::Reth(reth),
        Layout::RethImm => Ext::RethImm(reth, imm),
        Layout::Aeth => Ext::Aeth(aeth),
        Layout::AethAtomicAck => {
            Ext::AethAtomicAck(aeth, atomic_ack_eth::Repr { original: compare })
        }
        Layout::Atomic => {
            Ext::Atomic(atomic_eth::Repr { virtual_address, rkey: number, swap_or_add, compare })
        }
        Layout::Deth => Ext::Deth(deth),
        Layout::DethImm => Ext::DethImm(deth, imm),
        Layout::Cnp => Ext::Cnp,
    }
}
