//! What commands write to stdout.

use clap::ValueEnum;

/// What stdout gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people; not an interface.
    Human,
    /// Versioned, for scripts; of a run it is `results.json`.
    Json,
}
