//! A sender whose timer runs out more than once.

use super::*;
use crate::spec::nic::rc::not_ready;

#[test]
fn a_timer_that_ran_out_runs_again_at_once_whenever_its_packet_gets_out() {
    let faults = |again: u64, then: u64, busy: u64| {
        let sent = [(0, 0), (again, 0), (then, 0)];
        let sent = sent.map(|(at, psn)| Sent { at: Time(at), psn: Psn::new(psn) });
        let sight = Sight { busy: Dur(busy), until: Time(then), ..EXACT };
        sender(&rc(1), Psn::new(0), &sent, &[], &sight).faults
    };
    // The first way back waited for 80: the timer ran on from 5000.
    assert_eq!(faults(5_080, 10_000, 80), []);
    assert_eq!(faults(5_080, 9_999, 80), [Fault::Unprompted { packet: 2 }]);
    // It may have waited for 60 at most.
    assert_eq!(faults(5_080, 10_020, 60), []);
    assert_eq!(faults(5_080, 10_019, 60), [Fault::Unprompted { packet: 2 }]);
}

#[test]
fn a_timer_that_is_left_running_runs_out_on_what_was_sent_later_and_no_sooner_than_its_time() {
    // All is acknowledged at 100, and the next packet leaves at 4000: its time is over at 9000, that of the first at 5000.
    let faults = |runs_on: bool, again: u64, acks: &[(u64, u32)]| {
        let sent = [(0, 0), (4_000, 1), (again, 1)];
        let sent = sent.map(|(at, psn)| Sent { at: Time(at), psn: Psn::new(psn) });
        let came = acks.iter().map(|&(at, psn)| Event {
            at: Time(at),
            says: Says::Ack,
            psn: Psn::new(psn),
        });
        let came: Vec<Event> = came.collect();
        let sight = Sight { until: Time(again), ..EXACT };
        let rc = Rc { timer_runs_on: runs_on.then_some(true), ..rc(1) };
        sender(&rc, Psn::new(0), &sent, &came, &sight).faults
    };
    assert_eq!(faults(true, 5_000, &[(100, 0)]), []);
    assert_eq!(faults(true, 4_999, &[(100, 0)]), [Fault::Unprompted { packet: 2 }]);
    assert_eq!(faults(false, 5_000, &[(100, 0)]), [Fault::Unprompted { packet: 2 }]);
    assert_eq!(faults(false, 9_000, &[(100, 0)]), []);
}

/// A packet that is never acknowledged in time, tried `tries` times by a sender that may try once, and what comes then.
fn late(came: &[(u64, Says, u32)], then: &[(u64, u32)], until: u64) -> Resent {
    let sent = [(0, 0), (1, 1), (5_000, 0), (5_100, 1)].iter().chain(then);
    let sent: Vec<Sent> =
        sent.map(|&(at, psn)| Sent { at: Time(at), psn: Psn::new(psn) }).collect();
    let event = |&(at, says, psn): &_| Event { at: Time(at), says, psn: Psn::new(psn) };
    let came: Vec<Event> = came.iter().map(event).collect();
    let rc = Rc { retries: 1, timeout_late: Some(Within::at_most(Dur(500))), ..rc(1) };
    sender(&rc, Psn::new(0), &sent, &came, &Sight { until: Time(until), ..EXACT })
}

#[test]
fn who_gave_up_is_not_brought_back_by_what_comes_after_that() {
    // Its timer runs out between 10 000 and 10 500 after the last try.
    let gone = late(&[(10_700, Says::Ack, 0)], &[], 100_000);
    assert_eq!((gone.expired(), gone.faults), (Some(2), Vec::new()));
    // A NAK asks a connection that is dead for nothing.
    let asked = late(&[(10_700, Says::Nak, 1)], &[], 100_000);
    assert_eq!((asked.expired(), asked.faults), (Some(2), Vec::new()));
    // One that sends on had no right to.
    let alive = late(&[(10_700, Says::Ack, 0)], &[(12_000, 2)], 13_000);
    assert_eq!(alive.faults, [Fault::TooMany { packet: 4 }]);
}

