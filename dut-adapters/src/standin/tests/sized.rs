//! Headroom and pool as the stand-in's buffer manager works them out, as a rig reads and sets them that steers it as a switch. The numbers
//! are worked by hand.

use super::{Device, devices, redis_server, tell, until};
use crate::control::Control as _;
use crate::sonic::SonicControl;
use crate::standin::{Faults, Log, Server, Standin, spoken};
use core::cell::RefCell;
use rig_generator::port::Mono;
use rig_lab::{Profile, RedisAt, Setting};
use rig_units::Dur;
use serde_json::{Value, json};

const KIB: u64 = 1_024;
const XON: &str = "BUFFER_PROFILE_TABLE Ethernet0 xon";
const XOFF: &str = "BUFFER_PROFILE_TABLE Ethernet0 xoff";
const SIZE: &str = "BUFFER_PROFILE_TABLE Ethernet0 size";
const POOL: &str = "BUFFER_POOL_TABLE ingress_lossless_pool size";
const SHARED: &str = "BUFFER_POOL_TABLE ingress_lossless_pool xoff";

/// A switch that works out headroom and pool itself.
fn dynamic() -> Profile {
    let mut all = devices().into_iter();
    all.find(|one| one.name == "mellanox-dynamic").expect("it is there")
}

/// It stands at that redis, in place of nothing.
fn stands(profile: &Profile, server: &Server, faults: Faults) -> Standin {
    let log: Log = Box::new(|why| panic!("{why}"));
    let own = Box::new(Device::default());
    Standin::of(profile, server.socket(), own, (faults, log)).expect("it stands")
}

#[test]
fn headroom_and_pool_follow_what_config_db_says_of_cables_and_ratio() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some(server) = redis_server(desk.path()) else { return };
    let profile = &dynamic();
    let standin = stands(profile, &server, Faults::default());
    let at = RedisAt::Unix(server.socket().to_owned());
    let control = SonicControl::open((&at, Mono::now()), profile, 4).expect("a switch");
    let control = RefCell::new(control);
    let set = |path: &str, value: Value| {
        let setting = Setting { path: format!("dynamic_buffer.{path}"), value };
        control.borrow_mut().set(&[setting]).expect("it takes it");
    };
    let shows = |want: [Option<u64>; 5]| {
        // Names of nothing else: it waits for no counter.
        let names = [XON, XOFF, SIZE, POOL, SHARED].map(str::to_owned);
        let read = control.borrow_mut().counters(&names).expect("it is there").values;
        names.map(|name| read.get(&name).map(|bytes| bytes / KIB)) == want
    };
    // 9100 B, 5 m at 500 Mb/s and back, 0.8 KiB and the chip's own 9.625 KiB of a peer are 19778.4 B, of which each 64 B take three times
    // as much; of four ports with two classes each.
    until(|| shows([Some(19), Some(59), Some(78), Some(41_900), None]));
    set("cable", json!("40m"));
    until(|| shows([Some(19), Some(60), Some(79), Some(41_892), None]));
    set("over_subscribe_ratio", json!(2));
    until(|| shows([Some(19), Some(60), Some(19), Some(42_112), Some(220)]));
    set("over_subscribe_ratio", Value::Null);
    standin.falls(Faults { no_cables: true, ..Faults::default() });
    set("cable", json!("2000m"));
    until(|| shows([Some(19), Some(59), Some(78), Some(41_900), None]));
    standin.falls(Faults { no_peers: true, ..Faults::default() });
    set("cable", json!("5m"));
    until(|| shows([Some(19), Some(31), Some(50), Some(42_124), None]));
    standin.falls(Faults::default());
    set("cable", json!("2000m"));
    until(|| shows([Some(19), Some(63), Some(82), Some(41_868), None]));
    // Eight groups of an operator's own: 100 KiB in place of 63.
    set("own_xoff", json!("102400B"));
    until(|| shows([Some(19), Some(100), Some(119), Some(41_572), None]));
    set("own_xoff", Value::Null);
    until(|| shows([Some(19), Some(63), Some(82), Some(41_868), None]));
    // Two groups of 419 KiB and 62 beside them are more than the 600 that a port may have.
    set("own_xoff", json!("409600B"));
    set("cable", json!("5m"));
    // What comes behind it would show the cable's, if the groups were the switch's to size.
    assert!(shows([Some(19), Some(63), Some(82), Some(41_868), None]), "nothing is taken");
    standin.falls(Faults { no_limits: true, ..Faults::default() });
    set("lossless_mtu", json!("1025B"));
    until(|| shows([Some(19), Some(400), Some(419), Some(39_172), None]));
    drop(control);
    let bound: Option<String> = tell(&server, 4, &["HGET", "BUFFER_PG|Ethernet12|3-4", "profile"]);
    let own: Vec<String> = tell(&server, 4, &["KEYS", "BUFFER_PROFILE|RIG_*"]);
    assert_eq!((bound.as_deref(), own), (Some("NULL"), Vec::new()), "all of it is taken back");
}

