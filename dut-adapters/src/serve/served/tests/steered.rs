//! Steering a device that runs.

use super::bench::{Bench, pause, probe, profile};
use crate::control::{Health, Order};
use crate::protocol::{Answer, Ask, PROTOCOL, VERSION};
use crate::serve::served::Next;
use rig_generator::clock::Clock as _;
use rig_units::{Dur, Time};
use serde_json::json;
use std::thread;

fn set(path: &str, value: &str) -> rig_lab::Setting {
    rig_lab::Setting { path: path.to_owned(), value: json!(value) }
}

#[test]
fn a_boot_is_a_fresh_device_at_a_new_beginning() {
    let mut bench = Bench::new();
    bench.send(0, &probe(0, 1, 0));
    bench.run(Dur::ms(3));
    bench.send(0, &probe(0, 1, 1));
    let settings = vec![set("pfcwd.detection_time", "300ms"), set("buffer.xon", "3KB")];
    let booted = bench.ask(Ask::Boot { seed: 2, settings });
    let Answer::Booted { epoch_ns, declared } = booted else { panic!("{booted:?}") };
    assert_eq!(epoch_ns, 3_000_000);
    assert_eq!(declared.get("pfcwd.detection_time"), Some("300ms".into()));
    assert_eq!(bench.health(), Health::default());
    assert_eq!(bench.counter("Ethernet0:3 SAI_INGRESS_PRIORITY_GROUP_STAT_PACKETS"), 0);
    // What came before the boot came to another device; what comes at it comes to this one.
    bench.clock.step_to(Time::ZERO + Dur::us(2_999));
    bench.seen();
    bench.send(0, &probe(0, 1, 2));
    bench.clock.step_to(Time::ZERO + Dur::ms(3));
    bench.run(Dur::ms(1));
    let bytes: Vec<_> = bench.seen().into_iter().map(|seen| seen.bytes).collect();
    assert_eq!(bytes, [probe(0, 1, 1)]);
    assert_eq!(bench.health().received, 1);
}

#[test]
fn a_boot_that_is_refused_leaves_the_device_as_it_was() {
    let mut bench = Bench::new();
    bench.send(0, &probe(0, 1, 0));
    bench.run(Dur::ms(3));
    let settings = vec![set("pfcwd.detection_time", "3ms")];
    let refused = bench.ask(Ask::Boot { seed: 2, settings });
    let Answer::Refused { why } = refused else { panic!("{refused:?}") };
    assert!(why.contains("pfcwd.detection_time 3ms is not within"), "{why}");
    assert_eq!(bench.health().received, 1);
}

#[test]
fn settings_are_taken_all_or_none_and_read_back() {
    let mut bench = Bench::new();
    let good = set("pfcwd.detection_time", "300ms");
    let answer = bench.ask(Ask::Configure { settings: vec![good.clone(), set("mtu", "1500B")] });
    let Answer::Refused { why } = answer else { panic!("{answer:?}") };
    assert_eq!(why, "mtu cannot be changed while the device runs");
    let answer = bench.ask(Ask::Configure { settings: vec![good] });
    let Answer::Configured { declared } = answer else { panic!("{answer:?}") };
    assert_eq!(declared.get("pfcwd.detection_time"), Some("300ms".into()));
    assert_eq!(declared.mtu(), profile("broadcom").declared.mtu());
}

#[test]
fn only_the_counters_asked_for_are_told_and_unknown_names_are_missing() {
    let mut bench = Bench::new();
    bench.send(1, &pause(1, 1 << 3, 9));
    bench.run(Dur::us(5));
    let name = "Ethernet4 SAI_PORT_STAT_PFC_3_RX_PKTS".to_owned();
    let answer = bench.ask(Ask::Counters { names: vec![name.clone(), "nothing".to_owned()] });
    assert_eq!(answer, Answer::Counters { values: [(name, 1)].into() });
    let Answer::Counters { values } = bench.ask(Ask::Counters { names: vec![] }) else { panic!() };
    assert!(values.len() > 400, "{}", values.len());
}

