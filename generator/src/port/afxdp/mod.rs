//! AF_XDP on nothing but the kernel: its own rings, its own program, no compiler for BPF.
//!
//! Frames of more than 4 KiB go in several pieces, so that RoCE with an MTU of 4096 passes. The program is attached by
//! a link that lives as long as the process at most: a killed rig leaves nothing behind.
//!
//! A port has a socket for each queue that the interface spreads frames over, and one memory for all. What a flow sends goes by one of
//! them, so that it is not overtaken by itself; what comes is handed over queue by queue, and only its stamps tell the order between
//! two of them.

mod bpf;
mod flow;
mod insn;
mod mapping;
mod open;
mod program;
mod promiscuous;
mod ring;
mod rx;
mod socket;
mod sockets;
mod tx;

pub(super) use open::open;

use super::interface::Card;
use super::{PortError, Stats};
use bpf::{Attachment, Program, SocketMap};
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use promiscuous::Promiscuous;
use sockets::Sockets;

/// What both halves need for as long as either lives. In the order in which it is undone: first no more frames are sent
/// to the sockets, then they go.
#[derive(Debug)]
struct Shared {
    #[expect(dead_code, reason = "held, never used: dropping it takes the program off")]
    attachment: Attachment,
    #[expect(dead_code, reason = "held, never used: the attachment keeps a program of its own")]
    program: Program,
    #[expect(dead_code, reason = "held, never used: dropping it empties it")]
    map: SocketMap,
    #[expect(dead_code, reason = "held, never used: dropping it ends it")]
    promiscuous: Promiscuous,
    sockets: Sockets,
    zero_copy: bool,
    card: Card,
    tx_lost: AtomicU64,
    rx_unstamped: AtomicU64,
    strays: AtomicU64,
}

impl Shared {
    fn stats(&self) -> Result<Stats, PortError> {
        let counts = self.sockets.stats();
        let counts = counts.map_err(|errno| self.card.error("read the counters", errno))?;
        Ok(Stats {
            tx_lost: self.tx_lost.load(Relaxed),
            rx_unstamped: self.rx_unstamped.load(Relaxed),
            strays: self.strays.load(Relaxed),
            ..counts
        })
    }
}

#[cfg(test)]
mod tests;
