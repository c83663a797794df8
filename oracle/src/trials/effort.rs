//! How much a run takes upon itself: what it spends of its chance of a false alarm, and how many trials it runs to tell
//! how small a change. In virtual time that is what it usually is. In real time it is the most that fits into the lab's
//! budget: worked out from the plan alone, so that the same cases in the same lab are always planned alike.

use rig_units::Ppm;

/// How much a run takes upon itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// The smallest change of a detection probability that counting is planned for, in millionths.
    pub resolution: u32,
    /// Trials that show a latency, where the case does not say.
    pub latency: u32,
    /// By which part of itself a corner of a marking curve is off where that is to be noticed.
    pub corner: Ppm,
}

impl Effort {
    /// In virtual time.
    pub const USUAL: Effort = Effort { resolution: 500_000, latency: 10, corner: Ppm(50_000) };

    /// The parts by which a corner may be off that any effort is to notice.
    pub const PARTS: [Ppm; 7] = {
        let mut parts = [Ppm(0); Effort::LADDER.len()];
        let mut at = 0;
        while at < parts.len() {
            parts[at] = Effort::LADDER[at].corner;
            at += 1;
        }
        parts
    };

    /// From the most to the least.
    pub const LADDER: [Effort; 7] = [
        Effort { resolution: 300_000, latency: 20, corner: Ppm(30_000) },
        Effort { resolution: 400_000, latency: 14, corner: Ppm(40_000) },
        Effort::USUAL,
        Effort { resolution: 600_000, latency: 8, corner: Ppm(80_000) },
        Effort { resolution: 700_000, latency: 6, corner: Ppm(150_000) },
        Effort { resolution: 800_000, latency: 4, corner: Ppm(300_000) },
        Effort { resolution: 900_000, latency: 2, corner: Ppm(500_000) },
    ];
}
