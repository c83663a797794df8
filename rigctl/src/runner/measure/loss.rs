//! Frames that were sent and never arrived.

use super::Judged;
use crate::runner::session::{Session, Trial};
use rig_testcases::Measure;

pub(super) fn judge(_session: &Session<'_>, _trials: &[Trial], _measure: &Measure, _judged: &mut Judged) {}
