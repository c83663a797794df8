use super::*;
use rig_oracle::model::host::Storm;
use rig_oracle::model::tap::NoTap;
use rig_testcases::MacsecMode;
use rig_units::Quanta;

/// A storm at the first port from the start on.
fn stormed() -> Emulated {
    let lab = rig_lab::read::lab(None).expect("the bundled lab");
    let broadcom = lab.duts.iter().find(|dut| dut.name == "broadcom").expect("it is in there");
    let mut dut = Emulated::boot(broadcom, &[], 300, 7).expect("it boots");
    let (enable, quanta) = (1 << 3, Quanta(u16::MAX));
    let every = Dur::us(100);
    let storm = Storm {
        id: 0,
        enable,
        zero: 0,
        quanta,
        every,
        count: None,
        macsec_mode: MacsecMode::Usual,
    };
    dut.rig().start_storm(0, &storm);
    dut
}

/// When it was detected until then.
fn detected(dut: &mut Emulated, until: Dur) -> Vec<Time> {
    dut.run_until(Time::ZERO + until, &mut NoTap);
    let events = dut.events().expect("it is here").into_iter();
    events.filter(|event| event.kind == DutEventKind::Storm).map(|event| event.at).collect()
}

#[test]
fn a_watchdog_that_is_restarted_in_a_storm_forgets_it_and_detects_it_anew() {
    let mut alone = stormed();
    let first = detected(&mut alone, Dur::ms(400));
    let [undisturbed] = first[..] else { panic!("{first:?}") };
    let mut early = stormed();
    assert_eq!(detected(&mut early, Dur::ms(150)), []);
    early.order(Order::from(DeviceVerb::RestartPfcwd)).expect("it has one");
    let later = detected(&mut early, Dur::ms(600));
    let [later] = later[..] else { panic!("{later:?}") };
    assert!(later >= Time::ZERO + Dur::ms(350) && later > undisturbed, "{later} {undisturbed}");
    alone.order(Order::from(DeviceVerb::RestartPfcwd)).expect("it has one");
    assert_eq!(detected(&mut alone, Dur::ms(800)).len(), 1, "it is detected once more");
}

#[test]
fn a_device_without_a_watchdog_refuses_to_restart_it() {
    let lab = rig_lab::read::lab(None).expect("the bundled lab");
    let nic = lab.duts.iter().find(|dut| dut.kind == rig_lab::Kind::Nic).expect("a NIC");
    let mut nic = Emulated::boot(nic, &[], 300, 7).expect("it boots");
    let refused =
        nic.order(Order::from(DeviceVerb::RestartPfcwd)).map_err(|error| error.to_string());
    assert_eq!(refused, Err("it has nothing to restart that is called pfcwd".to_owned()));
}

#[test]
fn a_device_that_yields_decides_nothing_by_itself_and_does_what_is_decided_for_it() {
    let decided = |what| Order::Decided { port: "Ethernet0".to_owned(), class: 3, what, due_ns: 0 };
    let mut dut = stormed();
    dut.order(Order::YieldPfcwd).expect("it has watchdogs");
    assert_eq!(detected(&mut dut, Dur::ms(900)), [], "for nine polls");
    let polled = dut.polled();
    let queue = polled.iter().find(|one| one.port == "Ethernet0" && one.class == 3);
    let queue = queue.expect("it is guarded");
    assert!(queue.paused && queue.pfc_rx_pkts > 1_000, "{queue:?}");
    assert!(queue.rx_pause_duration_us > 890_000, "{queue:?}");
    // The second of two is the same storm.
    for what in [DutEventKind::Storm, DutEventKind::Storm, DutEventKind::Restore] {
        dut.order(decided(what)).expect("it is guarded");
    }
    let events = dut.events().expect("it is here");
    let kinds: Vec<DutEventKind> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [DutEventKind::Storm, DutEventKind::Restore]);
    let name = "Ethernet0:3 PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED".to_owned();
    let read = dut.counters(std::slice::from_ref(&name)).expect("it counts");
    assert_eq!(read.values.get(&name), Some(&1));
    let nowhere = Order::Decided {
        port: "Ethernet0".to_owned(),
        class: 1,
        what: DutEventKind::Storm,
        due_ns: 0,
    };
    let refused = dut.order(nowhere).map_err(|error| error.to_string());
    assert_eq!(refused, Err("no watchdog guards Ethernet0:1".to_owned()));
}
