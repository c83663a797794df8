//! A responder that is asked for what it has sent.

use super::*;

/// A responder that is asked for its last packet again sends it at once: by stamps it may seem to have left before the question came.
#[test]
fn the_last_packet_of_a_read_may_seem_to_leave_before_it_is_asked_for_again() {
    let sent = [(0, 0), (10, 1), (20, 2), (500, 2)];
    let sent = sent.map(|(at, psn)| Sent { at: Time(at), psn: Psn::new(psn) });
    let rc = Rc { resend_latency: Within::ZERO, timeout: AckTimeout::NEVER, ..rc(1) };
    let faults = |asked: u64| {
        let again = Event { at: Time(asked), says: Says::Nak, psn: Psn::new(2) };
        let sight = Sight { bound: Dur(4), until: Time(1_000), ..EXACT };
        sender(&rc, Psn::new(0), &sent, &[again], &sight).faults
    };
    assert_eq!((faults(500), faults(508)), (Vec::new(), Vec::new()));
    assert!(faults(509).contains(&Fault::Unprompted { packet: 3 }));
}
