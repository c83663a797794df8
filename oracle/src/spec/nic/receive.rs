//! What a frame goes through on its way into a NIC: the state of its connection is at hand, or has to be fetched while all wait.

use rig_lab::Receive;
use rig_units::Time;
use std::collections::VecDeque;

/// When each of these frames counts as arrived, given when its last bit came and which connection it is of, in that order.
pub fn passed(receive: &Receive, frames: &[(Time, u16)]) -> Vec<Time> {
    // The connections at hand, that used last at the back.
    let mut at_hand: VecDeque<u16> = VecDeque::new();
    let room = usize::try_from(receive.cache).unwrap_or(usize::MAX);
    let mut free = Time::ZERO;
    let each = frames.iter().map(|&(at, connection)| {
        let mut done = at.max(free);
        if room == 0 {
            return done;
        }
        match at_hand.iter().position(|&one| one == connection) {
            Some(place) => drop(at_hand.remove(place)),
            None => {
                done += receive.miss;
                if at_hand.len() == room {
                    at_hand.pop_front();
                }
            }
        }
        at_hand.push_back(connection);
        free = done;
        done
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_units::Dur;

    fn times(cache: u32, frames: &[(u64, u16)]) -> Vec<u64> {
        let frames: Vec<_> = frames.iter().map(|&(at, one)| (Time(at), one)).collect();
        passed(&Receive { cache, miss: Dur(100) }, &frames).iter().map(|at| at.0).collect()
    }

    #[test]
    fn without_a_cache_everything_is_at_hand() {
        let receive = Receive { cache: 0, miss: Dur::ZERO };
        assert_eq!(passed(&receive, &[(Time(5), 1), (Time(6), 2)]), [Time(5), Time(6)]);
    }

    #[test]
    fn the_first_of_a_connection_is_fetched_and_those_behind_it_wait() {
        // 1 is fetched until 100; the next of 1 and all of it waits; 2 is fetched from then on.
        assert_eq!(
            times(2, &[(0, 1), (10, 1), (20, 2), (150, 1), (300, 2)]),
            [100, 100, 200, 200, 300]
        );
    }

    #[test]
    fn the_one_that_was_used_least_recently_makes_room() {
        // Room for two: 3 puts out 1, which was used before 2; then 1 puts out 2.
        assert_eq!(
            times(2, &[(0, 1), (1_000, 2), (2_000, 3), (3_000, 2), (4_000, 1), (5_000, 3)]),
            [100, 1_100, 2_100, 3_000, 4_100, 5_100]
        );
        assert_eq!(
            times(1, &[(0, 1), (1_000, 1), (2_000, 2), (3_000, 1)]),
            [100, 1_000, 2_100, 3_100]
        );
    }
}
