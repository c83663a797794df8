//! The device on the real engine.

mod actions;
mod bench;
mod buffers;
mod clock;
mod configuring;
mod deviations;
mod families;
mod feeding;
mod flex_counters;
mod macsec;
mod marking;
mod nics;
mod obeying;
mod reboot;
mod resting;
mod sending;
mod system;
mod watermarks;
