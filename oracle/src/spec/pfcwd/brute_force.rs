//! A watchdog polled step by step, written from the wording of the rules (`pfcwd-traces/README.md`, "What each family
//! decides on" and "State"), against the closed forms, for any D, P, R, length, phase, data gap and jitter.

use super::tests::rule;
use super::*;
use crate::spec::pfcwd::restoration::Storm;
use proptest::prelude::*;

/// Picoseconds, the storm's first XOFF at 0; what came before it is negative.
type At = i64;

fn at(dur: Dur) -> At {
    i64::try_from(dur.0).unwrap()
}

fn dur(at: At) -> Dur {
    Dur(u64::try_from(at).unwrap())
}

/// One storm over one queue.
#[derive(Debug, Clone, Copy)]
struct World {
    /// The pause ends.
    end: At,
    /// An XOFF is sent that often.
    refresh: At,
    /// Data: gap, and when the first frame at or after the storm's start comes.
    data: Option<(At, At)>,
}

/// What a poll can read.
#[derive(Debug, Clone, Copy)]
struct Look {
    at: At,
    rx: At,
    on2off: bool,
    paused: bool,
    duration: At,
    packets: At,
    occupied: bool,
}

impl World {
    fn look(&self, at: At) -> Look {
        let paused = 0 <= at && at < self.end;
        let arrived = |by: At| self.data.map_or(0, |(gap, first)| (by - first).div_euclid(gap) + 1);
        let held = if paused { arrived(at) - arrived(-1) } else { 0 };
        let sent_by = at.min(self.end - 1);
        Look {
            at,
            rx: if at < 0 { 0 } else { sent_by / self.refresh + 1 },
            on2off: at >= self.end,
            paused,
            duration: at.clamp(0, self.end),
            packets: arrived(at) - held,
            occupied: held > 0,
        }
    }

    fn last_frame(&self) -> At {
        (self.end - 1) / self.refresh * self.refresh
    }
}

/// What a watchdog concluded.
#[derive(Debug, PartialEq)]
struct Outcome {
    fired: Option<At>,
    restored: Option<At>,
}

/// Whether the poll that looks now finds the queue stormed.
fn stormed(rule: &Rule, last: &Look, now: &Look) -> bool {
    let (rx, packets) = (now.rx > last.rx, now.packets > last.packets);
    let (elapsed, paused) = (now.at - last.at, now.duration - last.duration);
    match rule.family {
        RuleFamily::Broadcom => rx && now.on2off == last.on2off && now.paused && last.paused,
        RuleFamily::Mellanox => now.occupied && !packets && 100 * paused > 99 * elapsed,
        RuleFamily::Cisco8000 => now.paused,
        RuleFamily::Barefoot => {
            let idle = 5 * paused > 4 * at(rule.poll_interval);
            !packets && if now.occupied { rx } else { idle }
        }
        RuleFamily::IntervalCounter => paused > 0 || now.paused,
        RuleFamily::Hardware => unreachable!("it has no polls"),
    }
}

/// Polls until the watchdog has fired and let go, or nothing can happen any more.
fn watch(rule: &Rule, world: &World, polls: &[At]) -> Outcome {
    let mut outcome = Outcome { fired: None, restored: None };
    let (mut last, mut count, mut sum, mut quiet) = (None, 0, 0, 0);
    let forgets = matches!(rule.family, RuleFamily::Mellanox | RuleFamily::Barefoot);
    let alert = rule.action == Action::Alert && rule.family != RuleFamily::IntervalCounter;
    for now in polls.iter().map(|&at| world.look(at)) {
        let Some(before) = last.replace(now) else { continue };
        let elapsed = now.at - before.at;
        let holds = stormed(rule, &before, &now);
        if outcome.fired.is_none() || alert {
            if !holds {
                (count, sum) = (0, 0);
                if outcome.fired.is_some() {
                    outcome.restored = Some(now.at);
                    break;
                }
                continue;
            }
            count += 1;
            sum += elapsed;
            let enough = match rule.charge {
                Charge::Interval => count * at(rule.poll_interval) >= at(rule.detection_time),
                Charge::Elapsed => 100 * sum > 99 * at(rule.detection_time),
            };
            if enough && count >= i64::from(rule.min_samples) {
                outcome.fired = outcome.fired.or(Some(now.at));
                (count, sum) = (0, 0);
                if forgets {
                    last = None;
                }
            }
            continue;
        }
        let over = match rule.family {
            RuleFamily::Cisco8000 => !now.paused,
            RuleFamily::IntervalCounter => true,
            _ => now.rx == before.rx,
        };
        quiet = if over { quiet + 1 } else { 0 };
        let needed = rule.restoration_time.map(at);
        if over && needed.is_some_and(|needed| quiet * at(rule.poll_interval) >= needed) {
            outcome.restored = Some(now.at);
            break;
        }
    }
    outcome
}

