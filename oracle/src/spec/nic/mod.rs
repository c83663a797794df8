//! What a NIC must do with marks, with CNPs and with holes, as it is declared (`docs/nic.md`).
//!
//! Where the rule is a recurrence it is worked off here step by step as it is written down; where it has a closed form, that
//! stands beside it.

pub mod fluid;
pub mod forms;
pub mod gaps;
pub mod np;
pub mod pipeline;
pub mod rc;
mod ready;
pub mod rp;

pub use ready::Ready;
