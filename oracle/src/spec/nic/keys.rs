//! What a key of registered memory is worth: from when its owner registers it until what revokes it has come (IBTA volume 1, 10.6.7), and what is said to an access
//! with one that is worth nothing (9.7.5.2.4).

use rig_units::{Dur, Time};

/// Where the rule comes from, for reports.
pub const SOURCE: &str = "IBTA volume 1, 9.4.1.1, 9.7.5.2.4 and 10.6.7; Bai et al., NSDI'23, section 4.2: each request registers memory, and its answer revokes the key";

/// A registration, by its owner's port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registration {
    /// The key, by its last byte.
    pub key: u8,
    /// When the message left that tells of it, at the latest.
    pub told: Time,
    /// When the message had come in whole that revokes it; `None`: never.
    pub revoked: Option<Time>,
}

/// What a key is worth at one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyWorth {
    /// It is registered.
    Live,
    /// It was, so long ago.
    Revoked(Dur),
    /// Nobody was told of it.
    Unknown,
    /// Nobody can tell: by the stamps, or as who revoked another registration of it meanwhile has revoked both.
    Open,
}

/// What a key is worth for an access that comes at `at`. `all` in the order of their instants; `blur`: how far two instants may be off against each other.
pub fn worth(all: &[Registration], key: u8, at: Time, blur: Dur) -> KeyWorth {
    let told = &all[..all.partition_point(|one| one.told <= at + blur)];
    let Some(last) = told.iter().rfind(|one| one.key == key) else { return KeyWorth::Unknown };
    let revokes_both = |one: &Registration| {
        one.revoked.is_some_and(|revoked| last.told <= revoked + blur && revoked <= at + blur)
    };
    let is_gone = told.iter().any(|one| one.key == key && one != last && revokes_both(one));
    match last.revoked {
        Some(revoked) if revoked + blur < at => {
            KeyWorth::Revoked(at.since(revoked).unwrap_or_default())
        }
        Some(revoked) if revoked <= at + blur => KeyWorth::Open,
        _ if is_gone => KeyWorth::Open,
        _ => KeyWorth::Live,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_worth_something_until_it_is_revoked_and_again_once_it_is_registered_again() {
        let of = |key, told, revoked: Option<u64>| Registration {
            key,
            told: Time(told),
            revoked: revoked.map(Time),
        };
        let all = [of(1, 100, Some(200)), of(2, 150, None), of(1, 300, None)];
        let worth = |key, at| worth(&all, key, Time(at), Dur(5));
        assert_eq!([worth(1, 94), worth(3, 400)], [KeyWorth::Unknown; 2]);
        assert_eq!(
            [worth(1, 95), worth(1, 194), worth(1, 300), worth(2, 400)],
            [KeyWorth::Live; 4]
        );
        assert_eq!([worth(1, 195), worth(1, 205)], [KeyWorth::Open; 2]);
        assert_eq!(worth(1, 206), KeyWorth::Revoked(Dur(6)));
    }

    #[test]
    fn of_a_key_that_is_registered_twice_who_revokes_one_registration_may_have_revoked_both() {
        let of = |told, revoked: Option<u64>| Registration {
            key: 1,
            told: Time(told),
            revoked: revoked.map(Time),
        };
        let all = [of(100, Some(250)), of(200, None)];
        let worth = |at| worth(&all, 1, Time(at), Dur(5));
        assert_eq!([worth(150), worth(244)], [KeyWorth::Live; 2]);
        assert_eq!([worth(245), worth(900)], [KeyWorth::Open; 2]);
    }
}
