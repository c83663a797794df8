//! When a trial may begin on a device whose watchdog acts, or whose limiters outlive a trial.

use super::given::Ran;
use super::watchdog::{CABLE, DETECTION, stormed};
use rig_lab::Setting;
use rig_oracle::measure::{before, rests, start};
use rig_oracle::trials::ask::{Before, Place, Rests, Start};
use rig_oracle::trials::context::Context;
use rig_oracle::trials::points::Point;
use rig_testcases::Script;
use rig_units::Dur;

/// What is asked of a storm from 200 ms to 700 ms.
fn asked(ran: &Ran, ask: impl FnOnce(&Context<'_>, &Script)) {
    ran.of_context(|context| ask(context, &context.script(&Point::default()).expect("a script")));
}

fn storm() -> Ran {
    stormed("500ms", &format!("{DETECTION}}}"))
}

#[test]
fn the_first_frame_of_a_storm_meets_the_polls_where_it_is_to() {
    asked(&storm(), |context, script| {
        let wait = Dur::ms(7);
        assert_eq!(start(context, script, Place::After(wait)), Start::After(wait));
        // 72 B at 100 Gb/s and the cable behind its step.
        let lead = Dur::ms(200) + Dur(72 * 80) + CABLE;
        let placed = Start::InStep { lead, phase: wait, every: Dur::ms(100) };
        assert_eq!(start(context, script, Place::Phase(wait)), placed);
    });
}

/// 65535 quanta at 100 Gb/s.
const TAIL: Dur = Dur(335_539_200);

#[test]
fn a_device_rests_for_a_poll_when_it_is_fresh_and_for_tail_and_restoration_when_it_is_not() {
    asked(&storm(), |context, _| {
        let rests = rests(context);
        assert_eq!(rests, Rests { fresh: Dur::ms(100), used: TAIL + Dur::ms(300) });
    });
}

#[test]
fn a_trial_waits_for_what_the_one_before_left_stormed_and_for_nothing_else() {
    asked(&storm(), |context, script| {
        let over = Dur::ms(700) + Dur::ms(300);
        for (length, number, wants) in [
            (over, 2, Before::Nothing),
            (over - Dur(1), 2, Before::Rest),
            (over - Dur(1), 1, Before::Nothing),
        ] {
            let script = Script { length, ..script.clone() };
            assert_eq!(before(context, &script, number), wants, "trial {number} of {length}");
        }
    });
}

#[test]
fn a_device_that_never_restores_is_booted_before_each_trial() {
    let ran = Ran::of(
        "broadcom",
        "    dut: {pfcwd: {restoration_time: never}}
    streams: {victim: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 254B, every: 500us}}
    storms: {storm: {from: p2, classes: [3]}}
    trials: 1
    steps: [{at: 0ms, start: victim}, {at: 20ms, start: storm, for: 20ms}]
    length: 100ms
    measure: [{storm.coverage: {storm: storm}}]
",
    );
    asked(&ran, |context, script| {
        assert_eq!(before(context, script, 1), Before::Reboot);
        let declared = &context.profile.declared.switch().expect("a switch").pfcwd;
        assert_eq!(rests(context).used, declared.poll_interval, "no storm is in question");
    });
}

#[test]
fn a_nic_whose_limiter_outlives_its_queue_pairs_is_booted_before_each_further_trial() {
    let needs = |rp: &str, number: u32| {
        let ran = Ran::of(
            "gen2",
            &format!(
                "    dut: {{nic: {{generation: gen2, rp: {rp}}}}}
    flows: {{sender: {{nic: p1, class: 3, verb: write, message: 64KiB, mtu: 1024B}}}}
    streams: {{once: {{from: p1, class: 6, kind: cnp, of: sender, every: 10us, count: 1}}}}
    steps: [{{at: 0us, start: sender, for: 50us}}, {{at: 30us, start: once}}]
    length: 80us
    trials: 1
    measure: [{{rate.cut: {{flow: sender}}}}]
"
            ),
        );
        let mut needs = None;
        asked(&ran, |context, script| needs = Some(before(context, script, number)));
        needs.expect("it was asked")
    };
    assert_eq!(needs("{enable: true, scope: qp}", 2), Before::Nothing);
    for scope in ["port", "dest_ip"] {
        let rp = format!("{{enable: true, scope: {scope}}}");
        assert_eq!([needs(&rp, 1), needs(&rp, 2)], [Before::Nothing, Before::Reboot], "{scope}");
    }
    assert_eq!(needs("{enable: false, scope: port}", 2), Before::Nothing);
}

/// A poll that was under way when it was configured comes when it was to: as its profile had it.
#[test]
fn a_device_rests_for_the_wait_that_it_had_begun_before_it_was_configured() {
    let fresh = |interval: &str| {
        let text = "
    dut: {pfcwd: {detection_time: 200ms, restoration_time: 200ms, poll_interval: 100ms}}
    streams: {victim: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 254B, every: 500us}}
    storms: {storm: {from: p2, classes: [3]}}
    trials: 1
    steps: [{at: 0ms, start: victim}, {at: 20ms, start: storm, for: 20ms}]
    length: 100ms
    measure: [{storm.coverage: {storm: storm}}]
";
        let ran = Ran::with("broadcom", text, |profile| {
            for (path, value) in [
                ("pfcwd.detection_time", "5000ms"),
                ("pfcwd.restoration_time", "5000ms"),
                ("pfcwd.poll_interval", interval),
            ] {
                let setting = Setting { path: path.to_owned(), value: value.into() };
                profile.declared = profile.declared.with(&setting).expect("it fits");
            }
        });
        let mut of = None;
        asked(&ran, |context, _| of = Some(rests(context)));
        of.expect("it was asked").fresh
    };
    assert_eq!(fresh("1000ms"), Dur::ms(1_000));
    assert_eq!(fresh("50ms"), Dur::ms(100));
}
