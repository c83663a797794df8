//! Which trials a session runs: placed by the judge where its measures need it, else a fixed number at random moments.

use rig_oracle::judge::moved;
use rig_oracle::judge::place::Setup;
use rig_oracle::judge::{self, Planner, Seen};
use rig_oracle::measure::{self, Placement, class};
use rig_oracle::spec::wred::Burst;
use rig_oracle::trials::ask::{Ask, Place, Role};
use rig_oracle::trials::context::Context;
use rig_oracle::trials::effort::Effort;
use rig_oracle::trials::points::Point;
use rig_oracle::trials::seed::Seed;
use rig_oracle::trials::threshold_search::{Mark, ThresholdSearch};
use rig_testcases::Sweep;
use rig_units::{Dur, Ppm};

/// Trials still to run.
#[derive(Debug)]
pub enum Plan {
    /// The judge places each by what the ones before showed.
    Placed(Box<Planner>),
    /// A fixed number, wherever they fall: cases in which no watchdog acts.
    Anywhere(Anywhere),
    /// Numbers of frames are searched, each trial wherever it falls.
    ThresholdSearch(Box<Searching>),
}

/// A search, and where in the poll interval its trials fall.
#[derive(Debug)]
pub struct Searching {
    hunt: ThresholdSearch,
    draws: Seed,
    within: Dur,
}

/// So many trials at each point.
#[derive(Debug)]
pub struct Anywhere {
    draws: Seed,
    within: Dur,
    points: usize,
    each: u32,
    done: u32,
}

/// Trials at each point when neither the case nor a judgement says: what shows in every other one is missed by all of them in one
/// run of 2^3.
const DEFAULT_TRIALS: u32 = 3;
/// The chance with which a corner that is off by as much as the effort says is to be noticed.
const POWER: Ppm = Ppm(990_000);
/// More bursts than these are not planned: a case that wants them says so.
const MOST_BURSTS: u32 = 1_000;

impl Plan {
    /// The plan of a session; `alpha` is what one judgement of counts may spend of the false-alarm budget.
    pub fn of(context: &Context<'_>, points: &[Point], alpha: f64, effort: Effort) -> Plan {
        let setup = Setup {
            seed: context.plan_seed(),
            slack: context.slack(),
            alpha,
            resolution: f64::from(effort.resolution) / 1e6,
        };
        let (rule, stimulus) = (context.rule, context.stimulus);
        let case = context.case;
        let wants = |placement: Placement| {
            case.measure.iter().any(|measure| measure::of(measure).placement == placement)
        };
        let ramp = wants(Placement::Ramp) && case.sweep.iter().any(Sweep::is_variable);
        let (trials, _) = each(context, points, alpha, effort);
        if let Some(hunt) =
            ThresholdSearch::of(case.measure.iter().map(|one| (measure::of(one).stages)(one)))
        {
            let (draws, within) = (Seed::of_run(setup.seed), rule.longest_interval());
            return Plan::ThresholdSearch(Box::new(Searching { hunt, draws, within }));
        }
        if context.subject().is_none() {
            return Plan::Anywhere(Anywhere {
                draws: Seed::of_run(setup.seed),
                within: rule.longest_interval(),
                points: points.len(),
                each: if wants(Placement::Apart) { 0 } else { trials },
                done: 0,
            });
        }
        if ramp {
            let lengths = points.iter().map(|point| point.pause.unwrap_or_default()).collect();
            return Plan::Placed(Box::new(Planner::ramp(rule, stimulus, lengths, setup)));
        }
        // A device that is booted anew for each trial has another grid each time.
        let one_grid = rule.restoration_time.is_some() && points.len() == 1;
        if wants(Placement::Grid) && one_grid {
            let trials = case.trials.unwrap_or(effort.latency);
            return Plan::Placed(Box::new(Planner::detection(rule, stimulus, trials, setup)));
        }
        Plan::Placed(Box::new(Planner::plain(rule, stimulus, (points.len(), trials), setup)))
    }

    /// Why there are as many trials as there are, where a number for each point says; a judge that places them, or searches, has
    /// reasons of its own.
    pub fn why(
        &self,
        context: &Context<'_>,
        points: &[Point],
        alpha: f64,
        effort: Effort,
    ) -> Option<String> {
        let (each, why) = each(context, points, alpha, effort);
        let points = u32::try_from(points.len()).unwrap_or(u32::MAX);
        (self.planned() == each.saturating_mul(points)).then_some(why)
    }

