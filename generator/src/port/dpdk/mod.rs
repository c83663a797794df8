//! DPDK through a shim of plain C (`generator/dpdk`), so that no struct of DPDK crosses.
//!
//! The shim is a shared object that the ordinary program opens at run time, or, with the feature `dpdk`, a part of it.
//! A port takes the whole device, with one queue each way. Nothing wakes a reader: it looks every 50 us, and so does who
//! waits for several ports. Left out on purpose: more queues, and transmit times, which no driver here has been seen to
//! keep.

mod api;
mod device;
mod eal;
mod fault;
mod incoming;
mod nic_clock;
mod open;
mod outgoing;
mod rx;
mod tx;

pub use fault::DpdkFault;
pub(super) use open::open;

use super::interface::Card;
use super::{Fault, PortError, Stats};
use api::Api;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use device::Device;
use std::path::{Path, PathBuf};

/// What DPDK needs to know before there is a port.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dpdk {
    /// The arguments of DPDK's environment (EAL), one each. The first port that a process opens starts it; for all later
    /// ones they must be the same.
    pub eal: Vec<String>,
    /// The shim to use and no other. `None`: the one that is linked in, else the first of `places` that can be opened.
    pub shim: Option<PathBuf>,
    /// Where a shim may be. A name without a slash is looked for where the system keeps its libraries.
    pub places: Vec<PathBuf>,
}

impl Dpdk {
    /// The shim's file name.
    pub const SHIM: &str = "librig_dpdk.so";

    /// Where the shim of `program` usually is: beside it, one folder up (where `cargo xtask dpdk-shim` writes it), in
    /// the `lib` beside its folder, and where the system keeps its libraries.
    pub fn usual_places(program: &Path) -> Vec<PathBuf> {
        let beside = program.parent().unwrap_or(Path::new("."));
        let above = beside.parent().unwrap_or(beside);
        let files = [beside, above, &above.join("lib")].map(|folder| folder.join(Self::SHIM));
        files.into_iter().chain([Self::SHIM.into()]).collect()
    }

    /// The version of DPDK behind the shim, in DPDK's words. DPDK is not started.
    ///
    /// # Errors
    /// No shim of this program's version can be opened.
    pub fn version(&self) -> Result<String, DpdkFault> {
        Api::load(self).map(|api| device::version(&api))
    }
}

/// What both halves need for as long as either lives.
#[derive(Debug)]
struct Shared {
    name: String,
    device: Device,
    /// The interface of the kernel below the port, where there is one.
    card: Option<Card>,
    rx_unstamped: AtomicU64,
}

impl Shared {
    /// Whether the port is still there and up, as far as anybody can tell.
    fn is_well(&self) -> Result<(), PortError> {
        if self.device.is_gone() {
            return Err(Fault::Gone.at(&self.name));
        }
        self.card.as_ref().map_or(Ok(()), Card::is_well)
    }

    fn stats(&self) -> Result<Stats, PortError> {
        let losses = self.device.losses();
        let losses =
            losses.map_err(|errno| Fault::of("read the counters", errno).at(&self.name))?;
        Ok(Stats {
            rx_dropped: losses.unbuffered + losses.broken,
            rx_ring_full: losses.missed,
            rx_unstamped: self.rx_unstamped.load(Relaxed),
            tx_lost: losses.unsent,
            ..Stats::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shim_is_looked_for_around_the_program() {
        let places = Dpdk::usual_places(Path::new("/opt/rig/bin/rigctl"));
        let want = [
            "/opt/rig/bin/librig_dpdk.so",
            "/opt/rig/librig_dpdk.so",
            "/opt/rig/lib/librig_dpdk.so",
            "librig_dpdk.so",
        ];
        assert_eq!(places, want.map(PathBuf::from));
    }
}
