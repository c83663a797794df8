//! Instants to the picosecond, on one switch between hosts at 100 Gb/s with 1 us of cable.

use crate::rig::*;
use proptest::prelude::*;
use rig_oracle::model::bench::{Scenario, start};
use rig_oracle::model::{Dir, Network, NoTap, PacketKind, Storm, Stream, host, mac, switch};
use rig_units::{Bytes, Dur, Pace, Quanta, Time};

#[test]
fn a_frame_crosses_an_idle_switch_in_two_cables_and_two_serialisations() {
    let mut network = network(2);
    let mut trace = Trace::default();
    network.start_stream(0, &Stream { count: Some(1), ..stream(1, 3, 100, 1) });
    run(&mut network, Dur::us(10), &mut trace);
    let sent = trace.select(0, Dir::Tx, PacketKind::Data).next().unwrap().at;
    let received = trace.select(1, Dir::Rx, PacketKind::Data).next().unwrap().at;
    assert_eq!(sent, Time::ZERO + to_last_bit(SIZE));
    assert_eq!(received, sent + TRAVEL + to_last_bit(SIZE) + TRAVEL);
}

#[test]
fn a_forwarding_delay_adds_exactly_itself() {
    let mut config = switch::Config::plain(2, SPEED);
    config.forwarding_delay = Dur::ns(777).into();
    let mut network: Network = Network::new(&star(config), Time::ZERO);
    let mut trace = Trace::default();
    network.start_stream(0, &Stream { count: Some(2), ..stream(1, 3, 100, 1) });
    run(&mut network, Dur::us(10), &mut trace);
    let received: Vec<Time> =
        trace.select(1, Dir::Rx, PacketKind::Data).map(|seen| seen.at).collect();
    let first = Time::ZERO + (to_last_bit(SIZE) + TRAVEL) * 2 + Dur::ns(777);
    assert_eq!(received, [first, first + SPEED.slot(Bytes(SIZE.into()))]);
}

/// Host 0 sends at line rate to host 1, which sends one XOFF and sees when frames stop and go on.
fn around_a_pause(quanta: u16, response: Dur, xoff_at: Dur) -> (Time, Vec<Time>) {
    let mut config = switch::Config::plain(2, SPEED);
    config.mac.response = response.into();
    let mut network: Network = Network::new(&star(config), Time::ZERO);
    let mut trace = Trace::default();
    network.start_stream(0, &stream(1, 3, 100, 1));
    run(&mut network, xoff_at, &mut trace);
    network.send(1, xoff(3, quanta));
    run(&mut network, Dur::ms(1), &mut trace);
    let heard = Time::ZERO + xoff_at + to_last_bit(64) + TRAVEL;
    (heard, trace.select(1, Dir::Rx, PacketKind::Data).map(|seen| seen.at).collect())
}

#[test]
fn a_pause_lasts_its_quanta_from_the_last_bit_of_the_frame() {
    // F1: 1000 quanta of 512 bits at 100 Gb/s are 5.12 us.
    let (heard, received) = around_a_pause(1_000, Dur::ZERO, Dur::us(100));
    let starts: Vec<Time> = received.iter().map(|&at| at - TRAVEL - to_last_bit(SIZE)).collect();
    let resumed = starts.iter().find(|&&start| start >= heard).unwrap();
    assert_eq!(*resumed, heard + Dur(5_120_000));
}

#[test]
fn the_frame_in_flight_is_finished() {
    let (heard, received) = around_a_pause(1_000, Dur::ZERO, Dur::us(100));
    let slot = SPEED.slot(Bytes(SIZE.into()));
    let last =
        received.iter().map(|&at| at - TRAVEL - to_last_bit(SIZE)).rfind(|&start| start < heard);
    let last = last.unwrap();
    // It had started less than a slot before, and none is missing before it.
    assert!(heard - last < slot);
    assert!(received.windows(2).take(50).all(|pair| pair[1] - pair[0] == slot));
}

