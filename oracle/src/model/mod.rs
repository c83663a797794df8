//! The emulated device: what a device must do, by simulation.

pub mod pfcwd;
