//! A watchdog in hardware over two pauses: every length of both and of the break between them, every lag of its timers. It is asked when it
//! wants to be, and at every tick.

use crate::world::{At, Planted, TICK, dur, rule, watchdog};
use rig_lab::{Action, RuleFamily};
use rig_oracle::model::pfcwd::{Event, Paused};
use rig_oracle::spec::pfcwd::{Rule, Stimulus, Storm};
use rig_units::{Dur, Time, Within};

const IDLE: Stimulus = Stimulus { data_gap: None };
/// D and R in ticks.
const DETECTION: At = 20;

/// Two pauses, the first from 0 on.
#[derive(Debug, Clone, Copy)]
struct World {
    first: At,
    gap: At,
    second: At,
    lag: At,
}

impl World {
    fn pauses(&self) -> [(At, At); 2] {
        let again = self.first + self.gap;
        [(0, self.first), (again, again + self.second)]
    }

    /// When everything is over.
    fn end(&self) -> At {
        self.first + self.gap + self.second + 4 * (DETECTION + self.lag)
    }

    fn at(&self, at: At) -> Paused {
        let since = self.pauses().into_iter().find(|&(from, until)| from <= at && at < until);
        let passed = |(from, until): (At, At)| (at.min(until) - from).max(0);
        let in_all: At = self.pauses().into_iter().map(passed).sum();
        Paused {
            at: Time::ZERO + dur(at),
            since: since.map(|(from, _)| Time::ZERO + dur(from)),
            in_all_us: dur(in_all).0 / Dur::us(1).0,
        }
    }

    /// What the model does when it is asked at the times that it wants, or at each tick.
    fn run(&self, rule: &Rule, planted: Planted, at_each_tick: bool) -> Vec<(At, Event)> {
        let mut watchdog = watchdog(rule, planted);
        let mut events = Vec::new();
        let mut at = 0;
        while at <= self.end() {
            let published = watchdog.look(&self.at(at), || dur(self.lag));
            events.extend(published.map(|published| (at, published.event)));
            let wants = watchdog.asks().expect("it polls nothing");
            let wants = At::try_from((wants - Time::ZERO).0.div_ceil(TICK.0)).unwrap_or(At::MAX);
            at = if at_each_tick { at + 1 } else { wants.max(at + At::from(published.is_none())) };
        }
        events
    }

    /// The closed forms, one storm after the other.
    fn predicted(&self, rule: &Rule) -> Vec<(At, Event)> {
        let (mut events, mut free) = (Vec::new(), 0);
        for (from, until) in self.pauses() {
            let mut from = from.max(free);
            while from < until && rule.fires(Dur::ZERO, dur(until - from), &IDLE) == Some(true) {
                let after = |window: rig_oracle::spec::pfcwd::Window| {
                    let span = window.span();
                    assert_eq!(span.lo, span.hi, "its lags are all alike");
                    At::try_from(span.lo / TICK.0).expect("few")
                };
                let at = from + after(rule.detection(&IDLE).expect("it fires"));
                let end = dur(until);
                let storm = Storm { last_frame: end, pause_end: end, detected: dur(at) };
                let restored = after(rule.restores(&storm, &IDLE).expect("it does"));
                events.extend([(at, Event::Storm), (restored, Event::Restore)]);
                (from, free) = (restored, restored);
            }
        }
        events.retain(|&(at, _)| at <= self.end());
        events
    }
}

/// Every point, the shortest first: how many there are, or the smallest that is wrong.
fn search(planted: Planted) -> Result<u64, String> {
    let mut points = 0;
    for first in 1..=3 * DETECTION {
        for (gap, second) in (1..=6).flat_map(|gap| (0..=2 * DETECTION).map(move |s| (gap, s))) {
            for lag in 0..=6 {
                let timed = rule(RuleFamily::Hardware, DETECTION / 2, (2, Action::Drop));
                let timed = Rule { timer_lag: Within::exactly(dur(lag)), ..timed };
                let world = World { first, gap, second, lag };
                let want = world.predicted(&timed);
                for at_each_tick in [false, true] {
                    let got = world.run(&timed, planted, at_each_tick);
                    if got != want {
                        return Err(format!("{world:?} does {got:?}, predicted {want:?}"));
                    }
                    points += 1;
                }
            }
        }
    }
    Ok(points)
}

#[test]
fn the_closed_forms_are_the_timers_at_every_length_of_two_pauses_and_of_the_break_between() {
    let points = search(|_, _| {}).unwrap_or_else(|why| panic!("{why}"));
    println!("{points} points");
    assert!(points >= 200_000, "{points}");
}

#[test]
fn a_planted_departure_is_found_at_the_smallest_pauses() {
    let found = |planted| search(planted).expect_err("a planted departure is found");
    let world = |first, gap, second| {
        format!("World {{ first: {first}, gap: {gap}, second: {second}, lag: 0 }} ")
    };
    let late = found(|config, _| config.detection_time += Dur::us(1));
    assert!(late.starts_with(&world(1, 1, DETECTION + 1)), "{late}");
    let early = found(|_, faults| faults.restores_too_early = true);
    assert!(early.starts_with(&world(1, 1, DETECTION + 1)), "{early}");
    let adds_up = found(|_, faults| faults.timer_not_reset_by_gap = true);
    assert!(adds_up.starts_with(&world(1, 1, DETECTION)), "{adds_up}");
    // A second pause that is on when the recovery from the first is over.
    let waits = found(|_, faults| faults.recovery_waits_for_quiet = true);
    assert!(waits.starts_with(&world(DETECTION + 1, 1, DETECTION - 1)), "{waits}");
}
