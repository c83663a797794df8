//! What PFC that the rig sends does to the packets of one priority of a NIC.

use rig_units::{Dur, PortSpeed, Quanta, Time};

/// A PFC frame that the rig sent: when it came, for whom, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// Its place among the records.
    pub record: usize,
    /// When its last bit reached the NIC.
    pub at: Time,
    /// The priorities that it is for: bit `c` is priority `c`.
    pub enable: u8,
    /// The pause of each, enabled or not.
    pub quanta: [Quanta; 8],
}

/// What a flow sent at once: when it began, and how long it keeps the port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// Its place among the records.
    pub record: usize,
    /// When it began to leave the NIC.
    pub at: Time,
    /// How long it keeps the port, preamble and gap counted.
    pub slot: Dur,
}

/// An XOFF that found its priority free, and the words that came before that pause was over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassPause {
    /// The XOFF.
    pub first: Word,
    /// The last of the words: the same one, another, or XON.
    pub last: Word,
    /// What the last one asks for.
    pub quanta: Quanta,
    /// When it is over, by the rig's clock.
    pub ends: Time,
    /// Whether each word was surely taken in before the pause was over without it.
    pub is_sure: bool,
}

/// The longest silence between two packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Silence {
    /// The packet before it.
    pub before: Packet,
    /// The one after it, if there is one.
    pub after: Option<Packet>,
}

impl Word {
    /// What it asks of `class`; `None` where it is not for it.
    pub fn asks(&self, class: u8) -> Option<Quanta> {
        (self.enable >> class & 1 == 1).then(|| self.quanta[usize::from(class)])
    }

    /// The longest pause that somebody may take it for: that of any priority, enabled or not, or the longest there is.
    pub fn at_worst(&self) -> Quanta {
        let most = self.quanta.into_iter().max().unwrap_or_default();
        if most > Quanta(0) { most } else { Quanta::MAX }
    }
}

/// The pauses of `class` that `words` ask of a port of `speed`, which takes each of them in within `response`.
pub fn pauses(words: &[Word], class: u8, speed: PortSpeed, response: Dur) -> Vec<ClassPause> {
    let mut all: Vec<ClassPause> = Vec::new();
    for (word, quanta) in words.iter().filter_map(|word| Some((*word, word.asks(class)?))) {
        let ends = word.at + speed.pause(quanta);
        match all.last_mut().filter(|pause| word.at < pause.ends) {
            Some(pause) => {
                let is_sure = pause.is_sure && word.at + response < pause.ends;
                *pause = ClassPause { last: word, quanta, ends, is_sure, ..*pause };
            }
            None if quanta > Quanta(0) => {
                all.push(ClassPause { first: word, last: word, quanta, ends, is_sure: true });
            }
            None => {}
        }
    }
    all
}

/// The longest silence that ends after the beginning of a pause and begins before its end; of equal ones the last. Of who sends nothing
/// more until `until` it lasts until then.
pub fn silence(packets: &[Packet], pause: &ClassPause, until: Time) -> Option<Silence> {
    let next = |index: usize| packets.get(index + 1).copied();
    let near = packets.iter().enumerate().filter(|(index, packet)| {
        packet.at < pause.ends && next(*index).is_none_or(|after| after.at > pause.first.at)
    });
    let idle = |(index, packet): &(usize, &Packet)| {
        let after = next(*index).map_or(until, |after| after.at);
        after.since(packet.at + packet.slot)
    };
    let (index, before) = near.max_by_key(idle)?;
    Some(Silence { before: *before, after: next(index) })
}

/// For how long from `from` on no packet begins, up to `until`.
pub fn silent(packets: &[Packet], from: Time, until: Time) -> Dur {
    let next = packets.iter().map(|packet| packet.at).find(|at| *at >= from);
    next.map_or(until, |at| at.min(until)).since(from).unwrap_or_default()
}

