//! A redis-server of the system's with CONFIG_DB of a leaf in it, and somebody who plays orchagent.

mod broken;
mod counted;
mod introduced;
mod killed;
mod leased;
mod looked;
mod reboots;
mod rows;
mod stamped;
mod traps;

use super::held::{TABLE, is_held};
use super::{SonicControl, lease, schedulers};
use crate::control::{Control as _, ControlError};
use crate::fixture::{Orchagent, RedisServer};
use core::time::Duration;
use rig_lab::read::profile_from;
use rig_lab::yaml::Source;
use rig_lab::{Profile, Setting};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Longer than what arrives takes here, and short for what never does.
const SOON: Duration = Duration::from_secs(5);
/// What never arrives is given up after this.
const SHORT: Duration = Duration::from_millis(100);
/// CONFIG_DB.
const CONFIG: i64 = 4;

fn leaf() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/sonic/leaf.json"))
}

/// The bundled profile that the leaf is configured as.
fn profile() -> Profile {
    let text = "name: leaf\nabout: \"as it is bundled\"\nextends: broadcom-by-standard\n";
    profile_from(&Source::new("leaf", text)).expect("it reads")
}

/// Groups of flex counters for which an interval is set.
const COPIED: [&str; 6] =
    ["QUEUE_WATERMARK", "PG_WATERMARK", "BUFFER_POOL_WATERMARK", "PORT", "QUEUE", "PG_DROP"];

/// A switch, where the system has a redis-server.
fn switch(folder: &Path) -> Option<(RedisServer, Orchagent)> {
    let server = RedisServer::start(folder).map_err(|why| eprintln!("{why}")).ok()?;
    server.load(&leaf());
    // As `counterpoll watermark interval 60000` leaves it.
    for group in COPIED {
        let key = format!("FLEX_COUNTER_TABLE|{group}");
        let row = ["FLEX_COUNTER_STATUS", "enable", "POLL_INTERVAL", "60000"];
        server.tell(CONFIG, &[&["HSET", key.as_str()], &row[..]].concat());
    }
    let orchagent = Orchagent::start(&server);
    Some((server, orchagent))
}

fn open(server: &RedisServer, patience: Duration) -> Result<SonicControl, String> {
    SonicControl::with(&server.at(), &profile(), 4, patience)
}

fn setting(path: &str, value: Value) -> Setting {
    Setting { path: path.to_owned(), value }
}

fn refused(answer: Result<(), ControlError>) -> String {
    match answer.expect_err("it is refused") {
        ControlError::Refused(refused) => refused.why,
        other => panic!("{other:?}"),
    }
}

/// A field of CONFIG_DB.
fn field(server: &RedisServer, key: &str, field: &str) -> Option<String> {
    redis::from_owned_redis_value(server.tell(CONFIG, &["HGET", key, field])).expect("a text")
}

/// Queue 3 by this weight, the others as the leaf has none of them.
fn weights(of_3: u16) -> Value {
    let mut queues = vec![json!({"dwrr": 10}); 8];
    (queues[3], queues[6], queues[7]) = (json!({ "dwrr": of_3 }), json!("strict"), json!("strict"));
    queues.into()
}

