//! Frames through the device: their tags, their sizes, their time, and what is counted.

use super::*;

const TAG: Tag = Tag { an: 0, pn: 1, encrypted: true, sci: true, tamper: None };

#[test]
fn data_is_protected_on_both_cables_and_clear_in_between() {
    let mut rig = Rig::of(case("bypass"));
    rig.send(0, 1, 3, MacsecMode::Usual);
    let out = rig.received(1, PacketKind::Data);
    let tags: Vec<_> = out.iter().filter_map(Packet::tag).collect();
    assert_eq!(tags, [1, 2, 3].map(|pn| Tag { pn, ..TAG }));
    let sent: Vec<_> = rig.seen.iter().filter(|seen| seen.2 == Dir::Tx).collect();
    assert!(sent.iter().all(|seen| seen.3.size == 1_056), "1024 B, SecTAG with SCI and ICV");
    // The buffer and the counters of data know nothing of tags.
    let counters = rig.dut.network().switch(0).counters(0, 3);
    assert_eq!((counters.rx_packets, counters.rx_bytes), (3, 3 * 1_024));
    assert_eq!(rig.dut.network().switch(0).counters(1, 3).tx_bytes, 3 * 1_024);
    assert_eq!(rig.dut.counter("Ethernet0:3 SAI_INGRESS_PRIORITY_GROUP_STAT_BYTES"), Some(3_072));
    assert_eq!(rig.counter(0, "MACSEC_SA_STAT_IN_PKTS_OK"), 3);
    assert_eq!(rig.counter(1, "MACSEC_SA_STAT_OUT_PKTS_ENCRYPTED"), 3);
    assert_eq!(rig.counter(1, "MACSEC_SA_STAT_OCTETS_ENCRYPTED"), 3 * 1_008);
}

#[test]
fn a_frame_takes_the_latency_in_and_out_and_the_time_of_its_tags() {
    let arrival = |case: Case, macsec_mode| {
        let mut rig = Rig::of(case);
        rig.send(0, 1, 1, macsec_mode);
        let mut arrivals = rig.seen.iter().filter(|seen| (seen.1, seen.2) == (1, Dir::Rx));
        arrivals.next().map(|seen| seen.0).expect("it arrives")
    };
    let plain = arrival(Case::of(RuleFamily::Broadcom), MacsecMode::Clear);
    // 32 bytes at 80 ps, twice.
    let tags = Dur(2 * 32 * 80);
    assert_eq!(arrival(case("bypass"), MacsecMode::Usual), plain + tags);
    let slow = case("bypass").with("macsec.latency", "300ns");
    assert_eq!(arrival(slow, MacsecMode::Usual), plain + tags + Dur::ns(600));
    // Each of its bytes in clear, twice.
    let by_size = case("bypass").with("macsec.latency_per_byte", "30ps");
    assert_eq!(arrival(by_size, MacsecMode::Usual), plain + tags + Dur(2 * 30 * 1_024));
}

#[test]
fn each_harm_is_dropped_and_counted_at_the_port_that_it_arrives_at() {
    for (macsec_mode, counter) in [
        (MacsecMode::Clear, "MACSEC_FLOW_STAT_IN_PKTS_NO_TAG"),
        (MacsecMode::Tampered(Tamper::Truncated), "MACSEC_FLOW_STAT_IN_PKTS_BAD_TAG"),
        (MacsecMode::Tampered(Tamper::WrongSci), "MACSEC_FLOW_STAT_IN_PKTS_NO_SCI"),
        (MacsecMode::Tampered(Tamper::WrongKey), "MACSEC_SA_STAT_IN_PKTS_NOT_VALID"),
        (MacsecMode::Tampered(Tamper::Forged), "MACSEC_SA_STAT_IN_PKTS_NOT_VALID"),
        (MacsecMode::Late(1), "MACSEC_SA_STAT_IN_PKTS_LATE"),
    ] {
        let mut rig = Rig::of(case("bypass"));
        rig.send(0, 1, 1, MacsecMode::Sound);
        rig.send(0, 1, 5, macsec_mode);
        assert_eq!(rig.received(1, PacketKind::Data).len(), 1, "{macsec_mode:?}");
        assert_eq!((rig.counter(0, counter), rig.counter(1, counter)), (5, 0), "{macsec_mode:?}");
        assert_eq!(rig.counter(0, "MACSEC_SA_STAT_IN_PKTS_OK"), 1);
        // The frames behind are numbered on, and come through.
        rig.send(0, 1, 1, MacsecMode::Usual);
        assert_eq!(rig.received(1, PacketKind::Data).len(), 2, "{macsec_mode:?}");
    }
}

