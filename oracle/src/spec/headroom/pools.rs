//! What the profiles leave for the shared pool (formula F15, `buffer_pool_mellanox.lua` and `buffer_pool_barefoot.lua`).

use super::fraction::Fraction;
use super::{KIB, Profile, bytes};
use rig_units::Bytes;

/// What each port keeps of its own where headroom is shared.
const PRIVATE: u128 = 10 * KIB;
const MIRROR: u128 = 10 * KIB;
const MANAGEMENT: u128 = 256 * KIB;
const DESCRIPTORS: u128 = 32 * KIB * KIB;
/// The pool that a shared headroom has when nothing asks for any.
const LEAST_SHARED: u128 = 640 * KIB;

/// How the size of the shared headroom pool is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedHeadroom {
    /// Every group has its own. (While profiles are sized for sharing and no pool is, the script makes one of 640 KiB: a
    /// state on the way to another, left out.)
    Off,
    /// `over_subscribe_ratio`.
    Ratio(u64),
    /// `xoff` of `ingress_lossless_pool`.
    Size(Bytes),
}

/// A Spectrum's memory and who reserves of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory<'a> {
    /// `mmu_size`.
    pub total: Bytes,
    /// `cell_size`.
    pub cell: Bytes,
    /// 1 to 6: the Spectrum generation.
    pub generation: u8,
    /// `pipeline_latency`, in thousandths of a KiB: what a lossy group reserves without saying so.
    pub pipeline_latency: u64,
    /// Lossless profiles, and how many groups have each. One of size 0 counts for nothing.
    pub lossless: &'a [(Profile, u64)],
    /// Sum of the sizes of all other profiles, as often as each is used.
    pub others: Bytes,
    /// Lossy groups on ports with fewer than eight lanes.
    pub lossy_groups: u64,
    /// Lossy groups on ports with eight.
    pub lossy_groups_eight: u64,
    /// Ports with a lossless group.
    pub lossless_ports: u64,
    /// Ports that are up, with fewer than eight lanes.
    pub ports: u64,
    /// Ports that are up, with eight.
    pub ports_eight: u64,
    /// The shared headroom pool.
    pub shared: SharedHeadroom,
    /// How many ingress pools have no size of their own: one takes all that is left, several take half of it each.
    pub pools: u64,
}

/// What comes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pools {
    /// `xoff` of `ingress_lossless_pool`; 0 without a shared headroom pool.
    pub headroom: Bytes,
    /// `size` of the pool.
    pub pool: Bytes,
}

impl Memory<'_> {
    /// The pools' sizes; an overbooked memory leaves 0.
    pub fn pools(&self) -> Pools {
        let asked = |of: &dyn Fn(&Profile) -> u128| -> u128 {
            let real = self.lossless.iter().filter(|(profile, _)| profile.size.0 != 0);
            real.map(|(profile, groups)| of(profile) * u128::from(*groups)).sum()
        };
        let sizes = asked(&|profile| profile.size.0.into()) + u128::from(self.others.0);
        let missing = asked(&|profile| {
            let wanted = u128::from(profile.xon.0) + u128::from(profile.xoff.0);
            wanted.saturating_sub(profile.size.0.into())
        });
        let private = u128::from(self.lossless_ports) * PRIVATE;
        let headroom = match self.shared {
            SharedHeadroom::Off => 0,
            SharedHeadroom::Size(size) => u128::from(size.0),
            SharedHeadroom::Ratio(ratio) => {
                match missing.saturating_sub(private).div_ceil(u128::from(ratio).max(1)) {
                    0 => LEAST_SHARED,
                    some => some,
                }
            }
        };
        let private = if self.shared == SharedHeadroom::Off { 0 } else { private };
        let fixed = sizes + private + headroom + MANAGEMENT + self.by_generation();
        let total = u128::from(self.total.0);
        let lossy = self.lossy();
        let left = Fraction::of(total, 1).less(fixed).minus(lossy);
        let part = if self.pools == 1 { left } else { left.times(1, 2) };
        let cells = total / u128::from(self.cell.0.max(1)) * u128::from(self.cell.0.max(1));
        Pools { headroom: bytes(headroom), pool: bytes(part.up_to(1).min(cells)) }
    }

    /// What lossy groups, and the management group of each port, reserve: the latency, on eight lanes twice that less a
    /// KiB.
    fn lossy(&self) -> Fraction {
        let (one, eight) =
            (self.lossy_groups + self.ports, self.lossy_groups_eight + self.ports_eight);
        let latency = u128::from(self.pipeline_latency);
        let one = u128::from(one) * latency;
        let eight = u128::from(eight) * (2 * latency).saturating_sub(1_000);
        Fraction::of((one + eight) * KIB, 1_000)
    }

    /// Ports mirror at egress up to Spectrum-5; from 6 on descriptors of modified packets have a pool.
    fn by_generation(&self) -> u128 {
        if self.generation >= 6 {
            DESCRIPTORS
        } else {
            u128::from(self.ports + self.ports_eight) * MIRROR
        }
    }
}

/// The shared headroom of a Tofino: 70 % of 400 cells for each of two groups a port, 560 cells a port in all. Its pools
/// have fixed sizes.
pub const fn barefoot_shared_headroom(ports: u64, cell: Bytes) -> Bytes {
    Bytes(ports * 560 * cell.0)
}
