//! What a run in real time was planned to be: as much as fits into the lab's budget.

use rig_units::Dur;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    /// How long the run may take, in picoseconds.
    pub budget: u64,
    /// How long it was planned to take, in picoseconds.
    pub planned: u64,
    /// The smallest change of a detection probability that its counts can tell, in millionths.
    pub resolution: u32,
    /// Trials that show a latency, where the case does not say.
    pub latency: u32,
}

impl Budget {
    /// In one line for people.
    pub fn line(&self) -> String {
        let Budget { budget, planned, resolution, latency } = self;
        let seconds = |ps: u64| format!("{}s", Dur(ps).div_ceil(Dur::s(1)));
        let over = if planned > budget {
            " at the least effort: narrow it with --only, or raise `budget` in the lab"
        } else {
            ""
        };
        format!(
            "about {} of {}{over}; resolution: {latency} trials a latency, counts tell a change of {} percentage points",
            seconds(*planned),
            seconds(*budget),
            resolution / 10_000
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_says_what_it_takes_and_what_it_can_tell() {
        let budget = |planned| Budget {
            budget: Dur::s(240).0,
            planned: Dur::ms(planned).0,
            resolution: 500_000,
            latency: 10,
        };
        insta::assert_snapshot!(budget(187_400).line(), @"about 188s of 240s; resolution: 10 trials a latency, counts tell a change of 50 percentage points");
        insta::assert_snapshot!(budget(300_000).line(), @"about 300s of 240s at the least effort: narrow it with --only, or raise `budget` in the lab; resolution: 10 trials a latency, counts tell a change of 50 percentage points");
    }
}
