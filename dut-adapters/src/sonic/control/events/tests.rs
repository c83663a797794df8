//! When something was, by what is known of it.

use super::super::timestamps::{Stamp, Time};
use super::{Message, Whose, is_overtaken, span};
use rig_generator::port::Mono;
use rig_units::Dur;

const MS: u64 = 1_000_000;

fn at(ms: u64) -> Mono {
    Mono(ms * MS)
}

#[test]
fn an_event_was_at_the_poll_that_its_stamp_tells_or_no_more_than_one_before_it_was_published() {
    let poll = Dur::ms(100);
    let of = |within: (u64, u64), polled: Option<(u64, u64)>| {
        let both = |(from, to)| (at(from), at(to));
        let (from, to) = span(both(within), (polled.map(both), Whose::Last), poll);
        (from.0 / MS, to.0 / MS)
    };
    assert_eq!(of((20_000, 20_006), Some((20_001, 20_002))), (20_001, 20_002), "the stamp");
    assert_eq!(
        of((20_000, 20_006), Some((20_004, 20_009))),
        (20_004, 20_006),
        "never later than it came"
    );
    assert_eq!(of((20_000, 20_006), None), (19_900, 20_006), "no stamp");
    assert_eq!(of((20_000, 20_006), Some((23_001, 23_002))), (19_900, 20_006), "a clock astray");
    assert_eq!(of((20_000, 20_006), Some((19_700, 19_701))), (19_700, 20_006), "a late event");
    assert_eq!(of((20_000, 20_006), Some((9_000, 9_001))), (19_900, 20_006), "a stamp of before");
    // Over a slow line: a stamp that is read late may be that of a later poll, of which the message did not tell.
    assert_eq!(of((20_000, 20_045), Some((20_001, 20_021))), (20_001, 20_021), "one poll fits");
    assert_eq!(of((20_000, 20_120), Some((20_101, 20_121))), (19_900, 20_120), "two polls fit");
    // And where the message itself says when its poll was.
    let own = Some((at(20_101), at(20_121)));
    let (from, to) = span((at(20_000), at(20_120)), (own, Whose::Own), poll);
    assert_eq!((from, to), (at(20_101), at(20_120)), "two polls fit, and it was this one");
}

#[test]
fn the_stamp_of_a_message_is_its_own_whatever_is_read_beside_it() {
    let mut stamp = Stamp::of_its_own(Some("1787266868.7087".to_owned()));
    let told = Time { before: at(50), after: at(51), micros: 1_787_266_868_718_800 };
    (0..3).for_each(|_| stamp.add(Some(&"1787266868718700".to_owned()), Some((told, false))));
    assert!(stamp.is_own() && stamp.is_known());
    // Seconds, as Lua prints them: to the tenth of a millisecond.
    let want = (Mono(40 * MS - 200_000), Mono(41 * MS));
    assert_eq!(stamp.polled(), Some(want));
    assert!(!Stamp::of_its_own(None).is_own());
}

/// Whoever reads stamps is kept from its processor for 14 ms: a storm has ended by then, and the stamp is that of its end.
#[test]
fn a_stamp_that_a_later_message_of_the_queue_has_too_is_not_that_of_the_one_before() {
    let stamped = |text: &str| {
        let mut stamp = Stamp::default();
        stamp.add(Some(&text.to_owned()), None);
        stamp
    };
    let told = |oid: &str, word: &str, stamp: Stamp| Message {
        oid: oid.to_owned(),
        word: word.to_owned(),
        within: (at(20_000), at(20_016)),
        stamp,
    };
    let messages = [
        told("3", "storm", stamped("1")),
        told("4", "storm", stamped("1")),
        told("3", "restore", stamped("1")),
        told("4", "restore", stamped("2")),
        told("3", "storm", Stamp::default()),
        told("3", "restore", Stamp::default()),
    ];
    let all: Vec<bool> = (0..messages.len()).map(|at| is_overtaken(&messages, at)).collect();
    assert_eq!(all, [true, false, false, false, false, false]);
    // It was at 20.001 s, and its end 13 ms later.
    let end = Some((at(20_014), at(20_015)));
    let (from, to) = span(messages[0].within, (end, Whose::Later), Dur::ms(100));
    assert_eq!((from, to), (at(19_900), at(20_015)));
}

#[test]
fn a_clock_that_is_set_beside_an_event_says_nothing_of_it() {
    // One that is right, each told in 2 ms, a second apart; in the third it was set.
    let told = |ms: u64, micros: u64| Time { before: at(ms), after: at(ms + 2), micros };
    let zero = 1_787_266_868_000_000;
    let first = told(1_000, zero + 1_001_000);
    let next = told(2_000, zero + 2_000_500);
    for (by, set) in [(0, false), (1_900, false), (4_700, true), (3_000_000, true)] {
        let third = told(3_000, zero + 3_001_000 + by);
        assert_eq!(next.was_set_before(&third), set, "forth by {by} us");
        let third = told(3_000, zero + 3_001_000 - by);
        assert_eq!(next.was_set_before(&third), set, "back by {by} us");
    }
    assert!(!first.was_set_before(&next));
    let text = (zero + 2_990_000).to_string();
    let stamp = |astray| {
        let mut stamp = Stamp::default();
        let times = [told(3_000, zero + 3_001_000), told(3_010, zero + 3_011_000)];
        stamp.add(Some(&text), Some((times[0], astray)));
        stamp.add(None, Some((Time { after: at(3_011), ..times[1] }, false)));
        assert!(!stamp.is_known());
        stamp.add(None, None);
        assert!(stamp.is_known());
        stamp.polled()
    };
    // By the shortest of them, and the stamp that was read first.
    let want = (Mono(2_989 * MS - 1_000), Mono(2_990 * MS + 1_000));
    assert_eq!((stamp(false), stamp(true)), (Some(want), None));
}

#[test]
fn a_stamp_is_dated_by_the_clock_that_redis_tells_however_far_off_that_is() {
    for off in [0, 3_000_000] {
        // Told between 50 ms and 51 ms of the rig's clock; the stamp is 10 ms older.
        let micros = 1_787_266_868_718_800 + off;
        let told = Time { before: at(50), after: at(51), micros };
        let stamp = (micros - 10_000).to_string();
        let want = (Mono(40 * MS - 1_000), Mono(41 * MS + 1_000));
        assert_eq!(told.on_the_rigs_clock(&stamp), Some(want), "{off}");
    }
    let told = Time { before: at(50), after: at(51), micros: 1_787_266_868_718_800 };
    // As Lua prints it: 14 digits.
    let want = (Mono(40 * MS - 100_000), Mono(41 * MS + 100_000));
    assert_eq!(told.on_the_rigs_clock("1.7872668687088e+15"), Some(want));
    for none in ["", "never", "178726686.7", "-5", "nan"] {
        assert_eq!(told.on_the_rigs_clock(none), None, "{none}");
    }
}