/// Another value for each setting that can be written, and a field that holds it then.
fn others() -> Vec<(Setting, &'static str, &'static str, Option<&'static str>)> {
    let port = "PFC_WD|Ethernet4";
    let map = "PORT_QOS_MAP|Ethernet4";
    let lossless = "BUFFER_PROFILE|pg_lossless_100000_40m_profile";
    let curve = "WRED_PROFILE|AZURE_LOSSLESS";
    let pool = "BUFFER_POOL|ingress_lossless_pool";
    vec![
        (setting("pfcwd.detection_time", json!("400ms")), port, "detection_time", Some("400")),
        (setting("pfcwd.restoration_time", Value::Null), port, "restoration_time", None),
        (setting("pfcwd.action", json!("forward")), port, "action", Some("forward")),
        (
            setting("pfcwd.poll_interval", json!("200ms")),
            "PFC_WD|GLOBAL",
            "POLL_INTERVAL",
            Some("200"),
        ),
        (
            setting("pfcwd.big_red_switch", json!(true)),
            "PFC_WD|GLOBAL",
            "BIG_RED_SWITCH",
            Some("enable"),
        ),
        (setting("qos.pfcwd_sw_enable", json!([3])), map, "pfcwd_sw_enable", Some("3")),
        (setting("qos.pfc_enable", json!([3])), map, "pfc_enable", Some("3")),
        (setting("buffer.xoff", json!("100000B")), lossless, "xoff", Some("100000")),
        (setting("buffer.reserved", json!("2496B")), lossless, "size", None),
        (setting("buffer.xon", json!("4576B")), lossless, "xon", Some("4576")),
        (setting("buffer.xon_offset", json!("4576B")), lossless, "xon_offset", Some("4576")),
        (setting("buffer.dynamic_th", json!(0)), lossless, "dynamic_th", Some("0")),
        (setting("buffer.pool", json!("12000000B")), pool, "size", Some("12000000")),
        (setting("buffer.headroom_pool", json!("200000B")), pool, "xoff", Some("200000")),
        (
            setting("buffer.lossy_pool", json!("9000000B")),
            "BUFFER_POOL|egress_lossy_pool",
            "size",
            Some("9000000"),
        ),
        (
            setting("buffer.lossy_dynamic_th", json!(2)),
            "BUFFER_PROFILE|egress_lossy_profile",
            "dynamic_th",
            Some("2"),
        ),
        (
            setting("watermark.poll", json!("100ms")),
            "FLEX_COUNTER_TABLE|PG_WATERMARK",
            "POLL_INTERVAL",
            Some("100"),
        ),
        (
            setting("flex_counter.port", json!("200ms")),
            "FLEX_COUNTER_TABLE|PORT",
            "POLL_INTERVAL",
            Some("200"),
        ),
        (
            setting("flex_counter.pg_drop", json!("2s")),
            "FLEX_COUNTER_TABLE|PG_DROP",
            "POLL_INTERVAL",
            Some("2000"),
        ),
        (
            setting("flex_counter.queue", json!("500ms")),
            "FLEX_COUNTER_TABLE|QUEUE",
            "POLL_INTERVAL",
            Some("500"),
        ),
        (
            setting("scheduler.queues", weights(30)),
            "QUEUE|Ethernet4|3",
            "scheduler",
            Some("RIG_DWRR_30"),
        ),
        (
            setting("scheduler.pir", json!("40Gbps-L2")),
            map,
            "scheduler",
            Some("RIG_PIR_5000000000"),
        ),
        (setting("wred.ecn", json!("ecn_green")), curve, "ecn", Some("ecn_green")),
        (setting("wred.kmin", json!("208000B")), curve, "green_min_threshold", Some("208000")),
        (setting("wred.kmax", json!("416000B")), curve, "green_max_threshold", Some("416000")),
        (setting("wred.pmax", json!("10%")), curve, "green_drop_probability", Some("10")),
    ]
}

