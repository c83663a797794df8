//! What a rig hears of a stand-in's watchdogs that steers it as a switch, also where the events do not come as they should.

use super::{Device, devices, redis_server, switch, tell, until};
use crate::control::{Control as _, ControlError};
use crate::protocol::Happened;
use crate::sonic::SonicControl;
use crate::standin::{Faults, Log, Standin};
use rig_capture::{DutEvent, DutEventKind};
use rig_generator::port::Mono;
use rig_lab::{RedisAt, Setting};
use rig_units::{Dur, Time};

#[test]
fn what_the_big_red_switch_is_counted_as_was_not_missed() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _standin, device, _)) = switch(desk.path(), Faults::default()) else {
        return;
    };
    let (at, zero) = (RedisAt::Unix(server.socket().to_owned()), Mono::now());
    let mut control = SonicControl::open((&at, zero), &devices()[0], 4).expect("a switch");
    let red = |on: bool| Setting { path: "pfcwd.big_red_switch".to_owned(), value: on.into() };
    assert_eq!(control.events(), Ok(Vec::new()));
    control.set(&[red(true)]).expect("it takes it");
    let name = "Ethernet4:3 PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED".to_owned();
    device.0.lock().expect("no panic").counters.insert(name.clone(), 1);
    wait(Dur::ms(1_300));
    control.set(&[red(false)]).expect("it takes it");
    assert_eq!(control.events(), Ok(Vec::new()), "it was on meanwhile");
    device.0.lock().expect("no panic").counters.insert(name, 2);
    wait(Dur::ms(1_300));
    assert_eq!(control.missed(), None);
    assert_eq!(control.events(), Ok(Vec::new()));
    assert!(control.missed().is_some(), "and now it is off");
    assert_eq!((control.events(), control.missed()), (Ok(Vec::new()), None), "told once");
}

#[test]
fn a_storm_whose_end_nobody_publishes_hides_none_behind_it() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _standin, device, _)) = switch(desk.path(), Faults::default()) else {
        return;
    };
    let (at, zero) = (RedisAt::Unix(server.socket().to_owned()), Mono::now());
    let mut control = SonicControl::open((&at, zero), &devices()[0], 4).expect("a switch");
    let set = |control: &mut SonicControl, path: &str, value: &str| {
        let setting = Setting { path: path.to_owned(), value: value.into() };
        control.set(&[setting]).expect("it takes it");
    };
    assert_eq!(control.events(), Ok(Vec::new()));
    let storms = |counted: bool| {
        acts(&device, DutEventKind::Storm);
        if !counted {
            let name = "Ethernet4:3 PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED";
            *device.0.lock().expect("no panic").counters.get_mut(name).expect("counted") -= 1;
        }
        wait(Dur::ms(60));
    };
    // An alert is told again; one whose watchdog is started anew is over, which nobody says.
    set(&mut control, "pfcwd.action", "alert");
    storms(true);
    storms(false);
    set(&mut control, "pfcwd.detection_time", "400ms");
    storms(true);
    set(&mut control, "pfcwd.action", "drop");
    storms(true);
    // Any other action ends before the next begins.
    storms(true);
    wait(Dur::ms(1_100));
    assert_eq!(control.events().map(|events| events.len()), Ok(5));
    assert_eq!(control.missed(), None, "four were counted, and all of them heard");
}

/// The watchdog acts now; when that is.
fn acts(device: &Device, what: DutEventKind) -> Mono {
    let at = Mono::now();
    let event = Happened { at_ns: at.0, port: "Ethernet4".to_owned(), class: 3, what };
    let mut memory = device.0.lock().expect("no panic");
    if what == DutEventKind::Storm {
        let name = "Ethernet4:3 PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED".to_owned();
        *memory.counters.entry(name).or_default() += 1;
    }
    memory.events.push(event);
    at
}

/// What the rig hears of a storm and its end, when they were on its clock, and what it knows to have missed.
type Heard = (Result<Vec<DutEvent>, ControlError>, [Time; 2], Option<String>);

fn heard(faults: Faults) -> Option<Heard> {
    let desk = tempfile::tempdir().expect("a folder");
    let (server, _standin, device, _) = switch(desk.path(), faults)?;
    let zero = Mono::now();
    let at = RedisAt::Unix(server.socket().to_owned());
    let mut control = SonicControl::open((&at, zero), &devices()[0], 4).expect("a switch");
    assert_eq!(control.events(), Ok(Vec::new()), "nothing yet");
    let storm = acts(&device, DutEventKind::Storm);
    wait(Dur::ms(300));
    let restore = acts(&device, DutEventKind::Restore);
    // Until it is there; what orchagent counts comes each second.
    wait(if faults.silent { Dur::ms(1_300) } else { Dur::ms(200) });
    let on = |at: Mono| Time::ZERO + at.since(zero).expect("later");
    Some((control.events(), [on(storm), on(restore)], control.missed()))
}

