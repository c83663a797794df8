//! Each deviation is seen from outside, beside the NIC that does right.

use super::bench::*;
use crate::model::host;
use crate::model::nic::rp::{Limiter, ONE};
use crate::model::nic::{Config, Flow, Verb};
use crate::model::packet::Packet;
use crate::model::packet::PacketKind::{self, Ack, Cnp, Data, Nak, NotReady, ReadRequest};
use crate::model::tap::NoTap;
use rig_lab::AckTimeout;
use rig_units::{Bytes, Dur, L2Rate, Ppm};

/// What a NIC that does right shows, and one with a deviation does.
pub(super) fn both<T>(deviation: &str, show: impl Fn(Config) -> T) -> [T; 2] {
    [show(config()), show(faulty(deviation))]
}

/// CNPs of a NIC that gets five marked frames of connection 7, one each microsecond.
fn cnps(config: Config) -> Vec<Packet> {
    let mut bench = bench(&config);
    bench.stream(Data, 7, Dur::us(1), 5);
    bench.run(Dur::us(20));
    bench.received(Cnp).iter().map(|seen| seen.packet).collect()
}

#[test]
fn cnp_per_packet_answers_every_mark() {
    assert_eq!(both("cnp_per_packet", |config| cnps(config).len()), [1, 5]);
}

#[test]
fn cnp_hidden_interval_leaves_marks_unanswered() {
    let each = |mut config: Config| {
        config.np.interval = Dur::ZERO;
        cnps(config).len()
    };
    assert_eq!(both("cnp_hidden_interval", each), [5, 1]);
    assert_eq!(both("cnp_hidden_interval:2", each), [5, 3]);
}

#[test]
fn cnp_on_cnp_answers_a_marked_cnp() {
    let answers = |config: Config| {
        let mut bench = bench(&config);
        bench.send(cnp(1).with_ect(true).with_ce(true));
        bench.run(Dur::us(10));
        bench.received(Cnp).len()
    };
    assert_eq!(both("cnp_on_cnp", answers), [0, 1]);
}

#[test]
fn cnp_wrong_qp_names_the_next() {
    assert_eq!(both("cnp_wrong_qp", |config| cnps(config)[0].stream), [7, 8]);
}

#[test]
fn cnp_wrong_address_goes_to_the_usual_one() {
    let to = |config: Config| {
        let mut bench = bench(&config);
        let marked = Packet { src: host::at(RIG, 3), ..data(7, 0, true) };
        bench.network.deliver_to_host(NIC, &marked, &mut NoTap);
        bench.run(Dur::us(10));
        host::number(bench.received(Cnp)[0].packet.dst)
    };
    assert_eq!(both("cnp_wrong_address", to), [3, 0]);
}

#[test]
fn cnp_reserved_set_and_without_becn_break_the_format() {
    assert_eq!(both("cnp_reserved_set", |config| cnps(config)[0].reserved_set()), [false, true]);
    assert_eq!(both("cnp_without_becn", |config| cnps(config)[0].becn()), [true, false]);
}

#[test]
fn cnp_not_counted_sends_it_all_the_same() {
    let counted = |config: Config| {
        let mut bench = bench(&config);
        bench.send(data(7, 0, true));
        bench.run(Dur::us(10));
        (bench.received(Cnp).len(), bench.network.nic(NIC).unwrap().counters().np_cnp_sent)
    };
    assert_eq!(both("cnp_not_counted", counted), [(1, 1), (1, 0)]);
}

#[test]
fn cnp_missed_on_read_answers_other_marks_only() {
    let answers = |config: Config| {
        [false, true].map(|response| {
            let mut bench = bench(&config);
            bench.network.start_flow(NIC, &Flow { verb: Verb::Read, ..flow(1) });
            bench.send(data(1, 0, true).with_response(response));
            bench.run(Dur::us(10));
            bench.received(Cnp).len()
        })
    };
    assert_eq!(both("cnp_missed_on_read", answers), [[1, 1], [1, 0]]);
}

/// The limiter of flow 1 at the end, where CNPs for it arrive after so many microseconds.
fn limited(config: &Config, cnps: &[u64], end: u64) -> Limiter {
    after(config, cnps, end).network.nic(NIC).unwrap().limiter(1).unwrap()
}

