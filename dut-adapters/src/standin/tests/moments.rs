//! Faults of a switch and of the way to it, each at each moment of a session: none leaves a key changed, and none makes a wrong answer.
//!
//! Where `sonic-db-cli` is the only way in, what it prints may change, too: that is tried over a real `ssh` (rigctl/tests/sonic/repr.rs).

use super::{Device, devices, switch, tell, tell_at, until};
use crate::control::{Control as _, ControlError};
use crate::fixture::{Break, BrokenWay};
use crate::protocol::Happened;
use crate::sonic::SonicControl;
use crate::standin::{Chips, Faults, Server, Standin};
use core::time::Duration;
use rig_capture::{DutEvent, DutEventKind};
use rig_generator::port::Mono;
use rig_lab::{RedisAt, Setting};
use rig_units::{Dur, Time};
use serde_json::{Value, json};
use std::path::Path;

/// What strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// Redis answers `-LOADING`.
    Loading,
    /// The way closes at the next word, and every new one, too.
    Dropped,
    /// What is changed never arrives in ASIC_DB.
    DeafAsic,
    LateCounters,
    /// The stamps of polls are of a clock that is 3 s behind.
    Clock,
    /// What a warm start left of a storm that is over (sonic-swss #4647).
    StaleStorm,
    /// Of several chips another has a storm at a queue whose object has the same name, and is configured by another hand.
    OtherChip,
}

/// When.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    Opens,
    Sets,
    BeforeTheStimulus,
    DuringIt,
    Restores,
}

const MOMENTS: [Moment; 5] =
    [Moment::Opens, Moment::Sets, Moment::BeforeTheStimulus, Moment::DuringIt, Moment::Restores];
const FAULTS: [Fault; 6] = [
    Fault::Loading,
    Fault::Dropped,
    Fault::DeafAsic,
    Fault::LateCounters,
    Fault::Clock,
    Fault::StaleStorm,
];

/// Databases that a session leaves as they were: all but the counters, and the rig's own lease.
const DATABASES: [i64; 4] = [0, 1, 4, 5];
const PACKETS: &str = "Ethernet4 SAI_PORT_STAT_PFC_3_RX_PKTS";
/// What another hand sets at the other chip.
const OTHERS: [(&str, &str, &str); 3] = [
    ("PORT|Ethernet512", "admin_status", "up"),
    ("PFC_WD|Ethernet512", "detection_time", "999"),
    ("PFC_WD|GLOBAL", "POLL_INTERVAL", "50"),
];
const STALE: &str = "PFC_WD_TABLE_INSTORM:Ethernet4";
/// By how much the counter grows in a stimulus.
const GROWS: u64 = 100;
/// What never arrives is given up after this.
const SHORT: Duration = Duration::from_millis(250);

/// Every hash of a database.
const ALL: &str = "local all = {} \
                   for _, key in ipairs(redis.call('KEYS', '*')) do \
                     if redis.call('TYPE', key).ok == 'hash' then \
                       local row, fields = redis.call('HGETALL', key), {} \
                       for at = 1, #row, 2 do fields[row[at]] = row[at + 1] end \
                       all[key] = fields \
                     end \
                   end \
                   return cjson.encode(all)";

fn all_at(socket: &Path, database: i64) -> Value {
    let text: String = tell_at(socket, database, &["EVAL", ALL, "0"]);
    serde_json::from_str(&text).expect("JSON")
}

struct Lab<'d> {
    /// What is known of the switch.
    at: RedisAt,
    /// Its other chip, where it has one.
    other: Option<&'d Path>,
    server: &'d Server,
    standin: &'d Standin,
    device: &'d Device,
    way: &'d BrokenWay,
}

