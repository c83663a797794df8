//! Where a queue pair ends and another one of its number begins: its numbers go on somewhere else.

use super::packet::{Flow, Packet};
use rig_units::Time;

/// No sender has as many packets under way: of 256 bytes they are 16 MiB.
const WINDOW: u32 = 1 << 16;
/// The least payload of a packet that is not the last of its message (IBTA Vol 1, path MTU).
const LEAST_MTU: u32 = 256;
/// Acknowledgements change places on their way, but none falls behind as many messages.
const OVERTAKEN: u32 = 16;

/// What goes to one queue pair, requests or answers, as long as it is the same one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Life<'a> {
    pub(super) flow: &'a Flow,
    /// In order of time; never empty.
    pub(super) packets: &'a [Packet],
    /// From when until when the number is taken to be this one's.
    pub(super) during: (Time, Time),
}

impl<'a> Life<'a> {
    /// The one after the other, of all that goes to one number.
    pub(super) fn all(flow: &'a Flow, mut packets: &'a [Packet]) -> Vec<Life<'a>> {
        let mut all = Vec::new();
        let mut from = Time::ZERO;
        while !packets.is_empty() {
            let whole = Life { flow, packets, during: (from, Time::MAX) };
            let Some((one, rest)) = anew(packets).and_then(|at| whole.cut(at)) else {
                all.push(whole);
                break;
            };
            all.push(one);
            (packets, from) = (rest.packets, rest.during.0);
        }
        all
    }

    /// Cut before the packet `at`; `None` where nothing would be on one side.
    pub(super) fn cut(self, at: usize) -> Option<(Life<'a>, Life<'a>)> {
        let (before, rest) = self.packets.split_at_checked(at)?;
        let (begins, _) = (rest.first()?.at, before.first()?);
        let (from, until) = self.during;
        let one = Life { packets: before, during: (from, begins), ..self };
        Some((one, Life { packets: rest, during: (begins, until), ..self }))
    }

    /// When its first packet passed.
    pub(super) fn first(&self) -> Time {
        self.packets.first().map_or(Time::ZERO, |packet| packet.at)
    }

    /// When its last packet passed.
    pub(super) fn last(&self) -> Time {
        self.packets.last().map_or(Time::ZERO, |packet| packet.at)
    }

    /// The first packet after `after` and up to `until` that goes back, or is the same again.
    pub(super) fn goes_back(&self, after: Time, until: Time) -> Option<usize> {
        let pairs = (1..).zip(self.packets.windows(2));
        let mut back = pairs.filter(|(_, pair)| {
            let sound = pair.iter().all(|packet| packet.sound);
            sound && pair[1].psn.ahead_of(pair[0].psn).is_none_or(|by| by == 0)
        });
        back.find(|(_, pair)| after < pair[1].at && pair[1].at <= until).map(|(at, _)| at)
    }
}

/// The first packet that cannot be of the queue pair of those before it: its number is out of reach of theirs, or so many messages
/// fewer are complete than before.
fn anew(packets: &[Packet]) -> Option<usize> {
    let mut before: Option<&Packet> = None;
    // The most messages that were complete, and the packet number that this was said of.
    let mut complete: Option<(u32, &Packet)> = None;
    for (at, packet) in packets.iter().enumerate().filter(|(_, packet)| packet.sound) {
        let jumps = before.is_some_and(|before| {
            let by = packet.psn.ahead_of(before.psn).or_else(|| before.psn.ahead_of(packet.psn));
            // A READ takes the numbers of its responses.
            by.is_none_or(|by| by > WINDOW.saturating_add(before.wanted.div_ceil(LEAST_MTU)))
        });
        let fewer = packet.complete.zip(complete).is_some_and(|(now, (most, said))| {
            now.saturating_add(OVERTAKEN) <= most
                && packet.psn.ahead_of(said.psn).is_none_or(|by| by == 0)
        });
        if jumps || fewer {
            return Some(at);
        }
        before = Some(packet);
        if let Some(now) = packet.complete
            && complete.is_none_or(|(most, _)| now > most)
        {
            complete = Some((now, packet));
        }
    }
    None
}