fn after(config: &Config, cnps: &[u64], end: u64) -> Bench {
    let mut bench = bench(config);
    bench.network.start_flow(NIC, &flow(1));
    bench.network.start_flow(NIC, &flow(2));
    for &at in cnps {
        bench.run(Dur::us(at));
        bench.send(cnp(1));
    }
    bench.run(Dur::us(end));
    bench
}

#[test]
fn alpha_not_decayed_stays_while_nothing_comes() {
    let alpha = |config: Config| limited(&config, &[0], 60).alpha();
    assert_eq!(both("alpha_not_decayed", alpha), [ONE - ONE / 256, ONE]);
}

#[test]
fn alpha_not_raised_stays_when_the_rate_is_cut() {
    let alpha = |mut config: Config| {
        config.rp.initial_alpha = Ppm(500_000);
        limited(&config, &[0], 10).alpha()
    };
    assert_eq!(both("alpha_not_raised", alpha), [ONE / 2 + ONE / 512, ONE / 2]);
}

const GBPS: u64 = 1_000_000_000;

#[test]
fn cut_without_cnp_cuts_once_more() {
    // At 57 us alpha is 255/256: 50 Gb/s less 255/512 of it. Only one increase lies behind the one that does right by 60 us.
    let rate = |config: Config| limited(&config, &[0], 60).rate();
    assert_eq!(both("cut_without_cnp", rate), [75 * GBPS, 25_097_656_250]);
    // And no third time: half of the way back to 50 Gb/s.
    assert_eq!(limited(&faulty("cut_without_cnp"), &[0], 115).rate(), 37_548_828_125);
}

#[test]
fn cut_twice_per_window_heeds_the_second_and_not_the_third() {
    let heeded = |config: Config| {
        let bench = after(&config, &[0, 10, 20], 30);
        let counters = *bench.network.nic(NIC).unwrap().counters();
        (counters.rp_cnp_handled, counters.rp_cnp_ignored)
    };
    assert_eq!(both("cut_twice_per_window", heeded), [(1, 2), (2, 1)]);
}

#[test]
fn cut_spreads_to_the_next_queue_pair() {
    let rates = |config: Config| {
        let bench = after(&config, &[0], 10);
        [1, 2].map(|id| bench.network.nic(NIC).unwrap().limiter(id).unwrap().rate() / GBPS)
    };
    assert_eq!(both("cut_spreads", rates), [[50, 100], [50, 50]]);
}

#[test]
fn target_not_saved_recovers_to_the_speed_of_the_port() {
    let target = |config: Config| limited(&config, &[0, 60], 70).target();
    assert_eq!(both("target_not_saved", target), [75 * GBPS, 100 * GBPS]);
}

#[test]
fn min_rate_ignored_goes_below_it() {
    let rate = |mut config: Config| {
        config.rp.min_rate = L2Rate { bps: 60 * GBPS };
        limited(&config, &[0], 10).rate()
    };
    assert_eq!(both("min_rate_ignored", rate), [60 * GBPS, 50 * GBPS]);
}

#[test]
fn timer_not_restarted_runs_out_as_if_there_had_been_no_cut() {
    let increases = |config: Config| limited(&config, &[0, 51], 60).increases();
    assert_eq!(both("timer_not_restarted", increases), [(0, 0), (1, 0)]);
}

#[test]
fn bytes_not_reset_runs_out_as_if_there_had_been_no_cut() {
    let increases = |mut config: Config| {
        // 51 us at 50 Gb/s are 319 kB, a little less beside another flow.
        config.rp.byte_counter = Bytes(320_000);
        limited(&config, &[0, 51], 57).increases()
    };
    assert_eq!(both("bytes_not_reset", increases), [(0, 0), (0, 1)]);
}

#[test]
fn stages_not_reset_goes_on_counting() {
    let increases = |config: Config| limited(&config, &[0, 60], 70).increases();
    assert_eq!(both("stages_not_reset", increases), [(0, 0), (1, 0)]);
}

#[test]
fn hyper_before_additive_takes_the_larger_step() {
    let target = |mut config: Config| {
        config.rp.threshold = 1;
        limited(&config, &[0, 60], 60 + 58).target()
    };
    let [sound, broken] = both("hyper_before_additive", target);
    // The first cut is followed by one additive increase of a target that is at its most.
    assert_eq!((sound, broken), (75 * GBPS + 40_000_000, 75 * GBPS + 200_000_000));
}