impl Lab<'_> {
    fn all(&self, database: i64) -> Value {
        all_at(self.server.socket(), database)
    }

    fn strikes(&self, fault: Fault) {
        let own = |faults: Faults| self.standin.falls(faults);
        match fault {
            Fault::None => {}
            Fault::Loading => self.way.turns(Break::Loading(0)),
            Fault::Dropped => self.way.turns(Break::Cut(0)),
            Fault::DeafAsic => own(Faults { deaf_asic: true, ..Faults::default() }),
            Fault::LateCounters => own(Faults { late_counters: Dur::ms(150), ..Faults::default() }),
            Fault::Clock => own(Faults { clock: Dur::s(3), ..Faults::default() }),
            Fault::StaleStorm => {
                let _set: i64 = tell(self.server, 0, &["HSET", STALE, "3", "storm"]);
            }
            Fault::OtherChip => {
                let queue: String =
                    tell(self.server, 2, &["HGET", "COUNTERS_QUEUE_NAME_MAP", "Ethernet4:3"]);
                let storm = format!("[\"{queue}\",\"storm\"]");
                let other = self.other.expect("it has another");
                for (key, field, value) in OTHERS {
                    let _set: i64 = tell_at(other, 4, &["HSET", key, field, value]);
                }
                let _heard: i64 = tell_at(other, 2, &["PUBLISH", "PFC_WD_ACTION", &storm]);
            }
        }
    }

    fn heals(&self) {
        self.way.turns(Break::Cut(usize::MAX));
        self.standin.falls(Faults::default());
    }

    /// A storm and its end, each of them published, and what they count; when they were.
    fn stimulus(&self) -> [Mono; 2] {
        let queue: String =
            tell(self.server, 2, &["HGET", "COUNTERS_QUEUE_NAME_MAP", "Ethernet4:3"]);
        let status = || -> Option<String> {
            tell(self.server, 2, &["HGET", &format!("COUNTERS:{queue}"), "PFC_WD_STATUS"])
        };
        let both = [(DutEventKind::Storm, "stormed"), (DutEventKind::Restore, "operational")];
        let at = both.map(|(what, word)| {
            let at = Mono::now();
            let port = "Ethernet4".to_owned();
            let event = Happened { at_ns: at.0, port, class: 3, what };
            self.device.0.lock().expect("no panic").events.push(event);
            until(|| status().as_deref() == Some(word));
            at
        });
        let mut memory = self.device.0.lock().expect("no panic");
        *memory.counters.get_mut(PACKETS).expect("counted") += GROWS;
        at
    }
}

/// The answer; `None` where the way was lost, which is no verdict.
fn had<T>(answer: Result<T, ControlError>, when: &str) -> Option<T> {
    match answer {
        Ok(answer) => Some(answer),
        Err(ControlError::Away(_) | ControlError::Unseen(_)) => None,
        Err(other) => panic!("{when}: {other:?}"),
    }
}

/// Holds what was heard against what happened.
fn right(events: &[DutEvent], at: [Mono; 2], when: &str) {
    let kinds: Vec<DutEventKind> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [DutEventKind::Storm, DutEventKind::Restore], "{when}: {events:?}");
    for (event, at) in events.iter().zip(at) {
        let off = event.off + Dur::us(500);
        let at = Time::ZERO + at.since(Mono(0)).expect("later");
        let holds = event.at.saturating_sub(off) <= at && at <= event.at + off;
        assert!(holds, "{when}: {event:?} was at {at:?}");
    }
}

/// One session in which `fault` strikes at a moment, and what is set has so long to arrive: how many of its three answers were had.
fn session(lab: &Lab<'_>, fault: Fault, moment: Moment, arrives: Duration) -> usize {
    let when = format!("{fault:?} at {moment:?}");
    let now = |other: Moment| {
        if other == moment {
            lab.strikes(fault);
        }
    };
    let setting = |path: &str, value: Value| Setting { path: path.to_owned(), value };
    let kmin = devices()[0].declared.switch().expect("a switch").wred.kmin.0 / 2;
    let settings = [
        setting("pfcwd.detection_time", json!("400ms")),
        setting("wred.kmin", json!(format!("{kmin}B"))),
    ];
    now(Moment::Opens);
    let opened = SonicControl::with(&lab.at, &devices()[0], 4, arrives);
    let (mut control, found) = match opened.map(|mut control| (control.snapshot(), control)) {
        Ok((Ok(found), control)) => (control, found),
        // Nothing but a fault that is there already is in its way.
        other => {
            assert_eq!(moment, Moment::Opens, "{when}: {other:?}");
            lab.heals();
            return 0;
        }
    };
    let noted = control.changes(&settings);
    now(Moment::Sets);
    let set = had(control.set(&settings), &when).is_some();
    now(Moment::BeforeTheStimulus);
    let names = [PACKETS.to_owned()];
    let (earlier, before) = (had(control.events(), &when), had(control.counters(&names), &when));
    now(Moment::DuringIt);
    let at = lab.stimulus();
    let (events, after) = (had(control.events(), &when), had(control.counters(&names), &when));
    let heard = earlier.zip(events).map(|(earlier, events)| {
        assert_eq!(earlier, [], "{when}");
        right(&events, at, &when);
    });
    let value = |read: Option<crate::control::Readings>| read?.values.get(PACKETS).copied();
    let grown = value(before).zip(value(after)).map(|(before, after)| {
        assert_eq!(after - before, GROWS, "{when}");
    });
    now(Moment::Restores);
    let _back = had(control.restore(&found, &settings), &when);
    lab.heals();
    drop(control);
    // What stands in the journal of a rig that could not take it back.
    for change in noted.iter().rev() {
        change.undo().unwrap_or_else(|why| panic!("{when}: {change}: {why}"));
    }
    [set, heard.is_some(), grown.is_some()].into_iter().filter(|had| *had).count()
}

