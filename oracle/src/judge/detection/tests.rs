use super::super::fixture::{Device, FAMILIES, PROBE, off, rule, subject, tick};
use super::super::{Sighting, StormTrial};
use super::*;
use proptest::prelude::*;
use rig_capture::FrameRef;
use rig_lab::RuleFamily;
use rig_units::Time;

fn seen(fired: Option<(u64, u64)>) -> StormTrial {
    let fired = match fired {
        Some((lo, hi)) => {
            let after = Span { lo: Dur::us(lo).0, hi: Dur::us(hi).0 };
            Fired::At(Sighting { after, frames: vec![FrameRef(7)] })
        }
        None => Fired::Never,
    };
    StormTrial {
        trial: 1,
        storm_start: Time::ZERO,
        pause_length: Dur::ms(600),
        pause_end: Dur::ms(600),
        last_frame: Dur::ms(599),
        fired,
        restored: None,
        watched: Dur::ms(600),
        followed: Dur::ms(600),
        restarted: false,
    }
}

fn judged(family: RuleFamily, at_most: Option<Dur>, trials: &[StormTrial]) -> Vec<String> {
    let idle = family == RuleFamily::Mellanox;
    let stimulus = Stimulus { data_gap: (!idle).then_some(Dur::us(500)) };
    let rule = rule(family, 200, 100);
    judge(&subject("pfcwd.detection"), &rule, &stimulus, (at_most, Dur::ZERO, true), trials)
        .findings
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn a_reading_that_meets_the_interval_passes() {
    for reading in [(199_900, 200_000), (299_999, 300_100)] {
        assert_eq!(
            judged(RuleFamily::Broadcom, None, &[seen(Some(reading))]),
            Vec::<String>::new()
        );
    }
}

#[test]
fn a_reading_outside_of_it_is_a_finding_with_its_frames() {
    let findings = judged(RuleFamily::Broadcom, None, &[seen(Some((300_000, 300_100)))]);
    assert_eq!(
        findings,
        ["pfcwd.detection: want nP <= T < (n+1)P, n = ceil(200ms / 100ms) = 2: \
         200ms <= T < 300ms, got 300ms to 300.1ms, trial 1, frames #7"]
    );
    assert_eq!(judged(RuleFamily::Broadcom, None, &[seen(Some((199_000, 199_999)))]).len(), 1);
}

#[test]
fn a_reading_that_holds_the_earliest_that_is_predicted_and_is_as_wide_as_that_is_late_tells_nothing()
 {
    let stimulus = Stimulus { data_gap: Some(Dur::us(500)) };
    let untold = |family, reading, at_most| {
        untimed(&seen(Some(reading)), &rule(family, 200, 100), &stimulus, at_most)
    };
    // Predicted are 200 ms to 300 ms.
    let why = untold(RuleFamily::Broadcom, (100_000, 300_000), None).expect("a doubt");
    assert_eq!(
        why,
        "a detection is read as 100ms to 300ms, which holds the earliest that is predicted, 200ms to 299.999999ms, \
         and so much before it that one too early would be read alike"
    );
    assert!(untold(RuleFamily::Broadcom, (0, 450_000), None).is_some());
    for told in [(100_001, 300_000), (200_001, 450_000), (199_999, 300_001)] {
        assert_eq!(untold(RuleFamily::Broadcom, told, None), None, "{told:?}");
    }
    // However little of it that is: a shorter pause of a device that shows nothing until its end.
    for untold_by in [(0, 299_999), (0, 200_000), (99_999, 299_999)] {
        assert!(untold(RuleFamily::Broadcom, untold_by, None).is_some(), "{untold_by:?}");
    }
    // What the case wants is all that is predicted.
    assert!(untold(RuleFamily::Broadcom, (0, 250_000), Some(Dur::ms(250))).is_some());
    // A timer that runs out at one instant, and a coarse reading that is far narrower than it is long.
    assert_eq!(untold(RuleFamily::Hardware, (101_000, 300_000), None), None);
    assert!(untold(RuleFamily::Hardware, (100_000, 300_000), None).is_some());
    let none = untimed(&seen(None), &rule(RuleFamily::Broadcom, 200, 100), &stimulus, None);
    assert_eq!(none, None);
}

#[test]
fn a_storm_that_is_not_detected_is_a_finding() {
    let findings = judged(RuleFamily::Broadcom, None, &[seen(None)]);
    assert!(findings[0].contains("got no detection within 600ms"), "{findings:?}");
}

#[test]
fn an_empty_mellanox_queue_must_never_be_stormed() {
    assert_eq!(judged(RuleFamily::Mellanox, None, &[seen(None)]), Vec::<String>::new());
    let findings = judged(RuleFamily::Mellanox, None, &[seen(Some((250_000, 250_100)))]);
    assert!(findings[0].contains("never stormed, got a detection after"), "{findings:?}");
}

#[test]
fn a_case_may_accept_less_than_the_rule() {
    let at_most = Some(Dur::ms(250));
    let trials = [seen(Some((240_000, 240_100)))];
    assert_eq!(judged(RuleFamily::Broadcom, at_most, &trials), Vec::<String>::new());
    let trials = [seen(Some((260_000, 260_100)))];
    assert_eq!(judged(RuleFamily::Broadcom, at_most, &trials).len(), 1);
}

#[test]
fn a_poll_too_late_is_found_on_the_grid_though_the_interval_allows_it() {
    // Storms at 10 and 60 ms, polls at multiples of 100 ms: 290 and 240 ms. Each is allowed by itself.
    let at = |ms: u64, after: u64| StormTrial {
        storm_start: Time(Dur::ms(ms).0),
        ..seen(Some((after * 1_000, after * 1_000 + 100)))
    };
    assert_eq!(judged(RuleFamily::Broadcom, None, &[at(10, 290), at(60, 240)]).len(), 0);
    // A storm seen half an interval off belongs to no poll of that grid.
    let findings = judged(RuleFamily::Broadcom, None, &[at(10, 290), at(60, 240), at(30, 220)]);
    assert!(
        findings[0].starts_with("pfcwd.poll_interval: want detections congruent"),
        "{findings:?}"
    );
}

#[test]
fn polls_that_begin_afresh_in_each_trial_lie_on_no_grid() {
    let at = |ms: u64, after: u64| StormTrial {
        storm_start: Time(Dur::ms(ms).0),
        restarted: true,
        ..seen(Some((after * 1_000, after * 1_000 + 100)))
    };
    let spread = [at(10, 290), at(60, 240), at(30, 220)];
    assert_eq!(judged(RuleFamily::Broadcom, None, &spread), Vec::<String>::new());
}

/// What eight storms at the given phases show of a device that does not do what is declared.
fn mutant(declared: Rule, actual: Rule, phases: [u64; 8]) -> Vec<String> {
    let device = Device { rule: actual, polls: Dur::us(33_333), blur: Dur::us(60) };
    let trials: Vec<StormTrial> = (1..)
        .zip(phases)
        .map(|(no, phase)| {
            let start = Time(Dur::us(u64::from(no) * 3_000_000 + phase).0);
            device.storm(no, start, Dur::ms(4_000), &PROBE)
        })
        .collect();
    let judgement =
        judge(&subject("pfcwd.detection"), &declared, &PROBE, (None, Dur::ZERO, true), &trials);
    judgement.findings.iter().map(ToString::to_string).collect()
}

#[test]
fn a_device_with_another_detection_time_or_interval_is_found() {
    let phases = [1_000, 20_000, 40_000, 55_000, 60_000, 75_000, 80_000, 99_000];
    for family in FAMILIES {
        let declared = rule(family, 1_000, 100);
        assert_eq!(mutant(declared, declared, phases), Vec::<String>::new());
        for d in [900, 1_100, 1_500, 2_000] {
            let actual = Rule { detection_time: Dur::ms(d), ..declared };
            assert!(!mutant(declared, actual, phases).is_empty(), "{family:?}, D = {d}ms");
        }
        for p in [90, 110, 150, 200] {
            let actual = Rule { poll_interval: Dur::ms(p), ..declared };
            assert!(!mutant(declared, actual, phases).is_empty(), "{family:?}, P = {p}ms");
        }
    }
}

/// Storms of a device that polls every 100 ms, the last of them `odd` after a poll, the others far from any.
fn with_one_at(odd: Dur) -> Vec<StormTrial> {
    let device = Device {
        rule: rule(RuleFamily::Broadcom, 200, 100),
        polls: Dur::ms(30),
        blur: Dur::us(10),
    };
    let starts = [Dur::ms(80), Dur::ms(5_090), Dur::ms(10_030) + odd];
    let storm = |(no, start)| device.storm(no, Time::ZERO + start, Dur::ms(4_000), &PROBE);
    (1..).zip(starts).map(storm).collect()
}

#[test]
fn a_start_that_may_be_off_admits_the_poll_beside_it_and_no_other() {
    let declared = rule(RuleFamily::Broadcom, 200, 100);
    let judged = |trials: &[StormTrial], slack| {
        let about = subject("pfcwd.detection");
        judge(&about, &declared, &PROBE, (None, slack, true), trials).findings.len()
    };
    // A storm that began 1 ms before a poll, which counted, is read 1 ms after it. And the other way round.
    for (begun, by) in [(99, Dur::ms(2).0.cast_signed()), (101, -Dur::ms(2).0.cast_signed())] {
        let mut trials = with_one_at(Dur::ms(begun));
        let one = &mut trials[2];
        one.storm_start = Time(one.storm_start.0.strict_add_signed(by));
        let Fired::At(at) = &mut one.fired else { panic!("a storm") };
        // The reading allows for it.
        let (seen, blur) = (|at: u64| at.strict_add_signed(-by), Dur::ms(2).0);
        at.after = Span { lo: seen(at.after.lo) - blur, hi: seen(at.after.hi) + blur };
        assert_eq!(judged(&trials, Dur::us(900)), 1, "begun at {begun}");
        assert_eq!(judged(&trials, Dur::us(1_100)), 0, "begun at {begun}");
    }
    // A poll too late in the midst of an interval.
    let mut trials = with_one_at(Dur::ms(50));
    let Fired::At(at) = &mut trials[2].fired else { panic!("a storm") };
    at.after = Span { lo: at.after.lo + Dur::ms(20).0, hi: at.after.hi + Dur::ms(120).0 };
    assert_eq!(judged(&trials, Dur::ms(8)), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn a_device_with_the_jitter_that_it_declares_is_never_found_wanting(
        d in 100_u64..900,
        late in prop::collection::vec(50_u64..1_100, 300),
        starts in prop::collection::vec(0_u64..2_000_000, 1..10),
        blur in 1_u64..1_000,
    ) {
        let rule = Rule { jitter: tick(), ..rule(RuleFamily::Broadcom, d, 100) };
        let mut polls = vec![Dur::us(5_000)];
        for late in late {
            polls.push(polls[polls.len() - 1] + Dur::us(100_000 + late));
        }
        let fires_at = usize::try_from(rule.polls().most).unwrap();
        let trials: Vec<StormTrial> = (0..).zip(&starts).map(|(no, &start)| {
            let start = Dur::us(no * 2_500_000 + start);
            let next = polls.iter().position(|&poll| poll >= start).unwrap();
            let after = (polls[next + fires_at] - start).0 / 1_000_000;
            let shown = seen(Some((after.saturating_sub(blur), after + blur)));
            StormTrial { storm_start: Time::ZERO + start, ..shown }
        }).collect();
        let judgement = judge(&subject("pfcwd.detection"), &rule, &PROBE, (None, Dur::ZERO, true), &trials);
        prop_assert_eq!(judgement.findings, []);
    }

    #[test]
    fn a_device_that_does_what_it_declares_is_never_found_wanting(
        family in prop::sample::select(&FAMILIES[..]),
        (d, p) in (100_u64..900, prop::sample::select(vec![100_u64, 200, 250])),
        (polls, blur) in (0_u64..250_000, 0_u64..1_000),
        starts in prop::collection::vec(0_u64..20_000_000, 1..8),
        gap in prop::sample::select(vec![None, Some(1_u64), Some(500), Some(5_000)]),
    ) {
        let rule = rule(family, d, p);
        let stimulus = Stimulus { data_gap: gap.map(Dur::us) };
        let device = Device { rule, polls: Dur::us(polls), blur: Dur::us(blur) };
        let trials: Vec<StormTrial> = (1..).zip(&starts).map(|(no, &start)| {
            device.storm(no, Time(Dur::us(start).0), Dur::ms(4_000), &stimulus)
        }).collect();
        let judgement = judge(&subject("pfcwd.detection"), &rule, &stimulus, (None, Dur::ZERO, true), &trials);
        prop_assert_eq!(judgement.findings, []);
    }

    #[test]
    fn what_a_rig_cannot_know_of_a_start_is_never_held_against_a_device(
        family in prop::sample::select(&FAMILIES[..]),
        (d, p) in (100_u64..900, prop::sample::select(vec![100_u64, 200, 250])),
        (polls, blur) in (0_u64..250_000, 0_u64..1_000),
        starts in prop::collection::vec((1_000_000_u64..20_000_000, 0_u64..=1_000), 1..8),
        (slack, gap) in (0_u64..8_000, prop::sample::select(vec![None, Some(1_u64), Some(500)])),
    ) {
        let rule = rule(family, d, p);
        let stimulus = Stimulus { data_gap: gap.map(Dur::us) };
        let device = Device { rule, polls: Dur::us(polls), blur: Dur::us(blur) };
        let slack = Dur::us(slack);
        let trials: Vec<StormTrial> = (1..).zip(&starts).map(|(no, &(start, part))| {
            let seen = device.storm(no, Time(Dur::us(start).0), Dur::ms(4_000), &stimulus);
            off(&seen, (slack / 1_000 * part, Dur::ZERO), slack)
        }).collect();
        let judgement = judge(&subject("pfcwd.detection"), &rule, &stimulus, (None, slack, true), &trials);
        prop_assert_eq!(judgement.findings, []);
    }
}
