use super::*;
use crate::spec::nic::rc::{Data, Packet, Says, replies};
use proptest::prelude::*;
use rig_frames::psn::Psn;
use rig_lab::{AckTimeout, Nic, Rc};
use rig_units::Within;
use std::collections::BTreeMap;

mod adaptive;
mod asked_again;
mod not_ready;
mod queued;
mod timer;

const EXACT: Sight = Sight {
    bound: Dur::ZERO,
    busy: Dur::ZERO,
    // Two slots: one that a restart waits for, and one that it is compared with.
    allowance: Some(Dur(2 * GAP)),
    until: Time(1_000_000_000),
};
const GAP: u64 = 100;
const CABLE: u64 = 250;
const WAITS: u64 = 5_000;

fn rc(ack_every: u16) -> Rc {
    let [ack_latency, nak_latency, resend_latency] = [30, 50, 330].map(|ps| Dur(ps).into());
    Rc {
        ack_every,
        ack_latency,
        ack_held: None,
        nak_latency,
        resend_latency,
        recovery: None,
        resend_extra: None,
        timeout: AckTimeout::Time(Dur(WAITS)),
        timeout_late: Some(Within::ZERO),
        retries: 200,
        rnr_retries: None,
        rnr_late: Some(Within::ZERO),
        ..Nic::quiet().rc
    }
}

fn answer(at: u64, says: Says, psn: Psn) -> Answer {
    Answer { at: Time(at), says, psn, behind: Dur::ZERO }
}

#[test]
fn where_stamps_are_further_off_than_a_reply_takes_one_comes_behind_what_it_names() {
    // Five packets a picosecond apart, the NAK of the fourth at once, and back to that.
    let sent = [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (400, 3), (401, 4)];
    let sent = sent.map(|(at, psn)| Sent { at: Time(at), psn: Psn::new(psn) });
    let nak = Event { at: Time(5), says: Says::Nak, psn: Psn::new(3) };
    let sight = Sight { bound: Dur(50), until: Time(500), ..EXACT };
    let resent = sender(&rc(1), Psn::new(0), &sent, &[nak], &sight);
    assert_eq!((resent.faults, resent.restarts.len()), (Vec::new(), 1));
}

#[test]
fn a_sender_that_waits_too_long_is_seen_though_stamps_have_the_acknowledgement_before_it_sends_again()
 {
    let faults = |again: u64| {
        let sent = [(0, 0), (1, 1), (again, 1)];
        let sent = sent.map(|(at, psn)| Sent { at: Time(at), psn: Psn::new(psn) });
        let came = [(2, 0), (again + 1, 1)];
        let came =
            came.map(|(at, psn)| Event { at: Time(at), says: Says::Ack, psn: Psn::new(psn) });
        let sight = Sight { bound: Dur(50), until: Time(20 * WAITS), ..EXACT };
        sender(&rc(1), Psn::new(0), &sent, &came, &sight).faults
    };
    // The timer runs out at 5 002; stamps are off by 50 each, and two slots are allowed.
    assert_eq!(faults(WAITS + 2), []);
    assert_eq!(faults(WAITS + 302), []);
    assert_eq!(faults(WAITS + 303), [Fault::NoTimeout { packet: 1 }]);
    assert_eq!(faults(10 * WAITS), [Fault::NoTimeout { packet: 1 }]);
}

/// What one queue pair showed at both its ends.
#[derive(Debug, Clone, Default)]
struct Trace {
    sent: Vec<Sent>,
    packets: Vec<Packet>,
    answers: Vec<Answer>,
    came: Vec<Event>,
    /// Timeouts in a row, at the most.
    tries: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Data(u32),
    Reply(Says, u32),
    Restart(u32),
    Slot,
}

