//! When what a NIC sends is ready, where a sheet says how long that takes at least and at most.

use rig_units::{Time, Within};

/// From when on a frame may be ready, and by when it is: it leaves as soon as the port is free from then on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// Not before.
    pub from: Time,
    /// Not after.
    pub by: Time,
}

impl Ready {
    /// What takes so long from `at` on.
    pub fn after(at: Time, latency: Within) -> Ready {
        Ready { from: at + latency.least(), by: at + latency.most() }
    }
}

/// What is ready at an instant that is known.
impl From<Time> for Ready {
    fn from(at: Time) -> Ready {
        Ready { from: at, by: at }
    }
}
