//! One watchdog over one storm: every phase of its polls, every length of the storm up to those that always fire, every phase of the
//! data.

use crate::world::{At, FAMILIES, Planted, World, dur, rule, ticks, watchdog};
use rig_capture::Span;
use rig_lab::{Action, RuleFamily};
use rig_oracle::spec::pfcwd::{Rule, Stimulus, Storm};
use rig_units::Dur;
use std::collections::BTreeSet;

/// When the model fires at one point, if that and what follows it are as predicted; otherwise what is not, in words.
fn fires(
    rule: &Rule,
    stimulus: &Stimulus,
    world: &World,
    planted: Planted,
) -> Result<Option<At>, String> {
    let interval = ticks(rule.poll_interval);
    let polls = (-2..).map(|k| world.phase + k * interval);
    let [fired, restored] = world.run(rule, watchdog(rule, planted), polls);
    let (phase, length) = (dur(world.phase), dur(world.end));
    let predicted = rule.fires(phase, length, stimulus);
    if predicted.is_some_and(|fires| fires != fired.is_some()) {
        return Err(format!("fires at {fired:?}, predicted {predicted:?}"));
    }
    let Some(at) = fired else { return Ok(None) };
    let span = rule.detects_after(phase, stimulus);
    let on_it = |span: Span| {
        (span.lo..=span.hi).contains(&dur(at).0)
            && (dur(at).0 - span.lo).is_multiple_of(rule.poll_interval.0)
    };
    if !span.is_some_and(on_it) {
        return Err(format!("fires at {at}, predicted {span:?}"));
    }
    let last_frame = world.end - 1;
    let storm = Storm { last_frame: dur(last_frame), pause_end: length, detected: dur(at) };
    let window = rule.restores(&storm, stimulus);
    let inside = match (restored, window) {
        (Some(at), Some(window)) => window.contains(dur(at)),
        (at, window) => at.is_none() && window.is_none(),
    };
    let from = if rule.family == RuleFamily::Cisco8000 { world.end } else { last_frame };
    let next = (world.phase - from).rem_euclid(ticks(rule.poll_interval));
    let exact = rule.restores_after(dur(next)).filter(|_| last_frame > at);
    let is_exact = exact.is_none_or(|exact| restored.map(|at| dur(at - from)) == Some(exact));
    if inside && is_exact {
        return Ok(fired);
    }
    let exact = exact.map(|after| ticks(after) + from);
    let window = window.map(|window| window.to_string());
    Err(format!("fires at {at}, restores at {restored:?}, predicted {exact:?} in {window:?}"))
}

/// Every point of one rule, the shortest storms first: how many there are, or the smallest that is wrong.
///
/// Where the closed form leaves several outcomes, because it is not told the phase of the data, each of them has to come at some.
fn search(rule: &Rule, gap: Option<At>, planted: Planted) -> Result<u64, String> {
    let (interval, spacing) = (ticks(rule.poll_interval), gap.unwrap_or(1));
    let stimulus = Stimulus { data_gap: gap.map(dur) };
    let longest = 3 * interval + spacing + 2;
    let mut points = 0;
    for end in 1..=longest {
        for phase in 0..interval {
            let mut outcomes = BTreeSet::new();
            for first in 1..=spacing {
                let world = World { phase, end, data: gap.map(|gap| (gap, first)) };
                let outcome = fires(rule, &stimulus, &world, planted);
                outcomes.insert(outcome.map_err(|why| format!("{world:?} {why}"))?);
                points += 1;
            }
            let is_told = match rule.fires(dur(phase), dur(end), &stimulus) {
                None => outcomes.len() > 1 && outcomes.contains(&None),
                Some(true) if end == longest => {
                    let span = rule.detects_after(dur(phase), &stimulus);
                    let possible = span.into_iter().flat_map(|span| {
                        let [lo, hi] = [span.lo, span.hi].map(|at| ticks(Dur(at)));
                        (0..=(hi - lo) / interval).map(move |later| Some(lo + later * interval))
                    });
                    outcomes.iter().copied().eq(possible)
                }
                Some(_) => true,
            };
            if !is_told {
                let point = format!("phase {phase}, end {end}, data every {gap:?}");
                return Err(format!("{point}: {outcomes:?} are not all that is predicted"));
            }
        }
    }
    Ok(points)
}

