//! Scripts that decide in a real redis over what an emulated chip counts, in virtual time, beside the watchdog of the model: random storms,
//! data and settings, and each publication at the same poll.
//!
//! The scripts are those of testdata/sonic/lua, or SONiC's own from the folder that RIG_SONIC_LUA names.

use super::{devices, redis_server, tell};
use crate::Emulated;
use crate::control::{Control as _, Order};
use crate::protocol::{Happened, Polled};
use crate::serve::on_ports;
use crate::standin::orchagent::Orchagent;
use crate::standin::scripts::Poller;
use crate::standin::{
    Asic, Faults, Log, Scripts, Server, Standin, Ways, connect, fill, filled, said,
};
use rig_capture::DutEventKind;
use rig_generator::port::Mono;
use rig_lab::{PfcwdFaults, Profile, Setting, WatermarkCopy};
use rig_oracle::model::pfcwd::{self, Event, Watchdog};
use rig_oracle::model::tap::NoTap;
use rig_oracle::model::{PacketKind, Storm, Stream};
use rig_testcases::MacsecMode;
use rig_units::{Dur, Pace, PortSpeed, Quanta, Time};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Random storms of each family: 200 in all.
const STORMS: u64 = 50;
/// The class that is stormed.
const CLASS: u8 = 3;

/// A chip in virtual time.
struct Chip(Emulated);

impl Asic for Chip {
    fn set(&mut self, settings: &[Setting]) -> Result<(), String> {
        self.0.set(settings).map_err(|error| error.to_string())
    }

    fn clear(&mut self, _: WatermarkCopy) {}

    fn counters(&mut self) -> BTreeMap<String, u64> {
        BTreeMap::new()
    }

    fn events(&mut self) -> Vec<Happened> {
        Vec::new()
    }

    fn yields(&mut self) {
        self.0.order(Order::YieldPfcwd).expect("it has watchdogs");
    }

    fn polled(&mut self, _: [Mono; 2]) -> (Mono, Vec<Polled>) {
        (Mono(self.0.now().0 / 1_000), self.0.polled())
    }

    fn decided(&mut self, (port, class): (&str, u8), what: DutEventKind, _: Mono) {
        let order = Order::Decided { port: port.to_owned(), class, what, due_ns: 0 };
        self.0.order(order).expect("it is guarded");
    }
}

/// Draws by number.
struct Draws(u64);

