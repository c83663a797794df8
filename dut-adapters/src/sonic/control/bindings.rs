//! Whether the schedulers that CONFIG_DB names are in effect, as far as ASIC_DB tells: which object a port is bound to, and how many
//! scheduler groups are bound to one.
//!
//! A queue's scheduler is bound to the group that it is a child of, and orchagent asks the chip which that is: no database says. So what
//! can be seen is that of each row there is an object that says the same, and as many groups bound to it as CONFIG_DB binds queues. Two
//! queues that have changed places are not told apart.

use super::super::link::{Db, Link};
use super::super::tables::Tables;
use crate::control::Lost;
use std::collections::{BTreeMap, BTreeSet};

const GROUP: &str = "ASIC_STATE:SAI_OBJECT_TYPE_SCHEDULER_GROUP:";
const OBJECT: &str = "ASIC_STATE:SAI_OBJECT_TYPE_SCHEDULER:";
const PORT: &str = "ASIC_STATE:SAI_OBJECT_TYPE_PORT:";
const OF_GROUP: &str = "SAI_SCHEDULER_GROUP_ATTR_SCHEDULER_PROFILE_ID";
const OF_PORT: &str = "SAI_PORT_ATTR_QOS_SCHEDULER_PROFILE_ID";
/// What an object says, by the field that it is made of, and what its words begin with there.
const ATTRIBUTES: [(&str, &str, &str); 4] = [
    ("type", "SAI_SCHEDULER_ATTR_SCHEDULING_TYPE", "SAI_SCHEDULING_TYPE_"),
    ("weight", "SAI_SCHEDULER_ATTR_SCHEDULING_WEIGHT", ""),
    ("pir", "SAI_SCHEDULER_ATTR_MAX_BANDWIDTH_RATE", ""),
    ("pbs", "SAI_SCHEDULER_ATTR_MAX_BANDWIDTH_BURST_RATE", ""),
];
/// Bound to nothing.
const NONE: &str = "oid:0x0";

/// What an object says, or has to: attributes and their values.
type Says = BTreeMap<&'static str, String>;

/// What is not in effect yet of the schedulers of these ports and of their queues; `None` where all of it is.
///
/// # Errors
/// The switch is lost.
pub(super) fn missing(
    link: &mut Link,
    tables: &Tables,
    (ports, oids): (&[String], &BTreeMap<String, String>),
) -> Result<Option<String>, Lost> {
    for port in ports {
        let Some(oid) = oids.get(port) else { continue };
        let key = format!("{PORT}{oid}");
        let bound = field(link, &key, OF_PORT)?.filter(|oid| oid != NONE);
        let named = tables.of_port("PORT_QOS_MAP", port, "scheduler");
        let named = named.and_then(|said| said.referred("SCHEDULER"));
        let why = match (named, bound) {
            (None, None) => None,
            (None, Some(bound)) => {
                Some(format!("{key} {OF_PORT} is `{bound}`, and CONFIG_DB names none"))
            }
            (Some(row), None) => Some(format!("{key} has no {OF_PORT}, and CONFIG_DB names {row}")),
            (Some(row), Some(bound)) => {
                let (says, key) = (says(tables, row), format!("{OBJECT}{bound}"));
                let found = object(link, &key)?;
                let other = says.into_iter().find(|(name, text)| found.get(name) != Some(text));
                other.map(|(name, text)| {
                    let found = found.get(name).map_or("not there", String::as_str);
                    format!("{key} {name} is {found}, not `{text}`")
                })
            }
        };
        if why.is_some() {
            return Ok(why);
        }
    }
    groups(link, tables, ports)
}

/// The same of the queues.
fn groups(link: &mut Link, tables: &Tables, ports: &[String]) -> Result<Option<String>, Lost> {
    let named = tables.schedulers();
    let own: BTreeSet<&str> = ports
        .iter()
        .flat_map(|port| (0..8).filter_map(|queue| tables.bound("QUEUE", port, queue)))
        .filter_map(|key| tables.field("QUEUE", key, "scheduler")?.referred("SCHEDULER"))
        .collect();
    if own.is_empty() {
        return Ok(None);
    }
    let mut has: BTreeMap<String, usize> = BTreeMap::new();
    let keys = link.keys(Db::Asic, GROUP)?;
    let asked: Vec<_> = keys.into_iter().map(|key| (key, vec![OF_GROUP.to_owned()])).collect();
    let bound = if asked.is_empty() { Vec::new() } else { link.fields(Db::Asic, &asked)? };
    for oid in bound.into_iter().flatten().flatten().filter(|oid| oid != NONE) {
        *has.entry(oid).or_default() += 1;
    }
    let mut objects = Vec::new();
    for (oid, count) in has {
        objects.push((object(link, &format!("{OBJECT}{oid}"))?, count));
    }
    // The one with the fewest groups first that has enough, for the row that wants most.
    objects.sort_by_key(|(_, count)| *count);
    let mut own: Vec<(&str, usize)> =
        own.into_iter().map(|row| (row, named.get(row).copied().unwrap_or_default())).collect();
    own.sort_by_key(|(_, count)| core::cmp::Reverse(*count));
    for (row, wanted) in own {
        let says = says(tables, row);
        let same = |found: &Says| says.iter().all(|(name, text)| found.get(name) == Some(text));
        let most = objects.iter().rev().find(|(found, _)| same(found)).map_or(0, |(_, most)| *most);
        match objects.iter().position(|(found, count)| same(found) && *count >= wanted) {
            Some(at) => drop(objects.remove(at)),
            None => {
                let says: Vec<String> =
                    says.iter().map(|(name, text)| format!("{name} `{text}`")).collect();
                return Ok(Some(format!(
                    "CONFIG_DB binds {wanted} queues to SCHEDULER|{row}, and ASIC_DB no more than {most} scheduler groups to one object \
                     with {}",
                    says.join(", ")
                )));
            }
        }
    }
    Ok(None)
}

/// What the object of a row has to say.
fn says(tables: &Tables, row: &str) -> Says {
    let of = |field: &str| tables.field("SCHEDULER", row, field).map(|said| said.text);
    let strict = of("type") == Some("STRICT");
    // What does not weigh needs no weight.
    let all = ATTRIBUTES.into_iter().filter(|(field, ..)| !(strict && *field == "weight"));
    all.filter_map(|(field, name, word)| Some((name, format!("{word}{}", of(field)?)))).collect()
}

/// What an object says of all that.
fn object(link: &mut Link, key: &str) -> Result<Says, Lost> {
    let names = ATTRIBUTES.map(|(_, name, _)| name);
    let asked = [(key.to_owned(), names.map(str::to_owned).to_vec())];
    let found = link.fields(Db::Asic, &asked)?;
    let found = found.into_iter().flatten().zip(names);
    Ok(found.filter_map(|(text, name)| Some((name, text?))).collect())
}

fn field(link: &mut Link, key: &str, name: &str) -> Result<Option<String>, Lost> {
    let asked = [(key.to_owned(), vec![name.to_owned()])];
    Ok(link.fields(Db::Asic, &asked)?.into_iter().flatten().next().flatten())
}
