//! What the rig asks of its own, packet by packet.

use super::converse::Converse;
use super::tests::{answers, ends, request, send};
use super::{AskedCounts, Asks, Converses, Exchanged, PeerCounts, Responder, ResponderCounts};
use rig_frames::packet::{Path, RoceFrame};
use rig_frames::roce::aeth::{self, Msn, Nak, RnrTimer, Syndrome};
use rig_frames::roce::{Ext, Opcode, atomic_ack_eth, bth, reth};
use rig_frames::{MacAddr, icrc};
use rig_units::{Dur, Time};

const START: Time = Time::ZERO;
const NUMBERED: (u64, u32) = (0x7000, 5);

fn way() -> Path {
    ends().path(MacAddr([2, 0, 0, 0, 0, 1]), MacAddr([2, 0, 0, 0, 0, 2]))
}

/// Numbers and opcodes of what was sent.
fn told(sent: &[RoceFrame]) -> Vec<(u32, Opcode)> {
    sent.iter().map(|sent| (sent.bth.psn.get(), sent.bth.opcode)).collect()
}

/// What the peer says to the rig's packet number `n`.
fn said(n: u32, opcode: Opcode, ext: Ext) -> RoceFrame {
    let frame = request(0, opcode, ext, false);
    RoceFrame { bth: bth::Repr { psn: ends().own_psn.advance(n), ..frame.bth }, ..frame }
}

fn aeth(n: u32, opcode: Opcode, syndrome: Syndrome) -> RoceFrame {
    let msn = Msn::new(0).expect("24 bits");
    said(n, opcode, Ext::Aeth(aeth::Repr { syndrome, msn }))
}

fn ack(n: u32) -> RoceFrame {
    aeth(n, Opcode::RcAcknowledge, Syndrome::ACK)
}

/// A talk of messages that the rig begins.
fn talk(asks: Asks, size: u32, count: u64) -> Converse {
    let in_turn = matches!(asks, Asks::Send | Asks::Write(..));
    of_bandwidth(asks, size, (count, (!in_turn).then_some(1)))
}

/// The same with so many at once.
fn of_bandwidth(asks: Asks, size: u32, (count, at_once): (u64, Option<u64>)) -> Converse {
    let (size, count) = (Some(size), Some(count));
    Converse::new(ends(), Converses { asks, begins: true, size, count, at_once })
}

#[test]
fn a_message_of_the_rigs_follows_each_that_is_taken_and_none_that_comes_again() {
    let converses =
        Converses { asks: Asks::Send, begins: false, size: None, count: None, at_once: None };
    let mut of = Responder::new(ends(), None);
    let mut converse = Converse::new(ends(), converses);
    assert_eq!(converse.begins(START, way()), [], "the other end has the first");
    let mut behind = |frame: RoceFrame| {
        answers(&mut of, &frame);
        let told = converse.behind(START, &frame, of.taken()).into_iter().map(|sent| {
            assert_eq!((sent.bth.dest_qp, sent.path.dst), (ends().peer, frame.path.src));
            assert_eq!(sent.check(), Ok(()));
            (sent.bth.opcode, sent.bth.psn.get(), sent.payload_len, sent.bth.ack_req)
        });
        told.collect::<Vec<_>>()
    };
    assert_eq!(behind(send(0, Opcode::RcSendOnly, true)), [(Opcode::RcSendOnly, 7, 1024, true)]);
    assert_eq!(behind(send(0, Opcode::RcSendOnly, true)), []);
    assert_eq!(behind(send(1, Opcode::RcSendFirst, false)), []);
    assert_eq!(behind(send(2, Opcode::RcSendMiddle, false)), []);
    // Behind a hole nothing is taken.
    assert_eq!(behind(send(4, Opcode::RcSendOnly, true)), []);
    let last = RoceFrame { payload_len: 10, ..send(3, Opcode::RcSendLast, true) };
    assert_eq!(
        behind(last),
        [
            (Opcode::RcSendFirst, 8, 1024, false),
            (Opcode::RcSendMiddle, 9, 1024, false),
            (Opcode::RcSendLast, 10, 10, true),
        ]
    );
    let empty = RoceFrame { payload_len: 0, ..send(4, Opcode::RcSendOnly, true) };
    assert_eq!(behind(empty), [(Opcode::RcSendOnly, 11, 0, true)]);
    assert!(!converse.is_over(), "nobody knows how many there are");
}

