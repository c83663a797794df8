use super::*;

/// 600 ns a request, SENDs copied at 128 Gb/s.
const FAST: RdmaRouter = RdmaRouter {
    request: Dur::ns(600),
    sleep: Dur::ZERO,
    copy: Some(L2Rate { bps: 128_000_000_000 }),
    cap: None,
    burst: Bytes(4_000_000),
};

/// 1000 messages of 2 KiB alone on a host, which take the wire no time to speak of.
const ALONE: Stretch = Stretch {
    own: 1_000,
    all: 1_000,
    sharing: 1,
    in_turn: false,
    message: Bytes(2_048),
    copied: false,
    wire: Dur::us(410),
    frame: Dur::ns(430),
};

#[test]
fn a_core_that_takes_600_ns_lets_so_many_writes_through_and_copies_before_sends() {
    assert_eq!(takes(&FAST, &ALONE), (Within::exactly(Dur::us(600)), Bound::Core));
    // 2048 B at 128 Gb/s: 128 ns each.
    let sends = Stretch { copied: true, ..ALONE };
    assert_eq!(takes(&FAST, &sends), (Within::exactly(Dur::us(728)), Bound::Core));
    let wire = Stretch { wire: Dur::us(700), ..ALONE };
    assert_eq!(takes(&FAST, &wire), (Within::exactly(Dur::us(700)), Bound::Wire));
}

#[test]
fn a_cap_counts_from_a_full_bucket_and_a_sleep_from_each_look() {
    let capped =
        RdmaRouter { cap: Some(L2Rate { bps: 6_000_000_000 }), burst: Bytes(48_000), ..FAST };
    // 1001 messages less 48,000 B: 2,002,048 B at 6 Gb/s.
    let want = Dur(2_669_397_334);
    assert_eq!(takes(&capped, &ALONE), (Within::exactly(want), Bound::Bucket));
    let low = RdmaRouter { sleep: Dur::us(14), ..FAST };
    assert_eq!(takes(&low, &ALONE).0, Within::exactly(Dur::us(14_600)));
}

#[test]
fn who_takes_turns_gets_no_more_than_a_turn_beyond_a_share() {
    let turns = Stretch { all: 4_000, sharing: 4, in_turn: true, ..ALONE };
    // 4000 requests of 600 ns, and a turn of four with a frame each either way.
    let turn = Dur::ns(4 * 1_030);
    let want = Within::between(Dur::us(2_400) - turn, Dur::us(2_400) + turn);
    assert_eq!(takes(&FAST, &turns), (want, Bound::Core));
    let others = Stretch { in_turn: false, ..turns };
    // What the wire takes may come on top, where the others are not there all the time.
    let most = want.most() + Dur::us(410);
    assert_eq!(takes(&FAST, &others).0, Within::between(Dur::us(600) - turn, most));
}

#[test]
fn a_request_is_handed_over_after_its_copy_and_a_sleep_at_most() {
    assert_eq!(hand_over(&FAST, Bytes(4_096), false), Within::exactly(Dur::ns(600)));
    assert_eq!(hand_over(&FAST, Bytes(4_096), true), Within::exactly(Dur::ns(856)));
    let low = RdmaRouter { sleep: Dur::us(14), ..FAST };
    assert_eq!(hand_over(&low, Bytes(2), false), Within::between(Dur::ns(600), Dur::ns(14_600)));
}
