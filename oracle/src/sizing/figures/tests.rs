//! Against what others published, and the bounds of what is sized. docs/sizing.md says what differs and why.

use super::*;
use rig_lab::Switch;
use rig_units::{Length, PortSpeed};

fn amount(demand: &Demand, name: &str) -> Extent {
    let found = figures(demand).into_iter().find(|figure| figure.name == name);
    found.unwrap_or_else(|| panic!("no figure {name}")).amount
}

fn bytes(demand: &Demand, name: &str) -> u64 {
    match amount(demand, name) {
        Extent::Size(Bytes(bytes)) => bytes,
        other => panic!("{name}: {other}"),
    }
}

fn usual() -> Demand {
    Demand { ports: 32, memory: Some(Bytes(32 << 20)), ..Demand::of(&Switch::usual()) }
}

/// A Spectrum-3 port as in sonic-swss pull request 3235: port MTU 9100, lossless MTU 1024, half of the packets small, cells of 144 B.
fn spectrum_3() -> Demand {
    let mut demand = Demand { mtu: Bytes(9_100), lossless_mtu: Bytes(1_024), ..usual() };
    demand.buffer.cell = Bytes(144);
    demand.respond_within(Quanta(394));
    demand
}

#[test]
fn sonics_published_headroom_stands_beside_f3s_and_the_difference_is_what_the_page_says() {
    let demand = spectrum_3();
    assert_eq!((bytes(&demand, "SONiC's xoff"), bytes(&demand, "SONiC's size")), (51_200, 70_656));
    // 9120 B ahead, 60 B of PFC, 404.04 ns of cable, 394 quanta, one frame begun: frames of 145 B, 165 B of wire each, take two cells of
    // 144 B, more than those of 64 B do. SONiC counts no preambles and weighs half of the packets as small.
    assert_eq!(demand.in_flight().frame, Bytes(145));
    assert_eq!(bytes(&demand, "headroom"), 240 * 288);
    assert_eq!(bytes(&demand, "buffer.xoff"), 240 * 288 + 8 * 144);
    // Of frames of one cell each that fill it, and no small ones, F3 is below F6: preambles do not take room.
    let in_flight = demand.loop_of(Bytes(1_008)).stored(&demand.buffer).hi;
    assert_eq!(in_flight, 39 * 1_008);
    assert!(in_flight < 51_200);
}

#[test]
fn dcqcns_buffer_comes_out_and_its_22_kilobytes_are_those_of_239_metres() {
    let mut demand = Demand {
        speed: PortSpeed::from_bps(40_000_000_000).unwrap(),
        mtu: Bytes(1_500),
        lossless_mtu: Bytes(1_500),
        classes: 8,
        memory: Some(Bytes(12_000_000)),
        ..usual()
    };
    demand.respond_within(Quanta(118));
    (demand.buffer.cell, demand.buffer.reserved) = (Bytes(1), Bytes(0));
    let at = |metres: u64| Demand { cable: Length(metres * 100), ..demand.clone() };
    assert_eq!(bytes(&at(300), "headroom"), 25_449);
    assert!(bytes(&at(238), "headroom") <= 22_400 && 22_400 <= bytes(&at(240), "headroom"));
    // What is left of 12 MB for queues, by the paper's 22.4 KB: 6 265 600 B, and 21.75 KB with its beta of 8.
    let buffer =
        Buffer { pool: Bytes(12_000_000 - 256 * 22_400), dynamic_th: 0, ..demand.buffer.clone() };
    assert_eq!(before_any_pfc(&buffer, 32, 8), 21_755);
}

#[test]
fn alpha_is_the_least_with_which_marking_is_certain_before_a_pause() {
    let demand = usual();
    let Extent::Exponent(k) = amount(&demand, "buffer.dynamic_th") else {
        panic!("some alpha is enough")
    };
    let kmax = bytes(&demand, "wred.kmax");
    let pool = Bytes(bytes(&demand, "buffer.pool"));
    let reaches =
        |k| queue_at_xoff(&Buffer { pool, dynamic_th: k, ..demand.buffer.clone() }, MIN_FRAME, 1);
    assert!(reaches(k) >= kmax && reaches(k - 1) < kmax);
    assert_eq!(k, -3, "SONiC's own");
}

#[test]
fn a_memory_that_headroom_fills_leaves_no_pool_and_no_alpha() {
    let demand = usual();
    let taken = 64 * (bytes(&demand, "buffer.xoff") + demand.buffer.reserved.0);
    let with = |memory| Demand { memory: Some(Bytes(memory)), ..demand.clone() };
    assert_eq!(amount(&with(taken + 1), "buffer.pool"), Extent::Size(Bytes(1)));
    assert_eq!(amount(&with(taken), "buffer.pool"), Extent::Impossible);
    for follows in ["buffer.dynamic_th", "queue of all senders at XOFF", "marking before any PFC"] {
        assert_eq!(amount(&with(taken), follows), Extent::Undefined, "{follows}");
    }
    // A pool of one byte, in which no alpha reaches kmax.
    assert_eq!(amount(&with(taken + 1), "buffer.dynamic_th"), Extent::Impossible);
    for follows in ["queue of all senders at XOFF", "marking before any PFC"] {
        assert_eq!(amount(&with(taken + 1), follows), Extent::Undefined, "{follows}");
    }
}

#[test]
fn a_threshold_below_one_frame_is_told() {
    let numbers = |mbps: u64| {
        let speed = PortSpeed::from_bps(mbps * 1_000_000).expect("a speed");
        let all =
            figures(&Demand { speed, mtu: Bytes(2_000), lossless_mtu: Bytes(2_000), ..usual() });
        let kmin = all.into_iter().find(|figure| figure.name == "wred.kmin").expect("a figure");
        kmin.numbers
    };
    // 100 KB at 25 Gb/s are 2000 B at 500 Mb/s.
    assert!(!numbers(500).contains("less than one frame"), "{}", numbers(500));
    assert!(numbers(400).contains("= 1600B, less than one frame of 2000B"), "{}", numbers(400));
}

#[test]
fn over_subscription_divides_the_headroom_of_all_and_rounds_up() {
    let demand = usual();
    let of = |ratio| {
        bytes(&Demand { over_subscription: ratio, ..demand.clone() }, "buffer.headroom_pool")
    };
    assert_eq!(of(1), 64 * bytes(&demand, "buffer.xoff"));
    assert_eq!(of(3), of(1).div_ceil(3));
}
