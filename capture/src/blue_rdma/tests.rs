use super::{Dialogue, Finder, Posted};
use core::net::Ipv4Addr;
use proptest::prelude::*;
use rig_frames::blue_rdma::{Author, Ext, Header, ack, bth, rreth};
use rig_frames::ethernet::{self, ethertype};
use rig_frames::ip::{Dscp, Ecn};
use rig_frames::packet::{Path, RoceFrame};
use rig_frames::psn::Psn;
use rig_frames::roce::{self, Opcode, Qpn, reth};
use rig_frames::{MacAddr, ipv4, udp};
use rig_units::{Dur, Time};

const MTU: usize = 256;
/// The queue pairs of the scenes: what one sends to the other comes from a UDP port of its own number.
const SENDER: u32 = 0x111;
const RECEIVER: u32 = 0x222;
/// Packets of the message of the scenes.
const PACKETS: u32 = 130;

fn address(host: u8) -> Ipv4Addr {
    [10, 0, 0, host].into()
}

/// A frame from the first host to the second, or back.
fn frame(back: bool, src_port: u16, ecn: Ecn, header: &Header, payload: usize) -> Vec<u8> {
    let (src, dst) = if back { (2, 1) } else { (1, 2) };
    let mut bytes = header.emit();
    if payload > 0 {
        bytes.resize(bytes.len() + header.shift() + payload, 0xee);
    }
    let (to, from) = (MacAddr([2, 0, 0, 0, 0, dst]), MacAddr([2, 0, 0, 0, 0, src]));
    let link = ethernet::Repr { dst: to, src: from, ethertype: ethertype::IPV4 };
    let ip = ipv4::Repr { ecn, ..ipv4::Repr::udp(address(src), address(dst), Dscp::default()) };
    let udp = udp::Repr { src_port, dst_port: udp::ROCE_PORT, checksum: udp::Checksum::Zero };
    let mut frame = link.emit().to_vec();
    frame.extend(ip.emit(udp::LEN + bytes.len()));
    frame.extend(udp.emit(bytes.len()));
    frame.extend(bytes);
    frame
}

fn base(opcode: Opcode, to: u32, psn: u32) -> bth::Repr {
    bth::Repr {
        opcode,
        solicited: false,
        is_retry: false,
        msn: 1,
        dest_qp: Qpn::new(to).expect("24 bits"),
        ack_req: false,
        psn: Psn::new(psn),
    }
}

/// A packet with `len` bytes of payload, `offset` of all the message behind its beginning.
fn placing(bth: bth::Repr, said: usize, offset: u32, len: usize) -> Vec<u8> {
    let dma_len = u32::try_from(said).expect("short");
    let reth = reth::Repr { virtual_address: 0x1_0000 + u64::from(offset) * 256, rkey: 9, dma_len };
    let header = Header { bth, ext: Ext::Reth(reth), author: Author::Hardware };
    frame(false, 0x111, Ecn::Ect0, &header, len)
}

/// Packet `at` of a WRITE of 130 packets, whose first is `start`.
fn write(start: u32, at: u32, is_retry: bool) -> Vec<u8> {
    let (opcode, said) = match at {
        0 => (Opcode::RcWriteFirst, MTU * 130),
        last if last == PACKETS - 1 => (Opcode::RcWriteLast, MTU),
        _ => (Opcode::RcWriteMiddle, MTU),
    };
    let psn = Psn::new(start).advance(at).get();
    let ack_req = at == PACKETS - 1;
    placing(bth::Repr { is_retry, ack_req, ..base(opcode, RECEIVER, psn) }, said, at, MTU)
}

fn report(by_driver: bool, psn: u32, ack: ack::Repr) -> Vec<u8> {
    let bth = bth::Repr { msn: 0, ..base(Opcode::RcAcknowledge, SENDER, psn) };
    let author = if by_driver { Author::Driver } else { Author::Hardware };
    frame(true, 4791, Ecn::NotEct, &Header { bth, ext: Ext::Ack(ack), author }, 0)
}

/// What the driver says when all before `psn` has come; it leaves the checksum of IPv4 zero.
fn driver_ack(psn: u32) -> Vec<u8> {
    let (before, now, before_psn) = (0, u128::MAX, Psn::new(0));
    let ack = ack::Repr { before, now, lost: false, moved: false, by_driver: true, before_psn };
    let mut frame = report(true, psn, ack);
    frame[24..26].fill(0);
    frame
}

/// What hardware says when the packet of `psn` moves the window by 16.
fn hardware_ack(psn: u32, before: u128) -> Vec<u8> {
    let before_psn = Psn::new(psn.wrapping_sub(16));
    let now = (before >> 16) | (1 << 112);
    let ack = ack::Repr { before, now, lost: true, moved: true, by_driver: false, before_psn };
    report(false, psn, ack)
}

