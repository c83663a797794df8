//! The rates at which streams that share a port arrive.

use super::{Done, Judged};
use rig_testcases::Amount;

/// Judges the rate of each stream between two instants of the trial.
pub(super) fn judge(
    _done: &Done<'_>,
    _streams: &[String],
    _window: (&Amount, &Amount),
    _judged: &mut Judged,
) {
}
