//! What a NIC must do with marks, with CNPs and with holes, as it is declared (`docs/nic.md`).
//!
//! Where the rule has a closed form, that is what decides. Where it has none, its equations are worked off in real numbers, each to
//! within what a device may round.

mod alpha;
pub mod app;
pub mod completions;
pub mod datagrams;
pub mod ets;
pub mod fence;
pub mod fluid;
pub mod forms;
pub mod gaps;
pub mod incast;
pub mod keys;
pub mod losses;
pub mod neighbours;
pub mod np;
pub mod pause;
mod periods;
pub mod pipeline;
pub mod rc;
mod ready;
pub mod real;
pub mod receives;
pub mod rp;
pub mod selective;
pub mod slow_receiver;
pub mod turns;
pub mod unreliable;

pub use ready::Ready;
