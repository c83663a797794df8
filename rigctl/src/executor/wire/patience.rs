//! What a run may spend, in real time, on trials that turn out void.

use rig_units::Dur;
use std::sync::{Mutex, PoisonError};

/// Time that a run may spend on trials that turn out void, beyond what its plan allows for; all of its cases share it.
#[derive(Debug, Default)]
pub struct Patience(Mutex<Dur>);

impl Patience {
    /// So much more: the lab's budget on each of its benches.
    pub fn grant(&self, more: Dur) {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *left += more;
    }

    /// How much is left.
    pub fn left(&self) -> Dur {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Spends `time`, if that much is left; whether it was.
    pub fn spend(&self, time: Dur) -> bool {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let enough = left.0 >= time.0;
        if enough {
            *left = left.saturating_sub(time);
        }
        enough
    }
}
