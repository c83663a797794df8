//! How reliable connections get over what is lost.

use super::bench::*;
use crate::model::nic::responder::{Responder, Taken};
use crate::model::nic::{Config, Flow, Verb};
use crate::model::packet::{Packet, PacketKind};
use rig_frames::roce::aeth::RnrTimer;
use rig_lab::{AckTimeout, Rc, Recovery};
use rig_units::{Dur, Ppm, Time, Within};

#[test]
fn a_message_between_two_nics_is_acknowledged() {
    let mut bench = pair(&config(), &config());
    let flow =
        Flow { verb: Verb::Write, message: 3_000, count: Some(2), psn: 0xff_fffe, ..flow(1) };
    bench.network.start_flow(NIC, &flow);
    bench.run(Dur::us(20));
    let data = bench.received(PacketKind::Data);
    let sizes: Vec<_> = data.iter().map(|seen| (seen.packet.seq, seen.packet.size)).collect();
    // A RETH in the first packet of each.
    let want =
        [(0xff_fffe, 1_102), (0xff_ffff, 1_086), (0, 1_014), (1, 1_102), (2, 1_086), (3, 1_014)];
    assert_eq!(sizes, want);
    assert!(bench.network.nic(NIC).unwrap().is_done(1));
}

#[test]
fn one_in_so_many_packets_is_acknowledged_and_the_last_of_each_message() {
    let mut config = config();
    config.rc.ack_every = 4;
    let mut bench = bench(&config);
    for seq in 0..10 {
        bench.send(data(1, seq, false).with_place(seq == 0, seq == 5));
    }
    bench.run(Dur::us(10));
    let acks = bench.received(PacketKind::Ack);
    assert_eq!(acks.iter().map(|seen| seen.packet.seq).collect::<Vec<_>>(), [3, 5, 9]);
    assert_eq!((acks[0].packet.size, acks[0].packet.stream), (66, 1));
    let arrived = Time::ZERO + serialise(1_024) + Dur::us(1) + Dur((1_024 + 20) * 80) * 3;
    assert_eq!(acks[0].left(), arrived + Dur::us(1));
}

#[test]
fn an_acknowledgement_that_waits_says_what_comes_meanwhile() {
    let mut config = config();
    config.rc.ack_held = Some(Dur::ns(300).into());
    let mut bench = bench(&config);
    // A message each, 84 ns apart: the first waits for 300 ns, in which three more come; then the fifth does.
    for seq in 0..6 {
        bench.send(data(1, seq, false).with_place(true, true));
    }
    bench.send(data(2, 0, false).with_place(true, true));
    bench.run(Dur::us(10));
    let acks = bench.received(PacketKind::Ack);
    let told: Vec<_> = acks.iter().map(|seen| (seen.packet.stream, seen.packet.seq)).collect();
    assert_eq!(told, [(1, 3), (1, 5), (2, 0)]);
    let arrived = Time::ZERO + serialise(1_024) + Dur::us(1);
    assert_eq!(acks[0].left(), arrived + Dur::us(1) + Dur::ns(300));
}

#[test]
fn a_sender_goes_back_as_far_before_a_hole_as_it_draws() {
    let mut config = config();
    config.rc.resend_extra = Some(3);
    let mut from = std::collections::BTreeSet::new();
    for seed in 0..64 {
        config.seed = seed;
        let mut bench = bench(&config);
        bench.network.start_flow(NIC, &flow(1));
        let nak = Packet { kind: PacketKind::Nak, ..Packet::data(1, RIG, NIC, 3, 26, 66) };
        bench.run(Dur::us(3));
        bench.send(Packet { seq: 10, ..nak });
        bench.run(Dur::us(10));
        let sent: Vec<u32> =
            bench.received(PacketKind::Data).iter().map(|seen| seen.packet.seq).collect();
        let back = sent.windows(2).find(|two| two[1] <= two[0]).expect("a way back");
        from.insert(back[1]);
    }
    assert_eq!(from.into_iter().collect::<Vec<_>>(), [7, 8, 9, 10]);
}

