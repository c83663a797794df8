//! Which frames of a stream the device lost, as against those that the end of the trial caught on their way.
//!
//! Of a stream that was not recorded whole only the frames are followed that were recorded wherever they passed: one in
//! [`SAMPLE`].

use crate::passage::{Passage, Passages, Way};
use crate::pause::pauses;
use crate::{Dir, Observation, SAMPLE};
use rig_testcases::{Declared, Script, StreamSpec, SwitchingMode};
use rig_units::{Dur, L2Rate, Time, Within};

/// What the device declares that bears on whether a frame could have arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delays {
    /// Time from a frame having come to its first bit out of the idle device.
    pub forwarding_delay: Within,
    /// When it has come.
    pub mode: SwitchingMode,
    /// Longest time that its MAC takes to react to a PFC frame.
    pub response: Dur,
    /// Whether it may hold a frame where none of its ports to the rig shows it: a system of several devices may, between them.
    /// Only a later frame of the stream then tells that one was lost.
    pub hidden: bool,
    /// The rate to which its ports are shaped: one that waits for that is not idle. `None` where they send at their speed.
    pub shaper: Option<L2Rate>,
}

impl From<&Declared> for Delays {
    /// Of one device. Nothing passes through NICs, and what obeys no PFC has no response to it.
    fn from(declared: &Declared) -> Delays {
        let response = declared.switch().map(|switch| switch.response(switch.macsec.sent()).most());
        Delays {
            forwarding_delay: declared.transit().unwrap_or(Within::ZERO),
            mode: declared.switching_mode(),
            response: response.unwrap_or_default(),
            hidden: false,
            shaper: declared.switch().and_then(|switch| switch.scheduler.slowest().pir),
        }
    }
}

/// The frames of one stream and what became of each.
#[derive(Debug, Clone)]
pub struct Fates<'a> {
    /// The frames; a sample of them when not all were recorded.
    pub passages: Passages,
    /// Whether it is a sample.
    pub sampled: bool,
    /// The ports that they leave and reach.
    pub way: Way<'a>,
    /// Number of the last frame that arrived.
    last_arrived: Option<u32>,
    /// Frames ready before this and never received were lost; `None` where no idle port shows it.
    settled: Option<Time>,
}

impl<'a> Fates<'a> {
    /// Follows the frames of `stream`.
    pub fn of(
        observation: &'a Observation,
        script: &'a Script,
        stream: u16,
        delays: Delays,
    ) -> Fates<'a> {
        let spec = &script.streams[usize::from(stream)];
        let mut passages = Passages::of(observation, script, stream);
        let sampled = observation.partial(stream);
        if sampled {
            passages.all.retain(|passage| passage.seq.is_multiple_of(SAMPLE));
        }
        let arrived = passages.all.iter().filter(|passage| passage.received.is_some());
        let last_arrived = arrived.map(|passage| passage.seq).max();
        let settled = (!delays.hidden).then(|| settled(observation, script, stream, delays));
        let way = Way::of(observation, spec, (delays.forwarding_delay, delays.mode));
        Fates { passages, sampled, way, last_arrived, settled }
    }

    /// Whether the device surely lost the frame: it never arrived, although a later one of the stream did, or although
    /// the port it should have left by stood idle and unpaused after the frame was ready.
    pub fn lost(&self, passage: &Passage) -> bool {
        passage.received.is_none()
            && (self.last_arrived.is_some_and(|last| passage.seq < last)
                || self.settled.is_some_and(|at| self.way.ready(passage.sent.at).hi < at.0))
    }

    /// Whether the trial ended before the frame could arrive.
    pub fn open(&self, passage: &Passage) -> bool {
        passage.received.is_none() && !self.lost(passage)
    }
}

