//! Worked by hand, and held against figures that a vendor measured.

use super::*;
use rig_capture::Span;
use rig_units::Dur;

const ALONE: Others = Others::ALONE;

/// As on a Trident: small cells, alpha an eighth, headroom of 796 cells.
fn broadcom() -> Buffer {
    Buffer {
        cell: Bytes(208),
        reserved: Bytes(1_248),
        xon_offset: Bytes(2_288),
        xoff: Bytes(165_568),
        lossy_pool: Bytes(9_243_812),
        lossy_dynamic_th: 3,
        lossy_static_th: None,
        ..Buffer::plain(10_875_072, -3)
    }
}

/// As on a Spectrum-3: a descriptor in the first cell, alpha 1.
fn mellanox() -> Buffer {
    Buffer {
        cell: Bytes(144),
        descriptor: Bytes(16),
        reserved: Bytes(19_456),
        xoff: Bytes(51_200),
        ..Buffer::plain(13_945_824, 0)
    }
}

fn shared(buffer: &Buffer) -> Buffer {
    Buffer { crossing: Crossing::Shared, ..buffer.clone() }
}

fn edges(buffer: &Buffer, frame: u64, others: &Others) -> (u64, u64) {
    (first_xoff(buffer, Bytes(frame), others), first_drop(buffer, Bytes(frame), others))
}

#[test]
fn a_limit_that_does_not_count_the_last_frames_is_higher_by_as_many_as_may_come() {
    // 8 KB of 1 000 B frames: the ninth crosses, and 3 072 B on the cable are three frames of 1 020 B, not four.
    let buffer =
        Buffer { static_th: Some(Bytes(8_000)), xoff: Bytes(5_000), ..Buffer::plain(100_000, 0) };
    let late = |uncounted| Others::ALONE.with(Off { uncounted, ..Off::NONE });
    let of = |uncounted| {
        let (frame, others) = (Bytes(1_000), late(uncounted));
        (first_xoff(&buffer, frame, &others), first_drop(&buffer, frame, &others))
    };
    assert_eq!([of(0), of(1_019), of(1_020), of(3_072)], [(9, 14), (9, 14), (10, 15), (12, 17)]);
    // Where it may go on does not move: what leaves counts at once.
    let xon = |uncounted| xon_after(&buffer, Bytes(1_000), &late(uncounted), 12);
    assert_eq!([xon(0), xon(3_072)], [Some(4), Some(4)]);
    // Two that grow together.
    let both = |uncounted| together(&buffer, Bytes(1_000), GroupSpread::apart(2), &late(uncounted));
    assert_eq!([both(0), both(1_020)], [(8, 9), (9, 10)]);
}

#[test]
fn a_frame_takes_whole_cells_with_its_descriptor() {
    let taken = |buffer: &Buffer, frame| occupied(buffer, Bytes(frame));
    // 1024 / 208 = 4.92: five cells.
    assert_eq!(taken(&broadcom(), 1_024), 1_040);
    assert_eq!(taken(&broadcom(), 64), 208);
    // 128 + 16 fill a cell of 144 exactly, one byte more takes two; 1040 / 144 = 7.22.
    assert_eq!(taken(&mellanox(), 128), 144);
    assert_eq!(taken(&mellanox(), 129), 288);
    assert_eq!(taken(&mellanox(), 1_024), 1_152);
    for cell in [0, 1] {
        assert_eq!(taken(&Buffer { cell: Bytes(cell), ..mellanox() }, 1_024), 1_040);
    }
}

#[test]
fn a_group_of_alpha_an_eighth_gets_a_ninth_of_the_pool() {
    // 10875072 / 9 = 1208341.3, with the reserve 1209589. In frames of 1040: 1163.07. Headroom: 165568 / 1040 = 159.2.
    let buffer = broadcom();
    assert_eq!(lone_limit(&buffer), 1_209_589);
    assert_eq!(edges(&buffer, 1_024, &ALONE), (1_164, 1_323));
    assert_eq!(edges(&shared(&buffer), 1_024, &ALONE), (1_164, 1_324));
    // In frames of 208: 5815.3, and a headroom of 796.
    assert_eq!(edges(&buffer, 64, &ALONE), (5_816, 6_612));
    assert_eq!(edges(&shared(&buffer), 64, &ALONE), (5_816, 6_613));
}

