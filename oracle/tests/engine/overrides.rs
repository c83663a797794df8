//! What a watchdog can do to a queue, seen from the hosts.

use crate::rig::*;
use rig_oracle::model::network::Delivered;
use rig_oracle::model::{Dir, Network, PacketKind, Stream, switch};
use rig_units::{Bytes, Dur, Time};
use std::collections::BTreeMap;

/// Hosts 0 and 1 send class 3 (and host 0 class 4 too) to host 2, which storms class 3. The backlog has filled up.
fn stormed() -> (Network, Trace) {
    let mut network = network(4);
    let mut trace = Trace::default();
    network.start_stream(0, &stream(1, 3, 40, 2));
    network.start_stream(0, &stream(2, 4, 20, 2));
    network.start_stream(1, &stream(3, 3, 40, 2));
    run(&mut network, Dur::us(50), &mut trace);
    network.start_storm(2, &storm(9, 3));
    run(&mut network, Dur::ms(1), &mut trace);
    trace.0.clear();
    run(&mut network, Dur::ms(1), &mut trace);
    (network, trace)
}

fn received(trace: &Trace, host: u16, class: u8) -> usize {
    trace.select(host, Dir::Rx, PacketKind::Data).filter(|seen| seen.class == class).count()
}

#[test]
fn a_storm_holds_its_queue_and_back_pressure_reaches_the_senders() {
    let (network, trace) = stormed();
    assert_eq!((received(&trace, 2, 3), received(&trace, 2, 4) > 1_000), (0, true));
    let view = network.queue_view(2, 3);
    assert!(view.paused && view.occupancy > 1_000_000, "{view:?}");
    // 2 ms less the cable and the bits of the first PFC frame.
    assert_eq!(view.rx_pause_duration_us, 1_998, "{view:?}");
    assert_eq!(network.switch(0).xoff_sent(0), 1 << 3);
    assert_eq!(network.queue_view(2, 4).dropped + view.dropped, 0);
    // XOFF is refreshed twice per pause of 335.5 us: 5 or 6 times a millisecond.
    let refreshes = trace.count(0, Dir::Rx, PacketKind::Pfc);
    assert!((5..=6).contains(&refreshes), "{refreshes}");
}

#[test]
fn a_queue_that_ignores_pfc_sends_its_backlog_and_still_counts_the_pauses() {
    let (mut network, _) = stormed();
    let before = network.queue_view(2, 3);
    network.ignore_pfc(2, 3, true);
    let mut trace = Trace::default();
    run(&mut network, Dur::ms(1), &mut trace);
    let after = network.queue_view(2, 3);
    // The backlog drains at what class 4 leaves of the line; then the senders go on.
    assert!(received(&trace, 2, 3) > 8_000, "{}", received(&trace, 2, 3));
    assert!(after.paused && after.pfc_rx_pkts > before.pfc_rx_pkts);
    network.ignore_pfc(2, 3, false);
    trace.0.clear();
    run(&mut network, Dur::us(100), &mut trace);
    // The frame in flight and those on the cable.
    assert!(received(&trace, 2, 3) < 20);
}

#[test]
fn a_port_that_ignores_pfc_as_ingress_goes_silent_without_an_xon() {
    let (mut network, _) = stormed();
    network.ignore_pfc(0, 3, true);
    let mut trace = Trace::default();
    run(&mut network, Dur::ms(1), &mut trace);
    assert_eq!(trace.count(0, Dir::Rx, PacketKind::Pfc), 0);
    // The pause of host 0 expires, it sends on, and what its headroom cannot take is lost.
    assert!(network.switch(0).counters(0, 3).group_drops > 0);
    assert_eq!(network.switch(0).counters(1, 3).group_drops, 0);
    network.ignore_pfc(0, 3, false);
    run(&mut network, Dur::us(10), &mut trace);
    let first = trace.select(0, Dir::Rx, PacketKind::Pfc).next().unwrap();
    assert_eq!((first.enable, first.zero), (1 << 3, 0));
}

#[test]
fn discarding_a_backlog_counts_it_and_lets_the_senders_go_on() {
    let (mut network, _) = stormed();
    let occupancy = network.queue_view(2, 3).occupancy;
    let packets = network.discard_backlog(2, 3);
    assert_eq!(packets, occupancy / u64::from(SIZE));
    assert_eq!(network.queue_view(2, 3).dropped, packets);
    let mut trace = Trace::default();
    run(&mut network, Dur::us(20), &mut trace);
    let xon: Vec<&_> = trace.select(0, Dir::Rx, PacketKind::Pfc).collect();
    assert_eq!((xon.len(), xon[0].enable, xon[0].zero), (1, 1 << 3, 1 << 3));
    assert!(trace.count(1, Dir::Tx, PacketKind::Data) > 0);
    assert_eq!(received(&trace, 2, 3), 0);
}

