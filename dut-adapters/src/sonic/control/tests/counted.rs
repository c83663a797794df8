//! Counters, as flex counters write them now and then.

use super::{CONFIG, SOON, open, switch};
use crate::control::{Control as _, Readings};
use crate::fixture::RedisServer;
use crate::sonic::SonicControl;
use crate::sonic::control::counters::{self, CounterValues};
use crate::sonic::control::events::Acted;
use crate::sonic::control::pause;
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

const COUNTERS: i64 = 2;
const FLEX: i64 = 5;

/// The object of a name, as orchagent has written it down.
fn object(server: &RedisServer, map: &str, name: &str) -> String {
    let oid: String =
        redis::from_owned_redis_value(server.tell(COUNTERS, &["HGET", map, name])).expect("a name");
    format!("COUNTERS:{oid}")
}

fn group(server: &RedisServer, name: &str, status: &str, ms: &str) {
    let key = format!("FLEX_COUNTER_GROUP_TABLE:{name}");
    server.tell(FLEX, &["HSET", &key, "FLEX_COUNTER_STATUS", status, "POLL_INTERVAL", ms]);
}

/// Waits until orchagent has taken all that it is to take: it would put groups back that are set past it. What it hears of last is a
/// millisecond of a minute.
fn settled(server: &RedisServer) {
    let row = "FLEX_COUNTER_TABLE|QUEUE_WATERMARK";
    server.tell(CONFIG, &["HSET", row, "POLL_INTERVAL", "59999"]);
    let key = "FLEX_COUNTER_GROUP_TABLE:QUEUE_WATERMARK_STAT_COUNTER";
    let taken = || -> Option<String> {
        let answer = server.tell(FLEX, &["HGET", key, "POLL_INTERVAL"]);
        redis::from_owned_redis_value(answer).expect("a text")
    };
    assert!((0..100_000).any(|_| taken().as_deref() == Some("59999")), "orchagent takes it");
}

/// What is read while `copy` plays syncd between two looks, and how often it was looked again.
fn read(
    control: &mut SonicControl,
    acted: &BTreeMap<String, Acted>,
    copy: &mut dyn FnMut(u64),
) -> (CounterValues, u64) {
    let mut looks = 0;
    let asked = (control.ports.as_slice(), [].as_slice(), None);
    let read = counters::read(&mut control.link, asked, &mut || Ok(acted.clone()), &mut |_| {
        looks += 1;
        copy(looks);
    });
    let mut read = read.expect("it is there");
    // What stands there by then, whoever waits for it.
    read.values.retain(|name, _| !name.starts_with("COUNTERS "));
    (read, looks)
}

#[test]
fn a_copy_that_shows_something_new_as_late_as_it_shows_a_clear_is_not_at_rest() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    let mut control = open(&server, SOON).expect("a leaf");
    let queue = object(&server, "COUNTERS_QUEUE_NAME_MAP", "Ethernet4:3");
    let (user, group_of) =
        (queue.replace("COUNTERS", "USER_WATERMARKS"), "QUEUE_WATERMARK_STAT_COUNTER");
    let most = "SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES";
    // By way of CONFIG_DB: whatever orchagent hears of it later says the same.
    server.tell(CONFIG, &["HSET", "FLEX_COUNTER_TABLE|QUEUE_WATERMARK", "POLL_INTERVAL", "40"]);
    let often = || -> Option<String> {
        let key = format!("FLEX_COUNTER_GROUP_TABLE:{group_of}");
        let answer = server.tell(FLEX, &["HGET", &key, "POLL_INTERVAL"]);
        redis::from_owned_redis_value(answer).expect("a text")
    };
    assert!((0..100_000).any(|_| often().as_deref() == Some("40")), "orchagent takes it");
    let field = format!("{group_of}_time_stamp");
    server.tell(COUNTERS, &["HSET", &queue, most, "0", &field, "1000"]);
    let late = Duration::from_millis(600);
    let mut stamp = 1_000;
    let mut of = |shows: &str| {
        server.tell(COUNTERS, &["HSET", &user, most, "0"]);
        let asked = (control.ports.as_slice(), [].as_slice(), Some(late));
        let read =
            counters::read(&mut control.link, asked, &mut || Ok(BTreeMap::new()), &mut |length| {
                stamp += 1;
                server.tell(COUNTERS, &["HSET", &queue, &field, &stamp.to_string()]);
                if length == late {
                    server.tell(COUNTERS, &["HSET", &user, most, shows]);
                }
            });
        let CounterValues { values, moving } = read.expect("it is there");
        let name = format!("Ethernet4:3 {most}");
        (values.get(&name).copied(), moving.contains(&name))
    };
    assert_eq!(of("0"), (Some(0), false));
    assert_eq!(of("7000"), (None, true));
}

