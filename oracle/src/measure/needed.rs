//! How far off timestamps may be for a measure of a case.

use super::stamps::{self, Stamps};
use crate::trials::context::Context;
use rig_testcases::{Measure, Script};

/// What stamps have to be for a measure to show anything of a script; `None`: it holds however far off they are.
pub fn stamps(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<Stamps> {
    (super::of(measure).stamps?)(measure, context, script)
}

/// What stamps have to be to show that the storms of a script held the device's queues; `None`: it has none.
pub fn held_stamps(context: &Context<'_>, script: &Script) -> Option<Stamps> {
    stamps::storms(context, script)
}
