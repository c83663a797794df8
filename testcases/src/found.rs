//! What a case takes as it finds it, where nobody can configure the device: a setting that only makes it short or simple may have another
//! value.

use rig_lab::field::Holds;
use rig_lab::{Declared, fields, settings};
use serde_json::Value;

/// What a setting may be found to be in place of what the case sets it to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Accepts {
    /// Whatever is declared: the case does not rest on it.
    Any,
    /// From a least to a most; an end that is not told is open.
    Within {
        /// The least that does.
        least: Option<Value>,
        /// The most that does.
        most: Option<Value>,
    },
    /// Whatever is declared, and the case goes with it: with a length of time all that happens becomes longer or shorter, with a
    /// size the numbers of frames that it sends become larger or smaller, and so they do with a dynamic limit, by what it leaves one group of a pool.
    InProportion,
}

impl Accepts {
    /// Whether the value that is declared at `path` does.
    pub fn takes(&self, path: &str, declared: &Declared) -> bool {
        let has = declared.get(path).and_then(|value| settings::number(path, &value));
        let end = |value: &Option<Value>| value.as_ref().map(|end| settings::number(path, end));
        match self {
            Accepts::Any => true,
            Accepts::InProportion => {
                let limits = fields::field(path).is_some_and(|of| of.holds == Holds::Exponent);
                has.is_some_and(|has| has > 0 || limits)
            }
            Accepts::Within { least, most } => {
                let above = end(least).is_none_or(|least| has >= least);
                has.is_some() && above && end(most).is_none_or(|most| has <= most)
            }
        }
    }
}