#[test]
fn each_setting_is_written_read_back_in_effect_and_taken_back_to_the_byte() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    let before = server.all(CONFIG);
    let mut control = open(&server, SOON).expect("a leaf");
    let found = control.snapshot().expect("it is there");
    let others = others();
    let paths: BTreeSet<&str> = others.iter().map(|(one, ..)| one.path.as_str()).collect();
    // What a buffer manager goes by is none of a switch whose operator sizes its buffers: the stand-in's tests set that.
    let held = TABLE.iter().flat_map(|held| held.paths).copied();
    let held = held.filter(|path| !path.starts_with("dynamic_buffer."));
    // What a port may send at once has a meaning beside its rate alone.
    let shared = schedulers::PATHS.into_iter().filter(|path| *path != "scheduler.pbs");
    assert_eq!(paths, held.chain(shared).collect(), "a value for each setting that can be written");
    for (one, key, name, text) in &others {
        let settings = [one.clone()];
        let noted = control.changes(&settings).len();
        control.set(&settings).unwrap_or_else(|error| panic!("{}: {error}", one.path));
        assert!(noted > 0 && noted == control.written.len(), "{}", one.path);
        if one.path != "buffer.reserved" {
            assert_eq!(field(&server, key, name).as_deref(), *text, "{}", one.path);
        }
        assert_eq!(control.snapshot(), Ok(found.with(one).expect("it fits")), "{}", one.path);
        control.restore(&found, &settings).unwrap_or_else(|error| panic!("{}: {error}", one.path));
        assert_eq!(server.all(CONFIG), before, "{}", one.path);
    }
    // Ports that no port of the rig is cabled to stay as they are, but for what they share with those.
    let one = setting("pfcwd.detection_time", json!("400ms"));
    control.set(&[one]).expect("it takes it");
    assert_eq!(field(&server, "PFC_WD|Ethernet12", "detection_time").as_deref(), Some("400"));
    assert_eq!(field(&server, "PFC_WD|Ethernet16", "detection_time").as_deref(), Some("200"));
    drop(control);
    assert_eq!(server.all(CONFIG), before, "whoever goes takes it back");
    assert_eq!(server.all(6), [], "and gives the switch back");
}

#[test]
fn what_cannot_be_held_or_does_not_arrive_is_told_and_leaves_nothing_behind() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, orchagent)) = switch(desk.path()) else { return };
    let before = server.all(CONFIG);
    let mut control = open(&server, SHORT).expect("a leaf");
    let with_more =
        |path: &str, value: Value| [setting("pfcwd.action", json!("alert")), setting(path, value)];
    for (path, value, want) in [
        (
            "pfcwd.detection_time",
            json!("250500us"),
            "CONFIG_DB of Ethernet0, Ethernet4, Ethernet8, Ethernet12 cannot hold it",
        ),
        ("wred.pmax", json!("0.5%"), "wred.pmax=5000ppm: CONFIG_DB"),
        (
            "scheduler.queues",
            weights(300),
            "SCHEDULER|RIG_DWRR_300|weight: weight is `300`; want a whole number from 0 to 255",
        ),
        ("scheduler.pir", json!("12bps-L2"), "cannot hold it, and would say 8bps-L2"),
        ("scheduler.pbs", json!("200KB"), "scheduler.pbs=200KB: CONFIG_DB"),
        ("buffer.cell", json!("256B"), "buffer.cell=256B: the control `sonic` does not set it"),
        ("pfcwd.detection", json!("1s"), "there is no setting `pfcwd.detection`"),
    ] {
        let settings = with_more(path, value);
        assert_eq!(control.changes(&settings), [], "{path}");
        let why = refused(control.set(&settings));
        assert!(why.contains(want), "{path}: {why}");
        assert_eq!(server.all(CONFIG), before, "{path}");
    }
    assert!(!is_held("buffer.cell") && is_held("wred.kmin") && is_held("scheduler.pbs"));
    // Of an interval that nobody has set nothing would be left to go back to.
    let key = "FLEX_COUNTER_TABLE|PG_WATERMARK";
    server.tell(CONFIG, &["HDEL", key, "POLL_INTERVAL"]);
    let looked = control.snapshot().expect("it is there").get("watermark.poll");
    let why = refused(control.set(&[setting("watermark.poll", json!("100ms"))]));
    assert!(looked.is_some() && why.contains("watermark.poll=100ms: CONFIG_DB of"), "{why}");
    server.tell(CONFIG, &["HSET", key, "POLL_INTERVAL", "60000"]);
    control.snapshot().expect("it is there");
    assert_eq!(server.all(CONFIG), before);
    orchagent.is_deaf(true);
    for (one, want) in [
        (
            setting("pfcwd.detection_time", json!("400ms")),
            "PFC_WD_DETECTION_TIME is `200000`, not `400000`",
        ),
        (
            setting("pfcwd.poll_interval", json!("200ms")),
            "FLEX_COUNTER_GROUP_TABLE:PFC_WD POLL_INTERVAL is `100`, not `200`",
        ),
        (
            setting("qos.pfc_enable", json!([3])),
            "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL is `24`, not `8`",
        ),
        (
            setting("buffer.xon", json!("4576B")),
            "BUFFER_PROFILE_TABLE:pg_lossless_100000_40m_profile xon is `2288`, not `4576`",
        ),
        (
            setting("wred.kmin", json!("208000B")),
            "ASIC_STATE:SAI_OBJECT_TYPE_WRED:oid:0x1300 SAI_WRED_ATTR_GREEN_MIN_THRESHOLD is `104000`, not `208000`",
        ),
        (
            setting("scheduler.queues", weights(30)),
            "CONFIG_DB binds 20 queues to SCHEDULER|RIG_DWRR_10, and ASIC_DB no more than 0 scheduler groups to one object with",
        ),
        (
            setting("scheduler.pir", json!("40Gbps-L2")),
            "has no SAI_PORT_ATTR_QOS_SCHEDULER_PROFILE_ID, and CONFIG_DB names RIG_PIR_5000000000",
        ),
    ] {
        let lost = control.set(&[one]).expect_err("it never arrives").to_string();
        assert!(lost.contains(want) && lost.contains("100 ms after"), "{lost}");
        assert_eq!(server.all(CONFIG), before);
    }
    drop(control);
    server.tell(2, &["DEL", "COUNTERS_QUEUE_NAME_MAP"]);
    let lost = open(&server, SHORT).expect_err("nothing tells");
    assert!(lost.contains("COUNTERS_QUEUE_NAME_MAP has no Ethernet0:3: nothing tells"), "{lost}");
}

