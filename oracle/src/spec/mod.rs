//! What a device must do, as it is declared: closed forms with their sources.
//!
//! Invariant: nothing here is simulated. No loop over time, no state, no draw; a formula and its numbers, and where a rule is
//! itself a recurrence (`macsec`, `nic`) its steps as they are written down. Neither the model nor what a profile says a device
//! *actually* does is known here.

pub mod backpressure;
pub mod blue_rdma;
pub mod buffer;
pub mod buffer_pool;
pub mod flex_counter;
pub mod headroom;
pub mod in_flight;
pub mod macsec;
pub mod nic;
pub mod own_headroom;
pub mod pause;
pub mod pfcwd;
pub mod rdma_router;
pub mod share;
pub mod sized_speed;
pub mod steps;
pub mod watermark;
pub mod wred;
