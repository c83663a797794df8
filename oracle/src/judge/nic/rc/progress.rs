//! How far a flow has got, as the wire shows it: what the acknowledgements that reached its sender name, or, of a READ, what was
//! brought in order. What a NIC says of itself is no part of it.

use super::{Event, Sent};
use crate::spec::nic::rc::{Packet, Says};
use rig_frames::psn::Psn;
use rig_units::{Dur, Time};

/// More of a flow has got through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// What shows it, by index among what came.
    pub by: usize,
    /// When it came.
    pub at: Time,
    /// Packets that are through, counted from the flow's first.
    pub packets: u64,
}

/// How far a flow has got.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Progress {
    /// Each time that more was through, in order.
    pub steps: Vec<Step>,
    /// Packets that were sent at least once; of a READ, that were asked for.
    pub sent: u64,
}

/// What acknowledgements come to. `first`: the number of the flow's first packet; `sent` and `came` in their order. One that names
/// what was not sent yet, as far as stamps tell (each may be off by half of `blur`), says nothing.
pub fn acknowledged(first: Psn, sent: &[Sent], came: &[Event], blur: Dur) -> Progress {
    let mut progress = Progress::default();
    let mut sent = sent.iter().peekable();
    let mut through = 0;
    for (by, event) in came.iter().enumerate() {
        while let Some(one) = sent.next_if(|one| one.at <= event.at + blur) {
            progress.leaves(first, one.psn);
        }
        let after = match event.says {
            Says::Ack => event.psn.advance(1),
            // All before it is taken.
            Says::Nak | Says::NotReady { .. } => event.psn,
        };
        let Some(more) = after.ahead_of(number(first, through)) else { continue };
        let packets = through + u64::from(more);
        if more > 0 && packets <= progress.sent {
            through = packets;
            progress.steps.push(Step { by, at: event.at, packets });
        }
    }
    sent.for_each(|one| progress.leaves(first, one.psn));
    progress
}

/// What a READ brought, or what reached an end that acknowledges nothing: packets in their order, each of which counts once all before
/// it are there. `asked`: packets that were asked for, or sent.
pub fn brought(first: Psn, asked: u64, came: &[Packet]) -> Progress {
    let mut progress = Progress { steps: Vec::new(), sent: asked };
    let mut through = 0;
    for (by, packet) in came.iter().enumerate() {
        if packet.psn == number(first, through) {
            through += 1;
            progress.steps.push(Step { by, at: packet.at, packets: through });
        }
    }
    progress
}

/// The number of a packet, counted from a flow's first.
fn number(first: Psn, packets: u64) -> Psn {
    first.advance(u32::try_from(packets & 0xff_ffff).unwrap_or(0))
}

impl Progress {
    fn leaves(&mut self, first: Psn, psn: Psn) {
        let ahead = psn.ahead_of(number(first, self.sent));
        self.sent += ahead.map_or(0, |ahead| u64::from(ahead) + 1);
    }

    /// Packets that are through.
    pub fn through(&self) -> u64 {
        self.steps.last().map_or(0, |step| step.packets)
    }

    /// What first showed that so many packets are through.
    pub fn reached(&self, packets: u64) -> Option<Step> {
        let at = self.steps.partition_point(|step| step.packets < packets);
        self.steps.get(at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(all: &[(u64, u32)]) -> Vec<Sent> {
        all.iter().map(|&(at, psn)| Sent { at: Time(at), psn: Psn::new(psn) }).collect()
    }

    fn came(all: &[(u64, Says, u32)]) -> Vec<Event> {
        let event =
            |&(at, says, psn): &(u64, Says, u32)| Event { at: Time(at), says, psn: Psn::new(psn) };
        all.iter().map(event).collect()
    }

    fn steps(progress: &Progress) -> Vec<(usize, u64, u64)> {
        progress.steps.iter().map(|step| (step.by, step.at.0, step.packets)).collect()
    }

    #[test]
    fn an_acknowledgement_stands_for_all_before_it_and_a_nak_for_all_before_what_it_names() {
        let sent = sent(&[(0, 10), (1, 11), (2, 12), (3, 13)]);
        let came = came(&[(5, Says::Ack, 11), (6, Says::Nak, 13), (7, Says::Ack, 13)]);
        let progress = acknowledged(Psn::new(10), &sent, &came, Dur::ZERO);
        assert_eq!(steps(&progress), [(0, 5, 2), (1, 6, 3), (2, 7, 4)]);
        assert_eq!((progress.sent, progress.through()), (4, 4));
        // A NAK of the first packet brings nothing.
        let nak = [Event { at: Time(5), says: Says::Nak, psn: Psn::new(10) }];
        assert_eq!(acknowledged(Psn::new(10), &sent, &nak, Dur::ZERO).through(), 0);
    }

    #[test]
    fn what_is_said_again_or_goes_back_is_no_progress() {
        let sent = sent(&[(0, 0), (1, 1), (2, 2)]);
        let came = came(&[(5, Says::Ack, 1), (6, Says::Ack, 1), (7, Says::Ack, 0)]);
        assert_eq!(steps(&acknowledged(Psn::new(0), &sent, &came, Dur::ZERO)), [(0, 5, 2)]);
    }

    #[test]
    fn an_acknowledgement_of_what_was_not_sent_yet_says_nothing() {
        let sent = sent(&[(0, 0), (6, 1)]);
        let early = came(&[(5, Says::Ack, 1)]);
        let progress = acknowledged(Psn::new(0), &sent, &early, Dur::ZERO);
        assert_eq!((progress.through(), progress.sent), (0, 2));
        // Where stamps may be off by half a picosecond each it may have been.
        assert_eq!(acknowledged(Psn::new(0), &sent, &early, Dur(1)).through(), 2);
        assert_eq!(
            acknowledged(Psn::new(0), &sent, &came(&[(6, Says::Ack, 1)]), Dur::ZERO).through(),
            2
        );
    }

    #[test]
    fn numbers_are_counted_across_the_wrap() {
        let sent = sent(&[(0, 0xff_fffe), (1, 0xff_ffff), (2, 0), (3, 1), (4, 0xff_ffff)]);
        let came = came(&[(5, Says::Ack, 0xff_ffff), (6, Says::Ack, 1)]);
        let progress = acknowledged(Psn::new(0xff_fffe), &sent, &came, Dur::ZERO);
        assert_eq!(steps(&progress), [(0, 5, 2), (1, 6, 4)]);
        assert_eq!(progress.sent, 4);
        assert_eq!(progress.reached(2).map(|step| step.at), Some(Time(5)));
        assert_eq!(progress.reached(3).map(|step| step.at), Some(Time(6)));
        assert_eq!(progress.reached(5), None);
    }

    #[test]
    fn what_is_brought_counts_in_order_and_once() {
        let packet = |(at, psn)| Packet { at: Time(at), psn: Psn::new(psn), last: false };
        // 1 is lost at first, and 0 comes twice.
        let came = [(0, 0), (1, 0), (2, 2), (3, 1), (4, 2)].map(packet);
        let progress = brought(Psn::new(0), 4, &came);
        assert_eq!(steps(&progress), [(0, 0, 1), (3, 3, 2), (4, 4, 3)]);
        assert_eq!((progress.sent, progress.through()), (4, 3));
    }
}