#[test]
fn a_host_numbers_on_but_for_replays_and_clear_frames() {
    let mut rig = Rig::of(case("bypass"));
    let macsec_modes = [
        MacsecMode::Usual,
        MacsecMode::Tampered(Tamper::Forged),
        MacsecMode::Late(1),
        MacsecMode::Clear,
        MacsecMode::Sound,
    ];
    macsec_modes.into_iter().for_each(|macsec_mode| rig.send(0, 1, 1, macsec_mode));
    let sent = rig.seen.iter().filter(|seen| seen.2 == Dir::Tx);
    let numbers: Vec<_> = sent.map(|seen| seen.3.tag().map(|tag| tag.pn)).collect();
    assert_eq!(numbers, [Some(1), Some(2), Some(2), None, Some(3)]);
}

#[test]
fn counters_of_macsec_are_there_while_it_is_enabled_and_each_is_found_by_its_name() {
    let is_of_macsec =
        |name: &&String| name.contains("MACSEC") || name.ends_with("SAI_PORT_STAT_IF_IN_ERRORS");
    let names = |case: Case| {
        let dut = case.start().dut;
        let all = dut.counters();
        assert!(all.iter().all(|(name, value)| dut.counter(name) == Some(*value)));
        all.keys().filter(is_of_macsec).count()
    };
    assert_eq!(names(case("bypass")), 4 * 13);
    assert_eq!(names(Case::of(RuleFamily::Broadcom)), 0);
}

#[test]
fn without_macsec_a_tag_is_an_unknown_ethertype() {
    let mut rig = Rig::of(Case::of(RuleFamily::Broadcom));
    rig.send(0, 1, 5, MacsecMode::Usual);
    assert_eq!(rig.received(1, PacketKind::Data), []);
    assert_eq!(rig.dut.network().switch(0).counters(0, 3).rx_packets, 0);
    assert!(!rig.pauses(0, MacsecMode::Sound));
    rig.send(0, 1, 5, MacsecMode::Clear);
    assert_eq!(rig.received(1, PacketKind::Data).len(), 5);
    assert!(rig.pauses(0, MacsecMode::Clear));
}

#[test]
fn a_host_without_macsec_cannot_read_what_is_behind_a_tag() {
    let mut rig = Rig::of(case("encrypt"));
    rig.dut.rig().secure(0, None);
    rig.dut.rig().send(0, Packet::data(1, 0, 1, 3, 3, 1_024));
    rig.run(Dur::us(20));
    assert_eq!(rig.counter(0, "MACSEC_FLOW_STAT_IN_PKTS_NO_TAG"), 1);
}

/// As `dut serve` feeds it: what comes in is delivered, what goes out is heard at the far end of the cable.
#[test]
fn a_frame_of_the_outside_world_comes_in_and_goes_out_behind_a_tag() {
    let dut = case("strict_encrypt").start().dut;
    let mut rig = Rig { dut, seen: Vec::new() };
    let frame = Packet::data(7, 0, 1, 3, 3, 1_024);
    rig.dut.deliver(0, frame.secured(Tag { pn: 9, ..TAG }), &mut crate::model::NoTap);
    rig.dut.deliver(0, frame, &mut crate::model::NoTap);
    let xoff = Packet::pfc(1 << 4, 0, Quanta::MAX, PFC_SIZE).secured(Tag { pn: 10, ..TAG });
    rig.dut.deliver(2, xoff, &mut crate::model::NoTap);
    rig.run(Dur::us(20));
    let out = rig.received(1, PacketKind::Data);
    assert_eq!(out.iter().filter_map(Packet::tag).collect::<Vec<_>>(), [TAG]);
    assert_eq!(rig.counter(0, "MACSEC_FLOW_STAT_IN_PKTS_NO_TAG"), 1);
    assert!(rig.dut.network().queue_view(2, 4).paused);
}

#[test]
fn answers_are_protected_as_data_is() {
    use crate::model::{Network, Topology, host, link, secy, switch};
    let speed = rig_units::PortSpeed::G100;
    let macsec = rig_lab::Macsec { enable: true, ..rig_lab::Macsec::off() };
    let macsec = secy::Config::declared(&macsec);
    let config = switch::Config { macsec, ..switch::Config::plain(2, speed) };
    let answering = host::Config::quiet().answering(64);
    let topology = Topology::star(config, answering, link::Config::ethernet(speed, 5));
    let mut network: Network = Network::new(&topology, Time::ZERO);
    (0..2).for_each(|host| network.secure(host, Some(PEER)));
    network.start_stream(0, &Stream { count: Some(3), ..stream(0, 1, MacsecMode::Usual) });
    let mut answers = Vec::new();
    let mut tap = |_: Time, host: u16, dir: Dir, packet: &Packet| {
        if (host, dir, packet.kind) == (0, Dir::Rx, PacketKind::Ack) {
            answers.push((packet.size, packet.seq, packet.tag().map(|tag| tag.pn)));
        }
    };
    network.run_until(Time::ZERO + Dur::us(20), &mut tap);
    assert_eq!(answers, [(96, 0, Some(1)), (96, 1, Some(2)), (96, 2, Some(3))]);
}
