//! Counters of a switch from its COUNTERS_DB. What stands there is a copy that the flex counters of syncd write now and then, and
//! nothing says when: so a reading waits until each has been copied anew and stands still. What is copied too seldom to wait for is
//! not read, and missing: never 0.

use super::super::link::{Db, Link};
use crate::control::error::Lost;
use core::time::Duration;
use rig_lab::Switch;
use std::collections::BTreeMap;

/// Which group of flex counters copies what begins so; a later row is of what no earlier one is.
const GROUPS: [(&str, &str); 11] = [
    ("SAI_PORT_STAT_IN_DROPPED_PKTS", DROPS),
    ("SAI_PORT_STAT_OUT_DROPPED_PKTS", DROPS),
    ("SAI_PORT_STAT_WRED_", MARKS),
    ("SAI_PORT_STAT_GREEN_WRED_", MARKS),
    ("SAI_PORT_STAT_YELLOW_WRED_", MARKS),
    ("SAI_PORT_STAT_RED_WRED_", MARKS),
    ("SAI_PORT_STAT_", "PORT_STAT_COUNTER"),
    ("SAI_QUEUE_STAT_WRED_", "WRED_ECN_QUEUE_STAT_COUNTER"),
    ("SAI_QUEUE_STAT_", "QUEUE_STAT_COUNTER"),
    ("SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_", "PG_DROP_STAT_COUNTER"),
    ("PFC_WD_QUEUE_STATS_", ORCHAGENT),
];
const DROPS: &str = "PORT_BUFFER_DROP_STAT";
const MARKS: &str = "WRED_ECN_PORT_STAT_COUNTER";
/// What orchagent writes itself, each second (`COUNTER_CHECK_POLL_TIMEOUT_SEC`).
const ORCHAGENT: &str = "";
const SECOND: u64 = 1_000;
/// The slowest group that is waited for, in milliseconds.
const SLOWEST: u64 = 2_000;
/// So often a reading is taken at most until it stands still.
const LOOKS: usize = 4;

/// Every counter of these ports and of their queues and groups that can be read, by its canonical name: the rig's first port is
/// `Ethernet0`, whatever the switch calls it.
///
/// # Errors
/// The switch is lost.
pub(super) fn read(
    link: &mut Link,
    ports: &[String],
    pause: &mut dyn FnMut(Duration),
) -> Result<BTreeMap<String, u64>, Lost> {
    let mut copied = Vec::new();
    for (prefix, group) in GROUPS {
        copied.push((prefix, interval(link, group)?.filter(|&ms| ms <= SLOWEST)));
    }
    let objects = objects(link, ports)?;
    let mut last = values(link, &objects, &copied)?;
    let is_there = |prefix: &str| last.keys().any(|name| name.contains(&format!(" {prefix}")));
    let there = copied.iter().filter(|(prefix, _)| is_there(prefix));
    let Some(slowest) = there.filter_map(|(_, ms)| *ms).max() else {
        return Ok(BTreeMap::new());
    };
    // A copy may be late by half an interval.
    let wait = Duration::from_millis(slowest + slowest / 2);
    let mut still = BTreeMap::new();
    for _ in 1..LOOKS {
        pause(wait);
        let now = values(link, &objects, &copied)?;
        // What still moves has no value of one instant.
        still = now.clone();
        still.retain(|name, value| last.get(name) == Some(value));
        if now == last {
            break;
        }
        last = now;
    }
    Ok(still)
}

/// How often a group is copied, in milliseconds; `None` where it is not.
fn interval(link: &mut Link, group: &str) -> Result<Option<u64>, Lost> {
    if group == ORCHAGENT {
        return Ok(Some(SECOND));
    }
    let row = link.whole(Db::Flex, &format!("FLEX_COUNTER_GROUP_TABLE:{group}"))?;
    let runs = row.get("FLEX_COUNTER_STATUS").is_some_and(|word| word == "enable");
    Ok(row.get("POLL_INTERVAL").filter(|_| runs).and_then(|ms| ms.parse().ok()))
}

/// The canonical name of each object of these ports, and its key.
fn objects(link: &mut Link, ports: &[String]) -> Result<Vec<(String, String)>, Lost> {
    let mut all = Vec::new();
    for map in ["COUNTERS_PORT_NAME_MAP", "COUNTERS_QUEUE_NAME_MAP", "COUNTERS_PG_NAME_MAP"] {
        for (name, oid) in link.whole(Db::Counters, map)? {
            let (port, index) = name
                .split_once(':')
                .map_or((name.as_str(), None), |(port, index)| (port, Some(index)));
            let rigs = (0..).zip(ports).find(|(_, own)| *own == port);
            let Some((rig, _)) = rigs else { continue };
            let own = Switch::port_name(rig);
            let name = index.map_or(own.clone(), |index| format!("{own}:{index}"));
            all.push((name, format!("COUNTERS:{oid}")));
        }
    }
    Ok(all)
}

/// What stands there now.
fn values(
    link: &mut Link,
    objects: &[(String, String)],
    copied: &[(&str, Option<u64>)],
) -> Result<BTreeMap<String, u64>, Lost> {
    let mut ask = redis::pipe();
    for (_, key) in objects {
        ask.cmd("HGETALL").arg(key);
    }
    if objects.is_empty() {
        return Ok(BTreeMap::new());
    }
    let rows: Vec<BTreeMap<String, String>> = link.ask(Db::Counters, "read counters", &ask)?;
    let mut all = BTreeMap::new();
    for ((name, _), row) in objects.iter().zip(rows) {
        for (field, text) in row {
            let group = copied.iter().find(|(prefix, _)| field.starts_with(prefix));
            let read = group.is_some_and(|(_, ms)| ms.is_some()) && !field.contains("WATERMARK");
            if let Some(value) = text.parse().ok().filter(|_| read) {
                all.insert(format!("{name} {field}"), value);
            }
        }
    }
    Ok(all)
}
