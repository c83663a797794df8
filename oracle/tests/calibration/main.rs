//! Whether bounds mean what they say, over healthy trials: a bound by chance misses what is true as often as its alpha says and no
//! more, a hard one never, and both of its ends are met within a twentieth.
//!
//! `cargo xtask calibrate` is the same with more trials, as many as `RIG_CALIBRATE` says.

mod chance;
mod hard;
#[path = "../exhaustive/world.rs"]
mod world;

/// Trials of each row.
fn trials() -> u32 {
    std::env::var("RIG_CALIBRATE").ok().and_then(|trials| trials.parse().ok()).unwrap_or(250)
}

/// Numbers of one seed (SplitMix64, Steele and others 2014).
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// From 0 up to 1.
    fn share(&mut self) -> f64 {
        f64::from(u32::try_from(self.next() >> 32).expect("32 bits")) / f64::from(u32::MAX)
    }

    /// From 0 up to below `most`.
    fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }
}
