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
