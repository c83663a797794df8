//! Whether an application's word on the checksum of its data goes with what came to its NIC.

use rig_units::Time;

/// The data of one message as they came to the NIC whose application looks at them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CameIn {
    /// When they were there in whole, each packet of them with an ICRC that fits.
    pub whole: Option<Time>,
    /// The record of a packet of them that came with one that does not.
    pub spoilt: Option<usize>,
}

/// What is wrong with what is told of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unsound {
    /// They came in whole, and lie in memory otherwise.
    MovedWrongly,
    /// They came in whole, and a packet of them before that was spoilt: it was taken, or they lie in memory otherwise.
    SpoiltOrMoved,
    /// A packet of them was spoilt, and no other came in its place.
    Spoilt,
    /// They never were there in whole.
    NotWhole,
    /// They came in whole, and nobody says that he looked.
    Untold,
    /// It is told more than once.
    Again,
}

/// The messages of which something is wrong, in their order, up to the first that was taken though it never came in whole: nothing behind that is told of the wire.
/// `told`: of each that the application looked at, whether its checksum fits; `by`: what came in whole later than that may still be looked at.
pub fn unsound(all: &[CameIn], told: &[(u64, bool)], by: Time) -> Vec<(u32, Unsound)> {
    let mut found = Vec::new();
    for (nth, one) in (0..).zip(all) {
        let mut own = told.iter().filter(|(message, _)| *message == u64::from(nth));
        let wrong = match (own.next(), one.whole, one.spoilt) {
            (None, Some(at), _) if at <= by => Unsound::Untold,
            (None, ..) => continue,
            (Some(_), ..) if own.next().is_some() => Unsound::Again,
            (Some((_, true)), Some(_), _) => continue,
            (Some((_, false)), Some(_), None) => Unsound::MovedWrongly,
            (Some((_, false)), Some(_), Some(_)) => Unsound::SpoiltOrMoved,
            (Some(_), None, Some(_)) => Unsound::Spoilt,
            (Some(_), None, None) => Unsound::NotWhole,
        };
        found.push((nth, wrong));
        if matches!(wrong, Unsound::Spoilt | Unsound::NotWhole) {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn came(whole: Option<u64>, spoilt: Option<usize>) -> CameIn {
        CameIn { whole: whole.map(Time), spoilt }
    }

    #[test]
    fn what_came_in_whole_and_is_wrong_in_memory_is_told_from_what_came_in_spoilt() {
        let all = [came(Some(10), None), came(Some(20), Some(7)), came(None, Some(9))];
        let of = |told: &[(u64, bool)]| unsound(&all, told, Time(20));
        assert_eq!(of(&[(0, true), (1, true)]), []);
        assert_eq!(of(&[(0, false), (1, true)]), [(0, Unsound::MovedWrongly)]);
        assert_eq!(of(&[(0, true), (1, false)]), [(1, Unsound::SpoiltOrMoved)]);
        for fits in [true, false] {
            assert_eq!(of(&[(0, true), (1, true), (2, fits)]), [(2, Unsound::Spoilt)]);
        }
    }

    #[test]
    fn each_message_that_came_in_whole_in_time_is_told_of_once() {
        let all = [came(Some(10), None), came(Some(20), None), came(None, None)];
        let of = |told: &[(u64, bool)], by| unsound(&all, told, Time(by));
        assert_eq!(of(&[(0, true)], 19), []);
        assert_eq!(of(&[(0, true)], 20), [(1, Unsound::Untold)]);
        assert_eq!(of(&[(0, true), (1, true), (0, true)], 20), [(0, Unsound::Again)]);
        assert_eq!(of(&[(0, true), (1, true), (2, true)], 20), [(2, Unsound::NotWhole)]);
    }
}
