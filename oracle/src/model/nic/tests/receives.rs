//! What a NIC says to SENDs for which its application has posted no receive.

use super::bench::*;
use super::deviations::both;
use crate::model::nic::{Config, Flow, Verb};
use crate::model::packet::PacketKind::{Ack, NotReady};
use rig_units::{Dur, Within};

/// What a NIC says to three messages of two packets, for which its application posts one receive and takes 25 us for each: the number and the timer of each RNR
/// NAK, and the numbers of its acknowledgements.
fn says(verb: Verb) -> impl Fn(Config) -> (Vec<(u32, u8)>, Vec<u32>) {
    move |mut config: Config| {
        (config.rc.ack_every, config.rc.rnr_late) = (2, Some(Within::ZERO));
        let far = config;
        (config.rc.receives, config.rc.rnr_timer) = (Some(1), Some(1));
        config.rc.receive_again = Some(Dur::us(25).into());
        let mut bench = pair(&far, &config);
        let flow = Flow { verb, dst: NIC, message: 2_048, count: Some(3), ..flow(1) };
        bench.network.start_flow(RIG, &flow);
        bench.run(Dur::us(150));
        let refused = bench.received(NotReady);
        let refused = refused.iter().map(|one| (one.packet.seq, one.packet.rnr_timer().get()));
        let acks = bench.received(Ack).iter().map(|one| one.packet.seq).collect();
        (refused.collect(), acks)
    }
}

#[test]
fn a_message_that_finds_no_receive_is_refused_until_one_is_posted() {
    // The first is done with 25 us after it came, and each try comes 10 us and the way behind the one before: the third finds it.
    let (refused, acks) = says(Verb::Send)(config());
    assert_eq!(refused, [(2, 1), (2, 1), (4, 1), (4, 1)]);
    assert_eq!(acks, [1, 3, 5]);
    // What takes no receive is not refused.
    assert_eq!(says(Verb::Write)(config()), (vec![], vec![1, 3, 5]));
}

#[test]
fn each_deviation_of_a_refusal_says_otherwise() {
    let refused =
        |deviation: &str| both(deviation, |config| says(Verb::Send)(config)).map(|of| of.0);
    let [right, next] = refused("rnr_timer_of_next_code");
    assert!(right.iter().all(|(_, code)| *code == 1) && next.iter().all(|(_, code)| *code == 2));
    assert_eq!(refused("rnr_names_next")[1][0], (3, 1));
    let taken = both("rnr_takes_anyway", says(Verb::Send));
    assert_eq!(taken[1], (vec![], vec![1, 3, 5]));
    let silent = both("rnr_silent", says(Verb::Send));
    assert_eq!(silent[1], (vec![], vec![1]));
    // It has one receive, and never uses it.
    let kept = both("rnr_keeps_one_back", says(Verb::Send));
    assert!(kept[1].1.is_empty() && kept[1].0.iter().all(|(psn, _)| *psn == 0), "{kept:?}");
    let [right, writes] = both("rnr_for_writes", says(Verb::Write));
    assert_eq!((right.0, writes), (vec![], says(Verb::Send)(config())));
}
