use super::super::fixture::{Device, PROBE, rule, subject, tick};
use super::*;
use rig_lab::RuleFamily;
use rig_units::Time;

const LIMITS: Limits = Limits { alpha: 1e-8, slack: Dur::us(2) };

fn storms(actual: Rule, length: Dur, count: u32) -> Storms {
    let device = Device { rule: actual, polls: Dur::us(5_000), blur: Dur::us(30) };
    let trial = |no: u32| {
        let start = Time(Dur::us(u64::from(no) * 6_007_013).0);
        device.storm(no, start, length, &PROBE)
    };
    Storms { length, trials: (1..=count).map(trial).collect() }
}

fn judged(declared: Rule, storms: &Storms, want: Option<bool>) -> Judgement {
    let about = subject("pfcwd.fired");
    judge(&about, &declared, &PROBE, (storms, &Grid::Unknown), want, &LIMITS)
}

fn broadcom(d: u64) -> Rule {
    rule(RuleFamily::Broadcom, d, 100)
}

#[test]
fn a_storm_below_the_ramp_that_fires_is_a_finding() {
    let half = Dur::ms(100);
    assert_eq!(judged(broadcom(200), &storms(broadcom(200), half, 3), None).findings, []);
    let cisco = rule(RuleFamily::Cisco8000, 100, 100);
    let findings = judged(broadcom(200), &storms(cisco, half, 3), None).findings;
    assert_eq!(findings.len(), 3);
    assert!(
        findings[0].to_string().contains("want no detection of a pause of 100ms, got one after")
    );
}

#[test]
fn a_storm_above_the_ramp_that_does_not_fire_is_a_finding() {
    let long = Dur::ms(301);
    assert_eq!(judged(broadcom(200), &storms(broadcom(200), long, 3), None).findings, []);
    let findings = judged(broadcom(200), &storms(broadcom(400), long, 3), None).findings;
    assert_eq!(findings.len(), 3);
    assert!(findings[0].to_string().contains("want a detection of a pause of 301ms, got none"));
}

#[test]
fn a_case_may_want_what_the_rule_does_not_promise() {
    let healthy = storms(broadcom(200), Dur::ms(250), 20);
    assert_eq!(judged(broadcom(200), &healthy, None).findings, []);
    assert!(!judged(broadcom(200), &healthy, Some(false)).findings.is_empty());
    assert!(!judged(broadcom(200), &healthy, Some(true)).findings.is_empty());
}

#[test]
fn a_count_that_no_phase_explains_is_a_finding() {
    let declared = Rule { jitter: tick(), ..broadcom(200) };
    let middle = Dur::ms(250);
    assert_eq!(judged(declared, &storms(broadcom(200), middle, 80), None).findings, []);
    for d in [100, 300] {
        let findings = judged(declared, &storms(broadcom(d), middle, 80), None).findings;
        assert_eq!(findings.len(), 1, "D = {d}ms");
        assert!(findings[0].want.starts_with("detected with a probability of 0."));
    }
}

#[test]
fn a_count_is_reported_as_bounds_on_the_probability() {
    let reading = judged(broadcom(200), &storms(broadcom(200), Dur::ms(250), 10), None).reading;
    assert!(reading.span.lo > 0 && reading.span.hi < 1_000_000, "{reading}");
    let none = Storms { length: Dur::ms(250), trials: Vec::new() };
    assert_eq!(judged(broadcom(200), &none, None).reading.span, Span { lo: 0, hi: 1_000_000 });
}

#[test]
fn a_share_of_the_phases_is_known_no_better_than_start_and_length() {
    let declared = broadcom(200);
    let halves = storms(declared, Dur::ms(250), 20);
    let grid = Grid::of_trials(&declared, &storms(declared, Dur::ms(310), 4).trials);
    let reading = |slack| {
        let limits = Limits { slack, ..LIMITS };
        measured(&declared, &PROBE, &halves, &grid, &limits)
    };
    let (sharp, blunt) = (reading(Dur::ZERO), reading(Dur::us(100)));
    assert!(sharp.lo > 300_000 && sharp.hi < 700_000, "{sharp:?}");
    // 3 and 2 times 100 us of a poll interval of 100 ms.
    assert_eq!((sharp.lo - blunt.lo, blunt.hi - sharp.hi), (3_000, 2_000));
}
