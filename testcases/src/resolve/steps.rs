//! How long a step takes.

use crate::{Action, Step};
use rig_units::Dur;

impl Step {
    /// When it is over: single PFC frames take a while.
    pub(super) fn end(&self) -> Dur {
        match &self.action {
            Action::Pfc(frames) => {
                let behind = u64::from(frames.count.saturating_sub(1));
                self.at.saturating_add(frames.every.saturating_mul(behind))
            }
            Action::StartStream(_)
            | Action::StopStream(_)
            | Action::StartFlow(_)
            | Action::StopFlow(_)
            | Action::StartStorm(_)
            | Action::StopStorm(_)
            | Action::LinkDown(_)
            | Action::LinkUp(_)
            | Action::Configure(_)
            | Action::Device(_) => self.at,
        }
    }
}
