//! From cases and a lab to a stream of run events.

mod answered;
pub mod applicability;
pub mod applied;
mod as_found;
pub mod baseline;
#[cfg(test)]
mod bounds;
pub mod budget;
#[cfg(test)]
mod bundled;
pub mod case;
pub mod choose;
mod classes;
mod consent;
mod deaf;
pub mod estimate;
pub mod evidence;
mod far;
mod fits;
pub mod floor;
mod held;
mod in_bridge;
pub mod in_effect;
mod in_guest;
mod misfit;
pub mod mutants;
pub mod pausing;
pub mod plan;
pub mod pool;
pub mod preflight;
pub mod readings;
mod refusal;
pub mod repeats;
pub mod room;
pub mod sent;
pub mod session;
mod side_by_side;
mod slow_ports;
mod stamped;
pub mod steps;
pub mod stimulus;
pub mod sweep_curves;
mod to_nic;
pub mod under_test;
mod uneven;
mod unfit;
mod used_port;