#[test]
fn one_nak_tells_of_a_hole_until_it_is_filled() {
    let mut bench = bench(&config());
    for seq in [10, 12, 13, 11, 15, 10] {
        bench.send(data(1, seq, false));
    }
    bench.run(Dur::us(10));
    let numbers =
        |kind| bench.received(kind).iter().map(|seen| seen.packet.seq).collect::<Vec<_>>();
    assert_eq!(numbers(PacketKind::Nak), [11, 12]);
    assert_eq!(numbers(PacketKind::Ack), [10, 11, 11]);
    let counters = bench.network.nic(NIC).unwrap().counters();
    assert_eq!((counters.out_of_sequence, counters.duplicate_request), (3, 1));
}

#[test]
fn a_sender_goes_back_to_what_a_nak_names() {
    let mut bench = bench(&config());
    bench.network.start_flow(NIC, &flow(1));
    let nak = Packet { kind: PacketKind::Nak, ..Packet::data(1, RIG, NIC, 3, 26, 66) };
    bench.send(Packet { seq: 3, ..nak });
    bench.run(Dur::us(10));
    let data = bench.received(PacketKind::Data);
    let again = data.windows(2).position(|two| two[1].packet.seq < two[0].packet.seq).unwrap();
    assert_eq!(data[again + 1].packet.seq, 3);
    assert_eq!(data[again + 1].left(), Time::ZERO + arrival(66) + Dur::us(2));
    let nic = bench.network.nic(NIC).unwrap();
    assert_eq!((nic.counters().packet_seq_err, nic.acknowledged(1)), (1, Some(3)));
}

#[test]
fn without_progress_it_sends_again_and_gives_up_in_the_end() {
    let mut config = config();
    (config.rc.timeout, config.rc.retries) = (AckTimeout::Time(Dur::us(100)), 2);
    let mut bench = bench(&config);
    bench.network.start_flow(NIC, &Flow { count: Some(2), ..flow(1) });
    bench.run(Dur::us(50));
    bench.send(Packet { kind: PacketKind::Ack, ..data(1, 0, false) });
    bench.run(Dur::ms(2));
    let data = bench.received(PacketKind::Data);
    assert_eq!(data.iter().map(|seen| seen.packet.seq).collect::<Vec<_>>(), [0, 1, 1, 1]);
    // The acknowledgement was progress.
    let ack = Time::ZERO + Dur::us(50) + arrival(1_024);
    assert_eq!(data[2].left(), ack + Dur::us(100));
    assert_eq!(data[3].left(), ack + Dur::us(200));
    assert_eq!(bench.network.nic(NIC).unwrap().counters().local_ack_timeout_err, 3);
}

/// What lies between the tries of a packet that nobody answers, within 4 ms, by a timer of this code.
fn waits(code: u8, set: impl FnOnce(&mut Rc)) -> Vec<Dur> {
    let mut config = config();
    (config.rc.timeout, config.rc.retries) = (AckTimeout::Code(code), 200);
    set(&mut config.rc);
    let mut bench = bench(&config);
    bench.network.start_flow(NIC, &Flow { count: Some(1), ..flow(1) });
    bench.run(Dur::ms(4));
    let sent = bench.received(PacketKind::Data);
    sent.windows(2).filter_map(|two| two[1].left().since(two[0].left())).collect()
}

#[test]
fn a_timer_that_nothing_is_declared_of_runs_out_anywhere_from_one_to_four_times_what_its_code_says()
{
    let waits = waits(1, |rc| rc.timeout_late = None);
    let t = Dur::ns(8_192);
    assert!(waits.len() > 150 && waits.iter().all(|wait| (t..=t * 4).contains(wait)), "{waits:?}");
    let (least, most) = (waits.iter().min().unwrap(), waits.iter().max().unwrap());
    assert!(*least < t + t / 10 && *most > t * 4 - t / 10, "{least} {most}");
}

