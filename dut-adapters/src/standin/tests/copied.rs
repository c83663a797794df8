//! Copies of counters that stand still, as a rig reads them that steers the stand-in as a switch.

use super::{devices, switch, tell, until};
use crate::control::Control as _;
use crate::sonic::SonicControl;
use crate::standin::Faults;
use rig_generator::port::Mono;
use rig_lab::{RedisAt, Setting};
use rig_units::Dur;
use std::collections::BTreeMap;

const NAMES: [&str; 3] = [
    "Ethernet4 SAI_PORT_STAT_IF_OUT_UCAST_PKTS",
    "Ethernet4:3 SAI_QUEUE_STAT_PACKETS",
    "Ethernet0:3 SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS",
];

/// Waits for so long.
fn later(by: Dur) {
    let from = Mono::now();
    until(|| Mono::now().since(from).is_some_and(|since| since > by));
}

#[test]
fn a_group_that_stands_still_shows_what_it_showed_first_and_the_others_go_on() {
    let still: [fn(&mut Faults); 3] = [
        |all| all.still_ports = true,
        |all| all.still_queues = true,
        |all| all.still_pg_drops = true,
    ];
    for (at, still) in still.into_iter().enumerate() {
        let desk = tempfile::tempdir().expect("a folder");
        let mut faults = Faults::default();
        still(&mut faults);
        let Some((server, standin, device, _)) = switch(desk.path(), Faults::default()) else {
            return;
        };
        let shows = |value: u64| {
            let all = NAMES.map(|name| (name.to_owned(), value));
            device.0.lock().expect("no panic").counters = BTreeMap::from(all);
        };
        shows(7);
        let redis = RedisAt::Unix(server.socket().to_owned());
        let mut control =
            SonicControl::open((&redis, Mono::now()), &devices()[0], 4).expect("a switch");
        let often = ["port", "queue", "pg_drop"]
            .map(|group| Setting { path: format!("flex_counter.{group}"), value: "100ms".into() });
        control.set(&often).expect("it takes them");
        let names = NAMES.map(|name| format!("COUNTERS {name}"));
        let mut read = || {
            let values = control.counters(&names).expect("it is there").values;
            names.clone().map(|name| values.get(&name).copied())
        };
        later(Dur::ms(500));
        assert_eq!(read(), [Some(7); 3]);
        standin.falls(faults);
        // It falls at its next look.
        later(Dur::ms(300));
        shows(9);
        later(Dur::ms(500));
        let mut want = [Some(9); 3];
        want[at] = Some(7);
        assert_eq!(read(), want);
        assert_eq!(
            tell::<String>(&server, 4, &["HGET", "FLEX_COUNTER_TABLE|QUEUE", "POLL_INTERVAL"]),
            "100"
        );
    }
}
