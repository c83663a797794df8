//! A switch with several chips: the rig finds the one that has its ports, and the others' databases are none of its.

use super::{Device, Faults, devices, tell, tell_at};
use crate::control::{Control as _, Order};
use crate::sonic::{self, SonicControl};
use crate::standin::{Chips, Log, Server, Standin};
use core::time::Duration;
use rig_lab::{RebootKind, RedisAt, Setting};
use rig_testcases::DeviceVerb;
use serde_json::json;
use std::path::Path;

const SHORT: Duration = Duration::from_secs(10);

/// A switch with two chips, of which the second is emulated, and where its host's redis listens.
fn two(folder: &Path) -> Option<(Chips, Standin, RedisAt)> {
    super::redis_server(folder)?;
    let profile = &devices()[0];
    let host = folder.join("redis/redis.sock");
    let chips = Chips::start(&host, 2).expect("two of them");
    let log: Log = Box::new(|_| {});
    let own = Box::new(Device::default());
    let standin = Standin::of(profile, chips.own(), own, (Faults::default(), log));
    chips.fill(profile).expect("redis answers");
    Some((chips, standin.expect("it stands"), RedisAt::Unix(host)))
}

/// Has the redis at a socket do something with CONFIG_DB.
fn config<T: redis::FromRedisValue>(socket: &Path, words: &[&str]) -> T {
    tell_at(socket, 4, words)
}

#[test]
fn the_chip_that_has_the_ports_of_the_rig_is_found_and_set_and_ports_on_two_are_refused() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((chips, _standin, at)) = two(desk.path()) else { return };
    let other = desk.path().join("redis0/redis.sock");
    let steered = || SonicControl::with(&at, &devices()[0], 4, SHORT);
    let time = |socket: &Path, port: &str| -> String {
        config(socket, &["HGET", &format!("PFC_WD|{port}"), "detection_time"])
    };
    let mut control = steered().expect("it is found");
    let found = control.snapshot().expect("it states that");
    let path = "pfcwd.detection_time".to_owned();
    let settings = [Setting { path, value: json!("400ms") }];
    control.set(&settings).expect("it is set");
    assert_eq!(time(chips.own(), "Ethernet0"), "400");
    assert_eq!(time(&other, "Ethernet512"), "200");
    // Another rig that comes by the host's redis comes to the same chip, and so does one that names it.
    let own: RedisAt = format!("unix:{}", chips.own().display()).parse().expect("a place");
    for at in [&at, &own] {
        let why = SonicControl::with(at, &devices()[0], 4, SHORT).expect_err("it is leased");
        assert!(why.contains(&format!("{own} is in use by")), "{why}");
    }
    // Nobody reboots one chip alone.
    let kind = RebootKind::Warm;
    let why =
        control.order(Order::Perform { verb: DeviceVerb::Reboot(kind) }).expect_err("refused");
    assert!(why.to_string().contains("it is asic1 of a switch with several chips"), "{why}");
    control.restore(&found, &settings).expect("it is taken back");
    drop(control);
    assert_eq!(time(chips.own(), "Ethernet0"), "200");
    // Of four ports in the order of their numbers three are of one chip.
    let down: i64 = config(chips.own(), &["HSET", "PORT|Ethernet4", "admin_status", "down"]);
    let up: i64 = config(&other, &["HSET", "PORT|Ethernet512", "admin_status", "up"]);
    assert_eq!((down, up), (0, 0));
    let why = steered().expect_err("they are on two chips");
    let named = "(Ethernet0 on asic1, Ethernet8 on asic1, Ethernet12 on asic1, Ethernet512 on asic0), and a profile is of one";
    assert!(why.contains(named), "{why}");
    let down: i64 = config(&other, &["HSET", "PORT|Ethernet512", "admin_status", "down"]);
    assert_eq!(down, 0);
    let why = steered().expect_err("there are three");
    assert!(why.contains("has 3 front-panel ports that are up on its chips asic0, asic1"), "{why}");
}

#[test]
fn from_dut_asks_which_chip_and_reads_that_one() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((_chips, _standin, at)) = two(desk.path()) else { return };
    let told = |namespace: Option<&str>| match sonic::live(&at, namespace) {
        Ok(tables) => sonic::alike(&tables, Some("broadcom")).expect("sound")[0].ports.clone(),
        Err(faults) => faults.iter().map(ToString::to_string).collect(),
    };
    assert_eq!(told(Some("asic1")), ["Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12"]);
    for namespace in [None, Some("asic2"), Some("localhost")] {
        let [fault] = &told(namespace)[..] else { panic!("one fault") };
        let want = "--namespace with one of asic0, asic1";
        assert!(fault.contains("has several chips") && fault.contains(want), "{fault}");
    }
    let alone = tempfile::tempdir().expect("a folder");
    let server = Server::start(&alone.path().join("redis.sock")).expect("as above");
    let set: String = tell(&server, 4, &["SET", "CONFIG_DB_INITIALIZED", "1"]);
    assert_eq!(set, "OK");
    let faults = sonic::live(&RedisAt::Unix(server.socket().to_owned()), Some("asic0"));
    let fault = faults.expect_err("it has one").remove(0).to_string();
    assert!(fault.contains("it is that of one chip"), "{fault}");
}
