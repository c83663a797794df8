//! What a run in real time is planned to be: the most that fits into the budget of its lab.

use super::budget;
use super::choose::choose;
use super::plan;
use crate::executor::virtual_lab::speeds;
use crate::executor::wire::Share;
use rig_generator::Program;
use rig_lab::{Lab, Profile, Transport};
use rig_oracle::measure::{self, Batches};
use rig_oracle::trials::effort::{Effort, Level};
use rig_oracle::trials::points::groups;
use rig_oracle::trials::seed::Seed;
use rig_reports::Budget;
use rig_testcases::Case;
use rig_units::{Dur, Ppm};

/// Between two trials the runner works out what was seen, and on a machine that stands still now and then some are void: so
/// much more, in hundredths.
const MORE: u64 = 150;
/// What a session takes beside its trials: a device is booted.
const BOOT: Dur = Dur::ms(100);

/// What a run in real time is planned to be; `None` in virtual time, where there is no budget.
pub fn planned(
    lab: &Lab,
    only: Option<&str>,
    cases: &[&Case],
    (level, whole): (Level, Share),
) -> Option<(Effort, Budget)> {
    let budget = lab.transport.budget()?;
    let side_by_side = match &lab.transport {
        Transport::Veth(wire) => u64::from(wire.benches),
        _ => 1,
    };
    let alpha = budget::each(cases);
    let estimate = |effort: Effort| {
        let each = cases.iter().filter_map(|case| {
            let (profile, reach) = choose(lab, only, case).ok()?;
            Some(of_case(lab, profile, &reach.case, (alpha, effort, whole)))
        });
        Load::sum(each).takes(side_by_side, whole)
    };
    let tried: Vec<_> =
        level.ladder().into_iter().map(|effort| (effort, estimate(effort))).collect();
    let fits = tried.iter().find(|(_, takes)| *takes <= budget);
    let (effort, takes) = *fits.unwrap_or(&tried[tried.len() - 1]);
    let planned = Budget {
        budget: budget.0,
        planned: takes.0,
        resolution: effort.resolution,
        latency: effort.latency,
    };
    Some((effort, planned))
}

/// What a case is planned to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Planned {
    /// How many trials it has.
    pub trials: u64,
    /// How long they last one after the other, in the time of the lab.
    pub time: Dur,
    /// By how much of itself a share that it measures has to be off to show; `None` where it measures none.
    pub shows: Option<Ppm>,
    /// What a share is told from whose resolution is known behind the run: all batches at a point, and how long the shortest of them lasts.
    pub batches: Option<Batches>,
}

/// What each case is planned to be; `None` of a case that is skipped.
pub fn each(
    lab: &Lab,
    only: Option<&str>,
    cases: &[&Case],
    effort: Effort,
) -> Vec<Option<Planned>> {
    let alpha = budget::each(cases);
    let one = |case: &&Case| {
        let (profile, reach) = choose(lab, only, case).ok()?;
        let load = of_case(lab, profile, &reach.case, (alpha, effort, Share(u64::MAX)));
        let Load { trials, time, shows, batches, .. } = load;
        Some(Planned { trials, time, shows, batches })
    };
    cases.iter().map(one).collect()
}

/// What cases take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Load {
    trials: u64,
    /// One after the other.
    time: Dur,
    /// The same, each moment counted with the share of the machine that it takes, in millionths.
    work: u128,
    /// The longest case: no case runs side by side with itself.
    longest: Dur,
    /// What of its shares shows at the point where least does.
    shows: Option<Ppm>,
    batches: Option<Batches>,
}

impl Load {
    fn sum(cases: impl Iterator<Item = Load>) -> Load {
        cases.fold(Load::default(), |sum, case| Load {
            trials: sum.trials.saturating_add(case.trials),
            time: sum.time.saturating_add(case.time),
            work: sum.work.saturating_add(case.work),
            longest: sum.longest.max(case.longest),
            shows: sum.shows.max(case.shows),
            batches: fewest([sum.batches, case.batches]),
        })
    }

    /// How long all of it takes on so many benches that share a machine.
    fn takes(&self, side_by_side: u64, whole: Share) -> Dur {
        let benches = Dur(self.time.0 / side_by_side.max(1));
        let machine = self.work / u128::from(whole.0.max(1));
        let machine = Dur(u64::try_from(machine).unwrap_or(u64::MAX));
        benches.max(machine).max(self.longest).scaled(MORE, 100)
    }
}

/// Of several series the one of the fewest batches, and of the shortest.
fn fewest(all: impl IntoIterator<Item = Option<Batches>>) -> Option<Batches> {
    all.into_iter().flatten().min_by_key(|one| (one.count, one.lasts))
}