/// A clock's ticks a poll interval, D in intervals, what is done, how far apart data comes.
type Plan = (At, &'static [(At, Action)], &'static [Option<At>]);

/// D as long as a poll interval and as two: a storm over up to three polls.
const ACTIONS: &[(At, Action)] = &[(1, Action::Drop), (2, Action::Drop), (2, Action::Alert)];
/// A hundredth and four fifths of an interval, where rules have edges, are on the clock.
const FINE: At = 200;
/// For data so sparse that there would be too many phases of it: within polls, as polls, sparser than polls.
const COARSE: At = 65;
/// Sparser than two and three polls.
const COARSEST: At = 25;

/// All that is searched of a family. Only two of them look at the data.
const fn plans(family: RuleFamily) -> &'static [Plan] {
    match family {
        RuleFamily::Mellanox | RuleFamily::Barefoot => &[
            (FINE, ACTIONS, &[None, Some(1), Some(2)]),
            (COARSE, &[(2, Action::Alert)], &[Some(30), Some(COARSE), Some(COARSE + 1)]),
            (COARSEST, ACTIONS, &[Some(40), Some(55), Some(80)]),
        ],
        RuleFamily::Broadcom | RuleFamily::Cisco8000 | RuleFamily::IntervalCounter => {
            &[(FINE, ACTIONS, &[None, Some(1)])]
        }
        // It has no polls (timer.rs).
        RuleFamily::Hardware => &[],
    }
}

#[test]
fn the_closed_forms_are_the_watchdog_at_every_phase_of_poll_storm_and_data() {
    let mut all = 0;
    for family in FAMILIES {
        let mut points = 0;
        for &(interval, actions, gaps) in plans(family) {
            for (&action, &gap) in
                actions.iter().flat_map(|one| gaps.iter().map(move |gap| (one, gap)))
            {
                let rule = rule(family, interval, action);
                points += search(&rule, gap, |_, _| {})
                    .unwrap_or_else(|why| panic!("{rule:?}, data every {gap:?}: {why}"));
            }
        }
        println!("{family:?}: {points} points");
        all += points;
    }
    println!("{all} points");
    assert!(all >= 1_000_000, "{all}");
}

/// The smallest point at which a planted departure shows, of the rule with D of two polls over dense data.
fn found(family: RuleFamily, planted: Planted) -> String {
    let rule = rule(family, FINE, (2, Action::Drop));
    search(&rule, Some(1), planted).expect_err("a planted departure is found")
}

#[test]
fn a_detection_time_of_a_microsecond_more_is_found_for_each_family_at_the_smallest_storm() {
    let late: Planted = |config, _| config.detection_time += Dur::us(1);
    let world = |end: At| format!("World {{ phase: 0, end: {end}, data: Some((1, 1)) }}");
    let silent = |end: At| format!("{} fires at None, predicted Some(true)", world(end));
    assert_eq!(found(RuleFamily::Broadcom, late), silent(2 * FINE + 1));
    assert_eq!(found(RuleFamily::Cisco8000, late), silent(FINE + 1));
    assert_eq!(found(RuleFamily::Barefoot, late), silent(2 * FINE + 1));
    assert_eq!(found(RuleFamily::IntervalCounter, late), silent(1));
    // Two polls are above 0.99 D until D is 2.02 of them and more: 405 ticks.
    let late: Planted = |config, _| config.detection_time = dur(405);
    assert_eq!(found(RuleFamily::Mellanox, late), silent(2 * FINE + 1));
}

#[test]
fn a_restoration_of_a_poll_less_is_found_for_each_family() {
    let early: Planted = |_, faults| faults.restores_too_early = true;
    let smallest = FAMILIES.map(|family| found(family, early));
    assert_eq!(
        smallest[0],
        "World { phase: 0, end: 401, data: Some((1, 1)) } fires at 400, restores at Some(600), \
         predicted None in Some(\"T = 4ms\")"
    );
}

#[test]
fn a_pause_that_was_over_by_the_poll_is_found_where_it_is_no_storm() {
    let others = FAMILIES.into_iter().filter(|family| *family != RuleFamily::IntervalCounter);
    for family in others {
        let smallest = found(family, |_, faults| faults.any_pause_is_storm = true);
        assert_eq!(
            smallest,
            "World { phase: 0, end: 1, data: Some((1, 1)) } fires at Some(200), predicted Some(false)"
        );
    }
}
