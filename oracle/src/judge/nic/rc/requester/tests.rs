use super::*;
use rig_lab::{AckTimeout, Nic};
use rig_units::Within;

const FOREVER: AckTimeout = AckTimeout::NEVER;
const FINITE: AckTimeout = AckTimeout::Time(Dur(500));

const READING: Reading = Reading { first: Psn::new(7), packets: 2, total: Some(4) };
const EXACT: Sight =
    Sight { bound: Dur::ZERO, busy: Dur::ZERO, allowance: None, until: Time(10_000) };

fn rc(timeout: AckTimeout) -> Rc {
    Rc { nak_latency: Dur(5).into(), timeout, retries: 2, ..Nic::quiet().rc }
}

fn all_asked(asked: &[(u64, u32)]) -> Vec<Asked> {
    let asked = asked.iter();
    asked.map(|&(at, psn)| Asked { at: Time(at), psn: Psn::new(psn), behind: Dur::ZERO }).collect()
}

fn judged(timeout: AckTimeout, asked: &[(u64, u32)], brought: &[(u64, u32)]) -> Vec<Fault> {
    let packet =
        |&(at, psn): &(u64, u32)| Packet { at: Time(at), psn: Psn::new(psn), last: psn % 2 == 0 };
    let brought: Vec<Packet> = brought.iter().map(packet).collect();
    requester(&rc(timeout), &READING, &all_asked(asked), &brought, &EXACT).faults
}

const WHOLE: [(u64, u32); 4] = [(100, 7), (110, 8), (200, 9), (210, 10)];

#[test]
fn one_request_for_each_message_is_right_and_one_more_is_unasked() {
    assert_eq!(judged(FOREVER, &[(0, 7), (150, 9)], &WHOLE), []);
    let faults = judged(FOREVER, &[(0, 7), (150, 9), (160, 9)], &WHOLE);
    assert_eq!(faults, [Fault::Unasked { reply: 2 }]);
}

#[test]
fn a_question_for_a_hole_takes_nothing_of_what_stamps_have_close_behind_it() {
    // 8 is lost once and asked for anew behind 9; the next message is asked for as the first is whole. Stamps may be off by more than all of that takes.
    let reading = Reading { packets: 4, total: Some(8), ..READING };
    let brought = [(100, 7), (110, 9), (120, 10), (200, 8), (210, 9), (220, 10), (300, 11)];
    let brought =
        brought.map(|(at, psn)| Packet { at: Time(at), psn: Psn::new(psn), last: psn % 4 == 2 });
    let asked = all_asked(&[(0, 7), (115, 8), (225, 11)]);
    let sight = Sight { bound: Dur(100), until: Time(310), ..EXACT };
    let faults = requester(&rc(FOREVER), &reading, &asked, &brought, &sight).faults;
    assert_eq!(faults, []);
}

#[test]
fn the_packet_that_ends_a_message_may_have_come_before_the_question_for_the_next_as_far_as_stamps_tell()
 {
    let packet = |&(at, psn): &(u64, u32)| Packet { at: Time(at), psn: Psn::new(psn), last: false };
    let brought: Vec<Packet> = WHOLE.iter().map(packet).collect();
    let faults = |asked: u64| {
        let sight = Sight { bound: Dur(4), ..EXACT };
        let asked = all_asked(&[(0, 7), (asked, 9)]);
        requester(&rc(FOREVER), &READING, &asked, &brought, &sight).faults
    };
    // Number 8 comes at 110; both stamps are off by 4.
    assert_eq!(faults(102), []);
    assert!(!faults(101).is_empty());
}

#[test]
fn a_hole_is_asked_for_once_and_in_time() {
    let brought = [(100, 7), (200, 9), (210, 8), (300, 9), (310, 10)];
    let brought = &brought[..];
    // Number 8 is missing once 9 is there; it comes with what was asked for anew.
    let holed = [(100, 7), (110, 9), (220, 8), (300, 9), (310, 10)];
    assert_eq!(judged(FOREVER, &[(0, 7), (115, 8), (250, 9)], &holed), []);
    assert_eq!(
        judged(FOREVER, &[(0, 7), (116, 8), (250, 9)], &holed),
        [Fault::Late { packet: 1, reply: 1 }]
    );
    assert!(!judged(FOREVER, &[(0, 7), (250, 9)], brought).is_empty());
}

