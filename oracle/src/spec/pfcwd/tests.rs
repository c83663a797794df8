//! The table of `pfcwd-traces/README.md`, "Intervals", read row by row.

use super::*;
use crate::spec::pfcwd::restoration::Storm;
use rig_capture::Span;
use rig_lab::ConfigPath;
use rig_testcases::read::PREDICTIONS;

pub(super) fn rule(family: RuleFamily, d: u64, p: u64, r: Option<u64>) -> Rule {
    let charge = if family == RuleFamily::Mellanox { Charge::Elapsed } else { Charge::Interval };
    Rule {
        family,
        detection_time: Dur::ms(d),
        restoration_time: r.map(Dur::ms),
        poll_interval: Dur::ms(p),
        action: Action::Drop,
        charge,
        min_samples: 1,
        jitter: Within::ZERO,
        skipped_polls: 0,
        action_latency: Within::ZERO,
        timer_lag: Within::ZERO,
        apart: Apart::NOT,
    }
}

pub(super) fn gap(us: u64) -> Stimulus {
    Stimulus { data_gap: Some(Dur::us(us)) }
}

pub(super) const IDLE: Stimulus = Stimulus { data_gap: None };

fn detection(rule: Rule, stimulus: Stimulus) -> String {
    rule.detection(&stimulus).map_or("never".to_owned(), |window| window.to_string())
}

#[test]
fn detection_is_as_recorded_with_d_twice_p() {
    let of = |family, stimulus| detection(rule(family, 200, 100, None), stimulus);
    assert_eq!(of(RuleFamily::Broadcom, gap(500)), "200ms <= T < 300ms");
    assert_eq!(of(RuleFamily::Broadcom, IDLE), "200ms <= T < 300ms");
    // floor(0.99 x 200 / 100) + 1 = 2, and up to 1 ms of the first interval may be missing.
    assert_eq!(of(RuleFamily::Mellanox, gap(500)), "199.5ms < T < 300ms");
    assert_eq!(of(RuleFamily::Mellanox, gap(50_000)), "199ms < T < 300ms");
    assert_eq!(of(RuleFamily::Mellanox, gap(150_000)), "199ms < T < 350ms");
    assert_eq!(of(RuleFamily::Mellanox, IDLE), "never");
    assert_eq!(of(RuleFamily::Cisco8000, gap(500)), "100ms <= T < 200ms");
    assert_eq!(of(RuleFamily::Barefoot, gap(200)), "199.8ms < T < 300ms");
    assert_eq!(of(RuleFamily::Barefoot, gap(150_000)), "100ms < T < 300ms");
    assert_eq!(of(RuleFamily::Barefoot, IDLE), "180ms < T <= 280ms");
    assert_eq!(of(RuleFamily::IntervalCounter, IDLE), "100ms <= T < 200ms");
}

#[test]
fn a_detection_time_between_two_polls_takes_the_later_one() {
    let of = |family, d, p| rule(family, d, p, None).polls().most;
    assert_eq!(of(RuleFamily::Broadcom, 250, 100), 3);
    assert_eq!(of(RuleFamily::Broadcom, 250, 200), 2);
    assert_eq!(of(RuleFamily::Broadcom, 100, 250), 1);
}

#[test]
fn mellanox_counts_to_99_percent_of_the_detection_time() {
    let of = |d, p| rule(RuleFamily::Mellanox, d, p, None).polls().most;
    assert_eq!(of(251, 250), 1, "pub-mellanox-075");
    assert_eq!(of(1_000, 100), 10);
    assert_eq!(of(203, 100), 3, "0.99 x 203 = 200.97 exceeds two polls");
    assert_eq!(of(202, 100), 2, "0.99 x 202 = 199.98 does not");
}