impl Draws {
    /// A whole number from `least` to `most`.
    fn from(&mut self, least: u64, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let word = self.0 ^ (self.0 >> 29);
        least + (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % (most - least + 1)
    }
}

/// What was published: at which poll, of which queue, and what.
type Said = (usize, String, u8, DutEventKind);

/// One random storm: what the scripts published, and what the model's watchdog did over the same counters.
fn storm(server: &Server, scripts: &Scripts, base: &Profile, seed: u64) -> [Vec<Said>; 2] {
    let mut draws = Draws(seed);
    let poll = draws.from(100, 250);
    let actions: &[&str] =
        if base.name == "cisco-8000" { &["drop", "alert"] } else { &["drop", "forward", "alert"] };
    let action = actions[usize::try_from(draws.from(0, actions.len() as u64 - 1)).expect("few")];
    let restoration = draws.from(poll, 4 * poll);
    let restoration = (draws.from(0, 7) > 0).then(|| format!("{restoration}ms"));
    let mut profile =
        on_ports(base.clone(), 2, PortSpeed::from_bps(500_000_000)).expect("it has two ports");
    for (path, value) in [
        ("pfcwd.poll_interval", json!(format!("{poll}ms"))),
        ("pfcwd.detection_time", json!(format!("{}ms", draws.from(poll + 1, 4 * poll)))),
        ("pfcwd.restoration_time", json!(restoration)),
        ("pfcwd.action", json!(action)),
    ] {
        let setting = Setting { path: path.to_owned(), value };
        profile.declared = profile.declared.with(&setting).expect("it fits");
    }
    let _flushed: String = tell(server, 0, &["FLUSHALL"]);
    let rows = filled(&profile).expect("it can be held");
    fill(server.socket(), &rows, &profile).expect("it is empty");
    let mut told = said::settings(&rows);
    told.retain(|one| profile.declared.satisfies(one) == Ok(true));
    let mut line = connect(server.socket()).expect("it is up");
    let mut hears = connect(server.socket()).expect("it is up");
    let mut hears = hears.as_pubsub();
    hears.subscribe("PFC_WD_ACTION").expect("it is up");
    let mut chip = Chip(Emulated::boot(&profile, &[], 300, seed).expect("it boots"));
    chip.yields();
    let mut orchagent = Orchagent::new(told, Faults::default());
    assert_eq!(orchagent.take(&mut line, &mut chip).expect("it is up"), None);
    let poller = Poller::load(scripts, &mut line).expect("they are scripts");
    let switch = profile.declared.switch().expect("a switch");
    let family = profile.family().expect("it has a rule");
    let fresh = Watchdog::new(family, &switch.pfcwd, PfcwdFaults::NONE);
    let mut model: BTreeMap<(String, u8), Watchdog> = BTreeMap::new();

    // At 500 Mb/s the longest pause lasts 67 ms: most storms are whole, some lapse.
    let begins = draws.from(1, 3 * poll);
    let ends = begins + draws.from(1, 10 * poll);
    let (gap, every) = (draws.from(1, 60), draws.from(5, 80));
    let late = (draws.from(0, 2) == 0).then(|| ends + draws.from(1, 3 * poll));
    if draws.from(0, 5) > 0 {
        chip.0.rig().start_stream(0, &data(Dur::ms(gap)));
    }
    let frames = |every: u64, count: Option<u32>| Storm {
        id: 1,
        enable: 1 << CLASS,
        zero: 0,
        quanta: Quanta::MAX,
        every: Dur::ms(every),
        count,
        macsec_mode: MacsecMode::Usual,
    };
    let mut steps = vec![(begins, true, None), (ends, false, None)];
    steps.extend(late.map(|late| (late, true, Some(1))));
    let phase = draws.from(0, poll * 1_000);
    let (mut by_script, mut by_model) = (Vec::new(), Vec::new());
    for number in 0..32 {
        // A poll is late by up to 3 %, in whole microseconds.
        let at = phase + number * poll * 1_000 + draws.from(0, poll * 30);
        let at = Time::ZERO + Dur::us(at);
        while let Some(&(when, on, count)) = steps.first()
            && Time::ZERO + Dur::ms(when) <= at
        {
            steps.remove(0);
            chip.0.run_until(Time::ZERO + Dur::ms(when), &mut NoTap);
            if on {
                chip.0.rig().start_storm(1, &frames(every, count));
            } else {
                chip.0.rig().stop_storm(1, 1);
            }
        }
        chip.0.run_until(at, &mut NoTap);
        let number = usize::try_from(number).expect("few");
        for polled in chip.0.polled() {
            let key = (polled.port.clone(), polled.class);
            let watchdog = model.entry(key).or_insert_with(|| fresh.clone());
            let Some(published) = watchdog.poll(&counters(at, &polled)) else { continue };
            let what = match published.event {
                Event::Storm => DutEventKind::Storm,
                Event::Restore => DutEventKind::Restore,
            };
            by_model.push((number, polled.port, polled.class, what));
        }
        poller.run(&orchagent.rows, &mut line, &mut chip).expect("they run");
        redis::cmd("PUBLISH").arg("PFC_WD_ACTION").arg("over").exec(&mut line).expect("it is up");
        loop {
            let message = hears.get_message().and_then(|message| message.get_payload::<String>());
            let message = message.expect("it is up");
            if message == "over" {
                break;
            }
            by_script.push(published(&mut line, number, &message));
            poller.decided(&orchagent.rows, &message, &mut line, &mut chip).expect("it is up");
        }
    }
    [&mut by_script, &mut by_model].into_iter().for_each(|all| all.sort());
    [by_script, by_model]
}

fn data(every: Dur) -> Stream {
    Stream {
        id: 7,
        kind: PacketKind::Data,
        names: 7,
        first: 0,
        class: CLASS,
        dscp: CLASS,
        size: 1_024,
        pace: Pace::every(every),
        dst: 1,
        count: None,
        ect: true,
        ce: false,
        record: false,
        macsec_mode: MacsecMode::Usual,
        pcp: None,
        address: 0,
    }
}

fn counters(at: Time, polled: &Polled) -> pfcwd::Counters {
    pfcwd::Counters {
        at,
        pfc_rx_pkts: polled.pfc_rx_pkts,
        xon_rx_pkts: 0,
        on2off_rx_pkts: polled.on2off_rx_pkts,
        rx_pause_duration_us: polled.rx_pause_duration_us,
        queue_packets: polled.packets,
        queue_occupancy_bytes: polled.occupancy,
        paused: polled.paused,
        port_counter_timestamp_ns: Some(at.0 / 1_000),
        debug_storm: false,
    }
}

/// What a message says, its queue by the maps of the databases.
fn published(line: &mut redis::Connection, poll: usize, message: &str) -> Said {
    let words: Vec<String> = serde_json::from_str(message).expect("words");
    let mut of = |map: &str, key: &str| -> String {
        redis::cmd("HGET").arg(map).arg(key).query(line).expect("it is named")
    };
    let class = of("COUNTERS_QUEUE_INDEX_MAP", &words[0]).parse().expect("a class");
    let oid = of("COUNTERS_QUEUE_PORT_MAP", &words[0]);
    let port = ["Ethernet0", "Ethernet4"].into_iter();
    let port = port.into_iter().find(|port| of("COUNTERS_PORT_NAME_MAP", port) == oid);
    let what = match words[1].as_str() {
        "storm" => DutEventKind::Storm,
        "restore" => DutEventKind::Restore,
        other => panic!("{other}"),
    };
    (poll, port.expect("one of them").to_owned(), class, what)
}

/// The scripts of this repository.
fn own() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/sonic/lua")
}

