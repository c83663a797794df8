use super::{Connection, Finder, Operation};
use rig_frames::ip::{Dscp, Ip};
use rig_frames::packet::{self, Packet, Path, RoceFrame};
use rig_frames::psn::Psn;
use rig_frames::roce::aeth::{self, Msn, Nak, RnrTimer, Syndrome};
use rig_frames::roce::{Ext, Opcode, Qpn, bth, reth};
use rig_frames::{MacAddr, ipv4, ipv6, vlan};
use rig_units::{Dur, Time};

const MTU: u16 = 1024;
const NAK: Syndrome = Syndrome::Nak(Nak::PsnSequenceError);

fn path(back: bool) -> Path {
    let (a, b) = (MacAddr([2, 0, 0, 0, 0, 1]), MacAddr([2, 0, 0, 0, 0, 2]));
    let ip = |src: [u8; 4], dst: [u8; 4]| ipv4::Repr::udp(src.into(), dst.into(), Dscp::MAX);
    match back {
        false => Path::v4(a, b, ip([10, 0, 0, 1], [10, 0, 0, 2])),
        true => Path::v4(b, a, ip([10, 0, 0, 2], [10, 0, 0, 1])),
    }
}

fn qp(number: u32) -> Qpn {
    Qpn::new(number).expect("24 bits")
}

/// A packet of a message of SENDs to queue pair 7.
fn send(opcode: Opcode, psn: u32) -> RoceFrame {
    let bth = bth::Repr { ack_req: true, ..bth::Repr::new(opcode, qp(7), Psn::new(psn)) };
    RoceFrame { payload_len: MTU, ..RoceFrame::new(path(false), bth, Ext::Plain) }
}

fn only(psn: u32) -> RoceFrame {
    send(Opcode::RcSendOnly, psn)
}

/// An answer to queue pair 9.
fn says(syndrome: Syndrome, psn: u32) -> RoceFrame {
    let aeth = aeth::Repr { syndrome, msn: Msn::default() };
    RoceFrame::ack(path(true), qp(9), Psn::new(psn), aeth)
}

fn ack(psn: u32) -> RoceFrame {
    says(Syndrome::ACK, psn)
}

/// What is found in frames that pass one port, a microsecond apart, after they were bytes.
fn found(frames: &[RoceFrame]) -> Vec<Connection> {
    let mut finder = Finder::default();
    for (at, frame) in (1..).zip(frames) {
        let Ok(Packet::Roce { frame, icrc_ok }) = packet::parse(&frame.emit()) else {
            panic!("{frame:?} is read back")
        };
        finder.take(0, Time::ZERO + Dur::us(at), &frame, icrc_ok);
    }
    finder.connections()
}

fn one(frames: &[RoceFrame]) -> Connection {
    let [only] = found(frames).try_into().expect("one connection");
    only
}

#[test]
fn answers_are_found_by_what_they_acknowledge() {
    let of = one(&[only(5), ack(5)]);
    assert_eq!((of.responder_qp, of.requester_qp), (Some(7), Some(9)));
    assert_eq!(of.requests.messages.get(&Operation::Send), Some(&1));
    assert_eq!((of.answers.acks, of.answers.packets_per_ack), (1, Some((1, 1))));
    assert_eq!(of.answers.latency, Some((Dur::us(1), Dur::us(1), Dur::us(1))));
}

#[test]
fn answers_that_fit_two_connections_alike_are_given_to_neither() {
    let two = found(&[only(5), to(8, only(5)), ack(5)]);
    assert_eq!(ends(&two), [(Some(7), None), (Some(8), None), (None, Some(9))]);
    // But for the one whose queue pair has the same number.
    let two = found(&[only(5), to(9, only(5)), ack(5)]);
    assert_eq!(ends(&two), [(Some(7), None), (Some(9), Some(9))]);
}

/// The same to another queue pair.
fn to(number: u32, frame: RoceFrame) -> RoceFrame {
    RoceFrame { bth: bth::Repr { dest_qp: qp(number), ..frame.bth }, ..frame }
}

fn ends(of: &[Connection]) -> Vec<(Option<u32>, Option<u32>)> {
    of.iter().map(|of| (of.responder_qp, of.requester_qp)).collect()
}

