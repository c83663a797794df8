//! Why a trial did not come about.

use core::fmt;
use rig_dut::control::{ControlError, Lost, Refused, Unseen};
use rig_generator::Impossible;
use rig_generator::port::PortError;

/// Why a trial did not come about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broken {
    /// The script asks of a port what no port can do.
    Impossible(Vec<Impossible>),
    /// A port of the rig gave up.
    Port(PortError),
    /// The device cannot be reached any more, or its control cannot do what is asked.
    Device(String),
    /// The way to the device was lost: of the device itself nothing is known.
    Away(Lost),
    /// A setting never showed at the device: it takes none now, or refuses this one without a word.
    Unseen(Unseen),
    /// The device did not do as it was asked.
    Refused(Refused),
    /// Somebody asked for the end.
    Stopped,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Impossible(faults) => {
                let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
                f.write_str(&faults.join("; "))
            }
            Broken::Port(error) => error.fmt(f),
            Broken::Device(error) => f.write_str(error),
            Broken::Away(lost) | Broken::Unseen(Unseen { lost, .. }) => {
                f.write_str(&lost.plainly())
            }
            Broken::Refused(refused) => refused.fmt(f),
            Broken::Stopped => f.write_str("stopped"),
        }
    }
}

impl core::error::Error for Broken {}

impl From<PortError> for Broken {
    fn from(error: PortError) -> Broken {
        Broken::Port(error)
    }
}

impl From<ControlError> for Broken {
    fn from(error: ControlError) -> Broken {
        match error {
            ControlError::Refused(refused) => Broken::Refused(refused),
            ControlError::Away(lost) => Broken::Away(lost),
            ControlError::Unseen(unseen) => Broken::Unseen(unseen),
            ControlError::NotOffered(_) | ControlError::Lost(_) => {
                Broken::Device(error.to_string())
            }
        }
    }
}
