//! Frames neither vanish nor multiply, lossless ones are not lost, and the buffer ends empty.

use crate::rig::*;
use proptest::prelude::*;
use rig_oracle::model::{
    Dir, Network, PacketKind, Storm, Stream, buffer::Limit, host, secy, switch,
};
use rig_testcases::MacsecMode;
use rig_units::{Bytes, Dur, Pace, Quanta, Time};

const PORTS: u16 = 4;

fn config(lossy_too_big: bool) -> switch::Config {
    let mut config = switch::Config::plain(PORTS, SPEED);
    if lossy_too_big {
        config.buffer.pool = 60_000;
        config.buffer.group = Limit::Dynamic(-1);
        // Too little for what a cable of 1 us holds: lossless frames are lost too.
        config.buffer.headroom = 5_000;
    } else {
        config.buffer.pool = 200_000;
        // F3: a frame ahead of XOFF, XOFF, two cables, a frame at the sender; three senders cannot exceed that each.
        config.buffer.headroom = 2 * 1_200 + 100 + 2 * 12_500 + 2 * 9_100;
    }
    config
}

fn a_stream() -> impl Strategy<Value = (u16, Stream)> {
    let class = prop_oneof![Just(0_u8), Just(1), Just(3), Just(4)];
    (0..PORTS, 1..PORTS, class, 64..1_500_u16, 10..400_u64, 1..400_u32).prop_map(
        |(from, ahead, class, size, percent, count)| {
            let dst = (from + ahead) % PORTS;
            let pace = Pace::every(Dur(SPEED.slot(Bytes(size.into())).0 * 100 / percent));
            let stream = stream(0, class, 100, dst);
            (from, Stream { size, pace, count: Some(count), ..stream })
        },
    )
}

fn a_storm() -> impl Strategy<Value = (u16, Storm)> {
    (0..PORTS, any::<u8>(), any::<u8>(), 0..300_u16, 200..3_000_u64, 1..60_u32).prop_map(
        |(from, enable, zero, quanta, every, count)| {
            let every = Dur::ns(every);
            let (quanta, count, macsec_mode) = (Quanta(quanta), Some(count), MacsecMode::Usual);
            (from, Storm { id: 0, enable, zero, quanta, every, count, macsec_mode })
        },
    )
}

/// Runs until everything is over. Cuts the cable of `cut` in the middle for a while.
fn play(
    config: switch::Config,
    streams: &[(u16, Stream)],
    storms: &[(u16, Storm)],
    cut: Option<u16>,
) -> (Network, Trace) {
    let security = config.macsec.map(|_| host::Security {
        an: 0,
        next_pn: 1,
        encrypted: true,
        sci: true,
        pfc: rig_lab::Form::Encrypted,
        obeys: host::Obeys { clear: false, encrypted: true },
    });
    let mut network: Network = Network::new(&star(config), Time::ZERO);
    (0..PORTS).for_each(|host| network.secure(host, security));
    let mut trace = Trace::default();
    for (id, &(from, stream)) in (0..).zip(streams) {
        network.start_stream(from, &Stream { id, names: id, ..stream });
    }
    for (id, &(from, storm)) in (100..).zip(storms) {
        network.start_storm(from, &Storm { id, ..storm });
    }
    if let Some(host) = cut {
        run(&mut network, Dur::us(9), &mut trace);
        network.set_link(host, false);
        run(&mut network, Dur::us(7), &mut trace);
        network.set_link(host, true);
    }
    run(&mut network, Dur::ms(20), &mut trace);
    (network, trace)
}

/// Frames of data at all hosts, sent and received.
fn data(trace: &Trace) -> (u64, u64) {
    let count =
        |dir| (0..PORTS).map(|host| trace.count(host, dir, PacketKind::Data)).sum::<usize>();
    (u64::try_from(count(Dir::Tx)).unwrap(), u64::try_from(count(Dir::Rx)).unwrap())
}