#[test]
fn the_response_time_of_the_mac_delays_the_stop_and_not_the_resumption() {
    let response = Dur::ns(700);
    let (heard, received) = around_a_pause(1_000, response, Dur::us(100));
    let starts: Vec<Time> = received.iter().map(|&at| at - TRAVEL - to_last_bit(SIZE)).collect();
    let between =
        starts.iter().filter(|&&start| start >= heard && start < heard + response).count();
    assert!(between >= 7, "{between}");
    let resumed = starts.iter().find(|&&start| start >= heard + response).unwrap();
    assert_eq!(*resumed, heard + Dur(5_120_000));
}

#[test]
fn a_paused_stream_goes_on_at_its_pace_and_does_not_catch_up() {
    let mut network = network(2);
    let mut trace = Trace::default();
    // One frame per us; the switch asks host 0 for a pause of 5.12 us.
    network.start_stream(0, &Stream { pace: Pace::every(Dur::us(1)), ..stream(1, 3, 100, 1) });
    run(&mut network, Dur::us(10), &mut trace);
    network.hold_xoff(0, 3, true);
    run(&mut network, Dur::us(7), &mut trace);
    network.hold_xoff(0, 3, false);
    run(&mut network, Dur::us(20), &mut trace);
    let sent: Vec<Time> = trace.select(0, Dir::Tx, PacketKind::Data).map(|seen| seen.at).collect();
    let gaps: Vec<Dur> = sent.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let longer: Vec<&Dur> = gaps.iter().filter(|&&gap| gap != Dur::us(1)).collect();
    // XON reaches host 0 at 17 us plus its own bits and the cable; the frame due at 12 us goes then. XOFF came too late
    // for the one at 11 us.
    let resumed = Time::ZERO + Dur::us(17) + to_last_bit(64) + TRAVEL;
    assert_eq!(longer, [&(resumed - (Time::ZERO + Dur::us(11)))]);
}

#[test]
fn a_storm_leaves_at_its_exact_times_and_waits_only_for_the_frame_in_flight() {
    let mut network = network(2);
    let mut trace = Trace::default();
    let every = Dur::ns(333);
    let pfc = Storm { every, count: Some(300), ..storm(9, 4) };
    network.start_stream(1, &stream(1, 3, 100, 0));
    network.start_storm(1, &pfc);
    run(&mut network, Dur::us(200), &mut trace);
    let sent: Vec<Time> = trace.select(1, Dir::Tx, PacketKind::Pfc).map(|seen| seen.at).collect();
    assert_eq!(sent.len(), 300);
    for (n, at) in (0..).zip(sent) {
        let late = (at - to_last_bit(64)).since(Time::ZERO + every * n).unwrap();
        assert!(late < SPEED.slot(Bytes(SIZE.into())), "frame {n} is {late} late");
    }
    let alone = {
        let mut network = crate::rig::network(2);
        let mut trace = Trace::default();
        network.start_storm(1, &pfc);
        run(&mut network, Dur::us(200), &mut trace);
        trace.select(1, Dir::Tx, PacketKind::Pfc).map(|seen| seen.at).collect::<Vec<_>>()
    };
    let exact: Vec<Time> = (0..300).map(|n| Time::ZERO + every * n + to_last_bit(64)).collect();
    assert_eq!(alone, exact);
}

#[test]
fn a_host_that_ignores_pfc_sends_on() {
    for (obeys, stops) in [(u8::MAX, true), (0, false)] {
        let quiet = host::Config { mac: mac::Config::prompt(obeys), ..host::Config::quiet() };
        let mut topology = topology(2);
        topology.hosts = vec![quiet; 2];
        let mut network: Network = Network::new(&topology, Time::ZERO);
        let mut trace = Trace::default();
        network.start_stream(0, &stream(1, 3, 100, 1));
        network.hold_xoff(0, 3, true);
        run(&mut network, Dur::us(100), &mut trace);
        assert_eq!(trace.count(0, Dir::Tx, PacketKind::Data) < 20, stops);
        assert_eq!(network.host(0).pauses(3, network.now()).frames, 1);
    }
}

