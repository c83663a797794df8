//! The big red switch: a field that no YANG model has, so that only HSET sets it, and that stays in effect when it goes.

use super::{devices, switch, tell, until};
use crate::control::Control as _;
use crate::sonic::SonicControl;
use crate::standin::{Faults, Server, spoken};
use core::time::Duration;
use rig_lab::{RedisAt, Setting};
use std::path::Path;

fn thrown(on: bool) -> [Setting; 1] {
    [Setting { path: "pfcwd.big_red_switch".to_owned(), value: on.into() }]
}

fn field(server: &Server) -> Option<String> {
    tell(server, 4, &["HGET", "PFC_WD|GLOBAL", "BIG_RED_SWITCH"])
}

/// Whether a guarded queue has its handler.
fn drops(server: &Server) -> bool {
    let queue: String = tell(server, 2, &["HGET", "COUNTERS_QUEUE_NAME_MAP", "Ethernet4:3"]);
    let key = format!("COUNTERS:{queue}");
    let mode: Option<String> = tell(server, 2, &["HGET", &key, "BIG_RED_SWITCH_MODE"]);
    mode.as_deref() == Some("enable")
}

/// What a patch of nothing is answered.
fn patched(desk: &Path, server: &Server) -> Result<String, String> {
    let file = desk.join("nothing.json-patch");
    std::fs::write(&file, "[]").expect("writable");
    let file = file.display().to_string();
    spoken(server.socket(), &["config", "apply-patch", file.as_str()], &Faults::default())
}

fn control(server: &Server) -> SonicControl {
    let at = RedisAt::Unix(server.socket().to_owned());
    SonicControl::with(&at, &devices()[0], 4, Duration::from_secs(10)).expect("a switch")
}

#[test]
fn it_is_set_by_redis_alone_and_let_go_before_its_field_goes() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _standin, ..)) = switch(desk.path(), Faults::default()) else { return };
    assert_eq!((field(&server), drops(&server)), (None, false), "as it is shipped");
    assert!(patched(desk.path(), &server).is_ok());
    let mut control = control(&server);
    let before = control.snapshot().expect("it states that");
    control.set(&thrown(true)).expect("it is taken");
    assert_eq!((field(&server).as_deref(), drops(&server)), (Some("enable"), true));
    let why = patched(desk.path(), &server).expect_err("no model has that field");
    let want = "Data Loading Failed\nAll Keys are not parsed in PFC_WD\n";
    assert!(why.contains(want) && why.contains("'BIG_RED_SWITCH'"), "{why}");
    control.restore(&before, &thrown(true)).expect("it is taken back");
    assert_eq!((field(&server), drops(&server)), (None, false), "as it was found");
    assert!(patched(desk.path(), &server).is_ok());
}

#[test]
fn a_field_that_goes_alone_leaves_it_thrown_and_the_journal_knows_that() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _standin, ..)) = switch(desk.path(), Faults::default()) else { return };
    let set = || {
        let mut control = control(&server);
        let changes = control.changes(&thrown(true));
        control.set(&thrown(true)).expect("it is taken");
        // As a rig that is killed: nothing is taken back but from its journal.
        core::mem::forget(control);
        let _free: i64 = tell(&server, 6, &["DEL", "RIG_LEASE"]);
        changes
    };
    let changes = set();
    let _gone: i64 = tell(&server, 4, &["HDEL", "PFC_WD|GLOBAL", "BIG_RED_SWITCH"]);
    // What comes behind it is taken, and so was this.
    let _set: i64 = tell(&server, 4, &["HSET", "PFC_WD|GLOBAL", "POLL_INTERVAL", "120"]);
    let every = || -> Option<String> {
        tell(&server, 5, &["HGET", "FLEX_COUNTER_GROUP_TABLE:PFC_WD", "POLL_INTERVAL"])
    };
    until(|| every().as_deref() == Some("120"));
    assert!(drops(&server), "nobody has told orchagent to let go");
    let _set: i64 = tell(&server, 4, &["HSET", "PFC_WD|GLOBAL", "BIG_RED_SWITCH", "enable"]);
    let _set: i64 = tell(&server, 4, &["HSET", "PFC_WD|GLOBAL", "POLL_INTERVAL", "100"]);
    for change in changes.iter().rev() {
        change.undo().expect("it is undone");
    }
    assert_eq!((field(&server), drops(&server)), (None, false));
    // Killed once more, between the two steps of an undoing.
    let changes = set();
    let _set: i64 = tell(&server, 4, &["HSET", "PFC_WD|GLOBAL", "BIG_RED_SWITCH", "disable"]);
    for change in changes.iter().rev() {
        change.undo().expect("it is undone");
    }
    assert_eq!((field(&server), drops(&server)), (None, false));
}
