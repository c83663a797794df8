//! Reliable connections: what a receiver answers to the packets that reach it, and the numbers that a sender may send.
//!
//! Numbers are compared modulo 2^24 and within 2^23 of each other (IBTA volume 1, 9.7.1): they have no other order.

use super::{Ready, selective};
use rig_frames::psn::Psn;
use rig_lab::{AckTimeout, Rc};
use rig_units::{Dur, Ppm, Time, Within};

/// Where the rules come from, for reports.
pub const SOURCE: &str = "IBTA volume 1, chapter 9.7.5 and 9.9 (go-back-N)";

/// A packet of data that reached a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// When its last bit did.
    pub at: Time,
    /// Its number.
    pub psn: Psn,
    /// Whether it ends its message.
    pub last: bool,
}

/// What a receiver says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Says {
    /// All up to its number were taken.
    Ack,
    /// Its number is missing: a NAK, or a READ request anew.
    Nak,
    /// All before its number were taken, and there is no buffer for the message that begins with it: to be sent again no sooner than
    /// `least`, and no later than `most` (an RNR NAK).
    NotReady {
        /// See [`not_ready`].
        least: Dur,
        /// See [`not_ready`].
        most: Dur,
    },
}

/// What an RNR NAK says that asks for a `wait`: a sender tries again after that and what its timer is late by (IBTA volume 1, 9.7.5.2.8).
/// Where nothing is declared of that there is no end.
pub fn not_ready(rc: &Rc, wait: Within) -> Says {
    let least = wait.least() + rc.rnr_late.map_or(Dur::ZERO, Within::least);
    let most = rc.rnr_late.map_or(Dur(u64::MAX / 4), |late| wait.most() + late.most());
    Says::NotReady { least, most }
}

/// How often a sender tries a receiver again that is not ready; `None`: for ever (IBTA volume 1, 9.9.2.4.3).
pub fn rnr_retries(rc: &Rc) -> Option<u32> {
    rc.rnr_retries.filter(|&tries| tries < 7).map(u32::from)
}

/// An acknowledgement or a NAK that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// What it says.
    pub says: Says,
    /// The number that it names.
    pub psn: Psn,
    /// When it is ready.
    pub ready: Ready,
    /// The packet that it is due for, by index.
    pub packet: usize,
}

/// What the packets are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// Requests with payload: they are acknowledged.
    Requests,
    /// READ responses: the requester acknowledges nothing, and asks anew where a hole is.
    Responses,
}

/// Everything that a receiver says to packets of one queue pair, in their order. `first`: the number that it expects first.
pub fn replies(rc: &Rc, data: Data, first: Psn, packets: &[Packet]) -> Vec<Reply> {
    if data == Data::Requests && selective::is_kept(rc) {
        return selective::says(rc, acknowledges(rc), first, packets);
    }
    said(rc, data, first, packets, Moved::Asks)
}

/// Whether a question that leaves for another number than the one that it arose for has asked for that number: no standard says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moved {
    /// It has: no packet ahead makes another one.
    Asks,
    /// It has not: a packet ahead that comes after it makes another one.
    LeavesOpen,
}

/// See [`replies`].
fn said(rc: &Rc, data: Data, first: Psn, packets: &[Packet], moved: Moved) -> Vec<Reply> {
    let mut expected = first;
    // Packets since the last acknowledgement.
    let mut taken = 0;
    let mut asked = false;
    let mut all = Vec::new();
    for (index, packet) in packets.iter().enumerate() {
        let reply = |says, psn| {
            let latency = if says == Says::Ack { acknowledges(rc) } else { rc.nak_latency };
            Reply { says, psn, ready: Ready::after(packet.at, latency), packet: index }
        };
        let reply = match packet.psn.ahead_of(expected) {
            Some(0) => {
                expected = expected.advance(1);
                (taken, asked) = (taken + 1, false);
                if let Some(ask) = pending(data, &mut all, packet.at) {
                    // It has not asked yet: when it does, it is for what is missing then.
                    (ask.psn, asked) = (expected, moved == Moved::Asks);
                }
                let due = packet.last || taken >= rc.ack_every;
                due.then(|| reply(Says::Ack, packet.psn))
            }
            Some(_) => {
                let first = !asked && pending(data, &mut all, packet.at).is_none();
                asked = true;
                first.then(|| reply(Says::Nak, expected))
            }
            None => Some(reply(Says::Ack, before(expected))),
        };
        let Some(reply) = reply else { continue };
        if reply.says == Says::Ack {
            taken = 0;
        }
        if reply.says == Says::Nak || data == Data::Requests {
            all.push(reply);
        }
    }
    all
}

