//! Draws by name: a number for every seed, name and index, so that a component that is added moves nobody else's draws.

use rig_units::{Dur, Within};

/// Lengths of time, each drawn anew from all that a range means.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draws {
    stream: u64,
    done: u64,
}

impl Draws {
    /// Those of a [`stream`].
    pub(crate) const fn new(stream: u64) -> Draws {
        Draws { stream, done: 0 }
    }

    /// The next one.
    #[inline]
    pub(crate) fn next(&mut self, range: Within) -> Dur {
        if range.least() == range.most() {
            return range.least();
        }
        self.done += 1;
        range.drawn(draw(self.stream, self.done))
    }

    /// A whole number from 0 to `most`, each as likely.
    pub(crate) fn up_to(&mut self, most: u32) -> u32 {
        if most == 0 {
            return 0;
        }
        self.done += 1;
        let above = (u128::from(draw(self.stream, self.done)) * (u128::from(most) + 1)) >> 64;
        u32::try_from(above).unwrap_or(most)
    }
}

/// Spreads any number over all 64 bits (the finalizer of SplitMix64, Steele and others 2014).
pub(crate) const fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// What all draws under `name` have in common.
pub(crate) const fn stream(seed: u64, name: [u8; 8]) -> u64 {
    mix(mix(seed) ^ u64::from_be_bytes(name))
}

/// The `index`-th draw of a [`stream`]: uniform over all numbers.
pub(crate) const fn draw(stream: u64, index: u64) -> u64 {
    mix(stream.wrapping_add(index))
}