#[test]
fn a_cleared_watermark_is_what_is_in_use() {
    let mut bench = Bench::new();
    bench.send(1, &pause(1, 1 << 3, 0xffff));
    bench.run(Dur::us(20));
    for seq in 0..3 {
        bench.send(0, &probe(0, 1, seq));
        bench.run(Dur::us(20));
    }
    bench.send(1, &pause(1, 1 << 3, 0));
    bench.run(Dur::ms(1));
    let name = "Ethernet4:3 SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES";
    // 254 B take two cells of 208 B.
    assert_eq!(bench.counter(name), 3 * 416);
    assert_eq!(bench.ask(Ask::Do(Order::ClearWatermarks)), Answer::Done);
    assert_eq!(bench.counter(name), 0);
}

#[test]
fn ports_that_are_not_there_and_cables_that_cannot_be_are_told() {
    let mut bench = Bench::new();
    for (ask, want) in [
        (Ask::Do(Order::Link { port: 4, up: false }), "there is no port 4: want 0 to 3"),
        (Ask::Do(Order::Cable { behind: vec![0, 9] }), "there is no port 9: want 0 to 3"),
        (
            Ask::Do(Order::Cable { behind: vec![2, 0, 2] }),
            "two cables to port 2: want each port once at most",
        ),
    ] {
        assert_eq!(bench.ask(ask), Answer::Refused { why: want.to_owned() });
    }
    assert_eq!(bench.ask(Ask::Do(Order::Cable { behind: vec![2, 3] })), Answer::Done);
    bench.send(2, &probe(0, 1, 5));
    bench.run(Dur::ms(1));
    let seen: Vec<_> = bench.seen().into_iter().map(|seen| (seen.port, seen.bytes)).collect();
    assert_eq!(seen, [(3, probe(0, 1, 5))]);
}

#[test]
fn a_device_introduces_itself() {
    let hello = Bench::new().served.hello();
    assert_eq!((hello.protocol.as_str(), hello.version), (PROTOCOL, VERSION));
    assert_eq!(hello.device, "broadcom");
    assert_eq!(hello.interfaces, ["m0", "m1", "m2", "m3"]);
    assert_eq!(hello.declared.port_count(), 4);
}

#[test]
fn the_loop_answers_and_ends_when_it_is_asked_to() {
    let mut bench = Bench::new();
    let post = bench.post.clone();
    let asking = thread::spawn(move || {
        let answer = post.ask(Ask::Status);
        post.stop();
        answer
    });
    // Sleeping by this clock takes no time, so the loop turns until it is ended.
    bench.served.run().expect("ports in memory");
    assert!(matches!(asking.join().expect("no panic"), Some(Answer::Health(_))));
    assert!(bench.clock.now() > Time::ZERO);
}

#[test]
fn nobody_waits_for_a_device_that_has_ended() {
    let mut bench = Bench::new();
    bench.post.stop();
    assert_eq!(bench.served.round().expect("ports in memory"), Next::Quit);
    let Bench { served, post, .. } = bench;
    drop(served);
    assert_eq!(post.ask(Ask::Status), None);
}

#[test]
fn a_poll_of_somebody_else_that_comes_late_is_told_with_how_the_device_has_kept_up() {
    let mut bench = Bench::new();
    bench.run(Dur::ms(20));
    let ask =
        |due: u64, next: u64| Ask::Polled { due_ns: due * 1_000_000, next_ns: next * 1_000_000 };
    let Answer::Polled { queues, .. } = bench.ask(ask(20, 120)) else { panic!("it is polled") };
    assert_eq!(queues.len(), 8, "two classes of four ports");
    assert_eq!(bench.health().event_late, Dur::ZERO);
    bench.run(Dur::ms(110));
    let decided = |due_ns| {
        let (port, what) = ("Ethernet4".to_owned(), rig_capture::DutEventKind::Storm);
        Ask::Do(Order::Decided { port, class: 3, what, due_ns })
    };
    // What was decided by a poll that was due 3 ms ago.
    assert_eq!(bench.ask(decided(127_000_000)), Answer::Done);
    // And the next one has not come.
    assert_eq!(bench.health().event_late, Dur::ms(10));
    assert_eq!(bench.health().poll_late, Dur::ms(10));
}