#[test]
fn never_and_always_are_as_recorded() {
    let of = |family, d, stimulus: Stimulus| {
        let rule = rule(family, d, 100, None);
        let ms = |dur: Option<Dur>| dur.map(|dur| dur.to_string());
        (ms(rule.never_fires_up_to(&stimulus)), ms(rule.always_fires_from(&stimulus)))
    };
    let is = |never: &str, always: &str| (Some(never.to_owned()), Some(always.to_owned()));
    assert_eq!(of(RuleFamily::Broadcom, 200, gap(500)), is("200ms", "300ms"));
    assert_eq!(of(RuleFamily::Mellanox, 200, gap(500)), is("199.5ms", "300ms"));
    assert_eq!(of(RuleFamily::Mellanox, 200, gap(150_000)), is("199ms", "350ms"));
    assert_eq!(of(RuleFamily::Mellanox, 200, IDLE), (None, None));
    assert_eq!(of(RuleFamily::Cisco8000, 200, IDLE), is("100ms", "200ms"));
    assert_eq!(of(RuleFamily::Barefoot, 200, gap(500)), is("199.5ms", "300ms"));
    assert_eq!(of(RuleFamily::Barefoot, 200, IDLE), is("160ms", "260ms"));
    assert_eq!(of(RuleFamily::Barefoot, 100, IDLE), is("80ms", "160ms"));
    assert_eq!(of(RuleFamily::IntervalCounter, 1_000, IDLE), is("800ms", "900ms"));
}

#[test]
fn restoration_is_as_recorded() {
    let of = |family, tail| {
        let rule = rule(family, 200, 100, Some(250));
        rule.restoration(Dur::ms(tail), &gap(500)).map(|window| window.to_string())
    };
    let is = |text: &str| Some(text.to_owned());
    assert_eq!(of(RuleFamily::Broadcom, 3), is("300ms <= T < 400ms"));
    assert_eq!(of(RuleFamily::Mellanox, 3), is("300ms <= T < 400ms"));
    assert_eq!(of(RuleFamily::Barefoot, 3), is("300ms <= T < 400ms"));
    assert_eq!(of(RuleFamily::Cisco8000, 3), is("203ms <= T < 303ms"));
    assert_eq!(rule(RuleFamily::Broadcom, 200, 100, None).restoration(Dur::ZERO, &IDLE), None);
}

#[test]
fn a_storm_whose_last_frame_was_already_seen_restores_on_the_grid() {
    let of = |family| {
        let seen =
            Storm { last_frame: Dur::ms(690), pause_end: Dur::ms(693), detected: Dur::ms(700) };
        let rule = rule(family, 200, 100, Some(200));
        rule.restores(&seen, &gap(500)).map(|window| window.to_string())
    };
    assert_eq!(of(RuleFamily::Broadcom).as_deref(), Some("T = 900ms"));
    assert_eq!(of(RuleFamily::Mellanox).as_deref(), Some("T = 1s"));
    assert_eq!(of(RuleFamily::Barefoot).as_deref(), Some("T = 1s"));
}

#[test]
fn an_alert_ends_with_the_pause() {
    let of = |family, stimulus| {
        let rule = Rule { action: Action::Alert, ..rule(family, 200, 100, None) };
        rule.restoration(Dur::ZERO, &stimulus).map(|window| window.to_string())
    };
    let is = |text: &str| Some(text.to_owned());
    assert_eq!(of(RuleFamily::Broadcom, gap(500)), is("0ms <= T < 100ms"));
    assert_eq!(of(RuleFamily::Cisco8000, gap(500)), is("0ms <= T < 100ms"));
    assert_eq!(of(RuleFamily::Mellanox, gap(500)), is("0ms <= T < 200ms"));
    assert_eq!(of(RuleFamily::Barefoot, gap(500)), is("0ms <= T < 200ms"));
    assert_eq!(of(RuleFamily::Barefoot, IDLE), is("20ms <= T < 220ms"));
}