/// What an acknowledgement takes: its latency, and as long as it may be held for a later one. Where a later one leaves in its place, that one
/// was held not at all for all that anybody knows.
fn acknowledges(rc: &Rc) -> Within {
    let held = rc.ack_held.map_or(Within::ZERO, |held| Within::at_most(held.most()));
    rc.ack_latency + held
}

/// Whether another answer says all that an acknowledgement of `psn` would have said: one that acknowledges it or a later number, or a NAK
/// that names a later one (IBTA volume 1, 9.7.5.1: responses are coalesced).
pub fn says_as_much(psn: Psn, says: Says, named: Psn) -> bool {
    let next = match says {
        Says::Ack => named.advance(1),
        Says::Nak | Says::NotReady { .. } => named,
    };
    next.ahead_of(psn).is_some_and(|ahead| ahead > 0)
}

/// Whether a sender that goes back for `missing` may begin at `psn`: there, or so many packets before as are declared.
pub fn may_begin(rc: &Rc, missing: Psn, psn: Psn) -> bool {
    let goes_back = !selective::is_kept(rc);
    let extra = rc.resend_extra.filter(|_| goes_back).map_or(0, u32::from);
    missing.ahead_of(psn).is_some_and(|before| before <= extra)
}

/// A requester's question anew that has not left by `at`. A receiver's NAKs leave as they are.
fn pending(data: Data, all: &mut [Reply], at: Time) -> Option<&mut Reply> {
    all.last_mut().filter(|ask| data == Data::Responses && ask.ready.by >= at)
}

/// Whether what is asked anew follows from what came. It does not where a packet that would be asked for comes while the question may
/// have left and may not, nor where one comes before it has left and another packet ahead after it: then [`replies`] says what is asked of
/// the slowest that is declared, and asked once.
pub fn is_clear(rc: &Rc, data: Data, first: Psn, packets: &[Packet]) -> bool {
    let of = |latency: Dur, moved| {
        let rc = Rc { nak_latency: latency.into(), ..*rc };
        let all = said(&rc, data, first, packets, moved).into_iter();
        all.map(|reply| (reply.says, reply.psn, reply.packet)).collect::<Vec<_>>()
    };
    let nak = rc.nak_latency;
    let soonest = of(nak.least(), Moved::Asks);
    let same = |latency, moved| of(latency, moved) == soonest;
    let is_exact = nak.width() == Dur::ZERO;
    same(nak.least(), Moved::LeavesOpen)
        && (is_exact || (same(nak.most(), Moved::Asks) && same(nak.most(), Moved::LeavesOpen)))
}

/// How long a sender waits for an acknowledgement before it sends again: T = 4.096 us x 2^code, and as much more as is declared; from T to 4 T
/// where nothing is. `None`: for ever. The ends are IBTA volume 1, 9.7.6.1.3. Of one that adapts from the shortest of its waits to the longest.
pub fn timeout(rc: &Rc) -> Option<Within> {
    timeout_between(rc, 0, rc.adaptive.map_or(0, |waits| waits.0.len()))
}

/// The same after so many timeouts in a row: of one that adapts, so many sixteenths of T in its place.
pub fn timeout_after(rc: &Rc, tries: usize) -> Option<Within> {
    let whole = match rc.timeout {
        AckTimeout::Code(0) => return None,
        AckTimeout::Code(code) => Dur(4_096_000 << code),
        AckTimeout::Time(time) => time,
    };
    let least = rc.adaptive.map_or(whole, |waits| {
        let nth = tries.min(waits.0.len() - 1);
        whole.scaled(waits.0[nth].into(), 16)
    });
    let share = rc
        .timeout_late_share
        .map_or(Dur::ZERO, |share| least.scaled(share.0.into(), Ppm::ONE.0.into()));
    let late = rc.timeout_late.unwrap_or(Within::at_most(least * 3));
    Some(Within::exactly(least) + late + Within::at_most(share))
}

/// The same where there were so many timeouts in a row at the least, and so many at the most.
pub fn timeout_between(rc: &Rc, least: usize, most: usize) -> Option<Within> {
    let last = timeout_after(rc, most)?;
    let before = (least..most).filter_map(|tries| timeout_after(rc, tries));
    Some(before.fold(last, either))
}

/// What lies in one of two ranges, or between them.
fn either(one: Within, other: Within) -> Within {
    Within::between(one.least().min(other.least()), one.most().max(other.most()))
}

