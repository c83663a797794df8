//! No control: what the profile declares is trusted, nothing is configured, nothing is read and nothing is heard.

use crate::control::{Ability, Capabilities, Control, ControlError};
use rig_lab::Declared;
use rig_units::Dur;

/// A device that is reached by the wire alone.
#[derive(Debug)]
pub struct NoControl {
    declared: Declared,
}

impl NoControl {
    /// What it can do: state what the profile declares.
    pub const CAPABILITIES: Capabilities =
        Capabilities { offered: &[Ability::Snapshot], verbs: &[], clock_bound: Dur::ZERO };

    /// The device is what it declares.
    pub const fn of(declared: Declared) -> NoControl {
        NoControl { declared }
    }
}

impl Control for NoControl {
    fn name(&self) -> &'static str {
        "none"
    }

    fn capabilities(&self) -> Capabilities {
        NoControl::CAPABILITIES
    }

    fn snapshot(&mut self) -> Result<Declared, ControlError> {
        Ok(self.declared.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Order;
    use rig_lab::{Setting, WatermarkCopy};
    use rig_testcases::DeviceVerb;

    #[test]
    fn without_a_control_everything_is_refused_with_what_it_would_take() {
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let mut none = NoControl::of(lab.duts[0].declared.clone());
        let copy = Order::from(DeviceVerb::ClearWatermarks(WatermarkCopy::User));
        let setting = Setting { path: "pfcwd.detection_time".to_owned(), value: "1s".into() };
        let answers = [
            (none.boot(&[], 1).map(drop), "boots nothing"),
            (none.set(&[setting]), "configures nothing"),
            (none.counters(&[]).map(drop), "reads no counters"),
            (none.events().map(drop), "hears no events"),
            (none.health().map(drop), "tells nothing of the device's health"),
            (none.order(Order::ClearWatermarks), "clears no watermarks"),
            (none.order(copy), "clears no copies of watermarks"),
            (none.order(Order::Link { port: 0, up: false }), "cuts no links"),
            (none.order(Order::Disconnect), "starts no flows"),
        ];
        for (answer, want) in answers {
            let error = answer.expect_err(want);
            assert!(matches!(error, ControlError::NotOffered(_)), "{error:?}");
            assert_eq!(error.to_string(), format!("the control `none` {want}"));
        }
        assert_eq!(none.snapshot().as_ref(), Ok(&lab.duts[0].declared));
    }
}
