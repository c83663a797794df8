//! What `pfcwd start` does to rows beside what it is asked for.

use super::super::whole_rows::{alone, before, over, put_back};
use super::{CONFIG, SOON, field, open, setting, switch};
use crate::control::Control as _;
use crate::journal::Change;
use crate::sonic::write::{Back, undo};
use serde_json::json;

const ROW: &str = "PFC_WD|Ethernet0";

#[test]
fn a_row_that_a_command_writes_anew_is_as_before_in_all_its_fields() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    let full = ["HSET", ROW, "action", "drop", "detection_time", "200", "restoration_time", "200"];
    server.tell(CONFIG, &full);
    server.tell(CONFIG, &["HSET", ROW, "note", "of an operator"]);
    let found = server.all(CONFIG);
    let mut control = open(&server, SOON).expect("a leaf");
    let ports = ["Ethernet0".to_owned()];
    let rows = before(&mut control.link, &ports).expect("it has all of them");
    server.tell(CONFIG, &["DEL", ROW]);
    server.tell(CONFIG, &[&full[..], &["pfc_stat_history", "disable"]].concat());
    assert_ne!(server.all(CONFIG), found);
    put_back(&mut control.link, &rows).expect("nobody else is there");
    drop(control);
    assert_eq!(server.all(CONFIG), found);
}

#[test]
fn what_another_hand_has_changed_since_a_row_was_looked_at_stays_as_it_is() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    let full = ["HSET", ROW, "action", "drop", "detection_time", "200", "restoration_time", "200"];
    server.tell(CONFIG, &full);
    let mut control = open(&server, SOON).expect("a leaf");
    let rows = before(&mut control.link, &["Ethernet0".to_owned()]).expect("it has all of them");
    let mut is = rows[0].1.clone();
    is.insert("pfc_stat_history".to_owned(), "disable".to_owned());
    server.tell(CONFIG, &["HSET", ROW, "pfc_stat_history", "enable"]);
    let why = over(&mut control.link, &rows[0], &is).expect_err("it is another one by now");
    assert_eq!(why.why, "another hand has changed PFC_WD|Ethernet0|pfc_stat_history");
    assert_eq!(field(&server, ROW, "pfc_stat_history").as_deref(), Some("enable"));
}

#[test]
fn a_row_that_has_not_all_that_a_command_writes_is_left_alone() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    server.tell(CONFIG, &["HDEL", ROW, "action"]);
    let mut control = open(&server, SOON).expect("a leaf");
    let why = before(&mut control.link, &["Ethernet0".to_owned()]).expect_err("it has no action");
    assert!(
        why.why.contains("writes PFC_WD|Ethernet0 anew, with action, which it has not"),
        "{why:?}"
    );
}

#[test]
fn a_port_of_somebody_elses_that_is_guarded_more_shortly_is_named() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    let mut control = open(&server, SOON).expect("a leaf");
    server.tell(CONFIG, &["HSET", "PFC_WD|Ethernet100", "detection_time", "200"]);
    let ports = control.ports.clone();
    let mut asked = |interval| alone(&mut control.link, &ports, interval).map_err(|lost| lost.why);
    assert_eq!(asked(200), Ok(()));
    let why = asked(201).expect_err("it is shorter");
    assert!(why.contains("PFC_WD|Ethernet100|detection_time is 200 ms: less than 201"), "{why}");
}

/// A rig that ends between `pfcwd start` and what it puts back behind that.
#[test]
fn what_a_command_brings_with_it_is_noted_before_it_is_typed() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    let mut control = open(&server, SOON).expect("a leaf");
    let noted = |control: &super::SonicControl| {
        let changes = control.changes(&[setting("pfcwd.detection_time", json!("400ms"))]);
        let of = |change| match change {
            Change::Sonic { key, field, before, written, .. } if field == "pfc_stat_history" => {
                Some((key, before, written))
            }
            _ => None,
        };
        changes.into_iter().filter_map(of).collect::<Vec<_>>()
    };
    assert_eq!(noted(&control), [], "nothing is typed at a switch that is set by redis");
    let typed = setting("pfcwd.config_path", json!("cli"));
    control.base.profile.declared = control.base.profile.declared.with(&typed).expect("it fits");
    server.tell(CONFIG, &["HSET", "PFC_WD|Ethernet4", "pfc_stat_history", "enable"]);
    control.look().expect("it is there");
    let disable = Some("disable".to_owned());
    let all = noted(&control);
    assert_eq!(all.len(), 4, "{all:?}");
    assert!(all.contains(&(ROW.to_owned(), None, disable.clone())), "{all:?}");
    let enable = Some("enable".to_owned());
    assert!(all.contains(&("PFC_WD|Ethernet4".to_owned(), enable, disable)), "{all:?}");
    // As it left them, and the journal of whoever was killed.
    let at = server.at().to_string();
    let back = |key: &str, before: Option<&str>| {
        undo(&at, (key, "pfc_stat_history"), (before, Some("disable"))).expect("nobody else's")
    };
    assert_eq!(back(ROW, None), Back::Already, "another way was taken");
    server.tell(CONFIG, &["HSET", ROW, "pfc_stat_history", "disable"]);
    server.tell(CONFIG, &["HSET", "PFC_WD|Ethernet4", "pfc_stat_history", "disable"]);
    assert_eq!(back(ROW, None), Back::Now);
    assert_eq!(back("PFC_WD|Ethernet4", Some("enable")), Back::Now);
    let has = |key: &str| field(&server, key, "pfc_stat_history");
    assert_eq!((has(ROW), has("PFC_WD|Ethernet4").as_deref()), (None, Some("enable")));
}
