//! A request to stop.

use std::sync::atomic::{AtomicBool, Ordering};

/// A request to stop, in two degrees: nothing new is started (a disk is full, but what runs can still be measured), or
/// what runs is broken off as well, in the middle of a trial (Ctrl-C).
#[derive(Debug, Default)]
pub struct Stop {
    requested: AtomicBool,
    hurried: AtomicBool,
}

impl Stop {
    /// One that nobody makes.
    pub fn never() -> &'static Stop {
        static NEVER: Stop =
            Stop { requested: AtomicBool::new(false), hurried: AtomicBool::new(false) };
        &NEVER
    }

    /// Nothing more is started.
    pub fn request(&self) {
        self.requested.store(true, Ordering::Relaxed);
    }

    /// Nothing more is started, and what runs is broken off as soon as it can be.
    pub fn hurry(&self) {
        self.hurried.store(true, Ordering::Relaxed);
        self.request();
    }

    /// Whether nothing more is to be started.
    pub fn requested(&self) -> bool {
        self.requested.load(Ordering::Relaxed)
    }

    /// Whether what runs is to be broken off.
    pub fn hurried(&self) -> bool {
        self.hurry_flag().load(Ordering::Relaxed)
    }

    /// The flag that [`Stop::hurry`] sets, for whom no more than that concerns.
    pub const fn hurry_flag(&self) -> &AtomicBool {
        &self.hurried
    }
}
