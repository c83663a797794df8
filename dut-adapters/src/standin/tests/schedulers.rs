//! Schedulers of the stand-in: what it makes of rows as orchagent does, and what a rig sees of it where bindings do not arrive.

use super::{devices, switch, tell, until};
use crate::control::{Control as _, ControlError, Unseen};
use crate::sonic::SonicControl;
use crate::standin::{Faults, Server};
use core::time::Duration;
use rig_lab::{RedisAt, Setting};
use serde_json::json;

/// The group of queue 3 of the second port.
const GROUP: &str = "ASIC_STATE:SAI_OBJECT_TYPE_SCHEDULER_GROUP:oid:0x17000000000013";

/// What an attribute of the scheduler says that the group is bound to.
fn says(server: &Server, attribute: &str) -> String {
    let bound = "SAI_SCHEDULER_GROUP_ATTR_SCHEDULER_PROFILE_ID";
    let oid: String = tell(server, 1, &["HGET", GROUP, bound]);
    let key = format!("ASIC_STATE:SAI_OBJECT_TYPE_SCHEDULER:{oid}");
    let text: Option<String> =
        tell(server, 1, &["HGET", &key, &format!("SAI_SCHEDULER_ATTR_{attribute}")]);
    text.unwrap_or_default()
}

#[test]
fn orchagent_keeps_eight_bits_of_a_weight_and_waits_for_a_row_that_is_named() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _standin, _, said)) = switch(desk.path(), Faults::default()) else { return };
    let said_of = |word: &str| said.lock().expect("no panic").iter().any(|why| why.contains(word));
    let set = |words: &[&str]| tell::<i64>(&server, 4, &[&["HSET"], words].concat());
    assert_eq!(
        (says(&server, "SCHEDULING_WEIGHT").as_str(), says(&server, "SCHEDULING_TYPE").as_str()),
        ("15", "SAI_SCHEDULING_TYPE_DWRR")
    );
    set(&["SCHEDULER|scheduler.3", "weight", "300"]);
    until(|| says(&server, "SCHEDULING_WEIGHT") == "44");
    // It has been named, and is not there yet: what another field of the row says waits with it.
    set(&["QUEUE|Ethernet4|3", "scheduler", "own"]);
    set(&["SCHEDULER|scheduler.3", "weight", "16"]);
    until(|| says(&server, "SCHEDULING_WEIGHT") == "16");
    set(&["SCHEDULER|own", "type", "STRICT"]);
    until(|| says(&server, "SCHEDULING_TYPE") == "SAI_SCHEDULING_TYPE_STRICT");
    set(&["SCHEDULER|own", "type", "FIFO"]);
    until(|| said_of("SCHEDULER|own|type `FIFO` is none"));
    assert_eq!(says(&server, "SCHEDULING_TYPE"), "SAI_SCHEDULING_TYPE_STRICT");
    set(&["SCHEDULER|own", "type", "STRICT", "shape", "no"]);
    until(|| said_of("SCHEDULER|own has an unknown field shape"));
}

#[test]
fn a_binding_that_never_arrives_is_told_and_nothing_is_left_behind() {
    let desk = tempfile::tempdir().expect("a folder");
    let lost = Faults { lost_bindings: true, ..Faults::default() };
    let Some((server, standin, ..)) = switch(desk.path(), lost) else { return };
    let at = RedisAt::Unix(server.socket().to_owned());
    let patience = Duration::from_millis(500);
    let mut control = SonicControl::with(&at, &devices()[0], 4, patience).expect("a switch");
    let mut queues = vec![json!({"dwrr": 10}); 8];
    queues[3] = json!({"dwrr": 30});
    let settings = [Setting { path: "scheduler.queues".to_owned(), value: queues.into() }];
    let keys = || -> Vec<String> {
        let mut keys: Vec<String> = tell(&server, 4, &["KEYS", "*"]);
        keys.sort();
        keys
    };
    let before = keys();
    let answer = control.set(&settings);
    let Err(ControlError::Unseen(Unseen { lost, otherwise: false })) = answer else {
        panic!("{answer:?}")
    };
    let want = "CONFIG_DB binds 28 queues to SCHEDULER|RIG_DWRR_10, and ASIC_DB no more than 0 scheduler groups to one object with";
    assert!(lost.why.contains(want), "{}", lost.why);
    assert_eq!((keys(), says(&server, "SCHEDULING_WEIGHT").as_str()), (before.clone(), "15"));
    // And of one that has no such fault.
    standin.falls(Faults::default());
    let mut control = {
        drop(control);
        SonicControl::with(&at, &devices()[0], 4, Duration::from_secs(10)).expect("a switch")
    };
    control.set(&settings).expect("it takes them");
    assert_eq!(says(&server, "SCHEDULING_WEIGHT"), "30");
    drop(control);
    until(|| says(&server, "SCHEDULING_WEIGHT") == "15" && keys() == before);
}
