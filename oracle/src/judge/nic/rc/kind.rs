//! Which recovery an end of a connection has, as the wire shows it at one hole after the other, whatever is declared.

use super::{Answer, Event, Sent, Sight};
use crate::spec::nic::rc::{Packet, Says};
use rig_frames::psn::Psn;
use rig_lab::Recovery;
use rig_units::{Dur, Time};
use std::collections::BTreeSet;

/// What one hole shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HoleShows {
    /// The number that was missing.
    pub missing: Psn,
    /// Which recovery does so; `None`: neither.
    pub recovery: Option<Recovery>,
    /// The packet that shows it, by index: the one that followed what was sent again, or the one that filled the hole.
    pub packet: usize,
    /// The reply that shows it, by index among what came to a sender, or what a receiver said.
    pub reply: usize,
}

/// What a sender does after each NAK: sends on from the number that it names, or that one alone. A NAK after which it sent nothing in
/// its place says nothing, nor does one of which the next packet could be for another, or follow from an acknowledgement that says more by then.
/// `waits`: how long its timer runs at the least, if it does.
pub fn sends_again(
    first: Psn,
    sent: &[Sent],
    came: &[Event],
    (waits, sight): (Option<Dur>, &Sight),
) -> Vec<HoleShows> {
    let tops = tops(first, sent);
    let naks = || came.iter().enumerate().filter(|(_, event)| event.says == Says::Nak);
    let shows = |(reply, nak): (usize, &Event)| {
        let missing = nak.psn;
        let mut later = sent.iter().enumerate();
        let (again, one) = later.find(|(index, one)| {
            let is_old = tops[*index].ahead_of(missing).is_some_and(|ahead| ahead > 0);
            one.at + sight.blur() >= nak.at && one.psn == missing && is_old
        })?;
        let behind = missing.advance(1);
        // A hole that a late packet filled: a sender that goes back skips what is acknowledged, and looks as one that selects.
        let skips = |by: Time| {
            came.iter().any(|event| {
                let unacked = match event.says {
                    Says::Ack => event.psn.advance(1),
                    Says::Nak | Says::NotReady { .. } => event.psn,
                };
                let more = unacked.ahead_of(missing).is_some_and(|more| more > 0);
                more && event.at <= by + sight.blur()
            })
        };
        let Some(next) = sent.get(again + 1) else {
            if skips(one.at + sight.busy * 2) {
                return None;
            }
            // Who goes on sends the next at once.
            let rest = tops[again].ahead_of(behind).is_some_and(|rest| rest > 0);
            let over = one.at + sight.busy * 2 + sight.blur() + sight.allowance? <= sight.until;
            let recovery = Some(Recovery::SelectiveRepeat);
            return (rest && over).then_some(HoleShows { missing, recovery, packet: again, reply });
        };
        let gap = next.at.since(one.at).unwrap_or(Dur::ZERO);
        let named = naks().any(|(_, nak)| nak.psn == next.psn && nak.at <= next.at + sight.blur());
        let may_be_timer = waits.is_some_and(|waits| gap + sight.blur() * 2 >= waits);
        let is_new = next.psn == tops[again];
        if skips(sent.get(again + 2).filter(|_| !is_new).unwrap_or(next).at) {
            return None;
        }
        let recovery = match next.psn == behind {
            // It is both where nothing was sent behind the hole.
            _ if is_new && next.psn == behind => return None,
            _ if is_new => Some(Recovery::SelectiveRepeat),
            _ if named || may_be_timer => return None,
            // Who goes on sends all that was behind it; one packet more than the missing one is neither.
            true => match sent.get(again + 2).map(|after| after.psn) {
                Some(after) if after == tops[again] && after != behind.advance(1) => None,
                Some(after) if after != behind.advance(1) => return None,
                _ => Some(Recovery::GoBackN),
            },
            false => None,
        };
        Some(HoleShows { missing, recovery, packet: again + 1, reply })
    };
    naks().filter_map(shows).collect()
}

/// The first number that was never sent, before each packet.
fn tops(first: Psn, sent: &[Sent]) -> Vec<Psn> {
    let mut top = first;
    let before = |one: &Sent| {
        let before = top;
        let next = one.psn.advance(1);
        top = if next.ahead_of(top).is_some() { next } else { top };
        before
    };
    sent.iter().map(before).collect()
}

