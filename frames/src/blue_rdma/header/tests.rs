use super::*;
use crate::blue_rdma::rreth;
use crate::psn::Psn;
use crate::roce::{Qpn, ieth, imm_dt, reth};
use proptest::prelude::*;

fn bth(opcode: Opcode) -> bth::Repr {
    bth::Repr {
        opcode,
        solicited: false,
        is_retry: false,
        msn: 7,
        dest_qp: Qpn::new(0x0301).unwrap(),
        ack_req: false,
        psn: Psn::new(5),
    }
}

fn reth(virtual_address: u64, dma_len: u32) -> reth::Repr {
    reth::Repr { virtual_address, rkey: 0x0b, dma_len }
}

/// The bytes of a datagram: headers, what stands in front of the payload, the payload.
fn datagram(header: &Header, payload: &[u8]) -> Vec<u8> {
    let mut bytes = header.emit();
    if !payload.is_empty() {
        bytes.resize(bytes.len() + header.shift(), 0);
    }
    bytes.extend(payload);
    bytes
}

#[test]
fn a_middle_packet_says_where_it_goes() {
    // WRITE middle, message 7, to 0x301, PSN 5. Three bytes to 0x1002, key 0x0b; 16 of 42 bytes are used, 26 are zero. 0x1002 is two
    // behind a multiple of four: two bytes, then the payload.
    let mut golden = vec![0x07, 0, 0, 7, 0, 0, 3, 1, 0, 0, 0, 5];
    golden.extend([0, 0, 0, 0, 0, 0, 0x10, 0x02, 0, 0, 0, 0x0b, 0, 0, 0, 3]);
    golden.extend([0; 26]);
    golden.extend([0, 0, 0xaa, 0xbb, 0xcc]);
    assert_eq!(golden.len(), 59);
    let ext = Ext::Reth(reth(0x1002, 3));
    let header = Header { bth: bth(Opcode::RcWriteMiddle), ext, author: Author::Hardware };
    assert_eq!(Header::parse(&golden), Ok((header, &[0xaa, 0xbb, 0xcc][..])));
    assert_eq!(datagram(&header, &[0xaa, 0xbb, 0xcc]), golden);
}

#[test]
fn immediate_data_stands_behind_the_reth_of_a_last_packet() {
    // Opcode 9, WRITE last with immediate, and 5, SEND only with immediate. Two bytes to 0x1000, key 0x0b; then the four bytes as they are handed over.
    // 20 of 42 bytes are used, 22 are zero.
    for (code, opcode) in [(0x09, Opcode::RcWriteLastImm), (0x05, Opcode::RcSendOnlyImm)] {
        let mut golden = vec![code, 0, 0, 7, 0, 0, 3, 1, 0, 0, 0, 5];
        golden.extend([0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0x0b, 0, 0, 0, 2]);
        golden.extend([0xde, 0xad, 0xbe, 0xef]);
        golden.extend([0; 22]);
        golden.extend([0xaa, 0xbb]);
        assert_eq!(golden.len(), BLOCK + 2);
        let ext = Ext::RethImm(reth(0x1000, 2), imm_dt::Repr { data: 0xdead_beef });
        let header = Header { bth: bth(opcode), ext, author: Author::Hardware };
        assert_eq!(Header::parse(&golden), Ok((header, &[0xaa, 0xbb][..])));
        assert_eq!(datagram(&header, &[0xaa, 0xbb]), golden);
    }
}

