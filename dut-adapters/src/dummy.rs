//! A control that says that it is well, and refuses everything else: to try what a lab, a run and a report make of a device that
//! cannot be steered, and to begin a control of one's own with.

use crate::control::{Ability, Capabilities, Control, ControlError, Health};
use rig_units::Dur;

/// A device that nobody reaches.
#[derive(Debug, Clone, Copy)]
pub struct Dummy;

impl Dummy {
    /// What it can do: say how it is.
    pub const CAPABILITIES: Capabilities =
        Capabilities { offered: &[Ability::Health], verbs: &[], clock_bound: Dur::ZERO };
}

impl Control for Dummy {
    fn name(&self) -> &'static str {
        "dummy"
    }

    fn capabilities(&self) -> Capabilities {
        Dummy::CAPABILITIES
    }

    fn health(&mut self) -> Result<Health, ControlError> {
        Ok(Health::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Order;

    #[test]
    fn it_is_well_and_refuses_the_rest() {
        assert_eq!(Dummy.health(), Ok(Health::default()));
        let answers = [
            (Dummy.snapshot().map(drop), "states no configuration"),
            (Dummy.boot(&[], 1).map(drop), "boots nothing"),
            (Dummy.set(&[]), "configures nothing"),
            (Dummy.read_back(&[]), "states no configuration"),
            (Dummy.counters(&[]).map(drop), "reads no counters"),
            (Dummy.events().map(drop), "hears no events"),
            (Dummy.order(Order::Disconnect), "starts no flows"),
        ];
        for (answer, want) in answers {
            let refused = answer.map_err(|error| error.to_string());
            assert_eq!(refused, Err(format!("the control `dummy` {want}")));
        }
    }
}