#[test]
fn a_host_may_stop_obeying_obey_late_and_obey_at_once_again() {
    let mut network = network(2);
    let mut trace = Trace::default();
    network.start_stream(0, &stream(1, 3, 100, 1));
    network.hold_xoff(0, 3, true);
    let mut sent = |network: &mut Network| {
        let before = trace.count(0, Dir::Tx, PacketKind::Data);
        run(network, Dur::us(30), &mut trace);
        trace.count(0, Dir::Tx, PacketKind::Data) - before
    };
    sent(&mut network);
    assert_eq!(sent(&mut network), 0, "it obeys");
    network.obey(0, 1 << 4, Dur::ZERO);
    let slot = SPEED.slot(Bytes(SIZE.into()));
    let line = usize::try_from(Dur::us(30) / slot).unwrap();
    assert!(sent(&mut network).abs_diff(line) <= 1, "it does not");
    // The pause that runs counts at once; one that begins counts when the response time is over.
    network.obey(0, u8::MAX, Dur::us(10));
    assert!(sent(&mut network) <= 1, "the pause goes on");
    network.hold_xoff(0, 3, false);
    network.set_link(0, false);
    network.set_link(0, true);
    assert!(sent(&mut network).abs_diff(line) <= 1, "nothing holds it");
    network.hold_xoff(0, 3, true);
    let late = TRAVEL + to_last_bit(64) + Dur::us(10);
    let late = usize::try_from(late / slot).unwrap();
    let got = sent(&mut network);
    assert!(got.abs_diff(late) <= 1, "{got} of {late}: 10 us after the XOFF");
    network.obey(0, u8::MAX, Dur::ZERO);
    assert_eq!(sent(&mut network), 0);
}

#[test]
fn two_streams_of_one_host_share_its_port_by_when_they_are_due() {
    let mut network = network(3);
    let mut trace = Trace::default();
    network.start_stream(0, &stream(1, 3, 25, 1));
    network.start_stream(0, &stream(2, 0, 50, 2));
    run(&mut network, Dur::ms(1), &mut trace);
    let slot = SPEED.slot(Bytes(SIZE.into()));
    for (host, percent) in [(1, 25), (2, 50)] {
        let frames = u64::try_from(trace.count(host, Dir::Rx, PacketKind::Data)).unwrap();
        let want = Dur::ms(1) / slot * percent / 100;
        assert!(frames.abs_diff(want) <= 30, "{frames} of {want}");
    }
}

#[test]
fn weighted_queues_share_a_congested_port_and_a_strict_one_comes_first() {
    let mut config = switch::Config::plain(4, SPEED);
    config.scheduling[0] = rig_lab::Scheduling::Dwrr(10);
    config.scheduling[1] = rig_lab::Scheduling::Dwrr(30);
    config.scheduling[6] = rig_lab::Scheduling::Strict;
    let mut network: Network = Network::new(&star(config), Time::ZERO);
    network.start_stream(0, &stream(0, 0, 100, 3));
    network.start_stream(1, &stream(1, 1, 100, 3));
    network.start_stream(2, &stream(6, 6, 60, 3));
    run(&mut network, Dur::ms(1), &mut Trace::default());
    let mut trace = Trace::default();
    run(&mut network, Dur::ms(2), &mut trace);
    // F10: the strict queue takes 60 %, the others share 40 % by 1 : 3.
    let all = trace.count(3, Dir::Rx, PacketKind::Data);
    for (class, percent) in [(0, 10), (1, 30), (6, 60)] {
        let got =
            trace.select(3, Dir::Rx, PacketKind::Data).filter(|seen| seen.class == class).count();
        assert!((got * 100).abs_diff(all * percent) <= all, "class {class}: {got} of {all}");
    }
}

