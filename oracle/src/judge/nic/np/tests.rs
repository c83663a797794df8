use super::*;
use crate::spec::nic::np::answered;
use proptest::prelude::*;
use rig_lab::{Nic, Scope};

const EXACT: Sight =
    Sight { bound: Dur::ZERO, busy: Dur::ZERO, until: Time(1_000_000), apart: Apart::NOT };

fn np(interval: u64, scope: Scope) -> Np {
    Np { enable: true, interval: Dur(interval), scope, latency: Dur(30).into(), ..Nic::quiet().np }
}

fn marks(all: &[(u64, u16)]) -> Vec<Mark> {
    // Queue pairs 2 n and 2 n + 1 have one address.
    all.iter().map(|&(at, qp)| Mark { at: Time(at), qp, from: qp / 2 }).collect()
}

fn cnps(all: &[(u64, u16)]) -> Vec<Cnp> {
    all.iter().map(|&(at, qp)| Cnp { at: Time(at), qp }).collect()
}

fn faults(marked: &[(u64, u16)], sent: &[(u64, u16)]) -> Vec<Fault> {
    check(&np(100, Scope::Qp), &marks(marked), &cnps(sent), &EXACT).faults
}

/// What a device that keeps the rule sends at once.
fn healthy(np: &Np, marks: &[Mark]) -> Vec<Cnp> {
    let cnp = |answer: &crate::spec::nic::np::Answer| Cnp {
        at: answer.ready.from,
        qp: marks[answer.mark].qp,
    };
    answered(np, marks).iter().map(cnp).collect()
}

const MARKED: [(u64, u16); 5] = [(0, 1), (50, 1), (99, 1), (120, 1), (230, 1)];

#[test]
fn a_device_that_keeps_the_rule_has_no_fault_and_its_values_are_read() {
    let checked =
        check(&np(100, Scope::Qp), &marks(&MARKED), &cnps(&[(30, 1), (150, 1), (260, 1)]), &EXACT);
    assert_eq!(checked.faults, []);
    assert_eq!(checked.latency(), Some(Span::exactly(30)));
    assert_eq!(checked.interval, Some(Span::exactly(110)));
}

#[test]
fn every_kind_of_fault_is_told_once_and_by_its_name() {
    let without = [(30, 1), (260, 1)];
    assert_eq!(faults(&MARKED, &without), [Fault::Missing { mark: 3 }]);
    // The mark at 99 is 99 after the first; that at 230 is 131 after it.
    let soon = [(30, 1), (129, 1), (260, 1)];
    assert_eq!(faults(&MARKED, &soon), [Fault::TooSoon { before: 0, mark: 2, cnp: 1 }]);
    let twice = [(30, 1), (30, 1), (150, 1), (260, 1)];
    assert_eq!(faults(&MARKED, &twice), [Fault::Unasked { cnp: 1 }]);
    let late = [(30, 1), (151, 1), (260, 1)];
    assert_eq!(faults(&MARKED, &late), [Fault::Late { mark: 3, cnp: 1 }]);
    let early = [(30, 1), (149, 1), (260, 1)];
    assert_eq!(faults(&MARKED, &early), [Fault::Early { mark: 3, cnp: 1 }]);
    let renamed = [(30, 1), (150, 7), (260, 1)];
    assert_eq!(faults(&MARKED, &renamed), [Fault::WrongQp { mark: 3, cnp: 1 }]);
    let none: Vec<usize> = vec![0, 3, 4];
    let missing: Vec<Fault> = none.into_iter().map(|mark| Fault::Missing { mark }).collect();
    assert_eq!(faults(&MARKED, &[]), missing);
}

#[test]
fn a_longer_interval_misses_one_mark_each_time() {
    // Marks every 10; answered every 150 instead of every 100.
    let marked: Vec<(u64, u16)> = (0..40).map(|i| (i * 10, 1)).collect();
    let sent: Vec<(u64, u16)> = (0..3).map(|i| (i * 150 + 30, 1)).collect();
    let want = [10, 25].map(|mark| Fault::Missing { mark });
    assert_eq!(faults(&marked, &sent), want);
}

#[test]
fn what_would_leave_after_the_end_is_not_missed() {
    let sight = Sight { until: Time(259), ..EXACT };
    let sent = cnps(&[(30, 1), (150, 1)]);
    let all = marks(&MARKED);
    assert_eq!(check(&np(100, Scope::Qp), &all, &sent, &sight).faults, []);
    let sight = Sight { until: Time(260), ..EXACT };
    assert_eq!(
        check(&np(100, Scope::Qp), &all, &sent, &sight).faults,
        [Fault::Missing { mark: 4 }]
    );
}

#[test]
fn a_notification_point_that_is_off_sends_none() {
    let off = Np { enable: false, ..np(100, Scope::Qp) };
    assert_eq!(check(&off, &marks(&MARKED), &[], &EXACT).faults, []);
    let sent = cnps(&[(30, 1)]);
    assert_eq!(check(&off, &marks(&MARKED), &sent, &EXACT).faults, [Fault::Unasked { cnp: 0 }]);
}

