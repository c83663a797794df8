use super::*;
use crate::ip::{Dscp, Ecn, Ip};
use crate::ipv6::FlowLabel;
use crate::psn::Psn;
use crate::roce::aeth::{self, Syndrome};
use crate::roce::ext::Layout;
use crate::roce::opcode::Payload;
use crate::roce::{Ext, Opcode, Qpn, atomic_ack_eth, atomic_eth, bth, deth, ieth, imm_dt, reth};
use crate::vlan::{Pcp, Vid};
use crate::{icrc, ipv6};
use core::net::Ipv4Addr;
use proptest::prelude::*;
use proptest::strategy::Union;
use rig_units::{Bytes, Quanta};

const A: MacAddr = MacAddr([2, 0, 0, 0, 0, 0x0a]);
const B: MacAddr = MacAddr([2, 0, 0, 0, 0, 0x0b]);

/// A CNP as a ConnectX-4 Lx sent it, ICRC included; published with the tests of Scapy's RoCE layer.
const CONNECTX_CNP: &str = "e41d2dab2bc2 7cfe90643b32 0800 45c2003c718c4000401191610a0011010a001201 \
     000012b700280000 8100ffff4000011800000000 00000000000000000000000000000000 82fd002a";

/// A UC SEND only with a pad of two bytes and a filled UDP checksum, published there as well.
const UC_SEND: &str = "248a07a8fa22248a07a8fa220800 45010040047840004011b4d5c0a80007c0a80007 c00012b7002caca2 \
     2460ffff000000d300cf1710 4630818be28935d90e9a95505401be885e500000 78f353f3";

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    let byte = |pair: &[char]| u8::from_str_radix(&String::from_iter(pair), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

fn v4() -> Path {
    let ends = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
    Path::v4(A, B, ipv4::Repr::udp(ends.0, ends.1, Dscp::new(26).unwrap()))
}

fn write_only(payload_len: u16) -> RoceFrame {
    let reth = reth::Repr { virtual_address: 0x1000, rkey: 7, dma_len: payload_len.into() };
    let bth = bth::Repr::new(Opcode::RcWriteOnly, Qpn::new(0x11).unwrap(), Psn::new(5));
    RoceFrame { payload_len, ..RoceFrame::new(v4(), bth, Ext::Reth(reth)) }
}

fn paths() -> impl Strategy<Value = Path> {
    let dscp = (0_u8..64).prop_map(|raw| Dscp::new(raw).unwrap());
    let ecn = any::<u8>().prop_map(Ecn::from_low_bits);
    let four =
        (any::<[u8; 4]>(), any::<[u8; 4]>(), dscp.clone(), ecn.clone(), any::<(u16, bool, u8)>())
            .prop_map(|(src, dst, dscp, ecn, (identification, dont_fragment, ttl))| {
                let udp = ipv4::Repr::udp(src.into(), dst.into(), dscp);
                Ip::V4(ipv4::Repr { ecn, identification, dont_fragment, ttl, ..udp })
            });
    let six = (any::<[u8; 16]>(), any::<[u8; 16]>(), dscp, ecn, (0_u32..1 << 20, any::<u8>()))
        .prop_map(|(src, dst, dscp, ecn, (label, hop_limit))| {
            let flow_label = FlowLabel::new(label).unwrap();
            Ip::V6(ipv6::Repr {
                ecn,
                flow_label,
                hop_limit,
                ..ipv6::Repr::udp(src.into(), dst.into(), dscp)
            })
        });
    let tag = (0_u8..8, any::<bool>(), 0_u16..4096).prop_map(|(pcp, dei, vid)| vlan::Repr {
        pcp: Pcp::new(pcp).unwrap(),
        dei,
        vid: Vid::new(vid).unwrap(),
    });
    let checksum = prop::sample::select(vec![udp::Checksum::Zero, udp::Checksum::Filled]);
    (
        any::<[u8; 6]>(),
        any::<[u8; 6]>(),
        prop::option::of(tag),
        prop_oneof![four, six],
        any::<u16>(),
        checksum,
    )
        .prop_map(|(src, dst, vlan, ip, udp_src, checksum)| Path {
            src: MacAddr(src),
            dst: MacAddr(dst),
            vlan,
            ip,
            udp_src,
            checksum,
        })
}

fn exts(layout: Layout) -> impl Strategy<Value = Ext> {
    (any::<(u64, u32, u32, u64, u64)>(), 0_u32..1 << 24, any::<u8>()).prop_map(
        move |(fields, narrow, syndrome)| {
            let (virtual_address, rkey, word, swap_or_add, compare) = fields;
            let reth = reth::Repr { virtual_address, rkey, dma_len: word };
            let imm = imm_dt::Repr { data: word };
            let syndrome = Syndrome::from_bits(syndrome).unwrap_or(Syndrome::ACK);
            let aeth = aeth::Repr { syndrome, msn: aeth::Msn::new(narrow).unwrap() };
            let deth = deth::Repr { qkey: word, src_qp: Qpn::new(narrow).unwrap() };
            match layout {
                Layout::Plain => Ext::Plain,
                Layout::Imm => Ext::Imm(imm),
                Layout::Ieth => Ext::Ieth(ieth::Repr { rkey }),
                Layout::Reth => Ext::Reth(reth),
                Layout::RethImm => Ext::RethImm(reth, imm),
                Layout::Aeth => Ext::Aeth(aeth),
                Layout::AethAtomicAck => {
                    Ext::AethAtomicAck(aeth, atomic_ack_eth::Repr { original: compare })
                }
                Layout::Atomic => {
                    Ext::Atomic(atomic_eth::Repr { virtual_address, rkey, swap_or_add, compare })
                }
                Layout::Deth => Ext::Deth(deth),
                Layout::DethImm => Ext::DethImm(deth, imm),
                Layout::Cnp => Ext::Cnp,
            }
        },
    )
}

fn frames() -> impl Strategy<Value = RoceFrame> {
    let of = |&opcode: &Opcode| {
        let most: u16 = if opcode.payload() == Payload::None { 0 } else { 4096 };
        let payload_len = prop_oneof![Just(0), 0..=most.min(9), 0..=most];
        let flags = any::<(bool, bool, bool, bool, u16)>();
        let numbers = (0_u32..1 << 24, any::<u32>());
        (paths(), exts(opcode.layout()), payload_len, 0_u16..9, flags, numbers).prop_map(
            move |(
                path,
                ext,
                payload_len,
                trailer,
                (solicited, fecn, becn, ack_req, pkey),
                (qp, psn),
            )| {
                let becn = becn || opcode == Opcode::Cnp;
                let bth = bth::Repr::new(opcode, Qpn::new(qp).unwrap(), Psn::new(psn));
                let bth =
                    bth::Repr { solicited, mig_req: solicited, fecn, becn, ack_req, pkey, ..bth };
                RoceFrame { path, bth, ext, payload_len, trailer }
            },
        )
    };
    Union::new(Opcode::ALL.iter().map(of))
}

fn roce(frame: RoceFrame, icrc_ok: bool) -> Result<Packet, Malformed> {
    Ok(Packet::Roce { frame, icrc_ok })
}

/// Length up to and with the ICRC, padding and trailer left aside.
fn natural_len(frame: &RoceFrame) -> usize {
    let payload = usize::from(frame.payload_len).next_multiple_of(4);
    frame.path.len() + bth::LEN + frame.ext.layout().len() + payload + icrc::LEN
}

/// What a fuzzer asserts of any bytes: no panic, and what was read is what its own bytes say.
fn read_write_read(bytes: &[u8]) {
    let Ok(packet) = parse(bytes) else { return };
    let Some(again) = packet.emit() else { return };
    match (packet, parse(&again)) {
        (Packet::Roce { frame, .. }, read) => assert_eq!(read, roce(frame, true)),
        (packet, read) => assert_eq!(read, Ok(packet)),
    }
}

#[test]
fn a_published_cnp_of_real_hardware_is_read_and_written_to_the_bit() {
    let bytes = hex(CONNECTX_CNP);
    let src = "7c:fe:90:64:3b:32".parse().unwrap();
    let dst = "e4:1d:2d:ab:2b:c2".parse().unwrap();
    let (from, to) = (Ipv4Addr::new(10, 0, 17, 1), Ipv4Addr::new(10, 0, 18, 1));
    let ip =
        ipv4::Repr { identification: 0x718c, ..ipv4::Repr::udp(from, to, Dscp::new(48).unwrap()) };
    let path = Path { udp_src: 0, ..Path::v4(src, dst, ip) };
    let cnp = RoceFrame::cnp(path, Qpn::new(0x118).unwrap());
    assert_eq!(parse(&bytes), roce(cnp, true));
    assert_eq!(cnp.emit(), bytes);
}

#[test]
fn a_published_uc_send_has_the_icrc_that_was_published_with_it() {
    let bytes = hex(UC_SEND);
    let Ok(Packet::Roce { frame, icrc_ok: true }) = parse(&bytes) else {
        panic!("{:?}", parse(&bytes))
    };
    assert_eq!((frame.bth.opcode, frame.payload_len), (Opcode::UcSendOnly, 18));
    assert_eq!((frame.path.ip.ecn(), frame.path.checksum), (Ecn::Ect1, udp::Checksum::Filled));
    let mut spoilt = bytes.clone();
    spoilt[74..].fill(0);
    assert_eq!(icrc::holds(&spoilt), Ok(false));
    icrc::seal(&mut spoilt).unwrap();
    assert_eq!(spoilt, bytes);
}

#[test]
fn a_write_is_laid_out_as_worked_by_hand() {
    let bytes = write_only(5).emit();
    let golden = "02000000000b 02000000000a 0800 456a0044 00004000 4011263d 0a000001 0a000002 c00012b7 00300000 \
         0a70ffff 00000011 00000005 0000000000001000 00000007 00000005 0001020304 000000";
    let golden = hex(golden);
    assert_eq!(bytes[..golden.len()], golden);
    assert_eq!(bytes.len(), golden.len() + icrc::LEN);
}

#[test]
fn every_truncation_of_a_frame_is_refused() {
    let mut tagged = write_only(9);
    tagged.path.vlan = Some(vlan::Repr { pcp: Pcp::MAX, dei: false, vid: Vid::MAX });
    let mut six = write_only(9);
    six.path.ip = Ip::V6(ipv6::Repr::udp(1.into(), 2.into(), Dscp::MAX));
    let arp = hex(
        "ffffffffffff 02000000000a 0806 0001080006040001 02000000000a 0a000001 000000000000 0a000002",
    );
    let pfc = mac_control::frame_pfc(A, &pfc::Repr::all(8, Quanta(1)));
    let pause = mac_control::frame_pause(A, &pause::Repr { quanta: Quanta(1) });
    let all = [
        write_only(9).emit(),
        tagged.emit(),
        six.emit(),
        arp,
        pfc[..34].to_vec(),
        pause[..18].to_vec(),
    ];
    for frame in all {
        assert!(!matches!(parse(&frame), Ok(Packet::Other { .. }) | Err(_)), "{:?}", parse(&frame));
        for len in 0..frame.len() {
            assert!(parse(&frame[..len]).is_err(), "{len} of {} bytes", frame.len());
        }
    }
}

#[test]
fn frames_of_no_interest_are_other_whatever_they_hold() {
    let ethernet = |kind: u16| [&[2; 12][..], &kind.to_be_bytes(), &[0; 46]].concat();
    for kind in [0x0100, 0x88cc, 0x88a8, 0x8915] {
        assert_eq!(
            parse(&ethernet(kind)),
            Ok(Packet::Other { src: MacAddr([2; 6]), dst: MacAddr([2; 6]), ethertype: kind })
        );
    }
    let other: [fn(&mut Vec<u8>); 5] = [
        |options| options[14] = 0x46,
        |more_fragments| more_fragments[20] |= 0x20,
        |last_fragment| last_fragment[21] = 1,
        |tcp| tcp[23] = 6,
        |another_port| another_port[37] = 0xb8,
    ];
    for change in other {
        let mut bytes = write_only(0).emit();
        change(&mut bytes);
        assert!(matches!(parse(&bytes), Ok(Packet::Other { .. })), "{:?}", parse(&bytes));
    }
}

#[test]
fn lengths_and_pads_that_disagree_are_refused_by_name() {
    type Break = fn(&mut Vec<u8>);
    let broken: [(&str, Break); 4] = [
        ("udp.length", |shorter| shorter[39] -= 1),
        ("bth.pad", |one_byte_less| {
            one_byte_less[39] -= 1;
            let mut ip = ipv4::Raw::new(&mut one_byte_less[14..]).unwrap();
            ip.set_total_length(67);
            let sum = ipv4::checksum(&ip.to_immutable());
            ip.set_checksum(sum);
        }),
        ("bth.opcode", |opcode| opcode[42] = 0xff),
        ("roce.payload", |read_request| read_request[42] = 0x0c),
    ];
    for (field, breaks) in broken {
        let mut bytes = write_only(5).emit();
        breaks(&mut bytes);
        assert_eq!(parse(&bytes).unwrap_err().field, field);
    }
}

#[test]
fn a_pad_longer_than_the_payload_is_refused() {
    // As many bytes behind the RETH as none, and a pad count of 1.
    let mut bytes = write_only(0).emit();
    bytes[43] |= 0x10;
    assert_eq!(
        parse(&bytes).unwrap_err().to_string(),
        "bth.pad at byte 1: want at most 0 bytes, got 1"
    );
}

#[test]
fn a_frame_that_contradicts_itself_is_refused() {
    let good = write_only(4);
    let mut tcp = good;
    tcp.path.ip = Ip::V4(ipv4::Repr {
        protocol: 6,
        ..ipv4::Repr::udp([1; 4].into(), [2; 4].into(), Dscp::MAX)
    });
    let mut ack = good;
    ack.bth.opcode = Opcode::RcReadRequest;
    let mut silent = RoceFrame::cnp(v4(), Qpn::MAX);
    silent.bth.becn = false;
    let fields = [
        (tcp, "ip.protocol"),
        (RoceFrame { ext: Ext::Plain, ..good }, "bth.opcode"),
        (ack, "roce.payload"),
        (silent, "cnp.becn"),
        (RoceFrame { payload_len: 65_476, ..good }, "roce.payload"),
    ];
    for (frame, field) in fields {
        assert_eq!(frame.check().unwrap_err().field, field);
    }
    assert_eq!(good.check(), Ok(()));
}

#[test]
fn the_longest_frame_is_one_ip_packet() {
    let longest = RoceFrame { payload_len: 65_472, ..write_only(0) };
    let bytes = longest.emit();
    assert_eq!(bytes.len(), 14 + 20 + 8 + 12 + 16 + 65_472 + 4);
    assert_eq!(parse(&bytes), roce(longest, true));
    assert_eq!(
        RoceFrame { payload_len: 65_473, ..longest }.check().unwrap_err().field,
        "roce.payload"
    );
}

#[test]
#[should_panic(expected = "a RoCE frame contradicts itself: cnp.becn at byte 4: want 0x1, got 0x0")]
fn emitting_a_contradiction_panics() {
    let mut silent = RoceFrame::cnp(v4(), Qpn::MAX);
    silent.bth.becn = false;
    silent.emit();
}

#[test]
fn sizes_are_met_to_the_byte() {
    for size in 78..=600 {
        let frame = write_only(0).sized(Bytes(size)).unwrap();
        assert_eq!(frame.size(), Bytes(size));
        assert_eq!(frame.emit().len() as u64 + 4, size);
        assert!(frame.trailer < 4, "{frame:?}");
    }
    let kilobyte = write_only(0).sized(Bytes(1024)).unwrap();
    assert_eq!((kilobyte.payload_len, kilobyte.trailer), (944, 2));
    let cnp = RoceFrame::cnp(v4(), Qpn::MAX).sized(Bytes(100)).unwrap();
    assert_eq!((cnp.payload_len, cnp.trailer), (0, 22));
}

#[test]
fn sizes_that_no_frame_has_are_refused() {
    let refused = |size| write_only(0).sized(Bytes(size)).unwrap_err().to_string();
    assert_eq!(refused(77), "frame.size at byte 0: want at least 78 bytes, got 77");
    assert_eq!(refused(0), "frame.size at byte 0: want at least 78 bytes, got 0");
    assert_eq!(refused(70_000), "roce.payload at byte 28: want at most 65475 bytes, got 65535");
    let cnp = RoceFrame::cnp(v4(), Qpn::MAX).sized(Bytes(70_000)).unwrap_err().to_string();
    assert_eq!(cnp, "frame.size at byte 0: want at most 65535 bytes, got 70000");
}

#[test]
fn a_short_frame_is_filled_up_to_60_bytes() {
    let send = bth::Repr::new(Opcode::UcSendOnly, Qpn::MAX, Psn::new(0));
    let frame = RoceFrame::new(v4(), send, Ext::Plain);
    let bytes = frame.emit();
    assert_eq!(bytes.len(), 60);
    assert_eq!(parse(&bytes), roce(frame, true));
    // A software port may hand the frame over without the padding.
    assert_eq!(parse(&bytes[..58]), roce(frame, true));
    assert_eq!(frame.sized(Bytes(64)), Ok(frame));
}

#[test]
fn control_frames_and_arp_read_as_they_were_written() {
    let ip = Ipv4Addr::new(10, 0, 0, 1);
    let repr = arp::Repr {
        operation: arp::Operation::Request,
        sender_mac: A,
        sender_ip: ip,
        target_mac: MacAddr::default(),
        target_ip: ip,
    };
    let tag = vlan::Repr { pcp: Pcp::default(), dei: false, vid: Vid::MAX };
    let all = [
        Packet::Pfc { src: A, repr: pfc::Repr::all(0b1010, Quanta::MAX) },
        Packet::Pause { src: A, repr: pause::Repr { quanta: Quanta(3) } },
        Packet::Arp { src: A, dst: MacAddr::BROADCAST, vlan: None, repr },
        Packet::Arp { src: A, dst: MacAddr::BROADCAST, vlan: Some(tag), repr },
    ];
    for packet in all {
        let bytes = packet.emit().unwrap();
        assert_eq!((bytes.len(), parse(&bytes)), (60, Ok(packet)));
    }
    assert_eq!(Packet::Other { src: A, dst: B, ethertype: 0x88cc }.emit(), None);
}

#[test]
fn a_tagged_pfc_frame_is_not_pfc() {
    let pfc = mac_control::frame_pfc(A, &pfc::Repr::all(8, Quanta(1)));
    let tagged = [&pfc[..12], &[0x81, 0, 0, 1], &pfc[12..]].concat();
    assert!(matches!(parse(&tagged), Ok(Packet::Other { ethertype: ethertype::MAC_CONTROL, .. })));
}

proptest! {
    #[test]
    fn every_frame_reads_as_it_was_written(frame in frames()) {
        let bytes = frame.emit();
        prop_assert_eq!(bytes.len(), frame.len());
        prop_assert_eq!(parse(&bytes), roce(frame, true));
        prop_assert_eq!(icrc::holds(&bytes), Ok(true));
    }

    #[test]
    fn no_frame_survives_being_cut_short(frame in frames(), cut in any::<prop::sample::Index>()) {
        let bytes = frame.emit();
        let cut = cut.index(natural_len(&frame));
        prop_assert!(parse(&bytes[..cut]).is_err(), "{cut} of {} bytes", bytes.len());
    }

    #[test]
    fn what_a_switch_may_rewrite_leaves_the_icrc_valid(frame in frames(), notice in any::<u8>(), hops in any::<u8>()) {
        let mut bytes = frame.emit();
        let ip = if frame.path.vlan.is_some() { 18 } else { 14 };
        let bth = match frame.path.ip {
            Ip::V4(_) => {
                let mut header = ipv4::Raw::new(&mut bytes[ip..]).unwrap();
                header.set_dscp(hops & 63);
                header.set_ecn(3);
                header.set_ttl(hops);
                header.set_checksum(notice.into());
                ip + 28
            }
            Ip::V6(_) => {
                let mut header = ipv6::Raw::new(&mut bytes[ip..]).unwrap();
                header.set_traffic_class(hops);
                header.set_flow_label(u32::from(notice) << 8);
                header.set_hop_limit(notice);
                ip + 48
            }
        };
        bytes[bth - 2..bth].fill(notice);
        bytes[bth + 4] = notice;
        prop_assert_eq!(icrc::holds(&bytes), Ok(true));
    }

    #[test]
    fn any_other_flipped_bit_breaks_the_icrc(frame in frames(), at in any::<prop::sample::Index>(), bit in 0_u8..8) {
        let mut bytes = frame.emit();
        let ip = if frame.path.vlan.is_some() { 18 } else { 14 };
        let free: &[usize] = match frame.path.ip {
            Ip::V4(_) => &[1, 8, 10, 11, 26, 27, 32],
            Ip::V6(_) => &[0, 1, 2, 3, 7, 46, 47, 52],
        };
        let at = ip + at.index(natural_len(&frame) - ip);
        prop_assume!(!free.contains(&(at - ip)));
        bytes[at] ^= 1 << bit;
        // A flipped length or version moves the ICRC or hides it.
        prop_assert_ne!(icrc::holds(&bytes), Ok(true));
    }

    #[test]
    fn sealing_repairs_any_change_behind_the_headers(frame in frames(), psn in any::<u32>()) {
        let mut bytes = frame.emit();
        let bth = frame.path.len();
        let header = (&mut bytes[bth..bth + bth::LEN]).try_into().unwrap();
        bth::Raw(header).set_psn(psn);
        icrc::seal(&mut bytes).unwrap();
        prop_assert_eq!(icrc::holds(&bytes), Ok(true));
        if frame.path.checksum == udp::Checksum::Zero {
            let Ok(Packet::Roce { frame: read, icrc_ok: true }) = parse(&bytes) else { panic!("{:?}", parse(&bytes)) };
            prop_assert_eq!(read.bth.psn, Psn::new(psn));
        }
    }

    #[test]
    fn no_bytes_make_the_parsers_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_write_read(&bytes);
        let _ = icrc::holds(&bytes);
    }

    #[test]
    fn no_change_to_a_frame_makes_the_parsers_panic(
        frame in frames(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = frame.emit();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        read_write_read(&bytes);
        let _ = icrc::holds(&bytes);
        read_write_read(&bytes[..cut.index(bytes.len())]);
        let _ = icrc::seal(&mut bytes);
    }

    #[test]
    fn writing_into_a_used_buffer_leaves_nothing_behind(first in frames(), second in frames()) {
        let mut buffer = first.emit();
        second.emit_into(&mut buffer);
        prop_assert_eq!(buffer, second.emit());
    }
}