fn cnp() -> Vec<u8> {
    let bth = base(Opcode::Cnp, SENDER, 0);
    frame(true, 0x222, Ecn::Ect0, &Header { bth, ext: Ext::None, author: Author::Hardware }, 0)
}

fn found(frames: &[Vec<u8>]) -> Vec<Dialogue> {
    let mut finder = Finder::default();
    for (at, frame) in (1..).zip(frames) {
        finder.take(0, Time::ZERO + Dur::us(at), frame);
    }
    finder.dialogues()
}

fn one(frames: &[Vec<u8>]) -> Dialogue {
    let [only] = found(frames).try_into().expect("one dialogue");
    only
}

/// The message whose packet 5 is lost, whose 9 and 10 change places, and whose 40 comes twice, until what moves the window has come.
fn until_the_window_moves(start: u32) -> Vec<Vec<u8>> {
    let mut frames: Vec<Vec<u8>> =
        (0..=128).filter(|&at| at != 5).map(|at| write(start, at, false)).collect();
    frames.swap(8, 9);
    frames.insert(39, write(start, 40, false));
    frames
}

#[test]
fn a_loss_a_reordering_a_copy_and_what_is_sent_again_are_told_exactly() {
    // Near the end of the numbers, where they begin again in the midst of the message; the first is that of a stride.
    for start in [0, 0xff_ffc0] {
        let mut frames = until_the_window_moves(start);
        let moves = Psn::new(start).advance(128).get();
        frames.push(hardware_ack(moves, u128::MAX ^ (1 << 5)));
        frames.push(write(start, 129, false));
        frames.push(cnp());
        frames.extend((0..PACKETS).map(|at| write(start, at, true)));
        frames.push(driver_ack(Psn::new(start).advance(PACKETS).get()));
        let Dialogue { sender, receiver, receiver_qp, sender_qp, data, reports, .. } = one(&frames);
        assert_eq!((sender, receiver), (address(1), address(2)));
        assert_eq!((receiver_qp, sender_qp), (Some(RECEIVER), Some(SENDER)));
        assert_eq!((data.packets, data.bytes), (260, 260 * 256));
        assert_eq!(data.messages.into_iter().collect::<Vec<_>>(), [(Posted::Write, 1)]);
        assert_eq!((data.retries, data.retries_of_lost), (130, 1));
        assert_eq!((data.unmarked_copies, data.out_of_order), (1, 1));
        assert_eq!((data.never_seen, data.restarts, data.ack_requests), (0, 0, 2));
        assert_eq!((data.malformed, data.unlike, data.msn_changes), (0, 0, 0));
        let lost = Psn::new(start).advance(5).get();
        assert_eq!((reports.missing, reports.missing_runs), (1, vec![[lost, lost]]));
        assert_eq!((reports.missing_but_passed, reports.come_but_not_passed), (0, 0));
        assert_eq!((reports.driver_acks, reports.driver_naks), (1, 0));
        assert_eq!((reports.hardware_acks, reports.cnps), (1, 1));
        assert_eq!((reports.leaps, reports.odd_windows), (0, 0));
        assert_eq!((reports.wrong_ip_checksum, reports.unlike, reports.malformed), (1, 0, 0));
    }
}

#[test]
fn a_bitmap_that_is_off_by_one_disagrees_with_what_passed() {
    let mut frames = until_the_window_moves(0);
    frames.push(hardware_ack(128, u128::MAX ^ (1 << 6)));
    let reports = one(&frames).reports;
    assert_eq!((reports.missing, reports.missing_runs), (1, vec![[6, 6]]));
    assert_eq!((reports.missing_but_passed, reports.come_but_not_passed), (1, 1));
}

#[test]
fn what_is_still_in_the_window_has_its_last_word_now() {
    let mut frames = until_the_window_moves(0);
    let before = u128::MAX ^ (1 << 5) ^ (1 << 16);
    let (now, before_psn) = ((u128::MAX >> 16) | (1 << 112), Psn::new(112));
    let ack = ack::Repr { before, now, lost: true, moved: true, by_driver: false, before_psn };
    frames.push(report(false, 128, ack));
    assert_eq!(one(&frames).reports.missing_runs, [[5, 5]]);
}

#[test]
fn of_what_is_before_the_first_packet_nobody_knows() {
    // The first is 70. Packet 192 moves the window, which began at 64: bits 0 to 5 are none of this message's, 75 is lost.
    let mut frames = until_the_window_moves(70);
    frames.push(hardware_ack(192, u128::MAX ^ 0x3f ^ (1 << 11)));
    let reports = one(&frames).reports;
    assert_eq!((reports.missing_runs, reports.come_but_not_passed), (vec![[75, 75]], 0));
}

