//! Which trials a session runs: a fixed number at random moments, or as the judgement asks for them.

use super::points::Point;
use super::seed::Seed;
use super::session::{Place, Session, Trial};
use rig_units::Dur;

/// The next trial.
#[derive(Debug, Clone)]
pub struct Ask {
    /// Index of its point.
    pub point: usize,
    /// When its storm is to start.
    pub place: Place,
}

/// Trials still to run.
#[derive(Debug)]
pub struct Plan {
    left: Vec<Ask>,
    planned: u32,
}

/// Trials at each point when neither the case nor a judgement says.
const DEFAULT_TRIALS: u32 = 10;

impl Plan {
    /// The plan of a session.
    pub fn of(session: &Session<'_>, points: &[Point], seed: &Seed) -> Plan {
        let per_point = session.case.trials.unwrap_or(DEFAULT_TRIALS);
        let mut draws = seed.split("placement");
        let mut anywhere = || Place::After(Dur(draws.draw(session.rule.longest_interval().0)));
        let mut left: Vec<Ask> = (0..points.len())
            .flat_map(|point| (0..per_point).map(move |_| point))
            .map(|point| Ask { point, place: anywhere() })
            .collect();
        left.reverse();
        let planned = u32::try_from(left.len()).unwrap_or(u32::MAX);
        Plan { left, planned }
    }

    /// How many trials it takes when none is void.
    pub fn planned(&self) -> u32 {
        self.planned
    }

    /// The next trial; `None` when there are enough.
    pub fn next(&mut self) -> Option<Ask> {
        self.left.pop()
    }

    /// What a trial showed.
    pub fn done(&mut self, _session: &Session<'_>, _ask: &Ask, _trial: &Trial) {}
}
