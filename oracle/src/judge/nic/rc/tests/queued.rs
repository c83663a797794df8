//! Answers that are ready together and leave one after the other.

use super::*;

/// What is wrong with acknowledgements of as many packets, all of which a receive pipeline let pass at 100, so that each is ready at 130.
fn faults(left: &[(u64, u64)]) -> Vec<Fault> {
    let numbered = (0..).zip(left);
    let packets: Vec<Packet> = numbered
        .clone()
        .map(|(n, _)| Packet { at: Time(100), psn: Psn::new(n), last: true })
        .collect();
    let answers: Vec<Answer> = numbered
        .map(|(n, &(at, behind))| Answer {
            behind: Dur(behind),
            ..answer(at, Says::Ack, Psn::new(n))
        })
        .collect();
    let sight = Sight { bound: Dur(5), busy: Dur(7), ..EXACT };
    receiver(&rc(1), (Data::Requests, Psn::new(0)), &packets, &answers, &sight).faults
}

#[test]
fn an_acknowledgement_behind_others_is_late_by_no_more_than_they_take() {
    // Each takes 8 of the port. What the port surely sent before it is what it may be late by, beside two stamps.
    assert_eq!(faults(&[(130, 0), (138, 8), (146, 16), (154, 24)]), []);
    assert_eq!(faults(&[(130, 0), (138, 8), (146, 16), (164, 24)]), []);
    let late = [Fault::Late { packet: 3, reply: 3 }];
    assert_eq!(faults(&[(130, 0), (138, 8), (146, 16), (165, 24)]), late);
    // Behind a pause of the port it has waited for nothing.
    assert_eq!(faults(&[(130, 0), (138, 8), (146, 16), (147, 0)]), []);
    assert_eq!(faults(&[(130, 0), (138, 8), (146, 16), (148, 0)]), late);
}

#[test]
fn answers_that_are_all_late_are_no_excuse_for_each_other() {
    // The first waits for nothing, and so each is late by as much as it.
    let all = faults(&[(148, 0), (156, 8), (164, 16), (172, 24)]);
    let late = |n| Fault::Late { packet: n, reply: n };
    assert_eq!(all, [late(0), late(1), late(2), late(3)]);
    assert_eq!(faults(&[(147, 0), (148, 8), (156, 16), (164, 24)]), []);
}
