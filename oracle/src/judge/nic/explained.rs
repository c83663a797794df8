//! What a NIC's own XOFF and XON tell of how far its host was: where reads over a bus take another time each, what a thousand of them took is
//! known a thousand times worse than what one does, but for the words in between.
//!
//! An XOFF behind an XON says that more than the threshold waited at an instant within its promise, and not just before; an XON that no more than
//! that did, and just before more. With what had arrived by then that bounds when two frames were taken. A word that no host of those that are
//! declared explains bounds nothing: it stands against what the host promises, and is judged by that.

use super::asked::{Promise, Spoken, Stretch, Thresholds};
use crate::spec::nic::slow_receiver::{Brought, Taker};
use rig_units::{Bytes, Dur, Time};

/// Between which two instants the host took a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Not before.
    pub from: Time,
    /// Not after; `None` where nothing says.
    pub until: Option<Time>,
    /// Whether an XON says that it was not before: to what its promise leaves open, and no frame.
    pub is_exact: bool,
}

impl Limits {
    /// No word says anything.
    pub const NONE: Limits = Limits { from: Time::ZERO, until: None, is_exact: false };
}

/// What `words` tell of each frame of their class, in the order in which those came.
pub fn limits(
    own: &[Brought],
    words: &[Spoken],
    Thresholds { xoff, xon }: Thresholds,
    promise: &Promise,
) -> Vec<Limits> {
    let mut limits = vec![Limits::NONE; own.len()];
    let mut sum = 0;
    let sums: Vec<u64> = own
        .iter()
        .map(|one| {
            sum += one.size.0;
            sum
        })
        .collect();
    // How much had come by then, of which `count` frames say; and the first frame that is taken when no more than `threshold` of that waits.
    let frees = |count: usize, threshold: Bytes| {
        let come = count.checked_sub(1).map_or(0, |last| sums[last]);
        let taken = come.checked_sub(threshold.0).filter(|taken| *taken > 0)?;
        Some(sums.partition_point(|sum| *sum < taken))
    };
    let mut before: Option<&Spoken> = None;
    for word in words {
        let is_first = before.is_none_or(|before| before.lasts == Dur::ZERO);
        before = Some(word);
        let threshold = match word.lasts > Dur::ZERO {
            // A refresh tells nothing new.
            true if !is_first => continue,
            true => xoff,
            false => xon,
        };
        let Stretch { from, until } = promise.cause(word);
        let surely = own.partition_point(|one| one.at + promise.blur < from);
        let perhaps = own.partition_point(|one| one.at <= until + promise.blur);
        if let Some(limit) = frees(surely, threshold.most).and_then(|frame| limits.get_mut(frame)) {
            limit.until = Some(limit.until.map_or(until, |known| known.min(until)));
        }
        if let Some(limit) = frees(perhaps, threshold.least).and_then(|frame| limits.get_mut(frame))
        {
            limit.from = limit.from.max(from);
            limit.is_exact |= word.lasts == Dur::ZERO;
        }
    }
    limits
}

/// When each frame is out of the buffer, at the earliest and at the latest: by the soonest and the latest of hosts, and by what is told of it. With
/// each frame is given of how many pages the address has to be read.
pub fn outs(frames: &[(Brought, u64, Limits)], (soon, late): (Taker, Taker)) -> Vec<(Time, Time)> {
    let mut before = (Time::ZERO, Time::ZERO);
    let take = |(frame, fetched, told): &(Brought, u64, Limits)| {
        let least = soon.takes(before.0, frame, *fetched);
        let most = late.takes(before.1, frame, *fetched);
        let known = (least.max(told.from), told.until.map_or(most, |until| most.min(until)));
        before = if known.0 <= known.1 { known } else { (least, most) };
        before
    };
    let mut outs: Vec<(Time, Time)> = frames.iter().map(take).collect();
    // What is before a frame was taken before it.
    for behind in (1..outs.len()).rev() {
        let (frame, fetched, _) = &frames[behind];
        let latest = outs[behind].1.saturating_sub(soon.lasts(frame, *fetched));
        let before = &mut outs[behind - 1].1;
        *before = latest.min(*before);
    }
    outs
}

