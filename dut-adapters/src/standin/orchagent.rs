//! What orchagent and its managers make of CONFIG_DB: settings of the device, then rows of APPL_DB, ASIC_DB and FLEX_COUNTER_DB and
//! the watchdog's fields beside the counters of queues. Names and units are those of sonic-swss (`pfcwdsworch.cpp`, `qosorch.cpp`,
//! `buffermgr.cpp`) and of SAI.

use super::asic::Asic;
use super::buffermgr::BufferManager;
use super::counted::flex;
use super::faults::Faults;
use super::names::{Db, Row, Rows, numbers, of, of_port, ports, referred, row, set};
use super::objects::{self, ObjectType};
use super::schedulers::{self, Schedulers};
use super::{refused, said, scripts};
use redis::{Connection, Pipeline, RedisResult};
use rig_generator::port::Mono;
use rig_lab::{Setting, fields};
use std::collections::BTreeMap;

/// What it takes of CONFIG_DB.
const TABLES: [&str; 16] = [
    "PORT",
    "PORT_QOS_MAP",
    "PFC_WD",
    "BUFFER_POOL",
    "BUFFER_PROFILE",
    "BUFFER_PG",
    "BUFFER_QUEUE",
    "QUEUE",
    "SCHEDULER",
    "WRED_PROFILE",
    "FLEX_COUNTER_TABLE",
    "DEVICE_METADATA",
    "CABLE_LENGTH",
    "BUFFER_PORT_EGRESS_PROFILE_LIST",
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
    "LOSSLESS_TRAFFIC_PATTERN",
];

/// The row of all watchdogs.
const GLOBAL: &str = "PFC_WD|GLOBAL";

/// One, and what it has taken so far.
pub(super) struct Orchagent {
    /// The rows in effect.
    pub(super) rows: Rows,
    /// What the device was told last.
    told: Vec<Setting>,
    /// The watchdog of each queue, as it was written.
    watched: BTreeMap<String, Row>,
    schedulers: Schedulers,
    manager: BufferManager,
    /// When the buffer manager gets to what has changed.
    sizes_at: Option<Mono>,
    /// What it last said it does not take.
    refused: Option<String>,
    pub(super) faults: Faults,
}

impl Orchagent {
    /// One before a device that is set to `told`.
    pub(super) fn new(told: Vec<Setting>, faults: Faults) -> Orchagent {
        let (rows, watched) = (Rows::new(), BTreeMap::new());
        let (schedulers, manager) = (Schedulers::default(), BufferManager::default());
        let (sizes_at, refused) = (None, None);
        Orchagent { rows, told, watched, schedulers, manager, sizes_at, refused, faults }
    }

    /// Takes all of CONFIG_DB as it is now; what it does not take of it, where it did not say so before.
    pub(super) fn take(
        &mut self,
        line: &mut Connection,
        asic: &mut dyn Asic,
    ) -> RedisResult<Option<String>> {
        let first = self.rows.is_empty();
        let mut rows = read(line)?;
        self.lasts(&mut rows);
        let mut refused = None;
        let keys: Vec<String> = rows.keys().cloned().collect();
        for key in &keys {
            if self.faults.clamps
                && let Some(row) = rows.get_mut(key)
            {
                refused::clamp(key, row);
            }
            let why = refused::why(key, &rows[key]).filter(|_| !self.faults.no_limits);
            let Some(why) = why else { continue };
            refused = refused.or(Some(why));
            self.stays(key, &mut rows);
        }
        // What names a row that is not there is tried again later, and says nothing.
        for key in keys.iter().filter(|key| schedulers::waits(key, &rows)).collect::<Vec<_>>() {
            self.stays(key, &mut rows);
        }
        if self.faults.lost_bindings && !first {
            keys.iter().filter(|key| key.starts_with("QUEUE|")).for_each(|key| {
                self.stays(key, &mut rows);
            });
        }
        let settings = said::settings(&rows);
        let mut news: Vec<Setting> =
            settings.iter().filter(|one| !self.told.contains(one)).cloned().collect();
        // A device that is what it was told may not run yet: what it was not told it hears once it does.
        let later = if first && !self.told.is_empty() { news.split_off(0) } else { Vec::new() };
        let live = |one: &Setting| fields::field(&one.path).is_some_and(|field| field.live);
        let taken = match news.as_slice() {
            [] => Ok(()),
            all if all.iter().all(live) => asic.set(all),
            _ => asic.restart(&settings),
        };
        match taken {
            Ok(()) => {
                self.told = settings;
                self.told.retain(|one| !later.contains(one));
                self.rows = rows;
                self.written(first).exec(line)?;
                let late = if first { 0 } else { self.faults.late_buffers.0 / 1_000 };
                let due = Mono(Mono::now().0 + late);
                self.sizes_at = self.sizes_at.or(Some(due));
                self.sizes(line)?;
            }
            // All stays as it was.
            Err(why) => refused = refused.or(Some(format!("the ASIC refuses: {why}"))),
        }
        let fresh = refused != self.refused;
        self.refused = refused;
        Ok(self.refused.clone().filter(|_| fresh))
    }

