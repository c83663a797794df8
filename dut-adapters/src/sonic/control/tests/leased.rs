//! A lease that has ended by itself: whoever was there meanwhile nobody knows.

use super::{CONFIG, SOON, lease, open, setting, switch};
use crate::control::{Control as _, ControlError};
use serde_json::json;

/// What was lost with the way to the switch.
fn away<T: core::fmt::Debug>(answer: Result<T, ControlError>) -> String {
    match answer.expect_err("it is lost") {
        ControlError::Away(lost) => lost.plainly(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_lease_that_ended_in_the_middle_is_not_taken_for_one_that_lasted() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    let before = server.all(CONFIG);
    let left = || -> i64 {
        redis::from_owned_redis_value(server.tell(6, &["PTTL", lease::KEY])).expect("ms")
    };
    let mut control = open(&server, SOON).expect("a leaf");
    server.tell(6, &["PEXPIRE", lease::KEY, "1000"]);
    assert_eq!(control.events(), Ok(Vec::new()));
    assert!(left() > 500_000, "it is renewed");
    let settings = [setting("pfcwd.detection_time", json!("400ms"))];
    control.set(&settings).expect("it takes it");
    // It ends, another rig has the switch, and gives it back.
    server.tell(6, &["DEL", lease::KEY]);
    let want = "cannot hold RIG_LEASE of STATE_DB: it has ended by itself, and another rig may have been there since";
    assert_eq!(away(control.counters(&[])), want);
    assert_eq!(away(control.events()), want);
    assert_eq!(away(control.snapshot()), want, "something of this rig's is set there");
    assert_eq!(left(), -2, "and nobody has taken it");
    drop(control);
    assert_eq!(server.all(CONFIG), before, "left as it was found");
}

#[test]
fn what_another_rig_left_while_nobody_had_the_lease_is_found_out_before_anything_rests_on_it() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    let mut control = open(&server, SOON).expect("a leaf");
    let ports =
        ["Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12"].map(|of| format!("PFC_WD|{of}"));
    server.tell(6, &["DEL", lease::KEY]);
    for port in &ports {
        server.tell(CONFIG, &["HSET", port, "detection_time", "300"]);
    }
    let why = control.snapshot().expect_err("another switch than it was").to_string();
    assert!(why.contains("pfcwd.detection_time is 300ms in CONFIG_DB"), "{why}");
    for port in &ports {
        server.tell(CONFIG, &["HSET", port, "detection_time", "200"]);
    }
    server.tell(6, &["DEL", lease::KEY]);
    assert!(control.snapshot().is_ok(), "as it was, and nobody has it");
}
