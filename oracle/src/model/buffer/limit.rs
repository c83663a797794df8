//! How much of a pool one group or queue may use.

/// How much of a pool one group or queue may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// 2^k times what is left of the pool.
    Dynamic(i8),
    /// So many bytes.
    Static(u64),
}

impl Limit {
    /// The limit while `left` bytes are left.
    #[inline]
    pub(super) const fn of(self, left: u64) -> u64 {
        match self {
            Limit::Dynamic(k) => scaled(left, k),
            Limit::Static(bytes) => bytes,
        }
    }
}

/// A limit that lies so far off.
#[inline]
pub(super) fn off_by(limit: u64, off: i32) -> u64 {
    limit.saturating_add_signed(off.into())
}

/// 2^k times `bytes`, cut to whole bytes. Beyond 2^16 every limit is the whole pool anyway.
#[inline]
pub(super) const fn scaled(bytes: u64, k: i8) -> u64 {
    if k >= 0 {
        bytes << if k < 16 { k } else { 16 }
    } else {
        bytes >> if k > -64 { k.unsigned_abs() } else { 63 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dynamic_limit_doubles_and_halves_what_is_left() {
        for (k, want) in [(0, 1_001), (1, 2_002), (3, 8_008), (-1, 500), (-3, 125), (-8, 3)] {
            assert_eq!(Limit::Dynamic(k).of(1_001), want, "{k}");
        }
        assert_eq!((scaled(5, i8::MAX), scaled(5, i8::MIN)), (5 << 16, 0));
    }

    #[test]
    fn a_static_limit_does_not_look_at_what_is_left() {
        assert_eq!((Limit::Static(7).of(0), Limit::Static(7).of(u64::MAX)), (7, 7));
    }
}