#[test]
fn a_timer_that_is_coarser_the_longer_it_is_runs_out_anywhere_within_its_share() {
    let ends = |code: u8| {
        let waits = waits(code, |rc| {
            rc.timeout_late = Some(Within::exactly(Dur::us(1)));
            rc.timeout_late_share = Some(Ppm(500_000));
        });
        assert!(waits.len() > 50, "{waits:?}");
        (waits.iter().min().copied().unwrap(), waits.iter().max().copied().unwrap())
    };
    // Half of 8.192 and of 32.768 us.
    for (code, t) in [(1, Dur::ns(8_192)), (3, Dur::ns(32_768))] {
        let ((least, most), from, by) = (ends(code), t + Dur::us(1), t + Dur::us(1) + t / 2);
        assert!(from <= least && least < from + t / 10, "{least}");
        assert!(by - t / 10 < most && most <= by, "{most}");
    }
}

#[test]
fn a_read_asks_anew_from_a_hole() {
    let mut bench = bench(&config());
    bench.network.start_flow(
        NIC,
        &Flow { verb: Verb::Read, message: 4_000, count: Some(1), psn: 7, ..flow(1) },
    );
    for seq in [7, 9, 10] {
        bench.send(data(1, seq, false).with_response(true));
    }
    bench.run(Dur::us(10));
    let asked: Vec<_> = bench
        .received(PacketKind::ReadRequest)
        .iter()
        .map(|seen| (seen.packet.seq, seen.packet.wanted()))
        .collect();
    assert_eq!(asked, [(7, 4_000), (8, 4_000 - 1_024)]);
    assert_eq!(bench.received(PacketKind::ReadRequest)[0].packet.size, 78);
    assert_eq!(bench.network.nic(NIC).unwrap().counters().implied_nak_seq_err, 1);
    for seq in 8..11 {
        bench.send(data(1, seq, false).with_response(true));
    }
    bench.run(Dur::us(20));
    assert!(bench.network.nic(NIC).unwrap().is_done(1));
}

#[test]
fn a_read_that_is_asked_for_again_is_answered_from_there() {
    let mut bench = bench(&config());
    let request = |psn, length| Packet::read_request(1, RIG, NIC, psn, length);
    bench.send(request(5, 10_000));
    bench.run(Dur::us(5));
    bench.send(request(6, 10_000 - 4_096));
    bench.run(Dur::us(10));
    let data = bench.received(PacketKind::Data);
    let seen: Vec<_> = data.iter().map(|seen| (seen.packet.seq, seen.packet.size)).collect();
    assert_eq!(seen, [(5, 4_162), (6, 4_158), (7, 1_874), (6, 4_162), (7, 1_874)]);
}

#[test]
fn a_read_brings_its_messages_one_after_the_other() {
    let mut bench = pair(&config(), &config());
    bench
        .network
        .start_flow(NIC, &Flow { verb: Verb::Read, message: 3_000, count: Some(2), ..flow(1) });
    bench.run(Dur::us(30));
    assert_eq!(bench.received(PacketKind::ReadRequest).len(), 2);
    assert_eq!(bench.network.nic(NIC).unwrap().acknowledged(1), Some(6));
    assert!(bench.network.nic(NIC).unwrap().is_done(1));
}

/// An RNR NAK that names a number and asks for 40 us.
fn rnr(seq: u32) -> Packet {
    let nak = Packet { kind: PacketKind::NotReady, seq, ..Packet::data(1, RIG, NIC, 3, 26, 66) };
    nak.with_rnr_timer(RnrTimer::new(4).unwrap())
}

#[test]
fn a_receiver_that_is_not_ready_is_tried_again_when_it_says_and_so_often() {
    let mut config = config();
    config.rc.rnr_retries = Some(1);
    config.rc.rnr_late = Some(Dur::us(3).into());
    let sent = |config: &Config, times: &[(u64, u32)]| {
        let mut bench = bench(config);
        bench.network.start_flow(NIC, &Flow { count: Some(4), ..flow(1) });
        for &(at, seq) in times {
            bench.run(Dur::us(at));
            bench.send(rnr(seq));
        }
        bench.run(Dur::us(400));
        let data = bench.received(PacketKind::Data);
        let counted = bench.network.nic(NIC).unwrap().counters().rnr_nak_retry_err;
        (data.iter().map(|seen| (seen.left(), seen.packet.seq)).collect::<Vec<_>>(), counted)
    };
    let (all, counted) = sent(&config, &[(10, 2)]);
    assert_eq!(all.iter().map(|(_, seq)| *seq).collect::<Vec<_>>(), [0, 1, 2, 3, 2, 3]);
    assert_eq!((all[4].0, counted), (Time::ZERO + Dur::us(10 + 43) + arrival(66), 1));
    // A second one of the same number ends it; one of a later number says that there was progress.
    assert_eq!(sent(&config, &[(10, 2), (100, 2)]).0.len(), 6);
    assert_eq!(sent(&config, &[(10, 2), (100, 3)]).0.len(), 7);
    config.rc.rnr_retries = None;
    assert_eq!(sent(&config, &[(10, 2), (100, 2), (200, 2)]).0.len(), 10);
}