#[test]
fn a_counter_is_read_once_it_was_copied_anew_and_what_is_not_copied_is_missing_and_never_0() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, orchagent)) = switch(desk.path()) else { return };
    let mut control = open(&server, SOON).expect("a leaf");
    let none = BTreeMap::new();
    assert_eq!(control.counters(&[]), Ok(Readings::default()), "nothing is counted yet");
    let port = object(&server, "COUNTERS_PORT_NAME_MAP", "Ethernet4");
    let queue = object(&server, "COUNTERS_QUEUE_NAME_MAP", "Ethernet4:3");
    let other = object(&server, "COUNTERS_PORT_NAME_MAP", "Ethernet28");
    settled(&server);
    orchagent.is_deaf(true);
    group(&server, "PORT_STAT_COUNTER", "enable", "40");
    group(&server, "QUEUE_STAT_COUNTER", "enable", "10000");
    group(&server, "WRED_ECN_QUEUE_STAT_COUNTER", "disable", "40");
    let pfc = "SAI_PORT_STAT_PFC_3_RX_PKTS";
    for key in [&port, &other] {
        server.tell(COUNTERS, &["HSET", key, pfc, "7", "SAI_PORT_STAT_IF_IN_ERRORS", "N/A"]);
        server.tell(COUNTERS, &["HSET", key, "SAI_PORT_STAT_IN_DROPPED_PKTS", "5"]);
    }
    let of_queue = ["SAI_QUEUE_STAT_PACKETS", "5", "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS", "5"];
    server.tell(COUNTERS, &[&["HSET", queue.as_str()], &of_queue[..]].concat());
    let name = format!("Ethernet4 {pfc}");
    let packets = "Ethernet4:3 SAI_QUEUE_STAT_PACKETS".to_owned();
    let only = |name: &String| BTreeSet::from([name.clone()]);
    // Nothing tells a copy from the one before: it may be that, however long it stands there. It is not waited for.
    let (unstamped, looks) = read(&mut control, &none, &mut |_| {});
    assert_eq!((unstamped.values, unstamped.moving, looks), (none_of(), only(&name), 0));
    let stamp = |key: &str, group: &str, at: u64| {
        let field = format!("{group}_time_stamp");
        server.tell(COUNTERS, &["HSET", key, &field, &at.to_string()]);
    };
    stamp(&port, "PORT_STAT_COUNTER", 1_000);
    // Copies that are late stand still, too: 713 of 1600.
    let (late, looks) = read(&mut control, &none, &mut |_| {});
    assert_eq!((late.values, late.moving), (none_of(), only(&name)));
    assert!(looks > 8 * 5, "{looks}: it is waited for several intervals");
    // Of a group that is too slow, of one that is off, and what is no number: none of them is there.
    let (still, looks) =
        read(&mut control, &none, &mut |at| stamp(&port, "PORT_STAT_COUNTER", 1_000 + at));
    assert_eq!((still.values, still.moving), ([(name.clone(), 7)].into(), BTreeSet::new()));
    assert_eq!(looks, 2, "the second that is new was made of what is there now");
    group(&server, "QUEUE_STAT_COUNTER", "enable", "40");
    stamp(&queue, "QUEUE_STAT_COUNTER", 1_000);
    let copied = |control: &mut SonicControl, change: &mut dyn FnMut(u64)| {
        read(control, &none, &mut |at| {
            change(at);
            stamp(&port, "PORT_STAT_COUNTER", 2_000 + at);
            stamp(&queue, "QUEUE_STAT_COUNTER", 2_000 + at);
        })
    };
    // What comes with a later copy is waited for.
    let (later, looks) = copied(&mut control, &mut |at| {
        if at == 2 {
            server.tell(COUNTERS, &["HSET", &port, pfc, "9"]);
        }
    });
    assert_eq!(later.values, [(name.clone(), 9), (packets.clone(), 5)].into());
    assert_eq!(looks, 3);
    // And what never stands still has no value, whatever stands still beside it.
    let (moves, _) = copied(&mut control, &mut |_| {
        server.tell(COUNTERS, &["HINCRBY", &port, pfc, "1"]);
    });
    assert_eq!((moves.values, moves.moving), ([(packets, 5)].into(), only(&name)));
}

