//! Why a device did not do as it was asked.

use super::order::Ability;
use core::fmt;

/// Why a device did not do as it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ControlError {
    /// It refused: an answer like any other.
    Refused(Refused),
    /// The control has no way to do it.
    NotOffered(NotOffered),
    /// There is no answer, and there will be none.
    Lost(Lost),
    /// The way to it is lost, or what was asked never showed there: the device itself goes on, and nothing of it is known.
    Away(Lost),
    /// A setting never showed there, and was taken back: it takes none now, or refuses this one without a word.
    Unseen(Unseen),
}

impl ControlError {
    /// The same of a device that is reached over a way which may be lost without it.
    #[must_use]
    pub fn away(self) -> ControlError {
        match self {
            ControlError::Lost(lost) => ControlError::Away(lost),
            other => other,
        }
    }
}

/// A setting that never showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unseen {
    /// What was to be seen, and what was there instead.
    pub lost: Lost,
    /// Whether what was there was not as it had been before either.
    pub otherwise: bool,
}

/// Why a device did not take settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// In the device's words.
    pub why: String,
}

/// A control cannot do that, whatever the device could.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotOffered {
    /// The word for the control in a lab.
    pub control: &'static str,
    /// What it lacks.
    pub ability: Ability,
}

/// The device cannot be talked to any more: its process has ended, hangs, or speaks another language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// What was tried.
    pub tried: String,
    /// What happened instead.
    pub why: String,
}

/// The answer; `None` where the control does not offer it.
///
/// # Errors
/// The device refused, or is lost.
pub fn if_offered<T>(answer: Result<T, ControlError>) -> Result<Option<T>, ControlError> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(ControlError::NotOffered(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ControlError::Refused(refused) => refused.fmt(f),
            ControlError::NotOffered(lack) => lack.fmt(f),
            ControlError::Lost(lost) => lost.fmt(f),
            ControlError::Away(lost) | ControlError::Unseen(Unseen { lost, .. }) => {
                f.write_str(&lost.plainly())
            }
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl fmt::Display for NotOffered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the control `{}` {}", self.control, self.ability.lacking())
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the device is lost: {}: {}", self.tried, self.why)
    }
}

impl Lost {
    /// The same in words of its own, without what it is that is lost.
    pub fn plainly(&self) -> String {
        format!("cannot {}: {}", self.tried, self.why)
    }
}

impl core::error::Error for ControlError {}
impl core::error::Error for Refused {}
impl core::error::Error for Lost {}

impl From<Refused> for ControlError {
    fn from(refused: Refused) -> ControlError {
        ControlError::Refused(refused)
    }
}

impl From<Lost> for ControlError {
    fn from(lost: Lost) -> ControlError {
        ControlError::Lost(lost)
    }
}