#[test]
fn what_another_hand_changes_is_told_and_left_alone() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    let mut control = open(&server, SOON).expect("a leaf");
    let settings = [setting("pfcwd.detection_time", json!("400ms"))];
    // Between the look and the change.
    server.tell(CONFIG, &["HSET", "PFC_WD|Ethernet8", "detection_time", "300"]);
    let before = server.all(CONFIG);
    let why = refused(control.set(&settings));
    assert_eq!(
        why,
        "PFC_WD|Ethernet8|detection_time is `300` and no longer `200`: another hand has changed it, and nothing was written"
    );
    assert_eq!(server.all(CONFIG), before);
    let why = control.snapshot().expect_err("ports differ").to_string();
    assert!(
        why.contains("pfcwd.detection_time is 200ms of Ethernet0 and 300ms of Ethernet8"),
        "{why}"
    );
    server.tell(CONFIG, &["HSET", "PFC_WD|Ethernet8", "detection_time", "200"]);
    let found = control.snapshot().expect("alike again");
    // While it is changed.
    control.set(&settings).expect("it takes it");
    server.tell(CONFIG, &["HSET", "PFC_WD|Ethernet4", "detection_time", "600"]);
    let why = refused(control.restore(&found, &settings));
    assert!(why.contains("PFC_WD|Ethernet4|detection_time is `600`, neither what it was (`200`) nor what the rig wrote (`400`)"), "{why}");
    for (port, has) in [("Ethernet0", "200"), ("Ethernet4", "600"), ("Ethernet8", "200")] {
        let own = field(&server, &format!("PFC_WD|{port}"), "detection_time");
        assert_eq!(own.as_deref(), Some(has), "{port}");
    }
}