#[test]
fn a_group_of_alpha_one_gets_half_of_the_pool() {
    // 13945824 / 2 + 19456 = 6992368. Frames of 1152: 6069.8, headroom 44.4. Frames of 144: 48558.1, 355.6.
    // Frames of 288: 24279.1, 177.8.
    let buffer = mellanox();
    assert_eq!(edges(&buffer, 1_024, &ALONE), (6_070, 6_114));
    assert_eq!(edges(&buffer, 128, &ALONE), (48_559, 48_914));
    assert_eq!(edges(&buffer, 129, &ALONE), (24_280, 24_457));
}

#[test]
fn exactly_at_the_limit_is_still_within() {
    // 450 of 900 leave 450.
    assert_eq!(first_xoff(&Buffer::plain(900, 0), Bytes(1), &ALONE), 451);
    // 8/9 of 900 = 800 leave 100; 1/9 = 100 leave 800, and an eighth of that is 100.
    assert_eq!(first_xoff(&Buffer::plain(900, 3), Bytes(1), &ALONE), 801);
    assert_eq!(first_xoff(&Buffer::plain(900, -3), Bytes(1), &ALONE), 101);
    // A byte less in the pool, and an eighth of 799 is 99.
    assert_eq!(first_xoff(&Buffer::plain(899, -3), Bytes(1), &ALONE), 100);
}

#[test]
fn what_a_group_holds_goes_from_reserve_to_pool_to_headroom() {
    let held = |n| holds(&broadcom(), Bytes(1_024), &ALONE, n);
    assert_eq!(held(0), Held::default());
    assert_eq!(held(1), Held { reserved: 1_040, shared: 0, headroom: 0 });
    // 2 x 1040 = 1248 + 832: the second frame lies in both.
    assert_eq!(held(2), Held { reserved: 1_248, shared: 832, headroom: 0 });
    // 1163 x 1040 = 1209520 = 1248 + 1208272.
    let full = Held { reserved: 1_248, shared: 1_208_272, headroom: 0 };
    assert_eq!(held(1_163), full);
    assert_eq!(held(1_164), Held { headroom: 1_040, ..full });
    assert_eq!(held(1_200), Held { headroom: 37 * 1_040, ..full });
    // 159 frames fit, the rest is lost and the watermarks stay.
    assert_eq!(held(1_322), Held { headroom: 165_360, ..full });
    assert_eq!(watermarks(&broadcom(), Bytes(1_024), &ALONE, 2_000), (1_208_272, 165_360));
    // The crossing frame in the pool: one more there, one later in the headroom.
    let held = |n| holds(&shared(&broadcom()), Bytes(1_024), &ALONE, n);
    assert_eq!(held(1_164), Held { shared: 1_209_312, ..full });
    assert_eq!(held(1_165), Held { reserved: 1_248, shared: 1_209_312, headroom: 1_040 });
}

#[test]
fn a_static_limit_holds_whatever_is_left() {
    let limited = Buffer {
        static_th: Some(Bytes(100_000)),
        reserved: Bytes(1_000),
        xoff: Bytes(250),
        xon_offset: Bytes(5_000),
        port_dynamic_th: Some(-8),
        ..Buffer::plain(1_000_000, -8)
    };
    // (1000 + 100000) / 100 = 1010 frames; the headroom takes two.
    assert_eq!(edges(&limited, 100, &ALONE), (1_011, 1_013));
    let busy = Others { pool: 900_000, ..ALONE };
    assert_eq!(edges(&limited, 100, &busy), (1_011, 1_013));
    // Only 50000 left: the 511th frame does not fit, and its place is the headroom in either way of charging.
    let busier = Others { pool: 950_000, ..ALONE };
    assert_eq!(edges(&limited, 100, &busier), (511, 513));
    assert_eq!(edges(&shared(&limited), 100, &busier), (511, 513));
    // 100 m - 1000 <= 95000: 960 frames may stay of 1010, and one of the headroom goes first.
    assert_eq!(xon_after(&limited, Bytes(100), &ALONE, 1_011), Some(51));
    // Any pool of 100000 or more shows the same.
    let pool = pool_from(&limited, Bytes(100), &ALONE, 1_011);
    assert_eq!(pool, Some(Span { lo: 100_000, hi: u64::MAX }));
    assert_eq!(pool_from(&limited, Bytes(100), &ALONE, 1_012), None);
}