#[test]
fn a_window_that_begins_within_a_stride_or_goes_back_is_none() {
    for (psn, before_psn) in [(129, 112), (128, 113), (112, 128)] {
        let mut frames = until_the_window_moves(0);
        let (before, now, before_psn) = (u128::MAX, u128::MAX, Psn::new(before_psn));
        let ack = ack::Repr { before, now, lost: true, moved: true, by_driver: false, before_psn };
        frames.push(report(false, psn, ack));
        let reports = one(&frames).reports;
        assert_eq!((reports.odd_windows, reports.come_but_not_passed), (1, 0), "{psn}");
    }
}

#[test]
fn a_window_that_moves_by_more_than_it_holds_names_none_of_those_between() {
    for (psn, leaps) in [(112 + 128, 0), (112 + 144, 1)] {
        let mut frames = until_the_window_moves(0);
        frames.push(placing(base(Opcode::RcWriteOnly, RECEIVER, psn), MTU, 0, MTU));
        let (before, now, before_psn) = (u128::MAX ^ (1 << 5), 1 << 112, Psn::new(112));
        let ack = ack::Repr { before, now, lost: true, moved: true, by_driver: false, before_psn };
        frames.push(report(false, psn, ack));
        let reports = one(&frames).reports;
        assert_eq!(reports.leaps, leaps, "{psn}");
        // 5, and all below the one that moved it: of the window itself 112.
        assert_eq!(reports.missing, 1 + 112, "{psn}");
    }
}

#[test]
fn a_request_for_a_read_has_no_bit() {
    let reth = reth::Repr { virtual_address: 0x40, rkey: 1, dma_len: 64 };
    let ext = Ext::RethRreth(reth, rreth::Repr { virtual_address: 0x80, lkey: 2 });
    let read = |psn| {
        let bth = base(Opcode::RcReadRequest, RECEIVER, psn);
        frame(false, 0x111, Ecn::Ect0, &Header { bth, ext, author: Author::Hardware }, 0)
    };
    let mut frames: Vec<Vec<u8>> =
        (0..=128).filter(|&at| at != 5).map(|at| write(0, at, false)).collect();
    frames.insert(5, read(5));
    frames.push(hardware_ack(128, u128::MAX ^ (1 << 5)));
    let Dialogue { data, reports, .. } = one(&frames);
    assert_eq!(data.messages.into_iter().collect::<Vec<_>>(), [(Posted::ReadRequest, 1)]);
    assert_eq!((reports.missing, reports.missing_but_passed), (0, 0));
}

#[test]
fn numbers_out_of_reach_are_those_of_another_connection() {
    let only = |psn| placing(base(Opcode::RcWriteOnly, RECEIVER, psn), 40, 0, 40);
    for (next, restarts, never) in [(65_536, 0, 65_535), (65_537, 1, 0)] {
        let data = one(&[only(0), only(next)]).data;
        assert_eq!((data.restarts, data.never_seen), (restarts, never), "{next}");
        assert_eq!(data.messages.into_iter().collect::<Vec<_>>(), [(Posted::Write, 2)]);
    }
}

#[test]
fn a_middle_packet_without_a_reth_is_malformed() {
    let mut frames = until_the_window_moves(0);
    // Fourteen of Ethernet, 20 of IPv4, 8 of UDP, 12 of the BTH: the RETH.
    frames[20][54..70].fill(0);
    let data = one(&frames).data;
    let want = "blue_rdma.reth.dma_len at byte 24: want 0x100, got 0x0";
    assert_eq!((data.malformed, data.first_malformed.as_deref()), (1, Some(want)));
    assert_eq!(data.never_seen, 2);
    // Something in the unused part of the headers is no fault of format.
    let mut frames = until_the_window_moves(0);
    frames[20][75] = 1;
    assert_eq!((one(&frames).data.malformed, one(&frames).data.unlike), (0, 1));
}