#[test]
fn drops_take_one_class_of_one_port_and_are_counted_where_they_happen() {
    let (mut network, _) = stormed();
    network.discard_backlog(2, 3);
    let before = network.queue_view(2, 3).dropped;
    network.drop_egress(2, 3, true);
    let mut trace = Trace::default();
    run(&mut network, Dur::us(500), &mut trace);
    let egress = network.queue_view(2, 3).dropped - before;
    assert!(egress > 3_000 && received(&trace, 2, 4) > 1_000, "{egress}");
    assert_eq!(network.queue_view(2, 3).occupancy, 0);

    network.drop_egress(2, 3, false);
    network.drop_ingress(1, 3, true);
    let at_port_0 = network.switch(0).counters(0, 3).group_drops;
    run(&mut network, Dur::us(200), &mut trace);
    assert!(network.switch(0).counters(1, 3).group_drops > 500);
    assert_eq!(network.switch(0).counters(0, 3).group_drops, at_port_0);
    network.drop_ingress(1, 3, false);
    network.stop_storm(2, 9);
    run(&mut network, Dur::ms(1), &mut trace);
    trace.0.clear();
    run(&mut network, Dur::us(100), &mut trace);
    assert!(trace.select(2, Dir::Rx, PacketKind::Data).any(|seen| seen.stream == 3));
}

#[test]
fn a_leak_lets_exactly_so_many_frames_through() {
    let mut network = network(2);
    let mut trace = Trace::default();
    network.drop_egress(1, 3, true);
    network.leak(1, 3, 2);
    network.start_stream(0, &Stream { count: Some(10), ..stream(1, 3, 50, 1) });
    run(&mut network, Dur::us(50), &mut trace);
    assert_eq!((received(&trace, 1, 3), network.queue_view(1, 3).dropped), (2, 8));
}

#[test]
fn a_held_xoff_keeps_a_sender_paused_that_nothing_congests() {
    let mut network = network(2);
    let mut trace = Trace::default();
    network.start_stream(0, &stream(1, 3, 50, 1));
    network.hold_xoff(0, 3, true);
    run(&mut network, Dur::us(10), &mut trace);
    trace.0.clear();
    run(&mut network, Dur::ms(2), &mut trace);
    assert_eq!(trace.count(0, Dir::Tx, PacketKind::Data), 0);
    network.hold_xoff(0, 3, false);
    run(&mut network, Dur::us(10), &mut trace);
    assert!(trace.count(0, Dir::Tx, PacketKind::Data) > 0);
}

#[test]
fn a_smaller_limit_makes_a_group_ask_for_a_pause_earlier() {
    let mut occupied = Vec::new();
    for k in [-3, -6] {
        let mut network = network(2);
        network.set_alpha(0, 3, k);
        network.start_stream(0, &stream(1, 3, 100, 1));
        network.start_storm(1, &storm(9, 3));
        run(&mut network, Dur::ms(1), &mut Trace::default());
        occupied.push(network.queue_view(1, 3).occupancy);
    }
    // F4: alpha/(1+alpha) of 12 MB: 1.333 MB and 0.185 MB, and what was under way (two cables of 12.5 KB and frames).
    for (occupied, share) in occupied.into_iter().zip([1_333_333, 184_615]) {
        let over = occupied.saturating_sub(share + 4_096);
        assert!((24_000..32_000).contains(&over), "{occupied} {over}");
    }
}

#[test]
fn a_cut_cable_silences_its_port_and_mending_it_starts_both_ends_afresh() {
    let (mut network, mut trace) = stormed();
    network.set_link(2, false);
    run(&mut network, Dur::us(2), &mut trace);
    trace.0.clear();
    run(&mut network, Dur::us(200), &mut trace);
    let view = network.queue_view(2, 3);
    assert_eq!((view.paused, view.occupancy), (false, 0));
    assert_eq!(
        (trace.count(2, Dir::Rx, PacketKind::Data), trace.count(2, Dir::Tx, PacketKind::Pfc)),
        (0, 0)
    );
    network.stop_storm(2, 9);
    network.set_link(2, true);
    run(&mut network, Dur::us(100), &mut trace);
    assert!(received(&trace, 2, 3) > 100);
    assert!(network.on_cables().1 > 0);
}

#[test]
fn a_frame_longer_than_the_mtu_is_dropped_at_ingress() {
    let mut config = switch::Config::plain(2, SPEED);
    config.mtu = SIZE;
    let mut network: Network = Network::new(&star(config), Time::ZERO);
    let mut trace = Trace::default();
    for size in [SIZE, SIZE + 1] {
        network.start_stream(0, &Stream { size, count: Some(1), ..stream(size, 3, 50, 1) });
    }
    run(&mut network, Dur::us(50), &mut trace);
    assert_eq!((received(&trace, 1, 3), network.switch(0).counters(0, 3).group_drops), (1, 1));
}

