//! The receiving side of a queue pair: the window in hardware, and what the driver knows of messages.

use super::window::Window;
use rig_capture::blue_rdma::{Bitmap, Frame, Says};
use rig_lab::BlueRdmaFaults;
use std::collections::BTreeSet;

/// The receiving side of one queue pair. Packets are counted from its first, in numbers that never wrap.
#[derive(Debug, Clone)]
pub(super) struct Receiver {
    window: Window,
    /// Acknowledgements by hardware so far.
    reports: u16,
    first: u32,
    /// All before it have come.
    base: u64,
    /// What has come beyond.
    beyond: BTreeSet<u64>,
    /// Messages that end there and are not acknowledged.
    ends: BTreeSet<u64>,
    /// Messages that came whole, and all before them.
    pub(super) done: u64,
}

impl Receiver {
    pub(super) fn new(psn: u32, faults: &BlueRdmaFaults) -> Receiver {
        Receiver {
            window: Window::new(faults),
            reports: 0,
            first: psn,
            base: 0,
            beyond: BTreeSet::new(),
            ends: BTreeSet::new(),
            done: 0,
        }
    }

    /// Whether it is the one behind what has come without a gap.
    pub(super) fn is_next(&self, psn: u32) -> bool {
        self.psn(self.base) == psn
    }

    /// A packet has come, which may be placed, marked as sent again, and the last of its message. What is said of it, by hardware, where it is placed, or by
    /// the driver; how large that is, and the number of the driver's message, is left open.
    pub(super) fn take(
        &mut self,
        psn: u32,
        (places, is_retry, last): (bool, bool, bool),
        faults: &BlueRdmaFaults,
    ) -> Vec<(bool, Frame)> {
        let mut said = Vec::new();
        let Some(number) = number(psn, self.first, self.base) else { return said };
        if faults.out_of_order_dropped && number > self.base {
            return said;
        }
        if let Some(moved) = places.then(|| self.window.take(psn, faults)).flatten() {
            self.reports = self.reports.wrapping_add(1);
            let [before_psn, psn] = moved.psn;
            let [before, now] = moved.bitmap;
            let says =
                Says::Report { by_driver: false, lost: true, moved: true, before, now, before_psn };
            said.push((true, report(psn, self.reports, says)));
        }
        if number >= self.base {
            self.beyond.insert(number);
        }
        while self.beyond.remove(&self.base) {
            self.base += 1;
        }
        if last {
            self.ends.insert(number);
        }
        if faults.completes_early && last {
            self.base = self.base.max(number + 1);
            self.beyond = self.beyond.split_off(&self.base);
        }
        let base_psn = self.psn(self.base);
        let whole = self.ends.range(..self.base).next_back().copied();
        if let Some(end) = whole {
            self.done += u64::try_from(self.ends.range(..=end).count()).unwrap_or(0);
            self.ends = self.ends.split_off(&(end + 1));
            said.push((false, report(base_psn, 0, by_driver(u128::MAX, false, base_psn))));
        }
        if last && is_retry && number >= self.base {
            said.push((false, report(psn, 0, by_driver(0, true, base_psn))));
        }
        said
    }

    fn psn(&self, number: u64) -> u32 {
        let low = u32::try_from(number & 0xff_ffff).unwrap_or(0);
        self.first.wrapping_add(low) & 0xff_ffff
    }
}

/// What the driver says.
fn by_driver(bits: u128, lost: bool, before_psn: u32) -> Says {
    let both = Bitmap::from(bits);
    Says::Report { by_driver: true, lost, moved: lost, before: both, now: both, before_psn }
}

fn report(psn: u32, msn: u16, says: Says) -> Frame {
    let (is_retry, ce, is_send, immediate) = (false, false, false, None);
    Frame { connection: 0, psn, msn, size: 0, is_retry, ce, is_send, immediate, says }
}

/// The packet with this number of a queue pair that began with `first`, nearest to the one that is `near`; `None` before the first.
pub(super) fn number(psn: u32, first: u32, near: u64) -> Option<u64> {
    let low = u32::try_from(near & 0xff_ffff).unwrap_or(0);
    let ahead = psn.wrapping_sub(first.wrapping_add(low)) & 0xff_ffff;
    if ahead < 1 << 23 {
        return Some(near + u64::from(ahead));
    }
    near.checked_sub(u64::from((1 << 24) - ahead))
}