/// The most reads that bear on one instant of which an XON tells: those since the buffer may have been empty last.
pub fn reads(frames: &[(Brought, u64, Limits)], outs: &[(Time, Time)]) -> u64 {
    let (mut reads, mut most) = (0, 0);
    let mut before = Time::ZERO;
    for ((frame, fetched, told), out) in frames.iter().zip(outs) {
        reads = if frame.at < before { reads + fetched } else { *fetched };
        before = out.0;
        most = if told.is_exact { reads.max(most) } else { most };
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_lab::NicHost;
    use rig_units::{L2Rate, Within};

    const XOFF: Bytes = Bytes(5_000);
    const XON: Bytes = Bytes(2_000);

    fn us(us: u64) -> Time {
        Time::ZERO + Dur::us(us)
    }

    /// Frames of 1000 B, one a microsecond, each of which takes a microsecond of the bus and one or two for a read.
    fn frames(count: u64) -> Vec<Brought> {
        let frame =
            |at| Brought { at: us(at), connection: 1, size: Bytes(1_000), payload: Bytes(1_000) };
        (0..count).map(frame).collect()
    }

    fn ends() -> (Taker, Taker) {
        let host = NicHost { pcie: Some(L2Rate { bps: 8_000_000_000 }), ..NicHost::default() };
        let taker = |miss| Taker::of(&host, miss).expect("a bus");
        (taker(Dur::us(1)), taker(Dur::us(2)))
    }

    fn promise() -> Promise {
        let emission = Within::exactly(Dur::ZERO);
        let (turn, blur) = (Dur::ZERO, Dur::ZERO);
        let refresh = Within::exactly(Dur::us(400));
        Promise { emission, turn, blur, refresh, watchdog: None, until: us(1_000) }
    }

    fn word(at: u64, is_xoff: bool) -> Spoken {
        let lasts = if is_xoff { Dur::us(800) } else { Dur::ZERO };
        Spoken { record: 0, at: us(at), lasts }
    }

    fn told(frames: &[Brought], words: &[Spoken]) -> Vec<(Time, Time)> {
        let limits = limits(frames, words, Thresholds::exactly(XOFF, XON), &promise());
        let all: Vec<_> = frames.iter().zip(limits).map(|(one, told)| (*one, 1, told)).collect();
        outs(&all, ends())
    }

    #[test]
    fn without_a_word_what_each_read_leaves_open_adds_up() {
        let outs = told(&frames(10), &[]);
        assert_eq!(outs[0], (us(2), us(3)));
        assert_eq!(outs[9], (us(20), us(30)));
    }

    #[test]
    fn an_xon_says_when_all_but_what_it_allows_was_taken() {
        // Of ten frames two may wait: the eighth is out, and what is behind it follows.
        let outs = told(&frames(10), &[word(20, false)]);
        assert_eq!((outs[6], outs[7]), ((us(14), us(18)), (us(20), us(20))));
        assert_eq!(outs[9], (us(24), us(26)));
    }

    #[test]
    fn an_xoff_says_what_had_not_been_taken_and_what_had() {
        // At 7 us the eighth frame comes: six wait if two are taken, and the third is not; at 6 us no more than five did, so two were.
        let outs = told(&frames(10), &[word(7, true)]);
        assert_eq!((outs[1], outs[2]), ((us(4), us(6)), (us(7), us(9))));
        assert_eq!(outs[0], (us(2), us(3)));
    }

    #[test]
    fn a_refresh_tells_nothing_and_neither_does_a_word_that_no_host_explains() {
        let plain = told(&frames(10), &[word(7, true)]);
        assert_eq!(told(&frames(10), &[word(7, true), word(9, true)]), plain);
        // The eighth is out at 24 us at the latest.
        assert_eq!(told(&frames(10), &[word(25, false)]), told(&frames(10), &[]));
        assert_eq!(told(&frames(10), &[word(15, false)]), told(&frames(10), &[]));
    }

    #[test]
    fn reads_are_counted_up_to_an_xon_and_since_the_buffer_was_empty() {
        let mut frames = frames(10);
        let one = frames[0];
        frames.extend((100..103).map(|at| Brought { at: us(at), ..one }));
        let counted = |words: &[Spoken]| {
            let limits = limits(&frames, words, Thresholds::exactly(XOFF, XON), &promise());
            let all: Vec<_> =
                frames.iter().zip(limits).map(|(one, told)| (*one, 1, told)).collect();
            reads(&all, &outs(&all, ends()))
        };
        assert_eq!((counted(&[]), counted(&[word(7, true)])), (0, 0));
        // Of ten the eighth; and of thirteen the eleventh, which is the first after an empty buffer.
        assert_eq!((counted(&[word(20, false)]), counted(&[word(103, false)])), (8, 1));
    }
}