#[test]
fn a_read_request_has_two_addresses() {
    // READ request: 4096 bytes from 0x2000, key 0x0b, to the requester's 0x30, key 0x0c. 28 of 42 bytes.
    let mut golden = vec![0x0c, 0, 0, 7, 0, 0, 3, 1, 0, 0, 0, 5];
    golden.extend([0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0x0b, 0, 0, 0x10, 0]);
    golden.extend([0, 0, 0, 0, 0, 0, 0, 0x30, 0, 0, 0, 0x0c]);
    golden.extend([0; 14]);
    assert_eq!(golden.len(), BLOCK);
    let rreth = rreth::Repr { virtual_address: 0x30, lkey: 0x0c };
    let ext = Ext::RethRreth(reth(0x2000, 4096), rreth);
    let header = Header { bth: bth(Opcode::RcReadRequest), ext, author: Author::Hardware };
    assert_eq!(Header::parse(&golden), Ok((header, &[][..])));
    assert_eq!(header.emit(), golden);
}

/// As the driver writes one when all before PSN 101 has come (`build_ack`): no bitmap before, ones now, 0x20 for whose it is, to queue pair 13.
fn by_driver() -> (Header, Vec<u8>) {
    let mut golden = vec![0x11, 0, 0, 0, 0, 0, 0, 13, 0, 0, 0, 101];
    golden.extend([0; 16]);
    golden.extend([0xff; 16]);
    golden.extend([0x20, 0, 0, 0]);
    let (before_psn, now) = (Psn::new(0), u128::MAX);
    let ack = ack::Repr { before: 0, now, lost: false, moved: false, by_driver: true, before_psn };
    let bth = bth::Repr {
        msn: 0,
        dest_qp: Qpn::new(13).unwrap(),
        psn: Psn::new(101),
        ..bth(Opcode::RcAcknowledge)
    };
    (Header { bth, ext: Ext::Ack(ack), author: Author::Driver }, golden)
}

#[test]
fn an_acknowledgement_by_the_driver_is_shorter_than_one_by_hardware() {
    let (header, golden) = by_driver();
    assert_eq!(golden.len(), 48);
    assert_eq!(Header::parse(&golden), Ok((header, &[][..])));
    assert_eq!(header.emit(), golden);
    let hardware = Header { author: Author::Hardware, ..header };
    let longer = [golden, vec![0; 6]].concat();
    assert_eq!(Header::parse(&longer), Ok((hardware, &[][..])));
    assert_eq!(hardware.emit(), longer);
}

#[test]
fn a_cnp_is_a_block_of_zeros_behind_its_bth() {
    let header = Header { bth: bth(Opcode::Cnp), ext: Ext::None, author: Author::Hardware };
    let mut golden = vec![0x80, 0, 0, 7, 0, 0, 3, 1, 0, 0, 0, 5];
    golden.extend([0; 42]);
    assert_eq!(header.emit(), golden);
    assert_eq!(Header::parse(&golden), Ok((header, &[][..])));
}

#[test]
fn a_length_that_is_not_that_of_the_payload_is_named() {
    let of = |opcode, said, len: usize| {
        let ext = Ext::Reth(reth(0x1000, said));
        let header = Header { bth: bth(opcode), ext, author: Author::Hardware };
        let bytes = datagram(&header, &vec![0xee; len]);
        Header::parse(&bytes).map(|(_, payload)| payload.len()).map_err(|of| of.to_string())
    };
    let wrong = "blue_rdma.reth.dma_len at byte 24: want 0x100, got";
    assert_eq!(of(Opcode::RcWriteMiddle, 256, 256), Ok(256));
    assert_eq!(of(Opcode::RcWriteMiddle, 255, 256), Err(format!("{wrong} 0xff")));
    assert_eq!(of(Opcode::RcWriteLast, 257, 256), Err(format!("{wrong} 0x101")));
    // Of a first packet it is that of the message, which has more.
    assert_eq!(of(Opcode::RcWriteFirst, 257, 256), Ok(256));
    assert_eq!(of(Opcode::RcWriteFirst, 255, 256), Err(format!("{wrong} 0xff")));
    // Nobody knows what hardware writes where there is no payload.
    assert_eq!(of(Opcode::RcWriteOnly, 9, 0), Ok(0));
}

