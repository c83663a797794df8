//! The clocks of sessions: an argument of the benches.

use rig_generator::Clock;
use rig_generator::port::Mono;
use std::sync::Arc;

/// The clock of a session.
pub type SessionClock = Arc<dyn Clock + Send + Sync>;

/// How the clock of a session comes about that starts at an instant of the ports' clock.
pub trait Clocks: core::fmt::Debug + Send + Sync {
    /// The clock.
    fn since(&self, epoch: Mono) -> SessionClock;
}
