//! Reboots: what a switch says of them, and what becomes of what was set.

use super::super::reboots::Ordered;
use super::{CONFIG, SHORT, SOON, SonicControl, profile, setting, switch};
use crate::control::{Control as _, ControlError};
use crate::fixture::RedisServer;
use core::time::Duration;
use rig_lab::{RebootKind, Setting};
use serde_json::json;

const STATE: i64 = 6;
const WARM: &str = "REBOOT_CAUSE warm-reboot";
/// What a session says that has reached the switch.
const THERE: &str = "echo rig-there; exec sleep 20";

/// The control of a switch whose profile says how long a warm reboot takes.
fn open(server: &RedisServer) -> SonicControl {
    let mut profile = profile();
    let says = setting("reboot.warm", json!("100ms"));
    profile.declared = profile.declared.with(&says).expect("it fits");
    SonicControl::with(&server.at(), &profile, 4, SOON).expect("it is as declared")
}

fn begins(server: &RedisServer, at: &str, cause: &str) {
    server.tell(STATE, &["HSET", &format!("REBOOT_CAUSE|{at}"), "cause", cause]);
}

fn counted(control: &mut SonicControl) -> Result<Option<u64>, ControlError> {
    let names = [WARM.to_owned()];
    Ok(control.counters(&names)?.values.get(WARM).copied())
}

fn detection(time: &str) -> [Setting; 1] {
    [setting("pfcwd.detection_time", json!(time))]
}

#[test]
fn a_switch_counts_by_what_it_says_of_its_beginnings_although_it_forgets_the_oldest() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    let mut control = open(&server);
    assert_eq!(counted(&mut control), Ok(None), "one that says nothing of them counts none");
    for second in 0..10 {
        let cause = if second % 2 == 0 { "warm-reboot" } else { "Unknown" };
        begins(&server, &format!("2026_11_28_00_00_0{second}"), cause);
    }
    begins(&server, "DPU0|2026_11_28_00_00_00", "warm-reboot");
    assert_eq!(counted(&mut control), Ok(Some(5)));
    server.tell(STATE, &["DEL", "REBOOT_CAUSE|2026_11_28_00_00_00"]);
    begins(&server, "2026_11_28_00_00_10", "warm-reboot");
    assert_eq!(counted(&mut control), Ok(Some(6)));
}

#[test]
fn a_reboot_is_waited_for_and_one_that_was_ignored_is_no_fault_of_the_way() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    begins(&server, "2026_11_28_00_00_00", "Unknown");
    let mut control = open(&server);
    assert_eq!(counted(&mut control), Ok(Some(0)));
    assert!(control.events().is_ok());
    let ordered = |patience: Duration| Some(Ordered::by(RebootKind::Warm, THERE, patience));
    control.ordered = ordered(SOON);
    begins(&server, "2026_11_28_00_01_00", "warm-reboot");
    server.tell(STATE, &["DEL", "RIG_LEASE"]);
    assert_eq!(counted(&mut control), Ok(Some(1)));
    assert!(matches!(control.events(), Err(ControlError::NotOffered(_))), "nobody has listened");
    assert!(control.events().is_ok(), "somebody does again");
    control.ordered = ordered(Duration::from_secs(1));
    assert_eq!(counted(&mut control), Ok(Some(1)), "it goes on");
    control.ordered = ordered(SOON);
    begins(&server, "2026_11_28_00_02_00", "Power Loss");
    let Err(ControlError::Away(lost)) = counted(&mut control) else { panic!("which was it?") };
    assert!(lost.why.contains("says of that `Power Loss`"), "{lost:?}");
    // What shows nothing of an order accuses nobody.
    for (session, why) in [
        ("exit 255", "nothing shows that the order has reached it"),
        (
            "echo rig-there; echo sudo: a password is required >&2; exit 1",
            "ends with 1: sudo: a password",
        ),
    ] {
        control.ordered = Some(Ordered::by(RebootKind::Warm, session, SHORT));
        let Err(ControlError::Away(lost)) = counted(&mut control) else { panic!("{session}") };
        assert!(lost.why.contains(why), "{lost:?}");
    }
}

#[test]
fn what_was_set_and_is_gone_with_the_reboot_is_told_and_nothing_is_left() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    begins(&server, "2026_11_28_00_00_00", "Unknown");
    let before = server.all(CONFIG);
    let mut control = open(&server);
    control.set(&detection("400ms")).expect("it is taken");
    let set = server.all(CONFIG);
    assert_ne!(set, before);
    // In a warm one it stays.
    control.ordered = Some(Ordered::by(RebootKind::Warm, THERE, SOON));
    begins(&server, "2026_11_28_00_01_00", "warm-reboot");
    assert_eq!(counted(&mut control), Ok(Some(1)));
    assert_eq!(server.all(CONFIG), set);
    // One that begins with what is saved.
    control.ordered = Some(Ordered::by(RebootKind::Cold, THERE, SOON));
    for (key, row) in before.iter().filter(|(key, _)| key.starts_with("PFC_WD|Ethernet")) {
        for (field, value) in row {
            server.tell(CONFIG, &["HSET", key, field, value]);
        }
    }
    begins(&server, "2026_11_28_00_02_00", "reboot");
    let Err(ControlError::Away(lost)) = counted(&mut control) else { panic!("it is gone") };
    assert!(lost.why.contains("|detection_time was `400`, and is `"), "{lost:?}");
    drop(control);
    assert_eq!(server.all(CONFIG), before);
}

#[test]
fn a_folder_that_is_named_like_a_chip_of_several_makes_none_of_a_switch_of_one() {
    let desk = tempfile::tempdir().expect("a folder");
    let folder = desk.path().join("redis7");
    std::fs::create_dir(&folder).expect("writable");
    let Some((server, _orchagent)) = switch(&folder) else { return };
    let place = server.at().to_string();
    assert!(place.contains("/redis7/"), "{place}");
    assert_eq!(open(&server).chip(), None);
    let metadata = "DEVICE_METADATA|localhost";
    server.tell(CONFIG, &["HSET", metadata, "asic_name", "Asic1"]);
    assert_eq!(open(&server).chip().as_deref(), Some("asic1"));
}
