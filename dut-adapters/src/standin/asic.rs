//! The device behind the databases.

use crate::control::Order;
use crate::protocol::{Answer, Ask, Happened};
use crate::serve::Post;
use core::fmt;
use rig_lab::{Setting, WatermarkCopy};
use rig_testcases::DeviceVerb;
use std::collections::BTreeMap;

/// What takes settings, counts, and has a watchdog.
pub trait Asic: Send {
    /// Changes settings, all or none.
    ///
    /// # Errors
    /// It refuses them, in its words.
    fn set(&mut self, settings: &[Setting]) -> Result<(), String>;

    /// Begins anew with these, which are all of them: what no chip changes while frames pass.
    ///
    /// # Errors
    /// It refuses them, in its words.
    fn restart(&mut self, settings: &[Setting]) -> Result<(), String> {
        self.set(settings)
    }

    /// Clears a copy of its watermarks.
    fn clear(&mut self, copy: WatermarkCopy);

    /// Every counter now, by its canonical name.
    fn counters(&mut self) -> BTreeMap<String, u64>;

    /// What its watchdogs did since this was last asked.
    fn events(&mut self) -> Vec<Happened>;
}

/// What is drawn in a device that begins anew.
const SEED: u64 = 1;

/// A device that is served by this process.
pub struct Served(pub Post);

impl fmt::Debug for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Served")
    }
}

impl Asic for Served {
    fn set(&mut self, settings: &[Setting]) -> Result<(), String> {
        match self.0.ask(Ask::Configure { settings: settings.to_vec() }) {
            Some(Answer::Configured { .. }) => Ok(()),
            Some(Answer::Refused { why } | Answer::Bad { why }) => Err(why),
            Some(_) | None => Err("the device has ended".to_owned()),
        }
    }

    /// The same device each time: what is drawn in it does not tell one beginning from another.
    fn restart(&mut self, settings: &[Setting]) -> Result<(), String> {
        match self.0.ask(Ask::Boot { seed: SEED, settings: settings.to_vec() }) {
            Some(Answer::Booted { .. }) => Ok(()),
            Some(Answer::Refused { why } | Answer::Bad { why }) => Err(why),
            Some(_) | None => Err("the device has ended".to_owned()),
        }
    }

    fn clear(&mut self, copy: WatermarkCopy) {
        let verb = DeviceVerb::ClearWatermarks(copy);
        // One that has ended shows nothing any more.
        let _ended = self.0.ask(Ask::Do(Order::from(verb)));
    }

    fn counters(&mut self) -> BTreeMap<String, u64> {
        match self.0.ask(Ask::Counters { names: Vec::new() }) {
            Some(Answer::Counters { values }) => values,
            _ => BTreeMap::new(),
        }
    }

    fn events(&mut self) -> Vec<Happened> {
        match self.0.ask(Ask::Events) {
            Some(Answer::Events { events }) => events,
            _ => Vec::new(),
        }
    }
}