#[test]
fn jitter_widens_poll_by_poll() {
    let tick = |family| Rule {
        jitter: Within::between(Dur::us(50), Dur::us(1_100)),
        ..rule(family, 1_000, 100, None)
    };
    let broadcom = tick(RuleFamily::Broadcom);
    // Eleven intervals of at most 101.1 ms.
    assert_eq!(detection(broadcom, gap(500)), "1s <= T < 1112.1ms");
    // 0.99 x 919 = 909.8 ms: more than nine intervals of 100 ms, less than nine of 101.1 ms.
    let mellanox = Rule { detection_time: Dur::ms(919), ..tick(RuleFamily::Mellanox) };
    assert_eq!(mellanox.polls(), Polls { fewest: 9, most: 10 });
    // Their sum exceeds 909.8 ms all the same, by an interval at most.
    assert_eq!(detection(mellanox, gap(500)), "909.31ms < T < 1112.01ms");
}

#[test]
fn fewest_samples_hold_back_a_short_detection_time() {
    let rule = Rule { min_samples: 3, ..rule(RuleFamily::Cisco8000, 100, 100, None) };
    assert_eq!(detection(rule, IDLE), "200ms <= T < 300ms");
    assert_eq!(
        rule.detection_resolution(Dur::ZERO).to_string(),
        "pfcwd.detection_time in (0ms, 300ms]"
    );
}

#[test]
fn only_the_number_of_polls_can_be_resolved() {
    let broadcom = rule(RuleFamily::Broadcom, 1_000, 100, Some(1_000));
    assert_eq!(
        broadcom.detection_resolution(Dur::ZERO).to_string(),
        "pfcwd.detection_time in (900ms, 1s]"
    );
    assert_eq!(
        broadcom.restoration_resolution(Dur::ZERO).map(|alike| alike.to_string()).as_deref(),
        Some("pfcwd.restoration_time in (900ms, 1s]")
    );
    let mellanox = rule(RuleFamily::Mellanox, 1_000, 100, None);
    assert_eq!(
        mellanox.detection_resolution(Dur::ZERO).to_string(),
        "pfcwd.detection_time in [909.09ms, 1010.102ms)"
    );
    assert_eq!(mellanox.restoration_resolution(Dur::ZERO), None);
    // Readings that are wider than polls lie apart leave as many more open, and those that are narrower none.
    for (blur, detection, restoration) in [
        (Dur(Dur::ms(100).0 - 1), "(900ms, 1s]", "(900ms, 1s]"),
        (Dur::ms(100), "(800ms, 1.1s]", "(800ms, 1.1s]"),
        (Dur::ms(450), "(500ms, 1.4s]", "(500ms, 1.4s]"),
        (Dur::ms(2_000), "(0ms, 3s]", "(0ms, 3s]"),
    ] {
        let told = broadcom.detection_resolution(blur).to_string();
        assert_eq!(told, format!("pfcwd.detection_time in {detection}"));
        let told = broadcom.restoration_resolution(blur).map(|alike| alike.to_string());
        assert_eq!(told, Some(format!("pfcwd.restoration_time in {restoration}")));
    }
}

#[test]
fn the_resolution_is_where_the_number_of_polls_changes() {
    let n = |family, us| {
        let rule = Rule { detection_time: Dur::us(us), ..rule(family, 1_000, 100, None) };
        rule.polls().most
    };
    assert_eq!(
        [900_000, 900_001, 1_000_000, 1_000_001].map(|us| n(RuleFamily::Broadcom, us)),
        [9, 10, 10, 11]
    );
    assert_eq!(
        [909_090, 909_091, 1_010_101, 1_010_102].map(|us| n(RuleFamily::Mellanox, us)),
        [9, 10, 10, 11]
    );
}

