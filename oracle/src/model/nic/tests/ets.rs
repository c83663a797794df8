//! What traffic classes make of a full port, each deviation beside the NIC that does right.

use super::bench::*;
use super::deviations::both;
use crate::model::nic::{Config, Flow, Nic};
use crate::model::packet::PacketKind::Data;
use rig_lab::{Ets, EtsFaults, Selection};
use rig_units::{Dur, L2Rate, Ppm, Time};

const SHARES: [Selection; 2] = [Selection::Percent(25), Selection::Percent(75)];

/// Priorities 2 and 3 in class 0, 4 in class 1, 5 in class 2.
fn ets(classes: &[Selection]) -> Ets {
    Ets {
        priorities: Some(
            vec![0, 0, 0, 0, 1, 2, 0, 0]
                .into_iter()
                .map(|class: u8| class.min(u8::try_from(classes.len() - 1).expect("few classes")))
                .collect(),
        ),
        classes: Some(classes.to_vec()),
        ..Ets::default()
    }
}

/// Packets of flows with these priorities and MTUs in 90 us, in hundreds of all.
fn sent(mut config: Config, ets: &Ets, flows: &[(u8, u32)]) -> Vec<usize> {
    let mut nic = rig_lab::Nic::quiet();
    nic.ets = ets.clone();
    config.ets = Config::declared(&nic).ets;
    let mut bench = bench(&config);
    for (id, &(class, mtu)) in (1..).zip(flows) {
        bench.network.start_flow(NIC, &Flow { class, mtu, message: mtu, ..flow(id) });
    }
    bench.run(Dur::us(90));
    let data = bench.received(Data);
    let of = |id: u16| data.iter().filter(|seen| seen.packet.stream == id).count();
    (1..).take(flows.len()).map(|id| (of(id) + 5) / 10).collect()
}

fn limited(class: u8, gbps: u64, ets: Ets) -> Ets {
    Ets { limits: Some([(class, L2Rate { bps: gbps * 1_000_000_000 })].into()), ..ets }
}

// 1006 packets of 1024 B of payload in 89 us at 100 Gb/s.
const FLOWS: &[(u8, u32)] = &[(3, 1_024), (4, 1_024)];

#[test]
fn classes_share_by_their_percents_and_lend_what_they_do_not_use() {
    assert_eq!(sent(config(), &ets(&SHARES), FLOWS), [25, 75]);
    assert_eq!(sent(config(), &ets(&SHARES), &FLOWS[..1]), [101]);
    let three = [SHARES[0], Selection::Percent(50), Selection::Percent(25)];
    assert_eq!(sent(config(), &ets(&three), FLOWS), [34, 67]);
    // Two priorities of a class.
    assert_eq!(sent(config(), &ets(&SHARES), &[(2, 1_024), (3, 1_024), (4, 1_024)]), [13, 13, 75]);
}

#[test]
fn a_precision_makes_other_shares_and_none_of_nothing() {
    let ets = Ets { precision: Some(Ppm(300_000)), ..ets(&SHARES) };
    let of = |seed| sent(Config { seed, ..config() }, &ets, FLOWS)[0];
    let all: Vec<usize> = (0..12).map(of).collect();
    assert!(all.iter().all(|share| (0..=55).contains(share)), "{all:?}");
    assert!(all.iter().any(|share| *share < 22) && all.iter().any(|share| *share > 28), "{all:?}");
}

#[test]
fn a_nic_shares_otherwise_from_when_it_is_told_to() {
    let mut before = config();
    let of = |classes: [u8; 2]| {
        let mut nic = rig_lab::Nic::quiet();
        nic.ets = ets(&classes.map(Selection::Percent));
        Config::declared(&nic).ets
    };
    before.ets = of([50, 50]);
    let mut nic = Nic::new(NIC, &before, 100_000_000_000);
    nic.start(Time::ZERO, &flow(1));
    nic.start(Time::ZERO, &Flow { class: 4, ..flow(2) });
    let mut ready = Time::ZERO;
    let mut sent = |nic: &mut Nic| {
        (0..100).fold([0_u32; 2], |mut all, _| {
            let (at, choice) = nic.plan(ready, 0);
            ready = at + Dur(88_480);
            let stream = nic.begin(choice).expect("a frame").stream;
            nic.sent(at, choice);
            all[usize::from(stream) - 1] += 1;
            all
        })
    };
    let halves = sent(&mut nic);
    assert!(halves[0].abs_diff(50) <= 1, "{halves:?}");
    nic.set(Time::ZERO, &Config { ets: of([10, 90]), ..before });
    let tenth = sent(&mut nic);
    assert!(tenth[0].abs_diff(10) <= 1, "{tenth:?}");
}

#[test]
fn each_deviation_shares_otherwise() {
    let strict = [SHARES[0], SHARES[1], Selection::Strict];
    let two_strict = [Selection::Percent(100), Selection::Strict, Selection::Strict];
    let alike = [Selection::Percent(50); 2];
    let all: &[(u8, u32)] = &[(3, 1_024), (4, 1_024), (5, 1_024)];
    type Row<'r> = (&'r str, Ets, &'r [(u8, u32)], &'r [usize], &'r [usize]);
    let cases: &[Row<'_>] = &[
        ("ets_shares_swapped", ets(&SHARES), FLOWS, &[25, 75], &[75, 25]),
        ("ets_shares_equal", ets(&SHARES), FLOWS, &[25, 75], &[50, 50]),
        // A frame of 274 B is a quarter of one of 1086 B.
        ("ets_counts_frames", ets(&alike), &[(3, 212), (4, 1_024)], &[194, 49], &[80, 79]),
        ("ets_unused_kept", ets(&SHARES), &FLOWS[..1], &[101], &[26]),
        ("ets_strict_last", ets(&strict), all, &[0, 0, 101], &[25, 75, 0]),
        ("ets_strict_in_turn", ets(&strict), all, &[0, 0, 101], &[13, 38, 50]),
        ("ets_strict_lowest_first", ets(&two_strict), &all[1..], &[0, 101], &[101, 0]),
        ("ets_limit_ignored", limited(0, 10, ets(&SHARES)), &FLOWS[..1], &[10], &[101]),
        ("ets_limit_of_port", limited(0, 10, ets(&SHARES)), &FLOWS[1..], &[101], &[10]),
        ("ets_priority_off_by_one", ets(&SHARES), FLOWS, &[25, 75], &[50, 50]),
    ];
    for (name, ets, flows, right, wrong) in cases {
        let seen = both(name, |config| sent(config, ets, flows));
        assert_eq!(seen, [right.to_vec(), wrong.to_vec()], "{name}");
    }
    assert_eq!(cases.len(), EtsFaults::ROWS.len());
}
