//! How long something takes: chores are timed, and nothing that they build reads this clock.

#![expect(clippy::disallowed_types, reason = "a chore says how long it took")]

use core::fmt;
use core::time::Duration;

/// A watch that was started once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watch {
    start: std::time::Instant,
}

impl Watch {
    /// Begins to measure.
    pub(crate) fn start() -> Watch {
        Watch { start: std::time::Instant::now() }
    }

    /// Time since then.
    pub(crate) fn elapsed(self) -> Duration {
        self.start.elapsed()
    }
}

/// A time in minutes, as people read it: `3.4 min`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Minutes(pub(crate) Duration);

impl fmt::Display for Minutes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} min", self.0.as_secs_f64() / 60.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_have_one_decimal() {
        assert_eq!(Minutes(Duration::from_secs(204)).to_string(), "3.4 min");
    }
}
