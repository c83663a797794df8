use super::*;

/// 600 ns a request, SENDs copied at 128 Gb/s.
const FAST: RdmaRouter = RdmaRouter {
    request: Dur::ns(600),
    sleep: Dur::ZERO,
    copy: Some(L2Rate { bps: 128_000_000_000 }),
    cap: None,
    burst: Bytes(4_000_000),
    registration: Dur::us(10),
    hosts_gone: 0,
    quota: None,
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
    turns: None,
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
fn beside_others_a_cap_is_kept_to_a_turn_of_all_of_them() {
    // 1001 messages of 2 KiB less a burst at 1 Gb/s: 16.384 us each, and a turn of ten is 6 us at the core and 4.3 us at the port.
    let capped =
        RdmaRouter { cap: Some(L2Rate { bps: 1_000_000_000 }), burst: Bytes(8_192), ..FAST };
    let turns = Some(Turns { of: 10, packets: 1 });
    let beside = Stretch { all: 9_000, sharing: 10, turns, wire: Dur::ms(9), ..ALONE };
    let (within, by) = takes(&capped, &beside);
    assert_eq!(by, Bound::Bucket);
    assert_eq!(within.most(), Dur::ns(16_334_848 + 10 * 1_030));
    assert_eq!(within.least(), Dur::ns(16_334_848 - 10 * 1_030));
    // Without turns whatever leaves the port may come first.
    let others = takes(&capped, &Stretch { turns: None, ..beside }).0;
    assert_eq!(others.most(), Dur::ns(16_334_848 + 10 * 1_030) + Dur::us(5_400) + Dur::ms(9));
    // Beyond a tenth of the port nothing is owed: ten frames of 430 ns, four for a message.
    let wide = Stretch { turns: Some(Turns { of: 10, packets: 4 }), ..beside };
    assert_eq!(takes(&capped, &wide).0.most(), Dur::ns(17_200_000 + 10 * 1_030));
    // A turn for each is no more than all of them one after the other.
    let few = Stretch { all: 1_001, wire: Dur::us(100), ..wide };
    let one_by_one = Dur::ns(16_334_848 + 600_600 + 100_000 + 10 * 1_030);
    assert_eq!(takes(&capped, &few).0.most(), one_by_one);
}

#[test]
fn a_request_is_handed_over_after_its_copy_and_a_sleep_at_most() {
    assert_eq!(hand_over(&FAST, Bytes(4_096), false), Within::exactly(Dur::ns(600)));
    assert_eq!(hand_over(&FAST, Bytes(4_096), true), Within::exactly(Dur::ns(856)));
    let low = RdmaRouter { sleep: Dur::us(14), ..FAST };
    assert_eq!(hand_over(&low, Bytes(2), false), Within::between(Dur::ns(600), Dur::ns(14_600)));
}

#[test]
fn a_registration_comes_before_the_hand_over_and_a_quota_lets_no_more_in_than_it_says() {
    assert_eq!(registered(&FAST, Bytes(4_096), true), Within::exactly(Dur::ns(10_856)));
    let two = RdmaRouter { quota: Some(2), ..FAST };
    assert_eq!([0, 1, 2, 3].map(|others| admits(&two, others)), [true, true, false, false]);
    assert!(admits(&FAST, 10_000));
}

#[test]
fn between_two_messages_each_of_the_others_has_a_turn() {
    let alone = Beside {
        others: 0,
        message: Bytes(2_048),
        copied: false,
        packets: 1,
        wire: Dur::ns(430),
        frame: Dur::ns(430),
    };
    assert_eq!(gap(&FAST, &alone), Dur::ns(600));
    assert_eq!(gap(&FAST, &Beside { wire: Dur::ns(900), ..alone }), Dur::ns(900));
    // A copy of 128 ns.
    assert_eq!(gap(&FAST, &Beside { copied: true, ..alone }), Dur::ns(728));
    // Two turns more of 600 ns, a frame of each on the port, and one that is on its way.
    assert_eq!(gap(&FAST, &Beside { others: 2, ..alone }), Dur::ns(1_800 + 3 * 430 + 430));
    let capped = RdmaRouter { cap: Some(L2Rate { bps: 1_000_000_000 }), ..FAST };
    assert_eq!(gap(&capped, &alone), Dur::ns(16_384));
}

#[test]
fn a_bucket_that_holds_one_message_loses_what_comes_until_it_is_looked_into() {
    let rate = L2Rate { bps: 10_000_000_000 };
    let sleepy = RdmaRouter { sleep: Dur::us(1), cap: Some(rate), burst: Bytes(2_048), ..FAST };
    let least = takes(&sleepy, &ALONE).0.least();
    // 1000 messages of 1.6384 us each: the first takes what is there. A look a message later, 1.6 us, and one at the end.
    assert_eq!(least, Dur::ns(1_638_400) - Dur::us(1));
    assert_eq!(takes(&sleepy, &ALONE).0.most(), Dur::ns(1_638_400 + 1_600_000) + Dur::us(1));
    // 2048 B and what comes in 1.6 us.
    let roomy = RdmaRouter { burst: Bytes(2_048 + 2_000), ..sleepy };
    assert!(takes(&roomy, &ALONE).0.most() < Dur::ns(1_640_000));
}

#[test]
fn a_turn_is_as_long_as_all_requests_and_what_the_last_waits_for() {
    let message = (Bytes(2_048), true);
    assert_eq!(turn(&FAST, 512, message, Dur::ns(430)), Dur::ns(1_030) * 512 + Dur::ns(128));
}
