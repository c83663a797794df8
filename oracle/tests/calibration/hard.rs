//! Hard bounds: of a watchdog whose storms come at any phase, with polls on a grid and late ones.

use crate::world::{At, FAMILIES, World, dur, rule, ticks, watchdog};
use crate::{Draws, trials};
use rig_capture::Span;
use rig_lab::{Action, RuleFamily};
use rig_oracle::spec::pfcwd::{Rule, Stimulus};
use rig_units::{Dur, Within};

/// 100 ms.
const P: At = 20_000;

/// Polls from before a storm at 0 on, one of them `phase` after it.
fn polls(rule: &Rule, phase: At, mut draws: Draws) -> impl Iterator<Item = At> {
    let late = (ticks(rule.jitter.least()), ticks(rule.jitter.most()));
    let skipped = u64::from(rule.skipped_polls) + 1;
    let step = move || {
        let more = u64::try_from(late.1 - late.0 + 1).expect("not negative");
        let mut any = |below| At::try_from(draws.below(below)).expect("few");
        P * (1 + any(skipped)) + late.0 + any(more)
    };
    let before = phase - 2 * P;
    let mut step = step;
    core::iter::successors(Some(before), move |at| Some(at + step()))
}

/// How far the seen ends are within the bounds, in twentieths of their width; `None` where something lies outside.
fn approached(seen: &[At], bounds: Span) -> Option<bool> {
    let seen: Vec<u64> = seen.iter().map(|&at| dur(at).0).collect();
    let (first, last) = (*seen.iter().min()?, *seen.iter().max()?);
    if first < bounds.lo || bounds.hi < last {
        return None;
    }
    let twentieth = (bounds.hi - bounds.lo) / 20 + dur(1).0;
    Some(first - bounds.lo <= twentieth && bounds.hi - last <= twentieth)
}

/// Detections and, from the last frame on, restorations of storms that outlast their detection.
fn seen(rule: &Rule, gap: At) -> [Vec<At>; 2] {
    let mut draws = Draws(11);
    let [mut detections, mut restorations] = [Vec::new(), Vec::new()];
    for _ in 0..trials() {
        let any = |draws: &mut Draws, most: At| {
            At::try_from(draws.below(u64::try_from(most).expect("positive"))).expect("few")
        };
        let long = ticks(rule.due_within());
        let (phase, end) = (any(&mut draws, P), 5 * long + any(&mut draws, long));
        let world = World { phase, end, data: Some((gap, 1 + any(&mut draws, gap))) };
        let polls = polls(rule, world.phase, Draws(draws.next()));
        let [fired, restored] = world.run(rule, watchdog(rule, |_, _| {}), polls);
        detections.extend(fired);
        restorations.extend(restored.map(|at| at - (end - 1)));
    }
    [detections, restorations]
}

#[test]
fn detection_and_restoration_are_always_within_their_windows_and_meet_both_ends() {
    let tick = Within::between(Dur::us(50), Dur::us(1_100));
    let rhythms = [(Within::ZERO, 0), (tick, 0), (tick, 1)];
    for (family, (jitter, skipped_polls)) in
        FAMILIES.iter().flat_map(|&one| rhythms.map(|rhythm| (one, rhythm)))
    {
        let rule = Rule { jitter, skipped_polls, ..rule(family, P, (2, Action::Drop)) };
        // The ends take one and the same number of polls left out at each of them: too rare to be drawn, walked in exhaustive/late_polls.rs.
        let meets =
            |met: Option<bool>| if skipped_polls == 0 { met == Some(true) } else { met.is_some() };
        let stimulus = Stimulus { data_gap: Some(dur(100)) };
        let [detections, restorations] = seen(&rule, 100);
        let all = usize::try_from(trials()).expect("few");
        assert_eq!((detections.len(), restorations.len()), (all, all), "{rule:?}");
        let window = rule.detection(&stimulus).expect("it fires").span();
        let met = approached(&detections, window);
        assert!(meets(met), "{family:?} {jitter:?} {skipped_polls} {window:?}: {met:?}");
        // The interval counter lets go whatever the storm does: its window is of the last time that it does.
        if family != RuleFamily::IntervalCounter {
            let window = rule.restoration(dur(1), &stimulus).expect("it restores").span();
            let met = approached(&restorations, window);
            assert!(meets(met), "{family:?} {jitter:?} {skipped_polls} {window:?}: {met:?}");
        }
        println!(
            "{family:?}, {jitter} late, {skipped_polls} left out: {all} storms within their windows"
        );
    }
}

#[test]
fn a_window_that_is_too_narrow_or_a_tenth_too_wide_is_found() {
    let seen = [100, 199];
    let of = |lo: At, hi: At| Span { lo: dur(lo).0, hi: dur(hi).0 };
    assert_eq!(approached(&seen, of(100, 200)), Some(true));
    assert_eq!(approached(&seen, of(101, 200)), None);
    assert_eq!(approached(&seen, of(100, 220)), Some(false));
}
