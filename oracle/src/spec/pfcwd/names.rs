//! The predictions that a test case may compute with: `{of: predicted.detection.latest, plus: 100ms}`.

use super::{Rule, Stimulus};
use rig_capture::Span;
use rig_units::Dur;

/// Predictions by name, for one rule and stimulus.
#[derive(Debug, Clone, Copy)]
pub struct Names {
    /// The rule that is asked.
    pub rule: Rule,
    /// What the guarded queue carries.
    pub stimulus: Stimulus,
    /// From the storm's last frame to the end of its pause.
    pub tail: Dur,
}

impl Names {
    /// The value of `name`; `None` when there is no such prediction: an unknown name, or what never happens.
    pub fn lookup(&self, name: &str) -> Option<Dur> {
        let detection = || self.rule.detection(&self.stimulus);
        let restoration = || self.rule.restoration(self.tail, &self.stimulus);
        match name {
            "predicted.detection.earliest" => detection().map(|window| window.from.value()),
            "predicted.detection.latest" => detection().map(|window| window.until.value()),
            "predicted.restoration.earliest" => restoration().map(|window| window.from.value()),
            "predicted.restoration.latest" => restoration().map(|window| window.until.value()),
            "predicted.never-fires" => self.rule.never_fires_up_to(&self.stimulus),
            "predicted.always-fires" => self.rule.always_fires_from(&self.stimulus),
            _ => None,
        }
    }

    /// The interval of lengths that `{across: NAME}` sweeps.
    pub fn interval(&self, name: &str) -> Option<Span> {
        match name {
            "trigger-ramp" => self.rule.trigger_ramp(&self.stimulus),
            _ => None,
        }
    }
}