#[test]
fn every_truncation_is_refused() {
    let ext = Ext::Reth(reth(0x1003, 2));
    let header = Header { bth: bth(Opcode::RcWriteLast), ext, author: Author::Hardware };
    let whole = datagram(&header, &[1, 2]);
    for len in (0..whole.len()).filter(|&len| len != BLOCK) {
        assert!(Header::parse(&whole[..len]).is_err(), "{len} bytes");
    }
    let (_, ack) = by_driver();
    for len in 0..ack.len() {
        assert!(Header::parse(&ack[..len]).is_err(), "{len} bytes");
    }
    let more = [ack, vec![0; 7]].concat();
    let refused = Header::parse(&more).unwrap_err().to_string();
    assert_eq!(refused, "blue_rdma.payload at byte 54: want at most 0 bytes, got 1");
}

fn opcodes() -> impl Strategy<Value = Opcode> {
    let all = Opcode::ALL.iter().copied().filter(|&of| Layout::of(of).is_some());
    prop::sample::select(all.collect::<Vec<_>>())
}

fn headers() -> impl Strategy<Value = (Header, Vec<u8>)> {
    let flags = any::<(bool, bool, bool, bool, bool, bool)>();
    let numbers = any::<(u64, u32, u32, u64, u128, u128, u16)>();
    let narrow = (0_u32..1 << 24, any::<u32>(), any::<u32>());
    (opcodes(), flags, numbers, narrow, prop::collection::vec(any::<u8>(), 1..40)).prop_map(
        |(opcode, flags, numbers, (qp, psn, before), payload)| {
            let (solicited, is_retry, ack_req, lost, moved, driver) = flags;
            let (address, key, word, local, before_bits, now, msn) = numbers;
            let len = u32::try_from(payload.len()).unwrap();
            let first = [Opcode::RcSendFirst, Opcode::RcWriteFirst, Opcode::RcReadResponseFirst];
            let dma_len = if first.contains(&opcode) { len + 1 } else { len };
            let reth = reth::Repr { virtual_address: address, rkey: key, dma_len };
            let author = match opcode {
                Opcode::RcAcknowledge if driver => Author::Driver,
                _ => Author::Hardware,
            };
            let ext = match Layout::of(opcode).unwrap() {
                Layout::Reth => Ext::Reth(reth),
                Layout::RethImm => Ext::RethImm(reth, imm_dt::Repr { data: word }),
                Layout::RethIeth => Ext::RethIeth(reth, ieth::Repr { rkey: word }),
                Layout::RethRreth => {
                    Ext::RethRreth(reth, rreth::Repr { virtual_address: local, lkey: word })
                }
                Layout::Ack => Ext::Ack(ack::Repr {
                    before: before_bits,
                    now,
                    lost,
                    moved,
                    by_driver: driver,
                    before_psn: Psn::new(before),
                }),
                Layout::None => Ext::None,
            };
            let dest_qp = Qpn::new(qp).unwrap();
            let psn = Psn::new(psn);
            let bth = bth::Repr { opcode, solicited, is_retry, msn, dest_qp, ack_req, psn };
            let payload = if ext.placed().is_some() { payload } else { Vec::new() };
            (Header { bth, ext, author }, payload)
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read((header, payload) in headers()) {
        let bytes = datagram(&header, &payload);
        prop_assert_eq!(Header::parse(&bytes), Ok((header, &payload[..])));
    }

    #[test]
    fn any_bytes_are_refused_or_read_the_same_again(
        code in prop_oneof![Just(0x80_u8), 0_u8..0x18],
        mut bytes in prop::collection::vec(any::<u8>(), 0..120),
    ) {
        if let [first, flags, ..] = &mut bytes[..] {
            (*first, *flags) = (code, *flags & 0xf0);
        }
        if let Ok((header, payload)) = Header::parse(&bytes) {
            let again = datagram(&header, payload);
            prop_assert_eq!(Header::parse(&again), Ok((header, payload)));
        }
    }
}