#[test]
fn what_one_queue_pair_is_told_is_found_by_the_port_that_it_sends_from() {
    let other = |psn| {
        let reth = reth::Repr { virtual_address: 0, rkey: 1, dma_len: 8 };
        let bth = base(Opcode::RcWriteOnly, 0x333, psn);
        let header = Header { bth, ext: Ext::Reth(reth), author: Author::Hardware };
        frame(false, 0x999, Ecn::Ect0, &header, 8)
    };
    let ends = |frames: &[Vec<u8>]| {
        found(frames).iter().map(|of| (of.receiver_qp, of.sender_qp)).collect::<Vec<_>>()
    };
    let (own, told) = (placing(base(Opcode::RcWriteOnly, RECEIVER, 0), 8, 0, 8), driver_ack(1));
    assert_eq!(
        ends(&[other(0), own, told.clone()]),
        [(Some(0x333), None), (Some(RECEIVER), Some(SENDER))]
    );
    // The port has 16 bits, a queue pair's number 24.
    let mut longer = told.clone();
    longer[47] = 0x01;
    let own = placing(base(Opcode::RcWriteOnly, RECEIVER, 0), 8, 0, 8);
    assert_eq!(
        ends(&[other(0), own, longer]),
        [(Some(0x333), None), (Some(RECEIVER), Some(0x1_0000 + SENDER))]
    );
    // Of two that send from one port the one of more packets is told; a queue pair has one other.
    let mut harmed = placing(base(Opcode::RcWriteOnly, RECEIVER, 0), 8, 0, 8);
    let own = [0, 1].map(|psn| placing(base(Opcode::RcWriteOnly, RECEIVER, psn), 8, 0, 8));
    harmed[47] = 0x02;
    let [first, second] = own;
    assert_eq!(
        ends(&[harmed, first, second, told.clone()]),
        [(Some(0x2_0000 + RECEIVER), None), (Some(RECEIVER), Some(SENDER))]
    );
    // The only one that sends is the one that is told, whatever its port; of two it may be either.
    assert_eq!(ends(&[other(0), told.clone()]), [(Some(0x333), Some(SENDER))]);
    let mut third = other(0);
    third[49] = 0x44;
    assert_eq!(
        ends(&[other(0), third, told]),
        [(Some(0x333), None), (Some(0x344), None), (None, Some(SENDER))]
    );
}

#[test]
fn rocev2_is_none_of_it() {
    let ip = ipv4::Repr::udp(address(1), address(2), Dscp::default());
    let path = Path::v4(MacAddr([2; 6]), MacAddr([4; 6]), ip);
    let mut frames = Vec::new();
    for (psn, &opcode) in (0..).zip(Opcode::ALL) {
        for payload_len in [0, 1, 16, 21, 22, 23, 256, 4096] {
            let reth = reth::Repr { virtual_address: 3, rkey: 1, dma_len: payload_len.into() };
            let bth =
                roce::bth::Repr::new(opcode, Qpn::new(RECEIVER).expect("24 bits"), Psn::new(psn));
            let bth = roce::bth::Repr { becn: true, ..bth };
            let exts = [roce::Ext::Plain, roce::Ext::Reth(reth), roce::Ext::Cnp];
            let fits = exts
                .into_iter()
                .map(|ext| RoceFrame { payload_len, ..RoceFrame::new(path, bth, ext) });
            frames.extend(fits.filter(|of| of.check().is_ok()).map(|of| of.emit()));
        }
    }
    assert!(frames.len() > 100, "{}", frames.len());
    assert_eq!(found(&frames), []);
    // Nor one whose payload would pass for headers, as long as its ICRC is right.
    let only = |len| placing(base(Opcode::RcWriteOnly, RECEIVER, 0), len, 0, len);
    let mut disguised = only(10);
    assert_eq!(found(&[disguised.clone()]).len(), 1);
    rig_frames::icrc::seal(&mut disguised).expect("a place for it");
    assert_eq!(found(&[disguised]), []);
    // The first packet of a message does not say its own length.
    assert_eq!(found(&[placing(base(Opcode::RcWriteFirst, RECEIVER, 0), 512, 0, 254)]), []);
    // A packet of a NIC of RoCEv2's that does not fill up to four is no other either.
    let mut odd = only(11);
    assert_eq!(found(&[odd.clone()]).len(), 1);
    rig_frames::icrc::seal(&mut odd).expect("a place for it");
    assert_eq!(found(&[odd]), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn whatever_bytes_are_harmed_the_books_are_closed(
        harm in prop::collection::vec((0_usize..264, 12_usize..96, any::<u8>()), 0..200),
    ) {
        let mut frames = until_the_window_moves(0xff_ffc0);
        frames.push(hardware_ack(0x40, u128::MAX ^ (1 << 5)));
        frames.extend((0..PACKETS).map(|at| write(0xff_ffc0, at, true)));
        frames.extend([driver_ack(0x42), cnp()]);
        let all = frames.len();
        for (frame, byte, value) in harm {
            let len = frames[frame % all].len();
            frames[frame % all][byte % len] = value;
        }
        let mut packets = 0;
        for of in found(&frames) {
            packets += of.data.packets + of.data.malformed + of.reports.malformed;
            packets += of.reports.driver_acks + of.reports.driver_naks + of.reports.hardware_acks + of.reports.cnps;
            prop_assert!(of.reports.missing_but_passed <= of.reports.missing);
            prop_assert!(of.data.retries_of_lost <= of.data.retries);
        }
        prop_assert!(packets <= u64::try_from(all).expect("few"));
    }
}