#[test]
fn a_question_may_wait_for_the_turns_of_other_queue_pairs_that_the_port_was_seen_to_send() {
    // Number 8 is missing at 110, and asked for 5 later; or as the timer runs out, 500 after the first question.
    let holed = [(100, 7), (110, 9), (220, 8), (300, 9), (310, 10)];
    let late = [(600, 7), (610, 8), (700, 9), (710, 10)];
    let faults = |(timeout, asked, brought): (AckTimeout, u64, &[(u64, u32)]), behind| {
        let packet = |&(at, psn): &(u64, u32)| Packet {
            at: Time(at),
            psn: Psn::new(psn),
            last: psn % 2 == 0,
        };
        let brought: Vec<Packet> = brought.iter().map(packet).collect();
        let (again, then) = if timeout == FOREVER { (8, 250) } else { (7, 650) };
        let mut asked = all_asked(&[(0, 7), (asked, again), (then, 9)]);
        asked[1].behind = Dur(behind);
        requester(&rc(timeout), &READING, &asked, &brought, &EXACT).faults.len()
    };
    let hole = |behind| faults((FOREVER, 135, &holed), behind);
    assert_eq!([20, 19, 0].map(hole), [0, 1, 1]);
    let timer = |behind| faults((FINITE, 520, &late), behind);
    assert_eq!([20, 19, 0].map(|behind| timer(behind) > 0), [false, true, true]);
}

#[test]
fn a_request_that_brings_nothing_is_repeated_as_the_timeout_runs_out_and_not_before() {
    let late = [(600, 7), (610, 8), (700, 9), (710, 10)];
    assert_eq!(judged(FINITE, &[(0, 7), (500, 7), (650, 9)], &late), []);
    assert_eq!(judged(FINITE, &[(0, 7), (499, 7), (650, 9)], &late).len(), 1);
    // One that is never repeated is missed, unless it may give up.
    assert_eq!(judged(FINITE, &[(0, 7)], &[]), [Fault::NoTimeout { packet: 0 }]);
    assert_eq!(judged(FINITE, &[(0, 7), (500, 7), (1_000, 7)], &[]), []);
    assert_eq!(judged(FOREVER, &[(0, 7)], &[]), []);
}

#[test]
fn a_timer_that_is_left_running_repeats_a_request_before_its_own_time_is_over() {
    // The second message is asked for at 300: its time is over at 800, that of the first at 500, or where a part of the first came, behind that.
    let faults = |runs_on: Option<bool>, again: u64| {
        let rc = Rc { timer_runs_on: runs_on, ..rc(FINITE) };
        let brought = [(100, 7), (110, 8), (900, 9), (910, 10)];
        let brought = brought.map(|(at, psn)| Packet {
            at: Time(at),
            psn: Psn::new(psn),
            last: psn % 2 == 0,
        });
        let asked = all_asked(&[(0, 7), (300, 9), (again, 9)]);
        requester(&rc, &READING, &asked, &brought, &EXACT).faults.len()
    };
    assert_eq!([600, 599].map(|again| faults(Some(true), again)), [0, 1]);
    assert_eq!([800, 799, 600].map(|again| faults(None, again)), [0, 1, 1]);
}

