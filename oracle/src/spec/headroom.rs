//! How much headroom SONiC gives a lossless priority group: its vendors' sizing rules (formula F6).
//!
//! The rule has changed. [`Rule::Bytes`] is the one that the goldens follow: its author published four results with it,
//! and they come out to the byte (sonic-swss pull request 3235). What the other releases do differently:
//!
//! | | [`Packets`](Rule::Packets) | [`Bytes`](Rule::Bytes) | [`Compensated`](Rule::Compensated) | [`Barefoot`](Rule::Barefoot) |
//! | --- | --- | --- | --- | --- |
//! | release | before pull request 3235 (seen at ba1d1d30; 18913fa adds a row for 800 Gb/s) | 202405 on | pull requests 4757 and 4797, 202605 | `buffer_headroom_barefoot.lua` |
//! | bytes on the cable | rate x time / (8 x 1024) | / (8 x 1000), the true figure | as before | / (8 x 1024) |
//! | cells a small packet takes | cell / 64 above 128 B, else 2 cell / (1 + cell) | the same, rounded up | as before | as `Packets` |
//! | weight of small packets | their percentage | 64 / mean size, see below | as before | their percentage |
//! | 8 lanes: XON | 2 x latency - 1 KiB | 2 x latency | as before | latency |
//! | 8 lanes: size | one port MTU more | one port MTU more | as before | XON |
//! | Spectrum-4 and 5 | - | speed x 120 ns on the tile | as before | - |
//! | extra XOFF | - | - | 2 KiB, 18 KiB on Spectrum-6 | - |
//! | peer at 400 Gb/s | as in the table | as in the table | as in the table | twice |
//!
//! The weight of [`Rule::Bytes`] is 64 over the mean packet size. The share of bytes in small packets would be that times
//! their percentage; so at 0 % they still weigh 64 / MTU. The published results show that this is what it computes.
//!
//! Computed in fractions of whole numbers; the scripts use floating point, which differs only where the exact value lies
//! within a billionth of a whole KiB.

mod fraction;

use fraction::Fraction;
use rig_units::{Bytes, Dur, Length, PFC_BUDGETS, PortSpeed, Quanta};

/// Where the rules come from, for reports.
pub const SOURCE: &str =
    "sonic-swss cfgmgr/buffer_headroom_*.lua, pull requests 3235, 4757 and 4797";

/// Everything is rounded up to it.
const KIB: u128 = 1_024;
const SMALL: u128 = 64;

/// Which sizing rule a device runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Spectrum, before 202405: small packets are a share of packets.
    Packets,
    /// Spectrum, from 202405: small packets are weighed in bytes.
    Bytes,
    /// The same with what 202605 adds.
    Compensated,
    /// Tofino.
    Barefoot,
}

/// What a profile is sized for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizing {
    /// The release whose rule it is.
    pub rule: Rule,
    /// The port's.
    pub speed: PortSpeed,
    /// Cable to the peer.
    pub cable: Length,
    /// `mtu` of the port.
    pub port_mtu: Bytes,
    /// `mtu` of `LOSSLESS_TRAFFIC_PATTERN`.
    pub lossless_mtu: Bytes,
    /// `small_packet_percentage` of `LOSSLESS_TRAFFIC_PATTERN`; above 100 counts as 100.
    pub small_packets: u8,
    /// `cell_size` of the ASIC.
    pub cell: Bytes,
    /// `pipeline_latency` of the ASIC, in thousandths of a KiB: `19` is 19000.
    pub pipeline_latency: u64,
    /// `mac_phy_delay` of the ASIC, in thousandths of a KiB: `0.8` is 800.
    pub mac_phy_delay: u64,
    /// What a gearbox adds one way.
    pub gearbox: Dur,
    /// What the peer takes to stop; [`response_quanta`] unless the ASIC's own `peer_response_time` (16 quanta a KiB)
    /// stands in for a speed that is not listed.
    pub peer: Quanta,
    /// Whether the port has eight lanes.
    pub eight_lanes: bool,
    /// 1 to 6: the Spectrum generation. No matter for Barefoot.
    pub generation: u8,
    /// Whether there is a shared headroom pool.
    pub shared: bool,
}

/// A buffer profile as SONiC writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// XON threshold.
    pub xon: Bytes,
    /// Headroom above the XOFF threshold.
    pub xoff: Bytes,
    /// What each group has for itself.
    pub size: Bytes,
}

