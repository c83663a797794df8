//! A sender whose receiver is not ready.

use super::*;
use crate::spec::nic::rc::not_ready;

/// What is wrong where four packets were sent 10 apart, a receiver says at 50 that it is not ready for the third and at 50 and 2000 after
/// that again, and the sender sends so.
fn refused(rc: &Rc, then: &[(u64, u32)], refusals: &[u64], bound: u64) -> Vec<Fault> {
    let first = (0..4).map(|n| (10 * u64::from(n), n));
    let sent = first.chain(then.iter().copied());
    let sent: Vec<Sent> = sent.map(|(at, psn)| Sent { at: Time(at), psn: Psn::new(psn) }).collect();
    let says = not_ready(rc, Within::exactly(Dur(1_000)));
    let came = refusals.iter().map(|&at| Event { at: Time(at), says, psn: Psn::new(2) });
    let sight = Sight { bound: Dur(bound), until: Time(20_000), ..EXACT };
    let rc = Rc { timeout: AckTimeout::NEVER, ..*rc };
    sender(&rc, Psn::new(0), &sent, &came.collect::<Vec<_>>(), &sight).faults
}

#[test]
fn a_receiver_that_is_not_ready_is_tried_again_when_its_time_is_over_and_not_before() {
    let late = |late: u64| Rc { rnr_late: Some(Dur(late).into()), ..rc(1) };
    let of = |rc: &Rc, at: u64, bound| refused(rc, &[(at, 2), (at + 10, 3)], &[50], bound);
    let soon = Fault::TooSoon { packet: 4, nak: 0 };
    assert_eq!(of(&late(0), 1_050, 0), []);
    assert_eq!(of(&late(0), 1_049, 0)[0], soon);
    // What both stamps may be off.
    assert_eq!(of(&late(0), 1_030, 10), []);
    assert_eq!(of(&late(0), 1_029, 10)[0], soon);
    // A timer that runs out later is waited for, and nothing much later is right.
    assert_eq!(of(&late(70), 1_119, 0)[0], soon);
    let latest = 1_050 + 70 + EXACT.busy.0 + EXACT.allowance.unwrap().0;
    assert_eq!(of(&late(70), latest, 0), []);
    assert_eq!(of(&late(70), latest + 1, 0), [Fault::LateRestart { packet: 4, nak: 0 }]);
    // Of one of which nothing is known nothing is too late.
    let unknown = Rc { rnr_late: None, ..rc(1) };
    assert_eq!(of(&unknown, 19_000, 0), []);
    assert_eq!(of(&unknown, 1_049, 0)[0], soon);
    // What was on its way out when the RNR NAK came is none of it, what leaves in order later is.
    let on_the_way = |at: u64| refused(&late(0), &[(at, 4), (1_050, 2)], &[50], 0);
    let stops = 50 + 330 + EXACT.busy.0;
    assert_eq!(on_the_way(stops), []);
    assert_eq!(on_the_way(stops + 1)[0], soon);
    // Who never tries again is seen, too.
    assert_eq!(refused(&late(0), &[], &[50], 0), [Fault::NoRestart { nak: 0 }]);
}

#[test]
fn a_receiver_is_tried_again_so_often_and_for_ever_by_a_count_of_seven() {
    let of = |rnr_retries: Option<u8>, tries: u64| {
        let rc = Rc { rnr_retries, ..rc(1) };
        let times: Vec<u64> = (0..tries).map(|n| 50 + 2_000 * n).collect();
        let then: Vec<(u64, u32)> = times[1..].iter().map(|&at| (at - 2_000 + 1_000, 2)).collect();
        let end = times[times.len() - 1] + 1_000;
        let again: Vec<(u64, u32)> = then.iter().copied().chain([(end, 2)]).collect();
        (refused(&rc, &then, &times, 0), refused(&rc, &again, &times, 0))
    };
    // Its second try was the last.
    assert_eq!(of(Some(2), 3), (vec![], vec![Fault::TooMany { packet: 6 }]));
    assert_eq!(of(Some(0), 1), (vec![], vec![Fault::TooMany { packet: 4 }]));
    for for_ever in [Some(7), None] {
        assert_eq!(of(for_ever, 9), (vec![Fault::NoRestart { nak: 8 }], vec![]));
    }
    assert_eq!(of(Some(2), 2), (vec![Fault::NoRestart { nak: 1 }], vec![]));
}

/// What comes of four packets that were sent 10 apart, where a receiver says at these instants that it is not ready for the third, for 1000,
/// and the sender sends so. Its timer waits for 5000.
fn refused_until(rc: &Rc, then: &[(u64, u32)], refusals: &[u64], until: u64) -> Resent {
    let first = (0..4).map(|n| (10 * u64::from(n), n));
    let sent = first.chain(then.iter().copied());
    let sent: Vec<Sent> = sent.map(|(at, psn)| Sent { at: Time(at), psn: Psn::new(psn) }).collect();
    let says = not_ready(rc, Within::exactly(Dur(1_000)));
    let came = refusals.iter().map(|&at| Event { at: Time(at), says, psn: Psn::new(2) });
    let sight = Sight { until: Time(until), ..EXACT };
    sender(rc, Psn::new(0), &sent, &came.collect::<Vec<_>>(), &sight)
}

