//! A connection's packets in the order in which they passed, with the books that its two ends keep.

use super::packet::{Answer, Operation, Packet, Role};
use super::{Answers, Requests};
use rig_frames::psn::Psn;
use rig_frames::roce::aeth::{Nak, Syndrome};
use rig_units::{Dur, Time};
use std::collections::BTreeMap;

/// What requests and answers, each in order of time, come to.
pub(super) fn replay(requests: &[Packet], answers: &[Packet]) -> (Requests, Answers) {
    let mut both: Vec<&Packet> = requests.iter().chain(answers).collect();
    // Stable: of two at one instant the request passed first.
    both.sort_by_key(|packet| packet.at);
    let mut books = Books::new(&both);
    both.iter().for_each(|packet| books.take(packet));
    books.closed()
}

struct Books {
    requests: Requests,
    answers: Answers,
    /// Bytes of payload that a packet has at most, where one shows it.
    mtu: Option<u32>,
    /// Whether the packet before it was a READ of nobody knows how many responses: what comes next is expected, then.
    open: bool,
    /// The messages that are complete, with the number of their last packet.
    taken: Vec<(Psn, Operation)>,
    /// What the responder expects next.
    expected: Psn,
    /// Whether it has said so, and waits for it.
    hole: bool,
    /// What the requester knows to be received: all before this.
    acknowledged: Psn,
    /// When each sequence number last passed in a request.
    passed: BTreeMap<u32, Time>,
    last: Option<(Psn, Time)>,
    /// A NAK since the sequence last went back.
    asked_back: bool,
    latencies: Vec<Dur>,
}

impl Books {
    fn new(both: &[&Packet]) -> Books {
        let full = both.iter().filter(|packet| packet.sound && packet.full);
        let mtu = full.map(|packet| u32::from(packet.payload)).max();
        let start = start(both);
        Books {
            requests: Requests::default(),
            answers: Answers::default(),
            mtu,
            open: false,
            taken: Vec::new(),
            expected: start,
            hole: false,
            acknowledged: start,
            passed: BTreeMap::new(),
            last: None,
            asked_back: false,
            latencies: Vec::new(),
        }
    }

    fn take(&mut self, packet: &Packet) {
        match packet.role {
            Role::Request { operation, last } => self.request(packet, operation, last),
            Role::Answer(answer) => self.answer(packet, answer),
            Role::Notification => {}
        }
    }

    fn request(&mut self, packet: &Packet, operation: Operation, last: bool) {
        let of = &mut self.requests;
        of.packets += 1;
        of.bytes += u64::from(packet.payload);
        of.ce += u64::from(packet.ce);
        if !packet.sound {
            // Its headers may say anything.
            of.wrong_icrc += 1;
            return;
        }
        if let Some((before, at)) = self.last
            && (packet.psn == before || packet.psn.ahead_of(before).is_none())
        {
            if self.asked_back {
                of.back_after_nak += 1;
            } else {
                of.back_unasked += 1;
                let quiet = packet.at.since(at).unwrap_or(Dur::ZERO);
                of.longest_quiet = of.longest_quiet.max(quiet);
            }
            self.asked_back = false;
        }
        self.last = Some((packet.psn, packet.at));
        if self.open && packet.psn.ahead_of(self.expected).is_some() {
            self.expected = packet.psn;
        }
        of.repeated += u64::from(self.passed.insert(packet.psn.get(), packet.at).is_some());
        match packet.psn.ahead_of(self.expected) {
            Some(0) => {
                self.hole = false;
                let numbers = packet.numbers(self.mtu);
                self.open = numbers.is_none();
                self.expected = packet.psn.advance(numbers.unwrap_or(1));
                if last {
                    self.taken.push((packet.psn, operation));
                }
            }
            Some(_) if self.hole => of.behind_hole += 1,
            Some(_) => {
                self.hole = true;
                of.out_of_sequence += 1;
            }
            None => of.duplicates += 1,
        }
    }

    fn answer(&mut self, packet: &Packet, answer: Answer) {
        let of = &mut self.answers;
        of.bytes += u64::from(packet.payload);
        of.ce += u64::from(packet.ce);
        if !packet.sound {
            of.wrong_icrc += 1;
            return;
        }
        let acknowledges = match packet.says {
            Some(Syndrome::Nak(Nak::PsnSequenceError)) => {
                of.sequence_naks += 1;
                self.asked_back = true;
                // All before the one that is missing.
                let advances = packet.psn.ahead_of(self.acknowledged).is_some_and(|by| by > 0);
                of.naks_that_advance += u64::from(advances);
                packet.psn
            }
            Some(Syndrome::Nak(_)) => {
                of.fatal_naks += 1;
                return;
            }
            Some(Syndrome::RnrNak(_)) => {
                of.rnr_naks += 1;
                self.asked_back = true;
                // It took neither this one nor what came behind it, and waits for it without another word.
                self.taken.retain(|&(last, _)| last.ahead_of(packet.psn).is_none());
                (self.expected, self.hole) = (packet.psn, true);
                packet.psn
            }
            Some(Syndrome::Ack(_)) | None => {
                of.acknowledging += u64::from(packet.says.is_some());
                match answer {
                    Answer::Acknowledge => of.acks += 1,
                    Answer::Atomic => of.atomic_responses += 1,
                    Answer::Read { .. } => of.read_responses += 1,
                }
                if answer != (Answer::Read { first: false }) {
                    let asked = self.passed.get(&packet.psn.get());
                    self.latencies.extend(asked.and_then(|&asked| packet.at.since(asked)));
                }
                packet.psn.advance(1)
            }
        };
        if let Some(by) = acknowledges.ahead_of(self.acknowledged).filter(|&by| by > 0) {
            if answer == Answer::Acknowledge && matches!(packet.says, Some(Syndrome::Ack(_))) {
                let (least, most) = self.answers.packets_per_ack.unwrap_or((by, by));
                self.answers.packets_per_ack = Some((least.min(by), most.max(by)));
            }
            self.acknowledged = acknowledges;
        }
        if let Some(by) = acknowledges.ahead_of(self.expected).filter(|&by| by > 0) {
            // The responder has what this place has not.
            self.requests.unseen += u64::from(by);
            self.expected = acknowledges;
            self.hole = false;
        }
    }

    fn closed(mut self) -> (Requests, Answers) {
        self.latencies.sort_unstable();
        if let [shortest, .., longest] | [shortest @ longest] = self.latencies[..] {
            let middle = self.latencies[self.latencies.len() / 2];
            self.answers.latency = Some((shortest, middle, longest));
        }
        for (_, operation) in self.taken {
            *self.requests.messages.entry(operation).or_default() += 1;
        }
        (self.requests, self.answers)
    }
}

/// The first sequence number: the least before the first answer and of it. The first packets of a connection may be lost before
/// they come by, and the first NAK tells.
fn start(both: &[&Packet]) -> Psn {
    let Some(first) = both.iter().find(|packet| packet.sound) else { return Psn::default() };
    let answered = both.iter().position(|packet| !packet.is_request() && packet.sound);
    let until = answered.map_or(1, |at| at + 1);
    let sound = both.iter().take(until).filter(|packet| packet.sound);
    sound.map(|packet| packet.psn).fold(first.psn, |least, psn| match least.ahead_of(psn) {
        Some(_) => psn,
        None => least,
    })
}
