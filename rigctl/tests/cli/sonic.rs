//! A switch with SONiC by its CONFIG_DB: its profile, what `lint` says of it, and what nobody is shown.

use crate::support::Desk;
use rig_dut::fixture::RedisServer;
use serde_json::Value;

const TESTDATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dut-adapters/testdata/sonic");

/// A desk with a file of the testdata on it.
fn desk(file: &str) -> Desk {
    let desk = Desk::new();
    let text = std::fs::read_to_string(format!("{TESTDATA}/{file}")).expect("a file");
    desk.write("config_db.json", &text);
    desk
}

/// The rules that fire, each with `TABLE|key|field` and its line.
fn found(desk: &Desk, flags: &str) -> Vec<(String, String, u64)> {
    let left = desk.rigctl(&format!("lint config_db.json {flags} --format json"));
    assert_eq!(left.stderr, "", "{flags}");
    let told: Value = serde_json::from_str(&left.stdout).expect("JSON");
    let findings = told["findings"].as_array().expect("a list");
    assert_eq!(left.code, i32::from(!findings.is_empty()));
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let one =
        |one: &Value| (text(&one["rule"]), text(&one["in"]), one["line"].as_u64().expect("a line"));
    findings.iter().map(one).collect()
}

#[test]
fn a_sound_leaf_is_not_accused_and_its_profile_is_read_by_check_and_lint() {
    let desk = desk("leaf.json");
    assert_eq!(found(&desk, "--memory 16MiB"), []);
    let left = desk.rigctl("profile from-dut --config-db config_db.json --name leaf-1");
    assert_eq!((left.code, left.stderr.as_str()), (0, ""));
    desk.write("leaf-1.yaml", &left.stdout);
    let left = desk.rigctl("lint leaf-1.yaml --cable 40m --memory 16MiB");
    assert_eq!(
        (left.code, left.stdout.as_str()),
        (0, "0 findings in 1 switch\n"),
        "{}",
        left.stderr
    );
    let left = desk.rigctl("check --dut leaf-1.yaml");
    assert_eq!((left.code, left.stderr.as_str()), (0, ""), "{}", left.stdout);
}

#[test]
fn what_is_mistuned_is_named_with_its_table_key_and_field_its_number_and_its_formula() {
    let desk = desk("mistuned.json");
    let one = |rule: &str, at: &str, line: u64| (rule.to_owned(), at.to_owned(), line);
    let lossless = "BUFFER_PROFILE|pg_lossless_100000_300m_profile|xoff";
    let mut all = vec![
        one("lossless-group-without-profile", "PORT_QOS_MAP|Ethernet8|pfc_enable", 77),
        one("lossless-without-watchdog", "PORT_QOS_MAP|Ethernet8|pfc_enable", 77),
        one("watchdog-between-polls", "PFC_WD|Ethernet0|restoration_time", 85),
        one("lossless-headroom", lossless, 106),
        one("lossless-group-without-profile", "BUFFER_PG|Ethernet8|3|profile", 124),
        one("ecn-after-pfc", "WRED_PROFILE|AZURE_LOSSLESS|green_min_threshold", 131),
    ];
    assert_eq!(found(&desk, ""), all);
    // 12 582 912 + 2 097 152 shared, 2 x 2 x 19 456 of two ports; of the third the file says nothing.
    assert_eq!(found(&desk, "--memory 14757888B"), all);
    let pool = one("memory-overcommitted", "BUFFER_POOL|ingress_lossless_pool|size", 96);
    all.insert(3, pool);
    assert_eq!(found(&desk, "--memory 14757887B"), all);
    let left = desk.rigctl("lint config_db.json");
    for wanted in [
        "config_db.json:106:21: lossless-headroom, 2 ports, Ethernet0 to Ethernet4: headroom of 60KiB at 100Gbps over 300m of cable",
        "106 |             \"xoff\": \"61440\",",
        "= by: F3: (731.36ns of a frame ahead",
        "Not judged, for the file does not say what they rest on: xon-flaps",
        "6 findings in 2 sets of ports that are alike",
    ] {
        assert!(left.stdout.contains(wanted), "{wanted}:\n{}", left.stdout);
    }
}

#[test]
fn a_watchdog_that_a_full_device_makes_fire_is_named() {
    let desk = desk("leaf.json");
    let text = desk.read("config_db.json");
    // At 100 Mb/s what is a third of a millisecond at 100 Gb/s takes a third of a second, and a storm is detected after 200 ms.
    let slow = text.replace("\"speed\": \"100000\"", "\"speed\": \"100\"");
    desk.write("config_db.json", &slow);
    let rules: Vec<String> = found(&desk, "").into_iter().map(|(rule, ..)| rule).collect();
    assert!(rules.contains(&"watchdog-on-congestion".to_owned()), "{rules:?}");
}

#[test]
fn no_output_shows_a_secret_of_the_file() {
    let desk = desk("mistuned.json");
    for command in [
        "lint config_db.json --memory 13MiB",
        "lint config_db.json --format json",
        "lint config_db.json --base melanox",
        "profile from-dut --config-db config_db.json",
        "profile from-dut --config-db config_db.json --port Ethernet8",
        "profile from-dut --config-db config_db.json --port Ethernet99",
    ] {
        let left = desk.rigctl(command);
        let said = left.stdout + &left.stderr;
        assert!(!said.is_empty());
        for secret in ["s3cret", "207B757A", "07554155", "61626364"] {
            assert!(!said.contains(secret), "{command}: {said}");
        }
    }
}

#[test]
fn the_profile_of_a_live_switch_is_that_of_its_file_and_nothing_is_left_there() {
    let desk = desk("mistuned.json");
    let server = match RedisServer::start(&desk.path(".")) {
        Ok(server) => server,
        Err(why) => return eprintln!("{why}"),
    };
    server.load(&desk.path("config_db.json"));
    let before = server.all(4);
    let file = desk.rigctl("profile from-dut --config-db config_db.json");
    let live = desk.rigctl("profile from-dut --redis unix:redis.sock");
    assert_eq!((live.code, live.stderr.as_str()), (0, ""));
    assert_eq!(live.stdout, file.stdout.replace("config_db.json", "unix:redis.sock CONFIG_DB"));
    assert_eq!(server.all(4), before);
    drop(server);
    let gone = desk.rigctl("profile from-dut --redis unix:redis.sock");
    assert_eq!((gone.code, gone.stdout.as_str()), (2, ""));
    let why = "unix:redis.sock CONFIG_DB: cannot connect to unix:redis.sock: ";
    assert!(gone.stderr.contains(why), "{}", gone.stderr);
    let bad = desk.rigctl("profile from-dut --redis redis.sock");
    assert!(bad.code == 2 && bad.stderr.contains("want unix:PATH or tcp:HOST:PORT"), "{bad:?}");
}