/// The longest that a peer takes to stop after a PFC frame, by speed, as the scripts list it (IEEE 802.3 31B.3.7); `None`
/// for a speed that they do not list. 800 Gb/s is in the Spectrum scripts only.
pub fn response_quanta(speed: PortSpeed) -> Option<Quanta> {
    let listed = PFC_BUDGETS.iter().find(|(bps, _)| *bps == speed.bps());
    listed.map(|&(_, quanta)| quanta)
}

impl Sizing {
    /// The profile that the rule makes of it.
    pub fn profile(&self) -> Profile {
        let xoff = self.xoff();
        let xon = self.xon();
        let size = match (self.rule, self.shared) {
            (Rule::Barefoot, _) | (_, true) => xon,
            (Rule::Packets | Rule::Bytes | Rule::Compensated, false) => {
                let lanes = if self.eight_lanes { u128::from(self.port_mtu.0) } else { 0 };
                (xoff + xon + lanes).next_multiple_of(KIB)
            }
        };
        Profile { xon: bytes(xon), xoff: bytes(xoff), size: bytes(size) }
    }

    fn xon(&self) -> u128 {
        let latency = Fraction::of(u128::from(self.pipeline_latency) * KIB, 1_000);
        let doubled = match (self.rule, self.eight_lanes) {
            (Rule::Barefoot, _) | (_, false) => latency,
            (Rule::Packets, true) => latency.times(2, 1).less(KIB),
            (Rule::Bytes | Rule::Compensated, true) => latency.times(2, 1),
        };
        doubled.up_to(KIB)
    }

    fn xoff(&self) -> u128 {
        let small = u128::from(self.small_packets.min(100));
        let xoff = self.xoff_at(small);
        if self.rule != Rule::Compensated {
            return xoff;
        }
        // At 100 % it is the worst case itself.
        let short = !self.shared && xoff + 2 * KIB < self.xoff_at(100);
        let generation = if self.generation == 6 { 18 * KIB } else { 0 };
        xoff + if short { 2 * KIB } else { 0 } + generation
    }

    /// ⌈lossless MTU + what is under way x what it takes in cells⌉ with this percentage of small packets.
    fn xoff_at(&self, small: u128) -> u128 {
        let (num, den) = self.occupancy(small);
        self.under_way().times(num, den).plus(u128::from(self.lossless_mtu.0), 1).up_to(KIB)
    }

    /// What may still come: a frame that the peer has begun, what is on the cable both ways, in the gearboxes, in the
    /// MAC and PHY, on the tile, and what the peer sends until it stops.
    fn under_way(&self) -> Fraction {
        let mbps = u128::from(self.speed.bps() / 1_000_000);
        // 2 x length x speed / 1.98e8 m/s / 8: a centimetre is 1e-2 m, a megabit 1e6 bit, and the rules below 202405 take
        // 1024 for 1000.
        let cable = u128::from(self.cable.0) * mbps;
        let (cable, per_byte) = match self.rule {
            Rule::Packets | Rule::Barefoot => (cable * 10, 811_008),
            Rule::Bytes | Rule::Compensated => (cable, 79_200),
        };
        let peer = u128::from(self.peer.0) * 64;
        let peer = match (self.rule, mbps) {
            (Rule::Barefoot, 400_000) => 2 * peer,
            _ => peer,
        };
        let tile = match (self.rule, self.generation) {
            (Rule::Bytes | Rule::Compensated, 4 | 5) => mbps * 15,
            _ => 0,
        };
        Fraction::of(u128::from(self.port_mtu.0) + peer, 1)
            .plus(cable, per_byte)
            // Twice speed x ns / (8 x 1024), in every release.
            .plus(2 * mbps * u128::from(self.gearbox.0), 8 * KIB * 1_000)
            .plus(u128::from(self.mac_phy_delay) * KIB, 1_000)
            .plus(tile, 1_000)
    }

    /// What a byte takes of the buffer, with so many per cent of small packets.
    fn occupancy(&self, small: u128) -> (u128, u128) {
        let cell = u128::from(self.cell.0);
        let (num, den) = if cell > 2 * SMALL { (cell, SMALL) } else { (2 * cell, 1 + cell) };
        match self.rule {
            Rule::Packets | Rule::Barefoot => ((100 - small) * den + small * num, 100 * den),
            Rule::Bytes | Rule::Compensated => {
                let worst = num.div_ceil(den).max(1);
                let hundred = small * SMALL + (100 - small) * u128::from(self.lossless_mtu.0);
                // 1 + 64 / mean x (worst - 1); `hundred` is what a hundred packets take together.
                (hundred + 100 * SMALL * (worst - 1), hundred.max(1))
            }
        }
    }
}

fn bytes(value: u128) -> Bytes {
    Bytes(u64::try_from(value).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
