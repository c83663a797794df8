//! What waits for the acknowledgement of all before it, and what is held back by what is beside it.

use super::bench::*;
use super::deviations::both;
use crate::model::nic::{Config, Flow, Verb};
use crate::model::packet::PacketKind;
use rig_units::Dur;

/// How long after the packet before it each of three messages of two packets begins, in whole slots of the port: 0 right behind it.
fn idle(verb: Verb, fence: Option<bool>) -> impl Fn(Config) -> Vec<u64> {
    move |mut config: Config| {
        config.rc.fmr_fence = fence;
        let mut bench = pair(&config, &config);
        let flow = Flow { verb, message: 2_048, count: Some(3), ..flow(1) };
        bench.network.start_flow(NIC, &flow);
        bench.run(Dur::us(60));
        assert!(bench.network.nic(NIC).unwrap().is_done(1));
        let left: Vec<_> = bench.received(PacketKind::Data).iter().map(Seen::left).collect();
        let slot = left[1] - left[0];
        // To the nearest: a packet that ends a message may be another few bytes long.
        [2, 4].map(|first| (left[first] - left[first - 1] + slot / 2) / slot - 1).to_vec()
    }
}

#[test]
fn a_message_behind_a_fence_waits_a_round_trip_and_one_without_follows_at_once() {
    let of = |verb, fence| idle(verb, fence)(config());
    // There and back 2 us of cable, and 1 us for the acknowledgement.
    let waits = of(Verb::SendRegistered, Some(true));
    assert!(waits[0] >= 33 && waits[0] == waits[1], "{waits:?}");
    for fence in [None, Some(false)] {
        assert_eq!(of(Verb::SendRegistered, fence), [0, 0]);
    }
    assert_eq!((of(Verb::Send, Some(true)), of(Verb::Write, Some(true))), (vec![0; 2], vec![0; 2]));
}

#[test]
fn each_deviation_of_a_fence_holds_what_it_should_not_or_holds_it_otherwise() {
    let waits = idle(Verb::SendRegistered, Some(true))(config());
    let free = vec![0, 0];
    let hidden = both("fmr_fence_hidden", idle(Verb::SendRegistered, Some(false)));
    assert_eq!(hidden, [free.clone(), waits.clone()]);
    let missing = both("fmr_fence_missing", idle(Verb::SendRegistered, Some(true)));
    assert_eq!(missing, [waits.clone(), free.clone()]);
    let of_all = both("fmr_fence_of_all", idle(Verb::Send, Some(true)));
    assert_eq!(of_all, [free, waits.clone()]);
    let [right, late] = both("fmr_fence_late", idle(Verb::SendRegistered, Some(true)));
    // 5 us are 56 slots and a half.
    assert_eq!(right, waits);
    assert!((56..=57).contains(&(late[0] - waits[0])), "{late:?}");
}

#[test]
fn flows_tied_go_as_slow_as_the_slowest() {
    let sent = |mut config: Config| {
        // Each CNP cuts.
        config.rp.cut_window = Dur::ZERO;
        let mut bench = bench(&config);
        (1..=3).for_each(|id| bench.network.start_flow(NIC, &flow(id)));
        (0..6).for_each(|_| bench.send(cnp(1)));
        bench.run(Dur::us(60));
        let data = bench.received(PacketKind::Data);
        // Once the cuts are done.
        let late = data.iter().filter(|one| one.left() > rig_units::Time::ZERO + Dur::us(10));
        let mut count = [0_u32; 3];
        late.for_each(|one| count[usize::from(one.packet.stream) - 1] += 1);
        count
    };
    let [free, tied] = both("flows_tied", sent);
    assert!(free[1] > free[0] * 4 && free[1].abs_diff(free[2]) <= 1, "{free:?}");
    assert!(tied.iter().all(|count| count.abs_diff(free[0]) <= 2), "{tied:?} beside {free:?}");
}
