//! When frames passed a port, coarsely: enough for who knows both ends of a cable to see that frames stood in it.

use rig_units::{Dur, Time};

/// So much time lies between two instants that are kept, until there are too many of them.
const EVERY: Dur = Dur::ms(1);

/// By when how many frames had passed, and no more.
pub type Passes = Vec<(Time, u64)>;

/// What passed a port of a device, in either direction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PortTally {
    /// Into the device.
    pub came: Passes,
    /// Out of it.
    pub left: Passes,
}

/// Frames that pass one end of one direction.
#[derive(Debug, Clone)]
pub struct FrameTally {
    kept: Passes,
    /// When the last one passed, and how many have by then.
    last: Option<(Time, u64)>,
    every: Dur,
    room: usize,
}

impl FrameTally {
    /// None yet; of no more than `room` instants is it kept how many there were.
    pub const fn holding(room: usize) -> FrameTally {
        FrameTally { kept: Vec::new(), last: None, every: EVERY, room }
    }

    /// So many pass at `at`; where that is before the last one, with it.
    pub fn note(&mut self, at: Time, frames: u64) {
        let (before, count) = self.last.unwrap_or((Time::ZERO, 0));
        let at = at.max(before);
        let long = |since: Time| at.since(since).is_some_and(|dur| dur > self.every);
        let kept = self.kept.last().map(|&(at, _)| at);
        if kept.is_none_or(long) {
            // Both ends of a silence: how long it was is what matters.
            if long(before) && kept.is_some_and(|kept| kept < before) {
                self.kept.push((before, count));
            }
            self.kept.push((Time(at.0.saturating_sub(1)), count));
        }
        self.last = Some((at, count + frames));
        if self.kept.len() > self.room {
            self.coarsen();
        }
    }

    /// What is left out is not told; what is told stays true.
    fn coarsen(&mut self) {
        self.every = self.every * 2;
        let mut place = 0;
        self.kept.retain(|_| {
            place += 1;
            place % 2 == 0
        });
    }

    /// What has been kept, and the last of all.
    pub fn passes(&self) -> Passes {
        self.kept.iter().copied().chain(self.last).collect()
    }
}

/// So long at the least one of the frames that were `sent` at one end was under way before it `came` to the other; zero where nothing
/// shows that one was for any time. A frame that never came is not seen.
pub fn stood(sent: &[(Time, u64)], came: &[(Time, u64)]) -> Dur {
    let mut sent = sent.iter().peekable();
    let mut longest = Dur::ZERO;
    for &(at, arrived) in came {
        while sent.next_if(|&&(_, count)| count <= arrived).is_some() {}
        // By `since` one more had been sent than had arrived by `at`.
        let Some(&&(since, _)) = sent.peek() else { break };
        longest = longest.max(at.since(since).unwrap_or_default());
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(us: u64) -> Time {
        Time(Dur::us(us).0)
    }

    /// A frame every 100 us for so long, each of them `late(us)` after it was due.
    fn passing(room: usize, us: u64, late: impl Fn(u64) -> u64) -> FrameTally {
        let mut passing = FrameTally::holding(room);
        for due in (0..us).step_by(100) {
            passing.note(at(due + late(due)), 1);
        }
        passing
    }

    #[test]
    fn what_came_at_once_has_not_stood_and_what_did_not_has_at_most_so_long() {
        let sent = passing(1_000, 400_000, |_| 0).passes();
        assert_eq!(stood(&sent, &passing(1_000, 400_000, |_| 0).passes()), Dur::ZERO);
        // 60 ms in which nothing arrives, and then all of it.
        let held = |due: u64| if (100_000..160_000).contains(&due) { 160_000 - due } else { 0 };
        let came = passing(1_000, 400_000, held).passes();
        let told = stood(&sent, &came);
        assert!((Dur::ms(58)..=Dur::ms(60)).contains(&told), "{told}");
        // With room for few instants less of it shows, and never more.
        for room in [4, 16, 64] {
            let sent = passing(room, 400_000, |_| 0).passes();
            let came = passing(room, 400_000, held).passes();
            assert!(sent.len() <= room + 1 && stood(&sent, &came) <= told, "{room}");
        }
    }

    #[test]
    fn frames_in_one_go_and_a_silence_after_them_are_told_at_both_ends() {
        let burst = |us| {
            let mut passing = FrameTally::holding(64);
            (0..500).for_each(|_| passing.note(at(us), 1));
            passing
        };
        let sent = burst(1_000).passes();
        assert_eq!(stood(&sent, &burst(1_000).passes()), Dur::ZERO);
        let told = stood(&sent, &burst(181_000).passes());
        assert!((Dur::us(179_999)..=Dur::ms(180)).contains(&told), "{told}");
        // A frame long after the others shows when they had all been sent.
        let mut sent = burst(1_000);
        sent.note(at(900_000), 1);
        let mut came = burst(181_000);
        came.note(at(900_000), 1);
        assert!(stood(&sent.passes(), &came.passes()) >= Dur::us(179_999));
    }

    #[test]
    fn what_was_lost_or_was_under_way_before_accuses_nobody() {
        let sent = passing(64, 50_000, |_| 0).passes();
        assert_eq!(stood(&sent, &Vec::new()), Dur::ZERO);
        // More came than were sent: the first of them had been sent before.
        let mut came = FrameTally::holding(64);
        came.note(at(0), 3);
        (0..50_000).step_by(100).for_each(|us| came.note(at(us), 1));
        assert_eq!(stood(&sent, &came.passes()), Dur::ZERO);
    }
}
