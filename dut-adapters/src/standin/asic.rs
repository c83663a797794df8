//! The device behind the databases.

use super::groups::STORMED;
use crate::control::{Health, Order};
use crate::protocol::{Answer, Ask, Happened, Polled};
use crate::serve::{Herald, Post};
use core::fmt;
use rig_capture::DutEventKind;
use rig_generator::port::Mono;
use rig_lab::{RebootKind, Setting, WatermarkCopy};
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

    /// One of them.
    fn counter(&mut self, name: &str) -> Option<u64> {
        self.counters().get(name).copied()
    }

    /// Reboots in this way.
    fn reboots(&mut self, _kind: RebootKind) {}

    /// What its watchdogs did since this was last asked.
    fn events(&mut self) -> Vec<Happened>;

    /// From now on `herald` is told as its watchdogs do anything; whether it is: of one that tells nobody one has to ask.
    fn tells(&mut self, _herald: Herald) -> bool {
        false
    }

    /// Has its watchdogs decide nothing by themselves, also after it has begun anew.
    fn yields(&mut self) {}

    /// What a watchdog's poll reads of each queue that is guarded, and when it was read: the poll was due at the first instant, and the next
    /// one is at the other.
    fn polled(&mut self, _due: [Mono; 2]) -> (Mono, Vec<Polled>) {
        (Mono::now(), Vec::new())
    }

    /// How it has kept up with its clock since this was last asked; `None`: it does not tell.
    fn health(&mut self) -> Option<Health> {
        None
    }

    /// Ends: nobody takes what the databases say any more.
    fn ends(&mut self) {}

    /// Does what its watchdog does who has decided this of a queue, by the poll that was due then.
    fn decided(&mut self, _queue: (&str, u8), _what: DutEventKind, _due: Mono) {}
}

/// What is drawn in a device that begins anew.
const SEED: u64 = 1;

/// A device that is served by this process.
pub struct Served {
    post: Post,
    yields: bool,
    /// What orchagent has counted of stormed queues, on chips that went before this one: it goes on where they begin anew.
    outlives: BTreeMap<String, u64>,
}

impl Served {
    /// The device that answers at `post`.
    pub fn at(post: Post) -> Served {
        Served { post, yields: false, outlives: BTreeMap::new() }
    }

    /// What the chip counts, by its name; all of it where none is named.
    fn counted(&self, names: Vec<String>) -> BTreeMap<String, u64> {
        match self.post.ask(Ask::Counters { names }) {
            Some(Answer::Counters { values }) => values,
            _ => BTreeMap::new(),
        }
    }

    /// The same with what outlives it: of the last storm what the chip had that saw it.
    fn with_what_outlives(&self, mut values: BTreeMap<String, u64>) -> BTreeMap<String, u64> {
        let own = values.clone();
        for (name, value) in &mut values {
            let outlives = self.outlives.get(name).copied().unwrap_or(0);
            let is_newer = || own.get(&storms_of(name)).is_none_or(|storms| *storms > 0);
            if !(name.ends_with(LAST) && is_newer()) {
                *value += outlives;
            }
        }
        values
    }

    /// Orders it something. One that has ended does nothing any more, and there is nobody left to be told.
    fn order(&self, order: Order) {
        let _ended = self.post.ask(Ask::Do(order));
    }
}

/// What is of the last storm alone.
const LAST: &str = "_LAST";

/// Whether orchagent keeps it, and not the chip.
fn goes_on(name: &str) -> bool {
    name.split_once(' ').is_some_and(|(_, counter)| counter.starts_with(STORMED))
}

/// What counts the storms of the same queue.
fn storms_of(name: &str) -> String {
    let queue = name.split_once(' ').map_or(name, |(queue, _)| queue);
    format!("{queue} {STORMED}DEADLOCK_DETECTED")
}

impl fmt::Debug for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Served")
    }
}

impl Asic for Served {
    fn set(&mut self, settings: &[Setting]) -> Result<(), String> {
        match self.post.ask(Ask::Configure { settings: settings.to_vec() }) {
            Some(Answer::Configured { .. }) => Ok(()),
            Some(Answer::Refused { why } | Answer::Bad { why }) => Err(why),
            Some(_) | None => Err("the device has ended".to_owned()),
        }
    }

    /// The same device each time: what is drawn in it does not tell one beginning from another.
    fn restart(&mut self, settings: &[Setting]) -> Result<(), String> {
        // Of a queue that is not guarded now orchagent goes on where it was once it is again.
        let mut outlives = self.outlives.clone();
        outlives.extend(self.counters().into_iter().filter(|(name, _)| goes_on(name)));
        match self.post.ask(Ask::Boot { seed: SEED, settings: settings.to_vec() }) {
            Some(Answer::Booted { .. }) => {
                self.outlives = outlives;
                if self.yields {
                    self.order(Order::YieldPfcwd);
                }
                Ok(())
            }
            Some(Answer::Refused { why } | Answer::Bad { why }) => Err(why),
            Some(_) | None => Err("the device has ended".to_owned()),
        }
    }

    fn clear(&mut self, copy: WatermarkCopy) {
        self.order(Order::from(DeviceVerb::ClearWatermarks(copy)));
    }

    fn counters(&mut self) -> BTreeMap<String, u64> {
        self.with_what_outlives(self.counted(Vec::new()))
    }

    fn counter(&mut self, name: &str) -> Option<u64> {
        self.with_what_outlives(self.counted(vec![name.to_owned()])).remove(name)
    }

    fn reboots(&mut self, kind: RebootKind) {
        self.order(Order::from(DeviceVerb::Reboot(kind)));
    }

    fn events(&mut self) -> Vec<Happened> {
        match self.post.ask(Ask::Events) {
            Some(Answer::Events { events }) => events,
            _ => Vec::new(),
        }
    }

    fn tells(&mut self, herald: Herald) -> bool {
        self.post.tells(herald);
        true
    }

    fn yields(&mut self) {
        self.yields = true;
        self.order(Order::YieldPfcwd);
    }

    fn polled(&mut self, [due, next]: [Mono; 2]) -> (Mono, Vec<Polled>) {
        match self.post.ask(Ask::Polled { due_ns: due.0, next_ns: next.0 }) {
            Some(Answer::Polled { at_ns, queues }) => (Mono(at_ns), queues),
            _ => (Mono::now(), Vec::new()),
        }
    }

    fn decided(&mut self, (port, class): (&str, u8), what: DutEventKind, due: Mono) {
        self.order(Order::Decided { port: port.to_owned(), class, what, due_ns: due.0 });
    }

    fn health(&mut self) -> Option<Health> {
        match self.post.ask(Ask::Lateness) {
            Some(Answer::Health(health)) => Some(health),
            _ => None,
        }
    }

    fn ends(&mut self) {
        self.post.stop();
    }
}
