//! What the rig's ports see of a served device, and what it says of its own lateness and losses.

use super::bench::{Bench, PORTS, Seen, pause, probe, profile, stream};
use crate::control::{Health, Order};
use crate::protocol::{Answer, Ask, Happened};
use crate::serve::served::Next;
use rig_frames::{MacAddr, mac_control, pause as pause_frame};
use rig_generator::clock::Clock as _;
use rig_lab::Mutation;
use rig_testcases::wire;
use rig_units::{Bytes, Dur, PortSpeed, Quanta, Time};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How long a frame of 254 B takes through an idle device: its forwarding delay, preamble and frame.
fn through() -> Dur {
    let speed = PortSpeed::from_bps(1_000_000_000).expect("whole picoseconds");
    Dur::ns(600) + speed.serialise(Bytes(8 + 254))
}

fn storms(bench: &mut Bench) -> Vec<Happened> {
    let Answer::Events { events } = bench.ask(Ask::Events) else { panic!("no events") };
    events
}

#[test]
fn a_frame_leaves_by_the_port_of_its_address_when_its_last_bit_is_due_with_every_byte_as_it_came() {
    let mut bench = Bench::new();
    bench.run(Dur::us(10));
    let frame = probe(0, 2, 7);
    bench.send(0, &frame);
    bench.run(Dur::ms(1));
    let at = Time::ZERO + Dur::us(10) + through();
    assert_eq!(bench.seen(), [Seen { at, port: 2, bytes: frame }]);
    let health = bench.health();
    assert_eq!((health.received, health.sent), (1, 1));
    assert_eq!(health.doubt(Dur::ns(1)), None);
}

#[test]
fn a_storm_is_detected_its_class_dropped_and_restored_and_the_frames_show_it() {
    let mut bench = Bench::new();
    let mut seen: Vec<Seen> = Vec::new();
    let (told, mut told_at) = (Arc::new(AtomicU64::new(0)), Vec::new());
    let tells = Arc::clone(&told);
    bench.post.tells(Box::new(move || {
        tells.fetch_add(1, Ordering::SeqCst);
    }));
    // P = 100 ms, D = R = 200 ms; a pause lasts 33.6 ms at 1 Gb/s and is repeated twice as often.
    for ms in 0..1_200 {
        bench.send(0, &probe(0, 1, ms));
        if (50..550).contains(&ms) && ms % 15 == 5 {
            bench.send(1, &pause(1, 1 << 3, 0xffff));
        }
        bench.run(Dur::ms(1));
        seen.append(&mut bench.seen());
        told_at.extend((0..told.swap(0, Ordering::SeqCst)).map(|_| u64::from(ms)));
    }
    let events = storms(&mut bench);
    let [storm, restore] = &events[..] else { panic!("{events:?}") };
    assert_eq!(
        (storm.what, restore.what),
        (rig_capture::DutEventKind::Storm, rig_capture::DutEventKind::Restore)
    );
    assert_eq!((storm.port.as_str(), storm.class), ("Ethernet4", 3));
    let ns = |ms: u64| ms * 1_000_000;
    assert_eq!(
        told_at,
        [storm, restore].map(|event| event.at_ns / ns(1)),
        "who listens hears at once"
    );
    assert!((ns(250)..ns(450)).contains(&storm.at_ns), "{storm:?}");
    let between = |from: u64, to: u64| {
        let within = |seen: &&Seen| (from..to).contains(&(seen.at.0 / 1_000));
        seen.iter().filter(within).count()
    };
    assert_eq!(between(0, ns(50)), 50);
    // The probe of the instant at which the storm begins slips through before the MAC responds.
    assert_eq!(between(ns(50), ns(51)), 1);
    assert_eq!(between(ns(51), storm.at_ns), 0, "paused");
    // The action lets the queue go: what waited leaves at once, what comes is dropped.
    let backlog = between(storm.at_ns, storm.at_ns + ns(2));
    assert_eq!(backlog as u64, storm.at_ns / ns(1) - 50);
    assert_eq!(between(storm.at_ns + ns(2), restore.at_ns), 0, "dropped");
    let after = (ns(1_200) - restore.at_ns) / ns(1);
    assert!(between(restore.at_ns, ns(1_200)) as u64 >= after, "restored");
    let dropped = bench.counter("Ethernet4:3 PFC_WD_QUEUE_STATS_TX_DROPPED_PACKETS");
    assert_eq!(seen.len() as u64 + dropped, 1_200);
    assert_eq!(storms(&mut bench), [], "told once");
}