#[test]
fn a_switch_that_is_another_one_than_its_profile_is_refused() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    server.tell(CONFIG, &["HSET", "WRED_PROFILE|AZURE_LOSSLESS", "green_max_threshold", "400000"]);
    let why = open(&server, SOON).expect_err("another curve");
    assert!(
        why.contains(
            "is not what profile leaf declares: wred.kmax is 400KB in CONFIG_DB for Ethernet0"
        ),
        "{why}"
    );
    assert!(
        why.contains("and the profile has 312KB; `rigctl profile from-dut --redis unix:"),
        "{why}"
    );
    server.tell(CONFIG, &["HSET", "PORT|Ethernet4", "macsec", "line"]);
    let why = open(&server, SOON).expect_err("it passes nothing of the rig's");
    assert!(why.contains("PORT|Ethernet4|macsec is `line`: such a port passes nothing"), "{why}");
    // What `config macsec port del` of some images leaves is no MACsec.
    server.tell(CONFIG, &["HSET", "PORT|Ethernet4", "macsec", ""]);
    let why = SonicControl::with(&server.at(), &profile(), 9, SOON).map(drop).expect_err("nine");
    assert!(
        why.contains("has 8 front-panel ports that are up, and the rig is cabled to 9"),
        "{why}"
    );
    assert_eq!(server.all(6), [], "who is refused holds nothing");
}

#[test]
fn a_second_rig_is_told_who_has_the_switch_and_one_that_was_killed_holds_nothing() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    let mut first = open(&server, SOON).expect("free");
    let why = open(&server, SOON).map(drop).expect_err("taken");
    let own = format!("is in use by process {} of ", std::process::id());
    assert!(why.contains(&own) && why.contains(" s more, unless it is renewed"), "{why}");
    let left: i64 =
        redis::from_owned_redis_value(server.tell(6, &["PTTL", lease::KEY])).expect("ms");
    assert!((500_000..=600_000).contains(&left), "{left}");
    // It has ended by itself, and nobody has it: it is taken anew.
    server.tell(6, &["DEL", lease::KEY]);
    first.snapshot().expect("free");
    let why = open(&server, SOON).map(drop).expect_err("taken again");
    assert!(why.contains(&own), "{why}");
    // Whoever loses it does nothing more.
    server.tell(6, &["SET", lease::KEY, "somebody \u{7}"]);
    let before = server.all(CONFIG);
    let settings = [setting("pfcwd.detection_time", json!("400ms"))];
    let lost = first.set(&settings).expect_err("no longer its own").to_string();
    assert!(lost.contains("it is held by somebody who does not say who now"), "{lost}");
    assert_eq!(server.all(CONFIG), before);
    drop(first);
    let why = open(&server, SOON).map(drop).expect_err("another's");
    assert!(why.contains("without an end: `DEL RIG_LEASE`"), "{why}");
    server.tell(6, &["DEL", lease::KEY]);
    drop(open(&server, SOON).expect("free again"));
}

#[test]
fn what_was_set_stays_while_another_rig_has_the_switch() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    let mut first = open(&server, SOON).expect("free");
    let found = first.snapshot().expect("a leaf");
    let settings = [setting("pfcwd.detection_time", json!("400ms"))];
    first.set(&settings).expect("it takes it");
    let own = server.tell(6, &["GET", lease::KEY]);
    let own: String = redis::from_owned_redis_value(own).expect("a text");
    // Another rig on the same machine, which happens to want what this one has set.
    let other = own.replace(&format!(":{},", std::process::id()), ":1,");
    assert_ne!(own, other, "{own}");
    server.tell(6, &["SET", lease::KEY, &other]);
    let lost = first.restore(&found, &settings).expect_err("it is another's").to_string();
    assert!(lost.contains("it is held by process 1 of "), "{lost}");
    drop(first);
    assert_eq!(
        field(&server, "PFC_WD|Ethernet0", "detection_time").as_deref(),
        Some("400"),
        "under the other's feet"
    );
    let held: String =
        redis::from_owned_redis_value(server.tell(6, &["GET", lease::KEY])).expect("a text");
    assert_eq!(held, other);
}

