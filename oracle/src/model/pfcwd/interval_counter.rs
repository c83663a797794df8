//! The deadlock detection of other vendors' switches (systems.md B4): N checks, one every T, that each saw a pause;
//! then R of action whatever the storm does; then detection again.
//!
//! N is detection_time / poll_interval (10 ms checks, detect 10: 100 ms), T the poll interval, R the restoration time.
//! It cannot tell a storm from ordinary back-pressure that touches every interval: that is its documented nature, not
//! a deviation.

use super::poll::{Counters, Saved};

/// Whether the class was paused at any time since the check before: it is now, or a pause has ended since. At the
/// first check there is no such past, and only now counts.
pub(super) fn saw_pause(now: &Counters, saved: &Saved) -> bool {
    let ended = |last: &Counters| now.on2off_rx_pkts > last.on2off_rx_pkts;
    now.paused || saved.counters.as_ref().is_some_and(ended)
}