/// A sender and a receiver that keep the rule, over a wire that loses what `lost` says, in turn.
fn trace(rc: &Rc, first: Psn, total: u32, lost: &[bool]) -> Trace {
    let mut lost = lost.iter().copied().chain(std::iter::repeat(false));
    let mut trace = Trace::default();
    let mut queue = BTreeMap::from([((1_000, 3, 0), What::Slot)]);
    let (mut next, mut unacked, mut top, mut since, mut said) = (0, 0, 0, 0, 0);
    let mut tries = 0;
    let mut serial = 0;
    let index = |psn: Psn| psn.ahead_of(first).unwrap();
    while let Some(((at, _, _), what)) = queue.pop_first() {
        let mut add = |at: u64, what: What| {
            let kind = match what {
                What::Data(_) | What::Reply(..) => 0,
                What::Restart(_) => 1,
                What::Slot => 3,
            };
            serial += 1;
            queue.insert((at, kind, serial), what);
        };
        match what {
            What::Slot if unacked == total => break,
            What::Slot => {
                if unacked < top && at >= since + WAITS {
                    (next, since, tries) = (unacked, at, tries + 1);
                    trace.tries = trace.tries.max(tries);
                }
                if next < total {
                    since = if unacked == top { at } else { since };
                    trace.sent.push(Sent { at: Time(at), psn: first.advance(next) });
                    if !lost.next().unwrap() {
                        add(at + CABLE, What::Data(next));
                    }
                    next += 1;
                    top = top.max(next);
                }
                add(at + GAP, What::Slot);
            }
            What::Data(which) => {
                let last = which % 7 == 6 || which + 1 == total;
                trace.packets.push(Packet { at: Time(at), psn: first.advance(which), last });
                let due = replies(rc, Data::Requests, first, &trace.packets);
                for reply in &due[said..] {
                    let answer = answer(reply.ready.from.0, reply.says, reply.psn);
                    trace.answers.push(answer);
                    if !lost.next().unwrap() {
                        let named = match reply.says {
                            Says::Ack => reply.psn.advance(1),
                            Says::Nak | Says::NotReady { .. } => reply.psn,
                        };
                        add(reply.ready.from.0 + CABLE, What::Reply(reply.says, index(named)));
                    }
                }
                said = due.len();
            }
            What::Reply(says, named) => {
                let psn = first.advance(named.wrapping_sub(u32::from(says == Says::Ack)));
                trace.came.push(Event { at: Time(at), says, psn });
                if named > unacked {
                    (unacked, since, tries) = (named, at, 0);
                    next = next.max(unacked);
                }
                if says == Says::Nak && named >= unacked {
                    add(at + rc.resend_latency.least().0, What::Restart(named));
                }
            }
            What::Restart(named) => next = if named >= unacked { named } else { next },
        }
    }
    trace.answers.sort_by_key(|answer| answer.at);
    trace
}

fn both(rc: &Rc, first: Psn, trace: &Trace) -> Vec<Fault> {
    let mut faults =
        receiver(rc, (Data::Requests, first), &trace.packets, &trace.answers, &EXACT).faults;
    faults.extend(sender(rc, first, &trace.sent, &trace.came, &EXACT).faults);
    faults
}

/// Twenty packets across the wrap, the fourth of which is lost.
fn fixed() -> (Psn, Trace) {
    let first = Psn::new(0xff_fffe);
    // Three are sent before the first arrives and is acknowledged; then comes the fourth.
    let lost = [false, false, false, false, true];
    (first, trace(&rc(1), first, 20, &lost))
}

#[test]
fn one_loss_is_named_and_sent_again_and_all_latencies_are_read() {
    let (first, trace) = fixed();
    assert_eq!(both(&rc(1), first, &trace), []);
    let answered =
        receiver(&rc(1), (Data::Requests, first), &trace.packets, &trace.answers, &EXACT);
    assert_eq!(
        answered.naks.iter().map(|(_, span)| *span).collect::<Vec<_>>(),
        [rig_capture::Span::exactly(50)]
    );
    assert!(answered.acks.iter().all(|(_, span)| span.lo == 30 && span.hi == 30));
    let resent = sender(&rc(1), first, &trace.sent, &trace.came, &EXACT);
    assert_eq!(resent.restarts.len(), 1);
    let (packet, nak, took) = resent.restarts[0];
    assert_eq!(trace.sent[packet].psn, trace.came[nak].psn);
    // At the first slot from 330 after the NAK on.
    assert!((330..430).contains(&took.lo), "{took:?}");
}