/// What a receiver does as each hole is filled: acknowledges what came behind it with that, or not. A hole that was filled when all
/// that came behind had come again says nothing, nor does one of which the first answer may have been ready before: none leaves sooner than
/// `soonest` after what it is for.
pub fn keeps(
    first: Psn,
    packets: &[Packet],
    answers: &[Answer],
    (soonest, sight): (Dur, &Sight),
) -> Vec<HoleShows> {
    let mut all = Vec::new();
    // What came and was not taken in order, by place from the first packet on.
    let mut behind: BTreeSet<u32> = BTreeSet::new();
    let mut next = 0;
    for (packet, one) in packets.iter().enumerate() {
        let Some(place) = one.psn.ahead_of(first) else { continue };
        if place > next {
            behind.insert(place);
        }
        if place != next {
            continue;
        }
        next += 1;
        let kept = (next..).take_while(|place| behind.contains(place)).count();
        let Some(last) = u32::try_from(kept).ok().filter(|kept| *kept > 0) else { continue };
        let all_of_it = place + last;
        // The first reply that acknowledges the packet that was missing.
        let of = |answer: &Answer| {
            let next = match answer.says {
                Says::Ack => answer.psn.advance(1),
                Says::Nak | Says::NotReady { .. } => answer.psn,
            };
            next.ahead_of(first)?.checked_sub(1)
        };
        let says = answers.iter().enumerate().find_map(|(reply, answer)| {
            let named = of(answer).filter(|named| *named >= place)?;
            Some((reply, answer, named))
        });
        let Some((reply, answer, named)) = says else { continue };
        let at = answer.at;
        if at.saturating_sub(answer.behind) + sight.blur() < one.at + soonest {
            behind.clear();
            continue;
        }
        let again = packets[packet + 1..].iter().take_while(|one| one.at <= at + sight.blur());
        let again: BTreeSet<u32> = again.filter_map(|one| one.psn.ahead_of(first)).collect();
        let came_again = again.contains(&all_of_it);
        let recovery = match named >= all_of_it {
            true => Some(Recovery::SelectiveRepeat),
            // Of what came behind it it has taken something that has not come again.
            false if (next..=named).any(|place| !again.contains(&place)) => None,
            false => Some(Recovery::GoBackN),
        };
        let selects = recovery == Some(Recovery::SelectiveRepeat);
        if !(selects && came_again) {
            all.push(HoleShows { missing: one.psn, recovery, packet, reply });
        }
        if selects && !came_again {
            next = all_of_it + 1;
            behind = behind.split_off(&next);
        } else {
            // What was thrown away comes again.
            behind.clear();
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGHT: Sight =
        Sight { bound: Dur::ZERO, busy: Dur(10), allowance: Some(Dur::ZERO), until: Time(10_000) };
    const GO_BACK_N: Option<Recovery> = Some(Recovery::GoBackN);
    const SELECTIVE: Option<Recovery> = Some(Recovery::SelectiveRepeat);

    /// Numbers that leave ten apart, and a NAK of each of `named` at its time.
    fn sender(numbers: &[u32], named: &[(u64, u32)]) -> Vec<(u32, Option<Recovery>)> {
        let sent: Vec<Sent> = (1..)
            .zip(numbers)
            .map(|(i, &psn): (u64, &u32)| Sent { at: Time(i * 10), psn: Psn::new(psn) })
            .collect();
        let nak =
            |&(at, psn): &(u64, u32)| Event { at: Time(at), says: Says::Nak, psn: Psn::new(psn) };
        let came: Vec<Event> = named.iter().map(nak).collect();
        let all = sends_again(Psn::new(numbers[0]), &sent, &came, (Some(Dur(500)), &SIGHT));
        all.iter().map(|shown| (shown.missing.get(), shown.recovery)).collect()
    }

    #[test]
    fn what_follows_the_missing_packet_tells() {
        assert_eq!(sender(&[0, 1, 2, 3, 1, 2, 3, 4], &[(35, 1)]), [(1, GO_BACK_N)]);
        assert_eq!(sender(&[0, 1, 2, 3, 1, 4, 5], &[(35, 1)]), [(1, SELECTIVE)]);
        assert_eq!(sender(&[0, 1, 2, 3, 1, 3, 4], &[(35, 1)]), [(1, None)]);
        assert_eq!(sender(&[0, 1, 2, 3, 1, 2, 4], &[(35, 1)]), [(1, None)]);
        // Nothing is left to send; the hole is the last that was sent; nothing was sent again.
        assert_eq!(sender(&[0, 1, 2, 3, 1], &[(35, 1)]), [(1, SELECTIVE)]);
        assert_eq!(sender(&[0, 1, 2, 3, 3], &[(35, 3)]), []);
        assert_eq!(sender(&[0, 1, 2, 3, 4], &[(35, 1)]), []);
    }

    #[test]
    fn a_packet_behind_that_is_named_too_says_nothing() {
        assert_eq!(sender(&[0, 1, 2, 3, 1, 2, 4], &[(35, 1), (52, 2)]), [(2, SELECTIVE)]);
    }

    #[test]
    fn what_is_acknowledged_meanwhile_is_skipped_by_either() {
        let sent: Vec<Sent> = (1..)
            .zip([0, 1, 2, 3, 1, 4])
            .map(|(i, psn): (u64, u32)| Sent { at: Time(i * 10), psn: Psn::new(psn) })
            .collect();
        let shows = |acked: u64| {
            let nak = Event { at: Time(35), says: Says::Nak, psn: Psn::new(1) };
            let ack = Event { at: Time(acked), says: Says::Ack, psn: Psn::new(3) };
            sends_again(Psn::new(0), &sent, &[nak, ack], (None, &SIGHT)).len()
        };
        // The packet behind the missing one leaves at 60.
        assert_eq!([45, 60, 61].map(shows), [0, 0, 1]);
    }

    #[test]
    fn numbers_wrap() {
        let all = sender(&[0xff_fffe, 0xff_ffff, 0, 1, 0xff_ffff, 2], &[(35, 0xff_ffff)]);
        assert_eq!(all, [(0xff_ffff, SELECTIVE)]);
    }

    /// Numbers that come ten apart, and what is said to them, each at its time.
    fn receiver(numbers: &[u32], said: &[(u64, Says, u32)]) -> Vec<(u32, Option<Recovery>)> {
        let packet =
            |(i, &psn): (u64, &u32)| Packet { at: Time(i * 10), psn: Psn::new(psn), last: false };
        let packets: Vec<Packet> = (1..).zip(numbers).map(packet).collect();
        let answers: Vec<Answer> = said
            .iter()
            .map(|&(at, says, psn)| Answer {
                at: Time(at),
                says,
                psn: Psn::new(psn),
                behind: Dur::ZERO,
            })
            .collect();
        let all = keeps(Psn::new(0), &packets, &answers, (Dur(5), &SIGHT));
        all.iter().map(|shown| (shown.missing.get(), shown.recovery)).collect()
    }

    #[test]
    fn what_is_said_as_the_hole_is_filled_tells() {
        let nak = (25, Says::Nak, 1);
        let of = |says, psn| receiver(&[0, 2, 3, 1], &[nak, (45, says, psn)]);
        assert_eq!(of(Says::Ack, 1), [(1, GO_BACK_N)]);
        assert_eq!(of(Says::Nak, 2), [(1, GO_BACK_N)]);
        assert_eq!(of(Says::Ack, 3), [(1, SELECTIVE)]);
        assert_eq!(of(Says::Nak, 4), [(1, SELECTIVE)]);
        // One of the two that came behind it is taken.
        assert_eq!(of(Says::Ack, 2), [(1, None)]);
        // It left before anything that fills the hole could be answered.
        assert_eq!(receiver(&[0, 2, 3, 1], &[nak, (44, Says::Ack, 3)]), []);
        // Nothing is said of it, or what is said is what had been taken before.
        assert_eq!(of(Says::Ack, 0), []);
        assert_eq!(receiver(&[0, 2, 3, 1], &[nak]), []);
    }

    #[test]
    fn what_came_again_before_it_was_acknowledged_says_nothing() {
        let nak = (25, Says::Nak, 1);
        assert_eq!(receiver(&[0, 2, 3, 1, 2, 3], &[nak, (65, Says::Ack, 3)]), []);
        assert_eq!(receiver(&[0, 2, 3, 1, 2, 3], &[nak, (55, Says::Ack, 3)]), [(1, SELECTIVE)]);
        assert_eq!(receiver(&[0, 2, 3, 1, 2, 3], &[nak, (65, Says::Ack, 2)]), [(1, GO_BACK_N)]);
    }

    #[test]
    fn each_of_two_holes_tells() {
        let kept = [(25, Says::Nak, 1), (55, Says::Nak, 3), (65, Says::Ack, 4)];
        assert_eq!(receiver(&[0, 2, 4, 1, 3], &kept), [(1, SELECTIVE), (3, SELECTIVE)]);
    }
}