#[test]
fn pauses_of_different_lengths_in_one_frame_last_as_long_as_each_asks() {
    let mut bench = Bench::new();
    let mut quanta = [Quanta(0); 8];
    (quanta[3], quanta[4]) = (Quanta(20_000), Quanta(40_000));
    bench.send(1, &wire::pfc(wire::rig_mac(1), 1 << 3 | 1 << 4, quanta));
    bench.run(Dur::us(10));
    for dscp in [3, 4] {
        let spec = rig_testcases::StreamSpec { dscp, ..stream(0, 1, 254) };
        bench.send(0, &wire::data(&spec, 0, 0, Bytes(254), false));
    }
    bench.run(Dur::ms(50));
    let at: Vec<u64> = bench.seen().iter().map(|seen| seen.at.0 / 1_000_000).collect();
    // A quantum lasts 512 ns; the frame that waited takes 2.096 us.
    assert_eq!(at, [10_242, 20_482]);
    assert_eq!(bench.counter("Ethernet4 SAI_PORT_STAT_PFC_3_RX_PKTS"), 1);
    assert_eq!(bench.counter("Ethernet4 SAI_PORT_STAT_PFC_4_RX_PKTS"), 1);
}

#[test]
fn a_congested_device_asks_its_senders_to_pause_and_to_go_on() {
    let mut bench = Bench::new();
    let big = |seq| wire::data(&stream(0, 1, 9_000), 0, seq, Bytes(9_000), false);
    bench.send(1, &pause(1, 1 << 3, 0xffff));
    for seq in 0..300 {
        bench.send(0, &big(seq));
        bench.run(Dur::us(80));
    }
    let told = |bench: &mut Bench| -> Vec<Seen> {
        bench.seen().into_iter().filter(|seen| seen.port == 0).collect()
    };
    let xoff = told(&mut bench);
    let mut quanta = [Quanta(0); 8];
    quanta[3] = Quanta::MAX;
    assert!(xoff.len() > 1, "refreshed");
    assert!(xoff.iter().all(|seen| seen.bytes == wire::pfc(wire::dut_mac(0), 1 << 3, quanta)));
    bench.run(Dur::ms(40));
    let last = told(&mut bench).pop().expect("an XON");
    assert_eq!(last.bytes, wire::pfc(wire::dut_mac(0), 1 << 3, [Quanta(0); 8]));
    assert_eq!(bench.health().doubt(Dur::ns(1)), None);
}

#[test]
fn what_passes_a_port_is_told_once_with_when_it_did() {
    let mut bench = Bench::new();
    bench.run(Dur::ms(3));
    bench.send(0, &probe(0, 1, 0));
    bench.run(Dur::ms(5));
    bench.send(0, &probe(0, 1, 1));
    bench.run(Dur::ms(1));
    let Answer::Passed { ports } = bench.ask(Ask::Passed) else { panic!("nothing") };
    assert_eq!(ports.len(), usize::from(PORTS));
    assert_eq!(
        ports[0].came_ns,
        [(2_999_999, 0), (3_000_000, 1), (7_999_999, 1), (8_000_000, 2)],
        "both ends of the silence between them"
    );
    assert_eq!((ports[0].left_ns.len(), ports[1].came_ns.len()), (0, 0));
    let left = &ports[1].left_ns;
    assert_eq!(left.iter().map(|&(_, count)| count).collect::<Vec<_>>(), [0, 1, 1, 2]);
    let through = through().0 / 1_000;
    assert!((3_000_000 + through..=3_000_001 + through).contains(&left[1].0), "{left:?}");
    let Answer::Passed { ports } = bench.ask(Ask::Passed) else { panic!("nothing") };
    assert!(ports.iter().all(|port| port.came_ns.is_empty() && port.left_ns.is_empty()));
}

#[test]
fn a_clock_that_jumps_is_told_as_lateness_and_forgotten_when_it_was_told() {
    let mut bench = Bench::new();
    bench.run(Dur::us(10));
    bench.send(0, &probe(0, 1, 0));
    bench.clock.advance_to(Time::ZERO + Dur::ms(250));
    bench.served.round().expect("ports in memory");
    let Answer::Health(late) = bench.ask(Ask::Lateness) else { panic!("no health") };
    assert_eq!(late.send_late, Dur::ms(250) - Dur::us(10) - through());
    assert_eq!(late.arrival_late, Dur::ms(250) - Dur::us(10));
    // The first poll was due within the first interval.
    assert!(late.event_late >= Dur::ms(150), "{late:?}");
    assert_eq!(late.misplaced, Dur::ZERO);
    let doubt = late.doubt(Dur::ms(1)).expect("late");
    assert!(doubt.contains("a frame left 249.987304ms late"), "{doubt}");
    bench.run(Dur::ms(1));
    let Answer::Health(since) = bench.ask(Ask::Lateness) else { panic!("no health") };
    assert_eq!(since, Health::default());
    assert_eq!(bench.health().send_late, late.send_late, "the boot's worst stays");
}

