use super::*;
use crate::serve::served::tests::bench::{Bench, pause, probe};
use crate::serve::{Conversation, Gate, Post};
use core::sync::atomic::{AtomicBool, Ordering};
use rig_capture::DutEventKind;
use rig_lab::WatermarkCopy;
use rig_units::Dur;
use serde_json::json;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::thread;

fn setting(path: &str, value: &str) -> Setting {
    Setting { path: path.to_owned(), value: json!(value) }
}

fn place(name: &str) -> Place {
    Place::Name(format!("rig-wire-{name}-{}", std::process::id()))
}

/// Ends the device, whatever else happens: a test that fails must not go on for ever.
struct Ends(Post);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// What `steer` makes of a device that is served at a socket, in memory.
fn steered<T: Send>(name: &str, steer: impl FnOnce(&mut EmulatedWire) -> T + Send) -> (T, Bench) {
    steered_by(Bench::new(), name, steer)
}

fn steered_by<T: Send>(
    mut bench: Bench,
    name: &str,
    steer: impl FnOnce(&mut EmulatedWire) -> T + Send,
) -> (T, Bench) {
    let place = place(name);
    let gate = Gate::open(&place).expect("a socket");
    let conversation =
        Conversation { hello: bench.served.hello(), post: bench.post.clone(), until_hangup: false };
    gate.admit(conversation, false, |_| ()).expect("a thread");
    let ends = Ends(bench.post.clone());
    let done = thread::scope(|scope| {
        let steering = scope.spawn(move || {
            let _ends = ends;
            let mut wire = EmulatedWire::connect(&place).expect("it is served");
            steer(&mut wire)
        });
        bench.served.run().expect("ports in memory");
        steering.join().expect("no panic")
    });
    (done, bench)
}

/// A process that says `says` to whoever calls, and hangs up after the next line.
fn speaks(name: &str, says: &str) -> (Place, thread::JoinHandle<()>) {
    let place = place(name);
    let Place::Name(bare) = &place else { unreachable!("a name") };
    let at =
        <std::os::unix::net::SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(
            bare,
        );
    let listener = UnixListener::bind_addr(&at.expect("a name")).expect("a socket");
    let says = says.to_owned();
    let speaking = thread::spawn(move || {
        let (mut visitor, _) = listener.accept().expect("a visitor");
        visitor.write_all(says.as_bytes()).expect("it listens");
        let mut line = String::new();
        BufReader::new(visitor).read_line(&mut line).expect("a line");
    });
    (place, speaking)
}

#[test]
fn a_device_is_booted_configured_and_read_through_a_socket() {
    let (epoch, bench) = steered("steer", |wire| {
        let epoch = wire.boot(&[setting("pfcwd.detection_time", "300ms")], 7).expect("taken");
        assert_eq!(wire.configured.get("pfcwd.detection_time"), Some("300ms".into()));
        wire.set(&[setting("pfcwd.detection_time", "400ms")]).expect("taken");
        assert_eq!(wire.configured.get("pfcwd.detection_time"), Some("400ms".into()));
        let refused = wire.set(&[setting("pfcwd.detection_time", "1ms")]).unwrap_err();
        assert!(matches!(refused, ControlError::Refused(_)), "{refused}");
        assert!(refused.to_string().contains("is not within"), "{refused}");
        assert_eq!(wire.configured.get("pfcwd.detection_time"), Some("400ms".into()));
        assert!(wire.counters(&[]).expect("it can").values.len() > 400);
        let name = "Ethernet0:3 PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED".to_owned();
        let read = wire.counters(&[name.clone(), "none".to_owned()]).expect("it can");
        assert_eq!(read.values, [(name, 0)].into());
        assert_eq!(wire.events(), Ok(Vec::new()));
        wire.order(Order::ClearWatermarks).expect("it can");
        wire.order(Order::from(DeviceVerb::ClearWatermarks(WatermarkCopy::User))).expect("it can");
        wire.order(Order::Cable { behind: vec![1, 0] }).expect("there are four");
        wire.order(Order::Link { port: 3, up: false }).expect("there are four");
        let beyond = wire.order(Order::Link { port: 4, up: false }).unwrap_err();
        assert_eq!(beyond.to_string(), "there is no port 4: want 0 to 3");
        wire.health().expect("it lives");
        assert_eq!(wire.lost(), None);
        epoch
    });
    assert!(epoch.0 <= bench.clock_ns());
}

