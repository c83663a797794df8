//! One watchdog over one storm whose polls come late or are left out: every phase, every length of the storm, every order of the shortest
//! and the longest intervals between polls. The closed forms are held at every end of it, and each end that they state is met.

use crate::world::{At, FAMILIES, World, dur, rule, ticks, watchdog};
use rig_lab::{Action, RuleFamily};
use rig_oracle::model::pfcwd::{Event, Watchdog};
use rig_oracle::spec::pfcwd::{Rule, Stimulus, Storm};
use rig_units::Within;
use std::collections::BTreeSet;

/// When each storm fires, `None` where it may not, by its length.
type Outcomes = Vec<BTreeSet<Option<At>>>;

/// A clock on which four fifths of a poll interval are whole.
const P: At = 5;

/// All that is asked of one rule.
struct Search<'a> {
    rule: &'a Rule,
    stimulus: Stimulus,
    /// The intervals that the model has between two polls.
    steps: &'a [At],
    points: u64,
}

/// A storm, and what has become of it by a poll.
#[derive(Debug, Clone)]
struct Walk {
    world: World,
    watchdog: Watchdog,
    at: At,
    fired: Option<At>,
}

impl Search<'_> {
    /// From a poll on, whatever comes after it: when it fires, `None` where it may not; the first that is wrong, in words.
    fn walk(&mut self, mut walk: Walk, fires: &mut BTreeSet<Option<At>>) -> Result<(), String> {
        let (world, at) = (walk.world, walk.at);
        self.points += 1;
        match walk.watchdog.poll(&world.poll(at)).map(|published| published.event) {
            Some(Event::Storm) if walk.fired.is_none() => {
                self.fires(&world, at)?;
                fires.insert(Some(at));
                walk.fired = Some(at);
            }
            Some(Event::Restore) => {
                let fired = walk.fired.unwrap_or(at);
                return self.restores(&world, fired, at);
            }
            Some(Event::Storm) | None => {}
        }
        let longest = ticks(self.rule.longest_interval());
        if walk.fired.is_none() && at > world.end + longest {
            fires.insert(None);
            return self.stays(&world);
        }
        if walk.fired.is_some() && at > world.end + 5 * longest {
            return Err(format!("{world:?} is never restored"));
        }
        for step in self.steps {
            self.walk(Walk { at: at + step, ..walk.clone() }, fires)?;
        }
        Ok(())
    }

    fn fires(&self, world: &World, at: At) -> Result<(), String> {
        let window = self.rule.detection(&self.stimulus);
        let never = self.rule.never_fires_up_to(&self.stimulus);
        let inside = window.is_some_and(|window| window.contains(dur(at)));
        if inside && never.is_some_and(|never| dur(world.end) > never) {
            return Ok(());
        }
        let window = window.map(|window| window.to_string());
        Err(format!("{world:?} fires at {at}, predicted {window:?} and never up to {never:?}"))
    }

    fn stays(&self, world: &World) -> Result<(), String> {
        let always = self.rule.always_fires_from(&self.stimulus);
        // From the very length on at which some have a closed end.
        if always.is_none_or(|always| dur(world.end) <= always) {
            return Ok(());
        }
        Err(format!("{world:?} does not fire, predicted always from {always:?}"))
    }

    fn restores(&self, world: &World, fired: At, at: At) -> Result<(), String> {
        let [last_frame, pause_end, detected] = [world.end - 1, world.end, fired].map(dur);
        let window = self.rule.restores(&Storm { last_frame, pause_end, detected }, &self.stimulus);
        let tail = pause_end - last_frame;
        let whole = self.rule.restoration(tail, &self.stimulus).filter(|_| last_frame > detected);
        let outlasts = whole.is_none_or(|whole| {
            let recovers = self.rule.family == RuleFamily::IntervalCounter;
            recovers || whole.contains(dur(at) - last_frame)
        });
        if outlasts && window.is_some_and(|window| window.contains(dur(at))) {
            return Ok(());
        }
        let window = window.map(|window| window.to_string());
        Err(format!("{world:?} fires at {fired}, restores at {at}, predicted {window:?}"))
    }

    /// Every storm up to those that always fire: when each fires, by its length.
    fn all(&mut self, gap: Option<At>) -> Result<Outcomes, String> {
        let longest = ticks(self.rule.longest_interval());
        let n = At::try_from(self.rule.polls().most).expect("few");
        let mut all = Vec::new();
        for end in 1..=(n + 1) * longest + gap.unwrap_or(1) + 1 {
            let mut fires = BTreeSet::new();
            for (&before, first) in
                self.steps.iter().flat_map(|step| (1..=gap.unwrap_or(1)).map(move |at| (step, at)))
            {
                for phase in 0..before {
                    let world = World { phase, end, data: gap.map(|gap| (gap, first)) };
                    // The poll before the storm has one before it to compare with.
                    let mut watchdog = watchdog(self.rule, |_, _| {});
                    for at in [phase - before - P, phase - before] {
                        watchdog.poll(&world.poll(at));
                    }
                    self.walk(Walk { world, watchdog, at: phase, fired: None }, &mut fires)?;
                }
            }
            all.push(fires);
        }
        Ok(all)
    }
}