#[test]
fn a_question_for_a_hole_is_no_timeout_of_a_timer_that_may_have_run_for_long() {
    // Packet 8 is lost; 9 shows it, and it is asked for 5 later, when the timer of the first message could have run out, too.
    let rc = Rc { timer_runs_on: Some(true), ..rc(FINITE) };
    let reading = Reading { packets: 4, total: Some(8), ..READING };
    let faults = |asked: &[(u64, u32)]| {
        let brought = [
            (100, 7),
            (110, 8),
            (120, 9),
            (130, 10),
            (610, 11),
            (620, 13),
            (700, 12),
            (710, 13),
            (720, 14),
        ];
        let brought = brought.map(|(at, psn)| Packet {
            at: Time(at),
            psn: Psn::new(psn),
            last: psn % 4 == 2,
        });
        let asked = all_asked(asked);
        let answered = requester(&rc, &reading, &asked, &brought, &EXACT);
        (answered.expired, answered.faults.len())
    };
    assert_eq!(faults(&[(0, 7), (400, 11), (625, 12)]), (Some(0), 0));
    assert_eq!(faults(&[(0, 7), (400, 11)]).1, 1);
}

#[test]
fn a_response_need_not_have_been_taken_in_when_the_timer_ran_out_a_moment_later() {
    // The timer runs out at 500; a hole is asked for within 5.
    let faults = |came: u64, again: u32| {
        let brought = [(came, 7), (610, 8), (700, 9), (710, 10)];
        judged(FINITE, &[(0, 7), (500, again), (650, 9)], &brought).len()
    };
    assert_eq!([496, 495].map(|came| faults(came, 7)), [0, 1]);
    // Who has taken it in waits anew.
    assert_eq!(faults(496, 8), 1);
}

#[test]
fn the_wait_of_one_that_had_not_taken_a_response_in_is_that_of_the_tries_it_had_made() {
    // Sixteenths of the timeout are 100: it asks again after 100, and after 400 more, when what it asked for is there and not taken in.
    let adaptive = serde_json::from_str("[1, 4, 16]").expect("a list");
    let rc = Rc { adaptive, ..rc(AckTimeout::Time(Dur(1_600))) };
    let faults = |came: u64| {
        let brought = [(came, 7), (610, 8), (700, 9), (710, 10)];
        let brought = brought.map(|(at, psn)| Packet {
            at: Time(at),
            psn: Psn::new(psn),
            last: psn % 2 == 0,
        });
        let asked = all_asked(&[(0, 7), (100, 7), (500, 7), (650, 9)]);
        requester(&rc, &READING, &asked, &brought, &EXACT).faults.len()
    };
    assert_eq!([496, 495].map(faults), [0, 1]);
}

#[test]
fn timeouts_are_counted_and_the_one_with_which_it_gives_up() {
    let expired = |late: Within, asked: &[(u64, u32)], until: u64| {
        let sight = Sight { until: Time(until), ..EXACT };
        let rc = Rc { timeout_late: Some(late), ..rc(FINITE) };
        requester(&rc, &READING, &all_asked(asked), &[], &sight).expired
    };
    let exact = Within::ZERO;
    assert_eq!(expired(exact, &[(0, 7)], 10_000), Some(0));
    assert_eq!(expired(exact, &[(0, 7), (500, 7)], 10_000), Some(1));
    let thrice = [(0, 7), (500, 7), (1_000, 7)];
    assert_eq!([1_499, 1_500].map(|until| expired(exact, &thrice, until)), [Some(2), Some(3)]);
    // Where the timer may be late nobody knows yet.
    let late = Within::at_most(Dur(10));
    let at = [1_499, 1_500, 1_509, 1_510].map(|until| expired(late, &thrice, until));
    assert_eq!(at, [Some(2), None, None, Some(3)]);
}

#[test]
fn who_gave_up_is_not_brought_back_by_a_response_that_comes_after_that() {
    let expired = |came: u64, late: u64| {
        let rc = Rc { timeout_late: Some(Within::at_most(Dur(late))), ..rc(FINITE) };
        let asked = all_asked(&[(0, 7), (500, 7), (1_000, 7)]);
        let brought = [Packet { at: Time(came), psn: Psn::new(7), last: false }];
        let answered = requester(&rc, &READING, &asked, &brought, &EXACT);
        (answered.expired, answered.faults.len())
    };
    // Its timer runs out at 1 500, or by 1 510, for the last time; what comes before that starts it anew, and it is late then.
    assert_eq!(expired(1_501, 0), (Some(3), 0));
    assert_eq!(expired(1_511, 10), (Some(3), 0));
    assert_eq!(expired(1_505, 10), (None, 0));
    assert_eq!(expired(1_499, 0), (Some(2), 1));
}

