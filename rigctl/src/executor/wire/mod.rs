//! Runs scripts in real time on the rig's ports, against an emulated device that is a process of its own, or against
//! whatever is cabled there.
//!
//! One session is one device, booted for it where it can be, for any number of trials. Its clock is an argument of the
//! benches, CLOCK_MONOTONIC from the boot on unless a test has another, and what happens between trials happens as it does
//! on a real device: unseen.

mod bench;
mod benches;
mod between;
mod bridged;
pub(super) mod broken;
mod cabled;
mod cabling;
mod clocks;
mod cuts;
mod exchanged;
mod introduced;
mod keeper;
mod lab;
mod losses;
mod onward;
mod patience;
mod peers;
mod readdressed;
mod room;
mod served;
mod silence;
mod steered;
mod tape;
mod told;
mod trial;
mod under_way;
mod unseen;

pub use bench::Bench;
pub use benches::{Benches, Lease, Maker, Start};
pub use bridged::Bridged;
pub use broken::Broken;
pub use cabled::{ControlPath, backend};
pub use clocks::{Clocks, SessionClock};
pub use lab::WireLab;
pub use patience::Patience;
pub use room::Share;
pub use served::Serve;
pub use steered::Steered;
