//! Figures of a spread as they are printed: whole nanoseconds.

use rig_generator::Figures;
use rig_units::Dur;
use serde::Serialize;

/// In nanoseconds, rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(crate) struct Ns {
    pub(crate) p50: u64,
    pub(crate) p90: u64,
    pub(crate) p99: u64,
    pub(crate) p99_9: u64,
    pub(crate) max: u64,
}

impl From<Figures> for Ns {
    fn from(of: Figures) -> Ns {
        let ns = |dur: Dur| (dur.0 + 500) / 1_000;
        Ns {
            p50: ns(of.p50),
            p90: ns(of.p90),
            p99: ns(of.p99),
            p99_9: ns(of.p99_9),
            max: ns(of.max),
        }
    }
}

impl Ns {
    /// What stands above its columns.
    pub(crate) fn head() -> String {
        format!("{:>8} {:>8} {:>9} {:>9} {:>10}", "p50", "p90", "p99", "p99.9", "max")
    }

    /// Its columns.
    pub(crate) fn row(&self) -> String {
        let Ns { p50, p90, p99, p99_9, max } = self;
        format!("{p50:>8} {p90:>8} {p99:>9} {p99_9:>9} {max:>10}")
    }
}
