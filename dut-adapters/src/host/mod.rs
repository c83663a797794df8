//! A server with a Linux NIC, asked for what it is, counts and is set to: this machine, one that `ssh` reaches, or what one of them has
//! said before, as a file or as a folder with parts of its `/sys`. And set: what is changed there is in the journal before it is changed.
//!
//! Invariant: a counter that a driver does not have is missing with its reason, and never zero.

mod access;
mod change;
mod counted;
mod dcb_value;
mod exchange;
mod gather;
mod held;
mod knob_of;
mod lease;
mod names;
mod nic;
mod port;
mod readings;
mod said;
mod session;
mod settings;
mod statistic;
pub(crate) mod written;

pub use access::HostAccess;
pub use change::{Changed, NotSet, set};
pub use counted::{Counted, Missing, Value};
pub use gather::gather;
pub use held::HeldServer;
pub use knob_of::{knob_of, knobs_at, knobs_of};
pub use nic::{Gid, Nic, nics};
pub use port::PortAt;
pub use said::Said;
pub use settings::{Set, settings};
pub use statistic::{Optional, QueuePairCount, QueuePairs, Statistic};
