//! Connections between two NICs, learned from the frames that pass: nobody tells the rig what the two programs have agreed on.
//!
//! A request names the queue pair that answers, and the first of them the number with which that direction begins. Which queue pair asks
//! stands in no request: the first answer names it, by a number that only one connection has sent (IBTA Vol 1, 9.7.1 and 9.7.5).

use super::GuestEnd;
use rig_frames::packet::RoceFrame;
use rig_frames::psn::Psn;
use rig_frames::roce::{Ext, Opcode, Qpn};
use std::collections::BTreeMap;

/// What a frame has told of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Learned {
    /// The first request: a queue pair of the other end is to answer it, and the direction begins with this number.
    Begun {
        /// Who asks.
        asks: GuestEnd,
        /// The queue pair that answers.
        responder: Qpn,
        /// Number of the first packet.
        first: Psn,
    },
    /// The queue pair that asks, by an answer to it.
    Answered {
        /// Who asks.
        asks: GuestEnd,
        /// The queue pair that answers.
        responder: Qpn,
        /// The queue pair that asks.
        requester: Qpn,
        /// Frames to it that had passed before, when nobody knew whose they were.
        untold: u32,
    },
    /// Where the requests began nobody saw: the first that was seen whole is no beginning of a message, or one came from before it.
    Halfway {
        /// Who asks.
        asks: GuestEnd,
        /// The queue pair that answers.
        responder: Qpn,
    },
}

/// Learns them, frame by frame.
#[derive(Debug, Default)]
pub(crate) struct Learner {
    known: Vec<Asked>,
    /// Frames of nobody that is known, by whom they came from and whom they went to.
    untold: BTreeMap<(GuestEnd, Qpn), u32>,
}

/// Requests of one connection in one direction.
#[derive(Debug)]
struct Asked {
    asks: GuestEnd,
    responder: Qpn,
    requester: Option<Qpn>,
    /// Number of the first; none where nobody saw it.
    first: Option<Psn>,
    /// Behind all that can be answered.
    next: Psn,
}

impl Asked {
    /// Whether an answer of this number is to one of them.
    fn can_have(&self, answer: Psn) -> bool {
        self.first.is_some_and(|first| {
            let sent = self.next.ahead_of(first).unwrap_or_default();
            answer.ahead_of(first).is_some_and(|place| place < sent)
        })
    }
}

impl Learner {
    /// A frame came from this end, with its ICRC right or wrong. What is wrong tells nothing, and passes for that of nobody.
    pub(crate) fn hears(
        &mut self,
        from: GuestEnd,
        frame: &RoceFrame,
        sound: bool,
    ) -> Option<Learned> {
        let says = Says::of(frame)?;
        let (to, psn) = (frame.bth.dest_qp, frame.bth.psn);
        match says {
            Says::Asks { begins, numbers } => {
                let known =
                    self.known.iter_mut().find(|one| (one.asks, one.responder) == (from, to));
                match known {
                    Some(one) if sound => one.goes_on(psn, numbers),
                    Some(_) => None,
                    None if sound => Some(self.begins((from, to), psn, (begins, numbers))),
                    None => self.of_nobody(from, to),
                }
            }
            Says::Answers => {
                let asks = from.other();
                let mut of_end = self.known.iter_mut().filter(|one| one.asks == asks);
                if of_end.any(|one| one.requester == Some(to)) {
                    return None;
                }
                let mut can = self
                    .known
                    .iter_mut()
                    .filter(|one| one.asks == asks && one.requester.is_none() && one.can_have(psn));
                let (Some(one), None, true) = (can.next(), can.next(), sound) else {
                    return self.of_nobody(from, to);
                };
                one.requester = Some(to);
                let responder = one.responder;
                let untold = self.untold.remove(&(from, to)).unwrap_or_default();
                Some(Learned::Answered { asks, responder, requester: to, untold })
            }
        }
    }

    fn begins(
        &mut self,
        (asks, responder): (GuestEnd, Qpn),
        psn: Psn,
        (begins, numbers): (bool, u32),
    ) -> Learned {
        let whole = begins && !self.untold.contains_key(&(asks, responder));
        let first = whole.then_some(psn);
        let next = psn.advance(numbers);
        self.known.push(Asked { asks, responder, requester: None, first, next });
        first.map_or(Learned::Halfway { asks, responder }, |first| Learned::Begun {
            asks,
            responder,
            first,
        })
    }

    fn of_nobody(&mut self, from: GuestEnd, to: Qpn) -> Option<Learned> {
        *self.untold.entry((from, to)).or_default() += 1;
        None
    }
}

