//! Counters, as flex counters write them now and then.

use super::{SOON, open, switch};
use crate::control::Control as _;
use crate::fixture::RedisServer;
use crate::sonic::control::counters;
use core::time::Duration;
use std::collections::BTreeMap;

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

#[test]
fn a_counter_is_read_once_it_was_copied_anew_and_what_is_not_copied_is_missing_and_never_0() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    let mut control = open(&server, SOON).expect("a leaf");
    let read = |control: &mut super::SonicControl, names: &[&str]| {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        control.counters(&names).expect("it is there").values
    };
    assert_eq!(read(&mut control, &[]), BTreeMap::new(), "nothing is counted yet");
    let port = object(&server, "COUNTERS_PORT_NAME_MAP", "Ethernet4");
    let queue = object(&server, "COUNTERS_QUEUE_NAME_MAP", "Ethernet4:3");
    let other = object(&server, "COUNTERS_PORT_NAME_MAP", "Ethernet28");
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
    // Of a group that is too slow, of one that is off, and what is no number: none of them is there.
    let name = format!("Ethernet4 {pfc}");
    assert_eq!(read(&mut control, &[]), BTreeMap::from([(name.clone(), 7)]));
    assert_eq!(read(&mut control, &["Ethernet4:3 SAI_QUEUE_STAT_PACKETS"]), BTreeMap::new());
    group(&server, "QUEUE_STAT_COUNTER", "enable", "40");
    let packets = BTreeMap::from([("Ethernet4:3 SAI_QUEUE_STAT_PACKETS".to_owned(), 5)]);
    assert_eq!(read(&mut control, &["Ethernet4:3 SAI_QUEUE_STAT_PACKETS"]), packets);
    // What comes with the next copy is waited for: so long, and as often.
    let mut waits = Vec::new();
    let values = counters::read(&mut control.link, &control.ports, &mut |wait| {
        if waits.is_empty() {
            server.tell(COUNTERS, &["HSET", &port, pfc, "9"]);
        }
        waits.push(wait);
    });
    assert_eq!(values.expect("it is there").get(&name), Some(&9));
    assert_eq!(waits, [Duration::from_millis(60); 2]);
    // And what never stands still has no value, whatever stands still beside it.
    let values = counters::read(&mut control.link, &control.ports, &mut |_| {
        server.tell(COUNTERS, &["HINCRBY", &port, pfc, "1"]);
    });
    assert_eq!(values, Ok(packets));
}
