//! What the commands of the watchdog do to rows beside what they are asked for: `pfcwd start` takes the row of each port away and writes it
//! anew, and `pfcwd interval` looks at the times of all ports, not of those that the rig has alone.

use super::super::link::{Db, Edit, Link, Made};
use super::typed::lost;
use crate::control::Lost;
use std::collections::{BTreeMap, BTreeSet};

/// The fields that `pfcwd start` writes of each port, whatever stood there.
const WRITTEN: [&str; 3] = ["action", "detection_time", "restoration_time"];

/// A row with its fields.
type Row = (String, BTreeMap<String, String>);

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
    for (key, was) in rows {
        let is = link.whole(Db::Config, key)?;
        let beside: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
        let beside = beside.into_iter().filter(|name| !WRITTEN.contains(&name.as_str()));
        let edits = beside.map(|field| Edit {
            key,
            field,
            from: is.get(field).map(String::as_str),
            to: was.get(field).map(String::as_str),
        });
        let edits: Vec<Edit<'_>> = edits.filter(|edit| edit.from != edit.to).collect();
        if let Made::None(at, _) = link.edit(Db::Config, &edits)? {
            return Err(lost(format!("another hand has changed {key}|{}", edits[at].field)));
        }
    }
    Ok(())
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