/// The longest time from one packet to the next before `until`, where none of `pauses` may have held them, each of which shows up to
/// `response` after its end.
pub fn apart(packets: &[Packet], pauses: &[ClassPause], until: Time, response: Dur) -> Dur {
    let free = |pair: &&[Packet]| {
        let held = |one: &ClassPause| pair[0].at < one.ends + response && pair[1].at > one.first.at;
        pair[1].at <= until && !pauses.iter().any(held)
    };
    let apart = |pair: &[Packet]| pair[1].at.since(pair[0].at).unwrap_or_default();
    packets.windows(2).filter(free).map(apart).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10.24 us at 100 Gb/s.
    const LONG: Quanta = Quanta(2_000);

    fn word(at: u64, enable: u8, quanta: Quanta) -> Word {
        Word { record: 0, at: us(at), enable, quanta: [quanta; 8] }
    }

    fn us(at: u64) -> Time {
        Time::ZERO + Dur::us(at)
    }

    fn packets(at: impl IntoIterator<Item = u64>) -> Vec<Packet> {
        let all = at.into_iter().enumerate();
        all.map(|(record, at)| Packet { record, at: us(at), slot: Dur::us(1) }).collect()
    }

    #[test]
    fn a_pause_goes_on_while_words_come_and_ends_with_an_xon() {
        let three = 1 << 3;
        let (second, xon) = (word(15, three, LONG), word(20, three, Quanta(0)));
        let words =
            [word(10, three, LONG), word(12, 1 << 4, LONG), second, xon, word(40, three, LONG)];
        let [first, next] = pauses(&words, 3, PortSpeed::G100, Dur::us(1))[..] else {
            panic!("two")
        };
        assert_eq!((first.first.at, first.last.at, first.ends), (us(10), us(20), us(20)));
        assert_eq!((next.first.at, next.ends), (us(40), us(40) + Dur::ns(10_240)));
        assert_eq!(
            pauses(&words[..3], 3, PortSpeed::G100, Dur::us(1))[0].ends,
            us(15) + Dur::ns(10_240)
        );
        // XON that nobody waits for, and words for others.
        assert_eq!(pauses(&[xon, words[1]], 3, PortSpeed::G100, Dur::us(1)), []);
    }

    #[test]
    fn the_longest_silence_is_found_and_one_that_never_ends() {
        let pause = pauses(&[word(10, 8, LONG)], 3, PortSpeed::G100, Dur::us(1))[0];
        let stops = packets((0..12).chain(21..30));
        let found = silence(&stops, &pause, us(30)).expect("some");
        assert_eq!((found.before.at, found.after.map(|one| one.at)), (us(11), Some(us(21))));
        let stays = silence(&stops[..12], &pause, us(90)).expect("some");
        assert_eq!((stays.before.at, stays.after), (us(11), None));
        // Who does not stop at all: the last packet that begins in the pause.
        let deaf = silence(&packets(0..40), &pause, us(40)).expect("some");
        assert_eq!((deaf.before.at, deaf.after.map(|one| one.at)), (us(20), Some(us(21))));
        assert_eq!(silent(&stops, us(12), us(30)), Dur::us(9));
        assert_eq!(silent(&stops, us(12), us(15)), Dur::us(3));
        // What it was held by is left out, and what comes later.
        assert_eq!(apart(&stops, &[pause], us(30), Dur::us(1)), Dur::us(1));
        assert_eq!(apart(&stops, &[], us(30), Dur::us(1)), Dur::us(10));
        assert_eq!(apart(&stops, &[], us(12), Dur::us(1)), Dur::us(1));
    }

    #[test]
    fn a_word_that_may_be_taken_in_after_the_end_leaves_a_pause_open() {
        // The first ends at 20.24 us.
        let sure = |at: u64| {
            let words = [word(10, 8, LONG), word(at, 8, LONG)];
            pauses(&words, 3, PortSpeed::G100, Dur::us(1))[0].is_sure
        };
        assert!(sure(15) && sure(19) && !sure(20));
    }

    #[test]
    fn a_frame_that_asks_for_nothing_may_be_taken_for_the_longest_pause() {
        assert_eq!(word(0, 0, Quanta(0)).at_worst(), Quanta::MAX);
        assert_eq!(word(0, 0, LONG).at_worst(), LONG);
        assert_eq!((word(0, 8, LONG).asks(3), word(0, 8, LONG).asks(4)), (Some(LONG), None));
    }
}
