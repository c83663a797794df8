//! Changing the configuration of a device that runs, and what it refuses.

use super::nics;
use core::fmt;
use rig_lab::{Action, Actual, BadSetting, ConfigPath, Declared, Pfcwd, RuleFamily};
use rig_units::Dur;

/// Why a device did not take a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// There is no such setting, or it cannot hold the value.
    Unreadable(BadSetting),
    /// Outside the range that orchagent accepts.
    OutOfRange {
        /// The setting.
        path: &'static str,
        /// What was asked for.
        value: Dur,
        /// The range.
        accepted: (Dur, Dur),
    },
    /// The YANG model wants a detection time of at least one poll interval.
    BelowPollInterval {
        /// What was asked for.
        detection_time: Dur,
        /// The poll interval that goes with it.
        poll_interval: Dur,
    },
    /// `pfcwd interval` finds a time that is shorter.
    AboveATime {
        /// What was asked for.
        poll_interval: Dur,
        /// The shorter time.
        time: Dur,
    },
    /// cisco-8000 has no forward action.
    NoForward,
    /// The model cannot change this setting while it runs.
    NotWhileRunning {
        /// The setting.
        path: String,
    },
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Unreadable(bad) => write!(f, "{bad}"),
            Refused::OutOfRange { path, value, accepted: (least, most) } => {
                write!(f, "{path} {value} is not within {least} to {most}")
            }
            Refused::BelowPollInterval { detection_time, poll_interval } => write!(
                f,
                "pfcwd.detection_time {detection_time} is below pfcwd.poll_interval {poll_interval}"
            ),
            Refused::AboveATime { poll_interval, time } => write!(
                f,
                "unable to use polling interval = {poll_interval}, value is bigger than one of the configured times ({time})"
            ),
            Refused::NoForward => write!(f, "pfcwd.action forward is not supported on cisco-8000"),
            Refused::NotWhileRunning { path } => {
                write!(f, "{path} cannot be changed while the device runs")
            }
        }
    }
}

impl core::error::Error for Refused {}

impl From<BadSetting> for Refused {
    fn from(bad: BadSetting) -> Refused {
        Refused::Unreadable(bad)
    }
}

/// The times of a watchdog that have a documented range: path, value, range.
const fn times(config: &Pfcwd) -> [(&'static str, Option<Dur>, (Dur, Dur)); 2] {
    [
        ("pfcwd.detection_time", Some(config.detection_time), Pfcwd::DETECTION_RANGE),
        ("pfcwd.restoration_time", config.restoration_time, Pfcwd::RESTORATION_RANGE),
    ]
}

/// The fault of a device that takes the ends of the ranges for outside them.
pub(super) fn within(config: &Pfcwd) -> Result<(), Refused> {
    let ends = |&(_, value, (least, most)): &(&str, Option<Dur>, (Dur, Dur))| {
        value.is_some_and(|value| value == least || value == most)
    };
    match times(config).into_iter().find(ends) {
        Some((path, Some(value), accepted)) => Err(Refused::OutOfRange { path, value, accepted }),
        _ => Ok(()),
    }
}

/// What `pfcwd interval` says to the poll interval of this configuration (sonic-utilities `pfcwd/main.py`).
fn typed_interval(config: &Pfcwd) -> Result<(), Refused> {
    let (value, accepted) = (config.poll_interval, Pfcwd::TYPED_INTERVALS);
    if !(accepted.0..=accepted.1).contains(&value) {
        return Err(Refused::OutOfRange { path: "pfcwd.poll_interval", value, accepted });
    }
    let set = core::iter::once(config.detection_time).chain(config.restoration_time);
    match set.min() {
        Some(time) if time < value => Err(Refused::AboveATime { poll_interval: value, time }),
        _ => Ok(()),
    }
}

/// Checks a watchdog configuration as the device would on its way in (pfcwdorch.cpp `createEntry`; sonic-pfcwd.yang).
///
/// # Errors
/// The first reason to refuse it.
pub(super) fn check(
    family: Option<RuleFamily>,
    before: &Pfcwd,
    config: &Pfcwd,
) -> Result<(), Refused> {
    for (path, value, accepted) in times(config) {
        if let Some(value) = value.filter(|value| !(accepted.0..=accepted.1).contains(value)) {
            return Err(Refused::OutOfRange { path, value, accepted });
        }
    }
    if config.config_path == ConfigPath::Cli && before.poll_interval != config.poll_interval {
        typed_interval(config)?;
    }
    let (detection_time, poll_interval) = (config.detection_time, config.poll_interval);
    if config.config_path == ConfigPath::Yang && detection_time < poll_interval {
        return Err(Refused::BelowPollInterval { detection_time, poll_interval });
    }
    if family == Some(RuleFamily::Cisco8000) && config.action == Action::Forward {
        return Err(Refused::NoForward);
    }
    Ok(())
}

/// What a device works with that was configured to `configured`.
///
/// # Errors
/// When an override does not fit, or leaves no time between two polls.
pub(super) fn applied(actual: &Actual, configured: &Declared) -> Result<Declared, BadSetting> {
    if let Declared::Switch(switch) = configured
        && let Some((path, found, want)) = switch.macsec.out_of_range().into_iter().next()
    {
        let why = format!("{found}: want {want}");
        return Err(BadSetting::BadValue { path: path.to_owned(), why });
    }
    nics::check(configured)?;
    let running = actual.applied(configured)?;
    nics::check(&running)?;
    if let Declared::Switch(switch) = &running
        && switch.pfcwd.poll_interval < Dur::us(1)
    {
        return Err(BadSetting::BadValue {
            path: "pfcwd.poll_interval".to_owned(),
            why: "must be at least 1us".to_owned(),
        });
    }
    Ok(running)
}
