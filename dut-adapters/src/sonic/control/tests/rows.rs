//! What `pfcwd start` does to rows beside what it is asked for.

use super::super::whole_rows::{alone, before, put_back};
use super::{CONFIG, SOON, open, switch};

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
