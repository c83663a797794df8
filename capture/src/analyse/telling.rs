//! Rule `pfc.latency`: from a frame that changes what a group holds to the word that the device says of it.

use crate::passage::{around, start};
use crate::{Dir, Observation, Span};
use rig_testcases::Script;
use rig_units::{Dur, Quanta};

/// What a device says to a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// Stop: the first XOFF of the trial. It follows a frame's last bit into the device.
    Xoff,
    /// Go on: the first XON of the trial. It follows a frame's first bit out of the device, which may free the frame as it
    /// begins to leave or when it has left.
    Xon,
}

impl Word {
    /// Whether a pause of `quanta` says it.
    pub fn is(self, quanta: Quanta) -> bool {
        (quanta == Quanta(0)) == (self == Word::Xon)
    }
}

/// The word after one frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Telling {
    /// The record of the frame.
    pub frame: usize,
    /// The record of the word, and how soon after the frame its first bit leaves the device; `None`: it never came.
    pub word: Option<(usize, Delay)>,
}

/// How soon a word follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delay {
    /// So long after the frame.
    After(Span),
    /// So long before it, at least.
    Early(Dur),
}

/// The first `word` to the sender of `stream`, after frame `nth` of the stream, counted from 0 at the port where it shows;
/// `None` when fewer frames were recorded.
pub fn telling(
    observation: &Observation,
    script: &Script,
    stream: u16,
    word: Word,
    nth: usize,
) -> Option<Telling> {
    let spec = &script.streams[usize::from(stream)];
    let port = |index: u16| &observation.ports[usize::from(index)];
    let (from, to) = (port(spec.from), port(spec.to));
    let side = match word {
        Word::Xoff => (spec.from, Dir::Tx),
        Word::Xon => (spec.to, Dir::Rx),
    };
    let (frame, record) = observation.of_stream(stream, side).nth(nth)?;
    let since = match word {
        Word::Xoff => around(record.at + from.cable, from.provenance.bound()),
        Word::Xon => start(to, spec.on_wire(), record.at),
    };
    let said = observation.words((spec.from, Dir::Rx), spec.class);
    let said = said.into_iter().find(|(_, _, quanta)| word.is(*quanta));
    let word = said.map(|(index, record, _)| {
        let began = start(from, record.on_wire(), record.at);
        let early = since.lo.saturating_sub(began.hi);
        let delay =
            if early > 0 { Delay::Early(Dur(early)) } else { Delay::After(began.since(since)) };
        (index, delay)
    });
    Some(Telling { frame, word })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{CABLE, Sample};

    /// 64 B at 100 Gb/s, and 20 B more.
    const WORD: Dur = Dur(5_120);
    const GAP: Dur = Dur(1_600);

    fn told(word: Word, at: Dur, quanta: Quanta) -> Option<Telling> {
        let mut sample = Sample::new();
        for seq in 0..4 {
            let sent = Dur::us(1) * u64::from(seq + 1);
            sample.data(seq, sent, Some(sent + Dur::us(10)));
        }
        sample.pfc(at, 0, Dir::Rx, quanta);
        let (observation, script) = sample.done(Dur::ms(1));
        telling(&observation, &script, 0, word, 2)
    }

    fn delay(telling: Option<Telling>) -> Option<Delay> {
        Some(telling?.word?.1)
    }

    #[test]
    fn an_xoff_is_counted_from_the_last_bit_of_the_frame() {
        // Frame 2 leaves the rig at 3 us; the XOFF reaches it 1 us later.
        let told = told(Word::Xoff, Dur::us(4), Quanta(100));
        let after = Dur::us(1) - CABLE * 2 - WORD;
        assert_eq!(delay(told), Some(Delay::After(Span { lo: (after - GAP).0, hi: after.0 })));
    }

    #[test]
    fn an_xon_is_counted_from_the_first_bit_of_the_frame_that_leaves() {
        // Frame 2 reaches the rig at 13 us: 1024 B last 81.92 ns.
        let told = told(Word::Xon, Dur::us(14), Quanta(0));
        let after = Dur::us(1) + Dur(81_920) - WORD;
        let open = Span { lo: (after - GAP).0, hi: (after + GAP).0 };
        assert_eq!(delay(told), Some(Delay::After(open)));
    }

    #[test]
    fn a_word_before_its_frame_is_early() {
        let told = told(Word::Xoff, Dur::us(2), Quanta(100));
        assert_eq!(delay(told), Some(Delay::Early(Dur::us(1) + CABLE * 2 + WORD)));
    }

    #[test]
    fn a_word_that_never_comes_and_a_frame_that_never_came_are_told_apart() {
        assert_eq!(told(Word::Xon, Dur::us(4), Quanta(100)).map(|told| told.word), Some(None));
        let (observation, script) = Sample::new().done(Dur::ms(1));
        assert_eq!(telling(&observation, &script, 0, Word::Xoff, 2), None);
    }
}