impl Asked {
    /// One more of them.
    fn goes_on(&mut self, psn: Psn, numbers: u32) -> Option<Learned> {
        let first = self.first?;
        if psn.ahead_of(first).is_none() {
            self.first = None;
            return Some(Learned::Halfway { asks: self.asks, responder: self.responder });
        }
        let next = psn.advance(numbers);
        if next.ahead_of(self.next).is_some() {
            self.next = next;
        }
        None
    }
}

/// What a packet is to a reliable connection.
enum Says {
    /// A request: whether it begins a message, and how many numbers its answer may take.
    Asks { begins: bool, numbers: u32 },
    /// An answer.
    Answers,
}

impl Says {
    /// `None` where it says nothing of a connection, as notifications and datagrams.
    fn of(frame: &RoceFrame) -> Option<Says> {
        /// The least path MTU: no READ takes more numbers than with that.
        const LEAST_MTU: u32 = 256;
        let numbers = match (frame.bth.opcode, &frame.ext) {
            (Opcode::RcReadRequest, Ext::Reth(reth)) => reth.dma_len.div_ceil(LEAST_MTU).max(1),
            _ => 1,
        };
        match frame.bth.opcode {
            Opcode::RcSendFirst
            | Opcode::RcSendOnly
            | Opcode::RcSendOnlyImm
            | Opcode::RcSendOnlyInvalidate
            | Opcode::RcWriteFirst
            | Opcode::RcWriteOnly
            | Opcode::RcWriteOnlyImm
            | Opcode::RcReadRequest
            | Opcode::RcCompareSwap
            | Opcode::RcFetchAdd => Some(Says::Asks { begins: true, numbers }),
            Opcode::RcSendMiddle
            | Opcode::RcSendLast
            | Opcode::RcSendLastImm
            | Opcode::RcSendLastInvalidate
            | Opcode::RcWriteMiddle
            | Opcode::RcWriteLast
            | Opcode::RcWriteLastImm => Some(Says::Asks { begins: false, numbers }),
            Opcode::RcReadResponseFirst
            | Opcode::RcReadResponseMiddle
            | Opcode::RcReadResponseLast
            | Opcode::RcReadResponseOnly
            | Opcode::RcAcknowledge
            | Opcode::RcAtomicAcknowledge => Some(Says::Answers),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;
    use rig_frames::MacAddr;
    use rig_frames::ip::Dscp;
    use rig_frames::ipv4;
    use rig_frames::packet::Path;
    use rig_frames::roce::bth;

    const CLIENT: GuestEnd = GuestEnd::Client;
    const SERVER: GuestEnd = GuestEnd::Server;

    fn qpn(of: u32) -> Qpn {
        Qpn::new(of).expect("24 bits")
    }

    /// A packet to a queue pair. Whose addresses it has nobody looks at.
    fn packet(opcode: Opcode, to: u32, psn: u32) -> RoceFrame {
        let dscp = Dscp::new(0).expect("six bits");
        let ip = ipv4::Repr::udp(Ipv4Addr::UNSPECIFIED, Ipv4Addr::UNSPECIFIED, dscp);
        let path = Path::v4(MacAddr([2; 6]), MacAddr([4; 6]), ip);
        RoceFrame::new(path, bth::Repr::new(opcode, qpn(to), Psn::new(psn)), Ext::Plain)
    }

    /// What is learned from sound packets, one after the other.
    fn learned(all: &[(GuestEnd, Opcode, u32, u32)]) -> Vec<Learned> {
        let mut learner = Learner::default();
        let one = |&(from, opcode, to, psn): &(GuestEnd, Opcode, u32, u32)| {
            learner.hears(from, &packet(opcode, to, psn), true)
        };
        all.iter().filter_map(one).collect()
    }

    fn begun(asks: GuestEnd, responder: u32, first: u32) -> Learned {
        Learned::Begun { asks, responder: qpn(responder), first: Psn::new(first) }
    }

    fn answered(asks: GuestEnd, [responder, requester]: [u32; 2], untold: u32) -> Learned {
        Learned::Answered { asks, responder: qpn(responder), requester: qpn(requester), untold }
    }

    #[test]
    fn the_first_request_tells_who_answers_and_the_first_answer_who_asks() {
        let all = learned(&[
            (CLIENT, Opcode::RcWriteFirst, 0x11, 0xff_ffff),
            (CLIENT, Opcode::RcWriteMiddle, 0x11, 0),
            (SERVER, Opcode::RcAcknowledge, 0x22, 0),
            (SERVER, Opcode::RcAcknowledge, 0x22, 0),
            (CLIENT, Opcode::RcWriteFirst, 0x11, 0xff_ffff),
        ]);
        assert_eq!(all, [begun(CLIENT, 0x11, 0xff_ffff), answered(CLIENT, [0x11, 0x22], 0)]);
    }

    #[test]
    fn each_direction_of_a_conversation_is_learned_by_itself() {
        let all = learned(&[
            (CLIENT, Opcode::RcSendOnly, 0x11, 7),
            (SERVER, Opcode::RcSendOnly, 0x22, 90),
            (SERVER, Opcode::RcAcknowledge, 0x22, 7),
            (CLIENT, Opcode::RcAcknowledge, 0x11, 90),
        ]);
        let first = [begun(CLIENT, 0x11, 7), begun(SERVER, 0x22, 90)];
        let then = [answered(CLIENT, [0x11, 0x22], 0), answered(SERVER, [0x22, 0x11], 0)];
        assert_eq!(all, [first, then].concat());
    }

    #[test]
    fn an_answer_that_two_connections_can_have_is_of_nobody_until_a_number_tells() {
        let all = learned(&[
            (CLIENT, Opcode::RcSendOnly, 0x11, 5),
            (CLIENT, Opcode::RcSendFirst, 0x12, 4),
            (CLIENT, Opcode::RcSendLast, 0x12, 5),
            // Of either; then of the second alone; and what is left is of the first.
            (SERVER, Opcode::RcAcknowledge, 0x22, 5),
            (SERVER, Opcode::RcAcknowledge, 0x23, 4),
            (SERVER, Opcode::RcAcknowledge, 0x22, 5),
        ]);
        let then = [answered(CLIENT, [0x12, 0x23], 0), answered(CLIENT, [0x11, 0x22], 1)];
        assert_eq!(all, [&[begun(CLIENT, 0x11, 5), begun(CLIENT, 0x12, 4)][..], &then].concat());
    }

    #[test]
    fn an_answer_to_what_nobody_asked_teaches_nothing() {
        let all = learned(&[
            (SERVER, Opcode::RcAcknowledge, 0x22, 5),
            (CLIENT, Opcode::RcSendOnly, 0x11, 5),
            (SERVER, Opcode::RcAcknowledge, 0x22, 6),
            (SERVER, Opcode::RcAcknowledge, 0x22, 5),
            (SERVER, Opcode::Cnp, 0x23, 0),
        ]);
        assert_eq!(all, [begun(CLIENT, 0x11, 5), answered(CLIENT, [0x11, 0x22], 2)]);
    }

    #[test]
    fn a_read_is_answered_by_as_many_numbers_as_it_may_take() {
        let mut learner = Learner::default();
        let reth = rig_frames::roce::reth::Repr { virtual_address: 0, rkey: 1, dma_len: 600 };
        let read = RoceFrame { ext: Ext::Reth(reth), ..packet(Opcode::RcReadRequest, 0x11, 9) };
        let mut hears = |from, frame| learner.hears(from, &frame, true);
        assert_eq!(hears(CLIENT, read), Some(begun(CLIENT, 0x11, 9)));
        assert_eq!(hears(SERVER, packet(Opcode::RcReadResponseLast, 0x22, 12)), None);
        let third = hears(SERVER, packet(Opcode::RcReadResponseLast, 0x22, 11));
        assert_eq!(third, Some(answered(CLIENT, [0x11, 0x22], 1)));
    }

    #[test]
    fn who_came_in_halfway_or_saw_the_first_one_spoilt_knows_no_beginning() {
        let halfway = Learned::Halfway { asks: CLIENT, responder: qpn(0x11) };
        let middle = [
            (CLIENT, Opcode::RcWriteMiddle, 0x11, 8),
            (CLIENT, Opcode::RcWriteLast, 0x11, 9),
            (SERVER, Opcode::RcAcknowledge, 0x22, 9),
        ];
        assert_eq!(learned(&middle), [halfway]);
        let before = [8, 7, 6].map(|psn| (CLIENT, Opcode::RcSendOnly, 0x11, psn));
        assert_eq!(learned(&before), [begun(CLIENT, 0x11, 8), halfway]);
        let mut learner = Learner::default();
        let first = packet(Opcode::RcSendOnly, 0x11, 8);
        assert_eq!(learner.hears(CLIENT, &first, false), None);
        assert_eq!(learner.hears(CLIENT, &first, true), Some(halfway));
    }
}
