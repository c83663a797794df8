//! A pool that all ports leave, on a switch whose ports are alike and on one whose are not.

use super::golden;
use crate::sonic::sized::unlike;
use crate::sonic::{Tables, read};
use rig_lab::read::profile_from;
use rig_lab::yaml::Source;

/// The leaf, with each lossless group the buffer manager's to size.
fn leaf() -> Tables {
    let tables = read(&golden("leaf.json"), None).expect("it reads");
    let groups = (0..8).map(|port| format!("BUFFER_PG|Ethernet{}|3-4", port * 4));
    let tables = groups.fold(tables, |tables, key| tables.with(&key, "profile", Some("NULL")));
    // As a Spectrum's templates have it: what a port sets aside stands in its list of egress profiles.
    let tables = tables.with("BUFFER_PROFILE|egress_lossy_profile", "size", Some("0"));
    tables.with("BUFFER_PROFILE|egress_port_profile", "size", Some("9216"))
}

#[test]
fn a_pool_of_ports_that_differ_is_held_against_nothing_and_says_which() {
    let text = "name: leaf\nabout: \"as it is bundled\"\nextends: broadcom-by-standard\n";
    let profile = profile_from(&Source::new("leaf", text)).expect("it reads");
    let of = profile.declared.switch().expect("a switch");
    let why = |tables: &Tables| unlike(tables, &["Ethernet0".to_owned()], of);
    let leaf = leaf();
    assert_eq!(why(&leaf), None);
    for (key, field, value, want) in [
        ("PORT|Ethernet8", "admin_status", "down", "admin_status of Ethernet8 is down"),
        (
            "PORT|Ethernet8",
            "speed",
            "40000",
            "the speed of Ethernet8 is 40000, and that of Ethernet0 100000",
        ),
        (
            "CABLE_LENGTH|AZURE",
            "Ethernet8",
            "5m",
            "the cable of Ethernet8 is 5m, and that of Ethernet0 40m",
        ),
        (
            "BUFFER_PG|Ethernet8|3-4",
            "profile",
            "pg_lossless_100000_40m_profile",
            "BUFFER_PG of Ethernet8 and class 3 has pg_lossless_100000_40m_profile, and not NULL",
        ),
        ("PORT|Ethernet8", "autoneg", "on", "autoneg of Ethernet8 is on"),
        (
            "BUFFER_PORT_EGRESS_PROFILE_LIST|Ethernet8",
            "profile_list",
            "egress_lossy_profile,[BUFFER_PROFILE|egress_port_profile]",
            "queues and egress profiles of Ethernet8 have 9216B for themselves, and dynamic_buffer.port_reserve is 0B",
        ),
        ("PORT|Ethernet32", "speed", "100000", "CONFIG_DB has 9 ports, and the profile 8"),
    ] {
        let other = leaf.with(key, field, Some(value));
        assert_eq!(why(&other).as_deref(), Some(want));
    }
}
