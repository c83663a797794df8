//! The dynamic buffer model of a switch: what CONFIG_DB has its buffer manager work headroom and pools out from, and what came of
//! it, in APPL_DB.
//!
//! Of a switch whose buffers an operator sizes nothing is stated here. What the chip is stands in STATE_DB, and in the profile.

use super::link::{Db, Link};
use super::port_rows::{is_shut, negotiates};
use super::ports;
use super::stated;
use super::tables::Tables;
use crate::control::Lost;
use rig_lab::Switch;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The tables of what it goes by, which have one row each.
pub(super) const SHARED: &str = "DEFAULT_LOSSLESS_BUFFER_PARAMETER";
pub(super) const PATTERN: &str = "LOSSLESS_TRAFFIC_PATTERN";
/// What a buffer profile is called that the rig has made, for what a case says of headroom.
pub(super) const OWN: &str = "RIG_HEADROOM_";
/// Bytes of a frame, and times that a pool is promised: no switch has more.
const MOST: u64 = 65_535;

/// Whether it works its buffers out itself.
fn is_dynamic(tables: &Tables) -> bool {
    tables.metadata("buffer_model").is_some_and(|said| said.text == "dynamic")
}

/// The settings that CONFIG_DB states of such a switch, by what it says of its first port.
pub(super) fn settings(tables: &Tables, ports: &[String]) -> Vec<(&'static str, Value)> {
    if !is_dynamic(tables) {
        return Vec::new();
    }
    let number = |table: &str, field: &str| {
        let (key, _) = tables.table(table).next()?;
        tables.field(table, key, field)?.number(MOST)
    };
    let cable = ports.first().and_then(|port| {
        let said = tables.field("CABLE_LENGTH", row_of_cables(tables, port)?, port)?;
        Some(said.text.to_owned())
    });
    let ratio = number(SHARED, "over_subscribe_ratio").filter(|ratio| *ratio > 0);
    let own = ports.first().and_then(|port| {
        let bound = (0..8).filter_map(|class| tables.bound("BUFFER_PG", port, class));
        let named = bound.filter_map(|key| tables.field("BUFFER_PG", key, "profile"));
        let mut rows = named.filter(|said| said.text != "NULL");
        // A lossy profile has none.
        rows.find_map(|said| {
            tables.field("BUFFER_PROFILE", said.referred("BUFFER_PROFILE")?, "xoff")
        })
    });
    let own = own.and_then(|said| said.number(stated::MOST_BYTES));
    vec![
        ("dynamic_buffer.cable", cable.map_or(Value::Null, Value::from)),
        ("dynamic_buffer.over_subscribe_ratio", ratio.map_or(Value::Null, Value::from)),
        ("dynamic_buffer.own_xoff", own.map_or(Value::Null, |bytes| json!(format!("{bytes}B")))),
        (
            "dynamic_buffer.lossless_mtu",
            number(PATTERN, "mtu").map_or(Value::Null, |bytes| json!(format!("{bytes}B"))),
        ),
        (
            "dynamic_buffer.small_packets",
            number(PATTERN, "small_packet_percentage").map_or(Value::Null, Value::from),
        ),
    ]
}

/// Whether a setting is one of these.
pub(super) fn is_sized(path: &str) -> bool {
    path.starts_with("dynamic_buffer.")
}

/// The key of the row of `CABLE_LENGTH` that says how long a port's cable is.
pub(super) fn row_of_cables<'t>(tables: &'t Tables, port: &str) -> Option<&'t str> {
    let mut rows = tables.table("CABLE_LENGTH");
    rows.find(|(_, row)| row.fields.contains_key(port)).map(|(key, _)| key)
}

/// The names of what the pool shows, as the rig reads them.
pub(super) const POOL: [&str; 2] = [
    "BUFFER_POOL_TABLE ingress_lossless_pool size",
    "BUFFER_POOL_TABLE ingress_lossless_pool xoff",
];