    /// How many trials it takes when none is void.
    pub fn planned(&self) -> u32 {
        match self {
            Plan::Placed(planner) => planner.planned(),
            Plan::Anywhere(plan) => plan.planned(),
            Plan::ThresholdSearch(searching) => searching.hunt.planned(),
        }
    }

    /// The next trial; `None` when there are enough.
    pub fn ask(&mut self) -> Option<Ask> {
        match self {
            Plan::Placed(planner) => planner.ask().map(|inner| Ask {
                point: inner.point,
                place: match inner.place {
                    judge::Place::Anywhere(wait) => Place::After(wait),
                    judge::Place::Phase(phase) => Place::Phase(phase),
                },
                length: inner.length,
                counts: None,
                role: if inner.calibrate { Role::Calibration } else { Role::Planned },
                inner: Some(inner),
            }),
            Plan::Anywhere(plan) => plan.ask(),
            Plan::ThresholdSearch(searching) => searching.ask(),
        }
    }

    /// What a trial showed; `None`: it is done with and showed nothing.
    pub fn seen(&mut self, ask: &Ask, seen: Option<&Seen>) {
        match (self, &ask.inner, seen) {
            (Plan::Placed(planner), Some(inner), Some(seen)) => planner.seen(inner, seen),
            (Plan::Placed(planner), Some(inner), None) => planner.spent(inner),
            (Plan::Anywhere(plan), _, _) => plan.done += 1,
            (Plan::ThresholdSearch(searching), _, _) => searching.hunt.give_up(),
            (Plan::Placed(_), None, _) => {}
        }
    }

    /// Whether what is searched happened in a trial of a search.
    pub fn tried(&mut self, mark: &Mark, happened: bool) {
        if let Plan::ThresholdSearch(searching) = self {
            searching.hunt.seen(mark, happened);
        }
    }

    /// A trial was void: it is asked for again.
    pub fn void(&mut self, ask: &Ask) {
        if let (Plan::Placed(planner), Some(inner)) = (self, &ask.inner) {
            planner.void(inner);
        }
    }
}

/// How many trials there are to be at each point, and why.
fn each(context: &Context<'_>, points: &[Point], alpha: f64, effort: Effort) -> (u32, String) {
    if let Some(trials) = context.case.trials {
        return (trials, "as the case says".to_owned());
    }
    match bursts(context, points, alpha, effort) {
        Some(bursts) => {
            let (part, missed) = (effort.corner, Ppm::ONE.0 - POWER.0);
            (
                bursts,
                format!(
                    "bursts, so that a corner off by {part} is missed in {} at most",
                    Ppm(missed)
                ),
            )
        }
        None => {
            let missed = 2_u32.pow(DEFAULT_TRIALS);
            let why = format!("what shows in every other one is missed in one run of {missed}");
            (DEFAULT_TRIALS, why)
        }
    }
}

/// How many bursts it takes to notice a corner that is off by as much as the effort says, where a case measures the curve with a burst.
fn bursts(context: &Context<'_>, points: &[Point], alpha: f64, effort: Effort) -> Option<u32> {
    let case = context.case;
    let curves = case.measure.iter().map(|one| (measure::of(one).bursts)(one));
    let script = context.script(points.first()?).ok()?;
    let declared = &context.group.declared;
    let needed = curves.flatten().filter_map(|name| {
        let spec = script.streams.iter().find(|spec| spec.name == *name)?;
        let class = class(declared, spec);
        let (buffer, wred) = (&declared.buffer, &declared.wred);
        let burst = Burst::of(buffer, wred, class, spec.size, spec.count?);
        let power = f64::from(POWER.0) / 1e6;
        moved::repetitions(&burst, effort.corner, 2 * Effort::PARTS.len(), (alpha, power))
    });
    needed.max().map(|needed| needed.clamp(DEFAULT_TRIALS, MOST_BURSTS))
}

impl Searching {
    fn ask(&mut self) -> Option<Ask> {
        let (counts, mark) = self.hunt.ask()?;
        let place = Place::After(Dur(self.draws.draw(self.within.0)));
        let (role, counts) = (Role::Search(mark), Some(counts));
        Some(Ask { point: 0, place, length: None, counts, role, inner: None })
    }
}

impl Anywhere {
    fn planned(&self) -> u32 {
        self.each * u32::try_from(self.points).unwrap_or(u32::MAX)
    }

    fn ask(&mut self) -> Option<Ask> {
        if self.done >= self.planned() {
            return None;
        }
        let place = Place::After(Dur(self.draws.draw(self.within.0)));
        let point = usize::try_from(self.done / self.each.max(1)).unwrap_or(0);
        Some(Ask { point, place, length: None, counts: None, role: Role::Planned, inner: None })
    }
}
