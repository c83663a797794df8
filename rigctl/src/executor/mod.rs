//! The two ways to run a script. Today one: virtual time against the emulated device.

pub mod recorder;
pub mod virtual_lab;

pub use virtual_lab::VirtualLab;