/// What a WRITE of the rig's is on the wire, by number, opcode, address and the last byte of its payload.
fn written(of: &Converse, sent: &RoceFrame) -> (u32, Opcode, Option<u64>, u8) {
    let mut bytes = sent.emit();
    of.number(sent, &mut bytes);
    assert_eq!(icrc::holds(&bytes), Ok(true), "{sent:?}");
    let behind = icrc::LEN + bth::pad(sent.payload_len);
    let at = match sent.ext {
        Ext::Reth(to) => Some(to.virtual_address),
        _ => None,
    };
    (sent.bth.psn.get(), sent.bth.opcode, at, bytes[bytes.len() - behind - 1])
}

#[test]
fn a_writer_begins_once_its_peer_is_ready_and_ends_each_message_with_its_number() {
    let mut of = Responder::new(ends(), None);
    let mut converse = talk(Asks::Write(NUMBERED.0, NUMBERED.1), 1_030, 2);
    let first = converse.begins(START, way());
    let shown: Vec<_> = first.iter().map(|sent| written(&converse, sent)).collect();
    // The first packet of a message is the pattern.
    assert_eq!(
        shown,
        [(7, Opcode::RcWriteFirst, Some(0x7000), 0xff), (8, Opcode::RcWriteLast, None, 1)]
    );
    let whole = reth::Repr { virtual_address: 0x7000, rkey: 5, dma_len: 1_030 };
    assert_eq!(first[0].ext, Ext::Reth(whole));
    assert_eq!(converse.begins(START, way()), [], "it says that it is ready again");
    let mut behind = |n: u32| {
        let frame = request(n, Opcode::RcSendOnly, Ext::Plain, true);
        answers(&mut of, &frame);
        let sent = converse.behind(START, &frame, of.taken());
        sent.iter().map(|sent| written(&converse, sent)).collect::<Vec<_>>()
    };
    assert_eq!(
        behind(0),
        [(9, Opcode::RcWriteFirst, Some(0x7000), 0xff), (10, Opcode::RcWriteLast, None, 2)]
    );
    assert_eq!(behind(0), [], "it comes again");
    assert_eq!(behind(1), [], "there are two of them");
    // Each has to be acknowledged, and one acknowledgement stands for both.
    assert!(!converse.is_over());
    assert_eq!(converse.hears(START, &ack(2)), []);
    assert!(!converse.is_over());
    assert_eq!(converse.hears(START, &ack(3)), []);
    assert!(converse.is_over());
}

#[test]
fn an_answer_has_no_number_of_a_message() {
    let converse = talk(Asks::Write(NUMBERED.0, NUMBERED.1), 2, 9);
    let answer = Responder::new(ends(), None)
        .refuse(&send(0, Opcode::RcSendOnly, true), RnrTimer::new(1).expect("five bits"));
    let bytes = answer.emit();
    let mut same = bytes.clone();
    converse.number(&answer, &mut same);
    assert_eq!(same, bytes);
}

