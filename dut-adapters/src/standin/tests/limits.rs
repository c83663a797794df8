//! What becomes of a value that orchagent should refuse, as a rig sees it that knows its databases alone.

use super::{devices, switch, tell};
use crate::control::{Control as _, ControlError, Unseen};
use crate::sonic::SonicControl;
use crate::standin::{Faults, spoken};
use core::time::Duration;
use rig_lab::{RedisAt, Setting};

fn time(ms: &str) -> [Setting; 1] {
    [Setting { path: "pfcwd.detection_time".to_owned(), value: format!("{ms}ms").into() }]
}

#[test]
fn what_is_refused_stays_as_it_was_what_is_clamped_does_not_and_without_limits_it_is_taken() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, standin, ..)) = switch(desk.path(), Faults::default()) else { return };
    let at = RedisAt::Unix(server.socket().to_owned());
    let of = |ms: &str| {
        let patience = Duration::from_millis(1_500);
        let mut control = SonicControl::with(&at, &devices()[0], 4, patience).expect("a switch");
        control.set(&time(ms))
    };
    let row = || -> String { tell(&server, 4, &["HGET", "PFC_WD|Ethernet4", "detection_time"]) };
    let unseen = |answer: Result<(), ControlError>| match answer {
        Err(ControlError::Unseen(Unseen { lost, otherwise })) => (lost.why, otherwise),
        other => panic!("{other:?}"),
    };
    let (why, otherwise) = unseen(of("99"));
    assert!(why.contains("PFC_WD_DETECTION_TIME is `200000`, not `99000`") && !otherwise, "{why}");
    assert_eq!(of("100"), Ok(()), "the least that it takes");
    standin.falls(Faults { clamps: true, ..Faults::default() });
    let (why, otherwise) = unseen(of("99"));
    assert!(why.contains("PFC_WD_DETECTION_TIME is `100000`, not `99000`") && otherwise, "{why}");
    standin.falls(Faults { no_limits: true, ..Faults::default() });
    assert_eq!(of("99"), Ok(()));
    standin.falls(Faults::default());
    let mut control =
        SonicControl::with(&at, &devices()[0], 4, Duration::from_secs(1)).expect("a switch");
    standin.is_deaf(true);
    let (_, otherwise) = unseen(control.set(&time("400")));
    assert!(!otherwise, "it takes nothing, and that it refuses nobody says");
    assert_eq!(row(), "200", "all of it was taken back");
}

/// orchagent takes nothing of a row that has one field which it does not know, and goes on with what it had.
#[test]
fn a_row_with_a_field_that_orchagent_does_not_know_is_in_effect_in_none_and_that_is_told() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _standin, _, said)) = switch(desk.path(), Faults::default()) else { return };
    let at = RedisAt::Unix(server.socket().to_owned());
    let patience = Duration::from_millis(1_500);
    let mut control = SonicControl::with(&at, &devices()[0], 4, patience).expect("a switch");
    let row = "PFC_WD|Ethernet4";
    let _set: i64 = tell(&server, 4, &["HSET", row, "note", "of an operator"]);
    let why = match control.set(&time("400")) {
        // The other ports took it.
        Err(ControlError::Unseen(Unseen { lost, otherwise: true })) => lost.why,
        other => panic!("{other:?}"),
    };
    assert!(why.contains("PFC_WD_DETECTION_TIME is `200000`, not `400000`"), "{why}");
    let unknown = "PFC_WD|Ethernet4 has an unknown field note";
    assert!(said.lock().expect("no panic").iter().any(|why| why.contains(unknown)), "it says so");
    let queue: String = tell(&server, 2, &["HGET", "COUNTERS_QUEUE_NAME_MAP", "Ethernet4:3"]);
    assert!(why.starts_with(&format!("COUNTERS:{queue} ")), "{why}");
    let has = |field: &str| -> Option<String> { tell(&server, 4, &["HGET", row, field]) };
    assert_eq!([has("detection_time"), has("note")].map(Option::unwrap), ["200", "of an operator"]);
    let _gone: i64 = tell(&server, 4, &["HDEL", row, "note"]);
    drop(control);
    let patience = Duration::from_secs(10);
    let mut control = SonicControl::with(&at, &devices()[0], 4, patience).expect("a switch");
    assert_eq!(control.set(&time("400")), Ok(()), "the others of its fields are as good as ever");
}

