//! How long a port may take to react to PFC: a constant of the standard that laying headroom out and judging a sender share.

use crate::Quanta;

const MBPS: u64 = 1_000_000;

/// Most quanta that a port of so many bits a second may take from the last bit of a PFC frame to the last frame that it
/// starts, by speed (IEEE 802.3 31B.3.7; the numbers are those that SONiC's buffer scripts lay headroom out for).
pub const PFC_BUDGETS: [(u64, Quanta); 10] = [
    (100 * MBPS, Quanta(1)),
    (1_000 * MBPS, Quanta(2)),
    (10_000 * MBPS, Quanta(67)),
    (25_000 * MBPS, Quanta(80)),
    (40_000 * MBPS, Quanta(118)),
    (50_000 * MBPS, Quanta(147)),
    (100_000 * MBPS, Quanta(394)),
    (200_000 * MBPS, Quanta(453)),
    (400_000 * MBPS, Quanta(905)),
    (800_000 * MBPS, Quanta(905)),
];
