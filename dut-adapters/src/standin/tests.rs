//! What the stand-in makes of a profile, of changes and of what its device does; and what of it a rig sees that steers it as a switch.

mod chips;
mod copied;
mod heard;
mod kept_up;
mod limits;
mod moments;
mod neighbours;
mod reboots;
mod red;
mod schedulers;
mod scripts;
mod sized;
mod watermarks;

use super::{Asic, Faults, Log, Rows, Server, Standin, filled};
use crate::protocol::Happened;
use crate::sonic;
use rig_lab::read::{lab, profile_from};
use rig_lab::yaml::Source;
use rig_lab::{Profile, Setting, WatermarkCopy};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// The devices of the lab.
fn devices() -> Vec<Profile> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab-configs/sonic-standin.yaml");
    lab(Some(&path)).expect("it reads").duts
}

/// CONFIG_DB as SONiC saves it.
fn saved(rows: &Rows) -> Value {
    let mut tables = Map::new();
    for (key, row) in rows {
        let (table, key) = key.split_once('|').expect("a table and a key");
        let own = tables.entry(table).or_insert_with(|| json!({}));
        own[key] = json!(row);
    }
    Value::Object(tables)
}

#[test]
fn from_dut_reads_the_profile_back_that_config_db_was_filled_from() {
    let desk = tempfile::tempdir().expect("a folder");
    let file = desk.path().join("config_db.json");
    let mut devices = devices();
    assert_eq!(devices.len(), 5);
    let mut shaped = devices[0].clone();
    for (path, value) in [("scheduler.pir", "300Mbps-L2"), ("scheduler.pbs", "200KB")] {
        let setting = Setting { path: path.to_owned(), value: value.into() };
        shaped.declared = shaped.declared.with(&setting).expect("it fits");
    }
    devices.push(shaped);
    for profile in devices {
        let rows = filled(&profile).expect("it can be held");
        std::fs::write(&file, saved(&rows).to_string()).expect("writable");
        let tables = sonic::read(&file, None).expect("it reads");
        let sets = sonic::alike(&tables, Some(&profile.name)).expect("all of it can be used");
        assert_eq!(sets.len(), 1, "{}: its ports are alike", profile.name);
        let text = sets[0].written("back");
        let back = profile_from(&Source::new("back", &text)).unwrap_or_else(|faults| {
            panic!("{faults:#?}");
        });
        let mut differs = profile.declared.differences(&back.declared);
        // What no database says, and the reader takes from elsewhere: colours, and how a MAC takes PFC.
        differs.retain(|path| path != "qos.dscp_to_color" && !path.starts_with("pfc."));
        assert_eq!(differs, Vec::<String>::new(), "{}", profile.name);
        // And without being told the reader finds the chip by what the switch says of itself.
        assert!(sonic::alike(&tables, None).is_ok(), "{}", profile.name);
    }
}

#[test]
fn a_profile_that_config_db_cannot_hold_is_refused_by_its_field() {
    let mut profile = devices().remove(0);
    for (path, value, want) in [
        ("pfcwd.detection_time", json!("200500us"), "has no place for pfcwd.detection_time"),
        ("wred.pmax", json!("0.5%"), "has no place for wred.pmax"),
        ("scheduler.pir", json!("12bps-L2"), "has no place for scheduler.pir"),
    ] {
        let setting = Setting { path: path.to_owned(), value };
        let mut other = profile.clone();
        other.declared = other.declared.with(&setting).expect("it fits");
        let why = filled(&other).expect_err("it cannot be held");
        assert!(why.contains(want), "{why}");
    }
    profile.name = "none".to_owned();
    assert!(filled(&profile).is_ok());
}

/// A device in memory: what it was set to, what it counts and what it tells.
#[derive(Debug, Default)]
struct Memory {
    set: Vec<Setting>,
    refuses: bool,
    counters: BTreeMap<String, u64>,
    events: Vec<Happened>,
}

#[derive(Debug, Clone, Default)]
struct Device(Arc<Mutex<Memory>>);

impl Asic for Device {
    fn set(&mut self, settings: &[Setting]) -> Result<(), String> {
        let mut memory = self.0.lock().expect("no panic");
        if memory.refuses {
            return Err("no".to_owned());
        }
        memory.set.extend_from_slice(settings);
        Ok(())
    }

    /// What it is told as it begins is no change.
    fn restart(&mut self, _: &[Setting]) -> Result<(), String> {
        let refuses = self.0.lock().expect("no panic").refuses;
        if refuses { Err("no".to_owned()) } else { Ok(()) }
    }

    fn clear(&mut self, copy: WatermarkCopy) {
        let table = copy.table();
        let counters = &mut self.0.lock().expect("no panic").counters;
        let own = counters.iter_mut().filter(|(name, _)| name.starts_with(table));
        own.for_each(|(_, value)| *value = 0);
    }

    fn counters(&mut self) -> BTreeMap<String, u64> {
        self.0.lock().expect("no panic").counters.clone()
    }

    fn events(&mut self) -> Vec<Happened> {
        core::mem::take(&mut self.0.lock().expect("no panic").events)
    }
}

/// What it said that it does not take.
type Said = Arc<Mutex<Vec<String>>>;

/// A redis-server, where the system has one.
fn redis_server(folder: &Path) -> Option<Server> {
    match Server::start(&folder.join("own").join("redis.sock")) {
        Ok(server) => Some(server),
        Err(missing) => {
            let required = std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1");
            assert!(!required, "{missing} and RIG_REQUIRE_ALL=1");
            eprintln!("skipped: {missing}");
            None
        }
    }
}

