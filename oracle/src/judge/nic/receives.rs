//! RNR NAKs of a NIC, against the receives that its application has posted: a SEND that finds none is refused, and no other.

use crate::spec::nic::receives::Application;
use rig_frames::psn::Psn;
use rig_frames::roce::aeth::RnrTimer;
use rig_units::{Dur, Time, Within};

/// A packet of a SEND that reached the NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// When it did.
    pub at: Time,
    /// Its number.
    pub psn: Psn,
    /// Whether its message begins with it.
    pub first: bool,
    /// Whether its message ends with it.
    pub last: bool,
}

/// An RNR NAK of the NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RnrRefusal {
    /// When it began to leave.
    pub at: Time,
    /// The number that it names.
    pub psn: Psn,
    /// How long it asks to wait.
    pub timer: RnrTimer,
}

/// What a NIC is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Promise {
    /// How long its RNR NAKs ask to wait.
    pub timer: RnrTimer,
    /// From what is refused to the RNR NAK.
    pub latency: Within,
    /// How long a frame of its own may keep the port meanwhile.
    pub busy: Dur,
    /// How far off two instants may be against each other.
    pub blur: Dur,
    /// When nothing is seen any more.
    pub until: Time,
}

/// A departure from it, with the packet and the RNR NAK that show it, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A message for which nothing was posted was not refused.
    NotRefused {
        /// Its first packet.
        packet: usize,
        /// Whether it was acknowledged, as if it had been taken.
        taken: bool,
    },
    /// A message was refused for which a receive was posted.
    Needless {
        /// Its first packet.
        packet: usize,
        /// The RNR NAK.
        refusal: usize,
    },
    /// An RNR NAK that names another number than the message begins with.
    WrongPsn {
        /// The packet that was refused.
        packet: usize,
        /// The RNR NAK.
        refusal: usize,
    },
    /// An RNR NAK that asks for another wait.
    WrongTimer {
        /// The RNR NAK.
        refusal: usize,
    },
    /// An RNR NAK that no message was due to be answered with.
    Unasked {
        /// The RNR NAK.
        refusal: usize,
    },
}

/// What became of the messages of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Account {
    /// Times that a message came.
    pub came: usize,
    /// How often it surely found no receive.
    pub due: usize,
    /// How often it was refused.
    pub refused: usize,
    /// The longest between two tries of a message that was refused and taken in the end: when its receive was posted is seen no closer.
    pub apart: Dur,
    /// What is wrong.
    pub faults: Vec<Fault>,
}

impl Promise {
    /// What came of `packets`, in their order, the first number of which is `first`. `acknowledged`: when which number was.
    pub fn account(
        &self,
        (mut application, first): (Application, Psn),
        packets: &[Packet],
        refusals: &[RnrRefusal],
        acknowledged: &[(Time, Psn)],
    ) -> Account {
        let mut all = Account::default();
        let (mut expected, mut next) = (first, 0);
        let mut tried: Option<Time> = None;
        let mut apart = Dur::ZERO;
        for (index, packet) in packets.iter().enumerate() {
            if packet.psn != expected {
                continue;
            }
            if packet.first {
                let ready = application.next();
                let (from, by) = self.window(packet.at);
                all.came += 1;
                let waited = tried.take().and_then(|tried| packet.at.since(tried));
                apart = waited.map_or(Dur::ZERO, |waited| apart.max(waited));
                while refusals.get(next).is_some_and(|one| one.at < from) {
                    all.faults.push(Fault::Unasked { refusal: next });
                    next += 1;
                }
                let is_there = packet.at >= ready.by + self.blur;
                let is_not = packet.at + self.blur < ready.from;
                // One that names no message which it may answer names a wrong number.
                let answers = |one: &&RnrRefusal| {
                    let is_other = !is_there && !self.is_of(one, packets);
                    one.at <= by && (one.psn == packet.psn || is_other)
                };
                if let Some(said) = refusals.get(next).filter(answers) {
                    let shown = (index, next);
                    all.faults.extend(self.wrong(packet, said, shown, is_there));
                    all.due += usize::from(is_not);
                    all.refused += 1;
                    next += 1;
                    tried = Some(packet.at);
                    if !is_there {
                        application.lacks(packet.at.saturating_sub(self.blur));
                    }
                    continue;
                }
                if by < self.until {
                    if is_not {
                        all.due += 1;
                        let taken = taken(&packets[index..], acknowledged);
                        all.faults.push(Fault::NotRefused { packet: index, taken });
                    } else {
                        application.offers(packet.at + self.blur);
                    }
                }
                all.apart = all.apart.max(apart);
            }
            expected = expected.advance(1);
            if packet.last {
                application.has(packet.at);
            }
        }
        all.faults.extend((next..refusals.len()).map(|refusal| Fault::Unasked { refusal }));
        all
    }

    /// When an answer to what came at `at` begins to leave.
    fn window(&self, at: Time) -> (Time, Time) {
        let from = (at + self.latency.least()).saturating_sub(self.blur);
        (from, at + self.latency.most() + self.busy + self.blur)
    }

    /// Whether an RNR NAK names a message that came when it may have been answered so.
    fn is_of(&self, said: &RnrRefusal, packets: &[Packet]) -> bool {
        packets.iter().filter(|one| one.first && one.psn == said.psn).any(|one| {
            let (from, by) = self.window(one.at);
            (from..=by).contains(&said.at)
        })
    }

