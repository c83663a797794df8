//! One trait over every device under test, [`Control`]: configure, read back, read counters, hear events.
//!
//! Invariant: a control offers what it can really do and says so; it judges nothing.

pub mod control;
mod controls;
mod dcb;
pub mod device_lock;
mod dummy;
pub mod emulated;
pub mod emulated_wire;
#[cfg(feature = "fixture")]
pub mod fixture;
pub mod host;
pub mod journal;
mod linux_control;
mod none;
mod perftest_control;
pub mod protocol;
pub mod roce;
pub mod serve;
pub mod sonic;
pub mod standin;
mod standin_control;

pub use control::{Control, ControlError, Refused};
pub use controls::{can_set, capabilities, lacking, over_interfaces};
pub use device_lock::DeviceLock;
pub use dummy::Dummy;
pub use emulated::Emulated;
pub use emulated_wire::EmulatedWire;
pub use journal::Journal;
pub use linux_control::{LinuxControl, Shell};
pub use none::NoControl;
pub use perftest_control::PerftestControl;
pub use sonic::{Introduction, SonicControl};
pub use standin_control::StandinControl;