/// A way to the switch that nothing breaks until it is told to.
fn whole_way(desk: &Path, server: &Server) -> BrokenWay {
    BrokenWay::new(desk, &RedisAt::Unix(server.socket().to_owned()), Break::Cut(usize::MAX))
}

#[test]
fn no_fault_at_any_moment_leaves_a_key_changed_or_makes_a_wrong_answer() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, standin, device, _)) = switch(desk.path(), Faults::default()) else { return };
    let way = whole_way(desk.path(), &server);
    let lab = Lab {
        at: way.at(),
        other: None,
        server: &server,
        standin: &standin,
        device: &device,
        way: &way,
    };
    device.0.lock().expect("no panic").counters.insert(PACKETS.to_owned(), 7);
    let every = |ms: &str| {
        let _set: i64 = tell(&server, 4, &["HSET", "FLEX_COUNTER_TABLE|PORT", "POLL_INTERVAL", ms]);
        let group = "FLEX_COUNTER_GROUP_TABLE:PORT_STAT_COUNTER";
        let copied = || -> Option<String> { tell(&server, 5, &["HGET", group, "POLL_INTERVAL"]) };
        until(|| copied().as_deref() == Some(ms));
    };
    every("100");
    // On a busy machine the stand-in dates no copy, and what nothing shows at rest is withheld: of a healthy one, too.
    let healthy = session(&lab, Fault::None, Moment::Opens, Duration::from_secs(10));
    assert!(healthy >= 2, "{healthy} of the three answers of a healthy one were had");
    every("20");
    let before = DATABASES.map(|database| lab.all(database));
    let mut had = 0;
    for fault in FAULTS {
        for moment in MOMENTS {
            had += session(&lab, fault, moment, SHORT);
            if fault == Fault::StaleStorm {
                let left: i64 = tell(&server, 0, &["DEL", STALE]);
                assert_eq!(left, 1, "{moment:?}: it is nobody's to take away");
            }
            // What the fault kept from ASIC_DB comes with the next change.
            every("20");
            let same = || DATABASES.map(|database| lab.all(database)) == before;
            until(same);
            let lease: i64 = tell(&server, 6, &["EXISTS", "RIG_LEASE"]);
            assert_eq!(lease, 0, "{fault:?} at {moment:?}");
        }
    }
    // On a busy machine settings arrive late and counters are withheld: enough that something was tried.
    assert!(had >= 30, "{had} of 90 answers were had");
}

#[test]
fn of_several_chips_one_that_is_none_of_the_rigs_is_neither_heard_nor_touched_at_any_moment() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, standin, device, _)) = switch(desk.path(), Faults::default()) else { return };
    let way = whole_way(desk.path(), &server);
    let host = desk.path().join("redis/redis.sock");
    let chips = Chips::start(&host, 2).expect("as the other");
    chips.fill(&devices()[0]).expect("redis answers");
    // The second of them is the device, at the end of the way.
    let file = desk.path().join("redis1/sonic-db/database_config.json");
    let says = std::fs::read_to_string(&file).expect("it says where");
    let RedisAt::Unix(socket) = way.at() else { panic!("a socket") };
    let [own, way_to] = [chips.own(), &socket].map(|path| path.display().to_string());
    std::fs::write(&file, says.replace(&own, &way_to)).expect("writable");
    let other = desk.path().join("redis0/redis.sock");
    let lab = Lab {
        at: RedisAt::Unix(host.clone()),
        other: Some(&other),
        server: &server,
        standin: &standin,
        device: &device,
        way: &way,
    };
    device.0.lock().expect("no panic").counters.insert(PACKETS.to_owned(), 7);
    let before = DATABASES.map(|database| lab.all(database));
    let mut found = all_at(&other, 4);
    for (key, field, value) in OTHERS {
        found[key][field] = json!(value);
    }
    for moment in MOMENTS {
        // Nothing is in its way; but what nothing shows at rest on a busy machine is withheld.
        let had = session(&lab, Fault::OtherChip, moment, Duration::from_secs(10));
        assert!(had >= 2, "{moment:?}: {had} of the three answers were had");
        until(|| DATABASES.map(|database| lab.all(database)) == before);
        assert_eq!(all_at(&other, 4), found, "{moment:?}");
        for socket in [&host, &other] {
            assert_eq!(all_at(socket, 6), json!({}), "{moment:?}: nothing is left there");
        }
    }
}