fn selective() -> Config {
    let mut config = config();
    config.rc.recovery = Some(Recovery::SelectiveRepeat);
    config
}

#[test]
fn what_came_behind_a_hole_is_taken_with_the_packet_that_fills_it() {
    let mut bench = bench(&selective());
    for seq in [10, 12, 14, 12, 11, 10, 13] {
        bench.send(data(1, seq, false));
    }
    bench.run(Dur::us(10));
    let numbers =
        |kind| bench.received(kind).iter().map(|seen| seen.packet.seq).collect::<Vec<_>>();
    assert_eq!(numbers(PacketKind::Nak), [11, 13]);
    assert_eq!(numbers(PacketKind::Ack), [10, 12, 14]);
    let counters = bench.network.nic(NIC).unwrap().counters();
    assert_eq!((counters.out_of_sequence, counters.duplicate_request), (2, 2));
}

#[test]
fn a_sender_that_selects_sends_the_missing_packet_and_goes_on_where_it_was() {
    let follows = |deviation: Option<&str>| {
        let config = Config { rc: selective().rc, ..deviation.map_or_else(config, faulty) };
        let mut bench = bench(&config);
        bench.network.start_flow(NIC, &flow(1));
        let nak = Packet { kind: PacketKind::Nak, ..Packet::data(1, RIG, NIC, 3, 26, 66) };
        bench.send(Packet { seq: 3, ..nak });
        bench.run(Dur::us(10));
        let sent: Vec<u32> =
            bench.received(PacketKind::Data).iter().map(|seen| seen.packet.seq).collect();
        let again = sent.windows(2).position(|two| two[1] < two[0]).expect("a way back");
        let top = sent[again] + 1;
        sent[again + 1..again + 4].iter().map(|psn| psn.wrapping_sub(top)).collect::<Vec<_>>()
    };
    let missing = follows(None)[0];
    assert_eq!(follows(None)[1..], [0, 1]);
    assert_eq!(follows(Some("resends_one_too_many")), [missing, missing + 1, 0]);
}

#[test]
fn what_is_lost_before_the_first_packet_of_a_flow_is_a_hole() {
    let taken = |learnt: Option<u32>| {
        let mut responder = Responder::default();
        learnt.into_iter().for_each(|number| responder.learn(number));
        responder.takes(8, 1, &config().faults.rc)
    };
    assert_eq!(taken(Some(7)), Taken::Ahead { naks: true });
    // Of what the rig sends it was told nothing.
    assert_eq!(taken(None), Taken::Here { acks: false });
}

#[test]
fn a_queue_pair_that_is_gone_sends_nothing_again_and_owes_nothing() {
    let sent_after = |ends: bool| {
        let mut bench = bench(&config());
        bench.network.start_flow(NIC, &flow(1));
        bench.run(Dur::us(3));
        bench.network.stop_flow(NIC, 1);
        // Back to the first, for which it has all that it has sent to send again.
        bench.send(Packet { kind: PacketKind::Nak, ..Packet::data(1, RIG, NIC, 3, 26, 66) });
        bench.send(Packet::read_request(2, RIG, NIC, 0, 100_000));
        bench.run(Dur::us(5));
        if ends {
            bench.network.end_flow(NIC, 1);
            bench.network.end_flow(NIC, 2);
        }
        // What had left is there.
        bench.run(Dur::ns(6_300));
        let before = bench.received(PacketKind::Data).len();
        bench.run(Dur::us(12));
        bench.received(PacketKind::Data).len() - before
    };
    assert!(sent_after(false) > 20);
    assert_eq!(sent_after(true), 0);
}
