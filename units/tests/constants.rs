//! Constants of the standards, worked out by hand: what both sides of the rig share must not be judged by itself.

use rig_units::{Bytes, Dur, L1_OVERHEAD, Length, MIN_FRAME, PortSpeed, Quanta};

/// Speed, picoseconds of one byte, of one quantum (512 bits), of 65535 quanta, of a 64 B frame with preamble and gap.
const TABLE: [(&str, u64, u64, u64, u64); 14] = [
    ("10Mbps", 800_000, 51_200_000, 3_355_392_000_000, 67_200_000),
    ("100Mbps", 80_000, 5_120_000, 335_539_200_000, 6_720_000),
    ("1Gbps", 8_000, 512_000, 33_553_920_000, 672_000),
    ("2.5Gbps", 3_200, 204_800, 13_421_568_000, 268_800),
    ("5Gbps", 1_600, 102_400, 6_710_784_000, 134_400),
    ("10Gbps", 800, 51_200, 3_355_392_000, 67_200),
    ("25Gbps", 320, 20_480, 1_342_156_800, 26_880),
    ("40Gbps", 200, 12_800, 838_848_000, 16_800),
    ("50Gbps", 160, 10_240, 671_078_400, 13_440),
    ("100Gbps", 80, 5_120, 335_539_200, 6_720),
    ("200Gbps", 40, 2_560, 167_769_600, 3_360),
    ("400Gbps", 20, 1_280, 83_884_800, 1_680),
    ("800Gbps", 10, 640, 41_942_400, 840),
    ("1.6Tbps", 5, 320, 20_971_200, 420),
];

#[test]
fn every_standard_speed_is_exact_to_the_picosecond() {
    for (name, byte, quantum, longest, shortest_frame) in TABLE {
        let speed: PortSpeed = name.parse().expect("a standard speed");
        assert_eq!(speed.byte(), Dur(byte), "{name}");
        assert_eq!(speed.pause(Quanta(1)), Dur(quantum), "{name}");
        assert_eq!(speed.pause(Quanta::MAX), Dur(longest), "{name}");
        assert_eq!(speed.slot(MIN_FRAME), Dur(shortest_frame), "{name}");
        assert_eq!(speed.to_string(), name);
    }
}

#[test]
fn speeds_are_ordered_by_rate() {
    let mut speeds: Vec<PortSpeed> = TABLE.iter().map(|row| row.0.parse().unwrap()).collect();
    let slow_to_fast = speeds.clone();
    speeds.reverse();
    speeds.sort();
    assert_eq!(speeds, slow_to_fast);
    assert!(PortSpeed::G10 < PortSpeed::G100 && PortSpeed::G100 < PortSpeed::G400);
}

#[test]
fn a_pause_of_no_quanta_is_no_time() {
    assert_eq!(PortSpeed::G100.pause(Quanta(0)), Dur::ZERO);
}

/// 8 B of preamble and start delimiter, 12 B of gap (IEEE 802.3 clauses 3.2.1, 3.2.2, 4.4.2).
#[test]
fn layer_1_adds_twenty_bytes() {
    assert_eq!(L1_OVERHEAD, Bytes(8 + 12));
    let frame = Bytes(1_518);
    let more = PortSpeed::G10.slot(frame) - PortSpeed::G10.serialise(frame);
    assert_eq!(more, Dur(20 * 800));
}

/// The rates that vendors quote for 64 B frames: 14.88 million a second at 10 Gb/s, 148.8 at 100 Gb/s.
#[test]
fn the_highest_frame_rate_is_the_one_that_is_quoted() {
    let per_second = |speed: PortSpeed| Dur::s(1) / speed.slot(MIN_FRAME);
    assert_eq!(per_second(PortSpeed::G10), 14_880_952);
    assert_eq!(per_second(PortSpeed::G100), 148_809_523);
}

#[test]
fn a_signal_takes_a_microsecond_over_198_metres_of_cable() {
    assert_eq!(Length(19_800).travel(), Dur::us(1));
    assert_eq!(Length(500).travel(), Dur(25_252));
}