    /// When buffers are worked out next.
    pub(super) const fn sizes_at(&self) -> Option<Mono> {
        self.sizes_at
    }

    /// Works buffers out anew where the manager has got to what has changed: from what stands there now, as a subscriber of a table sees
    /// a row once however often it was changed.
    pub(super) fn sizes(&mut self, line: &mut Connection) -> RedisResult<()> {
        if self.sizes_at.is_none_or(|due| due > Mono::now()) {
            return Ok(());
        }
        self.sizes_at = None;
        self.manager.rows(&self.rows, &self.faults, line)?.exec(line)
    }

    /// A row that is not taken is as it was.
    fn stays(&self, key: &str, rows: &mut Rows) {
        match self.rows.get(key) {
            Some(before) => drop(rows.insert(key.to_owned(), before.clone())),
            None => drop(rows.remove(key)),
        }
    }

    /// All that the databases say of it.
    fn written(&mut self, first: bool) -> Pipeline {
        let mut all = redis::pipe();
        if first {
            objects::maps(&self.rows).cmd_iter().for_each(|one| {
                all.add_command(one.clone()).ignore();
            });
        }
        self.counters(&mut all);
        flex(&self.rows, &mut all);
        let rows = &self.rows;
        all.cmd("SELECT").arg(Db::Appl as u8).ignore();
        for table in ["BUFFER_PROFILE", "BUFFER_POOL"] {
            for (name, row) in of(rows, table) {
                set(&mut all, &format!("{table}_TABLE:{name}"), row);
            }
        }
        for (port, row) in of(rows, "PORT") {
            set(&mut all, &format!("PORT_TABLE:{port}"), row);
        }
        if first || !self.faults.deaf_asic {
            asic(rows, &mut all);
            self.schedulers.told(rows, &mut all);
        }
        all
    }

    /// Begins anew, with what CONFIG_DB says then.
    pub(super) fn begins(&mut self) {
        self.rows.remove(GLOBAL);
    }

    /// Of the row of all watchdogs it takes what is set, and nothing of what goes.
    fn lasts(&self, rows: &mut Rows) {
        let Some(before) = self.rows.get(GLOBAL) else { return };
        let row = rows.entry(GLOBAL.to_owned()).or_default();
        for (field, text) in before {
            row.entry(field.clone()).or_insert_with(|| text.clone());
        }
    }

    /// The watchdog's fields beside the counters of each queue, in microseconds; of a queue that is not watched they go.
    fn counters(&mut self, all: &mut Pipeline) {
        all.cmd("SELECT").arg(Db::Counters as u8).ignore();
        let none = Row::new();
        let global = self.rows.get("PFC_WD|GLOBAL").unwrap_or(&none);
        let red = global.get("BIG_RED_SWITCH").is_some_and(|word| word == "enable");
        for (at, port) in ports(&self.rows).iter().enumerate() {
            let row = of_port(&self.rows, "PFC_WD", port);
            let guarded = classes(&self.rows, port, "pfcwd_sw_enable");
            for queue in 0..8 {
                let key = format!("COUNTERS:{}", objects::part(ObjectType::Queue, at, queue));
                let row = row.filter(|_| guarded.contains(&queue));
                let fields = row.map(|row| watchdog(row, red));
                if self.watched.get(&key) == fields.as_ref() {
                    continue;
                }
                for field in ["DETECTION_TIME", "RESTORATION_TIME", "ACTION", "STATUS"] {
                    all.cmd("HDEL").arg(&key).arg(format!("PFC_WD_{field}")).ignore();
                }
                all.cmd("HDEL").arg(&key).arg("BIG_RED_SWITCH_MODE").ignore();
                scripts::forget(at, queue, all);
                match fields {
                    Some(fields) => {
                        set(all, &key, &fields);
                        self.watched.insert(key, fields);
                    }
                    None => drop(self.watched.remove(&key)),
                }
            }
        }
    }
}