#[test]
fn the_crossing_frame_may_take_the_last_byte_of_the_pool() {
    // The second frame of 50 is beyond the limit of 60, and the pool of 100 just holds it; one of 99 does not.
    let limited = |pool| Buffer { static_th: Some(Bytes(60)), ..shared(&Buffer::plain(pool, 0)) };
    assert_eq!(edges(&limited(100), 50, &ALONE), (2, 3));
    assert_eq!(edges(&limited(99), 50, &ALONE), (2, 2));
}

#[test]
fn a_port_shares_its_part_among_its_groups() {
    let ported = |pool, port, k| Buffer { port_dynamic_th: Some(port), ..Buffer::plain(pool, k) };
    // B ap aq / (ap aq + aq + 1) = 900 x 2 / 4 = 450: left 450, twice that is 900, less 450 is 450.
    let buffer = ported(900, 1, 0);
    assert_eq!(first_xoff(&buffer, Bytes(1), &ALONE), 451);
    // The next group of the port: 2 (450 - S) - 450 - S >= S gives S <= 112.5. One of another port: 900 >= 4 S.
    let held = holds(&buffer, Bytes(1), &ALONE, 451);
    assert_eq!(first_xoff(&buffer, Bytes(1), &ALONE.and(held, true)), 113);
    assert_eq!(first_xoff(&buffer, Bytes(1), &ALONE.and(held, false)), 226);
    // ap = aq = 1/2: B / 7 = 100. left 600, half is 300, less 100 is 200, half is 100.
    assert_eq!(first_xoff(&ported(700, -1, -1), Bytes(1), &ALONE), 101);
    // ap = 4, aq = 8: 32 / 41 of 4100.
    assert_eq!(first_xoff(&ported(4_100, 2, 3), Bytes(1), &ALONE), 3_201);
    // Two groups of one port together: 2 (900 - 2 S) - 2 S >= S gives S <= 257.1; of two ports, 1800 >= 6 S.
    const ONE_PORT: GroupSpread = GroupSpread { groups: 2, fewest: 2, most: 2 };
    assert_eq!(together(&buffer, Bytes(1), ONE_PORT, &ALONE), (257, 258));
    assert_eq!(together(&buffer, Bytes(1), GroupSpread::apart(2), &ALONE), (300, 301));
}

#[test]
fn two_groups_at_each_of_three_ports_share_what_their_port_has() {
    // Six groups of 1152 B frames, alpha 1 of the port and of the group, 1 MB: S is within 1 000 000 - 6 S - 2 S, so a ninth.
    let buffer = Buffer {
        port_dynamic_th: Some(0),
        reserved: Bytes(19_456),
        cell: Bytes(1_152),
        ..Buffer::plain(1_000_000, 0)
    };
    let six = GroupSpread { groups: 6, fewest: 2, most: 2 };
    // 113 x 1152 - 19456 = 110 720 B are, 114 x 1152 - 19456 = 111 872 B are not. Of turn 114 the first may be: with five at
    // 110 720 B left 334 528, less 222 592 of the port is 111 936 B.
    assert_eq!(together(&buffer, Bytes(1_024), six, &ALONE), (113, 114));
    // Each at a port of its own: an eighth, 125 000 B. 126 x 1152 - 19456 = 125 696 B; of turn 125 all are at 124 544 B.
    assert_eq!(together(&buffer, Bytes(1_024), GroupSpread::apart(6), &ALONE), (125, 126));
    // All at one port: S within B - 12 S, a thirteenth, 76 923 B: 83 x 1152 - 19456 = 76 160 B are, 84 are not.
    let one = GroupSpread { groups: 6, fewest: 6, most: 6 };
    assert_eq!(together(&buffer, Bytes(1_024), one, &ALONE), (83, 84));
    // Two at one port and one at another, 900 B, a byte a frame: S within 900 - 3 S - 2 S is a sixth, 150 B; the lone one's would
    // be a fifth. Whoever comes first, with 150 each 450 are left, less 300 is 150.
    let plain = Buffer { port_dynamic_th: Some(0), ..Buffer::plain(900, 0) };
    let uneven = GroupSpread::over([1, 1, 3].into_iter());
    assert_eq!(uneven, GroupSpread { groups: 3, fewest: 1, most: 2 });
    assert_eq!(together(&plain, Bytes(1), uneven, &ALONE), (150, 151));
}