/// The first device of the lab as a switch, where the system has a redis-server.
fn switch(folder: &Path, faults: Faults) -> Option<(Server, Standin, Device, Said)> {
    let server = redis_server(folder)?;
    let (device, said) = (Device::default(), Said::default());
    let book = Arc::clone(&said);
    let log: Log = Box::new(move |why| book.lock().expect("no panic").push(why.to_owned()));
    let own = Box::new(device.clone());
    let standin = Standin::of(&devices()[0], server.socket(), own, (faults, log));
    Some((server, standin.expect("it stands"), device, said))
}

/// Has the redis do something.
fn tell<T: redis::FromRedisValue>(server: &Server, database: i64, words: &[&str]) -> T {
    tell_at(server.socket(), database, words)
}

/// The same of the redis at a socket.
fn tell_at<T: redis::FromRedisValue>(socket: &Path, database: i64, words: &[&str]) -> T {
    let client = redis::Client::open(redis::ConnectionInfo {
        addr: redis::ConnectionAddr::Unix(socket.to_owned()),
        redis: redis::RedisConnectionInfo { db: database, ..Default::default() },
    });
    let mut line = client.and_then(|client| client.get_connection()).expect("it is up");
    redis::cmd(words[0]).arg(&words[1..]).query(&mut line).expect("it does that")
}

/// Waits until it is so.
#[expect(clippy::disallowed_methods, reason = "what is waited for is another process")]
#[track_caller]
fn until(so: impl Fn() -> bool) {
    for _ in 0..500 {
        if so() {
            return;
        }
        std::thread::sleep(core::time::Duration::from_millis(10));
    }
    panic!("it is not so after five seconds");
}

#[test]
fn what_orchagent_refuses_is_said_and_what_the_asic_has_stays_in_the_databases() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, standin, device, said)) = switch(desk.path(), Faults::default()) else {
        return;
    };
    let said_of = |word: &str| said.lock().expect("no panic").iter().any(|why| why.contains(word));
    let oid: String = tell(&server, 2, &["HGET", "COUNTERS_QUEUE_NAME_MAP", "Ethernet4:3"]);
    let time = || -> String {
        tell(&server, 2, &["HGET", &format!("COUNTERS:{oid}"), "PFC_WD_DETECTION_TIME"])
    };
    assert_eq!(time(), "200000");
    let write = |time: &str| -> i64 {
        let ports = ["Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12"];
        let all = ports.map(|port| format!("PFC_WD|{port}"));
        all.iter().map(|key| tell::<i64>(&server, 4, &["HSET", key, "detection_time", time])).sum()
    };
    // Below what orchagent takes.
    write("50");
    until(|| said_of("detection_time `50` is not from 100 to 5000"));
    assert_eq!((time().as_str(), device.0.lock().expect("no panic").set.len()), ("200000", 0));
    write("400");
    until(|| time() == "400000");
    let set = device.0.lock().expect("no panic").set.clone();
    let paths: Vec<&str> = set.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(paths, ["pfcwd.detection_time"], "what has not changed nobody sets");
    // And what the chip itself refuses.
    device.0.lock().expect("no panic").refuses = true;
    write("600");
    until(|| said_of("the ASIC refuses: no"));
    assert_eq!(time(), "400000");
    // A redis that somebody has filled may be a switch: it is not taken for an empty one.
    let log: Log = Box::new(|_| {});
    let again = Standin::of(
        &devices()[0],
        server.socket(),
        Box::new(device.clone()),
        (Faults::default(), log),
    );
    let why = again.map(drop).expect_err("it is a switch already");
    assert!(why.contains("is not empty"), "{why}");
    // Its folder goes with it.
    let folder = server.socket().parent().expect("a folder").to_owned();
    drop(standin);
    assert!(folder.exists());
    drop(server);
    assert!(!folder.exists(), "it was made for the redis alone");
}

#[test]
fn counters_are_copied_by_their_groups_and_a_group_that_is_off_is_not() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _standin, device, _)) = switch(desk.path(), Faults::default()) else {
        return;
    };
    let names = [
        "Ethernet4 SAI_PORT_STAT_PFC_3_RX_PKTS",
        "Ethernet4:3 SAI_QUEUE_STAT_PACKETS",
        "Ethernet4:3 SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS",
        "Ethernet4:3 PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED",
        // Of no group that is on.
        "Ethernet4 SAI_PORT_STAT_IN_DROPPED_PKTS",
    ];
    let all: BTreeMap<String, u64> = names.map(str::to_owned).into_iter().zip(7..).collect();
    device.0.lock().expect("no panic").counters = all;
    let oid = |map: &str, name: &str| -> String { tell(&server, 2, &["HGET", map, name]) };
    let queue = format!("COUNTERS:{}", oid("COUNTERS_QUEUE_NAME_MAP", "Ethernet4:3"));
    let port = format!("COUNTERS:{}", oid("COUNTERS_PORT_NAME_MAP", "Ethernet4"));
    let group = format!("COUNTERS:{}", oid("COUNTERS_PG_NAME_MAP", "Ethernet4:3"));
    let value =
        |key: &str, field: &str| -> Option<String> { tell(&server, 2, &["HGET", key, field]) };
    until(|| value(&queue, "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED").is_some());
    assert_eq!(value(&port, "SAI_PORT_STAT_PFC_3_RX_PKTS").as_deref(), Some("7"));
    assert_eq!(value(&queue, "SAI_QUEUE_STAT_PACKETS").as_deref(), Some("8"));
    let dropped = "SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS";
    assert_eq!(value(&group, dropped).as_deref(), Some("9"));
    assert_eq!(value(&port, "SAI_PORT_STAT_IN_DROPPED_PKTS"), None);
}