#[test]
fn a_timer_that_may_be_late_is_early_before_its_code_says_and_late_after_its_limit() {
    let late = [(900, 7), (910, 8), (950, 9), (960, 10)];
    let faults = |asked: u64| {
        let rc = Rc { timeout_late: Some(Within::at_most(Dur(10))), ..rc(FINITE) };
        let packet = |(at, psn)| Packet { at: Time(at), psn: Psn::new(psn), last: false };
        let asked = all_asked(&[(0, 7), (asked, 7), (920, 9)]);
        requester(&rc, &READING, &asked, &late.map(packet), &EXACT).faults.len()
    };
    assert_eq!([499, 500, 510, 511].map(faults), [1, 0, 0, 1]);
}

/// Timeouts, questions that may be either's, holes seen anew and faults of one whose timer was started at 0, and that asks for a hole within 100. It asks
/// for packets 11 to 14 at 400.
fn beside_a_hole(asked: &[(u64, u32)], brought: &[(u64, u32)]) -> (Option<usize>, [usize; 3]) {
    let nak_latency = Dur(100).into();
    let rc = Rc { timer_runs_on: Some(true), nak_latency, ..rc(FINITE) };
    let reading = Reading { packets: 4, total: Some(8), ..READING };
    let before = [(100, 7), (110, 8), (120, 9), (130, 10)];
    let brought = before.iter().chain(brought).map(|&(at, psn)| Packet {
        at: Time(at),
        psn: Psn::new(psn),
        last: psn % 4 == 2,
    });
    let asked = [&[(0, 7), (400, 11)], asked].concat();
    let brought: Vec<Packet> = brought.collect();
    let answered = requester(&rc, &reading, &all_asked(&asked), &brought, &EXACT);
    (answered.expired, [answered.either, answered.reopened, answered.faults.len()])
}

#[test]
fn a_timer_that_runs_out_between_a_hole_and_its_question_asks_for_it() {
    let brought = [(450, 12), (660, 11), (670, 12), (680, 13), (690, 14)];
    let of = |at| beside_a_hole(&[(at, 11)], &brought);
    // It may have run out from 500 on, and the hole asks at 550.
    assert_eq!(of(499).1, [0, 0, 1]);
    assert_eq!([500, 549].map(of), [(Some(1), [0, 0, 0]); 2]);
    assert_eq!(of(550), (Some(0), [1, 0, 0]));
}

#[test]
fn a_hole_behind_a_timeout_is_seen_anew_with_the_next_packet_ahead() {
    let brought = [(450, 12), (530, 13), (700, 11), (710, 12), (720, 13), (730, 14)];
    let of = |at| beside_a_hole(&[(520, 11), (at, 11)], &brought);
    assert_eq!(of(630), (Some(1), [0, 1, 0]));
    assert_eq!([629, 631].map(|at| of(at).1[2]), [1, 1]);
}

#[test]
fn what_has_come_before_the_question_for_it_is_not_asked_for() {
    // The timer ran out before any of it came: all of it comes twice, but for what is lost once.
    let of = |last| {
        let brought = [(530, 12), (560, 11), (570, 12), (580, 13), (last, 14)];
        beside_a_hole(&[(520, 11)], &brought)
    };
    assert_eq!([590, 630].map(of), [(Some(1), [0, 0, 0]); 2]);
    assert_eq!(of(631).1[2], 1);
}

#[test]
fn a_timer_that_may_have_asked_for_a_hole_runs_from_that_question_on() {
    // The answer to it is lost, too: the timer runs out again, as late as behind a timeout of then.
    let of = |at| {
        let brought = [(450, 12), (1_110, 11), (1_120, 12), (1_130, 13), (1_140, 14)];
        beside_a_hole(&[(550, 11), (at, 11)], &brought)
    };
    assert_eq!([900, 901, 1_050].map(of), [(Some(1), [1, 0, 0]); 3]);
    assert_eq!(of(1_051).1[2], 1);
}
