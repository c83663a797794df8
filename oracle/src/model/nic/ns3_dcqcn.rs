//! How a packet simulator (HPCC's ns-3, `rdma-hw.cc`) tells a NIC of congestion, for the limiter to be held against its figures: a build has
//! it only with the feature `ns3`, and no profile can reach it. The limiter itself is the catalogue's, with `by_period` and no byte counter.
//!
//! Its acknowledgements carry the mark of their frame back to the sender, where each that is marked counts as a CNP, and gaps between frames are
//! whole nanoseconds.

mod of_nic;

use rig_units::Dur;

/// What the simulator's acknowledgements are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// Bytes of one, FCS counted.
    pub ack_size: u16,
    /// How long one is on its last cable.
    pub ack_flight: Dur,
}

/// From a frame of so many bytes to the next: cut down to whole nanoseconds.
#[cold]
#[inline(never)]
fn gap(size: u64, rate: u64) -> Dur {
    let ns = u128::from(size) * 8_000_000_000 / u128::from(rate.max(1));
    Dur::ns(u64::try_from(ns).unwrap_or(u64::MAX / 1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_whole_nanoseconds() {
        const LINE: u64 = 100_000_000_000;
        assert_eq!(gap(1_048, LINE), Dur::ns(83));
        assert_eq!(gap(1_048, LINE / 2), Dur::ns(167));
    }
}
