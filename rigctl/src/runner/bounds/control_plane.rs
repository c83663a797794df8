//! What a switch's software shows, to the frame and to the byte.

use super::given::{Ran, Word};
use rig_capture::Span;
use rig_lab::Setting;
use serde_json::{Value, json};

/// A frame each millisecond for two tenths of a second, and a trial that ends in the middle of it.
fn copied(group: &str, counter: &str) -> Ran {
    let text = format!(
        "    dut: {{buffer: {{pool: 1000000B, lossy_pool: 1000000B}}, flex_counter: {{{counter}: 100ms}}}}
    streams: {{probe: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 1ms, count: 200}}}}
    steps: [{{at: 0ms, start: probe}}]
    length: 250ms
    trials: 1
    measure: [{{counters.copied: {{stream: probe, group: {group}}}}}]
"
    );
    Ran::of("broadcom", &text)
}

#[test]
fn a_copy_shows_each_frame_two_intervals_after_it_was_counted() {
    for (group, field, counter) in [
        ("port", "port", "COUNTERS Ethernet4 SAI_PORT_STAT_IF_OUT_UCAST_PKTS"),
        ("queue", "queue", "COUNTERS Ethernet4:3 SAI_QUEUE_STAT_PACKETS"),
    ] {
        let ran = copied(group, field);
        let subject = format!("probe: {group}");
        let (read, wanted, passes) = ran.as_seen().about("counters.copied", &subject);
        // Of two intervals of 100 ms before the end, 50 ms are left: frames 0 to 49, each there within two microseconds.
        // More than the two hundred that there are nothing counts.
        assert_eq!((wanted, passes), (Span { lo: 50, hi: 200 }, true), "{group}");
        assert!(read.lo >= 50, "{group}: {read:?}");
        let passes = |value: u64| {
            let by = i64::try_from(value).expect("few") - i64::try_from(read.lo).expect("few");
            let said = ran.changed(|seen| seen.count(counter, by));
            said.about("counters.copied", &subject).2
        };
        assert!(passes(50) && passes(51) && !passes(49) && !passes(0), "{group}");
        assert!(passes(200) && !passes(201), "{group}");
    }
}

#[test]
fn a_group_of_which_nothing_came_two_intervals_ago_is_not_measured() {
    let ran = copied("pg-drop", "pg_drop");
    assert_eq!(ran.as_seen().word("counters.copied"), Word::Doubt("not-measured"));
}

#[test]
fn headroom_and_pool_are_right_to_the_byte() {
    let text = "    dut: {dynamic_buffer: {sized_by: spectrum, cable: 40m, over_subscribe_ratio: 2}}
    streams: {probe: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 1ms, count: 2}}
    steps: [{at: 0ms, start: probe}]
    length: 10ms
    trials: 1
    measure: [{buffer.sized: {stream: probe}}]
";
    let ran = Ran::of("mellanox-dynamic", text);
    assert_eq!(ran.as_seen().word("buffer.sized"), Word::Pass);
    // Worked by hand: 9100 B, 40 m at 100 Gb/s and back, 0.8 KiB and 394 quanta, in cells of 144 B that 64 B take three of; and of 42 MiB
    // what eight ports of two classes leave.
    for (subject, counter, kib) in [
        ("probe: xon", "BUFFER_PROFILE_TABLE Ethernet0 xon", 19),
        ("probe: xoff", "BUFFER_PROFILE_TABLE Ethernet0 xoff", 119),
        ("probe: size", "BUFFER_PROFILE_TABLE Ethernet0 size", 19),
        ("probe: pool", "BUFFER_POOL_TABLE ingress_lossless_pool size", 41_000),
        ("probe: shared headroom", "BUFFER_POOL_TABLE ingress_lossless_pool xoff", 912),
    ] {
        let (read, wanted, passes) = ran.as_seen().about("buffer.sized", subject);
        let want = Span::exactly(kib * 1_024);
        assert_eq!((read, wanted, passes), (want, want, true), "{subject}");
        for by in [1, -1] {
            let said = ran.changed(|seen| seen.count(counter, by));
            assert!(said.fails("buffer.sized"), "{subject} {by}");
        }
    }
}

/// Worked by hand: of 42 MiB 256 KiB of management, and of each port two groups, 19 and 19, 10 and 9. Groups have 138 KiB at 100 Gb/s and 68 at 25.
#[test]
fn headroom_of_a_port_that_is_shut_or_negotiates_is_right_to_the_byte() {
    for (set, kib, pool) in [
        ("shut_port: 3, dynamic_buffer: {sized_by: spectrum, cable: 40m}", [0, 0, 0], 40_421),
        (
            "dynamic_buffer: {sized_by: spectrum, cable: 40m, autoneg_port: 3, advertised: 25Gbps}",
            [19, 49, 68],
            40_228,
        ),
    ] {
        let text = format!(
            "    dut: {{{set}}}
    streams: {{probe: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 1ms, count: 2}}}}
    steps: [{{at: 0ms, start: probe}}]
    length: 10ms
    trials: 1
    measure: [{{buffer.sized: {{stream: probe, port: p3}}}}]
"
        );
        let ran = Ran::of("mellanox-dynamic", &text);
        assert_eq!(ran.as_seen().word("buffer.sized"), Word::Pass, "{set}");
        let [xon, xoff, size] = kib;
        for (subject, counter, kib) in [
            ("p3: xon", "BUFFER_PROFILE_TABLE Ethernet8 xon", xon),
            ("p3: xoff", "BUFFER_PROFILE_TABLE Ethernet8 xoff", xoff),
            ("p3: size", "BUFFER_PROFILE_TABLE Ethernet8 size", size),
            ("p3: pool", "BUFFER_POOL_TABLE ingress_lossless_pool size", pool),
        ] {
            let (read, wanted, passes) = ran.as_seen().about("buffer.sized", subject);
            let want = Span::exactly(kib * 1_024);
            assert_eq!((read, wanted, passes), (want, want, true), "{set} {subject}");
            let said = ran.changed(|seen| seen.count(counter, 1));
            assert!(said.fails("buffer.sized"), "{set} {subject}");
            if kib > 0 {
                let said = ran.changed(|seen| seen.count(counter, -1));
                assert!(said.fails("buffer.sized"), "{set} {subject}");
            }
        }
    }
}

