//! A message that says itself when its poll was, at a switch that stamps its polls nowhere else.

use super::{SOON, open, switch};
use crate::control::Control as _;
use crate::sonic::way::pause;
use core::time::Duration;
use rig_units::Dur;

const COUNTERS: i64 = 2;

#[test]
fn a_storm_is_dated_by_the_stamp_in_its_message_and_without_one_to_within_a_poll_alone() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    let mut control = open(&server, SOON).expect("a leaf");
    let oids = ["Ethernet0:3", "Ethernet4:3"].map(|name| {
        let oid = server.tell(COUNTERS, &["HGET", "COUNTERS_QUEUE_NAME_MAP", name]);
        redis::from_owned_redis_value::<String>(oid).expect("a name")
    });
    assert_eq!(control.events(), Ok(Vec::new()));
    let told = server.tell(COUNTERS, &["TIME"]);
    let (seconds, micros): (u64, u64) = redis::from_owned_redis_value(told).expect("a time");
    let stamp = format!("{seconds}.{:04}", micros / 100);
    let texts = [
        format!("[\"{}\",\"storm\",\"packets\",\"7\",\"timestamp\",\"{stamp}\"]", oids[0]),
        format!("[\"{}\",\"storm\"]", oids[1]),
    ];
    texts.iter().for_each(|text| drop(server.tell(COUNTERS, &["PUBLISH", "PFC_WD_ACTION", text])));
    pause(Duration::from_millis(100));
    let events = control.events().expect("a line");
    let offs: Vec<Dur> = events.iter().map(|event| event.off).collect();
    let [stamped, other] = offs.as_slice() else { panic!("{events:?}") };
    assert!(*stamped < Dur::ms(20) && *other >= Dur::ms(50), "{events:?}");
}