/// N_xoff of one group after the other, each filled up to it and held.
fn hogs(buffer: &Buffer, frame: u64, count: usize) -> Vec<u64> {
    let mut others = ALONE;
    let mut all = Vec::new();
    for _ in 0..count {
        let n = first_xoff(buffer, Bytes(frame), &others);
        others = others.and(holds(buffer, Bytes(frame), &others, n), false);
        all.push(n);
    }
    all
}

#[test]
fn each_hog_gets_its_part_of_what_those_before_left() {
    // Alpha 2: 2/3 of 2187 = 3^7, then of 729, 243, 81.
    assert_eq!(hogs(&Buffer::plain(2_187, 1), 1, 4), [1_459, 487, 163, 55]);
    // Alpha 1/8: a ninth of 729, of 648, of 576.
    assert_eq!(hogs(&Buffer::plain(729, -3), 1, 3), [82, 73, 65]);
}

/// A Tomahawk 5 as its vendor measured it: 50 groups one after the other, alpha 1, frames of one cell of 254 bytes
/// (sonic-mgmt, `tests/qos/files/qos_params.th5.yaml`, `pkts_num_trig_pfc_multi` of the port profile 200000_5m). One
/// reserve and one pool explain all 50, to the frame, and by the rule above only with the crossing frame in the headroom.
/// (From outside it is not the only rule: XOFF on reaching the limit, that frame charged to a pool a cell smaller beside a
/// reserve a cell larger, gives the same list.)
#[test]
fn fifty_hogs_on_a_tomahawk_5_cross_where_its_vendor_saw_them_cross() {
    let tomahawk = |cells: u64, crossing| Buffer {
        cell: Bytes(254),
        reserved: Bytes(73 * 254),
        xoff: Bytes(1_185 * 254),
        crossing,
        ..Buffer::plain(cells * 254, 0)
    };
    let mut published = vec![
        120_117, 60_096, 30_085, 15_079, 7_577, 3_825, 1_950, 1_012, 543, 308, 191, 133, 103, 89,
        81, 78, 76, 75,
    ];
    published.resize(50, 74);
    assert_eq!(hogs(&tomahawk(240_087, Crossing::Headroom), 64, 50), published);
    for cells in [240_086, 240_088] {
        assert_ne!(hogs(&tomahawk(cells, Crossing::Headroom), 64, 50), published);
    }
    for cells in 240_080..240_095 {
        assert_ne!(hogs(&tomahawk(cells, Crossing::Shared), 64, 50), published);
    }
    // `pkts_num_trig_ingr_drp`: 121302, the headroom's 1185 frames later (`pkts_num_hdrm_full`).
    let edges = edges(&tomahawk(240_087, Crossing::Headroom), 64, &ALONE);
    assert_eq!(edges, (120_117, 121_302));
}