#[test]
fn nak_repeated_answers_every_packet_behind_a_hole() {
    let naks = |config: Config| {
        let mut bench = bench(&config);
        [0, 2, 3, 4].into_iter().for_each(|seq| bench.send(data(1, seq, false)));
        bench.run(Dur::us(10));
        bench.received(Nak).len()
    };
    assert_eq!(both("nak_repeated", naks), [1, 3]);
}

#[test]
fn restarts_one_psn_late_leaves_out_what_is_missing() {
    let again = |config: Config| {
        let mut bench = bench(&config);
        bench.network.start_flow(NIC, &flow(1));
        bench.send(Packet { kind: Nak, seq: 3, ..Packet::data(1, RIG, NIC, 3, 26, 66) });
        bench.run(Dur::us(10));
        let seqs: Vec<u32> = bench.received(Data).iter().map(|seen| seen.packet.seq).collect();
        seqs.windows(2).find(|two| two[1] < two[0]).unwrap()[1]
    };
    assert_eq!(both("restarts_one_psn_late", again), [3, 4]);
}

#[test]
fn psn_without_wrap_takes_a_hole_across_the_wrap_for_a_duplicate() {
    let naks = |config: Config| {
        let mut bench = bench(&config);
        [0xff_fffe, 0].into_iter().for_each(|seq| bench.send(data(1, seq, false)));
        bench.run(Dur::us(10));
        bench.received(Nak).len()
    };
    assert_eq!(both("psn_without_wrap", naks), [1, 0]);
}

/// Packets 0 and 1 of connection 1, and 0 again: what is acknowledged, and how many duplicates are counted.
fn doubled(mut config: Config) -> (Vec<u32>, u64) {
    config.rc.ack_every = 2;
    let mut bench = bench(&config);
    for seq in [0, 1, 0, 2] {
        bench.send(data(1, seq, false).with_place(false, false));
    }
    bench.run(Dur::us(10));
    let acks = bench.received(Ack).iter().map(|seen| seen.packet.seq).collect();
    (acks, bench.network.nic(NIC).unwrap().counters().duplicate_request)
}

#[test]
fn duplicate_taken_counts_it_towards_the_next_acknowledgement() {
    // The one that does right acknowledges the duplicate and counts anew from there.
    assert_eq!(both("duplicate_taken", doubled), [(vec![1, 1], 1), (vec![1, 2], 0)]);
}

#[test]
fn duplicate_acked_as_itself_goes_back() {
    assert_eq!(both("duplicate_acked_as_itself", doubled), [(vec![1, 1], 1), (vec![1, 0], 1)]);
}

#[test]
fn bad_icrc_accepted_takes_a_spoilt_packet_and_counts_it() {
    let taken = |config: Config| {
        let mut bench = bench(&config);
        bench.send(data(1, 0, false).with_bad_icrc());
        bench.run(Dur::us(10));
        let counted = bench.network.nic(NIC).unwrap().counters().rx_icrc_encapsulated;
        (bench.received(Ack).len(), counted)
    };
    assert_eq!(both("bad_icrc_accepted", taken), [(0, 1), (1, 1)]);
}

#[test]
fn icrc_wrong_spoils_one_in_so_many_of_whatever_leaves() {
    let spoilt = |kind: PacketKind| {
        move |config: Config| {
            let mut bench = bench(&config);
            match kind {
                Data => bench.network.start_flow(NIC, &Flow { count: Some(6), ..flow(1) }),
                _ => (0..6).for_each(|seq| bench.send(data(1, seq, kind == Cnp))),
            }
            bench.run(Dur::us(20));
            let left = bench.received(kind);
            left.iter().map(|seen| seen.packet.bad_icrc()).collect::<Vec<bool>>()
        }
    };
    let third = [false, false, true, false, false, true];
    for kind in [Data, Ack] {
        assert_eq!(both("icrc_wrong:3", spoilt(kind)), [vec![false; 6], third.to_vec()]);
    }
    let rarely = |kind| both("icrc_rarely_wrong:3", spoilt(kind))[1].clone();
    assert_eq!(rarely(Ack), third);
    assert_eq!(rarely(Data), [false; 6]);
    assert_eq!(both("icrc_wrong:1", spoilt(Cnp)), [vec![false], vec![true]]);
}

