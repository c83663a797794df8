//! A sender whose timer runs out more than once.

use super::*;

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