/// The devices of the lab whose watchdogs poll, each of another family.
fn families() -> Vec<Profile> {
    let all = devices().into_iter().filter(|device| device.name != "mellanox-dynamic");
    all.collect()
}

#[test]
fn scripts_publish_at_the_polls_at_which_the_model_does_over_random_storms() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some(server) = redis_server(desk.path()) else { return };
    let folder = std::env::var_os("RIG_SONIC_LUA").map_or_else(own, PathBuf::from);
    let families = families();
    assert_eq!(families.len(), 4);
    for profile in families {
        let scripts = Scripts::read(&folder, profile.family()).expect("they are there");
        let (mut quiet, mut detected, mut restored) = (0, 0, 0);
        for seed in 1..=STORMS {
            let [by_script, by_model] = storm(&server, &scripts, &profile, seed);
            assert_eq!(by_script, by_model, "{} of seed {seed}", profile.name);
            let of = |kind| by_model.iter().filter(|(.., what)| *what == kind).count();
            quiet += usize::from(by_model.is_empty());
            detected += usize::from(of(DutEventKind::Storm) > 0);
            restored += usize::from(of(DutEventKind::Restore) > 0);
        }
        let name = &profile.name;
        eprintln!("{name}: of {STORMS} storms {detected} detected, {restored} restored");
        assert!(
            quiet >= 3 && detected >= 15 && restored >= 10,
            "{name}: {quiet} {detected} {restored}"
        );
    }
}

#[test]
fn a_script_that_decides_a_poll_later_is_seen() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some(server) = redis_server(desk.path()) else { return };
    for profile in families() {
        let scripts = Scripts::read(&own(), profile.family()).expect("they are there");
        let (piece, later) = match profile.name.as_str() {
            "mellanox" => ("whole - left + took", "whole - left"),
            _ => ("left <= poll", "left <= 0"),
        };
        let scripts = scripts.with(piece, later);
        let differs = |seed| {
            let [by_script, by_model] = storm(&server, &scripts, &profile, seed);
            by_script != by_model
        };
        let seen = (1..=STORMS).filter(|seed| differs(*seed)).count();
        eprintln!("{}: seen in {seen} of {STORMS} storms", profile.name);
        assert!(seen >= 15, "{}: {seen}", profile.name);
    }
}

#[test]
fn a_folder_without_a_script_of_the_platform_is_refused_by_its_name() {
    let desk = tempfile::tempdir().expect("a folder");
    let families = families();
    let why = Scripts::read(desk.path(), families[0].family()).map(drop).expect_err("empty");
    assert!(why.contains("pfc_detect_broadcom.lua: No such file"), "{why}");
    let why = Scripts::read(desk.path(), None).map(drop).expect_err("no watchdog");
    assert_eq!(why, "no script decides for the watchdog of such a device");
}

/// A device that is told to end.
struct Ended(std::sync::mpsc::Sender<()>);

impl Asic for Ended {
    fn set(&mut self, _: &[Setting]) -> Result<(), String> {
        Ok(())
    }

    fn clear(&mut self, _: WatermarkCopy) {}

    fn counters(&mut self) -> BTreeMap<String, u64> {
        BTreeMap::new()
    }

    fn events(&mut self) -> Vec<Happened> {
        Vec::new()
    }

    fn ends(&mut self) {
        self.0.send(()).expect("somebody waits");
    }
}

#[test]
fn a_script_that_fails_is_told_in_the_words_of_redis_and_ends_the_device() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some(server) = redis_server(desk.path()) else { return };
    let profile = families().remove(0);
    let scripts = Scripts::read(&own(), profile.family()).expect("they are there");
    let scripts = Some(scripts.with("redis.call('SELECT', ARGV[1])", "error('on purpose')"));
    let (tell, told) = std::sync::mpsc::channel();
    let (say, said) = std::sync::mpsc::channel();
    let log: Log = Box::new(move |why| say.send(why.to_owned()).expect("somebody waits"));
    let ways = Ways { faults: Faults::default(), log, scripts };
    let standin = Standin::of(&profile, server.socket(), Box::new(Ended(tell)), ways);
    let _standin = standin.expect("it stands");
    let patience = core::time::Duration::from_secs(10);
    assert_eq!(told.recv_timeout(patience), Ok(()), "it is told to end");
    let why = said.recv_timeout(patience).expect("it says why");
    assert!(why.starts_with("its databases are given up: ") && why.contains("on purpose"), "{why}");
}
