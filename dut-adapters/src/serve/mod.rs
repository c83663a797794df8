//! The emulated device as a process of its own: on real ports, in real time.
//!
//! [`Served`] is the device on its ports; it is given its clock. [`protocol`](crate::protocol) is the language in which it
//! is steered, [`Conversation`] speaks it on behalf of the device, [`Gate`] is the socket where that begins.

mod conversation;
mod device;
mod frame;
mod gate;
mod mailbox;
mod meter;
mod nics;
mod operands;
mod passed;
mod ports;
mod seat;
mod secure;
pub(crate) mod served;
mod store;
mod tag;
mod tos;

pub use conversation::Conversation;
pub use gate::{Gate, Place, Turned};
pub use mailbox::{Herald, Post};
pub use ports::on_ports;
pub use served::{Line, Next, Served, Unserved};
