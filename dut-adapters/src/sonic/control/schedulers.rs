//! Weights of queues and the rate of a port, as rows of `SCHEDULER` and what names them.
//!
//! A row that is there is left as it is, for queues of other ports name it, too. What is wanted gets a row of the rig's own, called after
//! what it says, and the rig's queues and ports name that one. All of it is one transaction, rows first: undone in reverse, no row goes
//! that is still named, as orchagent would keep it.

use super::super::tables::Tables;
use super::super::write::Write;
use super::held::row_of_port;
use rig_lab::{Scheduler, Scheduling};

/// The settings that are written so.
pub(super) const PATHS: [&str; 3] = ["scheduler.queues", "scheduler.pir", "scheduler.pbs"];
/// Bits in a byte: rates count bytes a second.
const BITS: u64 = 8;

/// Fields of a row, in the order in which they are written.
type Fields = Vec<(&'static str, String)>;

/// What has to be written for these ports, which are scheduled as `was`, so that they are scheduled as `will`. A row that names several
/// queues can say one thing of them: who reads it finds out where it is to say two.
pub(super) fn writes(
    tables: &Tables,
    ports: &[String],
    (was, will): (&Scheduler, &Scheduler),
) -> Vec<Write> {
    let (mut rows, mut bindings) = (Vec::new(), Vec::new());
    let mut bind = |key: String, to: Option<(String, Fields)>| {
        let (row, fields) = to.map_or((None, Vec::new()), |(row, fields)| (Some(row), fields));
        for (field, text) in fields {
            let key = format!("SCHEDULER|{}", row.as_deref().unwrap_or_default());
            rows.extend(change(tables, key, field, Some(text)));
        }
        let has = change(tables, key.clone(), "scheduler", None).and_then(|write| write.from);
        // As this image writes a reference.
        let old = has.is_some_and(|text| text.starts_with('['));
        let text = row.map(|row| if old { format!("[SCHEDULER|{row}]") } else { row });
        bindings.extend(change(tables, key, "scheduler", text));
    };
    for port in ports {
        for (queue, (was, will)) in (0_u8..).zip(was.queues.iter().zip(&will.queues)) {
            let key = tables.bound("QUEUE", port, queue).filter(|_| was != will);
            key.into_iter().for_each(|key| bind(format!("QUEUE|{key}"), Some(share(*will))));
        }
        if (was.pir, was.pbs) != (will.pir, will.pbs) {
            bind(row_of_port(tables, "PORT_QOS_MAP", port), shaper(will));
        }
    }
    rows.append(&mut bindings);
    // Of two that change one field the first is made.
    let mut all: Vec<Write> = Vec::new();
    for write in rows {
        let same = |other: &Write| (&other.key, &other.field) == (&write.key, &write.field);
        if !all.iter().any(same) {
            all.push(write);
        }
    }
    all
}

/// The row by which a queue takes part so.
fn share(how: Scheduling) -> (String, Fields) {
    match how {
        Scheduling::Strict => ("RIG_STRICT".to_owned(), vec![("type", "STRICT".to_owned())]),
        Scheduling::Dwrr(weight) => (
            format!("RIG_DWRR_{weight}"),
            vec![("type", "DWRR".to_owned()), ("weight", weight.to_string())],
        ),
    }
}

/// The row by which a port keeps to its rate, where it has one. What is no whole number of bytes is found out when it is read.
fn shaper(of: &Scheduler) -> Option<(String, Fields)> {
    let rate = of.pir?.bps / BITS;
    let burst = of.pbs.map(|burst| burst.0);
    let mut fields = vec![("meter_type", "bytes".to_owned()), ("pir", rate.to_string())];
    fields.extend(burst.map(|burst| ("pbs", burst.to_string())));
    let burst = burst.map_or(String::new(), |burst| format!("_PBS_{burst}"));
    Some((format!("RIG_PIR_{rate}{burst}"), fields))
}

/// The change of a field, if it is one.
fn change(tables: &Tables, key: String, field: &str, to: Option<String>) -> Option<Write> {
    let (table, name) = key.split_once('|')?;
    let from = tables.field(table, name, field).map(|said| said.text.to_owned());
    (from != to).then(|| Write { key, field: field.to_owned(), from, to })
}
