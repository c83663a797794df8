//! Which packets a NIC did not take for want of a receive, by its own RNR NAKs.

use rig_frames::psn::Psn;
use rig_units::{Dur, Time};
use std::collections::BTreeMap;

/// A packet of a connection that reached a NIC, or an RNR NAK that left it: when, and the number that it has or names.
pub type Numbered = (Time, Psn);

/// The places of the packets that were dropped: from the one that an RNR NAK answers until that number comes again, but for those that had been
/// taken before. `first`: the number that is expected first. Both are in order; two instants may be off by `blur` against each other.
///
/// A number that is refused is expected until it is taken, and what is taken is refused no more: of the times that it came in its turn the first ones were
/// refused, one for each RNR NAK, however many of them left together, and however late. An RNR NAK that answers none of these answers the last of its
/// number before it.
pub fn turned_away(first: Psn, came: &[Numbered], refusals: &[Numbered], blur: Dur) -> Vec<usize> {
    // At which places each number came.
    let mut places: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (place, (_, psn)) in came.iter().enumerate() {
        places.entry(psn.get()).or_default().push(place);
    }
    let (mut answered, left) = in_turn(first, came, refusals, blur);
    // What each of the others answers comes behind what the one before it did.
    let mut from = 0;
    for (said, psn) in left {
        let Some(named) = places.get(&psn.get()) else { continue };
        let named = &named[named.partition_point(|place| *place < from)..];
        let before = named.iter().rposition(|place| came[*place].0 < said);
        // By stamps it may seem to have come behind its answer.
        let soon = |place: &usize| came[*place].0 <= said + blur;
        let Some(nth) = before.or_else(|| named.iter().position(soon)) else { continue };
        from = named[nth] + 1;
        answered.push(named[nth]);
    }
    answered.sort_unstable();
    let mut all = Vec::new();
    for place in answered {
        let psn = came[place].1;
        let named = &places[&psn.get()];
        let next = named.get(named.partition_point(|other| *other <= place));
        let until = next.copied().unwrap_or(came.len());
        all.extend((place..until).filter(|&other| came[other].1.ahead_of(psn).is_some()));
    }
    all
}

/// The places of what was refused in its turn, and the RNR NAKs that answer none of these.
fn in_turn(
    first: Psn,
    came: &[Numbered],
    refusals: &[Numbered],
    blur: Dur,
) -> (Vec<usize>, Vec<Numbered>) {
    let mut open: BTreeMap<u32, Vec<Numbered>> = BTreeMap::new();
    // The last one first.
    for one in refusals.iter().rev() {
        open.entry(one.1.get()).or_default().push(*one);
    }
    let (mut expected, mut refused, mut left) = (first, Vec::new(), Vec::new());
    for (place, &(at, psn)) in came.iter().enumerate() {
        if psn != expected {
            continue;
        }
        let of = open.get_mut(&psn.get());
        let answer = of.and_then(|of| {
            while let Some(early) = of.pop_if(|(said, _)| *said + blur < at) {
                left.push(early);
            }
            of.pop()
        });
        match answer {
            Some(_) => refused.push(place),
            None => expected = expected.advance(1),
        }
    }
    left.extend(open.into_values().flatten());
    left.sort_unstable_by_key(|(said, psn)| (*said, psn.get()));
    (refused, left)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(came: &[(u64, u32)], refusals: &[(u64, u32)], blur: u64) -> Vec<usize> {
        let all = |all: &[(u64, u32)]| {
            all.iter().map(|&(at, psn)| (Time(at), Psn::new(psn))).collect::<Vec<_>>()
        };
        turned_away(Psn::new(0), &all(came), &all(refusals), Dur(blur))
    }

    #[test]
    fn what_is_refused_is_dropped_with_what_follows_until_it_comes_again() {
        let came = [(0, 0), (10, 1), (11, 2), (12, 0), (50, 1), (51, 2)];
        assert_eq!(of(&came, &[(20, 1)], 0), [1, 2]);
        assert!(of(&came, &[], 0).is_empty());
    }

    #[test]
    fn two_refusals_of_a_number_that_leave_together_answer_both_times_that_it_came() {
        // 1 came twice before either RNR NAK left: neither time it was taken.
        let came = [(0, 0), (10, 1), (14, 0), (15, 1), (60, 1)];
        assert_eq!(of(&came, &[(30, 1), (31, 1)], 0), [1, 3]);
    }

    #[test]
    fn a_number_that_came_before_its_turn_was_not_the_one_that_is_refused() {
        // 1 comes ahead of 0, which a NAK asks for, and is refused when both came again.
        let came = [(0, 1), (10, 0), (11, 1), (50, 1)];
        assert_eq!(of(&came, &[(30, 1)], 0), [2]);
    }

    #[test]
    fn by_stamps_what_is_refused_may_come_behind_its_answer() {
        let came = [(0, 0), (12, 1), (50, 1)];
        assert_eq!(of(&came, &[(10, 1)], 2), [1]);
        assert!(of(&came, &[(10, 1)], 1).is_empty());
    }

    #[test]
    fn one_that_no_number_in_its_turn_explains_answers_the_last_before_it() {
        // What is kept behind a hole may find no receive, either.
        let came = [(0, 0), (5, 2), (10, 2), (20, 1)];
        assert_eq!(of(&came, &[(15, 2)], 0), [2]);
        // The hole was filled with what was kept.
        assert!(of(&came, &[(15, 7)], 0).is_empty());
    }
}
