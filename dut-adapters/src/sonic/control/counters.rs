//! Counters of a switch from its COUNTERS_DB. What stands there is a copy that the flex counters of syncd write now and then. So a
//! reading waits until each has been copied anew and stands still, by the stamp of its copies. What is copied too seldom to wait for
//! is not read, and missing: never 0; nor has a value what nothing shows at rest.
//!
//! A watermark is what the user's copy of it holds, where that was cleared for the trial: the chip's own is lost with each poll.

use super::super::link::{Db, Link};
use super::copies::CounterCopies;
use super::events::{Acted, COUNTED, STATUS, STORMED};
use super::watermarks::{self, Object};
use crate::control::error::Lost;
use core::time::Duration;
use rig_lab::{FlexGroup, Switch, WatermarkCopy};
use std::collections::{BTreeMap, BTreeSet};

/// Which group of flex counters copies what begins so; a later row is of what no earlier one is.
const GROUPS: [(&str, &str); 15] = [
    ("SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES", watermarks::QUEUES),
    ("SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES", watermarks::PRIORITY_GROUPS),
    ("SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES", watermarks::PRIORITY_GROUPS),
    ("SAI_BUFFER_POOL_STAT_", watermarks::POOLS),
    ("SAI_PORT_STAT_IN_DROPPED_PKTS", DROPS),
    ("SAI_PORT_STAT_OUT_DROPPED_PKTS", DROPS),
    ("SAI_PORT_STAT_WRED_", MARKS),
    ("SAI_PORT_STAT_GREEN_WRED_", MARKS),
    ("SAI_PORT_STAT_YELLOW_WRED_", MARKS),
    ("SAI_PORT_STAT_RED_WRED_", MARKS),
    ("SAI_PORT_STAT_", PORTS),
    ("SAI_QUEUE_STAT_WRED_", "WRED_ECN_QUEUE_STAT_COUNTER"),
    ("SAI_QUEUE_STAT_", QUEUES),
    ("SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_", PG_DROPS),
    ("PFC_WD_QUEUE_STATS_", ORCHAGENT),
];
/// Of these the copies count as well as what they are copies of.
const PORTS: &str = "PORT_STAT_COUNTER";
const QUEUES: &str = "QUEUE_STAT_COUNTER";
const PG_DROPS: &str = "PG_DROP_STAT_COUNTER";
const DROPS: &str = "PORT_BUFFER_DROP_STAT";
const MARKS: &str = "WRED_ECN_PORT_STAT_COUNTER";
/// What orchagent writes itself, of a stormed queue each second (`COUNTER_CHECK_POLL_TIMEOUT_SEC`) and as its storm begins and ends.
const ORCHAGENT: &str = "";
const SECOND: u64 = 1_000;
/// The slowest group that is waited for, in milliseconds.
pub(super) const SLOWEST: u64 = 2_000;
/// So many of its intervals a reading takes at most.
pub(super) const LONGEST: u64 = 5;
/// So many looks in an interval.
pub(super) const LOOKS: u64 = 8;

/// What was read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CounterValues {
    /// What stands still.
    pub(super) values: BTreeMap<String, u64>,
    /// What is there, and nothing shows at rest.
    pub(super) moving: BTreeSet<String>,
}

/// What the watchdogs have done by now, by the objects of their queues.
pub(super) type Watched<'w> = dyn FnMut() -> Result<BTreeMap<String, Acted>, Lost> + 'w;

