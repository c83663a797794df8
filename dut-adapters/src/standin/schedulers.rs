//! `SCHEDULER` and what names its rows, as orchagent has the chip told of them (`qosorch.cpp`: `handleSchedulerTable`,
//! `handleQueueTable`, `handlePortQosMapTable`): an object for each row, each queue's group bound to one, and each port that is shaped.

use super::names::{Db, Row, Rows, numbers, of, of_port, ports, referred, row, set};
use super::objects;
use redis::Pipeline;
use std::collections::{BTreeMap, BTreeSet};

/// Fields of a row, the attributes that they become, and what those say before the field's word.
const ATTRIBUTES: [(&str, &str, &str); 7] = [
    ("type", "SAI_SCHEDULER_ATTR_SCHEDULING_TYPE", "SAI_SCHEDULING_TYPE_"),
    ("weight", "SAI_SCHEDULER_ATTR_SCHEDULING_WEIGHT", ""),
    ("meter_type", "SAI_SCHEDULER_ATTR_METER_TYPE", "SAI_METER_TYPE_"),
    ("cir", "SAI_SCHEDULER_ATTR_MIN_BANDWIDTH_RATE", ""),
    ("cbs", "SAI_SCHEDULER_ATTR_MIN_BANDWIDTH_BURST_RATE", ""),
    ("pir", "SAI_SCHEDULER_ATTR_MAX_BANDWIDTH_RATE", ""),
    ("pbs", "SAI_SCHEDULER_ATTR_MAX_BANDWIDTH_BURST_RATE", ""),
];
/// Bound to nothing.
const NONE: &str = "oid:0x0";

/// What the chip has been told.
#[derive(Debug, Default)]
pub(super) struct Schedulers {
    /// The object of each row, by its name.
    made: BTreeMap<String, String>,
    /// So many were made.
    count: u32,
    /// Groups and ports that are bound to one, by their keys in ASIC_DB.
    bound: BTreeSet<(String, &'static str)>,
}

/// Whether a row names a scheduler that is not there: it is taken once that is.
pub(super) fn waits(key: &str, rows: &Rows) -> bool {
    let names = key.starts_with("QUEUE|") || key.starts_with("PORT_QOS_MAP|");
    let named = rows.get(key).filter(|_| names).and_then(|row| row.get("scheduler"));
    named.is_some_and(|name| !rows.contains_key(&format!("SCHEDULER|{}", referred(name))))
}

/// The weight of a row: eight bits of what stands there, and 1 where nothing does.
pub(super) fn weight(row: &Row) -> u8 {
    let said = row.get("weight").and_then(|text| text.parse::<u64>().ok());
    said.map_or(1, |weight| weight.to_le_bytes()[0])
}

impl Schedulers {
    /// Has the chip told what these rows say and did not before.
    pub(super) fn told(&mut self, rows: &Rows, all: &mut Pipeline) {
        all.cmd("SELECT").arg(Db::Asic as u8).ignore();
        let there: BTreeMap<&str, &Row> = of(rows, "SCHEDULER").collect();
        for (name, fields) in &there {
            let oid = self.made.entry((*name).to_owned()).or_insert_with(|| {
                self.count += 1;
                format!("oid:0x16{:02x}", self.count)
            });
            // What goes from a row stays at its object.
            set(all, &key("SCHEDULER", oid), &attributes(fields));
        }
        let bound = self.bindings(rows);
        for ((key, attribute), oid) in &bound {
            set(all, key, &row([(*attribute, oid.clone())]));
        }
        for (key, attribute) in self.bound.iter().filter(|own| !bound.contains_key(*own)) {
            set(all, key, &row([(*attribute, NONE.to_owned())]));
        }
        self.bound = bound.into_keys().collect();
        // An object goes once nothing is bound to it.
        self.made.retain(|name, oid| {
            let stays = there.contains_key(name.as_str());
            if !stays {
                all.cmd("DEL").arg(key("SCHEDULER", oid)).ignore();
            }
            stays
        });
    }

    /// The object of each group and port that is to be bound to one.
    fn bindings(&self, rows: &Rows) -> BTreeMap<(String, &'static str), String> {
        let mut all = BTreeMap::new();
        let object = |row: &Row| self.made.get(referred(row.get("scheduler")?)).cloned();
        for (name, queue) in of(rows, "QUEUE") {
            let (Some((own, queues)), Some(oid)) = (name.rsplit_once('|'), object(queue)) else {
                continue;
            };
            let own = own.rsplit('|').next().unwrap_or(own);
            for at in own.split(',').filter_map(|port| objects::place(rows, port)) {
                for index in numbers(queues) {
                    let group = format!("oid:0x17000000000{at:02x}{index:x}");
                    let attribute = "SAI_SCHEDULER_GROUP_ATTR_SCHEDULER_PROFILE_ID";
                    all.insert((key("SCHEDULER_GROUP", &group), attribute), oid.clone());
                }
            }
        }
        for (at, port) in ports(rows).iter().enumerate() {
            let map = of_port(rows, "PORT_QOS_MAP", port);
            if let Some(oid) = map.and_then(object) {
                let attribute = "SAI_PORT_ATTR_QOS_SCHEDULER_PROFILE_ID";
                all.insert((key("PORT", &objects::port(at)), attribute), oid);
            }
        }
        all
    }
}

/// What an object is told of a row.
fn attributes(fields: &Row) -> Row {
    let told = |(field, name, word): (&str, &str, &str)| {
        let text = match field {
            "weight" => fields.contains_key(field).then(|| weight(fields).to_string()),
            "meter_type" => fields.get(field).map(|text| text.to_uppercase()),
            _ => fields.get(field).cloned(),
        };
        Some((name.to_owned(), format!("{word}{}", text?)))
    };
    ATTRIBUTES.into_iter().filter_map(told).collect()
}

fn key(of: &str, oid: &str) -> String {
    format!("ASIC_STATE:SAI_OBJECT_TYPE_{of}:{oid}")
}
