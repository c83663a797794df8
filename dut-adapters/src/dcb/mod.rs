//! Data Center Bridging of one interface, as route netlink has it: what it is set to is asked for and set in the kernel's own messages (linux/dcbnl.h;
//! `RTM_GETDCB`, `RTM_SETDCB`), and no program's output is read.
//!
//! Left out on purpose: the pre-standard half of it (CEE), what a neighbour has said (`PEER_*`), congestion notification (QCN), and the order of trust
//! (`APP_TRUST_TABLE`), which no driver of an RDMA NIC that is known here offers.

mod message;
mod socket;
mod state;

pub(crate) use message::{delete, done, get, read, set};
pub(crate) use socket::exchange;
pub(crate) use state::{App, CLASSES, Dcb, Owner, Part, Selection};

#[cfg(test)]
pub(crate) use state::{Buffer, Ets, Pfc};

#[cfg(test)]
mod tests;