/// Each counter of these ports and of their queues and groups that can be read and has one of these names, or any where none is named:
/// the rig's first port is `Ethernet0`, whatever the switch calls it. What orchagent counts is held against what the watchdogs did.
/// Watermarks are among them where their copy was cleared, which shows what it has come to so `late`: what it shows only then is not at
/// rest. What the copies themselves show is read at once.
///
/// # Errors
/// The switch is lost.
pub(super) fn read(
    link: &mut Link,
    (ports, names, late): (&[String], &[String], Option<Duration>),
    watched: &mut Watched<'_>,
    pause: &mut dyn FnMut(Duration),
) -> Result<CounterValues, Lost> {
    let objects = objects(link, ports)?;
    let mut shown = watermarks::shown(link, &objects)?;
    shown.append(&mut copied(link, &objects)?);
    let mut groups = BTreeMap::new();
    let is_watermark =
        |name| [watermarks::QUEUES, watermarks::PRIORITY_GROUPS, watermarks::POOLS].contains(&name);
    for (_, name) in GROUPS.into_iter().filter(|(_, name)| late.is_some() || !is_watermark(*name)) {
        if !groups.contains_key(name)
            && let Some(group) = group(link, name)?.filter(|group| group.ms <= SLOWEST)
        {
            groups.insert(name, group);
        }
    }
    let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    shown.retain(|name, _| names.is_empty() || names.contains(name.as_str()));
    let mut copies = CounterCopies::default();
    let mut waited = Duration::ZERO;
    loop {
        look(link, (&objects, &names), &groups, watched, &mut copies)?;
        let slowest = copies.awaited().filter_map(|group| groups.get(group)).map(|of| of.ms).max();
        let Some(slowest) = slowest else { break };
        if waited > Duration::from_millis(slowest * LONGEST) {
            break;
        }
        let wait = Duration::from_millis((slowest / LOOKS).max(1));
        pause(wait);
        waited += wait;
    }
    let (mut values, mut moving) = copies.read();
    let is_kept = |name: &String| name.contains("WATERMARK");
    if let Some(late) = late.filter(|_| values.keys().any(is_kept)) {
        pause(late);
        let kept = watermarks::rows(link, &objects, WatermarkCopy::User)?;
        for ((object, _), row) in objects.iter().zip(kept) {
            let own = row.into_iter().map(|(field, now)| (format!("{object} {field}"), now));
            moving.extend(
                own.filter(|(name, now)| values.get(name).is_some_and(|is| is != now))
                    .map(|(name, _)| name),
            );
        }
        values.retain(|name, _| !moving.contains(name));
    }
    values.append(&mut shown);
    Ok(CounterValues { values, moving })
}

/// What the copies of counters show now, under the rig's names: `COUNTERS Ethernet0:3 SAI_...`. Nobody waits for one: how late it is is
/// for a case to find.
fn copied(link: &mut Link, objects: &[Object]) -> Result<BTreeMap<String, u64>, Lost> {
    let mut ask = redis::pipe();
    for (_, key) in objects {
        ask.cmd("HGETALL").arg(key);
    }
    if objects.is_empty() {
        return Ok(BTreeMap::new());
    }
    let rows: Vec<BTreeMap<String, String>> =
        link.ask(Db::Counters, "read copies of counters", &ask)?;
    let mut all = BTreeMap::new();
    for ((name, _), row) in objects.iter().zip(rows) {
        for (field, text) in row {
            let group = GROUPS.iter().find(|(prefix, _)| field.starts_with(prefix));
            let is_copy = group.is_some_and(|(_, group)| [PORTS, QUEUES, PG_DROPS].contains(group));
            if let (true, Ok(value)) = (is_copy, text.parse()) {
                all.insert(format!("{} {name} {field}", FlexGroup::TABLE), value);
            }
        }
    }
    Ok(all)
}

/// A group of flex counters that is on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    /// How often it is copied, in milliseconds.
    pub(super) ms: u64,
    /// So many copies have to be seen until one was made of what is there now, all of it.
    pub(super) copies: u32,
}

