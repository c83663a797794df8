//! What CNPs do to what a NIC sends.

use super::bench::*;
use crate::model::nic::{Config, Flow};
use crate::model::packet::{Packet, PacketKind, bit};
use rig_lab::Scope;
use rig_units::{Dur, Quanta, Time};

/// From one frame of 1086 bytes to the next, with 20 around it.
const SLOT: Dur = Dur(88_480);

#[test]
fn an_unhindered_flow_fills_the_line() {
    let mut bench = bench(&config());
    bench.network.start_flow(NIC, &flow(1));
    bench.run(Dur::us(10));
    let data = bench.received(PacketKind::Data);
    assert_eq!(data[0].left(), Time::ZERO);
    assert_eq!(data[1].left(), Time::ZERO + SLOT);
    assert_eq!(data[7].left(), Time::ZERO + SLOT * 7);
    let Packet { seq, size, stream, .. } = data[7].packet;
    assert_eq!((seq, size, stream), (7, 1_086, 1));
}

#[test]
fn a_cut_widens_the_gap_after_the_next_frame() {
    let mut bench = bench(&config());
    bench.network.start_flow(NIC, &flow(1));
    bench.send(cnp(1));
    bench.run(Dur::us(10));
    let effect = Time::ZERO + arrival(78) + Dur::us(1);
    let left: Vec<Time> = bench.received(PacketKind::Data).iter().map(Seen::left).collect();
    let after = left.iter().position(|&at| at >= effect).unwrap();
    assert_eq!(left[after] - left[after - 1], SLOT);
    // 1086 B at 50 Gb/s.
    assert_eq!(left[after + 1] - left[after], Dur(173_760));
    let nic = bench.network.nic(NIC).unwrap();
    assert_eq!((nic.counters().rp_cnp_handled, nic.counters().rp_cnp_ignored), (1, 0));
    assert_eq!(nic.limiter(1).unwrap().rate(), 50_000_000_000);
}

#[test]
fn what_is_limited_is_the_queue_pair_the_address_or_the_port() {
    let rates = |scope| {
        let mut config = config();
        config.rp.scope = scope;
        let mut bench = bench(&config);
        bench.network.start_flow(NIC, &flow(1));
        bench.network.start_flow(NIC, &flow(2));
        bench.network.start_flow(NIC, &Flow { dst: 9, ..flow(3) });
        bench.send(cnp(1));
        bench.run(Dur::us(10));
        let nic = bench.network.nic(NIC).unwrap();
        [1, 2, 3].map(|id| nic.limiter(id).unwrap().rate() / 1_000_000_000)
    };
    assert_eq!(rates(Scope::Qp), [50, 100, 100]);
    assert_eq!(rates(Scope::DestIp), [50, 50, 100]);
    assert_eq!(rates(Scope::Port), [50, 50, 50]);
}

#[test]
fn queue_pairs_take_turns() {
    let mut bench = bench(&config());
    (1..=3).for_each(|id| bench.network.start_flow(NIC, &flow(id)));
    bench.run(Dur::us(10));
    let order: Vec<u16> =
        bench.received(PacketKind::Data).iter().map(|seen| seen.packet.stream).collect();
    assert_eq!(order[..7], [1, 2, 3, 1, 2, 3, 1]);
    // The same under one limiter.
    let mut config = config();
    config.rp.scope = Scope::Port;
    let mut bench = super::bench::bench(&config);
    (1..=3).for_each(|id| bench.network.start_flow(NIC, &flow(id)));
    bench.run(Dur::us(10));
    let order: Vec<u16> =
        bench.received(PacketKind::Data).iter().map(|seen| seen.packet.stream).collect();
    assert_eq!(order[..7], [1, 2, 3, 1, 2, 3, 1]);
    // And in classes of their own.
    let mut bench = super::bench::bench(&config);
    (1..=3).for_each(|id: u16| {
        bench.network.start_flow(NIC, &Flow { class: id.to_le_bytes()[0], ..flow(id) });
    });
    bench.run(Dur::us(10));
    let order: Vec<u16> =
        bench.received(PacketKind::Data).iter().map(|seen| seen.packet.stream).collect();
    assert_eq!(order[..7], [1, 2, 3, 1, 2, 3, 1]);
}

#[test]
fn who_passes_over_every_second_in_every_second_turn_gives_it_half() {
    let counts = |count: u16, skips: bool| {
        let mut config = config();
        config.faults.rp.turns_skipped = skips;
        let mut bench = bench(&config);
        (1..=count).for_each(|id| bench.network.start_flow(NIC, &flow(id)));
        bench.run(Dur::us(30));
        let mut counts = vec![0_u32; usize::from(count)];
        let data = bench.received(PacketKind::Data);
        data.iter().for_each(|one| counts[usize::from(one.packet.stream) - 1] += 1);
        counts
    };
    let [healthy, skipping] = [counts(4, false), counts(4, true)];
    assert!(healthy.iter().all(|one| one.abs_diff(healthy[0]) <= 1), "{healthy:?}");
    assert!(skipping[1].abs_diff(skipping[0] / 2) <= 1, "{skipping:?}");
    assert!(skipping[3].abs_diff(skipping[2] / 2) <= 1, "{skipping:?}");
    // Nobody waits for others where there are none, and the port does not stand idle.
    assert_eq!(counts(1, true), counts(1, false));
    let sum = |counts: &[u32]| counts.iter().sum::<u32>();
    assert!(sum(&skipping).abs_diff(sum(&healthy)) <= 1);
}

