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
