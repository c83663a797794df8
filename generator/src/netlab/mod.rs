//! A lab inside the kernel: network namespaces without names, and pairs of interfaces between them.
//!
//! Nothing here outlives the process. A namespace lives as long as a [`Namespace`], a thread or a socket in it does, and
//! its interfaces go with it. Needs CAP_SYS_ADMIN and CAP_NET_ADMIN.

mod namespace;
mod veth;

pub use namespace::{LabError, Namespace};
pub use veth::{End, pair, pair_with_queues};

#[cfg(test)]
pub(crate) mod tests;
