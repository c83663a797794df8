//! What the rig may ask of a device under test, whatever it is reached through.
//!
//! Everything can fail: the device refuses ([`ControlError::Refused`]), the control has no way to do it
//! ([`ControlError::NotOffered`]), the device is not there any more ([`ControlError::Lost`]), or the way to it is not
//! ([`ControlError::Away`]). Whoever needs something
//! of a control asks for its [`Capabilities`], never which control it is.

pub(crate) mod error;
mod flow;
mod health;
mod keyring;
mod order;
mod passing;

pub use error::{ControlError, Lost, NotOffered, Refused, Unseen, if_offered};
pub use flow::{Does, FlowOrder, NamedMemory, Over, Whose};
pub use health::Health;
pub use keyring::Keyring;
pub use order::{Ability, Order};
pub use passing::{FrameTally, Passes, PortTally, stood};

use crate::journal::Change;
use core::fmt;
use rig_capture::DutEvent;
use rig_generator::port::Mono;
use rig_lab::{ConfigPath, Declared, Setting};
use rig_testcases::DeviceVerb;
use rig_units::Dur;
use std::collections::{BTreeMap, BTreeSet};

/// A way to steer, read and hear a device under test. What a control does not override it does not offer.
pub trait Control: fmt::Debug + Send {
    /// The word for it in a lab.
    fn name(&self) -> &'static str;

    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// The configuration as the device states it now.
    ///
    /// # Errors
    /// The device is lost.
    fn snapshot(&mut self) -> Result<Declared, ControlError> {
        Err(self.lacks(Ability::Snapshot))
    }

    /// Starts the device afresh, configured to `settings`; everything random in it follows from `seed`. When that was, on the
    /// ports' clock: the session's clock starts there.
    ///
    /// # Errors
    /// It refuses a setting, or is lost.
    fn boot(&mut self, settings: &[Setting], seed: u64) -> Result<Mono, ControlError> {
        let _ = (settings, seed);
        Err(self.lacks(Ability::Boot))
    }

    /// Changes settings, all or none, and reads them back.
    ///
    /// # Errors
    /// The device refuses them, or states another value afterwards; nothing has changed then. Or it is lost.
    fn set(&mut self, settings: &[Setting]) -> Result<(), ControlError> {
        let _ = settings;
        Err(self.lacks(Ability::Configure))
    }

    /// The same by one of the device's own front doors, behind each of which it looks at them in another way: SONiC's YANG models, its
    /// commands.
    ///
    /// # Errors
    /// As [`Control::set`].
    fn propose(&mut self, way: ConfigPath, settings: &[Setting]) -> Result<(), ControlError> {
        let _ = way;
        self.set(settings)
    }

    /// What [`Control::set`] of these leaves changed at a device that outlives this process, and how that is undone without
    /// this control: noted in the journal before it is made.
    fn changes(&self, settings: &[Setting]) -> Vec<Change> {
        let _ = settings;
        Vec::new()
    }

    /// Whether a change takes as long as many frames do, so that whoever sends goes on meanwhile.
    fn takes_a_while(&self) -> bool {
        false
    }

    /// What whoever takes the device should know of it, a sentence each: nothing that stands in the way.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether the device states `settings` now.
    ///
    /// # Errors
    /// It states another value of one, or is lost.
    fn read_back(&mut self, settings: &[Setting]) -> Result<(), ControlError> {
        let stated = self.snapshot()?;
        match settings.iter().find(|setting| stated.satisfies(setting) != Ok(true)) {
            None => Ok(()),
            Some(setting) => {
                let why = format!("{} reads back otherwise than it was set", setting.path);
                Err(Refused { why }.into())
            }
        }
    }

    /// Sets what `touched` names to what it was `before`.
    ///
    /// # Errors
    /// As [`Control::set`].
    fn restore(&mut self, before: &Declared, touched: &[Setting]) -> Result<(), ControlError> {
        let as_it_was = |Setting { path, .. }: &Setting| Setting {
            path: path.clone(),
            value: before.get(path).unwrap_or_default(),
        };
        self.set(&touched.iter().map(as_it_was).collect::<Vec<_>>())
    }

    /// Counters now: those of these names that the device has; all, where none is named.
    ///
    /// # Errors
    /// The device is lost.
    fn counters(&mut self, names: &[String]) -> Result<Readings, ControlError> {
        let _ = names;
        Err(self.lacks(Ability::Counters))
    }

    /// What the device reported since the last call, on the clock of the session.
    ///
    /// # Errors
    /// The device is lost.
    fn events(&mut self) -> Result<Vec<DutEvent>, ControlError> {
        Err(self.lacks(Ability::Events))
    }

    /// Why what [`Control::events`] told last is not all that the device did; `None` where it is.
    fn missed(&mut self) -> Option<String> {
        None
    }

    /// How the device has kept up since this was last asked.
    ///
    /// # Errors
    /// The device is lost.
    fn health(&mut self) -> Result<Health, ControlError> {
        Err(self.lacks(Ability::Health))
    }

    /// When frames passed each of the device's ports since this was last asked, on the clock that began with its boot.
    ///
    /// # Errors
    /// The device is lost.
    fn passed(&mut self) -> Result<Vec<PortTally>, ControlError> {
        Err(self.lacks(Ability::Health))
    }

    /// Lets the device do something at once.
    ///
    /// # Errors
    /// It refuses, or is lost.
    fn order(&mut self, order: Order) -> Result<(), ControlError> {
        Err(self.lacks(order.needs()))
    }

    /// That it has no way to do that.
    fn lacks(&self, ability: Ability) -> ControlError {
        ControlError::NotOffered(NotOffered { control: self.name(), ability })
    }
}

/// What a control can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Each thing that it can do.
    pub offered: &'static [Ability],
    /// What of all that a step of a case may ask of a device it lets it do; whether the device has that, it says itself.
    pub verbs: &'static [DeviceVerb],
    /// How far off, at most, the instants are that it tells.
    pub clock_bound: Dur,
}

impl Capabilities {
    /// Whether it can do that.
    pub fn offers(&self, ability: Ability) -> bool {
        match ability {
            Ability::Perform(verb) => self.verbs.contains(&verb),
            other => self.offered.contains(&other),
        }
    }
}

/// Counters that were read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Readings {
    /// Their values by their canonical names.
    pub values: BTreeMap<String, u64>,
    /// How old a value may be, at most: a device that copies its counters now and then answers with the last copy.
    pub age: Dur,
    /// What the device calls those that it has other names for.
    pub vendor: BTreeMap<String, String>,
    /// What the device has and has no value here, as nothing shows at rest what was read of it.
    pub moving: BTreeSet<String>,
    /// What the device is known not to count, or to count otherwise than the name says, each with the reason.
    pub absent: BTreeMap<String, String>,
}