#[test]
fn spoilt_ack_taken_counts_a_spoilt_acknowledgement() {
    let acked = |config: Config| {
        let mut bench = bench(&config);
        bench.network.start_flow(NIC, &Flow { count: Some(3), ..flow(1) });
        bench.run(Dur::us(5));
        bench.send(Packet { kind: Ack, ..data(1, 2, false) }.with_bad_icrc());
        bench.run(Dur::us(10));
        bench.network.nic(NIC).unwrap().acknowledged(1)
    };
    assert_eq!(both("spoilt_ack_taken", acked), [Some(0), Some(3)]);
}

#[test]
fn ack_counts_for_one_leaves_those_before_it_open() {
    let acked = |config: Config| {
        let mut bench = bench(&config);
        bench.network.start_flow(NIC, &Flow { count: Some(3), ..flow(1) });
        bench.run(Dur::us(5));
        bench.send(Packet { kind: Ack, ..data(1, 2, false) });
        bench.run(Dur::us(10));
        bench.network.nic(NIC).unwrap().acknowledged(1)
    };
    assert_eq!(both("ack_counts_for_one", acked), [Some(3), Some(0)]);
}

#[test]
fn timeout_not_restarted_sends_again_too_early() {
    let sent = |mut config: Config| {
        config.rc.timeout = AckTimeout::Time(Dur::us(20));
        let mut bench = bench(&config);
        bench.network.start_flow(NIC, &Flow { count: Some(2), ..flow(1) });
        bench.run(Dur::us(10));
        bench.send(Packet { kind: Ack, ..data(1, 0, false) });
        bench.run(Dur::us(25));
        bench.received(Data).iter().map(|seen| seen.packet.seq).collect::<Vec<_>>()
    };
    assert_eq!(both("timeout_not_restarted", sent), [vec![0, 1], vec![0, 1, 1]]);
}

/// READ requests of a flow of a message of four packets, the second of which is lost, and holes that were counted.
fn asked(config: Config) -> (Vec<(u32, u32)>, u64) {
    let mut bench = bench(&config);
    let read = Flow { verb: Verb::Read, message: 4_000, count: Some(1), psn: 7, ..flow(1) };
    bench.network.start_flow(NIC, &read);
    for seq in [7, 9, 10] {
        bench.send(data(1, seq, false).with_response(true));
    }
    bench.run(Dur::us(10));
    let requests = bench.received(ReadRequest);
    let asked = requests.iter().map(|seen| (seen.packet.seq, seen.packet.wanted())).collect();
    (asked, bench.network.nic(NIC).unwrap().counters().implied_nak_seq_err)
}

#[test]
fn read_asks_one_psn_late_leaves_out_what_is_missing() {
    let [sound, broken] = both("read_asks_one_psn_late", asked);
    assert_eq!(sound, (vec![(7, 4_000), (8, 2_976)], 1));
    assert_eq!(broken, (vec![(7, 4_000), (9, 1_952)], 1));
}

#[test]
fn implied_nak_not_counted_asks_all_the_same() {
    let [sound, broken] = both("implied_nak_not_counted", asked);
    assert_eq!((sound.1, broken.1), (1, 0));
    assert_eq!(sound.0, broken.0);
}

#[test]
fn timeout_runs_early_sends_again_before_its_time() {
    let again = |mut config: Config| {
        config.rc.timeout = AckTimeout::Code(2);
        let mut bench = bench(&config);
        bench.network.start_flow(NIC, &Flow { count: Some(1), ..flow(1) });
        bench.run(Dur::us(30));
        let sent = bench.received(Data);
        sent[1].left().since(sent[0].left())
    };
    assert_eq!(both("timeout_runs_early", again), [16_384, 15_384].map(|ns| Some(Dur::ns(ns))));
}

#[test]
fn timeout_not_counted_sends_again_all_the_same() {
    let counted = |mut config: Config| {
        (config.rc.timeout, config.rc.retries) = (AckTimeout::Time(Dur::us(20)), 2);
        let mut bench = bench(&config);
        bench.network.start_flow(NIC, &Flow { count: Some(1), ..flow(1) });
        bench.run(Dur::us(100));
        let counters = bench.network.nic(NIC).unwrap().counters();
        (bench.received(Data).len(), counters.local_ack_timeout_err)
    };
    assert_eq!(both("timeout_not_counted", counted), [(3, 3), (3, 0)]);
}

#[test]
fn answers_in_class_0_leave_with_another_dscp() {
    let dscps = |config: Config| {
        let mut bench = bench(&config);
        for seq in [0, 2] {
            bench.send(data(1, seq, false));
        }
        bench.run(Dur::us(10));
        [Ack, Nak].map(|kind| bench.received(kind)[0].packet.dscp)
    };
    assert_eq!(both("answers_in_class_0", dscps), [[26, 26], [0, 0]]);
}

