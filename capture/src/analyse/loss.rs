//! Rule `loss`: frames of a stream that were sent and never arrived.

use crate::fate::{Delays, Fates};
use crate::{Observation, SAMPLE, StreamCount};
use rig_testcases::Script;

/// What became of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Frames sent.
    pub sent: u64,
    /// Frames that arrived.
    pub received: u64,
    /// Frames that surely were lost.
    pub lost: u64,
    /// Frames that had not arrived when the trial ended and still could have; in neither of the two above.
    pub open: u64,
    /// Frames that arrived after one with a higher number.
    pub reordered: u64,
    /// Frames that arrived twice.
    pub duplicated: u64,
    /// Frames that arrived where they were not addressed to.
    pub stray: u64,
    /// Records of the lost frames; of a stream that was only counted, of those in the sample.
    pub frames: Vec<usize>,
    /// Records of strays and duplicates.
    pub odd: Vec<usize>,
}

/// What became of `stream`. A stream whose frames were counted but not all recorded is judged by its counts.
pub fn loss(observation: &Observation, script: &Script, stream: u16, delays: Delays) -> Loss {
    let fates = Fates::of(observation, script, stream, delays);
    let passages = &fates.passages;
    let number = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    let open = number(passages.all.iter().filter(|passage| fates.open(passage)).count());
    let frames: Vec<usize> = passages
        .all
        .iter()
        .filter(|passage| fates.lost(passage))
        .map(|passage| passage.sent.record)
        .collect();
    if fates.sampled {
        let count = observation.streams.get(usize::from(stream)).copied();
        let StreamCount { sent, received, reordered } = count.unwrap_or_default();
        // Counts cover every port, so a stray is a received frame here.
        let missing = sent.saturating_sub(received);
        // Each frame of the sample that the end caught stands for as many as lie between two.
        let open = missing.min(open * u64::from(SAMPLE));
        return Loss {
            sent,
            received,
            lost: missing - open,
            open,
            reordered,
            duplicated: number(passages.duplicates.len()),
            stray: number(passages.strays.len()),
            frames,
            odd: [&passages.duplicates[..], &passages.strays].concat(),
        };
    }
    Loss {
        sent: number(passages.all.len()),
        received: number(passages.all.iter().filter(|p| p.received.is_some()).count()),
        lost: number(frames.len()),
        open,
        reordered: number(passages.reordered.len()),
        duplicated: number(passages.duplicates.len()),
        stray: number(passages.strays.len()),
        frames,
        odd: [&passages.duplicates[..], &passages.strays].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{FORWARDING, Sample, TRANSIT};
    use rig_testcases::SwitchingMode;
    use rig_units::{Dur, Within};

    const DELAYS: Delays = Delays {
        forwarding_delay: Within::exactly(FORWARDING),
        mode: SwitchingMode::StoreAndForward,
        response: Dur(400_000),
        hidden: false,
        shaper: None,
    };

    fn of(sample: Sample) -> Loss {
        let (observation, script) = sample.done(Dur::ms(5));
        loss(&observation, &script, 0, DELAYS)
    }

    #[test]
    fn nothing_is_lost_when_everything_arrives() {
        let mut sample = Sample::new();
        sample.probes(Dur::ZERO, Dur::ms(4), |sent| Some(sent + TRANSIT));
        let loss = of(sample);
        assert_eq!((loss.sent, loss.received, loss.lost, loss.open), (8, 8, 0, 0));
    }

    #[test]
    fn one_lost_frame_is_counted_and_shown() {
        let mut sample = Sample::new();
        let missing = Dur::us(1500);
        sample.probes(Dur::ZERO, Dur::ms(4), |sent| (sent != missing).then_some(sent + TRANSIT));
        let (observation, script) = sample.done(Dur::ms(5));
        let loss = loss(&observation, &script, 0, DELAYS);
        assert_eq!((loss.sent, loss.received, loss.lost), (8, 7, 1));
        assert_eq!(observation.records[loss.frames[0]].at.elapsed(), missing);
    }

    #[test]
    fn a_frame_in_flight_at_the_end_is_neither_lost_nor_received() {
        let mut sample = Sample::new();
        sample.data(0, Dur::us(1), Some(Dur::us(1) + TRANSIT));
        sample.data(1, Dur::ms(5) - Dur::ns(1), None);
        let loss = of(sample);
        assert_eq!((loss.sent, loss.received, loss.lost, loss.open), (2, 1, 0, 1));
    }

    #[test]
    fn a_stream_that_was_only_counted_is_judged_by_its_counts() {
        let mut sample = Sample::new();
        sample.data(0, Dur::us(1), Some(Dur::us(1) + TRANSIT));
        let (mut observation, script) = sample.done(Dur::ms(5));
        observation.streams[0] = StreamCount { sent: 1_000, received: 990, reordered: 2 };
        observation.integrity.unrecorded = 1;
        let loss = loss(&observation, &script, 0, DELAYS);
        assert_eq!((loss.sent, loss.received, loss.lost), (1_000, 990, 10));
        assert_eq!((loss.reordered, loss.frames.len()), (2, 0));
    }

    #[test]
    fn strays_and_duplicates_are_neither_losses_nor_arrivals() {
        let mut sample = Sample::new();
        sample.data(0, Dur::us(1), Some(Dur::us(3)));
        sample.arrives(0, 1, Dur::us(4));
        sample.arrives(0, 2, Dur::us(5));
        let loss = of(sample);
        assert_eq!((loss.received, loss.lost, loss.duplicated, loss.stray), (1, 0, 1, 1));
        assert_eq!(loss.odd.len(), 2);
    }
}