#[test]
fn events_are_put_on_the_clock_of_the_session() {
    let mut bench = Bench::new();
    for ms in 0..600 {
        bench.send(0, &probe(0, 1, ms));
        if ms % 15 == 5 {
            bench.send(1, &pause(1, 1 << 3, 0xffff));
        }
        bench.run(Dur::ms(1));
    }
    let (events, _) = steered_by(bench, "events", |wire| {
        wire.zero = Mono(200_000_000);
        wire.events().expect("it tells")
    });
    // While it is asked its time goes on, and the queue is restored.
    let storm = events.first().expect("a storm");
    assert_eq!((storm.port.as_str(), storm.class), ("Ethernet4", 3));
    assert_eq!(storm.kind, DutEventKind::Storm);
    let since = Time::ZERO + Dur::ms(5)..Time::ZERO + Dur::ms(210);
    assert!(since.contains(&storm.at), "{storm:?}");
    assert_eq!(storm.off, Dur::ns(1), "it tells whole nanoseconds");
}

#[test]
fn a_device_that_has_ended_is_lost_and_stays_so() {
    let ((first, second), _) = steered("gone", |wire| {
        let asked = wire.ask("quit", &Ask::Quit);
        assert_eq!(asked, Ok(Answer::Done));
        let first = wire.health().unwrap_err();
        assert_eq!(wire.counters(&[]), Err(first.clone()));
        assert_eq!(wire.events(), Err(first.clone()));
        assert_eq!(wire.set(&[]), Err(first.clone()));
        (first, wire.lost().cloned())
    });
    assert_eq!(first.to_string(), "the device is lost: ask for lateness: its process has ended");
    assert_eq!(second.map(ControlError::Lost), Some(first));
}

#[test]
fn a_device_that_hangs_is_lost_in_bounded_time() {
    let hello = protocol::line(&Bench::new().served.hello());
    let (place, speaking) = speaks("hangs", &hello);
    let stream = place.call().expect("it listens");
    let patience = Duration::from_millis(100);
    let line = Stream::new(stream, patience, Waits::as_long_as(|| true)).expect("a socket");
    let mut wire = EmulatedWire::over(line, "connect").expect("a hello");
    let Line::Process(stream) = &mut wire.line else { panic!("a process") };
    // It never reads what it is asked, so no answer comes until the test ends it.
    let lost = stream.hear("listen").unwrap_err();
    assert_eq!(lost.why, "no answer in time");
    drop(wire);
    speaking.join().expect("no panic");
}

#[test]
fn another_language_is_told_with_both_names() {
    let mut hello = Bench::new().served.hello();
    hello.version = VERSION + 1;
    let (place, speaking) = speaks("newer", &protocol::line(&hello));
    let lost = EmulatedWire::connect(&place).unwrap_err();
    let told = format!("it speaks rig-dut {}: want rig-dut {VERSION}", VERSION + 1);
    assert!(lost.why.starts_with(&told), "{lost}");
    speaking.join().expect("no panic");
    let (place, speaking) = speaks("other", "SSH-2.0-OpenSSH_9.2\n");
    let lost = EmulatedWire::connect(&place).unwrap_err();
    assert!(lost.why.starts_with("not a hello: expected value"), "{lost}");
    speaking.join().expect("no panic");
    assert!(EmulatedWire::connect(&self::place("nobody")).is_err());
}

#[test]
fn a_process_that_says_nothing_is_ended_once_nobody_waits_for_it() {
    let looked = core::cell::Cell::new(0);
    let waits = move || {
        looked.set(looked.get() + 1);
        looked.get() < 3
    };
    let mut command = Command::new("sleep");
    command.arg("60");
    let lost = EmulatedWire::launch(command, waits).unwrap_err();
    assert!(lost.why.starts_with("nobody waits for it any more (signal: 9"), "{lost}");
}

#[test]
fn a_process_that_hangs_at_a_later_question_is_ended_once_nobody_waits_for_it() {
    let hello = protocol::line(&Bench::new().served.hello());
    let mut command = Command::new("sh");
    command.args(["-c", "printf %s \"$1\"; exec sleep 60", "sh", &hello]);
    let waited_for = Arc::new(AtomicBool::new(true));
    let waits = Arc::clone(&waited_for);
    let launched = EmulatedWire::launch(command, move || waits.load(Ordering::Relaxed));
    let mut wire = launched.expect("a hello");
    waited_for.store(false, Ordering::Relaxed);
    let lost = wire.health().unwrap_err();
    assert_eq!(
        lost.to_string(),
        "the device is lost: ask for lateness: nobody waits for it any more"
    );
}

#[test]
fn a_process_that_serves_nothing_is_told_with_its_last_words() {
    let mut command = Command::new("sh");
    command.args(["-c", "echo 'no such interface' >&2; exit 2"]).stderr(Stdio::piped());
    let lost = EmulatedWire::launch(command, || true).unwrap_err();
    assert_eq!(lost.tried, "start sh");
    assert!(lost.why.contains("no such interface"), "{lost}");
    let lost = EmulatedWire::launch(Command::new("/no/such/program"), || true).unwrap_err();
    assert!(lost.why.contains("No such file"), "{lost}");
}
