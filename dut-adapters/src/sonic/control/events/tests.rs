//! When something was, by what is known of it.

use super::super::heard::{Message, Time};
use super::span;
use rig_generator::port::Mono;
use rig_units::Dur;

const MS: u64 = 1_000_000;

fn at(ms: u64) -> Mono {
    Mono(ms * MS)
}

fn message(within: (u64, u64), polled: Option<(u64, u64)>) -> Message {
    let both = |(from, to)| (at(from), at(to));
    let (oid, word) = ("oid:0x15".to_owned(), "storm".to_owned());
    Message { oid, word, within: both(within), polled: polled.map(both) }
}

#[test]
fn an_event_was_at_the_poll_that_its_stamp_tells_or_no_more_than_one_before_it_was_published() {
    let poll = Dur::ms(100);
    let of = |within, polled| {
        let (from, to) = span(&message(within, polled), poll);
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
    for none in ["", "never", "1787266868.7", "-5", "nan"] {
        assert_eq!(told.on_the_rigs_clock(none), None, "{none}");
    }
}
