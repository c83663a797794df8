//! Who is at the ports of a switch by LLDP: the rig, somebody else, nobody.

use super::{devices, switch, tell};
use crate::control::Control as _;
use crate::sonic::SonicControl;
use crate::standin::{Faults, Server};
use rig_generator::port::Mono;
use rig_lab::RedisAt;

fn opened(server: &Server) -> Result<Vec<String>, String> {
    let at = RedisAt::Unix(server.socket().to_owned());
    let control = SonicControl::open((&at, Mono::now()), &devices()[0], 4)?;
    Ok(control.remarks())
}

fn heard(server: &Server, port: &str, fields: &[&str]) {
    let key = format!("LLDP_ENTRY_TABLE:{port}");
    let _set: i64 = tell(server, 0, &[&["HSET", &key], fields].concat());
}

#[test]
fn a_port_of_somebody_else_is_refused_by_the_name_the_rig_is_known_and_silence_is_told() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, ..)) = switch(desk.path(), Faults::default()) else { return };
    let silent = opened(&server).expect("nobody has said anything");
    let want = "has heard of no neighbour by LLDP at Ethernet0, Ethernet4, Ethernet8, Ethernet12: that the rig is cabled there the lab alone says";
    assert!(silent.len() == 1 && silent[0].ends_with(want), "{silent:?}");
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("it has a name");
    let host = format!("{}.example.net", host.trim().to_uppercase());
    let ports = ["Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12"];
    ports.iter().for_each(|port| heard(&server, port, &["lldp_rem_sys_name", &host]));
    assert_eq!(opened(&server), Ok(Vec::new()), "each port is the rig's");
    let fields = [
        "lldp_rem_sys_name",
        "spine-2",
        "lldp_rem_chassis_id",
        "02:aa:00:00:00:07",
        "lldp_rem_port_id",
        "Ethernet12",
    ];
    heard(&server, "Ethernet8", &fields);
    let why = opened(&server).expect_err("a storm there is somebody else's");
    let want = "by LLDP the neighbour of Ethernet8 is `spine-2` (chassis 02:aa:00:00:00:07, port Ethernet12), and not this rig";
    assert!(why.contains(want), "{why}");
    // Nobody holds it, and nothing was set.
    let lease: i64 = tell(&server, 6, &["EXISTS", "RIG_LEASE"]);
    assert_eq!(lease, 0);
}
