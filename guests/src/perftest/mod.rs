//! What two perftests say to each other over TCP before, between and after their RDMA, so that the rig can be either.
//!
//! Read off recordings of perftest 4.5+0.17 (its version 6.06) and held against its source (`perftest_communication.c`).

mod client;
mod exchange;
mod flags;
mod overheard;
mod server;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use client::{READY, Rate, TOLD, greet, part};
pub(crate) use exchange::GREETINGS;
pub use exchange::{BadExchange, Destination, Opening};
pub(crate) use flags::in_gigabits;
pub use flags::{Messages, Of, messages, no_flag, peered, reserved};
pub(crate) use overheard::Overheard;
pub use server::serve;
