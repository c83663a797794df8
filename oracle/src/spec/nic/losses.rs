//! What losses cost a connection that goes back N: each costs the way back, in which all that is sent is in vain, and where what was sent again is lost, too, a timer.
//!
//! On average over a chance of loss p, s what a packet takes, W s the way back from a lost packet to the same again, T what a timer takes: a packet is through after
//! s + p W s + p^2 / (1 - p) T. Where the timer takes no longer than the way back that is s (1 - p + p W) / (1 - p), so that (1 - p) / (1 - p + p W) of what is sent gets
//! through, as the textbooks have it (Bertsekas and Gallager, Data Networks, 2.4; Schwartz, Telecommunication Networks, 4).

use rig_units::{Dur, Ppm, Time, Within};
use std::collections::BTreeMap;

/// Where it comes from, for reports.
pub const SOURCE: &str =
    "go-back-N: Bertsekas and Gallager, Data Networks, 2.4; IBTA volume 1, 9.7.5 to 9.9";

/// A packet of data that left its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// When it did.
    pub at: Time,
    /// Its place among all packets of its connection.
    pub place: u64,
    /// Whether it came, and not spoilt.
    pub came: bool,
    /// Whether it came later than those that left behind it.
    pub late: bool,
}

/// A packet that its receiver missed when it was its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hole {
    /// How often it was lost at its turn.
    pub losses: u32,
    /// From when it left at its turn to the packet behind it that showed that it was missing; `None`: none ever did.
    pub shown: Option<Dur>,
    /// Whether none did the first time.
    pub unseen: bool,
}

/// The packets that were missed, by their places. What is lost when it is not its turn, because one before it is missing or because it came already, costs nothing: its
/// receiver would have thrown it away. Where one that was late is the one that was missing, those behind it are gone: if its sender says nothing more
/// for `silence`, as it has sent all that it has to, nobody asks for them.
pub fn holes(packets: &[Packet], silence: Dur) -> BTreeMap<u64, Hole> {
    let mut all: BTreeMap<u64, Hole> = BTreeMap::new();
    let mut expected = 0;
    // How far its sender has come, and what is missing behind one that was late, since when.
    let (mut reached, mut behind_late) = (0, None::<(u64, Time)>);
    let unasked = |all: &mut BTreeMap<u64, Hole>, place| {
        let hole = all.entry(place).or_default();
        (hole.losses, hole.unseen) = (hole.losses + 1, true);
    };
    // When the packet left whose turn it is, if it did not come: the last time before that was shown.
    let mut missed: Option<(u64, Time)> = None;
    for packet in packets {
        let at_turn = packet.place == expected;
        if let Some((place, since)) = behind_late.take()
            && packet.at >= since + silence
        {
            unasked(&mut all, place);
        }
        reached = reached.max(packet.place + 1);
        match packet.came {
            true if at_turn => {
                expected += 1;
                behind_late = (packet.late && reached > expected).then_some((expected, packet.at));
            }
            true => {
                let open =
                    missed.filter(|(place, _)| *place == expected && packet.place > expected);
                if let Some((place, since)) = open {
                    let hole = all.entry(place).or_default();
                    hole.shown = hole.shown.or(packet.at.since(since));
                }
            }
            false if !at_turn => {}
            false => {
                let hole = all.entry(packet.place).or_default();
                hole.unseen |= hole.losses > 0 && hole.shown.is_none();
                hole.losses += 1;
                if hole.shown.is_none() {
                    missed = Some((packet.place, packet.at));
                }
            }
        }
    }
    if let Some((place, _)) = behind_late {
        unasked(&mut all, place);
    }
    all.values_mut().for_each(|hole| hole.unseen |= hole.shown.is_none());
    all
}

/// What mending takes, by what is declared of both NICs and of the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mending {
    /// From the packet that shows a hole to the missing one, again.
    pub asked: Within,
    /// How long the timer runs; `None`: for ever.
    pub timer: Option<Within>,
    /// From a packet to what its acknowledgement makes of its sender, at the most.
    pub told: Dur,
    /// For how long what is under way may keep a packet from leaving.
    pub busy: Dur,
    /// What a packet takes.
    pub slot: Dur,
}

impl Mending {
    /// What a hole costs at the most: from when its packet left at its turn to when it did so and came. `asked`: whether its NAK came. No answer: it is never mended.
    pub fn costs(&self, hole: &Hole, asked: bool) -> Option<Dur> {
        let asked = hole.shown.filter(|_| asked).map(|shown| shown + self.asked.most());
        let timers = u64::from(hole.losses).saturating_sub(asked.is_some().into());
        // The first timer runs from whatever its sender heard last.
        let open = u64::from((hole.unseen || asked.is_none()) && timers > 0);
        let timer = if timers > 0 { self.timer?.most() } else { Dur::ZERO };
        Some(asked.unwrap_or_default() + (timer + self.busy) * timers + self.told * open)
    }

    /// What packets that came late cost at the most, beside what each costs as one that was lost at its turn: it comes while others are on their way that
    /// were sent before its sender went back, or before it is its turn, and so asks, or has one of them ask, for what is on its way already. `answers`: by
    /// how much NAKs were late.
    pub fn late(&self, packets: usize, answers: &[Dur]) -> Dur {
        let packets = u64::try_from(packets).unwrap_or(u64::MAX);
        let stale = answers.iter().map(|by| *by + self.asked.most()).sum::<Dur>();
        self.asked.most() * packets + stale
    }

