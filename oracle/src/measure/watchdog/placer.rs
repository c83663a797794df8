//! Trials of a case about a storm, each placed by what the ones before showed of the watchdog.

use super::subject::Subject;
use crate::judge::place::Setup;
use crate::judge::{self, Planner};
use crate::measure::Placement;
use crate::measure::of;
use crate::trials::ask::{Ask, Place, Role};
use crate::trials::context::Context;
use crate::trials::effort::Effort;
use crate::trials::placer::Placer;
use crate::trials::points::Point;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_testcases::{Case, Sweep};

/// The judge's plan, and what is looked for in its trials.
#[derive(Debug)]
struct OfStorm {
    planner: Planner,
    subject: Subject,
    /// What the judge asked for last.
    asked: Option<judge::Ask>,
}

/// Whether storms are put on either side of where those of their length cease to be detected.
fn along_a_ramp(case: &Case) -> bool {
    wants(case, Placement::Ramp) && case.sweep.iter().any(Sweep::is_variable)
}

fn wants(case: &Case, placement: Placement) -> bool {
    case.measure.iter().any(|one| of(one).placement == placement)
}

/// Who places the trials of a case that is about a storm: over its lengths, on the grid of the polls, or `trials` of them at each
/// point; `None` where it is about none. `alpha` is what one judgement of counts may spend of the false-alarm budget.
pub fn placer(
    context: &Context<'_>,
    points: &[Point],
    trials: u32,
    (alpha, effort): (f64, Effort),
) -> Option<Box<dyn Placer>> {
    let watch = context.watch.as_ref()?;
    let subject = watch.subject()?.clone();
    let (rule, stimulus, case) = (watch.rule, watch.stimulus, context.case);
    let setup = Setup {
        seed: context.plan_seed(),
        slack: context.slack(),
        alpha,
        resolution: f64::from(effort.resolution) / 1e6,
    };
    // A device that is booted anew for each trial has another grid each time.
    let one_grid = rule.restoration_time.is_some() && points.len() == 1;
    let planner = if along_a_ramp(case) {
        let lengths = points.iter().map(|point| point.pause.unwrap_or_default()).collect();
        Planner::ramp(rule, stimulus, lengths, setup)
    } else if wants(case, Placement::Grid) && one_grid {
        Planner::detection(rule, stimulus, case.trials.unwrap_or(effort.latency), setup)
    } else {
        Planner::plain(rule, stimulus, (points.len(), trials), setup)
    };
    Some(Box::new(OfStorm { planner, subject, asked: None }))
}

impl Placer for OfStorm {
    fn planned(&self) -> u32 {
        self.planner.planned()
    }

    fn ask(&mut self) -> Option<Ask> {
        self.asked = self.planner.ask();
        self.asked.as_ref().map(|asked| Ask {
            point: asked.point,
            place: match asked.place {
                judge::Place::Anywhere(wait) => Place::After(wait),
                judge::Place::Phase(phase) => Place::Phase(phase),
            },
            length: asked.length,
            counts: None,
            role: if asked.calibrate { Role::Calibration } else { Role::Planned },
        })
    }

    fn seen(&mut self, context: &Context<'_>, ask: &Ask, trial: &Trial) -> Result<(), Doubt> {
        match (super::seen(context, trial, &self.subject), &self.asked) {
            (Ok(seen), Some(asked)) => self.planner.seen(asked, &seen),
            (Ok(_), None) => {}
            (Err(doubt), _) => {
                self.spent(ask);
                return Err(doubt);
            }
        }
        Ok(())
    }

    fn spent(&mut self, _: &Ask) {
        if let Some(asked) = &self.asked {
            self.planner.spent(asked);
        }
    }

    fn void(&mut self, _: &Ask) {
        if let Some(asked) = &self.asked {
            self.planner.void(asked);
        }
    }
}
