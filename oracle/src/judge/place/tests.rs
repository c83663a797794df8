use super::super::fixture::{Device, FAMILIES, PROBE, rule, tick};
use super::super::{Fired, fired, ramp};
use super::*;
use crate::Judgement;
use crate::judge::Subject;
use crate::spec::pfcwd::Rule;
use proptest::prelude::*;
use rig_lab::RuleFamily;
use rig_units::Time;

fn setup(seed: u64) -> Setup {
    Setup { seed, slack: Dur::us(2), alpha: 1e-8, resolution: 0.5 }
}

/// Runs a planner against a device; each trial starts a second after the last.
fn run(
    planner: &mut Planner,
    device: &Device,
    length: Dur,
    data: &Stimulus,
) -> Vec<(Ask, StormTrial)> {
    let mut now = Time(Dur::us(777).0);
    let mut all = Vec::new();
    while let Some(ask) = planner.ask() {
        let p = planner.rule.poll_interval;
        now += Dur::s(5);
        let start = match ask.place {
            Place::Anywhere(wait) => now + wait,
            Place::Phase(phase) => now + (phase + p - now.elapsed() % p) % p,
        };
        let number = u32::try_from(all.len() + 1).unwrap();
        let seen = device.storm(number, start, ask.length.unwrap_or(length), data);
        planner.seen(&ask, &seen);
        all.push((ask, seen));
        assert!(all.len() < 10_000, "the planner never ends");
    }
    all
}

fn device(rule: Rule, polls: u64) -> Device {
    Device { rule, polls: Dur::us(polls), blur: Dur::us(30) }
}

#[test]
fn detections_are_placed_at_both_edges_once_two_have_shown_the_polls() {
    let rule = rule(RuleFamily::Broadcom, 200, 100);
    let mut planner = Planner::detection(rule, PROBE, 10, setup(7));
    let all = run(&mut planner, &device(rule, 33_333), Dur::ms(700), &PROBE);
    assert_eq!(all.len(), 10);
    assert!(all[..2].iter().all(|(ask, _)| matches!(ask.place, Place::Anywhere(_))));
    let us = |seen: &StormTrial| seen.detection().unwrap().after.hi / 1_000_000;
    for (ask, seen) in &all[2..] {
        let after = us(seen);
        if ask.why.starts_with("just before") {
            assert!((200_000..200_200).contains(&after), "{after} us, {}", ask.why);
        } else {
            assert!((299_800..300_200).contains(&after), "{after} us, {}", ask.why);
        }
    }
}

#[test]
fn a_void_trial_is_asked_again_and_all_that_were_planned_are_had() {
    let rule = rule(RuleFamily::Broadcom, 200, 100);
    let points = |planner: &mut Planner| {
        for _ in 0..9 {
            planner.void(&planner.ask().expect("asked again"));
        }
        let all = run(planner, &device(rule, 33_333), Dur::ms(700), &PROBE);
        all.iter().map(|(ask, _)| ask.point).collect::<Vec<_>>()
    };
    let mut plain = Planner::plain(rule, PROBE, (2, 1), setup(7));
    assert_eq!(points(&mut plain), [0, 1]);
    let mut latency = Planner::detection(rule, PROBE, 2, setup(7));
    assert_eq!(points(&mut latency), [0, 0]);
}

#[test]
fn a_trial_that_showed_nothing_is_done_with() {
    let rule = rule(RuleFamily::Broadcom, 200, 100);
    let mut planner = Planner::plain(rule, PROBE, (2, 1), setup(7));
    let asked: Vec<usize> = core::iter::from_fn(|| {
        let ask = planner.ask()?;
        planner.spent(&ask);
        Some(ask.point)
    })
    .collect();
    assert_eq!(asked, [0, 1]);
}

#[test]
fn the_same_seed_asks_the_same_and_another_does_not() {
    let rule = rule(RuleFamily::Broadcom, 200, 100);
    let first = |seed| Planner::detection(rule, PROBE, 10, setup(seed)).ask().unwrap().place;
    assert_eq!(first(1), first(1));
    assert_ne!(first(1), first(2));
}

fn lengths(rule: &Rule, points: u64) -> Vec<Dur> {
    let Span { lo, hi } = rule.trigger_ramp(&PROBE).unwrap();
    let (lo, hi) = (lo.saturating_sub(Dur::ms(20).0), hi + Dur::ms(20).0);
    (0..points).map(|i| Dur(lo + (hi - lo) * i / (points - 1))).collect()
}

fn ramp_of(declared: Rule, actual: Rule, seed: u64, polls: u64) -> (ramp::Ramp, usize) {
    let lengths = lengths(&declared, 6);
    let mut planner = Planner::ramp(declared, PROBE, lengths.clone(), setup(seed));
    let all = run(&mut planner, &device(actual, polls), Dur::ZERO, &PROBE);
    let trials = all.len();
    let (calibrations, rest): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(ask, _)| ask.calibrate);
    let storms: Vec<fired::Storms> = (0..)
        .zip(&lengths)
        .map(|(i, &length)| {
            let of = rest.iter().filter(|(ask, _)| ask.point == i);
            fired::Storms { length, trials: of.map(|(_, seen)| seen.clone()).collect() }
        })
        .collect();
    let calibrations: Vec<StormTrial> = calibrations.into_iter().map(|(_, seen)| seen).collect();
    let subject =
        Subject { measure: "pfcwd.fired", on: "storm@p2 class 3".to_owned(), point: String::new() };
    let limits = fired::Limits { alpha: 1e-8, slack: Dur::us(2) };
    (ramp::judge(&subject, &declared, &PROBE, &calibrations, &storms, &limits), trials)
}