/// Everything random of one run.
#[derive(Debug, Clone)]
struct Run {
    rule: Rule,
    world: World,
    stimulus: Stimulus,
    phase: At,
    polls: Vec<At>,
}

const FAMILIES: [RuleFamily; 5] = [
    RuleFamily::Broadcom,
    RuleFamily::Mellanox,
    RuleFamily::Cisco8000,
    RuleFamily::Barefoot,
    RuleFamily::IntervalCounter,
];

fn runs() -> impl Strategy<Value = Run> {
    let rules = (
        prop::sample::select(&FAMILIES[..]),
        prop::sample::select(vec![100_u64, 200, 250]),
        100_u64..900,
        100_u64..700,
        1_u32..4,
        any::<[bool; 2]>(),
    );
    let share = || 0_i64..1_000_000;
    let storms = (share(), share(), share(), 1_u64..6_000, any::<bool>());
    // How late each poll is, and how many are left out before it, of the most of each.
    let ticks = prop::collection::vec((share(), 0_u32..=1_000), 48);
    let late = prop::sample::select(vec![
        Within::ZERO,
        Within::ZERO,
        Within::between(Dur::us(50), Dur::us(1_100)),
        Within::at_most(Dur::ms(3)),
        Within::between(Dur::ms(10), Dur::ms(80)),
    ]);
    let rhythm = (late, prop::sample::select(vec![0_u32, 0, 0, 1, 3]), ticks);
    (rules, storms, prop::option::weighted(0.8, share()), rhythm).prop_map(
        |((family, p, d, r, samples, [elapsed, alert]), storm, gap, (late, skipped, ticks))| {
            // As often as not on a multiple of P, where the edges are.
            let d = if d % 2 == 0 { d.div_ceil(p) * p } else { d };
            let base = rule(family, d, p, Some(r));
            let rule = Rule {
                charge: if elapsed { Charge::Elapsed } else { Charge::Interval },
                jitter: late,
                skipped_polls: skipped,
                action: if alert { Action::Alert } else { Action::Drop },
                min_samples: samples,
                ..base
            };
            build(rule, storm, gap, &ticks)
        },
    )
}

