//! Selective repeat: a receiver keeps what comes behind a hole, and a sender sends again what is missing and nothing else. On the wire it has
//! no more to say than go-back-N: an AETH has one number.
//!
//! The rule is `docs/nic.md`, section "Selective repeat". What a READ brings is no part of it.

use super::rc::{Packet, Reply, Says, before};
use rig_frames::psn::Psn;
use rig_lab::{Rc, Recovery};
use rig_units::Within;
use std::collections::BTreeMap;

/// Where the rule comes from, for reports.
pub const SOURCE: &str = "US patent 10,430,374 B2 (selective acknowledgment of RDMA packets); NAKs and acknowledgements by IBTA volume 1, chapter 9.7.5";

/// Whether a NIC keeps this rule, and not go-back-N.
pub fn is_kept(rc: &Rc) -> bool {
    rc.recovery == Some(Recovery::SelectiveRepeat)
}

/// What one packet is to a receiver that has got those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InSequence {
    /// The one that is missing first: with what was kept behind it it makes so many in a row.
    First {
        /// How many.
        packets: u32,
        /// Whether a message ends in them.
        ends: bool,
        /// Whether something is kept still, behind another hole.
        another_hole: bool,
    },
    /// One behind a hole, for the first time.
    Behind,
    /// One behind a hole once more.
    Again,
    /// One that was taken before.
    Old,
}

/// What a receiver has got.
#[derive(Debug, Clone)]
pub struct Sequence {
    /// The number that it misses first.
    pub missing: Psn,
    /// How many came before that.
    taken: u64,
    /// What came behind it, by place from the first packet on, and whether a message ends there.
    kept: BTreeMap<u64, bool>,
}

impl Sequence {
    /// Of a receiver that expects `first`, and has got nothing.
    pub const fn new(first: Psn) -> Sequence {
        Sequence { missing: first, taken: 0, kept: BTreeMap::new() }
    }

    /// Takes in a packet: its number, and whether a message ends there.
    pub fn takes(&mut self, psn: Psn, last: bool) -> InSequence {
        let Some(ahead) = psn.ahead_of(self.missing) else { return InSequence::Old };
        let place = self.taken + u64::from(ahead);
        if self.kept.insert(place, last).is_some() {
            return InSequence::Again;
        }
        if ahead > 0 {
            return InSequence::Behind;
        }
        let (mut packets, mut ends) = (0, false);
        while let Some(last) = self.kept.remove(&self.taken) {
            (packets, ends) = (packets + 1, ends | last);
            self.taken += 1;
        }
        self.missing = self.missing.advance(packets);
        InSequence::First { packets, ends, another_hole: !self.kept.is_empty() }
    }
}

/// What a receiver says to requests with payload, in their order. `acks`: what an acknowledgement takes.
pub(super) fn says(rc: &Rc, acks: Within, first: Psn, packets: &[Packet]) -> Vec<Reply> {
    let mut window = Sequence::new(first);
    let (mut silent, mut asked) = (0, false);
    let mut all = Vec::new();
    for (index, packet) in packets.iter().enumerate() {
        let came = window.takes(packet.psn, packet.last);
        let says = match came {
            InSequence::First { packets, ends, another_hole } => {
                silent += packets;
                asked = another_hole;
                let due = ends || silent >= u32::from(rc.ack_every);
                if another_hole { Some(Says::Nak) } else { due.then_some(Says::Ack) }
            }
            InSequence::Behind => (!core::mem::replace(&mut asked, true)).then_some(Says::Nak),
            InSequence::Again => None,
            InSequence::Old => Some(Says::Ack),
        };
        let Some(says) = says else { continue };
        let (psn, latency) = match says {
            Says::Ack => (before(window.missing), acks),
            Says::Nak | Says::NotReady { .. } => (window.missing, rc.nak_latency),
        };
        if says == Says::Ack {
            silent = 0;
        }
        all.push(Reply {
            says,
            psn,
            ready: super::Ready::after(packet.at, latency),
            packet: index,
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::nic::rc::{Data, replies};
    use rig_lab::Nic;
    use rig_units::{Dur, Time};

    fn rc(ack_every: u16) -> Rc {
        let (ack_latency, nak_latency) = (Dur(3).into(), Dur(7).into());
        let recovery = Some(Recovery::SelectiveRepeat);
        Rc { ack_every, ack_latency, nak_latency, recovery, ..Nic::quiet().rc }
    }

    /// What is said to packets a hundred apart, those at `last` the ends of messages: to which, and the number that it names.
    fn said(ack_every: u16, first: u32, psns: &[u32], last: &[u32]) -> Vec<(usize, Says, u32)> {
        let packet = |(i, &psn): (u64, &u32)| Packet {
            at: Time(i * 100),
            psn: Psn::new(psn),
            last: last.contains(&psn),
        };
        let packets: Vec<Packet> = (0..).zip(psns).map(packet).collect();
        let all = replies(&rc(ack_every), Data::Requests, Psn::new(first), &packets);
        all.iter().map(|reply| (reply.packet, reply.says, reply.psn.get())).collect()
    }

    #[test]
    fn what_came_behind_a_hole_is_acknowledged_with_the_packet_that_fills_it() {
        let got = said(1, 0, &[0, 2, 3, 1, 4], &[]);
        let want = [(0, Says::Ack, 0), (1, Says::Nak, 1), (3, Says::Ack, 3), (4, Says::Ack, 4)];
        assert_eq!(got, want);
    }

    #[test]
    fn the_second_hole_is_told_of_once_the_first_is_filled() {
        // 0xffffff and 1 are lost.
        let got = said(1, 0xff_fffe, &[0xff_fffe, 0, 2, 3, 0xff_ffff, 1, 4], &[]);
        let want = [
            (0, Says::Ack, 0xff_fffe),
            (1, Says::Nak, 0xff_ffff),
            (4, Says::Nak, 1),
            (5, Says::Ack, 3),
            (6, Says::Ack, 4),
        ];
        assert_eq!(got, want);
    }

    #[test]
    fn all_that_a_packet_brings_counts_for_the_next_acknowledgement() {
        // Four in a row make one; 2 ends a message, which is acknowledged whenever it is taken.
        assert_eq!(said(4, 0, &[1, 0, 2, 3], &[]), [(0, Says::Nak, 0), (3, Says::Ack, 3)]);
        let naks = [(0, Says::Nak, 0), (1, Says::Nak, 1)];
        assert_eq!(said(4, 0, &[2, 0, 1], &[2]), [&naks[..], &[(2, Says::Ack, 2)]].concat());
        assert_eq!(said(9, 0, &[2, 0, 1], &[]), naks);
    }

    #[test]
    fn what_was_taken_is_acknowledged_again_and_what_is_kept_is_not() {
        let got = said(1, 0, &[0, 0, 2, 2, 1, 2], &[]);
        let want = [
            (0, Says::Ack, 0),
            (1, Says::Ack, 0),
            (2, Says::Nak, 1),
            (4, Says::Ack, 2),
            (5, Says::Ack, 2),
        ];
        assert_eq!(got, want);
    }
}