#[test]
fn a_prediction_shows_formula_and_numbers() {
    let text = |rule: Rule, stimulus| rule.predicted_detection(&stimulus).map(|p| p.text);
    assert_eq!(
        text(rule(RuleFamily::Broadcom, 200, 100, None), gap(500)).as_deref(),
        Some("nP <= T < (n+1)P, n = ceil(200ms / 100ms) = 2: 200ms <= T < 300ms")
    );
    assert_eq!(
        text(rule(RuleFamily::Mellanox, 200, 100, None), gap(500)).as_deref(),
        Some(
            "nP - min(0.01P, g) < T < (n+1)P, n = floor(0.99 x 200ms / 100ms) + 1 = 2: \
             199.5ms < T < 300ms"
        )
    );
    let restoration = rule(RuleFamily::Broadcom, 200, 100, Some(200))
        .predicted_restoration(Dur::ms(1), &gap(500))
        .map(|prediction| (prediction.text, prediction.span));
    assert_eq!(
        restoration,
        Some((
            "mP <= T < (m+1)P, m = ceil(200ms / 100ms) = 2: 200ms <= T < 300ms".to_owned(),
            Span { lo: 200_000_000_000, hi: 299_999_999_999 }
        ))
    );
}

#[test]
fn the_ramp_of_a_whole_interval_rule_is_linear() {
    let chance = |family, us, stimulus: Stimulus| {
        rule(family, 200, 100, None).trigger_probability(Dur::us(us), &stimulus).map(Chance::ppm)
    };
    let broadcom = |us| chance(RuleFamily::Broadcom, us, gap(500));
    assert_eq!(broadcom(200_000), Some(0));
    assert_eq!(broadcom(225_000), Some(250_000));
    assert_eq!(broadcom(300_000), Some(1_000_000));
    assert_eq!(chance(RuleFamily::Cisco8000, 125_000, IDLE), Some(250_000));
    // Idle barefoot: a fifth of the phases over 160..180 ms, the rest over 180..260 ms.
    let idle = |us| chance(RuleFamily::Barefoot, us, IDLE);
    assert_eq!(idle(170_000), Some(100_000));
    assert_eq!(idle(180_000), Some(200_000));
    assert_eq!(idle(220_000), Some(600_000));
    assert_eq!(idle(260_000), Some(1_000_000));
    assert_eq!(chance(RuleFamily::Mellanox, 5_000_000, IDLE), Some(0));
}

#[test]
fn the_data_phase_bends_the_foot_of_the_ramp() {
    // g = 1 ms = 0.01 P: x uniform in the last ms, early with probability 1 - x/g. Above nP - g by half a gap:
    // the integral of 1 - x/g from g/2 to g is g/8, so g/8P; at nP it is g/2P; the late part starts only there.
    let rule = rule(RuleFamily::Mellanox, 200, 100, None);
    let ppm = |us| rule.trigger_probability(Dur::us(us), &gap(1_000)).map(Chance::ppm);
    assert_eq!(ppm(199_000), Some(0));
    assert_eq!(ppm(199_500), Some(1_250));
    assert_eq!(ppm(200_000), Some(5_000));
    assert_eq!(ppm(300_000), Some(1_000_000));
}

#[test]
fn a_case_may_compute_with_predictions_by_name() {
    let names = Names {
        rule: rule(RuleFamily::Broadcom, 200, 100, Some(200)),
        stimulus: gap(500),
        tail: Dur::ms(3),
    };
    let value = |name: &str| names.lookup(name).map(|dur| dur.to_string());
    assert_eq!(value("predicted.detection.latest").as_deref(), Some("300ms"));
    assert_eq!(value("predicted.never-fires").as_deref(), Some("200ms"));
    assert_eq!(value("predicted.nonsense"), None);
    assert!(PREDICTIONS.iter().all(|name| names.lookup(name).is_some()));
    assert_eq!(
        names.interval("trigger-ramp"),
        Some(Span { lo: Dur::ms(200).0, hi: Dur::ms(300).0 })
    );
}

fn declared() -> Pfcwd {
    Pfcwd { config_path: ConfigPath::Yang, ..Pfcwd::dropping() }
}