#[test]
fn a_curve_is_in_effect_where_the_queue_is_bound_to_it_and_nowhere_else() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, orchagent)) = switch(desk.path()) else { return };
    let mut control = open(&server, SHORT).expect("a leaf");
    orchagent.is_deaf(true);
    // Another object has all that is wanted, and no queue of the rig's ports is bound to it.
    let object = "ASIC_STATE:SAI_OBJECT_TYPE_WRED:oid:0x1300";
    let is: Vec<String> =
        redis::from_owned_redis_value(server.tell(1, &["HGETALL", object])).expect("texts");
    let mut all = vec!["HSET", "ASIC_STATE:SAI_OBJECT_TYPE_WRED:oid:0x1399"];
    all.extend(is.iter().map(String::as_str));
    server.tell(1, &all);
    let min = "SAI_WRED_ATTR_GREEN_MIN_THRESHOLD";
    server.tell(1, &["HSET", "ASIC_STATE:SAI_OBJECT_TYPE_WRED:oid:0x1399", min, "208000"]);
    let settings = [setting("wred.kmin", json!("208000B"))];
    let lost = control.set(&settings).expect_err("it never arrives").to_string();
    assert!(lost.contains(&format!("{object} {min} is `104000`, not `208000`")), "{lost}");
    // One that is bound to none.
    let keys: Vec<String> = redis::from_owned_redis_value(
        server.tell(1, &["KEYS", "ASIC_STATE:SAI_OBJECT_TYPE_QUEUE:*"]),
    )
    .expect("texts");
    for key in &keys {
        server.tell(1, &["HSET", key, "SAI_QUEUE_ATTR_WRED_PROFILE_ID", "oid:0x0"]);
    }
    let lost = control.set(&settings).expect_err("it is bound to nothing").to_string();
    assert!(lost.contains("has no SAI_QUEUE_ATTR_WRED_PROFILE_ID"), "{lost}");
}

#[test]
fn schedulers_are_rows_of_the_rigs_own_and_a_row_of_several_queues_says_one_thing() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    let mut control = open(&server, SOON).expect("a leaf");
    let before = server.all(CONFIG);
    let both = [
        setting("scheduler.pir", json!("40Gbps-L2")),
        setting("scheduler.pbs", json!("200KB")),
        setting("scheduler.queues", weights(30)),
    ];
    control.set(&both).expect("it takes them");
    let shaped = "SCHEDULER|RIG_PIR_5000000000_PBS_200000";
    for (key, name, want) in [
        (shaped, "meter_type", "bytes"),
        (shaped, "pbs", "200000"),
        ("SCHEDULER|RIG_DWRR_30", "type", "DWRR"),
        ("SCHEDULER|RIG_DWRR_30", "weight", "30"),
        // Queues of other ports are bound to it.
        ("SCHEDULER|scheduler.1", "weight", "15"),
        ("QUEUE|Ethernet16|3", "scheduler", "scheduler.1"),
    ] {
        assert_eq!(field(&server, key, name).as_deref(), Some(want), "{key} {name}");
    }
    // Another one, and back over both.
    control.set(&[setting("scheduler.queues", weights(20))]).expect("it takes them");
    control
        .set(&[setting("scheduler.pir", Value::Null), setting("scheduler.pbs", Value::Null)])
        .expect("it takes it");
    assert_eq!(field(&server, "PORT_QOS_MAP|Ethernet0", "scheduler"), None);
    let found = profile().declared;
    control.restore(&found, &both).expect("it goes back");
    assert_eq!(server.all(CONFIG), before);
    // One row for queues 0 to 2 of a port.
    for queue in ["0", "1", "2"] {
        server.tell(CONFIG, &["DEL", &format!("QUEUE|Ethernet0|{queue}")]);
    }
    server.tell(CONFIG, &["HSET", "QUEUE|Ethernet0|0-2", "scheduler", "[SCHEDULER|scheduler.0]"]);
    control.snapshot().expect("it says the same");
    control.set(&[setting("scheduler.queues", weights(30))]).expect("all three are alike");
    let range = field(&server, "QUEUE|Ethernet0|0-2", "scheduler");
    assert_eq!(range.as_deref(), Some("[SCHEDULER|RIG_DWRR_10]"), "as the image writes it");
    control.restore(&found, &both).expect("it goes back");
    let mut uneven = weights(30);
    uneven[1] = json!("strict");
    let why = refused(control.set(&[setting("scheduler.queues", uneven)]));
    assert!(why.contains("CONFIG_DB of Ethernet0") || why.contains("scheduler.queues is"), "{why}");
}
