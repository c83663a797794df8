//! What is written is looked at first.

use super::{COPIED, leaf, profile};
use crate::sonic::control::held::TABLE;
use crate::sonic::control::schedulers;
use rig_lab::Declared;
use serde_json::Value;

#[test]
fn nobody_writes_what_was_not_looked_at() {
    // Every field that is written is one that is read, so that what it was is known.
    let text = std::fs::read_to_string(leaf()).expect("a file");
    let saved: Value = serde_json::from_str(&text).expect("JSON");
    let mut tables = crate::sonic::read(&leaf(), None).expect("it reads");
    for group in COPIED {
        let key = format!("FLEX_COUNTER_TABLE|{group}");
        tables = tables.with(&key, "FLEX_COUNTER_STATUS", Some("enable"));
        tables = tables.with(&key, "POLL_INTERVAL", Some("60000"));
    }
    let cable = ("CABLE_LENGTH|AZURE", "Ethernet0", "5m");
    let ratio = ("DEFAULT_LOSSLESS_BUFFER_PARAMETER|AZURE", "over_subscribe_ratio", "2");
    for (key, field, text) in [cable, ratio, ("LOSSLESS_TRAFFIC_PATTERN|AZURE", "mtu", "1024")] {
        tables = tables.with(key, field, Some(text));
    }
    let declared: Declared = profile().declared;
    let of = declared.switch().expect("a switch");
    for held in TABLE {
        let key = held.key(&tables, "Ethernet0", of).expect("the leaf has it");
        let (table, _) = key.split_once('|').expect("a table and a key");
        let is_there = saved.get(table).is_some() || held.paths[0].starts_with("dynamic_buffer.");
        assert!(is_there || table == "FLEX_COUNTER_TABLE", "{table}");
        let field = held.field_of("Ethernet0");
        assert!(crate::sonic::kept::keeps(table, field), "{table}|{field}");
    }
    let mut will = of.scheduler.clone();
    (will.pir, will.pbs) = ("40Gbps-L2".parse().ok(), "200KB".parse().ok());
    will.queues = vec![rig_lab::Scheduling::Dwrr(30); 8];
    let writes = schedulers::writes(&tables, &["Ethernet0".to_owned()], (&of.scheduler, &will));
    assert_eq!(writes.len(), 3 + 2 + 8 + 1, "{writes:?}");
    for write in writes {
        let (table, _) = write.key.split_once('|').expect("a table and a key");
        assert!(crate::sonic::kept::keeps(table, &write.field), "{write}");
    }
}