#[test]
fn each_corruption_of_a_receiver_has_its_name() {
    let (first, healthy) = fixed();
    let nak = healthy.answers.iter().position(|answer| answer.says == Says::Nak).unwrap();
    let hole =
        healthy.packets.iter().position(|packet| packet.at + Dur(50) == healthy.answers[nak].at);
    let packet = hole.unwrap();
    let faults = |change: &dyn Fn(&mut Vec<Answer>)| {
        let mut other = healthy.clone();
        change(&mut other.answers);
        receiver(&rc(1), (Data::Requests, first), &other.packets, &other.answers, &EXACT).faults
    };
    assert_eq!(
        faults(&|all| {
            all.remove(nak);
        }),
        [Fault::MissingNak { packet }]
    );
    assert_eq!(
        faults(&|all| {
            all.remove(0);
        }),
        [Fault::MissingAck { packet: 0 }]
    );
    let wrong = [Fault::WrongPsn { packet, reply: nak }];
    assert_eq!(faults(&|all| all[nak].psn = all[nak].psn.advance(1)), wrong);
    assert_eq!(faults(&|all| all[nak].at += Dur(1)), [Fault::Late { packet, reply: nak }]);
    assert_eq!(
        faults(&|all| all[nak].at = Time(all[nak].at.0 - 1)),
        [Fault::Early { packet, reply: nak }]
    );
    let twice = |all: &mut Vec<Answer>| {
        all.insert(nak + 1, Answer { at: all[nak].at + Dur(100), ..all[nak] });
    };
    assert_eq!(faults(&twice), [Fault::SecondNak { reply: nak + 1 }]);
    let back = |all: &mut Vec<Answer>| {
        let at = all[2].at + Dur(1);
        all.insert(3, Answer { at, ..all[0] });
    };
    assert_eq!(faults(&back).len(), 1);
    let end = |all: &mut Vec<Answer>| {
        let last = all[all.len() - 1];
        all.push(Answer { at: last.at + Dur(7), psn: last.psn.advance(9), ..last });
    };
    assert_eq!(faults(&end), [Fault::Unasked { reply: healthy.answers.len() }]);
}

#[test]
fn two_bounds_and_a_busy_port_are_forgiven_and_a_picosecond_more_is_not() {
    let sight = Sight { bound: Dur(5), busy: Dur(7), ..EXACT };
    let packets = [Packet { at: Time(100), psn: Psn::new(0), last: true }];
    let faults = |at: u64| {
        let answers = [answer(at, Says::Ack, Psn::new(0))];
        receiver(&rc(1), (Data::Requests, Psn::new(0)), &packets, &answers, &sight).faults
    };
    // Ready at 130.
    assert_eq!([faults(120), faults(147)], [[], []]);
    assert_eq!(faults(119), [Fault::Early { packet: 0, reply: 0 }]);
    assert_eq!(faults(148), [Fault::Late { packet: 0, reply: 0 }]);
}

#[test]
fn an_acknowledgement_stands_for_those_before_it_that_it_comes_in_time_for() {
    let rc = Rc { ack_held: Some(Within::at_most(Dur(200))), ..rc(1) };
    // Each ends a message. The first is due at 130 to 330, the last from 330 on.
    let packets = [0, 1, 2].map(|n: u32| Packet {
        at: Time(100 + u64::from(n) * 100),
        psn: Psn::new(n),
        last: true,
    });
    let faults = |answers: &[(u64, Says, u32)]| {
        let answer = |&(at, says, psn)| answer(at, says, Psn::new(psn));
        let answers: Vec<Answer> = answers.iter().map(answer).collect();
        receiver(&rc, (Data::Requests, Psn::new(0)), &packets, &answers, &EXACT).faults
    };
    let each = [(130, Says::Ack, 0), (430, Says::Ack, 1), (530, Says::Ack, 2)];
    assert_eq!([faults(&each), faults(&[(330, Says::Ack, 2)])], [[], []]);
    assert_eq!(faults(&[(331, Says::Ack, 2)]), [Fault::MissingAck { packet: 0 }]);
    assert_eq!(faults(&[(300, Says::Ack, 1)]), [Fault::MissingAck { packet: 2 }]);
    // Before it could be ready it is early, and stands for nobody.
    assert_eq!(faults(&[(329, Says::Ack, 2)]).len(), 3);
    assert_eq!(faults(&each[..2]), [Fault::MissingAck { packet: 2 }]);
    assert_eq!(
        faults(&[each[0], each[1], (531, Says::Ack, 2)]),
        [Fault::Late { packet: 2, reply: 2 }]
    );
}