#[test]
fn whether_something_came_in_time_for_the_last_try_is_shown_by_what_is_sent_then() {
    let perhaps = |at, then: &[(u64, u32)], until| late(&[(at, Says::Ack, 0)], then, until);
    assert_eq!(perhaps(10_200, &[], 13_000).expired(), None);
    assert_eq!(perhaps(10_200, &[], 100_000).faults, []);
    // It goes on, and has to go back when its timer runs out again.
    let on = perhaps(10_200, &[(10_300, 2)], 13_000);
    assert_eq!((on.expired(), on.faults), (Some(1), Vec::new()));
    let stuck = perhaps(10_200, &[(10_300, 2)], 100_000);
    assert_eq!(stuck.faults, [Fault::NoTimeout { packet: 4 }]);
    // In time for certain.
    assert_eq!(late(&[(9_999, Says::Ack, 0)], &[], 14_000).expired(), Some(1));
}

#[test]
fn what_came_within_the_time_that_a_nak_takes_need_not_have_been_taken_in_when_the_timer_ran_out() {
    // The timer runs out at 5 000, and an acknowledgement of the first packet has come before. A NAK is acted on within 330.
    let faults = |came: u64, again: u32| {
        let sent = [(0, 0), (1, 1), (5_000, again)];
        let sent = sent.map(|(at, psn)| Sent { at: Time(at), psn: Psn::new(psn) });
        let came = [Event { at: Time(came), says: Says::Ack, psn: Psn::new(0) }];
        let sight = Sight { until: Time(5_100), ..EXACT };
        sender(&rc(1), Psn::new(0), &sent, &came, &sight).faults
    };
    assert_eq!(faults(4_671, 0), []);
    assert_eq!(faults(4_670, 0), [Fault::Unprompted { packet: 2 }]);
    // Who has taken it in waits anew.
    assert_eq!(faults(4_671, 1), [Fault::Unprompted { packet: 2 }]);
    // What it sent itself it knows of: all is acknowledged, and the timer of the third packet began with it.
    let sent = [(0, 0), (5_000, 1), (5_100, 1)];
    let sent = sent.map(|(at, psn)| Sent { at: Time(at), psn: Psn::new(psn) });
    let came = [Event { at: Time(100), says: Says::Ack, psn: Psn::new(0) }];
    let sight = Sight { until: Time(5_200), ..EXACT };
    let resent = sender(&rc(1), Psn::new(0), &sent, &came, &sight);
    assert_eq!(resent.faults, [Fault::Unprompted { packet: 2 }]);
}

#[test]
fn what_was_sent_behind_all_that_was_acknowledged_says_nothing_of_whether_that_was_taken_in() {
    // The first packet is acknowledged, the second leaves, and then the timer of the first runs out: it does not know of the acknowledgement yet.
    let faults = |came: u64, again: u64, with: u32| {
        let sent = [(0, 0), (came + 10, 1), (again, with)];
        let sent = sent.map(|(at, psn)| Sent { at: Time(at), psn: Psn::new(psn) });
        let came = [Event { at: Time(came), says: Says::Ack, psn: Psn::new(0) }];
        let sight = Sight { until: Time(again + 100), ..EXACT };
        sender(&rc(1), Psn::new(0), &sent, &came, &sight).faults
    };
    let unprompted = [Fault::Unprompted { packet: 2 }];
    assert_eq!(faults(4_671, 5_000, 0), []);
    assert_eq!(faults(4_670, 5_000, 0), unprompted);
    // Not before its time, nor back to what left since then: the time of that is not over.
    assert_eq!(faults(4_671, 4_999, 0), unprompted);
    assert_eq!(faults(4_671, 5_000, 1), unprompted);
}

#[test]
fn a_timer_that_runs_out_once_does_not_run_out_again_over_the_same_that_was_not_taken_in() {
    // The acknowledgement came 200 before the timer runs out and 210 before it would again, at once.
    let sent = [(0, 0), (4_810, 1), (5_000, 0), (5_010, 0)];
    let sent = sent.map(|(at, psn)| Sent { at: Time(at), psn: Psn::new(psn) });
    let came = [Event { at: Time(4_800), says: Says::Ack, psn: Psn::new(0) }];
    let sight = Sight { until: Time(5_100), ..EXACT };
    let resent = sender(&rc(1), Psn::new(0), &sent, &came, &sight);
    assert_eq!(resent.faults, [Fault::Unprompted { packet: 3 }]);
}

