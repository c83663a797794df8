//! The responder, packet by packet.

use super::{PacketRule, QpPair, Responder, ResponderCounts, RuleKind};
use core::net::Ipv4Addr;
use rig_frames::MacAddr;
use rig_frames::packet::RoceFrame;
use rig_frames::psn::Psn;
use rig_frames::roce::aeth::{Nak, Syndrome};
use rig_frames::roce::{Ext, Opcode, Qpn, atomic_eth, bth, reth};

const START: u32 = 0xff_fffe;

pub(super) fn ends() -> QpPair {
    QpPair {
        own: Qpn::new(0x100).expect("24 bits"),
        peer: Qpn::new(0x12).expect("24 bits"),
        peer_psn: Psn::new(START),
        own_psn: Psn::new(7),
        own_ip: Ipv4Addr::new(10, 77, 0, 1).into(),
        peer_ip: Ipv4Addr::new(10, 77, 0, 2).into(),
        mtu: 1024,
    }
}

/// The peer's packet number `n`.
pub(super) fn request(n: u32, opcode: Opcode, ext: Ext, ack_req: bool) -> RoceFrame {
    let ends = ends();
    let (own, peer) = (MacAddr([2, 0, 0, 0, 0, 1]), MacAddr([2, 0, 0, 0, 0, 2]));
    let back = QpPair { own_ip: ends.peer_ip, peer_ip: ends.own_ip, ..ends };
    let psn = ends.peer_psn.advance(n);
    let bth = bth::Repr { ack_req, ..bth::Repr::new(opcode, ends.own, psn) };
    RoceFrame { payload_len: 0, ..RoceFrame::new(back.path(peer, own), bth, ext) }
}

pub(super) fn send(n: u32, opcode: Opcode, ack_req: bool) -> RoceFrame {
    RoceFrame { payload_len: 1024, ..request(n, opcode, Ext::Plain, ack_req) }
}

/// Opcode, number from the first, syndrome and messages of an answer.
pub(super) type Answered = (Opcode, u32, Option<(Syndrome, u32)>);

pub(super) fn answers(of: &mut Responder, frame: &RoceFrame) -> Vec<Answered> {
    let mut out = Vec::new();
    of.on(frame, &mut out);
    let told = |answer: RoceFrame| {
        assert_eq!((answer.bth.dest_qp, answer.path.dst), (ends().peer, frame.path.src));
        assert_eq!(answer.check(), Ok(()));
        let aeth = answer.ext.aeth().map(|aeth| (aeth.syndrome, aeth.msn.get()));
        let number = answer.bth.psn.ahead_of(Psn::new(START)).expect("none is before the first");
        (answer.bth.opcode, number, aeth)
    };
    out.into_iter().map(told).collect()
}

fn ack(n: u32, messages: u32) -> Answered {
    (Opcode::RcAcknowledge, n, Some((Syndrome::ACK, messages)))
}

#[test]
fn a_message_in_order_is_answered_where_it_asks_across_the_wrap() {
    let mut of = Responder::new(ends(), None);
    assert_eq!(answers(&mut of, &send(0, Opcode::RcSendFirst, false)), []);
    assert_eq!(answers(&mut of, &send(1, Opcode::RcSendMiddle, true)), [ack(1, 0)]);
    assert_eq!(answers(&mut of, &send(2, Opcode::RcSendLast, true)), [ack(2, 1)]);
    assert_eq!(
        of.taken(),
        ResponderCounts { messages: 1, bytes: 3 * 1024, ..ResponderCounts::default() }
    );
}

#[test]
fn one_in_so_many_is_acknowledged_and_the_last_of_a_message_whoever_asks() {
    let mut of = Responder::new(ends(), Some(3));
    let opcodes = [Opcode::RcSendFirst, Opcode::RcSendMiddle, Opcode::RcSendMiddle]
        .into_iter()
        .chain([Opcode::RcSendMiddle, Opcode::RcSendLast]);
    let acked: Vec<u32> = (0..)
        .zip(opcodes)
        .filter(|&(n, opcode)| !answers(&mut of, &send(n, opcode, true)).is_empty())
        .map(|(n, _)| n)
        .collect();
    assert_eq!(acked, [2, 4]);
    // What comes again is acknowledged, and it is counted from there.
    assert_eq!(answers(&mut of, &send(1, Opcode::RcSendMiddle, false)), [ack(4, 1)]);
    let rest = (5..8).map(|n| answers(&mut of, &send(n, Opcode::RcSendMiddle, false)).len());
    assert_eq!(rest.collect::<Vec<_>>(), [0, 0, 1]);
}

