//! What a switch has heard by LLDP of what the rig has told it.

use super::super::neighbours::{Introduction, Own, silent};
use super::{SOON, open, switch};
use core::time::Duration;

const APPL: i64 = 0;

/// What the rig has told says which of its ports is where; what a switch that runs LLDP has not heard yet is waited for.
#[test]
fn a_switch_that_runs_lldp_is_given_time_to_hear_the_rig_and_crossed_cables_are_told() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    let mut control = open(&server, SOON).expect("a leaf");
    let (machine, own) = (Introduction::of_this_machine(), Own::machine());
    let tells = |rig: u16, port: &str| {
        let (key, id) = (format!("LLDP_ENTRY_TABLE:{port}"), Introduction::port(rig));
        let fields = ["lldp_rem_chassis_id", &machine.chassis, "lldp_rem_port_id", &id];
        server.tell(APPL, &[&["HSET", &key], &fields[..]].concat());
    };
    let mut looks = |then: &dyn Fn(usize)| {
        let (mut count, mut waited) = (0, Duration::ZERO);
        let mut pause = |length: Duration| {
            (count, waited) = (count + 1, waited + length);
            then(count);
        };
        let ports = control.ports.clone();
        let said = silent(&mut control.link, &ports, &own, &mut pause).expect("it answers");
        (said, waited.as_secs())
    };
    let ports = ["Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12"];
    let all: Vec<String> = ports.map(str::to_owned).to_vec();
    assert_eq!(looks(&|_| ()), (Ok(all.clone()), 0), "it runs no LLDP");
    server.tell(APPL, &["HSET", "LLDP_LOC_CHASSIS", "lldp_loc_sys_name", "leaf-1"]);
    assert_eq!(looks(&|_| ()), (Ok(all), 15), "it has heard of nobody");
    (0..3).zip(ports).for_each(|(rig, port)| tells(rig, port));
    let last = |count| {
        if count == 4 {
            tells(3, "Ethernet12");
        }
    };
    assert_eq!(looks(&last), (Ok(Vec::new()), 2), "it is waited for");
    // What a session before has told, by other cables, goes by itself.
    tells(1, "Ethernet0");
    tells(0, "Ethernet4");
    let (said, waited) = looks(&|_| ());
    let why = said.expect_err("they are crossed");
    let want = "by LLDP the neighbour of Ethernet4 is p1 of this rig, and p2 is to be cabled to it: want the interfaces of the lab in the order";
    assert!(why.starts_with(want), "{why}");
    assert_eq!(waited, 45);
    let mends = |count| {
        if count == 60 {
            tells(0, "Ethernet0");
            tells(1, "Ethernet4");
        }
    };
    assert_eq!(looks(&mends), (Ok(Vec::new()), 30));
    // Somebody else is nothing to wait for.
    server.tell(
        APPL,
        &["HSET", "LLDP_ENTRY_TABLE:Ethernet8", "lldp_rem_chassis_id", "rig-of-another"],
    );
    let (said, waited) = looks(&|_| ());
    assert!(said.expect_err("it is none of the rig's").contains("the neighbour of Ethernet8"));
    assert_eq!(waited, 0);
}
