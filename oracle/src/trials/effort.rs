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
    /// Trials at each point where neither the case nor a judgement says: what shows in every other one is missed by all of them in one
    /// run of 2 to the power of this.
    pub each: u32,
}

/// What a user asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The least that shows anything much.
    Quick,
    /// What the catalogue is made for.
    Standard,
    /// The most; what shows in every other trial is found with a power of 0.99, too.
    Thorough,
}

impl Level {
    /// In virtual time.
    pub const fn usual(self) -> Effort {
        match self {
            Level::Quick => Effort { each: 2, ..Effort::LADDER[5] },
            Level::Standard => Effort::USUAL,
            Level::Thorough => Effort { each: 7, ..Effort::LADDER[0] },
        }
    }

    /// In real time, from the most to the least: the first that fits into the budget is taken.
    pub fn ladder(self) -> Vec<Effort> {
        match self {
            Level::Quick => vec![self.usual(), Effort::LADDER[6]],
            Level::Standard => Effort::LADDER.to_vec(),
            Level::Thorough => [self.usual()].into_iter().chain(Effort::LADDER).collect(),
        }
    }
}

impl Effort {
    /// In virtual time.
    pub const USUAL: Effort = Effort::of(500_000, 10, 50_000);

    const fn of(resolution: u32, latency: u32, corner: u32) -> Effort {
        Effort { resolution, latency, corner: Ppm(corner), each: 3 }
    }

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
        Effort::of(300_000, 20, 30_000),
        Effort::of(400_000, 14, 40_000),
        Effort::USUAL,
        Effort::of(600_000, 8, 80_000),
        Effort::of(700_000, 6, 150_000),
        Effort::of(800_000, 4, 300_000),
        Effort::of(900_000, 2, 500_000),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_planned_and_standard_is_what_it_always_was() {
        let [quick, standard, thorough] =
            [Level::Quick, Level::Standard, Level::Thorough].map(Level::usual);
        assert_eq!(standard, Effort::USUAL);
        assert!(quick.each < standard.each && quick.latency < standard.latency);
        assert!(thorough.resolution < standard.resolution && thorough.corner < standard.corner);
        // What shows in every other trial is missed by all of them once in a hundred times at most.
        assert!(2_u32.pow(thorough.each) >= 100 && 2_u32.pow(thorough.each - 1) < 100);
        assert_eq!(Level::Standard.ladder(), Effort::LADDER);
        for level in [Level::Quick, Level::Thorough] {
            assert_eq!(level.ladder()[0], level.usual());
            assert_eq!(level.ladder().last(), Effort::LADDER.last());
        }
    }
}
