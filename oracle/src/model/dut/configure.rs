//! Changing the configuration of a device that runs, and what it refuses.

use super::{Dut, nics, switch};
use core::fmt;
use rig_lab::{
    Action, Actual, BadSetting, ConfigPath, Declared, Kind, Pfcwd, RuleFamily, Setting, fields,
};
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
fn within(config: &Pfcwd) -> Result<(), Refused> {
    let ends = |&(_, value, (least, most)): &(&str, Option<Dur>, (Dur, Dur))| {
        value.is_some_and(|value| value == least || value == most)
    };
    match times(config).into_iter().find(ends) {
        Some((path, Some(value), accepted)) => Err(Refused::OutOfRange { path, value, accepted }),
        _ => Ok(()),
    }
}

/// Checks a watchdog configuration as the device would on its way in (pfcwdorch.cpp `createEntry`; sonic-pfcwd.yang).
///
/// # Errors
/// The first reason to refuse it.
pub(super) fn check(family: Option<RuleFamily>, config: &Pfcwd) -> Result<(), Refused> {
    for (path, value, accepted) in times(config) {
        if let Some(value) = value.filter(|value| !(accepted.0..=accepted.1).contains(value)) {
            return Err(Refused::OutOfRange { path, value, accepted });
        }
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
    if let Some((path, found, want)) = configured.macsec.out_of_range().into_iter().next() {
        let why = format!("{found}: want {want}");
        return Err(BadSetting::BadValue { path: path.to_owned(), why });
    }
    nics::check(configured)?;
    let running = actual.applied(configured)?;
    nics::check(&running)?;
    if running.pfcwd.poll_interval < Dur::us(1) {
        return Err(BadSetting::BadValue {
            path: "pfcwd.poll_interval".to_owned(),
            why: "must be at least 1us".to_owned(),
        });
    }
    Ok(running)
}

/// Notes whether the device protects frames with the cipher suite that its peers were told.
pub(super) fn suited(device: &mut switch::Config, configured: &Declared, running: &Declared) {
    if let Some(macsec) = &mut device.macsec {
        macsec.other_suite = configured.macsec.cipher_suite != running.macsec.cipher_suite;
    }
}

impl Dut {
    /// Whether a setting may be changed while the device runs.
    fn is_live(&self, path: &str) -> bool {
        let own = if self.nics.is_some() { Kind::Nic } else { Kind::Switch };
        fields::field(path).is_some_and(|field| field.live) && fields::kind(path) == Some(own)
    }

    /// Changes settings of the running device, all or none, now. What may be changed is live in its
    /// row; a change of `pfcwd.*` takes every handler off and starts the watchdogs afresh.
    ///
    /// # Errors
    /// When the device refuses them; nothing has changed then.
    pub fn configure(&mut self, settings: &[Setting]) -> Result<(), Refused> {
        let mut configured = self.configured.clone();
        for setting in settings {
            configured = configured.with(setting)?;
            if !self.is_live(&setting.path) {
                return Err(Refused::NotWhileRunning { path: setting.path.clone() });
            }
        }
        if !self.faults.pfcwd.accepts_out_of_range {
            // Which way a configuration takes is the device's own matter, whatever it says of itself.
            let config_path = self.running.pfcwd.config_path;
            check(self.family, &Pfcwd { config_path, ..configured.pfcwd.clone() })?;
        }
        if self.faults.pfcwd.refuses_limits {
            within(&configured.pfcwd)?;
        }
        let running = applied(&self.actual, &configured)?;
        if self.nics.is_some() {
            (self.configured, self.running) = (configured, running);
            self.set_nics();
            return Ok(());
        }
        let before = core::mem::replace(&mut self.running, running);
        self.configured = configured;
        // With a static limit the dynamic one waits until there is none.
        if self.running.buffer != before.buffer && self.running.buffer.static_th.is_none() {
            let ports = u16::try_from(self.network.switch(0).port_count()).unwrap_or(u16::MAX);
            for (port, &class) in (0..ports)
                .flat_map(|port| self.running.qos.pfc_enable.iter().map(move |class| (port, class)))
            {
                self.network.set_alpha(port, class, self.running.buffer.dynamic_th);
            }
        }
        let (wred, macsec) =
            (self.running.wred != before.wred, self.running.macsec != before.macsec);
        if wred || macsec {
            let mut device = switch::Config::declared(&self.running);
            device.install(&self.faults);
            suited(&mut device, &self.configured, &self.running);
            if wred {
                self.network.set_wred(&device.wred);
            }
            if macsec {
                self.network.set_macsec(&device);
            }
        }
        let resets =
            self.faults.pfcwd.buffer_change_ends_storm && self.running.buffer != before.buffer;
        if resets || self.running.pfcwd != before.pfcwd {
            self.restart();
        }
        Ok(())
    }
}