/// A buffer manager that is busy sees a row once, however often it was changed meanwhile: what it refuses then leaves what it saw last.
#[test]
fn what_is_refused_behind_what_was_taken_leaves_what_the_rule_makes_however_busy_the_manager() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some(server) = redis_server(desk.path()) else { return };
    let profile = &dynamic();
    let late = Faults { late_buffers: Dur::ms(300), ..Faults::default() };
    let _standin = stands(profile, &server, late);
    let at = RedisAt::Unix(server.socket().to_owned());
    let mut control = SonicControl::open((&at, Mono::now()), profile, 4).expect("a switch");
    let mut set = |value: Value| {
        let setting = Setting { path: "dynamic_buffer.own_xoff".to_owned(), value };
        control.set(&[setting]).expect("it takes it");
    };
    let group = || -> Option<String> {
        tell(&server, 0, &["HGET", "BUFFER_PG_TABLE:Ethernet0:3-4", "profile"])
    };
    set(json!("102400B"));
    until(|| group().as_deref() == Some("RIG_HEADROOM_102400_121856"));
    set(Value::Null);
    let usual = Some("pg_lossless_500_5m_profile");
    assert_eq!(group().as_deref(), usual, "it is seen that it was given back");
    set(json!("409600B"));
    let due = Mono::now().0 + 600_000_000;
    until(|| Mono::now().0 > due);
    assert_eq!(group().as_deref(), usual, "it is refused");
}

#[test]
fn what_an_operator_says_of_a_group_holds_up_to_the_limit_of_its_port_and_a_port_that_is_down_has_none()
 {
    let desk = tempfile::tempdir().expect("a folder");
    let Some(server) = redis_server(desk.path()) else { return };
    let profile = &dynamic();
    let standin = stands(profile, &server, Faults::default());
    let set = |database: i64, words: &[&str]| {
        let _set: i64 = tell(&server, database, &[&["HSET"], words].concat());
    };
    let typed = |word: &str| {
        let words = ["config", "interface", word, "Ethernet12"];
        spoken(server.socket(), &words, &Faults::default()).expect("it is taken");
    };
    let group = || -> Option<String> {
        tell(&server, 0, &["HGET", "BUFFER_PG_TABLE:Ethernet12:3", "profile"])
    };
    let pool = |field: &str| -> Option<u64> {
        let bytes: Option<u64> =
            tell(&server, 0, &["HGET", "BUFFER_POOL_TABLE:ingress_lossless_pool", field]);
        bytes.map(|bytes| bytes / KIB)
    };
    let is = |size: u64, profile: Option<&str>| {
        until(|| (pool("size"), group().as_deref()) == (Some(size), profile));
    };
    let usual = Some("pg_lossless_500_5m_profile");
    // What is bound in one row is to be bound in two.
    let _gone: i64 = tell(&server, 4, &["DEL", "BUFFER_PG|Ethernet12|3-4"]);
    set(4, &["BUFFER_PG|Ethernet12|3", "profile", "NULL"]);
    set(4, &["BUFFER_PG|Ethernet12|4", "profile", "NULL"]);
    is(41_900, usual);
    // Two groups of 78 KiB, the lossy one and the processor's of 19, 10 of mirrored frames, and 9 of its egress profiles.
    typed("shutdown");
    is(41_900 + 156 + 57, None);
    typed("startup");
    is(41_900, usual);
    // One of them is to have 100 KiB in place of 78.
    let bytes = (100 * KIB).to_string();
    let override_row =
        ["xon", "19456", "xoff", "82944", "size", &bytes, "pool", "ingress_lossless_pool"];
    set(4, &[&["BUFFER_PROFILE|mine"], &override_row[..]].concat());
    set(4, &["BUFFER_PG|Ethernet12|3", "profile", "mine"]);
    is(41_900 - 22, Some("mine"));
    set(4, &["BUFFER_PG|Ethernet12|3", "profile", "NULL"]);
    is(41_900, usual);
    // Groups of 100 and 78 KiB, 24 beside them and twice a pipeline of 19: as much as the port may have is too much, and never comes to APPL_DB.
    let most = (240 * KIB).to_string();
    set(6, &["BUFFER_MAX_PARAM_TABLE|Ethernet12", "max_headroom_size", &most]);
    set(4, &["BUFFER_PG|Ethernet12|3", "profile", "mine"]);
    // What comes behind it at another port is taken, and so was this.
    set(4, &["CABLE_LENGTH|AZURE", "Ethernet0", "40m"]);
    // Two groups at 79 KiB.
    is(41_900 - 2, usual);
    standin.falls(Faults { keeps_headroom: true, ..Faults::default() });
    typed("shutdown");
    set(4, &["CABLE_LENGTH|AZURE", "Ethernet0", "5m"]);
    is(41_900, usual);
}

