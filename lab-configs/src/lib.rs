//! Labs and DUT profiles: the language, its reader and the configuration types of a device under test.
//!
//! A profile has two faces. [`Declared`] is what an operator configured and a vendor documented: all that the
//! spec, the plan and the analysers may see. [`Actual`] is how the emulated device departs from it: only the model
//! and the emulated adapters may see that, and a test over the repository enforces it.
//!
//! Invariant: nothing here reads a clock or a source of randomness; only [`read`] touches files.

pub mod buffer;
pub mod declared;
pub mod deviation;
pub mod lab;
pub mod pfcwd;
pub mod profile;
pub mod qos;
pub mod settings;

pub use buffer::Buffer;
pub use declared::{Declared, Pfc, PortGroup, Ports};
pub use deviation::{Deviation, Switched};
pub use lab::Lab;
pub use pfcwd::{Action, Backlog, Charge, ConfigPath, DropBy, Jitter, Pfcwd, RuleFamily};
pub use profile::{Actual, Kind, Mutation, Profile, Rule};
pub use qos::{Qos, Scheduling};
pub use settings::{BadSetting, Setting};