    /// What a packet takes on average that is lost by a chance each time: with W s for what it takes until it leaves once more, and a timer for each time that this is
    /// lost, too. The packet that shows a hole may be lost as well: then the one behind it does.
    pub fn expected(&self, chance: Ppm) -> Option<Dur> {
        let timer = match chance {
            Ppm(0) => return Some(self.slot),
            _ => self.timer?,
        };
        let whole = u128::from(Ppm::ONE.0);
        let lost = u128::from(chance.0);
        let comes = whole.checked_sub(lost).filter(|comes| *comes > 0)?;
        let middle = |of: Within| u128::from(of.least().0.midpoint(of.most().0));
        let slot = u128::from(self.slot.0);
        let back = slot + slot * lost / comes + middle(self.asked);
        let all = slot + back * lost / whole + middle(timer) * lost / whole * lost / comes;
        u64::try_from(all).ok().map(Dur)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: Dur = Dur::us(1);

    fn mending() -> Mending {
        let asked = Within::between(Dur::us(9), Dur::us(11));
        let timer = Some(Within::between(Dur::us(100), Dur::us(400)));
        Mending { asked, timer, told: Dur::us(10), busy: SLOT, slot: SLOT }
    }

    /// Packets a slot apart, each with its place and whether it came.
    fn sent(all: &[(u64, bool)]) -> BTreeMap<u64, Hole> {
        let packet = |(i, &(place, came)): (u64, &(u64, bool))| Packet {
            at: Time::ZERO + SLOT * i,
            place,
            came,
            late: false,
        };
        holes(&(0..).zip(all).map(packet).collect::<Vec<_>>(), Dur::us(100))
    }

    #[test]
    fn what_is_lost_in_vain_costs_nothing_and_what_is_lost_again_a_timer() {
        let (came, lost) = (true, false);
        // 1 is lost, and 3 behind it, which its receiver would have thrown away; 1 comes again, and then 3 is lost at its turn.
        let vain = [(0, came), (1, lost), (2, came), (3, lost), (1, came), (2, came), (3, came)];
        let hole = Hole { losses: 1, shown: Some(SLOT), unseen: false };
        assert_eq!(sent(&vain), BTreeMap::from([(1, hole)]));
        let again = [(0, came), (1, lost), (2, lost), (3, came), (1, lost), (2, came), (1, came)];
        let twice = Hole { losses: 2, shown: Some(SLOT * 2), unseen: false };
        assert_eq!(sent(&again), BTreeMap::from([(1, twice)]));
        let last = sent(&[(0, came), (1, lost), (1, came)]);
        let untold = Hole { shown: None, unseen: true, ..hole };
        assert_eq!(last, BTreeMap::from([(1, untold)]));
        // The timer brings 1 once more, and what comes behind that asks.
        let then = [(0, came), (1, lost), (1, lost), (2, came), (1, came)];
        let unseen = Hole { losses: 2, unseen: true, ..hole };
        assert_eq!(sent(&then), BTreeMap::from([(1, unseen)]));
        let mending = mending();
        let us = |most| Some(Dur::us(most));
        assert_eq!(mending.costs(&hole, true), us(12));
        assert_eq!(mending.costs(&hole, false), us(411));
        assert_eq!(mending.costs(&twice, true), us(13 + 401));
        assert_eq!(mending.costs(&unseen, true), us(12 + 411));
        let never = Mending { timer: None, ..mending };
        assert_eq!(never.costs(&twice, true), None);
        assert_eq!(never.costs(&hole, true), us(12));
    }

    #[test]
    fn nobody_asks_for_what_is_gone_behind_one_that_was_late_if_no_more_comes() {
        let us = |at: u64| Time::ZERO + Dur::us(at);
        let packet = |at, place, came, late| Packet { at: us(at), place, came, late };
        // 1 is late, and 2 behind it was thrown away. Then 2 comes again: as 1 was asked for, or after a timer.
        let sent = |again| {
            let all = [
                packet(0, 0, true, false),
                packet(1, 1, false, false),
                packet(2, 2, true, false),
                packet(8, 1, true, true),
                packet(again, 2, true, false),
            ];
            holes(&all, Dur::us(50))
        };
        let late = Hole { losses: 1, shown: Some(SLOT), unseen: false };
        assert_eq!(sent(12), BTreeMap::from([(1, late)]));
        let gone = Hole { losses: 1, shown: None, unseen: true };
        assert_eq!(sent(58), BTreeMap::from([(1, late), (2, gone)]));
        let [asked, timer] = [mending().costs(&late, true), mending().costs(&gone, true)];
        assert_eq!([asked, timer], [Some(Dur::us(12)), Some(Dur::us(411))]);
        // What is on its way is asked for once more, and for a NAK that is late, too.
        assert_eq!(mending().late(2, &[Dur::us(5)]), Dur::us(2 * 11 + 5 + 11));
    }

    #[test]
    fn the_mean_is_that_of_the_textbooks_where_a_timer_takes_as_long_as_the_way_back() {
        // W = 20: a slot for the packet that shows the hole, and 19. A chance of a hundredth: (1 - p) / (1 - p + p W) = 0.99 / 1.19.
        let asked = Within::exactly(SLOT * 19);
        let timer = Some(Within::exactly(SLOT * 20));
        let textbook = Mending { asked, timer, ..mending() };
        let mean = textbook.expected(Ppm(10_000)).unwrap().0;
        let want = SLOT.0 * 119 / 99;
        // What shows the hole may be lost, too: a hundredth of a slot in a hundred packets.
        assert!(mean.abs_diff(want + SLOT.0 / 9_900) <= 3, "{mean} and {want}");
        assert_eq!(textbook.expected(Ppm(0)), Some(SLOT));
        assert_eq!(Mending { timer: None, ..textbook }.expected(Ppm(1)), None);
        assert_eq!(textbook.expected(Ppm::ONE), None);
    }
}
