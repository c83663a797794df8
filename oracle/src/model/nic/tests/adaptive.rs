//! A timer that waits for longer with each try.

use super::bench::*;
use super::deviations::both;
use crate::model::nic::{Config, Flow};
use crate::model::packet::PacketKind::{Ack, Data};
use rig_lab::AckTimeout;
use rig_units::{Dur, Time};

/// When the packets of a flow of two leave that nobody acknowledges, in whole microseconds: sixteenths of the timeout are 10 us.
fn left(adaptive: &str, acks: bool) -> impl Fn(Config) -> Vec<(u64, u32)> {
    move |mut config: Config| {
        config.rc.timeout = AckTimeout::Time(Dur::us(160));
        config.rc.adaptive = serde_json::from_str(adaptive).unwrap();
        config.rc.retries = 3;
        let mut bench = bench(&config);
        bench.network.start_flow(NIC, &Flow { count: Some(2), ..flow(1) });
        if acks {
            bench.run(Dur::us(35));
            bench.send(crate::model::packet::Packet { kind: Ack, ..data(1, 0, false) });
        }
        bench.run(Dur::us(300));
        let us = |at: Time| (at.0 + 500_000) / 1_000_000;
        bench.received(Data).iter().map(|one| (us(one.left()), one.packet.seq)).collect()
    }
}

#[test]
fn each_wait_is_as_long_as_the_list_says_and_progress_begins_it_anew() {
    let all = left("[1, 2, 4]", false)(config());
    let firsts: Vec<u64> = all.iter().filter(|(_, psn)| *psn == 0).map(|(at, _)| *at).collect();
    assert_eq!(firsts, [0, 10, 30, 70]);
    // The first is acknowledged at 36 us, when the next wait would have ended at 70: the second is sent again 10 us later.
    let again = left("[1, 2, 4]", true)(config());
    let seconds: Vec<u64> = again.iter().filter(|(_, psn)| *psn == 1).map(|(at, _)| *at).collect();
    assert_eq!(seconds, [0, 10, 30, 46, 66, 106]);
}

#[test]
fn who_ignores_its_list_and_who_has_one_that_nobody_knows_wait_otherwise() {
    let firsts = |all: Vec<(u64, u32)>| -> Vec<u64> {
        all.into_iter().filter(|(_, psn)| *psn == 0).map(|(at, _)| at).collect()
    };
    let ignored = both("adaptive_ignored", left("[1, 2, 4]", false)).map(firsts);
    assert_eq!(ignored, [vec![0, 10, 30, 70], vec![0, 160]]);
    let hidden = both("adaptive_hidden", left("null", false)).map(firsts);
    assert_eq!(hidden, [vec![0, 160], vec![0, 10, 30, 70]]);
}