#[test]
fn groups_that_fill_together_get_alpha_of_what_all_of_them_leave() {
    // 900 / (1 + 2): at 300 each 300 are left; the next frame of either crosses.
    assert_eq!(
        together(&Buffer::plain(900, 0), Bytes(1), GroupSpread::apart(2), &ALONE),
        (300, 301)
    );
    // 1000 / (1 + 3): at 250 each 250 are left.
    assert_eq!(
        together(&Buffer::plain(1_000, 0), Bytes(1), GroupSpread::apart(3), &ALONE),
        (250, 251)
    );
    // With 3 more the first two of the next turn are still within, 251 of 252 and 251 left; the third is not.
    assert_eq!(
        together(&Buffer::plain(1_003, 0), Bytes(1), GroupSpread::apart(3), &ALONE),
        (251, 251)
    );
    // One group is a lone hog.
    assert_eq!(
        together(&Buffer::plain(900, 0), Bytes(1), GroupSpread::apart(1), &ALONE),
        (451, 451)
    );
}

#[test]
fn a_shared_headroom_pool_is_used_up_by_those_who_came_first() {
    let buffer = Buffer {
        xoff: Bytes(1_000),
        headroom_pool: Some(Bytes(2_550)),
        ..Buffer::plain(1_000_000, -3)
    };
    let mut others = ALONE;
    let mut spare = Vec::new();
    for _ in 0..4 {
        let (xoff, drop) = edges(&buffer, 100, &others);
        spare.push(drop - xoff);
        others = others.and(holds(&buffer, Bytes(100), &others, drop), false);
    }
    // 10 of 25, 10 of 15, and the last 5; 50 bytes are no use to anyone.
    assert_eq!(spare, [10, 10, 5, 0]);
    assert_eq!(others.headroom, 2_500);
}

#[test]
fn xon_follows_once_the_share_is_the_offset_below_a_limit_that_rises_as_it_falls() {
    let buffer = broadcom();
    let after = |buffer: &Buffer, n| xon_after(buffer, Bytes(1_024), &ALONE, n);
    assert_eq!(after(&buffer, 1_163), None);
    // S + 2288 <= (10875072 - S) / 8 gives S <= 1206307: 1161 frames. Two of the pool, after one of the headroom.
    assert_eq!(after(&buffer, 1_164), Some(3));
    assert_eq!(after(&buffer, 1_322), Some(161));
    assert_eq!(after(&buffer, 5_000), Some(161));
    // A mark of its own above that: S <= 1208272 is where the pool's part stands.
    let marked = Buffer { xon: Bytes(1_208_272), ..buffer.clone() };
    assert_eq!(after(&marked, 1_164), Some(1));
    let just_below = Buffer { xon: Bytes(1_208_271), ..buffer.clone() };
    assert_eq!(after(&just_below, 1_164), Some(2));
    // An offset beyond the limit leaves the mark alone: with none the share must be gone, and the reserve holds a frame.
    let all = Buffer { xon_offset: Bytes(10_000_000), ..buffer };
    assert_eq!(after(&all, 1_164), Some(1_163));
}

#[test]
fn a_lossy_queue_counts_what_is_left_behind_its_last_frame() {
    // n <= 900 - n: at 450 frames as many are left.
    assert_eq!(lossy_first_drop(&Buffer::plain(900, 0), Bytes(1), 0, 0), 451);
    // A limit of its own, whatever is left, as long as anything is.
    let own = Buffer { lossy_static_th: Some(Bytes(700)), ..Buffer::plain(900, 0) };
    assert_eq!([0, 200, 300].map(|taken| lossy_first_drop(&own, Bytes(100), taken, 0)), [8, 8, 7]);
    // 8 x 9243812 / (9 x 1040) = 7900.7.
    assert_eq!(lossy_first_drop(&broadcom(), Bytes(1_024), 0, 0), 7_901);
    // Others hold 243812 of the lossy pool: 8 x 9000000 / 9360 = 7692.3.
    assert_eq!(lossy_first_drop(&broadcom(), Bytes(1_024), 243_812, 243_812), 7_693);
    // Of the pool 1040 x 100 + 1039 bytes are left.
    let taken = 10_875_072 - 105_039;
    assert_eq!(lossy_first_drop(&broadcom(), Bytes(1_024), 0, taken), 101);
    assert_eq!(lossy_first_drop(&broadcom(), Bytes(1_024), 0, u64::MAX), 1);
    assert_eq!(lossy_first_drop(&broadcom(), Bytes(1_024), u64::MAX, 0), 1);
}