fn wait(length: Dur) {
    let over = Mono(Mono::now().0 + length.0 / 1_000);
    until(|| Mono::now() >= over);
}

/// Whether each of two events holds the instant at which it was, and by how much it may be off at most.
fn held(events: &[DutEvent], at: [Time; 2]) -> Dur {
    let kinds: Vec<DutEventKind> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [DutEventKind::Storm, DutEventKind::Restore], "{events:?}");
    for (event, at) in events.iter().zip(at) {
        assert_eq!((event.port.as_str(), event.class), ("Ethernet4", 3));
        // The stand-in asks redis for its clock as the rig does; a script of SONiC's reads it where it is.
        let off = event.off + Dur::us(500);
        let (from, to) = (event.at.saturating_sub(off), event.at + off);
        assert!(from <= at && at <= to, "{event:?} was at {at:?}");
    }
    events.iter().map(|event| event.off).max().unwrap_or_default()
}

#[test]
fn an_event_is_heard_once_with_an_instant_that_holds_whatever_the_switch_says_of_its_clock() {
    let Some((events, at, _)) = heard(Faults::default()) else { return };
    let off = held(&events.expect("a line"), at);
    assert!(off < Dur::ms(5), "a stamp of the poll tells it well: {off}");
    // Its stamps are of another clock: what is known without them is left.
    let astray = heard(Faults { clock: Dur::s(3), ..Faults::default() }).expect("a redis");
    let off = held(&astray.0.expect("a line"), astray.1);
    assert!(off >= Dur::ms(50) && off < Dur::s(2), "{off}");
    let twice = heard(Faults { twice: true, ..Faults::default() }).expect("a redis");
    held(&twice.0.expect("a line"), twice.1);
}

#[test]
fn an_event_that_comes_late_is_dated_by_its_poll_and_one_that_does_not_come_is_missed() {
    let late = Faults { late_events: Dur::ms(150), ..Faults::default() };
    let Some((events, at, missed)) = heard(late) else { return };
    let off = held(&events.expect("a line"), at);
    assert!(off >= Dur::ms(70), "how late it was is not hidden: {off}");
    assert_eq!(missed, None);
    let (silent, _, missed) = heard(Faults { silent: true, ..Faults::default() }).expect("a redis");
    assert_eq!(silent, Ok(Vec::new()));
    let why = missed.expect("it is told");
    assert!(why.contains("1 storms were counted of Ethernet4:3"), "{why}");
}

/// NVIDIA's script says with each storm what it found and when; and of each poll where `DEBUG_STORM` asks for it.
#[test]
fn a_mellanox_says_of_a_storm_when_its_poll_was_and_what_it_told_last_is_told_with_a_storm_that_was_missed()
 {
    let desk = tempfile::tempdir().expect("a folder");
    let Some(server) = redis_server(desk.path()) else { return };
    let devices = devices();
    let profile = devices.iter().find(|one| one.name == "mellanox").expect("it is there");
    let stands = |faults: Faults, device: &Device| {
        let log: Log = Box::new(|why| panic!("{why}"));
        Standin::of(profile, server.socket(), Box::new(device.clone()), (faults, log))
    };
    let device = Device::default();
    let standin = stands(Faults::default(), &device).expect("it stands");
    let (at, zero) = (RedisAt::Unix(server.socket().to_owned()), Mono::now());
    let mut control = SonicControl::open((&at, zero), profile, 4).expect("a switch");
    assert_eq!(control.events(), Ok(Vec::new()), "nothing yet");
    let storm = acts(&device, DutEventKind::Storm);
    wait(Dur::ms(1_300));
    let events = control.events().expect("a line");
    let [event] = events.as_slice() else { panic!("{events:?}") };
    let storm = Time::ZERO + storm.since(zero).expect("later");
    let off = event.off + Dur::us(600);
    assert!(
        event.at.saturating_sub(off) <= storm && storm <= event.at + off,
        "{event:?} {storm:?}"
    );
    assert!(event.off < Dur::ms(5), "{event:?}");
    assert_eq!(control.missed(), None);
    // A storm that nobody publishes, of which a poll has told.
    let _set: i64 = tell(&server, 2, &["HSET", "DEBUG_STORM", "enabled", "true"]);
    standin.falls(Faults { silent: true, ..Faults::default() });
    wait(Dur::ms(20));
    let packets = "Ethernet4:3 SAI_QUEUE_STAT_PACKETS".to_owned();
    device.0.lock().expect("no panic").counters.insert(packets, 77);
    acts(&device, DutEventKind::Restore);
    acts(&device, DutEventKind::Storm);
    wait(Dur::ms(1_300));
    assert_eq!(control.events(), Ok(Vec::new()));
    let why = control.missed().expect("it is told");
    let told = "the last that PFC_WD_DEBUG told of it: `Port ID oid:";
    assert!(why.contains(told) && why.contains(" Queue index 3 packets 77`"), "{why}");
}