#[test]
fn what_nobody_acknowledges_is_sent_again_until_somebody_does_and_not_before() {
    let mut converse = talk(Asks::Write(NUMBERED.0, NUMBERED.1), 1_030, 9);
    let first = told(&converse.begins(START, way()));
    let due = converse.due().expect("it waits");
    assert_eq!(due, START + Dur::ms(500));
    assert_eq!(told(&converse.again(START + Dur::ms(499))), []);
    for round in 1..4 {
        let due = converse.due().expect("it waits");
        assert_eq!(told(&converse.again(due)), first, "round {round}");
        assert_eq!(converse.due(), Some(due + Dur::ms(500)));
    }
    let again =
        AskedCounts { messages: 1, packets: 8, again: 6, unheard: 6, ..AskedCounts::default() };
    assert_eq!(converse.asked(), again);
    // The first of its packets is not the message.
    assert_eq!(told(&converse.hears(START, &ack(0))), []);
    let due = converse.due().expect("it waits for the other");
    assert_eq!(told(&converse.again(due)), first[1..]);
    assert_eq!(told(&converse.hears(START, &ack(1))), []);
    assert_eq!((converse.due(), converse.asked().answered), (None, 1));
    assert_eq!(told(&converse.again(due + Dur::s(60))), [], "it has come");
}

#[test]
fn a_nak_is_obeyed_and_one_that_refuses_ends_the_talk() {
    let mut converse = talk(Asks::Send, 3_000, 9);
    let first = told(&converse.begins(START, way()));
    let nak = |n, why| aeth(n, Opcode::RcAcknowledge, why);
    let missing = nak(1, Syndrome::Nak(Nak::PsnSequenceError));
    assert_eq!(told(&converse.hears(START, &missing)), first[1..], "back to what is missing");
    // Longer than the rig would wait by itself.
    let timer = RnrTimer::new(0).expect("five bits");
    assert_eq!(told(&converse.hears(START, &nak(1, Syndrome::RnrNak(timer)))), []);
    assert_eq!(converse.due(), Some(START + Dur::us(655_360)));
    let refuses = nak(1, Syndrome::Nak(Nak::RemoteAccessError));
    assert_eq!(told(&converse.hears(START, &refuses)), []);
    assert_eq!(converse.due(), None);
    assert_eq!(converse.asked().refused, Some(Nak::RemoteAccessError));
    assert!(converse.is_over());
}

#[test]
fn a_read_is_over_with_its_last_response_and_is_asked_anew_where_one_is_missing() {
    let mut converse = talk(Asks::Read(NUMBERED.0, NUMBERED.1), 2_500, 2);
    let ask = (7, Opcode::RcReadRequest);
    assert_eq!(told(&converse.begins(START, way())), [ask]);
    let first = aeth(0, Opcode::RcReadResponseFirst, Syndrome::ACK);
    let middle = said(1, Opcode::RcReadResponseMiddle, Ext::Plain);
    let last = aeth(2, Opcode::RcReadResponseLast, Syndrome::ACK);
    // The one in the middle is lost.
    for answer in [&first, &last] {
        assert_eq!(told(&converse.hears(START, answer)), []);
    }
    let due = converse.due().expect("it waits");
    assert_eq!(told(&converse.again(due)), [ask]);
    // An acknowledgement is no response.
    assert_eq!(told(&converse.hears(due, &ack(2))), []);
    for answer in [&first, &middle] {
        assert_eq!(told(&converse.hears(due, answer)), []);
    }
    // It has taken three numbers.
    assert_eq!(told(&converse.hears(due, &last)), [(10, Opcode::RcReadRequest)]);
    assert!(!converse.is_over());
    for n in 3..6 {
        let opcode = Opcode::RcReadResponseMiddle;
        assert_eq!(told(&converse.hears(due, &said(n, opcode, Ext::Plain))), []);
    }
    assert!(converse.is_over());
    let counts = converse.asked();
    assert_eq!((counts.messages, counts.answered, counts.packets, counts.again), (2, 2, 3, 1));
}

#[test]
fn atomics_follow_each_other_and_end() {
    let mut converse = talk(Asks::FetchAdd(NUMBERED.0, NUMBERED.1), 8, 3);
    assert_eq!(told(&converse.begins(START, way())), [(7, Opcode::RcFetchAdd)]);
    let answer = |n| aeth(n, Opcode::RcAtomicAcknowledge, Syndrome::ACK);
    assert_eq!(told(&converse.hears(START, &answer(0))), [(8, Opcode::RcFetchAdd)]);
    assert_eq!(told(&converse.hears(START, &answer(0))), [], "it comes again");
    assert_eq!(told(&converse.hears(START, &answer(1))), [(9, Opcode::RcFetchAdd)]);
    assert_eq!(told(&converse.hears(START, &answer(2))), []);
    assert!(converse.is_over());
}