/// As a rig steers it: what a port is told, what comes of it, and that all of it is taken back, fields that were not there as well.
#[test]
fn a_port_is_shut_opened_and_has_its_speed_negotiated_and_is_as_before() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some(server) = redis_server(desk.path()) else { return };
    let profile = &dynamic();
    let standin = stands(profile, &server, Faults::default());
    let config = || -> Vec<(String, Vec<(String, String)>)> {
        let mut keys: Vec<String> = tell(&server, 4, &["KEYS", "*|*"]);
        keys.sort();
        let whole = |key: String| {
            let mut row: Vec<(String, String)> = tell(&server, 4, &["HGETALL", &key]);
            row.sort();
            (key, row)
        };
        keys.into_iter().map(whole).collect()
    };
    let found = config();
    let at = RedisAt::Unix(server.socket().to_owned());
    let control = SonicControl::open((&at, Mono::now()), profile, 4).expect("a switch");
    let control = RefCell::new(control);
    let set = |all: &[(&str, Value)]| {
        let setting = |(path, value): &(&str, Value)| Setting {
            path: (*path).to_owned(),
            value: value.clone(),
        };
        let all: Vec<Setting> = all.iter().map(setting).collect();
        control.borrow_mut().set(&all).expect("it takes it");
    };
    let shows = |want: [Option<u64>; 3]| {
        let names = ["BUFFER_PROFILE_TABLE Ethernet8 size", SIZE, POOL].map(str::to_owned);
        let read = control.borrow_mut().counters(&names).expect("it is there");
        assert_eq!(read.absent.keys().collect::<Vec<_>>(), Vec::<&String>::new());
        names.map(|name| read.values.get(&name).map(|bytes| bytes / KIB)) == want
    };
    let has =
        |field: &str| -> Option<String> { tell(&server, 4, &["HGET", "PORT|Ethernet8", field]) };
    until(|| shows([Some(78), Some(78), Some(41_900)]));
    set(&[("shut_port", json!(3))]);
    assert_eq!(has("admin_status").as_deref(), Some("down"));
    until(|| shows([None, Some(78), Some(41_900 + 156 + 57)]));
    set(&[("shut_port", Value::Null)]);
    until(|| shows([Some(78), Some(78), Some(41_900)]));
    // 5 m, 0.8 KiB and 9100 B as before, and 80 quanta at 25 Gb/s: 15197 B, three times of it and 1 KiB are 46; 453 quanta and 1263 B at 200 Gb/s are 119.
    let third = ("dynamic_buffer.autoneg_port", json!(3));
    set(&[third.clone(), ("dynamic_buffer.advertised", json!("25Gbps"))]);
    assert_eq!([has("autoneg"), has("adv_speeds")].map(Option::unwrap), ["on", "25000"]);
    until(|| shows([Some(65), Some(78), Some(41_900 + 2 * 13)]));
    set(&[third, ("dynamic_buffer.advertised", Value::Null)]);
    assert_eq!(has("adv_speeds").as_deref(), Some("all"));
    until(|| shows([Some(138), Some(78), Some(41_900 - 2 * 60)]));
    // What only looks like it: it goes by what is configured, and what it supports.
    standin.falls(Faults { ignores_autoneg: true, ..Faults::default() });
    set(&[("dynamic_buffer.advertised", json!("10Gbps"))]);
    until(|| shows([Some(78), Some(78), Some(41_900)]));
    standin.falls(Faults::default());
    set(&[
        ("dynamic_buffer.autoneg_port", Value::Null),
        ("dynamic_buffer.advertised", Value::Null),
    ]);
    until(|| shows([Some(78), Some(78), Some(41_900)]));
    standin.falls(Faults { forgets_headroom: true, ..Faults::default() });
    set(&[("shut_port", json!(3))]);
    set(&[("shut_port", Value::Null)]);
    until(|| shows([None, Some(78), Some(41_900 + 156 + 19)]));
    standin.falls(Faults::default());
    // A port that the rig is not cabled to is none of its.
    let far = Setting { path: "shut_port".to_owned(), value: json!(5) };
    let why = control.borrow_mut().set(&[far]).expect_err("it has four").to_string();
    assert!(why.contains("shut_port=5"), "{why}");
    set(&[("dynamic_buffer.autoneg_port", json!(3)), ("shut_port", json!(4))]);
    drop(control);
    assert_eq!(config(), found, "all of it is as before");
    let shown: Option<String> =
        tell(&server, 0, &["HGET", "BUFFER_PG_TABLE:Ethernet8:3-4", "profile"]);
    assert_eq!(shown.as_deref(), Some("pg_lossless_500_5m_profile"), "in effect, too");
}
