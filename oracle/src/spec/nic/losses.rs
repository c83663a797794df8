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

/// What became of a packet on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It came.
    Came,
    /// It did not, or spoilt.
    Lost,
    /// It came so much later.
    Late(Dur),
}

/// A packet of data that left its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// When it did.
    pub at: Time,
    /// Its place among all packets of its connection.
    pub place: u64,
    /// What became of it.
    pub fate: Fate,
}

/// A packet that its receiver missed when it was its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hole {
    /// When it left at its turn and did not come, the first time.
    pub began: Option<Time>,
    /// When it left next at its turn.
    pub again: Option<Time>,
    /// How often it was lost at its turn.
    pub losses: u32,
    /// By how much it was late the first time, where it was.
    pub late: Option<Dur>,
    /// How often it was late when it was sent again, and by how much all together.
    pub late_again: (u32, Dur),
    /// From when it left at its turn to the packet behind it that showed that it was missing; `None`: none ever did.
    pub shown: Option<Dur>,
    /// Whether none did the first time.
    pub unseen: bool,
}

/// The packets that were missed, by their places. What is lost when it is not its turn, because one before it is missing or because it came already, costs nothing: its
/// receiver would have thrown it away.
pub fn holes(packets: &[Packet]) -> BTreeMap<u64, Hole> {
    let mut all: BTreeMap<u64, Hole> = BTreeMap::new();
    // What is late has its turn with those that left with it, and comes later.
    let mut late: Vec<(Time, u64)> = Vec::new();
    let mut expected = 0;
    // When the packet left whose turn it is, if it did not come: the last time before that was shown.
    let mut missed: Option<(u64, Time)> = None;
    for packet in packets {
        late.sort_unstable();
        let come = late.partition_point(|(comes, _)| *comes <= packet.at);
        for (_, place) in late.drain(..come) {
            expected += u64::from(place == expected);
        }
        let at_turn = packet.place == expected;
        if let Some(hole) =
            all.get_mut(&packet.place).filter(|hole| at_turn && hole.began.is_some())
        {
            hole.again = hole.again.or(Some(packet.at));
        }
        match packet.fate {
            Fate::Came if at_turn => expected += 1,
            Fate::Came => {
                let open =
                    missed.filter(|(place, _)| *place == expected && packet.place > expected);
                if let Some((place, since)) = open {
                    let hole = all.entry(place).or_default();
                    hole.shown = hole.shown.or(packet.at.since(since));
                }
            }
            Fate::Lost | Fate::Late(_) if !at_turn => {}
            Fate::Lost => {
                let hole = all.entry(packet.place).or_default();
                hole.unseen |= hole.losses > 0 && hole.shown.is_none();
                hole.losses += 1;
            }
            Fate::Late(by) => {
                let hole = all.entry(packet.place).or_default();
                if hole.began.is_none() {
                    hole.late = Some(by);
                } else {
                    hole.late_again = (hole.late_again.0 + 1, hole.late_again.1 + by);
                }
            }
        }
        if let Fate::Late(by) = packet.fate {
            late.push((packet.at + by, packet.place));
        }
        let shown = all.get(&packet.place).is_some_and(|hole| hole.shown.is_some());
        if at_turn && packet.fate != Fate::Came {
            let hole = all.entry(packet.place).or_default();
            hole.began = hole.began.or(Some(packet.at));
        }
        if at_turn && packet.fate != Fate::Came && !shown {
            missed = Some((packet.place, packet.at));
        }
    }
    // One that came late before anything behind it has made no hole.
    all.retain(|_, hole| hole.losses > 0 || hole.shown.is_some());
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
    /// What a hole costs: from when its packet left at its turn to when it did so and came. `nak` is by how much its NAK was late on the way; `None`: that was lost.
    /// `heard`: when its sender last heard of anything before it, as far as that is known. No answer: it is never mended.
    pub fn costs(&self, hole: &Hole, nak: Option<Dur>, heard: Option<Time>) -> Option<Within> {
        let Hole { began, again: _, losses, late, late_again, shown, unseen } = *hole;
        let asked = shown.zip(nak).map(|(shown, nak)| {
            Within::between(shown + self.asked.least(), shown + self.asked.most() + nak)
        });
        let timers = u64::from(losses).saturating_sub(asked.is_some().into());
        // The first timer runs from whatever its sender heard last.
        let open = u64::from((unseen || asked.is_none()) && timers > 0);
        let timer = if timers > 0 { self.timer? } else { Within::ZERO };
        let runs_out = heard.map(|heard| heard + timer.least());
        let first = runs_out.zip(began).and_then(|(runs_out, began)| runs_out.since(began));
        let first = first.unwrap_or_default().saturating_sub(self.busy) * open;
        let least = timer.least().saturating_sub(self.told) * (timers - open) + first;
        let most = (timer.most() + self.busy) * timers + self.told * open;
        let all = asked.unwrap_or(Within::ZERO) + Within::between(least, most);
        // What is late when it is sent again nobody asks for once more, and what was behind it is.
        let (times, later) = late_again;
        let once_more = self.asked.most() + self.slot * 2 + shown.unwrap_or_default();
        let all = Within::between(all.least(), all.most() + later + once_more * u64::from(times));
        // What comes late may fill its hole before the way back does, and what was thrown away behind it is asked for once more. Behind that it is one more of what came.
        match late.filter(|by| self.is_in_time(hole, *by)) {
            None => Some(all),
            Some(by) => {
                let least = all.least().saturating_sub(self.slot * 2);
                Some(Within::between(least, all.most() + by + self.slot * 2))
            }
        }
    }

    /// Whether what is late by so much may come before the way back.
    fn is_in_time(&self, hole: &Hole, by: Dur) -> bool {
        by < hole.shown.unwrap_or_default() + self.asked.most() + self.slot * 2
    }

    /// Until when its sender may go back because of a hole whose packet came late: what is missed meanwhile may come again for nothing.
    pub fn stirs(&self, hole: &Hole) -> Option<Time> {
        let again = (hole.late.is_some() || hole.late_again.0 > 0, hole.late.unwrap_or_default());
        let once = hole.shown.unwrap_or_default() + self.asked.most() + self.slot * 2;
        let began = hole.began.filter(|_| again.0)?;
        Some(began + once * (2 + u64::from(hole.late_again.0)) + again.1 + hole.late_again.1)
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

    /// Packets a slot apart, each with its place and what becomes of it.
    fn sent(all: &[(u64, Fate)]) -> BTreeMap<u64, Hole> {
        let packet = |(i, &(place, fate)): (u64, &(u64, Fate))| Packet {
            at: Time::ZERO + SLOT * i,
            place,
            fate,
        };
        holes(&(0..).zip(all).map(packet).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_lost_in_vain_costs_nothing_and_what_is_lost_again_a_timer() {
        let (came, lost) = (Fate::Came, Fate::Lost);
        // 1 is lost, and 3 behind it, which its receiver would have thrown away; 1 comes again, and then 3 is lost at its turn.
        let vain = [(0, came), (1, lost), (2, came), (3, lost), (1, came), (2, came), (3, came)];
        let began = Some(Time::ZERO + SLOT);
        let next = |slots| Some(Time::ZERO + SLOT * slots);
        let hole = Hole { began, again: next(4), losses: 1, shown: Some(SLOT), ..Hole::default() };
        assert_eq!(sent(&vain), BTreeMap::from([(1, hole)]));
        let again = [(0, came), (1, lost), (2, lost), (3, came), (1, lost), (2, came), (1, came)];
        let twice = Hole { losses: 2, shown: Some(SLOT * 2), ..hole };
        assert_eq!(sent(&again), BTreeMap::from([(1, twice)]));
        let last = sent(&[(0, came), (1, lost), (1, came)]);
        assert_eq!(
            last,
            BTreeMap::from([(1, Hole { again: next(2), shown: None, unseen: true, ..hole })])
        );
        // The timer brings 1 once more, and what comes behind that asks.
        let then = [(0, came), (1, lost), (1, lost), (2, came), (1, came)];
        let unseen = Hole { again: next(2), losses: 2, unseen: true, ..hole };
        assert_eq!(sent(&then), BTreeMap::from([(1, unseen)]));
        let mending = mending();
        let us = |least, most| Some(Within::between(Dur::us(least), Dur::us(most)));
        assert_eq!(mending.costs(&hole, Some(Dur::ZERO), None), us(10, 12));
        assert_eq!(mending.costs(&hole, Some(Dur::us(5)), None), us(10, 17));
        assert_eq!(mending.costs(&hole, None, None), us(0, 411));
        // It left at 1 us, and its sender heard of what is before it 3 us later.
        assert_eq!(mending.costs(&hole, None, Some(Time::ZERO + Dur::us(4))), us(102, 411));
        assert_eq!(mending.costs(&twice, Some(Dur::ZERO), None), us(11 + 90, 13 + 401));
        assert_eq!(mending.costs(&unseen, Some(Dur::ZERO), None), us(10, 12 + 411));
        let never = Mending { timer: None, ..mending };
        assert_eq!(never.costs(&twice, Some(Dur::ZERO), None), None);
        assert_eq!(never.costs(&hole, Some(Dur::ZERO), None), us(10, 12));
    }

    #[test]
    fn what_is_late_is_a_hole_where_something_came_before_it() {
        let (came, late) = (Fate::Came, Fate::Late(Dur::us(3)));
        let (by, began) = (Dur::us(3), Some(Time::ZERO + SLOT));
        let again = None;
        let hole = Hole { began, again, late: Some(by), shown: Some(SLOT), ..Hole::default() };
        // 1 comes with the fifth, before it is sent again.
        let seen =
            sent(&[(0, came), (1, late), (2, came), (3, came), (4, came), (1, came), (2, came)]);
        assert_eq!(seen, BTreeMap::from([(1, hole)]));
        let us = |least, most| Some(Within::between(Dur::us(least), Dur::us(most)));
        assert_eq!(mending().costs(&hole, Some(Dur::ZERO), None), us(8, 17));
        // Once the way back has filled it what comes is one more.
        let beyond = Hole { late: Some(Dur::us(14)), ..hole };
        assert_eq!(mending().costs(&beyond, Some(Dur::ZERO), None), us(10, 12));
        // Nothing came in between, and nothing is missed.
        assert_eq!(sent(&[(0, came), (1, Fate::Late(Dur::ns(500))), (2, came)]), BTreeMap::new());
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
