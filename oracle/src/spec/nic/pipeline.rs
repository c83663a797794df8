//! When packets count as arrived behind a receive pipeline that has the state of a few connections at hand.
//!
//! A packet of a connection at hand passes at once when the pipeline is free; one of another holds it for the miss. So packet i
//! passes at P(i) = max(t(i), P(i - 1)), and a miss later if it is one: if as many other connections as the cache has places were
//! seen since the last packet of its own.

use rig_lab::Receive;
use rig_units::{Dur, Time};

/// When each packet counts as arrived: given with its queue pair and its last bit, in order. At first nothing is at hand.
pub fn passed(receive: &Receive, packets: &[(Time, u16)]) -> Vec<Time> {
    let places = usize::try_from(receive.cache).unwrap_or(usize::MAX);
    // The least recently used is the first.
    let mut at_hand: Vec<u16> = Vec::new();
    let mut free = Time::ZERO;
    let mut pass = |&(at, qp): &(Time, u16)| {
        let known = at_hand.iter().position(|&other| other == qp);
        match known {
            Some(place) => {
                at_hand.remove(place);
            }
            None if at_hand.len() == places => {
                at_hand.remove(0);
            }
            None => {}
        }
        at_hand.push(qp);
        free = free.max(at) + if known.is_some() { Dur::ZERO } else { receive.miss };
        free
    };
    match places {
        0 => packets.iter().map(|(at, _)| *at).collect(),
        _ => packets.iter().map(&mut pass).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn times(cache: u32, packets: &[(u64, u16)]) -> Vec<u64> {
        let packets: Vec<(Time, u16)> = packets.iter().map(|&(at, qp)| (Time(at), qp)).collect();
        passed(&Receive { cache, miss: Dur(100) }, &packets).iter().map(|at| at.0).collect()
    }

    #[test]
    fn a_miss_holds_up_everything_behind_it() {
        // The first of 1 misses until 100 and the next waits for it; the first of 2 misses from 110 until 210.
        let packets = [(0, 1), (50, 1), (110, 2), (120, 1), (300, 2)];
        assert_eq!(times(2, &packets), [100, 100, 210, 210, 300]);
        assert_eq!(times(0, &packets), [0, 50, 110, 120, 300]);
    }

    #[test]
    fn the_least_recently_used_goes_first() {
        // With two places: 1 and 2 miss, 1 is used again, so that 3 takes the place of 2.
        let packets = [(0, 1), (1_000, 2), (2_000, 1), (3_000, 3), (4_000, 1), (5_000, 2)];
        assert_eq!(times(2, &packets), [100, 1_100, 2_000, 3_100, 4_000, 5_100]);
    }

    proptest! {
        #[test]
        fn a_miss_is_a_connection_that_too_many_others_came_after(
            steps in prop::collection::vec((0_u64..200, 0_u16..5), 1..60), cache in 1_u32..5,
        ) {
            let mut at = 0;
            let packets: Vec<(u64, u16)> = steps.iter().map(|&(step, qp)| { at += step; (at, qp) }).collect();
            let mut free = 0;
            for (i, (&(at, qp), got)) in packets.iter().zip(times(cache, &packets)).enumerate() {
                let since = packets[..i].iter().rposition(|&(_, other)| other == qp);
                let others = |last: usize| {
                    let mut others: Vec<u16> = packets[last + 1..i].iter().map(|&(_, qp)| qp).collect();
                    others.sort_unstable();
                    others.dedup();
                    others.len()
                };
                let hit = since.is_some_and(|last| others(last) < usize::try_from(cache).unwrap());
                free = at.max(free) + if hit { 0 } else { 100 };
                prop_assert_eq!(got, free);
            }
        }
    }
}
