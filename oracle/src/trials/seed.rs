//! One seed per run, split by name: adding a case or a component moves no other's draws.

/// A stream of draws that belongs to one name.
#[derive(Debug, Clone)]
pub struct Seed(u64);

impl Seed {
    /// The seed of a run.
    pub const fn of_run(seed: u64) -> Seed {
        Seed(seed)
    }

    /// The seed of a part of it, by name.
    pub fn split(&self, name: &str) -> Seed {
        // FNV-1a of the name, then mixed with the parent, so that neighbouring names are far apart.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        Seed(mix(mix(self.0).wrapping_add(hash)))
    }

    /// The number itself.
    pub const fn value(&self) -> u64 {
        self.0
    }

    /// The next draw, uniform over `0..below`; zero when `below` is zero.
    pub fn draw(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        // The high half of the product is uniform to within 2^-64 x `below`.
        let wide = u128::from(mix(self.0)) * u128::from(below);
        u64::try_from(wide >> 64).unwrap_or(0)
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_draws_of_their_own_whatever_was_drawn_elsewhere() {
        let run = Seed::of_run(7);
        let mut a = run.split("pfcwd::a");
        let first: Vec<u64> = (0..4).map(|_| a.draw(1_000)).collect();
        let mut again = Seed::of_run(7).split("pfcwd::a");
        assert_eq!(first, (0..4).map(|_| again.draw(1_000)).collect::<Vec<_>>());
        let mut b = run.split("pfcwd::b");
        assert_ne!(first, (0..4).map(|_| b.draw(1_000)).collect::<Vec<_>>());
    }

    #[test]
    fn draws_fill_their_range() {
        let mut seed = Seed::of_run(1).split("x");
        let draws: Vec<u64> = (0..2_000).map(|_| seed.draw(100)).collect();
        assert_eq!((draws.iter().min(), draws.iter().max()), (Some(&0), Some(&99)));
        assert_eq!(seed.draw(0), 0);
    }
}