#[test]
fn an_acknowledgement_that_stands_for_none_before_it_is_held_for_the_least_that_is_declared() {
    let rc = Rc { ack_held: Some(Within::between(Dur(50), Dur(200))), ..rc(1) };
    // The first is due at 180 to 330, the second at 230 to 380 unless it stands for the first.
    let packets = [0, 1].map(|n: u32| Packet {
        at: Time(100 + u64::from(n) * 50),
        psn: Psn::new(n),
        last: true,
    });
    let of = |packets: &[Packet], answers: &[(u64, u32)]| {
        let answer = |&(at, psn)| answer(at, Says::Ack, Psn::new(psn));
        let answers: Vec<Answer> = answers.iter().map(answer).collect();
        receiver(&rc, (Data::Requests, Psn::new(0)), packets, &answers, &EXACT)
    };
    assert_eq!(of(&packets, &[(180, 0), (230, 1)]).faults, []);
    assert_eq!(of(&packets, &[(179, 0), (230, 1)]).faults, [Fault::Early { packet: 0, reply: 0 }]);
    assert_eq!(of(&packets, &[(180, 0), (229, 1)]).faults, [Fault::Early { packet: 1, reply: 1 }]);
    // One for both leaves when the first has been held, of which nobody sees more than that it has come.
    let both = of(&packets, &[(180, 1)]);
    assert_eq!((both.faults, both.alone), (vec![], false));
    // Once it is too early for what an acknowledgement takes, it is so once.
    assert_eq!(of(&packets[..1], &[(129, 0)]).faults, [Fault::Early { packet: 0, reply: 0 }]);
    assert!(of(&packets[..1], &[(180, 0)]).alone);
}

#[test]
fn a_reader_asks_anew_from_the_hole_and_acknowledges_nothing() {
    let psns = [7, 9, 8, 9].map(Psn::new);
    let packet = |(at, psn): (u64, Psn)| Packet { at: Time(at * 100), psn, last: false };
    let packets: Vec<Packet> = (0..).zip(psns).map(packet).collect();
    let ask = answer(150, Says::Nak, Psn::new(8));
    let faults = |answers: &[Answer]| {
        receiver(&rc(1), (Data::Responses, Psn::new(7)), &packets, answers, &EXACT).faults
    };
    assert_eq!(faults(&[ask]), []);
    assert_eq!(faults(&[]), [Fault::MissingNak { packet: 1 }]);
    let wrong = Answer { psn: Psn::new(9), ..ask };
    assert_eq!(faults(&[wrong]), [Fault::WrongPsn { packet: 1, reply: 0 }]);
    let ack = answer(30, Says::Ack, Psn::new(7));
    assert_eq!(faults(&[ack, ask]), [Fault::Unasked { reply: 0 }]);
}

#[test]
fn each_corruption_of_a_sender_has_its_name() {
    let (first, healthy) = fixed();
    let back = healthy.sent.windows(2).position(|two| two[1].psn.ahead_of(two[0].psn).is_none());
    let packet = back.unwrap() + 1;
    let nak = healthy.came.iter().position(|event| event.says == Says::Nak).unwrap();
    let faults = |rc: &Rc, change: &dyn Fn(&mut Vec<Sent>)| {
        let mut sent = healthy.sent.clone();
        change(&mut sent);
        sender(rc, first, &sent, &healthy.came, &EXACT).faults
    };
    let shifted = |by: u32| {
        move |all: &mut Vec<Sent>| {
            all[packet..]
                .iter_mut()
                .for_each(|sent| sent.psn = Psn::new(sent.psn.get().wrapping_add(by)));
        }
    };
    let wrong = Fault::WrongRestart { packet, nak };
    assert_eq!(faults(&rc(1), &shifted(1))[0], wrong);
    assert_eq!(faults(&rc(1), &shifted(0xff_ffff))[0], wrong);
    // Where more than the hole may be sent again: as far back as that, and not further, nor behind what is missing.
    let more = Rc { resend_extra: Some(2), ..rc(1) };
    assert_eq!([0, 0xff_ffff, 0xff_fffe].map(|by| faults(&more, &shifted(by))), [[], [], []]);
    for off in [1, 0xff_fffd] {
        assert_eq!(faults(&more, &shifted(off))[0], wrong);
    }
    let slower = Rc { resend_latency: Dur(460).into(), ..rc(1) };
    assert_eq!(faults(&slower, &|_| ())[0], Fault::Unprompted { packet });
    let faster = Rc { resend_latency: Dur(0).into(), ..rc(1) };
    assert_eq!(faults(&faster, &|_| ())[0], Fault::WrongRestart { packet: packet - 3, nak });
    let cut = sender(&rc(1), first, &healthy.sent[..packet], &healthy.came[..=nak], &EXACT);
    assert_eq!(cut.faults, [Fault::NoRestart { nak }]);
    let late = |all: &mut Vec<Sent>| all[packet..].iter_mut().for_each(|sent| sent.at += Dur(300));
    assert_eq!(faults(&rc(1), &late), [Fault::LateRestart { packet, nak }]);
    assert_eq!(
        faults(&rc(1), &|all| {
            all.remove(1);
        })[0],
        Fault::Skipped { packet: 1 }
    );
    let again = |all: &mut Vec<Sent>| all.insert(2, Sent { at: all[1].at + Dur(1), ..all[1] });
    assert_eq!(faults(&rc(1), &again), [Fault::Unprompted { packet: 2 }]);
}