/// Why its pool is not that of as many ports as `of` has, each as the first of `ports` is; `None` where it is. The pool is what all ports
/// leave, and a case sets those alone that the rig is cabled to.
pub(super) fn unlike(tables: &Tables, ports: &[String], of: &Switch) -> Option<String> {
    let first = ports.first()?;
    let all = stated::every_port(tables);
    let declared = (0..).map_while(|port| of.port_speed(port)).count();
    if all.len() != declared {
        return Some(format!("CONFIG_DB has {} ports, and the profile {declared}", all.len()));
    }
    let said = |table: &str, key: &str, field: &str| {
        tables.field(table, key, field).map_or("nothing", |said| said.text)
    };
    let cable = |port: &str| {
        row_of_cables(tables, port).map_or("nothing", |row| said("CABLE_LENGTH", row, port))
    };
    let sized = |port: &str, class: u8| {
        let bound = tables.bound("BUFFER_PG", port, class);
        bound.map_or("nothing", |key| said("BUFFER_PG", key, "profile"))
    };
    let one = |number: Option<u16>| ports.get(usize::from(number?.checked_sub(1)?));
    let (shut, negotiating) = (one(of.shut_port), one(of.dynamic_buffer.autoneg_port));
    let reserve = of.dynamic_buffer.port_reserve.unwrap_or_default().0;
    all.into_iter().find_map(|port| {
        if shut.is_some_and(|shut| shut == port) {
            return None;
        }
        if is_shut(tables, port) {
            // Its groups are taken back as long as it is down.
            let status = said("PORT", port, "admin_status");
            return Some(format!("admin_status of {port} is {status}"));
        }
        if negotiates(tables, port) && negotiating.is_none_or(|other| other != port) {
            return Some(format!("autoneg of {port} is on"));
        }
        let aside = aside(tables, port);
        if aside != reserve {
            return Some(format!(
                "queues and egress profiles of {port} have {aside}B for themselves, and dynamic_buffer.port_reserve is {reserve}B"
            ));
        }
        let (speed, own) = (said("PORT", port, "speed"), said("PORT", first, "speed"));
        if speed != own {
            return Some(format!("the speed of {port} is {speed}, and that of {first} {own}"));
        }
        let (long, own) = (cable(port), cable(first));
        if long != own {
            return Some(format!("the cable of {port} is {long}, and that of {first} {own}"));
        }
        let own = of.qos.pfc_enable.first().map_or("NULL", |&class| sized(first, class));
        let own = if own.starts_with(OWN) { own } else { "NULL" };
        let other = of.qos.pfc_enable.iter().find(|&&class| sized(port, class) != own);
        other.map(|&class| {
            format!(
                "BUFFER_PG of {port} and class {class} has {}, and not {own}",
                sized(port, class)
            )
        })
    })
}

/// What queues of a port and its list of egress profiles have for themselves.
fn aside(tables: &Tables, port: &str) -> u64 {
    let size = |profile: &str| {
        let said = tables.field("BUFFER_PROFILE", profile, "size");
        said.and_then(|said| said.text.trim().parse::<u64>().ok()).unwrap_or(0)
    };
    let queue = |index: u8| {
        let key = tables.bound("BUFFER_QUEUE", port, index)?;
        tables.field("BUFFER_QUEUE", key, "profile")?.referred("BUFFER_PROFILE").map(size)
    };
    let listed = tables.of_port("BUFFER_PORT_EGRESS_PROFILE_LIST", port, "profile_list");
    let listed = listed.into_iter().flat_map(|said| said.text.split(','));
    let listed: u64 = listed.map(|name| size(ports::referred(name.trim()))).sum();
    (0..8).filter_map(queue).sum::<u64>() + listed
}

/// The key in APPL_DB of groups of a port that a row of `BUFFER_PG` binds: a row of several ports stands there as one of each.
pub(super) fn group(port: &str, row: &str) -> String {
    let (_, indices) = row.rsplit_once('|').unwrap_or((row, ""));
    format!("BUFFER_PG_TABLE:{port}:{indices}")
}

