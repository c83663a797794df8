//! A lone group whose frames do not leave: which frame makes the device send XOFF, and which is the first to be lost
//! (F5, worked by hand).

use super::*;

/// Numbers, from 1, of the frame that crosses and of the first that is lost.
fn numbers(config: &Config, size: u16) -> (u32, u32) {
    let mut buffer = Buffer::new(config, 8);
    let mut xoff = 0;
    for number in 1.. {
        match buffer.admit(Place { size, ..lossless(0) }) {
            Admission::Within => assert_eq!(xoff, 0, "within again without anything leaving"),
            Admission::Over if xoff == 0 => xoff = number,
            Admission::Over => {}
            Admission::GroupFull => return (xoff, number),
            Admission::QueueFull => unreachable!("a lossless frame"),
        }
    }
    unreachable!("the buffer is finite")
}

/// What `numbers` are wherever the crossing frame is charged.
#[track_caller]
fn check(config: &Config, size: u16, xoff: u32, lost: u32) {
    let with = |crossing| numbers(&Config { crossing, ..*config }, size);
    assert_eq!(with(Crossing::Headroom), (xoff, lost));
    assert_eq!(with(Crossing::Shared), (xoff, lost + 1));
}

#[test]
fn five_cells_of_208_bytes_at_an_eighth() {
    // T = 1 248 + 10 875 072/9 = 1 209 589 B hold 1 163 frames of 1 040 B; 165 568 B of headroom hold 159.
    let config =
        Config { pool: 10_875_072, cell: 208, reserved: 1_248, headroom: 165_568, ..CONFIG };
    check(&config, 1_024, 1_164, 1_164 + 159);
}

#[test]
fn descriptors_of_16_bytes_at_one() {
    // 1 024 + 16 B are 13 cells of 80 B. T = 4 400 + 13 107 200/2 = 6 558 000 B hold 6 305; 100 000 B hold 96.
    let config = Config {
        pool: 13_107_200,
        cell: 80,
        descriptor: 16,
        reserved: 4_400,
        group: Limit::Dynamic(0),
        headroom: 100_000,
        ..CONFIG
    };
    check(&config, 1_024, 6_306, 6_306 + 96);
    // 64 + 16 B are one cell. T holds exactly 81 975, the last of which is still within; the headroom holds 1 250.
    check(&config, 64, 81_976, 81_976 + 1_250);
}

#[test]
fn exactly_at_the_limit_is_within() {
    // T = 9 000/9 = 1 000 B: ten frames of 100 B leave 8 000 B, an eighth of which is what they share.
    let config = Config { pool: 9_000, reserved: 0, headroom: 300, ..CONFIG };
    check(&config, 100, 11, 11 + 3);
    // One byte less in the pool, and the tenth crosses.
    check(&Config { pool: 8_999, ..config }, 100, 10, 10 + 3);
}

#[test]
fn a_static_limit_is_reached_by_the_share_alone() {
    // 5 000 B and 500 B reserved hold five frames of 1 000 B.
    let config = Config { group: Limit::Static(5_000), reserved: 500, headroom: 2_999, ..CONFIG };
    check(&config, 1_000, 6, 6 + 2);
}

#[test]
fn a_port_that_gets_as_much_as_is_left_leaves_its_group_a_third() {
    // ap*aq/(ap*aq + aq + 1) of 12 000 B: 4 000 B with 1 and 1, 4 800 B with 2 and 1/2.
    let config = Config { pool: 12_000, reserved: 0, headroom: 500, ..CONFIG };
    let with = |port, group| Config { port: Some(port), group: Limit::Dynamic(group), ..config };
    check(&with(0, 0), 100, 41, 41 + 5);
    check(&with(1, -1), 100, 49, 49 + 5);
}

#[test]
fn the_groups_of_a_port_take_from_one_another_and_other_ports_only_from_the_pool() {
    let config = Config {
        pool: 12_000,
        reserved: 0,
        lossless: 0b1_1000,
        port: Some(0),
        group: Limit::Dynamic(0),
        ..CONFIG
    };
    let frame = |from, class| Place { class, size: 100, ..lossless(from) };
    let mut buffer = Buffer::new(&config, 8);
    assert_eq!(fill(&mut buffer, frame(0, 3)).0, 40);
    buffer.release(frame(0, 3));
    // 8 000 B are left, of which the port's first group has 4 000 B: 1 333 B for the second.
    assert_eq!(fill(&mut buffer, frame(0, 4)).0, 13);
    buffer.release(frame(0, 4));
    // 6 700 B are left for another port: a third of them.
    assert_eq!(fill(&mut buffer, frame(1, 3)).0, 22);
}

#[test]
fn without_headroom_the_crossing_frame_is_lost_or_is_the_last_one_in() {
    let config = Config { pool: 9_000, reserved: 0, headroom: 0, ..CONFIG };
    assert_eq!(numbers(&config, 100), (0, 11));
    assert_eq!(numbers(&Config { crossing: Crossing::Shared, ..config }, 100), (11, 12));
}

#[test]
fn a_crossing_frame_goes_to_the_pool_only_once() {
    let config = Config { crossing: Crossing::Shared, ..CONFIG };
    let mut buffer = Buffer::new(&config, 8);
    assert_eq!(fill(&mut buffer, lossless(0)), (115, Admission::Over));
    assert_eq!((buffer.held(0, 3), buffer.share_peak(0, 3)), ((0, 116_000), 112_000));
    assert_eq!(buffer.admit(lossless(0)), Admission::Over);
    assert_eq!((buffer.held(0, 3), buffer.share_peak(0, 3)), ((1_000, 116_000), 112_000));
}