#[test]
fn a_hole_is_answered_by_one_nak_and_what_is_behind_it_is_not_taken() {
    let mut of = Responder::new(ends(), None);
    let nak = (Opcode::RcAcknowledge, 0, Some((Syndrome::Nak(Nak::PsnSequenceError), 0)));
    assert_eq!(answers(&mut of, &send(1, Opcode::RcSendOnly, true)), [nak]);
    assert_eq!(answers(&mut of, &send(2, Opcode::RcSendOnly, true)), []);
    assert_eq!(answers(&mut of, &send(0, Opcode::RcSendOnly, true)), [ack(0, 1)]);
    let again = (Opcode::RcAcknowledge, 1, Some((Syndrome::Nak(Nak::PsnSequenceError), 1)));
    assert_eq!(answers(&mut of, &send(2, Opcode::RcSendOnly, true)), [again]);
    assert_eq!(
        of.taken(),
        ResponderCounts { messages: 1, bytes: 1024, out_of_sequence: 2, behind: 1, duplicates: 0 }
    );
}

#[test]
fn what_was_taken_before_is_answered_by_what_is_taken_so_far() {
    let mut of = Responder::new(ends(), None);
    for n in 0..3 {
        answers(&mut of, &send(n, Opcode::RcSendOnly, false));
    }
    assert_eq!(answers(&mut of, &send(1, Opcode::RcSendOnly, false)), [ack(2, 3)]);
    assert_eq!(of.taken().duplicates, 1);
}

#[test]
fn a_read_takes_a_number_for_each_response() {
    let mut of = Responder::new(ends(), None);
    let at = reth::Repr { virtual_address: 0, rkey: 1, dma_len: 2500 };
    let read = request(0, Opcode::RcReadRequest, Ext::Reth(at), true);
    let first = Some((Syndrome::ACK, 1));
    let whole = [
        (Opcode::RcReadResponseFirst, 0, first),
        (Opcode::RcReadResponseMiddle, 1, None),
        (Opcode::RcReadResponseLast, 2, first),
    ];
    assert_eq!(answers(&mut of, &read), whole);
    assert_eq!(answers(&mut of, &read), whole, "a duplicate, too");
    assert_eq!(answers(&mut of, &send(3, Opcode::RcSendOnly, true)), [ack(3, 2)]);
    let rest =
        request(1, Opcode::RcReadRequest, Ext::Reth(reth::Repr { dma_len: 1024, ..at }), true);
    assert_eq!(
        answers(&mut of, &rest),
        [(Opcode::RcReadResponseOnly, 1, Some((Syndrome::ACK, 2)))]
    );
}

#[test]
fn an_atomic_that_comes_again_finds_what_it_found() {
    let mut of = Responder::new(ends(), None);
    let add = |n| {
        let of = atomic_eth::Repr { virtual_address: 0, rkey: 1, swap_or_add: 5, compare: 0 };
        request(n, Opcode::RcFetchAdd, Ext::Atomic(of), true)
    };
    let mut found = |n| {
        let mut out = Vec::new();
        of.on(&add(n), &mut out);
        match out[..] {
            [RoceFrame { ext: Ext::AethAtomicAck(_, found), .. }] => found.original,
            _ => panic!("{out:?}"),
        }
    };
    assert_eq!([found(0), found(1), found(0), found(2)], [0, 5, 0, 10]);
}

#[test]
fn a_rule_is_read_as_it_is_written_and_nothing_else_is() {
    let rule = PacketRule { kind: RuleKind::Drop, packet: 12, copies: 3 };
    assert_eq!("drop:12:3".parse(), Ok(rule));
    assert_eq!(rule.to_string().parse(), Ok(rule));
    let one = "withhold:0".parse();
    assert_eq!(one, Ok(PacketRule { kind: RuleKind::Withhold, packet: 0, copies: 1 }));
    for bad in ["", "drop", "drop:", "drop::2", "drop:1:0", "lose:1", "drop:-1", "drop:8388608"] {
        let why = bad.parse::<PacketRule>().expect_err("none");
        assert!(why.starts_with(&format!("`{bad}`: want drop:N")), "{why}");
    }
}

#[test]
fn a_rule_is_done_to_its_packet_and_its_first_copies_alone() {
    let rule = PacketRule { kind: RuleKind::Drop, packet: 4, copies: 2 };
    let all = [(3, 1), (4, 1), (4, 2), (4, 3)];
    assert_eq!(
        all.map(|(packet, copy)| rule.applies(RuleKind::Drop, packet, copy)),
        [false, true, true, false]
    );
    assert!(!rule.applies(RuleKind::Withhold, 4, 1));
}
