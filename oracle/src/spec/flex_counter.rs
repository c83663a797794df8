//! What the copies that a device's software makes of its counters show for certain (row 78 of the catalogue).
//!
//! Every P a reading of the group begins, at an unknown phase. It takes a time that no document says, and the next one waits for
//! it: a group of which a reading takes longer than P is not copied every P. So what was counted by c is in the reading that
//! begins after c, no later than c + P, and is shown no later than c + 2 P.

use rig_units::{Dur, Time};

/// Where it comes from, for reports.
pub const SOURCE: &str = "FlexCounter of sonic-sairedis: each group by POLL_INTERVAL of FLEX_COUNTER_GROUP_TABLE, one reading after \
                          the other; counterpoll";

/// What was counted by then is shown at `at` by a device that copies it every so often; `None` where that is before all.
pub fn shown_by(every: Dur, at: Time) -> Option<Time> {
    let longest = every * 2;
    at.0.checked_sub(longest.0).map(Time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_two_intervals_ago_is_shown_and_not_a_picosecond_later() {
        let at = |ps: u64| Time(ps);
        assert_eq!(shown_by(Dur(100), at(200)), Some(at(0)));
        assert_eq!(shown_by(Dur(100), at(199)), None);
        assert_eq!(shown_by(Dur(100), at(1_000)), Some(at(800)));
    }
}