fn is_empty(network: &Network) -> bool {
    let buffer = network.switch(0).buffer();
    let held = (0..usize::from(PORTS)).any(|port| {
        (0..8).any(|class| buffer.queued(port, class) > 0 || buffer.held(port, class) != (0, 0))
    });
    !held && buffer.shared() == 0 && network.on_cables().0 == 0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn what_was_sent_was_received_or_counted_as_lost(
        streams in prop::collection::vec(a_stream(), 1..8),
        storms in prop::collection::vec(a_storm(), 0..4),
        delay in prop_oneof![Just(0), 1..2_000_u64],
        response in prop_oneof![Just(0), 1..900_u64],
    ) {
        let mut config = config(true);
        config.forwarding_delay = Dur::ns(delay).into();
        config.mac.response = Dur::ns(response).into();
        let (network, trace) = play(config, &streams, &storms, None);
        let (sent, received) = data(&trace);
        prop_assert_eq!(sent, streams.iter().map(|(_, s)| u64::from(s.count.unwrap())).sum::<u64>());
        prop_assert_eq!(sent, received + total(&network, "DROPPED_PACKETS"));
        prop_assert!(is_empty(&network));
        prop_assert_eq!(network.next_event(), None);
    }

    /// Whatever ports drop because their packet numbers are used up counts as dropped by their queues.
    #[test]
    fn behind_tags_the_books_balance_too(
        streams in prop::collection::vec(a_stream(), 1..8),
        storms in prop::collection::vec(a_storm(), 0..4),
        latency in prop_oneof![Just(0), 1..900_u64],
        left in prop_oneof![Just(1_u64 << 20), 1..200_u64],
    ) {
        let macsec = rig_lab::Macsec {
            enable: true,
            pfc_encryption_mode: rig_lab::PfcMode::StrictEncrypt,
            latency: Dur::ns(latency).into(),
            next_pn: Some((1 << 32) - left),
            ..rig_lab::Macsec::off()
        };
        let mut config = config(true);
        config.macsec = secy::Config::declared(&macsec);
        let (network, trace) = play(config, &streams, &storms, None);
        let (sent, received) = data(&trace);
        prop_assert_eq!(sent, streams.iter().map(|(_, s)| u64::from(s.count.unwrap())).sum::<u64>());
        prop_assert_eq!(sent, received + total(&network, "DROPPED_PACKETS"));
        prop_assert!(is_empty(&network));
        prop_assert_eq!(network.next_event(), None);
    }

    #[test]
    fn a_cut_cable_loses_frames_and_the_books_say_so(
        streams in prop::collection::vec(a_stream(), 1..8),
        storms in prop::collection::vec(a_storm(), 0..4),
        cut in 0..PORTS,
    ) {
        let (network, trace) = play(config(true), &streams, &storms, Some(cut));
        // PFC frames are lost with the cable too: the books of data balance within what was lost in all.
        let lost = network.on_cables().1;
        let (sent, received) = data(&trace);
        let dropped = total(&network, "DROPPED_PACKETS");
        // What is sent to a port whose cable is cut is in no queue, and no queue counts it.
        let to_the_cut = |dir| {
            let goes = |seen: &&Seen| seen.dir == dir && streams[usize::from(seen.stream)].1.dst == cut;
            trace.0.iter().filter(|seen| seen.kind == PacketKind::Data).filter(goes).count()
        };
        let nowhere = u64::try_from(to_the_cut(Dir::Tx) - to_the_cut(Dir::Rx)).unwrap();
        prop_assert!(sent >= received + dropped && sent <= received + dropped + lost + nowhere);
        prop_assert!(is_empty(&network));
    }

    #[test]
    fn lossless_frames_are_never_lost_when_the_headroom_covers_the_round_trip(
        streams in prop::collection::vec(a_stream(), 1..8),
        storms in prop::collection::vec(a_storm(), 0..4),
    ) {
        let (network, trace) = play(config(false), &streams, &storms, None);
        for class in [3, 4] {
            for port in 0..PORTS {
                let counters = network.switch(0).counters(port, class);
                prop_assert_eq!((counters.group_drops, counters.queue_drops), (0, 0));
            }
        }
        let lossless = |dir| trace.0.iter().filter(|seen| seen.dir == dir && seen.kind == PacketKind::Data && seen.class >= 3).count();
        prop_assert_eq!(lossless(Dir::Tx), lossless(Dir::Rx));
    }

    #[test]
    fn frames_of_a_stream_arrive_in_order(streams in prop::collection::vec(a_stream(), 1..8)) {
        let (_, trace) = play(config(true), &streams, &[], None);
        for id in 0..u16::try_from(streams.len()).unwrap() {
            let of = |seen: &&Seen| seen.stream == id && seen.dir == Dir::Rx && seen.kind == PacketKind::Data;
            let numbers: Vec<u32> = trace.0.iter().filter(of).map(|seen| seen.seq).collect();
            prop_assert!(numbers.is_sorted());
        }
    }
}

#[test]
fn too_little_headroom_does_lose_lossless_frames() {
    let streams: Vec<(u16, Stream)> =
        (0..3).map(|from| (from, Stream { count: Some(2_000), ..stream(0, 3, 100, 3) })).collect();
    let (network, _) = play(config(true), &streams, &[], None);
    assert!(total(&network, "PRIORITY_GROUP_STAT_DROPPED_PACKETS") > 0);
}