#[test]
fn a_device_on_real_ports_is_fed_frame_by_frame() {
    let mut network = network(2);
    let mut trace = Trace::default();
    let frame = rig_oracle::model::Packet::data(5, 0, 1, 3, 3, SIZE);
    network.run_until(Time(1_000), &mut trace);
    assert_eq!(network.deliver(0, frame, &mut trace), Delivered::Held);
    assert_eq!(network.next_event(), Some(Time(1_000) + to_last_bit(SIZE) + TRAVEL));
    run(&mut network, Dur::us(5), &mut trace);
    assert_eq!(trace.count(1, Dir::Rx, PacketKind::Data), 1);
    assert_eq!(network.deliver(1, xoff(3, 100), &mut trace), Delivered::Done);
    assert!(network.queue_view(1, 3).paused);
    network.deliver(1, xon(3), &mut trace);
    assert!(!network.queue_view(1, 3).paused);
    network.drop_egress(1, 3, true);
    assert_eq!(network.deliver(0, frame, &mut trace), Delivered::Done);
}

#[test]
fn counters_carry_sonics_names() {
    let (mut network, _) = stormed();
    network.discard_backlog(2, 3);
    let all: BTreeMap<&str, u64> = network.snapshot(0).collect();
    for name in [
        "Ethernet8 SAI_PORT_STAT_PFC_3_RX_PKTS",
        "Ethernet0 SAI_PORT_STAT_PFC_3_TX_PKTS",
        "Ethernet8 SAI_PORT_STAT_PFC_3_RX_PAUSE_DURATION_US",
        "Ethernet8:3 SAI_QUEUE_ATTR_PAUSE_STATUS",
        "Ethernet8:3 SAI_QUEUE_STAT_PACKETS",
        "Ethernet8:3 SAI_QUEUE_STAT_DROPPED_PACKETS",
        "Ethernet8:3 SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES",
        "Ethernet0:3 SAI_INGRESS_PRIORITY_GROUP_STAT_PACKETS",
        "Ethernet0:3 SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES",
        "Ethernet0:3 SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES",
        "Ethernet0 SAI_PORT_STAT_IF_IN_UCAST_PKTS",
        "Ethernet8 SAI_PORT_STAT_IF_OUT_UCAST_PKTS",
        "ingress_lossless_pool SAI_BUFFER_POOL_STAT_WATERMARK_BYTES",
        "ingress_lossless_pool SAI_BUFFER_POOL_STAT_XOFF_ROOM_WATERMARK_BYTES",
        "egress_lossless_pool SAI_BUFFER_POOL_STAT_WATERMARK_BYTES",
    ] {
        assert!(all.get(name).is_some_and(|&value| value > 0), "{name}: {:?}", all.get(name));
        assert_eq!(all.get(name).copied(), network.counter(0, name), "{name}");
    }
    for name in [
        "Ethernet8 SAI_PORT_STAT_PFC_3_ON2OFF_RX_PKTS",
        "Ethernet8 SAI_PORT_STAT_IF_IN_NON_UCAST_PKTS",
        "Ethernet8:3 SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS",
        "Ethernet8:3 SAI_QUEUE_STAT_WRED_DROPPED_BYTES",
        "egress_lossy_pool SAI_BUFFER_POOL_STAT_WATERMARK_BYTES",
    ] {
        assert_eq!((all[name], network.counter(0, name)), (0, Some(0)), "{name}");
    }
    // Of a class, of a port, of the pools.
    assert_eq!(all.len(), 4 * 8 * 20 + 4 * 4 + 4);
}

#[test]
fn cleared_watermarks_are_what_is_in_use() {
    let (mut network, mut trace) = stormed();
    let of = |network: &Network, port: &str, name: &str| {
        network.counter(0, &format!("{port}:3 SAI_{name}_BYTES")).unwrap()
    };
    let queue = |network: &Network| {
        let peak = of(network, "Ethernet8", "QUEUE_STAT_SHARED_WATERMARK");
        (peak, of(network, "Ethernet8", "QUEUE_STAT_CURR_OCCUPANCY"))
    };
    network.ignore_pfc(2, 3, true);
    run(&mut network, Dur::us(3), &mut trace);
    let (peak, now) = queue(&network);
    assert!(peak > now);
    network.clear_watermarks(0);
    assert_eq!(queue(&network), (now, now));
}

#[test]
fn a_peak_is_at_least_what_is_queued() {
    let (network, _) = stormed();
    let buffer = network.switch(0).buffer();
    assert!(buffer.queue_peak(2, 3) >= buffer.queued(2, 3));
    let (headroom, rest) = buffer.held(0, 3);
    assert!(headroom > 0 && buffer.headroom_peak(0, 3) >= headroom);
    assert!(buffer.share_peak(0, 3) + 4_096 >= rest);
    // In flight when XOFF was decided: less than the headroom that was planned for it.
    assert!(headroom < SPEED.bps() / 8 / 1_000_000 * 3 + Bytes(20_000).0);
}
