//! Reboots of a stand-in: what goes on, what begins anew, and when.

use super::{switch, tell, until};
use crate::standin::{Faults, Server, spoken};
use rig_lab::RebootKind;

/// What the rows of its beginnings say, in their order; `None` while nobody answers.
fn causes(server: &Server) -> Option<Vec<String>> {
    let ask = |words: &[&str]| {
        spoken(
            server.socket(),
            &[&["sonic-db-cli", "STATE_DB"], words].concat(),
            &Faults::default(),
        )
        .ok()
    };
    let keys = ask(&["KEYS", "REBOOT_CAUSE|*"])?;
    let mut keys: Vec<&str> = keys.lines().collect();
    keys.sort_unstable();
    keys.iter().map(|key| Some(ask(&["HGET", key, "cause"])?.trim().to_owned())).collect()
}

#[test]
fn a_stand_in_begins_anew_once_its_device_is_back_and_a_warm_one_keeps_its_configuration() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _standin, device, _)) = switch(desk.path(), Faults::default()) else {
        return;
    };
    let time = || -> String { tell(&server, 4, &["HGET", "PFC_WD|Ethernet0", "detection_time"]) };
    let back = |kind: RebootKind| {
        let counters = &mut device.0.lock().expect("no panic").counters;
        *counters.entry(kind.counter()).or_default() += 1;
    };
    let last = || causes(&server).and_then(|mut all| all.pop());
    assert_eq!((last().as_deref(), time().as_str()), (Some("Power Loss"), "200"));
    let _set: i64 = tell(&server, 4, &["HSET", "PFC_WD|Ethernet0", "detection_time", "400"]);
    for (word, kind, kept) in
        [("warm-reboot", RebootKind::Warm, "400"), ("reboot", RebootKind::Cold, "200")]
    {
        let _lease: String = tell(&server, 6, &["SET", "RIG_LEASE", "somebody"]);
        assert_eq!(spoken(server.socket(), &[word], &Faults::default()).as_deref(), Ok(""));
        until(|| {
            back(kind);
            last().as_deref() == Some(word)
        });
        assert_eq!(tell::<i64>(&server, 6, &["EXISTS", "RIG_LEASE"]), 0);
        assert_eq!(time(), kept);
    }
}
