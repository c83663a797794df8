//! The frames of one stream and what became of each: when it left the rig, when it came back.

use crate::{Dir, Observation, PortTrace, Span, What};
use rig_testcases::{Script, StreamSpec, SwitchingMode};
use rig_units::{Bytes, Dur, Time, Within};

/// One frame of a stream that the rig sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    /// Its number in the stream.
    pub seq: u32,
    /// When it left the rig, and its record.
    pub sent: Sight,
    /// When it first arrived at the port it was addressed to, and that record; `None` when it never did.
    pub received: Option<Sight>,
}

/// A record and its instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sight {
    /// When the last bit passed the rig's port.
    pub at: Time,
    /// Index of the record.
    pub record: usize,
}

/// All recorded frames of one stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Passages {
    /// By number in the stream.
    pub all: Vec<Passage>,
    /// Records of frames that arrived again, at their port.
    pub duplicates: Vec<usize>,
    /// Records of frames that arrived at a port they were not addressed to.
    pub strays: Vec<usize>,
    /// Records of frames that arrived after one with a higher number.
    pub reordered: Vec<usize>,
}

impl Passages {
    /// Matches what `stream` sent with what arrived.
    pub fn of(observation: &Observation, script: &Script, stream: u16) -> Passages {
        let spec = &script.streams[usize::from(stream)];
        let mut passages = Passages::default();
        let frames = observation.records.iter().enumerate().filter_map(|(record, frame)| {
            let What::Data { stream: of, seq, .. } = frame.what else { return None };
            (of == stream).then_some((record, frame, seq))
        });
        let mut arrivals = Vec::new();
        for (record, frame, seq) in frames {
            match frame.dir {
                Dir::Tx if frame.port == spec.from => {
                    let sent = Sight { at: frame.at, record };
                    passages.all.push(Passage { seq, sent, received: None });
                }
                Dir::Rx if frame.port == spec.to => {
                    arrivals.push((seq, Sight { at: frame.at, record }));
                }
                Dir::Tx | Dir::Rx => passages.strays.push(record),
            }
        }
        passages.all.sort_by_key(|passage| (passage.seq, passage.sent.at));
        let mut highest = None;
        for (seq, sight) in arrivals {
            let Ok(at) = passages.all.binary_search_by_key(&seq, |passage| passage.seq) else {
                continue; // sent before the capture began
            };
            let received = &mut passages.all[at].received;
            if received.is_some() {
                passages.duplicates.push(sight.record);
                continue;
            }
            *received = Some(sight);
            if highest.is_some_and(|highest| seq < highest) {
                passages.reordered.push(sight.record);
            }
            highest = highest.max(Some(seq));
        }
        passages
    }
}

/// The way of a stream's frames through the device, with what is declared of it.
#[derive(Debug, Clone, Copy)]
pub struct Way<'a> {
    stream: &'a StreamSpec,
    from: &'a PortTrace,
    to: &'a PortTrace,
    forwarding_delay: Within,
    mode: SwitchingMode,
}

impl<'a> Way<'a> {
    /// The way of `stream` through a device that forwards after `forwarding_delay`.
    pub fn of(
        observation: &'a Observation,
        stream: &'a StreamSpec,
        (forwarding_delay, mode): (Within, SwitchingMode),
    ) -> Way<'a> {
        let port = |index: u16| &observation.ports[usize::from(index)];
        Way { stream, from: port(stream.from), to: port(stream.to), forwarding_delay, mode }
    }

    /// When a frame sent at `sent` had [come] to the device.
    pub fn arrival(&self, sent: Time) -> Span {
        come(self.from, (self.mode, self.stream.on_wire()), sent)
    }

    /// When that frame could start to leave an idle port of the device: not before, and surely by then.
    pub fn ready(&self, sent: Time) -> Span {
        let (arrival, delay) = (self.arrival(sent), self.forwarding_delay);
        Span { lo: arrival.lo + delay.least().0, hi: arrival.hi + delay.most().0 }
    }

    /// When the device started to send a frame of the stream that the rig received at `received`.
    pub fn start(&self, received: Time) -> Span {
        start(self.to, self.stream.on_wire(), received)
    }
}

/// When a frame of `size` that the rig sent at `sent` had come to a device that has such a mode: with its last bit, or with the first of its preamble
/// or the first behind that, whichever the device counts from.
pub fn come(port: &PortTrace, (mode, size): (SwitchingMode, Bytes), sent: Time) -> Span {
    let last = around(sent + port.cable, port.provenance.bound());
    let [least, most] = before_its_end(port, (mode, size));
    Span { lo: last.lo.saturating_sub(most.0), hi: last.hi.saturating_sub(least.0) }
}

