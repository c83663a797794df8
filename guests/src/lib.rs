//! Linux in a virtual machine as a device under test, and the rig as the RoCE peer of an unmodified perftest in it.
//!
//! The guest's kernel and programs come from Debian packages; nobody here wrote them. It is steered over a serial line, so
//! that nothing but what is measured is on its wire.
//!
//! Invariant: nothing outlives the process. The namespace has no name, the tap is QEMU's, and QEMU ends with the thread that
//! started it.

pub mod guest;
pub mod image;
pub mod peer;
pub mod perftest;

mod answer;
mod asks;
mod between;
mod fault;
mod session;
mod side_by_side;
mod toward;
mod wait;
mod with_rig;

pub use answer::{AsksToEnd, NeverAsked};
pub use fault::GuestFault;
pub use guest::{Guest, GuestRole, HwCounters};
pub use image::Image;
pub use session::{
    Came, ENDS, FlowsOver, PATIENCE, PROGRAMS, Perftest, PerftestHost, RigEnd, WayAcross,
};
pub use side_by_side::{CameBeside, side_by_side};
pub use toward::{Greeted, Sink, Toward, greeted, stream_of, toward};
pub use wait::{Wait, WaitWatch};