#[test]
fn what_is_acknowledged_between_a_nak_and_its_effect_need_not_be_sent_again() {
    let first = Psn::new(0xff_fffe);
    // Five were sent; the NAK names the second, and before it takes effect at 330 the fourth is acknowledged.
    let sent = |again: u32, at: u64| {
        let before = (0..5).map(|n| Sent { at: Time(100 * u64::from(n)), psn: first.advance(n) });
        let sent = before.chain([Sent { at: Time(at), psn: first.advance(again) }]);
        sent.collect::<Vec<_>>()
    };
    let event = |at, says, n| Event { at: Time(at), says, psn: first.advance(n) };
    let came = [event(450, Says::Nak, 1), event(600, Says::Ack, 3)];
    let faults = |again, at| {
        let sight = Sight { until: Time(at), ..EXACT };
        sender(&rc(1), first, &sent(again, at), &came, &sight).faults
    };
    assert_eq!([faults(4, 780), faults(1, 780)], [[], []]);
    let wrong = [Fault::WrongRestart { packet: 5, nak: 0 }];
    assert_eq!([faults(2, 780), faults(3, 780)], [wrong, wrong]);
    assert_eq!(faults(4, 779), [Fault::Unprompted { packet: 5 }]);
    assert_eq!(faults(4, 981), [Fault::LateRestart { packet: 5, nak: 0 }]);
}

#[test]
fn a_lost_tail_is_sent_again_after_the_timeout_and_not_before() {
    // The last of three is lost.
    let first = Psn::new(7);
    let rc = rc(1);
    let trace = trace(&rc, first, 3, &[false, false, true]);
    let lost = trace.sent.iter().filter(|sent| sent.psn == Psn::new(9)).count();
    assert_eq!((lost, both(&rc, first, &trace)), (2, Vec::new()));
    let of = |rc: &Rc, sent: &[Sent]| sender(rc, first, sent, &trace.came, &EXACT).faults;
    let longer = Rc { timeout: AckTimeout::Time(Dur(5_200)), ..rc };
    assert_eq!(of(&longer, &trace.sent), [Fault::Unprompted { packet: 3 }]);
    let cut = sender(&rc, first, &trace.sent[..3], &trace.came[..2], &EXACT);
    assert_eq!(cut.faults, [Fault::NoTimeout { packet: 2 }]);
    let never = Rc { timeout: AckTimeout::NEVER, ..rc };
    assert_eq!(of(&never, &trace.sent), [Fault::Unprompted { packet: 3 }]);
    let none = Rc { retries: 0, ..rc };
    assert_eq!(of(&none, &trace.sent), [Fault::TooMany { packet: 3 }]);
    // As late as the standard has it: up to 4 x 5000, a slot that it waits for, and the one that it is compared with.
    let standard = Rc { timeout_late: None, ..rc };
    let since = trace.came[1].at;
    let after = |took: u64| {
        let mut sent = trace.sent.clone();
        sent[3].at = since + Dur(took);
        let sight = Sight { until: sent[3].at, ..EXACT };
        sender(&standard, first, &sent, &trace.came[..2], &sight).faults
    };
    assert_eq!([after(5_000), after(4 * 5_000 + 2 * GAP)], [[], []]);
    assert_eq!(after(4_999), [Fault::Unprompted { packet: 3 }]);
    assert_eq!(after(4 * 5_000 + 2 * GAP + 1), [Fault::NoTimeout { packet: 3 }]);
}