/// How often a group is copied; `None` where it is not.
pub(super) fn group(link: &mut Link, name: &str) -> Result<Option<Group>, Lost> {
    if name == ORCHAGENT {
        return Ok(Some(Group { ms: SECOND, copies: 0 }));
    }
    let row = link.whole(Db::Flex, &format!("FLEX_COUNTER_GROUP_TABLE:{name}"))?;
    let runs = row.get("FLEX_COUNTER_STATUS").is_some_and(|word| word == "enable");
    let ms = row.get("POLL_INTERVAL").filter(|_| runs).and_then(|ms| ms.parse().ok());
    // Then an object is copied in parts, each with a stamp, and what stands beside the newest may be of the copy before.
    let in_parts = row.get("BULK_CHUNK_SIZE_PER_PREFIX").is_some_and(|text| !text.is_empty());
    // The first that is new may have been made before it was asked for.
    Ok(ms.map(|ms| Group { ms, copies: if in_parts { 3 } else { 2 } }))
}

/// The canonical name of each object of these ports and of each pool, and its key.
pub(super) fn objects(link: &mut Link, ports: &[String]) -> Result<Vec<Object>, Lost> {
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
    let pools = link.whole(Db::Counters, "COUNTERS_BUFFER_POOL_NAME_MAP")?;
    all.extend(pools.into_iter().map(|(pool, oid)| (pool, format!("COUNTERS:{oid}"))));
    Ok(all)
}

/// What stands there now of what is asked for.
fn look(
    link: &mut Link,
    (objects, names): (&[Object], &BTreeSet<&str>),
    groups: &BTreeMap<&'static str, Group>,
    watched: &mut Watched<'_>,
    copies: &mut CounterCopies,
) -> Result<(), Lost> {
    let mut ask = redis::pipe();
    for (_, key) in objects {
        ask.cmd("HGETALL").arg(key);
    }
    if objects.is_empty() {
        return Ok(());
    }
    let rows: Vec<BTreeMap<String, String>> = link.ask(Db::Counters, "read counters", &ask)?;
    let kept = match groups.contains_key(watermarks::QUEUES) {
        true => watermarks::rows(link, objects, WatermarkCopy::User)?,
        false => Vec::new(),
    };
    let mut kept = kept.into_iter();
    // Behind it: what a watchdog did before the row was read has been heard then.
    let acted = watched()?;
    for ((name, key), row) in objects.iter().zip(rows) {
        let kept = kept.next().unwrap_or_default();
        let mut parts: BTreeMap<&'static str, BTreeMap<String, u64>> = BTreeMap::new();
        for (field, text) in &row {
            let group = GROUPS.iter().find(|(prefix, _)| field.starts_with(prefix));
            let own = format!("{name} {field}");
            let asked = names.is_empty() || names.contains(own.as_str());
            let value = match field.contains("WATERMARK") {
                true => kept.get(field).copied(),
                false => text.parse().ok(),
            };
            if let (Some((_, group)), Some(value), true) = (group, value, asked) {
                parts.entry(group).or_default().insert(own, value);
            }
        }
        for (group, values) in parts {
            let Some(of) = groups.get(group) else { continue };
            if group == ORCHAGENT {
                let acted = key.strip_prefix("COUNTERS:").and_then(|oid| acted.get(oid));
                copies.told((name, group), values, is_over(&row, acted.copied()));
            } else {
                let stamp = row.get(&format!("{group}_time_stamp"));
                let stamp = stamp.and_then(|text| text.parse().ok());
                copies.see((name, group), values, (stamp, of.copies));
            }
        }
    }
    Ok(())
}

/// Whether orchagent has counted all that the watchdog of a queue did, and has nothing to add until it acts again.
fn is_over(row: &BTreeMap<String, String>, acted: Option<Acted>) -> bool {
    let [storms, restores] =
        COUNTED.map(|field| row.get(field).and_then(|text| text.parse().ok()).unwrap_or(0));
    let is = |field: &str, word: &str| row.get(field).is_some_and(|text| text == word);
    let acts = is(STATUS, STORMED) || is("BIG_RED_SWITCH_MODE", "enable");
    !acts && acted.is_some_and(|acted| storms >= acted.storms && restores >= acted.restores)
}
