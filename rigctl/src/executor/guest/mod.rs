//! Runs scripts in real time on devices that nobody here wrote. A NIC: Linux's own, in a guest, with an unmodified perftest as the application
//! and the rig as its peer. A flow of the NIC is a client of perftest there; those that
//! have always something to send are several side by side. What the rig does between two NICs it does between that
//! one and its own responder, or between two guests, whose programs talk to each other. The same with NICs of servers in place of the guests'. To one whose other end it is
//! the rig sends streams, too: each to the memory of a server of perftest there.

mod console;
mod lab;
mod machine;
mod path_mtu;
mod server;
mod side_by_side;
mod starved;
mod streams;
mod tape;

pub use console::consoles;
pub use lab::{FlowNics, GuestLab};
pub use machine::{GuestHost, GuestNics, GuestShell};
pub use server::{AtServer, ServerNics};