#[test]
fn who_goes_back_to_the_first_over_acknowledgements_and_a_nak_that_it_has_not_taken_in_goes_on_from_the_hole_then()
 {
    // Linux's rxe, seen: the fifth is lost, all before it is acknowledged and the NAK is there as the timer runs out; it goes back to the first, and
    // for the NAK once it is taken in.
    let resent = |back: u32| {
        let first = (0..8).map(|psn| (u64::from(psn), psn));
        let again = (back..6).map(|psn| (5_000 + u64::from(psn), psn));
        let then = (4..8).map(|psn| (5_034 + u64::from(psn), psn));
        let sent = first.chain(again).chain(then);
        let sent: Vec<Sent> =
            sent.map(|(at, psn)| Sent { at: Time(at), psn: Psn::new(psn) }).collect();
        let acks = (0..4).map(|psn| (4_700 + u64::from(psn), Says::Ack, psn));
        let came = acks.chain([(4_704, Says::Nak, 4)]);
        let came = came.map(|(at, says, psn)| Event { at: Time(at), says, psn: Psn::new(psn) });
        let came: Vec<Event> = came.collect();
        let sight = Sight { until: Time(5_100), ..EXACT };
        let resent = sender(&rc(1), Psn::new(0), &sent, &came, &sight);
        (resent.faults, resent.timeouts.len(), resent.restarts.len())
    };
    assert_eq!(resent(0), (Vec::new(), 1, 1));
    // From anywhere up to the hole: so much may have been taken in by then. Behind it nothing was to go back to.
    assert_eq!(resent(5).0.first(), Some(&Fault::Unprompted { packet: 8 }));
}

#[test]
fn progress_that_stamps_cannot_order_with_a_timeout_lets_it_begin_to_count_anew() {
    // The timer runs out at 5 000, the first packet is acknowledged behind that, and the second is tried when the timer has run out anew: one try each.
    // From a bound of 10 on the acknowledgement may have come before the first try.
    let faults = |came: u64, bound: u64| {
        let sent = [(0, 0), (1, 1), (5_000, 0), (5_001, 1), (came.max(5_000) + 5_000, 1)];
        let sent = sent.map(|(at, psn)| Sent { at: Time(at), psn: Psn::new(psn) });
        let came = [Event { at: Time(came), says: Says::Ack, psn: Psn::new(0) }];
        let sight = Sight { bound: Dur(bound), until: sent[4].at, ..EXACT };
        sender(&rc_once(), Psn::new(0), &sent, &came, &sight).faults
    };
    for bound in [0, 10, 1_000, 10_000] {
        assert_eq!(faults(5_020, bound), [], "stamps off by {bound}");
    }
    // It came before the timer ran out, and need not have been taken in by then.
    assert_eq!(faults(4_981, 0), []);
}

/// One try.
fn rc_once() -> Rc {
    Rc { retries: 1, ..rc(1) }
}

#[test]
fn tries_that_nothing_came_between_are_counted_however_far_off_stamps_are() {
    let faults = |came: u64, bound: u64| {
        let sent = [(0, 0), (1, 1), (5_100, 1), (10_100, 1)];
        let sent = sent.map(|(at, psn)| Sent { at: Time(at), psn: Psn::new(psn) });
        let came = [Event { at: Time(came), says: Says::Ack, psn: Psn::new(0) }];
        let sight = Sight { bound: Dur(bound), until: Time(10_100), ..EXACT };
        sender(&rc_once(), Psn::new(0), &sent, &came, &sight).faults
    };
    let too_many = [Fault::TooMany { packet: 3 }];
    assert_eq!(faults(100, 0), too_many);
    // 2 x 2 334 and the 330 in which something is taken in are a picosecond short of what lies between.
    assert_eq!(faults(100, 2_334), too_many);
    assert_eq!(faults(100, 2_335), []);
}

#[test]
fn a_healthy_sender_never_tries_too_often_wherever_its_stamps_are() {
    // Random losses at both ends; each stamp is off by up to `bound`, and frames of one way stay in their order.
    let mut next = numbers(7);
    for seed in 0..300_u64 {
        let lost: Vec<bool> = (0..80).map(|_| next().is_multiple_of(4)).collect();
        let first = Psn::new(0);
        let trace = trace(&rc(1), first, 12, &lost);
        let rc = Rc { retries: u8::try_from(trace.tries).unwrap(), ..rc(1) };
        let bound = [10, 500, 3_000, 20_000][usize::try_from(seed % 4).unwrap()];
        let mut blurred = |at: Time| Time((at.0 + next() % (2 * bound + 1)).saturating_sub(bound));
        let mut sent: Vec<Sent> =
            trace.sent.iter().map(|one| Sent { at: blurred(one.at), ..*one }).collect();
        let mut came: Vec<Event> =
            trace.came.iter().map(|one| Event { at: blurred(one.at), ..*one }).collect();
        let mut latest = Time::ZERO;
        sent.iter_mut().for_each(|one| (latest, one.at) = (latest.max(one.at), latest.max(one.at)));
        latest = Time::ZERO;
        came.iter_mut().for_each(|one| (latest, one.at) = (latest.max(one.at), latest.max(one.at)));
        let sight = Sight { bound: Dur(bound), ..EXACT };
        let faults = sender(&rc, first, &sent, &came, &sight).faults;
        let tried = faults.iter().any(|fault| matches!(fault, Fault::TooMany { .. }));
        assert!(!tried, "seed {seed}, stamps off by {bound}: {faults:?}");
    }
}

