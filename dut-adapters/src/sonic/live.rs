//! The tables of CONFIG_DB from a redis that is running. What is not kept is not asked for: no secret leaves the switch.

use super::link::{Db, Link};
use super::tables::{Row, Spot, Tables};
use super::{chips, kept};
use crate::control::Lost;
use rig_lab::{Fault, RedisAt};
use rig_units::limits::CONFIG_BYTES;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Between a table and its key, and between the parts of that.
const SEPARATOR: &str = "|";
/// What says that all of it is there.
const LOADED: &str = "CONFIG_DB_INITIALIZED";

/// Reads CONFIG_DB of the switch whose redis is at `at`, as [`read`](super::read) does a file of it. `namespace` chooses the chip where it
/// has several.
///
/// # Errors
/// Nobody answers there, it has not that chip, or it is no CONFIG_DB.
pub fn live(at: &RedisAt, namespace: Option<&str>) -> Result<Tables, Vec<Fault>> {
    let host = name(at);
    let lost = |Lost { tried, why }: Lost| {
        let want = "a redis that answers, which this user may ask (on a switch: of the group redis, or root)";
        vec![Fault::of_file(&host, format!("cannot {tried}: {why}"), want)]
    };
    let mut link = Link::open(at).map_err(lost)?;
    let chips = chips::chips(at).map_err(lost)?;
    let chosen = chips.iter().find(|chip| namespace == Some(chip.name.as_str()));
    let named = match chosen {
        Some(chip) => {
            link = Link::open(&chip.at).map_err(lost)?;
            name(&chip.at)
        }
        None if namespace.is_none() && chips.is_empty() => host.clone(),
        None => {
            let names: Vec<&str> = chips.iter().map(|chip| chip.name.as_str()).collect();
            let (found, want) = match names.is_empty() {
                true => ("it is that of one chip", "no --namespace".to_owned()),
                false => (
                    "the switch has several chips",
                    format!("--namespace with one of {}", names.join(", ")),
                ),
            };
            return Err(vec![Fault::of_file(&host, found, want)]);
        }
    };
    let tables = config(&mut link, &named).map_err(lost)?;
    if tables.rows.is_empty() {
        let want = "CONFIG_DB of a switch, with rows such as PORT|Ethernet0";
        return Err(vec![Fault::of_file(&named, "there is no table in it that is read", want)]);
    }
    Ok(tables)
}

/// What messages call it.
pub(super) fn name(at: &RedisAt) -> String {
    format!("{at} CONFIG_DB")
}

/// The tables, as far as they are kept.
pub(super) fn config(link: &mut Link, named: &str) -> Result<Tables, Lost> {
    let mut rows: BTreeMap<String, BTreeMap<String, Row>> = BTreeMap::new();
    let mut size = 0_u64;
    whole(link)?;
    for ((table, key), fields) in asked(link)? {
        let there = fields.into_iter().filter_map(|(name, value)| Some((name, (value?, NOWHERE))));
        let fields: BTreeMap<String, (String, Spot)> = there.collect();
        size += fields.values().map(|(value, _)| value.len() as u64).sum::<u64>();
        if size > CONFIG_BYTES {
            let why = format!("it has more than {CONFIG_BYTES} bytes");
            return Err(Lost { tried: format!("read {table}"), why });
        }
        let key = key.split_once(SEPARATOR).map_or(key.as_str(), |(_, key)| key).to_owned();
        rows.entry(table.to_owned()).or_default().insert(key, Row { spot: NOWHERE, fields });
    }
    // What is being loaded anew may have been half of it meanwhile.
    whole(link)?;
    Ok(Tables { file: named.to_owned(), lines: Vec::new(), rows, faults: RefCell::default() })
}

/// A row by its table and key, and what was found of the fields of it that are kept.
type Found = ((&'static str, String), Vec<(String, Option<String>)>);

/// The rows that are kept: their keys, then what fields those have of which all are kept, then all of their fields, each in one round trip.
fn asked(link: &mut Link) -> Result<Vec<Found>, Lost> {
    let tables: Vec<_> = kept::tables().collect();
    let prefixes: Vec<String> =
        tables.iter().map(|(table, _)| format!("{table}{SEPARATOR}")).collect();
    let keys = link.keys_of(Db::Config, &prefixes)?;
    let of_all = |fields: Option<&[&str]>| fields.is_none();
    let open = tables.iter().zip(&keys).filter(|((_, fields), _)| of_all(*fields));
    let open: Vec<String> = open.flat_map(|(_, keys)| keys.iter().cloned()).collect();
    let mut names = link.names(Db::Config, &open)?.into_iter();
    let (mut rows, mut asked) = (Vec::new(), Vec::new());
    for ((table, fields), keys) in tables.into_iter().zip(keys) {
        for key in keys {
            let fields: Vec<String> = match fields {
                Some(fields) => fields.iter().map(|&field| field.to_owned()).collect(),
                None => {
                    let mut all = names.next().unwrap_or_default();
                    all.retain(|field| kept::keeps(table, field));
                    all
                }
            };
            // A row of which nothing is kept, or that has gone meanwhile.
            if !fields.is_empty() {
                rows.push(table);
                asked.push((key, fields));
            }
        }
    }
    let answers = link.fields(Db::Config, &asked)?;
    let all = rows.into_iter().zip(asked).zip(answers);
    let row = |((table, (key, names)), values): ((_, (_, Vec<_>)), Vec<_>)| {
        ((table, key), names.into_iter().zip(values).collect())
    };
    Ok(all.map(row).collect())
}

/// Refuses a CONFIG_DB that is being loaded: who loads it takes this mark away first, and sets it once all of it is there.
fn whole(link: &mut Link) -> Result<(), Lost> {
    let tried = "read CONFIG_DB";
    let mut ask = redis::pipe();
    ask.cmd("GET").arg(LOADED);
    let [mark]: [Option<String>; 1] = link.ask(Db::Config, tried, &ask)?;
    if mark.as_deref() == Some("1") {
        return Ok(());
    }
    let why = format!("it is not whole, or being loaded: {LOADED} is not 1");
    Err(Lost { tried: tried.to_owned(), why })
}

/// A database has no lines: what is wrong with a field is told by table, key and field.
pub(super) const NOWHERE: Spot = Spot { line: 0, column: 0, width: 1 };
