//! Packet sequence numbers: 24 bits, ordered as serial numbers (IBTA Vol 1, 9.7.1).

use core::fmt;

/// A packet sequence number. It has no `Ord`, so that no one can write `<` across the wrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Psn(u32);

impl Psn {
    const MASK: u32 = 0x00ff_ffff;

    /// The low 24 bits of `raw`.
    pub const fn new(raw: u32) -> Psn {
        Psn(raw & Self::MASK)
    }

    /// The number itself, below 2^24.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The PSN `n` packets later.
    #[must_use]
    pub const fn advance(self, n: u32) -> Psn {
        Psn::new(self.0.wrapping_add(n))
    }

    /// How many packets `self` lies ahead of `earlier`, if that is within half the space.
    pub fn ahead_of(self, earlier: Psn) -> Option<u32> {
        let gap = self.0.wrapping_sub(earlier.0) & Self::MASK;
        (gap < 1 << 23).then_some(gap)
    }
}

impl From<Psn> for u64 {
    fn from(psn: Psn) -> u64 {
        u64::from(psn.0)
    }
}

impl fmt::Display for Psn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn psn_order_holds_across_the_wrap() {
        let last = Psn::new(0x00ff_ffff);
        assert_eq!(last.advance(2), Psn::new(1));
        assert_eq!(last.advance(2).ahead_of(last), Some(2));
        assert_eq!(last.ahead_of(last.advance(2)), None);
    }

    #[test]
    fn psns_half_the_space_apart_have_no_order() {
        let (a, b) = (Psn::new(5), Psn::new(5).advance(1 << 23));
        assert_eq!((a.ahead_of(b), b.ahead_of(a)), (None, None));
    }

    proptest! {
        #[test]
        fn advancing_and_measuring_agree(start in any::<u32>(), n in 0_u32..1 << 23) {
            let start = Psn::new(start);
            prop_assert_eq!(start.advance(n).ahead_of(start), Some(n));
        }
    }
}