/// Numbers that look random.
fn numbers(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state >> 33
    }
}

#[test]
fn a_way_back_that_a_nak_and_a_timeout_explain_counts_as_either() {
    // Four packets, the NAK of the second as the timeout runs out but for a picosecond, and back to it 330 later.
    let either = |sends: u64| {
        let sent =
            [(0, 0), (100, 1), (200, 2), (300, 3), (sends, 1), (sends + 100, 2), (sends + 200, 3)];
        let sent = sent.map(|(at, psn)| Sent { at: Time(at), psn: Psn::new(psn) });
        let came = [(350, Says::Ack, 0), (sends - 330, Says::Nak, 1)];
        let came = came.map(|(at, says, psn)| Event { at: Time(at), says, psn: Psn::new(psn) });
        let sight = Sight { until: Time(sends + 300), ..EXACT };
        let resent = sender(&rc(1), Psn::new(0), &sent, &came, &sight);
        (resent.expired(), resent.either, resent.faults)
    };
    assert_eq!(either(350 + WAITS - 1), (Some(0), 0, Vec::new()));
    assert_eq!(either(350 + WAITS), (Some(0), 1, Vec::new()));
}

#[test]
fn a_way_back_that_acknowledgements_have_overtaken_is_the_refusals_before_it_is_a_timeouts() {
    // A timer that is left running may run since 0: what came 150 before the next try may not have been taken in by then.
    let of = |again: u64| {
        let sent = [(0, 0), (10, 1), (20, 2), (again, 1), (again + 10, 2)];
        let sent = sent.map(|(at, psn)| Sent { at: Time(at), psn: Psn::new(psn) });
        let says = not_ready(&rc(1), Within::exactly(Dur(1_000)));
        let event = |at, says| Event { at: Time(at), says, psn: Psn::new(0) };
        let came = [event(4_050, says), event(4_900, Says::Ack)];
        let sight = Sight { until: Time(again + 100), ..EXACT };
        let rc = Rc { timer_runs_on: Some(true), ..rc(1) };
        let resent = sender(&rc, Psn::new(0), &sent, &came, &sight);
        (resent.expired(), resent.either, resent.tried_again.len(), resent.faults)
    };
    assert_eq!(of(5_050), (Some(0), 1, 1, Vec::new()));
    // Too late for what said that it is not ready it is the timer's alone.
    let late = 5_050 + EXACT.busy.0 + EXACT.allowance.unwrap().0 + 1;
    assert_eq!(of(late), (Some(0), 0, 1, vec![Fault::LateRestart { packet: 3, nak: 0 }]));
}

#[test]
fn how_late_a_timer_would_show_is_counted_from_the_way_back_that_may_have_started_it_anew() {
    let resent = |came: &[Event]| {
        let back = 50 + rc(1).resend_latency.most().0;
        let sent = [(0, 0), (10, 1), (back, 0), (back + 10, 1), (WAITS, 0)];
        let sent = sent.map(|(at, psn)| Sent { at: Time(at), psn: Psn::new(psn) });
        let sent = if came.is_empty() { vec![sent[0], sent[1], sent[4]] } else { sent.to_vec() };
        let sight = Sight { until: Time(WAITS), ..EXACT };
        (sender(&rc(1), Psn::new(0), &sent, came, &sight), back)
    };
    let (plain, _) = resent(&[]);
    assert_eq!((plain.faults, plain.anew), (Vec::new(), Some(Dur(0))));
    let nak = Event { at: Time(50), says: Says::Nak, psn: Psn::new(0) };
    let (back, at) = resent(&[nak]);
    assert_eq!((back.faults, back.timeouts.len(), back.anew), (Vec::new(), 1, Some(Dur(at))));
}
