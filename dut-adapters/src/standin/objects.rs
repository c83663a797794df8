//! What the ASIC has: an object for each port, queue and priority group, and the maps from names to them.

use super::names::{Db, Rows, of as rows_of, ports};
use redis::Pipeline;

/// The type of an object that stands in its number (`SAI_OBJECT_TYPE_*`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ObjectType {
    Queue = 0x15,
    Pool = 0x18,
    Group = 0x1a,
}

/// The object of a port, by its place among the ports.
pub(super) fn port(at: usize) -> String {
    format!("oid:0x10000000000{at:02x}")
}

/// That of one of its queues or groups.
pub(super) fn part(kind: ObjectType, at: usize, index: u8) -> String {
    format!("oid:0x{:x}000000000{at:02x}{index:x}", kind as u8)
}

/// The object of a pool of that name.
pub(super) fn pool(rows: &Rows, name: &str) -> Option<String> {
    let at = pools(rows).position(|pool| pool == name)?;
    Some(format!("oid:0x{:x}000000000{at:02x}", ObjectType::Pool as u8))
}

/// The names of the pools, in order.
pub(super) fn pools(rows: &Rows) -> impl Iterator<Item = &str> {
    rows_of(rows, "BUFFER_POOL").map(|(pool, _)| pool)
}

/// The place of a port among the ports.
pub(super) fn place(rows: &Rows, port: &str) -> Option<usize> {
    ports(rows).iter().position(|one| *one == port)
}

/// The object that a canonical name such as `Ethernet0` or `Ethernet0:3` is of, whose counter is called so.
pub(super) fn of(rows: &Rows, name: &str, counter: &str) -> Option<String> {
    let Some((own, index)) = name.split_once(':') else {
        return place(rows, name).map(port).or_else(|| pool(rows, name));
    };
    let group = counter.starts_with("SAI_INGRESS_PRIORITY_GROUP_");
    let kind = if group { ObjectType::Group } else { ObjectType::Queue };
    Some(part(kind, place(rows, own)?, index.parse().ok()?))
}

/// The port and the class of the queue that is this object.
pub(super) fn queue<'r>(rows: &'r Rows, oid: &str) -> Option<(&'r str, u8)> {
    let all = ports(rows).into_iter().enumerate();
    let mut queues = all.flat_map(|(at, port)| (0..8).map(move |class| (at, port, class)));
    let own = queues.find(|(at, _, class)| part(ObjectType::Queue, *at, *class) == oid);
    own.map(|(_, port, class)| (port, class))
}

/// The maps of COUNTERS_DB from names to objects.
pub(super) fn maps(rows: &Rows) -> Pipeline {
    let mut all = redis::pipe();
    all.cmd("SELECT").arg(Db::Counters as u8).ignore();
    let mut put = |map: &str, key: &str, value: &str| {
        all.cmd("HSET").arg(map).arg(key).arg(value).ignore();
    };
    for (at, name) in ports(rows).iter().enumerate() {
        let own = port(at);
        put("COUNTERS_PORT_NAME_MAP", name, &own);
        for index in 0..8 {
            let (queue, group) =
                (part(ObjectType::Queue, at, index), part(ObjectType::Group, at, index));
            let named = format!("{name}:{index}");
            put("COUNTERS_QUEUE_NAME_MAP", &named, &queue);
            put("COUNTERS_QUEUE_PORT_MAP", &queue, &own);
            put("COUNTERS_QUEUE_INDEX_MAP", &queue, &index.to_string());
            put("COUNTERS_QUEUE_TYPE_MAP", &queue, "SAI_QUEUE_TYPE_UNICAST");
            put("COUNTERS_PG_NAME_MAP", &named, &group);
            put("COUNTERS_PG_PORT_MAP", &group, &own);
            put("COUNTERS_PG_INDEX_MAP", &group, &index.to_string());
        }
    }
    for name in pools(rows) {
        pool(rows, name).iter().for_each(|oid| put("COUNTERS_BUFFER_POOL_NAME_MAP", name, oid));
    }
    all
}