/// The last instant at which the device's port behind `stream.to` was surely idle and the class not paused: nothing
/// that was ready before it was still there.
fn settled(observation: &Observation, script: &Script, stream: u16, delays: Delays) -> Time {
    let spec = &script.streams[usize::from(stream)];
    let trace = &observation.ports[usize::from(spec.to)];
    let bound = trace.provenance.bound();
    let pauses = pauses(observation, spec.to, spec.class);
    let unpaused = |mut at: Time| {
        for pause in pauses.iter().rev() {
            let until = pause.until + bound * 2 + delays.response;
            if pause.from.saturating_sub(bound * 2) <= at && at <= until {
                at = pause.from.saturating_sub(bound * 2 + Dur(1));
            }
        }
        at
    };
    let end = Time::ZERO + observation.length;
    // The longest frame that leaves by this port may be under way when the trial ends.
    let to_port = script.streams.iter().filter(|other| other.to == spec.to);
    let longest = to_port.map(StreamSpec::on_wire).max().unwrap_or(spec.on_wire());
    let lead = trace.cable + trace.speed.slot(longest) + bound;
    // A shaper keeps the next frame for as long as it lets one take, be it that one or the one before. PFC passes it by, and may
    // have left in that time.
    let keeps = delays.shaper.map_or(Dur::ZERO, |rate| rate.serialise(longest));
    let mut idle_until = end.saturating_sub(lead);
    for frame in observation.records.iter().rev() {
        if frame.port != spec.to || frame.dir != Dir::Rx {
            continue;
        }
        let idle_from = (frame.at + bound + keeps).saturating_sub(trace.cable);
        let at = unpaused(idle_until);
        if at > idle_from {
            return at;
        }
        let frame_and_way = trace.cable + trace.speed.slot(frame.on_wire()) + bound;
        idle_until = idle_until.min(frame.at.saturating_sub(frame_and_way));
    }
    unpaused(idle_until)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::What;
    use crate::sample::{CABLE, FORWARDING, Sample, TRANSIT};
    use rig_units::Bytes;

    const DELAYS: Delays = Delays {
        forwarding_delay: Within::exactly(FORWARDING),
        mode: SwitchingMode::StoreAndForward,
        response: Dur(400_000),
        hidden: false,
        shaper: None,
    };

    /// Numbers of the frames that were lost, and of those left open.
    fn fates(sample: Sample, length: Dur) -> (Vec<u32>, Vec<u32>) {
        fates_by(sample, length, DELAYS)
    }

    fn fates_by(sample: Sample, length: Dur, delays: Delays) -> (Vec<u32>, Vec<u32>) {
        let (observation, script) = sample.done(length);
        let fates = Fates::of(&observation, &script, 0, delays);
        let those = |which: &dyn Fn(&Passage) -> bool| {
            fates.passages.all.iter().filter(|p| which(p)).map(|p| p.seq).collect()
        };
        (those(&|p| fates.lost(p)), those(&|p| fates.open(p)))
    }

    #[test]
    fn a_frame_overtaken_by_a_later_one_is_lost() {
        let mut sample = Sample::new();
        sample.data(0, Dur::us(1), None);
        sample.data(1, Dur::us(2), Some(Dur::us(2) + TRANSIT));
        assert_eq!(fates(sample, Dur::us(3)), (vec![0], vec![]));
    }

    #[test]
    fn what_may_be_held_where_no_port_shows_it_is_lost_only_if_a_later_frame_arrives() {
        let mut sample = Sample::new();
        sample.data(0, Dur::us(1), None);
        sample.data(1, Dur::us(2), Some(Dur::us(2) + TRANSIT));
        sample.data(2, Dur::us(3), None);
        assert_eq!(fates(sample.clone(), Dur::ms(9)), (vec![0, 2], vec![]));
        let hidden = Delays { hidden: true, ..DELAYS };
        assert_eq!(fates_by(sample, Dur::ms(9), hidden), (vec![0], vec![2]));
    }

    #[test]
    fn a_longer_frame_of_another_stream_may_be_under_way_when_the_trial_ends() {
        let could = Dur::us(1) + CABLE + FORWARDING + Dur(83_520) + CABLE;
        let mut sample = Sample::new();
        let longer = StreamSpec { size: Bytes(9_022), ..sample.script.streams[0].clone() };
        sample.script.streams.push(longer);
        sample.data(0, Dur::us(1), None);
        assert_eq!(fates(sample, could + Dur::ns(100)), (vec![], vec![0]));
    }

    #[test]
    fn a_frame_that_the_end_of_the_trial_caught_is_open_to_the_picosecond() {
        // 1024 B at 100 Gb/s take 83.52 ns with preamble and gap.
        let could = Dur::us(1) + CABLE + FORWARDING + Dur(83_520) + CABLE;
        for (length, lost) in [(could, vec![]), (could + Dur(1), vec![0])] {
            let mut sample = Sample::new();
            sample.data(0, Dur::us(1), None);
            assert_eq!(fates(sample, length).0, lost, "{length}");
        }
    }

    #[test]
    fn a_frame_held_by_a_pause_at_the_end_is_open() {
        let mut sample = Sample::new();
        sample.storm(Dur::ms(1), Dur::ms(10));
        sample.data(0, Dur::ms(2), None);
        assert_eq!(fates(sample, Dur::ms(10)), (vec![], vec![0]));
    }

    #[test]
    fn a_frame_that_did_not_come_after_the_pause_is_lost() {
        let mut sample = Sample::new();
        sample.storm(Dur::ms(1), Dur::ms(10));
        sample.data(0, Dur::ms(2), None);
        assert_eq!(fates(sample, Dur::ms(20)), (vec![0], vec![]));
    }

    #[test]
    fn of_a_load_that_was_counted_only_the_sample_is_followed() {
        let mut sample = Sample::new();
        for seq in 0..200 {
            sample.data(seq, Dur::us(1) * u64::from(seq), None);
        }
        sample.arrives(192, 1, Dur::us(400));
        let (mut observation, script) = sample.done(Dur::ms(1));
        observation.streams[0].received = 150;
        observation.integrity.unrecorded = 1;
        let fates = Fates::of(&observation, &script, 0, DELAYS);
        let lost = fates.passages.all.iter().filter(|p| fates.lost(p)).map(|p| p.seq);
        assert_eq!(lost.collect::<Vec<_>>(), [0, 64, 128]);
        assert!(fates.sampled);
    }

    #[test]
    fn a_port_that_waits_for_its_shaper_is_not_idle() {
        let rate = L2Rate { bps: 300_000_000 };
        // A frame before it may keep it for 27.3 us.
        let keeps = rate.serialise(Bytes(1_024));
        let first = Dur::us(1) + TRANSIT;
        let could = first + keeps + Dur(83_520) + CABLE;
        for (length, shaper, lost) in [
            (could - CABLE, Some(rate), vec![]),
            (could - CABLE + Dur(1), Some(rate), vec![1]),
            (could - keeps, None, vec![1]),
        ] {
            let mut sample = Sample::new();
            sample.data(0, Dur::us(1), Some(first));
            sample.data(1, Dur::us(1) + Dur(83_520), None);
            assert_eq!(fates_by(sample, length, Delays { shaper, ..DELAYS }).0, lost, "{length}");
        }
    }

    #[test]
    fn a_port_that_is_busy_to_the_end_leaves_the_frame_open() {
        for (gap, lost) in [(Dur(0), vec![]), (Dur(1), vec![0])] {
            let mut sample = Sample::new();
            sample.data(0, Dur::us(10), None);
            let mut at = Dur::us(10);
            for n in 0..100 {
                sample.push(at, 1, Dir::Rx, What::Other { size: Bytes(1024) });
                at += Dur(83_520) + if n == 90 { gap } else { Dur(0) };
            }
            assert_eq!(fates(sample, at).0, lost, "{gap}");
        }
    }
}
