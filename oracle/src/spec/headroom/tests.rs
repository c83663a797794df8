//! Published results, and others worked by hand.

use super::*;

/// A Spectrum-3 at its defaults: cells of 144 B, `pipeline_latency` 19, `mac_phy_delay` 0.8, port MTU 9100, lossless MTU
/// 1024, half of the packets small, no shared headroom.
fn sizing(gbps: u64, metres: u64) -> Sizing {
    let speed = PortSpeed::from_bps(gbps * 1_000_000_000).unwrap();
    Sizing {
        rule: Rule::Bytes,
        speed,
        cable: Length(metres * 100),
        port_mtu: Bytes(9_100),
        lossless_mtu: Bytes(1_024),
        small_packets: 50,
        cell: Bytes(144),
        pipeline_latency: 19_000,
        mac_phy_delay: 800,
        gearbox: Dur::ZERO,
        peer: response_quanta(speed).unwrap(),
        eight_lanes: gbps >= 400,
        generation: 3,
        shared: false,
    }
}

fn spectrum_4(gbps: u64, metres: u64) -> Sizing {
    Sizing { cell: Bytes(192), generation: 4, ..sizing(gbps, metres) }
}

/// xon, xoff, size.
fn sized(sizing: Sizing) -> (u64, u64, u64) {
    let profile = sizing.profile();
    (profile.xon.0, profile.xoff.0, profile.size.0)
}

/// The last two of `sized`, where XON is the 19 KiB of the pipeline.
fn above(sizing: Sizing) -> (u64, u64) {
    let (xon, xoff, size) = sized(sizing);
    assert_eq!(xon, 19_456);
    (xoff, size)
}

#[test]
fn the_four_results_that_the_rules_author_published_come_out_to_the_byte() {
    // sonic-swss pull request 3235, comment of 2024-07-15: port MTU 9100, lossless MTU 1024, 50 %.
    assert_eq!(sized(sizing(400, 300)), (38_912, 272_384, 320_512));
    assert_eq!(sized(sizing(100, 40)), (19_456, 51_200, 70_656));
    assert_eq!(sized(spectrum_4(800, 300)), (38_912, 474_112, 522_240));
    assert_eq!(sized(spectrum_4(200, 40)), (19_456, 65_536, 84_992));
}

#[test]
fn at_100_gigabits_it_grows_with_the_cable_by_what_is_under_way() {
    // 9100 + 819.2 + 394 x 64 = 35135.2, and 631.3 on 5 m, 5050.5 on 40 m, 37878.8 on 300 m. 50 %: mean 544, 64 / 544 of the
    // bytes take three cells where one would do, x 1.235294; + 1024: 44.15, 49.48, 89.08 KiB.
    assert_eq!(above(sizing(100, 5)), (46_080, 65_536));
    assert_eq!(above(sizing(100, 40)), (51_200, 70_656));
    assert_eq!(above(sizing(100, 300)), (92_160, 111_616));
}

#[test]
fn small_packets_weigh_64_over_the_mean_even_when_there_are_none() {
    let with = |metres, small| above(Sizing { small_packets: small, ..sizing(100, metres) });
    // 0 %: 64 / 1024 at three cells, x 1.125: 40.29, 45.15, 81.22 KiB.
    assert_eq!(with(5, 0), (41_984, 61_440));
    assert_eq!(with(40, 0), (47_104, 66_560));
    assert_eq!(with(300, 0), (83_968, 103_424));
    // 100 %: x 3: 105.78, 118.73, 214.91 KiB.
    assert_eq!(with(5, 100), (108_544, 128_000));
    assert_eq!(with(40, 100), (121_856, 141_312));
    assert_eq!(with(300, 100), (220_160, 239_616));
    assert_eq!(with(40, 255), with(40, 100));
    // Cells below 128 B: 2 x 96 / 97 = 1.98, rounded up to 2. 96 %: mean 102.4, x 1.625: 64.77 KiB.
    let small_cells = Sizing { cell: Bytes(96), small_packets: 96, ..sizing(100, 40) };
    assert_eq!(above(small_cells), (66_560, 86_016));
}

#[test]
fn eight_lanes_double_the_latency_and_add_a_frame() {
    // 400 Gb/s, 40 m: 9100 + 819.2 + 905 x 64 + 20202.0 = 88041.2; x 1.235294 + 1024 = 107.21 KiB. Size: 110592 + 38912 +
    // 9100 = 154.9 KiB.
    assert_eq!(sized(sizing(400, 40)), (38_912, 110_592, 158_720));
    let worst = Sizing { small_packets: 100, ..sizing(400, 40) };
    assert_eq!(sized(worst), (38_912, 265_216, 313_344));
    let four_lanes = Sizing { eight_lanes: false, ..sizing(400, 40) };
    assert_eq!(sized(four_lanes), (19_456, 110_592, 130_048));
    // 800 Gb/s on Spectrum-4, 40 m: 12000 on the tile and 40404.0 on the cable: 120243.2; 146.05 KiB.
    assert_eq!(sized(spectrum_4(800, 40)), (38_912, 150_528, 198_656));
}

