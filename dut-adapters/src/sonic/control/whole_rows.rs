//! What the commands of the watchdog do to rows beside what they are asked for: `pfcwd start` takes the row of each port away and writes it
//! anew, and `pfcwd interval` looks at the times of all ports, not of those that the rig has alone.

use super::super::link::{Db, Edit, Link, Made};
use super::super::tables::Tables;
use super::super::write::Write;
use super::typed::lost;
use crate::control::Lost;
use rig_lab::{ConfigPath, Declared};
use std::collections::{BTreeMap, BTreeSet};

/// The fields that `pfcwd start` writes of each port, whatever stood there.
const WRITTEN: [&str; 3] = ["action", "detection_time", "restoration_time"];

/// A row with its fields.
type Row = (String, BTreeMap<String, String>);

/// The field that `pfcwd start` of images since 2025 writes whatever stood there, and what it writes.
const HISTORY: (&str, &str) = ("pfc_stat_history", "disable");

/// What `pfcwd start` will write beside `writes`, of a switch that is configured as `now`: a rig that ends before it has put that back has it noted,
/// and where another way was taken nothing of it is otherwise than before.
pub(super) fn beside(tables: &Tables, now: &Declared, writes: &[Write]) -> Vec<Write> {
    let typed = now.switch().is_some_and(|switch| switch.pfcwd.config_path == ConfigPath::Cli);
    let of_ports = writes.iter().filter(|write| WRITTEN.contains(&write.field.as_str()));
    let rows: BTreeSet<&str> = of_ports.filter(|_| typed).map(|write| write.key.as_str()).collect();
    let (field, to) = HISTORY;
    let noted = rows.into_iter().filter_map(|key| {
        let (table, port) = key.split_once('|')?;
        let from = tables.field(table, port, field).map(|said| said.text.to_owned());
        let is_other = from.as_deref() != Some(to);
        let (key, field, to) = (key.to_owned(), field.to_owned(), Some(to.to_owned()));
        is_other.then_some(Write { key, field, from, to })
    });
    noted.collect()
}

/// The rows of these ports before `pfcwd start`.
///
/// # Errors
/// One has not all that the command writes: what then came into being would stay, and nobody has noted it. Or the switch is lost.
pub(super) fn before(link: &mut Link, ports: &[String]) -> Result<Vec<Row>, Lost> {
    let mut rows = Vec::new();
    for port in ports {
        let key = format!("PFC_WD|{port}");
        let row = link.whole(Db::Config, &key)?;
        if let Some(field) = WRITTEN.iter().find(|field| !row.contains_key(**field)) {
            return Err(lost(format!(
                "`pfcwd start` writes {key} anew, with {field}, which it has not: it would not be as before; set {} there first",
                WRITTEN.join(", ")
            )));
        }
        rows.push((key, row));
    }
    Ok(rows)
}

/// Puts back what `pfcwd start` has taken along of these rows, or brought with it (`pfc_stat_history` of images since 2025).
///
/// # Errors
/// Another hand has been there, or the switch is lost.
pub(super) fn put_back(link: &mut Link, rows: &[Row]) -> Result<(), Lost> {
    for row in rows {
        let is = link.whole(Db::Config, &row.0)?;
        over(link, row, &is)?;
    }
    Ok(())
}

/// Makes of a row that was found so what it was, but for what the command writes.
///
/// # Errors
/// It is not as it was found any more, or the switch is lost.
pub(super) fn over(
    link: &mut Link,
    (key, was): &Row,
    is: &BTreeMap<String, String>,
) -> Result<(), Lost> {
    let beside: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    let beside = beside.into_iter().filter(|name| !WRITTEN.contains(&name.as_str()));
    let edits = beside.map(|field| Edit {
        key,
        field,
        from: is.get(field).map(String::as_str),
        to: was.get(field).map(String::as_str),
    });
    let edits: Vec<Edit<'_>> = edits.filter(|edit| edit.from != edit.to).collect();
    match link.edit(Db::Config, &edits)? {
        Made::All => Ok(()),
        Made::None(at, _) => {
            Err(lost(format!("another hand has changed {key}|{}", edits[at].field)))
        }
    }
}

/// That no port beside these keeps `pfcwd interval` from being `interval` milliseconds, where it has been refused.
///
/// # Errors
/// One has a shorter time: the refusal may be of that port. Or the switch is lost.
pub(super) fn alone(link: &mut Link, ports: &[String], interval: u64) -> Result<(), Lost> {
    for key in link.keys(Db::Config, "PFC_WD|Ethernet")? {
        if key.strip_prefix("PFC_WD|").is_some_and(|port| ports.iter().any(|own| own == port)) {
            continue;
        }
        let row = link.whole(Db::Config, &key)?;
        for field in ["detection_time", "restoration_time"] {
            let time = row.get(field).and_then(|text| text.parse::<u64>().ok());
            if let Some(time) = time.filter(|time| *time < interval) {
                return Err(lost(format!(
                    "`pfcwd interval` looks at every port, and {key}|{field} is {time} ms: less than {interval}, whatever the ports of the rig have"
                )));
            }
        }
    }
    Ok(())
}
