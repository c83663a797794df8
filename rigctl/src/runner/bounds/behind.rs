//! NICs that stand behind other devices: what those take is no excuse for them, and nothing that they are called faulty for.

use super::given::{Ran, Word};
use rig_capture::{Dir, What};
use rig_lab::{Mutation, Profile, Setting};
use rig_testcases::RoceKind;

const NIC: &str = "behind-a-switch-nic";

/// A flow that gets one CNP after 30 us at line rate.
fn cut(measure: &str, change: impl FnOnce(&mut Profile)) -> Ran {
    let text = format!(
        "    dut: {{nic: {{rp: {{enable: true, limiting: packet, cut_window: 0us}}}}}}
    flows: {{sender: {{nic: p1, class: 3, verb: write, message: 64KiB, mtu: 1024B}}}}
    streams: {{once: {{from: p1, class: 6, kind: cnp, of: sender, every: 10us, count: 1}}}}
    steps: [{{at: 0us, start: sender, for: 50us}}, {{at: 30us, start: once}}]
    length: 80us
    trials: 1
    measure: [{{{measure}: {{flow: sender}}}}]
"
    );
    Ran::with(NIC, &text, change)
}

/// The NIC and the switch before it, the clock of either off by as much as it may be.
fn clocks(profile: &mut Profile, [nic, tor]: [&str; 2]) {
    let may = Setting { path: "clock".to_owned(), value: "100ppm".into() };
    profile.declared = profile.declared.with(&may).expect("a limit");
    let system = profile.system.as_mut().expect("it stands in a system");
    for device in &mut system.devices {
        device.declared = device.declared.with(&may).expect("a limit");
    }
    let departs = |text: &str| -> Mutation { text.parse().expect("a departure") };
    profile.mutate(&departs(nic)).expect("a departure of a NIC");
    assert_eq!(profile.mutate_device("tor", &departs(tor)), Ok(true));
}

const RATES: [&str; 5] = ["rate.cut", "rate.follows", "rate.reaction", "rate.least", "rate.final"];

#[test]
fn what_piles_up_at_a_slower_clock_is_not_the_nics() {
    for nic in ["deviation=clock_fast:100", "deviation=clock_slow:100"] {
        for tor in ["deviation=clock_fast:100", "deviation=clock_slow:100"] {
            for measure in RATES {
                let word =
                    cut(measure, |profile| clocks(profile, [nic, tor])).as_seen().word(measure);
                assert!(!matches!(word, Word::Fail(_)), "{measure}, {nic}, {tor}: {word:?}");
            }
        }
    }
}

#[test]
fn a_nic_that_cuts_otherwise_is_found_behind_a_switch() {
    for measure in RATES {
        assert_eq!(cut(measure, |_| ()).as_seen().word(measure), Word::Pass, "{measure}");
    }
    let departs = |measure: &str, text: &str| {
        let ran = cut(measure, |profile| {
            profile.mutate(&text.parse().expect("a departure")).expect("it has that");
        });
        assert!(matches!(ran.as_seen().word(measure), Word::Fail(_)), "{measure}: {text}");
    };
    for measure in ["rate.cut", "rate.follows", "rate.least", "rate.final"] {
        departs(measure, "nic.rp.enable=false");
    }
    departs("rate.cut", "nic.rp.initial_alpha=x0.9");
    departs("rate.reaction", "nic.rp.latency=x1.5");
}

#[test]
fn what_a_switch_may_have_spoilt_is_not_laid_at_the_nics_door() {
    let text = "    between: {delay: 500ns}
    flows: {sender: {nic: p1, to: p2, class: 3, verb: write, message: 16KiB, mtu: 1024B, count: 6}}
    steps: [{at: 0us, start: sender}]
    length: 100us
    trials: 1
    measure: [{rc.sender: {flow: sender}}, {rc.receiver: {flow: sender}}]
";
    let said = |device: &'static str| {
        let ran = Ran::of(device, text);
        assert_eq!(ran.as_seen().wrong(), "", "{device}");
        ran.changed(|seen| {
            for (port, of_data) in [(0, true), (1, false)] {
                let is = |kind| matches!(kind, RoceKind::Data { .. }) == of_data;
                let one = seen.roce(port, Dir::Rx, is)[7];
                let What::Roce(roce) = &mut seen.observation.records[one].what else { return };
                roce.corrupt = true;
            }
        })
    };
    let [alone, behind] = ["gen2-to-gen2", "between-two-switches-nics"].map(said);
    for (measure, of) in [("rc.sender", "1 of 96 packets of data"), ("rc.receiver", "1 of 96 ans")]
    {
        assert!(alone.fails(measure), "{}", alone.wrong());
        assert!(!behind.fails(measure), "{}", behind.wrong());
        assert!(behind.wrong().contains(of), "{}", behind.wrong());
    }
    assert_eq!(behind.wrong().matches("or a device between spoilt them").count(), 2);
}
