//! A length of time in a test case: literal, affine in one declared value or prediction, or a swept variable.

use rig_units::{Bytes, Dur};

/// `200ms`, `{of: pfcwd.detection_time, times: 0.5, plus: 10ms}` or the name of a swept variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Amount {
    /// A literal.
    Exactly(Dur),
    /// `times * value(of) + plus - minus`.
    Of {
        /// A declared value (`pfcwd.detection_time`), a prediction (`predicted.detection.latest`), or a counted stream or flow: how
        /// long it takes to send.
        of: String,
        /// The factor, in millionths.
        times: u64,
        /// Added.
        plus: Dur,
        /// Taken away; the result is never below zero.
        minus: Dur,
    },
    /// A variable of the case's sweep.
    Swept(String),
}

/// Where the value of a name comes from: the declared configuration, the oracle's predictions, the sweep.
pub trait Lookup {
    /// The value of `name`, or `None` when there is no such name or it is not a length of time.
    fn duration(&self, name: &str) -> Option<Dur>;

    /// The size of a stream's frames where it is swept; by default it is not.
    fn size(&self, stream: &str) -> Option<Bytes> {
        let _ = stream;
        None
    }

    /// How many frames a stream sends whose number is searched; by default none.
    fn frames(&self, stream: &str) -> u64 {
        let _ = stream;
        0
    }
}

impl Amount {
    /// The length of time this stands for.
    ///
    /// # Errors
    /// The name that has no value.
    pub fn resolve(&self, lookup: &dyn Lookup) -> Result<Dur, String> {
        let value = |name: &str| lookup.duration(name).ok_or_else(|| name.to_owned());
        match self {
            Amount::Exactly(dur) => Ok(*dur),
            Amount::Of { of, times, plus, minus } => {
                let scaled = value(of)?.scaled(*times, 1_000_000);
                Ok(scaled.saturating_add(*plus).saturating_sub(*minus))
            }
            Amount::Swept(name) => value(name),
        }
    }
}

impl Amount {
    /// The name it depends on, if any.
    pub fn name(&self) -> Option<&str> {
        match self {
            Amount::Exactly(_) => None,
            Amount::Of { of, .. } => Some(of),
            Amount::Swept(name) => Some(name),
        }
    }
}