#[test]
fn who_takes_more_than_its_turn_keeps_its_neighbours_from_the_port() {
    let order = |set: fn(&mut rig_lab::NicFaults)| {
        let mut config = config();
        set(&mut config.faults);
        let mut bench = bench(&config);
        (1..=2).for_each(|id| {
            bench.network.start_flow(NIC, &Flow { message: 4_096, mtu: 1_024, ..flow(id) });
        });
        bench.run(Dur::us(10));
        let data = bench.received(PacketKind::Data).into_iter();
        data.map(|seen| (seen.packet.stream, seen.left())).collect::<Vec<_>>()
    };
    let streams = |all: &[(u16, Time)]| all.iter().map(|one| one.0).take(9).collect::<Vec<_>>();
    assert_eq!(streams(&order(|_| ())), [1, 2, 1, 2, 1, 2, 1, 2, 1]);
    let turns = order(|faults| faults.rp.turn_of_a_message = true);
    assert_eq!(streams(&turns), [1, 1, 1, 1, 2, 2, 2, 2, 1]);
    // The first packet of each message is read first, and the port waits.
    let read = order(|faults| faults.rp.request_read_holds_port = Some(2_000));
    assert_eq!(streams(&read)[..4], [1, 2, 1, 2]);
    let gaps = read.windows(2).map(|two| two[1].1.since(two[0].1));
    let gaps: Vec<bool> = gaps.map(|gap| gap >= Some(Dur::us(2))).take(4).collect();
    assert_eq!(gaps, [true, true, false, false]);
}

/// At what rate it goes on behind a NAK, and how far apart the first two packets leave then, with a CNP before or without.
fn behind_a_nak(deviation: Option<&str>, is_told: bool) -> (u64, Dur) {
    let mut bench = bench(&deviation.map_or_else(config, faulty));
    bench.network.start_flow(NIC, &flow(1));
    if is_told {
        bench.send(cnp(1));
    }
    bench.send(Packet { kind: PacketKind::Nak, seq: 0, ..Packet::data(1, RIG, NIC, 3, 26, 66) });
    bench.run(Dur::us(10));
    let data = bench.received(PacketKind::Data);
    let back = data.windows(2).position(|two| two[1].packet.seq < two[0].packet.seq).unwrap();
    let gap = data[back + 2].left().since(data[back + 1].left()).unwrap();
    (bench.network.nic(NIC).unwrap().limiter(1).unwrap().rate() / 1_000_000_000, gap)
}

#[test]
fn cut_on_loss_takes_a_nak_for_a_cnp() {
    assert_eq!(behind_a_nak(None, false), (100, SLOT));
    assert_eq!(behind_a_nak(Some("cut_on_loss"), false), (50, Dur(173_760)));
}

#[test]
fn resent_unlimited_sends_again_without_the_gaps_of_its_rate() {
    assert_eq!(behind_a_nak(None, true), (50, Dur(173_760)));
    assert_eq!(behind_a_nak(Some("resent_unlimited"), true), (50, SLOT));
}

#[test]
fn a_paused_class_stands_still_and_the_others_do_not() {
    let mut bench = bench(&config());
    bench.network.start_flow(NIC, &flow(1));
    bench.network.start_flow(NIC, &Flow { class: 4, ..flow(2) });
    // 500 quanta of 5.12 ns.
    bench.send(Packet::pfc(bit(3), 0, Quanta(500), 64));
    bench.run(Dur::us(10));
    let pause = Time::ZERO + arrival(64);
    let of = |stream: u16| {
        let seen = bench.received(PacketKind::Data).into_iter();
        let left = seen.filter(move |seen| seen.packet.stream == stream).map(|seen| seen.left());
        left.filter(|&at| at >= pause).collect::<Vec<_>>()
    };
    let resumed = pause + Dur(500 * 5_120);
    assert!(of(1)[0] >= resumed && of(1)[0] <= resumed + SLOT, "{}", of(1)[0]);
    assert!(of(2)[0] <= pause + SLOT * 2);
}

#[test]
fn a_configuration_that_changes_keeps_the_rate_and_takes_effect_at_once() {
    let mut bench = bench(&config());
    bench.network.start_flow(NIC, &flow(1));
    bench.send(cnp(1));
    bench.run(Dur::us(10));
    let mut slower = config();
    slower.rp.timer = Dur::ms(1);
    bench.network.set_nic(NIC, &slower);
    bench.run(Dur::us(70));
    let rate = |bench: &Bench| bench.network.nic(NIC).unwrap().limiter(1).unwrap().rate();
    // The timer that was running runs out as it was set.
    assert_eq!(rate(&bench), 75_000_000_000);
    bench.run(Dur::us(900));
    assert_eq!(rate(&bench), 75_000_000_000);
    bench
        .network
        .set_nic(NIC, &Config { rp: rig_lab::Rp { scope: Scope::Port, ..slower.rp }, ..slower });
    assert_eq!(rate(&bench), 100_000_000_000);
}