fn build(
    rule: Rule,
    (phase, length, first, refresh_us, round): (i64, i64, i64, u64, bool),
    gap: Option<i64>,
    ticks: &[(i64, u32)],
) -> Run {
    let (p, n) = (at(rule.poll_interval), i64::try_from(rule.polls().most).unwrap());
    let part = |whole: i64, millionths: i64| {
        i64::try_from(i128::from(whole) * i128::from(millionths) / 1_000_000).unwrap()
    };
    let phase = if round { part(10, phase) * p / 10 } else { part(p, phase) };
    let end = part((n + 3) * at(rule.longest_interval()), length).max(1);
    // Mostly probes, sometimes sparser than P.
    let gap = gap.map(|share| part(part(part(2 * p, share), share), share).max(200_000_000));
    let interval = |k: usize| {
        let (late, skip) = ticks[k % ticks.len()];
        let skipped = skip * (rule.skipped_polls + 1) / 1_001;
        let late = at(rule.jitter.least()) + part(at(rule.jitter.width()), late);
        p * (i64::from(skipped) + 1) + late
    };
    let mut polls = vec![phase - interval(0) - interval(1) - interval(2)];
    for k in 0..46 {
        polls.push(polls[k] + interval(k));
    }
    let first = |gap| part(gap, first).min(gap - 1);
    Run {
        world: World {
            end,
            refresh: at(Dur::us(refresh_us)),
            data: gap.map(|gap| (gap, first(gap))),
        },
        stimulus: Stimulus { data_gap: gap.map(dur) },
        phase: polls.iter().copied().find(|&poll| poll >= 0).unwrap_or(phase),
        rule,
        polls,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn the_closed_forms_agree_with_a_watchdog_polled_step_by_step(run in runs()) {
        let Run { rule, world, stimulus, phase, polls } = &run;
        let Outcome { fired, restored } = watch(rule, world, polls);
        let length = dur(world.end);
        let (never, always) = (rule.never_fires_up_to(stimulus), rule.always_fires_from(stimulus));
        if let Some(at) = fired {
            let window = rule.detection(stimulus).expect("never fires, yet did");
            prop_assert!(window.contains(dur(at)), "{at} not {window}");
            prop_assert!(never.is_some_and(|never| length > never), "{length} never {never:?}");
        } else {
            prop_assert!(always.is_none_or(|always| length <= always), "{length} always {always:?}");
        }
        if rule.on_a_grid() {
            let exact = rule.detects_after(dur(*phase), stimulus);
            if let Some(at) = fired {
                let span = exact.expect("never fires, yet did");
                let on_it = (span.lo..=span.hi).contains(&dur(at).0);
                prop_assert!(on_it && (dur(at).0 - span.lo).is_multiple_of(rule.poll_interval.0), "{at} not {span:?}");
            }
            if let Some(fires) = rule.fires(dur(*phase), length, stimulus) {
                prop_assert_eq!(fires, fired.is_some());
            }
        }
        let Some(detected) = fired else { return Ok(()) };
        let storm = Storm {
            last_frame: dur(world.last_frame()),
            pause_end: length,
            detected: dur(detected),
        };
        match (restored, rule.restores(&storm, stimulus)) {
            (None, None) => {}
            (Some(at), Some(window)) => prop_assert!(window.contains(dur(at)), "{at} not {window}"),
            (got, want) => prop_assert!(false, "restored {got:?}, predicted {want:?}"),
        }
        let outlasts = storm.last_frame > storm.detected && rule.family != RuleFamily::IntervalCounter;
        if let (Some(at), true) = (restored, outlasts) {
            let window = rule.restoration(storm.pause_end - storm.last_frame, stimulus).unwrap();
            let after = dur(at) - storm.last_frame;
            prop_assert!(window.contains(after), "{after} after the last frame, not {window}");
            let from = if rule.family == RuleFamily::Cisco8000 { world.end } else { world.last_frame() };
            let next = polls.iter().find(|&&poll| poll >= from).unwrap() - from;
            if let (true, Some(exact)) = (rule.on_a_grid(), rule.restores_after(dur(next))) {
                prop_assert_eq!(dur(at - from), exact);
            }
        }
    }
}

/// Every phase of the polls and of the data in turn, on a scale of a thousand picoseconds to the interval.
#[test]
fn the_trigger_ramp_is_what_a_walk_over_all_phases_counts() {
    let p = 1_000;
    for (family, gap) in FAMILIES.iter().flat_map(|&family| [(family, None), (family, Some(25))]) {
        let rule = Rule {
            detection_time: Dur(2_000),
            poll_interval: Dur(1_000),
            ..rule(family, 200, 100, None)
        };
        let stimulus = Stimulus { data_gap: gap.map(dur) };
        for end in (900..=3_100).step_by(145) {
            let firsts: Vec<Option<At>> =
                gap.map_or(vec![None], |gap| (0..gap).map(Some).collect());
            let mut fired = 0;
            for (phase, &first) in (0..p).flat_map(|phase| firsts.iter().map(move |f| (phase, f))) {
                let data = gap.zip(first);
                let world = World { end, refresh: 1, data };
                let polls: Vec<At> = (-2..6).map(|k| phase + k * p).collect();
                fired += u128::from(watch(&rule, &world, &polls).fired.is_some());
            }
            let walked = fired * 1_000_000 / (u128::try_from(p).unwrap() * firsts.len() as u128);
            let chance = rule.trigger_probability(dur(end), &stimulus).unwrap();
            // One phase in a thousand either way: the steps of the walk.
            let off = walked.abs_diff(u128::from(chance.ppm()));
            assert!(off <= 1_500, "{family:?} {gap:?} {end}: {walked} against {}", chance.ppm());
        }
    }
}