/// Why nobody can say what of an operator's own headroom a port has, where it is bound to some; `None`: it can be said. A switch looks at one row of
/// `BUFFER_PG` after the other: where the groups are in rows of their own, what all of them take together may be refused of some alone.
pub(super) fn apart(tables: &Tables, port: &str, of: &Switch) -> Option<String> {
    of.dynamic_buffer.own_xoff?;
    let mut rows = of.qos.pfc_enable.iter().map(|class| tables.bound("BUFFER_PG", port, *class));
    let first = rows.next()?;
    let other = rows.find(|row| *row != first)?;
    let said = |row: Option<&str>| row.unwrap_or("no row").to_owned();
    Some(format!(
        "lossless groups of {port} are in rows of their own (BUFFER_PG {} and {}), of which the switch may take one and refuse another",
        said(first),
        said(other)
    ))
}

/// What of it is not told, each with the reason. The pool is where the switch has `sizes`.
pub(super) fn untold(
    tables: &Tables,
    (ports, of): (&[String], &Switch),
    sizes: bool,
) -> BTreeMap<String, String> {
    let mut absent = BTreeMap::new();
    if let Some(why) = unlike(tables, ports, of).filter(|_| sizes) {
        let why = format!("the pool is that of ports that differ: {why}");
        absent.extend(POOL.map(|name| (name.to_owned(), why.clone())));
    }
    for (rig, port) in (0..).zip(ports) {
        if negotiates(tables, port) && of.dynamic_buffer.autoneg_port != Some(rig + 1) {
            let why = format!("autoneg of {port} is on, and nobody says what it negotiates");
            absent.extend(of_port(rig).map(|name| (name, why.clone())));
        }
        if let Some(why) = apart(tables, port, of) {
            let all = of_port(rig).into_iter().chain(POOL.map(str::to_owned));
            absent.extend(all.map(|name| (name, why.clone())));
        }
    }
    absent
}

/// The names of what a port's first lossless group shows, as the rig reads them.
pub(super) fn of_port(rig: u16) -> [String; 3] {
    let own = Switch::port_name(rig);
    ["xon", "xoff", "size"].map(|field| format!("BUFFER_PROFILE_TABLE {own} {field}"))
}

/// What APPL_DB says now of the headroom of each port's first lossless group and of its pool, under the rig's names:
/// `BUFFER_PROFILE_TABLE Ethernet0 xoff`, `BUFFER_POOL_TABLE ingress_lossless_pool size`.
///
/// # Errors
/// The switch is lost.
pub(super) fn shown(
    link: &mut Link,
    tables: &Tables,
    (ports, of): (&[String], &Switch),
) -> Result<BTreeMap<String, u64>, Lost> {
    let mut all = BTreeMap::new();
    if !is_dynamic(tables) {
        return Ok(all);
    }
    for (rig, port) in (0..).zip(ports) {
        let class = of.qos.pfc_enable.first();
        let bound = class.and_then(|class| tables.bound("BUFFER_PG", port, *class));
        let Some(bound) = bound else { continue };
        let group = link.whole(Db::Appl, &group(port, bound))?;
        let Some(profile) = group.get("profile") else { continue };
        let profile = link.whole(Db::Appl, &format!("BUFFER_PROFILE_TABLE:{profile}"))?;
        for (field, name) in ["xon", "xoff", "size"].into_iter().zip(of_port(rig)) {
            let bytes = profile.get(field).and_then(|text| text.parse().ok());
            all.extend(bytes.map(|bytes| (name, bytes)));
        }
        let Some(name) = profile.get("pool") else { continue };
        let pool = link.whole(Db::Appl, &format!("BUFFER_POOL_TABLE:{name}"))?;
        for field in ["size", "xoff"] {
            let bytes = pool.get(field).and_then(|text| text.parse().ok());
            all.extend(bytes.map(|bytes| (format!("BUFFER_POOL_TABLE {name} {field}"), bytes)));
        }
    }
    Ok(all)
}