/// Whether the gate of the class was closed at `at` and just before, from a list of PFC frames as they reached the port:
/// one that arrives at the very instant at which a frame starts may come too late.
fn closed(frames: &[(Time, u16)], at: Time) -> bool {
    let by = |latest: Option<&(Time, u16)>| {
        latest.is_some_and(|&(heard, quanta)| at < heard + SPEED.pause(Quanta(quanta)))
    };
    by(frames.iter().rfind(|(heard, _)| *heard < at))
        && by(frames.iter().rfind(|(heard, _)| *heard <= at))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_frame_of_a_paused_class_starts_and_the_other_classes_do_not_notice(
        frames in prop::collection::vec((1..40_000_u64, prop_oneof![Just(0_u16), 1..400_u16]), 1..30)
    ) {
        let mut network = network(2);
        let mut trace = Trace::default();
        network.start_stream(0, &stream(3, 3, 40, 1));
        network.start_stream(0, &stream(4, 4, 40, 1));
        run(&mut network, Dur::us(20), &mut trace);
        let mut at = network.now();
        for &(gap, quanta) in &frames {
            at += Dur::ns(gap);
            network.run_until(at, &mut trace);
            network.send(1, xoff(3, quanta));
        }
        run(&mut network, Dur::us(300), &mut trace);
        let heard: Vec<(Time, u16)> = trace
            .select(1, Dir::Tx, PacketKind::Pfc)
            .zip(&frames)
            .map(|(seen, &(_, quanta))| (seen.at + TRAVEL, quanta))
            .collect();
        let starts = |class: u8| {
            let of = move |seen: &&_| { let seen: &Seen = seen; seen.class == class };
            trace.select(1, Dir::Rx, PacketKind::Data).filter(of).map(|seen| seen.at - TRAVEL - to_last_bit(SIZE))
        };
        for start in starts(3) {
            prop_assert!(!closed(&heard, start), "class 3 started at {start}");
        }
        let slot = SPEED.slot(Bytes(SIZE.into()));
        let fourth: Vec<Time> = starts(4).collect();
        // 40 % is one frame in 2.5 slots; the other class may be in the way at the host, in flight at the switch, and
        // once more by its turn there.
        prop_assert!(fourth.windows(2).all(|pair| (pair[1] - pair[0]) * 2 <= slot * 11));
    }
}

#[test]
fn an_answering_host_returns_one_frame_for_each() {
    let mut topology = topology(2);
    topology.hosts[1] = host::Config::quiet().answering(64);
    let mut network: Network = Network::new(&topology, Time::ZERO);
    let mut trace = Trace::default();
    network.start_stream(0, &Stream { count: Some(50), ..stream(1, 3, 100, 1) });
    run(&mut network, Dur::us(100), &mut trace);
    let numbers: Vec<u32> =
        trace.select(0, Dir::Rx, PacketKind::Ack).map(|seen| seen.seq).collect();
    assert_eq!(numbers, (0..50).collect::<Vec<u32>>());
}

#[test]
fn a_poll_sees_the_frame_that_arrives_at_its_instant_only_if_it_runs_through_it() {
    let arrives = Time::ZERO + to_last_bit(64) + TRAVEL;
    for (through, frames) in [(true, 1), (false, 0)] {
        let mut network = network(2);
        network.send(1, xoff(3, 100));
        if through {
            network.run_through(arrives, &mut NoTap);
        } else {
            network.run_until(arrives, &mut NoTap);
        }
        assert_eq!((network.now(), network.queue_view(1, 3).pfc_rx_pkts), (arrives, frames));
    }
}

#[test]
fn the_next_event_may_be_a_frame_that_reaches_a_host() {
    let mut network = network(2);
    network.hold_xoff(0, 3, true);
    network.run_until(Time::ZERO + Dur(1), &mut NoTap);
    assert_eq!(network.next_event(), Some(Time::ZERO + to_last_bit(64) + TRAVEL));
}

#[test]
fn a_pause_reaches_through_a_second_switch_to_the_sender() {
    let scenario = Scenario::Dumbbell(2);
    let mut network: Network = Network::new(&scenario.topology(1 << 20), Time::ZERO);
    start(&mut network, scenario, false);
    network.run_until(Time::ZERO + Dur::ms(1), &mut NoTap);
    assert!((0..2).all(|host| network.host(host).pauses(3, network.now()).frames > 0));
    // Only the trunk is too narrow: the second switch asks nobody to pause.
    assert_eq!(
        (network.switch(1).xoff_sent(2), network.switch(1).counters(2, 3).group_drops),
        (0, 0)
    );
}