/// The number before another.
pub const fn before(psn: Psn) -> Psn {
    Psn::new(psn.get().wrapping_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_lab::Nic;
    use rig_units::Within;

    fn rc(ack_every: u16) -> Rc {
        let (ack_latency, nak_latency) = (Dur(3).into(), Dur(7).into());
        Rc { ack_every, ack_latency, nak_latency, ..Nic::quiet().rc }
    }

    #[test]
    fn a_requester_that_has_not_asked_yet_asks_once_for_what_is_missing_then() {
        // 1 comes late, between the packet that shows the hole and the question; 2 was thrown away meanwhile.
        let came = [(0, 0), (2, 2), (4, 1), (6, 3)];
        let came: Vec<Packet> =
            came.map(|(at, psn)| Packet { at: Time(at), psn: Psn::new(psn), last: false }).to_vec();
        let asks = replies(&rc(1), Data::Responses, Psn::new(0), &came);
        let [ask] = asks[..] else { panic!("{asks:?}") };
        assert_eq!((ask.psn, ask.ready, ask.packet), (Psn::new(2), Time(2 + 7).into(), 1));
        let naks = replies(&rc(100), Data::Requests, Psn::new(0), &came);
        let named = naks.iter().filter(|nak| nak.says == Says::Nak).map(|nak| nak.psn.get());
        assert_eq!(named.collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn a_hole_that_is_filled_while_the_question_may_have_left_leaves_open_what_is_asked() {
        let rc = Rc { nak_latency: Within::exactly(Dur(7)) + "0ps..3ps".parse().unwrap(), ..rc(1) };
        let came = |fills: u64| {
            let packet = |(at, psn)| Packet { at: Time(at), psn: Psn::new(psn), last: false };
            [(0, 0), (2, 2), (fills, 1)].map(packet)
        };
        // The question leaves 9 to 12 ps from the beginning.
        for (fills, clear) in [(9, true), (10, false), (12, false), (13, true)] {
            assert_eq!(is_clear(&rc, Data::Responses, Psn::new(0), &came(fills)), clear, "{fills}");
            assert!(is_clear(&rc, Data::Requests, Psn::new(0), &came(fills)), "{fills}");
        }
        let all = replies(&rc, Data::Requests, Psn::new(0), &came(40));
        assert_eq!(all[1].ready, Ready { from: Time(2 + 7), by: Time(2 + 10) });
    }

    #[test]
    fn a_packet_ahead_after_a_question_that_a_late_packet_moved_leaves_open_whether_it_is_asked_again()
     {
        // 1 comes late, before the question for it leaves at 2 + 7: it leaves for 2, which was thrown away.
        let clear = |fills: u64, next: u64| {
            let packet = |(at, psn)| Packet { at: Time(at), psn: Psn::new(psn), last: false };
            let came = [(0, 0), (2, 2), (fills, 1), (next, 3), (40, 4)].map(packet);
            is_clear(&rc(1), Data::Responses, Psn::new(0), &came)
        };
        // One that shows the hole before the question has left makes no other, and nothing after it does.
        assert_eq!([clear(4, 6), clear(4, 9), clear(4, 10)], [true, true, false]);
        // Once it has left, the hole that it names is filled, and the next is another.
        assert!(clear(10, 20));
    }

    /// Packets a hundred apart; those at `last` end messages.
    fn packets(psns: &[u32], last: &[u32]) -> Vec<Packet> {
        let packet = |(i, &psn): (u64, &u32)| Packet {
            at: Time(i * 100),
            psn: Psn::new(psn),
            last: last.contains(&psn),
        };
        (0..).zip(psns).map(packet).collect()
    }

    fn says(rc: &Rc, first: u32, packets: &[Packet]) -> Vec<(usize, Says, u32)> {
        let all = replies(rc, Data::Requests, Psn::new(first), packets);
        all.iter().map(|reply| (reply.packet, reply.says, reply.psn.get())).collect()
    }

    #[test]
    fn a_timer_runs_out_between_one_and_four_times_what_its_code_says_or_as_late_as_is_declared() {
        let of = |code, timeout_late| {
            let within = timeout(&Rc { timeout: code, timeout_late, ..rc(1) })?;
            Some((within.least(), within.most()))
        };
        // `ibv_modify_qp` calls 14 67 ms.
        let t = Dur::ns(67_108_864);
        assert_eq!(of(AckTimeout::Code(14), None), Some((t, t * 4)));
        assert_eq!(of(AckTimeout::Code(14), Some(Within::ZERO)), Some((t, t)));
        let late = Some("1us..3us".parse().unwrap());
        assert_eq!(of(AckTimeout::Code(14), late), Some((t + Dur::us(1), t + Dur::us(3))));
        assert_eq!(of(AckTimeout::Code(31), None).map(|(t, _)| t.0), Some(8_796_093_022_208_000));
        assert_eq!(of(AckTimeout::Time(Dur::us(60)), None), Some((Dur::us(60), Dur::us(240))));
        assert_eq!(of(AckTimeout::NEVER, None), None);
        // An eighth of it more, whatever it is.
        let of = |timeout| {
            let rc = Rc { timeout, timeout_late: late, ..rc(1) };
            let within = super::timeout(&Rc { timeout_late_share: Some(Ppm(125_000)), ..rc })?;
            Some((within.least(), within.most()))
        };
        let share = Dur::ns(8_388_608);
        assert_eq!(of(AckTimeout::Code(14)), Some((t + Dur::us(1), t + Dur::us(3) + share)));
        let second = Dur::ms(1_000);
        let most = Dur::ms(1_125) + Dur::us(3);
        assert_eq!(of(AckTimeout::Time(second)), Some((second + Dur::us(1), most)));
    }

    #[test]
    fn what_names_a_later_number_says_as_much_across_the_wrap() {
        let says = |says, named| says_as_much(Psn::new(0xff_ffff), says, Psn::new(named));
        let of = |names| [0xff_fffe, 0xff_ffff, 0, 7].map(|named| says(names, named));
        assert_eq!(of(Says::Ack), [false, true, true, true]);
        assert_eq!(of(Says::Nak), [false, false, true, true]);
    }

    #[test]
    fn a_sender_may_begin_as_far_before_the_hole_as_is_declared() {
        let begins = |resend_extra, psn| {
            may_begin(&Rc { resend_extra, ..rc(1) }, Psn::new(1), Psn::new(psn))
        };
        let of = |extra| [2, 1, 0, 0xff_ffff, 0xff_fffe].map(|psn| begins(extra, psn));
        assert_eq!(of(None), [false, true, false, false, false]);
        assert_eq!(of(Some(2)), [false, true, true, true, false]);
    }

    #[test]
    fn one_in_so_many_is_acknowledged_and_the_last_of_each_message() {
        // Every third, 5 ends a message: 2, 5; then counting anew 8.
        let came = packets(&[0, 1, 2, 3, 4, 5, 6, 7, 8], &[5]);
        let acks: Vec<u32> = says(&rc(3), 0, &came).iter().map(|&(_, _, psn)| psn).collect();
        assert_eq!(acks, [2, 5, 8]);
        let came = packets(&[0, 1, 2, 3, 4], &[1]);
        let acks: Vec<u32> = says(&rc(3), 0, &came).iter().map(|&(_, _, psn)| psn).collect();
        assert_eq!(acks, [1, 4]);
    }

    #[test]
    fn a_hole_is_named_once_and_across_the_wrap() {
        // 0xffffff is lost.
        let came = packets(&[0xff_fffe, 0, 1, 0xff_ffff, 0, 1, 3, 2], &[]);
        let want = [
            (0, Says::Ack, 0xff_fffe),
            (1, Says::Nak, 0xff_ffff),
            (3, Says::Ack, 0xff_ffff),
            (4, Says::Ack, 0),
            (5, Says::Ack, 1),
            (6, Says::Nak, 2),
            (7, Says::Ack, 2),
        ];
        assert_eq!(says(&rc(1), 0xff_fffe, &came), want);
    }

    #[test]
    fn a_duplicate_is_acknowledged_again_with_the_last_that_was_taken() {
        let came = packets(&[4, 5, 6, 4, 7], &[]);
        let want = [(0, 4), (1, 5), (2, 6), (3, 6), (4, 7)];
        let got = says(&rc(1), 4, &came);
        assert_eq!(got, want.map(|(packet, psn)| (packet, Says::Ack, psn)));
    }

    #[test]
    fn latencies_run_from_the_packet_and_a_reader_acknowledges_nothing() {
        let came = packets(&[0, 2, 1, 2], &[2]);
        let all = replies(&rc(1), Data::Requests, Psn::new(0), &came);
        let ready: Vec<u64> = all.iter().map(|reply| reply.ready.from.0).collect();
        assert_eq!(ready, [3, 107, 203, 303]);
        let asks = replies(&rc(1), Data::Responses, Psn::new(0), &came);
        assert_eq!(asks.len(), 1);
        assert_eq!(
            (asks[0].says, asks[0].psn, asks[0].ready),
            (Says::Nak, Psn::new(1), Time(107).into())
        );
    }
}
