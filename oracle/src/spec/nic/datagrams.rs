//! Datagrams: IBTA volume 1, 9.8.3. One is taken whatever its number is, where its Q_Key is that of the queue and a receive is there; any other is
//! dropped in silence.
//!
//! The n-th that is taken finds the n-th receive. So many are posted from the beginning; each other one is posted again as the application has done with a
//! datagram, which it takes one after the other: D(i) = max(C(i), D(i - 1)) + t.

use rig_units::{Dur, Time, Within};

/// Where the rules come from, for reports.
pub const SOURCE: &str = "IBTA volume 1, 9.8.3: a datagram is one packet, which nobody acknowledges or sends again; with another Q_Key, or without a receive, it is dropped";

/// What an application posts for datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posts {
    /// So many receives before anything comes.
    pub first: u16,
    /// How long it takes for a datagram until it posts that receive again.
    pub again: Within,
}

/// Fewest and most of the datagrams that came with the right key for which there was a receive, each up to `off` later than it seems; without `posts` all.
pub fn taken(came: &[Time], posts: Option<Posts>, off: Dur) -> (usize, usize) {
    let Some(Posts { first, again }) = posts else { return (came.len(), came.len()) };
    // Who takes more at one time has taken no fewer at any later one: what posts soonest takes most.
    let count = |takes: Dur, late: Dur, slack: Dur| {
        let mut done: Vec<Time> = Vec::new();
        for &at in came {
            let finds = done.len().checked_sub(first.into());
            if finds.is_none_or(|of| done[of] <= at + slack) {
                let from = (at + late).max(done.last().copied().unwrap_or(Time::ZERO));
                done.push(from + takes);
            }
        }
        done.len()
    };
    (count(again.most(), off, Dur::ZERO), count(again.least(), Dur::ZERO, off))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_finds_the_receive_of_the_one_so_many_before_it_or_is_dropped() {
        let came: Vec<Time> = (0..6).map(|nth| Time(nth * 10)).collect();
        let of = |first, again, off| taken(&came, Some(Posts { first, again }), Dur(off));
        assert_eq!(taken(&came, None, Dur(5)), (6, 6));
        // One at a time that takes 20: at 0, 20 and 40, one that takes a little longer at 0 and 30.
        assert_eq!(of(1, Within::exactly(Dur(20)), 0), (3, 3));
        assert_eq!(of(1, Within::exactly(Dur(21)), 0), (2, 2));
        assert_eq!(of(1, Within::between(Dur(20), Dur(21)), 0), (2, 3));
        // Within the stamps it is the one or the other.
        assert_eq!(of(1, Within::exactly(Dur(20)), 1), (2, 3));
        // None comes again: as many as were posted.
        assert_eq!(of(4, Within::exactly(Dur(1_000)), 1), (4, 4));
        // The application takes two one after the other: there is one again at 25, at 50 and at 75.
        assert_eq!(of(2, Within::exactly(Dur(25)), 0), (4, 4));
    }
}
