//! Records that are cited before the capture that holds them is written.

use rig_capture::FrameRef;

/// How a record is cited until its capture is written: by its index in the trial, from 1. A capture that holds every
/// record gives it the same number.
pub fn frame(record: usize) -> FrameRef {
    FrameRef(u64::try_from(record + 1).unwrap_or(u64::MAX))
}

/// The record that was cited so.
pub fn record(FrameRef(cited): FrameRef) -> usize {
    usize::try_from(cited.saturating_sub(1)).unwrap_or(usize::MAX)
}
