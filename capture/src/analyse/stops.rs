//! Rule `stops`: what each XOFF that the rig sends does to a full load that leaves the device by the same port.

use crate::passage::{around, start};
use crate::{Dir, Observation, Span};
use rig_testcases::Script;
use rig_units::{Dur, Quanta, Time};

/// One XOFF, and the longest gap of the load near it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// When its last bit reached the device.
    pub at: Span,
    /// The pause that it asks for.
    pub quanta: Quanta,
    /// The last word that reached the device before the pause was over, if there was one: when its last bit did, and the pause that
    /// it asks for from then on. None is XON.
    pub last: Option<(Span, Quanta)>,
    /// When the last frame before the gap started to leave the device.
    pub last_start: Span,
    /// For how long the device then sent nothing: the gap less a frame with its preamble.
    pub idle: Span,
    /// The frames on either side of the gap.
    pub records: [usize; 2],
}

/// Every XOFF for the class of `stream` that was sent to the port that the stream leaves the device by, and that did not find it paused. A device that is
/// `response` late at most begins the gap within four times that; of one that does not stop at all any two frames are it.
pub fn stops(observation: &Observation, script: &Script, stream: u16, response: Dur) -> Vec<Stop> {
    let spec = &script.streams[usize::from(stream)];
    let trace = &observation.ports[usize::from(spec.to)];
    let (bound, slot) = (trace.provenance.bound(), trace.speed.slot(spec.on_wire()));
    let arrivals = observation.of_stream(stream, (spec.to, Dir::Rx));
    let arrivals: Vec<(Time, usize)> = arrivals.map(|(index, record)| (record.at, index)).collect();
    let told = observation.words((spec.to, Dir::Tx), spec.class);
    let told: Vec<(Time, Quanta)> =
        told.map(|(_, record, quanta)| (record.at + trace.cable, quanta)).collect();
    let mut paused_until = Time::ZERO;
    let stop = |(index, &(at, quanta)): (usize, &(Time, Quanta))| {
        if quanta == Quanta(0) || at < paused_until {
            return None;
        }
        let mut last = None;
        paused_until = at + trace.speed.pause(quanta);
        for &(word, quanta) in &told[index + 1..] {
            if word >= paused_until {
                break;
            }
            last = Some((around(word, bound), quanta));
            paused_until = word + trace.speed.pause(quanta);
        }
        let from = at.saturating_sub(bound * 2);
        let until = at + response * 4 + trace.cable + slot * 3 + bound * 2;
        // A port that sends nothing more within the trial shows no gap, only its beginning.
        if arrivals.last().is_none_or(|(last, _)| *last <= until) {
            return None;
        }
        let near = arrivals.windows(2).filter(|pair| (from..=until).contains(&pair[0].0));
        let gap = |pair: &&[(Time, usize)]| pair[1].0 - pair[0].0;
        // Of equal ones the first.
        let pair = near.rev().max_by_key(gap)?;
        let idle = gap(&pair).saturating_sub(slot);
        Some(Stop {
            at: around(at, bound),
            quanta,
            last,
            last_start: start(trace, spec.on_wire(), pair[0].0),
            idle: Span { lo: idle.saturating_sub(bound * 2).0, hi: (idle + bound * 2).0 },
            records: [pair[0].1, pair[1].1],
        })
    };
    told.iter().enumerate().filter_map(stop).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{CABLE, Sample};

    const RESPONSE: Dur = Dur::ns(400);
    /// 1024 B and 20 B more at 100 Gb/s.
    const SLOT: Dur = Dur(83_520);

    /// A full load from 1 us on that is silent after frame `last`, for so long.
    fn load(last: u32, silent: Dur) -> Sample {
        let mut sample = Sample::new();
        for seq in 0..200 {
            let pause = if seq > last { silent } else { Dur::ZERO };
            let at = Dur::us(1) + SLOT * u64::from(seq);
            sample.data(seq, at, Some(at + Dur::us(1) + pause));
        }
        sample
    }

    fn of(sample: Sample) -> Vec<Stop> {
        let (observation, script) = sample.done(Dur::ms(1));
        stops(&observation, &script, 0, RESPONSE)
    }

    #[test]
    fn the_gap_is_found_and_a_frame_is_taken_from_it() {
        let mut sample = load(60, Dur::us(5));
        // Frame 60 arrives at 2 + 60 x 0.08352 = 7.0112 us.
        sample.pfc(Dur::ns(6_700), 1, Dir::Tx, Quanta(1_000));
        let stops = of(sample);
        let [stop] = &stops[..] else { panic!("{stops:?}") };
        assert_eq!(stop.at, Span::exactly(6_700_000 + CABLE.0));
        assert_eq!(stop.idle, Span::exactly(Dur::us(5).0));
        // Less the cable and the frame, with or without its preamble.
        let arrived = 2_000_000 + 60 * SLOT.0;
        let start = Span { lo: arrived - CABLE.0 - SLOT.0, hi: arrived - CABLE.0 - 81_920 };
        assert_eq!((stop.last_start, stop.last), (start, None));
    }

    #[test]
    fn an_xon_counts_while_the_pause_lasts_and_no_longer() {
        // 1000 quanta are 5.12 us.
        for (after, counts) in [(Dur::us(5), true), (Dur::us(6), false)] {
            let mut sample = load(60, Dur::us(5));
            sample.pfc(Dur::us(6), 1, Dir::Tx, Quanta(1_000));
            sample.pfc(Dur::us(6) + after, 1, Dir::Tx, Quanta(0));
            let stops = of(sample);
            assert_eq!((stops.len(), stops[0].last.is_some()), (1, counts), "{after}");
        }
    }

    #[test]
    fn an_xoff_during_a_pause_is_the_last_word_of_that_pause() {
        let mut sample = load(60, Dur::us(5));
        sample.pfc(Dur::us(6), 1, Dir::Tx, Quanta(1_000));
        sample.pfc(Dur::us(8), 1, Dir::Tx, Quanta(100));
        // 100 quanta are 0.512 us: this one finds the port at work.
        sample.pfc(Dur::us(15), 1, Dir::Tx, Quanta(1_000));
        let stops = of(sample);
        let last: Vec<_> = stops.iter().map(|stop| stop.last.map(|(_, quanta)| quanta)).collect();
        assert_eq!(last, [Some(Quanta(100)), None]);
    }

    #[test]
    fn a_device_that_does_not_stop_has_no_idle_time() {
        let mut sample = load(200, Dur::ZERO);
        sample.pfc(Dur::us(6), 1, Dir::Tx, Quanta(1_000));
        assert_eq!(of(sample)[0].idle, Span::exactly(0));
    }

    #[test]
    fn each_xoff_has_a_gap_of_its_own() {
        let mut sample = load(60, Dur::us(5));
        sample.pfc(Dur::ns(6_700), 1, Dir::Tx, Quanta(1_000));
        sample.pfc(Dur::us(15), 1, Dir::Tx, Quanta(1_000));
        let idle: Vec<u64> = of(sample).iter().map(|stop| stop.idle.hi).collect();
        assert_eq!(idle, [Dur::us(5).0, 0], "the second was not obeyed");
    }
}