#[test]
fn what_is_answered_before_the_other_asks_tells_two_connections_of_equal_numbers_apart() {
    let two = found(&[only(5), ack(5), to(8, only(5)), to(10, ack(5))]);
    assert_eq!(ends(&two), [(Some(7), Some(9)), (Some(8), Some(10))]);
    // Each asks before the other is answered: nothing tells them apart.
    let two = found(&[only(5), to(8, only(5)), ack(5), to(10, ack(5))]);
    assert_eq!(ends(&two), [(Some(7), None), (Some(8), None), (None, Some(9)), (None, Some(10))]);
    // But for the port that a driver makes of both numbers.
    let from = |udp_src: u16, frame: RoceFrame| RoceFrame {
        path: Path { udp_src, ..frame.path },
        ..frame
    };
    let two = found(&[only(5), from(1, to(8, only(5))), ack(5), from(1, to(10, ack(5)))]);
    assert_eq!(ends(&two), [(Some(7), Some(9)), (Some(8), Some(10))]);
}

#[test]
fn a_number_that_goes_on_out_of_reach_is_another_queue_pairs() {
    let reach = 1 << 16;
    for (next, connections) in [(1 + reach, 1), (2 + reach, 2), (0xff_ffff - reach, 2)] {
        let all = found(&[only(1), ack(1), only(next), ack(next)]);
        assert_eq!(all.len(), connections, "{next}");
    }
    let again = found(&[only(1), ack(1), only(70_000), to(11, ack(70_000))]);
    assert_eq!(ends(&again), [(Some(7), Some(9)), (Some(7), Some(11))]);
    assert_eq!((again[0].requests.out_of_sequence, again[1].requests.out_of_sequence), (0, 0));
    assert_eq!(again.iter().map(|of| of.requests.packets).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn a_queue_pair_that_begins_anew_where_it_began_is_known_by_its_messages() {
    let done = |psn: u32, msn: u32| {
        let msn = Msn::new(msn).expect("24 bits");
        RoceFrame::ack(
            path(true),
            qp(9),
            Psn::new(psn),
            aeth::Repr { syndrome: Syndrome::ACK, msn },
        )
    };
    let life = |messages: u32| (0..messages).flat_map(move |psn| [only(psn), done(psn, psn + 1)]);
    let notified = RoceFrame::cnp(path(true), qp(9));
    for (messages, lives) in [(16, 1), (17, 2)] {
        let all: Vec<RoceFrame> =
            life(messages).chain([notified]).chain(life(messages)).chain([notified; 2]).collect();
        let all = found(&all);
        assert_eq!(all.len(), lives, "{messages}");
        let cnps: Vec<u64> = all.iter().map(|of| of.cnps_to_requester).collect();
        assert_eq!(cnps.iter().sum::<u64>(), 3);
        if let [one, other] = &all[..] {
            assert_eq!((one.requests.duplicates, other.requests.duplicates), (0, 0));
            assert_eq!(other.requests.messages, one.requests.messages);
            assert_eq!(cnps, [1, 2]);
        }
    }
}

/// The old one's answers end before it begins anew, and the new one answers another queue pair.
#[test]
fn a_queue_pair_that_begins_anew_for_another_requester_is_cut_where_its_numbers_go_back() {
    let again = found(&[only(3), ack(3), only(4), ack(4), only(3), to(11, ack(3))]);
    assert_eq!(ends(&again), [(Some(7), Some(9)), (Some(7), Some(11))]);
    assert_eq!((again[0].requests.packets, again[1].requests.packets), (2, 1));
}

/// All ask for the same numbers at the same time, and each has its own UDP port.
#[test]
fn many_connections_of_equal_numbers_are_looked_through_once() {
    let from = |udp_src: u16, frame: RoceFrame| RoceFrame {
        path: Path { udp_src, ..frame.path },
        ..frame
    };
    let each = |first: u32, frame: RoceFrame| -> Vec<RoceFrame> {
        (0_u16..200).map(|at| from(at, to(first + u32::from(at), frame))).collect()
    };
    let (asks, says) = (each(1_000, only(5)), each(5_000, ack(5)));
    let all = found(&[asks, says].concat());
    let right = |of: &Connection| of.requester_qp == of.responder_qp.map(|qp| qp + 4_000);
    assert!(all.len() == 200 && all.iter().all(right), "{all:?}");
}

#[test]
fn what_asks_for_no_acknowledgement_and_gets_none_is_no_connection() {
    let quiet = |psn| {
        let frame = only(psn);
        RoceFrame { bth: bth::Repr { ack_req: false, ..frame.bth }, ..frame }
    };
    assert_eq!(found(&[quiet(1), quiet(2)]), []);
    assert_eq!(found(&[quiet(1), quiet(2), ack(2)]).len(), 1);
}

#[test]
fn a_hole_is_counted_once_and_what_comes_behind_it_is_dropped() {
    let of = one(&[only(1), only(3), only(4), says(NAK, 2), only(2), only(3), only(4), ack(4)]);
    let requests = &of.requests;
    assert_eq!((requests.out_of_sequence, requests.behind_hole), (1, 1));
    assert_eq!((requests.duplicates, requests.repeated), (0, 2));
    assert_eq!((requests.back_after_nak, requests.back_unasked), (1, 0));
    assert_eq!(requests.messages.get(&Operation::Send), Some(&4));
    assert_eq!((of.answers.sequence_naks, of.answers.naks_that_advance), (1, 1));
    // The NAK acknowledged 1, the ACK three more.
    assert_eq!(of.answers.packets_per_ack, Some((3, 3)));
}

#[test]
fn a_nak_that_says_nothing_new_does_not_advance() {
    let of = one(&[only(1), ack(1), only(3), says(NAK, 2), only(2)]);
    assert_eq!((of.answers.sequence_naks, of.answers.naks_that_advance), (1, 0));
}

#[test]
fn what_comes_again_unasked_is_told_with_the_silence_before_it() {
    let of = one(&[only(1), ack(1), only(2), only(2), ack(2), ack(2)]);
    let requests = &of.requests;
    assert_eq!((requests.back_after_nak, requests.back_unasked), (0, 1));
    assert_eq!((requests.longest_quiet, requests.duplicates), (Dur::us(1), 1));
}

#[test]
fn a_first_packet_that_was_lost_before_is_known_by_its_nak() {
    let of = one(&[only(12), says(NAK, 10), only(10), only(11), only(12), ack(12)]);
    assert_eq!((of.requests.out_of_sequence, of.requests.duplicates), (1, 0));
    assert_eq!(of.requests.messages.get(&Operation::Send), Some(&3));
}

#[test]
fn what_is_acknowledged_and_was_never_seen_is_missing_from_the_file() {
    let of = one(&[only(1), ack(1), only(4), ack(4), only(5), ack(5)]);
    assert_eq!((of.requests.out_of_sequence, of.requests.unseen), (1, 3));
    // It goes on behind what was acknowledged.
    assert_eq!(of.requests.messages.get(&Operation::Send), Some(&2));
}

#[test]
fn the_sequence_goes_on_across_its_wrap() {
    let of = one(&[only(0xff_fffe), only(0xff_ffff), only(0), only(1), ack(1)]);
    assert_eq!((of.requests.out_of_sequence, of.requests.duplicates), (0, 0));
    assert_eq!(of.answers.packets_per_ack, Some((4, 4)));
}

#[test]
fn a_read_takes_the_numbers_of_its_responses() {
    let read = |psn, dma_len| {
        let bth = bth::Repr::new(Opcode::RcReadRequest, qp(7), Psn::new(psn));
        let reth = reth::Repr { virtual_address: 0, rkey: 1, dma_len };
        RoceFrame::new(path(false), bth, Ext::Reth(reth))
    };
    let response = |opcode, psn, payload_len| {
        let aeth = Ext::Aeth(aeth::Repr { syndrome: Syndrome::ACK, msn: Msn::default() });
        let ext = if opcode == Opcode::RcReadResponseMiddle { Ext::Plain } else { aeth };
        let bth = bth::Repr::new(opcode, qp(9), Psn::new(psn));
        RoceFrame { payload_len, ..RoceFrame::new(path(true), bth, ext) }
    };
    let of = one(&[
        read(5, 2 * 1024 + 1),
        response(Opcode::RcReadResponseFirst, 5, MTU),
        response(Opcode::RcReadResponseMiddle, 6, MTU),
        response(Opcode::RcReadResponseLast, 7, 4),
        read(8, 4),
        response(Opcode::RcReadResponseOnly, 8, 4),
    ]);
    assert_eq!(of.requests.out_of_sequence + of.requests.duplicates + of.requests.unseen, 0);
    assert_eq!(of.requests.messages.get(&Operation::Read), Some(&2));
    assert_eq!((of.answers.read_responses, of.answers.acknowledging), (4, 3));
    assert_eq!(of.answers.bytes, 2 * 1024 + 8);
    // The middle and the last response say nothing of how long the answer took.
    assert_eq!(of.answers.latency, Some((Dur::us(1), Dur::us(1), Dur::us(1))));
}

#[test]
fn a_packet_with_a_wrong_icrc_is_not_taken_for_what_it_says() {
    let mut finder = Finder::default();
    for (at, psn, sound) in [(0, 0, false), (1, 1, true), (2, 99, false), (3, 2, true)] {
        finder.take(0, Time::ZERO + Dur::us(at), &only(psn), sound);
    }
    let [of] = finder.connections().try_into().expect("one connection");
    assert_eq!((of.requests.wrong_icrc, of.requests.out_of_sequence), (2, 0));
    assert_eq!(of.requests.messages.get(&Operation::Send), Some(&2));
}

#[test]
fn each_kind_of_refusal_is_counted_by_itself() {
    let rnr = Syndrome::RnrNak(RnrTimer::default());
    let denied = Syndrome::Nak(Nak::RemoteAccessError);
    let of = one(&[only(1), says(rnr, 1), only(1), says(denied, 1)]);
    let answers = &of.answers;
    assert_eq!((answers.rnr_naks, answers.fatal_naks, answers.sequence_naks), (1, 1, 0));
    assert_eq!((of.requests.back_after_nak, answers.packets_per_ack), (1, None));
}

#[test]
fn what_a_receiver_that_was_not_ready_did_not_take_is_no_duplicate_when_it_comes_again() {
    let rnr = Syndrome::RnrNak(RnrTimer::default());
    let sent = [only(6), only(7), only(8), says(rnr, 6), only(6), only(7), only(8), ack(8)];
    let of = one(&sent);
    assert_eq!((of.requests.duplicates, of.requests.out_of_sequence), (0, 0));
    assert_eq!((of.requests.repeated, of.requests.messages.get(&Operation::Send)), (3, Some(&3)));
}

#[test]
fn reads_of_which_no_response_was_seen_are_followed_by_what_comes_next() {
    let read = |psn| {
        let bth = bth::Repr::new(Opcode::RcReadRequest, qp(7), Psn::new(psn));
        let reth = reth::Repr { virtual_address: 0, rkey: 1, dma_len: 8192 };
        RoceFrame::new(path(false), bth, Ext::Reth(reth))
    };
    let small = |psn| RoceFrame { payload_len: 8, ..only(psn) };
    let of = one(&[read(1), small(3), ack(3), read(4), small(6), ack(6)]);
    assert_eq!(of.requests.out_of_sequence + of.requests.duplicates + of.requests.unseen, 0);
    let messages: Vec<_> = of.requests.messages.into_iter().collect();
    assert_eq!(messages, [(Operation::Send, 2), (Operation::Read, 2)]);
}

#[test]
fn notifications_go_with_the_queue_pair_that_they_go_to() {
    let notified = RoceFrame::cnp(path(true), qp(9));
    let of = one(&[only(1), ack(1), notified, notified]);
    assert_eq!((of.cnps_to_requester, of.cnps_to_responder), (2, 0));
}

#[test]
fn a_tag_or_ipv6_makes_no_other_connection_of_it() {
    let tag =
        vlan::Repr { pcp: vlan::Pcp::MAX, dei: false, vid: vlan::Vid::new(5).expect("12 bits") };
    let tagged =
        |frame: RoceFrame| RoceFrame { path: Path { vlan: Some(tag), ..frame.path }, ..frame };
    let six = |frame: RoceFrame| {
        let Ip::V4(ip) = frame.path.ip else { panic!("made over IPv4") };
        let [src, dst] = [ip.src, ip.dst].map(|of| of.to_ipv6_mapped());
        let ip = Ip::V6(ipv6::Repr::udp(src, dst, Dscp::MAX));
        RoceFrame { path: Path { ip, ..frame.path }, ..frame }
    };
    let plain = one(&[only(5), ack(5)]);
    assert_eq!(one(&[tagged(only(5)), ack(5)]), plain);
    let six = one(&[six(only(5)), six(ack(5))]);
    assert_eq!((six.requests, six.answers), (plain.requests, plain.answers));
    assert!(six.requester.is_ipv6());
}