#[test]
fn a_peer_that_refuses_is_named_and_one_that_does_not_is_not() {
    let of = |refused| PeerCounts {
        ends: ends(),
        taken: ResponderCounts::default(),
        requests: 0,
        dropped: 0,
        wrong_icrc: 0,
        withheld: 0,
        asked: AskedCounts { refused, ..AskedCounts::default() },
    };
    let of_all = |connections| Exchanged { connections, lost: 0, late: Dur::ZERO }.refused();
    let all = |each: &[Option<Nak>]| of_all(each.iter().copied().map(of).collect());
    assert_eq!(all(&[None, None]), None);
    let said = all(&[None, Some(Nak::InvalidRequest)]);
    assert_eq!(said.as_deref(), Some("queue pair 0x12 refused: InvalidRequest"));
    let asked = AskedCounts { odd: 2, answered: 9, ..AskedCounts::default() };
    let said = of_all(vec![of(None), PeerCounts { asked, ..of(None) }]);
    let odd = "queue pair 0x12: of 9 words to which one was added 2 were not one more than the word before";
    assert_eq!(said.as_deref(), Some(odd));
}

#[test]
fn as_many_messages_as_have_room_wait_at_once_and_each_that_is_acknowledged_makes_room_for_more() {
    // Three packets each: ten messages have thirty, and two packets of the eleventh are in the window.
    let mut converse = of_bandwidth(Asks::Send, 3_000, (20, Some(128)));
    let first = converse.begins(START, way());
    assert_eq!(told(&first).first(), Some(&(7, Opcode::RcSendFirst)));
    assert_eq!(told(&first).last(), Some(&(38, Opcode::RcSendMiddle)));
    assert_eq!((first.len(), converse.asked().messages), (32, 11));
    assert_eq!(told(&converse.begins(START, way())), [], "it has begun");
    // One acknowledgement for two messages and a packet.
    let more = told(&converse.hears(START, &ack(6)));
    assert_eq!((more.first(), more.len()), (Some(&(39, Opcode::RcSendLast)), 7));
    assert_eq!((converse.asked().answered, converse.asked().messages), (2, 13));
    // What is missing comes again with all that had left behind it, and what there is room for.
    let missing = aeth(9, Opcode::RcAcknowledge, Syndrome::Nak(Nak::PsnSequenceError));
    let again = told(&converse.hears(START, &missing));
    assert_eq!(
        (again.first(), again.last()),
        (Some(&(16, Opcode::RcSendFirst)), Some(&(47, Opcode::RcSendMiddle)))
    );
    assert_eq!((again.len(), converse.asked().again), (32, 30));
    while !converse.is_over() {
        let due = converse.due().expect("it waits");
        let last = converse.again(due).last().expect("all that is under way").bth.psn;
        let n = last.ahead_of(ends().own_psn).expect("of this connection");
        converse.hears(due, &ack(n));
    }
    assert_eq!((converse.asked().messages, converse.asked().answered), (20, 20));
    assert_eq!(converse.due(), None);
}

#[test]
fn no_more_wait_at_once_than_their_answers_have_room_for() {
    for (at_once, leaves) in [(1, 1), (3, 3), (128, 32)] {
        let mut converse =
            of_bandwidth(Asks::FetchAdd(NUMBERED.0, NUMBERED.1), 8, (99, Some(at_once)));
        assert_eq!(converse.begins(START, way()).len(), leaves, "{at_once}");
    }
    // A READ takes a number for each response: of eight, four have room; and one that has more than that goes by itself.
    for (size, leaves) in [(8 * 1_024, 4), (99 * 1_024, 1)] {
        let mut converse = of_bandwidth(Asks::Read(NUMBERED.0, NUMBERED.1), size, (99, Some(128)));
        assert_eq!(converse.begins(START, way()).len(), leaves, "{size}");
    }
}