#[test]
fn where_headroom_is_shared_a_group_keeps_its_xon_only() {
    let shared = |sizing| Sizing { shared: true, ..sizing };
    assert_eq!(sized(shared(sizing(100, 40))), (19_456, 51_200, 19_456));
    let worst = Sizing { small_packets: 100, ..spectrum_4(800, 40) };
    assert_eq!(sized(shared(worst)), (38_912, 362_496, 38_912));
}

#[test]
fn a_gearbox_counts_both_ways() {
    // 2 x 100000 x 500 / 8192 = 12207.0: 52392.7 x 1.235294 + 1024 = 64.20 KiB.
    let sizing = Sizing { gearbox: Dur::ns(500), ..sizing(100, 40) };
    assert_eq!(above(sizing), (66_560, 86_016));
}

#[test]
fn the_rule_before_202405_counted_small_packets_by_number() {
    let before = |sizing| Sizing { rule: Rule::Packets, ..sizing };
    // 40 m: 4932.1 on the cable, 40067.3; 144 / 64 = 2.25 for half of them, x 1.625: 64.58 KiB.
    assert_eq!(above(before(sizing(100, 5))), (59_392, 78_848));
    assert_eq!(above(before(sizing(100, 40))), (66_560, 86_016));
    assert_eq!(above(before(sizing(100, 300))), (118_784, 138_240));
    let at = |small, cell| {
        above(before(Sizing { small_packets: small, cell: Bytes(cell), ..sizing(100, 40) }))
    };
    assert_eq!(at(100, 144), (92_160, 111_616));
    // None: what is under way as it is, 40.13 KiB. 96 B cells: x 1.979.
    assert_eq!(at(0, 96), (41_984, 61_440));
    assert_eq!(at(100, 96), (80_896, 100_352));
    // Eight lanes: 2 x 19 - 1 KiB.
    assert_eq!(sized(before(sizing(400, 40))), (37_888, 143_360, 190_464));
    assert_eq!(sized(before(sizing(400, 300))), (37_888, 352_256, 399_360));
    // Nothing on a tile yet: a Spectrum-4 differs by its cells only.
    let as_3 = Sizing { generation: 3, ..spectrum_4(200, 40) };
    assert_eq!(sized(before(spectrum_4(200, 40))), sized(before(as_3)));
}

#[test]
fn the_rule_of_202605_adds_two_kib_until_the_worst_case_is_reached() {
    let since = |sizing| Sizing { rule: Rule::Compensated, ..sizing };
    assert_eq!(above(since(sizing(100, 40))), (53_248, 72_704));
    let at = |small| Sizing { small_packets: small, ..sizing(100, 40) };
    assert_eq!(above(since(at(100))), above(at(100)));
    // Shared headroom: none.
    let shared = Sizing { shared: true, ..sizing(100, 40) };
    assert_eq!(sized(since(shared)), sized(shared));
    // Already the worst case: with a lossless MTU of 64 every packet is small.
    let alike = Sizing { lossless_mtu: Bytes(64), ..sizing(100, 40) };
    assert_eq!(sized(since(alike)), sized(alike));
    // Spectrum-6 at 800 Gb/s, cells of 256 B: x 1.352941 of 108243.2, 144.01 KiB; 2 and 18 more.
    let spectrum_6 = Sizing { cell: Bytes(256), generation: 6, ..sizing(800, 40) };
    assert_eq!(sized(since(spectrum_6)), (38_912, 168_960, 217_088));
    assert_eq!(sized(spectrum_6).1, 148_480);
}

#[test]
fn a_tofino_keeps_its_xon_and_waits_twice_as_long_at_400_gigabits() {
    let tofino = |sizing| Sizing { rule: Rule::Barefoot, ..sizing };
    assert_eq!(sized(tofino(sizing(100, 40))), (19_456, 66_560, 19_456));
    // 2 x 905 x 64 = 115840: 145487.7 x 1.625 + 1024 = 231.88 KiB; eight lanes make no difference.
    assert_eq!(sized(tofino(sizing(400, 40))), (19_456, 237_568, 19_456));
}

#[test]
fn the_longest_response_is_listed_by_speed() {
    let quanta = |gbps: u64| response_quanta(PortSpeed::from_bps(gbps * 1_000_000_000).unwrap());
    assert_eq!([800, 400, 200, 100].map(quanta), [905, 905, 453, 394].map(|q| Some(Quanta(q))));
    assert_eq!([50, 40, 25, 10].map(quanta), [147, 118, 80, 67].map(|q| Some(Quanta(q))));
    assert_eq!([1, 5].map(quanta), [Some(Quanta(2)), None]);
}