/// The rows of CONFIG_DB, as they stand together at one instant.
pub(super) fn read(line: &mut Connection) -> RedisResult<Rows> {
    let mut select = redis::pipe();
    select.cmd("SELECT").arg(Db::Config as u8).ignore();
    for table in TABLES {
        select.cmd("KEYS").arg(format!("{table}|*"));
    }
    let keys: Vec<Vec<String>> = select.query(line)?;
    let keys: Vec<String> = keys.into_iter().flatten().collect();
    let mut ask = redis::pipe();
    ask.atomic();
    for key in &keys {
        ask.cmd("HGETALL").arg(key);
    }
    let all: Vec<Row> = if keys.is_empty() { Vec::new() } else { ask.query(line)? };
    Ok(keys.into_iter().zip(all).filter(|(_, row)| !row.is_empty()).collect())
}

fn classes(rows: &Rows, port: &str, field: &str) -> Vec<u8> {
    let map = of_port(rows, "PORT_QOS_MAP", port);
    numbers(map.and_then(|row| row.get(field)).map_or("", String::as_str))
}

/// What stands beside the counters of a queue that is watched.
fn watchdog(row: &Row, red: bool) -> Row {
    let us = |field: &str| row.get(field).map_or(String::new(), |ms| format!("{ms}000"));
    let action = row.get("action").map_or("drop", String::as_str);
    let mut fields = self::row([
        ("PFC_WD_DETECTION_TIME", us("detection_time")),
        ("PFC_WD_RESTORATION_TIME", us("restoration_time")),
        ("PFC_WD_ACTION", action.to_owned()),
        ("PFC_WD_STATUS", "operational".to_owned()),
    ]);
    if red {
        fields.insert("BIG_RED_SWITCH_MODE".to_owned(), "enable".to_owned());
    }
    fields
}

/// What the ASIC was told: the curves of marking, the queues that each is bound to, and the classes in which each port obeys and
/// sends PFC.
fn asic(rows: &Rows, all: &mut Pipeline) {
    all.cmd("SELECT").arg(Db::Asic as u8).ignore();
    let mut curves = BTreeMap::new();
    for (at, (name, curve)) in of(rows, "WRED_PROFILE").enumerate() {
        let text = |field: &str| curve.get(field).cloned().unwrap_or_default();
        let mode = text("ecn").replace("ecn_", "SAI_ECN_MARK_MODE_").to_uppercase();
        let attributes = row([
            ("SAI_WRED_ATTR_GREEN_MIN_THRESHOLD", text("green_min_threshold")),
            ("SAI_WRED_ATTR_GREEN_MAX_THRESHOLD", text("green_max_threshold")),
            ("SAI_WRED_ATTR_GREEN_DROP_PROBABILITY", text("green_drop_probability")),
            ("SAI_WRED_ATTR_ECN_MARK_MODE", mode),
        ]);
        let oid = format!("oid:0x13{at:02x}");
        set(all, &format!("ASIC_STATE:SAI_OBJECT_TYPE_WRED:{oid}"), &attributes);
        curves.insert(name, oid);
    }
    for (key, queue) in of(rows, "QUEUE") {
        let Some((port, queues)) = key.rsplit_once('|') else { continue };
        let curve = queue.get("wred_profile").and_then(|name| curves.get(referred(name)));
        let (Some(at), Some(curve)) = (objects::place(rows, port), curve) else { continue };
        let bound = row([("SAI_QUEUE_ATTR_WRED_PROFILE_ID", curve.clone())]);
        for index in numbers(queues) {
            let oid = objects::part(ObjectType::Queue, at, index);
            set(all, &format!("ASIC_STATE:SAI_OBJECT_TYPE_QUEUE:{oid}"), &bound);
        }
    }
    for (name, pool) in of(rows, "BUFFER_POOL") {
        let Some(oid) = objects::pool(rows, name) else { continue };
        let key = format!("ASIC_STATE:SAI_OBJECT_TYPE_BUFFER_POOL:{oid}");
        for (field, attribute) in
            [("size", "SAI_BUFFER_POOL_ATTR_SIZE"), ("xoff", "SAI_BUFFER_POOL_ATTR_XOFF_SIZE")]
        {
            let text = pool.get(field).into_iter();
            text.for_each(|text| set(all, &key, &row([(attribute, text.clone())])));
        }
    }
    for (at, port) in ports(rows).iter().enumerate() {
        let bits: u16 = classes(rows, port, "pfc_enable").into_iter().map(|class| 1 << class).sum();
        let own = rows.get(&format!("PORT|{port}"));
        let is = |field: &str, word: &str| {
            own.and_then(|row| row.get(field)).is_some_and(|text| text == word).to_string()
        };
        let told = row([
            ("SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL", bits.to_string()),
            ("SAI_PORT_ATTR_ADMIN_STATE", is("admin_status", "up")),
            ("SAI_PORT_ATTR_AUTO_NEG_MODE", is("autoneg", "on")),
        ]);
        set(all, &format!("ASIC_STATE:SAI_OBJECT_TYPE_PORT:{}", objects::port(at)), &told);
    }
}