fn of_case(
    lab: &Lab,
    profile: &Profile,
    case: &Case,
    (alpha, effort, whole): (f64, Effort, Share),
) -> Load {
    let mut load = Load::default();
    for group in groups(case, &profile.declared).unwrap_or_default() {
        let context = measure::context(lab, profile, case, group, Seed::of_run(0));
        let Ok(points) = context.points() else { continue };
        let trials = plan::of(&context, &points, alpha, effort).planned();
        let scripts: Vec<_> =
            points.iter().filter_map(|point| context.script(point).ok()).collect();
        let shows = scripts.iter().filter_map(|script| {
            let each = case.measure.iter();
            each.filter_map(|one| measure::of(one).shows?(one, &context, script)).max()
        });
        load.shows = load.shows.max(shows.max());
        let each = trials / u32::try_from(points.len()).unwrap_or(u32::MAX).max(1);
        let of_measure = case.measure.iter().map(|one| {
            let Batches { count, lasts } = (measure::of(one).batches)(one)?;
            Some(Batches { count: count.saturating_mul(each), lasts })
        });
        load.batches = fewest(of_measure.chain([load.batches]));
        let Some(first) = scripts.first() else { continue };
        let total: Dur = scripts.iter().map(|script| script.length).sum();
        let mean = total / u64::try_from(scripts.len()).unwrap_or(1);
        // On the average a trial waits half a turn for its place.
        let turn = measure::turn(&context);
        let time = (mean + turn / 2).saturating_mul(trials.into()).saturating_add(turn + BOOT);
        let program = Program::of(first, &speeds(first, &context.group.declared));
        let share = program.map_or(Share::default(), |program| Share::of(first, &program));
        load.trials += u64::from(trials);
        load.time = load.time.saturating_add(time);
        load.work += u128::from(time.0) * u128::from(share.min(whole).0);
    }
    load.longest = load.time;
    load
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::bundled;
    use std::path::Path;

    const WHOLE: Share = Share(1_200_000);
    const VETH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/veth.yaml");

    fn veth(budget: Dur) -> Lab {
        let mut lab = rig_lab::read::lab(Some(Path::new(VETH))).expect("the bundled lab");
        if let Transport::Veth(wire) = &mut lab.transport {
            wire.budget = budget;
        }
        lab
    }

    fn plan(budget: Dur) -> (Effort, Budget) {
        // The suite that the budget of the bundled lab is for.
        let own = bundled::cases().iter().filter(|case| case.id.suite == "pfcwd");
        let cases: Vec<&Case> = own.collect();
        planned(&veth(budget), None, &cases, (Level::Standard, WHOLE)).expect("a lab in real time")
    }

    #[test]
    fn the_bundled_lab_is_planned_to_fit_its_budget() {
        let (_, told) = plan(Dur::s(240));
        assert!(told.planned <= told.budget, "{told:?}");
        assert!(told.planned * 2 > told.budget, "half of it is not used: {told:?}");
    }

    #[test]
    fn a_smaller_budget_is_met_by_fewer_trials_and_a_coarser_resolution() {
        let (usual, _) = plan(Dur::s(240));
        let (coarse, told) = plan(Dur::s(130));
        assert!(coarse.resolution > usual.resolution && coarse.latency < usual.latency);
        assert!(told.planned <= told.budget, "{told:?}");
        let (fine, _) = plan(Dur::s(2_400));
        assert!(fine.resolution < usual.resolution && fine.latency > usual.latency);
    }

    #[test]
    fn a_budget_that_nothing_fits_takes_the_least_effort_and_says_how_long() {
        let (least, told) = plan(Dur::s(1));
        assert_eq!(least, Effort::LADDER[6]);
        assert!(told.planned > told.budget);
    }

    #[test]
    fn virtual_time_has_no_budget() {
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        assert!(planned(&lab, None, &[], (Level::Standard, WHOLE)).is_none());
    }

    #[test]
    fn what_takes_the_whole_machine_is_not_side_by_side_with_anything() {
        let case = |share: u64| Load {
            trials: 1,
            time: Dur::s(10),
            work: u128::from(Dur::s(10).0) * u128::from(share),
            longest: Dur::s(10),
            shows: None,
            batches: None,
        };
        let takes = |share: u64| Load::sum((0..8).map(|_| case(share))).takes(8, WHOLE);
        assert_eq!(takes(1_000), Dur::s(15), "all at once");
        assert_eq!(takes(1_200_000), Dur::s(120), "one after the other");
    }
}
