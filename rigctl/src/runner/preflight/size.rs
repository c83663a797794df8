//! How much a case is to run, before any of it does, against what a run ends.

use super::super::budget;
use super::super::plan;
use crate::executor::virtual_lab::speeds;
use rig_generator::{Program, Tally};
use rig_lab::fault::Fault;
use rig_oracle::trials::context::Context;
use rig_oracle::trials::effort::Effort;
use rig_oracle::trials::points::Point;
use rig_testcases::{Case, Script};
use rig_units::{Dur, limits};
use std::collections::BTreeMap;

/// How much a case is to run, all its points together.
#[derive(Debug, Default)]
pub(super) struct Size {
    trials: u64,
    time: Dur,
    /// What each sender sends, by its key in the case.
    sent: BTreeMap<String, u64>,
    /// What of one trial is recorded frame by frame, where that is most.
    recorded: Recorded,
}

/// Frames that one trial records one by one.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Recorded {
    frames: u64,
    /// Most of them.
    most: u64,
    /// Whose those are.
    key: String,
}

impl Size {
    /// The trials of one configuration, whose points have these scripts.
    pub(super) fn add(&mut self, context: &Context<'_>, points: &[Point], scripts: &[Script]) {
        let Some(longest) = scripts.iter().map(|script| script.length).max() else { return };
        // A search is planned as it goes, and ends by itself.
        let alpha = budget::each(&[context.case]);
        let trials = u64::from(plan::of(context, points, alpha, Effort::USUAL).planned());
        self.trials = self.trials.saturating_add(trials);
        self.time = self.time.saturating_add(longest.saturating_mul(trials));
        let mut most: BTreeMap<String, u64> = BTreeMap::new();
        for script in scripts {
            // One that cannot be sent is told of as such.
            let program = Program::of(script, &speeds(script, &context.group.declared));
            let tallies = program.map(|program| Tally::of(script, &program)).unwrap_or_default();
            self.recorded = core::mem::take(&mut self.recorded).max(recorded(&tallies));
            for Tally { key, frames, .. } in tallies {
                let most = most.entry(key).or_default();
                *most = frames.max(*most);
            }
        }
        for (key, frames) in most {
            let sum = self.sent.entry(key).or_default();
            *sum = sum.saturating_add(frames.saturating_mul(trials));
        }
    }

    /// What of it is too much; frames that are sent count where they are simulated.
    pub(super) fn faults(&self, case: &Case, simulated: bool) -> Vec<Fault> {
        let mut all = Vec::new();
        if self.trials > u64::from(limits::TRIALS) {
            let found = format!("{} trials at all points of its sweep", self.trials);
            all.push(case.fault("", found, limits::trials().want));
        }
        if self.time > limits::CASE {
            let found = format!("{} trials that take {} together", self.trials, self.time);
            all.push(case.fault("", found, limits::case().want));
        }
        let sent = self.sent.values().fold(0_u64, |sum, &frames| sum.saturating_add(frames));
        let busiest = self.sent.iter().max_by_key(|&(_, &frames)| frames);
        if let Some((key, most)) = busiest.filter(|_| simulated && sent > limits::FRAMES) {
            let trials = match self.trials {
                1 => "one trial that sends".to_owned(),
                trials => format!("{trials} trials that send"),
            };
            let found = format!("{trials} {sent} frames, {most} of them from here");
            all.push(case.fault(key, found, limits::frames().want));
        }
        let Recorded { frames, most, key } = &self.recorded;
        if *frames > limits::RECORDED {
            let found = format!(
                "a trial with {frames} frames that are recorded one by one, {most} of them from here"
            );
            all.push(case.fault(key, found, limits::recorded().want));
        }
        all
    }
}

fn recorded(tallies: &[Tally]) -> Recorded {
    let each = || tallies.iter().filter(|tally| tally.recorded);
    let frames = each().fold(0_u64, |sum, tally| sum.saturating_add(tally.frames));
    each().max_by_key(|tally| tally.frames).map_or_else(Recorded::default, |busiest| Recorded {
        frames,
        most: busiest.frames,
        key: busiest.key.clone(),
    })
}
