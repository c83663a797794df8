//! What the device, as declared, must do: an interval with its formula and source.

use rig_capture::{Span, Unit};

/// A predicted value and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prediction {
    /// What it counts.
    pub unit: Unit,
    /// Every value that a device behaving as declared can show, the measurement's uncertainty not included.
    pub span: Span,
    /// The formula's id, such as `F13`.
    pub formula: &'static str,
    /// The formula with this case's numbers: `nP <= T < (n+1)P, n = ceil(200ms / 100ms) = 2`.
    pub text: String,
    /// Clause, paper or recording it was taken from.
    pub source: &'static str,
}