#[test]
fn two_bounds_are_forgiven_and_a_picosecond_more_is_not() {
    let sight = Sight { bound: Dur(5), busy: Dur(7), ..EXACT };
    let faults = |marked: &[(u64, u16)], sent: &[(u64, u16)]| {
        check(&np(100, Scope::Qp), &marks(marked), &cnps(sent), &sight).faults
    };
    // Within the interval by 10, and by 11.
    assert_eq!(faults(&[(50, 1), (140, 1)], &[(80, 1), (170, 1)]), []);
    let soon = [Fault::TooSoon { before: 0, mark: 1, cnp: 1 }];
    assert_eq!(faults(&[(50, 1), (139, 1)], &[(80, 1), (169, 1)]), soon);
    // Past it by 9, and by 10: only then it has to be answered.
    assert_eq!(faults(&[(50, 1), (159, 1)], &[(80, 1)]), []);
    assert_eq!(faults(&[(50, 1), (160, 1)], &[(80, 1)]), [Fault::Missing { mark: 1 }]);
    // Ready at 80: up to 7 and 10 later, up to 10 earlier.
    assert_eq!(faults(&[(50, 1)], &[(97, 1)]), []);
    assert_eq!(faults(&[(50, 1)], &[(98, 1)]), [Fault::Late { mark: 0, cnp: 0 }]);
    assert_eq!(faults(&[(50, 1)], &[(70, 1)]), []);
    assert_eq!(faults(&[(50, 1)], &[(69, 1)]), [Fault::Early { mark: 0, cnp: 0 }]);
}

fn scopes() -> impl Strategy<Value = Scope> {
    prop_oneof![Just(Scope::Qp), Just(Scope::DestIp), Just(Scope::Port)]
}

fn arrivals() -> impl Strategy<Value = Vec<Mark>> {
    prop::collection::vec((1_u64..60, 0_u16..4), 1..60).prop_map(|steps| {
        let mut at = 0;
        let mut mark = |(step, qp)| {
            at += step;
            Mark { at: Time(at), qp, from: qp / 2 }
        };
        steps.into_iter().map(&mut mark).collect()
    })
}

/// What is done to the CNPs of a device that keeps the rule.
type Change<'a> = &'a dyn Fn(&mut Vec<Cnp>);

proptest! {
    #[test]
    fn what_the_rule_gives_has_no_fault_and_any_change_of_it_has(
        all in arrivals(), interval in 0_u64..150, scope in scopes(), pick in any::<prop::sample::Index>(), by in 1_u64..90,
    ) {
        let np = np(interval, scope);
        let sent = healthy(&np, &all);
        let faults = |sent: &[Cnp]| check(&np, &all, sent, &EXACT).faults;
        prop_assert_eq!(faults(&sent), []);
        let at = pick.index(sent.len());
        let changed = |change: &dyn Fn(&mut Vec<Cnp>)| {
            let mut other = sent.clone();
            change(&mut other);
            other.sort_by_key(|cnp| cnp.at);
            faults(&other)
        };
        let add = |sent: &mut Vec<Cnp>, by: u64| sent.push(Cnp { at: sent[at].at + Dur(by), ..sent[at] });
        let changes: [Change<'_>; 6] = [
            &|sent| {
                sent.remove(at);
            },
            &|sent| sent[at].at += Dur(by),
            &|sent| sent[at].at = sent[at].at.saturating_sub(Dur(by)),
            &|sent| sent[at].qp = (sent[at].qp + 1) % 4,
            &|sent| add(sent, 0),
            &|sent| add(sent, by),
        ];
        for (kind, change) in changes.into_iter().enumerate() {
            prop_assert!(!changed(change).is_empty(), "change {kind}");
        }
    }

    #[test]
    fn blurred_stamps_and_a_busy_port_make_no_fault(
        all in arrivals(), interval in 0_u64..150, scope in scopes(), blur in prop::collection::vec((0_u64..=10, 0_u64..=10, 0_u64..=40), 60),
    ) {
        let np = np(interval, scope);
        let mut free = Time(0);
        let late = |at: Time, by: u64| Time(at.0 + 100 + by - 5);
        let sent: Vec<Cnp> = healthy(&np, &all).iter().zip(&blur).map(|(cnp, &(_, blur, busy))| {
            // In the order in which they are ready, each held up for as long as the port may.
            free = free.max(cnp.at + Dur(busy));
            Cnp { at: late(free, blur), ..*cnp }
        }).collect();
        let seen: Vec<Mark> = all.iter().zip(&blur).map(|(mark, &(blur, _, _))| Mark { at: late(mark.at, blur), ..*mark }).collect();
        let sight = Sight { bound: Dur(5), busy: Dur(40), ..EXACT };
        prop_assert_eq!(check(&np, &seen, &sent, &sight).faults, []);
    }
}

/// An interval of 100 by a clock that may be a tenth off: 90 to 112 by the stamps.
#[test]
fn by_a_clock_that_may_be_off_a_mark_within_its_limits_may_be_answered_and_need_not() {
    let sight = Sight { apart: Apart::of(rig_units::Ppm(100_000), rig_units::Ppm(0)), ..EXACT };
    let faults = |second: u64, answered: bool| {
        let marks = marks(&[(1_000, 1), (1_000 + second, 1)]);
        let cnps = marks.iter().take(1 + usize::from(answered));
        let cnps: Vec<Cnp> = cnps.map(|mark| Cnp { at: mark.at + Dur(30), qp: mark.qp }).collect();
        check(&np(100, Scope::Qp), &marks, &cnps, &sight).faults.len()
    };
    assert_eq!([faults(89, true), faults(90, true), faults(112, true)], [1, 0, 0]);
    assert_eq!([faults(89, false), faults(111, false), faults(112, false)], [0, 0, 1]);
}