    /// What is wrong with an RNR NAK.
    fn wrong(
        &self,
        packet: &Packet,
        said: &RnrRefusal,
        (index, refusal): (usize, usize),
        is_there: bool,
    ) -> Option<Fault> {
        if is_there {
            return Some(Fault::Needless { packet: index, refusal });
        }
        if said.psn != packet.psn {
            return Some(Fault::WrongPsn { packet: index, refusal });
        }
        (said.timer != self.timer).then_some(Fault::WrongTimer { refusal })
    }
}

/// Whether the first of `packets` was acknowledged before it came again.
fn taken(packets: &[Packet], acknowledged: &[(Time, Psn)]) -> bool {
    let first = packets[0];
    let again = packets[1..].iter().find(|one| one.psn == first.psn);
    let before = |at: Time| again.is_none_or(|again| at < again.at);
    let names = |psn: &Psn| psn.ahead_of(first.psn).is_some();
    acknowledged.iter().any(|(at, psn)| *at > first.at && before(*at) && names(psn))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: u8 = 5;

    fn timer(code: u8) -> RnrTimer {
        RnrTimer::new(code).expect("five bits")
    }

    fn promise() -> Promise {
        let latency = Within::between(Dur(10), Dur(20));
        Promise { timer: timer(CODE), latency, busy: Dur(5), blur: Dur(2), until: Time(10_000) }
    }

    /// Messages of one packet: when, and which number.
    fn packets(all: &[(u64, u32)]) -> Vec<Packet> {
        let one = |&(at, psn): &(u64, u32)| {
            let (at, psn) = (Time(at), Psn::new(psn));
            Packet { at, psn, first: true, last: true }
        };
        all.iter().map(one).collect()
    }

    /// One receive, and 100 for each message.
    fn account(all: &[(u64, u32)], said: &[(u64, u32, u8)], acks: &[(u64, u32)]) -> Account {
        let refusals: Vec<RnrRefusal> = said
            .iter()
            .map(|&(at, psn, code)| RnrRefusal {
                at: Time(at),
                psn: Psn::new(psn),
                timer: timer(code),
            })
            .collect();
        let acks: Vec<_> = acks.iter().map(|&(at, psn)| (Time(at), Psn::new(psn))).collect();
        let application = Application::of(1, Within::exactly(Dur(100)));
        promise().account((application, Psn::new(0)), &packets(all), &refusals, &acks)
    }

    #[test]
    fn who_refuses_what_finds_no_receive_within_its_latency_is_accused_of_nothing() {
        // The first is done with at 200: the second comes at 150, and again at 250, behind one that was dropped.
        let all = [(100, 0), (150, 1), (155, 2), (250, 1)];
        for at in [158, 160, 177] {
            let account = account(&all, &[(at, 1, CODE)], &[]);
            assert_eq!((account.came, account.due, account.refused), (3, 1, 1));
            assert_eq!(account.faults, []);
        }
    }

    #[test]
    fn what_comes_as_a_receive_is_posted_may_be_taken_or_refused() {
        for at in [198, 199, 200, 201] {
            let all = [(100, 0), (at, 1)];
            let faults = |said: &[(u64, u32, u8)]| account(&all, said, &[]).faults;
            assert_eq!((faults(&[]), faults(&[(at + 15, 1, CODE)])), (vec![], vec![]), "{at}");
        }
        let not_refused = Fault::NotRefused { packet: 1, taken: false };
        assert_eq!(account(&[(100, 0), (197, 1)], &[], &[]).faults, [not_refused]);
        let needless = Fault::Needless { packet: 1, refusal: 0 };
        assert_eq!(account(&[(100, 0), (202, 1)], &[(215, 1, CODE)], &[]).faults, [needless]);
    }

    #[test]
    fn what_is_said_of_one_message_is_said_of_no_other_that_came_close_to_it() {
        // Both came together, and the second alone is refused, at any time at which the first may have been answered, too.
        for at in [108, 115, 127] {
            let account = account(&[(100, 0), (100, 1), (250, 1)], &[(at, 1, CODE)], &[]);
            assert_eq!((account.faults, account.refused), (vec![], 1), "{at}");
        }
    }

    #[test]
    fn each_way_to_refuse_it_otherwise_is_told() {
        let all = [(100, 0), (150, 1), (250, 1)];
        let faults =
            |said: &[(u64, u32, u8)], acks: &[(u64, u32)]| account(&all, said, acks).faults;
        let timer = Fault::WrongTimer { refusal: 0 };
        assert_eq!(faults(&[(165, 1, CODE + 1)], &[]), [timer]);
        let psn = Fault::WrongPsn { packet: 1, refusal: 0 };
        assert_eq!(faults(&[(165, 2, CODE)], &[]), [psn]);
        let not = |taken| [Fault::NotRefused { packet: 1, taken }];
        assert_eq!(faults(&[], &[(110, 0), (170, 1)]), not(true));
        assert_eq!(faults(&[], &[(110, 0), (260, 1)]), not(false));
        // Too soon, and too late: it answers nothing.
        for at in [157, 178] {
            let said = faults(&[(at, 1, CODE)], &[]);
            assert!(said.contains(&Fault::Unasked { refusal: 0 }), "{at}: {said:?}");
        }
        assert_eq!(faults(&[(165, 1, CODE), (400, 1, CODE)], &[]).len(), 1);
    }
}
