//! How deep the READs of one reader make a queue on their way back: what is under way of all of them, less what leaves meanwhile.

use rig_units::{Bytes, Dur, PortSpeed, Time};

/// How long the answers to requests last from the first to the end of the last, where each is sent in its `slot` once its request is past the receive pipeline, in order: a stream where they pass
/// faster than their answers leave, and in between nothing where they do not.
pub fn burst(answers: &[(Time, Dur)]) -> Dur {
    let first = answers.first().map_or(Time::ZERO, |(passes, _)| *passes);
    let end = answers.iter().fold(first, |free, (passes, slot)| free.max(*passes) + *slot);
    end - first
}

/// What waits at the least and at the most before a port of `to` where `asked` bytes of frames are asked for at once, and come in no longer than `burst`. No more is under way than was asked for. What
/// leaves while a burst comes does not wait when the last of it is there; what is asked for meanwhile comes on top.
pub fn depth(asked: Bytes, burst: Dur, to: PortSpeed) -> [Bytes; 2] {
    let left = burst.0.div_ceil(to.byte().0);
    [Bytes(asked.0.saturating_sub(left)), asked]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_burst_waits_what_does_not_leave_while_it_comes() {
        let quarter = PortSpeed::from_bps(25_000_000_000).unwrap();
        // 1 MB comes in 80 us, in which 250 kB leave.
        assert_eq!(depth(Bytes(1_000_000), Dur::us(80), quarter), [750_000, 1_000_000].map(Bytes));
        assert_eq!(depth(Bytes(1_000_000), Dur::us(400), quarter), [0, 1_000_000].map(Bytes));
    }

    #[test]
    fn answers_that_wait_for_their_requests_take_longer() {
        let of = |apart: u64| {
            let answers: Vec<_> = (0..16).map(|n| (Time(n * apart), Dur(100))).collect();
            burst(&answers)
        };
        // One after the other, or each when its request is there.
        assert_eq!((of(0), of(99), of(500)), (Dur(1_600), Dur(1_600), Dur(15 * 500 + 100)));
        assert_eq!(burst(&[]), Dur::ZERO);
    }
}
