//! Rule `pfc.latency`: from a frame that changes what a group holds to the word that the device says of it.

use crate::passage::{come, start};
use crate::{Dir, Observation, Span};
use rig_testcases::{Script, SwitchingMode};
use rig_units::{Dur, Quanta};

/// What a device says to a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PfcSignal {
    /// Stop: the first XOFF of the trial. It follows a frame that has come into the device.
    Xoff,
    /// Go on: the first XON of the trial. It follows a frame's first bit out of the device, which may free the frame as it
    /// begins to leave or when it has left.
    Xon,
}

impl PfcSignal {
    /// Whether a pause of `quanta` says it.
    pub fn is(self, quanta: Quanta) -> bool {
        (quanta == Quanta(0)) == (self == PfcSignal::Xon)
    }
}

/// The word after one frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PfcLatency {
    /// The record of the frame.
    pub frame: usize,
    /// The record of the word, and how soon after the frame its first bit leaves the device; `None`: it never came.
    pub signal: Option<(usize, Delay)>,
    /// How much the stamps of both leave open: a delay of nothing is read as less than that only because none is less.
    pub open: Dur,
}

/// How soon a word follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delay {
    /// So long after the frame.
    After(Span),
    /// So long before it, at least.
    Early(Dur),
}

/// The first `signal` to the sender of `stream`, after frame `nth` of the stream, counted from 0 at the port where it shows;
/// `None` when fewer frames were recorded.
pub fn pfc_latency(
    observation: &Observation,
    script: &Script,
    stream: u16,
    (signal, nth): (PfcSignal, usize),
    mode: SwitchingMode,
) -> Option<PfcLatency> {
    let spec = &script.streams[usize::from(stream)];
    let port = |index: u16| &observation.ports[usize::from(index)];
    let (from, to) = (port(spec.from), port(spec.to));
    let side = match signal {
        PfcSignal::Xoff => (spec.from, Dir::Tx),
        PfcSignal::Xon => (spec.to, Dir::Rx),
    };
    let (frame, record) = observation.of_stream(stream, side).nth(nth)?;
    let since = match signal {
        PfcSignal::Xoff => come(from, (mode, spec.on_wire()), record.at),
        PfcSignal::Xon => start(to, spec.on_wire(), record.at),
    };
    let said = observation.words((spec.from, Dir::Rx), spec.class);
    let said = said.into_iter().find(|(_, _, quanta)| signal.is(*quanta));
    let mut open = Dur(since.hi - since.lo);
    let signal = said.map(|(index, record, _)| {
        let began = start(from, record.on_wire(), record.at);
        open += Dur(began.hi - began.lo);
        let early = since.lo.saturating_sub(began.hi);
        let delay =
            if early > 0 { Delay::Early(Dur(early)) } else { Delay::After(began.since(since)) };
        (index, delay)
    });
    Some(PfcLatency { frame, signal, open })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{CABLE, Sample};

    /// 64 B at 100 Gb/s, and 20 B more.
    const WORD: Dur = Dur(5_120);
    const GAP: Dur = Dur(1_600);

    fn followed(signal: PfcSignal, at: Dur, quanta: Quanta) -> Option<PfcLatency> {
        let mut sample = Sample::new();
        for seq in 0..4 {
            let sent = Dur::us(1) * u64::from(seq + 1);
            sample.data(seq, sent, Some(sent + Dur::us(10)));
        }
        sample.pfc(at, 0, Dir::Rx, quanta);
        let (observation, script) = sample.done(Dur::ms(1));
        pfc_latency(&observation, &script, 0, (signal, 2), SwitchingMode::default())
    }

    fn delay(pfc_latency: Option<PfcLatency>) -> Option<Delay> {
        Some(pfc_latency?.signal?.1)
    }

    #[test]
    fn an_xoff_is_counted_from_the_last_bit_of_the_frame() {
        // Frame 2 leaves the rig at 3 us; the XOFF reaches it 1 us later.
        let followed = followed(PfcSignal::Xoff, Dur::us(4), Quanta(100));
        let after = Dur::us(1) - CABLE * 2 - WORD;
        assert_eq!(delay(followed), Some(Delay::After(Span { lo: (after - GAP).0, hi: after.0 })));
    }

    #[test]
    fn an_xon_is_counted_from_the_first_bit_of_the_frame_that_leaves() {
        // Frame 2 reaches the rig at 13 us: 1024 B last 81.92 ns.
        let followed = followed(PfcSignal::Xon, Dur::us(14), Quanta(0));
        let after = Dur::us(1) + Dur(81_920) - WORD;
        let open = Span { lo: (after - GAP).0, hi: (after + GAP).0 };
        assert_eq!(delay(followed), Some(Delay::After(open)));
    }

    #[test]
    fn a_word_before_its_frame_is_early() {
        let followed = followed(PfcSignal::Xoff, Dur::us(2), Quanta(100));
        assert_eq!(delay(followed), Some(Delay::Early(Dur::us(1) + CABLE * 2 + WORD)));
    }

    #[test]
    fn a_word_that_never_comes_and_a_frame_that_never_came_are_told_apart() {
        assert_eq!(
            followed(PfcSignal::Xon, Dur::us(4), Quanta(100)).map(|followed| followed.signal),
            Some(None)
        );
        let (observation, script) = Sample::new().done(Dur::ms(1));
        assert_eq!(
            pfc_latency(&observation, &script, 0, (PfcSignal::Xoff, 2), SwitchingMode::default()),
            None
        );
    }
}
