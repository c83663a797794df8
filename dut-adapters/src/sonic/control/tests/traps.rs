//! Tools of SONiC's that do something else than they seem to: the rig uses none of them.

use super::{CONFIG, SOON, field, open, setting, switch};
use crate::control::{Control as _, Order};
use crate::sonic::SonicControl;
use rig_testcases::DeviceVerb;
use serde_json::json;

/// `ecnconfig -q` binds the profile of one name, at ports of DEVICE_NEIGHBOR, and asks the first of these.
#[test]
fn the_curve_that_is_set_is_that_which_queues_are_bound_to_whatever_its_name() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    let usual = "WRED_PROFILE|AZURE_LOSSLESS";
    server.tell(CONFIG, &["COPY", usual, "WRED_PROFILE|OF_AN_OPERATOR"]);
    for (port, queue) in (0..8).flat_map(|port| [(port, 3), (port, 4)]) {
        let key = format!("QUEUE|Ethernet{}|{queue}", 4 * port);
        server.tell(CONFIG, &["HSET", &key, "wred_profile", "OF_AN_OPERATOR"]);
    }
    let before = server.all(CONFIG);
    let mut control = open(&server, SOON).expect("a leaf");
    control.set(&[setting("wred.kmax", json!("416000B"))]).expect("it takes it");
    let most = |key: &str| field(&server, key, "green_max_threshold");
    assert_eq!(most("WRED_PROFILE|OF_AN_OPERATOR").as_deref(), Some("416000"));
    assert_eq!(most(usual).as_deref(), Some("312000"));
    drop(control);
    assert_eq!(server.all(CONFIG), before);
}

/// `sonic-clear` leaves every counter as it is, and remembers for one user what it was.
#[test]
fn a_switch_with_sonic_clears_no_counter_and_a_step_that_asks_for_it_is_refused() {
    assert!(!SonicControl::CAPABILITIES.verbs.contains(&DeviceVerb::ClearCounters));
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    let mut control = open(&server, SOON).expect("a leaf");
    let counters = server.all(2);
    assert!(control.order(Order::from(DeviceVerb::ClearCounters)).is_err());
    assert_eq!(server.all(2), counters);
}