#[test]
fn data_not_capable_leaves_with_ecn_field_0() {
    let capable = |config: Config| {
        let mut bench = bench(&config);
        bench.network.start_flow(NIC, &Flow { count: Some(1), ..flow(1) });
        bench.run(Dur::us(5));
        bench.received(Data)[0].packet.ect()
    };
    assert_eq!(both("data_not_capable", capable), [true, false]);
}

#[test]
fn duplicate_read_ignored_counts_it_and_says_nothing() {
    let brought = |config: Config| {
        let mut bench = bench(&config);
        for at in [1, 10] {
            bench.send(Packet::read_request(1, RIG, NIC, 7, 4_000));
            bench.run(Dur::us(at + 8));
        }
        let counters = bench.network.nic(NIC).unwrap().counters();
        (bench.received(Data).len(), counters.duplicate_request)
    };
    assert_eq!(both("duplicate_read_ignored", brought), [(2, 1), (1, 1)]);
}

#[test]
fn given_up_not_counted_gives_up_all_the_same() {
    let counted = |mut config: Config| {
        (config.rc.timeout, config.rc.retries) = (AckTimeout::Time(Dur::us(20)), 0);
        config.rc.rnr_retries = Some(0);
        let mut bench = bench(&config);
        bench.network.start_flow(NIC, &Flow { count: Some(1), ..flow(1) });
        bench.network.start_flow(NIC, &Flow { count: Some(1), ..flow(2) });
        bench.run(Dur::us(10));
        bench.send(Packet { kind: NotReady, ..data(2, 0, false) });
        bench.run(Dur::us(100));
        let counters = bench.network.nic(NIC).unwrap().counters();
        let ends = (counters.req_transport_retries_exceeded, counters.req_rnr_retries_exceeded);
        (bench.received(Data).len(), ends)
    };
    assert_eq!(both("given_up_not_counted", counted), [(2, (1, 1)), (2, (0, 0))]);
}

#[test]
fn timeout_zero_runs_sends_again_what_nobody_acknowledged() {
    let sent = |mut config: Config| {
        (config.rc.timeout, config.rc.retries) = (AckTimeout::NEVER, 2);
        let mut bench = bench(&config);
        bench.network.start_flow(NIC, &Flow { count: Some(1), ..flow(1) });
        bench.run(Dur::us(100));
        bench.received(Data).len()
    };
    assert_eq!(both("timeout_zero_runs", sent), [1, 3]);
}

#[test]
fn cnp_without_mark_answers_what_is_capable_and_not_marked() {
    let answers = |config: Config| {
        let mut bench = bench(&config);
        bench.send(data(7, 0, false));
        bench.send(data(8, 0, false).with_ect(false));
        bench.run(Dur::us(10));
        let marked = bench.network.nic(NIC).unwrap().counters().np_ecn_marked_roce_packets;
        let cnps = bench.received(Cnp);
        (cnps.iter().map(|seen| seen.packet.stream).collect::<Vec<_>>(), marked)
    };
    assert_eq!(both("cnp_without_mark", answers), [(vec![], 0), (vec![7], 0)]);
}

#[test]
fn tries_not_reset_gives_up_after_progress() {
    let sent = |mut config: Config| {
        (config.rc.timeout, config.rc.retries) = (AckTimeout::Time(Dur::us(20)), 1);
        let mut bench = bench(&config);
        bench.network.start_flow(NIC, &Flow { count: Some(2), ..flow(1) });
        bench.run(Dur::us(30));
        // Both were sent again at 20 us. The first is acknowledged; the second has a try left.
        bench.send(Packet { kind: Ack, ..data(1, 0, false) });
        bench.run(Dur::us(70));
        bench.received(Data).iter().map(|seen| seen.packet.seq).collect::<Vec<_>>()
    };
    assert_eq!(both("tries_not_reset", sent), [vec![0, 1, 0, 1, 1], vec![0, 1, 0, 1]]);
}

#[test]
fn line_rate_halved_is_slow_without_a_cnp() {
    let rate = |config: Config| limited(&config, &[], 10).rate();
    assert_eq!(both("line_rate_halved", rate), [100 * GBPS, 50 * GBPS]);
}
