//! How a stand-in has kept up: whoever steers it as a switch hears that over its databases, and of a switch nothing.

use super::{Device, devices, redis_server, tell, until};
use crate::control::{Control as _, ControlError, Health};
use crate::protocol::Happened;
use crate::standin::{Asic, Faults, Log, Standin};
use crate::{Dummy, SonicControl, StandinControl};
use core::time::Duration;
use rig_capture::DutEventKind;
use rig_generator::port::Mono;
use rig_lab::{RedisAt, Setting, WatermarkCopy};
use rig_units::Dur;
use std::collections::BTreeMap;

/// A device that was as late as this, each time it is asked.
#[derive(Debug)]
struct Late(Device, Dur);

impl Asic for Late {
    fn set(&mut self, settings: &[Setting]) -> Result<(), String> {
        self.0.set(settings)
    }

    fn restart(&mut self, settings: &[Setting]) -> Result<(), String> {
        self.0.restart(settings)
    }

    fn clear(&mut self, copy: WatermarkCopy) {
        self.0.clear(copy);
    }

    fn counters(&mut self) -> BTreeMap<String, u64> {
        self.0.counters()
    }

    fn events(&mut self) -> Vec<Happened> {
        self.0.events()
    }

    fn health(&mut self) -> Option<Health> {
        Some(Health { event_late: self.1, ..Health::default() })
    }
}

#[test]
fn whoever_steers_a_stand_in_by_its_databases_hears_how_late_it_was_and_of_a_switch_nothing() {
    let desk = tempfile::tempdir().expect("a folder");
    for (asic, late) in [
        (Box::new(Late(Device::default(), Dur::ms(7))) as Box<dyn Asic>, Some(Dur::ms(7))),
        (Box::new(Device::default()), None),
    ] {
        let Some(server) = redis_server(desk.path()) else { return };
        let profile = &devices()[0];
        let log: Log = Box::new(|_| {});
        let standin = Standin::of(profile, server.socket(), asic, (Faults::default(), log));
        let standin = standin.expect("it stands");
        let at = RedisAt::Unix(server.socket().to_owned());
        let control = SonicControl::with(&at, profile, 4, Duration::from_secs(5));
        let mut control = control.expect("it is what the profile declares");
        // It says that it is one as soon as somebody lets it.
        let says = || tell::<bool>(&server, 6, &["EXISTS", "RIG_STANDIN_HEALTH"]);
        late.into_iter().for_each(|_| until(says));
        match (control.health(), late) {
            (Ok(health), Some(late)) => assert_eq!(health.event_late, late),
            (Err(ControlError::NotOffered(_)), None) => {
                let there: bool = tell(&server, 6, &["EXISTS", "RIG_STANDIN_HEALTH"]);
                assert!(!there, "no switch has such a row");
            }
            (other, late) => panic!("{other:?} {late:?}"),
        }
        drop(control);
        drop(standin);
    }
}

#[test]
fn what_is_told_late_counts_as_late_unless_a_fault_keeps_it_back() {
    let desk = tempfile::tempdir().expect("a folder");
    let ago = Dur::s(5);
    for (held_back, counts) in [(Dur::ZERO, true), (ago + Dur::ms(100), false)] {
        let Some(server) = redis_server(desk.path()) else { return };
        let (profile, device) = (&devices()[0], Device::default());
        let asic: Box<dyn Asic> = Box::new(Late(device.clone(), Dur::ZERO));
        let faults = Faults { late_events: held_back, ..Faults::default() };
        let log: Log = Box::new(|_| {});
        let standin = Standin::of(profile, server.socket(), asic, (faults, log));
        let standin = standin.expect("it stands");
        let at = RedisAt::Unix(server.socket().to_owned());
        let control = SonicControl::with(&at, profile, 4, Duration::from_secs(5));
        let control = control.expect("it is what the profile declares");
        // The device behind it knows of nothing that was late.
        let mut control = StandinControl::around(control, Box::new(Dummy));
        let at_ns = Mono::now().0 - ago.0 / 1_000;
        let (port, what) = ("Ethernet4".to_owned(), DutEventKind::Storm);
        let event = Happened { at_ns, port, class: 3, what };
        device.0.lock().expect("no panic").events.push(event);
        let queue: String = tell(&server, 2, &["HGET", "COUNTERS_QUEUE_NAME_MAP", "Ethernet4:3"]);
        until(|| {
            let status: Option<String> =
                tell(&server, 2, &["HGET", &format!("COUNTERS:{queue}"), "PFC_WD_STATUS"]);
            status.as_deref() == Some("stormed")
        });
        let late = control.health().expect("it is a stand-in").told_late;
        assert_eq!(late >= ago, counts, "{late}, held back by {held_back}");
        assert!(control.health().expect("it is a stand-in").told_late < ago, "it is told once");
        // Whoever takes its row away: the device behind it tells.
        let _gone: i64 = tell(&server, 6, &["DEL", "RIG_STANDIN_HEALTH"]);
        assert_eq!(control.health(), Ok(Health::default()));
        drop(standin);
        drop(server);
        assert!(matches!(control.health(), Err(ControlError::Away(_))), "the way is lost");
    }
}