#[test]
fn nothing_more_leaves_for_one_that_is_not_ready_until_its_time_is_over() {
    let mut converse = of_bandwidth(Asks::Send, 8, (99, Some(3)));
    assert_eq!(converse.begins(START, way()).len(), 3);
    let timer = RnrTimer::new(1).expect("five bits");
    let not_ready = aeth(1, Opcode::RcAcknowledge, Syndrome::RnrNak(timer));
    assert_eq!(told(&converse.hears(START, &not_ready)), []);
    assert_eq!(converse.asked().answered, 1, "what is in front of it came");
    let due = converse.due().expect("it waits");
    let only = |n| (n, Opcode::RcSendOnly);
    assert_eq!(told(&converse.again(due)), [only(8), only(9)]);
    assert_eq!(told(&converse.hears(due, &ack(2))), [only(10), only(11), only(12)]);
}

#[test]
fn a_long_message_asks_for_acknowledgements_in_its_middle_and_goes_on_with_them() {
    let mut converse =
        of_bandwidth(Asks::Write(NUMBERED.0, NUMBERED.1), 50 * 1_024, (1, Some(128)));
    let first = converse.begins(START, way());
    let asks = first.iter().filter(|sent| sent.bth.ack_req).map(|sent| sent.bth.psn.get());
    assert_eq!(asks.collect::<Vec<_>>(), [7 + 15, 7 + 31]);
    assert_eq!(written(&converse, &first[0]), (7, Opcode::RcWriteFirst, Some(0x7000), 0xff));
    let late = START + Dur::ms(400);
    assert_eq!(converse.hears(late, &ack(15)).len(), 16);
    assert_eq!(converse.due(), Some(late + Dur::ms(500)), "it goes on");
    let last = converse.hears(late, &ack(31));
    // Nobody looks for a number at its end.
    let end = written(&converse, &last[1]);
    assert_eq!((end.0, end.1, last.len()), (56, Opcode::RcWriteLast, 2));
    assert_eq!(end.3, 0xff);
    converse.hears(late, &ack(49));
    assert!(converse.is_over());
}

#[test]
fn what_a_read_brings_is_counted_once_and_words_that_do_not_follow_each_other_are() {
    let mut converse = of_bandwidth(Asks::Read(NUMBERED.0, NUMBERED.1), 1_030, (2, Some(2)));
    assert_eq!(converse.begins(START, way()).len(), 2);
    let response =
        |n, opcode, payload_len| RoceFrame { payload_len, ..aeth(n, opcode, Syndrome::ACK) };
    let first = response(0, Opcode::RcReadResponseFirst, 1_024);
    converse.hears(START, &first);
    let due = converse.due().expect("it waits");
    assert_eq!(converse.again(due).len(), 2);
    assert_eq!(converse.asked().read, 0, "it is not whole");
    for answer in [first, response(1, Opcode::RcReadResponseLast, 6)] {
        converse.hears(due, &answer);
    }
    assert_eq!(converse.asked().read, 1_030);

    let mut converse = of_bandwidth(Asks::FetchAdd(NUMBERED.0, NUMBERED.1), 8, (5, Some(2)));
    converse.begins(START, way());
    let word = |n, original| {
        let answer = aeth(n, Opcode::RcAtomicAcknowledge, Syndrome::ACK);
        let aeth = answer.ext.aeth().expect("it has one");
        RoceFrame { ext: Ext::AethAtomicAck(*aeth, atomic_ack_eth::Repr { original }), ..answer }
    };
    // What stands there first is anything; then one is added, and added again across the end, and once it is lost.
    for (n, original, odd) in
        [(0, u64::MAX - 1, 0), (1, u64::MAX, 0), (2, 0, 0), (3, 0, 1), (4, 1, 1)]
    {
        converse.hears(START, &word(n, original));
        assert_eq!(converse.asked().odd, odd, "{n}");
    }
    assert!(converse.is_over());
}
