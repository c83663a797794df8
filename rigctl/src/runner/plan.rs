//! Which trials a session runs: placed by the measures that need it, else a fixed number at random moments.

use super::held;
use rig_oracle::judge::moved;
use rig_oracle::measure::{self, Placement, class};
use rig_oracle::spec::wred::Burst;
use rig_oracle::trials::ask::{Ask, Place, Role};
use rig_oracle::trials::context::Context;
use rig_oracle::trials::effort::Effort;
use rig_oracle::trials::placer::Placer;
use rig_oracle::trials::points::Point;
use rig_oracle::trials::seed::Seed;
use rig_oracle::trials::threshold_search::ThresholdSearch;
use rig_oracle::trials::trial::Trial;
use rig_oracle::verdict::Doubt;
use rig_units::{Dur, Ppm};

/// Numbers of frames are searched, each trial wherever it falls.
#[derive(Debug)]
struct Searching {
    hunt: ThresholdSearch,
    draws: Seed,
    within: Dur,
}

/// So many trials at each point, wherever they fall.
#[derive(Debug)]
struct Anywhere {
    draws: Seed,
    within: Dur,
    points: usize,
    each: u32,
    done: u32,
}

/// The chance with which a corner that is off by as much as the effort says is to be noticed.
const POWER: Ppm = Ppm(990_000);
/// More bursts than these are not planned: a case that wants them says so.
const MOST_BURSTS: u32 = 1_000;

/// The plan of a session; `alpha` is what one judgement of counts may spend of the false-alarm budget.
pub fn of(context: &Context<'_>, points: &[Point], alpha: f64, effort: Effort) -> Box<dyn Placer> {
    let measures = &context.case.measure;
    let (draws, within) = (Seed::of_run(context.plan_seed()), measure::longest_turn(context));
    let stages = measures.iter().map(|one| (measure::of(one).stages)(one));
    if let Some(mut hunt) = ThresholdSearch::of(stages) {
        hunt.keep_to(|counts| held::is_no_storm(context, counts));
        return Box::new(Searching { hunt, draws, within });
    }
    let (trials, _) = each(context, points, alpha, effort);
    if let Some(placer) = measure::placer(context, points, trials, (alpha, effort)) {
        return placer;
    }
    let apart = measures.iter().any(|one| measure::of(one).placement == Placement::Apart);
    let each = if apart { 0 } else { trials };
    Box::new(Anywhere { draws, within, points: points.len(), each, done: 0 })
}

/// Why there are as many trials planned as there are, where a number for each point says; who places them, or searches, has reasons
/// of its own.
pub fn why(
    planned: u32,
    context: &Context<'_>,
    points: &[Point],
    (alpha, effort): (f64, Effort),
) -> Option<String> {
    let (each, why) = each(context, points, alpha, effort);
    let points = u32::try_from(points.len()).unwrap_or(u32::MAX);
    (planned == each.saturating_mul(points)).then_some(why)
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
            let missed = 2_u32.pow(effort.each);
            let why = format!("what shows in every other one is missed in one run of {missed}");
            (effort.each, why)
        }
    }
}

/// How many bursts it takes to notice a corner that is off by as much as the effort says, where a case measures the curve with a burst.
fn bursts(context: &Context<'_>, points: &[Point], alpha: f64, effort: Effort) -> Option<u32> {
    let case = context.case;
    let curves = case.measure.iter().map(|one| (measure::of(one).bursts)(one));
    let script = context.script(points.first()?).ok()?;
    let needed = curves.flatten().filter_map(|name| {
        let declared = context.switch();
        let spec = script.streams.iter().find(|spec| spec.name == *name)?;
        let class = class(declared, spec);
        let (buffer, wred) = (&declared.buffer, &declared.wred);
        let burst = Burst::of(buffer, wred, class, spec.size, spec.count?);
        let power = f64::from(POWER.0) / 1e6;
        moved::repetitions(&burst, effort.corner, 2 * Effort::PARTS.len(), (alpha, power))
    });
    needed.max().map(|needed| needed.clamp(effort.each, MOST_BURSTS))
}

impl Placer for Searching {
    fn planned(&self) -> u32 {
        self.hunt.planned()
    }

    fn ask(&mut self) -> Option<Ask> {
        let (counts, mark) = self.hunt.ask()?;
        let place = Place::After(Dur(self.draws.draw(self.within.0)));
        let (role, counts) = (Role::Search(mark), Some(counts));
        Some(Ask { point: 0, place, length: None, counts, role })
    }

    fn seen(&mut self, context: &Context<'_>, ask: &Ask, trial: &Trial) -> Result<(), Doubt> {
        let Role::Search(mark) = ask.role else { return Ok(()) };
        let happened = measure::happened(context, trial, &mark);
        let happened = happened.inspect_err(|_| self.hunt.give_up())?;
        self.hunt.seen(&mark, happened);
        self.hunt.keep_to(|counts| held::is_no_storm(context, counts));
        Ok(())
    }

    fn spent(&mut self, _: &Ask) {
        self.hunt.give_up();
    }

    fn void(&mut self, _: &Ask) {}
}

impl Placer for Anywhere {
    fn planned(&self) -> u32 {
        self.each * u32::try_from(self.points).unwrap_or(u32::MAX)
    }

    fn ask(&mut self) -> Option<Ask> {
        if self.done >= self.planned() {
            return None;
        }
        let place = Place::After(Dur(self.draws.draw(self.within.0)));
        let point = usize::try_from(self.done / self.each.max(1)).unwrap_or(0);
        Some(Ask { point, place, length: None, counts: None, role: Role::Planned })
    }

    fn seen(&mut self, _: &Context<'_>, ask: &Ask, _: &Trial) -> Result<(), Doubt> {
        self.spent(ask);
        Ok(())
    }

    fn spent(&mut self, _: &Ask) {
        self.done += 1;
    }

    fn void(&mut self, _: &Ask) {}
}