/// How long before its last bit such a frame has come, at the least and at the most.
pub fn before_its_end(port: &PortTrace, (mode, size): (SwitchingMode, Bytes)) -> [Dur; 2] {
    match mode {
        SwitchingMode::StoreAndForward => [Dur::ZERO; 2],
        SwitchingMode::CutThrough => [size, size + PREAMBLE].map(|size| port.speed.serialise(size)),
    }
}

/// Preamble and start delimiter.
const PREAMBLE: Bytes = Bytes(8);

/// When the device started to send a frame of `size` that the rig received at `received`. Whether its MAC puts the
/// preamble and the gap before a frame or after it is not declared, so the earliest start counts both.
pub fn start(port: &PortTrace, size: Bytes, received: Time) -> Span {
    let bound = port.provenance.bound();
    let earliest = port.cable + port.speed.slot(size) + bound;
    let latest = port.cable + port.speed.serialise(size);
    Span {
        lo: received.saturating_sub(earliest).0,
        hi: (received + bound).saturating_sub(latest).0,
    }
}

/// The instants within `bound` of `at`.
pub fn around(at: Time, bound: Dur) -> Span {
    Span { lo: at.saturating_sub(bound).0, hi: (at + bound).0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, Sample};

    #[test]
    fn every_frame_is_matched_with_its_arrival() {
        let mut sample = Sample::new();
        sample.data(0, Dur::us(1), Some(Dur::us(3)));
        sample.data(1, Dur::us(2), None);
        sample.data(2, Dur::us(4), Some(Dur::us(6)));
        let (observation, script) = sample.done(Dur::ms(1));
        let passages = Passages::of(&observation, &script, 0);
        let came: Vec<bool> = passages.all.iter().map(|p| p.received.is_some()).collect();
        assert_eq!(came, [true, false, true]);
        assert_eq!(passages.all[2].received.map(|sight| sight.at), Some(Time(6_000_000)));
        assert!(passages.strays.is_empty() && passages.duplicates.is_empty());
    }

    #[test]
    fn strays_duplicates_and_late_comers_are_told_apart() {
        let mut sample = Sample::new();
        sample.data(0, Dur::us(1), Some(Dur::us(9)));
        sample.data(1, Dur::us(2), Some(Dur::us(5)));
        sample.arrives(1, 1, Dur::us(7));
        sample.arrives(1, 2, Dur::us(8));
        let (observation, script) = sample.done(Dur::ms(1));
        let passages = Passages::of(&observation, &script, 0);
        let at = |records: &[usize]| -> Vec<Time> {
            records.iter().map(|&record| observation.records[record].at).collect()
        };
        assert_eq!(at(&passages.duplicates), [Time(7_000_000)]);
        assert_eq!(at(&passages.strays), [Time(8_000_000)]);
        assert_eq!(at(&passages.reordered), [Time(9_000_000)]);
    }

    #[test]
    fn the_start_of_a_frame_leaves_open_where_the_preamble_lies() {
        let (observation, script) = Sample::new().done(Dur::ms(1));
        let way = Way::of(
            &observation,
            &script.streams[0],
            (sample::FORWARDING.into(), SwitchingMode::StoreAndForward),
        );
        let at = Time(10_000_000);
        // 1024 B at 100 Gb/s last 81.92 ns, 20 B more 1.6 ns.
        assert_eq!(
            way.start(at),
            Span { lo: 10_000_000 - 15_000 - 83_520, hi: 10_000_000 - 15_000 - 81_920 }
        );
        assert_eq!(way.ready(at), Span::exactly(10_000_000 + 15_000 + 500_000));
    }

    /// 1024 B at 100 Gb/s last 81.92 ns, and the preamble 640 ps.
    #[test]
    fn a_frame_that_is_cut_through_has_come_with_its_first_bit() {
        let (observation, script) = Sample::new().done(Dur::ms(1));
        let mode = SwitchingMode::CutThrough;
        let way = Way::of(&observation, &script.streams[0], (sample::FORWARDING.into(), mode));
        let last = 10_000_000 + 15_000;
        let first = Span { lo: last - 82_560, hi: last - 81_920 };
        assert_eq!(way.arrival(Time(10_000_000)), first);
    }
}
