//! Where a packet sequence number lies, seen from another one: 24 bits that wrap (IBTA volume 1, 9.7.1).

use rig_frames::psn::Psn;

/// A number, seen from the one that is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// It is the one.
    Here,
    /// So many ahead.
    Ahead(u32),
    /// So many behind.
    Behind(u32),
}

/// The low 24 bits of a number.
#[inline]
pub(super) const fn psn(number: u32) -> u32 {
    Psn::new(number).get()
}

/// Where `found` lies, seen from `expected`. A NIC that does not know that numbers wrap compares them as they are.
#[inline]
pub(super) fn place(found: u32, expected: u32, without_wrap: bool) -> Place {
    let (found, expected) = (psn(found), psn(expected));
    if found == expected {
        return Place::Here;
    }
    if without_wrap {
        return match found.checked_sub(expected) {
            Some(ahead) => Place::Ahead(ahead),
            None => Place::Behind(expected - found),
        };
    }
    match Psn::new(found).ahead_of(Psn::new(expected)) {
        Some(ahead) => Place::Ahead(ahead),
        None => Place::Behind(psn(expected.wrapping_sub(found))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_all_numbers_lie_ahead() {
        assert_eq!(place(5, 5, false), Place::Here);
        assert_eq!(place(0, 0xff_ffff, false), Place::Ahead(1));
        assert_eq!(place(0xff_ffff, 0, false), Place::Behind(1));
        assert_eq!(place(0x7f_ffff, 0, false), Place::Ahead(0x7f_ffff));
        assert_eq!(place(0x80_0000, 0, false), Place::Behind(0x80_0000));
    }

    #[test]
    fn more_than_24_bits_are_not_looked_at() {
        assert_eq!(place(0x0300_0001, 0xff_ffff, false), Place::Ahead(2));
    }

    #[test]
    fn without_wrap_zero_lies_behind_everything() {
        assert_eq!(place(0, 0xff_ffff, true), Place::Behind(0xff_ffff));
        assert_eq!(place(0xff_ffff, 0, true), Place::Ahead(0xff_ffff));
    }
}