#[test]
fn a_frame_that_is_read_after_the_device_has_gone_on_is_told_apart() {
    let mut bench = Bench::new();
    bench.run(Dur::ms(2));
    bench.served.round().expect("ports in memory");
    // Its stamp says that it came earlier than the device has already been.
    bench.clock.step_to(Time::ZERO + Dur::ms(1));
    bench.send(0, &probe(0, 1, 0));
    bench.clock.step_to(Time::ZERO + Dur::ms(2));
    bench.run(Dur::ms(1));
    assert_eq!(bench.health().misplaced, Dur::ms(1));
    assert_eq!(bench.seen().len(), 1);
}

#[test]
fn what_is_not_for_the_device_is_counted_and_goes_nowhere() {
    let mut bench = Bench::new();
    let mac = wire::rig_mac(0);
    let mut arp = probe(0, 1, 0);
    arp[..6].copy_from_slice(&MacAddr::BROADCAST.0);
    let mut bad = pause(0, 1 << 3, 9);
    bad[..6].copy_from_slice(&MacAddr::BROADCAST.0);
    let stop = mac_control::frame_pause(mac, &pause_frame::Repr { quanta: Quanta(9) });
    for frame in [&arp, &bad, &stop, &probe(0, PORTS, 0), &probe(1, 0, 0)] {
        bench.send(0, frame);
    }
    bench.run(Dur::ms(1));
    assert_eq!(bench.seen(), []);
    let health = bench.health();
    let counts = (health.received, health.foreign, health.malformed, health.pauses, health.sent);
    assert_eq!(counts, (5, 3, 1, 1, 0));
    assert_eq!(health.doubt(Dur::ms(1)), None, "none of it is the device's fault");
}

#[test]
fn a_frame_whose_bytes_had_to_make_room_is_missed_and_counted() {
    let mut bench = Bench::new();
    bench.served.device.limit(600);
    bench.send(1, &pause(1, 1 << 3, 1_000));
    bench.run(Dur::us(10));
    for seq in 0..4 {
        bench.send(0, &probe(0, 1, seq));
        bench.run(Dur::us(10));
    }
    bench.run(Dur::ms(2));
    let bytes: Vec<_> = bench.seen().into_iter().map(|seen| seen.bytes).collect();
    assert_eq!(bytes, [probe(0, 1, 2), probe(0, 1, 3)]);
    let health = bench.health();
    assert_eq!((health.sent, health.evicted), (2, 2));
    assert!(health.doubt(Dur::s(1)).expect("lost").contains("2 frames had no bytes left"));
}

#[test]
fn what_the_device_drops_leaves_no_bytes_behind() {
    let mut dropping = profile("broadcom");
    let mutation: Mutation = "pfcwd.big_red_switch=true".parse().expect("a mutation");
    dropping.mutate(&mutation).expect("a setting");
    let mut bench = Bench::of(dropping, 1);
    bench.served.device.limit(300);
    for seq in 0..10 {
        bench.send(0, &probe(0, 1, seq));
        bench.run(Dur::us(10));
    }
    // Class 4 and 3 are dropped; what is not finds room.
    let other = rig_testcases::StreamSpec { dscp: 8, ..stream(0, 1, 254) };
    bench.send(0, &wire::data(&other, 0, 0, Bytes(254), false));
    bench.run(Dur::ms(1));
    assert_eq!(bench.seen().len(), 1);
    assert_eq!(bench.health().evicted, 0);
}

#[test]
fn frames_over_a_link_that_is_cut_do_not_arrive() {
    let mut bench = Bench::new();
    bench.send(0, &probe(0, 1, 0));
    bench.ask(Ask::Do(Order::Link { port: 0, up: false }));
    bench.run(Dur::us(50));
    bench.send(0, &probe(0, 1, 1));
    bench.send(2, &probe(2, 0, 2));
    bench.run(Dur::us(50));
    bench.ask(Ask::Do(Order::Link { port: 0, up: true }));
    bench.send(0, &probe(0, 1, 3));
    bench.run(Dur::us(50));
    // The first one had arrived on the wire, and was not yet read when the link was cut.
    let bytes: Vec<_> = bench.seen().into_iter().map(|seen| seen.bytes).collect();
    assert_eq!(bytes, [probe(0, 1, 3)]);
    assert_eq!((bench.health().cut, bench.health().foreign), (2, 0));
}

#[test]
fn the_device_sleeps_until_its_next_poll_or_a_nap_and_never_awake() {
    let mut bench = Bench::new();
    let mut rounds = 0;
    while bench.clock.now() < Time::ZERO + Dur::s(1) {
        let Next::Sleep(wake) = bench.served.round().expect("ports in memory") else { panic!() };
        assert!(wake > bench.clock.now(), "awake at {wake}");
        bench.clock.advance_to(wake);
        rounds += 1;
    }
    assert!((100..=115).contains(&rounds), "{rounds} rounds in a second");
}