#[test]
fn who_gave_up_on_a_receiver_waits_for_no_acknowledgement() {
    let of = |rnr_retries, last: u64| {
        let rc = Rc { rnr_retries: Some(rnr_retries), ..rc(1) };
        let resent = refused_until(&rc, &[(1_050, 2), (1_060, 3)], &[50, last], 1_000_000);
        (resent.expired(), resent.untried, resent.faults)
    };
    assert_eq!(of(1, 2_050), (Some(0), None, vec![]));
    assert_eq!(of(2, 2_050).2, [Fault::NoRestart { nak: 1 }]);
    // It tried at 1050: by 6050 its timer had run out, and two slots are allowed.
    assert_eq!(of(1, 6_250).2, []);
    assert_eq!(of(1, 6_251).2, [Fault::NoTimeout { packet: 5 }]);
}

#[test]
fn who_gave_up_on_a_receiver_sends_nothing_more() {
    let faults = |at: u64| {
        let rc = Rc { rnr_retries: Some(0), ..rc(1) };
        let sent = [(0, 0), (10, 1), (at, 2)];
        let sent = sent.map(|(at, psn)| Sent { at: Time(at), psn: Psn::new(psn) });
        let says = not_ready(&rc, Within::exactly(Dur(100)));
        let nak = Event { at: Time(50), says, psn: Psn::new(1) };
        sender(&rc, Psn::new(0), &sent, &[nak], &EXACT).faults
    };
    // What was on its way out may leave.
    let stops = 50 + 330 + EXACT.busy.0;
    assert_eq!(faults(stops), []);
    assert_eq!(faults(stops + 1), [Fault::TooMany { packet: 2 }]);
}

#[test]
fn a_timer_runs_from_the_next_try_on_however_late_that_may_be() {
    for rnr_late in [None, Some(Within::ZERO)] {
        let rc = Rc { rnr_late, ..rc(1) };
        let then = [(1_050, 2), (1_060, 3)];
        let of = |retries, until| refused_until(&Rc { retries, ..rc }, &then, &[50], until);
        assert_eq!(of(1, 6_250).faults, []);
        assert_eq!(of(1, 6_251).faults, [Fault::NoTimeout { packet: 5 }]);
        assert_eq!([6_049, 6_050].map(|until| of(0, until).expired()), [Some(0), Some(1)]);
    }
    // Who has not tried again yet may have begun to wait as soon as it might, or not yet.
    let rc = Rc { rnr_late: None, retries: 0, ..rc(1) };
    let of = |until| refused_until(&rc, &[], &[50], until).expired();
    assert_eq!([6_049, 6_050, 1_000_000].map(of), [Some(0), None, None]);
}

#[test]
fn a_try_that_may_come_after_the_end_is_told() {
    let of = |late: Option<u64>, until: u64| {
        let rnr_late = late.map(|late| Within::at_most(Dur(late)));
        let rc = Rc { rnr_late, timeout: AckTimeout::NEVER, ..rc(1) };
        let resent = refused_until(&rc, &[], &[50], until);
        (resent.untried.map(|untried| (untried.at.0, untried.refusals)), resent.faults)
    };
    let latest = 1_050 + 70 + EXACT.busy.0 + EXACT.allowance.unwrap().0;
    assert_eq!(of(Some(70), latest), (Some((50, 1)), vec![]));
    assert_eq!(of(Some(70), latest + 1), (None, vec![Fault::NoRestart { nak: 0 }]));
    assert_eq!(of(None, 1_000_000_000), (Some((50, 1)), vec![]));
}

#[test]
fn a_timeout_behind_two_refusals_that_were_tried_again_together_is_no_late_try() {
    // The RNR NAKs came a picosecond apart, and one way back is for both; the timer runs from there.
    let sent = [(0, 0), (10, 1), (20, 2), (30, 3), (1_052, 2), (1_062, 3)];
    let of = |again: u64| {
        let sent = sent.into_iter().chain([(again, 2), (again + 10, 3)]);
        let sent = sent.map(|(at, psn)| Sent { at: Time(at), psn: Psn::new(psn) });
        let says = not_ready(&rc(1), Within::exactly(Dur(1_000)));
        let came = [50, 51].map(|at| Event { at: Time(at), says, psn: Psn::new(2) });
        let sight = Sight { until: Time(again + 20), ..EXACT };
        let resent = sender(&rc(1), Psn::new(0), &sent.collect::<Vec<_>>(), &came, &sight);
        (resent.faults, resent.timeouts.len())
    };
    assert_eq!(of(1_052 + WAITS), (vec![], 1));
    // Before any timer has run out it is one.
    assert_eq!(of(WAITS - 1).0, [Fault::LateRestart { packet: 6, nak: 1 }]);
}