const fn none_of() -> BTreeMap<String, u64> {
    BTreeMap::new()
}

#[test]
fn what_orchagent_counts_is_read_once_it_has_counted_what_the_watchdog_did() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    let mut control = open(&server, SOON).expect("a leaf");
    let queue = object(&server, "COUNTERS_QUEUE_NAME_MAP", "Ethernet4:3");
    let oid = queue.trim_start_matches("COUNTERS:").to_owned();
    let acted = |storms, restores| BTreeMap::from([(oid.clone(), Acted { storms, restores })]);
    let [storms, ends] =
        ["DETECTED", "RESTORED"].map(|of| format!("PFC_WD_QUEUE_STATS_DEADLOCK_{of}"));
    let dropped = "PFC_WD_QUEUE_STATS_TX_DROPPED_PACKETS";
    let row = |words: &[&str]| {
        server.tell(COUNTERS, &[&["HSET", queue.as_str()], words].concat());
    };
    row(&[&storms, "1", &ends, "0", dropped, "20", "PFC_WD_STATUS", "stormed"]);
    let at_rest = |control: &mut SonicControl, acted: &BTreeMap<String, Acted>| {
        let (read, _) = read(control, acted, &mut |_| {});
        let own = format!("Ethernet4:3 {dropped}");
        assert!(read.moving.contains(&own) != read.values.contains_key(&own));
        read.values.get(&own).copied()
    };
    assert_eq!(at_rest(&mut control, &acted(1, 0)), None, "it goes on");
    row(&["PFC_WD_STATUS", "operational"]);
    assert_eq!(at_rest(&mut control, &acted(1, 1)), None, "its end is not counted yet");
    row(&[&ends, "1", dropped, "31"]);
    assert_eq!(at_rest(&mut control, &acted(1, 1)), Some(31));
    assert_eq!(at_rest(&mut control, &acted(2, 1)), None, "nor is the next");
}

#[test]
fn a_storm_that_was_told_twice_is_waited_for_in_two_trials_and_not_for_ever() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    let mut control = open(&server, SOON).expect("a leaf");
    let queue = object(&server, "COUNTERS_QUEUE_NAME_MAP", "Ethernet4:3");
    let oid = queue.trim_start_matches("COUNTERS:").to_owned();
    let [storms, ends] =
        ["DETECTED", "RESTORED"].map(|of| format!("PFC_WD_QUEUE_STATS_DEADLOCK_{of}"));
    let own = format!("Ethernet4:3 {storms}");
    server.tell(COUNTERS, &["HSET", &queue, &storms, "0", &ends, "0"]);
    assert_eq!(control.events(), Ok(Vec::new()));
    let text = format!("[\"{oid}\", \"storm\"]");
    for _ in 0..2 {
        server.tell(COUNTERS, &["PUBLISH", "PFC_WD_ACTION", &text]);
        // Longer than a poll, so that it is not the same one twice.
        pause(Duration::from_millis(250));
    }
    server.tell(COUNTERS, &["HSET", &queue, &storms, "1"]);
    let counted = |control: &mut SonicControl| {
        let clock = control.clock();
        let ears = control.ears.as_mut().expect("it listens");
        let acted = ears.acted(clock).expect("it is there");
        read(control, &acted, &mut |_| {}).0.values.get(&own).copied()
    };
    // One more may not have been counted yet.
    assert_eq!(counted(&mut control), None);
    assert_eq!(control.events().map(|all| all.len()), Ok(2));
    assert_eq!(counted(&mut control), None);
    assert_eq!(control.events(), Ok(Vec::new()));
    assert_eq!((counted(&mut control), control.missed()), (Some(1), None));
}