#[test]
fn the_limits_of_a_configuration_are_those_of_orchagent_and_yang() {
    let takes = |wanted: Pfcwd| accepts(&declared(), &wanted, RuleFamily::Broadcom).is_ok();
    let detection = |ms| Pfcwd { detection_time: Dur::ms(ms), ..declared() };
    assert!(takes(detection(100)) && takes(detection(5_000)));
    assert!(!takes(detection(99)) && !takes(detection(5_001)));
    let restoration = |ms| Pfcwd { restoration_time: Some(Dur::ms(ms)), ..declared() };
    assert!(takes(restoration(100)) && takes(restoration(60_000)));
    assert!(!takes(restoration(99)) && !takes(restoration(60_001)));
    assert!(takes(Pfcwd { restoration_time: None, ..declared() }));
    let slow = Pfcwd { poll_interval: Dur::ms(201), ..declared() };
    assert!(!takes(slow.clone()));
    assert!(takes(Pfcwd { config_path: ConfigPath::Redis, ..slow }));
    assert!(!takes(Pfcwd { poll_interval: Dur::ZERO, ..declared() }));
    let forward = Pfcwd { action: Action::Forward, ..declared() };
    assert!(takes(forward.clone()));
    assert!(accepts(&declared(), &forward, RuleFamily::Cisco8000).is_err());
}

#[test]
fn what_is_typed_has_its_own_limits_and_a_command_looks_at_what_it_sets_alone() {
    let typed = Pfcwd {
        config_path: ConfigPath::Cli,
        detection_time: Dur::s(1),
        restoration_time: Some(Dur::s(2)),
        ..declared()
    };
    let takes = |wanted: &Pfcwd| accepts(&typed, wanted, RuleFamily::Broadcom).is_ok();
    let every = |ms| Pfcwd { poll_interval: Dur::ms(ms), ..typed.clone() };
    assert!(takes(&every(101)) && takes(&every(1_000)));
    assert!(!takes(&every(99)) && !takes(&every(1_001)));
    // One of the two times that are set is shorter.
    assert!(!takes(&Pfcwd { detection_time: Dur::ms(400), ..every(401) }));
    assert!(!takes(&Pfcwd { restoration_time: Some(Dur::ms(400)), ..every(401) }));
    assert!(takes(&Pfcwd { restoration_time: None, ..every(401) }));
    // The interval is not typed, and nobody looks at it.
    let slow = every(400);
    let short = Pfcwd { detection_time: Dur::ms(100), ..slow.clone() };
    assert!(accepts(&slow, &short, RuleFamily::Broadcom).is_ok());
    let long = Pfcwd { detection_time: Dur::ms(5_001), ..typed.clone() };
    assert!(!takes(&long), "orchagent's range is the command's, too");
}

/// 100 ppm: 200 ms less 20 us, and 300 ms / 0.9999 = 300.0300030003 ms.
#[test]
fn by_a_clock_that_may_be_off_every_form_widens_and_there_is_no_grid() {
    let right = rule(RuleFamily::Broadcom, 200, 100, Some(200));
    let apart = Apart::of(rig_units::Ppm(100), rig_units::Ppm(0));
    let off = Rule { apart, ..right };
    let shown = |window: Option<Window>| window.expect("a window").to_string();
    let want = "199.98ms <= T < 300.030003001ms";
    assert_eq!(shown(off.detection(&gap(500))), want);
    assert_eq!(shown(off.restoration(Dur::ZERO, &gap(500))), want);
    assert_eq!(off.never_fires_up_to(&gap(500)), Some(Dur::us(199_980)));
    assert_eq!(off.always_fires_from(&gap(500)), Some(Dur(300_030_003_001)));
    assert!(right.on_a_grid() && !off.on_a_grid());
    // What it charges by is its own clock: as many polls as ever.
    assert_eq!(off.polls(), right.polls());
    let (least, most) = off.chances(Dur::ms(250), &gap(500));
    let exact = right.chances(Dur::ms(250), &gap(500)).0.ppm();
    assert!(least.ppm() < exact && exact < most.ppm(), "{least:?} {most:?}");
    assert!(most.ppm() - least.ppm() < 1_000, "{least:?} {most:?}");
    let storm = Storm { last_frame: Dur::ms(9), pause_end: Dur::ms(9), detected: Dur::ms(10) };
    let restored = off.restores(&storm, &gap(500));
    assert_eq!(shown(restored), "209.98ms <= T <= 210.020002001ms");
}