fn findings(ramp: &ramp::Ramp) -> Vec<String> {
    let of_points = ramp.judgements.iter().flat_map(|judgement| &judgement.findings);
    ramp.findings.iter().chain(of_points).map(ToString::to_string).collect()
}

#[test]
fn a_ramp_takes_two_trials_a_length_and_brackets_the_prediction() {
    for family in FAMILIES {
        let rule = rule(family, 300, 100);
        let (ramp, trials) = ramp_of(rule, rule, 3, 45_678);
        assert_eq!(findings(&ramp), Vec::<String>::new(), "{family:?}");
        assert_eq!(trials, 2 + 2 * 6, "{family:?}");
        for point in &ramp.curve.points {
            let Span { lo, hi } = point.measured;
            assert!(lo <= point.predicted.lo && point.predicted.hi <= hi, "{family:?} {point:?}");
            assert!(hi - lo < 40_000, "{family:?} {point:?}");
        }
    }
}

#[test]
fn a_ramp_in_the_wrong_place_is_found() {
    for family in FAMILIES {
        let declared = rule(family, 300, 100);
        for d in [200, 400] {
            let actual = Rule { detection_time: Dur::ms(d), ..declared };
            let (ramp, _) = ramp_of(declared, actual, 3, 45_678);
            assert!(!findings(&ramp).is_empty(), "{family:?} {d}ms");
            // A poll too soon or too late shows at each length that fires at some phases, on one side of where it ceases to.
            let at_some = |one: &&Judgement| (1..1_000_000).contains(&one.prediction.span.lo);
            let mut inside = ramp.judgements.iter().filter(at_some);
            assert!(inside.clone().count() >= 4, "{family:?} {d}ms");
            assert!(inside.all(|one| !one.findings.is_empty()), "{family:?} {d}ms");
        }
        let actual = Rule { poll_interval: Dur::ms(110), ..declared };
        let (ramp, _) = ramp_of(declared, actual, 3, 45_678);
        assert!(!findings(&ramp).is_empty(), "{family:?} 110ms");
    }
}

#[test]
fn with_jitter_certain_lengths_take_two_trials_and_others_are_counted() {
    let tick = Rule { jitter: tick(), ..rule(RuleFamily::Broadcom, 300, 100) };
    let lengths = [290, 350, 420].map(Dur::ms).to_vec();
    let planner = Planner::ramp(tick, PROBE, lengths.clone(), setup(1));
    let of: Vec<u32> = lengths.iter().map(|&length| planner.trials_of(length)).collect();
    assert_eq!((of[0], of[2]), (2, 2));
    assert!((20..200).contains(&of[1]), "{of:?}");
    assert!(matches!(planner.ask().map(|ask| ask.place), Some(Place::Anywhere(_))));
}

#[test]
fn a_device_that_never_fires_does_not_hold_up_the_planner() {
    let declared = rule(RuleFamily::Broadcom, 300, 100);
    let dead = Rule { min_samples: 90, ..declared };
    let (ramp, _) = ramp_of(declared, dead, 3, 45_678);
    let all = findings(&ramp);
    assert!(all[0].contains("want a detection of a pause of 500ms, got none"), "{all:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_healthy_ramp_is_never_found_wanting(
        family in prop::sample::select(&FAMILIES[..]),
        (d, p) in (100_u64..700, prop::sample::select(vec![100_u64, 200])),
        seed in any::<u64>(), polls in 0_u64..200_000,
    ) {
        let rule = rule(family, d, p);
        let (ramp, _) = ramp_of(rule, rule, seed, polls);
        prop_assert_eq!(findings(&ramp), Vec::<String>::new());
    }

    #[test]
    fn no_trial_of_a_healthy_ramp_is_wasted(
        (d, p) in (100_u64..700, prop::sample::select(vec![100_u64, 200])),
        seed in any::<u64>(), polls in 0_u64..200_000,
    ) {
        // For a whole-interval rule each placed storm is certain: it fires or does not as asked.
        let rule = rule(RuleFamily::Broadcom, d, p);
        let n = rule.polls().most;
        let middle = rule.poll_interval * n + rule.poll_interval / 2;
        let mut planner = Planner::ramp(rule, PROBE, vec![middle], setup(seed));
        let all = run(&mut planner, &device(rule, polls), Dur::ZERO, &PROBE);
        let fired: Vec<bool> = all.iter().map(|(_, seen)| seen.fired != Fired::Never).collect();
        prop_assert_eq!(fired, vec![true, true, true, false]);
    }
}
