//! A device on ports in memory, by a clock that the test holds.

mod agree;
mod behaves;
pub(crate) mod bench;
mod nics;
mod pressed;
mod secured;
mod steered;