#[test]
fn a_port_that_was_shut_and_can_have_less_than_the_rule_makes_is_not_measured() {
    let ran = |most: &str| {
        let text = "    dut: {dynamic_buffer: {sized_by: spectrum, cable: 40m}}
    streams: {probe: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 1ms, count: 2}}
    steps: [{at: 0ms, configure: {shut_port: 3}}, {at: 4000ms, configure: {shut_port: never}}, {at: 8000ms, start: probe}]
    length: 9000ms
    trials: 1
    measure: [{buffer.sized: {stream: probe, port: p3}}]
";
        let ran = Ran::with("mellanox-dynamic", text, |device| {
            let path = "dynamic_buffer.max_headroom".to_owned();
            let setting = Setting { path, value: most.into() };
            device.declared = device.declared.with(&setting).expect("a size");
        });
        ran.as_seen().word("buffer.sized")
    };
    assert_eq!(ran("614400B"), Word::Pass);
    assert_eq!(ran("300000B"), Word::Doubt("not-measured"));
}

/// What SONiC's check refuses by a limit that no profile has is no fault of a switch that has one.
#[test]
fn headroom_that_a_limit_nobody_declares_may_have_refused_accuses_nobody() {
    let ran = |ratio: &str, most: Value, mutation: &str| {
        let text = format!(
            "    dut: {{dynamic_buffer: {{sized_by: spectrum, cable: 5m, over_subscribe_ratio: {ratio}, own_xoff: 204800B}}}}
    streams: {{probe: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 1ms, count: 2}}}}
    steps: [{{at: 0ms, start: probe}}]
    length: 10ms
    trials: 1
    measure: [{{buffer.sized: {{stream: probe}}}}]
"
        );
        let ran = Ran::with("mellanox-dynamic", &text, |device| {
            let path = "dynamic_buffer.max_headroom".to_owned();
            let setting = Setting { path, value: most };
            device.declared = device.declared.with(&setting).expect("a size, or none");
            if !mutation.is_empty() {
                device.mutate(&mutation.parse().expect("a mutation")).expect("of a switch");
            }
        });
        ran.as_seen().word("buffer.sized")
    };
    let refuses = "deviation=own_headroom_not_taken";
    // All that could refuse it is declared, and would not.
    assert_eq!(ran("never", json!("614400B"), ""), Word::Pass);
    assert!(matches!(ran("never", json!("614400B"), refuses), Word::Fail(_)));
    for (ratio, most) in [("never", Value::Null), ("2", json!("614400B"))] {
        let of = |mutation| ran(ratio, most.clone(), mutation);
        assert_eq!(of(""), Word::Pass, "{ratio} {most}");
        assert_eq!(of(refuses), Word::Doubt("not-observable"), "{ratio} {most}");
        // No limit makes another size than these.
        let other = of("dynamic_buffer.own_xoff=x1.5");
        assert!(matches!(other, Word::Fail(_)), "{ratio} {most}: {other:?}");
    }
}

/// Where a limit is not met nothing shows that it is kept.
#[test]
fn what_has_to_be_refused_and_is_not_says_nothing_of_the_limit() {
    let ran = |own: &str, most: Value, mutation: &str| {
        let text = format!(
            "    dut: {{dynamic_buffer: {{sized_by: spectrum, cable: 5m, over_subscribe_ratio: never, own_xoff: {own}}}}}
    streams: {{probe: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 1ms, count: 2}}}}
    steps: [{{at: 0ms, start: probe}}]
    length: 10ms
    trials: 1
    measure: [{{buffer.sized: {{stream: probe, own: refused}}}}]
"
        );
        let ran = Ran::with("mellanox-dynamic", &text, |device| {
            let path = "dynamic_buffer.max_headroom".to_owned();
            let setting = Setting { path, value: most };
            device.declared = device.declared.with(&setting).expect("a size, or none");
            if !mutation.is_empty() {
                device.mutate(&mutation.parse().expect("a mutation")).expect("of a switch");
            }
        });
        ran.as_seen()
    };
    // Two groups of 19 KiB and what is said, twice the pipeline of 19 KiB, 20 and 4: with 250 KiB each 600 KiB, which is too much.
    let most = || json!("614400B");
    assert_eq!(ran("256000B", most(), "").word("buffer.sized"), Word::Pass);
    let forgets = ran("256000B", most(), "deviation=headroom_limit_forgotten");
    assert!(matches!(forgets.word("buffer.sized"), Word::Fail(_)));
    for (own, most, why) in [
        ("255999B", most(), "255999B is not refused, for a port can have 614400B"),
        ("256000B", Value::Null, "is not refused, for no limit is declared"),
    ] {
        let said = ran(own, most, "");
        assert_eq!(said.word("buffer.sized"), Word::Doubt("not-observable"), "{own}");
        assert!(said.wrong().contains(why), "{}", said.wrong());
    }
}