/// How late polls come, how many are left out, and the intervals that this makes at its ends.
fn rhythms() -> [(Within, u32, [At; 2]); 3] {
    let late = Within::at_most(dur(1));
    [(late, 0, [P, P + 1]), (Within::ZERO, 1, [P, 2 * P]), (late, 1, [P, 2 * P + 1])]
}

/// D in intervals of a poll, and what is done.
const ACTIONS: [(At, Action); 3] = [(1, Action::Drop), (2, Action::Drop), (2, Action::Alert)];

fn gaps(family: RuleFamily) -> &'static [Option<At>] {
    match family {
        RuleFamily::Mellanox | RuleFamily::Barefoot => &[None, Some(1), Some(P + 2)],
        _ => &[Some(1)],
    }
}

fn search(rule: &Rule, gap: Option<At>, steps: &[At]) -> Result<(u64, Outcomes), String> {
    let mut search =
        Search { rule, stimulus: Stimulus { data_gap: gap.map(dur) }, steps, points: 0 };
    let all = search.all(gap)?;
    Ok((search.points, all))
}

/// The ends that the closed forms state of a family that counts whole intervals, and that some order of intervals has to meet.
fn meets_its_ends(rule: &Rule, all: &[BTreeSet<Option<At>>]) {
    let stimulus = Stimulus { data_gap: Some(dur(1)) };
    let span = rule.detection(&stimulus).expect("it fires").span();
    let fired: BTreeSet<At> = all.iter().flatten().filter_map(|at| *at).collect();
    let [first, last] = [fired.first(), fired.last()].map(|at| *at.expect("some fire"));
    assert_eq!([first, last], [span.lo, span.hi].map(|at| ticks(rig_units::Dur(at))), "{rule:?}");
    let never = all.iter().take_while(|of| of.iter().eq([&None])).count();
    let always = all.len() - all.iter().rev().take_while(|of| !of.contains(&None)).count();
    let [never, always] = [never, always].map(|end| dur(At::try_from(end).expect("few")));
    assert_eq!(rule.never_fires_up_to(&stimulus), Some(never), "{rule:?}");
    // An interval counter with one check fires at any pause, and none is shorter than a tick.
    let from = rule.always_fires_from(&stimulus).expect("it fires").max(dur(1));
    assert_eq!(from, always + dur(1), "{rule:?}");
}

#[test]
fn the_closed_forms_are_the_watchdog_whose_polls_are_late_or_left_out_in_any_order() {
    let mut all = 0;
    for (family, (jitter, skipped_polls, steps)) in
        FAMILIES.iter().flat_map(|&one| rhythms().map(|rhythm| (one, rhythm)))
    {
        for (action, &gap) in
            ACTIONS.iter().flat_map(|&one| gaps(family).iter().map(move |gap| (one, gap)))
        {
            let rule = Rule { jitter, skipped_polls, ..rule(family, P, action) };
            let (points, outcomes) = search(&rule, gap, &steps)
                .unwrap_or_else(|why| panic!("{rule:?}, data every {gap:?}: {why}"));
            if matches!(
                family,
                RuleFamily::Broadcom | RuleFamily::Cisco8000 | RuleFamily::IntervalCounter
            ) {
                meets_its_ends(&rule, &outcomes);
            }
            all += points;
        }
    }
    println!("{all} polls");
    assert!(all >= 1_000_000, "{all}");
}

#[test]
fn a_poll_later_by_a_tick_or_one_more_left_out_is_found() {
    for (family, (jitter, skipped_polls, [short, long])) in
        FAMILIES.iter().flat_map(|&one| rhythms().map(|rhythm| (one, rhythm)))
    {
        let rule = Rule { jitter, skipped_polls, ..rule(family, P, (2, Action::Drop)) };
        for planted in [long + 1, long + P] {
            let found = search(&rule, Some(1), &[short, planted]);
            assert!(found.is_err(), "{rule:?} polled {planted} apart");
        }
    }
}