#[test]
fn a_patch_is_taken_or_refused_by_the_yang_model_in_the_words_of_sonic() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, ..)) = switch(desk.path(), Faults::default()) else { return };
    let file = desk.path().join("one.json-patch");
    let of = |field: &str, to: &str, faults: &Faults| {
        let patch = format!(r#"[{{"op": "add", "path": "/PFC_WD/{field}", "value": "{to}"}}]"#);
        std::fs::write(&file, patch).expect("writable");
        let file = file.display().to_string();
        spoken(server.socket(), &["config", "apply-patch", file.as_str()], faults)
    };
    let row = || -> String { tell(&server, 4, &["HGET", "PFC_WD|Ethernet0", "detection_time"]) };
    let healthy = Faults::default();
    // The poll interval is 100 ms, and the times 200.
    for (field, to, want) in [
        (
            "Ethernet0/detection_time",
            "99",
            "Value \"99\" does not satisfy the constraint \"100..5000\"",
        ),
        ("Ethernet0/action", "wait", "Invalid value \"wait\" in \"action\" element."),
        (
            "GLOBAL/POLL_INTERVAL",
            "1001",
            "Value \"1001\" does not satisfy the constraint \"100..1000\"",
        ),
        (
            "GLOBAL/POLL_INTERVAL",
            "201",
            "detection_time must be greater than or equal to POLL_INTERVAL",
        ),
    ] {
        let why = of(field, to, &healthy).expect_err("the model refuses it");
        assert!(why.contains(&format!("Data Loading Failed\n{want}")), "{why}");
    }
    assert_eq!(row(), "200");
    assert!(of("GLOBAL/POLL_INTERVAL", "200", &healthy).is_ok(), "a time may be one poll");
    let taken = of("Ethernet0/detection_time", "400", &healthy).expect("it is taken");
    assert!(taken.ends_with("Patch applied successfully.\n"), "{taken}");
    assert_eq!(row(), "400");
    assert!(of("Ethernet0/detection_time", "199", &Faults { no_yang: true, ..healthy }).is_ok());
    assert_eq!(row(), "199");
}

#[test]
fn what_is_typed_is_checked_and_written_in_the_words_of_sonic() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, ..)) = switch(desk.path(), Faults::default()) else { return };
    let typed = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        spoken(server.socket(), &words, &Faults::default())
    };
    let of = |key: &str, field: &str| -> Option<String> { tell(&server, 4, &["HGET", key, field]) };
    // The times are 200 ms.
    for (line, want) in [
        (
            "pfcwd start Ethernet0 99",
            "Error: Invalid value for \"DETECTION_TIME\": 99 is not in the valid range of 100 to 5000.",
        ),
        (
            "pfcwd start --action drop --restoration-time 60001 Ethernet0 200",
            "\"--restoration-time\" / \"-r\": 60001 is not in the valid range of 100 to 60000.",
        ),
        ("pfcwd start -a wait all 200", "invalid choice: wait."),
        ("pfcwd start Ethernet1 200", "Failed to run command, invalid options:\nEthernet1"),
        ("pfcwd interval 1001", "1001 is not in the valid range of 100 to 1000."),
        (
            "pfcwd interval 201",
            "unable to use polling interval = 201ms, value is bigger than one of the configured detection time values, please choose a smaller polling_interval",
        ),
        ("counterpoll port interval 99", "99 is not in the valid range of 100 to 30000."),
        ("counterpoll watermark interval 999", "999 is not in the valid range of 1000 to 60000."),
        ("config interface shutdown Ethernet1", "Interface name is invalid."),
    ] {
        let why = typed(line).expect_err(line);
        assert!(why.contains(want), "{line}: {why}");
    }
    assert_eq!(of("PFC_WD|Ethernet0", "detection_time").as_deref(), Some("200"));
    let said = typed("pfcwd start --action alert Ethernet0 400").expect("it is taken");
    let twice = "restoration time not defined; default to 2 times detection time: 800 ms\n";
    assert_eq!(said, twice);
    let fields = ["action", "detection_time", "restoration_time"];
    let row = fields.map(|field| of("PFC_WD|Ethernet0", field).unwrap_or_default());
    assert_eq!(row, ["alert", "400", "800"]);
    assert_eq!(typed("pfcwd interval 200").as_deref(), Ok(""));
    assert_eq!(typed("pfcwd stop Ethernet0").as_deref(), Ok(""));
    assert_eq!(of("PFC_WD|Ethernet0", "detection_time"), None);
    assert_eq!(of("PFC_WD|Ethernet4", "detection_time").as_deref(), Some("200"));
    assert_eq!(typed("counterpoll watermark interval 1000").as_deref(), Ok(""));
    assert_eq!(typed("counterpoll pg-drop disable").as_deref(), Ok(""));
    assert_eq!(typed("pfcwd counter_poll disable").as_deref(), Ok(""));
    assert_eq!(of("FLEX_COUNTER_TABLE|PFCWD", "FLEX_COUNTER_STATUS").as_deref(), Some("disable"));
    assert_eq!(typed("config interface shutdown Ethernet4").as_deref(), Ok(""));
    assert_eq!(of("PORT|Ethernet4", "admin_status").as_deref(), Some("down"));
    let _gone: i64 = tell(&server, 4, &["HDEL", "FLEX_COUNTER_TABLE|QUEUE", "POLL_INTERVAL"]);
    assert_eq!(
        typed("counterpoll show").as_deref(),
        Ok("Type                        Interval (in ms)    Status\n\
            --------------------------  ------------------  --------\n\
            QUEUE_STAT                  default (10000)     enable\n\
            PORT_STAT                   1000                enable\n\
            QUEUE_WATERMARK_STAT        1000                enable\n\
            PG_WATERMARK_STAT           1000                enable\n\
            PG_DROP_STAT                1000                disable\n\
            BUFFER_POOL_WATERMARK_STAT  1000                enable\n\
            WRED_ECN_QUEUE_STAT         1000                enable\n")
    );
}