#[test]
fn lossy_queues_hold_no_more_than_their_limits_leave_them() {
    // Half of 900, half of what is left, and half of that.
    let halves = [0, 1, 2, 3].map(|queues| lossy_most(&Buffer::plain(900, 0), queues, 0));
    assert_eq!(halves, [0, 450, 675, 788]);
    // 900 - (900 - 20) / 2.
    assert_eq!(lossy_most(&Buffer::plain(900, 0), 1, 20), 460);
    let own = Buffer { lossy_static_th: Some(Bytes(350)), ..Buffer::plain(900, 0) };
    assert_eq!([1, 2, 3].map(|queues| lossy_most(&own, queues, 10)), [360, 720, 900]);
}

#[test]
fn thresholds_give_back_the_pool_and_the_headroom() {
    // 1163 x 1040 <= 1248 + B/9 < 1164 x 1040: B/9 from 1208272 to 1209311.
    let pool = pool_from(&broadcom(), Bytes(1_024), &ALONE, 1_164);
    assert_eq!(pool, Some(Span { lo: 10_874_448, hi: 10_883_807 }));
    // What others hold is added.
    let others = Others { pool: 5_000, ..ALONE };
    let pool = pool_from(&broadcom(), Bytes(1_024), &others, 1_164);
    assert_eq!(pool, Some(Span { lo: 10_879_448, hi: 10_888_807 }));
    // The reserve alone holds one frame: no pool makes the first one cross.
    assert_eq!(pool_from(&broadcom(), Bytes(1_024), &ALONE, 1), None);

    let headroom = Some(Span { lo: 165_360, hi: 166_399 });
    let from = |buffer: &Buffer, n_drop| headroom_from(buffer, Bytes(1_024), &ALONE, 1_164, n_drop);
    assert_eq!(from(&broadcom(), 1_323), headroom);
    assert_eq!(from(&shared(&broadcom()), 1_324), headroom);
    assert_eq!(from(&broadcom(), 1_163), None);
    assert_eq!(from(&shared(&broadcom()), 1_164), None);
}

#[test]
fn two_senders_overrun_a_queue_by_one_frame_a_round() {
    // 514 frames held at the first loss; each round of two frames leaves one: 514 rounds, less the 8 of the pipeline and
    // 2 + 2 under way, or 2 more.
    let overrun =
        |first, senders, passing| overrun(first, &vec![SLOT; senders], passing, (SLOT, SLOT), 0);
    assert_eq!(overrun(514, 2, 8), (502, 516));
    // Three leave two: (514 - 13) / 2 and 514 / 2 + 3.
    assert_eq!(overrun(514, 3, 8), (250, 260));
    assert_eq!(overrun(3, 2, 8), (1, 5), "never before the first frame");
    assert_eq!(overrun(514, 1, 8), (503, 515));
}

#[test]
fn a_slower_sender_fills_a_queue_by_its_own_part() {
    let of = |gaps: &[Dur]| overrun(514, gaps, 8, (SLOT, SLOT), 0);
    // Of four frames of the one and one of the other four leave: a frame is held of each four, (514 - 12) x 4 and 514 x 4 + 2.
    assert_eq!(of(&[SLOT, SLOT * 4]), (2_008, 2_058));
    assert_eq!(of(&[SLOT * 4, SLOT]), (2_008, 2_058));
    // One at half of the port beside a full one: a frame is held of each two.
    assert_eq!(of(&[SLOT * 2, SLOT]), (1_004, 1_030));
}

#[test]
fn two_senders_overrun_a_shaped_queue_sooner_once_what_it_saved_is_spent() {
    // At half the rate three of four frames stay: 2/3 of the rounds.
    let half = |saved| overrun(514, &[SLOT; 2], 8, (SLOT, SLOT * 2), saved);
    assert_eq!(half(0), (334, 345));
    assert_eq!(half(90), (334, 405));
    assert_eq!(half(1_000), (334, 516), "what it saved lasts: the port is as one without a shaper");
}

const SLOT: Dur = Dur::ns(100);
