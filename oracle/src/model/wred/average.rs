//! The moving average of a queue's depth, in fixed point: scaled by 2^(10+n) for a weight of 2^-n, as DPDK's `rte_red` has it.

/// The average depth of one queue; zero at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Average {
    scaled: u64,
}

/// Bits behind the point, besides those of the weight.
const POINT: u8 = 10;

/// 1 in the fixed point of the decay.
const ONE: u64 = 1 << 32;

impl Average {
    /// Takes in the depth that a frame met: the average gains 2^-n of the difference, rounded to the benefit of what is old.
    pub const fn take(&mut self, n: u8, depth: u64) {
        self.scaled = self.scaled - (self.scaled >> n) + (depth << POINT);
    }

    /// The same depth so many times over.
    pub const fn take_often(&mut self, n: u8, depth: u64, times: u64) {
        let mut left = times;
        while left > 0 {
            let before = self.scaled;
            self.take(n, depth);
            // From there on it stays what it is.
            left = if self.scaled == before { 0 } else { left - 1 };
        }
    }

    /// The queue was empty while so many frames might have gone by: each takes 2^-n of the average.
    pub const fn idle(&mut self, n: u8, frames: u64) {
        let mut left = ONE;
        let mut factor = ONE - (ONE >> n);
        let mut frames = frames;
        while frames > 0 && left > 0 {
            if frames & 1 == 1 {
                left = product(left, factor);
            }
            factor = product(factor, factor);
            frames >>= 1;
        }
        // In two halves, so that no step needs more than its 64 bits.
        let (high, low) = (self.scaled >> 32, self.scaled & (ONE - 1));
        self.scaled = high * left + ((low * left) >> 32);
    }

    /// The average, in whole bytes.
    pub const fn depth(&self, n: u8) -> u64 {
        self.scaled >> (POINT + n)
    }

    /// The average in its own steps: 2^(10+n) to a byte.
    pub const fn scaled(&self) -> u64 {
        self.scaled
    }
}

/// The product of two numbers up to 1, the first of which may be 1 only with the other below.
const fn product(a: u64, b: u64) -> u64 {
    if a == ONE { b } else { (a * b) >> 32 }
}

#[cfg(test)]
mod tests;
