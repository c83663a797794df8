//! PFC frames that the device sends, and what it counts of them.

use super::given::{Ran, Seen, Word};
use super::headroom::held;
use rig_capture::{Dir, PfcFault, Record, What};
use rig_units::Quanta;

const SOME: &str = "{pfc.sent: {port: p1, class: 3, expect: some}}";
const REPEATED: (&str, &str) = ("pfc.sent", "p1 class 3 repeated");

fn xoffs(seen: &Seen<'_>) -> Vec<usize> {
    seen.words(0, Dir::Rx, true)
}

/// Whether what `pfc.sent` says of a subject has no finding.
fn passes(ran: &Ran, subject: &str, change: impl FnOnce(&mut Seen<'_>)) -> bool {
    ran.changed(change).about("pfc.sent", subject).2
}

#[test]
fn one_xoff_is_enough_where_some_are_to_be_and_none_is_not() {
    let ran = held(false, SOME);
    assert_eq!(ran.as_seen().word("pfc.sent"), Word::Pass);
    let keep = |seen: &mut Seen<'_>, count: usize| {
        while let Some(&more) = xoffs(seen).get(count) {
            seen.lose(more);
        }
    };
    assert!(passes(&ran, "p1 class 3", |seen| keep(seen, 1)));
    let none = ran.changed(|seen| keep(seen, 0)).word("pfc.sent");
    assert_eq!(none, Word::Fail("0 XOFFs".to_owned()));
}

#[test]
fn one_xoff_is_one_too_many_where_none_is_to_be() {
    let ran = held(false, "{pfc.sent: {port: p1, class: 4, expect: none}}");
    assert_eq!(ran.as_seen().word("pfc.sent"), Word::Pass);
    let said = ran.changed(|seen| {
        let first = xoffs(seen)[0];
        let mut other = seen.observation.records[first];
        let mut quanta = [Quanta(0); 8];
        quanta[4] = Quanta(1);
        other.what = What::Pfc { enable: 1 << 4, quanta };
        seen.add(other);
    });
    assert_eq!(said.word("pfc.sent"), Word::Fail("1 XOFFs".to_owned()));
}

#[test]
fn each_xoff_asks_for_the_declared_pause_to_the_quantum() {
    let ran = held(false, SOME);
    let asked = |nth: usize, by: u16| {
        passes(&ran, "p1 class 3 pause asked for", |seen| {
            let xoff = xoffs(seen)[nth];
            if let What::Pfc { quanta, .. } = &mut seen.observation.records[xoff].what {
                quanta[3].0 -= by;
            }
        })
    };
    assert!(asked(0, 0) && !asked(0, 1) && !asked(2, 1));
}

#[test]
fn an_xoff_is_repeated_at_the_declared_refresh_to_the_picosecond() {
    let ran = held(false, SOME);
    let moved = |by: i64| {
        passes(&ran, REPEATED.1, |seen| {
            // Each a little further from the one before.
            for (nth, xoff) in (0_i64..).zip(xoffs(seen)) {
                seen.shift(xoff, by * nth);
            }
        })
    };
    assert!(moved(0) && !moved(1) && !moved(-1));
}

#[test]
fn an_xoff_may_be_late_by_the_frame_ahead_of_it_and_no_more() {
    let ran = held(true, SOME);
    let (_, want, _) = ran.as_seen().about(REPEATED.0, REPEATED.1);
    // 4116 B at 100 Gb/s ahead of it.
    assert_eq!((want.lo, want.hi), (100_000_000 - 329_280, 100_000_000 + 329_280));
    let alone = ran.then(|seen| {
        while let Some(&more) = xoffs(seen).get(2) {
            seen.lose(more);
        }
        while let Some(&xon) = seen.words(0, Dir::Rx, false).first() {
            seen.lose(xon);
        }
    });
    alone.holds_bounds_of(REPEATED, |seen, by| {
        let second = xoffs(seen)[1];
        seen.shift(second, by);
    });
}

#[test]
fn one_malformed_frame_is_one_too_many() {
    let ran = held(false, "{pfc.format: {port: p1}}");
    assert_eq!(ran.as_seen().word("pfc.format"), Word::Pass);
    let said = ran.changed(|seen| {
        let last = *xoffs(seen).last().expect("XOFFs");
        let record = &mut seen.observation.records[last];
        if let What::Pfc { enable, quanta } = record.what {
            record.what = What::BadPfc { fault: PfcFault::Padding, enable, quanta };
        }
    });
    assert!(said.fails("pfc.format"), "{:?}", said.word("pfc.format"));
}

#[test]
fn each_frame_is_counted_once_and_none_as_data() {
    let ran = held(false, "{pfc.counters: {port: p1, class: 3}}");
    let sent = ran.as_seen_count(|seen| xoffs(seen).len() + seen.words(0, Dir::Rx, false).len());
    ran.holds_counters(
        "pfc.counters",
        &[
            ("Ethernet0 SAI_PORT_STAT_PFC_3_RX_PKTS", 0),
            ("Ethernet0 SAI_PORT_STAT_PFC_3_TX_PKTS", sent),
            ("Ethernet0 SAI_PORT_STAT_IF_IN_NON_UCAST_PKTS", 0),
        ],
    );
}

#[test]
fn one_frame_out_of_a_port_that_is_to_be_silent_is_one_too_many() {
    let ran = Ran::of(
        "broadcom",
        "    streams:
      one: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 10us, count: 10}
      two: {from: p3, to: p2, class: 1, kind: udp, size: 1024B, every: 10us, count: 10}
    trials: 1
    steps: [{at: 0ms, start: [one, two]}, {at: 1ms, pfc: {from: p2, classes: [3], quanta: 600q}}]
    length: 2ms
    measure: [{pfc.sent: {port: p3, expect: none}}]
",
    );
    assert_eq!(ran.as_seen().word("pfc.sent"), Word::Pass);
    let said = ran.changed(|seen| {
        let one = seen.observation.records[seen.words(1, Dir::Tx, true)[0]];
        seen.add(Record { port: 2, dir: Dir::Rx, ..one });
    });
    assert_eq!(said.word("pfc.sent"), Word::Fail("1 PFC frames".to_owned()));
}
