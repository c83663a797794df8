//! A rig that is killed while a switch is as it has set it.

use super::{CONFIG, Orchagent, SOON, setting, switch};
use crate::control::Control as _;
use crate::fixture::RedisServer;
use crate::journal::{Fate, Journal, restore};
use crate::sonic::SonicControl;
use rig_lab::RedisAt;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Where the child finds the redis, and its journal.
const REDIS: &str = "RIG_TEST_SONIC_REDIS";
const JOURNAL: &str = "RIG_TEST_SONIC_JOURNAL";
const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// Not a test but the rig that is killed: it sets, says so, and waits.
#[test]
fn child() {
    let (Ok(redis), Ok(folder)) = (std::env::var(REDIS), std::env::var(JOURNAL)) else { return };
    let at: RedisAt = redis.parse().expect("a place");
    let mut control = SonicControl::with(&at, &super::profile(), 4, SOON).expect("a leaf");
    let journal = Journal::at(Path::new(&folder));
    for (detection, restoration) in [("400ms", json!("400ms")), ("600ms", Value::Null)] {
        let settings = [
            setting("pfcwd.detection_time", json!(detection)),
            setting("pfcwd.restoration_time", restoration),
            setting("pfcwd.big_red_switch", json!(true)),
        ];
        journal.note(control.changes(&settings)).expect("writable");
        journal.make(|| control.set(&settings)).expect("it takes it");
    }
    println!("\nset");
    let mut line = String::new();
    let _killed = std::io::stdin().read_line(&mut line);
}

/// A rig that has set, and is killed then.
fn killed(server: &RedisServer, folder: &Path) -> Child {
    let mut rig = Command::new(std::env::current_exe().expect("this test"));
    rig.args(["--exact", "sonic::control::tests::killed::child", "--nocapture"]);
    rig.env(REDIS, server.at().to_string()).env(JOURNAL, folder);
    rig.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut rig = rig.spawn().expect("it starts");
    let said = BufReader::new(rig.stdout.take().expect("piped")).lines();
    let set = said.map_while(Result::ok).any(|line| line == "set");
    assert!(set, "it has set nothing");
    rig.kill().expect("kill -9");
    rig
}

#[test]
fn what_a_killed_rig_has_set_is_put_back_from_its_journal_and_no_secret_stands_there() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, orchagent)) = switch(desk.path()) else { return };
    server
        .tell(CONFIG, &["HSET", "MACSEC_PROFILE|up", "primary_cak", SECRET, "policy", "security"]);
    for field in ["primary_ckn", "fallback_cak", "fallback_ckn"] {
        server.tell(CONFIG, &["HSET", "MACSEC_PROFILE|up", field, SECRET]);
    }
    server.tell(0, &["HSET", "MACSEC_EGRESS_SA_TABLE:Ethernet0:1:0", "sak", SECRET]);
    server.tell(CONFIG, &["HSET", &format!("SNMP_COMMUNITY|{SECRET}"), "TYPE", "RO"]);
    let before = server.all(CONFIG);
    let folder = desk.path().join("journal");
    let mut rig = killed(&server, &folder);
    rig.wait().expect("it has ended");
    assert_ne!(server.all(CONFIG), before, "it has left it changed");
    for file in std::fs::read_dir(&folder).expect("a journal") {
        let text = std::fs::read_to_string(file.expect("a file").path()).expect("a text");
        assert!(text.contains("detection_time") && !text.contains(&SECRET[..12]), "{text}");
    }
    // One field of another hand's.
    server.tell(CONFIG, &["HSET", "PFC_WD|Ethernet4", "detection_time", "700"]);
    let told = restore(&folder, false, |_| true).expect("a folder of ours");
    let failed: Vec<String> = told
        .iter()
        .filter(|told| !matches!(told.fate, Fate::Restored))
        .map(ToString::to_string)
        .collect();
    assert_eq!(failed.len(), 2, "what it had set twice: {failed:#?}");
    let redis = server.at();
    let want = format!(
        "PFC_WD|Ethernet4|detection_time of {redis}, which was `400`: not restored: PFC_WD|Ethernet4|detection_time is `700`, neither what \
         it was (`400`) nor what the rig wrote (`600`): another hand has changed it, and it stays"
    );
    assert_eq!(failed[0], want);
    server.tell(CONFIG, &["HSET", "PFC_WD|Ethernet4", "detection_time", "600"]);
    let told = restore(&folder, false, |_| true).expect("a folder of ours");
    assert!(told.iter().all(|told| told.fate == Fate::Restored), "{told:#?}");
    assert_eq!(server.all(CONFIG), before);
    // Nobody holds the switch any more: its holder has ended.
    drop(SonicControl::with(&server.at(), &super::profile(), 4, SOON).expect("free"));
    drop::<Orchagent>(orchagent);
}
