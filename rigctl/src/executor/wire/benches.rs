//! The benches of a run: each a device in a process of its own with the rig's ports cabled to it, lent to one session at
//! a time.

use super::bench::{Bench, Start};
use core::ops::{Deref, DerefMut};
use rig_lab::Profile;
use std::sync::{Arc, Mutex, PoisonError};

/// Every bench that is idle, and how to start another.
#[derive(Debug)]
pub struct Benches {
    start: Start,
    /// Idle ones, the one used last at the end.
    idle: Mutex<Vec<Bench>>,
    /// Most that are kept idle.
    most: usize,
}

impl Benches {
    /// None yet. At most `most` wait for the next session when they are idle.
    pub fn new(start: Start, most: usize) -> Arc<Benches> {
        Arc::new(Benches { start, idle: Mutex::default(), most })
    }

    /// How many may be in use side by side.
    pub const fn most(&self) -> usize {
        self.most
    }

    /// A bench with the device of `profile`: an idle one, or one that is started now.
    ///
    /// # Errors
    /// Why none can be started.
    pub fn lease(self: &Arc<Benches>, profile: &Profile) -> Result<Lease, String> {
        let bench = match self.take(profile) {
            Some(bench) => bench,
            None => Bench::start(&self.start, profile)?,
        };
        Ok(Lease { bench: Some(bench), home: Arc::clone(self) })
    }

    fn take(&self, profile: &Profile) -> Option<Bench> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let at = idle.iter().rposition(|bench| bench.profile == profile.name)?;
        Some(idle.remove(at))
    }

    fn put(&self, bench: Bench) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(bench);
        if idle.len() > self.most {
            idle.remove(0);
        }
    }
}

/// A bench that is in use. It goes back when the lease ends.
#[derive(Debug)]
pub struct Lease {
    bench: Option<Bench>,
    home: Arc<Benches>,
}

impl Lease {
    /// The bench is of no more use: it is taken down instead of going back.
    pub fn spoil(&mut self) {
        if let Some(bench) = &mut self.bench {
            bench.spoilt = true;
        }
    }
}

impl Deref for Lease {
    type Target = Bench;
    fn deref(&self) -> &Bench {
        self.bench.as_ref().expect("a lease has its bench until it ends")
    }
}

impl DerefMut for Lease {
    fn deref_mut(&mut self) -> &mut Bench {
        self.bench.as_mut().expect("a lease has its bench until it ends")
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(bench) = self.bench.take().filter(|bench| !bench.spoilt) {
            self.home.put(bench);
        }
    }
}