/// What is done to the replies of a receiver that keeps the rule.
type Change<'a> = &'a dyn Fn(&mut Vec<Answer>);

proptest! {
    #[test]
    fn ends_that_keep_the_rule_have_no_fault_whatever_is_lost(
        lost in prop::collection::vec(prop::bool::weighted(0.15), 0..60),
        first in prop_oneof![0_u32..1 << 24, Just(0xff_fff0)],
        ack_every in 1_u16..6,
        pick in any::<prop::sample::Index>(),
    ) {
        let (rc, first) = (rc(ack_every), Psn::new(first));
        let healthy = trace(&rc, first, 40, &lost);
        prop_assert_eq!(both(&rc, first, &healthy), []);
        // Any reply that is taken away, named otherwise or moved is a fault.
        let at = pick.index(healthy.answers.len());
        let changes: [Change<'_>; 3] = [
            &|all| { all.remove(at); },
            &|all| all[at].psn = all[at].psn.advance(5),
            &|all| all[at].at += Dur(1),
        ];
        for (kind, change) in changes.into_iter().enumerate() {
            let mut other = healthy.clone();
            change(&mut other.answers);
            prop_assert!(!both(&rc, first, &other).is_empty(), "change {kind}");
        }
        // So is a way back that begins one number off.
        for (packet, ..) in sender(&rc, first, &healthy.sent, &healthy.came, &EXACT).restarts {
            for by in [1, 0xff_ffff] {
                let mut other = healthy.clone();
                other.sent[packet].psn = other.sent[packet].psn.advance(by);
                prop_assert!(!both(&rc, first, &other).is_empty(), "{packet} {by}");
            }
        }
        // A number of the sender's that is left out is one, unless it goes back there anyway, or has heard of it.
        let mut other = healthy.clone();
        let at = pick.index(other.sent.len() - 1);
        let away = other.sent.remove(at);
        let before = at.checked_sub(1).map(|at| other.sent[at].psn);
        let heard = |one: &Event| one.at < other.sent[at].at && one.says == Says::Ack && one.psn.ahead_of(away.psn).is_some();
        if before.is_some_and(|before| before.advance(1) == away.psn && other.sent[at].psn == away.psn.advance(1)) && !other.came.iter().any(heard) {
            prop_assert!(!both(&rc, first, &other).is_empty());
        }
    }

    #[test]
    fn blurred_stamps_and_a_busy_port_make_no_fault(
        lost in prop::collection::vec(prop::bool::weighted(0.2), 0..60),
        blur in prop::collection::vec((0_u64..=80, 0_u64..=25), 300),
        ack_every in 1_u16..6,
    ) {
        let (rc, first) = (rc(ack_every), Psn::new(0xff_fff0));
        let mut trace = trace(&rc, first, 40, &lost);
        let mut blurs = blur.iter().cycle();
        let mut off = |at: &mut Time, busy: bool| {
            let (blur, held) = *blurs.next().unwrap();
            *at = Time(at.0 + blur + if busy { held } else { 0 } - 40);
        };
        // Before any stamp is off, what left one after the other stays so.
        trace.sent.iter_mut().for_each(|sent| off(&mut sent.at, false));
        trace.packets.iter_mut().for_each(|packet| off(&mut packet.at, false));
        trace.answers.iter_mut().for_each(|answer| off(&mut answer.at, true));
        trace.came.iter_mut().for_each(|event| off(&mut event.at, false));
        let sight = Sight { bound: Dur(40), busy: Dur(25), ..EXACT };
        let answered = receiver(&rc, (Data::Requests, first), &trace.packets, &trace.answers, &sight);
        prop_assert_eq!(answered.faults, []);
        prop_assert_eq!(sender(&rc, first, &trace.sent, &trace.came, &sight).faults, []);
    }
}
