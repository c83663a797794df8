//! Copies of watermarks, as a rig reads and clears them that steers the stand-in as a switch.

use super::{Device, devices, switch, tell, until};
use crate::control::{Control as _, ControlError, Order};
use crate::sonic::SonicControl;
use crate::standin::{Faults, Server};
use rig_generator::port::Mono;
use rig_lab::{RedisAt, Setting, WatermarkCopy};
use rig_testcases::DeviceVerb;
use rig_units::Dur;

const QUEUE: &str = "Ethernet4:3 SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES";
const GROUP: &str = "Ethernet0:3 SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES";
const POOL: &str = "ingress_lossless_pool SAI_BUFFER_POOL_STAT_WATERMARK_BYTES";

/// The device shows this of all three, in the chip and in each copy.
fn show(device: &Device, value: u64) {
    let mut memory = device.0.lock().expect("no panic");
    for name in [QUEUE, GROUP, POOL] {
        memory.counters.insert(name.to_owned(), value);
        for (table, _) in WatermarkCopy::NAMES {
            memory.counters.insert(format!("{table} {name}"), value);
        }
    }
}

fn steered(server: &Server) -> SonicControl {
    let at = RedisAt::Unix(server.socket().to_owned());
    let mut control = SonicControl::open((&at, Mono::now()), &devices()[0], 4).expect("a switch");
    let poll = Setting { path: "watermark.poll".to_owned(), value: "100ms".into() };
    control.set(&[poll]).expect("it takes it");
    control
}

/// What the copy of a table holds of the queue.
fn row(server: &Server, table: WatermarkCopy) -> String {
    let oid: String = tell(server, 2, &["HGET", "COUNTERS_QUEUE_NAME_MAP", "Ethernet4:3"]);
    let key = format!("{}:{oid}", table.table());
    let (_, field) = QUEUE.split_once(' ').expect("a counter");
    let text: Option<String> = tell(server, 2, &["HGET", &key, field]);
    text.unwrap_or_default()
}

fn names() -> Vec<String> {
    let copies = WatermarkCopy::NAMES.map(|(table, _)| format!("{table} {QUEUE}"));
    [QUEUE, GROUP, POOL].map(str::to_owned).into_iter().chain(copies).collect()
}

#[test]
fn a_watermark_is_what_came_since_its_copy_was_cleared_waited_for_and_cleared_again() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _standin, device, said)) = switch(desk.path(), Faults::default()) else {
        return;
    };
    let mut control = steered(&server);
    assert_eq!(*said.lock().expect("no panic"), Vec::<String>::new());
    show(&device, 5_000);
    until(|| row(&server, WatermarkCopy::User) == "5000");
    // What was there before the trial is of nobody knows when.
    let read = control.counters(&names()).expect("it is there").values;
    assert_eq!((read.get(QUEUE), read.len()), (None, 3), "{read:?}");
    assert_eq!(read[&format!("USER_WATERMARKS {QUEUE}")], 5_000);
    control.order(Order::ClearWatermarks).expect("it clears");
    let kept = row(&server, WatermarkCopy::Persistent);
    assert_eq!((row(&server, WatermarkCopy::User).as_str(), kept.as_str()), ("0", "5000"));
    show(&device, 7_000);
    let read = control.counters(&names()).expect("it is there");
    let all = [QUEUE, GROUP, POOL].map(|name| read.values[name]);
    assert_eq!((all, read.moving.len()), ([7_000; 3], 0));
    // The step of a case clears one copy, and leaves the others.
    until(|| row(&server, WatermarkCopy::Persistent) == "7000");
    let verb = Order::from(DeviceVerb::ClearWatermarks(WatermarkCopy::Persistent));
    control.order(verb).expect("it clears");
    until(|| row(&server, WatermarkCopy::Persistent) == "0");
    assert_eq!(row(&server, WatermarkCopy::User), "7000");
    let read = control.counters(&names()).expect("it is there").values;
    assert_eq!(read[&format!("PERSISTENT_WATERMARKS {QUEUE}")], 0);
}

#[test]
fn a_copy_that_no_clear_reaches_or_nothing_polls_tells_of_no_trial() {
    let desk = tempfile::tempdir().expect("a folder");
    let lost = Faults { lost_clears: true, ..Faults::default() };
    let Some((server, standin, device, _)) = switch(desk.path(), lost) else { return };
    let mut control = steered(&server);
    show(&device, 5_000);
    until(|| row(&server, WatermarkCopy::User) == "5000");
    let lacks = |control: &mut SonicControl| {
        matches!(control.order(Order::ClearWatermarks), Err(ControlError::NotOffered(_)))
    };
    assert!(lacks(&mut control), "no clear shows");
    let read = control.counters(&names()).expect("it is there").values;
    assert_eq!(read.get(QUEUE), None);
    standin.falls(Faults { unstamped: true, ..Faults::default() });
    let stamp = "QUEUE_WATERMARK_STAT_COUNTER_time_stamp";
    tell::<i64>(&server, 2, &["HDEL", &stamped(&server), stamp]);
    assert!(lacks(&mut control), "nothing tells one poll from the next");
    // Each minute, as switches are shipped: it is not waited for.
    standin.falls(Faults::default());
    let poll = Setting { path: "watermark.poll".to_owned(), value: "60s".into() };
    control.set(&[poll]).expect("it takes it");
    assert!(lacks(&mut control), "it would take minutes");
    drop(standin);
    let gone = control.order(DeviceVerb::ClearWatermarks(WatermarkCopy::User).into());
    let gone = gone.expect_err("nobody is there").to_string();
    assert!(gone.contains("nobody listens to WATERMARK_CLEAR_REQUEST"), "{gone}");
}

#[test]
fn a_copy_that_shows_its_polls_late_tells_no_wrong_watermark_and_one_too_late_none_at_all() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, standin, device, _)) = switch(desk.path(), Faults::default()) else { return };
    let mut control = steered(&server);
    let falls = |ms| {
        standin.falls(Faults { late_watermarks: Dur::ms(ms), ..Faults::default() });
        // It falls at its next look.
        let from = Mono::now();
        until(|| Mono::now().since(from).is_some_and(|since| since > Dur::ms(100)));
    };
    let mut told = Vec::new();
    for most in [7_000, 8_000, 9_000] {
        show(&device, 5_000);
        until(|| row(&server, WatermarkCopy::User) == "5000");
        falls(600);
        control.order(Order::ClearWatermarks).expect("within a second");
        show(&device, most);
        let read = control.counters(&names()).expect("it is there");
        let is = read.values.get(QUEUE).copied();
        assert!(
            is == Some(most) || is.is_none() && read.moving.contains(QUEUE),
            "{most}: {read:?}"
        );
        told.push(is);
        standin.falls(Faults::default());
    }
    eprintln!("copies that are 600 ms late: {told:?}");
    show(&device, 5_000);
    until(|| row(&server, WatermarkCopy::User) == "5000");
    falls(60_000);
    let lacks = control.order(Order::ClearWatermarks).expect_err("no clear shows in time");
    assert!(matches!(lacks, ControlError::NotOffered(_)), "{lacks:?}");
    let read = control.counters(&names()).expect("it is there").values;
    assert_eq!(read.get(QUEUE), None);
}

/// The key of the queue's counters.
fn stamped(server: &Server) -> String {
    let oid: String = tell(server, 2, &["HGET", "COUNTERS_QUEUE_NAME_MAP", "Ethernet4:3"]);
    format!("COUNTERS:{oid}")
}
